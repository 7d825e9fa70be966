//! Generated graphs, written in generated layouts, are equal when read back: content, order and schema.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::support;

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::types::{Date32Type, Float32Type, Float64Type, Int32Type, Int64Type, TimestampMillisecondType};
use arrow_array::{
    ArrayRef, BooleanArray, Int32Array, Int64Array, ListArray, PrimitiveArray, StringArray, UInt64Array,
};
use arrow_schema::{DataType, Field, TimeUnit};
use isomorph_error::{Findings, Severity};
use isomorph_graphar::info::{AdjListType, FileType};
use isomorph_graphar::write::Grouping;
use isomorph_graphar::{GraphAr, OpenOptions, WriteOptions};
use isomorph_model::label::LabelBuilder;
use isomorph_model::type_name::list_of;
use isomorph_model::{
    Batch, Cardinality, Direction, EdgeBatch, EdgeType, Ends, Graph, Key, LabelVocabulary, MemoryGraph, NodeBatch,
    NodeType, Property, Source,
};
use isomorph_storage::Location;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use support::digest::digests;
use support::pump::write_as;

/// A source of choices: everything about a graph is derived from one number.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below.max(1)
    }

    fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.roll(all.len())].clone()
    }

    fn maybe<T>(&mut self, value: T) -> Option<T> {
        (self.roll(4) > 0).then_some(value)
    }
}

const TEXTS: [&str; 12] =
    ["", "a", "NA", "null", "007", "a,b", "say \"x\"", "line\nbreak", "K\u{f6}ln \u{1f600}", " ", "'", "1999-01-01"];

fn primitive<T: arrow_array::ArrowPrimitiveType>(rows: usize, dice: &mut Dice, values: &[T::Native]) -> ArrayRef {
    Arc::new(
        (0..rows)
            .map(|_| {
                let value = dice.pick(values);
                dice.maybe(value)
            })
            .collect::<PrimitiveArray<T>>(),
    )
}

fn column(data_type: &DataType, rows: usize, dice: &mut Dice) -> ArrayRef {
    match data_type {
        DataType::Boolean => Arc::new(
            (0..rows)
                .map(|_| {
                    let value = dice.roll(2) == 0;
                    dice.maybe(value)
                })
                .collect::<BooleanArray>(),
        ),
        DataType::Int32 => primitive::<Int32Type>(rows, dice, &[0, -1, i32::MAX, i32::MIN, 7]),
        DataType::Int64 => primitive::<Int64Type>(rows, dice, &[0, -1, i64::MAX, i64::MIN, 1 << 53]),
        DataType::Float32 => {
            primitive::<Float32Type>(rows, dice, &[0.0, -0.0, 0.1, f32::MAX, 1e-40, f32::NAN, f32::INFINITY])
        }
        DataType::Float64 => primitive::<Float64Type>(
            rows,
            dice,
            &[0.0, -0.0, 0.1, f64::MAX, 5e-324, 123_456_789.123_456_79, f64::NAN, f64::NEG_INFINITY],
        ),
        DataType::Date32 => primitive::<Date32Type>(rows, dice, &[0, -1, 20_000, -700_000, 2_000_000]),
        DataType::Timestamp(..) => {
            primitive::<TimestampMillisecondType>(rows, dice, &[0, -1, 1, -999, 1_700_000_000_123, -3_000_000_000_001])
        }
        DataType::Utf8 => Arc::new(
            (0..rows)
                .map(|_| {
                    let text = dice.pick(&TEXTS);
                    dice.maybe(text)
                })
                .collect::<StringArray>(),
        ),
        DataType::List(item) if item.data_type() == &DataType::Utf8 => {
            let mut builder = ListBuilder::new(StringBuilder::new()).with_field(Arc::new(Field::new(
                "element",
                DataType::Utf8,
                true,
            )));
            for _ in 0..rows {
                for _ in 0..dice.roll(4) {
                    let text = dice.pick(&TEXTS);
                    builder.values().append_option(dice.maybe(text));
                }
                builder.append(dice.roll(4) > 0);
            }
            Arc::new(builder.finish())
        }
        DataType::List(item) => {
            let lists = (0..rows).map(|_| {
                let items: Vec<Option<i64>> = (0..dice.roll(4)).map(|at| Some(at as i64)).collect();
                dice.maybe(items)
            });
            let list = ListArray::from_iter_primitive::<Int64Type, _, _>(lists.collect::<Vec<_>>());
            let (_, offsets, values, nulls) = list.into_parts();
            Arc::new(ListArray::new(Arc::clone(item), offsets, values, nulls))
        }
        other => panic!("no values of {other}"),
    }
}

fn properties(dice: &mut Dice, of_edge: bool) -> Vec<Property> {
    let types = [
        DataType::Boolean,
        DataType::Int32,
        DataType::Int64,
        DataType::Float32,
        DataType::Float64,
        DataType::Date32,
        DataType::Timestamp(TimeUnit::Millisecond, None),
        DataType::Utf8,
        list_of(DataType::Utf8),
        list_of(DataType::Int64),
    ];
    let names = ["a", "B", "x.y", "labels", "adj_list", "vertex_count", "id", "weight"];
    let mut left: Vec<&str> = names.to_vec();
    (0..dice.roll(5))
        .map(|_| {
            let name = left.remove(dice.roll(left.len()));
            let property = Property::new(name, dice.pick(&types));
            let is_list = matches!(property.data_type, DataType::List(_));
            let many = dice.pick(&[Cardinality::Single, Cardinality::List, Cardinality::Set]);
            if is_list && !of_edge { property.with_cardinality(many) } else { property }
        })
        .collect()
}

