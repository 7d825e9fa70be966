//! Ids that are repeated, and ends that are none of them.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, StringArray};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::lookup::{Asked, IdsInOrder, LookupOptions, WrongId, wrong_ids};
use proptest::prelude::*;

fn columns(keys: &[i64], are_texts: bool) -> ArrayRef {
    match are_texts {
        true => Arc::new(StringArray::from_iter_values(keys.iter().map(|key| format!("key {key}")))),
        false => Arc::new(Int64Array::from(keys.to_vec())),
    }
}

fn named(key: i64, are_texts: bool) -> String {
    if are_texts { format!("key {key}") } else { key.to_string() }
}

proptest! {
    /// In memory and in temporary files, what is found is what comparing all with all finds.
    #[test]
    fn what_is_wrong_is_found(
        ids in prop::collection::vec(-40i64..40, 0..60),
        ends in prop::collection::vec(-45i64..45, 0..60),
        are_texts in any::<bool>(),
        memory in prop::sample::select(vec![0u64, 64 << 20]),
        size in 1usize..20,
    ) {
        let budget = Budget::new(128 << 20);
        let options = LookupOptions::new(&budget, &Scratch::new(None).unwrap()).memory(memory);
        let mut first = HashMap::new();
        let mut repeated = Vec::new();
        for (row, id) in (0u64..).zip(&ids) {
            match first.get(id) {
                Some(first) => repeated.push(WrongId { row, first: Some(*first), id: named(*id, are_texts) }),
                None => drop(first.insert(*id, row)),
            }
        }
        let lost: Vec<WrongId> = (0u64..)
            .zip(&ends)
            .filter(|(_, end)| !first.contains_key(*end))
            .map(|(at, end)| WrongId { row: at + 100, first: None, id: named(*end, are_texts) })
            .collect();
        let found = wrong_ids(&options, 1_000, |asked, take| match asked {
            Asked::Ids => ids.chunks(size).try_for_each(|ids| take(0.into(), columns(ids, are_texts).as_ref())),
            Asked::Ends => (100u64..).step_by(size).zip(ends.chunks(size)).try_for_each(|(row, ends)| {
                take(row.into(), columns(ends, are_texts).as_ref())
            }),
        }).unwrap();
        prop_assert_eq!((found.repeats, found.losses), (repeated.len() as u64, lost.len() as u64));
        prop_assert_eq!(&found.lost, &lost);
        // Temporary files name the first 16.
        prop_assert!(found.repeated.len() == repeated.len() || memory == 0 && found.repeated.len() == 16);
        prop_assert_eq!(&found.repeated[..], &repeated[..found.repeated.len()]);
        let mut pass = IdsInOrder::new(options);
        for ids in ids.chunks(size) {
            pass.push_ids(columns(ids, are_texts).as_ref()).unwrap();
        }
        for ends in ends.chunks(size) {
            pass.push_ends(columns(ends, are_texts).as_ref()).unwrap();
        }
        let is_sound = pass.finish().unwrap();
        prop_assert!(!is_sound || found.is_empty());
        prop_assert!(is_sound || !found.is_empty() || memory == 0);
    }
}

#[test]
fn ids_after_ends_and_ids_of_two_kinds_are_in_doubt() {
    let budget = Budget::new(128 << 20);
    let options = LookupOptions::new(&budget, &Scratch::new(None).unwrap()).memory(64 << 20);
    let pass = |each: fn(&mut IdsInOrder)| {
        let mut pass = IdsInOrder::new(options.clone());
        each(&mut pass);
        pass.finish().unwrap()
    };
    assert!(pass(|_| {}));
    assert!(pass(|own| {
        own.push_ids(&columns(&[1], false)).unwrap();
        own.push_ends(&columns(&[1, 1], false)).unwrap();
    }));
    assert!(!pass(|own| {
        own.push_ids(&columns(&[1], false)).unwrap();
        own.push_ends(&columns(&[1], false)).unwrap();
        own.push_ids(&columns(&[2], false)).unwrap();
    }));
    assert!(!pass(|own| {
        own.push_ids(&columns(&[1], false)).unwrap();
        own.push_ids(&columns(&[2], true)).unwrap();
    }));
    assert!(!pass(|own| own.push_ends(&columns(&[1], true)).unwrap()));
}
