//! Broken texts of every syntax: where, and what was expected.

#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_error::{Error, Kind};
use isomorph_rdf::{ReadOptions, Reading, Syntax, Text, read, rules};
use isomorph_storage::{Budget, Location};

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
        // What no XML has is wrong where it stands.
        ("<!-- é\u{1} --></rdf:RDF>", 2, 7, "a character that XML does not allow"),
        // A sign of several bytes is known with its last.
        ("<x:a>\u{fffe}</x:a></rdf:RDF>", 2, 7, "a character that XML does not allow"),
        ("<!-- a -- b --></rdf:RDF>", 2, 10, "--"),
        ("<x:a rdf:about='urn:a'x:b='c'/></rdf:RDF>", 2, 23, "no blank"),
        ("<x:a x:b='<'/></rdf:RDF>", 2, 11, "&lt;"),
        ("<x:a;b/></rdf:RDF>", 2, 5, "not allowed in a name here"),
        ("<x:a><x:p>&#1;</x:p></x:a></rdf:RDF>", 2, 14, "&#1;"),
        ("<x:a x:p='a & b'/></rdf:RDF>", 2, 14, "&amp;"),
        ("<x:a x:p='&b'/></rdf:RDF>", 2, 13, "&amp;"),
        ("<x:a><x:p>]]></x:p></x:a></rdf:RDF>", 2, 13, "]]&gt;"),
        ("<?xml version='1.0'?></rdf:RDF>", 2, 21, "not at the beginning"),
        // The first of two mistakes is named.
        ("<rdf:li/>\n<!-- \u{1} --></rdf:RDF>", 2, 9, "invalid property element"),
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
}

/// What is read leniently: subjects, the places of what was skipped, the reading.
fn lenient(text: &str, syntax: Syntax) -> Result<(Vec<String>, Vec<String>, Reading), Error> {
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    let mut subjects = Vec::new();
    let reading = read(&mut text.as_bytes(), syntax, &options, &mut |quad| {
        subjects.push(quad.subject.to_owned());
        Ok(())
    })?;
    let places = reading.findings.by_rule().flat_map(|(_, kept)| kept);
    let places = places.map(|found| {
        format!("{}:{}", found.place.line.unwrap_or_default(), found.place.field.as_deref().unwrap_or_default())
    });
    let places = places.collect();
    Ok((subjects, places, reading))
}

