//! Writes Arrow IPC files.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Schema};
use isomorph_error::{Error, Result};

/// Writes one Arrow IPC file, a record batch for each batch.
pub(crate) struct ArrowWriter<W: Write> {
    writer: FileWriter<W>,
}

impl<W: Write> ArrowWriter<W> {
    /// # Errors
    /// [`isomorph_error::Kind::Unsupported`] for types that the format lacks; errors of writing.
    pub(crate) fn create(out: W, schema: &Schema) -> Result<Self> {
        Ok(ArrowWriter { writer: FileWriter::try_new(out, schema).map_err(failed)? })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.writer.write(batch).map_err(failed)
    }

    pub(crate) fn finish(self) -> Result<W> {
        // `into_inner` writes the footer.
        let mut out = self.writer.into_inner().map_err(failed)?;
        out.flush()?;
        Ok(out)
    }
}

fn failed(error: ArrowError) -> Error {
    match error {
        ArrowError::IoError(_, error) => Error::from(error),
        other => Error::unsupported(other.to_string()),
    }
}
