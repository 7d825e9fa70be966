//! Where the files of a graph go: into a directory, or side by side into temporary files that become one archive.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use isomorph_error::{Error, Place, Result};
use isomorph_storage::{Blob, Redo, Scratch, ScratchFile, StagedFile, Staging};
use sha2::{Digest, Sha256};

use super::{WriteLayout, WriteOptions, tar, zip};
use crate::layout::file;
use crate::members::Members;
use crate::{OpenOptions, checksum};

/// Folders that the published library makes in an archive although it may put nothing into them.
pub(crate) const EMPTY: [&str; 2] = ["audit/snapshots", "uns/results"];

/// The place of all files.
pub(crate) struct Output<'a> {
    /// Nothing when the files are for somebody else to take.
    staging: Option<&'a Staging>,
    /// For files that change in a graph that is there.
    redo: Option<&'a Redo>,
    /// For archives, and for others: where files wait.
    scratch: Option<Scratch>,
    layout: WriteLayout,
    /// In the specification's layout: the hash of each file.
    hashes: BTreeMap<String, String>,
    /// Their list, once it is written.
    list: Option<String>,
    /// Files that are complete, with their sizes in bytes.
    done: Vec<(String, u64)>,
    waiting: Vec<(String, ScratchFile)>,
    /// Empty directories of an archive.
    folders: BTreeSet<String>,
}

/// One file in the making.
pub(crate) enum Member {
    Staged(Box<StagedFile>),
    Waiting(ScratchFile),
    /// One whose hash is wanted.
    Hashed(Box<Member>, Box<Sha256>),
}

impl Member {
    /// The same file, hashed while it is written.
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
    /// A place below `staging`.
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

    /// A place for files that [`Output::take`] gives away.
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

    /// A place in a graph that is there. Committing the change is the caller's.
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

    /// The files that are complete and wait.
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
            (None, None, None) => return Err(Error::usage("there is no place for this file").at(Place::file(name))),
        };
        Ok(match self.layout {
            WriteLayout::V2 => file,
            WriteLayout::Specification => file.hashed(),
        })
    }

    /// Ends a file.
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

    /// The files that are complete, to be read.
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

    /// Writes a small file whole.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn put(&mut self, name: &str, text: &str) -> Result<()> {
        self.put_bytes(name, text.as_bytes())
    }

    /// Writes a file whole.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn put_bytes(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut file = self.create(name)?;
        file.write_all(bytes).map_err(|error| Error::from(error).at(Place::file(name)))?;
        self.finish(name, file)
    }

    /// Writes a file that is kept as it is, unless there is one of its name.
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

    /// Makes an empty directory, where no file goes into it.
    ///
    /// # Errors
    /// Returns an error if it cannot be made.
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

    /// Writes the list of the files that are complete, with their hashes, in a layout that has one.
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

    /// The list that was written.
    pub fn checksum_list(&self) -> Option<&str> {
        self.list.as_deref()
    }

    /// Everything is written: the files with their sizes, by name. An archive is made now.
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
