//! Interrupts writes in every possible way, on a disk that forgets what was not synced.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![allow(clippy::cast_possible_truncation, reason = "a write has few steps")]

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use isomorph_error::{Kind, Result};

use crate::fault::{Disk, Fault, FaultDisk, MemoryDisk, RealDisk};
use crate::{Location, Mode, Redo, Staging, redo};

type Files = BTreeMap<String, Vec<u8>>;

/// A change to test, in a directory `/d` with one old and one new state.
struct Work {
    name: &'static str,
    old: &'static [(&'static str, &'static str)],
    new: &'static [(&'static str, &'static str)],
    run: fn(&Location) -> Result<()>,
    /// Files under this name may or may not exist in the old state: a companion without its file.
    ignored_in_old: Option<&'static str>,
}

const WORKS: &[Work] = &[
    Work {
        name: "a new file",
        old: &[],
        new: &[("/d/x", "0123456789")],
        run: |place| write(Staging::file(&place.join("x")?, Mode::CreateNew)?, &[("", "0123456789")], &[]),
        ignored_in_old: None,
    },
    Work {
        name: "a replaced file",
        old: &[("/d/x", "old")],
        new: &[("/d/x", "0123456789")],
        run: |place| write(Staging::file(&place.join("x")?, Mode::Replace)?, &[("", "0123456789")], &[]),
        ignored_in_old: None,
    },
    Work {
        name: "a new directory",
        old: &[],
        new: &[("/d/x/a/b/0", "rows"), ("/d/x/a/1", "more"), ("/d/x/graph.yml", "name: g")],
        run: |place| {
            let files = [("a/b/0", "rows"), ("a/1", "more"), ("graph.yml", "name: g")];
            write(Staging::directory(&place.join("x")?, Mode::CreateNew)?, &files, &[])
        },
        ignored_in_old: None,
    },
    Work {
        name: "a replaced directory",
        old: &[("/d/x/a/0", "old"), ("/d/x/graph.yml", "name: old")],
        new: &[("/d/x/a/0", "rows"), ("/d/x/graph.yml", "name: g")],
        run: |place| {
            let files = [("a/0", "rows"), ("graph.yml", "name: g")];
            write(Staging::directory(&place.join("x")?, Mode::Replace)?, &files, &[])
        },
        ignored_in_old: None,
    },
    Work {
        name: "a new file with a companion",
        old: &[("/d/x.isomorph/carry.json", "orphan")],
        new: &[("/d/x", "rows"), ("/d/x.isomorph/carry.json", "{}")],
        run: |place| {
            write(Staging::file(&place.join("x")?, Mode::CreateNew)?, &[("", "rows")], &[("carry.json", "{}")])
        },
        ignored_in_old: Some("/d/x.isomorph/"),
    },
    Work {
        name: "a replaced file with a companion",
        old: &[("/d/x", "old"), ("/d/x.isomorph/carry.json", "old"), ("/d/x.isomorph/more", "old")],
        new: &[("/d/x", "rows"), ("/d/x.isomorph/carry.json", "{}")],
        run: |place| write(Staging::file(&place.join("x")?, Mode::Replace)?, &[("", "rows")], &[("carry.json", "{}")]),
        ignored_in_old: None,
    },
    Work {
        name: "a replaced file that loses its companion",
        old: &[("/d/x", "old"), ("/d/x.isomorph/carry.json", "old")],
        new: &[("/d/x", "rows")],
        run: |place| write(Staging::file(&place.join("x")?, Mode::Replace)?, &[("", "rows")], &[]),
        ignored_in_old: None,
    },
    Work {
        name: "a changed dataset",
        old: &[("/d/x/graph.yml", "old"), ("/d/x/v/0", "rows"), ("/d/x/gone", "old")],
        new: &[("/d/x/graph.yml", "new"), ("/d/x/v/0", "rows"), ("/d/x/v/age/0", "1"), ("/d/x/v/age/1", "2")],
        run: |place| {
            let redo = Redo::begin_at(&place.join("x")?)?;
            for (name, text) in [("v/age/0", "1"), ("v/age/1", "2"), ("graph.yml", "new")] {
                let mut file = redo.create(name)?;
                file.write_all(text.as_bytes())?;
                file.finish()?;
            }
            redo.remove("gone")?;
            redo.commit(&["graph.yml"]).map(drop)
        },
        ignored_in_old: None,
    },
    Work {
        name: "a file that becomes a directory",
        old: &[("/d/x/graph.yml", "old"), ("/d/x/t/edges", "rows")],
        new: &[("/d/x/graph.yml", "new"), ("/d/x/t/edges/0", "rows"), ("/d/x/t/edges/1", "more")],
        run: |place| {
            let redo = Redo::begin_at(&place.join("x")?)?;
            redo.nest("t/edges", "0")?;
            for (name, text) in [("t/edges/1", "more"), ("graph.yml", "new")] {
                let mut file = redo.create(name)?;
                file.write_all(text.as_bytes())?;
                file.finish()?;
            }
            redo.commit(&["t/edges/1", "graph.yml"]).map(drop)
        },
        ignored_in_old: None,
    },
];

