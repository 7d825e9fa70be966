//! Compares the edge sort with a sort of rows.

use std::sync::Arc;

use arrow_array::builder::{
    FixedSizeBinaryBuilder, FixedSizeListBuilder, Int32Builder, ListBuilder, MapBuilder, StringBuilder,
    StringDictionaryBuilder,
};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int32Array, NullArray, RecordBatch, StringArray,
    StructArray, TimestampMicrosecondArray, UInt32Array,
};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema, UnionFields, UnionMode};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;
use isomorph_error::Kind;
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedBatch, SortedEdges};
use proptest::prelude::*;

/// Memory of a sort that never spills, and of one that spills all the time, bytes.
const AMPLE: u64 = 64 << 20;
const TINY: u64 = 48 << 10;

fn options(memory: u64) -> SortOptions {
    SortOptions::new(&Budget::new(memory), &Scratch::new(None).unwrap()).memory(memory).batch_rows(100)
}

/// One column of each shape, different in every row, nulls included.
fn payload(rows: std::ops::Range<u32>) -> RecordBatch {
    let text = || rows.clone().map(|row| (row % 5 != 1).then(|| "x".repeat(row as usize % 9) + &row.to_string()));
    let texts = StringArray::from_iter(text());
    let mut lists = ListBuilder::new(StringBuilder::new());
    let mut words = StringDictionaryBuilder::<Int32Type>::new();
    let mut pairs = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    let mut vectors = FixedSizeListBuilder::new(Int32Builder::new(), 2);
    let mut digests = FixedSizeBinaryBuilder::new(3);
    for row in rows.clone() {
        (0..row % 4).for_each(|item| lists.values().append_option((item != 2).then(|| format!("{row}.{item}"))));
        lists.append(row % 6 != 0);
        words.append_option((row % 11 != 0).then(|| ["left", "right", "both"][row as usize % 3]));
        (0..row % 3).for_each(|key| {
            pairs.keys().append_value(format!("k{key}"));
            pairs.values().append_value((row + key) as i32);
        });
        pairs.append(row % 5 != 0).unwrap();
        vectors.values().append_slice(&[row as i32, -1]);
        vectors.append(row % 8 != 0);
        digests.append_value([row as u8, (row >> 8) as u8, 7]).unwrap();
    }
    let numbers = rows.clone().map(|row| (row % 7 != 3).then_some(f64::from(row) / 3.0));
    let flags = rows.clone().map(|row| (row % 13 != 0).then_some(row % 2 == 0));
    let decimals = rows.clone().map(|row| (row % 4 != 0).then_some(i128::from(row) << 70));
    let inner = Int32Array::from_iter(rows.clone().map(|row| (row % 3 == 0).then_some(row as i32)));
    let inner_field = Arc::new(Field::new("inner", DataType::Int32, true));
    let lists = lists.finish();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("number", Arc::new(Float64Array::from_iter(numbers))),
        ("text", Arc::new(texts.clone())),
        ("large", cast(&texts, &DataType::LargeUtf8).unwrap()),
        ("view", cast(&texts, &DataType::Utf8View).unwrap()),
        ("bytes", cast(&texts, &DataType::Binary).unwrap()),
        ("flag", Arc::new(BooleanArray::from_iter(flags))),
        ("time", Arc::new(TimestampMicrosecondArray::from_iter_values(rows.clone().map(i64::from)))),
        ("decimal", Arc::new(Decimal128Array::from_iter(decimals))),
        ("digest", Arc::new(digests.finish())),
        ("large list", cast(&lists, &DataType::new_large_list(DataType::Utf8, true)).unwrap()),
        ("list", Arc::new(lists)),
        ("vector", Arc::new(vectors.finish())),
        ("map", Arc::new(pairs.finish())),
        ("word", Arc::new(words.finish())),
        ("record", Arc::new(StructArray::from(vec![(inner_field, Arc::new(inner) as ArrayRef)]))),
        ("nothing", Arc::new(NullArray::new(rows.len()))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, column)| (name, column, true))).unwrap()
}

type Edges = Vec<(u64, u64)>;

/// The order of pushes.
#[derive(Debug, Clone, Copy)]
enum Order {
    /// In order, with consecutive numbers.
    Straight,
    /// The odd batches first.
    OddFirst,
    /// With scattered numbers.
    Numbered,
}