#[test]
fn rdf_xml_goes_on_behind_a_broken_element() {
    let prologue = "<?xml version='1.0'?><!DOCTYPE rdf:RDF [<!ENTITY e \"urn:e\">]>\n<!-- <a> -->";
    let good = |name: &str| format!("<x:a rdf:about='urn:{name}'><x:p>b</x:p></x:a>\n");
    let broken = [
        // What is wrong, and where: at the end of the tag or text.
        ("<x:a rdf:about='a b'/>", "column 22"),
        ("<x:a rdf:ID='1'/>", "column 17"),
        ("<rdf:li/>", "column 9"),
        ("<x:a><x:p>b</x:q></x:a>", "column 17"),
        ("<x:a><y:p/></x:a>", "column 11"),
        ("some text", "column 10"),
        ("<x:a><x:p rdf:resource='urn:a'>text</x:p></x:a>", "column 35"),
        ("<x:a><x:p>&what;</x:p></x:a>", "column 16"),
        ("<x:a><x:p>\u{1}</x:p></x:a>", "column 11"),
        ("<!-- -- -->", "column 8"),
        ("<x:a x:p='<'/>", "column 11"),
    ];
    for (text, column) in broken {
        let (first, second) = (good("é"), good("&e;"));
        let text = format!("{prologue}{XML}{first}{text}\n<!-- -->{second}</rdf:RDF>\n<!-- end -->");
        let (subjects, places, reading) = lenient(&text, Syntax::RdfXml).unwrap();
        assert_eq!(subjects, ["urn:é", "urn:é", "urn:urn:e", "urn:urn:e"], "{text} {:?}", reading.findings);
        assert_eq!((places, reading.skipped), (vec![format!("4:{column}")], 1), "{text}");
        assert_eq!(
            reading.prefixes,
            [("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"), ("x", "urn:x:")]
                .map(|(name, iri)| (name.to_owned(), iri.to_owned()))
        );
    }
    // Many pieces are read at once, and again one by one where one is broken; nodes without a label stay apart.
    let many: String = (0..20_000).map(|n| if n == 9_999 { good("a b") } else { good(&n.to_string()) }).collect();
    let (subjects, places, _) = lenient(&format!("{XML}{many}<x:a><x:b/></x:a></rdf:RDF>"), Syntax::RdfXml).unwrap();
    assert_eq!((subjects.len(), places.len()), (2 * 19_999 + 2, 1));
    assert!(subjects.ends_with(&["_:anon0".to_owned(), "_:anon0".to_owned()]), "{:?}", subjects.last());
    // What is not well-formed has no end that anybody could find.
    for end in ["<x:a>", "</x:a></rdf:RDF>", "<x:a rdf:about='urn:a", "</rdf:rdf>"] {
        let error = lenient(&format!("{XML}{}{end}", good("a")), Syntax::RdfXml).unwrap_err();
        assert_eq!(error.broken_rule(), Some(&rules::SYNTAX), "{end}: {error}");
        let hint = "reading RDF/XML cannot continue after this error, not even leniently; statements before it: 2";
        assert!(error.hints().any(|found| found == hint), "{end}: {error:?}");
    }
    // One element that is the text is one piece.
    let one =
        good("a").replace("<x:a ", "<x:a xmlns:x='urn:x:' xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' ");
    assert_eq!(lenient(&one, Syntax::RdfXml).unwrap().0.len(), 2);
    assert!(lenient(&one.replace("urn:a", "a b"), Syntax::RdfXml).is_err());
    // The frame of all has to be sound.
    let error = lenient(&XML.replace("xmlns:x", "xml:base='a b' xmlns:x"), Syntax::RdfXml).unwrap_err();
    assert_eq!((error.place().line, error.broken_rule()), (Some(1), Some(&rules::SYNTAX)), "{error}");
}