fn write(staging: Staging, files: &[(&str, &str)], companion: &[(&str, &str)]) -> Result<()> {
    for (name, text) in files {
        let mut file = staging.create(name)?;
        file.write_all(text.as_bytes())?;
        file.finish()?;
    }
    for (name, text) in companion {
        let mut file = staging.companion().create(name)?;
        file.write_all(text.as_bytes())?;
        file.finish()?;
    }
    staging.commit(&[]).map(|_| ())
}

impl Work {
    /// Returns a disk in the old state.
    fn disk(&self, can_exchange: bool) -> MemoryDisk {
        let disk = MemoryDisk::new(can_exchange);
        for (path, text) in self.old.iter().chain(&[("/d/other", "untouched")]) {
            let path = Path::new(path);
            let mut ancestors: Vec<&Path> = path.ancestors().skip(1).filter(|path| path.parent().is_some()).collect();
            ancestors.reverse();
            for directory in ancestors {
                let _ = disk.create_dir(directory);
            }
            disk.create_file(path).unwrap().write_all(text.as_bytes()).unwrap();
        }
        disk.settled()
    }

    fn run(&self, disk: Arc<dyn Disk>) -> Result<()> {
        (self.run)(&Location::parse("/d").unwrap().on_disk(disk))
    }

    /// Returns which state a reader sees after opening the dataset: true for the new one.
    fn is_new(&self, disk: &MemoryDisk, context: &str) -> bool {
        recover(Arc::new(disk.clone())).unwrap_or_else(|error| panic!("{context}: {error:?}"));
        let seen: Files = disk.files().into_iter().filter(|(path, _)| !is_aside(path)).collect();
        if seen == files(self.new) {
            return true;
        }
        let keep = |(path, _): &(String, Vec<u8>)| self.ignored_in_old.is_none_or(|start| !path.starts_with(start));
        let relevant: Files = seen.iter().map(|(path, bytes)| (path.clone(), bytes.clone())).filter(keep).collect();
        let old: Files = files(self.old).into_iter().filter(keep).collect();
        assert_eq!(relevant, old, "{}, {context}: neither old nor new", self.name);
        false
    }
}

fn files(list: &[(&str, &str)]) -> Files {
    let other = [("/d/other", "untouched")];
    list.iter().chain(&other).map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
}

/// Whether readers ignore this file.
fn is_aside(path: &str) -> bool {
    path.starts_with("/d/.x.") || path.starts_with("/d/x/_isomorph/redo")
}

/// Performs the recovery with which opening a dataset begins.
fn recover(disk: Arc<dyn Disk>) -> Result<()> {
    let place = Location::parse("/d/x").unwrap().on_disk(disk);
    redo::recover_beside(&place)?;
    redo::recover_within(&place).map(|_| ())
}