impl Order {
    fn number(self, row: u64) -> u64 {
        if matches!(self, Order::Numbered) { row ^ 0x155 } else { row + 1_000 }
    }
}

/// Pushes `edges` in batches of `batch` rows.
fn sort(edges: &Edges, columns: Option<&RecordBatch>, batch: usize, order: Order, options: SortOptions) -> SortedEdges {
    let options = columns.map_or(options.clone(), |columns| options.payload(columns.schema()));
    let sorter = EdgeSorter::new(options).unwrap();
    let mut starts: Vec<usize> = (0..edges.len()).step_by(batch).collect();
    if matches!(order, Order::OddFirst) {
        starts.sort_by_key(|start| (start / batch).is_multiple_of(2));
    }
    for start in starts {
        let rows = start..edges.len().min(start + batch);
        let (aligned, other): (Vec<u64>, Vec<u64>) = edges[rows.clone()].iter().copied().unzip();
        let part = columns.map(|columns| columns.slice(rows.start, rows.len()));
        let numbers: Vec<u64> = rows.map(|row| order.number(row as u64)).collect();
        match order {
            Order::Numbered => sorter.push(&aligned, &other, part.as_ref(), &numbers[..]).unwrap(),
            _ => sorter.push(&aligned, &other, part.as_ref(), numbers[0]).unwrap(),
        }
    }
    sorter.finish().unwrap()
}

fn collect(
    batches: impl Iterator<Item = isomorph_error::Result<SortedBatch>>,
) -> (Edges, Vec<RecordBatch>, Vec<usize>) {
    let mut edges = Edges::new();
    let (mut payload, mut sizes) = (Vec::new(), Vec::new());
    for batch in batches {
        let batch = batch.unwrap();
        edges.extend(batch.aligned.values().iter().copied().zip(batch.other.values().iter().copied()));
        sizes.push(batch.aligned.len());
        payload.push(batch.payload);
    }
    (edges, payload, sizes)
}

fn naive(edges: &Edges, columns: Option<&RecordBatch>, order: Order) -> (Edges, Option<RecordBatch>) {
    let mut rows: Vec<u32> = (0..edges.len() as u32).collect();
    rows.sort_by_key(|row| (edges[*row as usize], order.number(u64::from(*row))));
    let sorted = rows.iter().map(|row| edges[*row as usize]).collect();
    (sorted, columns.map(|columns| take_record_batch(columns, &UInt32Array::from(rows)).unwrap()))
}

/// Ends as in real graphs: dense, with hubs, with far outliers, of every width.
fn ends() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0u64..50,
        4 => 0u64..100_000,
        1 => Just(7u64),
        1 => any::<u32>().prop_map(u64::from),
        1 => any::<u64>(),
        1 => prop_oneof![Just(0), Just(u64::MAX), Just(u64::MAX - 1), Just(1 << 32), Just((1 << 32) - 1)],
    ]
}

fn orders() -> impl Strategy<Value = Order> {
    prop_oneof![Just(Order::Straight), Just(Order::OddFirst), Just(Order::Numbered)]
}

