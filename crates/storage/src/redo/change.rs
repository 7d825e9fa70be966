//! Changes several files of an existing dataset together.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use isomorph_error::{Error, Kind, Place, Result};

use super::{Journal, Step, below};
use crate::disk::{Node, NodeKind};
use crate::leftover::AsideName;
use crate::staging::{Area, StagedFile, Uploads, unwritten};
use crate::{Fingerprint, Location, Root, sandbox};

/// A change of several files of an existing dataset: after a crash, either all of them are changed or none.
///
/// A reader that has the dataset open while it changes can see some files before the change and some after it.
#[derive(Debug)]
pub struct Redo {
    backend: Backend,
    removed: Mutex<BTreeSet<String>>,
    /// Files that become directories, with their names inside these.
    nested: Mutex<BTreeMap<String, String>>,
}

#[derive(Debug)]
enum Backend {
    Local { area: Arc<Area>, journal: Journal },
    Remote(Uploads),
}

/// What a change has written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changed {
    /// Number of files.
    pub files: u64,
    /// Their total size, bytes.
    pub bytes: u64,
}

impl Redo {
    /// Starts a change of `root`.
    ///
    /// # Errors
    /// [`Kind::Usage`] for a location that cannot be written, [`Kind::Incomplete`] if an earlier change cannot be
    /// finished, [`Kind::NoSpace`], [`Kind::Io`].
    pub fn begin(root: &Root) -> Result<Redo> {
        Redo::begin_at(root.location())
    }

    pub(crate) fn begin_at(location: &Location) -> Result<Redo> {
        let at = |error: io::Error| Error::from(error).at(Place::file(location.to_string()));
        let backend = match location.as_path() {
            Some(path) => {
                let disk = location.disk();
                let journal = Journal::within(&disk, path);
                journal.recover()?;
                match disk.node(journal.side()).map_err(at)? {
                    None => disk.create_dir(journal.side()).map_err(at)?,
                    Some(Node { kind: NodeKind::Directory, .. }) => {}
                    Some(_) => {
                        return Err(
                            Error::usage("`_isomorph` is not a directory").at(Place::file(location.to_string()))
                        );
                    }
                }
                let area = Area::create(&disk, journal.side(), &AsideName::within()).map_err(at)?;
                Backend::Local { area, journal }
            }
            None => Backend::Remote(Uploads::amend(location)?),
        };
        Ok(Redo { backend, removed: Mutex::default(), nested: Mutex::default() })
    }

    /// Finishes an interrupted change of `root`, and returns whether there was one. [`Root::open`] has done
    /// this already.
    ///
    /// # Errors
    /// [`Kind::Incomplete`] if it cannot be finished.
    pub fn recover(root: &Root) -> Result<bool> {
        super::recover_within(root.location())
    }

    /// Creates the file `relative`, which may replace an existing one.
    ///
    /// # Errors
    /// Same as [`Staging::create`](crate::Staging::create).
    pub fn create(&self, relative: &str) -> Result<StagedFile> {
        check(relative)?;
        match &self.backend {
            Backend::Local { area, .. } => area.file(&Path::new("data").join(relative), relative),
            Backend::Remote(uploads) => uploads.create_main(relative),
        }
    }

    /// Removes the file or directory `relative` if it exists.
    ///
    /// # Errors
    /// A name that leaves the root breaks [`PATH_ESCAPE`](crate::PATH_ESCAPE).
    pub fn remove(&self, relative: &str) -> Result<()> {
        check(relative)?;
        self.removed.lock().unwrap_or_else(PoisonError::into_inner).insert(relative.to_owned());
        Ok(())
    }

    /// Turns the file `relative` into a directory of that name, in which it is called `first`, next to the files that are
    /// [created](Redo::create) below that name (at least one). Its bytes are not copied. If the system supports hard links
    /// and exchanges, a reader that opens `relative` finds either the file or the whole directory.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] if there are no directories; names that leave the root or the directory.
    pub fn nest(&self, relative: &str, first: &str) -> Result<()> {
        check(relative)?;
        check(first)?;
        if first.contains('/') {
            return Err(Error::usage("a file can be moved into one directory only").at(Place::file(first)));
        }
        match self.backend {
            Backend::Local { .. } => {
                let mut nested = self.nested.lock().unwrap_or_else(PoisonError::into_inner);
                nested.insert(relative.to_owned(), first.to_owned());
                Ok(())
            }
            Backend::Remote(_) => Err(Error::unsupported("turning an object into a directory is not supported")),
        }
    }

