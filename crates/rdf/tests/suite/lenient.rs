//! Read leniently, a sound text of RDF/XML says what it says strictly, and a broken one costs no more than its broken pieces.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use isomorph_error::Result;
use isomorph_model::ntriples::push_quad;
use isomorph_rdf::{ReadOptions, Reading, Syntax, read};

const BASE: &str = "http://example.org/base/";

/// The quads of a text as lines, and what was read.
fn quads(text: &[u8], lenient: bool) -> Result<(Vec<String>, Reading)> {
    let options = ReadOptions { lenient, base: Some(BASE.to_owned()), ..ReadOptions::default() };
    let mut lines = Vec::new();
    let reading = read(&mut &text[..], Syntax::RdfXml, &options, &mut |quad| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        lines.push(line);
        Ok(())
    })?;
    Ok((lines, reading))
}

fn texts(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap().map(std::result::Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            texts(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rdf") {
            found.push(path);
        }
    }
}

#[test]
fn the_suites_say_the_same_leniently() {
    let Some(root) = isomorph_fixtures::public_data("rdf-tests/rdf") else { return };
    let mut found = Vec::new();
    texts(&root, &mut found);
    let (mut sound, mut broken) = (0, 0);
    for path in &found {
        let text = std::fs::read(path).unwrap();
        match (quads(&text, false), quads(&text, true)) {
            (Ok((strict, one)), Ok((lenient, other))) => {
                assert_eq!(strict, lenient, "{}", path.display());
                assert_eq!((one.prefixes, other.skipped), (other.prefixes, 0), "{}", path.display());
                sound += 1;
            }
            // The same name in two elements is no mistake of either.
            (Err(error), Ok((_, reading))) => {
                let twice = error.message().contains("already been used");
                assert!(reading.skipped > 0 || twice, "{}: {error}", path.display());
                broken += 1;
            }
            (Err(_), Err(_)) => broken += 1,
            (Ok(_), Err(error)) => panic!("{}: {error}", path.display()),
        }
    }
    assert!(sound > 150 && broken > 30, "{sound} sound, {broken} broken");
}

/// Changed bytes: what is sound says the same, and whatever is read leniently without a mistake is sound.
#[test]
fn changed_texts_are_read_alike() {
    let element = |n: usize| {
        format!(
            "<x:a rdf:about='urn:{n}' x:q='&amp;'>\n<x:p rdf:parseType='Literal'><b/></x:p><x:p><![CDATA[<]]></x:p>\
             <x:r><rdf:Description><x:s rdf:resource='#t'/></rdf:Description></x:r></x:a><!-- {n} -->\n"
        )
    };
    let elements: String = (0..6).map(element).collect();
    let text = format!(
        "<?xml version='1.0'?>\n<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns:x='urn:x:'>\n{elements}</rdf:RDF>\n"
    );
    let mut state = 5u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let signs = b"<>/='&x: \n";
    let (mut sound, mut skipped) = (0, 0);
    for _ in 0..3_000 {
        let mut text = text.clone().into_bytes();
        let (at, sign) = (next(text.len()), signs[next(signs.len())]);
        match next(3) {
            0 => text[at] = sign,
            1 => text.insert(at, sign),
            _ => {
                text.remove(at);
            }
        }
        let shown = String::from_utf8_lossy(&text).into_owned();
        match (quads(&text, false), quads(&text, true)) {
            (Ok((strict, _)), Ok((lenient, reading))) => {
                assert_eq!((strict, 0), (lenient, reading.skipped), "{shown}");
                sound += 1;
            }
            (Err(error), Ok((_, reading))) => {
                assert!(reading.skipped > 0, "{error} {shown}");
                skipped += 1;
            }
            (Err(_), Err(_)) => {}
            (Ok(_), Err(error)) => panic!("{error} {shown}"),
        }
    }
    assert!(sound > 400 && skipped > 500, "{sound} sound, {skipped} skipped");
}
