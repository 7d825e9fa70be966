//! The publish protocol of a local file or directory.
//!
//! Everything is made in `.<name>.<unique>.tmp/` beside the destination, on the same file system: the thing itself as
//! `data`, its companion as `companion`, and what they replace goes to `old` and `old-companion`.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use isomorph_error::{Error, Kind, Result};

use super::{Area, COMPANION_SUFFIX, Mode, Part, Shape, StagedFile, unwritten};
use crate::disk::{Disk, NodeKind, is_empty_dir};
use crate::leftover::{AsideName, remove_leftovers};
use crate::platform::parent_of;
use crate::redo::{Journal, Step};
use crate::{Location, redo};

#[derive(Debug)]
pub(super) struct LocalStaging {
    area: Arc<Area>,
    mode: Mode,
    shape: Shape,
    target: PathBuf,
    companion: PathBuf,
    journal: Journal,
}

impl LocalStaging {
    pub(super) fn begin(destination: &Location, mode: Mode, shape: Shape) -> Result<Self> {
        let disk = destination.disk();
        if shape == Shape::File {
            check_name(destination)?;
        }
        let target = resolved(&*disk, destination, mode)?;
        let name = Location::from_path(&target).file_name().to_owned();
        let parent = parent_of(&target).to_owned();
        let journal = Journal::beside(&disk, &parent, &name);
        journal.recover()?;
        check_free(&*disk, &target, mode, shape).inspect_err(|_| {
            // A run that was killed just after it had published left its directory, and nobody else will come for it.
            let _ = remove_leftovers(&*disk, &parent, &AsideName::beside(&name));
        })?;
        let companion = parent.join(format!("{name}{COMPANION_SUFFIX}"));
        let area = Area::create(&disk, &parent, &AsideName::beside(&name)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::new(Kind::NotFound, "the directory that is to hold it does not exist")
                .hint(format!("mkdir -p {}", parent.display())),
            _ => Error::from(error),
        })?;
        if shape == Shape::Directory {
            area.directory(Path::new(data(Part::Main)))?;
        }
        Ok(LocalStaging { area, mode, shape, target, companion, journal })
    }

    pub(super) fn dated(&self, time: std::time::SystemTime) {
        self.area.dated(time);
    }

    pub(super) fn create(&self, part: Part, relative: &str, name: &str) -> Result<StagedFile> {
        let base = Path::new(data(part));
        self.area.file(&if relative.is_empty() { base.to_owned() } else { base.join(relative) }, name)
    }

    pub(super) fn create_directory(&self, relative: &str) -> Result<()> {
        Ok(self.area.directory(&Path::new(data(Part::Main)).join(relative))?)
    }

    /// Where the thing itself is being made.
    pub(super) fn preview(&self) -> Location {
        Location::from_path(&self.aside(data(Part::Main)))
    }

    pub(super) fn commit(&self, last: &[&str]) -> Result<(u64, u64)> {
        if let Some(missing) = last.iter().find(|name| !self.area.has(name)) {
            return Err(unwritten(missing));
        }
        let disk = &**self.area.disk();
        if disk.node(&self.aside(data(Part::Main)))?.is_none() {
            return Err(Error::usage("nothing was written"));
        }
        let sealed = self.area.seal()?;
        check_free(disk, &self.target, self.mode, self.shape)?;
        if disk.node(&self.target)?.is_none() || self.mode == Mode::CreateNew {
            self.appear()?;
        } else {
            self.replace()?;
        }
        Ok(sealed)
    }

    /// Publishes where there was nothing. As long as the target is missing the old state holds, so the companion can
    /// go first by itself.
    fn appear(&self) -> Result<()> {
        let mut moves = Moves { disk: &**self.area.disk(), done: Vec::new() };
        let done = self.appear_by(&mut moves);
        if done.is_err() {
            moves.undo();
        }
        done
    }

    fn appear_by(&self, moves: &mut Moves<'_>) -> Result<()> {
        let orphan = self.companion_exists()?;
        if orphan {
            moves.rename(&self.companion, &self.aside("old-companion"))?;
        }
        if self.has_companion()? {
            moves.rename(&self.aside(data(Part::Companion)), &self.companion)?;
        }
        if !moves.done.is_empty() {
            self.sync_parent()?;
        }
        let made = self.aside(data(Part::Main));
        let appeared = match self.shape {
            Shape::File => moves.rename_new(&made, &self.target),
            // Renaming a directory replaces at most an empty one.
            Shape::Directory => moves.rename(&made, &self.target),
        };
        appeared.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory => exists(),
            _ => Error::from(error),
        })?;
        self.sync_parent()
    }

    /// Publishes in the place of something.
    fn replace(&self) -> Result<()> {
        let disk = &**self.area.disk();
        if self.has_companion()? || self.companion_exists()? {
            return self.replace_by_record();
        }
        let made = self.aside(data(Part::Main));
        match disk.exchange(&made, &self.target) {
            Ok(()) => self.sync_parent().inspect_err(|_| {
                // Back to the old state; if this fails too, the new one is visible and perhaps not durable.
                let _ = disk.exchange(&made, &self.target);
            }),
            Err(error) if error.kind() != io::ErrorKind::Unsupported => Err(error.into()),
            Err(_) if self.shape == Shape::File => {
                disk.rename(&made, &self.target)?;
                self.sync_parent()
            }
            Err(_) => self.replace_by_record(),
        }
    }

    /// Several renames that must all happen: they are written down first.
    fn replace_by_record(&self) -> Result<()> {
        let base = parent_of(&self.target);
        let below = |path: &Path| redo::below(base, path);
        let mut steps = Vec::new();
        if self.has_companion()? {
            steps.push(Step::Replace {
                with: below(&self.aside(data(Part::Companion)))?,
                to: below(&self.companion)?,
                old: Some(below(&self.aside("old-companion"))?),
            });
        } else if self.companion_exists()? {
            steps.push(Step::Remove { path: below(&self.companion)? });
        }
        steps.push(Step::Replace {
            with: below(&self.aside(data(Part::Main)))?,
            to: below(&self.target)?,
            old: Some(below(&self.aside("old"))?),
        });
        self.journal.perform(&self.area, steps)
    }

    fn has_companion(&self) -> Result<bool> {
        Ok(self.area.disk().node(&self.aside(data(Part::Companion)))?.is_some())
    }

    fn companion_exists(&self) -> Result<bool> {
        Ok(self.area.disk().node(&self.companion)?.is_some())
    }

    fn aside(&self, name: &str) -> PathBuf {
        self.area.path().join(name)
    }

    fn sync_parent(&self) -> Result<()> {
        let parent = parent_of(&self.target);
        self.area.sync(|| self.area.disk().sync_dir(parent), &parent.display().to_string())
    }
}

