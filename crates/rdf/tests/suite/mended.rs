//! Where the parsers below do otherwise than the specifications say, and this crate does not.

#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_error::{Error, Kind, Result};
use isomorph_model::ntriples::push_quad;
use isomorph_rdf::{ReadOptions, Reading, Syntax, Unlabelled, read, rules};

const RDF: &str = "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:e=\"urn:\"";

fn with(text: &str, syntax: Syntax, options: &ReadOptions) -> Result<(Vec<String>, Reading)> {
    let mut lines = Vec::new();
    let reading = read(&mut text.as_bytes(), syntax, options, &mut |quad| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        lines.push(line.trim_end_matches([' ', '.', '\n']).to_owned());
        Ok(())
    })?;
    Ok((lines, reading))
}

fn by_base(text: &str, syntax: Syntax, base: &str) -> Result<(Vec<String>, Reading)> {
    with(text, syntax, &ReadOptions { base: Some(base.to_owned()), ..ReadOptions::default() })
}

fn error(text: &str, syntax: Syntax) -> Error {
    with(text, syntax, &ReadOptions::default()).map(|(lines, _)| lines).unwrap_err()
}

/// The objects of the lines.
fn objects(lines: &[String]) -> Vec<&str> {
    lines.iter().map(|line| line.splitn(3, ' ').nth(2).unwrap()).collect()
}

