//! Prefixes that are longer than namespaces: whole classes and datatypes, and frequent beginnings of names.
//!
//! A prefix costs about a hundred bytes in every snapshot and saves its length beyond the namespace in each record. A
//! sample of the terms of a file shows which beginnings of local names are frequent, and the most frequent are divided
//! first.

#![expect(clippy::cast_possible_truncation, reason = "a file has less than 2^32 namespaces, and fewer prefixes")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use isomorph_error::index;

/// Maximum number of these prefixes in a file.
const MOST: u64 = 128;

/// Minimum number of uses of a prefix, approximately.
const USES: u64 = 512;

/// Records of a file that are sampled, approximately.
const SAMPLE: u64 = 16 << 10;

/// Bytes of a term of the sample; terms of a record.
const OF_TERM: u64 = size_of::<(u32, &str)>() as u64;
const TERMS: u64 = 3;

/// The interval between sampled records, in a file of this many.
pub(super) fn step(rows: u64) -> u64 {
    rows / SAMPLE + 1
}

/// Memory for the choice, in bytes.
pub(super) fn memory(rows: u64) -> u64 {
    if rows < USES { 0 } else { (rows / step(rows) + 1) * TERMS * OF_TERM }
}

/// Beginnings of local names, as a tree for each namespace.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// The node of a namespace, by its number; 0 if it has none.
    roots: Vec<u32>,
}

#[derive(Debug, Default)]
struct Node {
    /// Bytes after those of the parent node.
    edge: Vec<u8>,
    /// Child nodes, and the first byte of each.
    below: Vec<u32>,
    firsts: Vec<u8>,
    /// Whether it is a prefix, and its number then.
    chosen: bool,
    prefix: i32,
}

/// A node that may be divided: the terms of the sample that begin with it, and its length in bytes.
struct Open {
    node: usize,
    terms: Range<usize>,
    depth: usize,
}

impl Tree {
    /// Chooses from the terms of a sample, given by their namespaces and local names, of a file with this many records.
    pub(super) fn choose(mut sample: Vec<(u32, &str)>, rows: u64) -> Self {
        let mut tree = Tree { nodes: vec![Node::default()], roots: Vec::new() };
        let most = index(MOST.min(rows / USES));
        if most == 0 {
            return tree;
        }
        let least = index(USES.div_ceil(step(rows)).max(2));
        sample.sort_unstable();
        let mut open: Vec<Open> = Vec::new();
        // The largest first; of equal ones the first in the input, so that equal files give equal trees.
        let mut queue = BinaryHeap::new();
        let mut start = 0;
        for same in sample.chunk_by(|one, other| one.0 == other.0) {
            let terms = start..start + same.len();
            start = terms.end;
            let Some(namespace) = same.first().map(|(number, _)| *number as usize).filter(|_| same.len() >= least)
            else {
                continue;
            };
            let node = tree.add(Node::default());
            if tree.roots.len() <= namespace {
                tree.roots.resize(namespace + 1, 0);
            }
            tree.roots[namespace] = node as u32;
            queue.push((terms.len(), Reverse(open.len())));
            open.push(Open { node, terms, depth: 0 });
        }
        let mut chosen = 0;
        while let Some((_, Reverse(at))) = queue.pop() {
            let Some(Open { node, terms, depth }) = open.get(at) else { continue };
            let (node, depth, begin) = (*node, *depth, terms.start);
            let names = sample.get(terms.clone()).unwrap_or_default();
            let next = |name: &str| name.get(depth..).and_then(|rest| rest.chars().next());
            let (mut groups, mut at) = (Vec::new(), begin);
            for group in names.chunk_by(|one, other| next(one.1) == next(other.1)) {
                let range = at..at + group.len();
                at = range.end;
                if group.len() >= least
                    && let [(_, first), .., (_, last)] = group
                    && next(first).is_some()
                {
                    groups.push((range, common(first, last), *first));
                }
            }
            let divided: usize = groups.iter().map(|(range, ..)| range.len()).sum();
            if groups.is_empty() || chosen + groups.len() > most {
                continue;
            }
            // The sample is not needed any more.
            if tree.nodes[node].chosen && divided == names.len() {
                tree.nodes[node].chosen = false;
                chosen -= 1;
            }
            for (terms, length, name) in groups {
                let edge = name.as_bytes().get(depth..length).unwrap_or_default().to_vec();
                let first = edge.first().copied().unwrap_or_default();
                let below = tree.add(Node { edge, chosen: true, ..Node::default() });
                chosen += 1;
                tree.nodes[node].below.push(below as u32);
                tree.nodes[node].firsts.push(first);
                queue.push((terms.len(), Reverse(open.len())));
                open.push(Open { node: below, terms, depth: length });
            }
        }
        tree
    }

    fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// All prefixes: the number of the namespace, the text after it, and a handle for [`Tree::number`].
    pub(super) fn chosen(&self) -> Vec<(u32, Vec<u8>, usize)> {
        let mut found = Vec::new();
        for (namespace, root) in self.roots.iter().enumerate().filter(|(_, root)| **root != 0) {
            let mut left = vec![(*root, Vec::new())];
            while let Some((at, text)) = left.pop() {
                let Some(node) = self.nodes.get(at as usize) else { continue };
                let text = [text, node.edge.clone()].concat();
                left.extend(node.below.iter().map(|below| (*below, text.clone())));
                if node.chosen {
                    found.push((namespace as u32, text, at as usize));
                }
            }
        }
        found
    }

    /// Gives a prefix its number.
    pub(super) fn number(&mut self, handle: usize, prefix: i32) {
        if let Some(node) = self.nodes.get_mut(handle) {
            node.prefix = prefix;
        }
    }

    /// The longest prefix of a local name of a namespace: its number, and its bytes after the namespace.
    pub(super) fn longest(&self, namespace: u32, local: &[u8]) -> Option<(i32, usize)> {
        let root = self.roots.get(namespace as usize).filter(|root| **root != 0)?;
        let mut node = self.nodes.get(*root as usize)?;
        let (mut at, mut best) = (0, None);
        while let Some(first) = local.get(at) {
            // Multi-byte characters may share their first bytes.
            let fitting = memchr::memchr_iter(*first, &node.firsts).find_map(|below| {
                let below = self.nodes.get(*node.below.get(below)? as usize)?;
                local.get(at..)?.starts_with(&below.edge).then_some(below)
            });
            let Some(below) = fitting else { break };
            at += below.edge.len();
            if below.chosen {
                best = Some((below.prefix, at));
            }
            node = below;
        }
        best
    }
}

/// Length of the common prefix of two texts in bytes, in whole characters.
fn common(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    (0..=same).rev().find(|end| one.is_char_boundary(*end) && other.is_char_boundary(*end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_often_is_chosen() {
        let numbers: Vec<String> = (0..20_000).map(|n| format!("r{}", n * 7 % 20_000)).collect();
        let mut sample: Vec<(u32, &str)> = numbers.iter().map(|name| (1, name.as_str())).collect();
        sample.extend((0..9_000).map(|n| (2, ["integer", "date", "日本", "日曜"][n % 4])));
        sample.extend((0..5).map(|_| (3, "rare")));
        let rows = sample.len() as u64;
        let mut tree = Tree::choose(sample.clone(), rows);
        let all = tree.chosen();
        assert!(all.len() > 20 && all.len() <= MOST as usize, "{}", all.len());
        (1..).zip(&all).for_each(|(prefix, (.., handle))| tree.number(*handle, prefix));
        for name in ["integer", "date", "日本", "日曜"] {
            assert_eq!(tree.longest(2, name.as_bytes()).map(|(_, length)| length), Some(name.len()), "{name}");
        }
        assert_eq!(tree.longest(2, "da".as_bytes()), None);
        assert_eq!(tree.longest(2, "日".as_bytes()), None);
        assert_eq!(tree.longest(3, b"rare"), None);
        assert_eq!(tree.longest(9, b"rare"), None);
        for (number, name) in &sample[..20_000] {
            let found = tree.longest(*number, name.as_bytes());
            assert!(found.is_some_and(|(_, length)| (1..=name.len()).contains(&length)), "{name} {found:?}");
        }
        // The text of a prefix is the beginning of the name that uses it.
        let text = |prefix: i32| all.get(prefix as usize - 1).map(|(number, text, _)| (*number, text.as_slice()));
        for (number, name) in &sample {
            if let Some((prefix, length)) = tree.longest(*number, name.as_bytes()) {
                assert_eq!(text(prefix), Some((*number, &name.as_bytes()[..length])));
            }
        }
    }

    #[test]
    fn small_files_have_namespaces_only() {
        let tree = Tree::choose(vec![(1, "a"); 500], 500);
        assert_eq!((tree.chosen().len(), tree.longest(1, b"a")), (0, None));
    }
}
