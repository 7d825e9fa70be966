//! Look-ups return the same as a scan.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use isomorph_error::Kind;
use isomorph_graphar::info::{AdjListType, FileType};
use isomorph_graphar::lookup::Match;
use isomorph_graphar::{GraphAr, OpenOptions, WriteOptions};
use isomorph_model::{Batch, EdgeBatch, Ends, NodeBatch, NodeId, Request, Side, Source, Tables};
use isomorph_storage::Location;
use support::pump::write_as;
use support::social::social;

const PEOPLE: usize = 60;

fn written(write: &WriteOptions) -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("social");
    let graph = social(PEOPLE);
    let write = WriteOptions { vertex_chunk: Some(16), edge_chunk: Some(10), ..write.clone() };
    write_as(&graph, &graph.graph, &write, &Location::from_path(&path), 1000).unwrap();
    (home, path)
}

fn rows(ends: &Ends) -> Vec<u64> {
    match ends {
        Ends::Rows(rows) => rows.values().to_vec(),
        Ends::Keys(_) => panic!("ends as keys"),
    }
}

/// An edge: its ends, weight bits and note.
type Edge = (u64, u64, Option<u64>, Option<String>);

fn edges(batch: &EdgeBatch) -> Vec<Edge> {
    let weights =
        batch.properties.first().and_then(Option::as_ref).map(|array| array.as_primitive::<Float64Type>().clone());
    let notes = batch.properties.get(1).and_then(Option::as_ref).map(|array| array.as_string::<i32>().clone());
    let (source, target) = (rows(&batch.source), rows(&batch.target));
    (0..batch.rows)
        .map(|row| {
            let weight = weights.iter().flat_map(|array| array.iter().nth(row)).flatten().next().map(f64::to_bits);
            let note = notes.iter().flat_map(|array| array.iter().nth(row)).flatten().next().map(str::to_owned);
            (source[row], target[row], weight, note)
        })
        .collect()
}

/// Returns every edge of type 0 by its end.
fn expected(graph: &GraphAr, side: Side) -> BTreeMap<u64, Vec<Edge>> {
    let mut by_end: BTreeMap<u64, Vec<Edge>> = BTreeMap::new();
    for mut part in graph.scan(&Request::of(Tables::Edges(0))).unwrap() {
        part.read(&mut |batch| {
            let Batch::Edges(batch) = batch else { panic!("not edges") };
            for edge in edges(&batch) {
                by_end.entry(if side == Side::Out { edge.0 } else { edge.1 }).or_default().push(edge);
            }
            Ok(())
        })
        .unwrap();
    }
    by_end.values_mut().for_each(|edges| edges.sort());
    by_end
}

fn sorted(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.sort();
    edges
}

fn check_neighbors(path: &Path) {
    let graph = support::open(path, &OpenOptions::default());
    let people = match graph.scan(&Request::of(Tables::Nodes(0))) {
        Ok(parts) => parts.iter().map(|part| part.rows().unwrap()).sum::<u64>(),
        Err(error) => panic!("{error:?}"),
    };
    for side in [Side::Out, Side::In] {
        let expected = expected(&graph, side);
        for row in 0..people {
            let found =
                graph.neighbors(0, NodeId::Row(row), side).and_then(isomorph_model::part::edge_batches).unwrap();
            let found = sorted(found.iter().flat_map(edges).collect());
            assert_eq!(found, expected.get(&row).cloned().unwrap_or_default(), "{row} {side:?}");
        }
        // Backwards and twice.
        let asked: Vec<u64> = (0..people).rev().chain([3, 3]).collect();
        let found = graph.neighbors_batch(0, &asked, side).unwrap();
        let all = edges(&found.edges);
        for (position, row) in asked.iter().enumerate() {
            let own = sorted(all[found.of(position)].to_vec());
            assert_eq!(own, expected.get(row).cloned().unwrap_or_default(), "{row} {side:?}");
        }
    }
    let beyond = graph.neighbors(0, NodeId::Row(people), Side::Out).unwrap_err();
    assert_eq!(beyond.kind(), Kind::NotFound);
}

