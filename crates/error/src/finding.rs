//! What `validate` reports.

use std::collections::BTreeMap;

use crate::{Place, Rule, Severity};

/// One breach of one rule at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The broken rule.
    pub rule: &'static Rule,
    /// What is wrong here, one line.
    pub message: String,
    /// Where.
    pub place: Place,
}

/// Findings collected during a check: each rule keeps its count and its first few places, so that a file with a
/// million broken rows costs no more memory than one with ten.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    by_rule: BTreeMap<&'static str, (u64, Vec<Finding>)>,
    keep: usize,
}

impl Findings {
    /// Keeps the first `keep` places of each rule.
    pub fn keeping(keep: usize) -> Self {
        Findings { by_rule: BTreeMap::new(), keep }
    }

    /// Adds one finding.
    pub fn push(&mut self, rule: &'static Rule, message: impl Into<String>, place: impl Into<Place>) {
        let (count, kept) = self.by_rule.entry(rule.id).or_default();
        *count += 1;
        if kept.len() < self.keep.max(1) {
            kept.push(Finding { rule, message: message.into(), place: place.into() });
        }
    }

    /// Adds the findings of another collection, behind these.
    pub fn merge(&mut self, other: Findings) {
        for (id, (count, findings)) in other.by_rule {
            let (total, kept) = self.by_rule.entry(id).or_default();
            *total += count;
            let room = self.keep.max(1).saturating_sub(kept.len());
            kept.extend(findings.into_iter().take(room));
        }
    }

    /// The same with the places of each rule by line and byte, and no more than the first `keep` of them: what several threads have
    /// found comes in the order of one.
    pub fn in_order(mut self, keep: usize) -> Self {
        for (_, kept) in self.by_rule.values_mut() {
            kept.sort_by_key(|finding| (finding.place.line, finding.place.offset));
            kept.truncate(keep.max(1));
        }
        self.keep = keep;
        self
    }

    /// Per rule, in the order of their ids: how many breaches, and the first places.
    pub fn by_rule(&self) -> impl Iterator<Item = (u64, &[Finding])> {
        self.by_rule.values().map(|(count, kept)| (*count, kept.as_slice()))
    }

    /// The worst severity, or nothing when there is no finding.
    pub fn worst(&self) -> Option<Severity> {
        self.by_rule.values().flat_map(|(_, kept)| kept).map(|finding| finding.rule.severity).max()
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.by_rule.is_empty()
    }

    /// Number of breaches of `rule`.
    pub fn count(&self, rule: &'static Rule) -> u64 {
        self.by_rule.get(rule.id).map_or(0, |(count, _)| *count)
    }
}
