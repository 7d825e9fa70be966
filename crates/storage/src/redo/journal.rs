//! Writes, performs and repeats redo records.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use isomorph_error::{Error, Kind, Place, Result};

use super::record::{self, Scope, Step};
use crate::disk::{Disk, Lock, Node, NodeKind, is_empty_dir, remove_tree};
use crate::leftover::{AsideName, shortened};
use crate::limits;
use crate::staging::{Area, COMPANION_SUFFIX};

/// Where the record of a change is stored.
#[derive(Debug, Clone)]
pub(crate) struct Journal {
    disk: Arc<dyn Disk>,
    base: PathBuf,
    record: PathBuf,
    scope: Scope,
}

/// Directory in a dataset that other tools ignore.
const SIDE: &str = "_isomorph";

impl Journal {
    /// The journal for replacing `name` in the directory `parent`: `.<name>.redo`.
    pub(crate) fn beside(disk: &Arc<dyn Disk>, parent: &Path, name: &str) -> Self {
        let targets = BTreeSet::from([name.to_owned(), format!("{name}{COMPANION_SUFFIX}")]);
        Journal {
            disk: Arc::clone(disk),
            base: parent.to_owned(),
            record: parent.join(format!(".{}.redo", shortened(name))),
            scope: Scope::Beside { targets, aside: AsideName::beside(name) },
        }
    }

    /// The journal for changing files in the directory `root`: `_isomorph/redo.json`.
    pub(crate) fn within(disk: &Arc<dyn Disk>, root: &Path) -> Self {
        Journal {
            disk: Arc::clone(disk),
            base: root.to_owned(),
            record: root.join(SIDE).join("redo.json"),
            scope: Scope::Within { prefix: "_isomorph/", aside: AsideName::within() },
        }
    }

    /// The directory of the record and of the unfinished output.
    pub(super) fn side(&self) -> &Path {
        self.record.parent().unwrap_or(&self.base)
    }

