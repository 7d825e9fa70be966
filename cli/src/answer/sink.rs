//! Where an answer goes: standard output, or a file that appears when it is complete.

use std::io::{self, BufWriter, IsTerminal, Write};

use isomorph::storage::{Mode, StagedFile, Staging};
use isomorph::{Error, Result};

use super::AnswerFormat;
use crate::args::{AnswerArgs, file_place};
use crate::console::{Console, closed};
use crate::render::of;

/// Where an answer goes.
pub enum Sink {
    /// Standard output.
    Out(BufWriter<io::Stdout>),
    /// A new file.
    File(Box<(Staging, StagedFile)>),
}

impl Sink {
    /// Opens the destination: a file, or standard output.
    ///
    /// # Errors
    /// Returns an error if the file exists and is not to be replaced, or if bytes would go to a terminal.
    pub fn open(args: &AnswerArgs, format: AnswerFormat) -> Result<Sink> {
        match &args.output {
            Some(file) => {
                let mode = if args.replace { Mode::Replace } else { Mode::CreateNew };
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

    /// Publishes what was written, and says what it is: `told`, and which file has it; if nothing is told of rows on standard output, their
    /// number.
    ///
    /// # Errors
    /// Returns an error if it cannot be written to its end, or the report cannot be printed.
    pub fn publish(
        self,
        args: &AnswerArgs,
        rows: u64,
        mut told: Vec<(&'static str, String)>,
        console: &Console,
    ) -> Result<()> {
        let bytes = match self {
            Sink::Out(mut out) => {
                out.flush().map_err(closed)?;
                None
            }
            Sink::File(both) => {
                let (staging, file) = *both;
                file.finish()?;
                Some(staging.commit(&[])?.bytes)
            }
        };
        match &args.output {
            Some(file) => told.push(("wrote", format!("{file} ({})", of(rows, "row")))),
            None if told.is_empty() => told.push(("answer", of(rows, "row"))),
            None => {}
        }
        let aside = Console { aside: args.output.is_none(), ..*console };
        let mut screen = aside.screen();
        for (word, text) in &told {
            screen.line(word, text);
        }
        aside.show(&screen)?;
        match (&args.output, bytes) {
            (Some(file), Some(bytes)) => {
                aside.document(&serde_json::json!({ "wrote": file, "rows": rows, "bytes": bytes }))
            }
            _ => Ok(()),
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
