//! Where an answer goes: standard output, or a file that appears when it is complete.

use std::io::{self, BufWriter, IsTerminal, Write};

use isomorph::storage::{Mode, StagedFile, Staging};
use isomorph::{Error, Result};

use super::AnswerFormat;
use crate::args::file_place;
#[cfg(feature = "query")]
use crate::console::Console;
use crate::console::closed;
#[cfg(feature = "query")]
use crate::render::of;

/// Where an answer goes.
pub enum Sink {
    /// Standard output.
    Out(BufWriter<io::Stdout>),
    /// A new file.
    File(Box<(Staging, StagedFile)>),
}

/// What was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Size of the file, bytes; `None` for standard output.
    pub bytes: Option<u64>,
}

#[cfg(feature = "query")]
impl Written {
    /// Says how many rows were answered, and which file has them.
    ///
    /// # Errors
    /// If that cannot be printed.
    pub fn report(&self, file: Option<&str>, rows: u64, console: &Console) -> Result<()> {
        let aside = Console { aside: file.is_none(), ..*console };
        let (mut screen, shown) = (aside.screen(), of(rows, "row"));
        match file {
            Some(file) => screen.line("wrote", &format!("{file} ({shown})")),
            None => screen.line("answer", &shown),
        };
        if file.is_some() || !console.json {
            aside.show(&screen)?;
        }
        if let (Some(file), Some(bytes)) = (file, self.bytes) {
            aside.document(&serde_json::json!({ "wrote": file, "rows": rows, "bytes": bytes }))?;
        }
        Ok(())
    }
}

impl Sink {
    /// Opens the destination: `output`, or standard output.
    ///
    /// # Errors
    /// Returns an error if the file exists and is not to be replaced, or if bytes would go to a terminal.
    pub fn open(output: Option<&str>, replace: bool, format: AnswerFormat) -> Result<Sink> {
        match output {
            Some(file) => {
                let mode = if replace { Mode::Replace } else { Mode::CreateNew };
                let staging = Staging::file(&file_place(file)?, mode)?;
                let file = staging.create("")?;
                Ok(Sink::File(Box::new((staging, file))))
            }
            None if !format.is_text() && io::stdout().is_terminal() => {
                Err(Error::usage("this format is not text, and standard output is a terminal")
                    .hint("--output FILE    write a file"))
            }
            None => Ok(Sink::Out(BufWriter::with_capacity(1 << 16, io::stdout()))),
        }
    }

    /// Publishes what was written.
    ///
    /// # Errors
    /// Returns an error if it cannot be written to its end.
    pub fn finish(self) -> Result<Written> {
        match self {
            Sink::Out(mut out) => {
                out.flush().map_err(closed)?;
                Ok(Written { bytes: None })
            }
            Sink::File(both) => {
                let (staging, file) = *both;
                file.finish()?;
                Ok(Written { bytes: Some(staging.commit(&[])?.bytes) })
            }
        }
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Sink::Out(out) => out.write(bytes).map_err(closed),
            Sink::File(both) => both.1.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Sink::Out(out) => out.flush().map_err(closed),
            Sink::File(both) => both.1.flush(),
        }
    }
}
