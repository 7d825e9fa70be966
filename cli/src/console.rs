//! Prints results: screens for people, or one JSON document.

use std::io::{self, BufWriter, ErrorKind, Stdout, Write};

use isomorph::error::{Findings, Severity};
use isomorph::{Error, Kind, Result};
use serde::Serialize;
use terminal_size::{Height, Width, terminal_size_of};

use crate::args::Flags;
use crate::render::{Palette, Screen};
use crate::report;

/// Where and how results are printed.
#[derive(Debug, Clone, Copy)]
pub struct Console {
    /// Print one JSON document instead of a screen.
    pub json: bool,
    /// Print all items, not only the first of each.
    pub verbose: bool,
    /// Standard output contains data; print everything else to standard error.
    pub aside: bool,
}

impl Console {
    /// Returns an empty screen for standard output.
    pub fn screen(&self) -> Screen {
        if self.aside {
            let err = io::stderr();
            return Screen::new(Palette::of(&err), columns(terminal_size_of(&err)));
        }
        let out = io::stdout();
        Screen::new(Palette::of(&out), columns(terminal_size_of(&out)))
    }

    /// Prints a screen, unless JSON is requested.
    ///
    /// # Errors
    /// Returns an error if standard output cannot be written.
    pub fn show(&self, screen: &Screen) -> Result<()> {
        match (self.json, self.aside) {
            (true, _) => Ok(()),
            (false, true) => {
                self.complain(screen.as_str());
                Ok(())
            }
            (false, false) => self.write(|out| out.write_all(screen.as_str().as_bytes())),
        }
    }

    /// Prints a JSON document, if JSON is requested.
    ///
    /// # Errors
    /// Returns an error if standard output cannot be written.
    pub fn document(&self, document: &impl Serialize) -> Result<()> {
        if !self.json {
            return Ok(());
        }
        if self.aside {
            let text = serde_json::to_string_pretty(document)
                .map_err(|error| Error::new(Kind::Io, format!("the document cannot be written as JSON: {error}")))?;
            self.complain(&format!("{text}\n"));
            return Ok(());
        }
        self.write(|out| {
            serde_json::to_writer_pretty(&mut *out, document)?;
            out.write_all(b"\n")
        })
    }

    /// Calls `write` with standard output.
    ///
    /// # Errors
    /// Returns an error if standard output cannot be written.
    pub fn write(&self, write: impl FnOnce(&mut Output) -> io::Result<()>) -> Result<()> {
        let mut out = Output::new();
        write(&mut out).and_then(|()| out.flush()).map_err(unwritten)
    }

    /// Prints findings that do not stop the command to standard error: counted by rule, with the first place. Notes are
    /// printed by `info` and `validate` only.
    pub fn warn(&self, findings: &Findings) {
        if self.json || findings.is_empty() {
            return;
        }
        let err = io::stderr();
        let mut screen = Screen::new(Palette::of(&err), columns(terminal_size_of(&err)));
        report::findings(&mut screen, findings, Severity::Warning, self.verbose);
        self.complain(screen.as_str());
    }

    /// Prints an error and its hints to standard error. Hints with flags that the command does not have are omitted.
    pub fn fail(&self, error: &Error, flags: &Flags, path: Option<&str>, last: Option<&str>) {
        if self.json {
            let document = report::ErrorDocument::new(error, flags);
            // A document of text and numbers always has a JSON form.
            self.complain(&format!("{}\n", serde_json::to_string_pretty(&document).unwrap_or_default()));
            return;
        }
        let err = io::stderr();
        let mut screen = Screen::new(Palette::of(&err), None);
        report::error(&mut screen, error, flags, path, last);
        self.complain(screen.as_str());
    }

    fn complain(&self, text: &str) {
        // If standard error is closed, there is nowhere to report it.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// Returns the number of columns of a terminal; `None` for a pipe, whose lines are never cut, or if it is unknown.
fn columns(size: Option<(Width, Height)>) -> Option<usize> {
    size.map(|(Width(columns), _)| usize::from(columns)).filter(|&columns| columns > 0)
}

/// Standard output, buffered.
pub struct Output(BufWriter<Stdout>);

impl Output {
    /// Writes to standard output when the buffer is full, and when it is flushed or dropped.
    pub fn new() -> Self {
        Output(BufWriter::with_capacity(1 << 16, io::stdout()))
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(closed)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush().map_err(closed)
    }
}

/// The reader closed our standard output: the command ends without an error.
#[derive(Debug)]
pub struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("standard output was closed")
    }
}

impl std::error::Error for Closed {}

/// An error of standard output, where a reader that closed it can be told from others.
pub fn closed(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::BrokenPipe { io::Error::other(Closed) } else { error }
}

fn unwritten(error: io::Error) -> Error {
    let message = format!("standard output cannot be written: {error}");
    Error::new(Kind::Io, message).caused_by(error)
}

/// Returns whether `error` only reports that standard output was closed.
pub fn is_closed(error: &Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if error.is::<Closed>() {
            return true;
        }
        cause = match error.downcast_ref::<io::Error>() {
            Some(io) => io.get_ref().map(|inner| inner as _),
            None => error.source(),
        };
    }
    false
}
