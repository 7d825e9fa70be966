//! Rows of several tables that come mixed and are wanted one table after another.
//!
//! A [`Collecting`] takes batches of all tables in any order; [`Apart`] gives back those of each in the order in which they came. They
//! stay in memory as long as that lasts; then all that has come goes to one temporary file, and what comes next to memory again.

use std::io::Write;
use std::ops::Range;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use arrow_select::concat::concat;
use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Reservation, Scratch, ScratchFile};

use crate::sort::{Input, Payload, arrow_error, bytes_of, column, put_column};

/// Batches that are smaller are put together, rows: types may alternate with every row.
const TOGETHER: usize = 8_192;

/// Takes batches of several tables.
pub struct Collecting {
    tables: Vec<Table>,
    scratch: Scratch,
    file: Option<ScratchFile>,
    /// What is in memory.
    held: Reservation,
    memory: u64,
}

/// The rows of one table.
struct Table {
    columns: Payload,
    blocks: Vec<Block>,
    /// Batches in memory, behind the blocks.
    waiting: Vec<Piece>,
}

/// Rows in memory.
struct Piece {
    columns: Vec<ArrayRef>,
    rows: usize,
}

/// Rows that are read at once.
enum Block {
    Memory(Piece),
    /// Where they are in the file, bytes; and how many.
    File(Range<u64>, usize),
}

impl Collecting {
    /// No rows yet, of tables of these schemas, which take at most `memory` bytes of the budget.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Unsupported`] for columns that cannot be spilled.
    pub fn new(
        schemas: impl IntoIterator<Item = SchemaRef>,
        budget: &Budget,
        scratch: &Scratch,
        memory: u64,
    ) -> Result<Self> {
        let table = |schema| Ok(Table { columns: Payload::new(schema)?, blocks: Vec::new(), waiting: Vec::new() });
        let tables = schemas.into_iter().map(table).collect::<Result<_>>()?;
        Ok(Collecting { tables, scratch: scratch.clone(), file: None, held: budget.reserve(0)?, memory })
    }

    /// Adds rows of a table, behind those that it has.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] when these are not the columns of the table; [`isomorph_error::Kind::NoSpace`] and
    /// [`isomorph_error::Kind::Io`] when there is no room in memory and none for temporary files.
    pub fn push(&mut self, table: usize, batch: &RecordBatch) -> Result<()> {
        let own = self.tables.get_mut(table).ok_or_else(|| Error::usage("there is no such table"))?;
        let (columns, rows) = (own.columns.keep(batch)?, batch.num_rows());
        let mut bytes = 0;
        for column in &columns {
            bytes += bytes_of(column.as_ref())? as u64;
        }
        own.waiting.push(Piece { columns, rows });
        let fits = self.held.bytes().saturating_add(bytes) <= self.memory;
        if fits && self.held.try_grow(bytes) { Ok(()) } else { self.spill() }
    }

