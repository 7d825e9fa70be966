//! Which places an executor opens.

use std::path::{Path, PathBuf};

use isomorph::{Error, Kind, Location, Result};

/// Directories and URLs below which an executor opens graphs.
#[derive(Debug, Clone)]
pub(crate) struct Allowed(Vec<Prefix>);

#[derive(Debug, Clone)]
enum Prefix {
    Directory(PathBuf),
    Url(String),
}

impl Allowed {
    /// These, and nothing else.
    ///
    /// # Errors
    /// If a directory does not exist, or a text is no location.
    pub fn of(prefixes: &[String]) -> Result<Self> {
        let one = |text: &String| {
            let location = Location::parse(text)?;
            Ok(match location.as_path() {
                Some(path) => {
                    Prefix::Directory(std::fs::canonicalize(path).map_err(|error| Error::from(error).at(text.clone()))?)
                }
                None => Prefix::Url(location.to_string()),
            })
        };
        prefixes.iter().map(one).collect::<Result<_>>().map(Allowed)
    }

    /// Checks that a place may be opened: links are followed first.
    ///
    /// # Errors
    /// [`Kind::Usage`] if it may not, [`Kind::NotFound`] if it may and does not exist.
    pub fn check(&self, place: &str) -> Result<()> {
        let location = Location::parse(place)?;
        let is_below = match location.as_path() {
            Some(path) => match std::fs::canonicalize(path) {
                Ok(whole) => self.has_directory(&whole),
                // Elsewhere nobody learns which files there are.
                Err(_) if self.has_nearest(path) => {
                    return Err(Error::new(Kind::NotFound, "no such file or directory on an executor")
                        .at(place.to_owned())
                        .hint("every machine of a cluster sees the graphs at the same path"));
                }
                Err(_) => false,
            },
            None => self.has_url(&location.to_string()),
        };
        let refused = || {
            Error::usage("this executor does not open this graph")
                .at(place.to_owned())
                .hint("isomorph cluster executor --allow DIR    graphs below DIR are opened")
        };
        if is_below { Ok(()) } else { Err(refused()) }
    }

    /// Whether what exists of a path is in a directory of these.
    fn has_nearest(&self, path: &Path) -> bool {
        let nearest = path.ancestors().find_map(|part| std::fs::canonicalize(part).ok());
        nearest.is_some_and(|nearest| self.has_directory(&nearest))
    }

    fn has_directory(&self, path: &Path) -> bool {
        self.0.iter().any(|prefix| matches!(prefix, Prefix::Directory(own) if path.starts_with(own)))
    }

    fn has_url(&self, url: &str) -> bool {
        // A server may read these as dots and slashes.
        let lower = url.to_ascii_lowercase();
        let is_plain = !["\\", "%2e", "%2f", "%5c"].iter().any(|other| lower.contains(other))
            && !url.split('/').any(|part| part == ".." || part == ".");
        let below = |own: &str| url.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        is_plain && self.0.iter().any(|prefix| matches!(prefix, Prefix::Url(own) if below(own)))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn places_are_below_a_prefix_or_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = |name: &str| home.path().join(name).display().to_string();
        for name in ["data/a", "data-of-others", "secret"] {
            std::fs::create_dir_all(path(name)).unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(path("secret"), path("data/link")).unwrap();
        let allowed = Allowed::of(&[path("data"), "s3://bucket/graphs/".to_owned()]).unwrap();
        let may = |place: &str| allowed.check(place).is_ok();
        assert!(may(&path("data")) && may(&path("data/a")) && may(&path("secret/../data/a")));
        assert!(may("s3://bucket/graphs") && may("s3://bucket/graphs/a.lake"));
        let kind = |place: &str| allowed.check(&path(place)).unwrap_err().kind();
        for place in ["data-of-others", "secret", "data/../secret", "data/link", "secret/none", "data/link/none"] {
            assert_eq!(kind(place), Kind::Usage, "{place}");
        }
        assert_eq!(kind("data/a/none"), Kind::NotFound);
        for url in [
            "s3://bucket/graphs-2",
            "s3://bucket",
            "s3://bucket/graphs/../x",
            "s3://bucket/graphs/%2e%2e/x",
            "s3://bucket/graphs/..\\x",
            "s3://other/graphs",
            "gs://bucket/graphs",
        ] {
            assert!(!may(url), "{url}");
        }
        assert!(Allowed::of(&[]).unwrap().check(&path("data")).is_err());
        assert!(Allowed::of(&[path("none")]).is_err());
    }
}
