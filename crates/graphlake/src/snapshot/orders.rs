//! Predicates of which other writers have written one order only, in all versions or in some.
//!
//! Both orders hold the same triples of each version (V9). Where one of them has versions that the other has not, and the other none of
//! its own, the first holds all there is: then it is read for both. Where each has some of its own, one was merged and the other was
//! not, and each holds all.

use std::collections::{BTreeMap, BTreeSet};

use super::{DataFile, NamedGraph};
use crate::read::Order;

/// The order that holds all, of a predicate whose orders do not hold the same versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OneOrder {
    pub(crate) order: Order,
    /// Records by subject and by object.
    pub(crate) records: [u64; 2],
}

impl OneOrder {
    /// The order that holds all, if it is one: told by versions and records of the files by subject and of those by object.
    pub(crate) fn of(files: [&mut dyn Iterator<Item = (i64, u64)>; 2]) -> Option<Self> {
        let mut records = [0u64; 2];
        let mut versions = [BTreeSet::new(), BTreeSet::new()];
        for ((files, sum), versions) in files.into_iter().zip(&mut records).zip(&mut versions) {
            for (version, count) in files.filter(|(_, count)| *count > 0) {
                *sum = sum.saturating_add(count);
                versions.insert(version);
            }
        }
        let [subject, object] = versions;
        let order = match (subject.is_superset(&object), object.is_superset(&subject)) {
            (true, false) => Order::Subject,
            (false, true) => Order::Object,
            _ => return None,
        };
        Some(OneOrder { order, records })
    }
}

impl NamedGraph {
    /// Predicates of which one order holds more than the other.
    pub(crate) fn of_one_order(&self) -> BTreeMap<&str, OneOrder> {
        // Whoever writes both lists them alike.
        let mut named: [Vec<(&str, i64)>; 2] = [&self.subject_files, &self.object_files].map(|files| {
            let there = files.iter().filter(|file| file.triple_count > 0);
            there.map(|file| (file.predicate.as_str(), file.snapshot_version)).collect()
        });
        named.iter_mut().for_each(Vec::dedup);
        if named[0] == named[1] {
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

    /// The files that hold all triples by subject; of predicates of which the files by object hold more, those.
    pub fn once(&self) -> impl Iterator<Item = &DataFile> {
        let mut by_object = self.of_one_order();
        by_object.retain(|_, one| one.order == Order::Object);
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
