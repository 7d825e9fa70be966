//! Compares key → row look-ups with a hash map, in memory and in bulk.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{
    Array, ArrayRef, Int32Array, Int64Array, LargeStringArray, RecordBatch, RecordBatchOptions, StringArray,
    UInt64Array,
};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::Kind;
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::lookup::{
    ABSENT, AnswerBatch, BulkLookup, KeyKind, KeyRowsBuilder, Lookup, LookupOptions, Repeat, SpilledKeys,
};
use proptest::prelude::*;

const AMPLE: u64 = 64 << 20;
const TINY: u64 = 48 << 10;
/// Too little memory even for a few hundred keys.
const SCANT: u64 = 6 << 10;

/// A key of any sort, as a value.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Integer(i128),
    Text(String),
}

fn values(array: &dyn Array) -> Vec<Option<Key>> {
    match array.data_type() {
        DataType::Int64 => {
            array.as_primitive::<Int64Type>().iter().map(|key| key.map(|key| Key::Integer(key.into()))).collect()
        }
        DataType::UInt64 => {
            array.as_primitive::<UInt64Type>().iter().map(|key| key.map(|key| Key::Integer(key.into()))).collect()
        }
        _ => array.as_string::<i32>().iter().map(|key| key.map(|key| Key::Text(key.into()))).collect(),
    }
}

/// Integers and texts with repeats and nulls, and with values that only one of the integer types has.
fn column(nulls: bool) -> impl Strategy<Value = ArrayRef> {
    let null = if nulls { 1u32 } else { 0 };
    let small = prop_oneof![4 => 0u64..300, 1 => 1_000_000u64..1_000_300, 1 => any::<u64>(), 1 => Just(u64::MAX)];
    let small_signed =
        prop_oneof![4 => -20i64..300, 1 => any::<i64>(), 1 => prop_oneof![Just(i64::MIN), Just(i64::MAX)]];
    let consecutive = (0u64..1_000, 1u64..400).prop_map(|(start, count)| (start..start + count).map(Some).collect());
    let spread = (0u64..9, 1u64..5_000).prop_map(|(start, step)| (0..300).map(|n| Some(start + n * step)).collect());
    let text = prop_oneof![4 => "[a-c]{0,3}", 2 => "[a-z]{8,20}", 1 => "\\PC{0,5}"];
    // One prefix and numbers: consecutive, dense, ascending, any; and among them texts that are written otherwise.
    let suffix = prop_oneof![40 => (0u64..400).prop_map(|n| n.to_string()), 1 => "0[0-9]|[0-9]{18,20}|", 1 => any::<u64>().prop_map(|n| n.to_string())];
    let prefix = prop_oneof![Just(""), Just("n"), Just("http://example.org/resource/"), Just("0")];
    let listed = (prefix.clone(), prop::collection::vec((suffix, 0u32..40), 1..800));
    let in_order = (prefix, 0u64..1_000, prop_oneof![Just(1u64), 2..5_000u64], 1u64..400);
    let option = move |some: u32| (some, null);
    let (a, b) = option(20);
    prop_oneof![
        prop::collection::vec(prop_oneof![a => small.prop_map(Some), b => Just(None)], 1..800)
            .prop_map(|keys| Arc::new(UInt64Array::from(keys)) as ArrayRef),
        prop::collection::vec(prop_oneof![a => small_signed.prop_map(Some), b => Just(None)], 1..800)
            .prop_map(|keys| Arc::new(Int64Array::from(keys)) as ArrayRef),
        prop_oneof![consecutive, spread]
            .prop_map(|keys: Vec<Option<u64>>| Arc::new(UInt64Array::from(keys)) as ArrayRef),
        prop::collection::vec(prop_oneof![a => text.prop_map(Some), b => Just(None)], 1..800)
            .prop_map(|keys| Arc::new(StringArray::from(keys)) as ArrayRef),
        listed.prop_map(move |(prefix, keys)| {
            let key = |(suffix, kind): (String, u32)| (kind >= null).then(|| format!("{prefix}{suffix}"));
            Arc::new(keys.into_iter().map(key).collect::<StringArray>()) as ArrayRef
        }),
        in_order.prop_map(|(prefix, start, step, count)| {
            let keys = (0..count).map(|n| format!("{prefix}{}", start + n * step));
            Arc::new(StringArray::from_iter_values(keys)) as ArrayRef
        }),
    ]
}

