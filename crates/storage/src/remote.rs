//! Blocking access to object stores and web servers.

mod connect;
mod failure;
mod runtime;

use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::{Bytes, BytesMut};
use futures::{StreamExt, TryStreamExt};
use isomorph_error::{Error, Kind, Result};
use object_store::path::Path as Key;
use object_store::{GetOptions, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, UpdateVersion};

use crate::{Entry, Fingerprint, Location, limits, sandbox};

pub(crate) use failure::{explained, failed};
pub(crate) use runtime::{Task, run, start};

/// The maximum number of concurrent requests of one caller.
pub(crate) const PARALLEL: usize = 8;
/// Ranges larger than this are fetched in concurrent parts of this size, bytes.
const PART: u64 = 8 << 20;

/// A prefix of an object store.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    pub(crate) store: Arc<dyn ObjectStore>,
    prefix: Key,
}

/// An object in the version that was opened.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    store: Arc<dyn ObjectStore>,
    key: Key,
    pub(crate) opened_as: Fingerprint,
}

impl Store {
    /// Connects to the store of a location that is not local.
    pub(crate) fn connect(location: &Location) -> Result<Self> {
        let place = location.to_string();
        let prefix = Key::parse(location.key()).map_err(|error| Error::usage(error.to_string()).at(place.clone()))?;
        let store = match location.store() {
            Some(store) => Arc::clone(store),
            None => connect::connect(location).map_err(|error| error.at(place))?,
        };
        Ok(Store { store, prefix })
    }

    /// Returns the key of `relative`, which may be empty for the prefix itself.
    pub(crate) fn key(&self, relative: &str) -> Result<Key> {
        if relative.is_empty() {
            return Ok(self.prefix.clone());
        }
        sandbox::check(relative)?;
        let text =
            if self.prefix.as_ref().is_empty() { relative.to_owned() } else { format!("{}/{relative}", self.prefix) };
        Key::parse(text).map_err(|error| Error::malformed(error.to_string()).at(relative))
    }

    /// Opens an object.
    pub(crate) fn open(&self, relative: &str) -> Result<Object> {
        let key = self.key(relative)?;
        let (store, wanted) = (Arc::clone(&self.store), key.clone());
        let meta = run(async move { store.head(&wanted).await }).map_err(|error| failed(error, relative))?;
        Ok(Object { store: Arc::clone(&self.store), key, opened_as: fingerprint(&meta) })
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
        let (store, key) = (Arc::clone(&self.store), self.key(relative)?);
        let got = run(async move {
            let answer = store.get(&key).await?;
            let (size, etag) = (answer.meta.size, answer.meta.e_tag.clone());
            let bytes = if size > limit { None } else { Some(answer.bytes().await?) };
            Ok((bytes, etag, size))
        });
        match got {
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failed(error, relative)),
            Ok((Some(bytes), etag, _)) => Ok(Some((bytes, etag))),
            Ok((None, _, size)) => {
                let message = format!("size is {size} bytes, but the limit is {limit} bytes");
                Err(Error::new(Kind::TooLarge, message).at(relative))
            }
        }
    }

    /// Creates an object; returns false if it exists. If the store supports no conditional writes, the check happens just
    /// before the write.
    pub(crate) fn put_new(&self, relative: &str, content: Bytes) -> Result<bool> {
        let (store, key) = (Arc::clone(&self.store), self.key(relative)?);
        let put = run(async move {
            match store.put_opts(&key, content.clone().into(), PutMode::Create.into()).await {
                Err(object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. }) => {
                    match store.head(&key).await {
                        Err(object_store::Error::NotFound { .. }) => store.put(&key, content.into()).await.map(drop),
                        found => {
                            found?;
                            let (path, source) = (key.to_string(), "already exists".into());
                            Err(object_store::Error::AlreadyExists { path, source })
                        }
                    }
                }
                put => put.map(drop),
            }
        });
        match put {
            Ok(()) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => Ok(false),
            Err(error) => Err(failed(error, relative)),
        }
    }

    /// Replaces the object that had this entity tag; returns false if it has another one now.
    pub(crate) fn put_instead(&self, relative: &str, content: Bytes, etag: Option<String>) -> Result<bool> {
        let (store, key) = (Arc::clone(&self.store), self.key(relative)?);
        let put = run(async move {
            let mode = PutMode::Update(UpdateVersion { e_tag: etag, version: None });
            match store.put_opts(&key, content.clone().into(), mode.into()).await {
                Err(object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. }) => {
                    store.put(&key, content.into()).await
                }
                put => put,
            }
        });
        match put {
            Ok(_) => Ok(true),
            Err(object_store::Error::Precondition { .. } | object_store::Error::AlreadyExists { .. }) => Ok(false),
            Err(error) => Err(failed(error, relative)),
        }
    }

    /// Removes an object if it exists.
    pub(crate) fn remove(&self, relative: &str) -> Result<()> {
        let (store, key) = (Arc::clone(&self.store), self.key(relative)?);
        match run(async move { store.delete(&key).await }) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed(error, relative)),
        }
    }

    /// Lists the objects below `relative`, by name relative to the prefix; at most `limit`.
    pub(crate) fn list(&self, relative: &str, limit: usize) -> Result<Vec<Entry>> {
        let key = self.key(relative)?;
        let store = Arc::clone(&self.store);
        let found: Vec<ObjectMeta> = run(async move { store.list(Some(&key)).take(limit).try_collect().await })
            .map_err(|error| failed(error, relative))?;
        let mut entries: Vec<Entry> = found.iter().filter_map(|meta| self.entry(meta)).collect();
        entries.sort();
        Ok(entries)
    }

    /// Lists the objects and common prefixes directly below `relative`.
    pub(crate) fn list_dir(&self, relative: &str) -> Result<Vec<Entry>> {
        let key = self.key(relative)?;
        let store = Arc::clone(&self.store);
        let found =
            run(async move { store.list_with_delimiter(Some(&key)).await }).map_err(|error| failed(error, relative))?;
        if found.objects.len() + found.common_prefixes.len() > limits::FILES {
            return Err(Error::new(Kind::TooLarge, "more than 1,000,000 files").at(relative));
        }
        let files = found.objects.iter().filter_map(|meta| self.entry(meta));
        let prefixes = found
            .common_prefixes
            .iter()
            .filter_map(|key| Some(Entry { name: self.relative(key)?, size: 0, is_dir: true }));
        let mut entries: Vec<Entry> = files.chain(prefixes).collect();
        entries.sort();
        Ok(entries)
    }

    fn entry(&self, meta: &ObjectMeta) -> Option<Entry> {
        Some(Entry { name: self.relative(&meta.location)?, size: meta.size, is_dir: false })
    }

    /// Returns the name relative to the prefix; `None` for keys that are not valid relative names.
    fn relative(&self, key: &Key) -> Option<String> {
        let rest = key.as_ref().strip_prefix(self.prefix.as_ref())?.trim_start_matches('/');
        sandbox::check(rest).is_ok().then(|| rest.to_owned())
    }
}

