//! Shared by the tests of this crate: the location of the fixtures, copies of them, and a store as sorted lines.
#![allow(dead_code, clippy::unwrap_used)]

pub mod answers;
pub mod store;

use std::path::{Path, PathBuf};

use isomorph_error::{Findings, Result};
use isomorph_graphlake::{Created, GraphLake, LakeWriter, OpenOptions, Order, WriteOptions, push_quad};
use isomorph_model::Source;
use isomorph_storage::{Location, Mode, Staging};

/// The fixtures of this format.
pub fn fixtures() -> PathBuf {
    isomorph_fixtures::fixture("graphlake")
}

pub fn open(path: &Path, options: &OpenOptions) -> Result<GraphLake> {
    GraphLake::open(&Location::from_path(path), options)
}

/// Writes a store, whose quads `fill` pushes.
pub fn write(
    path: &Path,
    options: &WriteOptions,
    fill: impl FnOnce(&mut LakeWriter<'_>) -> Result<()>,
) -> Result<Created> {
    let staging = Staging::directory(&Location::from_path(path), Mode::CreateNew)?;
    let mut writer = LakeWriter::create(&staging, options)?;
    fill(&mut writer)?;
    let created = writer.finish(&|_| Ok(()))?;
    let manifests = LakeWriter::manifests();
    staging.commit(&manifests.each_ref().map(String::as_str))?;
    Ok(created)
}

/// All quads as sorted lines of canonical N-Quads.
pub fn lines(lake: &GraphLake, order: Order) -> Result<String> {
    let mut all = Vec::new();
    lake.quads(order, &mut |quad| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        all.push(line);
        Ok(())
    })?;
    all.sort();
    Ok(all.into_iter().map(|line| line + "\n").collect())
}

/// All quads in their RDF form, as sorted lines of canonical N-Quads.
pub fn statements(lake: &GraphLake, order: Order) -> Result<String> {
    let mut all = Vec::new();
    lake.statements(order, &mut |quad| {
        let mut line = String::new();
        push_quad(&mut line, &quad);
        all.push(line + "\n");
        Ok(())
    })?;
    all.sort();
    Ok(all.concat())
}

/// Ids of the rules that a store breaks, as far as it can be opened and read; otherwise the rule of the error.
pub fn broken(path: &Path, options: &OpenOptions) -> Vec<&'static str> {
    let mut findings = Findings::keeping(3);
    let done = open(path, options).and_then(|lake| lake.validate(&mut findings));
    let mut ids: Vec<&'static str> = findings.by_rule().flat_map(|(_, kept)| kept).map(|one| one.rule.id).collect();
    ids.extend(done.err().and_then(|error| error.broken_rule()).map(|rule| rule.id));
    ids.dedup();
    ids
}

/// A copy that may be damaged.
pub fn copy(from: &Path) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    copy_all(from, &home.path().join("lake"));
    home
}

fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            std::fs::write(&target, std::fs::read(entry.path()).unwrap()).unwrap();
        }
    }
}
