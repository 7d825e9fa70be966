//! Radix sort of packed keys: first into buckets, then within the cache.

use super::keys::Element;

/// Up to this length, comparisons are faster than counting.
const SMALL: usize = 192;

/// Above this number of elements, the two copies of a counting pass do not fit into the cache.
const LARGE: usize = 1 << 16;

/// Sorts by (rest of the key, position). `start` is the lowest bit of the key. Elements with equal keys must already be in the
/// order of their positions. `scratch` grows to the length of `elements`.
pub(super) fn sort<E: Element>(elements: &mut [E], scratch: &mut Vec<E>, start: u32) {
    if elements.len() <= SMALL {
        elements.sort_unstable();
        return;
    }
    let end = E::spread(elements);
    if end <= start {
        return;
    }
    if scratch.len() < elements.len() {
        scratch.resize(elements.len(), E::default());
    }
    if elements.len() > LARGE && end - start > 8 {
        by_highest_byte(elements, scratch, start, end);
    } else {
        by_lowest_byte_first(elements, scratch, start, end);
    }
}

/// Splits by the highest eight of the bits `start..end`, then sorts each part.
fn by_highest_byte<E: Element>(elements: &mut [E], scratch: &mut Vec<E>, start: u32, end: u32) {
    let shift = end - 8;
    let mut counts = [0usize; 256];
    for element in elements.iter() {
        counts[usize::from(element.byte(shift))] += 1;
    }
    let mut next = starts(&counts);
    for &element in elements.iter() {
        let at = &mut next[usize::from(element.byte(shift))];
        scratch[*at] = element;
        *at += 1;
    }
    elements.copy_from_slice(&scratch[..elements.len()]);
    let mut rest = elements;
    for count in counts {
        let (part, behind) = rest.split_at_mut(count);
        sort(part, scratch, start);
        rest = behind;
    }
}

/// Stable counting passes over the bits `start..end`, lowest first.
fn by_lowest_byte_first<E: Element>(elements: &mut [E], scratch: &mut [E], start: u32, end: u32) {
    let scratch = &mut scratch[..elements.len()];
    let passes = (end - start).div_ceil(8);
    let bits = (end - start).div_ceil(passes);
    let mask = u8::MAX >> (8 - bits);
    let mut counts = vec![[0usize; 256]; passes as usize];
    for element in elements.iter() {
        for (counts, shift) in counts.iter_mut().zip((start..).step_by(bits as usize)) {
            counts[usize::from(element.byte(shift) & mask)] += 1;
        }
    }
    let (mut from, mut to) = (&mut *elements, &mut *scratch);
    let mut moved = false;
    for (counts, shift) in counts.iter().zip((start..).step_by(bits as usize)) {
        if counts.contains(&from.len()) {
            continue;
        }
        let mut next = starts(counts);
        for &element in from.iter() {
            let at = &mut next[usize::from(element.byte(shift) & mask)];
            to[*at] = element;
            *at += 1;
        }
        (from, to) = (to, from);
        moved = !moved;
    }
    if moved {
        elements.copy_from_slice(scratch);
    }
}

/// Returns the start of each value's elements.
fn starts(counts: &[usize; 256]) -> [usize; 256] {
    let mut sum = 0;
    counts.map(|count| {
        let start = sum;
        sum += count;
        start
    })
}

#[cfg(test)]
mod tests {
    use super::super::keys::{Layout, Wide};
    use super::*;

    /// A few million pseudo-random numbers without a dependency.
    fn numbers(count: usize) -> impl Iterator<Item = u64> {
        let mut state = 0x9E37_79B9_7F4A_7C15u64;
        (0..count).map(move |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        })
    }

    fn check<E: Element>(rows: usize, bits: u32) {
        let layout = Layout::new(bits, bits, rows, true);
        let key = |number: u64| number >> (64 - bits);
        let mut elements: Vec<E> = numbers(rows)
            .zip(numbers(rows + 1).skip(1))
            .zip(0..)
            .map(|((a, b), index)| E::pack(&layout, key(a), key(b), index))
            .collect();
        let mut expected = elements.clone();
        expected.sort();
        sort(&mut elements, &mut Vec::new(), E::key_start(&layout));
        assert!(elements == expected, "{rows} rows, {bits} bits");
    }

    #[test]
    fn equals_a_comparison_sort() {
        for rows in [0, 1, 2, SMALL, SMALL + 1, 5_000, LARGE + 1] {
            check::<u64>(rows, 3);
            check::<u64>(rows, 20);
            check::<u128>(rows, 40);
            check::<Wide>(rows, 64);
        }
    }

    #[test]
    fn one_far_key_does_not_disturb_the_others() {
        let mut elements: Vec<u64> = numbers(LARGE * 2).map(|n| n >> 40).collect();
        elements.push(u64::MAX);
        let mut expected = elements.clone();
        expected.sort_unstable();
        sort(&mut elements, &mut Vec::new(), 0);
        assert!(elements == expected);
    }
}
