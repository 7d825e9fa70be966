#![allow(clippy::unwrap_used)]

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::SystemTime;

use isomorph_deepgnn::{BuildOptions, OpenOptions, Text, build};
use isomorph_storage::{Budget, Scratch};

use super::*;
use crate::index::Entry;
use crate::map::Hold;

/// A binary whose files were last changed an hour ago.
struct Sample {
    _home: tempfile::TempDir,
    path: PathBuf,
    ids: Vec<i64>,
}

/// The opened files of a sample.
struct Opened {
    location: Location,
    files: BinaryFiles,
    options: GraphOptions,
    partitions: Vec<Partition>,
}

impl Sample {
    /// Creates a node for each id, in this order, distributed over partitions.
    fn of(ids: Vec<i64>, partitions: u32) -> Sample {
        let home = tempfile::tempdir().unwrap();
        let (source, path) = (home.path().join("graph.edgelist"), home.path().join("graph"));
        // Each node has two lines: with several partitions, they become several entries.
        let lines = ids.iter().map(|id| format!("{id},-1,0,1\n{id},0,1,1\n")).collect::<String>();
        let again = ids.iter().map(|id| format!("{id},0,2,1\n")).collect::<String>();
        fs::write(&source, if partitions > 1 { lines + &again } else { lines }).unwrap();
        let text = Text::open(&Location::from_path(&source), &OpenOptions::default()).unwrap();
        let staging = Staging::directory(&Location::from_path(&path), Mode::CreateNew).unwrap();
        build(&text, &staging, &BuildOptions { partitions, ..BuildOptions::default() }, &|_| Ok(())).unwrap();
        staging.commit(&["meta.json"]).unwrap();
        let sample = Sample { _home: home, path, ids };
        sample.date(Duration::from_secs(3600));
        sample
    }

    fn maps(&self) -> Vec<PathBuf> {
        let names = fs::read_dir(&self.path).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.extension().is_some_and(|ending| ending == "map")).collect()
    }

    fn date(&self, age: Duration) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000) - age;
        self.maps().iter().for_each(|map| File::options().append(true).open(map).unwrap().set_modified(time).unwrap());
    }

    fn open(&self) -> Opened {
        let location = Location::from_path(&self.path);
        let files = BinaryFiles::open(&location).unwrap();
        let options = GraphOptions::new(&Budget::new(64 << 20), &Scratch::new(None).unwrap());
        let open = |files| Partition::open(files, Hold::Copied, &options.scratch).unwrap();
        let partitions = files.partitions.iter().map(open).collect();
        Opened { location, files, options, partitions }
    }

    fn file(&self) -> PathBuf {
        self.path.join(BESIDE).join(NAME)
    }
}

impl Opened {
    fn file(&self) -> NodeIdsFile<'_> {
        NodeIdsFile::of(&self.location, &self.files, &self.options)
    }

    fn read(&self) -> Option<Index> {
        self.file().read(&self.partitions).unwrap()
    }

    fn made(&self) -> Index {
        Index::of(&self.partitions, &self.options.budget).unwrap()
    }
}

/// Returns ids in a scattered order.
fn shuffled(count: u64) -> Vec<i64> {
    (0..count).map(|at| (at.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20) as i64).collect()
}

/// Returns the entries that an index has for known ids and for some unknown ones.
fn answers(index: &Index, opened: &Opened, ids: &[i64]) -> Vec<Vec<Entry>> {
    let wanted = ids.iter().flat_map(|id| [*id, id.wrapping_add(1), id.wrapping_sub(7)]);
    wanted.chain([0, -1, i64::MAX]).map(|id| index.find(&opened.partitions, id).collect()).collect()
}