/// What a part is called while it is made.
fn data(part: Part) -> &'static str {
    match part {
        Part::Main => "data",
        Part::Companion => "companion",
    }
}

/// Fails for a name that is that of a directory.
fn check_name(destination: &Location) -> Result<()> {
    let path = destination.as_path().unwrap_or(Path::new(""));
    let is_separator = |byte: u8| std::path::is_separator(char::from(byte));
    if !path.as_os_str().as_encoded_bytes().last().copied().is_some_and(is_separator) {
        return Ok(());
    }
    let file = path.components().as_path().display().to_string();
    Err(Error::usage("one file is written, and the destination is named like a directory").hint(file))
}

/// The path that is written: behind a link, what the link points to.
fn resolved(disk: &dyn Disk, destination: &Location, mode: Mode) -> Result<PathBuf> {
    let path = destination.as_path().unwrap_or(Path::new("")).to_owned();
    match disk.node(&path)? {
        Some(node) if node.kind == NodeKind::Other => match disk.canonical(&path) {
            Ok(target) if mode == Mode::Replace => Ok(target),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Error::new(Kind::AlreadyExists, "the destination is a link to a file that does not exist")
                    .hint("choose another destination")
                    .hint(format!("rm {}    remove the link", path.display())))
            }
            Ok(_) => Ok(path),
            Err(error) => Err(error.into()),
        },
        _ => Ok(path),
    }
}

/// Fails when what is at the target may not be touched.
fn check_free(disk: &dyn Disk, target: &Path, mode: Mode, shape: Shape) -> Result<()> {
    let Some(node) = disk.node(target)? else { return Ok(()) };
    match (mode, shape, node.kind) {
        (Mode::CreateNew, Shape::Directory, NodeKind::Directory) if is_empty_dir(disk, target)? => Ok(()),
        (Mode::CreateNew, Shape::File, NodeKind::File | NodeKind::Other)
        | (Mode::CreateNew, Shape::Directory, NodeKind::Directory | NodeKind::Other) => Err(exists()),
        (Mode::Replace, Shape::File, NodeKind::File) | (Mode::Replace, Shape::Directory, NodeKind::Directory) => Ok(()),
        (_, Shape::File, _) => Err(unlike("a file cannot replace what is at that place: it is not a file")),
        (_, Shape::Directory, _) => {
            Err(unlike("a directory cannot replace what is at that place: it is not a directory"))
        }
    }
}

fn exists() -> Error {
    Error::new(Kind::AlreadyExists, "there is something at that place already")
        .hint("choose another destination")
        .hint("--replace    replace what is there")
}

fn unlike(message: &str) -> Error {
    Error::new(Kind::AlreadyExists, message).hint("choose another destination")
}

/// Renames that can be taken back.
struct Moves<'a> {
    disk: &'a dyn Disk,
    done: Vec<(PathBuf, PathBuf)>,
}

impl Moves<'_> {
    fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename(from, to)?;
        self.done.push((from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn rename_new(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk.rename_new(from, to)?;
        self.done.push((from.to_owned(), to.to_owned()));
        Ok(())
    }

    fn undo(&mut self) {
        while let Some((from, to)) = self.done.pop() {
            // A machine that cannot rename back is left with the new state, which was complete.
            let _ = self.disk.rename(&to, &from);
        }
    }
}
