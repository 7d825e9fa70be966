//! Loads that are interrupted and resumed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use isomorph_convert::{LakeLoad, LakeLoaded, LakeText, Progress, load_lake};
use isomorph_error::{Error, Kind, Result};
use isomorph_graphlake::{GraphLake, Lake, OpenOptions, Order, VacuumOptions, WriteOptions, push_quad};
use isomorph_rdf::{Packed, Packing};
use isomorph_storage::{Budget, Location, Resources, Scratch, Workplace};

/// Lines of the longest text: several runs for each thread.
const LINES: u64 = 120_000;

/// Stops the work after this number of reported rows.
struct Stop {
    at: u64,
    rows: AtomicU64,
}

impl Stop {
    fn at(at: u64) -> Self {
        Stop { at, rows: AtomicU64::new(0) }
    }
}

impl Progress for Stop {
    fn begin(&self, _stage: &str, _total: Option<u64>) {}

    fn advance(&self, rows: u64) -> Result<()> {
        match self.rows.fetch_add(rows, Relaxed) + rows {
            now if now >= self.at => Err(Error::usage("stopped")),
            _ => Ok(()),
        }
    }

    fn end(&self) {}
}

/// A directory with texts, and subdirectories for stores that all have the same name.
struct Home {
    directory: tempfile::TempDir,
    texts: Vec<Location>,
}

impl Home {
    /// Texts with these names, with or without blank nodes.
    fn new(names: &[&str], blank: bool) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let texts = names.iter().map(|name| Location::from_path(&directory.path().join(name))).collect();
        for (at, name) in names.iter().enumerate() {
            write(&directory.path().join(name), LINES / (1 + at as u64), blank);
        }
        fs::create_dir(directory.path().join("tmp")).unwrap();
        Home { directory, texts }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn load(&self, inside: &str, resume: bool, threads: usize, progress: &dyn Progress) -> Result<LakeLoaded> {
        fs::create_dir_all(self.at(inside)).unwrap();
        let resources =
            Resources { threads, budget: Budget::new(40 << 20), scratch: Scratch::new(Some(&self.at("tmp"))).unwrap() };
        let load = LakeLoad {
            texts: self.texts.iter().cloned().map(LakeText::At).collect(),
            epoch: Some(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000)),
            resume,
            ..LakeLoad::default()
        };
        load_lake(&Location::from_path(&self.at(inside).join("lake")), &load, &resources, progress)
    }

    /// Resumes until the load is done, stopping at more and more rows; `between` runs after each stop.
    fn resumed(&self, inside: &str, step: u64, between: &dyn Fn(u64)) -> LakeLoaded {
        for attempt in 1.. {
            match self.load(inside, true, 1 + attempt as usize % 3, &Stop::at(attempt * step)) {
                Ok(loaded) => {
                    assert!(attempt > 3, "it was stopped {} times only", attempt - 1);
                    return loaded;
                }
                Err(error) => assert!(error.to_string().contains("stopped"), "{error}"),
            }
            between(attempt);
        }
        unreachable!()
    }
}

fn write(path: &Path, lines: u64, blank: bool) {
    let packing = Packing::of_name(path.to_str().unwrap());
    let mut out = Packed::new(packing, fs::File::create(path).unwrap()).unwrap();
    let turtle = path.to_str().unwrap().contains(".ttl");
    if turtle {
        writeln!(out, "@prefix e: <http://example.org/> .").unwrap();
    }
    for n in 0..lines {
        let node = if blank && n % 7 == 0 { format!("_:b{}", n % 300) } else { format!("<urn:n:{}>", n % 9_000) };
        let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        match (n % 3, turtle) {
            (0, true) => writeln!(out, "{node} e:name \"{mixed}\" ; e:of [ e:size {} ] .", n % 100),
            (0, false) => writeln!(out, "{node} <http://example.org/name> \"{mixed}\"@en <urn:graph:{}> .", n % 2),
            (1, _) => writeln!(out, "{node} <http://example.org/p{}> <urn:n:{}> .", n % 5, mixed % 9_000),
            _ => writeln!(out, "<urn:o:{mixed}> <http://example.org/size> \"{n}\"^^<urn:type:{}> .", n % 4),
        }
        .unwrap();
    }
    out.finish().unwrap();
}

