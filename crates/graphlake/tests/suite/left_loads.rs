//! A vacuum removes what a stopped load left, if no process uses it.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use isomorph_graphlake::{Lake, LeftLoad, OpenOptions, Resume, VacuumOptions, WriteOptions};
use isomorph_storage::{Location, Scratch, Workplace};
use object_store::memory::InMemory;

fn check(location: &Location, scratch: &Scratch) {
    let options = |time| WriteOptions { scratch: Some(scratch.clone()), time, ..WriteOptions::default() };
    let lake = Lake::create(location, &OpenOptions::default(), &options(None)).unwrap();
    let load = |lake: &Lake, dry_run| lake.vacuum(&VacuumOptions { dry_run, ..VacuumOptions::default() }).unwrap().load;
    assert_eq!(load(&lake, true), None);
    let work = Workplace::open(location, Resume::PURPOSE, scratch).unwrap();
    std::fs::write(work.path().join("log"), b"half").unwrap();
    let path = work.path().to_owned();
    // In two days it is old; but while a process uses it, it stays.
    let later = options(Some(SystemTime::now() + Duration::from_secs(2 * 24 * 3600)));
    let old = Lake::open(location, &OpenOptions::default(), &later).unwrap();
    assert_eq!(load(&old, false), None);
    assert!(path.join("log").exists());
    drop(work);
    let left = |young| Some(LeftLoad { path: path.clone(), bytes: 4, young });
    assert_eq!((load(&lake, true), load(&lake, false)), (left(true), left(true)));
    assert_eq!(load(&old, true), left(false));
    assert!(path.join("log").exists(), "it was only said");
    assert_eq!(load(&old, false), left(false));
    assert!(!path.exists());
    assert_eq!(load(&old, false), None);
    assert_eq!(std::fs::read_dir(scratch.directory()).unwrap().count(), 0);
}

#[test]
fn beside_a_store_on_a_disk() {
    let home = tempfile::tempdir().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    check(&Location::from_path(&home.path().join("lake")), &Scratch::new(Some(temporary.path())).unwrap());
    let names: Vec<_> = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["lake"]);
}

#[test]
fn of_a_store_in_an_object_store_on_this_machine() {
    let temporary = tempfile::tempdir().unwrap();
    let location =
        Location::parse("s3://bucket/lake").unwrap().on_store(isomorph_network::client(Arc::new(InMemory::new())));
    check(&location, &Scratch::new(Some(temporary.path())).unwrap());
}