    /// Writes the steps durably and performs them. The files in `area` must be durable already.
    ///
    /// # Errors
    /// Before the record is durable, errors leave everything unchanged. After that: [`Kind::Incomplete`], and the next
    /// opening continues.
    pub(crate) fn perform(&self, area: &Area, steps: Vec<Step>) -> Result<()> {
        let bytes = record::written(&steps)?;
        if bytes.len() as u64 > limits::MANIFEST_BYTES {
            return Err(Error::new(Kind::TooLarge, "the change touches too many files to be made in one step"));
        }
        // The files that a record refers to must be durable before the record.
        area.sync(|| self.disk.sync_dir(area.path()).and_then(|()| self.sync_names()), "redo record")?;
        let made = area.path().join("record");
        let told = |error: io::Error| Error::from(error).at(Place::file(made.display().to_string()));
        let mut file = self.disk.create_file(&made).map_err(told)?;
        file.write_all(&bytes).map_err(told)?;
        area.sync(|| file.sync(), "redo record")?;
        self.disk.rename_new(&made, &self.record).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                Error::new(Kind::Conflict, "another change is in progress").hint("run again when it has finished")
            }
            _ => Error::from(error),
        })?;
        area.keep(true);
        if let Err(error) = area.sync(|| self.disk.sync_dir(self.side()), "redo record") {
            // It may not be durable, so it must not be performed. If removing it fails too, the next opening performs it.
            area.keep(self.disk.remove_file(&self.record).is_err());
            return Err(error);
        }
        // There is nothing to lock if another process has performed it in the meantime.
        if let Some((_, _lock)) = self.locked().map_err(|error| self.stuck(error))? {
            self.apply(&steps).map_err(|error| self.stuck(error))?;
        }
        area.keep(false);
        Ok(())
    }

    /// Performs the steps of a record, if there is one, and returns whether there was.
    ///
    /// # Errors
    /// [`Kind::Incomplete`] if the steps cannot be performed; [`Kind::Malformed`] for a damaged record.
    pub(crate) fn recover(&self) -> Result<bool> {
        let unread = |error: io::Error| Error::from(error).at(self.place());
        let Some((bytes, _lock)) = self.locked().map_err(unread)? else { return Ok(false) };
        let steps = record::read(&bytes, &self.scope).map_err(|error| error.at(self.place()))?;
        // Its writer may have been killed before this; without it, a change could outlive its record.
        self.sync_names().and_then(|()| self.apply(&steps)).map_err(|error| self.stuck(error))?;
        Ok(true)
    }

    /// Makes the names of the record and of its directory, which may be new, durable.
    fn sync_names(&self) -> io::Result<()> {
        self.disk.sync_dir(self.side())?;
        if self.side() == self.base { Ok(()) } else { self.disk.sync_dir(&self.base) }
    }

    /// Returns the record and its lock: only one process at a time performs it.
    fn locked(&self) -> io::Result<Option<(Vec<u8>, Lock)>> {
        loop {
            let Some(before) = self.read()? else { return Ok(None) };
            let lock = match self.disk.lock(&self.record) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                lock => lock?,
            };
            // While we waited, its owner may have performed it, and another process may have started the next one.
            if self.read()?.as_ref() == Some(&before) {
                return Ok(Some((before, lock)));
            }
        }
    }

    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        match self.disk.node(&self.record)? {
            Some(Node { kind: NodeKind::File, .. }) => {}
            _ => return Ok(None),
        }
        let bytes = match self.disk.read(&self.record, limits::MANIFEST_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            bytes => bytes?,
        };
        if self.disk.trusted(&self.record)? {
            Ok(Some(bytes))
        } else {
            let message = "the record was written by another user, in a directory that all users can write to";
            Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
        }
    }

    fn apply(&self, steps: &[Step]) -> io::Result<()> {
        let mut touched = BTreeSet::from([self.base.clone(), self.side().to_owned()]);
        for step in steps {
            match step {
                Step::Replace { with, to, old } => {
                    self.make_parents(to, &mut touched)?;
                    if self.parents_exist(with, &mut touched)? {
                        self.replace(&self.base.join(with), &self.base.join(to), old.as_ref())?;
                    }
                }
                Step::Nest { with, to, first } => {
                    if self.parents_exist(to, &mut touched)? && self.parents_exist(with, &mut touched)? {
                        self.nest(&self.base.join(with), &self.base.join(to), first)?;
                    }
                }
                Step::Remove { path } => {
                    if self.parents_exist(path, &mut touched)? {
                        remove_tree(&*self.disk, &self.base.join(path))?;
                    }
                }
            }
        }
        // Everything must be durable before the record is removed, including the steps of an interrupted process.
        for directory in touched.iter().rev() {
            self.disk.sync_dir(directory)?;
        }
        self.disk.remove_file(&self.record)?;
        self.disk.sync_dir(self.side())
    }

    fn replace(&self, with: &Path, to: &Path, old: Option<&String>) -> io::Result<()> {
        let Some(new) = self.disk.node(with)? else { return Ok(()) };
        let in_the_way = new.kind == NodeKind::Directory
            && self.disk.node(to)?.is_some_and(|node| node.kind == NodeKind::Directory)
            && !is_empty_dir(&*self.disk, to)?;
        match old.map(|old| self.base.join(old)) {
            Some(old) if in_the_way && self.disk.node(&old)?.is_none() => self.disk.rename(to, &old)?,
            // Another process created the directory in the meantime, so our files are moved into it one by one.
            None if in_the_way => {
                for name in self.disk.names(with)? {
                    self.replace(&with.join(&name), &to.join(&name), None)?;
                }
                return self.disk.sync_dir(to);
            }
            _ => {}
        }
        self.disk.rename(with, to)
    }

    /// Moves the file `to` into the directory `with`, which then replaces it. With hard links and exchanges, the name
    /// always exists. Each intermediate state shows which steps are missing.
    fn nest(&self, with: &Path, to: &Path, first: &str) -> io::Result<()> {
        let kind = |path: &Path| Ok::<_, io::Error>(self.disk.node(path)?.map(|node| node.kind));
        let inner = with.join(first);
        match (kind(with)?, kind(to)?) {
            (Some(NodeKind::Directory), Some(NodeKind::File)) => {
                let linked = kind(&inner)?.is_some() || self.disk.link(to, &inner).is_ok();
                if !linked {
                    self.disk.rename(to, &inner)?;
                }
                self.disk.sync_dir(with)?;
                if linked {
                    match self.disk.exchange(with, to) {
                        Err(error) if error.kind() == io::ErrorKind::Unsupported => self.disk.remove_file(to)?,
                        exchanged => return exchanged,
                    }
                }
                self.disk.rename(with, to)
            }
            (Some(NodeKind::Directory), None) => {
                self.disk.sync_dir(with)?;
                self.disk.rename(with, to)
            }
            // It was done before.
            (None | Some(NodeKind::File), Some(NodeKind::Directory)) => Ok(()),
            (None, None) => Ok(()),
            // Another process did the same in the meantime, so our files go next to its files.
            (Some(NodeKind::Directory), Some(NodeKind::Directory)) => self.replace(with, to, None),
            _ => Err(io::Error::new(io::ErrorKind::AlreadyExists, "expected a file")),
        }
    }

    /// Creates the directories that contain `name`. None of them may be a link.
    fn make_parents(&self, name: &str, touched: &mut BTreeSet<PathBuf>) -> io::Result<()> {
        for directory in self.parents(name) {
            match self.disk.node(&directory)? {
                None => self.disk.create_dir(&directory)?,
                Some(Node { kind: NodeKind::Directory, .. }) => {}
                Some(_) => return Err(io::Error::new(io::ErrorKind::NotADirectory, "a link or file is in the way")),
            }
            touched.insert(directory);
        }
        Ok(())
    }

    /// Whether the directories that contain `name` exist and are not links.
    fn parents_exist(&self, name: &str, touched: &mut BTreeSet<PathBuf>) -> io::Result<bool> {
        for directory in self.parents(name) {
            match self.disk.node(&directory)? {
                None => return Ok(false),
                Some(Node { kind: NodeKind::Directory, .. }) => {}
                Some(_) => return Err(io::Error::new(io::ErrorKind::NotADirectory, "a link or file is in the way")),
            }
            touched.insert(directory);
        }
        Ok(true)
    }

    fn parents(&self, name: &str) -> Vec<PathBuf> {
        let ends = name.match_indices('/').map(|(end, _)| end);
        ends.map(|end| self.base.join(&name[..end])).collect()
    }

    fn stuck(&self, error: io::Error) -> Error {
        Error::new(Kind::Incomplete, "an interrupted change could not be finished")
            .caused_by(error)
            .at(self.place())
            .hint("open the dataset once with write permission and enough free space")
    }

    fn place(&self) -> Place {
        Place::file(self.record.display().to_string())
    }
}