#[test]
fn neighbours_are_those_of_a_scan_whatever_the_lists() {
    use AdjListType::{OrderedByDest, OrderedBySource, UnorderedByDest, UnorderedBySource};
    for lists in
        [vec![OrderedBySource, OrderedByDest], vec![OrderedBySource], vec![UnorderedByDest], vec![UnorderedBySource]]
    {
        let (_home, path) = written(&WriteOptions { adjacency: Some(lists), ..WriteOptions::default() });
        check_neighbors(&path);
    }
}

#[test]
fn neighbours_are_those_of_a_scan_whatever_the_file_type() {
    for file_type in [FileType::Csv, FileType::Json, FileType::Orc] {
        let (_home, path) = written(&WriteOptions { file_type: Some(file_type), ..WriteOptions::default() });
        check_neighbors(&path);
    }
}

#[test]
fn neighbours_in_foreign_files_are_found() {
    let Some(samples) = support::samples() else { return };
    // 32-bit offsets; parallel edges.
    let graph = support::open(&samples.join("nebula/basketballplayergraph.graph.yml"), &OpenOptions::default());
    let serve = graph.graph().edges.iter().position(|ty| ty.relation.fixed() == Some("serve")).unwrap();
    let mut total = 0;
    for row in 0..51 {
        total += graph.neighbors_batch(serve, &[row], Side::Out).unwrap().edges.rows;
    }
    assert_eq!(total, 152);
    let graph = support::open(&samples.join("ldbc_sample/parquet/ldbc_sample.graph.yml"), &OpenOptions::default());
    let all: Vec<u64> = (0..903).collect();
    for side in [Side::Out, Side::In] {
        assert_eq!(graph.neighbors_batch(0, &all, side).unwrap().edges.rows, 6626);
    }
    let found = graph.neighbors(0, NodeId::Key("933"), Side::Out).and_then(isomorph_model::part::edge_batches).unwrap();
    assert!(found.iter().all(|batch| rows(&batch.source).iter().all(|row| *row == 0)));
    assert_eq!(graph.find(0, "1").unwrap_err().kind(), Kind::NotFound);
    assert_eq!(graph.find(0, "x").unwrap_err().kind(), Kind::Usage);
}

/// Returns the rows of node type 0 as text.
fn people(graph: &GraphAr) -> Vec<String> {
    let mut all = Vec::new();
    for mut part in graph.scan(&Request::of(Tables::Nodes(0))).unwrap() {
        part.read(&mut |batch| {
            let Batch::Nodes(batch) = batch else { panic!("not nodes") };
            all.extend((0..batch.rows).map(|row| person(&batch, row)));
            Ok(())
        })
        .unwrap();
    }
    all
}

fn person(batch: &NodeBatch, row: usize) -> String {
    let mut text = format!("{:?}", batch.keys.as_ref().map(|keys| keys.slice(row, 1)));
    text += &format!("{:?}", batch.labels.iter().flat_map(|labels| labels.row(row)).collect::<Vec<_>>());
    for column in &batch.properties {
        text += &format!("{:?}", column.as_ref().map(|column| column.slice(row, 1)));
    }
    text
}

