//! Counts the facts that only one of two graphs has, line by line: both are multisets of facts.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use isomorph_error::{Error, Result};
use isomorph_model::Source;
use isomorph_model::digest::{FactTaker, Line, Table};
use isomorph_storage::{Reservation, Resources};

use crate::digests::each_fact;
use crate::progress::Progress;

/// Number of buckets in which facts are summed; only the facts of buckets that differ are compared one by one.
const BUCKETS: usize = 1 << 16;

/// Maximum number of facts that are compared without buckets.
const FEW: u64 = 1 << 18;

/// Memory for one fact that is compared, in bytes; twice its size, because lists grow.
const OF_FACT: u64 = 2 * size_of::<Fact>() as u64;

/// The hash of a fact, the number of its line, and whether it is added (1) or removed (-1).
type Fact = (u128, u32, i8);

/// Number of facts that only the left and only the right graph has, for each line that differs.
pub(super) type OneSided = BTreeMap<Line, [u64; 2]>;

/// Counts the facts. Both graphs are read once or twice; more often if the facts that may differ do not fit into
/// memory.
///
/// # Errors
/// If a graph cannot be read.
pub(super) fn count(
    sides: [&dyn Source; 2],
    tables: [&Table; 2],
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<OneSided> {
    let room = resources.budget.available() / 2 / OF_FACT;
    count_in(sides, tables, (FEW, room), resources, progress)
}

/// The same, with limits: up to `few` facts without buckets, and `room` facts in memory.
fn count_in(
    sides: [&dyn Source; 2],
    tables: [&Table; 2],
    (few, room): (u64, u64),
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<OneSided> {
    let [left, right] = tables;
    let differing = left.differences(right);
    let mut counts: OneSided = differing.iter().map(|(line, ..)| ((*line).clone(), [0; 2])).collect();
    let names: Vec<Line> = counts.keys().cloned().collect();
    let numbers: HashMap<Line, u32> = names.iter().cloned().zip(0..).collect();
    let numbers = Arc::new(numbers);
    let all: u64 = differing.iter().map(|(_, left, right)| left.count.saturating_add(right.count)).sum();
    let buckets = match all <= few {
        true => None,
        false => {
            let [mut sums, others] =
                [sums(sides[0], &numbers, resources, progress)?, sums(sides[1], &numbers, resources, progress)?];
            sums.iter_mut().zip(others).for_each(|(sum, other)| *sum = sum.wrapping_sub(other));
            Some(Arc::new(sums.into_iter().map(|sum| sum != 0).collect::<Vec<bool>>()))
        }
    };
    let open = buckets.as_ref().map_or(BUCKETS, |buckets| buckets.iter().filter(|open| **open).count());
    let expected = (all / BUCKETS as u64 + 1).saturating_mul(open as u64).min(all);
    let rounds = expected.div_ceil(room.max(1)).max(1);
    for round in 0..u128::from(rounds) {
        let buckets = buckets.clone();
        let wanted = move |hash: u128| {
            let is_open = buckets.as_ref().is_none_or(|buckets| buckets.get(bucket(hash)) == Some(&true));
            // The upper half of the hash: the lower half selects the bucket.
            is_open && (hash >> 64) % u128::from(rounds) == round
        };
        let [left, right] = [
            facts(sides[0], &numbers, wanted.clone(), resources, progress)?,
            facts(sides[1], &numbers, wanted, resources, progress)?,
        ];
        compare(&left.facts, &right.facts, &mut |line, side, count| {
            if let Some(counts) = names.get(line as usize).and_then(|line| counts.get_mut(line)) {
                counts[side] += count;
            }
        });
    }
    Ok(counts)
}

fn bucket(hash: u128) -> usize {
    hash as usize % BUCKETS
}

/// The sums of the facts of a graph, by bucket.
fn sums(
    side: &dyn Source,
    numbers: &Arc<HashMap<Line, u32>>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Vec<u128>> {
    let _held = resources.budget.reserve((BUCKETS * size_of::<u128>()) as u64)?;
    let sums = Arc::new(Mutex::new(vec![0u128; BUCKETS]));
    let (numbers, shared) = (Arc::clone(numbers), Arc::clone(&sums));
    let taker: FactTaker = Arc::new(move |line, there, withdrawn| {
        if !numbers.contains_key(line) {
            return;
        }
        let mut sums = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut add = |hash: u128, by: u128| {
            if let Some(sum) = sums.get_mut(bucket(hash)) {
                *sum = sum.wrapping_add(by);
            }
        };
        there.iter().for_each(|hash| add(*hash, *hash));
        withdrawn.iter().for_each(|hash| add(*hash, hash.wrapping_neg()));
    });
    each_fact(side, taker, resources, progress)?;
    Ok(std::mem::take(&mut *sums.lock().unwrap_or_else(PoisonError::into_inner)))
}

/// Facts of one graph that are compared, in order.
struct Facts {
    facts: Vec<Fact>,
    held: Reservation,
    /// Set if memory was too short.
    failed: Option<Error>,
}

/// The facts of a graph for which `wanted` is true.
fn facts(
    side: &dyn Source,
    numbers: &Arc<HashMap<Line, u32>>,
    wanted: impl Fn(u128) -> bool + Send + Sync + 'static,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Facts> {
    let kept = Facts { facts: Vec::new(), held: resources.budget.reserve(0)?, failed: None };
    let kept = Arc::new(Mutex::new(kept));
    let (numbers, shared) = (Arc::clone(numbers), Arc::clone(&kept));
    let taker: FactTaker = Arc::new(move |line, there, withdrawn| {
        let Some(number) = numbers.get(line) else { return };
        let there = there.iter().map(|hash| (*hash, 1));
        let all = there.chain(withdrawn.iter().map(|hash| (*hash, -1)));
        let new: Vec<Fact> = all.filter(|(hash, _)| wanted(*hash)).map(|(hash, sign)| (hash, *number, sign)).collect();
        let mut kept = shared.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.held.grow(new.len() as u64 * OF_FACT) {
            Ok(()) => kept.facts.extend(new),
            Err(error) => kept.failed = Some(error),
        }
    });
    each_fact(side, taker, resources, progress)?;
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = kept.failed.take() {
        return Err(error);
    }
    let (mut facts, held) =
        (std::mem::take(&mut kept.facts), std::mem::replace(&mut kept.held, resources.budget.reserve(0)?));
    facts.sort_unstable();
    Ok(Facts { facts, held, failed: None })
}

/// For each fact, calls `tell` with the surplus of one side: the number of its line, the side, the number of facts.
fn compare(left: &[Fact], right: &[Fact], tell: &mut dyn FnMut(u32, usize, u64)) {
    let (mut left, mut right) = (left, right);
    while let Some((hash, line, _)) = [left.first(), right.first()].into_iter().flatten().min().copied() {
        let times = |side: &mut &[Fact]| {
            let same = side.iter().take_while(|fact| fact.0 == hash && fact.1 == line).count();
            let (these, rest) = side.split_at_checked(same).unwrap_or((&[], side));
            *side = rest;
            these.iter().map(|(.., sign)| i64::from(*sign)).sum::<i64>()
        };
        let (one, other) = (times(&mut left), times(&mut right));
        match one.cmp(&other) {
            std::cmp::Ordering::Equal => {}
            std::cmp::Ordering::Greater => tell(line, 0, one.abs_diff(other)),
            std::cmp::Ordering::Less => tell(line, 1, one.abs_diff(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use isomorph_zoo::multilayer;

    use super::*;
    use crate::digests::digest;
    use crate::progress::Silent;

    #[test]
    fn buckets_and_rounds_do_not_change_the_counts() {
        let resources = Resources { threads: 2, ..Resources::of_this_machine().unwrap() };
        for seed in 1..4 {
            let [left, right] = [seed, seed + 1].map(multilayer);
            let sides: [&dyn Source; 2] = [&left, &right];
            let tables = sides.map(|side| digest(side, &resources, &Silent).unwrap().table);
            let count =
                |few, room| count_in(sides, [&tables[0], &tables[1]], (few, room), &resources, &Silent).unwrap();
            let all = count(u64::MAX, u64::MAX);
            assert!(all.values().any(|[left, right]| *left > 0 && *right > 0), "{all:?}");
            for (few, room) in [(0, u64::MAX), (u64::MAX, 7), (0, 5)] {
                assert_eq!(count(few, room), all, "seed {seed}, {few} {room}");
            }
        }
    }
}
