//! Which places an executor opens.

use std::path::{Path, PathBuf};

use isomorph::{Error, Location, Result};

/// Directories and URLs below which an executor opens graphs.
#[derive(Debug, Clone)]
pub(crate) struct Allowed(Vec<Prefix>);

#[derive(Debug, Clone)]
enum Prefix {
    Directory(PathBuf),
    Url(String),
}

impl Allowed {
    /// These, or everything if there are none.
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
    /// [`isomorph::Kind::Usage`] if it may not.
    pub fn check(&self, place: &str) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let location = Location::parse(place)?;
        let is_below = match location.as_path() {
            // What does not exist is refused in the same words: nobody learns which files there are.
            Some(path) => std::fs::canonicalize(path).is_ok_and(|path| self.has_directory(&path)),
            None => self.has_url(&location.to_string()),
        };
        let refused = || {
            Error::usage("this executor does not open this place")
                .at(place.to_owned())
                .hint("isomorph cluster executor --allow DIR    places below DIR are opened")
        };
        if is_below { Ok(()) } else { Err(refused()) }
    }

    fn has_directory(&self, path: &Path) -> bool {
        self.0.iter().any(|prefix| matches!(prefix, Prefix::Directory(own) if path.starts_with(own)))
    }

    fn has_url(&self, url: &str) -> bool {
        let is_plain = !url.split('/').any(|part| part == ".." || part == ".");
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
        for place in ["data-of-others", "secret", "data/../secret", "data/link", "data/none"] {
            assert!(!may(&path(place)), "{place}");
        }
        for url in [
            "s3://bucket/graphs-2",
            "s3://bucket",
            "s3://bucket/graphs/../x",
            "s3://other/graphs",
            "gs://bucket/graphs",
        ] {
            assert!(!may(url), "{url}");
        }
        assert!(Allowed::of(&[]).unwrap().check("/anything").is_ok());
        assert!(Allowed::of(&[path("none")]).is_err());
    }
}