#[test]
fn json_ld_goes_on_behind_a_broken_node() {
    let (good, next) = (r#"{"@id":"urn:a","urn:p":"b"}"#, r#"{"@id":"urn:c","urn:p":{"@id":"urn:d"}}"#);
    let context = r#"{"@graph":[0],"@context":{"x":"urn:p"}}"#;
    for broken in [r#"{"@id":1}"#, r#"{"@id":"urn:x","urn:p":{"@value":[]}}"#, r#"{"@context":"http://a.example/c"}"#] {
        for (frame, nodes) in [("[0]", 2), (context, 2), (r#"{"@id":"urn:g","@graph":[0]}"#, 2)] {
            let text = frame.replace('0', &format!("{good},\n  {broken},\n{next}"));
            let (subjects, places, reading) = lenient(&text, Syntax::JsonLd).unwrap();
            assert_eq!(subjects.len(), nodes, "{text}: {subjects:?}");
            assert_eq!(subjects, ["urn:a", "urn:c"], "{text}");
            assert_eq!((places, reading.skipped), (vec!["2:column 3".to_owned()], 1), "{text}");
        }
    }
    // One node that is the text, and what is no JSON, end at the first mistake.
    for text in [r#"{"@id":"urn:a","urn:p":"b","@type":1}"#, r#"[{"@id":"urn:a","urn:p":"b"},"#] {
        let error = lenient(text, Syntax::JsonLd).unwrap_err();
        assert!(error.hints().any(|hint| hint.contains("not even leniently; statements before it: ")), "{error:?}");
    }
    // Read strictly, a file tells the node that is wrong.
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a.jsonld");
    std::fs::write(&path, format!("[{good},\n  {{\"@id\":1}},\n{next}]")).unwrap();
    let text = Text::open(&Location::from_path(&path), None).unwrap();
    let options = ReadOptions::default();
    let alone = text.read(&options, &mut |_| Ok(())).unwrap_err();
    let shared = text.read_shared(&options, &mut [(), ()], &|(), _| Ok(())).unwrap_err();
    for error in [alone, shared] {
        assert_eq!((error.place().line, error.place().field.as_deref()), (Some(2), Some("column 3")), "{error}");
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
    // The place is that of the sign that is one too many.
    let (lines, é) = ("\n".repeat(70_000), "é".repeat(40_000));
    let (column, offset) = (40_007 + 128 * 5, XML.len() as u64 + 70_000 + 80_007 + 128 * 5 - 1);
    let elements = (format!("{XML}{lines}<!--{é}-->{}", "<x:a>".repeat(5_000)), 70_002, column, offset);
    let arrays = (format!("{{\"é\":{lines}{}", "[".repeat(5_000)), 70_001, 128, 70_000 + 6 + 127);
    let triples = (format!("<urn:a> <urn:b>{lines}{}", nested(5_000)), 70_001, 0, 0);
    for (syntax, (text, line, column, offset)) in
        [(Syntax::RdfXml, elements), (Syntax::JsonLd, arrays), (Syntax::Turtle, triples)]
    {
        for lenient in [false, true] {
            let options = ReadOptions { lenient, ..ReadOptions::default() };
            let error = read(&mut text.as_bytes(), syntax, &options, &mut |_| Ok(())).unwrap_err();
            assert_eq!(
                (error.broken_rule(), error.place().line),
                (Some(&rules::LIMIT), Some(line)),
                "{syntax}: {error}"
            );
            if column > 0 {
                assert_eq!(error.place().field, Some(format!("column {column}")), "{syntax}: {error}");
                assert_eq!(error.place().offset, Some(offset), "{syntax}: {error}");
            }
        }
    }
    let small = ReadOptions { budget: Budget::new(1 << 20), ..ReadOptions::default() };
    let long = format!("{{\"@id\": \"urn:{}\"}}", "a".repeat(1 << 20));
    let error = read(&mut long.as_bytes(), Syntax::JsonLd, &small, &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.kind(), Kind::TooLarge);
    let anonymous = "[] <urn:b> [] .\n".repeat(20_000);
    let error = read(&mut anonymous.as_bytes(), Syntax::Turtle, &small, &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.kind(), Kind::TooLarge);
}

#[test]
fn a_text_of_xml_that_was_cut_is_not_taken_for_whole() {
    let body = "<rdf:Description rdf:about=\"urn:a\">\n  <x:p>one &amp; two</x:p>\n  <x:q rdf:parseType=\"Literal\"><b/></x:q>\n";
    let text = format!("<?xml version=\"1.0\"?>\n{XML}{body}</rdf:Description>\n<!-- end --></rdf:RDF>\n");
    let whole = text.trim_end().len();
    for end in 0..whole {
        let error = error(&text[..end], Syntax::RdfXml);
        assert_eq!(error.broken_rule(), Some(&rules::SYNTAX), "{end}: {error}");
        let lenient = lenient(&text[..end], Syntax::RdfXml);
        assert!(lenient.is_err(), "{end}");
    }
    for end in [whole, text.len()] {
        let reading = read(&mut &text.as_bytes()[..end], Syntax::RdfXml, &ReadOptions::default(), &mut |_| Ok(()));
        assert_eq!(reading.unwrap().quads, 2);
    }
    let cut = error(&text[..whole - "</rdf:RDF>".len()], Syntax::RdfXml);
    assert!(cut.message().contains("inside an element"), "{cut}");
    assert_eq!((cut.place().line, cut.place().field.as_deref()), (Some(7), Some("column 13")), "{cut}");
}
