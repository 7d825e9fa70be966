//! Where everything is printed: people's screens or one JSON document, never both.

use std::io::{self, BufWriter, ErrorKind, StdoutLock, Write};

use isomorph::error::{Findings, Severity};
use isomorph::{Error, Kind, Result};
use serde::Serialize;
use terminal_size::{Height, Width, terminal_size_of};

use crate::args::Flags;
use crate::render::{Palette, Screen};
use crate::report;

/// The terminal, or whatever stands for it, and how the user wants to be spoken to.
#[derive(Debug, Clone, Copy)]
pub struct Console {
    /// One JSON document instead of a screen.
    pub json: bool,
    /// Everything instead of the first of each.
    pub verbose: bool,
    /// Standard output is taken by data: all else goes to standard error.
    pub aside: bool,
}

impl Console {
    /// An empty screen for standard output.
    pub fn screen(&self) -> Screen {
        if self.aside {
            let err = io::stderr();
            return Screen::new(Palette::of(&err), columns(terminal_size_of(&err)));
        }
        let out = io::stdout();
        Screen::new(Palette::of(&out), columns(terminal_size_of(&out)))
    }

    /// Prints a screen, unless JSON is wanted.
    ///
    /// # Errors
    /// When standard output cannot be written.
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

    /// Prints a JSON document, if that is wanted.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn document(&self, document: &impl Serialize) -> Result<()> {
        if !self.json {
            return Ok(());
        }
        if self.aside {
            let text = serde_json::to_string_pretty(document)
                .map_err(|error| Error::new(Kind::Io, format!("this cannot be written as JSON: {error}")))?;
            self.complain(&format!("{text}\n"));
            return Ok(());
        }
        self.write(|out| {
            serde_json::to_writer_pretty(&mut *out, document)?;
            out.write_all(b"\n")
        })
    }

    /// Prints whatever `write` writes.
    ///
    /// # Errors
    /// When standard output cannot be written.
    pub fn write(&self, write: impl FnOnce(&mut Output) -> io::Result<()>) -> Result<()> {
        let mut out = Output::new();
        write(&mut out).and_then(|()| out.flush()).map_err(unwritten)
    }

    /// Tells about findings that do not stop the work, on standard error: counted by rule, with the first place. Notes are
    /// for `info` and `validate`.
    pub fn warn(&self, findings: &Findings) {
        if self.json || findings.is_empty() {
            return;
        }
        let err = io::stderr();
        let mut screen = Screen::new(Palette::of(&err), columns(terminal_size_of(&err)));
        report::findings(&mut screen, findings, Severity::Warning, self.verbose);
        self.complain(screen.as_str());
    }

    /// Prints what went wrong, on standard error, and what to try, as far as the command has such flags.
    pub fn fail(&self, error: &Error, flags: &Flags, path: Option<&str>, last: Option<&str>) {
        if self.json {
            let document = report::ErrorDocument::new(error, flags);
            // A document of texts and numbers always has a JSON form.
            self.complain(&format!("{}\n", serde_json::to_string_pretty(&document).unwrap_or_default()));
            return;
        }
        let err = io::stderr();
        let mut screen = Screen::new(Palette::of(&err), None);
        report::error(&mut screen, error, flags, path, last);
        self.complain(screen.as_str());
    }

    fn complain(&self, text: &str) {
        // There is nobody left to tell when standard error is closed.
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// Columns of a terminal; nothing for a pipe, which is never cut, or for a terminal that does not tell.
fn columns(size: Option<(Width, Height)>) -> Option<usize> {
    size.map(|(Width(columns), _)| usize::from(columns)).filter(|&columns| columns > 0)
}

/// Standard output, buffered.
pub struct Output(BufWriter<StdoutLock<'static>>);

impl Output {
    /// Standard output, held until this is dropped.
    pub fn new() -> Self {
        Output(BufWriter::with_capacity(1 << 16, io::stdout().lock()))
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

/// Whoever read our output has read enough: that ends the work and is no failure.
#[derive(Debug)]
pub struct Closed;

impl std::fmt::Display for Closed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("standard output was closed")
    }
}

impl std::error::Error for Closed {}

fn closed(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::BrokenPipe { io::Error::other(Closed) } else { error }
}

fn unwritten(error: io::Error) -> Error {
    let message = format!("standard output cannot be written: {error}");
    Error::new(Kind::Io, message).caused_by(error)
}

/// Whether `error` only says that nobody reads our output any more.
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
