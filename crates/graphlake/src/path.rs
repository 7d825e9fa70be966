//! Names of data files below the root that the user opened.

use isomorph_error::{Place, Result};

/// Returns the name, relative to the opened root, of the file that metadata calls `path` in a store that states
/// `location` as its own. The stated location is used for nothing else: stores may be moved.
///
/// # Errors
/// Returns an error if the name leads out of the root.
pub(crate) fn resolve(path: &str, location: &str) -> Result<String> {
    let own = location.trim_end_matches('/');
    let below = if own.is_empty() { None } else { path.strip_prefix(own).filter(|rest| rest.starts_with('/')) };
    let name = below.unwrap_or(path).trim_start_matches('/');
    isomorph_storage::check_relative(name).map_err(|error| error.at(Place::field("path")))?;
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::resolve;

    #[test]
    fn names_stay_below_the_root() {
        assert_eq!(resolve("graphs/g/p/f.bin", "/lake").unwrap(), "graphs/g/p/f.bin");
        assert_eq!(resolve("/lake/graphs/f.bin", "/lake/").unwrap(), "graphs/f.bin");
        assert_eq!(resolve("/data/triples/file123.triples", "/lake").unwrap(), "data/triples/file123.triples");
        assert_eq!(resolve("/lakes/f.bin", "/lake").unwrap(), "lakes/f.bin");
        for bad in ["../f.bin", "/lake/../f.bin", "a/../../f", "", "/", "a\\..\\b", "a\0b", "C:/x"] {
            assert!(resolve(bad, "/lake").is_err(), "{bad:?}");
        }
    }
}
