//! Writes a directory of partitions: every node with its edges in the partition that owns it, and a shadow row for each
//! foreign node that they reach. A node without an owner has its own row, a shadow row, in each partition that refers to it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{ArrowError, DataType};
use arrow_select::interleave::interleave_record_batch;
use arrow_select::take::take_record_batch;
use isomorph_error::{Error, Place, Result};
use isomorph_storage::{Reservation, Staging};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::cells::cast;
use super::file::{part_name, row_file};
use super::options::{By, CreateOptions, Partitioning};
use super::row_kinds::shadow_rows;
use super::sink::RowFile;
use super::target::{ExtraColumn, Target};
use crate::columns::Column;
use crate::node_rows::is_foreign;
use crate::rules;

/// Returns the partition of a node by its name.
#[expect(clippy::cast_possible_truncation, reason = "below `partitions`")]
pub fn partition_of_name(name: &str, partitions: u32) -> u32 {
    (xxh3_64(name.as_bytes()) % u64::from(partitions.max(1))) as u32
}

/// Approximate bytes that a name in a set or map needs in addition to its text.
const ENTRY_BYTES: u64 = 48;

/// Number of rows of nodes without an owner that are written at once, so that their texts fit into a column.
const UNOWNED_AT_ONCE: usize = 1 << 10;

/// Rows of nodes without an owner, with all their values.
#[derive(Default)]
struct Unowned {
    rows: Vec<RecordBatch>,
    /// Batch and row by the hash of the name.
    places: HashMap<u128, (usize, usize)>,
}

impl Unowned {
    /// Keeps the chosen rows.
    fn keep(&mut self, rows: &RecordBatch, chosen: Vec<u32>, reservation: &mut Reservation) -> Result<()> {
        if chosen.is_empty() {
            return Ok(());
        }
        let rows = take_record_batch(rows, &UInt32Array::from(chosen)).map_err(|error| misplaced(&error))?;
        reservation.grow(rows.get_array_memory_size() as u64 + ENTRY_BYTES * rows.num_rows() as u64)?;
        let names = rows.column(Column::SrcName as usize).as_string::<i32>();
        for (row, name) in names.iter().enumerate() {
            self.places.insert(xxh3_128(name.unwrap_or_default().as_bytes()), (self.rows.len(), row));
        }
        self.rows.push(rows);
        Ok(())
    }

    /// Returns the rows at these places, in batches.
    fn at(&self, places: &[(usize, usize)]) -> impl Iterator<Item = Result<RecordBatch>> {
        let batches: Vec<&RecordBatch> = self.rows.iter().collect();
        let rows = move |places| interleave_record_batch(&batches, places).map_err(|error| misplaced(&error));
        places.chunks(UNOWNED_AT_ONCE).map(rows)
    }
}

fn misplaced(error: &ArrowError) -> Error {
    Error::usage(format!("rows cannot be assigned to partitions: {error}"))
}

/// Foreign nodes that the edges of one partition reach, each once, in order of first mention.
#[derive(Default)]
struct Foreign {
    known: HashSet<u128>,
    names: StringBuilder,
}

/// Writer of a partitioned dataset.
pub(super) struct Partitioned {
    target: Target,
    files: Vec<Box<dyn RowFile>>,
    foreign: Vec<Foreign>,
    owners: Owners,
    /// Nodes whose own row is a shadow row, because no partition owns them.
    unowned: Unowned,
    /// Number of nodes before the current rows.
    nodes: u64,
    /// Partition of the current node.
    current: u32,
    reservation: Reservation,
}

/// How the owner of a node is determined.
enum Owners {
    /// From the name.
    ByName,
    /// From a column of node rows; the owners are kept until the end.
    Stated { column: usize, by_name: HashMap<u128, u32> },
}

impl Partitioned {
    /// Begins all files.
    ///
    /// # Errors
    /// Returns an error if a file cannot be created, or if the column of partition numbers does not exist.
    pub fn create(
        staging: &Staging,
        target: &Target,
        options: &CreateOptions,
        partitioning: &Partitioning,
    ) -> Result<Self> {
        let owners = match &partitioning.by {
            By::Name => Owners::ByName,
            By::Column(name) => {
                let column = target.extras.iter().position(|extra| extra.name == *name && extra.node.is_some());
                let column = column.ok_or_else(|| no_column(name, target))?;
                target.extras.get(column).map_or(Ok(()), must_count)?;
                Owners::Stated { column: 9 + column, by_name: HashMap::new() }
            }
        };
        let ids = 0..partitioning.count;
        let files = ids.clone().map(|id| row_file(staging, &part_name(id, options), target, options));
        Ok(Partitioned {
            target: target.clone(),
            files: files.collect::<Result<_>>()?,
            foreign: ids.map(|_| Foreign::default()).collect(),
            owners,
            unowned: Unowned::default(),
            nodes: 0,
            current: 0,
            reservation: options.budget.reserve(0)?,
        })
    }

