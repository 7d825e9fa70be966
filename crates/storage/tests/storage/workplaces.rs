//! Unfinished work that the next run finds.

use isomorph_error::Kind;
use isomorph_storage::{Location, Scratch, Workplace};

use crate::place;

#[test]
fn work_stays_and_only_one_has_it() {
    let home = tempfile::tempdir().unwrap();
    let (scratch, target) = (Scratch::new(Some(home.path())).unwrap(), place(&home.path().join("x")));
    let one = Workplace::open(&target, "load", &scratch).unwrap();
    assert_eq!(one.path(), home.path().join(".x.load"));
    std::fs::write(one.path().join("log"), b"half").unwrap();
    assert_eq!(Workplace::open(&target, "load", &scratch).unwrap_err().kind(), Kind::Conflict);
    Workplace::open(&target, "other", &scratch).unwrap().remove().unwrap();
    one.sync().unwrap();
    drop(one);
    let again = Workplace::open(&target, "load", &scratch).unwrap();
    assert_eq!(std::fs::read(again.path().join("log")).unwrap(), b"half");
    again.clear().unwrap();
    assert_eq!(std::fs::read_dir(again.path()).unwrap().count(), 0);
    again.remove().unwrap();
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn work_that_was_left_is_found_and_nobody_else_s() {
    let home = tempfile::tempdir().unwrap();
    let (scratch, target) = (Scratch::new(Some(home.path())).unwrap(), place(&home.path().join("x")));
    let left = || Workplace::left(&target, "load", &scratch).unwrap();
    assert!(left().is_none() && !home.path().join(".x.load").exists(), "nothing is made by looking");
    let one = Workplace::open(&target, "load", &scratch).unwrap();
    std::fs::write(one.path().join("log"), b"half").unwrap();
    std::fs::write(one.path().join("runs"), b"whole").unwrap();
    assert!(left().is_none(), "it is in use");
    drop(one);
    let found = left().unwrap();
    let (bytes, changed) = found.extent().unwrap();
    let log = std::fs::metadata(found.path().join("runs")).unwrap().modified().unwrap();
    assert!(bytes == 9 && changed.unwrap() >= log, "{bytes} {changed:?}");
    assert_eq!(Workplace::open(&target, "load", &scratch).unwrap_err().kind(), Kind::Conflict);
    found.remove().unwrap();
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    // If the name exists and is not a directory, it belongs to another program.
    std::fs::write(home.path().join(".x.load"), b"mine").unwrap();
    assert!(left().is_none());
}

#[test]
fn work_on_an_object_store_lies_among_temporary_files() {
    let home = tempfile::tempdir().unwrap();
    let scratch = Scratch::new(Some(home.path())).unwrap();
    let of = |text: &str| Workplace::open(&Location::parse(text).unwrap(), "load", &scratch).unwrap();
    let (one, other) = (of("s3://bucket/one"), of("s3://bucket/other"));
    assert!(one.path() != other.path() && one.path().parent() == Some(home.path()), "{one:?}");
}

#[test]
fn a_file_where_the_work_belongs_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let scratch = Scratch::new(Some(home.path())).unwrap();
    std::fs::write(home.path().join(".x.load"), b"mine").unwrap();
    let refused = Workplace::open(&place(&home.path().join("x")), "load", &scratch).unwrap_err();
    assert_eq!(refused.kind(), Kind::AlreadyExists);
    assert_eq!(std::fs::read(home.path().join(".x.load")).unwrap(), b"mine");
    let missing = Workplace::open(&place(&home.path().join("no/x")), "load", &scratch).unwrap_err();
    assert_eq!(missing.kind(), Kind::NotFound);
}
