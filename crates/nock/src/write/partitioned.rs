//! A directory of partitions: every node with its edges in the partition that owns it, and a shadow row for each
//! foreign node that they reach.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::DataType;
use arrow_select::take::take_record_batch;
use isomorph_error::{Error, Place, Result};
use isomorph_storage::{Reservation, Staging};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::cells::cast;
use super::file::{part_name, row_file};
use super::options::{By, CreateOptions, Partitioning};
use super::sides::shadow_rows;
use super::sink::RowFile;
use super::target::Target;
use crate::columns::Column;
use crate::rules;

/// The partition of a node by its name.
#[expect(clippy::cast_possible_truncation, reason = "below `partitions`")]
pub fn partition_of_name(name: &str, partitions: u32) -> u32 {
    (xxh3_64(name.as_bytes()) % u64::from(partitions.max(1))) as u32
}

/// Bytes that a name in a set or map costs beside its text, about.
const ENTRY_BYTES: u64 = 48;

/// Foreign nodes that the edges of one partition reach, each once, in the order of their first mention.
#[derive(Default)]
struct Foreign {
    known: HashSet<u128>,
    names: StringBuilder,
}

/// A dataset in the making.
pub(super) struct Partitioned {
    target: Target,
    files: Vec<Box<dyn RowFile>>,
    foreign: Vec<Foreign>,
    owners: Owners,
    /// Partition of the node whose rows are coming.
    current: u32,
    reservation: Reservation,
}

/// Who owns which node.
enum Owners {
    /// Known from the name.
    ByName,
    /// Stated by a column of node rows, and kept until the end.
    Stated { column: usize, by_name: HashMap<u128, u32> },
}

impl Partitioned {
    /// Begins all files.
    ///
    /// # Errors
    /// When a file cannot be created, or the column of partition numbers is not there.
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
                let column = column.ok_or_else(|| {
                    Error::usage(format!("nodes have no column {name} to partition by")).at(Place::field(name))
                })?;
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
            current: 0,
            reservation: options.budget.reserve(0)?,
        })
    }

    #[expect(clippy::cast_possible_truncation, reason = "as many as `Partitioning::count`, which has 32 bits")]
    fn count(&self) -> u32 {
        self.files.len() as u32
    }

    /// The partition of each row: that of its node.
    fn assign(&mut self, rows: &RecordBatch, ids: &Int64Array, names: &StringArray) -> Result<Vec<u32>> {
        let count = self.count();
        let stated = match &self.owners {
            Owners::ByName => None,
            Owners::Stated { column, .. } => Some(cast(rows.column(*column), &DataType::Int64, "partition")?),
        };
        let mut parts = Vec::with_capacity(ids.len());
        for (row, &id) in ids.values().iter().enumerate() {
            if id < 0 {
                self.current = match (&mut self.owners, &stated) {
                    (Owners::Stated { by_name, .. }, Some(stated)) => {
                        let part = stated_partition(stated.as_primitive(), row, count)?;
                        self.reservation.grow(ENTRY_BYTES)?;
                        by_name.insert(xxh3_128(names.value(row).as_bytes()), part);
                        part
                    }
                    _ => partition_of_name(names.value(row), count),
                };
            }
            parts.push(self.current);
        }
        Ok(parts)
    }

    /// Remembers destinations that another partition may own.
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

    /// The shadow rows of one partition.
    fn shadows(&mut self, part: u32) -> Result<RecordBatch> {
        let count = self.count();
        let foreign = self.foreign.get_mut(part as usize).map(std::mem::take).unwrap_or_default();
        let mut names = foreign.names;
        let mentioned = names.finish();
        let mut owned = StringBuilder::new();
        let mut owners = Vec::new();
        for name in mentioned.iter().flatten() {
            let owner = match &self.owners {
                Owners::ByName => partition_of_name(name, count),
                Owners::Stated { by_name, .. } => *by_name
                    .get(&xxh3_128(name.as_bytes()))
                    .ok_or_else(|| Error::usage(format!("an edge reaches {name:?}, which is no node")))?,
            };
            if owner != part {
                owned.append_value(name);
                owners.push(i64::from(owner));
            }
        }
        let owners: ArrayRef = Arc::new(Int64Array::from(owners));
        shadow_rows(owned.finish(), &owners, &self.target)
    }
}

fn stated_partition(stated: &Int64Array, row: usize, count: u32) -> Result<u32> {
    let part = if stated.is_valid(row) { u32::try_from(stated.value(row)).ok() } else { None };
    part.filter(|&part| part < count).ok_or_else(|| {
        let shown = if stated.is_valid(row) { stated.value(row).to_string() } else { "nothing".to_owned() };
        Error::broken(&rules::WRITE_VALUE, format!("a node is to go to partition {shown} of {count}"))
    })
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
                let rows = take_record_batch(rows, &UInt32Array::from(chosen))
                    .map_err(|error| Error::usage(format!("rows cannot be given to partitions: {error}")))?;
                file.write(&rows)?;
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<(String, u64)>> {
        for part in 0..self.count() {
            let rows = self.shadows(part)?;
            if let Some(file) = self.files.get_mut(part as usize).filter(|_| rows.num_rows() > 0) {
                file.write(&rows)?;
            }
        }
        let mut finished = Vec::new();
        for file in std::mem::take(&mut self.files) {
            finished.extend(file.finish()?);
        }
        Ok(finished)
    }
}