/// Runs `work` with a fault and returns the disk afterwards, the outcome, and the disk that failed.
fn attempt(work: &Work, can_exchange: bool, fault: Fault) -> (MemoryDisk, Result<()>, FaultDisk) {
    let memory = work.disk(can_exchange);
    let faulty = FaultDisk::new(Arc::new(memory.clone()), fault);
    let outcome = work.run(Arc::new(faulty.clone()));
    (memory, outcome, faulty)
}

fn every_case(mut check: impl FnMut(&Work, bool, u64)) {
    for work in WORKS {
        for can_exchange in [true, false] {
            let (disk, outcome, faulty) = attempt(work, can_exchange, Fault::None);
            outcome.unwrap_or_else(|error| panic!("{}: {error:?}\n{:#?}", work.name, faulty.log()));
            assert!(work.is_new(&disk, "without a fault"));
            let left: Vec<String> = disk.files().into_keys().filter(|path| is_aside(path)).collect();
            assert_eq!(left, Vec::<String>::new(), "{}: leftovers", work.name);
            check(work, can_exchange, faulty.steps());
        }
    }
}

#[test]
fn a_killed_or_stopped_writer_leaves_the_old_state_or_the_new_one() {
    let mut states = 0;
    every_case(|work, can_exchange, steps| {
        for step in 0..steps {
            let (disk, outcome, faulty) = attempt(work, can_exchange, Fault::Kill(step));
            let context = || format!("killed at {:?}, exchange {can_exchange}", faulty.log().get(step as usize));
            let seen = work.is_new(&disk.after_kill(), &context());
            assert!(seen || outcome.is_err(), "{}, {}: acknowledged and lost", work.name, context());
            for stopped in disk.after_stop() {
                let seen = work.is_new(&stopped, &context());
                assert!(seen || outcome.is_err(), "{}, {}: acknowledged and lost", work.name, context());
                states += 1;
            }
        }
    });
    assert!(states > 10_000, "only {states} states were tried");
}

#[test]
fn what_is_acknowledged_survives_a_stop() {
    every_case(|work, can_exchange, _| {
        let (disk, ..) = attempt(work, can_exchange, Fault::None);
        for stopped in disk.after_stop() {
            assert!(work.is_new(&stopped, "stopped after the end"), "{}: lost", work.name);
        }
    });
}

#[test]
fn a_recovery_that_is_cut_short_can_be_repeated() {
    let mut repeated = 0;
    every_case(|work, can_exchange, steps| {
        for step in 0..steps {
            let (disk, ..) = attempt(work, can_exchange, Fault::Kill(step));
            // Changes that were not durable when the writer was killed can still be lost afterwards.
            for (start, certain) in [(disk.after_kill(), false), (disk.settled(), true)] {
                let counting = FaultDisk::new(Arc::new(start.after_kill()), Fault::None);
                recover(Arc::new(counting.clone())).unwrap();
                let new = work.is_new(&start.after_kill(), "recovered");
                for again in 0..counting.steps() {
                    let cut = start.after_kill();
                    let _ = recover(Arc::new(FaultDisk::new(Arc::new(cut.clone()), Fault::Kill(again))));
                    for stopped in cut.after_stop() {
                        let context = format!("killed at {step}, recovery killed at {again}");
                        let seen = work.is_new(&stopped, &context);
                        assert!(!certain || seen == new, "{}, {context}", work.name);
                        repeated += 1;
                    }
                }
            }
        }
    });
    assert!(repeated > 1_000, "only {repeated} states were tried");
}

#[test]
fn the_next_writer_removes_what_a_killed_one_left() {
    every_case(|work, can_exchange, steps| {
        for step in 0..steps {
            let (disk, ..) = attempt(work, can_exchange, Fault::Kill(step));
            let disk = disk.after_kill();
            let context = format!("killed at {step}");
            let again = work.run(Arc::new(disk.clone()));
            let done = again.is_ok() || again.is_err_and(|error| error.kind() == Kind::AlreadyExists);
            assert!(done && work.is_new(&disk, &context), "{}, {context}", work.name);
            // The same is true of a writer that finds the killed writer's output published, and is refused.
            let left: Vec<String> = disk.files().into_keys().filter(|path| is_aside(path)).collect();
            assert_eq!(left, Vec::<String>::new(), "{}, {context}", work.name);
        }
    });
}