#[test]
fn what_was_kept_is_what_was_made() {
    for (ids, partitions) in [
        (shuffled(900), 1),
        (shuffled(900), 3),
        ((0..700).map(|at| 5 + 3 * at).collect(), 1),
        ((0..400).map(|at| at * at).collect(), 2),
        (vec![12], 1),
    ] {
        let sample = Sample::of(ids, partitions);
        let opened = sample.open();
        let made = opened.made();
        assert!(opened.read().is_none());
        assert!(opened.file().keep(&made, &opened.partitions).unwrap());
        let kept = opened.read().unwrap();
        assert_eq!(answers(&kept, &opened, &sample.ids), answers(&made, &opened, &sample.ids));
        // A guess knows a node, or leaves it to the full look-up.
        for id in &sample.ids {
            kept.foresee(&opened.partitions, *id);
            let guess = kept.guess(&opened.partitions, *id);
            if let Some(entry) = guess.filter(|entry| kept.is_only(&opened.partitions, *id, *entry)) {
                assert_eq!(kept.find(&opened.partitions, *id).collect::<Vec<_>>(), [entry]);
            }
        }
    }
}

#[test]
fn maps_that_changed_are_looked_at_anew() {
    let sample = Sample::of(shuffled(500), 1);
    let opened = sample.open();
    assert!(opened.file().keep(&opened.made(), &opened.partitions).unwrap());
    assert!(sample.open().read().is_some());
    sample.date(Duration::from_secs(5));
    assert!(sample.open().read().is_none(), "another time");
    sample.date(Duration::from_secs(3600));
    assert!(sample.open().read().is_some());
    // The same size and time, another node at the end.
    let map = sample.maps().pop().unwrap();
    let mut bytes = fs::read(&map).unwrap();
    let last = bytes.len() - 20;
    bytes[last] ^= 1;
    fs::write(&map, bytes).unwrap();
    sample.date(Duration::from_secs(3600));
    assert!(sample.open().read().is_none(), "another record");
    // Another graph in its place.
    let other = Sample::of(shuffled(501), 1);
    fs::create_dir(other.path.join(BESIDE)).unwrap();
    fs::copy(sample.file(), other.file()).unwrap();
    assert!(other.open().read().is_none(), "another size");
}

#[test]
fn what_changes_at_this_moment_is_not_kept() {
    let sample = Sample::of(shuffled(100), 1);
    let now = SystemTime::now();
    sample.maps().iter().for_each(|map| File::options().append(true).open(map).unwrap().set_modified(now).unwrap());
    let opened = sample.open();
    assert!(!opened.file().keep(&opened.made(), &opened.partitions).unwrap());
    assert!(!sample.file().exists());
}

/// A changed byte may hide a node or make the file useless. It never leads to another node, out of range, or into a loop.
#[test]
fn a_damaged_file_gives_no_other_node() {
    for (ids, partitions) in [(shuffled(60), 1), (shuffled(60), 3), ((0..60).map(|at| 2 * at).collect(), 1)] {
        let sample = Sample::of(ids, partitions);
        let opened = sample.open();
        assert!(opened.file().keep(&opened.made(), &opened.partitions).unwrap());
        let whole = fs::read(sample.file()).unwrap();
        let (mut used, mut tried) = (0, 0);
        let mut check = |bytes: &[u8]| {
            fs::write(sample.file(), bytes).unwrap();
            tried += 1;
            let Some(index) = opened.read() else { return };
            used += 1;
            for id in sample.ids.iter().copied().chain([0, -1]) {
                let found: Vec<Entry> = index.find(&opened.partitions, id).collect();
                let ahead = index.guess(&opened.partitions, id);
                let ahead = ahead.filter(|entry| index.is_only(&opened.partitions, id, *entry));
                for entry in found.iter().chain(&ahead) {
                    assert!(opened.partitions[entry.partition].has(entry.entry, id));
                }
                assert!(found.is_sorted_by_key(|entry| (entry.partition, entry.entry)));
            }
        };
        for at in 0..whole.len() {
            for damage in [0x01, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= damage;
                check(&bytes);
            }
        }
        for end in (0..whole.len()).step_by(7) {
            check(&whole[..end]);
        }
        assert!(tried > used, "{used} of {tried}");
    }
}
