//! A scan compares the offsets of an ordered list with its edges: wrong offsets are an error, wherever they are.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;

use isomorph_error::{Error, Kind};
use isomorph_graphar::{GraphAr, OpenOptions};
use isomorph_model::{Batch, Ends, Narrowing, Predicate, Request, Set, Source, Tables};
use isomorph_storage::Location;

const GRAPH: &str = "name: g\nvertices:\n  - v.vertex.yml\nedges:\n  - v_e_v.edge.yml\nversion: gar/v1\n";
const VERTEX: &str = "type: v\nchunk_size: 6\nprefix: vertex/v/\nversion: gar/v1\n";
const EDGE: &str = "src_type: v\nedge_type: e\ndst_type: v\nchunk_size: 4\nsrc_chunk_size: 6\ndst_chunk_size: 6\n\
    prefix: edge/e/\nadj_lists:\n  - ordered: true\n    aligned_by: src\n    file_type: csv\n    prefix: by/\nversion: gar/v1\n";

/// Writes a graph of `vertices` vertices with edges from `sources`, which are ascending.
fn graph(home: &Path, vertices: u64, sources: &[u64]) {
    fs::write(home.join("g.graph.yml"), GRAPH).unwrap();
    fs::write(home.join("v.vertex.yml"), VERTEX).unwrap();
    fs::write(home.join("v_e_v.edge.yml"), EDGE).unwrap();
    let put = |name: String, bytes: &[u8]| {
        let path = home.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    put("vertex/v/vertex_count".into(), &vertices.to_le_bytes());
    put("edge/e/by/vertex_count".into(), &vertices.to_le_bytes());
    for part in 0..vertices.div_ceil(6) {
        let own: Vec<u64> = sources.iter().copied().filter(|source| source / 6 == part).collect();
        put(format!("edge/e/by/edge_count{part}"), &(own.len() as u64).to_le_bytes());
        for (chunk, sources) in own.chunks(4).enumerate() {
            let rows: String = sources.iter().map(|source| format!("{source},0\n")).collect();
            let text = format!("_graphArSrcIndex,_graphArDstIndex\n{rows}");
            put(format!("edge/e/by/adj_list/part{part}/chunk{chunk}"), text.as_bytes());
        }
        write_offsets(home, part, &offsets(part, vertices, sources));
    }
}

/// Returns the offsets of a part, one more than it has vertices.
fn offsets(part: u64, vertices: u64, sources: &[u64]) -> Vec<i64> {
    let own = sources.iter().filter(|source| **source / 6 == part);
    let own: Vec<u64> = own.copied().collect();
    (part * 6..=(part * 6 + 6).min(vertices)).map(|v| own.iter().filter(|source| **source < v).count() as i64).collect()
}

fn write_offsets(home: &Path, part: u64, offsets: &[i64]) {
    let rows: String = offsets.iter().map(|offset| format!("{offset}\n")).collect();
    let path = home.join(format!("edge/e/by/offset/chunk{part}"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("_graphArOffset\n{rows}")).unwrap();
}

/// Returns the number of edges of a scan whose parts are read in the order `order`.
fn scan(home: &Path, backwards: bool) -> Result<usize, Error> {
    let graph = GraphAr::open(&Location::from_path(home), &OpenOptions::default())?;
    let request = Request::of(Tables::AllEdges).in_batches_of(3);
    let mut parts = graph.scan(&request)?;
    if backwards {
        parts.reverse();
    }
    let mut edges = 0;
    for mut part in parts {
        part.read(&mut |batch| {
            edges += batch.rows();
            Ok(())
        })?;
    }
    Ok(edges)
}

/// Edges in one chunk and several, with gaps at chunk borders, empty parts, and vertices without edges everywhere.
const CASES: &[(u64, &[u64])] = &[
    (6, &[0, 0, 1, 1, 4, 4, 5, 5]),
    (6, &[2, 2, 2, 2, 2, 2, 2, 2, 2]),
    (6, &[0, 1, 2, 3, 4, 5]),
    (4, &[1, 1, 1, 1, 3]),
    (15, &[0, 12, 12, 12, 13, 14, 14]),
    (15, &[8]),
    (12, &[]),
];

/// Everything that may be wrong with offsets.
fn wrong_offsets(right: &[i64]) -> Vec<Vec<i64>> {
    let mut wrong: Vec<Vec<i64>> = Vec::new();
    for at in 0..right.len() {
        for change in [-100, -2, -1, 1, 2, 100] {
            let mut offsets = right.to_vec();
            offsets[at] += change;
            wrong.push(offsets);
        }
    }
    // Shifted, by a row and by one.
    wrong.push([&right[1..], &right[right.len() - 1..]].concat());
    wrong.push([&[0], &right[..right.len() - 1]].concat());
    wrong.push(right.iter().map(|offset| offset + 1).collect());
    // Too few, too many.
    wrong.push(right[..right.len() - 1].to_vec());
    wrong.push(right[..1].to_vec());
    wrong.push(Vec::new());
    wrong.push(right.iter().copied().chain(right.last().copied().into_iter().cycle().take(9)).collect());
    wrong.retain(|wrong| wrong != right);
    wrong
}

/// The sources of the edges of some vertices.
fn edges_of(home: &Path, vertices: &[u64]) -> Result<Vec<u64>, Error> {
    let graph = GraphAr::open(&Location::from_path(home), &OpenOptions::default())?;
    let set = Set::of_ints(vertices.iter().copied().map(i128::from));
    let filter = Some(Predicate::In { column: Narrowing::SOURCE_ROW.to_owned(), set });
    let request = Request::of(Tables::Edges(0)).narrowed(Narrowing { filter, ..Narrowing::least() });
    let mut found = Vec::new();
    for batch in graph.scan(&request)?.into_iter().flatten() {
        let Batch::Edges(edges) = batch? else { panic!("not edges") };
        let Ends::Rows(sources) = edges.source else { panic!("ends as keys") };
        found.extend(sources.values().iter().filter(|source| vertices.contains(source)));
    }
    Ok(found)
}

/// Where the offsets lead away from edges, the edges next to them tell.
#[test]
fn wrong_offsets_leave_no_edge_of_a_vertex_out() {
    let (mut right_answers, mut errors) = (0, 0);
    for (vertices, sources) in CASES {
        let home = tempfile::tempdir().unwrap();
        graph(home.path(), *vertices, sources);
        let asked: Vec<Vec<u64>> = (0..*vertices)
            .map(|vertex| vec![vertex])
            .chain([2, 3, 5].map(|every| (0..*vertices).step_by(every).collect()))
            .chain([(0..*vertices + 3).collect()])
            .collect();
        let expected =
            |asked: &[u64]| -> Vec<u64> { sources.iter().copied().filter(|source| asked.contains(source)).collect() };
        for asked in &asked {
            assert_eq!(edges_of(home.path(), asked).unwrap(), expected(asked), "{sources:?}: {asked:?}");
        }
        for part in 0..vertices.div_ceil(6) {
            let right = offsets(part, *vertices, sources);
            for wrong in wrong_offsets(&right) {
                write_offsets(home.path(), part, &wrong);
                for asked in &asked {
                    match edges_of(home.path(), asked) {
                        Ok(found) => {
                            assert_eq!(found, expected(asked), "{sources:?}, part {part}: {wrong:?}: {asked:?}");
                            right_answers += 1;
                        }
                        Err(error) => {
                            let rule = error.broken_rule().map_or("no rule", |rule| rule.id);
                            assert!(rule.starts_with("GAR-OFFSET-"), "{rule}: {error} for {wrong:?}");
                            errors += 1;
                        }
                    }
                }
            }
            write_offsets(home.path(), part, &right);
        }
    }
    assert!(right_answers > 500 && errors > 500, "{right_answers} right answers, {errors} errors");
}

#[test]
fn every_wrong_offset_is_an_error_in_any_order_of_reading() {
    for (vertices, sources) in CASES {
        let home = tempfile::tempdir().unwrap();
        graph(home.path(), *vertices, sources);
        assert_eq!(scan(home.path(), false).unwrap(), sources.len());
        assert_eq!(scan(home.path(), true).unwrap(), sources.len());
        for part in 0..vertices.div_ceil(6) {
            let right = offsets(part, *vertices, sources);
            if right.len() != 7 {
                let last = *right.last().unwrap();
                let full: Vec<i64> = right.iter().copied().chain(std::iter::repeat(last)).take(7).collect();
                write_offsets(home.path(), part, &full);
                assert_eq!(scan(home.path(), false).unwrap(), sources.len(), "as many as the chunk size are right too");
            }
            for wrong in wrong_offsets(&right) {
                write_offsets(home.path(), part, &wrong);
                for backwards in [false, true] {
                    let error =
                        scan(home.path(), backwards).expect_err(&format!("{sources:?}, part {part}: {wrong:?}"));
                    let rule = error.broken_rule().map_or("no rule", |rule| rule.id);
                    assert!(rule.starts_with("GAR-OFFSET-"), "{rule}: {error} for {wrong:?}");
                    assert_eq!(error.kind(), Kind::Malformed);
                    let place = error.place();
                    assert_eq!(place.file.as_deref(), Some(format!("edge/e/by/offset/chunk{part}").as_str()));
                    assert!(place.row.is_some(), "{error:?}");
                }
            }
            write_offsets(home.path(), part, &right);
        }
    }
}

#[test]
fn missing_offsets_are_an_error() {
    for part in 0..3 {
        let home = tempfile::tempdir().unwrap();
        graph(home.path(), 15, &[0, 12, 12]);
        fs::remove_file(home.path().join(format!("edge/e/by/offset/chunk{part}"))).unwrap();
        let error = scan(home.path(), false).unwrap_err();
        assert_eq!((error.kind(), error.broken_rule().unwrap().id), (Kind::Incomplete, "GAR-FILE-MISSING"));
    }
}