fn tree(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
            } else {
                all.insert(path.strip_prefix(directory).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    all
}

fn names(directory: &Path) -> Vec<String> {
    fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

fn assert_same(one: &Path, other: &Path, what: &str) {
    let (one, other) = (tree(one), tree(other));
    let differ: Vec<_> = one.keys().chain(other.keys()).filter(|name| one.get(*name) != other.get(*name)).collect();
    assert!(differ.is_empty() && !one.is_empty(), "{what}: {differ:?}");
}

fn never() -> Stop {
    Stop::at(u64::MAX)
}

#[test]
fn a_store_is_the_same_however_often_its_load_was_stopped() {
    for texts in [&["a.nq"][..], &["a.nq.gz"], &["a.nq.zst", "b.nq"], &["b.ttl"], &["c.ttl.gz", "a.nq"]] {
        let home = Home::new(texts, false);
        // Nodes of Turtle without a label get one in each import: then only a single text needs none.
        let comparable = !texts.iter().any(|text| text.contains("ttl")) || texts.len() == 1;
        let plain = home.load("plain", false, 2, &never()).unwrap();
        let rows = plain.quads + plain.commit.as_ref().unwrap().inserted;
        let loaded = home.resumed("again", rows / 6, &|_| {});
        assert_eq!((loaded.quads, loaded.created), (plain.quads, true), "{texts:?}");
        assert_eq!(loaded.commit.unwrap().inserted, plain.commit.unwrap().inserted, "{texts:?}");
        let found = loaded.found.unwrap();
        assert_eq!(found.discarded, None);
        assert!(found.runs > 0 && found.quads > 0, "{texts:?}: {found:?}");
        assert_eq!(names(&home.at("again")), ["lake"], "{texts:?}");
        assert_eq!(names(&home.at("tmp")), [""; 0], "{texts:?}");
        if comparable {
            assert_same(&home.at("plain/lake"), &home.at("again/lake"), &format!("{texts:?}"));
        }
    }
}

#[test]
fn blank_nodes_keep_their_new_labels_over_a_stop() {
    let home = Home::new(&["a.nq", "b.ttl"], true);
    let lines = |inside: &str, loaded: &LakeLoaded| {
        let location = Location::from_path(&home.at(inside).join("lake"));
        let lake = GraphLake::open(&location, &OpenOptions::default()).unwrap();
        let mut lines = Vec::new();
        lake.quads(Order::Subject, &mut |quad| {
            let mut line = String::new();
            push_quad(&mut line, &quad);
            lines.push(line.replace(loaded.blank_prefix.as_ref().unwrap(), "import"));
            Ok(())
        })
        .unwrap();
        lines.sort();
        lines
    };
    for there in [false, true] {
        let [plain, again] = [format!("plain{there}"), format!("again{there}")];
        if there {
            for inside in [&plain, &again] {
                let text = Home { directory: tempfile::tempdir().unwrap(), texts: home.texts[1..].to_vec() };
                fs::create_dir(text.at("tmp")).unwrap();
                text.load("x", false, 1, &never()).unwrap();
                fs::create_dir(home.at(inside)).unwrap();
                fs::rename(text.at("x/lake"), home.at(inside).join("lake")).unwrap();
            }
        }
        let wanted = home.load(&plain, false, 2, &never()).unwrap();
        let rows = wanted.quads + wanted.commit.as_ref().unwrap().inserted;
        let loaded = home.resumed(&again, rows / 7, &|_| {});
        assert_eq!(loaded.commit.as_ref().unwrap().version, 1 + i64::from(there));
        assert!(loaded.found.as_ref().unwrap().quads > 0);
        assert!(lines(&plain, &wanted) == lines(&again, &loaded), "{there}");
    }
}

#[test]
fn what_was_damaged_is_read_again() {
    let home = Home::new(&["a.nq"], false);
    let plain = home.load("plain", false, 2, &never()).unwrap();
    let rows = plain.quads + plain.commit.unwrap().inserted;
    home.resumed("again", rows / 9, &|attempt| {
        let state = home.at("again/.lake.load");
        let mut files = names(&state);
        files.sort();
        // A file of runs every second time, the log otherwise: a bit, or the end.
        let name = if attempt % 2 == 0 { "log" } else { files.last().unwrap() };
        let mut bytes = fs::read(state.join(name)).unwrap();
        let place = bytes.len() * 3 / 4;
        if attempt % 3 == 0 {
            bytes.truncate(place);
        } else if let Some(byte) = bytes.get_mut(place) {
            *byte ^= 1;
        }
        fs::write(state.join(name), bytes).unwrap();
    });
    assert_same(&home.at("plain/lake"), &home.at("again/lake"), "damaged");
}

#[test]
fn what_is_of_no_use_is_begun_anew_and_said() {
    let home = Home::new(&["a.nq"], false);
    let state = home.at("again/.lake.load");
    let stopped = || {
        home.load("again", true, 2, &Stop::at(LINES / 2)).unwrap_err();
        assert!(names(&state).len() > 1);
    };
    let begun_anew = |because: &str| {
        let found = home.load("again", true, 2, &never()).unwrap().found.unwrap();
        assert_eq!((found.quads, found.runs), (0, 0));
        assert!(found.discarded.as_ref().unwrap().contains(because), "{found:?}");
        fs::remove_dir_all(home.at("again/lake")).unwrap();
        assert_eq!(names(&home.at("again")), [""; 0]);
    };
    stopped();
    let mut log = fs::read(state.join("log")).unwrap();
    log[7] += 1;
    fs::write(state.join("log"), log).unwrap();
    begun_anew("another version");
    stopped();
    let text = fs::File::options().append(true).open(home.at("a.nq")).unwrap();
    (&text).write_all(b"<urn:new> <urn:p> <urn:o> .\n").unwrap();
    begun_anew("the texts");
    stopped();
    text.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    begun_anew("the texts");
}

#[test]
fn only_one_load_is_at_work() {
    let home = Home::new(&["a.nq"], false);
    fs::create_dir(home.at("again")).unwrap();
    let scratch = Scratch::new(Some(&home.at("tmp"))).unwrap();
    let other = Workplace::open(&Location::from_path(&home.at("again/lake")), "load", &scratch).unwrap();
    let refused = home.load("again", true, 2, &never()).unwrap_err();
    assert_eq!(refused.kind(), Kind::Conflict);
    assert!(refused.to_string().contains("another process"), "{refused}");
    drop(other);
    home.load("again", true, 2, &never()).unwrap();
}

#[test]
fn what_was_given_up_is_vacuumed_and_loaded_anew() {
    let home = Home::new(&["a.nq", "b.nq"], true);
    fs::create_dir(home.at("again")).unwrap();
    let place = Location::from_path(&home.at("again/lake"));
    let scratch = Some(Scratch::new(Some(&home.at("tmp"))).unwrap());
    let writing = WriteOptions { scratch, ..WriteOptions::default() };
    let lake = Lake::create(&place, &OpenOptions::default(), &writing).unwrap();
    assert!(home.load("again", true, 2, &Stop::at(90_000)).is_err());
    let options = VacuumOptions { grace: Duration::ZERO, dry_run: false, ..VacuumOptions::default() };
    let left = lake.vacuum(&options).unwrap().load.unwrap();
    assert!(left.bytes > 100_000 && !left.path.exists(), "{left:?}");
    let loaded = home.load("again", true, 2, &never()).unwrap();
    assert_eq!(loaded.found.unwrap().quads, 0);
    assert_eq!(lake.vacuum(&options).unwrap().load, None);
}

/// A load that was interrupted between its publication and the end of its work.
#[test]
fn what_was_published_is_not_loaded_again() {
    struct Put<'p>(&'p Path);
    impl Progress for Put<'_> {
        fn begin(&self, _stage: &str, _total: Option<u64>) {}
        fn advance(&self, _rows: u64) -> Result<()> {
            fs::write(self.0, "somebody was faster").map_err(Error::from)
        }
        fn end(&self) {}
    }
    let home = Home::new(&["a.nq", "b.nq"], true);
    let (location, map) = (Location::from_path(&home.at("lake")), home.at("map.tsv"));
    let resources = Resources { threads: 2, budget: Budget::default(), scratch: Scratch::new(None).unwrap() };
    let blank_map = Some(Location::from_path(&map));
    let texts = home.texts.iter().cloned().map(LakeText::At).collect();
    let load = LakeLoad { texts, blank_map, resume: true, ..LakeLoad::default() };
    for version in 1..=2 {
        // The file cannot be written any more, and this is the last step.
        let failed = load_lake(&location, &load, &resources, &Put(&map)).unwrap_err();
        assert_eq!(failed.kind(), Kind::AlreadyExists);
        fs::remove_file(&map).unwrap();
        let loaded = load_lake(&location, &load, &resources, &never()).unwrap();
        assert!(loaded.finished_before && loaded.blank_prefix.is_some());
        assert_eq!(loaded.commit.unwrap().version, version);
        assert_eq!(loaded.quads, LINES + LINES / 2);
        assert_eq!(fs::read_to_string(&map).unwrap().lines().count(), 2 * 200);
        fs::remove_file(&map).unwrap();
        let lake = GraphLake::open(&location, &OpenOptions::default()).unwrap();
        assert_eq!(lake.snapshot().version, version);
        assert!(!home.at(".lake.load").exists());
    }
}