fn build(keys: &ArrayRef, batch: usize, memory: u64, threads: usize) -> Lookup {
    let budget = Budget::new(memory);
    let options = LookupOptions::new(&budget, &Scratch::new(None).unwrap()).memory(memory / 2).threads(threads);
    let mut builder = KeyRowsBuilder::new(options);
    for start in (0..keys.len()).step_by(batch) {
        builder.push(&keys.slice(start, batch.min(keys.len() - start))).unwrap();
    }
    assert_eq!(builder.rows(), keys.len() as u64);
    builder.finish().unwrap()
}

/// Rows by key, and the repeats.
fn naive(keys: &ArrayRef) -> (HashMap<Key, u64>, Vec<Repeat>) {
    let (mut rows, mut repeats) = (HashMap::new(), Vec::new());
    for (row, key) in (0..).zip(values(keys).into_iter().flatten()) {
        let first = *rows.entry(key).or_insert(row);
        if first != row {
            repeats.push(Repeat { row, first });
        }
    }
    (rows, repeats)
}

/// Translates in bulk; returns the rows in the order of the probes, and all batches as they were produced.
fn in_bulk(keys: &SpilledKeys, probes: &ArrayRef, batch: usize, streams: usize) -> (Vec<u64>, Vec<AnswerBatch>) {
    let tags = Schema::new(vec![Field::new("tag", DataType::Int32, false)]);
    let bulk = BulkLookup::new(keys, &tags).unwrap();
    let tags = Arc::new(tags);
    for start in (0..probes.len()).step_by(batch) {
        let part = probes.slice(start, batch.min(probes.len() - start));
        let numbers = Int32Array::from_iter_values((start..start + part.len()).map(|at| -(at as i32)));
        let tags = RecordBatch::try_new(tags.clone(), vec![Arc::new(numbers)]).unwrap();
        bulk.add_probes(&part, &tags, start as u64).unwrap();
    }
    let answers = bulk.finish().unwrap();
    assert_eq!(answers.len(), probes.len() as u64);
    let batches: Vec<AnswerBatch> =
        answers.streams(streams).unwrap().into_iter().flatten().map(|batch| batch.unwrap()).collect();
    let mut rows = vec![7; probes.len()];
    for batch in &batches {
        let tags = batch.tags.column(0).as_primitive::<arrow_array::types::Int32Type>();
        for ((row, sequence), tag) in batch.rows.iter().zip(batch.sequence.values()).zip(tags.values()) {
            assert_eq!(*sequence as i32, -tag);
            rows[*sequence as usize] = *row;
        }
    }
    (rows, batches)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn equals_a_hash_map(keys in column(false), probes in column(true), batch in 1usize..300) {
        let (expected, repeats) = naive(&keys);
        let row = |key: &Option<Key>| key.as_ref().and_then(|key| expected.get(key).copied()).unwrap_or(ABSENT);
        for memory in [AMPLE, SCANT] {
            for threads in [1, 2, 4] {
                let lookup = build(&keys, batch, memory, threads);
                prop_assert_eq!(lookup.rows(), keys.len() as u64);
                prop_assert_eq!(lookup.repeats().count(), repeats.len() as u64);
                prop_assert_eq!(lookup.repeats().shown(), &repeats[..repeats.len().min(16)]);
                for probes in [&probes, &keys] {
                    let probe_values = values(probes);
                    let wanted: Vec<u64> = probe_values.iter().map(row).collect();
                    let nulls = probes.null_count();
                    let not_found = wanted.iter().filter(|row| **row == ABSENT).count() - nulls;
                    match &lookup {
                        Lookup::Memory(lookup) => {
                            let mut rows = Vec::new();
                            let misses = lookup.translate(probes, &mut rows).unwrap();
                            prop_assert_eq!(rows, wanted);
                            prop_assert_eq!((misses.nulls, misses.not_found), (nulls, not_found));
                            let first = (0..probes.len()).find(|at| probes.is_null(*at));
                            prop_assert_eq!(misses.first_null, first);
                        }
                        Lookup::Spilled(lookup) => {
                            let (rows, batches) = in_bulk(lookup, probes, batch, 1);
                            prop_assert_eq!(&rows, &wanted);
                            prop_assert_eq!(batches.iter().map(|batch| batch.misses.nulls).sum::<usize>(), nulls);
                            prop_assert_eq!(batches.iter().map(|batch| batch.misses.not_found).sum::<usize>(), not_found);
                            prop_assert_eq!(in_bulk(lookup, probes, batch, threads).0, wanted);
                        }
                    }
                }
            }
        }
    }
}

