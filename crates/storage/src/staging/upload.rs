//! Publishes to an object store, which has no directories, no renames and no step for several objects.
//!
//! Large files are uploaded in parts and become visible when the upload is completed, which happens at the commit.
//! Small ones are held in memory until the commit, up to a limit. The commit makes data visible
//! first and manifests last; with [`Mode::CreateNew`] each object is written on the condition that it does not exist.

mod part;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use isomorph_error::{Error, Kind, Place, Result};

use super::file::Sink;
use super::{COMPANION_SUFFIX, Mode, Part, Shape, StagedFile, unwritten};
use crate::objects::{Answer, CONCURRENT_REQUESTS, Condition, Failure, ObjectClient, ObjectUpload, Reason};
use crate::remote::{Store, failed, is_below, is_unsupported};
use crate::{Location, Scheme, limits, parallel};
pub(super) use part::Upload;

/// Total size of the small files that are held in memory until the commit, bytes. The oldest ones are uploaded first.
const HELD_BYTES: usize = 64 << 20;

/// Unfinished objects.
#[derive(Debug)]
pub(crate) struct Uploads(Arc<Shared>);

#[derive(Debug)]
pub(super) struct Shared {
    main: Store,
    companion: Store,
    mode: Mode,
    /// Objects that existed when the work started.
    before: BTreeSet<String>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Every created file, and whether it is finished.
    files: BTreeMap<String, bool>,
    bytes: u64,
    ready: BTreeMap<String, Ready>,
    /// Names and sizes of the files held in memory, oldest first, and their sum.
    held: VecDeque<(String, usize)>,
    held_bytes: usize,
    visible: BTreeSet<String>,
    /// Entity tags that objects must have when they are replaced.
    expected: BTreeMap<String, String>,
    done: bool,
}

/// A finished file that is not visible yet.
#[derive(Debug)]
pub(super) enum Ready {
    Held(String, Bytes),
    Parts(String, Box<dyn ObjectUpload>),
}

/// Returns the error for a location that is read-only.
pub(crate) fn read_only(destination: &Location) -> Error {
    let what = match destination.scheme() {
        Scheme::Stream => "an input stream is read-only",
        Scheme::Hdfs => "Hadoop's file system is read-only",
        _ => "a web server is read-only",
    };
    Error::usage(what).at(Place::file(destination.to_string())).hint("write to a local path, then copy the output")
}

impl Uploads {
    /// Starts a new or replaced file or directory.
    pub(super) fn begin(destination: &Location, mode: Mode, shape: Shape) -> Result<Self> {
        let main = Store::connect(destination)?;
        if destination.key().is_empty() && shape == Shape::File {
            return Err(Error::usage("expected the name of an object, found a bucket"));
        }
        let taken = match shape {
            Shape::File => main.is_object()?,
            Shape::Directory => !main.list("", 1)?.is_empty(),
        };
        if taken && mode == Mode::CreateNew {
            return Err(Error::new(Kind::AlreadyExists, "destination already exists")
                .hint("choose another destination")
                .hint("--replace    replace the destination"));
        }
        Uploads::new(destination, main, mode, shape)
    }

    /// Starts a change of some objects of an existing prefix.
    pub(crate) fn amend(destination: &Location) -> Result<Self> {
        if !destination.scheme().is_writable() {
            return Err(read_only(destination));
        }
        Uploads::new(destination, Store::connect(destination)?, Mode::Replace, Shape::Directory)
    }

    /// Starts new objects of an existing prefix, under unique names; see [`Uploads::settle`].
    pub(crate) fn add(destination: &Location) -> Result<Self> {
        let (main, companion) =
            (Store::connect(destination)?, Store::connect(&destination.with_suffix(COMPANION_SUFFIX))?);
        let (mode, before) = (Mode::Replace, BTreeSet::new());
        Ok(Uploads(Arc::new(Shared { main, companion, mode, before, state: Mutex::default() })))
    }

    /// Makes everything visible. It is removed again on drop, unless it is [kept](Uploads::keep).
    pub(crate) fn settle(&self) -> Result<(u64, u64)> {
        self.publish(&[])
    }

    /// Sets whether visible objects stay when this is dropped.
    pub(crate) fn keep(&self, keep: bool) {
        self.0.state().done = keep;
    }

