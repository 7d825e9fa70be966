//! GraphLake: a valid store with one file replaced by the input.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use isomorph::error::{Findings, Severity};
use isomorph::formats::graphlake::{
    GraphLake, LakeWriter, OpenOptions, Order, Pattern, Tolerance, WriteOptions, push_quad,
};
use isomorph::model::Source;
use isomorph::model::faces::{Object, Quad};
use isomorph::storage::{Budget, Mode, Staging};
use isomorph::{Error, Kind, Location, Result};
use tempfile::TempDir;

use crate::home::home;

pub(crate) const JSON_WORDS: &[&str] = &[
    "\"graphs\":{",
    "\"partitions\":{",
    "\"tombstone_files\":[",
    "\"is_inverse\":true",
    "\"snapshot_version\":",
    "\"prefix_map\":{",
    "\"path\":\"",
    "\"../",
    "\"size\":",
    "-1",
    "9223372036854775807",
    "\"1\"",
    "null",
    "[[[[",
    "{}",
    ",",
];

/// Memory for a store, in bytes.
const MEMORY: u64 = 64 << 20;

/// The metadata files; the first byte of an input selects one.
const METADATA: [&str; 2] = ["store.json", "snapshots/snapshot1.json"];

/// A valid store on disk, and one of its data files.
struct Template {
    _home: TempDir,
    path: PathBuf,
    metadata: [Vec<u8>; 2],
    data: String,
    records: Vec<u8>,
}

thread_local! {
    static TEMPLATE: Template = Template::new().expect("a sound store");
}

impl Template {
    fn new() -> Result<Self> {
        let home = home();
        let path = home.path().join("lake");
        let staging = Staging::directory(&Location::from_path(&path), Mode::CreateNew)?;
        let time = Some(UNIX_EPOCH + Duration::from_secs(1));
        let options = WriteOptions { time, budget: Budget::new(MEMORY), ..WriteOptions::default() };
        let mut writer = LakeWriter::create(&staging, &options)?;
        let literal = |lexical, language, direction| Object::Literal { lexical, datatype: "", language, direction };
        let objects = [
            Object::Term("http://example.org/bob"),
            Object::Term("_:x1"),
            Object::plain("42", isomorph::model::xsd::INTEGER),
            Object::plain("", ""),
            literal("B\u{f3}b", Some("pl"), None),
            literal("a", Some("ar"), Some("rtl")),
        ];
        for graph in [None, Some("urn:g")] {
            for (number, object) in objects.into_iter().enumerate() {
                let subject = format!("http://example.org/{}", number % 3);
                writer.push(&Quad { subject: &subject, predicate: "urn:p", object, graph })?;
            }
        }
        writer.finish(&|_| Ok(()))?;
        let manifests = LakeWriter::manifests();
        staging.commit(&manifests.each_ref().map(String::as_str))?;
        let lake = GraphLake::open(&Location::from_path(&path), &OpenOptions::default())?;
        let data = lake.snapshot().graphs[0].subject_files[0].path.clone();
        let read = |name: &str| std::fs::read(path.join(name)).expect("a file");
        let (metadata, records) = (METADATA.map(read), read(&data));
        Ok(Template { _home: home, path, metadata, data, records })
    }

    /// The snapshot, with the metadata of the data file adapted to a file of this many bytes.
    fn fitted(&self, size: usize) -> Vec<u8> {
        let mut snapshot: serde_json::Value = serde_json::from_slice(&self.metadata[1]).expect("JSON");
        let graphs = snapshot["graphs"].as_object_mut().expect("graphs");
        let files = graphs.values_mut().flat_map(|graph| graph["so_data_files"].as_array_mut().expect("files"));
        for file in files.filter(|file| file["path"] == self.data) {
            file["size"] = size.into();
            file.as_object_mut().expect("a file").shift_remove("checksum");
        }
        snapshot.to_string().into_bytes()
    }
}

