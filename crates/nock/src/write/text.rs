//! Text files of rows, as they come or sorted.

use std::io::Write;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::DataType;
use isomorph_error::{Error, Result};
use isomorph_storage::StagedFile;

use super::cells::cast;
use super::options::CreateOptions;
use super::sink::RowFile;
use super::target::Target;
use crate::columns::Column;
use crate::text::{LineSorter, Lines, header};

/// Text that is handed over at once, bytes.
const BUFFER: usize = 1 << 18;

/// A text file of rows.
pub(super) struct Text {
    file: StagedFile,
    name: String,
    text: String,
}

impl Text {
    /// Begins a file with its header.
    ///
    /// # Errors
    /// When a column has a type that text cannot hold.
    pub fn create(file: StagedFile, name: &str, target: &Target) -> Result<Self> {
        let text = header(&target.schema).map_err(|error| error.at(name))?;
        Ok(Text { file, name: name.to_owned(), text })
    }

    fn hand_over(&mut self) -> Result<()> {
        let written = self.file.write_all(self.text.as_bytes());
        self.text.clear();
        written.map_err(|error| Error::from(error).at(self.name.as_str()))
    }
}

impl RowFile for Text {
    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let lines = Lines::of(rows)?;
        for row in 0..rows.num_rows() {
            lines.push(row, &mut self.text)?;
            if self.text.len() >= BUFFER {
                self.hand_over()?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<(String, u64)>> {
        self.hand_over()?;
        let digest = self.file.finish()?;
        Ok(vec![(self.name, digest.size)])
    }
}

/// A text file whose rows are sorted by (`src_name`, `edge_id`), names by code point.
pub(super) struct SortedText {
    file: Text,
    sorter: LineSorter,
}

impl SortedText {
    /// Begins a file with its header.
    ///
    /// # Errors
    /// As [`Text::create`].
    pub fn create(file: StagedFile, name: &str, target: &Target, options: &CreateOptions) -> Result<Self> {
        let sorter = LineSorter::new(&options.budget, options.scratch.clone())?;
        Ok(SortedText { file: Text::create(file, name, target)?, sorter })
    }
}

impl RowFile for SortedText {
    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let lines = Lines::of(rows)?;
        let names = rows.column(Column::SrcName as usize).as_string::<i32>();
        let ids = cast(rows.column(Column::EdgeId as usize), &DataType::Int64, Column::EdgeId.name())?;
        let ids = ids.as_primitive::<Int64Type>();
        let mut line = String::new();
        for row in 0..rows.num_rows() {
            line.clear();
            lines.push(row, &mut line)?;
            self.sorter.push(names.value(row).as_bytes(), ids.value(row), line.as_bytes())?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<(String, u64)>> {
        let SortedText { mut file, sorter } = *self;
        let mut sorted = sorter.finish()?;
        let mut bytes = std::mem::take(&mut file.text).into_bytes();
        while let Some(line) = sorted.next_line()? {
            bytes.extend_from_slice(&line.text);
            if bytes.len() >= BUFFER {
                file.file.write_all(&bytes).map_err(|error| Error::from(error).at(file.name.as_str()))?;
                bytes.clear();
            }
        }
        file.file.write_all(&bytes).map_err(|error| Error::from(error).at(file.name.as_str()))?;
        Box::new(file).finish()
    }
}