    fn new(destination: &Location, main: Store, mode: Mode, shape: Shape) -> Result<Self> {
        let companion = Store::connect(&destination.with_suffix(COMPANION_SUFFIX))?;
        let mut before = BTreeSet::new();
        if shape == Shape::Directory {
            before.extend(keys(&main)?);
        } else if main.is_object()? {
            before.insert(main.key("")?);
        }
        before.extend(keys(&companion)?);
        Ok(Uploads(Arc::new(Shared { main, companion, mode, before, state: Mutex::default() })))
    }

    /// Creates the file `relative` of a part, called `name` in errors.
    pub(super) fn create(&self, part: Part, relative: &str, name: &str) -> Result<StagedFile> {
        let store = match part {
            Part::Main => &self.0.main,
            Part::Companion => &self.0.companion,
        };
        let key = store.key(relative)?;
        if self.0.state().files.insert(name.to_owned(), false).is_some() {
            return Err(Error::new(Kind::AlreadyExists, "the file was already created").at(Place::file(name)));
        }
        Ok(StagedFile::new(name, Sink::Remote(Upload::new(Arc::clone(&self.0), key, name))))
    }

    /// Creates the file `relative` of an existing prefix.
    pub(crate) fn create_main(&self, relative: &str) -> Result<StagedFile> {
        self.create(Part::Main, relative, relative)
    }

    /// Makes replacing the object `relative` conditional on this entity tag.
    pub(crate) fn expect(&self, relative: &str, etag: &str) -> Result<()> {
        let key = self.0.main.key(relative)?;
        self.0.state().expected.insert(key, etag.to_owned());
        Ok(())
    }

    /// Makes everything visible, the files in `last` last, and keeps it if `prove` accepts it; then replaced objects are
    /// removed. Otherwise, dropping this removes the new ones.
    pub(super) fn commit<T>(&self, last: &[&str], prove: impl FnOnce() -> Result<T>) -> Result<((u64, u64), T)> {
        let written = self.publish(last)?;
        let proof = prove().map_err(|error| match self.0.before.is_empty() {
            true => error,
            false => error.hint("write the output again: the destination is partly replaced"),
        })?;
        let stale = {
            let mut state = self.0.state();
            state.done = true;
            self.0.before.iter().filter(|key| !state.visible.contains(*key)).cloned().collect()
        };
        delete(&*self.0.main.client, stale)?;
        Ok((written, proof))
    }

    /// Makes everything visible, the files in `last` last, then removes the files and directories in `removed`.
    pub(crate) fn commit_and_remove(&self, last: &[&str], removed: &BTreeSet<String>) -> Result<(u64, u64)> {
        let written = self.publish(last)?;
        self.0.state().done = true;
        let mut keys = Vec::new();
        for path in removed {
            let key = self.0.main.key(path)?;
            keys.extend(self.0.before.iter().filter(|found| is_below(found, &key)).cloned());
        }
        delete(&*self.0.main.client, keys)?;
        Ok(written)
    }

