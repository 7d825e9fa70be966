//! Scans with columns or a filter: nothing else is read, and the result equals that of checking each row.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::support;

use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use isomorph_graphar::info::{AdjListType, FileType};
use isomorph_graphar::write::Grouping;
use isomorph_graphar::{GraphAr, OpenOptions, WriteOptions};
use isomorph_model::predicate::Renamed;
use isomorph_model::{
    Batch, Comparison, DynamicFilter, EdgeBatch, Ends, Literal, Narrowing, NodeBatch, Predicate, Request, Set, Source,
    Tables,
};
use isomorph_storage::Location;
use support::pump::write_as;
use support::social::social;

const AGE: usize = 2;

fn written(people: usize, chunk: u64, grouping: Grouping) -> (tempfile::TempDir, Location) {
    let home = tempfile::tempdir().unwrap();
    let to = Location::from_path(&home.path().join("social"));
    let graph = social(people);
    let write = WriteOptions { vertex_chunk: Some(chunk), grouping: Some(grouping), ..WriteOptions::default() };
    write_as(&graph, &graph.graph, &write, &to, 10_000).unwrap();
    (home, to)
}

/// Returns the batches of a scan, and the number of bytes that it reads.
fn scan(graph: &GraphAr, request: &Request) -> (Vec<Batch>, u64) {
    let before = graph.root().bytes_read();
    let batches = graph.scan(request).unwrap().into_iter().flatten().map(Result::unwrap).collect();
    (batches, graph.root().bytes_read() - before)
}

fn nodes(batches: &[Batch]) -> Vec<&NodeBatch> {
    batches.iter().filter_map(|batch| if let Batch::Nodes(nodes) = batch { Some(nodes) } else { None }).collect()
}

/// Returns row, key and age of each node.
fn people(batches: &[Batch]) -> Vec<(u64, i64, Option<i32>)> {
    let mut people = Vec::new();
    for batch in nodes(batches) {
        let keys = batch.keys.as_ref().unwrap().as_primitive::<Int64Type>();
        let ages = batch.properties[AGE].as_ref().map(|ages| ages.as_primitive::<Int32Type>());
        for at in 0..batch.rows {
            let number = batch.numbers.as_ref().map_or(batch.start + at as u64, |numbers| numbers.value(at));
            let age = ages.filter(|ages| arrow_array::Array::is_valid(ages, at)).map(|ages| ages.value(at));
            people.push((number, keys.value(at), age));
        }
    }
    people
}

fn narrowing(properties: &[usize], filter: Option<Predicate>) -> Narrowing {
    Narrowing { properties: properties.to_vec(), filter, ..Narrowing::least() }
}

/// Keys are 1,000 - 7 · row.
fn last(rows: i128, of: i128) -> Predicate {
    Predicate::compare(Narrowing::KEY, Comparison::LessOrEqual, Literal::Int(1000 - 7 * (of - rows)))
}

#[test]
fn one_percent_of_a_sorted_column_costs_five() {
    const PEOPLE: i128 = 300_000;
    let (_home, at) = written(PEOPLE as usize, 1 << 19, Grouping::Each);
    let graph = GraphAr::open(&at, &OpenOptions::default()).unwrap();
    let names = |filter| scan(&graph, &Request::of(Tables::Nodes(0)).narrowed(narrowing(&[0], filter)));
    let (all, bytes) = names(None);
    let (few, fewer) = names(Some(last(PEOPLE / 100, PEOPLE)));
    assert_eq!(people(&few), people(&all)[297_000..]);
    // Even for one row, footers, page indexes and a page of each column are read.
    let (one, least) = names(Some(last(1, PEOPLE)));
    assert_eq!(people(&one), people(&all)[299_999..]);
    assert!((fewer - least) * 20 <= bytes - least, "{fewer} of {bytes} bytes, {least} for one row");
}

#[test]
fn columns_that_are_not_asked_for_are_not_read() {
    for grouping in [Grouping::One, Grouping::Each] {
        let (_home, at) = written(30_000, 30_000, grouping);
        let graph = GraphAr::open(&at, &OpenOptions::default()).unwrap();
        let (whole, bytes) = scan(&graph, &Request::of(Tables::Nodes(0)));
        let (some, fewer) = scan(&graph, &Request::of(Tables::Nodes(0)).narrowed(narrowing(&[AGE], None)));
        assert_eq!(people(&some), people(&whole));
        let is_age = |batch: &&NodeBatch| batch.properties.iter().map(Option::is_some).eq((0..8).map(|at| at == AGE));
        assert!(nodes(&some).iter().all(is_age) && nodes(&some).iter().all(|batch| batch.labels.is_none()));
        assert!(fewer * 2 < bytes, "{fewer} of {bytes} bytes");
        let nothing = Narrowing { keys: false, ..Narrowing::least() };
        let (none, fewest) = scan(&graph, &Request::of(Tables::Nodes(0)).narrowed(nothing));
        assert_eq!(nodes(&none).iter().map(|batch| batch.rows).sum::<usize>(), 30_000);
        assert!(nodes(&none).iter().all(|batch| batch.keys.is_none()) && fewest < fewer, "{fewest} of {fewer} bytes");
    }
}

