//! Publishing to an object store, which has no directories, no renames and no step for several objects.
//!
//! Large files are uploaded in parts, and become visible when the upload is completed, which is left to the commit.
//! Small ones are held in memory until the commit, as long as there are not too many. The commit makes data visible
//! first and manifests last; with [`Mode::CreateNew`] each object is put on the condition that there is none.

mod part;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures::{StreamExt, TryStreamExt};
use isomorph_error::{Error, Kind, Place, Result};
use object_store::path::Path as Key;
use object_store::{MultipartUpload, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, UpdateVersion};

use super::file::Sink;
use super::{COMPANION_SUFFIX, Mode, Part, Shape, StagedFile, unwritten};
use crate::remote::{PARALLEL, Store, failed, run};
use crate::{Location, Scheme, limits};
pub(super) use part::Upload;

/// Small files held in memory until the commit, together, bytes. The oldest go first.
const HELD_BYTES: usize = 64 << 20;

/// Objects in the making.
#[derive(Debug)]
pub(crate) struct Uploads(Arc<Shared>);

#[derive(Debug)]
pub(super) struct Shared {
    main: Store,
    companion: Store,
    mode: Mode,
    /// Objects that were there when the work began.
    before: BTreeSet<Key>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Every file that was begun, and whether it was finished.
    files: BTreeMap<String, bool>,
    bytes: u64,
    ready: BTreeMap<String, Ready>,
    /// Names and sizes of what is held in memory, oldest first, and their sum.
    held: VecDeque<(String, usize)>,
    held_bytes: usize,
    visible: BTreeSet<Key>,
    /// Entity tags that objects must have to be replaced.
    expected: BTreeMap<Key, String>,
    done: bool,
}

/// A finished file that is not visible yet.
#[derive(Debug)]
pub(super) enum Ready {
    Held(Key, Bytes),
    Parts(Key, Box<dyn MultipartUpload>),
}

/// The error for a kind of place that is only read.
pub(crate) fn read_only(destination: &Location) -> Error {
    let what = match destination.scheme() {
        Scheme::Stream => "a stream that came in is only read",
        Scheme::Hdfs => "places in Hadoop's file system are only read",
        _ => "a web server cannot be written to",
    };
    Error::usage(what).at(Place::file(destination.to_string())).hint("write to a local path, and copy it there")
}

impl Uploads {
    /// A new or replaced file or directory.
    pub(super) fn begin(destination: &Location, mode: Mode, shape: Shape) -> Result<Self> {
        let main = Store::connect(destination)?;
        if destination.key().is_empty() && shape == Shape::File {
            return Err(Error::usage("a bucket is not a file"));
        }
        let taken = match shape {
            Shape::File => main.is_object()?,
            Shape::Directory => !main.list("", 1)?.is_empty(),
        };
        if taken && mode == Mode::CreateNew {
            return Err(Error::new(Kind::AlreadyExists, "there is something at that place already")
                .hint("choose another destination")
                .hint("--replace    replace what is there"));
        }
        Uploads::new(destination, main, mode, shape)
    }

    /// Some objects of an existing prefix.
    pub(crate) fn amend(destination: &Location) -> Result<Self> {
        if !destination.scheme().is_writable() {
            return Err(read_only(destination));
        }
        Uploads::new(destination, Store::connect(destination)?, Mode::Replace, Shape::Directory)
    }

    /// New objects of an existing prefix, under names that nobody else has; see [`Uploads::settle`].
    pub(crate) fn add(destination: &Location) -> Result<Self> {
        let (main, companion) =
            (Store::connect(destination)?, Store::connect(&destination.with_suffix(COMPANION_SUFFIX))?);
        let (mode, before) = (Mode::Replace, BTreeSet::new());
        Ok(Uploads(Arc::new(Shared { main, companion, mode, before, state: Mutex::default() })))
    }

    /// Makes everything visible. It is removed again when this is dropped, unless it is [kept](Uploads::keep).
    pub(crate) fn settle(&self) -> Result<(u64, u64)> {
        self.publish(&[])
    }