    fn publish(&self, last: &[&str]) -> Result<(u64, u64)> {
        let (ready, manifests, written) = {
            let mut state = self.0.state();
            if let Some((name, _)) = state.files.iter().find(|(_, finished)| !**finished) {
                let message = "the file is not finished";
                return Err(Error::new(Kind::Usage, message).at(Place::file(name.clone())));
            }
            let mut manifests = Vec::new();
            for name in last {
                if !state.files.contains_key(*name) {
                    return Err(unwritten(name));
                }
                let manifest = state.ready.remove(*name).ok_or_else(|| {
                    Error::usage("too much data was written after the manifest to hold it back")
                        .at(Place::file(*name))
                        .hint("create manifests after everything else")
                })?;
                manifests.push(((*name).to_owned(), manifest));
            }
            (std::mem::take(&mut state.ready), manifests, (state.files.len() as u64, state.bytes))
        };
        // In both groups, the companion comes before the output it belongs to.
        let companion = self.0.companion.key("")?;
        let (beside, own): (Vec<_>, Vec<_>) =
            ready.into_iter().partition(|(_, ready)| is_below(ready.key(), &companion));
        self.0.show_all(beside)?;
        self.0.show_all(own)?;
        for manifest in manifests {
            self.0.show_all(vec![manifest])?;
        }
        Ok(written)
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over a finished file.
    pub(super) fn finished(&self, name: &str, ready: Ready, size: u64) -> Result<()> {
        let mut early = Vec::new();
        {
            let mut state = self.state();
            state.bytes += size;
            state.files.insert(name.to_owned(), true);
            if let Ready::Held(_, bytes) = &ready {
                state.held.push_back((name.to_owned(), bytes.len()));
                state.held_bytes += bytes.len();
            }
            state.ready.insert(name.to_owned(), ready);
            // Half of the limit, so that many files are uploaded at the same time.
            let room = if state.held_bytes > HELD_BYTES { HELD_BYTES / 2 } else { HELD_BYTES };
            while state.held_bytes > room {
                let Some((name, length)) = state.held.pop_front() else { break };
                state.held_bytes -= length;
                early.extend(state.ready.remove(&name).map(|ready| (name, ready)));
            }
        }
        self.show_all(early)
    }

    /// Makes finished files visible, several at once.
    fn show_all(&self, files: Vec<(String, Ready)>) -> Result<()> {
        let companion = self.companion.key("")?;
        let expected = self.state().expected.clone();
        // Failures are collected as values, because the objects that did become visible must be known, to remove them.
        let shown = parallel::map(CONCURRENT_REQUESTS, files, |(name, ready)| {
            let key = ready.key().to_owned();
            // A companion without its file is an orphan, which a later run may replace.
            let create = self.mode == Mode::CreateNew && !is_below(&key, &companion);
            let shown = show(&*self.main.client, ready, create, expected.get(&key).cloned());
            shown.map(|()| key).map_err(|failure| failed(failure, &name))
        });
        let mut failure = None;
        let mut state = self.state();
        for outcome in shown {
            match outcome {
                Ok(key) => {
                    state.visible.insert(key);
                }
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(()), Err)
    }
}

impl Ready {
    fn key(&self) -> &str {
        match self {
            Ready::Held(key, _) | Ready::Parts(key, _) => key,
        }
    }
}

fn show(client: &dyn ObjectClient, ready: Ready, create: bool, expected: Option<String>) -> Answer<()> {
    match ready {
        Ready::Held(key, bytes) => {
            let Some(tag) = expected else {
                return client.put(&key, bytes, if create { Condition::New } else { Condition::Always });
            };
            let put = client.put(&key, bytes.clone(), Condition::Tag(Some(tag)));
            // If the store supports no conditional writes, the manifest was checked just before, which leaves a gap.
            if is_unsupported(&put) { client.put(&key, bytes, Condition::Always) } else { put }
        }
        Ready::Parts(key, mut upload) => {
            // A client cannot complete an upload conditionally, so check before, which leaves a gap.
            let before = if create { client.head(&key).map(Some) } else { Ok(None) };
            let refused = match before {
                Ok(None) | Err(Failure { reason: Reason::NotFound, .. }) => None,
                Ok(Some(_)) => Some(Failure::already_exists()),
                // Whether the object exists is unknown, and it must not be replaced.
                Err(failure) => Some(failure),
            };
            if let Some(failure) = refused {
                // If this fails, the store's own rules for unfinished uploads remove them.
                let _ = upload.abort();
                return Err(failure);
            }
            upload.complete()
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let state = std::mem::take(&mut *self.state());
        if state.done {
            return;
        }
        for ready in state.ready.into_values() {
            if let Ready::Parts(_, mut upload) = ready {
                // If this fails, the store's own rules for unfinished uploads remove them.
                let _ = upload.abort();
            }
        }
        let ours = state.visible.into_iter().filter(|key| !self.before.contains(key)).collect();
        let _ = delete(&*self.main.client, ours);
    }
}

fn keys(store: &Store) -> Result<Vec<String>> {
    let entries = store.list("", limits::FILES + 1)?;
    if entries.len() > limits::FILES {
        return Err(Error::new(Kind::TooLarge, "more than 1,000,000 objects at the destination"));
    }
    entries.iter().map(|entry| store.key(&entry.name)).collect()
}

fn delete(client: &dyn ObjectClient, keys: Vec<String>) -> Result<()> {
    client.delete(keys).map_err(|failure| failed(failure, ""))
}
