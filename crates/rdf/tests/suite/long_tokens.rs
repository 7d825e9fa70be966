//! Literals longer than a parser's buffer is by itself, in the syntaxes of the Turtle family.

#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_error::{Kind, Result};
use isomorph_model::faces::{Object, Quad};
use isomorph_model::xsd;
use isomorph_rdf::{QuadWriter, ReadOptions, Syntax, WriteOptions, read, read_lines, rules};
use isomorph_storage::Budget;

/// Bytes, more than 16 MiB.
const LONG: usize = 20_000_000;

const TURTLE: [Syntax; 4] = [Syntax::NTriples, Syntax::NQuads, Syntax::Turtle, Syntax::TriG];

/// How many quads a text has, and how long the literals of it are.
fn lengths(text: &str, syntax: Syntax, options: &ReadOptions) -> Result<Vec<usize>> {
    let mut lengths = Vec::new();
    read(&mut text.as_bytes(), syntax, options, &mut |quad| {
        match quad.object {
            Object::Literal { lexical, .. } => lengths.push(lexical.len()),
            Object::Term(_) => panic!("no literal"),
        }
        Ok(())
    })?;
    Ok(lengths)
}

#[test]
fn a_literal_may_be_as_long_as_memory_allows() {
    let long = "a".repeat(LONG);
    for syntax in TURTLE {
        let mut writer = QuadWriter::new(syntax, Vec::new(), &WriteOptions::default()).unwrap();
        for lexical in ["b", &long, "c", &long, "d"] {
            let object = Object::plain(lexical, xsd::STRING);
            writer.push(&Quad { subject: "urn:é", predicate: "urn:p", object, graph: None }).unwrap();
        }
        let text = String::from_utf8(writer.finish().unwrap()).unwrap();
        let options = ReadOptions::default();
        assert_eq!(lengths(&text, syntax, &options).unwrap(), [1, LONG, 1, LONG, 1], "{syntax}");
        // A mistake behind it has its line all the same.
        let error = lengths(&format!("{text}<urn:a> <urn:b> 'c\\q' .\n"), syntax, &options).unwrap_err();
        assert_eq!(error.place().line, Some(text.lines().count() as u64 + 1), "{syntax}: {error}");
        // It is counted.
        let options = ReadOptions { budget: Budget::new(32 << 20), ..ReadOptions::default() };
        let error = lengths(&text, syntax, &options).unwrap_err();
        assert_eq!(error.kind(), Kind::TooLarge, "{syntax}: {error}");
        assert!(
            error.place().line.is_some() && error.hints().any(|hint| hint.contains("--memory")),
            "{syntax}: {error:?}"
        );
        assert_eq!(options.budget.used(), 0, "{syntax}");
    }
}

#[test]
fn what_needs_too_much_memory_on_a_line_has_the_place_of_that_line() {
    // A letter that is not ASCII sends the line to the parser.
    let text = format!("<urn:a> <urn:b> <urn:c> .\n<urn:é> <urn:b> \"{}\" .\n", "a".repeat(LONG));
    let options = ReadOptions { budget: Budget::new(64 << 20), ..ReadOptions::default() };
    for threads in [1, 2] {
        let mut takers = vec![(); threads];
        let read = read_lines(&mut text.as_bytes(), Syntax::NTriples, &options, &mut takers, &|(), _| Ok(()));
        let error = read.unwrap_err();
        assert_eq!((error.kind(), error.place().line), (Kind::TooLarge, Some(2)), "{error:?}");
        assert!(error.hints().any(|hint| hint.contains("--memory")), "{error:?}");
    }
}

