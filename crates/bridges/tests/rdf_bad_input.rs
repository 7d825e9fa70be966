//! Broken texts of every syntax: where, and what was expected.

#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_bridges::{ReadOptions, Syntax, read, rules};
use isomorph_error::{Error, Kind};
use isomorph_storage::Budget;

fn error(text: &str, syntax: Syntax) -> Error {
    match read(&mut text.as_bytes(), syntax, &ReadOptions::default(), &mut |_| Ok(())) {
        Ok(reading) => panic!("{} quads in {text:?}", reading.quads),
        Err(error) => error,
    }
}

const XML: &str = "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:x=\"urn:x:\">\n";

#[test]
fn mistakes_are_named_with_line_and_column() {
    let good = "<urn:a> <urn:b> \"c\" .\n";
    // Text behind a good line, the syntaxes, line, column, and a word of what is wrong.
    let lines = [Syntax::NTriples, Syntax::NQuads].as_slice();
    let turtle = [Syntax::Turtle, Syntax::TriG].as_slice();
    let all = [Syntax::NTriples, Syntax::NQuads, Syntax::Turtle, Syntax::TriG].as_slice();
    let cases: &[(&str, &[Syntax], u64, u64, &str)] = &[
        ("<urn:a> \"b\" <urn:c> .", lines, 2, 9, "predicate of a triple must be an IRI"),
        ("\"a\" <urn:b> <urn:c> .", lines, 2, 1, "subject of a triple must be an IRI or a blank node"),
        ("<urn:a> <urn:b> <urn:c>", lines, 2, 24, "must be followed by a dot"),
        ("<urn:a> <urn:b> .", lines, 2, 17, "object of a triple"),
        ("<urn:a> <urn:b> \"c\"@ .", all, 2, 21, "language code"),
        ("<urn:a> <urn:b> \"c\\x\" .", all, 2, 19, "escape"),
        ("<urn:a b> <urn:b> <urn:c> .", all, 2, 1, "IRI"),
        ("<a> <urn:b> <urn:c> .", all, 2, 1, "IRI"),
        ("<urn:a> <urn:b> x:c .", turtle, 2, 17, "prefix x: has not been declared"),
        ("<urn:a> <urn:b> [ <urn:c> .", turtle, 2, 27, "not a valid RDF object"),
        ("@prefix x <urn:x:> .", turtle, 2, 9, "prefix"),
    ];
    let mut wrong = Vec::new();
    for (text, syntaxes, line, column, word) in cases {
        for syntax in *syntaxes {
            let error = error(&format!("{good}{text}"), *syntax);
            assert_eq!(error.broken_rule(), Some(&rules::SYNTAX), "{error}");
            let place = (error.place().line, error.place().field.clone());
            if place != (Some(*line), Some(format!("column {column}"))) || !error.message().contains(word) {
                wrong.push(format!("{syntax} {text}: {error}"));
            }
        }
    }
    // The column is that where the tag or the text ends that is wrong.
    let xml: &[(&str, u64, u64, &str)] = &[
        ("<rdf:Description>\n<x:p>a</x:q>\n</rdf:Description></rdf:RDF>", 3, 12, "expected"),
        ("<rdf:Description rdf:about='a b'/>\n</rdf:RDF>", 2, 34, "IRI"),
        ("<rdf:li/>\n</rdf:RDF>", 2, 9, "invalid property element"),
        ("<rdf:Description>\n\n<x:p rdf:parseType='Literal'>&what;</x:p></rdf:Description></rdf:RDF>", 4, 35, "what"),
        ("<y:z/></rdf:RDF>", 2, 6, "y"),
        ("<x:é\n  x:é='a' rdf:about='b c'/></rdf:RDF>", 3, 27, "IRI"),
        ("<x:a\n  é='a' rdf:about='urn:b'/></rdf:RDF>", 3, 27, "XML namespaces"),
    ];
    for (text, line, column, word) in xml {
        let error = error(&format!("{XML}{text}"), Syntax::RdfXml);
        assert_eq!(error.broken_rule(), Some(&rules::SYNTAX), "{error}");
        let place = (error.place().line, error.place().field.clone());
        if place != (Some(*line), Some(format!("column {column}"))) || !error.message().contains(word) {
            wrong.push(format!("{text}: {error}"));
        }
    }
    let json: &[(&str, u64, &str)] = &[
        ("{\"@id\": \"urn:a\",\n \"urn:b\": }", 2, "curly bracket"),
        ("{\"@id\": \"urn:a\",\n \"urn:b\": {\"@value\": []}}", 2, "@value"),
        ("{\"@context\": \"http://example.org/context\",\n\"a\": 1}", 2, "context"),
    ];
    for (text, line, word) in json {
        let error = error(text, Syntax::JsonLd);
        assert_eq!(error.broken_rule(), Some(&rules::SYNTAX), "{error}");
        if error.place().line != Some(*line) || !error.message().contains(word) {
            wrong.push(format!("{text}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn lenient_reading_skips_and_counts() {
    let lenient = ReadOptions { lenient: true, ..ReadOptions::default() };
    let text =
        "<urn:a> <urn:b> <urn:c> .\n<urn:a> nothing <urn:c> .\n_:a <urn:b> \"x\\q\" .\n<urn:a> <urn:b> <urn:d> .\n";
    for syntax in [Syntax::NTriples, Syntax::NQuads, Syntax::Turtle, Syntax::TriG] {
        let mut objects = Vec::new();
        let reading = read(&mut text.as_bytes(), syntax, &lenient, &mut |quad| {
            objects.push(format!("{:?}", quad.object));
            Ok(())
        });
        let reading = reading.unwrap();
        assert!(objects.first().is_some_and(|object| object.contains("urn:c")), "{syntax}: {objects:?}");
        assert!(objects.last().is_some_and(|object| object.contains("urn:d")), "{syntax}: {objects:?}");
        assert!(reading.skipped >= 2, "{syntax}: {}", reading.skipped);
        assert_eq!(reading.findings.count(&rules::SKIPPED), reading.skipped);
    }
    // Nothing can be said of what comes behind a mistake in XML and JSON.
    let xml = format!("{XML}<x:a rdf:about='urn:a'><x:p>b</x:p></x:a><rdf:li/></rdf:RDF>");
    let json = r#"[{"@id": "urn:a", "urn:p": "b", "@type": "urn:c"}, {"@id": 1}]"#;
    for (text, syntax) in [(xml.as_str(), Syntax::RdfXml), (json, Syntax::JsonLd)] {
        let error = read(&mut text.as_bytes(), syntax, &lenient, &mut |_| Ok(())).unwrap_err();
        let hint =
            format!("nothing behind a mistake in {syntax} can be read, leniently neither; statements before it: 2");
        assert!(error.hints().any(|found| found == hint), "{error:?}");
    }
}

#[test]
fn what_costs_more_than_it_is_worth_is_refused() {
    let nested = |depth: usize| {
        let (open, close) = ("<<( <urn:a> <urn:b> ".repeat(depth), " )>>".repeat(depth));
        format!("<urn:a> <urn:b> {open}<urn:c>{close} .\n")
    };
    for syntax in [Syntax::NTriples, Syntax::NQuads, Syntax::Turtle, Syntax::TriG] {
        let deep = nested(100);
        assert_eq!(read(&mut deep.as_bytes(), syntax, &ReadOptions::default(), &mut |_| Ok(())).unwrap().quads, 1);
        // So deep that letting go of the term would overflow the stack.
        assert_eq!(error(&nested(100_000), syntax).broken_rule(), Some(&rules::LIMIT), "{syntax}");
    }
    let elements = format!("{XML}{}", "<rdf:Description><x:p>".repeat(10_000));
    assert_eq!(error(&elements, Syntax::RdfXml).broken_rule(), Some(&rules::LIMIT));
    let arrays = format!("{{\"urn:a\": {}", "[".repeat(100_000));
    assert_eq!(error(&arrays, Syntax::JsonLd).broken_rule(), Some(&rules::LIMIT));
    let small = ReadOptions { budget: Budget::new(1 << 20), ..ReadOptions::default() };
    let long = format!("{{\"@id\": \"urn:{}\"}}", "a".repeat(1 << 20));
    let error = read(&mut long.as_bytes(), Syntax::JsonLd, &small, &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.kind(), Kind::TooLarge);
    let anonymous = "[] <urn:b> [] .\n".repeat(20_000);
    let error = read(&mut anonymous.as_bytes(), Syntax::Turtle, &small, &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.kind(), Kind::TooLarge);
}
