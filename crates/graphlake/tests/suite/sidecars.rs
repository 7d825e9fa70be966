//! Index files are never required, and never trusted without proof: if they are missing, foreign, truncated or damaged,
//! every answer is the same as with valid ones.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::answers::{Asked, Extent, answers, assert_same};
use common::{broken, open};
use isomorph_graphlake::{CompactMode, Lake, OpenOptions, TripleId, WriteOptions};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;

/// Large enough that each file has an index.
const TRIPLES: u32 = 1_500;

fn subject(number: u32) -> String {
    format!("http://example.org/{:05}", number.wrapping_mul(7_919) % 20_011)
}

/// Objects are long, so that few records fill a file.
fn text(number: u32) -> String {
    format!("{:04}{}", number % 700, "é".repeat(30))
}

fn object(number: u32, text: &str) -> Object<'_> {
    match number % 3 {
        0 => Object::plain(text, ""),
        1 => Object::Literal { lexical: text, datatype: "", language: Some("pl"), direction: None },
        _ => Object::Term("http://example.org/00007"),
    }
}

/// A store of one file in each order; `salt` is in each of the texts.
fn store(path: &Path, salt: u32) {
    let options = WriteOptions { time: Some(std::time::UNIX_EPOCH), threads: 1, ..WriteOptions::default() };
    common::write(path, &options, |writer| {
        (0..TRIPLES).try_for_each(|number| {
            let (subject, text) = (subject(number + salt), text(number));
            writer.push(&Quad { subject: &subject, predicate: "urn:p", object: object(number, &text), graph: None })
        })
    })
    .unwrap();
}

