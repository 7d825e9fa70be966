//! Findings as documents.

use serde::Serialize;

use crate::{Finding, Findings, Place, Severity};

/// The findings of one rule, as a document.
#[derive(Debug, Serialize)]
pub struct RuleFindings<'a> {
    rule: &'static str,
    severity: Severity,
    says: &'static str,
    count: u64,
    places: Vec<FoundPlace<'a>>,
}

#[derive(Debug, Serialize)]
struct FoundPlace<'a> {
    message: &'a str,
    #[serde(flatten)]
    place: &'a Place,
}

impl Findings {
    /// The findings of at least this severity, by rule, worst first: how many breaches, and the first places.
    pub fn by_severity(&self, least: Severity) -> Vec<(u64, &[Finding])> {
        let severity = |kept: &[Finding]| kept.first().map(|finding| finding.rule.severity);
        let mut groups: Vec<_> = self.by_rule().filter(|(_, kept)| severity(kept) >= Some(least)).collect();
        groups.sort_by_key(|(_, kept)| std::cmp::Reverse(severity(kept)));
        groups
    }

    /// All findings by rule, worst first, to be serialized.
    pub fn documents<'f>(&'f self) -> Vec<RuleFindings<'f>> {
        let document = |(count, kept): (u64, &'f [Finding])| {
            let rule = kept.first()?.rule;
            let places = kept.iter().map(|finding| FoundPlace { message: &finding.message, place: &finding.place });
            let (places, severity, says) = (places.collect(), rule.severity, rule.says);
            Some(RuleFindings { rule: rule.id, severity, says, count, places })
        };
        self.by_severity(Severity::Note).into_iter().filter_map(document).collect()
    }
}
