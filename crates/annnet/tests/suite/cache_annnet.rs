//! Views for look-ups: their content, that look-ups use them, and that stale views are never used.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use common::changes::change;
use common::{copy, expected, fixtures, open, write};
use isomorph_annnet::update::Changes;
use isomorph_annnet::{Annnet, LookUps, OpenOptions, WriteLayout, WriteOptions, write_cache};
use isomorph_error::{Findings, Kind};
use isomorph_model::{Batch, EdgeBatch, Ends, NodeId, Request, Side, Source, Tables};
use isomorph_tables::Compression;
use serde_json::Value;

/// Graphs whose matrix was dumped by the library, and whose files contain nothing that is not read.
const WHOLE: [&str; 10] = [
    "aspects_without_nodes",
    "attr_types",
    "backend_pyarrow",
    "direction_none",
    "empty",
    "everything_flat",
    "everything_multilayer",
    "legacy_vertex_words",
    "one_node",
    "plain_undirected",
];

fn cached() -> WriteOptions {
    WriteOptions { cache: true, compression: Compression::None, ..WriteOptions::default() }
}

/// The numbers of an uncompressed array.
fn numbers<T, const N: usize>(directory: &Path, of: impl Fn([u8; N]) -> T) -> Vec<T> {
    let described: Value = serde_json::from_slice(&fs::read(directory.join("zarr.json")).unwrap()).unwrap();
    let length = described["shape"][0].as_u64().unwrap() as usize;
    // A chunk of zeros is not stored.
    let bytes = fs::read(directory.join("c/0")).unwrap_or_else(|_| vec![0; length * N]);
    bytes.chunks_exact(N).take(length).map(|bytes| of(bytes.try_into().unwrap())).collect()
}

/// Row, column and value of each entry; entries of the same cell are summed, and zeros are omitted.
fn cells(group: &Path, by_row: bool) -> BTreeMap<(usize, usize), f64> {
    let starts = numbers(&group.join("indptr"), i64::from_le_bytes);
    let indices = numbers(&group.join("indices"), i32::from_le_bytes);
    let values = numbers(&group.join("data"), f32::from_le_bytes);
    assert!(indices.len() == values.len() && starts.last() == Some(&(values.len() as i64)));
    let mut cells = BTreeMap::new();
    for (major, range) in starts.windows(2).enumerate() {
        for at in range[0] as usize..range[1] as usize {
            let minor = indices[at] as usize;
            let place = if by_row { (major, minor) } else { (minor, major) };
            *cells.entry(place).or_insert(0.0) += f64::from(values[at]);
        }
    }
    cells.retain(|_, value| *value != 0.0);
    cells
}

#[test]
fn both_views_are_the_matrix_of_the_published_library() {
    let root = fixtures();
    let folder = tempfile::tempdir().unwrap();
    for fixture in WHOLE {
        let source = open(&root.join(fixture).join("graph.annnet.d")).unwrap();
        let place = folder.path().join(fixture);
        write(&source, &place, &cached(), 3).unwrap();
        let (csr, csc) = (place.join("cache/csr.zarr"), place.join("cache/csc.zarr"));
        let by_row = cells(&csr, true);
        assert_eq!(by_row.len(), cells(&csc, false).len(), "{fixture}");
        assert!(by_row.iter().zip(cells(&csc, false)).all(|(left, right)| *left.0 == right.0), "{fixture}");
        let expected = expected(&root.join(fixture));
        let group: Value = serde_json::from_slice(&fs::read(csr.join("zarr.json")).unwrap()).unwrap();
        assert_eq!(group["attributes"]["shape"], expected["shape"], "{fixture}");
        let ids = column_of_edges(&place, &numbers(&csc.join("row"), i64::from_le_bytes));
        let own = by_row.iter().map(|((row, column), value)| {
            let entity = &expected["entities"][*row];
            format!("{} {} {} {}", entity[0], entity[1], ids[*column], *value as f32)
        });
        let theirs = expected["incidence"].as_array().unwrap().iter().map(|cell| {
            let value = cell[2].as_f64().unwrap_or(f64::NAN) as f32;
            format!("{} {} {} {value}", cell[0][0], cell[0][1], cell[1].as_str().unwrap())
        });
        let (mut own, mut theirs): (Vec<String>, Vec<String>) = (own.collect(), theirs.collect());
        own.sort();
        theirs.sort();
        assert_eq!(own, theirs, "{fixture}");
    }
}

