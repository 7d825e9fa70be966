//! Leftovers of killed runs, on the real file system.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use isomorph_storage::{Mode, Staging};

use crate::{fill, place};

/// The names in a directory, sorted.
fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Creates a file `x` in `home` and returns its writer and the directory of the unfinished output.
fn begin(home: &Path) -> (Staging, PathBuf) {
    let before = names(home);
    let staging = Staging::file(&place(&home.join("x")), Mode::Replace).unwrap();
    fill(staging.create("").unwrap(), b"half");
    let aside = names(home).into_iter().find(|name| !before.contains(name)).unwrap();
    assert!(aside.starts_with(".x.") && aside.ends_with(".tmp"), "{aside}");
    (staging, home.join(aside))
}

/// Creates a directory as left by a killed run: named like `aside`, and not locked.
fn killed(aside: &Path, change: impl Fn(&str) -> String) -> PathBuf {
    let dead = aside.with_file_name(change(aside.file_name().unwrap().to_str().unwrap()));
    std::fs::create_dir(&dead).unwrap();
    std::fs::write(dead.join("data"), b"half").unwrap();
    dead
}

/// Returns the same name with the random part after the last `-` reversed.
fn other_random(name: &str) -> String {
    let (start, random) = name.strip_suffix(".tmp").unwrap().rsplit_once('-').unwrap();
    format!("{start}-{}.tmp", random.chars().rev().collect::<String>())
}

/// Returns the same name as if created on another machine.
fn other_machine(name: &str) -> String {
    other_random(name).replacen(&name[3..9], "00000f", 1)
}

#[test]
fn the_work_of_the_dead_is_removed_and_that_of_the_living_is_not() {
    let home = tempfile::tempdir().unwrap();
    let (living, aside) = begin(home.path());
    let dead = killed(&aside, other_random);
    let foreign = killed(&aside, other_machine);
    let others = [home.path().join(".x.swp"), home.path().join(".x.1-2-3.tmp"), home.path().join(".y.tmp")];
    others.iter().for_each(|path| std::fs::write(path, "not ours").unwrap());

    let (second, _) = begin(home.path());
    assert!(!dead.exists(), "the dead");
    assert!(aside.exists() && foreign.exists() && others.iter().all(|path| path.exists()));

    // Two running writers to one destination: the later one to publish wins, and both clean up.
    living.commit(&[]).unwrap();
    second.commit(&[]).unwrap();
    assert_eq!(std::fs::read(home.path().join("x")).unwrap(), b"half");
    assert!(!aside.exists() && foreign.exists());
}

#[test]
fn the_work_of_another_machine_is_abandoned_after_a_week() {
    let home = tempfile::tempdir().unwrap();
    let (living, aside) = begin(home.path());
    let foreign = killed(&aside, other_machine);
    let age = |days: u64| {
        let then = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
        std::fs::File::open(&foreign).unwrap().set_modified(then).unwrap();
    };
    age(6);
    drop(begin(home.path()));
    assert!(foreign.exists());
    age(8);
    drop(begin(home.path()));
    assert!(!foreign.exists());
    drop(living);
    assert_eq!(names(home.path()), [""; 0]);
}

#[test]
fn very_long_names_are_written_too() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("ä".repeat(127));
    let staging = Staging::file(&place(&path), Mode::CreateNew).unwrap();
    fill(staging.create("").unwrap(), b"long");
    staging.commit(&[]).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), b"long");
    let staging = Staging::file(&place(&path), Mode::Replace).unwrap();
    fill(staging.create("").unwrap(), b"longer");
    staging.commit(&[]).unwrap();
    assert_eq!(names(home.path()).len(), 1);
}
