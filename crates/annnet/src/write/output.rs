//! Where the files of a graph go: into a directory, or side by side into temporary files that become one archive.

use std::io::{self, Write};

use isomorph_error::{Error, Place, Result};
use isomorph_storage::{Scratch, ScratchFile, StagedFile, Staging};

use super::WriteOptions;
use super::zip::Archive;

/// The place of all files.
pub(crate) struct Output<'a> {
    /// Nothing when the files are for somebody else to take.
    staging: Option<&'a Staging>,
    /// For archives, and for others: where files wait.
    scratch: Option<Scratch>,
    /// Files that are complete, with their sizes in bytes.
    done: Vec<(String, u64)>,
    waiting: Vec<(String, ScratchFile)>,
}

/// One file in the making.
pub(crate) enum Member {
    Staged(Box<StagedFile>),
    Waiting(ScratchFile),
}

impl Write for Member {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Member::Staged(file) => file.write(bytes),
            Member::Waiting(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Member::Staged(file) => file.flush(),
            Member::Waiting(file) => file.flush(),
        }
    }
}

impl<'a> Output<'a> {
    /// A place below `staging`.
    ///
    /// # Errors
    /// When there is no place for temporary files.
    pub fn new(staging: &'a Staging, options: &WriteOptions) -> Result<Self> {
        let scratch = match (options.archive, &options.scratch) {
            (false, _) => None,
            (true, Some(scratch)) => Some(scratch.clone()),
            (true, None) => Some(Scratch::new(None)?),
        };
        Ok(Output { staging: Some(staging), scratch, done: Vec::new(), waiting: Vec::new() })
    }

    /// A place for files that [`Output::take`] gives away.
    ///
    /// # Errors
    /// When there is no place for temporary files.
    pub fn apart(options: &WriteOptions) -> Result<Output<'static>> {
        let scratch = match &options.scratch {
            Some(scratch) => scratch.clone(),
            None => Scratch::new(None)?,
        };
        Ok(Output { staging: None, scratch: Some(scratch), done: Vec::new(), waiting: Vec::new() })
    }

    /// The files that are complete and wait.
    pub fn take(self) -> Vec<(String, ScratchFile)> {
        self.waiting
    }

    /// Begins a file.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(&self, name: &str) -> Result<Member> {
        match (&self.scratch, self.staging) {
            (None, Some(staging)) => staging.create(name).map(|file| Member::Staged(Box::new(file))),
            (Some(scratch), _) => scratch.create().map(Member::Waiting),
            (None, None) => Err(Error::usage("there is no place for this file").at(Place::file(name))),
        }
    }

    /// Ends a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(&mut self, name: &str, file: Member) -> Result<()> {
        match file {
            Member::Staged(file) => self.done.push((name.to_owned(), file.finish()?.size)),
            Member::Waiting(file) => self.waiting.push((name.to_owned(), file)),
        }
        Ok(())
    }

    /// Writes a small file whole.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&mut self, name: &str, text: &str) -> Result<()> {
        self.put_bytes(name, text.as_bytes())
    }

    /// Writes a file whole.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put_bytes(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        let mut file = self.create(name)?;
        file.write_all(bytes).map_err(|error| Error::from(error).at(Place::file(name)))?;
        self.finish(name, file)
    }

    /// Everything is written: the files with their sizes, by name. An archive is made now.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn close(mut self) -> Result<Vec<(String, u64)>> {
        let Some(staging) = self.staging.filter(|_| self.scratch.is_some()) else {
            self.done.sort();
            return Ok(self.done);
        };
        let name = staging.destination().file_name().to_owned();
        let mut archive = Archive::new(staging.create(&name)?, &name);
        self.waiting.sort_by(|(left, _), (right, _)| left.cmp(right));
        for (member, file) in &self.waiting {
            archive.add(member, file)?;
        }
        Ok(vec![(name, archive.finish()?)])
    }
}
