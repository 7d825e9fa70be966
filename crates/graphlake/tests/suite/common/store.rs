//! A copy of the smallest fixture that tests change, as other writers or accidents would.

use std::path::{Path, PathBuf};
use std::time::Duration;

use isomorph_error::{Findings, Place, Result};
use isomorph_graphlake::{Committed, CompactMode, Lake, OpenOptions, Order, VacuumOptions, Vacuumed, WriteOptions};
use isomorph_model::Source;
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;
use serde_json::{Value, json};

pub const SNAPSHOT: &str = "snapshots/snapshot1.json";
pub const NAME: &str = "http://example.org/name";
pub const GRAPH: &str = "urn:x-arq:DefaultGraph";

/// The copy, in a directory of its own.
pub struct Store {
    pub home: tempfile::TempDir,
    pub path: PathBuf,
}

impl Store {
    pub fn new() -> Store {
        let home = super::copy(&super::fixtures().join("tiny"));
        Store { path: home.path().join("lake"), home }
    }

    pub fn location(&self) -> Location {
        Location::from_path(&self.path)
    }

    pub fn lake(&self) -> Lake {
        let options = WriteOptions { threads: 1, ..WriteOptions::default() };
        Lake::open(&self.location(), &OpenOptions::default(), &options).unwrap()
    }

    pub fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.path.join(name)).unwrap()).unwrap()
    }

    /// The same with other JSON in the file called `name`.
    pub fn with(self, name: &str, change: impl FnOnce(&mut Value)) -> Store {
        let mut json = self.json(name);
        change(&mut json);
        std::fs::write(self.path.join(name), json.to_string()).unwrap();
        self
    }

    /// The same with other bytes in the file of names by subject or object; its metadata is updated to their length and
    /// number.
    pub fn with_records(self, list: &str, records: &[Vec<u8>]) -> Store {
        let bytes = records.concat();
        let path = self.path.clone();
        self.with(SNAPSHOT, |snapshot| {
            let file = file(snapshot, list);
            std::fs::write(path.join(file["path"].as_str().unwrap()), &bytes).unwrap();
            (file["size"], file["triple_count"]) = (json!(bytes.len()), json!(records.len()));
            let members = file.as_object_mut().unwrap();
            for name in ["checksum", "sort_order", "id_bloom_filter", "literal_count"] {
                members.remove(name);
            }
            (file["bloom_filter"], file["min_value"], file["max_value"]) = (json!(""), json!(""), json!("~"));
        })
    }

    /// The same with one more file of names in a list.
    pub fn with_file(self, list: &str, id: &str, records: &[Vec<u8>]) -> Store {
        let bytes = records.concat();
        let path = format!("graphs/{id}.bin");
        std::fs::write(self.path.join(&path), &bytes).unwrap();
        self.with(SNAPSHOT, |snapshot| {
            let mut own = file(snapshot, list).clone();
            (own["id"], own["path"]) = (json!(id), json!(path));
            (own["size"], own["triple_count"]) = (json!(bytes.len()), json!(records.len()));
            snapshot["graphs"][GRAPH][list].as_array_mut().unwrap().push(own);
        })
    }

    /// Inserts a name, and deletes another.
    pub fn change(&self) -> Result<Committed> {
        let lake = self.lake();
        let mut transaction = lake.begin()?;
        let quad = |subject, object| Quad { subject, predicate: NAME, object, graph: None };
        transaction.insert(&quad("http://example.org/new", Object::plain("New", "")))?;
        transaction.delete(&quad("http://example.org/alice", Object::plain("Alice", "")))?;
        Ok(transaction.commit()?.unwrap())
    }

    pub fn compact(&self) -> Result<()> {
        self.lake().compact(CompactMode::Full, &|_| Ok(())).map(drop)
    }

    /// Removes all files that are not needed.
    pub fn vacuum(&self) -> Result<Vacuumed> {
        let options = VacuumOptions { keep_last: 1, grace: Duration::ZERO, dry_run: false, ..VacuumOptions::default() };
        self.lake().vacuum(&options)
    }

    pub fn lines(&self, order: Order) -> Result<String> {
        super::lines(&super::open(&self.path, &OpenOptions::default())?, order)
    }

    pub fn broken(&self) -> Vec<&'static str> {
        super::broken(&self.path, &OpenOptions::default())
    }

    /// The findings of validation: rules and positions.
    pub fn found(&self) -> Vec<(&'static str, Place)> {
        let mut findings = Findings::keeping(10);
        super::open(&self.path, &OpenOptions::default()).unwrap().validate(&mut findings).unwrap();
        let kept = findings.by_rule().flat_map(|(_, kept)| kept);
        kept.map(|one| (one.rule.id, one.place.clone())).collect()
    }

    /// Names and contents of all files, inside the store and next to it.
    pub fn everything(&self) -> Vec<(PathBuf, Vec<u8>)> {
        everything_in(self.home.path())
    }

    /// The existing metadata: data files that nobody lists may be left by refused commits.
    pub fn metadata(&self) -> Vec<(PathBuf, Vec<u8>)> {
        self.everything().into_iter().filter(|(path, _)| path.extension().is_some_and(|one| one == "json")).collect()
    }
}

/// A record of a literal without prefixes.
pub fn record(subject: &str, value: &str, datatype: &str) -> Vec<u8> {
    let number = |number: usize| (number as i32).to_le_bytes();
    let parts: [&[u8]; 9] = [
        &number(0),
        &number(subject.len()),
        subject.as_bytes(),
        &[1],
        &number(value.len()),
        value.as_bytes(),
        &number(0),
        &number(datatype.len()),
        datatype.as_bytes(),
    ];
    parts.concat()
}

/// The metadata of the file of names in a list.
pub fn file<'s>(snapshot: &'s mut Value, list: &str) -> &'s mut Value {
    let files = snapshot["graphs"][GRAPH][list].as_array_mut().unwrap();
    files.iter_mut().find(|file| file["predicate"] == NAME).unwrap()
}

/// Names and contents of all files below a directory.
pub fn everything_in(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    walk(directory, &mut found);
    found.sort();
    found
}

fn walk(path: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in std::fs::read_dir(path).unwrap().map(std::result::Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => walk(&entry.path(), found),
            false => found.push((entry.path(), std::fs::read(entry.path()).unwrap())),
        }
    }
}