    /// Whether what is visible stays when this is dropped.
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

    /// Begins the file `relative` of a part, called `name` in errors.
    pub(super) fn create(&self, part: Part, relative: &str, name: &str) -> Result<StagedFile> {
        let store = match part {
            Part::Main => &self.0.main,
            Part::Companion => &self.0.companion,
        };
        let key = store.key(relative)?;
        if self.0.state().files.insert(name.to_owned(), false).is_some() {
            return Err(Error::new(Kind::AlreadyExists, "the file was begun before").at(Place::file(name)));
        }
        Ok(StagedFile::new(name, Sink::Remote(Upload::new(Arc::clone(&self.0), key, name))))
    }

    /// Begins the file `relative` of an existing prefix.
    pub(crate) fn create_main(&self, relative: &str) -> Result<StagedFile> {
        self.create(Part::Main, relative, relative)
    }

    /// The object `relative` is replaced only as long as it has this entity tag.
    pub(crate) fn expect(&self, relative: &str, etag: &str) -> Result<()> {
        let key = self.0.main.key(relative)?;
        self.0.state().expected.insert(key, etag.to_owned());
        Ok(())
    }

    /// Makes everything visible, `last` last, and keeps it if `prove` accepts it: then what was replaced is removed.
    /// Otherwise dropping this removes what is new.
    pub(super) fn commit<T>(&self, last: &[&str], prove: impl FnOnce() -> Result<T>) -> Result<((u64, u64), T)> {
        let written = self.publish(last)?;
        let proof = prove().map_err(|error| match self.0.before.is_empty() {
            true => error,
            false => error.hint("what was at the destination is replaced in part: write it again"),
        })?;
        let stale = {
            let mut state = self.0.state();
            state.done = true;
            self.0.before.iter().filter(|key| !state.visible.contains(key)).cloned().collect()
        };
        delete(&self.0.main.store, stale)?;
        Ok((written, proof))
    }

    /// Makes everything visible, `last` last, then removes the files and directories `removed`.
    pub(crate) fn commit_and_remove(&self, last: &[&str], removed: &BTreeSet<String>) -> Result<(u64, u64)> {
        let written = self.publish(last)?;
        self.0.state().done = true;
        let mut keys = Vec::new();
        for path in removed {
            let key = self.0.main.key(path)?;
            keys.extend(self.0.before.iter().filter(|found| **found == key || found.prefix_matches(&key)).cloned());
        }
        delete(&self.0.main.store, keys)?;
        Ok(written)
    }

    fn publish(&self, last: &[&str]) -> Result<(u64, u64)> {
        let (ready, manifests, written) = {
            let mut state = self.0.state();
            if let Some((name, _)) = state.files.iter().find(|(_, finished)| !**finished) {
                let message = "the file was begun and never finished";
                return Err(Error::new(Kind::Usage, message).at(Place::file(name.clone())));
            }
            let mut manifests = Vec::new();
            for name in last {
                if !state.files.contains_key(*name) {
                    return Err(unwritten(name));
                }
                let manifest = state.ready.remove(*name).ok_or_else(|| {
                    Error::usage("the manifest was written before too much data to be kept back")
                        .at(Place::file(*name))
                        .hint("create manifests after everything else")
                })?;
                manifests.push(((*name).to_owned(), manifest));
            }
            (std::mem::take(&mut state.ready), manifests, (state.files.len() as u64, state.bytes))
        };
        // The companion before what it belongs to, in both groups.
        let companion = self.0.companion.key("")?;
        let (beside, own): (Vec<_>, Vec<_>) =
            ready.into_iter().partition(|(_, ready)| ready.key().prefix_matches(&companion));
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
            // Down to half, so that there are many to be sent at the same time.
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
        let (store, mode) = (Arc::clone(&self.main.store), self.mode);
        let companion = self.companion.key("")?;
        let expected = self.state().expected.clone();
        let requests = files.into_iter().map(move |(name, ready)| {
            let store = Arc::clone(&store);
            let expected = expected.get(ready.key()).cloned();
            // A companion without its file is an orphan, which the next one may replace.
            let create = mode == Mode::CreateNew && !ready.key().prefix_matches(&companion);
            async move {
                let key = ready.key().clone();
                show(&*store, ready, create, expected).await.map(|()| key).map_err(|error| (error, name))
            }
        });
        // Failures travel as values: what did become visible must be known, to be removed again.
        let shown: Vec<Result<Key, (object_store::Error, String)>> =
            run(async move { Ok(futures::stream::iter(requests).buffer_unordered(PARALLEL).collect().await) })
                .map_err(|error| failed(error, ""))?;
        let mut failure = None;
        let mut state = self.state();
        for outcome in shown {
            match outcome {
                Ok(key) => {
                    state.visible.insert(key);
                }
                Err((error, name)) => failure = failure.or(Some(failed(error, &name))),
            }
        }
        failure.map_or(Ok(()), Err)
    }
}

