//! All rules that a finding or an error may name.

use isomorph::convert::{self, Registry};
use isomorph::error::Rule;
use isomorph::{storage, tables};

/// Rules of locations.
static PLACES: &[&Rule] = &[&storage::PATH_ESCAPE];

/// Returns all rules, by subject.
pub fn all(formats: &Registry) -> Vec<(&'static str, &'static [&'static Rule])> {
    let formats = formats.all().iter().map(|format| (format.name(), format.rules()));
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
