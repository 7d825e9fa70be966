//! Standard input as an input graph, and standard output as the destination.
//!
//! Both are called `-`. Graphs are read more than once, and output is verified before it is printed, so both are kept
//! in temporary files.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::OnceLock;

use isomorph::convert::{Format, Unprintable, WriteOptions};
use isomorph::storage::{COMPANION_SUFFIX, Scratch};
use isomorph::{Error, Kind, Location, Result};

use crate::interrupt::Interrupt;

/// The name of standard input and standard output.
pub const DASH: &str = "-";

/// Bytes copied at a time.
const ROOM: usize = 256 << 10;

/// Name of the output in its temporary directory.
const RESULT: &str = "result";

/// Set once standard input was read.
static TAKEN: OnceLock<()> = OnceLock::new();

/// Returns the error for `-` where neither standard input nor standard output is possible.
pub fn refused(why: &str) -> Error {
    Error::usage(format!("- is standard input or standard output: {why}")).hint("./-    a file of that name")
}

/// Reads standard input to its end, into a temporary file below the directory of `scratch`.
///
/// # Errors
/// Returns [`Kind::Usage`] if it was read before; an error if it cannot be read, or there is no space.
pub fn input(scratch: &Scratch) -> Result<Location> {
    if TAKEN.set(()).is_err() {
        return Err(Error::usage("standard input can be read only once").hint("name a file for the other graph"));
    }
    let mut file = scratch.create()?;
    let mut from = io::stdin().lock();
    let mut room = vec![0; ROOM];
    loop {
        let count = match from.read(&mut room) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(|error| Error::from(error).at("standard input"))?,
        };
        if count == 0 {
            break;
        }
        file.write_all(room.get(..count).unwrap_or_default())?;
    }
    Ok(Location::of_stream(file.blob_named("standard input")?))
}

/// A temporary directory for output that is printed when it is complete. The directory is removed on drop.
pub struct Output(PathBuf);

impl Output {
    /// Creates an empty directory that other users cannot read.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be created.
    pub fn new(scratch: &Scratch) -> Result<Self> {
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        for number in 0u32.. {
            let path = scratch.directory().join(format!("isomorph-{}-{number}", std::process::id()));
            match builder.create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    return made
                        .map(|()| Output(path.clone()))
                        .map_err(|error| Error::from(error).at(path.display().to_string()));
                }
            }
        }
        Err(Error::new(Kind::Io, "no name for a temporary directory is free"))
    }

    /// Returns the file with the output.
    fn file(&self) -> PathBuf {
        self.0.join(RESULT)
    }

    /// Returns the location to which the output is written first.
    pub fn location(&self) -> Location {
        Location::from_path(&self.file())
    }

    /// Returns whether the output has a sidecar.
    pub fn has_sidecar(&self) -> bool {
        self.0.join(format!("{RESULT}{COMPANION_SUFFIX}")).exists()
    }

    /// Prints the output.
    ///
    /// # Errors
    /// Returns an error if standard output cannot be written.
    pub fn print(&self, to: &mut dyn Write, interrupt: &Interrupt) -> Result<()> {
        let mut file = File::open(self.file())?;
        let mut room = vec![0; ROOM];
        loop {
            interrupt.check()?;
            match file.read(&mut room)? {
                0 => return to.flush().map_err(unwritten),
                count => to.write_all(room.get(..count).unwrap_or_default()).map_err(unwritten)?,
            }
        }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        // The output is already printed, so a temporary file that cannot be removed is ignored.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn unwritten(error: io::Error) -> Error {
    Error::new(Kind::Io, format!("standard output cannot be written: {error}")).caused_by(error)
}

/// Checks that the output is a single text file.
///
/// # Errors
/// Returns [`Kind::Usage`] if it is a directory or not text.
pub fn check_text(to: Format, write: &WriteOptions) -> Result<()> {
    to.check_stdout(write).map_err(|why| match why {
        Unprintable::Untold(error) => error,
        Unprintable::NoText(why, hints) => hints.into_iter().fold(refused(&why), |error, hint| error.hint(hint)),
    })
}
