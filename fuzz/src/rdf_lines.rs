//! The fast reader of lines compared with the parser: both accept the same texts and read the same quads.

use isomorph::formats::rdf::{ReadOptions, Syntax, read, read_lines};
use isomorph::model::ntriples::push_quad;
use isomorph::storage::Budget;

pub(crate) const WORDS: &[&str] = &[
    "<http://example.org/a>",
    "<urn:b> ",
    "<//relative>",
    "_:b0",
    "_:b.0 ",
    "\"x\"",
    "\"\\\"\"",
    "@en",
    "@en--ltr",
    "^^<http://www.w3.org/2001/XMLSchema#string>",
    "^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString>",
    " .\n",
    ".\r\n",
    "<<( ",
    " )>>",
    "\\u00e9",
    "\\U0001F600",
    "\\uD800",
    "# note",
    "VERSION \"1.2\"",
    "\u{e9}",
    "\u{feff}",
    "\t",
];

/// The first byte selects the syntax.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts: [&str; 4] = [
        "<http://example.org/a> <http://example.org/b#c> <http://example.org/d?e=f%20g> .\n_:b1 <urn:p> \"text\" .\n",
        "<urn:s>\t<urn:p>\t\"a \\\"b\\\" \\n\\u00E9\\U0001F600 \u{e9}\"@en-GB <urn:g> . # note\n\n<urn:s><urn:p><urn:o>.",
        "# note\n<urn:s> <urn:p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> _:g .\r\n<http://[::1]/> <urn:p> _:a.b .\n",
        "<urn:s> <urn:p> \"x\"@ar--rtl .\n<urn:s> <urn:p> <<( <urn:a> <urn:b> \"c\" )>> .\n<http://u:p@h:80/x> <urn:p> \"\" .",
    ];
    texts.iter().enumerate().map(|(at, text)| [&[at as u8], text.as_bytes()].concat()).collect()
}

/// The quads of a text as lines, in order; `None` if it is refused.
fn parsed(text: &[u8], syntax: Syntax, options: &ReadOptions) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    let reading = read(&mut &*text, syntax, options, &mut |quad| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        lines.push(line);
        Ok(())
    });
    reading.ok().map(|_| lines)
}

/// The same with the fast reader, on this many threads, with the mistakes that were skipped.
fn fast(text: &[u8], syntax: Syntax, options: &ReadOptions, threads: usize) -> Option<(Vec<String>, u64)> {
    let mut takers = vec![Vec::new(); threads];
    let reading = read_lines(&mut &*text, syntax, options, &mut takers, &|lines, quad| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        lines.push(line);
        Ok(())
    });
    let lines = takers.concat();
    reading.ok().map(|reading| {
        assert_eq!(reading.quads, lines.len() as u64);
        (lines, reading.skipped)
    })
}

pub(crate) fn check(data: &[u8]) {
    let Some((first, text)) = data.split_first() else { return };
    let syntax = if first % 2 == 0 { Syntax::NTriples } else { Syntax::NQuads };
    let strict = ReadOptions { budget: Budget::new(64 << 20), ..ReadOptions::default() };
    let expected = parsed(text, syntax, &strict);
    for threads in [1, 3] {
        let found = fast(text, syntax, &strict, threads).map(|(lines, _)| lines);
        // A text this short is one piece, and is read in order.
        assert_eq!(found, expected, "{threads} threads: {}", String::from_utf8_lossy(text));
    }
    let lenient = ReadOptions { lenient: true, ..strict };
    let Some((lines, skipped)) = fast(text, syntax, &lenient, 1) else { return };
    // Something is skipped exactly if something is wrong.
    match expected {
        Some(expected) => assert_eq!((lines, skipped), (expected, 0)),
        None => assert!(skipped > 0, "{}", String::from_utf8_lossy(text)),
    }
}
