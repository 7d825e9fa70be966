//! What is written is read again: every syntax, every kind of term.

#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_error::Kind;
use isomorph_model::faces::{Object, Quad, RDF_TYPE};
use isomorph_model::ntriples::push_quad;
use isomorph_model::xsd;
use isomorph_rdf::{QuadWriter, ReadOptions, Syntax, WriteOptions, read};

/// The lines of a text as canonical N-Quads, in its order.
fn lines(text: &[u8], syntax: Syntax) -> Vec<String> {
    let mut lines = Vec::new();
    let read = read(&mut &*text, syntax, &ReadOptions::default(), &mut |quad| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        lines.push(line);
        Ok(())
    });
    let reading = read.unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(text)));
    assert_eq!(reading.quads, lines.len() as u64);
    lines
}

fn prefixes() -> WriteOptions {
    let of = |name: &str, iri: &str| (name.to_owned(), iri.to_owned());
    WriteOptions {
        prefixes: vec![of("ex", "http://example.org/"), of("", "urn:x:"), of("1", "urn:bad:"), of("p", "urn:p#")],
        base: Some("http://example.org/base".to_owned()),
        rdf_1_1: false,
    }
}

fn write(quads: &[Quad<'_>], syntax: Syntax, options: &WriteOptions) -> isomorph_error::Result<Vec<u8>> {
    let mut writer = QuadWriter::new(syntax, Vec::new(), options)?;
    quads.iter().try_for_each(|quad| writer.push(quad))?;
    assert_eq!(writer.quads(), quads.len() as u64);
    writer.finish()
}

const LANG: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString";
const DIR_LANG: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#dirLangString";

/// Objects that every syntax has.
fn objects() -> Vec<Object<'static>> {
    let lang = |language, direction: Option<&'static str>| Object::Literal {
        lexical: "chat & <b> \"x\"",
        datatype: if direction.is_some() { DIR_LANG } else { LANG },
        language: Some(language),
        direction,
    };
    vec![
        Object::Term("http://example.org/o.p"),
        Object::Term("http://example.org/o."),
        Object::Term("http://example.org/-a"),
        Object::Term("http://example.org/é?q=1&r=%20#f"),
        Object::Term("urn:x:"),
        Object::Term("urn:x:a/b"),
        Object::Term("_:b0"),
        Object::Term("_:x.y-z"),
        Object::plain("", xsd::STRING),
        Object::plain("  a\tb\r\nc\rd\n ", xsd::STRING),
        Object::plain("\"\\ ' \u{7f} é 😀 ]]> )>> <<(", xsd::STRING),
        Object::plain("05", xsd::INTEGER),
        Object::plain("+5", xsd::INTEGER),
        Object::plain("five", xsd::INTEGER),
        Object::plain("true", xsd::BOOLEAN),
        Object::plain("1", xsd::BOOLEAN),
        Object::plain("1.0E0", xsd::DOUBLE),
        Object::plain("{\"a\": [1, 2]}", "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON"),
        Object::plain("x", "http://example.org/é#dt"),
        lang("en-gb", None),
        lang("ar", Some("rtl")),
    ]
}

#[test]
fn what_is_written_is_read_again() {
    for syntax in Syntax::ALL {
        for options in [WriteOptions::default(), prefixes()] {
            let mut quads = Vec::new();
            for (at, object) in objects().into_iter().enumerate() {
                let subject = ["http://example.org/s", "_:b0", "urn:x:s"][at / 3 % 3];
                let predicate = ["http://example.org/p", "urn:p#q", RDF_TYPE, "urn:y:é"][at % 4];
                let graph = [None, None, Some("http://example.org/g"), Some("_:g")][at / 2 % 4];
                quads.push(Quad { subject, predicate, object, graph: graph.filter(|_| syntax.has_graphs()) });
            }
            if !matches!(syntax, Syntax::JsonLd) {
                for object in [
                    "<<( <http://example.org/s> <urn:p#q> <urn:x:o> )>>",
                    "<<( _:b0 <urn:y:é> \"a \\\"b\\\"\"@ar--rtl )>>",
                    "<<( _:b0 <urn:y:q> <<( <urn:x:a> <urn:x:b> \"05\"^^<http://www.w3.org/2001/XMLSchema#integer> )>> )>>",
                ] {
                    quads.push(Quad {
                        subject: "_:r",
                        predicate: "urn:x:says",
                        object: Object::Term(object),
                        graph: None,
                    });
                }
            }
            let expected: Vec<String> = quads
                .iter()
                .map(|quad| {
                    let mut line = String::new();
                    push_quad(&mut line, quad);
                    line
                })
                .collect();
            let text = write(&quads, syntax, &options).unwrap();
            let mut found = lines(&text, syntax);
            let mut expected = expected;
            if syntax == Syntax::JsonLd {
                // Node objects have no order of their members.
                found.sort();
                expected.sort();
            }
            assert_eq!(found, expected, "{syntax}\n{}", String::from_utf8_lossy(&text));
            // The same once more: what was read is written in the same bytes.
            assert_eq!(write(&quads, syntax, &options).unwrap(), text, "{syntax}");
        }
    }
}

