//! Writing, performing and repeating a record.

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

/// The place where the record of one change is kept.
#[derive(Debug, Clone)]
pub(crate) struct Journal {
    disk: Arc<dyn Disk>,
    base: PathBuf,
    record: PathBuf,
    scope: Scope,
}

/// Directory of a dataset that holds what other tools ignore.
const SIDE: &str = "_isomorph";

impl Journal {
    /// For replacing `name` in the directory `parent`: `.<name>.redo`.
    pub(crate) fn beside(disk: &Arc<dyn Disk>, parent: &Path, name: &str) -> Self {
        let targets = BTreeSet::from([name.to_owned(), format!("{name}{COMPANION_SUFFIX}")]);
        Journal {
            disk: Arc::clone(disk),
            base: parent.to_owned(),
            record: parent.join(format!(".{}.redo", shortened(name))),
            scope: Scope::Beside { targets, aside: AsideName::beside(name) },
        }
    }

    /// For changing files in the directory `root`: `_isomorph/redo.json`.
    pub(crate) fn within(disk: &Arc<dyn Disk>, root: &Path) -> Self {
        Journal {
            disk: Arc::clone(disk),
            base: root.to_owned(),
            record: root.join(SIDE).join("redo.json"),
            scope: Scope::Within { prefix: "_isomorph/", aside: AsideName::within() },
        }
    }

    /// Where the record and the directories for things in the making are.
    pub(super) fn side(&self) -> &Path {
        self.record.parent().unwrap_or(&self.base)
    }

    /// Writes the steps down, durably, and performs them. What is in `area` must be durable already.
    ///
    /// # Errors
    /// Before the record is durable: nothing has changed. After: [`Kind::Incomplete`], and the next opening goes on.
    pub(crate) fn perform(&self, area: &Area, steps: Vec<Step>) -> Result<()> {
        let bytes = record::written(&steps)?;
        if bytes.len() as u64 > limits::MANIFEST_BYTES {
            return Err(Error::new(Kind::TooLarge, "the change touches too many files to be made in one step"));
        }
        // A record must not be found without what it speaks about.
        area.sync(|| self.disk.sync_dir(area.path()).and_then(|()| self.sync_names()), "redo record")?;
        let made = area.path().join("record");
        let told = |error: io::Error| Error::from(error).at(Place::file(made.display().to_string()));
        let mut file = self.disk.create_file(&made).map_err(told)?;
        file.write_all(&bytes).map_err(told)?;
        area.sync(|| file.sync(), "redo record")?;
        self.disk.rename_new(&made, &self.record).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                Error::new(Kind::Conflict, "another change is being made here").hint("run again when it is done")
            }
            _ => Error::from(error),
        })?;
        area.keep(true);
        if let Err(error) = area.sync(|| self.disk.sync_dir(self.side()), "redo record") {
            // Perhaps not durable, so not to be done. If even this fails, the next opening will do it.
            area.keep(self.disk.remove_file(&self.record).is_err());
            return Err(error);
        }
        // Nothing is locked when somebody opened the place meanwhile and did it for us.
        if let Some((_, _lock)) = self.locked().map_err(|error| self.stuck(error))? {
            self.apply(&steps).map_err(|error| self.stuck(error))?;
        }
        area.keep(false);
        Ok(())
    }

    /// Performs what a record says, if there is one, and returns whether there was.
    ///
    /// # Errors
    /// [`Kind::Incomplete`] when the steps cannot be performed; [`Kind::Malformed`] for a damaged record.
    pub(crate) fn recover(&self) -> Result<bool> {
        let unread = |error: io::Error| Error::from(error).at(self.place());
        let Some((bytes, _lock)) = self.locked().map_err(unread)? else { return Ok(false) };
        let steps = record::read(&bytes, &self.scope).map_err(|error| error.at(self.place()))?;
        // Its writer may have been killed before this: without it, a change could outlive its record.
        self.sync_names().and_then(|()| self.apply(&steps)).map_err(|error| self.stuck(error))?;
        Ok(true)
    }

    /// Makes durable the names of the record and of the directory that holds it, which may be new.
    fn sync_names(&self) -> io::Result<()> {
        self.disk.sync_dir(self.side())?;
        if self.side() == self.base { Ok(()) } else { self.disk.sync_dir(&self.base) }
    }

    /// The record, and its lock: only one process at a time performs it.
    fn locked(&self) -> io::Result<Option<(Vec<u8>, Lock)>> {
        loop {
            let Some(before) = self.read()? else { return Ok(None) };
            let lock = match self.disk.lock(&self.record) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                lock => lock?,
            };
            // While we waited, its owner may have performed it, and another may have begun the next.
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
            let message = "another user recorded a change, in a directory that everybody may write to";
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
        // Before the record goes, everything it stands for is durable: also what an interrupted process did.
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
            // Somebody else made the directory meanwhile: ours goes into it, file by file.
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

    /// Puts the file `to` into the directory `with`, which takes its place. With second names and exchanges nobody finds
    /// the place empty. Each state in which this can be left says by itself what is missing.
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
            // Somebody else did the same meanwhile: our files go beside theirs.
            (Some(NodeKind::Directory), Some(NodeKind::Directory)) => self.replace(with, to, None),
            _ => Err(io::Error::new(io::ErrorKind::AlreadyExists, "something else took the place of the file")),
        }
    }

    /// Makes the directories that are to hold `name`. None of them may be a link.
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

    /// Whether the directories that hold `name` exist, and are no links.
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
            .hint("open it once with permission to write there, and with space left")
    }

    fn place(&self) -> Place {
        Place::file(self.record.display().to_string())
    }
}