    /// Makes the change conditional on `relative` being the object that had this fingerprint: if the store supports
    /// conditional writes, the object is replaced by one conditional request. It must be one of the `last` of
    /// [`Redo::commit`]. Callers that change local files take a [`Turn`](crate::Turn) and compare.
    ///
    /// # Errors
    /// Returns an error for a name that leaves the root.
    pub fn expect(&self, relative: &str, fingerprint: &Fingerprint) -> Result<()> {
        check(relative)?;
        match (&self.backend, &fingerprint.etag) {
            (Backend::Remote(uploads), Some(etag)) => uploads.expect(relative, etag),
            _ => Ok(()),
        }
    }

    /// Performs the change; `last` lists the manifests, in the order in which they become visible where a change in one
    /// step is not possible (object stores).
    ///
    /// # Errors
    /// [`Kind::Conflict`] if another change is in progress; [`Kind::AlreadyExists`] if what should become a directory is
    /// not a file any more; [`Kind::Poisoned`], [`Kind::NoSpace`] and [`Kind::Io`], which leave everything
    /// unchanged; [`Kind::Incomplete`] if the change was recorded and the next process that opens the location will finish it.
    pub fn commit(self, last: &[&str]) -> Result<Changed> {
        let removed = self.removed.into_inner().unwrap_or_else(PoisonError::into_inner);
        let nested = self.nested.into_inner().unwrap_or_else(PoisonError::into_inner);
        let (files, bytes) = match &self.backend {
            Backend::Remote(uploads) => uploads.commit_and_remove(last, &removed)?,
            Backend::Local { area, journal } => {
                if let Some(missing) = last.iter().find(|name| !area.has(name)) {
                    return Err(unwritten(missing));
                }
                if let Some(name) = area.names().iter().find(|name| removed.iter().any(|path| holds(path, name))) {
                    return Err(Error::usage("cannot create a file in a directory that is removed")
                        .at(Place::file(name.clone())));
                }
                if let Some(empty) = nested.keys().find(|path| !area.names().iter().any(|name| holds(path, name))) {
                    return Err(unwritten(empty));
                }
                let base = journal.side().parent().unwrap_or(Path::new(""));
                for path in nested.keys() {
                    if area.disk().node(&base.join(path))?.is_none_or(|node| node.kind != NodeKind::File) {
                        return Err(Error::new(Kind::AlreadyExists, "expected a file that can become a directory")
                            .at(Place::file(path.clone())));
                    }
                }
                let sealed = area.seal()?;
                let mut steps = replacements(area, journal, last, &nested)?;
                steps.extend(removed.into_iter().filter(|path| !area.has(path)).map(|path| Step::Remove { path }));
                if !steps.is_empty() {
                    journal.perform(area, steps)?;
                }
                sealed
            }
        };
        Ok(Changed { files, bytes })
    }
}

/// Returns one step for each file, and one for each directory that does not exist yet.
fn replacements(area: &Area, journal: &Journal, last: &[&str], nested: &BTreeMap<String, String>) -> Result<Vec<Step>> {
    let base = journal.side().parent().unwrap_or(Path::new(""));
    let (disk, data) = (area.disk(), area.path().join("data"));
    let mut names = area.names();
    names.retain(|name| !last.contains(&name.as_str()));
    names.extend(last.iter().map(|name| (*name).to_owned()));
    let (mut steps, mut seen) = (Vec::new(), BTreeSet::new());
    for name in &names {
        if let Some((path, first)) = nested.iter().find(|(path, _)| holds(path, name)) {
            if seen.insert(path.clone()) {
                let (with, to, first) = (below(base, &data.join(path))?, path.clone(), first.clone());
                steps.push(Step::Nest { with, to, first });
            }
            continue;
        }
        let mut moved = name.as_str();
        for (end, _) in name.match_indices('/') {
            if disk.node(&base.join(&name[..end]))?.is_none() {
                moved = &name[..end];
                break;
            }
        }
        if seen.insert(moved.to_owned()) {
            steps.push(Step::Replace { with: below(base, &data.join(moved))?, to: moved.to_owned(), old: None });
        }
    }
    Ok(steps)
}

/// Whether the directory `path` contains `name`.
fn holds(path: &str, name: &str) -> bool {
    name.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
}

fn check(relative: &str) -> Result<()> {
    sandbox::check(relative)?;
    if relative == "_isomorph" || relative.starts_with("_isomorph/redo") {
        return Err(Error::new(Kind::Usage, "this name is reserved for changes in progress").at(Place::file(relative)));
    }
    Ok(())
}
