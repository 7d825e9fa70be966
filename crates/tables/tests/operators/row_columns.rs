//! Compares row → key and row → hash with plain vectors.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, DictionaryArray, Int32Array, Int64Array, StringArray, UInt64Array};
use isomorph_error::{Kind, Result};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::lookup::{Hashes, HashesBuilder, KeyKind, RowKeys, RowKeysBuilder};
use proptest::prelude::*;

/// Memory for everything, and almost no memory, bytes.
const MEMORY: [u64; 2] = [16 << 20, 100];

fn row_keys(batches: &[ArrayRef], memory: u64) -> Result<RowKeys> {
    let mut builder = RowKeysBuilder::new(&Budget::new(1 << 24), &Scratch::new(None)?, memory);
    batches.iter().try_for_each(|batch| builder.push(batch))?;
    builder.finish()
}

fn in_batches<K, A: Array + 'static>(keys: &[K], batch: usize, array: impl Fn(&[K]) -> A) -> Vec<ArrayRef> {
    keys.chunks(batch).map(|keys| Arc::new(array(keys)) as ArrayRef).collect()
}

proptest! {
    #[test]
    fn texts_come_back(keys in prop::collection::vec("\\PC{0,12}", 1..400), batch in 1usize..100, picks: Vec<prop::sample::Index>) {
        let arrays = in_batches(&keys, batch, |keys| StringArray::from_iter_values(keys));
        for memory in MEMORY {
            let stored = row_keys(&arrays, memory).unwrap();
            prop_assert_eq!(stored.rows(), keys.len() as u64);
            let rows: Vec<u64> = picks.iter().map(|pick| pick.index(keys.len()) as u64).collect();
            let found = stored.gather(&rows).unwrap();
            let expected = StringArray::from_iter_values(rows.iter().map(|row| &keys[*row as usize]));
            prop_assert_eq!(found.as_string::<i32>(), &expected);
            let all = stored.range(0..stored.rows()).unwrap();
            prop_assert_eq!(all.as_string::<i32>(), &StringArray::from_iter_values(&keys));
        }
    }

    #[test]
    fn texts_with_numbers_come_back(
        prefix in "[a-z]{0,2}0?",
        numbers in prop::collection::vec(prop_oneof![200 => 0u64..300, 1 => any::<u64>()], 1..400),
        consecutive: bool, other in prop::option::of("0?[0-9]{0,3}x?"), batch in 1usize..100,
    ) {
        let number = |(at, number): (usize, &u64)| if consecutive { numbers[0].wrapping_add(at as u64) } else { *number };
        let keys = numbers.iter().enumerate().map(number).map(|number| format!("{prefix}{number}"));
        let keys: Vec<String> = keys.chain(other).collect();
        let arrays = in_batches(&keys, batch, |keys| StringArray::from_iter_values(keys));
        for memory in MEMORY {
            let stored = row_keys(&arrays, memory).unwrap();
            prop_assert_eq!((stored.rows(), stored.kind()), (keys.len() as u64, KeyKind::Text));
            let all = stored.range(0..stored.rows()).unwrap();
            prop_assert_eq!(all.as_string::<i32>(), &StringArray::from_iter_values(&keys));
            let rows: Vec<u64> = (0..stored.rows()).rev().collect();
            let found = stored.gather(&rows).unwrap();
            prop_assert_eq!(found.as_string::<i32>(), &StringArray::from_iter_values(keys.iter().rev()));
            let missing = stored.gather(&[0, stored.rows()]).unwrap_err();
            prop_assert_eq!(missing.place().row, Some(1));
        }
    }

    #[test]
    fn integers_come_back(start: u64, gaps in prop::collection::vec(0u64..4, 0..300), batch in 1usize..100) {
        // If all gaps are 1, the keys are consecutive and take no space; sums wrap around.
        for gaps in [gaps.clone(), vec![1; gaps.len()]] {
            let keys: Vec<u64> = gaps.iter().scan(start, |key, gap| { *key = key.wrapping_add(*gap); Some(*key) }).collect();
            let rows: Vec<u64> = (0..keys.len() as u64).rev().collect();
            let expected: Vec<u64> = keys.iter().rev().copied().collect();
            for memory in MEMORY {
                let unsigned = in_batches(&keys, batch, |keys| UInt64Array::from(keys.to_vec()));
                let stored = row_keys(&unsigned, memory).unwrap();
                let found = stored.gather(&rows).unwrap();
                if !keys.is_empty() {
                    prop_assert_eq!(found.as_primitive::<arrow_array::types::UInt64Type>().values(), &expected[..]);
                }
                let signed =
                    in_batches(&keys, batch, |keys| Int64Array::from_iter_values(keys.iter().map(|key| *key as i64)));
                let found = row_keys(&signed, memory).unwrap().gather(&rows).unwrap();
                let expected: Vec<i64> = expected.iter().map(|key| *key as i64).collect();
                prop_assert_eq!(found.as_primitive::<arrow_array::types::Int64Type>().values(), &expected[..]);
            }
        }
    }

    #[test]
    fn hashes_come_back_in_whatever_order_they_were_written(hashes: Vec<u128>, part in 1usize..40, threads in 1usize..4) {
        for memory in MEMORY {
            let builder = HashesBuilder::new(&Budget::new(1 << 24), &Scratch::new(None).unwrap(), memory);
            std::thread::scope(|scope| {
                for thread in 0..threads {
                    let (builder, hashes) = (&builder, &hashes);
                    scope.spawn(move || {
                        for (at, part_of) in hashes.chunks(part).enumerate().filter(|(at, _)| at % threads == thread) {
                            builder.write((at * part) as u64, part_of).unwrap();
                        }
                    });
                }
            });
            let written: Hashes = builder.finish().unwrap();
            prop_assert_eq!(written.rows(), hashes.len() as u64);
            let rows: Vec<u64> = (0..hashes.len() as u64).rev().collect();
            let mut found = Vec::new();
            written.gather(&rows, &mut found).unwrap();
            found.reverse();
            prop_assert_eq!(&found, &hashes);
            prop_assert_eq!(written.get(hashes.len() as u64), None);
        }
    }
}

