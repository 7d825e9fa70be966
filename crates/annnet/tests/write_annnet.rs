//! What is written reads back as the same graph, whatever the form.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use common::build::Files;
use common::view::{View, differences, normal};
use common::{expected, fixtures, open};
use isomorph_annnet::{Annnet, AnnnetWriter, WriteOptions};
use isomorph_error::Result;
use isomorph_model::{Delivery, Request, Source, Tables};
use isomorph_storage::{Location, Mode, Staging};
use isomorph_tables::Compression;

/// Every graph of the layout that is written.
const V2: [&str; 16] = [
    "aspects_without_nodes",
    "attr_types",
    "backend_pandas",
    "backend_pyarrow",
    "backend_pyarrow_nopolars",
    "direction_none",
    "empty",
    "empty_undirected",
    "everything_flat",
    "everything_multilayer",
    "jsonlike_ids_lossy",
    "legacy_vertex_words",
    "one_node",
    "plain_directed",
    "plain_undirected",
    "stale_overwrite",
];

fn options() -> WriteOptions {
    WriteOptions { created: Some(UNIX_EPOCH + Duration::from_micros(1_500_000)), ..WriteOptions::default() }
}

/// Writes `source` to `path`, in pieces of so many rows.
fn write(source: &dyn Source, path: &Path, options: &WriteOptions, piece: usize) -> Result<Vec<(String, u64)>> {
    let location = Location::from_path(path);
    let staging = match options.archive {
        true => Staging::file(&location, Mode::CreateNew)?,
        false => Staging::directory(&location, Mode::CreateNew)?,
    };
    let mut sink = AnnnetWriter::create(&staging, source.graph(), options)?;
    for (number, delivery) in sink.deliveries().into_iter().enumerate() {
        let tables = match delivery {
            Delivery::Nodes(ty) => Tables::Nodes(ty),
            Delivery::EdgesWithKeys(ty) => Tables::Edges(ty),
            _ => Tables::Rest,
        };
        for part in source.scan(&Request::of(tables))? {
            part.read(&mut |batch| {
                let starts = (0..batch.rows()).step_by(piece);
                starts
                    .map(|at| batch.slice(at, piece.min(batch.rows() - at)))
                    .try_for_each(|own| sink.write(number, own))
            })?;
        }
    }
    let written = sink.finish()?;
    staging.commit(&[])?;
    Ok(written.files)
}

fn graph(fixture: &str) -> Option<(PathBuf, Annnet)> {
    let root = fixtures()?.join(fixture);
    let graph = open(&root.join("graph.annnet.d")).unwrap();
    Some((root, graph))
}

/// What is at a place differs from what the library read from the fixture.
fn differing(place: &Path, source: &Annnet) -> Vec<String> {
    let mut found = Vec::new();
    let written = open(place).unwrap();
    differences("", &View::of(&written).value(), &View::of(source).value(), &mut found);
    if written.graph() != source.graph() {
        found.push("the descriptions differ".to_owned());
    }
    found
}

/// Bytes of all files below a directory.
fn bytes(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                all.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    all
}

#[test]
fn every_graph_comes_back_from_a_directory_and_from_an_archive() {
    let folder = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    for fixture in V2 {
        let Some((_, source)) = graph(fixture) else { return };
        for (archive, name) in [(false, fixture.to_owned()), (true, format!("{fixture}.annnet"))] {
            let place = folder.path().join(&name);
            write(&source, &place, &WriteOptions { archive, ..options() }, 1 << 16).unwrap();
            found.extend(differing(&place, &source).into_iter().map(|found| format!("{name}{found}")));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn bytes_depend_on_the_graph_alone() {
    let folder = tempfile::tempdir().unwrap();
    for fixture in ["everything_flat", "everything_multilayer"] {
        let Some((_, source)) = graph(fixture) else { return };
        let paths = [1, 3, 1 << 16].map(|piece| {
            let path = folder.path().join(format!("{fixture}{piece}"));
            write(&source, &path, &options(), piece).unwrap();
            path
        });
        let all = paths.map(|path| bytes(&path));
        for own in &all {
            let differ: Vec<&String> = own.keys().filter(|name| own.get(*name) != all[0].get(*name)).collect();
            assert!(differ.is_empty() && own.len() == all[0].len(), "{fixture}: {differ:?}");
        }
        let archives = ["first", "second"].map(|name| {
            let path = folder.path().join(format!("{fixture}-{name}.annnet"));
            write(&source, &path, &WriteOptions { archive: true, ..options() }, 2).unwrap();
            std::fs::read(path).unwrap()
        });
        assert!(archives[0] == archives[1], "{fixture}");
    }
}

#[test]
fn the_manifest_names_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    for (fixture, compression, name) in [
        ("everything_flat", Compression::Snappy, "snappy"),
        ("everything_multilayer", Compression::Lz4, "lz4"),
        ("empty", Compression::None, "none"),
    ] {
        let Some((root, source)) = graph(fixture) else { return };
        let place = folder.path().join(fixture);
        write(&source, &place, &WriteOptions { compression, ..options() }, 5).unwrap();
        let manifest = |root: &Path| -> serde_json::Value {
            serde_json::from_slice(&std::fs::read(root.join("manifest.json")).unwrap()).unwrap()
        };
        let (mut own, mut theirs) = (manifest(&place), manifest(&root.join("graph.annnet.d")));
        assert_eq!(own["compression"], name);
        assert_eq!(own["created"], "1970-01-01T00:00:01.500000+00:00");
        assert_eq!(own["annnet_version"], concat!("isomorph ", env!("CARGO_PKG_VERSION")));
        for known in ["compression", "created", "annnet_version", "encoding"] {
            own.as_object_mut().unwrap().remove(known);
            theirs.as_object_mut().unwrap().remove(known);
        }
        assert_eq!(own, theirs, "{fixture}");
    }
}

#[test]
fn members_whose_ids_read_as_json_are_written_with_their_layer() {
    let Some((_, source)) = graph("jsonlike_ids_lossy") else { return };
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("graph");
    write(&source, &place, &WriteOptions { compression: Compression::None, ..options() }, 5).unwrap();
    let bytes = std::fs::read(place.join("structure/hyperedge_definitions.parquet")).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains("{\"kind\": \"supra\", \"layer\": [\"_\"], \"node\": \"1\"}"), "{text}");
    assert!(!text.contains("\"\\\"1\\\"\""), "{text}");
}

#[test]
fn the_published_dump_is_that_of_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    for fixture in ["everything_flat", "everything_multilayer"] {
        let Some((root, source)) = graph(fixture) else { return };
        let place = folder.path().join(fixture);
        write(&source, &place, &options(), 4).unwrap();
        let mut found = Vec::new();
        differences("", &View::of(&open(&place).unwrap()).value(), &normal(expected(&root)), &mut found);
        assert!(found.is_empty(), "{fixture}: {found:#?}");
    }
}

#[test]
fn graphs_that_are_made_here_come_back_too() {
    let folder = tempfile::tempdir().unwrap();
    for (name, files) in [("small", Files::small()), ("layered", Files::layered())] {
        let home = folder.path().join(format!("{name}-before"));
        files.write(&home);
        let source = open(&home).unwrap();
        for archive in [false, true] {
            let place = folder.path().join(format!("{name}-{archive}"));
            write(&source, &place, &WriteOptions { archive, ..options() }, 1).unwrap();
            let found = differing(&place, &source);
            assert!(found.is_empty(), "{name}: {found:#?}");
        }
    }
}
