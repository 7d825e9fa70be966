//! Access to object stores and web servers, by names below a prefix.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};

use crate::objects::{self, Condition, Failure, ObjectClient, Reason};
use crate::{Entry, Fingerprint, Location, limits, sandbox};

/// A prefix of an object store.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) client: Arc<dyn ObjectClient>,
    prefix: String,
}

/// An object in the version that was opened.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    client: Arc<dyn ObjectClient>,
    key: String,
    pub(crate) opened_as: Fingerprint,
}

impl Store {
    /// Connects to the store of a location that is not local.
    pub(crate) fn connect(location: &Location) -> Result<Self> {
        let client = match location.client() {
            Some(client) => Arc::clone(client),
            None => objects::connect(location).map_err(|error| error.at(location.to_string()))?,
        };
        let prefix = location.key().to_owned();
        if let Some(why) = client.refuses(&prefix) {
            return Err(Error::usage(why).at(location.to_string()));
        }
        Ok(Store { client, prefix })
    }

    /// Returns the key of `relative`, which may be empty for the prefix itself.
    pub(crate) fn key(&self, relative: &str) -> Result<String> {
        if relative.is_empty() {
            return Ok(self.prefix.clone());
        }
        sandbox::check(relative)?;
        let key = if self.prefix.is_empty() { relative.to_owned() } else { format!("{}/{relative}", self.prefix) };
        match self.client.refuses(&key) {
            Some(why) => Err(Error::malformed(why).at(relative)),
            None => Ok(key),
        }
    }

    /// Opens an object.
    pub(crate) fn open(&self, relative: &str) -> Result<Object> {
        let key = self.key(relative)?;
        let opened_as = self.client.head(&key).map_err(|failure| failed(failure, relative))?;
        Ok(Object { client: Arc::clone(&self.client), key, opened_as })
    }

    /// Whether an object with the prefix's own name exists.
    pub(crate) fn is_object(&self) -> Result<bool> {
        match self.open("") {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == Kind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Reads a whole object of at most `limit` bytes, with its entity tag; returns `None` if it does not exist.
    pub(crate) fn get(&self, relative: &str, limit: u64) -> Result<Option<(Bytes, Option<String>)>> {
        match self.client.get(&self.key(relative)?, limit) {
            Err(Failure { reason: Reason::NotFound, .. }) => Ok(None),
            Err(failure) => Err(failed(failure, relative)),
            Ok((Some(bytes), version)) => Ok(Some((bytes, version.etag))),
            Ok((None, version)) => {
                let message = format!("size is {} bytes, but the limit is {limit} bytes", version.size);
                Err(Error::new(Kind::TooLarge, message).at(relative))
            }
        }
    }

    /// Creates an object; returns false if it exists. If the store supports no conditional writes, the check happens just
    /// before the write.
    pub(crate) fn put_new(&self, relative: &str, content: Bytes) -> Result<bool> {
        let key = self.key(relative)?;
        let mut put = self.client.put(&key, content.clone(), Condition::New);
        if is_unsupported(&put) {
            put = match self.client.head(&key) {
                Err(Failure { reason: Reason::NotFound, .. }) => self.client.put(&key, content, Condition::Always),
                found => found.and_then(|_| Err(Failure::already_exists())),
            };
        }
        done_or_refused(put, relative)
    }

    /// Replaces the object that had this entity tag; returns false if it has another one now.
    pub(crate) fn put_instead(&self, relative: &str, content: Bytes, etag: Option<String>) -> Result<bool> {
        let key = self.key(relative)?;
        let mut put = self.client.put(&key, content.clone(), Condition::Tag(etag));
        if is_unsupported(&put) {
            put = self.client.put(&key, content, Condition::Always);
        }
        done_or_refused(put, relative)
    }

    /// Removes an object if it exists.
    pub(crate) fn remove(&self, relative: &str) -> Result<()> {
        match self.client.delete(vec![self.key(relative)?]) {
            Ok(()) | Err(Failure { reason: Reason::NotFound, .. }) => Ok(()),
            Err(failure) => Err(failed(failure, relative)),
        }
    }

    /// Lists the objects below `relative`, by name relative to the prefix; at most `limit`.
    pub(crate) fn list(&self, relative: &str, limit: usize) -> Result<Vec<Entry>> {
        let found = self.client.list(&self.key(relative)?, limit).map_err(|failure| failed(failure, relative))?;
        let mut entries: Vec<Entry> =
            found.iter().filter_map(|object| self.entry(&object.key, object.size, false)).collect();
        entries.sort();
        Ok(entries)
    }

    /// Lists the objects and common prefixes directly below `relative`.
    pub(crate) fn list_dir(&self, relative: &str) -> Result<Vec<Entry>> {
        let found = self.client.list_directory(&self.key(relative)?).map_err(|failure| failed(failure, relative))?;
        if found.objects.len() + found.prefixes.len() > limits::FILES {
            return Err(Error::new(Kind::TooLarge, "more than 1,000,000 files").at(relative));
        }
        let files = found.objects.iter().filter_map(|object| self.entry(&object.key, object.size, false));
        let prefixes = found.prefixes.iter().filter_map(|key| self.entry(key, 0, true));
        let mut entries: Vec<Entry> = files.chain(prefixes).collect();
        entries.sort();
        Ok(entries)
    }

    /// Returns the entry of a key, by its name relative to the prefix; `None` for keys that are not valid relative names.
    fn entry(&self, key: &str, size: u64, is_dir: bool) -> Option<Entry> {
        let name = key.strip_prefix(&self.prefix)?.trim_start_matches('/');
        sandbox::check(name).is_ok().then(|| Entry { name: name.to_owned(), size, is_dir })
    }
}

impl Object {
    /// Reads ranges inside the object.
    ///
    /// # Errors
    /// [`Kind::Conflict`] if the object changed since it was opened.
    pub(crate) fn read(&self, ranges: &[Range<u64>], name: &str) -> Result<Vec<Bytes>> {
        self.client.read(&self.key, &self.opened_as, ranges).map_err(|failure| failed(failure, name))
    }

    /// Returns the current fingerprint of the object.
    pub(crate) fn fingerprint(&self, name: &str) -> Result<Fingerprint> {
        self.client.head(&self.key).map_err(|failure| failed(failure, name))
    }
}

/// Whether `key` is `prefix` or below it.
pub(crate) fn is_below(key: &str, prefix: &str) -> bool {
    let rest = key.strip_prefix(prefix);
    rest.is_some_and(|rest| prefix.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

/// Returns the error for a request about `name`.
pub(crate) fn failed(failure: Failure, name: &str) -> Error {
    if name.is_empty() { failure.error } else { failure.error.at(Place::file(name)) }
}

/// Whether the store does not have this kind of request.
pub(crate) fn is_unsupported<T>(answer: &Result<T, Failure>) -> bool {
    matches!(answer, Err(Failure { reason: Reason::NotSupported, .. }))
}

fn done_or_refused(put: Result<(), Failure>, relative: &str) -> Result<bool> {
    match put {
        Ok(()) => Ok(true),
        Err(Failure { reason: Reason::AlreadyExists | Reason::Changed, .. }) => Ok(false),
        Err(failure) => Err(failed(failure, relative)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_below_whole_components_only() {
        for (key, prefix, below) in [
            ("a/b", "a", true),
            ("a", "a", true),
            ("ab", "a", false),
            ("a/b", "a/b/c", false),
            ("a/b/c", "a/b", true),
            ("b", "", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(is_below(key, prefix), below, "{key} {prefix}");
        }
    }
}
