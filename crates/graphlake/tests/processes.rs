//! Writers in separate processes: two that write the same store, and one that is killed at any moment.
//!
//! This program starts itself, with the name of the task and the store as arguments. A writer prints `done N` when a
//! commit was acknowledged.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "suite/common/mod.rs"]
mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use isomorph_error::{Findings, Kind};
use isomorph_graphlake::{CompactMode, Lake, OpenOptions, Order, VacuumOptions, WriteOptions};
use isomorph_model::Source;
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;

/// Total number of kills; after this many the store is created again.
const KILLS: u64 = 320;
const KILLS_OF_A_STORE: u64 = 40;

/// Triples of a bulk load.
const LOADED: u64 = 3000;

const USAGE: &str = "a name of a work and a store";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let work = std::env::var("GRAPHLAKE_WRITER").ok();
    match (work, arguments.as_slice()) {
        (Some(work), [path, from]) => write(&work, Path::new(path), from.parse().expect(USAGE)),
        (Some(_), _) => panic!("{USAGE}"),
        // If tests are listed or filtered, others are meant.
        (None, arguments) if arguments.iter().any(|argument| argument == "--list") => {}
        (None, _) => {
            two_processes_lose_nothing();
            println!("test two_processes_lose_nothing ... ok");
            killed_writers_leave_sound_stores();
            println!("test killed_writers_leave_sound_stores ... ok");
        }
    }
}

fn start(work: &str, path: &Path, from: u64) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg(path).arg(from.to_string()).env("GRAPHLAKE_WRITER", work);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn write(work: &str, path: &Path, from: u64) {
    let print = |line: &str| {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}").and_then(|()| out.flush()).unwrap();
    };
    let say = |number: u64| print(&format!("done {number}"));
    print("ready");
    if work == "load" {
        common::write(path, &WriteOptions::default(), |writer| {
            (0..LOADED).try_for_each(|number| quad(number, |quad| writer.push(quad)))
        })
        .unwrap();
        return say(0);
    }
    let lake = Lake::open(&Location::from_path(path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let last = if work == "hundred" { from + 100 } else { u64::MAX };
    for number in from..last {
        let mut transaction = lake.begin().unwrap();
        quad(number, |quad| transaction.insert(quad)).unwrap();
        if work == "mixed" && number % 4 == 3 {
            quad(number - 1, |quad| transaction.delete(quad)).unwrap();
        }
        transaction.commit().unwrap().unwrap();
        say(number);
        if work == "mixed" && number % 3 == 2 {
            match lake.compact(if number % 2 == 0 { CompactMode::Full } else { CompactMode::Tiers }, &|_| Ok(())) {
                Err(error) if error.kind() != Kind::Conflict => panic!("{error}"),
                _ => {}
            }
            let grace = Duration::ZERO;
            lake.vacuum(&VacuumOptions { keep_last: 2, grace, dry_run: false, ..VacuumOptions::default() }).unwrap();
        }
    }
}

fn quad<T>(number: u64, then: impl FnOnce(&Quad<'_>) -> T) -> T {
    let subject = format!("http://example.org/s{number}");
    let object = Object::Term("http://example.org/o");
    then(&Quad { subject: &subject, predicate: "http://example.org/p", object, graph: None })
}

fn numbers(path: &Path, order: Order) -> BTreeSet<u64> {
    let lake = common::open(path, &OpenOptions::default()).unwrap();
    let mut found = BTreeSet::new();
    lake.quads(order, &mut |quad| {
        assert!(found.insert(quad.subject.trim_start_matches("http://example.org/s").parse().unwrap()));
        Ok(())
    })
    .unwrap();
    found
}

/// The numbers that a writer acknowledged.
fn acknowledged(child: &mut Child) -> Vec<u64> {
    numbers_of(BufReader::new(child.stdout.take().unwrap()).lines())
}

fn numbers_of(lines: impl Iterator<Item = std::io::Result<String>>) -> Vec<u64> {
    lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("done ")?.parse().ok()).collect()
}

/// Kills a writer after this much time of work, and returns what it had acknowledged. How far it got depends on the
/// machine, which is the purpose of the test.
fn killed(mut writer: Child, pause: Duration) -> Vec<u64> {
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "ready");
    std::thread::park_timeout(pause);
    writer.kill().unwrap();
    writer.wait().unwrap();
    numbers_of(lines)
}

fn two_processes_lose_nothing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let mut writers = [start("hundred", &path, 0), start("hundred", &path, 1000)];
    for (writer, from) in writers.iter_mut().zip([0, 1000]) {
        assert_eq!(acknowledged(writer), (from..from + 100).collect::<Vec<_>>());
        assert!(writer.wait().unwrap().success());
    }
    assert_eq!(numbers(&path, Order::Subject), (0..100).chain(1000..1100).collect());
    let versions: Vec<i64> = lake.log(1000).unwrap().iter().map(|event| event.version).collect();
    assert_eq!(versions, (1..=200).collect::<Vec<_>>());
}

fn killed_writers_leave_sound_stores() {
    let home = tempfile::tempdir().unwrap();
    let (mut wanted, mut next, mut bits, mut commits) = (BTreeSet::new(), 0, 7_u64, 0);
    let mut path = home.path().join("none");
    for kill in 0..KILLS {
        if kill % KILLS_OF_A_STORE == 0 {
            path = home.path().join(format!("lake{kill}"));
            Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
            (wanted, next) = (BTreeSet::new(), 0);
        }
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let pause = Duration::from_micros((bits >> 33) % 40_000);
        if kill % 8 == 7 {
            killed_load(&home.path().join("loaded"), pause);
            continue;
        }
        let said = killed(start("mixed", &path, next), pause);
        commits += said.len();
        let deletes = |number: u64| (number % 4 == 3).then(|| number - 1);
        for number in said {
            next = number + 1;
            wanted.insert(number);
            deletes(number).map(|deleted| wanted.remove(&deleted));
        }
        let found = numbers(&path, Order::Subject);
        assert_eq!(numbers(&path, Order::Object), found);
        // What was not acknowledged may exist, and may come to exist when another writer completes it.
        let mut also = wanted.clone();
        also.insert(next);
        deletes(next).map(|deleted| also.remove(&deleted));
        assert!(found == wanted || found == also, "kill {kill}: {found:?}, not {wanted:?}");
        if kill % 10 == 9 {
            let mut findings = Findings::keeping(3);
            common::open(&path, &OpenOptions::default()).unwrap().validate(&mut findings).unwrap();
            let broken: Vec<_> =
                findings.by_rule().flat_map(|(_, kept)| kept).filter(|one| one.rule.id != "GRAPHLAKE-ORPHAN").collect();
            assert!(broken.is_empty(), "kill {kill}: {broken:?}");
        }
    }
    println!("{KILLS} kills, {commits} commits");
    assert!(commits > 0, "all writers were killed before they did anything");
}

/// A bulk load that is killed leaves nothing, or everything.
fn killed_load(path: &Path, pause: Duration) {
    let done = !killed(start("load", path, 0), pause).is_empty();
    if path.exists() {
        assert_eq!(numbers(path, Order::Subject), (0..LOADED).collect());
        std::fs::remove_dir_all(path).unwrap();
    } else {
        assert!(!done);
    }
}