#[test]
fn hashes_are_appended_and_gaps_are_zero() {
    for memory in MEMORY {
        let builder = HashesBuilder::new(&Budget::new(1 << 24), &Scratch::new(None).unwrap(), memory);
        builder.push(&[1; 10]).unwrap();
        builder.write(13, &[3]).unwrap();
        builder.push(&[4]).unwrap();
        let hashes = builder.finish().unwrap();
        let found: Vec<u128> = (9..hashes.rows()).filter_map(|row| hashes.get(row)).collect();
        assert_eq!(found, [1, 0, 0, 0, 3, 4]);
    }
    let builder = HashesBuilder::new(&Budget::new(0), &Scratch::new(None).unwrap(), 0);
    assert_eq!(builder.write(u64::MAX / 4, &[0]).unwrap_err().kind(), Kind::TooLarge);
    assert_eq!(builder.finish().unwrap().rows(), 0);
}

#[test]
fn what_is_wrong_is_named() {
    let text = |keys: &[Option<&str>]| Arc::new(StringArray::from(keys.to_vec())) as ArrayRef;
    let null = row_keys(&[text(&[Some("a"), Some("b")]), text(&[Some("c"), None])], 1 << 20).err().unwrap();
    assert_eq!((null.kind(), null.place().row), (Kind::Malformed, Some(3)));

    let keys = row_keys(&[text(&[Some("a"), Some("b")])], 1 << 20).unwrap();
    let missing = keys.gather(&[1, 0, 2]).unwrap_err();
    assert_eq!((missing.kind(), missing.place().row), (Kind::Malformed, Some(2)));

    let numbers = |keys: &[u64]| Arc::new(UInt64Array::from(keys.to_vec())) as ArrayRef;
    let small = || Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef;
    assert_eq!(row_keys(&[small(), numbers(&[3, u64::MAX])], 1 << 20).err().unwrap().place().row, Some(3));
    assert_eq!(row_keys(&[small(), text(&[Some("a")])], 1 << 20).err().unwrap().kind(), Kind::Unsupported);
    let floats = Arc::new(arrow_array::Float64Array::from(vec![1.0])) as ArrayRef;
    assert_eq!(row_keys(&[floats], 1 << 20).err().unwrap().kind(), Kind::Unsupported);

    let words: DictionaryArray<arrow_array::types::Int32Type> = ["x", "y", "x"].into_iter().collect();
    let words = row_keys(&[Arc::new(words)], 1 << 20).unwrap();
    assert_eq!((words.rows(), words.kind()), (3, KeyKind::Text));
}