#[test]
fn rows_have_the_numbers_that_they_have_in_the_whole() {
    let (_home, at) = written(3000, 1000, Grouping::Each);
    let graph = GraphAr::open(&at, &OpenOptions::default()).unwrap();
    let all = people(&scan(&graph, &Request::of(Tables::Nodes(0))).0);
    let any_of =
        |ages: &[i128]| Predicate::Or(ages.iter().map(|age| Predicate::equal("age", Literal::Int(*age))).collect());
    for batch_rows in [1, 7, 65_536] {
        for filter in [any_of(&[3, 600, 601, 602, 999, 2200, 2993]), any_of(&[]), any_of(&[-77])] {
            let both = Predicate::And(vec![Predicate::IsNotNull("born".to_owned()), filter.clone()]);
            let request = Request::of(Tables::Nodes(0)).in_batches_of(batch_rows);
            let (found, _) = scan(&graph, &request.narrowed(narrowing(&[AGE, 4], Some(both))));
            let Predicate::Or(wanted) = &filter else { panic!() };
            let wanted = |age: Option<i32>| {
                let equal = |age: i32| Predicate::equal("age", Literal::Int(age.into()));
                age.is_some_and(|age| wanted.contains(&equal(age)))
            };
            // Birthdays are null in every fifth row of the file, which is the row of age + 5.
            let is_wanted = |(_, _, age): &&(u64, i64, Option<i32>)| wanted(*age) && (age.unwrap() + 5) % 5 != 0;
            let expected: Vec<_> = all.iter().filter(is_wanted).copied().collect();
            assert_eq!(people(&found), expected, "{filter:?}");
        }
    }
}

#[test]
fn edges_are_narrowed_as_well() {
    let (_home, at) = written(20_000, 20_000, Grouping::Each);
    let graph = GraphAr::open(&at, &OpenOptions::default()).unwrap();
    let weights = |batches: &[Batch]| -> Vec<(u64, u64, Option<u64>)> {
        let of = |edges: &EdgeBatch| {
            let ends = |ends: &isomorph_model::Ends| match ends {
                isomorph_model::Ends::Rows(rows) => rows.clone(),
                isomorph_model::Ends::Keys(_) => panic!("ends as keys"),
            };
            let (source, target) = (ends(&edges.source), ends(&edges.target));
            let weights = edges.properties[0].clone();
            (0..edges.rows)
                .map(|at| {
                    let weights = weights.as_ref().unwrap().as_primitive::<arrow_array::types::Float64Type>();
                    let weight = arrow_array::Array::is_valid(weights, at).then(|| weights.value(at).to_bits());
                    (source.value(at), target.value(at), weight)
                })
                .collect::<Vec<_>>()
        };
        batches
            .iter()
            .filter_map(|batch| if let Batch::Edges(edges) = batch { Some(edges) } else { None })
            .flat_map(of)
            .collect()
    };
    let (all, bytes) = scan(&graph, &Request::of(Tables::Edges(0)));
    let all = weights(&all);
    let some = f64::from_bits(all.iter().rev().find_map(|(_, _, weight)| *weight).unwrap());
    let filter = Predicate::equal("weight", Literal::Float(some));
    let (found, fewer) = scan(&graph, &Request::of(Tables::Edges(0)).narrowed(narrowing(&[0], Some(filter))));
    let expected: Vec<_> = all.iter().filter(|(_, _, weight)| *weight == Some(some.to_bits())).copied().collect();
    assert!(!expected.is_empty() && expected.len() * 2 < all.len());
    assert_eq!(weights(&found), expected);
    assert!(fewer < bytes, "{fewer} of {bytes} bytes");
}

