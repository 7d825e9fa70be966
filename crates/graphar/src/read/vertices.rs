//! Reads one vertex chunk: its property groups and its label file, in step.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use isomorph_error::{Error, Place, Result};
use isomorph_model::{Batch, Columns, Narrowing, NodeBatch, Part, part};
use isomorph_tables::Selection;

use super::filter::{Ranges, count};
use super::selected::{Files, Numbers, check_stated, if_few};
use super::{LabelFile, Steps, label_column};
use crate::rules;
use crate::table::{Chunk, Target, VertexTable, open_chunk};

/// One vertex chunk.
pub(crate) struct VertexPart<'a> {
    pub table: &'a VertexTable,
    /// Index of the node type.
    pub ty: usize,
    pub chunk: u64,
    /// The rows of the chunk that are asked for by their numbers, if some are.
    pub some: Option<Ranges>,
    /// What is read, if not everything.
    pub narrowing: Option<Arc<Narrowing>>,
    pub batch_rows: usize,
}

/// Maximum number of labels times rows in a batch.
const LABEL_BITS: usize = 1 << 28;

impl VertexPart<'_> {
    /// If no column is read, compares the number of rows with a file that states its own: a count alone may
    /// be wrong.
    fn check_rows(&self) -> Result<()> {
        let table = self.table;
        let groups = table.info.groups.iter().enumerate();
        let stating = groups.map(|(number, group)| (number, group.file_type.encoding()));
        let Some((number, encoding)) = stating.into_iter().find(|(_, encoding)| !encoding.is_text()) else {
            return Ok(());
        };
        let path = table.layout.chunk(number, self.chunk);
        check_stated(&open_chunk(&table.root, &path, encoding, Vec::new())?, &path, table.chunk_rows(self.chunk)?)
    }
}

impl<'a> VertexPart<'a> {
    /// Converts it to a part of a scan.
    pub fn part(self) -> Box<dyn Part + 'a> {
        // Errors are reported when the chunk is read.
        let rows = self.table.chunk_rows(self.chunk).ok();
        part::opened(rows, || self.open(), |reader| reader.as_mut().map_or(Ok(None), VertexReader::next))
    }

    fn open(self) -> Result<Option<VertexReader<'a>>> {
        let table = self.table;
        let path = |group| table.layout.chunk(group, self.chunk);
        let files = Files::new(&table.root, &table.groups, self.narrowing.as_deref(), &path, true);
        let all = table.chunk_rows(self.chunk)?;
        let ranges = match &self.some {
            Some(ranges) => if_few(ranges.clone(), all),
            None => files.passing(all)?,
        };
        let rows = ranges.as_ref().map_or(all, |ranges| count(ranges));
        if rows == 0 {
            return Ok(None);
        }
        let selection = || {
            let selection = Selection::all().batch_rows(self.batch_rows);
            ranges.iter().fold(selection, |selection, ranges| selection.rows(ranges.clone()))
        };
        let labels = &table.info.labels;
        let labelled = !labels.is_empty() && self.narrowing.as_ref().is_none_or(|narrowing| narrowing.labels);
        // Each row needs a bit for each label.
        let batch_rows = if labelled { self.batch_rows.min(LABEL_BITS / labels.len().max(1)) } else { self.batch_rows };
        let mut steps = Steps::new(rows, batch_rows);
        let chunks = files.chunks(ranges.is_some().then_some(all))?;
        for chunk in &chunks {
            steps.push(&chunk.path, chunk.batches(selection())?);
        }
        if chunks.is_empty() && !labelled {
            self.check_rows()?;
        }
        if labelled {
            let file = LabelFile::open(table, self.chunk)?;
            steps.push(&file.path, file.batches(labels.iter().map(String::as_str), selection())?);
        }
        let start = self.chunk * table.info.chunk_size;
        let numbers =
            |ranges: Ranges| Numbers::new(ranges.into_iter().map(|rows| start + rows.start..start + rows.end));
        let numbers = ranges.map(numbers);
        Ok(Some(VertexReader { table, ty: self.ty, start, numbers, labelled, chunks, steps }))
    }
}

/// A vertex chunk that is being read.
struct VertexReader<'a> {
    table: &'a VertexTable,
    ty: usize,
    /// Row of the first vertex of the chunk.
    start: u64,
    /// The rows that are read, if not all.
    numbers: Option<Numbers>,
    labelled: bool,
    chunks: Vec<Chunk>,
    steps: Steps,
}

impl VertexReader<'_> {
    fn next(&mut self) -> Result<Option<Batch>> {
        let Some((at, rows, batches)) = self.steps.next()? else { return Ok(None) };
        let mut keys: Option<ArrayRef> = None;
        let mut properties: Columns = vec![None; self.table.shown.properties.len()];
        for (chunk, batch) in self.chunks.iter().zip(&batches) {
            if chunk.indexed && self.numbers.is_none() {
                check_index(&chunk.path, batch.column(0), self.start + at, at)?;
            }
            for (column, array) in chunk.columns.iter().zip(chunk.columns(batch)?) {
                match column.target {
                    Target::Key => keys = Some(not_null(array, &chunk.path, &column.name, at)?),
                    Target::Property(position) => {
                        if let Some(slot) = properties.get_mut(position) {
                            *slot = Some(array);
                        }
                    }
                }
            }
        }
        let labels = batches.last().filter(|_| self.labelled);
        let labels = labels.and_then(|batch| label_column(&self.table.info.labels, batch));
        let numbers = self.numbers.as_mut().map(|numbers| numbers.take(rows));
        let first = numbers.as_ref().and_then(|numbers| numbers.values().first().copied());
        let start = first.unwrap_or(self.start + at);
        Ok(Some(Batch::Nodes(NodeBatch { ty: self.ty, start, numbers, rows, keys, labels, properties })))
    }
}

/// Checks that the vertex indexes in `column` begin with `first` and have no gap. A column of nulls is ignored.
///
/// # Errors
/// Returns [`rules::INDEX_GAP`].
pub(crate) fn check_index(path: &str, column: &ArrayRef, first: u64, row: u64) -> Result<()> {
    let place = |offset: usize| Place::file(path).row(row + offset as u64);
    let Some(array) = column.as_primitive_opt::<Int64Type>() else {
        let message = format!("the vertex index has the type {}", column.data_type());
        return Err(Error::broken(&rules::COLUMN_TYPE, message).at(Place::file(path)));
    };
    if array.null_count() == array.len() {
        return Ok(());
    }
    let gap = |(offset, value): (usize, &i64)| value.cast_unsigned() != first + offset as u64;
    let found =
        array.values().iter().enumerate().position(gap).or_else(|| array.nulls()?.iter().position(|valid| !valid));
    match found {
        None => Ok(()),
        Some(offset) => {
            let value = if array.is_null(offset) { "null".to_owned() } else { array.value(offset).to_string() };
            let message = format!("the index is {value}, expected {}", first + offset as u64);
            Err(Error::broken(&rules::INDEX_GAP, message).at(place(offset)))
        }
    }
}

fn not_null(keys: ArrayRef, path: &str, name: &str, row: u64) -> Result<ArrayRef> {
    match keys.nulls().and_then(|nulls| nulls.iter().position(|valid| !valid)) {
        None => Ok(keys),
        Some(offset) => {
            let place = Place::file(path).row(row + offset as u64).in_field(name);
            Err(Error::broken(&rules::KEY_NULL, "the primary property is null").at(place))
        }
    }
}
