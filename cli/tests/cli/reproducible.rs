//! Equal inputs give equal bytes, at any time and with any number of threads.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::support::{Home, PEOPLE, social};

/// Returns all files and directories below a path: path, modification time, bytes.
fn tree(root: &Path) -> Vec<(PathBuf, SystemTime, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    while let Some(path) = open.pop() {
        let metadata = fs::metadata(&path).unwrap();
        let bytes = match metadata.is_dir() {
            true => {
                open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
                Vec::new()
            }
            false => fs::read(&path).unwrap(),
        };
        found.push((path.strip_prefix(root).unwrap().to_owned(), metadata.modified().unwrap(), bytes));
    }
    found.sort();
    found
}

#[test]
fn trees_are_equal_to_the_byte_and_the_second() {
    let home = Home::with_people();
    let social = social();
    let mut cases: Vec<(&str, &str, &[&str])> = vec![
        ("../people.csv", "g", &["--to", "graphar"]),
        ("../people.csv", "text", &["--to", "graphar", "--file-type", "csv", "--vertex-chunk", "2"]),
        ("../people.csv", "parts", &["--to", "nock", "--partitions", "3"]),
        ("../people.csv", "p.parq", &[]),
    ];
    cases.extend([
        (&*social, "s.parq", &[] as &[&str]),
        (&*social, "s.csv", &[]),
        (&*social, "s", &["--to", "graphar", "--file-type", "orc", "--groups", "each"]),
    ]);
    let epoch = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    for (source, destination, flags) in cases {
        let mut trees = Vec::new();
        for (run, threads) in [("a", "1"), ("b", "1"), ("c", "4")] {
            let directory = home.at(&format!("{destination}-{run}"));
            fs::create_dir(&directory).unwrap();
            let arguments = ["convert", source, destination, "--threads", threads, "--epoch", "2023-11-14T22:13:20Z"];
            let done = home.command(&[&arguments[..], flags].concat()).current_dir(&directory).output().unwrap();
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
            trees.push(tree(&directory));
        }
        assert!(trees[0].iter().all(|(_, time, _)| *time == epoch), "{destination}: {:?}", trees[0]);
        for other in &trees[1..] {
            for (one, other) in trees[0].iter().zip(other) {
                assert_eq!((&one.0, &one.1), (&other.0, &other.1));
                assert!(one.2 == other.2, "{destination}: {} differs", one.0.display());
            }
            assert_eq!(trees[0].len(), other.len());
        }
    }
}

#[test]
fn the_environment_can_state_the_time() {
    let home = Home::new();
    home.write("people.csv", PEOPLE);
    let convert = |name: &str, epoch: &str| {
        home.command(&["convert", "people.csv", name]).env("SOURCE_DATE_EPOCH", epoch).output().unwrap()
    };
    assert!(convert("dated.parq", "86400").status.success());
    let modified = fs::metadata(home.at("dated.parq")).unwrap().modified().unwrap();
    assert_eq!(modified, SystemTime::UNIX_EPOCH + Duration::from_secs(86_400));
    assert_eq!(convert("never.parq", "tomorrow").status.code(), Some(2));
    assert!(!home.at("never.parq").exists());
}