/// A chunk that is read completely is between others that are read partially: the ends of these are unknown.
#[test]
fn offsets_are_not_compared_with_chunks_that_are_read_in_part() {
    let home = tempfile::tempdir().unwrap();
    let at = Location::from_path(&home.path().join("social"));
    let source = social(60);
    let write = WriteOptions { vertex_chunk: Some(64), edge_chunk: Some(10), ..WriteOptions::default() };
    write_as(&source, &source.graph, &write, &at, 1000).unwrap();
    let graph = GraphAr::open(&at, &OpenOptions::default()).unwrap();
    let weights = |request: &Request| -> Vec<f64> {
        let mut found = Vec::new();
        for batch in scan(&graph, request).0 {
            let Batch::Edges(edges) = batch else { panic!("not edges") };
            let weights = edges.properties[0].as_ref().unwrap();
            found.extend(weights.as_primitive::<arrow_array::types::Float64Type>().iter().flatten());
        }
        found
    };
    let all = weights(&Request::of(Tables::Edges(0)));
    for least in &all {
        let filter = Predicate::compare("weight", Comparison::GreaterOrEqual, *least);
        let mut found = weights(&Request::of(Tables::Edges(0)).narrowed(narrowing(&[0], Some(filter))));
        found.retain(|weight| weight >= least);
        assert_eq!(found, all.iter().copied().filter(|weight| weight >= least).collect::<Vec<_>>());
    }
}

#[test]
fn a_file_of_other_rows_is_found_also_where_rows_are_left_out() {
    let (home, at) = written(3000, 1000, Grouping::Each);
    let chunks = |folder: &Path| {
        let mut found: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    };
    // The last chunk of `age` replaces another with the same number of rows, and one with another number.
    let (_other_home, other) = written(3001, 1000, Grouping::Each);
    let graph = GraphAr::open(&other, &OpenOptions::default()).unwrap();
    drop(graph);
    let age = |at: &Path| {
        let mut folders = Vec::new();
        let mut waiting = vec![at.to_path_buf()];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    if entry.file_name().is_some_and(|name| name == "age") {
                        folders.push(entry.clone());
                    }
                    waiting.push(entry);
                }
            }
        }
        assert_eq!(folders.len(), 1, "{folders:?}");
        folders.remove(0)
    };
    let small = chunks(&age(&_other_home.path().join("social"))).pop().unwrap();
    std::fs::copy(small, chunks(&age(&home.path().join("social"))).remove(1)).unwrap();
    let filter = Predicate::equal("age", Literal::Int(1500));
    let graph = GraphAr::open(&at, &OpenOptions::default()).unwrap();
    let request = Request::of(Tables::Nodes(0)).narrowed(narrowing(&[AGE], Some(filter)));
    let error = graph.scan(&request).unwrap().into_iter().flatten().find_map(Result::err).unwrap();
    assert_eq!(error.broken_rule().unwrap().id, isomorph_graphar::rules::COUNT_ROWS.id, "{error}");
}

fn among(column: &str, rows: &[u64]) -> Option<Predicate> {
    let set = Set::of_ints(rows.iter().copied().map(i128::from));
    Some(Predicate::In { column: column.to_owned(), set })
}

/// Source and target of each edge, sorted.
fn pairs(batches: &[Batch]) -> Vec<(u64, u64)> {
    let mut pairs = Vec::new();
    for batch in batches {
        let Batch::Edges(edges) = batch else { panic!("not edges") };
        let (Ends::Rows(source), Ends::Rows(target)) = (&edges.source, &edges.target) else { panic!("ends as keys") };
        pairs.extend(source.values().iter().copied().zip(target.values().iter().copied()));
    }
    pairs.sort_unstable();
    pairs
}

/// Each kind of list, alone and with the others.
fn lists() -> Vec<Vec<AdjListType>> {
    use AdjListType as List;
    let all = [List::UnorderedBySource, List::UnorderedByDest, List::OrderedBySource, List::OrderedByDest];
    all.iter().map(|list| vec![*list]).chain([vec![List::OrderedBySource, List::OrderedByDest]]).collect()
}