impl Ready {
    fn key(&self) -> &Key {
        match self {
            Ready::Held(key, _) | Ready::Parts(key, _) => key,
        }
    }
}

async fn show(
    store: &dyn ObjectStore,
    ready: Ready,
    create: bool,
    expected: Option<String>,
) -> object_store::Result<()> {
    match ready {
        Ready::Held(key, bytes) => {
            let payload = PutPayload::from(bytes);
            let mode = match expected {
                Some(etag) => PutMode::Update(UpdateVersion { e_tag: Some(etag), version: None }),
                None if create => PutMode::Create,
                None => PutMode::Overwrite,
            };
            let conditional = matches!(mode, PutMode::Update(_));
            match store.put_opts(&key, payload.clone(), PutOptions::from(mode)).await {
                // A store that knows no conditions: asked just before, which leaves a gap.
                Err(object_store::Error::NotImplemented { .. } | object_store::Error::NotSupported { .. })
                    if conditional =>
                {
                    store.put_opts(&key, payload, PutOptions::from(PutMode::Overwrite)).await?;
                }
                put => drop(put?),
            }
        }
        Ready::Parts(key, mut upload) => {
            // The completion of an upload cannot be made conditional through this library: asking first leaves a gap.
            let before = if create { store.head(&key).await.map(Some) } else { Ok(None) };
            let refused = match before {
                Ok(None) | Err(object_store::Error::NotFound { .. }) => None,
                Ok(Some(_)) => {
                    let source = "another writer was first".into();
                    Some(object_store::Error::AlreadyExists { path: key.to_string(), source })
                }
                // Whether something is there is not known, and it must not be replaced.
                Err(error) => Some(error),
            };
            if let Some(error) = refused {
                // What cannot be removed now is removed by the store's own rules for unfinished uploads.
                let _ = upload.abort().await;
                return Err(error);
            }
            upload.complete().await?;
        }
    }
    Ok(())
}

impl Drop for Shared {
    fn drop(&mut self) {
        let state = std::mem::take(&mut *self.state());
        if state.done {
            return;
        }
        for ready in state.ready.into_values() {
            if let Ready::Parts(_, mut upload) = ready {
                // What cannot be removed now is removed by the store's own rules for unfinished uploads.
                let _ = run(async move { upload.abort().await });
            }
        }
        let ours = state.visible.into_iter().filter(|key| !self.before.contains(key)).collect();
        let _ = delete(&self.main.store, ours);
    }
}

fn keys(store: &Store) -> Result<Vec<Key>> {
    let entries = store.list("", limits::FILES + 1)?;
    if entries.len() > limits::FILES {
        return Err(Error::new(Kind::TooLarge, "there are more than 1,000,000 objects at the destination"));
    }
    entries.iter().map(|entry| store.key(&entry.name)).collect()
}

fn delete(store: &Arc<dyn ObjectStore>, keys: Vec<Key>) -> Result<()> {
    let store = Arc::clone(store);
    run(async move {
        let keys = futures::stream::iter(keys.into_iter().map(Ok)).boxed();
        store.delete_stream(keys).try_for_each(|_| futures::future::ready(Ok(()))).await
    })
    .map_err(|error| failed(error, ""))
}