/// Returns `count` distinct words in random order.
fn words(count: u64) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(
        (0..count).map(|n| format!("word {:x}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15))),
    ))
}

#[test]
fn too_many_keys_are_looked_up_in_bulk() {
    let keys = words(20_000);
    let mut streams = Vec::new();
    for threads in [1, 2, 4] {
        let lookup = build(&keys, 1_000, 16 * TINY, threads);
        let Lookup::Spilled(spilled) = &lookup else { panic!("this does not fit") };
        assert!(spilled.repeats().is_empty());
        let (rows, batches) = in_bulk(spilled, &keys, 777, 1);
        assert!(rows.into_iter().eq(0..20_000));
        streams.push(batches.into_iter().flat_map(|batch| batch.sequence.values().to_vec()).collect::<Vec<u64>>());
    }
    assert!(streams.windows(2).all(|pair| pair[0] == pair[1]), "the order of answers depends on the threads");
}

#[test]
fn answers_for_the_last_time_give_their_space_back() {
    for streams in [1, 3] {
        let scratch = Scratch::new(None).unwrap();
        let options = LookupOptions::new(&Budget::new(16 * TINY), &scratch).memory(8 * TINY).threads(streams);
        let mut builder = KeyRowsBuilder::new(options);
        let keys = words(60_000);
        builder.push(&keys).unwrap();
        let Lookup::Spilled(spilled) = builder.finish().unwrap() else { panic!("this does not fit") };
        let alone = scratch.used();
        let bulk = BulkLookup::new(&spilled, &Schema::empty()).unwrap();
        for start in (0..60_000).step_by(1_000) {
            let options = RecordBatchOptions::new().with_row_count(Some(1_000));
            let tags = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &options).unwrap();
            bulk.add_probes(&keys.slice(start, 1_000), &tags, start as u64).unwrap();
        }
        let mut answers = bulk.finish().unwrap();
        let full = scratch.used() - alone;
        assert!(full > 512 << 10, "{full} bytes of probes");
        let order = |batch: AnswerBatch| batch.sequence.values().to_vec();
        let read: Vec<u64> = answers.stream().unwrap().flat_map(|batch| order(batch.unwrap())).collect();
        assert_eq!(scratch.used(), alone + full, "reading takes nothing away");
        let mut drained = Vec::new();
        for batch in answers.drain(streams).unwrap().into_iter().flatten() {
            let batch = batch.unwrap();
            assert_eq!(batch.rows, batch.sequence.values().as_ref());
            drained.extend(order(batch));
        }
        assert_eq!(drained, read);
        let left = scratch.used() - alone;
        assert!(!cfg!(target_os = "linux") || left < full / 2, "{left} of {full} bytes are left");
        assert_eq!(answers.stream().map(|_| ()).unwrap_err().kind(), Kind::Usage);
        assert_eq!(answers.drain(1).map(|_| ()).unwrap_err().kind(), Kind::Usage);
    }
}