pub(crate) fn json_seeds() -> Vec<Vec<u8>> {
    TEMPLATE.with(|template| (0u8..).zip(&template.metadata).map(|(at, text)| [&[at][..], text].concat()).collect())
}

pub(crate) fn record_seeds() -> Vec<Vec<u8>> {
    TEMPLATE.with(|template| vec![template.records.clone()])
}

pub(crate) fn check_json(data: &[u8]) {
    let [choice, bytes @ ..] = data else { return };
    let at = usize::from(*choice) % METADATA.len();
    TEMPLATE.with(|template| {
        std::fs::write(template.path.join(METADATA[at]), bytes).expect("a file");
        let checked = std::panic::catch_unwind(|| check(&template.path));
        std::fs::write(template.path.join(METADATA[at]), &template.metadata[at]).expect("a file");
        checked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

pub(crate) fn check_records(data: &[u8]) {
    TEMPLATE.with(|template| {
        let write = |records: &[u8], snapshot: &[u8]| {
            std::fs::write(template.path.join(&template.data), records).expect("a file");
            std::fs::write(template.path.join(METADATA[1]), snapshot).expect("a file");
        };
        write(data, &template.fitted(data.len()));
        let checked = std::panic::catch_unwind(|| check(&template.path));
        write(&template.records, &template.metadata[1]);
        checked.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

/// Whatever the input, nothing panics; and a valid store has the same triples in both orders, and by patterns.
fn check(path: &Path) {
    let location = Location::from_path(path);
    for tolerance in [Tolerance::Strict, Tolerance::Normal, Tolerance::Lenient] {
        let options = OpenOptions { tolerance, budget: Budget::new(MEMORY), ..OpenOptions::default() };
        let lake = match GraphLake::open(&location, &options) {
            Ok(lake) => lake,
            Err(error) => {
                blames_the_input(&error);
                continue;
            }
        };
        let mut findings = Findings::keeping(2);
        let sound = match lake.validate(&mut findings) {
            Ok(()) => findings.worst() < Some(Severity::Error),
            Err(error) => {
                blames_the_input(&error);
                false
            }
        };
        let found = [Order::Subject, Order::Object].map(|order| lines(&lake, order));
        match found {
            [Ok(by_subject), Ok(by_object)] if sound => {
                assert_eq!(by_subject, by_object, "both orders hold the same triples");
                look_up(&lake, &by_subject);
            }
            found => found.into_iter().filter_map(Result::err).for_each(|error| {
                blames_the_input(&error);
                assert!(!sound, "nothing was found, and it cannot be read: {error:?}");
            }),
        }
    }
}

fn lines(lake: &GraphLake, order: Order) -> Result<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    lake.quads(order, &mut |quad| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        assert!(all.insert(line), "a triple came twice");
        Ok(())
    })?;
    Ok(all)
}

/// The results for all subjects together are everything.
fn look_up(lake: &GraphLake, all: &BTreeSet<String>) {
    let mut subjects = BTreeSet::new();
    let seen = lake.quads(Order::Subject, &mut |quad| {
        subjects.insert(quad.subject.to_owned());
        Ok(())
    });
    seen.expect("it was read before");
    let mut found = BTreeSet::new();
    for subject in &subjects {
        let pattern = Pattern { subject: Some(subject), ..Pattern::default() };
        let looked = lake.matching(&pattern, &mut |quad| {
            let mut line = String::new();
            push_quad(&mut line, &quad);
            found.insert(line);
            Ok(())
        });
        looked.expect("it was read before");
    }
    assert_eq!(&found, all, "patterns find everything");
}

/// An error must concern the input, not this program or the machine.
fn blames_the_input(error: &Error) {
    let kinds = [Kind::Malformed, Kind::Incomplete, Kind::Unsupported, Kind::TooLarge, Kind::NotFound];
    assert!(kinds.contains(&error.kind()), "{error:?}");
}
