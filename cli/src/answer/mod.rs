//! Answers of queries as text and files. They are record batches here, whatever language asked for them.

mod sink;
mod spelled;
mod table;
mod writer;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use clap::ValueEnum;
use isomorph::{Error, Result};

pub use sink::Sink;
pub use writer::AnswerWriter;
#[cfg(feature = "query")]
pub use writer::write_lines;

use crate::args::AnswerArgs;
use crate::console::Console;

/// Writes an answer where `args` say, and reports it with what `told` says of its number of rows.
///
/// # Errors
/// Returns the errors of the batches; also if the answer cannot be written.
pub fn deliver(
    args: &AnswerArgs,
    format: AnswerFormat,
    schema: &SchemaRef,
    batches: impl Iterator<Item = Result<RecordBatch>>,
    told: impl FnOnce(u64) -> Vec<(&'static str, String)>,
    console: &Console,
) -> Result<()> {
    let out = Sink::open(args, format)?;
    let (palette, width) = Console { aside: false, ..*console }.screen().shape();
    let mut writer = AnswerWriter::new(schema, format, out, width, palette)?;
    for batch in batches {
        writer.write(&batch?)?;
    }
    let (out, rows) = writer.finish()?;
    out.publish(args, rows, told(rows), console)
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AnswerFormat {
    /// Columns for people
    Table,
    /// Comma-separated values with a header
    Csv,
    /// One array with an object for each row
    Json,
    /// One object per line
    Jsonl,
    /// Parquet
    Parquet,
    /// Arrow IPC file
    Arrow,
}

impl AnswerFormat {
    /// Whether it is text.
    pub fn is_text(self) -> bool {
        !matches!(self, AnswerFormat::Parquet | AnswerFormat::Arrow)
    }

    /// The format of an answer: the one that is asked for, else what the output file's name says, else JSON with `--json`, else a table.
    ///
    /// # Errors
    /// Returns a usage error for an output file whose name says none.
    pub fn of(asked: Option<AnswerFormat>, output: Option<&str>, json: bool) -> Result<AnswerFormat> {
        if let Some(format) = asked {
            return Ok(format);
        }
        let Some(file) = output else {
            return Ok(if json { AnswerFormat::Json } else { AnswerFormat::Table });
        };
        match file.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
            Some("csv") => Ok(AnswerFormat::Csv),
            Some("json") => Ok(AnswerFormat::Json),
            Some("jsonl" | "ndjson") => Ok(AnswerFormat::Jsonl),
            Some("parquet" | "parq" | "pq") => Ok(AnswerFormat::Parquet),
            Some("arrow" | "feather" | "ipc") => Ok(AnswerFormat::Arrow),
            Some("txt") => Ok(AnswerFormat::Table),
            _ => Err(Error::usage("the name of the output file says no format").at(file).hint("--format parquet")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_file_says_its_format() {
        let of = |file| AnswerFormat::of(None, Some(file), false);
        assert_eq!(of("a/b.PARQUET").unwrap(), AnswerFormat::Parquet);
        assert_eq!(of("x.csv").unwrap(), AnswerFormat::Csv);
        assert!(of("x").is_err() && of("x.xlsx").is_err());
        assert_eq!(AnswerFormat::of(Some(AnswerFormat::Csv), Some("x"), true).unwrap(), AnswerFormat::Csv);
        assert_eq!(AnswerFormat::of(None, None, true).unwrap(), AnswerFormat::Json);
    }
}
