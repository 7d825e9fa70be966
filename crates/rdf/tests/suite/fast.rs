//! The fast way of reading lines accepts what the parser accepts, says the same, and refuses the same.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use isomorph_model::faces::Quad;
use isomorph_model::ntriples::push_quad;
use isomorph_rdf::{ReadOptions, Syntax, read, read_lines};

/// Quads as lines, in the order of the text; or the message of the error with its line.
type Outcome = Result<Vec<String>, (String, Option<u64>)>;

fn line(quad: &Quad<'_>) -> String {
    let mut line = String::new();
    push_quad(&mut line, quad);
    line
}

fn slow(text: &[u8], syntax: Syntax) -> Outcome {
    let mut quads = Vec::new();
    let done = read(&mut &text[..], syntax, &ReadOptions::default(), &mut |quad| {
        quads.push(line(&quad));
        Ok(())
    });
    done.map_err(|error| (error.message().to_owned(), error.place().line)).map(|_| quads)
}

fn fast(text: &[u8], syntax: Syntax) -> Outcome {
    let mut takers = [Vec::new()];
    let done = read_lines(&mut &text[..], syntax, &ReadOptions::default(), &mut takers, &|quads, quad| {
        quads.push(line(&quad));
        Ok(())
    });
    let [quads] = takers;
    done.map_err(|error| (error.message().to_owned(), error.place().line)).map(|_| quads)
}

fn compare(text: &[u8], syntax: Syntax, what: &str) {
    let (slow, fast) = (slow(text, syntax), fast(text, syntax));
    match (&slow, &fast) {
        (Ok(slow), Ok(fast)) => assert!(slow == fast, "{what}: {slow:?} and {fast:?}"),
        // Of a statement that goes on behind the end of its line one tells where it begins, the other where it goes on.
        (Err((_, one)), Err((_, other))) => {
            let near = one.unwrap_or_default().abs_diff(other.unwrap_or_default()) <= 1;
            assert!(near && other.is_some(), "{what}: {slow:?} and {fast:?}");
        }
        _ => assert!(slow == fast, "{what}: {slow:?} and {fast:?}"),
    }
}

fn texts(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            texts(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "nt" || ending == "nq") {
            found.push(path);
        }
    }
}

/// Every text of lines of the W3C's suites, bad ones too, as both syntaxes.
#[test]
fn the_suites_are_read_alike() {
    let Some(root) = isomorph_fixtures::public_data("rdf-tests/rdf") else { return };
    let mut found = Vec::new();
    texts(&root, &mut found);
    assert!(found.len() > 300, "{} texts", found.len());
    for path in found {
        let text = std::fs::read(&path).unwrap();
        for syntax in [Syntax::NTriples, Syntax::NQuads] {
            compare(&text, syntax, &path.display().to_string());
        }
    }
}

const LINES: &[&str] = &[
    "<http://example.org/a> <http://example.org/b#c> <http://example.org/d?e=f%20g> .",
    "_:b1 <urn:p> \"text\" .",
    "<urn:s>\t<urn:p>\t\"a \\\"b\\\" \\\\ \\n\\t\\u00E9\\U0001F600 é\"@en-GB <urn:g> . # note",
    "<urn:s> <urn:p> \"1\"^^<http://www.w3.org/2001/XMLSchema#integer> _:g .",
    "<urn:s><urn:p><urn:o>.",
    "<urn:s> <urn:p> \"x\"@ar--rtl .",
    "<urn:s> <urn:p> <<( <urn:a> <urn:b> \"c\" )>> .",
    "_:s <urn:p> <<( <urn:a> <urn:b#c> _:c )>> .",
    "_:s <urn:p> <<( _:a <http://example.org/b?c=%20> <urn:c> )>> <urn:g> .",
    "_:s <urn:p> <<(<urn:a> <urn:b> <urn:c>)>> .",
    "_:s <urn:p> <<( <urn:a>  <urn:b> <urn:c> )>> .",
    "_:s <urn:p> <<( <urn:a> _:b <urn:c> )>> .",
    "_:s <urn:p> <<( <urn:a> <urn:b> <urn:c> )> .",
    "_:s <urn:p> <<( <urn:a> <urn:b> <urn:c> )>> <urn:p> .",
    "_:s <urn:p> <<( <urn:a> <urn:b> <<( <urn:a> <urn:b> _:c )>> )>> .",
    "<<( <urn:a> <urn:b> <urn:c> )>> <urn:p> <urn:o> .",
    "_:s <urn:p> <<( <urn:a> <b> <urn:c> )>> .",
    "<http://u:p@h:80/x> <urn:p> \"\" .",
    "# comment",
    "",
    "<urn:s> <urn:p> \"x\"^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#langString> .",
    "<http://[::1]/> <urn:p> _:a.b .",
];

/// Lines with a byte changed, dropped or added, one at a time, between lines that are sound.
#[test]
fn changed_lines_are_read_alike() {
    let mut state = 5u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let bytes = b"<>\"\\@^_:.# \t\r\n%?/-[]{}|`aZ09\xc3\xa9\x00\x7f";
    for round in 0..6_000 {
        let mut text = LINES[next(LINES.len())].as_bytes().to_vec();
        for _ in 0..=next(2) {
            let (at, byte) = (next(text.len() + 1), bytes[next(bytes.len())]);
            match next(3) {
                0 => text.insert(at, byte),
                1 if at < text.len() => text[at] = byte,
                _ if at < text.len() => {
                    text.remove(at);
                }
                _ => {}
            }
        }
        let text = [b"<urn:a> <urn:b> <urn:c> .\n", text.as_slice(), b"\n_:x <urn:b> \"d\" ."].concat();
        let syntax = if next(2) == 0 { Syntax::NTriples } else { Syntax::NQuads };
        compare(&text, syntax, &format!("{round} {:?}", String::from_utf8_lossy(&text)));
    }
}