/// Ids of the edges in some rows of the table.
fn column_of_edges(graph: &Path, rows: &[i64]) -> Vec<String> {
    use isomorph_storage::{Blob, Location};
    use isomorph_tables::{Encoding, ReadOptions, TableReader};
    let blob = Blob::open(&Location::from_path(&graph.join("structure/edges.parquet"))).unwrap();
    let table = TableReader::open(blob, Encoding::Parquet, &ReadOptions::default()).unwrap();
    let rows: Vec<_> = rows.iter().map(|row| *row as u64..*row as u64 + 1).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let ids = table.read_rows(&["edge_id"], &rows).unwrap();
    ids.column(0).as_string::<i32>().iter().flatten().map(str::to_owned).collect()
}

/// Returns every edge that a look-up finds, for each node and side.
fn found(annnet: &Annnet) -> Vec<Vec<String>> {
    let nodes = annnet.graph().nodes[0].rows.unwrap();
    let look = |(node, side)| {
        lines(annnet.neighbors(0, NodeId::Row(node), side).and_then(isomorph_model::part::edge_batches).unwrap())
    };
    (0..nodes).flat_map(|node| [(node, Side::Out), (node, Side::In)]).map(look).collect()
}

/// Id, ends, direction, layers and values of edges, as text.
fn lines(batches: Vec<EdgeBatch>) -> Vec<String> {
    let text = |ends: &Ends| match ends {
        Ends::Keys(keys) => keys.as_string::<i32>().value(0).to_owned(),
        Ends::Rows(_) => panic!("ends are keys"),
    };
    let mut lines = Vec::new();
    for batch in batches {
        for row in 0..batch.rows {
            let one = batch.slice(row, 1);
            let id = one.keys.as_ref().unwrap().as_string::<i32>().value(0);
            let values: Vec<_> =
                one.properties.iter().map(|column| column.as_ref().map_or("null".to_owned(), text_of)).collect();
            let layers = one.layers.as_ref().map(|(source, target)| (text_of(source), text_of(target)));
            let directed = one.directed.as_ref().map(|directed| directed.value(0));
            lines.push(format!("{id} {:?} {directed:?} {layers:?} {values:?}", (text(&one.source), text(&one.target))));
        }
    }
    lines.sort();
    lines
}

/// A single value; a null is shown even if its column is absent.
fn text_of(column: &arrow_array::ArrayRef) -> String {
    match column.is_null(0) {
        true => "null".to_owned(),
        false => format!("{:?}", column.slice(0, 1)).lines().map(str::trim).collect(),
    }
}

#[test]
fn look_ups_by_the_cache_find_what_a_pass_finds() {
    let root = fixtures();
    let folder = tempfile::tempdir().unwrap();
    for fixture in WHOLE {
        let source = open(&root.join(fixture).join("graph.annnet.d")).unwrap();
        let (with, without) = (folder.path().join(fixture), folder.path().join(format!("{fixture}-plain")));
        write(&source, &with, &cached(), 5).unwrap();
        write(&source, &without, &WriteOptions { cache: false, ..cached() }, 5).unwrap();
        assert_eq!(found(&open(&with).unwrap()), found(&open(&without).unwrap()), "{fixture}");
    }
}