/// Inserts and deletes on top of it.
fn change(path: &Path) {
    let lake = Lake::open(&Location::from_path(path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let mut transaction = lake.begin().unwrap();
    for number in (0..TRIPLES).step_by(11) {
        let (subject, text) = (subject(number), text(number));
        let quad = |object| Quad { subject: &subject, predicate: "urn:p", object, graph: None };
        transaction.delete(&quad(object(number, &text))).unwrap();
        transaction.insert(&quad(Object::plain("new", ""))).unwrap();
    }
    transaction.commit().unwrap();
}

/// The index files of a store.
fn sidecars(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(sidecars(&entry.path()));
        } else if entry.path().extension().is_some_and(|extension| extension == "glx") {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

/// The questions for a store: existing, deleted and unknown triples.
fn ask(path: &Path, numbers: &[u32], extent: Extent) -> Vec<String> {
    let lake = Arc::new(open(path, &OpenOptions::default()).unwrap());
    let own: Vec<(String, String)> = numbers.iter().map(|number| (subject(*number), text(*number))).collect();
    let asked: Vec<Asked<'_>> =
        own.iter().zip(numbers).map(|((one, text), number)| (one.as_str(), "urn:p", object(*number, text))).collect();
    answers(&lake, &asked, extent)
}

/// The first and the last, their neighbours, and unknown ones.
const NUMBERS: [u32; 9] = [0, 1, 2, 11, 500, 749, TRIPLES - 2, TRIPLES - 1, TRIPLES + 5];

fn all(path: &Path) -> Vec<String> {
    ask(path, &NUMBERS, Extent::Everything)
}

/// Fewer questions, for stores that are tested hundreds of times.
fn few(path: &Path) -> Vec<String> {
    ask(path, &[501, TRIPLES + 6], Extent::LookUps)
}

#[test]
fn a_store_answers_the_same_without_indexes() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    store(&path, 0);
    for changed in [false, true] {
        if changed {
            change(&path);
        }
        let beside = sidecars(&path);
        assert_eq!(beside.len(), 2, "{beside:?}");
        let expected = all(&path);
        assert!(expected.iter().all(|answer| !answer.contains("Malformed")), "{expected:#?}");
        let kept: Vec<Vec<u8>> = beside.iter().map(|one| std::fs::read(one).unwrap()).collect();
        beside.iter().for_each(|one| std::fs::remove_file(one).unwrap());
        assert_same(&all(&path), &expected, "missing");
        assert_eq!(broken(&path, &OpenOptions::default()), Vec::<&str>::new());
        // One instead of the other, and complete ones of other lengths.
        for (one, other) in [(0, 1), (1, 0)] {
            std::fs::write(&beside[one], &kept[other]).unwrap();
        }
        assert_same(&all(&path), &expected, "those of the other order");
        for bytes in [&b""[..], b"GLIX", &[0; 72], &[0xff; 4_096]] {
            beside.iter().for_each(|one| std::fs::write(one, bytes).unwrap());
            assert_same(&all(&path), &expected, &format!("{} bytes that mean nothing", bytes.len()));
        }
        // A directory instead of the file.
        std::fs::remove_file(&beside[0]).unwrap();
        std::fs::create_dir(&beside[0]).unwrap();
        assert_same(&all(&path), &expected, "a directory");
        std::fs::remove_dir(&beside[0]).unwrap();
        beside.iter().zip(&kept).for_each(|(one, bytes)| std::fs::write(one, bytes).unwrap());
    }
    // After a merge, every file has its own index again, and the answers are the same.
    let expected = all(&path);
    let lake = Lake::open(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    sidecars(&path).iter().for_each(|one| std::fs::write(one, b"GLIX\x02").unwrap());
    lake.compact(CompactMode::Full, &|_| Ok(())).unwrap().commit.unwrap();
    assert_same(&all(&path), &expected, "with what was put there");
    assert_eq!(sidecars(&path).len(), 4);
}

#[test]
fn an_index_of_another_file_is_not_believed() {
    let home = tempfile::tempdir().unwrap();
    let (path, other) = (home.path().join("lake"), home.path().join("other"));
    store(&path, 0);
    let expected = all(&path);
    // The same names, sizes and numbers of records; other subjects.
    store(&other, 1);
    let (own, foreign) = (sidecars(&path), sidecars(&other));
    for (one, foreign) in own.iter().zip(&foreign) {
        let size = |path: &Path| std::fs::metadata(path.with_extension("")).unwrap().len();
        assert_eq!(size(one), size(foreign), "only the checksum tells");
        std::fs::copy(foreign, one).unwrap();
    }
    assert_same(&all(&path), &expected, "with what was put there");
}

#[test]
fn every_cut_of_an_index_changes_no_answer() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    store(&path, 0);
    let expected = few(&path);
    for sidecar in sidecars(&path) {
        let bytes = std::fs::read(&sidecar).unwrap();
        for end in (0..bytes.len()).filter(|end| end % 37 == 0 || *end < 80 || end + 9 > bytes.len()) {
            std::fs::write(&sidecar, &bytes[..end]).unwrap();
            assert_same(&few(&path), &expected, &format!("{end} of {} bytes", bytes.len()));
        }
        std::fs::write(&sidecar, [bytes.as_slice(), b"\0"].concat()).unwrap();
        assert_same(&few(&path), &expected, "a byte more");
        std::fs::write(&sidecar, &bytes).unwrap();
    }
}

#[test]
fn every_flipped_byte_of_an_index_changes_no_answer() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    store(&path, 0);
    let expected = few(&path);
    for sidecar in sidecars(&path) {
        let bytes = std::fs::read(&sidecar).unwrap();
        // All of the header, which states all lengths, and a sample of the rest.
        for at in (0..bytes.len()).filter(|at| at % 23 == 0 || *at < 72) {
            let mut flipped = bytes.clone();
            flipped[at] ^= [0x01, 0x80, 0xff][at % 3];
            std::fs::write(&sidecar, &flipped).unwrap();
            assert_same(&few(&path), &expected, &format!("byte {at} of {}", bytes.len()));
        }
        std::fs::write(&sidecar, &bytes).unwrap();
    }
}

#[test]
fn ids_that_were_flipped_hide_no_triple() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    store(&path, 0);
    let found = || {
        let lake = open(&path, &OpenOptions::default()).unwrap();
        let mut found = 0;
        for number in 0..TRIPLES {
            let (subject, text) = (subject(number), text(number));
            let id = TripleId::of(&subject, "urn:p", &object(number, &text));
            lake.by_id(&id, &mut |_| {
                found += 1;
                Ok(())
            })
            .unwrap();
        }
        found
    };
    assert_eq!(found(), TRIPLES);
    // The ids are at the end.
    for sidecar in sidecars(&path) {
        let bytes = std::fs::read(&sidecar).unwrap();
        for length in [1, 2, 10, 100, 1_000] {
            let mut flipped = bytes.clone();
            let start = bytes.len() - length;
            flipped[start..].iter_mut().for_each(|byte| *byte ^= 0x5a);
            std::fs::write(&sidecar, &flipped).unwrap();
            assert_eq!(found(), TRIPLES, "the last {length} of {} bytes", bytes.len());
        }
        std::fs::write(&sidecar, &bytes).unwrap();
    }
}