fn edges() -> impl Strategy<Value = Edges> {
    prop_oneof![
        prop::collection::vec((0u64..200, 0u64..200), 0..3_000),
        prop::collection::vec((0u64..1 << 20, 0u64..1 << 20), 0..3_000),
        prop::collection::vec((ends(), ends()), 0..2_000),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn equals_a_sort_of_rows(edges in edges(), batch in 1usize..700, order in orders(), with_payload: bool) {
        let columns = with_payload.then(|| payload(0..edges.len() as u32));
        let (expected, expected_payload) = naive(&edges, columns.as_ref(), order);
        for memory in [AMPLE, TINY] {
            for threads in [1, 2, 4] {
                let sorted = sort(&edges, columns.as_ref(), batch, order, options(memory).threads(threads));
                prop_assert_eq!(sorted.rows(), edges.len() as u64);
                let (found, found_payload, sizes) = collect(sorted.stream().unwrap());
                prop_assert!(found == expected, "{} bytes, {} threads", memory, threads);
                prop_assert!(sizes.iter().rev().skip(1).all(|size| *size == 100), "batches depend on the memory");
                if let (Some(expected), false) = (&expected_payload, edges.is_empty()) {
                    let found = concat_batches(&expected.schema(), &found_payload).unwrap();
                    prop_assert!(&found == expected, "payload, {} bytes, {} threads", memory, threads);
                }
            }
        }
    }

    #[test]
    fn parts_make_up_the_whole(edges in edges(), parts in 1usize..6, step in 1u64..50, spilled: bool) {
        let memory = if spilled { TINY } else { AMPLE };
        let columns = payload(0..edges.len() as u32);
        let sorted = sort(&edges, Some(&columns), 300, Order::Straight, options(memory));
        let (expected, expected_payload, _) = collect(sorted.stream().unwrap());
        let splits = sorted.splits(parts, step);
        prop_assert!(splits.len() < parts && splits.is_sorted() && splits.iter().all(|split| split % step == 0));

        let mut bounds = vec![0];
        bounds.extend(&splits);
        let (mut found, mut found_payload) = (Edges::new(), Vec::new());
        for (at, start) in bounds.iter().enumerate() {
            let part = match bounds.get(at + 1) {
                Some(end) => collect(sorted.range(*start..*end).unwrap()),
                None => {
                    // The rest, read part by part from a stream that skips what is before.
                    let mut stream = sorted.range(*start..u64::MAX).unwrap();
                    let mut part = collect(std::iter::from_fn(|| stream.next_below(start + 10).transpose()));
                    let rest = collect(stream);
                    prop_assert!(part.0.iter().all(|edge| edge.0 < start + 10));
                    prop_assert!(rest.0.iter().all(|edge| edge.0 >= start + 10));
                    part.0.extend(rest.0);
                    part.1.extend(rest.1);
                    part
                }
            };
            found.extend(part.0);
            found_payload.extend(part.1);
        }
        let last = expected.iter().filter(|edge| edge.0 == u64::MAX).count();
        prop_assert!(found == expected[..expected.len() - last]);
        if last == 0 && !expected.is_empty() {
            let schema = columns.schema();
            let found = concat_batches(&schema, &found_payload).unwrap();
            prop_assert!(found == concat_batches(&schema, &expected_payload).unwrap());
        }
    }
}

#[test]
fn several_threads_may_push() {
    let edges: Edges = (0..20_000u64).map(|n| (n * 7_919 % 100, n * 104_729 % 10)).collect();
    let columns = payload(0..edges.len() as u32);
    let (expected, expected_payload) = naive(&edges, Some(&columns), Order::Straight);
    let sorter = EdgeSorter::new(options(8 * TINY).payload(columns.schema())).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (sorter, edges, columns) = (&sorter, &edges, &columns);
            scope.spawn(move || {
                for start in (thread * 50..edges.len()).step_by(200) {
                    let (aligned, other): (Vec<u64>, Vec<u64>) = edges[start..start + 50].iter().copied().unzip();
                    sorter.push(&aligned, &other, Some(&columns.slice(start, 50)), start as u64).unwrap();
                }
            });
        }
    });
    let sorted = sorter.finish().unwrap();
    assert!(sorted.is_spilled());
    let (found, found_payload, _) = collect(sorted.stream().unwrap());
    assert_eq!(found, expected);
    assert_eq!(Some(concat_batches(&columns.schema(), &found_payload).unwrap()), expected_payload);
}

#[test]
fn nothing_comes_of_nothing() {
    let sorter = EdgeSorter::new(options(TINY).payload(payload(0..0).schema())).unwrap();
    sorter.push(&[], &[], Some(&payload(0..0)), 0).unwrap();
    let sorted = sorter.finish().unwrap();
    assert_eq!(sorted.rows(), 0);
    assert!(sorted.stream().unwrap().next_batch().unwrap().is_none());
    assert!(sorted.range(5..9).unwrap().next_batch().unwrap().is_none());
    assert!(sorted.splits(4, 1).is_empty());
}