/// Whatever the number of threads: the same quads, counts and first mistake.
#[test]
fn threads_share_a_text() {
    let mut text: String = (0..60_000).map(|n| format!("<urn:s:{n}> <urn:p> \"{}\" .\n", "x".repeat(n % 90))).collect();
    let read = |text: &str, threads: usize, lenient: bool| {
        let options = ReadOptions { lenient, ..ReadOptions::default() };
        let mut takers = vec![Vec::new(); threads];
        let done = read_lines(&mut text.as_bytes(), Syntax::NTriples, &options, &mut takers, &|quads, quad| {
            quads.push(line(&quad));
            Ok(())
        });
        let mut quads = takers.concat();
        quads.sort();
        (done, quads)
    };
    let (done, expected) = read(&text, 1, false);
    assert_eq!((done.unwrap().quads, expected.len()), (60_000, 60_000));
    for threads in [2, 5] {
        let (done, quads) = read(&text, threads, false);
        assert_eq!(done.unwrap().quads, 60_000);
        assert!(quads == expected);
    }
    // Two mistakes far from each other: the first is told.
    for at in [50_000, 20_000] {
        let offset = text.match_indices('\n').nth(at).unwrap().0 + 1;
        text.insert_str(offset, "<urn:s> <urn:p> broken .\n");
    }
    for threads in [1, 3] {
        let error = read(&text, threads, false).0.unwrap_err();
        assert_eq!(error.place().line, Some(20_002), "{error}");
        assert_eq!(error.broken_rule().unwrap().id, "RDF-SYNTAX");
        let (done, quads) = read(&text, threads, true);
        let done = done.unwrap();
        // The parser may find several mistakes in one line.
        assert!(done.quads == 60_000 && done.skipped >= 2 && !done.findings.is_empty(), "{done:?}");
        assert!(quads == expected);
    }
}

/// What is skipped is told from the begin of the text on, whoever found it.
#[test]
fn the_first_mistakes_are_told() {
    let line = |n: usize| {
        if n % 1_000 == 7 { "<urn:s> <urn:p> broken .\n" } else { "<urn:s> <urn:p> <urn:a:long:object> .\n" }
    };
    let text: String = (0..90_000).map(line).collect();
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    for threads in [1, 4] {
        let mut takers = vec![(); threads];
        let done = read_lines(&mut text.as_bytes(), Syntax::NTriples, &options, &mut takers, &|(), _| Ok(())).unwrap();
        let (count, kept) = done.findings.by_rule().next().unwrap();
        let lines: Vec<u64> = kept.iter().filter_map(|finding| finding.place.line).collect();
        assert_eq!((done.skipped, count), (count, done.skipped));
        assert_eq!(lines.len(), 8, "{threads}");
        assert!(lines.iter().all(|line| line % 1_000 == 8 && *line < 8_000), "{threads}: {lines:?}");
    }
}

#[test]
fn a_broken_line_is_one_broken_statement() {
    let lenient = ReadOptions { lenient: true, ..ReadOptions::default() };
    for broken in ["rubbish .", "<urn:a> <urn:b> .", "<urn:a> \"b\" <urn:c> .", ". . ."] {
        let text = format!("{broken}\n<urn:a> <urn:b> <urn:c> .\n{broken}\n");
        for threads in [1, 3] {
            let (mut takers, mut bytes) = (vec![(); threads], text.as_bytes());
            let reading = read_lines(&mut bytes, Syntax::NTriples, &lenient, &mut takers, &|(), _| Ok(())).unwrap();
            assert_eq!((reading.quads, reading.skipped), (1, 2), "{broken}");
            assert_eq!(reading.findings.count(&isomorph_rdf::rules::SKIPPED), 2, "{broken}");
        }
    }
}

#[test]
fn versions_are_told_in_lines() {
    let told = |line: &str| format!("<urn:s> <urn:p> <urn:o> .\n{line}\n<urn:s> <urn:p> \"x\" .\n<urn:s> .\n");
    for line in ["VERSION \"1.2\"", " \tVERSION\"1.2-basic\" # so", "VERSION \t\"\"\r"] {
        for syntax in [Syntax::NTriples, Syntax::NQuads] {
            let broken = told(line);
            let text = broken.strip_suffix("<urn:s> .\n").unwrap();
            for text in [text, line] {
                let (slow, fast) = (slow(text.as_bytes(), syntax), fast(text.as_bytes(), syntax));
                assert!(
                    slow == fast && slow.is_ok_and(|quads| quads.len() == text.matches("<urn:s>").count()),
                    "{line}"
                );
            }
            let (slow, fast) = (slow(broken.as_bytes(), syntax), fast(broken.as_bytes(), syntax));
            assert!(slow == fast && slow.is_err_and(|(_, line)| line == Some(4)), "places stay what they are: {line}");
        }
    }
    for line in ["VERSION", "VERSION 1.2", "VERSION \"1.2\" .", "version \"1.2\"", "VERSION \"a\\u0020\"", "VERSIO"] {
        compare(told(line).as_bytes(), Syntax::NQuads, line);
        assert!(slow(line.as_bytes(), Syntax::NTriples).is_err(), "{line}");
    }
}
