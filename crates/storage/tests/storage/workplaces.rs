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