#[test]
fn memory_and_temporary_space_are_given_back() {
    let budget = Budget::new(1 << 20);
    let scratch = Scratch::new(None).unwrap();
    let options = SortOptions::new(&budget, &scratch).memory(1 << 19);
    let sorter = EdgeSorter::new(options).unwrap();
    let numbers: Vec<u64> = (0..50_000).map(|n| n * 7_919 % 65_536).collect();
    sorter.push(&numbers, &numbers, None, 0).unwrap();
    sorter.push(&numbers, &numbers, None, 0).unwrap();
    let sorted = sorter.finish().unwrap();
    assert!(sorted.is_spilled());
    assert!(scratch.used() > 0 && scratch.used() < 100_000 * 8, "{} bytes for 100,000 edges", scratch.used());
    assert!(budget.peak() <= 1 << 19);
    assert_eq!(collect(sorted.stream().unwrap()).0.len(), 100_000);
    drop(sorted);
    assert_eq!((budget.used(), scratch.used()), (0, 0));
}

#[test]
fn a_sort_that_cannot_spill_says_so_and_stays_broken() {
    let gone = std::env::temp_dir().join(format!("isomorph-sort-{}", std::process::id()));
    std::fs::create_dir(&gone).unwrap();
    let scratch = Scratch::new(Some(&gone)).unwrap();
    std::fs::remove_dir(&gone).unwrap();
    let sorter = EdgeSorter::new(SortOptions::new(&Budget::new(TINY), &scratch)).unwrap();
    let numbers: Vec<u64> = (0..1_000).rev().collect();
    let mut errors = (0..10).filter_map(|_| sorter.push(&numbers, &numbers, None, 0).err());
    assert_ne!(errors.next().unwrap().kind(), Kind::Poisoned, "the first error is the cause");
    assert_eq!(errors.next().unwrap().kind(), Kind::Poisoned);
    assert_eq!(sorter.finish().err().map(|error| error.kind()), Some(Kind::Poisoned));
}

#[test]
fn a_sort_makes_do_with_what_others_have_left() {
    let budget = Budget::new(AMPLE);
    let _others = budget.reserve(AMPLE - TINY).unwrap();
    let sorter = EdgeSorter::new(SortOptions::new(&budget, &Scratch::new(None).unwrap())).unwrap();
    let numbers: Vec<u64> = (0..10_000).rev().collect();
    numbers.chunks(100).for_each(|numbers| sorter.push(numbers, numbers, None, 0).unwrap());
    let sorted = sorter.finish().unwrap();
    assert!(sorted.is_spilled());
    assert!(collect(sorted.stream().unwrap()).0.into_iter().eq((0..10_000).map(|number| (number, number))));
}

#[test]
fn misuse_is_an_error() {
    let columns = payload(0..2);
    let kind = |result: isomorph_error::Result<()>| result.unwrap_err().kind();
    let sorter = EdgeSorter::new(options(AMPLE).payload(columns.schema())).unwrap();
    assert_eq!(kind(sorter.push(&[1, 2], &[1], Some(&columns), 0)), Kind::Usage);
    assert_eq!(kind(sorter.push(&[1], &[1], Some(&columns), 0)), Kind::Usage);
    assert_eq!(kind(sorter.push(&[1, 2], &[1, 2], None, 0)), Kind::Usage);
    assert_eq!(kind(sorter.push(&[1, 2], &[1, 2], Some(&columns.project(&[0]).unwrap()), 0)), Kind::Usage);
    sorter.push(&[1, 2], &[1, 2], Some(&columns), 5).unwrap();
    sorter.push(&[1, 2], &[1, 2], Some(&columns), 6).unwrap();
    assert_eq!(sorter.finish().err().map(|error| error.kind()), Some(Kind::Usage), "sequence numbers overlap");

    let union = DataType::Union(UnionFields::empty(), UnionMode::Sparse);
    let narrow = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    for refused in [union, narrow] {
        let schema = Schema::new(vec![Field::new("refused", refused, true)]);
        let refused = EdgeSorter::new(options(AMPLE).payload(Arc::new(schema)));
        assert_eq!(refused.err().map(|error| error.kind()), Some(Kind::Unsupported));
    }
    let none = SortOptions::new(&Budget::new(100), &Scratch::new(None).unwrap()).memory(1 << 20);
    assert_eq!(EdgeSorter::new(none).err().map(|error| error.kind()), Some(Kind::TooLarge));
}