#[test]
fn an_empty_text_is_one_of_every_syntax() {
    for syntax in Syntax::ALL {
        let text = write(&[], syntax, &prefixes()).unwrap();
        assert_eq!(lines(&text, syntax), [""; 0], "{syntax}");
    }
}

#[test]
fn namespaces_of_xml_have_names_that_nobody_else_has() {
    let of = |name: &str, iri: &str| (name.to_owned(), iri.to_owned());
    let prefixes = vec![of("ns2", "urn:two#"), of("ns", "urn:others#")];
    let options = WriteOptions { prefixes, base: None, rdf_1_1: false };
    let inside = Object::Term("<<( <urn:a> <urn:inner#p> <urn:c> )>>");
    let objects = [("urn:one#p", inside), ("urn:two#p", inside), ("urn:one#q", Object::Term("urn:o"))];
    let quad = |predicate, object| Quad { subject: "urn:s", predicate, object, graph: None };
    let quads = objects.map(|(predicate, object)| quad(predicate, object));
    let text = write(&quads, Syntax::RdfXml, &options).unwrap();
    assert_eq!(
        lines(&text, Syntax::RdfXml),
        lines(&write(&quads, Syntax::NTriples, &options).unwrap(), Syntax::NTriples)
    );
    let text = String::from_utf8(text).unwrap();
    for element in [
        "<ns1:p xmlns:ns1=\"urn:one#\"",
        "<ns3:p xmlns:ns3=\"urn:inner#\" rdf:resource=\"urn:c\"/>",
        "<ns2:p rdf:version",
        "<ns1:q xmlns:ns1=\"urn:one#\" rdf:resource=\"urn:o\"/>",
    ] {
        assert!(text.contains(element), "{element} is not in\n{text}");
    }
    // So many that not each has one.
    let predicates: Vec<String> = (0..2000).map(|at| format!("urn:n{at}#p")).collect();
    let quads: Vec<_> = predicates.iter().chain(&predicates).map(|one| quad(one, Object::Term("urn:o"))).collect();
    let text = write(&quads, Syntax::RdfXml, &options).unwrap();
    assert_eq!(
        lines(&text, Syntax::RdfXml),
        lines(&write(&quads, Syntax::NTriples, &options).unwrap(), Syntax::NTriples)
    );
    assert!(String::from_utf8(text).unwrap().contains("<ns3:p xmlns:ns3=\"urn:n1#\""));
}

#[test]
fn what_a_syntax_cannot_say_is_refused() {
    let plain = Quad { subject: "urn:s", predicate: "urn:p", object: Object::Term("urn:o"), graph: None };
    let refused = |syntax, quad: Quad<'_>| write(&[quad], syntax, &WriteOptions::default()).unwrap_err().kind();
    for syntax in [Syntax::NTriples, Syntax::Turtle, Syntax::RdfXml] {
        assert_eq!(refused(syntax, Quad { graph: Some("urn:g"), ..plain }), Kind::WouldLose);
    }
    for syntax in Syntax::ALL {
        for subject in ["<<( <urn:a> <urn:b> <urn:c> )>>", "relative", "urn:a b", "_:", "_:a b", "_:a."] {
            assert_eq!(refused(syntax, Quad { subject, ..plain }), Kind::WouldLose, "{syntax} {subject}");
        }
        assert_eq!(refused(syntax, Quad { predicate: "_:p", ..plain }), Kind::WouldLose);
        let lost = Object::Literal { lexical: "x", datatype: LANG, language: Some("not a language"), direction: None };
        assert_eq!(refused(syntax, Quad { object: lost, ..plain }), Kind::WouldLose);
    }
    let triple = Object::Term("<<( <urn:a> <urn:b> <urn:c> )>>");
    assert_eq!(refused(Syntax::JsonLd, Quad { object: triple, ..plain }), Kind::WouldLose);
    assert_eq!(refused(Syntax::JsonLd, Quad { predicate: RDF_TYPE, object: triple, ..plain }), Kind::WouldLose);
    for predicate in ["urn:p:1", "http://www.w3.org/1999/02/22-rdf-syntax-ns#li", "urn:p/"] {
        assert_eq!(refused(Syntax::RdfXml, Quad { predicate, ..plain }), Kind::WouldLose, "{predicate}");
    }
    assert_eq!(refused(Syntax::RdfXml, Quad { subject: "_:0", ..plain }), Kind::WouldLose);
    assert_eq!(refused(Syntax::RdfXml, Quad { object: Object::plain("\u{1}", ""), ..plain }), Kind::WouldLose);
}