#[test]
fn a_line_that_does_not_fit_into_memory_has_its_place() {
    let first = "<urn:a> <urn:b> <urn:c> .\n";
    let text = format!("{}<urn:é> <urn:b> \"{}\" .\n", first.repeat(100_000), "a".repeat(LONG));
    for (text, line) in [(text.as_str(), 100_001), (text.trim_start_matches(first), 1)] {
        for (mark, threads) in [("", 1), ("", 2), ("\u{feff}", 1)] {
            let (text, options) =
                (format!("{mark}{text}"), ReadOptions { budget: Budget::new(16 << 20), ..ReadOptions::default() });
            let mut takers = vec![(); threads];
            let read = read_lines(&mut text.as_bytes(), Syntax::NTriples, &options, &mut takers, &|(), _| Ok(()));
            let error = read.unwrap_err();
            let place = error.place();
            assert_eq!((error.kind(), place.line), (Kind::TooLarge, Some(line)), "{error:?}");
            let (offset, begin) = (place.offset.unwrap(), if line > 1 { first.len() * 100_000 } else { 0 });
            // One letter has two bytes, and a byte order mark is no column.
            let column = offset - (mark.len() + begin) as u64;
            assert_eq!(place.field.as_deref(), Some(format!("column {column}").as_str()), "{error:?}");
            assert!(error.hints().any(|hint| hint.contains("--memory")), "{error:?}");
            assert_eq!(options.budget.used(), 0);
        }
    }
}

#[test]
fn what_is_too_long_for_xml_is_refused_before_it_is_written() {
    // As long as it may be, with what stands for an ampersand.
    let longest = format!("&{}", "a".repeat((64 << 20) - 5));
    let written = |lexical: &str| {
        let mut writer = QuadWriter::new(Syntax::RdfXml, Vec::new(), &WriteOptions::default())?;
        let object = Object::plain(lexical, xsd::STRING);
        writer.push(&Quad { subject: "urn:a", predicate: "urn:p", object, graph: None })?;
        writer.finish()
    };
    let text = String::from_utf8(written(&longest).unwrap()).unwrap();
    assert_eq!(lengths(&text, Syntax::RdfXml, &ReadOptions::default()).unwrap(), [longest.len()]);
    assert_eq!(written(&format!("{longest}a")).unwrap_err().kind(), Kind::WouldLose);
}

#[test]
fn what_is_too_long_for_json_is_refused_before_it_is_written() {
    // As long as it may be, with what stands for a quotation mark.
    let longest = format!("\"{}", "é".repeat(3_999_999));
    let object =
        |lexical: &str| format!("[{{\"@id\": \"urn:a\", \"urn:p\": \"{lexical}\"}},\n {{\"@id\": \"urn:b\"}}]");
    let written = |lexical: &str| {
        let mut writer = QuadWriter::new(Syntax::JsonLd, Vec::new(), &WriteOptions::default())?;
        for object in
            [Object::plain("x", xsd::STRING), Object::plain(lexical, xsd::STRING), Object::plain("y", "urn:d")]
        {
            writer.push(&Quad { subject: "urn:a", predicate: "urn:p", object, graph: None })?;
        }
        writer.finish()
    };
    let text = String::from_utf8(written(&longest).unwrap()).unwrap();
    assert_eq!(lengths(&text, Syntax::JsonLd, &ReadOptions::default()).unwrap(), [1, longest.len(), 1]);
    assert_eq!(written(&format!("{longest}a")).unwrap_err().kind(), Kind::WouldLose);
    for lenient in [false, true] {
        let options = ReadOptions { lenient, ..ReadOptions::default() };
        let error = lengths(&object(&"a".repeat(LONG)), Syntax::JsonLd, &options).unwrap_err();
        assert_eq!((error.broken_rule(), error.place().line), (Some(&rules::LIMIT), Some(1)), "{error:?}");
        let column = 28 + 8_000_001;
        assert_eq!(error.place().field, Some(format!("column {column}")), "{error:?}");
        assert!(error.hints().any(|hint| hint.contains(".nq")), "{error:?}");
        // Numbers have the same limit; what is between them has none.
        let number = |count| object("0").replace("\"0\"", &format!("{}{}", " ".repeat(LONG), "1".repeat(count)));
        assert_eq!(lengths(&number(20), Syntax::JsonLd, &options).unwrap(), [20]);
        let error = lengths(&number(LONG), Syntax::JsonLd, &options).unwrap_err();
        assert_eq!(error.broken_rule(), Some(&rules::LIMIT), "{error:?}");
    }
}

#[test]
fn a_long_text_without_statements_is_read() {
    let comments = "# nothing\n".repeat(2_000_000);
    for syntax in TURTLE {
        let text = format!("{comments}<urn:a> <urn:b> 'c' .");
        let text = if matches!(syntax, Syntax::NTriples | Syntax::NQuads) { text.replace('\'', "\"") } else { text };
        assert_eq!(lengths(&text, syntax, &ReadOptions::default()).unwrap(), [1], "{syntax}");
    }
}