fn graph(seed: u64) -> MemoryGraph {
    let mut dice = Dice(seed | 1);
    let mut graph = Graph::default();
    let mut batches = Vec::new();
    if dice.roll(3) > 0 {
        graph.name = Some("generated".into());
    }
    let mut sizes = Vec::new();
    for number in 0..1 + dice.roll(3) {
        let rows = dice.pick(&[0, 1, 5, 40]);
        let (key, keys): (Key, Option<ArrayRef>) = match dice.roll(4) {
            0 => (Key::row(), None),
            1 => (
                Key { data_type: DataType::Int32, ..Key::int64() }.named("key"),
                Some(Arc::new(Int32Array::from_iter_values((0..rows as i32).map(|n| 100 - n)))),
            ),
            2 => (
                Key::int64().named("key"),
                Some(Arc::new(Int64Array::from_iter_values((0..rows as i64).map(|n| n * n)))),
            ),
            _ => (
                Key::utf8().named("key"),
                Some(Arc::new(StringArray::from_iter_values((0..rows).map(|n| format!("k,{n}"))))),
            ),
        };
        let mut ty = NodeType::new(format!("t{number}"), key);
        ty.ordered = true;
        ty.properties = properties(&mut dice, false);
        let mut labels = None;
        if dice.roll(2) == 0 {
            ty.labels = LabelVocabulary::Declared(vec!["L0".into(), "L1".into(), "L 2".into()]);
            let mut builder = LabelBuilder::default();
            (0..rows).for_each(|_| builder.push(["L0", "L1", "L 2"].into_iter().filter(|_| dice.roll(3) == 0)));
            labels = Some(builder.finish());
        }
        let columns = ty.properties.iter().map(|property| Some(column(&property.data_type, rows, &mut dice))).collect();
        if rows > 0 {
            batches.push(Batch::Nodes(NodeBatch {
                ty: number,
                start: 0,
                numbers: None,
                rows,
                keys,
                labels,
                properties: columns,
            }));
        }
        sizes.push(rows);
        graph.nodes.push(ty);
    }
    for number in 0..dice.roll(4) {
        let (source, target) = (dice.roll(sizes.len()), dice.roll(sizes.len()));
        let mut ty = EdgeType::new(source, format!("r{number}"), target);
        ty.direction = dice.pick(&[Direction::Directed, Direction::Undirected]);
        ty.properties = properties(&mut dice, true);
        let rows = if sizes[source] == 0 || sizes[target] == 0 { 0 } else { dice.pick(&[0, 1, 30, 200]) };
        let mut ends = |size: usize| {
            let rows: Vec<u64> = (0..rows)
                .map(|_| {
                    let all = dice.roll(size);
                    dice.roll(all + 1) as u64
                })
                .collect();
            Ends::Rows(UInt64Array::from(rows))
        };
        let (source, target) = (ends(sizes[source]), ends(sizes[target]));
        let columns = ty.properties.iter().map(|property| Some(column(&property.data_type, rows, &mut dice))).collect();
        if rows > 0 {
            batches.push(Batch::Edges(EdgeBatch {
                ty: number,
                rows,
                relations: None,
                source,
                target,
                layers: None,
                directed: None,
                keys: None,
                properties: columns,
            }));
        }
        graph.edges.push(ty);
    }
    MemoryGraph { graph, batches }
}

fn layout() -> impl Strategy<Value = WriteOptions> {
    const SIZES: [u64; 3] = [7, 20, 65_536];
    let sizes = (prop::sample::select(&SIZES[..]), prop::sample::select(&SIZES[..]));
    let lists = prop::sample::subsequence(AdjListType::ALL.to_vec(), 1..=4);
    let grouping = prop::sample::select(&[None, Some(Grouping::Each)][..]);
    (sizes, prop::sample::select(&FileType::ALL[..]), lists, grouping).prop_map(
        |(sizes, file_type, lists, grouping)| WriteOptions {
            vertex_chunk: Some(sizes.0),
            edge_chunk: Some(sizes.1),
            file_type: Some(file_type),
            adjacency: Some(lists),
            grouping,
            threads: Some(2),
            ..WriteOptions::default()
        },
    )
}

#[test]
fn generated_graphs_come_back_equal() {
    let config = Config { cases: 24, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let run = runner.run(&(any::<u64>(), layout(), 1usize..100), |(seed, write, piece)| {
        let source = graph(seed);
        let home = tempfile::tempdir().unwrap();
        let at = Location::from_path(&home.path().join("g"));
        write_as(&source, &source.graph, &write, &at, piece).unwrap_or_else(|error| panic!("{error:?}"));
        let expected = digests(&source);
        for kind in write.adjacency.iter().flatten() {
            let options = OpenOptions { adjacency: Some(*kind), ..OpenOptions::default() };
            let back = GraphAr::open(&at, &options).unwrap_or_else(|error| panic!("{error:?}"));
            prop_assert_eq!(&digests(&back), &expected, "{}", kind);
        }
        let mut findings = Findings::keeping(5);
        GraphAr::open(&at, &OpenOptions::default()).unwrap().validate(&mut findings).unwrap();
        prop_assert!(findings.worst() < Some(Severity::Error), "{:#?}", findings);
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}
