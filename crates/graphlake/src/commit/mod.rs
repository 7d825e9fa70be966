//! Changes a store that others read and write at the same time: transactions and maintenance.
//!
//! A commit writes new files under unique names, then *claims* a version by creating the file of its snapshot, which
//! only one writer can do, then *publishes* it in `store.json`. The README describes the state after a crash at each
//! point.

mod base;
mod change;
mod existing;
mod graphs;
mod plan;
mod publish;
mod raw;
mod recover;
mod reinsert;
mod transaction;
mod work;
mod written;

use std::io::Write;

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::{Location, Mode, Root, SharedRoot, Staging};

pub(crate) use base::Base;
pub(crate) use change::{Changes, GraphChange, Tally};
pub use publish::Committed;
pub(crate) use publish::{Attempt, snapshots_of, version_of};
pub use recover::Traced;
pub use transaction::Transaction;

use crate::store::{STORE, Store};
use crate::{OpenOptions, WriteOptions};

/// A store that is opened for writing.
///
/// ```
/// use isomorph_graphlake::{Lake, OpenOptions, WriteOptions};
/// use isomorph_model::faces::{Object, Quad};
/// use isomorph_storage::Location;
/// # let home = tempfile::tempdir().map_err(isomorph_error::Error::from)?;
/// let place = Location::from_path(&home.path().join("lake"));
/// let lake = Lake::create(&place, &OpenOptions::default(), &WriteOptions::default())?;
/// let mut transaction = lake.begin()?;
/// transaction.insert(&Quad {
///     subject: "http://example.org/alice",
///     predicate: "http://example.org/knows",
///     object: Object::Term("http://example.org/bob"),
///     graph: None,
/// })?;
/// let done = transaction.commit()?.map(|done| (done.version, done.inserted));
/// assert_eq!(done, Some((1, 1)));
/// # Ok::<(), isomorph_error::Error>(())
/// ```
#[derive(Debug)]
pub struct Lake {
    pub(crate) root: Root,
    pub(crate) shared: SharedRoot,
    pub(crate) opening: OpenOptions,
    pub(crate) writing: WriteOptions,
}

impl Lake {
    /// Creates a store without snapshots at a location that does not exist.
    ///
    /// # Errors
    /// [`Kind::AlreadyExists`]; as [`Lake::open`].
    pub fn create(location: &Location, opening: &OpenOptions, writing: &WriteOptions) -> Result<Lake> {
        let staging = Staging::directory(location, Mode::CreateNew)?;
        let store = Store {
            format_version: "0.1".to_owned(),
            location: format!("/{}", location.file_name()),
            snapshots: Vec::new(),
            extra: serde_json::Map::new(),
        };
        let mut file = staging.create(STORE)?;
        file.write_all(store.to_json().as_bytes())?;
        file.finish()?;
        staging.commit(&[STORE])?;
        Lake::open(location, opening, writing)
    }

    /// Opens a store for changes. The snapshot in `opening` is ignored: changes are made to the current one.
    ///
    /// # Errors
    /// [`Kind::NotFound`] if there is no store; [`Kind::Usage`] if the location is read-only.
    pub fn open(location: &Location, opening: &OpenOptions, writing: &WriteOptions) -> Result<Lake> {
        let makes_one = |error: Error| {
            let error = error.at(Place::file(location.to_string()));
            error
                .hint("isomorph lake init PATH   creates an empty store")
                .hint("isomorph lake load PATH FILE   creates one from a text")
        };
        let root = Root::open(location).map_err(|error| match error.kind() {
            Kind::NotFound => makes_one(error),
            _ => error,
        })?;
        if root.try_file(STORE)?.is_none() {
            return Err(makes_one(Error::new(Kind::NotFound, "not a GraphLake store")));
        }
        let shared = SharedRoot::open(location)?;
        Ok(Lake { root, shared, opening: opening.clone(), writing: writing.clone() })
    }

    /// Begins a transaction on the current snapshot, which it reads until it ends.
    ///
    /// # Errors
    /// Returns an error if the snapshot cannot be read.
    pub fn begin(&self) -> Result<Transaction<'_>> {
        Transaction::begin(self)
    }
}
