//! Every rule that a finding or an error may name.

use isomorph::convert::{self, Format};
use isomorph::error::Rule;
use isomorph::{storage, tables};

/// Rules of places.
static PLACES: &[&Rule] = &[&storage::PATH_ESCAPE];

/// All rules, by what they are about.
pub fn all() -> Vec<(&'static str, &'static [&'static Rule])> {
    let formats = Format::ALL.iter().map(|format| (format.name(), format.rules()));
    formats.chain([("tables", tables::rules::RULES), ("places", PLACES), ("conversions", convert::RULES)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_over_all_crates() {
        let mut ids: Vec<&str> = all().into_iter().flat_map(|(_, rules)| rules).map(|rule| rule.id).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }
}