#[test]
fn rows_and_edges_are_found_by_rows() {
    for (lists, file_type) in
        lists().into_iter().flat_map(|lists| [(lists.clone(), FileType::Parquet), (lists, FileType::Csv)])
    {
        let home = tempfile::tempdir().unwrap();
        let at = Location::from_path(&home.path().join("social"));
        let source = social(60);
        let write = WriteOptions {
            vertex_chunk: Some(7),
            edge_chunk: Some(5),
            adjacency: Some(lists.clone()),
            file_type: Some(file_type),
            ..WriteOptions::default()
        };
        write_as(&source, &source.graph, &write, &at, 1000).unwrap();
        let graph = GraphAr::open(&at, &OpenOptions::default()).unwrap();
        let everybody = people(&scan(&graph, &Request::of(Tables::Nodes(0))).0);
        let edges = pairs(&scan(&graph, &Request::of(Tables::Edges(0))).0);
        for rows in [vec![], vec![0], vec![59], vec![60, 61], vec![1, 2, 3, 20, 58, 900], (0..60).collect()] {
            for batch_rows in [1, 65_536] {
                let request = |tables, column| {
                    let filter = among(column, &rows);
                    Request::of(tables).in_batches_of(batch_rows).narrowed(narrowing(&[AGE], filter))
                };
                let mut found = people(&scan(&graph, &request(Tables::Nodes(0), Narrowing::ROW)).0);
                found.retain(|(row, ..)| rows.contains(row));
                let expected: Vec<_> = everybody.iter().filter(|(row, ..)| rows.contains(row)).copied().collect();
                assert_eq!(found, expected, "{lists:?} {rows:?}");
                for by_source in [true, false] {
                    let column = if by_source { Narrowing::SOURCE_ROW } else { Narrowing::TARGET_ROW };
                    let is_asked =
                        |(source, target): &(u64, u64)| rows.contains(if by_source { source } else { target });
                    let filter = among(column, &rows);
                    let request = Request::of(Tables::Edges(0)).in_batches_of(batch_rows);
                    let mut found = pairs(&scan(&graph, &request.narrowed(narrowing(&[0], filter))).0);
                    found.retain(is_asked);
                    let expected: Vec<_> = edges.iter().filter(|pair| is_asked(pair)).copied().collect();
                    assert_eq!(found, expected, "{lists:?} {column} {rows:?}");
                }
            }
        }
    }
}

#[test]
fn few_rows_cost_few_pages() {
    let home = tempfile::tempdir().unwrap();
    let at = Location::from_path(&home.path().join("social"));
    let source = social(300_000);
    let write = WriteOptions { vertex_chunk: Some(1 << 19), ..WriteOptions::default() };
    write_as(&source, &source.graph, &write, &at, 100_000).unwrap();
    let graph = GraphAr::open(&at, &OpenOptions::default()).unwrap();
    for (tables, column) in [(Tables::Nodes(0), Narrowing::ROW), (Tables::Edges(0), Narrowing::SOURCE_ROW)] {
        let all = scan(&graph, &Request::of(tables)).1;
        let request = Request::of(tables).narrowed(narrowing(&[0, 1], among(column, &[5, 250_000])));
        let (found, few) = scan(&graph, &request);
        assert!(found.iter().map(Batch::rows).sum::<usize>() >= 2);
        assert!(few * 8 < all, "{column}: {few} of {all} bytes");
    }
}

#[test]
fn a_filter_that_narrows_during_a_scan_leaves_out_the_chunks_behind_it() {
    let (_home, at) = written(30_000, 3_000, Grouping::Each);
    let graph = GraphAr::open(&at, &OpenOptions::default()).unwrap();
    let filter = DynamicFilter::new(["key"]);
    let known = Renamed::new(&filter, &mut |_| Some(Narrowing::KEY.to_owned()));
    let wanted = Narrowing { dynamic: vec![known], ..narrowing(&[0, AGE], None) };
    let request = Request::of(Tables::Nodes(0)).narrowed(wanted);
    let (all, bytes) = scan(&graph, &request);
    assert_eq!(people(&all).len(), 30_000, "nothing is excluded yet");
    let before = graph.root().bytes_read();
    let mut parts = graph.scan(&request).unwrap().into_iter();
    let mut found: Vec<Batch> = parts.next().unwrap().map(Result::unwrap).collect();
    assert_eq!(people(&found).len(), 3_000);
    // Keys are 1,000 - 7 · row: only the last chunk has some of these.
    let least = 1000 - 7 * 29_990;
    filter.narrow(Predicate::compare("key", Comparison::Less, Literal::Int(least))).unwrap();
    found.extend(parts.flatten().map(Result::unwrap));
    let fewer = graph.root().bytes_read() - before;
    let (people, all) = (people(&found), people(&all));
    assert_eq!(people[..3_000], all[..3_000]);
    let passing: Vec<_> = all.iter().filter(|(_, key, _)| i128::from(*key) < least).copied().collect();
    assert_eq!(people[3_000..], passing);
    assert!(!passing.is_empty() && fewer * 4 < bytes, "{fewer} of {bytes} bytes");
    // A condition on what was not announced is refused, and changes nothing.
    assert!(filter.narrow(Predicate::IsNull("age".to_owned())).is_err());
    assert_eq!(nodes(&scan(&graph, &request).0).iter().map(|batch| batch.rows).sum::<usize>(), passing.len());
}
