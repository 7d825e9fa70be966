use std::io::{BufRead, Read};

use bytes::Bytes;
use isomorph_error::Kind;
use isomorph_storage::{Blob, FileHasher, Root, TAIL_BYTES};

use crate::place;

fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8 ^ (index / 251) as u8).collect()
}

#[test]
fn ranges_are_exact_or_an_error() {
    let home = tempfile::tempdir().unwrap();
    let data = pattern(100_000);
    std::fs::write(home.path().join("x"), &data).unwrap();
    let file = Blob::open(&place(&home.path().join("x"))).unwrap();
    for blob in [file, Blob::from_bytes("x", &Bytes::from(data.clone()))] {
        assert_eq!(blob.size(), 100_000);
        for range in [0..0, 0..1, 99_999..100_000, 100_000..100_000, 500..70_000] {
            assert_eq!(blob.read(range.clone()).unwrap(), data[range.start as usize..range.end as usize]);
        }
        let ranges = [90_000..90_010, 0..10, 5..20, 50..50, 60_000..60_001];
        for (range, bytes) in ranges.iter().zip(blob.read_ranges(&ranges).unwrap()) {
            assert_eq!(bytes, data[range.start as usize..range.end as usize]);
        }
        #[allow(clippy::reversed_empty_ranges)]
        for range in [0..100_001, 100_001..100_001, 7..3, u64::MAX - 1..u64::MAX] {
            let error = blob.read(range.clone()).unwrap_err();
            assert_eq!((error.kind(), error.place().offset), (Kind::Malformed, Some(range.start)));
            assert!(blob.read_ranges(&[0..1, range]).is_err());
        }
        assert_eq!(blob.read_all(99_999).unwrap_err().kind(), Kind::TooLarge);
        assert_eq!(blob.read_all(100_000).unwrap(), data);
    }
}

#[test]
fn a_reader_gives_every_byte_once() {
    let data = pattern(1_000_003);
    let blob = Blob::from_bytes("x", &Bytes::from(data.clone()));
    let mut reader = blob.reader();
    let mut all = Vec::new();
    assert_eq!(reader.position(), 0);
    all.extend_from_slice(&reader.fill_buf().unwrap()[..7]);
    reader.consume(7);
    assert_eq!(reader.position(), 7);
    reader.read_to_end(&mut all).unwrap();
    assert_eq!((all == data, reader.position(), blob.bytes_read()), (true, 1_000_003, 1_000_003));
}

#[test]
fn what_is_read_is_counted_per_root() {
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("x"), pattern(1 << 20)).unwrap();
    let root = Root::open(&place(home.path())).unwrap();
    let (one, other) = (root.file("x").unwrap(), root.file("x").unwrap());
    one.read(0..100).unwrap();
    other.read_ranges(&[0..10, 500_000..500_020]).unwrap();
    assert_eq!((one.bytes_read(), other.bytes_read(), root.bytes_read(), root.reads()), (100, 30, 130, 3));
    assert_eq!(Root::open(&place(home.path())).unwrap().bytes_read(), 0);
}

#[test]
fn a_file_that_changes_is_noticed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("x");
    std::fs::write(&path, pattern(1000)).unwrap();
    let blob = Blob::open(&place(&path)).unwrap();
    blob.check_unchanged().unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(500).unwrap();
    assert_eq!(blob.read(0..1000).unwrap_err().kind(), Kind::Conflict);
    assert_eq!(blob.check_unchanged().unwrap_err().kind(), Kind::Conflict);
    assert_ne!(blob.fingerprint().unwrap(), *blob.opened_as());
}

#[test]
fn missing_things_and_wrong_things_are_told_apart() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("dir")).unwrap();
    std::fs::write(home.path().join("file"), "x").unwrap();
    let root = Root::open(&place(home.path())).unwrap();
    assert_eq!(root.file("none").unwrap_err().kind(), Kind::NotFound);
    assert_eq!(root.file("file/below").unwrap_err().kind(), Kind::NotFound);
    assert_eq!(root.file("dir").unwrap_err().kind(), Kind::Malformed);
    assert!(root.try_file("none").unwrap().is_none() && root.try_file("file").unwrap().is_some());
    assert_eq!(root.try_file("dir").unwrap_err().kind(), Kind::Malformed);
    assert_eq!(Root::open(&place(&home.path().join("none"))).unwrap_err().kind(), Kind::NotFound);
    assert_eq!(Root::open(&place(&home.path().join("file"))).unwrap_err().kind(), Kind::Usage);
    assert_eq!(Blob::open(&place(&home.path().join("dir"))).unwrap_err().kind(), Kind::Usage);
    let error = root.file("none").unwrap_err();
    assert_eq!(error.place().file.as_deref(), Some("none"));
}

#[test]
fn listings_are_sorted_and_relative() {
    let home = tempfile::tempdir().unwrap();
    for name in ["b/2", "b/10", "a", "b/c/d"] {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, name).unwrap();
    }
    let root = Root::open(&place(home.path())).unwrap();
    let all: Vec<_> = root.list("").unwrap().into_iter().map(|entry| (entry.name, entry.size)).collect();
    let expected = [("a", 1), ("b/10", 4), ("b/2", 3), ("b/c/d", 5)].map(|(name, size)| (name.to_owned(), size));
    assert_eq!(all, expected);
    let names = |prefix: &str| -> Vec<_> {
        root.list_dir(prefix).unwrap().into_iter().map(|entry| (entry.name, entry.is_dir)).collect()
    };
    assert_eq!(names(""), [("a".to_owned(), false), ("b".to_owned(), true)]);
    assert_eq!(names("b"), [("b/10".to_owned(), false), ("b/2".to_owned(), false), ("b/c".to_owned(), true)]);
    assert_eq!(names("none"), []);
    assert_eq!(root.list("none").unwrap(), []);
    assert!(root.list_dir("../").is_err() && root.list("/").is_err());
}

#[test]
fn hashes_do_not_depend_on_how_the_bytes_came() {
    for length in [0, 1, TAIL_BYTES - 1, TAIL_BYTES, TAIL_BYTES + 1, 3 * TAIL_BYTES + 17] {
        let data = pattern(length);
        for step in [1, 1000, TAIL_BYTES, 10 * TAIL_BYTES] {
            let mut hasher = FileHasher::new();
            data.chunks(step).for_each(|chunk| hasher.update(chunk));
            let digest = hasher.finish();
            assert_eq!(digest.size, length as u64);
            assert_eq!(digest.blake3, *blake3::hash(&data).as_bytes());
            let tail = &data[length.saturating_sub(TAIL_BYTES)..];
            assert_eq!(digest.tail, *blake3::hash(tail).as_bytes(), "{length} bytes by {step}");
        }
    }
}