    #[expect(clippy::cast_possible_truncation, reason = "as many as `Partitioning::count`, which has 32 bits")]
    fn count(&self) -> u32 {
        self.files.len() as u32
    }

    /// Returns the partition of each row: that of its node.
    fn assign(&mut self, rows: &RecordBatch, ids: &Int64Array, names: &StringArray) -> Result<Vec<u32>> {
        let count = self.count();
        let stated = match &self.owners {
            Owners::ByName => None,
            Owners::Stated { column, .. } => {
                let name = rows.schema_ref().field(*column).name().clone();
                Some(Stated { numbers: numbers(rows.column(*column), &name)?, name, count })
            }
        };
        let shadow = cast(rows.column(Column::Shadow as usize), &DataType::Int64, Column::Shadow.name())?;
        let shadow = shadow.as_primitive::<Int64Type>();
        let mut parts = Vec::with_capacity(ids.len());
        let mut unowned = Vec::new();
        for ((row, number), &id) in (0..).zip(0u32..).zip(ids.values()) {
            if id < 0 {
                self.current = match (&mut self.owners, &stated) {
                    (Owners::Stated { by_name, .. }, Some(stated)) => {
                        let part = stated.of(row, names.value(row), self.nodes)?;
                        self.reservation.grow(ENTRY_BYTES)?;
                        by_name.insert(xxh3_128(names.value(row).as_bytes()), part);
                        part
                    }
                    _ => partition_of_name(names.value(row), count),
                };
                if is_foreign(shadow, row) {
                    unowned.push(number);
                }
                self.nodes += 1;
            }
            parts.push(self.current);
        }
        self.unowned.keep(rows, unowned, &mut self.reservation)?;
        Ok(parts)
    }

    /// Records destinations that another partition may own.
    fn note_foreign(&mut self, ids: &Int64Array, targets: &StringArray, parts: &[u32]) -> Result<()> {
        let count = self.count();
        for ((row, &id), &part) in ids.values().iter().enumerate().zip(parts) {
            let name = targets.value(row);
            if id < 0 || matches!(self.owners, Owners::ByName) && partition_of_name(name, count) == part {
                continue;
            }
            let Some(foreign) = self.foreign.get_mut(part as usize) else { continue };
            if foreign.known.insert(xxh3_128(name.as_bytes())) {
                self.reservation.grow(ENTRY_BYTES + name.len() as u64)?;
                foreign.names.append_value(name);
            }
        }
        Ok(())
    }

    /// Writes the shadow rows of one partition.
    fn write_shadows(&mut self, part: u32) -> Result<()> {
        let count = self.count();
        let foreign = self.foreign.get_mut(part as usize).map(std::mem::take).unwrap_or_default();
        let mut names = foreign.names;
        let mentioned = names.finish();
        let mut owned = StringBuilder::new();
        let mut owners = Vec::new();
        let mut unowned = Vec::new();
        for name in mentioned.iter().flatten() {
            let owner = match &self.owners {
                Owners::ByName => partition_of_name(name, count),
                Owners::Stated { by_name, .. } => *by_name
                    .get(&xxh3_128(name.as_bytes()))
                    .ok_or_else(|| Error::usage(format!("an edge refers to {name:?}, which is not a node")))?,
            };
            if owner == part {
                continue;
            }
            match self.unowned.places.get(&xxh3_128(name.as_bytes())) {
                Some(place) => unowned.push(*place),
                None => {
                    owned.append_value(name);
                    owners.push(i64::from(owner));
                }
            }
        }
        let Some(file) = self.files.get_mut(part as usize) else { return Ok(()) };
        if !owners.is_empty() {
            let owners: ArrayRef = Arc::new(Int64Array::from(owners));
            file.write(&shadow_rows(owned.finish(), &owners, &self.target)?)?;
        }
        self.unowned.at(&unowned).try_for_each(|rows| file.write(&rows?))
    }
}

