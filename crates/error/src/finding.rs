//! The findings of `validate`.

use std::collections::BTreeMap;

use crate::{Place, Result, Rule, Severity};

/// A broken rule, and where it is broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The broken rule.
    pub rule: &'static Rule,
    /// What is wrong, in one line.
    pub message: String,
    /// Where.
    pub place: Place,
}

/// Findings collected during a check. Only the count and the first few findings of each rule are kept, so that a file with a
/// million broken rows needs no more memory than one with ten.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    by_rule: BTreeMap<&'static str, (u64, Vec<Finding>)>,
    keep: usize,
}

impl Findings {
    /// Creates a collection that keeps the first `keep` findings of each rule.
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

    /// Adds the rule that an error breaks; returns whether there is no error.
    ///
    /// # Errors
    /// Returns an error that breaks no rule.
    pub fn note(&mut self, read: Result<()>) -> Result<bool> {
        let Err(error) = read else { return Ok(true) };
        let Some(rule) = error.broken_rule() else { return Err(error) };
        self.push(rule, error.message(), error.place().clone());
        Ok(false)
    }

    /// Appends the findings of another collection.
    pub fn merge(&mut self, other: Findings) {
        for (id, (count, findings)) in other.by_rule {
            let (total, kept) = self.by_rule.entry(id).or_default();
            *total += count;
            let room = self.keep.max(1).saturating_sub(kept.len());
            kept.extend(findings.into_iter().take(room));
        }
    }

    /// Sorts the findings of each rule by line and byte offset and keeps the first `keep`, so that findings of several threads come in
    /// the order in which one thread would find them.
    pub fn in_order(mut self, keep: usize) -> Self {
        for (_, kept) in self.by_rule.values_mut() {
            kept.sort_by_key(|finding| (finding.place.line, finding.place.offset));
            kept.truncate(keep.max(1));
        }
        self.keep = keep;
        self
    }

    /// Returns, for each rule in the order of their ids, the number of findings and the first few of them.
    pub fn by_rule(&self) -> impl Iterator<Item = (u64, &[Finding])> {
        self.by_rule.values().map(|(count, kept)| (*count, kept.as_slice()))
    }

    /// Returns the highest severity, or `None` if there are no findings.
    pub fn worst(&self) -> Option<Severity> {
        self.by_rule.values().flat_map(|(_, kept)| kept).map(|finding| finding.rule.severity).max()
    }

    /// Returns true if there are no findings.
    pub fn is_empty(&self) -> bool {
        self.by_rule.is_empty()
    }

    /// Returns how often `rule` is broken.
    pub fn count(&self, rule: &'static Rule) -> u64 {
        self.by_rule.get(rule.id).map_or(0, |(count, _)| *count)
    }
}
