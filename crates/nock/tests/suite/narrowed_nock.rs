//! Scans with columns or a filter return the same as checking each row.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float32Array, Int32Array, Int64Array, RecordBatch, StringArray};
use common::open_bytes;
use isomorph_model::predicate::Renamed;
use isomorph_model::{Batch, Comparison, DynamicFilter, Ends, Literal, Narrowing, Predicate, Request, Source, Tables};
use isomorph_nock::{Nock, OpenOptions};
use isomorph_tables::{Encoding, TableWriter, WriteOptions};

const ROWS: usize = 3000;

/// Nodes, each of which may be repeated, and edges between them, in a file of several row groups; all with the further columns `x` (sorted)
/// and `y`.
fn graph() -> Nock {
    graph_in_pieces(OpenOptions::default().piece_rows)
}

/// The same, read in pieces of about so many rows.
fn graph_in_pieces(rows_of_a_piece: u64) -> Nock {
    let mut state = 5u64;
    let mut random = move |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let rows: Vec<(String, i32, String)> = (0..ROWS)
        .map(|row| {
            let name = format!("n{:04}", if random(5) == 0 { random(ROWS / 2) } else { row / 2 });
            match random(2) {
                0 => (name, -1, String::new()),
                _ => (name, row as i32, format!("n{:04}", random(ROWS / 2))),
            }
        })
        .collect();
    let texts = |of: &dyn Fn(&(String, i32, String)) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
    };
    let y: Vec<Option<i64>> = (0..ROWS).map(|_| (random(4) > 0).then(|| random(50) as i64)).collect();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("src_name", texts(&|row| &row.0)),
        ("edge_id", Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.1)))),
        ("rel_name", texts(&|row| if row.1 < 0 { "" } else { "r" })),
        ("dst_name", texts(&|row| &row.2)),
        ("truth", Arc::new(Float32Array::from_iter_values((0..ROWS).map(|row| row as f32 / ROWS as f32)))),
        ("shadow", Arc::new(Int32Array::from_iter_values((0..ROWS).map(|_| -1)))),
        ("is_rdf", Arc::new(BooleanArray::from(vec![false; ROWS]))),
        ("labels", texts(&|row| if row.1 < 0 { "A" } else { "" })),
        ("props", texts(&|_| "")),
        ("x", Arc::new(Int64Array::from_iter_values(0..ROWS as i64))),
        ("y", Arc::new(Int64Array::from(y))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let options = WriteOptions { row_group_rows: 700, page_rows: 50, ..WriteOptions::default() };
    let mut writer = TableWriter::create(Vec::new(), Encoding::Parquet, &batch.schema(), &options).unwrap();
    writer.write(&batch).unwrap();
    open_bytes(writer.finish().unwrap().0, &OpenOptions::default().piece_rows(rows_of_a_piece)).unwrap()
}

/// Returns whether a row is wanted, by `x`, `y` and its key.
type Passes = dyn Fn(Option<i64>, Option<i64>, &str) -> bool;

type Cells = Vec<(String, String, Option<i64>, Option<i64>)>;

