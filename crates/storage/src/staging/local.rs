//! The publish protocol of a local file or directory.
//!
//! Everything is created in `.<name>.<unique>.tmp/` next to the destination, on the same file system: the output as
//! `data`, its companion as `companion`. What they replace is moved to `old` and `old-companion`.

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
            // A run that was killed just after publishing left its directory, and no other run will remove it.
            let _ = remove_leftovers(&*disk, &parent, &AsideName::beside(&name));
        })?;
        let companion = parent.join(format!("{name}{COMPANION_SUFFIX}"));
        let area = Area::create(&disk, &parent, &AsideName::beside(&name)).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => Error::new(Kind::NotFound, "the parent directory does not exist")
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

    /// Returns the current location of a part of the output.
    pub(super) fn preview_of(&self, part: Part) -> Location {
        Location::from_path(&self.aside(data(part)))
    }

    pub(super) fn commit(&self, last: &[&str]) -> Result<(u64, u64)> {
        if let Some(missing) = last.iter().find(|name| !self.area.has(name)) {
            return Err(unwritten(missing));
        }
        let disk = &**self.area.disk();
        if disk.node(&self.aside(data(Part::Main)))?.is_none() {
            return Err(Error::usage("no output was written"));
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

    /// Publishes to a destination that does not exist. As long as the output is missing the old state holds, so the
    /// companion can be published first, in a separate step.
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
            // Renaming a directory can replace only an empty one.
            Shape::Directory => moves.rename(&made, &self.target),
        };
        appeared.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::NotADirectory => exists(),
            _ => Error::from(error),
        })?;
        self.sync_parent()
    }

    /// Publishes to a destination that exists.
    fn replace(&self) -> Result<()> {
        let disk = &**self.area.disk();
        if self.has_companion()? || self.companion_exists()? {
            return self.replace_by_record();
        }
        let made = self.aside(data(Part::Main));
        match disk.exchange(&made, &self.target) {
            Ok(()) => self.sync_parent().inspect_err(|_| {
                // Restore the old state. If this fails too, the new state is visible but may not be durable.
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

    /// Performs several renames together, recording them first.
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

/// Returns the name of a part before it is published.
fn data(part: Part) -> &'static str {
    match part {
        Part::Main => "data",
        Part::Companion => "companion",
    }
}

/// Returns an error if the destination is named like a directory.
fn check_name(destination: &Location) -> Result<()> {
    let path = destination.as_path().unwrap_or(Path::new(""));
    let is_separator = |byte: u8| std::path::is_separator(char::from(byte));
    if !path.as_os_str().as_encoded_bytes().last().copied().is_some_and(is_separator) {
        return Ok(());
    }
    let file = path.components().as_path().display().to_string();
    Err(Error::usage("the output is one file, but the destination is named like a directory").hint(file))
}

/// Returns the path to write: if it is a link, its target.
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

/// Returns an error if what exists at the target may not be replaced.
fn check_free(disk: &dyn Disk, target: &Path, mode: Mode, shape: Shape) -> Result<()> {
    let Some(node) = disk.node(target)? else { return Ok(()) };
    match (mode, shape, node.kind) {
        (Mode::CreateNew, Shape::Directory, NodeKind::Directory) if is_empty_dir(disk, target)? => Ok(()),
        (Mode::CreateNew, Shape::File, NodeKind::File | NodeKind::Other)
        | (Mode::CreateNew, Shape::Directory, NodeKind::Directory | NodeKind::Other) => Err(exists()),
        (Mode::Replace, Shape::File, NodeKind::File) | (Mode::Replace, Shape::Directory, NodeKind::Directory) => Ok(()),
        (_, Shape::File, _) => Err(unlike("cannot replace the destination by a file: it is not a file")),
        (_, Shape::Directory, _) => Err(unlike("cannot replace the destination by a directory: it is not a directory")),
    }
}

fn exists() -> Error {
    Error::new(Kind::AlreadyExists, "destination already exists")
        .hint("choose another destination")
        .hint("--replace    replace the destination")
}

fn unlike(message: &str) -> Error {
    Error::new(Kind::AlreadyExists, message).hint("choose another destination")
}

/// Renames that can be undone.
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
            // If renaming back fails, the new state stays, which was complete.
            let _ = self.disk.rename(&to, &from);
        }
    }
}
