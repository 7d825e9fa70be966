//! Changing several files of an existing dataset as one.

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

/// New, replaced and removed files of an existing dataset that change together: after a crash, all of them or none.
///
/// A reader that has the dataset open while the change is made can see some files before and some after it.
#[derive(Debug)]
pub struct Redo {
    backend: Backend,
    removed: Mutex<BTreeSet<String>>,
    /// Files that become directories, with the names that they get in them.
    nested: Mutex<BTreeMap<String, String>>,
}

#[derive(Debug)]
enum Backend {
    Local { area: Arc<Area>, journal: Journal },
    Remote(Uploads),
}

/// What a change wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Changed {
    /// Files.
    pub files: u64,
    /// Their sizes together, bytes.
    pub bytes: u64,
}

impl Redo {
    /// Begins a change of `root`.
    ///
    /// # Errors
    /// [`Kind::Usage`] for a place that cannot be written, [`Kind::Incomplete`] when an earlier change cannot be
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

    /// Finishes a change of `root` that was interrupted, and returns whether there was one. [`Root::open`] has done
    /// this already.
    ///
    /// # Errors
    /// [`Kind::Incomplete`] when it cannot be finished.
    pub fn recover(root: &Root) -> Result<bool> {
        super::recover_within(root.location())
    }

    /// Begins the file `relative`, which is new or replaces the one of that name.
    ///
    /// # Errors
    /// As [`Staging::create`](crate::Staging::create).
    pub fn create(&self, relative: &str) -> Result<StagedFile> {
        check(relative)?;
        match &self.backend {
            Backend::Local { area, .. } => area.file(&Path::new("data").join(relative), relative),
            Backend::Remote(uploads) => uploads.create_main(relative),
        }
    }

    /// Removes the file or directory `relative`; it is no error if there is none.
    ///
    /// # Errors
    /// A name that leaves the root breaks [`PATH_ESCAPE`](crate::PATH_ESCAPE).
    pub fn remove(&self, relative: &str) -> Result<()> {
        check(relative)?;
        self.removed.lock().unwrap_or_else(PoisonError::into_inner).insert(relative.to_owned());
        Ok(())
    }

    /// Turns the file `relative` into a directory of that name, in which it is called `first`, beside the files that are
    /// [created](Redo::create) below that name: at least one. Its bytes are not touched, and where the system has second
    /// names for files, and exchanges, who opens `relative` finds the file or the whole directory.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] where there are no directories; names that leave the root or the directory.
    pub fn nest(&self, relative: &str, first: &str) -> Result<()> {
        check(relative)?;
        check(first)?;
        if first.contains('/') {
            return Err(Error::usage("a file becomes a member of one directory").at(Place::file(first)));
        }
        match self.backend {
            Backend::Local { .. } => {
                let mut nested = self.nested.lock().unwrap_or_else(PoisonError::into_inner);
                nested.insert(relative.to_owned(), first.to_owned());
                Ok(())
            }
            Backend::Remote(_) => Err(Error::unsupported("objects do not become directories")),
        }
    }

    /// Makes the change only as long as `relative` is the object that had this fingerprint: where a store knows conditions,
    /// the object is replaced by one request that says so. It must be one of the `last` of [`Redo::commit`]. Who changes local
    /// files takes a [`Turn`](crate::Turn) and compares.
    ///
    /// # Errors
    /// A name that leaves the root.
    pub fn expect(&self, relative: &str, fingerprint: &Fingerprint) -> Result<()> {
        check(relative)?;
        match (&self.backend, &fingerprint.etag) {
            (Backend::Remote(uploads), Some(etag)) => uploads.expect(relative, etag),
            _ => Ok(()),
        }
    }

    /// Makes the change; `last` names the manifests, in the order in which they become visible where one step is not
    /// possible (object stores).
    ///
    /// # Errors
    /// [`Kind::Conflict`] when another change is being made; [`Kind::AlreadyExists`] when what should become a directory is
    /// no file; [`Kind::Poisoned`], [`Kind::NoSpace`], [`Kind::Io`] with
    /// everything as before; [`Kind::Incomplete`] when the change was recorded and will be finished by the next opening.
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
                    return Err(Error::usage("a file cannot be made in a directory that is removed")
                        .at(Place::file(name.clone())));
                }
                if let Some(empty) = nested.keys().find(|path| !area.names().iter().any(|name| holds(path, name))) {
                    return Err(unwritten(empty));
                }
                let base = journal.side().parent().unwrap_or(Path::new(""));
                for path in nested.keys() {
                    if area.disk().node(&base.join(path))?.is_none_or(|node| node.kind != NodeKind::File) {
                        return Err(Error::new(
                            Kind::AlreadyExists,
                            "this is no file any more, which could become a directory",
                        )
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

/// One step for each file; one for each directory of which nothing exists yet.
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

/// Whether the directory `path` holds `name`.
fn holds(path: &str, name: &str) -> bool {
    name.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
}

fn check(relative: &str) -> Result<()> {
    sandbox::check(relative)?;
    if relative == "_isomorph" || relative.starts_with("_isomorph/redo") {
        return Err(Error::new(Kind::Usage, "this name is kept for changes in progress").at(Place::file(relative)));
    }
    Ok(())
}
