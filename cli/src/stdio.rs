//! Standard input as a graph that is read, and standard output as the place of a result.
//!
//! Both are called `-`. Graphs are read more than once, and results are verified before anybody sees them: so what comes in, and what goes out,
//! is kept in a temporary file.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::OnceLock;

use isomorph::convert::{Format, Unprintable, WriteOptions};
use isomorph::storage::{COMPANION_SUFFIX, Scratch};
use isomorph::{Error, Kind, Location, Result};

use crate::interrupt::Interrupt;

/// What stands for standard input and standard output.
pub const DASH: &str = "-";

/// Bytes that are copied at once.
const ROOM: usize = 256 << 10;

/// Name of the result in its temporary directory.
const RESULT: &str = "result";

/// Set once standard input is read.
static TAKEN: OnceLock<()> = OnceLock::new();

/// The error for `-` where neither standard input nor standard output can be meant.
pub fn refused(why: &str) -> Error {
    Error::usage(format!("- is standard input or standard output: {why}")).hint("./-    a file of that name")
}

/// Reads standard input to its end, into a temporary file below the directory of `scratch`.
///
/// # Errors
/// [`Kind::Usage`] when it was read before; when it cannot be read, or there is no room.
pub fn input(scratch: &Scratch) -> Result<Location> {
    if TAKEN.set(()).is_err() {
        return Err(Error::usage("standard input can be read once only").hint("name a file for the other graph"));
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

/// A temporary directory for a result that is printed when it is complete. It is removed with its content when this is dropped.
pub struct Output(PathBuf);

impl Output {
    /// An empty directory that nobody else may look into.
    ///
    /// # Errors
    /// When it cannot be made.
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

    /// The file that holds the result.
    fn file(&self) -> PathBuf {
        self.0.join(RESULT)
    }

    /// The place that the result is written to first.
    pub fn location(&self) -> Location {
        Location::from_path(&self.file())
    }

    /// Whether the result has a sidecar.
    pub fn has_sidecar(&self) -> bool {
        self.0.join(format!("{RESULT}{COMPANION_SUFFIX}")).exists()
    }

    /// Prints the result.
    ///
    /// # Errors
    /// When standard output cannot be written.
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
        // A temporary file that cannot be removed harms nobody, and the answer is given already.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn unwritten(error: io::Error) -> Error {
    Error::new(Kind::Io, format!("standard output cannot be written: {error}")).caused_by(error)
}

/// Checks that what is written is one file of text.
///
/// # Errors
/// [`Kind::Usage`] when it is a directory or not a text.
pub fn check_text(to: Format, write: &WriteOptions) -> Result<()> {
    to.check_stdout(write).map_err(|why| match why {
        Unprintable::Untold(error) => error,
        Unprintable::NoText(why, hints) => hints.into_iter().fold(refused(&why), |error, hint| error.hint(hint)),
    })
}
