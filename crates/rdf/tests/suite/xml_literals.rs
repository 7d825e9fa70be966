//! XML literals of RDF/XML in exclusive canonical form, whatever stands around them.
#![allow(clippy::unwrap_used)]

use isomorph_error::Result;
use isomorph_model::faces::Object;
use isomorph_rdf::{ReadOptions, Syntax, read};

/// The lexical forms of XML literals in an element with these properties.
fn literals(properties: &str) -> Result<Vec<String>> {
    let text = format!(
        "<?xml version='1.0'?>\n<!DOCTYPE rdf:RDF [<!ENTITY rdf \"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><!ENTITY e \"é\">]>\n\
         <!-- <!ENTITY e \"f\"> --><rdf:RDF xmlns:rdf='&rdf;' xmlns:x='urn:x:' xmlns='urn:d:'>\n<x:a rdf:about='urn:a'>{properties}</x:a></rdf:RDF>"
    );
    let mut found = Vec::new();
    read(&mut text.as_bytes(), Syntax::RdfXml, &ReadOptions::default(), &mut |quad| {
        if let Object::Literal { lexical, datatype, .. } = quad.object
            && datatype.ends_with("XMLLiteral")
        {
            found.push(lexical.to_owned());
        }
        Ok(())
    })?;
    Ok(found)
}

#[test]
fn literals_are_canonical() {
    let cases = [
        ("<x:p rdf:parseType='Literal'><br /></x:p>", "<br xmlns=\"urn:d:\"></br>"),
        // The parser alone makes of this what is no XML.
        (
            "<x:p rdf:parseType='Literal'><h:b xmlns:h='urn:h' q='\"'/></x:p>",
            "<h:b xmlns:h=\"urn:h\" q=\"&quot;\"></h:b>",
        ),
        ("<x:p rdf:parseType='Literal'> &e;&lt;<!-- c --><![CDATA[<&]]>\r\n</x:p>", " é&lt;<!-- c -->&lt;&amp;\n"),
        ("<x:p rdf:parseType='Literal'/>", ""),
        ("<x:p\n  rdf:parseType = \"Literal\"\n></x:p>", ""),
        ("<r:p xmlns:r='&rdf;' r:parseType='&#76;iteral' r:ID='i' xml:base='urn:b' xml:lang='en'>a</r:p>", "a"),
        // Elements inside that look like literals are none, and prefixes of before are gone.
        (
            "<x:q xmlns:y='urn:y:'/><x:p rdf:parseType='Literal'><x:p rdf:parseType='Literal'/></x:p>",
            "<x:p xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\" xmlns:x=\"urn:x:\" rdf:parseType=\"Literal\"></x:p>",
        ),
        // What is said to be a literal by its type stays as it is.
        ("<x:p rdf:datatype='&rdf;XMLLiteral'>&lt;br/>\"</x:p>", "<br/>\""),
    ];
    for (properties, expected) in cases {
        let mut found = literals(properties).unwrap();
        // With an id it is said twice.
        found.dedup();
        assert_eq!(found, [expected], "{properties}");
    }
    // Many follow one another, and a long one is in many pieces.
    let many = "<x:p rdf:parseType='Literal'><x:b/></x:p>\n".repeat(2_000);
    let found = literals(&many).unwrap();
    assert!(found.len() == 2_000 && found.iter().all(|literal| literal == "<x:b xmlns:x=\"urn:x:\"></x:b>"));
    let long = format!("<x:p rdf:parseType='Literal'>{}</x:p>", "<x:b>text</x:b>\n".repeat(50_000));
    assert_eq!(literals(&long).unwrap()[0].len(), 50_000 * 33);
}

#[test]
fn mistakes_around_literals_have_their_places() {
    let good = "<x:p rdf:parseType='Literal'><x:b>\n</x:b></x:p>";
    for (properties, line, column) in [
        (format!("{good}\n<rdf:about/>"), 6, "column 12"),
        (format!("{good}<rdf:about/>"), 5, "column 24"),
        (format!("{good}\n{good}<x:p rdf:resource='a b'/>"), 7, "column 37"),
        // The parser tells what is wrong with what has no canonical form.
        ("<x:p rdf:parseType='Literal'>\n&what;</x:p>".to_owned(), 5, "column 6"),
        ("<x:p rdf:parseType='Literal'>\n<b></x:p>".to_owned(), 5, "column 9"),
    ] {
        let error = literals(&properties).unwrap_err();
        let place = (error.place().line, error.place().field.as_deref());
        assert_eq!(place, (Some(line), Some(column)), "{properties}: {error}");
    }
}
