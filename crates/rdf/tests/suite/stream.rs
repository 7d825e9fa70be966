//! Texts that can be read once only say what they say as files.

#![allow(clippy::unwrap_used)]

use std::io::{self, Read, Write};

use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::{Object, Quad};
use isomorph_rdf::{Packed, Packing, QuadWriter, ReadOptions, Syntax, WriteOptions, read, read_stream, rules};
use isomorph_storage::Budget;

/// Gives a few bytes at a time, as pipes do.
struct Dripping<'t>(&'t [u8]);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(7);
        self.0.read(&mut buffer[..count])
    }
}

fn text(syntax: Syntax, count: usize) -> Vec<u8> {
    // By its prefixes Turtle is told from lines.
    let options = WriteOptions { prefixes: vec![("x".to_owned(), "urn:x:".to_owned())], base: None, rdf_1_1: false };
    let mut writer = QuadWriter::new(syntax, Vec::new(), &options).unwrap();
    for at in 0..count {
        let subject = format!("urn:x:{}", at / 3);
        let lexical = format!("value {at}");
        let object = Object::Literal {
            lexical: &lexical,
            datatype: "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
            language: Some("en"),
            direction: None,
        };
        writer.push(&Quad { subject: &subject, predicate: "urn:x:p", object, graph: None }).unwrap();
    }
    writer.finish().unwrap()
}

fn packed(packing: Packing, text: &[u8]) -> Vec<u8> {
    let mut packed = Packed::new(packing, Vec::new()).unwrap();
    packed.write_all(text).unwrap();
    packed.finish().unwrap()
}

fn streamed(bytes: &[u8], syntax: Option<Syntax>, threads: usize, options: &ReadOptions) -> Result<Vec<String>> {
    let mut takers = vec![Vec::new(); threads];
    let read = read_stream("pipe", &mut Dripping(bytes), syntax, options, &mut takers, &|taken, quad| {
        taken.push(format!("{quad:?}"));
        Ok(())
    })?;
    let mut quads = takers.concat();
    assert_eq!(read.quads, quads.len() as u64);
    quads.sort();
    Ok(quads)
}

fn failed(bytes: &[u8], syntax: Option<Syntax>, options: &ReadOptions) -> Error {
    streamed(bytes, syntax, 2, options).unwrap_err()
}

#[test]
fn a_stream_says_what_a_file_says() {
    for syntax in Syntax::ALL {
        let text = text(syntax, 2000);
        let mut expected = Vec::new();
        let mut take = |quad: Quad<'_>| {
            expected.push(format!("{quad:?}"));
            Ok(())
        };
        read(&mut text.as_slice(), syntax, &ReadOptions::default(), &mut take).unwrap();
        assert_eq!(expected.len(), 2000);
        expected.sort();
        for packing in [Packing::None, Packing::Gzip, Packing::Zstd] {
            let bytes = packed(packing, &text);
            for (told, threads) in [(None, 1), (None, 3), (Some(syntax), 2)] {
                let quads = streamed(&bytes, told, threads, &ReadOptions::default()).unwrap();
                assert_eq!(quads, expected, "{syntax} {packing:?} {told:?} {threads}");
            }
        }
    }
}

#[test]
fn a_stream_that_is_broken_is_an_error_with_its_name() {
    let options = ReadOptions::default();
    let unknown = failed(b"", None, &options);
    assert_eq!((unknown.kind(), unknown.place().file.as_deref()), (Kind::Unsupported, Some("pipe")));
    assert_eq!(streamed(b"", Some(Syntax::NTriples), 2, &options).unwrap(), Vec::<String>::new());
    let whole = text(Syntax::NTriples, 3000);
    for packing in [Packing::Gzip, Packing::Zstd] {
        let bytes = packed(packing, &whole);
        let error = failed(&bytes[..bytes.len() - 5], None, &options);
        assert_eq!(error.place().file.as_deref(), Some("pipe"), "{packing:?}: {error}");
    }
    let mut lines = whole.clone();
    lines.extend_from_slice(b"<urn:a> <urn:b>");
    let error = failed(&lines, None, &options);
    assert_eq!((error.broken_rule(), error.place().line), (Some(&rules::SYNTAX), Some(3001)));
    let lenient = ReadOptions { lenient: true, ..ReadOptions::default() };
    assert_eq!(streamed(&lines, None, 2, &lenient).unwrap().len(), 3000);
    // Where there is little memory, one thread does it, or none.
    let small = |bytes| ReadOptions { budget: Budget::new(bytes), ..ReadOptions::default() };
    assert_eq!(streamed(&whole, None, 2, &small(8 << 20)).unwrap().len(), 3000);
    assert_eq!(failed(&whole, None, &small(1 << 20)).kind(), Kind::TooLarge);
}
