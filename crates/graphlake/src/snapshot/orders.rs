//! Predicates for which other writers wrote one order only, in all versions or in some, or a part of one.
//!
//! Both orders hold the same triples of each version (V9). If one of them has versions that the other lacks, or more
//! triples of a version that both have, and the other has nothing of its own, the first is complete, and is read for
//! both. If each has versions of its own, one was merged and the other was not, and both are complete. If each has more
//! triples of some version that both have, neither is complete. A file has a triple once, whatever its order, so
//! numbers of records are enough to decide, unless a writer has put a triple into several files of one version: then only
//! reading tells whether the orders differ (see [`NamedGraph::may_repeat`]).

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{DataFile, NamedGraph};
use crate::read::Order;

/// The complete order of a predicate whose orders differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OneOrder {
    /// `None` if each of the two lacks triples of the other.
    pub(crate) order: Option<Order>,
    /// Records by subject and by object.
    pub(crate) records: [u64; 2],
}

impl OneOrder {
    /// Returns the complete order, if they differ, given versions and records of the files by subject and of those by
    /// object.
    pub(crate) fn of(files: [&mut dyn Iterator<Item = (i64, u64)>; 2]) -> Option<Self> {
        let mut records = [0u64; 2];
        let mut versions: BTreeMap<i64, [u64; 2]> = BTreeMap::new();
        for (at, files) in files.into_iter().enumerate() {
            for (version, count) in files.filter(|(_, count)| *count > 0) {
                for sum in [records.get_mut(at), versions.entry(version).or_default().get_mut(at)].into_iter().flatten()
                {
                    *sum = sum.saturating_add(count);
                }
            }
        }
        let lacks = |at: usize| versions.values().any(|counts| counts.get(at) == Some(&0));
        // One was merged, the other was not.
        if lacks(0) && lacks(1) {
            return None;
        }
        let less = |than: Ordering| versions.values().any(|[subject, object]| subject.cmp(object) == than);
        let order = match (less(Ordering::Less), less(Ordering::Greater)) {
            (false, false) => return None,
            (false, true) => Some(Order::Subject),
            (true, false) => Some(Order::Object),
            (true, true) => None,
        };
        Some(OneOrder { order, records })
    }
}

/// Numbers of records by predicate and version, from an iteration over a list.
fn in_list(files: &[DataFile]) -> Vec<(&str, i64, u64)> {
    let mut all: Vec<(&str, i64, u64)> = Vec::new();
    for DataFile { predicate, snapshot_version, triple_count, .. } in files.iter().filter(|file| file.triple_count > 0)
    {
        match all.last_mut() {
            Some((last, version, sum)) if *last == predicate && version == snapshot_version => {
                *sum = sum.saturating_add(*triple_count);
            }
            _ => all.push((predicate, *snapshot_version, *triple_count)),
        }
    }
    all
}

impl NamedGraph {
    /// Predicates of which one order holds more than the other.
    pub(crate) fn of_one_order(&self) -> BTreeMap<&str, OneOrder> {
        // A writer of both orders lists them alike.
        if in_list(&self.subject_files) == in_list(&self.object_files) {
            return BTreeMap::new();
        }
        let mut files: BTreeMap<&str, [Vec<(i64, u64)>; 2]> = BTreeMap::new();
        for (list, order) in [&self.subject_files, &self.object_files].into_iter().zip(0..) {
            for DataFile { predicate, snapshot_version, triple_count, .. } in list {
                let own = files.entry(predicate).or_default().get_mut(order);
                own.into_iter().for_each(|own| own.push((*snapshot_version, *triple_count)));
            }
        }
        let one = |(predicate, [subject, object]): (_, [Vec<(i64, u64)>; 2])| {
            Some((predicate, OneOrder::of([&mut subject.into_iter(), &mut object.into_iter()])?))
        };
        files.into_iter().filter_map(one).collect()
    }

    /// Whether the orders of a predicate may hold the same triples although their numbers of records differ: each version is
    /// in both, and where one order has more records of a version, it has them in several files, which may share triples.
    pub(crate) fn may_repeat(&self, predicate: &str) -> bool {
        // Records and files by version.
        let mut versions: BTreeMap<i64, [(u64, u64); 2]> = BTreeMap::new();
        for (files, at) in [&self.subject_files, &self.object_files].into_iter().zip(0usize..) {
            for file in files.iter().filter(|file| file.predicate == predicate && file.triple_count > 0) {
                let own = versions.entry(file.snapshot_version).or_default().get_mut(at);
                own.into_iter().for_each(|(records, count)| {
                    *records = records.saturating_add(file.triple_count);
                    *count += 1;
                });
            }
        }
        versions.values().all(|[subject, object]| {
            let (more, less) = if subject.0 >= object.0 { (subject, object) } else { (object, subject) };
            less.0 > 0 && (more.0 == less.0 || more.1 > 1)
        })
    }

    /// The files that hold all triples by subject; for predicates whose files by object hold more, those.
    pub fn once(&self) -> impl Iterator<Item = &DataFile> {
        let mut by_object = self.of_one_order();
        by_object.retain(|_, one| one.order == Some(Order::Object));
        let (mut subject, mut object) = (Vec::new(), Vec::new());
        match by_object.is_empty() {
            true => subject.extend(&self.subject_files),
            false => {
                let is_of = |file: &&DataFile| by_object.contains_key(file.predicate.as_str());
                subject.extend(self.subject_files.iter().filter(|file| !is_of(file)));
                object.extend(self.object_files.iter().filter(is_of));
            }
        }
        subject.into_iter().chain(object)
    }
}