#[test]
fn a_cache_that_does_not_fit_is_not_used() {
    let root = fixtures();
    let folder = tempfile::tempdir().unwrap();
    let source = open(&root.join("everything_flat/graph.annnet.d")).unwrap();
    let place = folder.path().join("graph");
    write(&source, &place, &cached(), 5).unwrap();
    let right = found(&open(&place).unwrap());
    assert!(right.iter().any(|lines| !lines.is_empty()));
    // Without its chunks, the array is full of zeros: no row has an entry, and look-ups rely on it.
    let starts = place.join("cache/csr.zarr/indptr/c");
    let chunks = fs::read(starts.join("0")).unwrap();
    fs::remove_dir_all(&starts).unwrap();
    assert!(found(&open(&place).unwrap()).iter().all(Vec::is_empty));
    // A chunk that is too short, or that points beyond the edges: the tables are used.
    fs::create_dir_all(&starts).unwrap();
    fs::write(starts.join("0"), &chunks[..chunks.len() / 2]).unwrap();
    assert_eq!(found(&open(&place).unwrap()), right);
    let beyond: Vec<u8> = (0..chunks.len() as i64 / 8).flat_map(|row| (row << 40).to_le_bytes()).collect();
    fs::write(starts.join("0"), beyond).unwrap();
    assert_eq!(found(&open(&place).unwrap()), right);
    // The graph has changed since, by its counter or by a file.
    fs::remove_dir_all(&starts).unwrap();
    let counted = folder.path().join("counted");
    copy(&place, &counted);
    let manifest = fs::read_to_string(counted.join("manifest.json")).unwrap();
    let version = manifest.lines().find(|line| line.contains("\"graph_version\"")).unwrap().to_owned();
    fs::write(counted.join("manifest.json"), manifest.replace(&version, "  \"graph_version\": 4711,")).unwrap();
    assert_eq!(found(&open(&counted).unwrap()), right);
    let other = folder.path().join("other");
    write(&source, &other, &WriteOptions { compression: Compression::Zstd(1), ..cached() }, 5).unwrap();
    fs::copy(other.join("structure/edges.parquet"), place.join("structure/edges.parquet")).unwrap();
    assert_eq!(found(&open(&place).unwrap()), right);
}

#[test]
fn a_graph_that_is_there_gets_its_cache() {
    let root = fixtures();
    let folder = tempfile::tempdir().unwrap();
    let source = open(&root.join("everything_multilayer/graph.annnet.d")).unwrap();
    let (place, whole) = (folder.path().join("graph"), folder.path().join("whole"));
    write(&source, &place, &WriteOptions { cache: false, ..cached() }, 5).unwrap();
    write(&source, &whole, &cached(), 5).unwrap();
    // Remains of older views must not be used as chunks of the new ones.
    let stale = place.join("cache/csr.zarr/side/c");
    fs::create_dir_all(&stale).unwrap();
    fs::write(stale.join("7"), [1; 8]).unwrap();
    let location = isomorph_storage::Location::from_path(&place);
    let wrote = write_cache(&location, &cached()).unwrap();
    let built = files(&place.join("cache"));
    assert_eq!((wrote.files, &built), (built.len() as u64, &files(&whole.join("cache"))));
    assert_eq!(write_cache(&location, &cached()).unwrap().files, wrote.files);
    assert_eq!(files(&place.join("cache")), built);
}

/// Names and contents of all files below a directory.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => waiting.push(path),
                false => {
                    let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
    }
    found
}

#[test]
fn look_ups_need_no_open_graph() {
    let root = fixtures();
    let folder = tempfile::tempdir().unwrap();
    for fixture in ["everything_flat", "everything_multilayer", "plain_directed", "attr_types"] {
        let source = open(&root.join(fixture).join("graph.annnet.d")).unwrap();
        let place = folder.path().join(fixture);
        write(&source, &place, &cached(), 5).unwrap();
        let location = isomorph_storage::Location::from_path(&place);
        let look_ups = LookUps::open(&location, &OpenOptions::default()).unwrap();
        let whole = open(&place).unwrap();
        let direct = look_ups.scan(&Request::of(Tables::All)).is_err();
        let has_coefficients = place.join("structure/edge_coeffs.parquet").exists();
        assert!(direct || has_coefficients || !whole.graph().hyperedges.is_empty(), "{fixture}");
        let ids: Vec<String> = keys_of(&whole);
        for id in &ids {
            for side in [Side::Out, Side::In] {
                let ask = |source: &dyn Source| {
                    lines(
                        source
                            .neighbors(0, NodeId::Key(id), side)
                            .and_then(isomorph_model::part::edge_batches)
                            .unwrap(),
                    )
                };
                assert_eq!(ask(look_ups.as_ref()), ask(&whole), "{fixture} {id}");
            }
        }
        let missing = look_ups.neighbors(0, NodeId::Key("nobody"), Side::Out).err().unwrap();
        assert_eq!(missing.kind(), Kind::NotFound);
        let (own, all) = (&look_ups.graph().edges[0], &whole.graph().edges[0]);
        assert_eq!((&own.properties, &own.key, own.layered), (&all.properties, &all.key, all.layered));
    }
}