#[test]
fn types_that_are_literals_stay_beside_those_that_are_none() {
    let quad = |graph, object| Quad { subject: "urn:s", predicate: RDF_TYPE, object, graph };
    let x = Object::plain("x", xsd::STRING);
    let german = Object::Literal { lexical: "y", datatype: LANG, language: Some("de"), direction: None };
    let objects = [x, Object::Term("urn:c"), Object::Term("_:b0"), german, Object::plain("1", xsd::INTEGER), x];
    let quads: Vec<_> = [None, Some("urn:g")].iter().flat_map(|graph| objects.map(|one| quad(*graph, one))).collect();
    for syntax in Syntax::ALL {
        let quads: Vec<_> = quads.iter().copied().filter(|quad| quad.graph.is_none() || syntax.has_graphs()).collect();
        let mut expected = lines(&write(&quads, Syntax::NQuads, &prefixes()).unwrap(), Syntax::NQuads);
        let mut found = lines(&write(&quads, syntax, &prefixes()).unwrap(), syntax);
        // Node objects have no order of their members; the second x of a graph is the first one.
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{syntax}");
    }
    let text = String::from_utf8(write(&quads[..2], Syntax::JsonLd, &prefixes()).unwrap()).unwrap();
    let expected = "[\n{\"@id\": \"urn:s\", \"http://www.w3.org/1999/02/22-rdf-syntax-ns#type\": [{\"@value\": \"x\"}],\n  \
                    \"@type\": [\"urn:c\"]}\n]\n";
    assert_eq!(text, expected);
}

#[test]
fn nodes_without_a_label_get_the_same_one_every_time() {
    let turtle = "@prefix : <urn:x:> . :a :b [ :c :d ] , ( 1 ), _:anon1, _:abc, _:c0ffeec0ffeec0ffeec0ffeec0ffee .";
    let first = lines(turtle.as_bytes(), Syntax::Turtle);
    assert_eq!(first, lines(turtle.as_bytes(), Syntax::Turtle));
    for label in ["_:anon0 ", "_:anon1- ", "_:anon1 ", "_:abc ", "_:c0ffeec0ffeec0ffeec0ffeec0ffee "] {
        assert!(first.iter().any(|line| line.contains(label)), "{label} is not in\n{}", first.join("\n"));
    }
    let jsonld = r#"{"@id": "urn:a", "urn:b": [{"urn:c": "x"}, {"@id": "_:b1"}]}"#;
    let xml = "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:x='urn:x:'><rdf:Description><x:p>v</x:p>\
        <x:q rdf:nodeID='n1'/></rdf:Description></rdf:RDF>";
    for (text, syntax, label) in [(jsonld, Syntax::JsonLd, "_:b1"), (xml, Syntax::RdfXml, "_:n1")] {
        let first = lines(text.as_bytes(), syntax);
        assert_eq!(first, lines(text.as_bytes(), syntax));
        assert!(first.iter().any(|line| line.contains("_:anon0 ")), "{}", first.join("\n"));
        assert!(first.iter().any(|line| line.contains(label)), "{}", first.join("\n"));
    }
}

#[test]
fn prefixes_and_base_are_kept() {
    let texts = [
        ("@base <http://b/> . @prefix x: <urn:x:> . @prefix : <urn:y:> . <a> x:b :c .", Syntax::Turtle),
        ("@base <http://b/> . @prefix x: <urn:x:> . @prefix : <urn:y:> . { <a> x:b :c }", Syntax::TriG),
    ];
    for (text, syntax) in texts {
        let reading = read(&mut text.as_bytes(), syntax, &ReadOptions::default(), &mut |_| Ok(())).unwrap();
        let of = |name: &str, iri: &str| (name.to_owned(), iri.to_owned());
        assert_eq!(reading.prefixes, [of("", "urn:y:"), of("x", "urn:x:")]);
        assert_eq!(reading.base.as_deref(), Some("http://b/"));
    }
    let options = ReadOptions { base: Some("http://given/".to_owned()), ..ReadOptions::default() };
    let mut subjects = Vec::new();
    let mut take = |quad: Quad<'_>| {
        subjects.push(quad.subject.to_owned());
        Ok(())
    };
    read(&mut "<a> <b> <c> .".as_bytes(), Syntax::Turtle, &options, &mut take).unwrap();
    assert_eq!(subjects, ["http://given/a"]);
    let unsound = ReadOptions { base: Some("given".to_owned()), ..ReadOptions::default() };
    let error = read(&mut "".as_bytes(), Syntax::Turtle, &unsound, &mut |_| Ok(())).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
}