#[test]
fn dot_segments_of_a_base_are_removed_behind_merging() {
    let cases = [
        ("http://a/bb/ccc/../d;p?q", "g", "http://a/bb/g"),
        ("http://a/bb/ccc/../d;p?q", "./g", "http://a/bb/g"),
        ("http://a/bb/ccc/../d;p?q", "../", "http://a/"),
        ("http://a/bb/ccc/../d;p?q", "../../../g", "http://a/g"),
        ("http://a/bb/ccc/../d;p?q", "/g/../h", "http://a/h"),
        ("http://a/bb/ccc/../d;p?q", "g;x?y#s", "http://a/bb/g;x?y#s"),
        ("http://a/bb/ccc/../d;p?q", "//b/c", "http://b/c"),
        // Without a path of its own, a reference has that of the base as it is.
        ("http://a/bb/ccc/../d;p?q", "", "http://a/bb/ccc/../d;p?q"),
        ("http://a/bb/ccc/../d;p?q", "?y", "http://a/bb/ccc/../d;p?y"),
        ("http://a/bb/ccc/../d;p?q", "#s", "http://a/bb/ccc/../d;p?q#s"),
        // An absolute one is what it is.
        ("http://a/bb/ccc/../d;p?q", "http://a/x/../y", "http://a/x/../y"),
        ("http://a/b/./c", "g", "http://a/b/g"),
        ("http://a/b/./c", "../g", "http://a/g"),
        ("http://a/../../c", "g", "http://a/g"),
        ("file:/a/../b/c", "g", "file:/b/g"),
        // The last segment is left out anyway.
        ("http://a/bb/ccc/..", "g", "http://a/bb/ccc/g"),
        ("http://a/bb/ccc/..", "../g", "http://a/bb/g"),
        ("http://a/bb/ccc/..", "", "http://a/bb/ccc/.."),
        ("http://a", "g", "http://a/g"),
    ];
    for (base, reference, expected) in cases {
        let texts = [
            (Syntax::Turtle, format!("<urn:s> <urn:p> <{reference}> .")),
            (Syntax::TriG, format!("<urn:s> <urn:p> <{reference}> .")),
            (Syntax::RdfXml, format!("<rdf:RDF {RDF}><e:s rdf:about=\"{reference}\"/></rdf:RDF>")),
            (Syntax::JsonLd, format!(r#"{{"@id": "urn:s", "urn:p": {{"@id": "{reference}"}}}}"#)),
        ];
        for (syntax, text) in texts {
            let (lines, _) = by_base(&text, syntax, base).unwrap();
            let found = match syntax {
                Syntax::RdfXml => lines[0].split(' ').next().unwrap(),
                _ => objects(&lines)[0],
            };
            assert_eq!(found, format!("<{expected}>"), "{syntax}: <{reference}> of {base}");
        }
    }
    // Prefixes, datatypes, triple terms, and the base that is told.
    let turtle = "@prefix : <g#> . @prefix w: <> . <s> :p <<( <x> w:y \"1\"^^<dt> )>> .";
    let (lines, reading) = by_base(turtle, Syntax::Turtle, "http://a/b/../c").unwrap();
    assert_eq!(lines, ["<http://a/s> <http://a/g#p> <<( <http://a/x> <http://a/b/../cy> \"1\"^^<http://a/dt> )>>"]);
    // It is written with whole IRIs, which must not be taken for relative ones.
    assert_eq!(reading.base.as_deref(), Some("http://a/c"));
    let prefix = |name: &str, iri: &str| (name.to_owned(), iri.to_owned());
    assert_eq!(reading.prefixes, [prefix("", "http://a/g#"), prefix("w", "http://a/b/../c")]);
}

/// The base that a text gives itself is the parser's: what it would get wrong is refused.
#[test]
fn a_base_of_the_text_with_dot_segments_is_refused_where_it_is_used() {
    let turtle = |base: &str, object: &str| format!("@base <{base}> . <urn:s> <urn:p> <{object}> .");
    for syntax in [Syntax::Turtle, Syntax::TriG] {
        for object in ["g", "../g", "../../g"] {
            let error = error(&turtle("http://a/b/../c?q", object), syntax);
            assert_eq!(error.broken_rule(), Some(&rules::SYNTAX));
            assert!(error.message().contains("write \"http://a/c?q\""), "{error}");
        }
        for object in ["urn:o", "http://b/x", "", "#x", "?x"] {
            with(&turtle("http://a/b/../c?q", object), syntax, &ReadOptions::default()).unwrap();
        }
        with(&turtle("http://a/b/..", "g"), syntax, &ReadOptions::default()).unwrap();
    }
    let xml = format!("<rdf:RDF {RDF} xml:base=\"http://a/b/../c\"><e:s rdf:about=\"g\"/></rdf:RDF>");
    assert!(error(&xml, Syntax::RdfXml).message().contains("dot segments"));
}

#[test]
fn relative_iris_without_a_base_are_an_error_in_json_ld_too() {
    for (text, relative) in [
        (r#"{"@id": "a", "urn:p": "x"}"#, "a"),
        (r#"[{"@id": "urn:s", "urn:p": {"@id": "b/c?d"}}]"#, "b/c?d"),
        (r#"{"@id": "urn:s", "@type": "T"}"#, "T"),
        (r#"{"@id": "urn:s", "urn:p": {"@value": "1", "@type": "dt"}}"#, "dt"),
        (r#"{"@id": "g", "@graph": [{"@id": "urn:s", "urn:p": "x"}]}"#, "g"),
        (r#"{"@context": {"@base": "folder/"}, "@id": "a", "urn:p": "x"}"#, "folder/a"),
        (r##"{"@context": {"@vocab": "#"}, "@id": "urn:s", "name": "x"}"##, "#name"),
        (r#"{"@id": "//host/a", "urn:p": "x"}"#, "//host/a"),
        (r#"{"@id": "", "urn:p": "x"}"#, ""),
    ] {
        let error = error(text, Syntax::JsonLd);
        assert_eq!(error.broken_rule(), Some(&rules::SYNTAX), "{text}");
        assert!(error.message().contains(&format!("{relative:?}")), "{text}: {error}");
        by_base(text, Syntax::JsonLd, "http://e/x").unwrap();
    }
    let (lines, reading) = by_base(r#"{"@id": "a", "urn:p": {"@id": ""}}"#, Syntax::JsonLd, "http://e/x").unwrap();
    assert_eq!(lines, ["<http://e/a> <urn:p> <http://e/x>"]);
    assert_eq!(reading.base.as_deref(), Some("http://e/x"));
    let own = r#"{"@context": {"@base": "http://e/x"}, "@id": "a", "urn:p": "v"}"#;
    assert_eq!(with(own, Syntax::JsonLd, &ReadOptions::default()).unwrap().0, ["<http://e/a> <urn:p> \"v\""]);
    let none = with(r#"{"@id": "urn:s", "urn:p": "v"}"#, Syntax::JsonLd, &ReadOptions::default()).unwrap();
    assert_eq!((none.0.len(), none.1.base), (1, None));
    // Leniently the node is skipped, and counted.
    let text = "[{\"@id\": \"a\", \"urn:p\": \"x\"},\n{\"@id\": \"urn:s\", \"urn:p\": \"kept\"}]";
    let options = ReadOptions { lenient: true, ..ReadOptions::default() };
    let (lines, reading) = with(text, Syntax::JsonLd, &options).unwrap();
    assert_eq!((lines.len(), reading.skipped), (1, 1));
}

#[test]
fn an_empty_language_of_xml_is_none() {
    let text = format!(
        "<rdf:RDF {RDF} xml:lang=\"en\">\n<rdf:Description rdf:about=\"urn:a\"><e:p>with</e:p><e:p xml:lang=''>without</e:p>\
         <e:p xml:lang=\"\" rdf:parseType=\"Literal\"><b xml:lang=\"\"/></e:p></rdf:Description>\n\
         <rdf:Description rdf:about=\"urn:b\" xml:lang=\"\" e:p=\"without\"><e:p>none</e:p><e:p xml:lang=\"de\">mit</e:p>\
         </rdf:Description></rdf:RDF>"
    );
    let xml = "http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral";
    let expected = [
        "\"with\"@en".to_owned(),
        "\"without\"".to_owned(),
        format!("\"<b xml:lang=\\\"\\\"></b>\"^^<{xml}>"),
        "\"without\"".to_owned(),
        "\"none\"".to_owned(),
        "\"mit\"@de".to_owned(),
    ];
    for lenient in [false, true] {
        let (lines, reading) = with(&text, Syntax::RdfXml, &ReadOptions { lenient, ..ReadOptions::default() }).unwrap();
        assert_eq!((objects(&lines), reading.skipped), (expected.iter().map(String::as_str).collect(), 0));
    }
    // A language that is none stays a mistake, and is found where it is.
    let error = error(&text.replace("\"de\"", "\"d e\""), Syntax::RdfXml);
    assert_eq!(error.place().line, Some(3), "{error}");
    // A direction needs a language.
    let directed = format!(
        "<rdf:RDF {RDF} rdf:version=\"1.2\" xmlns:its=\"http://www.w3.org/2005/11/its\" its:version=\"2.0\" its:dir=\"rtl\" xml:lang=\"\">\
         <e:s rdf:about=\"urn:a\" e:p=\"v\"/></rdf:RDF>"
    );
    let (lines, _) = with(&directed, Syntax::RdfXml, &ReadOptions::default()).unwrap();
    assert!(lines.iter().any(|line| line.ends_with(" \"v\"")), "{lines:?}");
}

#[test]
fn nodes_without_a_label_are_new_or_refused_where_that_is_asked_for() {
    let texts = [
        (Syntax::Turtle, "[] <urn:p> _:b , _:anon0 .".to_owned()),
        (Syntax::JsonLd, r#"{"urn:p": [{"@id": "_:b"}, {"@id": "_:anon0"}]}"#.to_owned()),
        (
            Syntax::RdfXml,
            format!(
                "<rdf:RDF {RDF}><rdf:Description><e:p rdf:nodeID='b'/><e:p rdf:nodeID='anon0'/></rdf:Description></rdf:RDF>"
            ),
        ),
    ];
    for (syntax, text) in texts {
        let unlabelled = Unlabelled::Called("i1_".to_owned());
        let (lines, _) = with(&text, syntax, &ReadOptions { unlabelled, ..ReadOptions::default() }).unwrap();
        assert_eq!(lines, ["_:i1_0 <urn:p> _:b", "_:i1_0 <urn:p> _:anon0"], "{syntax}");
        let refusing = ReadOptions { unlabelled: Unlabelled::Refused, ..ReadOptions::default() };
        let error = with(&text, syntax, &refusing).map(|(lines, _)| lines).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage, "{syntax}: {error}");
    }
    let refusing = ReadOptions { unlabelled: Unlabelled::Refused, ..ReadOptions::default() };
    let (lines, _) = with("_:a <urn:p> _:anon0 .", Syntax::Turtle, &refusing).unwrap();
    assert_eq!(lines, ["_:a <urn:p> _:anon0"]);
}
