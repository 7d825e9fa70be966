//! A text says the same, and is wrong at the same place, wherever what is read of it at once ends.

#![allow(clippy::unwrap_used)]

use std::io::{self, Read};

use isomorph_rdf::{ReadOptions, Syntax, read};

/// Gives this many bytes at a time.
struct Dripping<'t>(&'t [u8], usize);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(self.1);
        self.0.read(&mut buffer[..count])
    }
}

/// Quads, and the mistake behind them: what is wrong, line, column and byte.
type Outcome = (Vec<String>, Option<(String, Option<u64>, Option<String>, Option<u64>)>);

fn outcome(text: &[u8], syntax: Syntax, step: usize) -> Outcome {
    let mut quads = Vec::new();
    let read = read(&mut Dripping(text, step), syntax, &ReadOptions::default(), &mut |quad| {
        quads.push(format!("{quad:?}"));
        Ok(())
    });
    let mistake = read.err().map(|error| {
        (error.message().to_owned(), error.place().line, error.place().field.clone(), error.place().offset)
    });
    (quads, mistake)
}

const TURTLE: &str = "\u{feff}@prefix ex: <http://example.org/> . # é\r\nPREFIX : <urn:x:>\n@base <http://example.org/base> .\n\
    ex:ann a ex:Person ; ex:name \"Ann\\u00e9\"@fr-be , 'An\\'n' , \"\"\"long \"text\" é\n\\\"\"\" , '''a''' ;\r\n\
    ex:knows <bob#é> , [ :p 1 , -2.5 , 1.0e3 , true ] , ( 1 ex:o.p _:b.0 ) .\n<<( :a :b :c )>> :d :e .\n\
    :s :p <<( :a :b \"x\"^^ex:dt )>> {| :q :r |} .\n:last :one \"1\"^^<http://www.w3.org/2001/XMLSchema#integer>.";

const LINES: &str = "\u{feff}<urn:a> <urn:é> \"x\\ty\"@en-GB . # note\r\n\n_:b.1 <urn:p> <<( <urn:a> <urn:b> \"c\"^^<urn:d> )>> .\n\
    <urn:a> <urn:b> <urn:c> .";

const XML: &str = "\u{feff}<?xml version='1.0'?><!DOCTYPE r [<!ENTITY e \"urn:e\">]>\r\n<rdf:RDF xmlns:x='urn:x:' \
    xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\n<!-- é --><x:a rdf:about='&e;'><x:p xml:lang='en'>é &amp; <![CDATA[<b>]]></x:p>\n\
    <x:q rdf:parseType='Literal'><b>é</b></x:q></x:a></rdf:RDF>";

const JSON: &str = "\u{feff}{\"@context\": {\"x\": \"urn:x:\"},\n \"@graph\": [{\"@id\": \"x:é\", \"x:p\": [1, true, \"\\u00e9\\n\"]},\r\n\
    {\"@id\": \"urn:b\", \"@type\": \"x:T\"}]}";

#[test]
fn a_text_says_the_same_wherever_it_is_cut() {
    let texts = [
        (TURTLE, Syntax::Turtle),
        (TURTLE, Syntax::TriG),
        (LINES, Syntax::NTriples),
        (LINES, Syntax::NQuads),
        (XML, Syntax::RdfXml),
        (JSON, Syntax::JsonLd),
    ];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = |below: usize| {
        // xorshift64
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % below as u64) as usize
    };
    let (mut sound, mut broken, mut wrong) = (0, 0, Vec::new());
    for (text, syntax) in texts {
        for number in 0..300 {
            let mut text = text.as_bytes().to_vec();
            // The first is as it is.
            for _ in 0..number.min(2) {
                let at = next(text.len());
                match next(3) {
                    0 if text.len() > 1 => drop(text.remove(at)),
                    0 | 1 => text[at] = b"<>\"'\\ .;#()[]{}|@^:_e\n\xc3"[next(23)],
                    _ => text.truncate(at.max(1)),
                }
            }
            let whole = outcome(&text, syntax, usize::MAX);
            match whole.1 {
                None => sound += 1,
                Some(_) => broken += 1,
            }
            for step in [1, 2, 3, 7] {
                let cut = outcome(&text, syntax, step);
                if cut != whole {
                    wrong.push(format!(
                        "{syntax} by {step}: {cut:?}\n and {whole:?}\n of {}",
                        String::from_utf8_lossy(&text)
                    ));
                }
            }
        }
    }
    assert!(sound >= 6 && broken > 600, "{sound} {broken}");
    assert!(
        wrong.is_empty(),
        "{} differ: {}",
        wrong.len(),
        wrong.iter().take(5).map(String::as_str).collect::<Vec<_>>().join("\n\n")
    );
}
