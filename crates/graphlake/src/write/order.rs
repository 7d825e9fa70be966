//! Sorts texts by their bytes, without comparing their common prefixes again and again.

use std::cmp::Ordering;
use std::ops::Range;

use super::intern::Interner;

/// At most this many texts are sorted by comparison; more are sorted by eight bytes at a time.
const FEW: usize = 12;

/// Bytes of a key.
const KEY: usize = 8;

/// Returns the numbers of all texts in the order of their bytes; `tags` compares the tags of equal texts.
#[expect(clippy::cast_possible_truncation, reason = "numbers of texts have 32 bits")]
pub(super) fn sorted(texts: &Interner, tags: &dyn Fn(u32, u32) -> Ordering) -> Vec<u32> {
    let mut items: Vec<(u64, u32)> = (0..texts.len() as u32).map(|id| (0, id)).collect();
    // Work to do: a range whose texts agree in this many bytes.
    let mut left: Vec<(Range<usize>, usize)> = vec![(0..items.len(), 0)];
    while let Some((range, depth)) = left.pop() {
        let start = range.start;
        let Some(items) = items.get_mut(range) else { continue };
        let of_tags = |one: u32, other: u32| tags(texts.tag(one), texts.tag(other));
        let behind = |id: u32, depth: usize| texts.text(id).get(depth..).unwrap_or_default();
        if items.len() <= FEW {
            items.sort_unstable_by(|(_, one), (_, other)| {
                behind(*one, depth).cmp(behind(*other, depth)).then_with(|| of_tags(*one, *other))
            });
            continue;
        }
        let depth = depth + common(items, |id| behind(id, depth));
        items.iter_mut().for_each(|(key, id)| *key = key_of(behind(*id, depth)));
        items.sort_unstable_by_key(|(key, _)| *key);
        let mut at = 0;
        for group in items.chunk_by_mut(|(one, _), (other, _)| one == other) {
            let begin = start + at;
            at += group.len();
            if group.len() < 2 {
                continue;
            }
            // Texts that end within the key come first, the shorter ones before the longer: if their keys are equal,
            // the longer ones continue with zeros.
            group.sort_unstable_by_key(|(_, id)| behind(*id, depth).len().min(KEY + 1));
            let ended = group.partition_point(|(_, id)| behind(*id, depth).len() <= KEY);
            let (done, rest) = group.split_at_mut(ended);
            for equal in done.chunk_by_mut(|(_, one), (_, other)| texts.text(*one).len() == texts.text(*other).len()) {
                equal.sort_unstable_by(|(_, one), (_, other)| of_tags(*one, *other));
            }
            if rest.len() > 1 {
                left.push((begin + ended..start + at, depth + KEY));
            }
        }
    }
    items.into_iter().map(|(_, id)| id).collect()
}

/// The length of the common prefix.
fn common<'t>(items: &[(u64, u32)], text: impl Fn(u32) -> &'t [u8]) -> usize {
    let Some(((_, first), others)) = items.split_first() else { return 0 };
    let first = text(*first);
    let mut length = first.len();
    for (_, id) in others {
        let same = first.iter().take(length).zip(text(*id)).take_while(|(one, other)| one == other).count();
        length = length.min(same);
        if length == 0 {
            break;
        }
    }
    length
}

/// The first eight bytes as a number that compares as they do; padded with zeros.
fn key_of(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            let mut padded = [0; KEY];
            padded.iter_mut().zip(bytes).for_each(|(out, byte)| *out = *byte);
            u64::from_be_bytes(padded)
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_order_is_that_of_bytes() {
        let mut state = 11u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let stems = ["", "\0", "http://example.org/", "http://example.org/\0\0\0\0\0\0\0\0\0", "aaaaaaaa", "é"];
        let mut texts = Interner::new();
        for _ in 0..20_000 {
            let stem = stems[next(stems.len() as u64) as usize];
            let text = format!("{stem}{}{}", "\0".repeat(next(12) as usize), "z".repeat(next(20) as usize));
            let text = if next(2) == 0 { text } else { format!("{text}{}", next(3_000)) };
            texts.intern(next(3) as u32, &text, || Ok(())).unwrap();
        }
        // Tags with an order of their own.
        let tags = |one: u32, other: u32| other.cmp(&one);
        let key = |id: &u32| (texts.text(*id).to_vec(), std::cmp::Reverse(texts.tag(*id)));
        let mut expected: Vec<u32> = (0..texts.len() as u32).collect();
        expected.sort_by_key(key);
        assert!(texts.len() > 3_000);
        assert!(sorted(&texts, &tags) == expected);
    }
}