fn keys_of(annnet: &Annnet) -> Vec<String> {
    let mut keys = Vec::new();
    for mut part in annnet.scan(&Request::of(Tables::NodeKeys(0))).unwrap() {
        part.read(&mut |batch| {
            if let Batch::Nodes(nodes) = batch {
                keys.extend(nodes.keys.unwrap().as_string::<i32>().iter().flatten().map(str::to_owned));
            }
            Ok(())
        })
        .unwrap();
    }
    keys
}

#[test]
fn archives_and_the_layout_of_the_text_have_views_as_well() {
    let root = fixtures();
    let folder = tempfile::tempdir().unwrap();
    for fixture in ["everything_flat", "everything_multilayer", "empty"] {
        let source = open(&root.join(fixture).join("graph.annnet.d")).unwrap();
        let expected = found(&source);
        for layout in WriteLayout::ALL {
            for archive in [false, true] {
                let name = format!("{fixture}-{layout}{}", if archive { ".annnet" } else { "" });
                let (with, later) = (folder.path().join(&name), folder.path().join(format!("later-{name}")));
                let options = WriteOptions { layout, archive, ..common::write::options() };
                let both = WriteOptions { cache: true, ..options.clone() };
                write(&source, &with, &both, 5).unwrap();
                write(&source, &later, &options, 5).unwrap();
                let before = open(&later).unwrap().graph().clone();
                write_cache(&isomorph_storage::Location::from_path(&later), &both).unwrap();
                // Once more, replacing the first ones.
                write_cache(&isomorph_storage::Location::from_path(&later), &both).unwrap();
                for place in [&with, &later] {
                    let annnet = open(place).unwrap();
                    assert!(annnet.has_views().unwrap(), "{name}");
                    assert_eq!(annnet.graph().documents, before.documents, "{name}");
                    assert_eq!(found(&annnet), expected, "{name}");
                    let mut findings = Findings::default();
                    annnet.validate(&mut findings).unwrap();
                    assert!(findings.by_rule().all(|(_, kept)| !kept[0].rule.id.contains("VIEWS")), "{name}");
                }
                if !archive && layout == WriteLayout::Specification {
                    let list = fs::read_to_string(with.join("audit/checksums.sha256")).unwrap();
                    assert!(!list.contains("cache/"), "views are no part of what the checksum stands for");
                }
            }
        }
    }
}

#[test]
fn validation_finds_views_that_are_stale_or_wrong() {
    let root = fixtures();
    let folder = tempfile::tempdir().unwrap();
    let source = open(&root.join("everything_flat/graph.annnet.d")).unwrap();
    let place = folder.path().join("graph");
    write(&source, &place, &cached(), 5).unwrap();
    let broken = |place: &Path| -> Vec<&'static str> {
        let mut findings = Findings::default();
        open(place).unwrap().validate(&mut findings).unwrap();
        findings.by_rule().map(|(_, kept)| kept[0].rule.id).filter(|id| id.contains("VIEWS")).collect()
    };
    assert!(broken(&place).is_empty());
    let columns = place.join("cache/csr.zarr/indices/c/0");
    let sound = fs::read(&columns).unwrap();
    let mut wrong = sound.clone();
    wrong[0] ^= 1;
    fs::write(&columns, &wrong).unwrap();
    assert_eq!(broken(&place), ["ANNNET-VIEWS"]);
    fs::write(&columns, &sound[..3]).unwrap();
    assert_eq!(broken(&place), ["ANNNET-VIEWS"], "a chunk that is cut short");
    fs::write(&columns, &sound).unwrap();
    fs::remove_file(place.join("cache/csc.zarr/row/zarr.json")).unwrap();
    assert_eq!(broken(&place), ["ANNNET-VIEWS"], "an array that is missing");
    let manifest = fs::read_to_string(place.join("manifest.json")).unwrap();
    let version = manifest.lines().find(|line| line.contains("\"graph_version\"")).unwrap().to_owned();
    fs::write(place.join("manifest.json"), manifest.replace(&version, "  \"graph_version\": 4711,")).unwrap();
    assert_eq!(broken(&place), ["ANNNET-VIEWS-STALE"]);
    // A change removes them, and they are built again.
    let done = change(&place, &Changes { history: Some("{}".into()), ..Changes::default() }).unwrap();
    assert_eq!(done.removed, ["cache"]);
    assert!(broken(&place).is_empty());
    write_cache(&isomorph_storage::Location::from_path(&place), &cached()).unwrap();
    assert!(broken(&place).is_empty() && open(&place).unwrap().has_views().unwrap());
}