    /// Writes everything that is in memory to the file.
    fn spill(&mut self) -> Result<()> {
        if self.file.is_none() {
            self.file = Some(self.scratch.create()?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut bytes = Vec::new();
        for table in &mut self.tables {
            for piece in joined(std::mem::take(&mut table.waiting))? {
                bytes.clear();
                for column in &piece.columns {
                    put_column(&mut bytes, &column.to_data())?;
                }
                let start = file.size();
                file.write_all(&bytes)?;
                table.blocks.push(Block::File(start..file.size(), piece.rows));
            }
        }
        self.held.shrink(self.held.bytes());
        Ok(())
    }

    /// The rows, to be read.
    ///
    /// # Errors
    /// When small batches cannot be put together.
    pub fn finish(self) -> Result<Apart> {
        let Collecting { mut tables, file, held, .. } = self;
        for table in &mut tables {
            let pieces = joined(std::mem::take(&mut table.waiting))?;
            table.blocks.extend(pieces.into_iter().map(Block::Memory));
        }
        Ok(Apart { tables, file, _held: held })
    }
}

/// The same rows in as few pieces as it takes for each to have [`TOGETHER`] rows.
fn joined(pieces: Vec<Piece>) -> Result<Vec<Piece>> {
    let (mut all, mut group, mut rows) = (Vec::new(), Vec::new(), 0);
    for piece in pieces {
        rows += piece.rows;
        group.push(piece);
        if rows >= TOGETHER {
            all.push(one(std::mem::take(&mut group), std::mem::take(&mut rows))?);
        }
    }
    if !group.is_empty() {
        all.push(one(group, rows)?);
    }
    Ok(all)
}

/// One piece of all rows of `group`.
fn one(mut group: Vec<Piece>, rows: usize) -> Result<Piece> {
    if group.len() == 1
        && let Some(only) = group.pop()
    {
        return Ok(only);
    }
    let width = group.first().map_or(0, |first| first.columns.len());
    let column = |at: usize| {
        let columns: Vec<&dyn Array> =
            group.iter().filter_map(|piece| piece.columns.get(at)).map(AsRef::as_ref).collect();
        concat(&columns).map_err(arrow_error)
    };
    Ok(Piece { columns: (0..width).map(column).collect::<Result<_>>()?, rows })
}

/// Rows of several tables, each by itself.
pub struct Apart {
    tables: Vec<Table>,
    file: Option<ScratchFile>,
    _held: Reservation,
}

impl Apart {
    /// How many rows each block of a table has.
    pub fn blocks(&self, table: usize) -> impl Iterator<Item = usize> + '_ {
        let blocks = self.tables.get(table).map(|table| table.blocks.as_slice()).unwrap_or_default();
        blocks.iter().map(|block| match block {
            Block::Memory(piece) => piece.rows,
            Block::File(_, rows) => *rows,
        })
    }

    /// The rows of a block.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Io`] and [`isomorph_error::Kind::Malformed`] for a failing disk.
    pub fn read(&self, table: usize, block: usize) -> Result<RecordBatch> {
        let own = self.tables.get(table).and_then(|table| Some((&table.columns, table.blocks.get(block)?)));
        let (columns, block) = own.ok_or_else(|| Error::usage("there are no such rows"))?;
        let (place, rows) = match block {
            Block::Memory(piece) => return columns.give_back(&piece.columns, piece.rows),
            Block::File(place, rows) => (place, *rows),
        };
        let file = self.file.as_ref().ok_or_else(|| Error::usage("rows lie in a file that is not there"))?;
        let bytes = file.read_at(place.clone())?;
        let mut input = Input::new(&bytes);
        let found = (0..columns.columns()).map(|at| column(&mut input, columns.kept_type(at)));
        columns.give_back(&found.collect::<Result<Vec<_>>>()?, rows)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{Int64Array, StringArray};
    use arrow_schema::{DataType, Field, Schema};

    use super::*;

    fn schemas() -> [SchemaRef; 3] {
        let field = |name: &str, data_type| Field::new(name, data_type, true);
        [
            Arc::new(Schema::new(vec![field("number", DataType::Int64), field("text", DataType::Utf8)])),
            Arc::new(Schema::new(vec![field("text", DataType::Utf8)])),
            Arc::new(Schema::empty()),
        ]
    }

    fn batch(schema: &SchemaRef, rows: std::ops::Range<i64>) -> RecordBatch {
        let column = |field: &Arc<Field>| -> ArrayRef {
            match field.data_type() {
                DataType::Int64 => {
                    Arc::new(rows.clone().map(|row| (row % 3 > 0).then_some(row)).collect::<Int64Array>())
                }
                _ => Arc::new(
                    rows.clone().map(|row| (row % 5 > 0).then(|| format!("row {row}"))).collect::<StringArray>(),
                ),
            }
        };
        let options = arrow_array::RecordBatchOptions::new()
            .with_row_count(Some(usize::try_from(rows.end - rows.start).unwrap()));
        RecordBatch::try_new_with_options(Arc::clone(schema), schema.fields().iter().map(column).collect(), &options)
            .unwrap()
    }

    #[test]
    fn rows_of_each_table_come_back_in_their_order_whatever_the_memory() {
        let schemas = schemas();
        for memory in [0, 3_000, 200_000, u64::MAX] {
            let (budget, scratch) = (Budget::new(8 << 20), Scratch::new(None).unwrap());
            let mut collecting = Collecting::new(schemas.clone(), &budget, &scratch, memory).unwrap();
            let mut next = [0i64; 3];
            let mut state = 1u64;
            for _ in 0..900 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let table = usize::try_from((state >> 33) % 3).unwrap();
                let rows = i64::try_from((state >> 40) % 60).unwrap();
                collecting.push(table, &batch(&schemas[table], next[table]..next[table] + rows)).unwrap();
                next[table] += rows;
                assert!(budget.used() <= memory, "{} of {memory}", budget.used());
            }
            let apart = collecting.finish().unwrap();
            assert_eq!(scratch.used() > 0, memory < 1 << 40, "{memory}");
            for (table, schema) in schemas.iter().enumerate() {
                let mut found = 0;
                for (block, rows) in apart.blocks(table).enumerate() {
                    let read = apart.read(table, block).unwrap();
                    let rows = i64::try_from(rows).unwrap();
                    assert_eq!(read, batch(schema, found..found + rows), "table {table}, from row {found}");
                    found += rows;
                }
                assert_eq!(found, next[table]);
            }
            assert!(apart.read(3, 0).is_err() && apart.read(0, 1 << 30).is_err());
            drop(apart);
            assert_eq!((budget.used(), scratch.used()), (0, 0));
        }
    }

    #[test]
    fn other_columns_than_the_tables_are_refused() {
        let schemas = schemas();
        let mut collecting =
            Collecting::new(schemas.clone(), &Budget::new(1 << 20), &Scratch::new(None).unwrap(), 1 << 20).unwrap();
        assert!(collecting.push(1, &batch(&schemas[0], 0..3)).is_err());
        assert!(collecting.push(3, &batch(&schemas[1], 0..3)).is_err());
    }
}