#[test]
fn vertices_are_those_of_a_scan() {
    for file_type in FileType::ALL {
        let (_home, path) = written(&WriteOptions { file_type: Some(file_type), ..WriteOptions::default() });
        let graph = support::open(&path, &OpenOptions::default());
        let all = people(&graph);
        let asked: Vec<u64> = vec![59, 0, 17, 16, 0, 33];
        let found = graph.vertices(0, &asked).unwrap();
        for (at, row) in asked.iter().enumerate() {
            assert_eq!(person(&found, at), all[*row as usize], "{file_type} {row}");
        }
        assert_eq!(graph.vertices(0, &[]).unwrap().rows, 0);
        assert_eq!(graph.vertices(0, &[60]).unwrap_err().kind(), Kind::NotFound);
        for row in [0, 31, 59] {
            assert_eq!(graph.find(0, &(1000 - 7 * row).to_string()).unwrap(), row as u64, "{file_type}");
        }
        assert_eq!(graph.find(1, "2").unwrap(), 2);
        assert_eq!(graph.find(1, "3").unwrap_err().kind(), Kind::NotFound);
        // A number has one spelling.
        for (ty, spelling) in [(0, "01000"), (0, "+1000"), (1, "02"), (1, "+2")] {
            assert_eq!(graph.find(ty, spelling).unwrap_err().kind(), Kind::NotFound, "{spelling:?}");
        }
    }
}

#[test]
fn labels_are_found_without_reading_others() {
    let (_home, path) = written(&WriteOptions::default());
    let graph = support::open(&path, &OpenOptions::default());
    let members = |labels: &[&str], matching| -> Vec<u64> {
        graph.with_labels(0, labels, matching).unwrap().into_iter().flatten().collect()
    };
    let of = |has: fn(u64) -> bool| (0..PEOPLE as u64).filter(|row| has(*row)).collect::<Vec<_>>();
    assert_eq!(members(&["admin"], Match::All), of(|row| row % 3 == 0));
    assert_eq!(members(&["admin", "guest"], Match::All), of(|row| row % 15 == 0));
    assert_eq!(members(&["admin", "guest"], Match::Any), of(|row| row % 3 == 0 || row % 5 == 0));
    assert!(members(&["never"], Match::Any).is_empty());
    assert_eq!(graph.with_labels(0, &["absent"], Match::Any).unwrap_err().kind(), Kind::Usage);
    let Some(samples) = support::samples() else { return };
    let graph = support::open(&samples.join("ldbc/parquet/ldbc.graph.yml"), &OpenOptions::default());
    let organisation = graph.graph().node_type("organisation").unwrap();
    let count = |labels: &[&str]| -> u64 {
        graph.with_labels(organisation, labels, Match::All).unwrap().iter().map(|range| range.end - range.start).sum()
    };
    assert_eq!([count(&["university"]), count(&["company"]), count(&["public"])], [6380, 1575, 10]);
    assert_eq!(count(&["company", "public"]), 5);
}

#[test]
fn broken_offsets_are_noticed() {
    let (_home, path) = written(&WriteOptions { file_type: Some(FileType::Csv), ..WriteOptions::default() });
    let offsets = path.join("edge/person_knows_person/ordered_by_source/offset/chunk0");
    let sound = std::fs::read_to_string(&offsets).unwrap();
    for (from, to, vertex, rule) in [
        ("\n3\n6\n", "\n4\n6\n", 0, "GAR-OFFSET-DEGREE"),
        ("\n3\n6\n", "\n3\n2\n", 1, "GAR-OFFSET-FALLS"),
        ("\n3\n6\n", "\n3\n600\n", 1, "GAR-OFFSET-END"),
        ("\n3\n6\n", "\n-3\n6\n", 1, "GAR-OFFSET-FALLS"),
        // Offsets that miss edges: the last, the first, and all of them.
        ("\n3\n6\n", "\n2\n6\n", 0, "GAR-OFFSET-DEGREE"),
        ("\n3\n6\n", "\n4\n6\n", 1, "GAR-OFFSET-DEGREE"),
        ("\n3\n6\n", "\n0\n6\n", 0, "GAR-OFFSET-DEGREE"),
        ("\n3\n6\n", "\n6\n6\n", 1, "GAR-OFFSET-DEGREE"),
    ] {
        let broken = sound.replacen(from, to, 1);
        assert_ne!(broken, sound);
        std::fs::write(&offsets, broken).unwrap();
        let error = support::open(&path, &OpenOptions::default())
            .neighbors(0, NodeId::Row(vertex), Side::Out)
            .and_then(isomorph_model::part::edge_batches)
            .unwrap_err();
        assert_eq!(error.broken_rule().map(|rule| rule.id), Some(rule), "{to:?}: {error:?}");
        assert!(error.hints().any(|hint| hint.contains("--adjacency ordered_by_dest")), "{error:?}");
    }
    let short: String = sound.lines().take(2).map(|line| format!("{line}\n")).collect();
    std::fs::write(&offsets, short).unwrap();
    let error = support::open(&path, &OpenOptions::default())
        .neighbors(0, NodeId::Row(5), Side::Out)
        .and_then(isomorph_model::part::edge_batches)
        .unwrap_err();
    assert_eq!(error.broken_rule().map(|rule| rule.id), Some("GAR-OFFSET-ROWS"));
}