#[test]
fn a_failed_step_leaves_the_old_state_and_nothing_else() {
    every_case(|work, can_exchange, steps| {
        for step in 0..steps {
            for kind in [io::ErrorKind::Other, io::ErrorKind::StorageFull, io::ErrorKind::PermissionDenied] {
                let (disk, outcome, faulty) = attempt(work, can_exchange, Fault::Fail(step, kind));
                let what = faulty.log()[step as usize].clone();
                let new = work.is_new(&disk, &what);
                let recorded = matches!(&outcome, Err(error) if error.kind() == Kind::Incomplete);
                match outcome {
                    Ok(()) => assert!(new, "{}, {what}: acknowledged and lost", work.name),
                    // The record was durable, so opening the dataset finished the change.
                    Err(_) if recorded => assert!(new, "{}, {what}: not finished", work.name),
                    // Without exchange, the old file is gone as soon as the new one exists.
                    Err(error) if error.kind() == Kind::Poisoned && !can_exchange && work.name == "a replaced file" => {
                    }
                    Err(error) => assert!(!new, "{}, {what}: {error:?}", work.name),
                }
                let cleaning = what.contains("remove") || what.contains("look") || what.contains("list");
                if !cleaning && !recorded {
                    let left: Vec<String> = disk.files().into_keys().filter(|path| is_aside(path)).collect();
                    assert_eq!(left, Vec::<String>::new(), "{}, {what}", work.name);
                }
            }
        }
    });
}

#[test]
fn a_failed_sync_poisons() {
    every_case(|work, can_exchange, steps| {
        for step in 0..steps {
            let (disk, outcome, faulty) = attempt(work, can_exchange, Fault::FailSyncs(step));
            let log = faulty.log();
            let Err(error) = outcome else {
                assert!(!log[step as usize..].iter().any(|line| line.contains(" sync ")), "{}: {log:#?}", work.name);
                continue;
            };
            assert!(matches!(error.kind(), Kind::Poisoned | Kind::Incomplete), "{}: {error:?}", work.name);
            let new = work.is_new(&disk, &format!("syncs fail from {step}"));
            let plain_rename = !can_exchange && work.name == "a replaced file";
            assert!(!new || error.kind() == Kind::Incomplete || plain_rename, "{}: {error:?} {log:#?}", work.name);
        }
    });
}

#[test]
fn a_full_disk_changes_nothing() {
    every_case(|work, can_exchange, _| {
        for space in 0..1_000 {
            let (disk, outcome, faulty) = attempt(work, can_exchange, Fault::NoSpaceAfter(space));
            let Err(error) = outcome else {
                assert!(space > 0, "{}: nothing was written", work.name);
                return;
            };
            assert_eq!(error.kind(), Kind::NoSpace, "{}: {error:?}", work.name);
            assert!(error.place().file.is_some() && error.hints().count() > 0, "{}: {error:?}", work.name);
            assert!(!work.is_new(&disk, "no space"));
            let left: Vec<String> = disk.files().into_keys().filter(|path| is_aside(path)).collect();
            assert_eq!(left, Vec::<String>::new(), "{}: {:#?}", work.name, faulty.log());
        }
        panic!("{}: never enough space", work.name);
    });
}

#[test]
fn a_short_write_is_continued() {
    every_case(|work, can_exchange, steps| {
        for step in 0..steps {
            let (disk, outcome, _) = attempt(work, can_exchange, Fault::ShortWrite(step));
            outcome.unwrap();
            assert!(work.is_new(&disk, "short write"));
        }
    });
}

fn changed_dataset() -> &'static Work {
    WORKS.iter().find(|work| work.name == "a changed dataset").unwrap()
}

