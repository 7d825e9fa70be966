//! The interface to object stores: what a client provides, and which clients this program has.
//!
//! This crate has no client of its own. `isomorph-network` has them, and [installs](install) them by URL scheme, so that
//! a build without the network compiles neither the clients nor an asynchronous runtime.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock};

use bytes::Bytes;
use isomorph_error::{Error, Kind, Result};

use crate::{Fingerprint, Location, Scheme};

/// The maximum number of concurrent requests of one caller.
pub const CONCURRENT_REQUESTS: usize = 8;

/// The answer to a request.
pub type Answer<T> = Result<T, Failure>;

/// A client for one bucket, container, host or name node. Keys have no slash at either end, and an empty key is the root.
///
/// Calls block until the store has answered. Several threads call at the same time, also from inside asynchronous runtimes.
pub trait ObjectClient: fmt::Debug + Send + Sync {
    /// Says why the store cannot have this key; `None` if it can.
    fn refuses(&self, key: &str) -> Option<String>;

    /// Returns the current version of an object.
    ///
    /// # Errors
    /// [`Reason::NotFound`] if it does not exist.
    fn head(&self, key: &str) -> Answer<Fingerprint>;

    /// Reads a whole object, and returns it with its version; without the bytes if it has more than `limit` bytes.
    ///
    /// # Errors
    /// [`Reason::NotFound`] if it does not exist.
    fn get(&self, key: &str, limit: u64) -> Answer<(Option<Bytes>, Fingerprint)>;

    /// Reads byte ranges of an object, all of them inside it, and returns them in the given order.
    ///
    /// # Errors
    /// [`Reason::Changed`] if the object is not in this version any more.
    fn read(&self, key: &str, version: &Fingerprint, ranges: &[Range<u64>]) -> Answer<Vec<Bytes>>;

    /// Lists at most `limit` objects below a prefix, which ends at a slash: `a` has `a/b`, but neither `ab` nor `a`.
    ///
    /// # Errors
    /// Returns an error if the request fails.
    fn list(&self, prefix: &str, limit: usize) -> Answer<Vec<Listed>>;

    /// Lists the objects and the common prefixes directly below a prefix.
    ///
    /// # Errors
    /// Returns an error if the request fails.
    fn list_directory(&self, prefix: &str) -> Answer<Listing>;

    /// Writes an object in one request.
    ///
    /// # Errors
    /// [`Reason::AlreadyExists`] or [`Reason::Changed`] if the condition does not hold, [`Reason::NotSupported`] if the
    /// store has no such condition.
    fn put(&self, key: &str, content: Bytes, condition: Condition) -> Answer<()>;

    /// Starts an object that is written in parts.
    ///
    /// # Errors
    /// Returns an error if the request fails.
    fn upload(&self, key: &str) -> Answer<Box<dyn ObjectUpload>>;

    /// Removes objects.
    ///
    /// # Errors
    /// [`Reason::NotFound`] from stores that report it if one of them does not exist.
    fn delete(&self, keys: Vec<String>) -> Answer<()>;
}

/// An object that is written in parts. It does not exist before [`ObjectUpload::complete`].
pub trait ObjectUpload: fmt::Debug + Send {
    /// Starts sending the next part, and waits if several are on their way. All parts but the last have the same size.
    ///
    /// # Errors
    /// The error of any earlier part.
    fn part(&mut self, content: Bytes) -> Answer<()>;

    /// Waits until the store has all parts.
    ///
    /// # Errors
    /// The error of any part.
    fn settle(&mut self) -> Answer<()>;

    /// Makes the object visible.
    ///
    /// # Errors
    /// Returns an error if the request fails.
    fn complete(&mut self) -> Answer<()>;

    /// Discards the parts.
    ///
    /// # Errors
    /// Returns an error if the request fails; then the store's own rules for unfinished uploads remove them.
    fn abort(&mut self) -> Answer<()>;
}

/// The condition for writing an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condition {
    /// None: an existing object is replaced.
    Always,
    /// The object does not exist.
    New,
    /// The object has this entity tag.
    Tag(Option<String>),
}

/// An object in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its key.
    pub key: String,
    /// Its size, bytes.
    pub size: u64,
}

/// What exists directly below a prefix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Objects.
    pub objects: Vec<Listed>,
    /// The prefixes of further objects, without a slash at the end.
    pub prefixes: Vec<String>,
}

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// There is no such object.
    NotFound,
    /// The object exists, but must not.
    AlreadyExists,
    /// The object has another version.
    Changed,
    /// The store does not have this kind of request.
    NotSupported,
    /// Anything else.
    Other,
}

/// A request that failed.
#[derive(Debug)]
pub struct Failure {
    /// Why, for callers that handle it.
    pub reason: Reason,
    /// The error for everybody else, without a location.
    pub error: Error,
}

impl Failure {
    /// Returns the failure of a request for an object that exists, but must not.
    pub fn already_exists() -> Self {
        let error = Error::new(Kind::AlreadyExists, "destination already exists");
        Failure { reason: Reason::AlreadyExists, error }
    }

    /// Returns the failure of a request for an object that has another version.
    pub fn changed() -> Self {
        let error = Error::new(Kind::Conflict, "the object changed while it was read or written")
            .hint("run again when no other process writes it");
        Failure { reason: Reason::Changed, error }
    }
}

/// Returns a client for the bucket, container, host or name node of a location.
pub type Connect = fn(&Location) -> Result<Arc<dyn ObjectClient>>;

/// The clients of this program by URL scheme.
static CLIENTS: RwLock<Option<HashMap<Scheme, Connect>>> = RwLock::new(None);

/// Sets the client for a URL scheme, for the whole process.
pub fn install(scheme: Scheme, connect: Connect) {
    let mut clients = CLIENTS.write().unwrap_or_else(PoisonError::into_inner);
    clients.get_or_insert_default().insert(scheme, connect);
}

/// Returns a client for `location`.
///
/// # Errors
/// [`Kind::Unsupported`] if this build has none; otherwise the error of the client, for example if the environment does not
/// configure it.
pub(crate) fn connect(location: &Location) -> Result<Arc<dyn ObjectClient>> {
    let scheme = location.scheme();
    let hint = match scheme {
        Scheme::Stream => return Err(Error::usage("a stream is not an object store")),
        Scheme::Local => return Err(Error::usage("a local path is not an object store")),
        Scheme::Hdfs => "cargo install --path cli --features hdfs    build the command with Hadoop's file system",
        Scheme::S3 | Scheme::Gcs | Scheme::Azure | Scheme::Http | Scheme::Https => {
            "cargo install --path cli    build the command with object stores"
        }
    };
    let clients = CLIENTS.read().unwrap_or_else(PoisonError::into_inner);
    let connect = clients.as_ref().and_then(|clients| clients.get(&scheme)).copied();
    // The lock is not held while the client is created.
    drop(clients);
    match connect {
        Some(connect) => connect(location),
        None => Err(Error::unsupported(format!("this build cannot open `{}://`", scheme.prefix())).hint(hint)),
    }
}
