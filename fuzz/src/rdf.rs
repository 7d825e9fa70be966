//! RDF texts: no bytes make a reader panic, and what was read can be written and read again.

use isomorph::formats::rdf::{Canonicalizer, QuadWriter, ReadOptions, Syntax, WriteOptions, read};
use isomorph::model::ntriples::push_quad;
use isomorph::storage::Budget;

pub(crate) const WORDS: &[&str] = &[
    "<urn:a>",
    "<urn:b> ",
    "_:b0 ",
    "\"x\"",
    "@en--ltr",
    "^^<urn:t>",
    " .\n",
    "<<( ",
    " )>>",
    "<< ",
    " >>",
    "{| ",
    " |}",
    "[ ",
    " ]",
    "( ",
    " )",
    "@prefix e: <urn:e:> .",
    "@base <http://b/> .",
    "GRAPH ",
    "{ ",
    " }",
    "a ",
    "\\u00e9",
    "\\",
    "#",
    "<rdf:Description ",
    "rdf:about='urn:s'",
    "rdf:parseType='Triple'",
    "xml:lang='en'",
    "&amp;",
    "<!ENTITY e \"f\">",
    "{\"@id\": \"urn:a\"}",
    "\"@context\": {",
    "\"@graph\": [",
    "\"@value\": ",
    "true",
    "1.0e5",
];

/// The first byte selects the syntax.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let texts: [&str; 6] = [
        "<urn:a> <urn:b> \"c\\u00e9\"@en--rtl .\n_:x <urn:b> <<( <urn:a> <urn:b> _:y )>> . # note\n",
        "<urn:a> <urn:b> \"c\"^^<urn:t> <urn:g> .\n_:x <urn:b> <urn:o> _:g .\n",
        "@prefix e: <urn:e:> . @base <http://b/> . e:a a e:C ; e:p [ e:q (1 2.5 'x') ] , <<( e:a e:b 1 )>> {| e:r true |} . << e:a e:b e:c ~ e:i >> e:d 1e5 .",
        "PREFIX e: <urn:e:> GRAPH e:g { e:a e:b 'c'@en } e:h { [] e:p \"\"\"long\"\"\" } { e:x e:y e:z }",
        "<?xml version=\"1.0\"?><!DOCTYPE r [<!ENTITY x \"urn:x:\">]><rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"urn:e:\" xml:base=\"http://b/\">\
         <e:C rdf:about=\"a\" e:p=\"v\"><e:q rdf:resource=\"&x;y\"/><e:r xml:lang=\"en\">t</e:r><e:s rdf:parseType=\"Collection\"><rdf:Description/></e:s></e:C></rdf:RDF>",
        "{\"@context\": {\"e\": \"urn:e:\", \"n\": {\"@id\": \"e:n\", \"@type\": \"@id\"}}, \"@id\": \"e:a\", \"e:p\": [1, true, {\"@value\": \"x\", \"@language\": \"en\"}], \"n\": \"e:b\", \
         \"@graph\": [{\"e:q\": {\"@list\": [1, 2]}}]}",
    ];
    texts.iter().enumerate().map(|(at, text)| [&[at as u8], text.as_bytes()].concat()).collect()
}

/// Lines of a text, or `None` if it is refused.
fn lines(text: &[u8], syntax: Syntax, lenient: bool) -> Option<Vec<String>> {
    let options = ReadOptions { lenient, budget: Budget::new(64 << 20), ..ReadOptions::default() };
    let mut lines = Vec::new();
    let reading = read(&mut &*text, syntax, &options, &mut |quad| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        lines.push(line);
        Ok(())
    });
    reading.ok().map(|reading| {
        assert_eq!(reading.quads, lines.len() as u64);
        assert!(lenient || reading.skipped == 0);
        lines
    })
}

pub(crate) fn check(data: &[u8]) {
    let Some((first, text)) = data.split_first() else { return };
    let syntax = Syntax::ALL[*first as usize % Syntax::ALL.len()];
    let _ = Syntax::of_bytes(text);
    lines(text, syntax, true);
    let Some(found) = lines(text, syntax, false) else { return };
    // Equal texts give equal labels.
    assert_eq!(lines(text, syntax, false).as_ref(), Some(&found));
    let quads = found.join("\n") + "\n";
    assert_eq!(lines(quads.as_bytes(), Syntax::NQuads, false).as_ref(), Some(&found), "{quads}");
    let options = WriteOptions { prefixes: vec![("e".to_owned(), "urn:e:".to_owned())], base: None, rdf_1_1: false };
    for to in [Syntax::TriG, Syntax::RdfXml, Syntax::JsonLd] {
        let mut writer = QuadWriter::new(to, Vec::new(), &options).unwrap();
        let written =
            read(&mut quads.as_bytes(), Syntax::NQuads, &ReadOptions::default(), &mut |quad| writer.push(&quad));
        // What a syntax cannot express is refused when it is written.
        if written.is_err() {
            continue;
        }
        let text = writer.finish().unwrap();
        let sorted = |mut lines: Vec<String>| {
            lines.sort();
            lines.dedup();
            lines
        };
        let back = lines(&text, to, false).map(sorted);
        assert_eq!(back, Some(sorted(found.clone())), "{to}: {}", String::from_utf8_lossy(&text));
    }
    let mut canonicalizer = Canonicalizer::new(&Budget::new(64 << 20)).unwrap();
    read(&mut quads.as_bytes(), Syntax::NQuads, &ReadOptions::default(), &mut |quad| canonicalizer.push(&quad))
        .unwrap();
    // The canonical labels are computed, or there are too many similar nodes.
    let _ = canonicalizer.finish();
}