/// Creates a durable file that did not exist.
fn put(disk: &MemoryDisk, directory: &str, name: &str) {
    let mut file = disk.create_file(&Path::new(directory).join(name)).unwrap();
    file.write_all(b"later").unwrap();
    file.sync().unwrap();
    disk.sync_dir(Path::new(directory)).unwrap();
}

#[test]
fn a_finished_change_is_not_repeated_over_later_work() {
    let (disk, outcome, _) = attempt(changed_dataset(), true, Fault::None);
    outcome.unwrap();
    put(&disk, "/d/x", "gone");
    for stopped in disk.after_stop() {
        recover(Arc::new(stopped.clone())).unwrap();
        assert_eq!(stopped.files()["/d/x/gone"], b"later");
    }
}

#[test]
fn a_directory_that_somebody_else_made_meanwhile_is_filled() {
    let work = changed_dataset();
    let steps = FaultDisk::new(Arc::new(work.disk(true)), Fault::None);
    work.run(Arc::new(steps.clone())).unwrap();
    let replacing = steps.log().iter().position(|step| step.ends_with("rename to /d/x/v/age")).unwrap();
    let (disk, ..) = attempt(work, true, Fault::Kill(replacing as u64));
    let disk = disk.after_kill();
    disk.create_dir(Path::new("/d/x/v/age")).unwrap();
    disk.sync_dir(Path::new("/d/x/v")).unwrap();
    put(&disk, "/d/x/v/age", "theirs");
    recover(Arc::new(disk.clone())).unwrap();
    for stopped in disk.after_stop() {
        let files = stopped.files();
        assert_eq!(["0", "1", "theirs"].map(|name| files[&format!("/d/x/v/age/{name}")].len()), [1, 1, 5]);
    }
}

#[test]
fn the_real_file_system_keeps_the_protocol_under_faults_too() {
    let home = tempfile::tempdir().unwrap();
    let place = |disk: &FaultDisk| Location::from_path(&home.path().join("x")).on_disk(Arc::new(disk.clone()));
    let files = [("a/0", "rows"), ("graph.yml", "name: g")];
    let run = |fault| {
        let disk = FaultDisk::new(Arc::new(RealDisk), fault);
        let done = Staging::directory(&place(&disk), Mode::CreateNew).and_then(|staging| write(staging, &files, &[]));
        (disk.steps(), done)
    };
    let (mut step, mut refused) = (0, 0);
    while let (steps, Err(_)) = run(Fault::Kill(step)) {
        assert!(steps > step);
        // Some kills happen after the rename; then the output exists and is complete.
        let published = home.path().join("x");
        if published.exists() {
            assert_eq!(std::fs::read(published.join("a/0")).unwrap(), b"rows");
            assert_eq!(std::fs::read(published.join("graph.yml")).unwrap(), b"name: g");
            std::fs::remove_dir_all(published).unwrap();
        } else {
            refused += 1;
        }
        step += 1;
    }
    assert!(refused > 20, "{refused}");
    let left: Vec<_> = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["x"], "the last writer removed what the killed ones left");
}

#[test]
fn of_two_changes_at_once_the_second_fails() {
    let work = changed_dataset();
    let memory = work.disk(true);
    let second = Redo::begin_at(&Location::parse("/d/x").unwrap().on_disk(Arc::new(memory.clone()))).unwrap();
    second.create("graph.yml").unwrap().finish().unwrap();
    // The first writer is killed when its record is durable but no step is done yet.
    let counting = FaultDisk::new(Arc::new(work.disk(true)), Fault::None);
    work.run(Arc::new(counting.clone())).unwrap();
    let replacing = counting.log().iter().position(|step| step.ends_with("rename to /d/x/v/age")).unwrap() as u64;
    assert!(work.run(Arc::new(FaultDisk::new(Arc::new(memory.clone()), Fault::Kill(replacing)))).is_err());
    assert_eq!(second.commit(&[]).unwrap_err().kind(), Kind::Conflict);
    assert!(work.is_new(&memory.after_kill(), "the first change, finished by the next opening"));
}