impl Object {
    /// Reads ranges inside the object; large ones in several concurrent parts.
    ///
    /// # Errors
    /// [`Kind::Conflict`] if the object changed since it was opened.
    pub(crate) fn read(&self, ranges: &[Range<u64>], name: &str) -> Result<Vec<Bytes>> {
        let parts: Vec<(usize, Range<u64>)> = ranges
            .iter()
            .enumerate()
            .flat_map(|(index, range)| {
                let end = range.end;
                let starts = (range.start..end).step_by(usize::try_from(PART).unwrap_or(usize::MAX));
                starts.map(move |start| (index, start..end.min(start.saturating_add(PART))))
            })
            .collect();
        let fetched: Vec<(usize, Bytes)> = {
            let object = self.clone();
            run(async move {
                let requests = parts.into_iter().map(|(index, part)| {
                    let object = object.clone();
                    async move { object.fetch(part).await.map(|bytes| (index, bytes)) }
                });
                futures::stream::iter(requests).buffered(PARALLEL).try_collect().await
            })
            .map_err(|error| failed(error, name))?
        };
        let mut whole = vec![BytesMut::new(); ranges.len()];
        let mut single = vec![Bytes::new(); ranges.len()];
        for (index, bytes) in fetched {
            if ranges[index].end - ranges[index].start <= PART {
                single[index] = bytes;
            } else {
                whole[index].extend_from_slice(&bytes);
            }
        }
        Ok(single.into_iter().zip(whole).map(|(one, many)| if many.is_empty() { one } else { many.freeze() }).collect())
    }

    async fn fetch(&self, range: Range<u64>) -> object_store::Result<Bytes> {
        let length = range.end - range.start;
        let options =
            GetOptions { range: Some(range.into()), if_match: self.opened_as.etag.clone(), ..GetOptions::default() };
        let answer = self.store.get_opts(&self.key, options).await?;
        let same_size = answer.meta.size == self.opened_as.size;
        let bytes = answer.bytes().await?;
        if same_size && bytes.len() as u64 == length {
            return Ok(bytes);
        }
        Err(object_store::Error::Precondition { path: self.key.to_string(), source: "the size has changed".into() })
    }

    /// Returns the current fingerprint of the object.
    pub(crate) fn fingerprint(&self, name: &str) -> Result<Fingerprint> {
        let object = self.clone();
        let meta = run(async move { object.store.head(&object.key).await }).map_err(|error| failed(error, name))?;
        Ok(fingerprint(&meta))
    }
}

fn fingerprint(meta: &ObjectMeta) -> Fingerprint {
    let modified = Some(SystemTime::from(meta.last_modified));
    Fingerprint { size: meta.size, modified, etag: meta.e_tag.clone() }
}