/// Returns key or ends, `x` and `y` of the rows that pass, without nodes that only edges mention.
fn read(nock: &Nock, request: &Request, passes: &Passes) -> Cells {
    let edges = matches!(request.tables, Tables::Edges(_));
    let names: Vec<&str> = match edges {
        true => nock.graph().edges[0].properties.iter().map(|property| property.name.as_str()).collect(),
        false => nock.graph().nodes[0].properties.iter().map(|property| property.name.as_str()).collect(),
    };
    let at = |name: &str| names.iter().position(|own| *own == name).unwrap();
    let mut found = Vec::new();
    for batch in nock.scan(request).unwrap().into_iter().flatten().map(Result::unwrap) {
        let (keys, targets, columns) = match batch {
            Batch::Nodes(nodes) => (nodes.keys.unwrap(), None, nodes.properties),
            Batch::Edges(edges) => match (edges.source, edges.target) {
                (Ends::Keys(source), Ends::Keys(target)) => (source, Some(target), edges.properties),
                _ => panic!("ends as rows"),
            },
            _ => continue,
        };
        let cells = |name: &str| -> Vec<Option<i64>> {
            match &columns[at(name)] {
                Some(column) => column.as_primitive::<Int64Type>().iter().collect(),
                None => vec![None; keys.len()],
            }
        };
        let (x, y) = (cells("x"), cells("y"));
        for row in 0..keys.len() {
            let key = keys.as_string::<i32>().value(row).to_owned();
            let target = targets.as_ref().map_or("", |targets| targets.as_string::<i32>().value(row)).to_owned();
            if passes(x[row], y[row], &key) {
                found.push((key, target, x[row], y[row]));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn rows_that_a_filter_excludes_need_not_be_read() {
    let nock = graph();
    let compare = |name: &str, comparison, value: i64| Predicate::compare(name, comparison, value);
    let cases: Vec<(Predicate, Box<Passes>)> = vec![
        (compare("x", Comparison::GreaterOrEqual, 2900), Box::new(|x, _, _| x >= Some(2900))),
        (compare("x", Comparison::Less, 2000), Box::new(|x, _, _| x.is_some_and(|x| x < 2000))),
        (compare("y", Comparison::Equal, 7), Box::new(|_, y, _| y == Some(7))),
        (
            Predicate::And(vec![Predicate::IsNull("y".into()), compare("x", Comparison::Less, 60)]),
            Box::new(|x, y, _| y.is_none() && x.is_some_and(|x| x < 60)),
        ),
        (compare("x", Comparison::Less, -1), Box::new(|_, _, _| false)),
    ];
    for tables in [Tables::Nodes(0), Tables::Edges(0)] {
        let edges = tables == Tables::Edges(0);
        let properties = match edges {
            true => nock.graph().edges[0].properties.clone(),
            false => nock.graph().nodes[0].properties.clone(),
        };
        let wanted = (0..properties.len()).filter(|at| ["x", "y"].contains(&properties[*at].name.as_str())).collect();
        for (filter, passes) in &cases {
            let all = read(&nock, &Request::of(tables), passes.as_ref());
            for batch_rows in [1, 64, 65_536] {
                let narrowing =
                    Narrowing { properties: Vec::clone(&wanted), filter: Some(filter.clone()), ..Narrowing::least() };
                let request = Request::of(tables).in_batches_of(batch_rows).narrowed(narrowing);
                assert_eq!(read(&nock, &request, passes.as_ref()), all, "{tables:?} {filter:?}");
            }
        }
    }
    let by_key = Predicate::equal(Narrowing::KEY, Literal::Text("n0100".to_owned()));
    let narrowing = Narrowing { filter: Some(by_key), ..Narrowing::least() };
    let request = Request::of(Tables::Nodes(0)).narrowed(narrowing);
    let is_it = |_: Option<i64>, _: Option<i64>, key: &str| key == "n0100";
    let all = read(&nock, &Request::of(Tables::Nodes(0)), &is_it);
    let found = read(&nock, &request, &is_it);
    assert_eq!(found.len(), 1);
    assert_eq!((&found[0].0, found[0].2), (&all[0].0, None), "what is not asked for is not there");
}

#[test]
fn a_filter_that_narrows_during_a_scan_leaves_out_the_pieces_behind_it() {
    let nock = graph_in_pieces(500);
    for tables in [Tables::Nodes(0), Tables::Edges(0)] {
        let properties = match tables {
            Tables::Nodes(_) => &nock.graph().nodes[0].properties,
            _ => &nock.graph().edges[0].properties,
        };
        let x = properties.iter().position(|property| property.name == "x").unwrap();
        let filter = DynamicFilter::new(["x"]);
        let known = Renamed::new(&filter, &mut |name| Some(name.to_owned()));
        let wanted = Narrowing { properties: vec![x], dynamic: vec![known], ..Narrowing::least() };
        let request = Request::of(tables).narrowed(wanted);
        let mut all = Vec::new();
        let mut found = Vec::new();
        let values = |batch: Batch| -> Vec<i64> {
            let columns = match batch {
                Batch::Nodes(nodes) => nodes.properties,
                Batch::Edges(edges) => edges.properties,
                _ => panic!("neither nodes nor edges"),
            };
            columns[x].iter().flat_map(|column| column.as_primitive::<Int64Type>().iter().flatten()).collect()
        };
        for part in nock.scan(&request).unwrap() {
            all.extend(part.flat_map(|batch| values(batch.unwrap())));
        }
        for (at, part) in nock.scan(&request).unwrap().into_iter().enumerate() {
            found.extend(part.flat_map(|batch| values(batch.unwrap())));
            if at == 0 {
                assert!(
                    !found.is_empty() && found.len() < all.len() / 3,
                    "{tables:?}: {} of {}",
                    found.len(),
                    all.len()
                );
                filter.narrow(Predicate::compare("x", Comparison::GreaterOrEqual, 2950)).unwrap();
            }
        }
        let first = found.iter().take_while(|x| **x < 2950).count();
        assert_eq!(found[..first], all[..first], "{tables:?}");
        let passing: Vec<i64> = all.iter().copied().filter(|x| *x >= 2950).collect();
        assert_eq!(found[first..], passing, "{tables:?}");
        assert!(first < all.len() / 3 && !passing.is_empty(), "{tables:?}: {first} of {}", all.len());
    }
}
