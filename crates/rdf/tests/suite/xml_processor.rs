//! RDF/XML is XML: what an XML processor does with a text happens before its statements are read.
#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_error::Result;
use isomorph_model::ntriples::push_quad;
use isomorph_rdf::{ReadOptions, Reading, Syntax, read, rules};

const HEAD: &str = "<rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:ex=\"http://ex/\">";

/// At most this many bytes at a time.
struct Slow<'t>(&'t [u8], usize);

impl std::io::Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let length = out.len().min(self.1);
        std::io::Read::read(&mut self.0, &mut out[..length])
    }
}

fn with(text: &[u8], most: usize, options: &ReadOptions) -> Result<(Vec<String>, Reading)> {
    let mut lines = Vec::new();
    let reading = read(&mut Slow(text, most), Syntax::RdfXml, options, &mut |quad| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        lines.push(line.trim_end_matches([' ', '.', '\n']).to_owned());
        Ok(())
    })?;
    Ok((lines, reading))
}

/// The statements of a text: the same strictly and leniently, however it arrives.
fn lines(text: &str) -> Vec<String> {
    let (strict, reading) =
        with(text.as_bytes(), usize::MAX, &ReadOptions::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
    for (most, lenient) in [(1, false), (3, false), (usize::MAX, true), (7, true)] {
        let (lines, other) = with(text.as_bytes(), most, &ReadOptions { lenient, ..ReadOptions::default() }).unwrap();
        assert_eq!((&lines, other.skipped), (&strict, 0), "{text} {most} {lenient}");
        assert_eq!(other.prefixes, reading.prefixes, "{text}");
    }
    strict
}

/// The statements about `http://e/s` with these attributes and properties: predicates and objects.
fn of(attributes: &str, properties: &str) -> Vec<String> {
    declared("", attributes, properties)
}

fn declared(document_type: &str, attributes: &str, properties: &str) -> Vec<String> {
    let text = format!(
        "{document_type}{HEAD}<rdf:Description rdf:about=\"http://e/s\"{attributes}>{properties}</rdf:Description></rdf:RDF>"
    );
    let lines = lines(&text);
    lines.iter().map(|line| line.strip_prefix("<http://e/s> ").unwrap_or(line).to_owned()).collect()
}

/// The text of `ex:p` with this content, in N-Triples.
fn text_of(content: &str) -> Vec<String> {
    let lines = of("", &format!("<ex:p>{content}</ex:p>"));
    lines.iter().map(|line| line.strip_prefix("<http://ex/p> ").unwrap().to_owned()).collect()
}

fn error(text: &str) -> isomorph_error::Error {
    with(text.as_bytes(), usize::MAX, &ReadOptions::default()).map(|(lines, _)| lines).unwrap_err()
}

#[test]
fn a_text_goes_on_behind_comments_instructions_and_sections() {
    for (content, expected) in [
        (" <!--x--> ", "  "),
        ("a<!--c--> ", "a "),
        (" <!--c-->a", " a"),
        ("a<!--c-->b", "ab"),
        ("a<!--c-->\n  ", "a\\n  "),
        ("a <?p q?>\n", "a \\n"),
        ("a<![CDATA[ ]]>", "a "),
        ("<![CDATA[ ]]>a", " a"),
        (" <![CDATA[a]]>", " a"),
        ("<![CDATA[a]]>\n", "a\\n"),
        ("a<![CDATA[]]>", "a"),
        ("<![CDATA[]]>", ""),
        (" &#32; ", "   "),
        ("\n&#10;<!--x-->\n", "\\n\\n\\n"),
        ("<![CDATA[&amp;]]>", "&amp;"),
        ("&lt;![CDATA[", "<![CDATA["),
        ("a]]&gt;b<![CDATA[]]]]><![CDATA[>]]>", "a]]>b]]>"),
        ("<!-- <b> & --><![CDATA[<b>]]><?p > <b> ?>", "<b>"),
    ] {
        assert_eq!(text_of(content), [format!("\"{expected}\"")], "{content}");
    }
    assert_eq!(of("", "<ex:p rdf:datatype=\"urn:d\"><![CDATA[a]]>\n</ex:p>"), ["<http://ex/p> \"a\\n\"^^<urn:d>"]);
    assert_eq!(of("", "<ex:p> <!--c--> <ex:T rdf:about=\"urn:x\"/><?p?> </ex:p>").len(), 2);
    // Long ones arrive in pieces.
    let long = "é<&\r\n]] -".repeat(20_000);
    let data = text_of(&format!("a<!--{0}--><?p {0}?><![CDATA[{long}]]>b", "x - ".repeat(20_000)));
    assert_eq!(data, [format!("\"a{}b\"", "é<&\\n]] -".repeat(20_000))]);
}

#[test]
fn line_ends_and_values_are_normalised() {
    for (content, expected) in [
        ("two\r\nlines", "two\\nlines"),
        ("a\rb\r\r\n", "a\\nb\\n\\n"),
        ("a&#13;b&#13;\n", "a\\rb\\r\\n"),
        ("\r<!---->\n", "\\n\\n"),
        ("\r<![CDATA[\n\r]]>\n<![CDATA[\r\n]]>", "\\n\\n\\n\\n\\n"),
    ] {
        assert_eq!(text_of(content), [format!("\"{expected}\"")], "{content:?}");
    }
    for (value, expected) in [
        ("a\nb", "a b"),
        ("a\tb", "a b"),
        ("a\r\nb", "a b"),
        ("a\rb", "a b"),
        ("a&#10;b", "a\\nb"),
        ("a&#9;b", "a\\tb"),
        ("a&#13;b", "a\\rb"),
        (" a  b ", " a  b "),
        ("&quot;&apos;'&lt;&amp;lt;>", "\\\"''<&lt;>"),
    ] {
        assert_eq!(of(&format!(" ex:a=\"{value}\""), ""), [format!("<http://ex/a> \"{expected}\"")], "{value:?}");
    }
    // A text whose lines all end as on Windows.
    let windows = format!(
        "<?xml version=\"1.0\"?>\r\n{HEAD}\r\n<ex:T rdf:about=\"urn:a\"\r\n ex:a=\"1\r\n2\">\r\n<ex:p>a\r\nb</ex:p>\r\n</ex:T>\r\n</rdf:RDF>\r\n"
    );
    assert_eq!(lines(&windows), lines(&windows.replace("\r\n", "\n")));
    assert!(lines(&windows).iter().any(|line| line.ends_with("\"a\\nb\"")));
}

#[test]
fn entities_are_those_of_the_document_type() {
    for (declarations, reference, text, value) in [
        ("<!ENTITY a \"x\"><!ENTITY a \"y\"><!ENTITY q \"&#38;#65;\">", "&a;&q;", "xA", "xA"),
        (
            "<!ENTITY owl 'http://www.w3.org/2002/07/owl#'>",
            "&owl;x",
            "http://www.w3.org/2002/07/owl#x",
            "http://www.w3.org/2002/07/owl#x",
        ),
        ("<!ENTITY b \"&a;b\"><!ENTITY a \"http://a/\">", "&b;", "http://a/b", "http://a/b"),
        ("<!ENTITY lt \"&#38;#60;\">", "x &lt; y", "x < y", "x < y"),
        ("<!ENTITY q \"&#38;lt;b\">", "&q;", "<b", "<b"),
        ("<!ENTITY e \"\">", "a&e;b", "ab", "ab"),
        ("<!ENTITY e \"a&#10;b\">", "&e;", "a\\nb", "a b"),
        ("<!ENTITY e \"a\nb\r\nc\">", "&e;", "a\\nb\\nc", "a b c"),
        ("<!ENTITY e \"&amp;'>\">", "&e;", "&'>", "&'>"),
        ("<!ENTITY % a \"x\"><!ELEMENT r ANY><!-- c --><?pi y?><!ENTITY a \"q\">", "&a;", "q", "q"),
        ("<!ENTITY f \" &#38;amp; &#13;\">", "&f;", " & \\r", " &  "),
    ] {
        let lines = declared(
            &format!("<!DOCTYPE r [{declarations}]>"),
            &format!(" ex:a=\"{reference}\""),
            &format!("<ex:p>{reference}</ex:p>"),
        );
        assert_eq!(
            lines,
            [format!("<http://ex/a> \"{value}\""), format!("<http://ex/p> \"{text}\"")],
            "{declarations}"
        );
    }
    let owl = "<!DOCTYPE r [<!ENTITY owl 'http://www.w3.org/2002/07/owl#'>]>";
    let object = "<http://www.w3.org/2002/07/owl#x>";
    assert_eq!(declared(owl, "", "<ex:p rdf:resource=\"&owl;x\"/>"), [format!("<http://ex/p> {object}")]);
    assert_eq!(declared(owl, "", "<o:x xmlns:o='&owl;'/>"), [format!("{object} \"\"")]);
    // In an XML literal, too.
    let literal = declared(owl, "", "<ex:p rdf:parseType='Literal'><b q='&owl;'>&owl;</b></ex:p>");
    assert!(literal[0].contains("q=\\\"http://www.w3.org/2002/07/owl#\\\">http"), "{literal:?}");
}

#[test]
fn what_a_document_type_says_is_never_ignored() {
    for (declarations, content, word) in [
        ("<!ATTLIST ex:p id CDATA 'd'>", "x", "ATTLIST"),
        ("<!ENTITY a \"<b/>\">", "&a;", "markup"),
        ("<!ENTITY a \"&a;\">", "&a;", "itself"),
        ("<!ENTITY a SYSTEM \"b.xml\">", "&a;", "another file"),
        ("<!ENTITY % p \"\">%p;", "x", "parameter"),
        ("", "\n&a;", "not declared"),
    ] {
        let text = format!(
            "<!DOCTYPE r [{declarations}]>\n{HEAD}<rdf:Description rdf:about=\"http://e/s\"><ex:p>{content}</ex:p></rdf:Description></rdf:RDF>"
        );
        let error = error(&text);
        assert_eq!(error.broken_rule(), Some(&rules::SYNTAX), "{declarations}: {error}");
        assert!(error.message().contains(word) && error.place().line.is_some(), "{declarations}: {error}");
    }
    assert_eq!(
        error(&format!("{HEAD}<rdf:Description><ex:p>\n&a;</ex:p></rdf:Description></rdf:RDF>")).place().line,
        Some(2)
    );
    // Texts that comments divide are one text, and what entities stand for is in it.
    let entity = format!("<!DOCTYPE r [<!ENTITY a '{}'>]>", "x".repeat(60_000));
    let long = format!(
        "{entity}{HEAD}<ex:T><ex:p>{}</ex:p></ex:T></rdf:RDF>",
        format!("&a;<!--{}-->", "c".repeat(60_000)).repeat(1_200)
    );
    assert_eq!(error(&long).broken_rule(), Some(&rules::LIMIT));
}

#[test]
fn an_unknown_parse_type_means_literal() {
    let literal = "^^<http://www.w3.org/1999/02/22-rdf-syntax-ns#XMLLiteral>";
    for parse_type in ["Statement", "daml:collection", "literal", "", "triple", "&#76;iteral"] {
        let properties =
            format!("<ex:p rdf:parseType=\"{parse_type}\">plain<ex:b rdf:about='c'/></ex:p><ex:r>kept</ex:r>");
        let form = "plain<ex:b xmlns:ex=\\\"http://ex/\\\" xmlns:rdf=\\\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\\\" rdf:about=\\\"c\\\"></ex:b>";
        assert_eq!(
            of("", &properties),
            [format!("<http://ex/p> \"{form}\"{literal}"), "<http://ex/r> \"kept\"".to_owned()]
        );
        assert_eq!(
            of("", &format!("<ex:p rdf:parseType=\"{parse_type}\"/>")),
            [format!("<http://ex/p> \"\"{literal}")]
        );
    }
    // More prefixes in scope than the canonical form allows.
    let many: String = (0..120).map(|n| format!(" xmlns:n{n}='urn:{n}'")).collect();
    let lines = of(
        &many,
        "<ex:p rdf:parseType='daml:collection'>a<!--c--><![CDATA[<]]><ex:b xml:lang='' about='x\ny'/></ex:p>",
    );
    assert!(
        lines[0].starts_with("<http://ex/p> \"a&lt;<ex:b xml:lang=\\\"\\\" about=\\\"x y\\\"")
            && lines[0].ends_with(literal),
        "{lines:?}"
    );
    // Triple terms are known, in RDF 1.2.
    let triple = "<ex:p rdf:version=\"1.2\" rdf:parseType=\"Triple\"><rdf:Description rdf:about=\"urn:s\"><ex:q>b</ex:q></rdf:Description></ex:p>";
    assert_eq!(of("", triple), ["<http://ex/p> <<( <urn:s> <http://ex/q> \"b\" )>>"]);
}

#[test]
fn some_attributes_need_no_prefix() {
    let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#";
    let default =
        format!("<RDF xmlns=\"{rdf}\"><Description about=\"http://e/s\"><value>1</value></Description></RDF>");
    assert_eq!(lines(&default), [format!("<http://e/s> <{rdf}value> \"1\"")]);
    assert_eq!(
        with(default.as_bytes(), 9, &ReadOptions::default()).unwrap().1.prefixes,
        [(String::new(), rdf.to_owned())]
    );
    let mixed = format!(
        "{HEAD}<Description xmlns=\"{rdf}\" about=\"http://e/s\" type='urn:t'><ex:p resource='urn:o'/><ex:q parseType='Literal'>&lt;</ex:q></Description></rdf:RDF>"
    );
    let found = lines(&mixed);
    assert_eq!(found[0], format!("<http://e/s> <{rdf}type> <urn:t>"));
    assert_eq!(found[1], "<http://e/s> <http://ex/p> <urn:o>");
    assert_eq!(found[2], format!("<http://e/s> <http://ex/q> \"&lt;\"^^<{rdf}XMLLiteral>"));
    let id = format!("{HEAD}<ex:T xml:base='http://b/' ID='i'/></rdf:RDF>");
    assert!(lines(&id)[0].starts_with("<http://b/#i> "));
    // Others are still mistakes.
    assert_eq!(error(&format!("{HEAD}<rdf:Description other='1'/></rdf:RDF>")).broken_rule(), Some(&rules::SYNTAX));
}

/// Sections 5.1 and 6.2.5 of RDF/XML: it is no attribute of any element.
#[test]
fn bag_ids_are_an_error() {
    for (about, property) in [
        ("rdf:bagID='b'", "<ex:p>x</ex:p>"),
        ("", "<ex:p rdf:bagID='b'>x</ex:p>"),
        ("", "<ex:p rdf:parseType='Literal' rdf:bagID='b'><ex:q/></ex:p>"),
        ("", "<ex:p xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#' r:bagID='333-555'>x</ex:p>"),
        ("xmlns:r='&#104;ttp://www.w3.org/1999/02/22-rdf-syntax-ns#' r:bagID=\"b\"", ""),
    ] {
        let text =
            format!("{HEAD}\n<rdf:Description rdf:about='http://e/s' {about}>{property}</rdf:Description></rdf:RDF>");
        let error = error(&text);
        assert_eq!((error.broken_rule(), error.place().line), (Some(&rules::SYNTAX), Some(2)), "{text}: {error}");
        assert!(error.message().starts_with("rdf:bagID is not part of RDF/XML"), "{text}: {error}");
        let (lines, reading) =
            with(text.as_bytes(), 5, &ReadOptions { lenient: true, ..ReadOptions::default() }).unwrap();
        assert_eq!((lines, reading.skipped), (Vec::new(), 1), "{text}");
    }
    // In a literal it is text, and in another namespace a property.
    let literal = of("", "<ex:p rdf:parseType='Literal'><b rdf:bagID='c'></b></ex:p>");
    assert!(literal[0].contains("rdf:bagID=\\\"c\\\""), "{literal:?}");
    assert_eq!(
        lines(&format!("{HEAD}<rdf:Description rdf:about='http://e/s' ex:bagID='b'/></rdf:RDF>")),
        ["<http://e/s> <http://ex/bagID> \"b\""]
    );
}

#[test]
fn a_relative_base_is_relative_to_the_one_in_force() {
    for (outer, inner, expected) in [
        ("http://a/b/", "sub/", "http://a/b/sub/x"),
        ("http://a/b/c", "sub/", "http://a/b/sub/x"),
        ("http://a/b/c", "../d", "http://a/x"),
        ("http://a/b/c", "//h/", "http://h/x"),
        ("http://a/b/c", "", "http://a/b/x"),
        ("http://a/b/c#f", "?q", "http://a/b/x"),
        ("http://a/b/", "&#115;ub/", "http://a/b/sub/x"),
        ("http://a/b/", "http://c/", "http://c/x"),
    ] {
        let text = format!(
            "{HEAD}<rdf:Description xml:base=\"{outer}\" rdf:about=\"http://e/s\"><ex:p xml:base=\"{inner}\" rdf:resource=\"x\"/></rdf:Description></rdf:RDF>"
        );
        assert_eq!(lines(&text), [format!("<http://e/s> <http://ex/p> <{expected}>")], "{outer} {inner}");
    }
    // A base from outside, and one with dot segments.
    let text = format!("{HEAD}<ex:T xml:base='y/' rdf:about='z'/><ex:T rdf:about='z'/></rdf:RDF>");
    for (base, expected) in
        [("http://h/i/j", ["http://h/i/y/z", "http://h/i/z"]), ("http://h/i/../j", ["http://h/y/z", "http://h/z"])]
    {
        for lenient in [false, true] {
            let options = ReadOptions { base: Some(base.to_owned()), lenient, ..ReadOptions::default() };
            let (lines, _) = with(text.as_bytes(), 5, &options).unwrap();
            let subjects: Vec<_> = lines.iter().map(|line| line.split(' ').next().unwrap()).collect();
            assert_eq!(subjects, expected.map(|iri| format!("<{iri}>")), "{base}");
        }
    }
    assert_eq!(error(&text).broken_rule(), Some(&rules::SYNTAX));
}

#[test]
fn us_ascii_is_utf8() {
    let text = |encoding: &str, e: &str| {
        format!(
            "<?xml version=\"1.0\" encoding=\"{encoding}\"?>{HEAD}<rdf:Description rdf:about=\"urn:s\"><ex:p>{e}</ex:p></rdf:Description></rdf:RDF>"
        )
    };
    for encoding in ["US-ASCII", "us-ascii", "ASCII", "UTF-8", "utf-8"] {
        assert_eq!(lines(&text(encoding, "&#233;")), ["<urn:s> <http://ex/p> \"é\""], "{encoding}");
    }
    assert!(error(&text("US-ASCII", "é")).message().contains("US-ASCII"));
    assert!(error(&text("ISO-8859-1", "a")).message().contains("UTF-8"));
}

#[test]
fn mistakes_stay_where_they_are() {
    let bad = "<x:y rdf:resource='a b'/>".replace("x:y", "ex:p");
    let before = "<!--c-->\r\n<ex:q>&amp;<![CDATA[<]]>&a;</ex:q>\r\n<ex:q rdf:parseType='Literal'>&a;<b\n/></ex:q><ex:q ex:a='&a;\t' xml:lang=''/><!--c\n-->";
    let text = format!(
        "<!DOCTYPE r [\n<!ENTITY a '{}'>\n]>\n{HEAD}<rdf:Description>{before}{bad}</rdf:Description></rdf:RDF>",
        "xyz".repeat(50)
    );
    let expected = text[..text.find(&bad).unwrap() + bad.len()].rsplit('\n').next().unwrap().chars().count();
    for most in [1, 5, 64, usize::MAX] {
        let error = with(text.as_bytes(), most, &ReadOptions::default()).map(|(lines, _)| lines).unwrap_err();
        let place = error.place();
        assert_eq!((place.line, place.field.clone()), (Some(8), Some(format!("column {expected}"))), "{error}");
        assert_eq!(place.offset, Some((text.find(&bad).unwrap() + bad.len() - 1) as u64));
    }
    // And in one line.
    let line = text.replace(['\r', '\n'], " ");
    let place = error(&line).place().clone();
    assert_eq!(place.offset, Some((line.find(&bad).unwrap() + bad.len() - 1) as u64));
}

/// Texts and values of random parts, each of which has a known meaning, in parts of random length.
#[test]
fn random_parts_mean_what_each_of_them_means() {
    // What stands in the text, what it means in a text, and what in a value; `None` where it is not allowed in a value.
    const PARTS: [(&str, &str, Option<&str>); 16] = [
        ("a", "a", Some("a")),
        (" ", " ", Some(" ")),
        ("\n", "\n", Some(" ")),
        ("\t", "\t", Some(" ")),
        ("\r\n", "\n", Some(" ")),
        ("\r ", "\n ", Some("  ")),
        ("&#13;", "\r", Some("\r")),
        ("&#xA;", "\n", Some("\n")),
        ("&amp;", "&", Some("&")),
        ("&e;", "<x\n\r", Some("<x \r")),
        ("&d;", "y<x\n\r&", Some("y<x \r&")),
        ("é\u{10ffff}", "é\u{10ffff}", Some("é\u{10ffff}")),
        ("<!-- <&e;>\r\n -->", "", None),
        ("<?p <&e; ?>", "", None),
        ("<![CDATA[&e;<]]>", "&e;<", None),
        ("<![CDATA[\r\n\r]] >]]>", "\n\n]] >", None),
    ];
    let mut seed = 1_u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % below
    };
    for _ in 0..300 {
        let (mut text, mut value, mut meant) = (String::new(), String::new(), [String::new(), String::new()]);
        for _ in 0..random(12) {
            let (part, in_text, in_value) = PARTS[random(PARTS.len())];
            text.push_str(part);
            meant[0].push_str(in_text);
            if let Some(in_value) = in_value {
                value.push_str(part);
                meant[1].push_str(in_value);
            }
        }
        let document = format!(
            "<!DOCTYPE r [<!ENTITY d 'y&e;&#38;amp;'><!ENTITY e \"&#38;lt;x&#10;&#38;#13;\"><!ENTITY e ''>]>{HEAD}\
             <rdf:Description rdf:about=\"urn:s\" ex:a=\"{value}\"><ex:p>{text}</ex:p></rdf:Description></rdf:RDF>"
        );
        let mut found = Vec::new();
        let options = ReadOptions { lenient: random(2) == 0, ..ReadOptions::default() };
        read(&mut Slow(document.as_bytes(), 1 + random(40)), Syntax::RdfXml, &options, &mut |quad| {
            if let isomorph_model::faces::Object::Literal { lexical, .. } = quad.object {
                found.push((quad.predicate.to_owned(), lexical.to_owned()));
            }
            Ok(())
        })
        .unwrap();
        let [in_text, in_value] = meant;
        let expected = [("http://ex/a".to_owned(), in_value), ("http://ex/p".to_owned(), in_text)];
        assert_eq!(found, expected, "{document:?}");
    }
}
