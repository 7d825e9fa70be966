//! Sorted text files of rows. (Unsorted ones are ordinary tables.)

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
use crate::text::{LineSorter, header, lines};

/// Number of bytes of text that are written at once.
const BUFFER: usize = 1 << 18;

/// A text file whose rows are sorted by (`src_name`, `edge_id`), names by code point.
pub(super) struct SortedText {
    file: StagedFile,
    name: String,
    header: Vec<u8>,
    sorter: LineSorter,
}

impl SortedText {
    /// Begins a file.
    ///
    /// # Errors
    /// Returns an error if a column has a type that text cannot represent.
    pub fn create(file: StagedFile, name: &str, target: &Target, options: &CreateOptions) -> Result<Self> {
        let header = header(&target.schema).map_err(|error| error.at(name))?;
        let sorter = LineSorter::new(&options.budget, options.scratch.clone())?;
        Ok(SortedText { file, name: name.to_owned(), header, sorter })
    }
}

impl RowFile for SortedText {
    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let names = rows.column(Column::SrcName as usize).as_string::<i32>();
        let ids = cast(rows.column(Column::EdgeId as usize), &DataType::Int64, Column::EdgeId.name())?;
        let ids = ids.as_primitive::<Int64Type>();
        for (row, line) in lines(rows)?.iter().enumerate() {
            self.sorter.push(names.value(row).as_bytes(), ids.value(row), line)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<(String, u64)>> {
        let SortedText { mut file, name, header: mut bytes, sorter } = *self;
        let mut sorted = sorter.finish()?;
        loop {
            let line = sorted.next_line()?;
            if let Some(line) = &line {
                bytes.extend_from_slice(&line.text);
            }
            if line.is_none() || bytes.len() >= BUFFER {
                file.write_all(&bytes).map_err(|error| Error::from(error).at(name.as_str()))?;
                bytes.clear();
            }
            if line.is_none() {
                let digest = file.finish()?;
                return Ok(vec![(name, digest.size)]);
            }
        }
    }
}
