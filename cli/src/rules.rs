//! All rules that a finding or an error may name.

use std::collections::BTreeSet;

use isomorph::convert::{self, Registry};
use isomorph::error::Rule;
use isomorph::{storage, tables};

/// Rules of locations.
static PLACES: &[&Rule] = &[&storage::PATH_ESCAPE];

/// Returns all rules, by subject. Formats with the same rules are listed once, by the first of them.
pub fn all(formats: &Registry) -> Vec<(&'static str, &'static [&'static Rule])> {
    let mut seen = BTreeSet::new();
    let formats = formats.all().iter().map(|format| (format.name(), format.traits().rules));
    let formats = formats.filter(move |(_, rules)| rules.is_empty() || seen.insert(rules.as_ptr()));
    formats.chain([("tables", tables::rules::RULES), ("places", PLACES), ("conversions", convert::RULES)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_over_all_crates() {
        let mut ids: Vec<&str> =
            all(&Registry::standard()).into_iter().flat_map(|(_, rules)| rules).map(|rule| rule.id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
