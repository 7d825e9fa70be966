//! Destinations of the files of a graph: a directory, or temporary files that are combined into one archive.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use isomorph_error::{Error, Place, Result};
use isomorph_storage::{Blob, Redo, Scratch, ScratchFile, StagedFile, Staging};
use sha2::{Digest, Sha256};

use super::{WriteLayout, WriteOptions, tar, zip};
use crate::layout::file;
use crate::members::Members;
use crate::{OpenOptions, checksum};

/// Folders that the published library creates in an archive even if they stay empty.
pub(crate) const EMPTY: [&str; 2] = ["audit/snapshots", "uns/results"];

/// The destination of all files.
pub(crate) struct Output<'a> {
    /// `None` if the caller takes the files.
    staging: Option<&'a Staging>,
    /// For files that change in an existing graph.
    redo: Option<&'a Redo>,
    /// Temporary files, for archives and for files that the caller takes.
    scratch: Option<Scratch>,
    layout: WriteLayout,
    /// In the specification's layout: the hash of each file.
    hashes: BTreeMap<String, String>,
    /// The list of hashes, once it is written.
    list: Option<String>,
    /// Complete files, with their sizes in bytes.
    done: Vec<(String, u64)>,
    waiting: Vec<(String, ScratchFile)>,
    /// Empty directories of an archive.
    folders: BTreeSet<String>,
}

/// A file that is being written.
pub(crate) enum Member {
    Staged(Box<StagedFile>),
    Waiting(ScratchFile),
    /// A file that is hashed while it is written.
    Hashed(Box<Member>, Box<Sha256>),
}

impl Member {
    /// Returns the same file, hashed while it is written.
    pub fn hashed(self) -> Self {
        Member::Hashed(Box::new(self), Box::new(Sha256::new()))
    }
}

impl Write for Member {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Member::Staged(file) => file.write(bytes),
            Member::Waiting(file) => file.write(bytes),
            Member::Hashed(file, hasher) => {
                let written = file.write(bytes)?;
                hasher.update(bytes.get(..written).unwrap_or_default());
                Ok(written)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Member::Staged(file) => file.flush(),
            Member::Waiting(file) => file.flush(),
            Member::Hashed(file, _) => file.flush(),
        }
    }
}

impl<'a> Output<'a> {
    /// Creates a destination below `staging`.
    ///
    /// # Errors
    /// Returns an error if temporary files cannot be created.
    pub fn new(staging: &'a Staging, options: &WriteOptions) -> Result<Self> {
        let scratch = match (options.archive, &options.scratch) {
            (false, _) => None,
            (true, Some(scratch)) => Some(scratch.clone()),
            (true, None) => Some(Scratch::new(None)?),
        };
        Ok(Output::at(Some(staging), scratch, options.layout))
    }