/// The partitions stated in a column of node rows.
struct Stated {
    name: String,
    /// As text if they are not integers: the text is part of the error message.
    numbers: ArrayRef,
    count: u32,
}

impl Stated {
    /// Returns the partition of the node `node` in this row; `at` is its number among all nodes.
    fn of(&self, row: usize, node: &str, at: u64) -> Result<u32> {
        let (shown, part) = match self.numbers.as_primitive_opt::<Int64Type>() {
            _ if self.numbers.is_null(row) => ("nothing".to_owned(), None),
            Some(numbers) => (numbers.value(row).to_string(), u32::try_from(numbers.value(row)).ok()),
            None => {
                let text = self.numbers.as_string_opt::<i32>().map_or("", |texts| texts.value(row));
                (format!("{text:?}"), text.parse().ok())
            }
        };
        part.filter(|&part| part < self.count).ok_or_else(|| {
            let message = format!("node {node:?} is assigned to partition {shown} of {}", self.count);
            let broken = Error::broken(&rules::WRITE_VALUE, message).at(Place::field(&self.name).row(at));
            match part.and_then(|part| part.checked_add(1)) {
                Some(more) => broken.hint(format!("--partitions {more}    or more: numbers start at 0")),
                None => {
                    let last = self.count.saturating_sub(1);
                    broken.hint(format!("correct the column: every node needs a whole number from 0 to {last}"))
                }
            }
        })
    }
}

/// Returns the numbers of an integer column, or the texts of other columns: a whole float has the text of its integer.
fn numbers(column: &ArrayRef, name: &str) -> Result<ArrayRef> {
    match column.data_type() {
        data_type if data_type.is_integer() => cast(column, &DataType::Int64, name),
        data_type if data_type.is_floating() => {
            let floats = cast(column, &DataType::Float64, name)?;
            let texts = floats.as_primitive::<Float64Type>().iter().map(|float| float.map(|float| float.to_string()));
            Ok(Arc::new(texts.collect::<StringArray>()))
        }
        _ => cast(column, &DataType::Utf8, name),
    }
}

/// Rejects a column whose values cannot be partitions, such as timestamps, although they can be cast to numbers.
fn must_count(column: &ExtraColumn) -> Result<()> {
    let text = matches!(column.data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    if text || column.data_type.is_integer() || column.data_type.is_floating() {
        return Ok(());
    }
    let message = format!("column {} is {}, which cannot be a partition number", column.name, column.data_type);
    Err(Error::usage(message)
        .at(Place::field(&column.name))
        .hint("give --partition-by a column of whole numbers, or omit it to partition by name"))
}

fn no_column(name: &str, target: &Target) -> Error {
    let columns = target.extras.iter().filter(|extra| extra.node.is_some());
    let columns: Vec<&str> = columns.map(|extra| extra.name.as_str()).collect();
    let error = Error::usage(format!("the table of nodes has no column {name} to partition by")).at(Place::field(name));
    match columns.as_slice() {
        [] => error.hint("use --partitions without --partition-by to partition by name"),
        known => error.hint(format!("--partition-by COLUMN    one of {}", known.join(", "))),
    }
}

impl RowFile for Partitioned {
    fn write(&mut self, rows: &RecordBatch) -> Result<()> {
        let ids = cast(rows.column(Column::EdgeId as usize), &DataType::Int64, Column::EdgeId.name())?;
        let ids = ids.as_primitive::<Int64Type>();
        let parts = self.assign(rows, ids, rows.column(Column::SrcName as usize).as_string())?;
        self.note_foreign(ids, rows.column(Column::DstName as usize).as_string(), &parts)?;
        let mut chosen: Vec<Vec<u32>> = vec![Vec::new(); self.files.len()];
        for (row, &part) in (0u32..).zip(&parts) {
            if let Some(chosen) = chosen.get_mut(part as usize) {
                chosen.push(row);
            }
        }
        for (file, chosen) in self.files.iter_mut().zip(chosen) {
            if !chosen.is_empty() {
                let rows = take_record_batch(rows, &UInt32Array::from(chosen)).map_err(|error| misplaced(&error))?;
                file.write(&rows)?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<(String, u64)>> {
        for part in 0..self.count() {
            self.write_shadows(part)?;
        }
        let mut finished = Vec::new();
        for file in std::mem::take(&mut self.files) {
            finished.extend(file.finish()?);
        }
        Ok(finished)
    }
}