#[test]
fn chunks_with_too_few_rows_are_noticed() {
    for file_type in [FileType::Parquet, FileType::Csv] {
        let (_home, path) = written(&WriteOptions { file_type: Some(file_type), ..WriteOptions::default() });
        let last = support::files(&path)
            .into_iter()
            .filter(|(name, _)| name.starts_with("vertex/") && name.ends_with("/chunk3"));
        for (name, bytes) in last {
            // Twelve rows, where a full chunk has sixteen.
            std::fs::write(path.join(name.replace("/chunk3", "/chunk0")), bytes).unwrap();
        }
        let graph = support::open(&path, &OpenOptions::default());
        let error = graph.vertices(0, &[14]).unwrap_err();
        assert_eq!(error.broken_rule(), Some(&isomorph_graphar::rules::COUNT_ROWS), "{error:?}");
    }
}

#[test]
fn edge_chunks_and_counts_that_do_not_fit_are_noticed() {
    let base = "edge/person_knows_person";
    let lists = || Some(AdjListType::ALL.to_vec());
    for file_type in FileType::ALL {
        for list in ["ordered_by_source", "unordered_by_source"] {
            let adjacency =
                if list == "ordered_by_source" { lists() } else { Some(vec![AdjListType::UnorderedBySource]) };
            let write = WriteOptions { file_type: Some(file_type), adjacency, ..WriteOptions::default() };
            let rule = |damage: &dyn Fn(&Path)| {
                let (_home, path) = written(&write);
                damage(&path.join(base).join(list));
                let graph = support::open(&path, &OpenOptions::default());
                let error = graph
                    .neighbors(0, NodeId::Row(4), Side::Out)
                    .and_then(isomorph_model::part::edge_batches)
                    .unwrap_err();
                error.broken_rule().map(|rule| rule.id)
            };
            // Vertex 4 has edges 12 to 14 of the 48 of its part, in the second chunk of ten.
            let shorter = |path: &Path| {
                std::fs::copy(path.join("adj_list/part0/chunk4"), path.join("adj_list/part0/chunk1")).unwrap();
            };
            // Text is read only as far as the offsets require.
            let text = matches!(file_type, FileType::Csv | FileType::Json) && list == "ordered_by_source";
            let expected = if text { "GAR-OFFSET-DEGREE" } else { "GAR-COUNT-ROWS" };
            assert_eq!(rule(&shorter), Some(expected), "{file_type} {list}");
            let missing = |path: &Path| std::fs::remove_file(path.join("adj_list/part0/chunk1")).unwrap();
            assert_eq!(rule(&missing), Some("GAR-FILE-MISSING"), "{file_type} {list}");
            let aligned = |path: &Path| std::fs::write(path.join("vertex_count"), 59u64.to_le_bytes()).unwrap();
            assert_eq!(rule(&aligned), Some("GAR-COUNT-ALIGNED"), "{file_type} {list}");
        }
    }
}
