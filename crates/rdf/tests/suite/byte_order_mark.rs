//! A byte order mark in front of a text is no part of it (Unicode, section 23.8), in every syntax and however the text comes.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::io::Write;

use isomorph_error::{Error, Place};
use isomorph_rdf::{Packed, Packing, ReadOptions, Reading, Syntax, Text, read, read_lines, read_stream, rules};
use isomorph_storage::Location;

const MARK: &str = "\u{feff}";

/// A text of one statement, and one with a mistake behind a good line.
fn sound(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::RdfXml => {
            "<?xml version='1.0'?><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:x='urn:x:'>\
             <x:a rdf:about='urn:a'/></rdf:RDF>"
        }
        Syntax::JsonLd => "[{\"@id\": \"urn:a\", \"urn:p\": \"é\"}]",
        _ => "<urn:a> <urn:p> \"é\" .\n",
    }
}

fn broken(syntax: Syntax, line: usize) -> String {
    let wrong = match syntax {
        Syntax::RdfXml => "<a b='1' b='2'/>",
        Syntax::JsonLd => "[{\"@id\": \"urn:é\" 5}]",
        _ => "<urn:é> <urn:p> \"\\q\" .",
    };
    match syntax {
        Syntax::RdfXml | Syntax::JsonLd => format!("{}{wrong}", "\n".repeat(line - 1)),
        _ => format!("{}{wrong}\n", "# é\n".repeat(line - 1)),
    }
}

fn packed(packing: Packing, text: &str) -> Vec<u8> {
    let mut packed = Packed::new(packing, Vec::new()).unwrap();
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// The text read in each way there is: of memory, by lines, from files and pipes, packed and not, on one thread and on three.
fn in_all_ways(text: &str, syntax: Syntax, lenient: bool) -> Vec<(String, Result<Reading, Error>)> {
    let options = ReadOptions { lenient, ..ReadOptions::default() };
    let mut all = vec![("memory".to_owned(), read(&mut text.as_bytes(), syntax, &options, &mut |_| Ok(())))];
    if matches!(syntax, Syntax::NTriples | Syntax::NQuads) {
        let read = read_lines(&mut text.as_bytes(), syntax, &options, &mut [(), ()], &|(), _| Ok(()));
        all.push(("lines".to_owned(), read));
    }
    let home = tempfile::tempdir().unwrap();
    for packing in [Packing::None, Packing::Gzip, Packing::Zstd] {
        let bytes = packed(packing, text);
        let path = home.path().join("text");
        std::fs::write(&path, &bytes).unwrap();
        let file = Text::open_as(&Location::from_path(&path), Some(syntax), Some(packing)).unwrap();
        all.push((format!("file {packing:?}"), file.read(&options, &mut |_| Ok(()))));
        for threads in [1, 3] {
            let mut takers = vec![(); threads];
            let shared = file.read_shared(&options, &mut takers, &|(), _| Ok(()));
            all.push((format!("file {packing:?} {threads}"), shared));
            let piped = read_stream("pipe", &mut &bytes[..], Some(syntax), &options, &mut takers, &|(), _| Ok(()));
            all.push((format!("pipe {packing:?} {threads}"), piped));
        }
    }
    all
}

fn place(place: &Place) -> (Option<u64>, Option<String>, Option<u64>) {
    (place.line, place.field.clone(), place.offset)
}

#[test]
fn a_mark_in_front_of_a_text_says_nothing() {
    for syntax in Syntax::ALL {
        for lenient in [false, true] {
            for (way, reading) in in_all_ways(&format!("{MARK}{}", sound(syntax)), syntax, lenient) {
                let reading = reading.unwrap_or_else(|error| panic!("{syntax} {way}: {error}"));
                assert_eq!((reading.quads, reading.skipped), (1, 0), "{syntax} {way}");
            }
            for (way, reading) in in_all_ways(MARK, Syntax::Turtle, lenient) {
                assert_eq!(reading.unwrap().quads, 0, "{way}");
            }
        }
    }
}

#[test]
fn places_behind_a_mark_are_those_of_the_file() {
    for syntax in Syntax::ALL {
        for line in [1, 3] {
            let text = broken(syntax, line);
            let unmarked = in_all_ways(&text, syntax, false);
            for ((way, before), (_, behind)) in
                unmarked.into_iter().zip(in_all_ways(&format!("{MARK}{text}"), syntax, false))
            {
                let (before, behind) = (before.unwrap_err(), behind.unwrap_err());
                assert_eq!(behind.broken_rule(), Some(&rules::SYNTAX), "{syntax} {way}: {behind}");
                assert_eq!(behind.message(), before.message(), "{syntax} {way}");
                // Bytes are counted from the beginning of the file, signs without the mark, which nobody sees.
                let (lines, column, offset) = place(before.place());
                assert_eq!(lines, Some(line as u64), "{syntax} {way}: {before}");
                let expected = (lines, column, offset.map(|offset| offset + 3));
                assert_eq!(place(behind.place()), expected, "{syntax} {way}: {behind}");
            }
        }
    }
}

#[test]
fn what_is_skipped_behind_a_mark_has_its_place_in_the_file() {
    let xml = format!("{}<x:a rdf:about='a b'/></rdf:RDF>", sound(Syntax::RdfXml).trim_end_matches("</rdf:RDF>"));
    let json = "[{\"@id\": \"urn:a\", \"urn:p\": \"é\"}, {\"@id\": 1}]";
    let lines = "<urn:a> <urn:p> \"é\" . \n<urn:é> <urn:p> \"\\q\" .\n";
    for syntax in Syntax::ALL {
        let text = match syntax {
            Syntax::RdfXml => &xml,
            Syntax::JsonLd => json,
            _ => lines,
        };
        let found = |text: &str| -> Vec<_> {
            let all = in_all_ways(text, syntax, true).into_iter();
            all.map(|(way, reading)| {
                let reading = reading.unwrap();
                assert!(reading.skipped > 0, "{syntax} {way}");
                let places: Vec<_> =
                    reading.findings.by_rule().flat_map(|(_, kept)| kept).map(|one| place(&one.place)).collect();
                (way, places)
            })
            .collect()
        };
        let mut expected = found(text);
        for (_, _, offset) in expected.iter_mut().flat_map(|(_, places)| places) {
            *offset = offset.map(|offset| offset + 3);
        }
        assert_eq!(found(&format!("{MARK}{text}")), expected, "{syntax}");
    }
}

#[test]
fn a_mark_inside_a_text_is_a_mistake() {
    for syntax in [Syntax::NTriples, Syntax::NQuads, Syntax::Turtle, Syntax::TriG] {
        for text in [format!("{0}{MARK}{0}", sound(syntax)), format!("{MARK}{MARK}{}", sound(syntax))] {
            for (way, reading) in in_all_ways(&text, syntax, false) {
                assert_eq!(reading.unwrap_err().broken_rule(), Some(&rules::SYNTAX), "{syntax} {way}");
            }
        }
    }
}