#[test]
fn one_key_a_thousand_times_is_one_key() {
    let keys: ArrayRef = Arc::new(StringArray::from_iter_values(std::iter::repeat_n("same", 20_000)));
    let lookup = build(&keys, 500, 4 * TINY, 2);
    assert!(matches!(lookup, Lookup::Spilled(_)));
    assert_eq!(lookup.repeats().count(), 19_999);
    assert_eq!(lookup.repeats().shown()[0], Repeat { row: 1, first: 0 });
}

#[test]
fn sparse_integers_beyond_memory_are_looked_up_in_bulk() {
    let keys: ArrayRef =
        Arc::new(Int64Array::from_iter_values((0..30_000u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15) as i64)));
    let lookup = build(&keys, 1_000, 4 * TINY, 2);
    let Lookup::Spilled(spilled) = &lookup else { panic!("this does not fit") };
    assert_eq!(spilled.kind(), KeyKind::Signed);
    assert!(in_bulk(spilled, &keys, 999, 3).0.into_iter().eq(0..30_000));
}

#[test]
fn texts_with_consecutive_numbers_take_no_memory() {
    let keys: ArrayRef = Arc::new(StringArray::from_iter_values((7..30_007).map(|n| format!("n{n}"))));
    let Lookup::Memory(lookup) = build(&keys, 1_000, 4 * TINY, 2) else { panic!("there is nothing to spill") };
    assert_eq!(lookup.kind(), KeyKind::Text);
    let mut rows = Vec::new();
    let probes = ["n7", "n30006", "n30007", "n6", "n07", "7", "n", "m7"];
    let misses = lookup.translate(&StringArray::from(probes.to_vec()), &mut rows).unwrap();
    assert_eq!((&rows[..2], misses.not_found, misses.first_not_found), (&[0, 29_999][..], 6, Some(2)));
    let misses = lookup.translate(&UInt64Array::from(vec![7, 8]), &mut rows).unwrap();
    assert_eq!(misses.not_found, 2, "numbers are no texts");
}

#[test]
fn no_keys_and_no_probes() {
    let Lookup::Memory(lookup) = build(&(Arc::new(StringArray::from(Vec::<&str>::new())) as ArrayRef), 1, TINY, 1)
    else {
        panic!("nothing fits")
    };
    let mut rows = Vec::new();
    let misses = lookup.translate(&LargeStringArray::from(vec![Some("a"), None]), &mut rows).unwrap();
    assert_eq!((rows, misses.not_found, misses.nulls), (vec![ABSENT, ABSENT], 1, 1));

    let lookup = build(&words(20_000), 1_000, 4 * TINY, 2);
    let Lookup::Spilled(spilled) = &lookup else { panic!("this does not fit") };
    let bulk = BulkLookup::new(spilled, &Schema::empty()).unwrap().finish().unwrap();
    assert!(bulk.is_empty() && bulk.stream().unwrap().next_batch().unwrap().is_none());
}

#[test]
fn a_null_key_is_an_error_wherever_the_keys_are() {
    for memory in [AMPLE, 4 * TINY] {
        let options = LookupOptions::new(&Budget::new(memory), &Scratch::new(None).unwrap()).memory(memory / 2);
        let mut builder = KeyRowsBuilder::new(options);
        builder.push(&words(20_000)).unwrap();
        let error = builder.push(&StringArray::from(vec![Some("a"), None])).unwrap_err();
        assert_eq!((error.kind(), error.place().row), (Kind::Malformed, Some(20_001)));
        let error = builder.push(&UInt64Array::from(vec![1])).unwrap_err();
        assert_eq!(error.kind(), Kind::Unsupported);
    }
}

#[test]
fn all_memory_and_space_is_given_back() {
    let (budget, scratch) = (Budget::new(16 * TINY), Scratch::new(None).unwrap());
    let mut builder = KeyRowsBuilder::new(LookupOptions::new(&budget, &scratch));
    builder.push(&words(20_000)).unwrap();
    let lookup = builder.finish().unwrap();
    assert!(scratch.used() > 0 && budget.used() > 0);
    drop(lookup);
    assert_eq!((budget.used(), scratch.used()), (0, 0));
}