    /// Creates a destination for files that [`Output::take`] returns.
    ///
    /// # Errors
    /// Returns an error if temporary files cannot be created.
    pub fn apart(options: &WriteOptions) -> Result<Output<'static>> {
        let scratch = match &options.scratch {
            Some(scratch) => scratch.clone(),
            None => Scratch::new(None)?,
        };
        Ok(Output::at(None, Some(scratch), options.layout))
    }

    /// Creates a destination in an existing graph. The caller commits the change.
    pub fn within(redo: &'a Redo) -> Self {
        Output { redo: Some(redo), ..Output::at(None, None, WriteLayout::V2) }
    }

    fn at(staging: Option<&'a Staging>, scratch: Option<Scratch>, layout: WriteLayout) -> Output<'a> {
        let hashes = BTreeMap::new();
        Output {
            staging,
            redo: None,
            scratch,
            layout,
            hashes,
            list: None,
            done: Vec::new(),
            waiting: Vec::new(),
            folders: EMPTY.map(str::to_owned).into(),
        }
    }

    /// Returns the complete files.
    pub fn take(self) -> Vec<(String, ScratchFile)> {
        self.waiting
    }

    /// Begins a file.
    ///
    /// # Errors
    /// Returns an error if it cannot be created.
    pub fn create(&self, name: &str) -> Result<Member> {
        let file = match (&self.scratch, self.staging, self.redo) {
            (None, Some(staging), _) => Member::Staged(Box::new(staging.create(name)?)),
            (None, None, Some(redo)) => Member::Staged(Box::new(redo.create(name)?)),
            (Some(scratch), ..) => Member::Waiting(scratch.create()?),
            (None, None, None) => return Err(Error::usage("no destination for this file").at(Place::file(name))),
        };
        Ok(match self.layout {
            WriteLayout::V2 => file,
            WriteLayout::Specification => file.hashed(),
        })
    }

    /// Completes a file.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn finish(&mut self, name: &str, file: Member) -> Result<()> {
        match file {
            Member::Staged(file) => self.done.push((name.to_owned(), file.finish()?.size)),
            Member::Waiting(file) => self.waiting.push((name.to_owned(), file)),
            Member::Hashed(file, hasher) => {
                self.hashes.insert(name.to_owned(), checksum::hex(*hasher));
                self.finish(name, *file)?;
            }
        }
        Ok(())
    }

    /// Returns the complete files for reading.
    ///
    /// # Errors
    /// Returns an error on object stores, where written files cannot be read.
    pub fn members(&self, options: &OpenOptions) -> Result<Members> {
        match (self.staging, &self.scratch) {
            (Some(staging), None) => Members::open(&staging.preview()?, options),
            _ => {
                let files = self.waiting.iter().map(|(name, file)| Ok((name.clone(), file.blob()?)));
                Ok(Members::of_files(files.collect::<Result<_>>()?))
            }
        }
    }

    /// Writes a small text file.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn put(&mut self, name: &str, text: &str) -> Result<()> {
        self.put_bytes(name, text.as_bytes())
    }

    /// Writes a small file.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn put_bytes(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut file = self.create(name)?;
        file.write_all(bytes).map_err(|error| Error::from(error).at(Place::file(name)))?;
        self.finish(name, file)
    }

    /// Copies a file that is kept unchanged, unless there is already a file of this name.
    ///
    /// # Errors
    /// Returns an error if it cannot be read or written.
    pub fn keep(&mut self, name: &str, blob: &Blob) -> Result<()> {
        let done = self.done.iter().map(|(name, _)| name).chain(self.waiting.iter().map(|(name, _)| name));
        if done.into_iter().any(|own| own == name) {
            return Ok(());
        }
        let mut file = self.create(name)?;
        let at = |error: io::Error| Error::from(error).at(Place::file(name));
        io::copy(&mut blob.reader(), &mut file).map_err(at)?;
        self.finish(name, file)
    }

    /// Creates an empty directory, if no file goes into it.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be created.
    pub fn keep_folder(&mut self, folder: &str) -> Result<()> {
        let below =
            |name: &String| name.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let mut names = self.done.iter().map(|(name, _)| name).chain(self.waiting.iter().map(|(name, _)| name));
        if names.any(below) {
            return Ok(());
        }
        match (&self.scratch, self.staging) {
            (None, Some(staging)) => staging.create_directory(folder),
            _ => {
                self.folders.insert(folder.to_owned());
                Ok(())
            }
        }
    }

    /// Writes the list of the complete files with their hashes, if the layout has one.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn put_checksums(&mut self) -> Result<()> {
        if self.layout == WriteLayout::Specification {
            let list = checksum::list(&self.hashes);
            self.put(file::CHECKSUMS, &list)?;
            self.list = Some(list);
        }
        Ok(())
    }

    /// Returns the list that was written.
    pub fn checksum_list(&self) -> Option<&str> {
        self.list.as_deref()
    }

    /// Completes the output and returns the files with their sizes, sorted by name. An archive is created at this
    /// point.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn close(mut self) -> Result<Vec<(String, u64)>> {
        let Some(staging) = self.staging.filter(|_| self.scratch.is_some()) else {
            self.done.sort();
            return Ok(self.done);
        };
        let name = staging.destination().file_name().to_owned();
        self.waiting.sort_by(|(left, _), (right, _)| left.cmp(right));
        if self.layout == WriteLayout::Specification {
            let size = tar::write(staging.create(&name)?, &name, &self.folders, &self.waiting)?;
            return Ok(vec![(name, size)]);
        }
        let size = zip::write(staging.create(&name)?, &name, &self.folders, &self.waiting)?;
        Ok(vec![(name, size)])
    }
}
