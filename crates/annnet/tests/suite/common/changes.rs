//! Changing a graph and examining the result.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use arrow_array::{ArrayRef, RecordBatch};
use isomorph_annnet::update::{Changes, UpdateOptions, Updated, update};
use isomorph_error::{Findings, Result, Severity};
use isomorph_model::Source;
use isomorph_storage::Location;
use serde_json::Value;

use super::open;
use super::view::View;

pub fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true))).unwrap()
}

pub fn options() -> UpdateOptions {
    UpdateOptions { created: Some(UNIX_EPOCH + Duration::from_micros(1_500_000)), ..UpdateOptions::default() }
}

pub fn change(path: &Path, changes: &Changes) -> Result<Updated> {
    update(&Location::from_path(path), changes, &options())
}

pub fn view(path: &Path) -> Value {
    View::of(&open(path).unwrap()).value()
}

/// Checks that there are no errors, and that the counts match.
pub fn is_sound(path: &Path) {
    let mut findings = Findings::default();
    open(path).unwrap().validate(&mut findings).unwrap();
    let found: Vec<String> = findings
        .by_rule()
        .flat_map(|(_, kept)| kept)
        .filter(|finding| finding.rule.severity == Severity::Error || finding.rule.id == "ANNNET-COUNTS")
        .map(|finding| format!("{finding:?}"))
        .collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// All files below a directory with their bytes, except files that are never read.
pub fn bytes(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
            match path.is_dir() {
                _ if name == "_isomorph" => {}
                true => folders.push(path),
                false => drop(all.insert(name, std::fs::read(&path).unwrap())),
            }
        }
    }
    all
}

/// Pseudo-random numbers from a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }
}
