//! Reads edges and sorts them by source, then type, then target.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::BinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array, Int32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Batch, Direction, EdgeBatch, EdgeType, Graph as Model, Relation, Request, Source, Tables};
use isomorph_tables::sort::{EdgeSorter, SortOptions};

use super::features::{FeatureWriter, columns};
use super::numbers::Numbers;
use super::times::{Clock, NEVER, Times};
use super::weights::{Weights, single};
use super::{Names, Writer, scale_of};
use crate::faults::{Met, Wrong, note};
use crate::features::Stated;
use crate::graph::GraphOptions;
use crate::partition::{Column, Features, mass};
use crate::request::NO_TIME;

/// The column of the times of creation, if a graph has times.
const CREATED: &str = "created";

/// Instead of the length of a feature: the feature is missing.
const MISSING: u32 = u32::MAX;

/// Instead of the length of a feature: the feature is a list with nulls.
const WITH_NULLS: u32 = u32::MAX - 1;

/// Edges that are being sorted.
pub(super) struct Edges {
    sorter: EdgeSorter,
    schema: Arc<Schema>,
    sequence: u64,
    types: Vec<String>,
    numbers: HashMap<String, i32>,
    /// The columns of weights and times of each edge type.
    columns: Vec<(Weights, Times)>,
    /// Whether weights may have more than 32 bits.
    wide: bool,
    faults: Met,
    /// The numbers of the features.
    features: Numbers,
}

/// The columns of edges of a partition.
pub(super) struct EdgeColumns {
    /// The offset of each node's edges.
    pub neighbors: Column,
    pub records: Column,
    pub times: Option<Column>,
    /// Weights with 64 bits, if 32 bits cannot represent them, and their factor for sums.
    pub exact: Option<Column>,
    pub scale: f64,
    pub features: Features,
}

/// Sorted edges.
pub(super) struct Sorted {
    pub columns: EdgeColumns,
    /// Whether weights may have more than 32 bits, according to their columns.
    pub wide: bool,
    /// Names of the types, by number.
    pub types: Vec<String>,
    /// Number of their edges.
    pub counts: Vec<u64>,
    /// Problems that prevent some requests.
    pub faults: Met,
}

/// An edge that waits for the others of its node: type, target, weight, times, and the range of its features.
type Pending = (i32, u64, f64, [i64; 2], Range<usize>);

impl Edges {
    pub fn new(model: &Model, names: &Names, options: &GraphOptions) -> Result<Self> {
        let clock = names.clock().map(|(clock, _)| clock);
        let column = |ty: &EdgeType| (Weights::of(&ty.properties), Times::of(ty, clock.unwrap_or(Clock::Numbers)));
        let columns: Vec<_> = model.edges.iter().map(column).collect();
        let wide = columns.iter().zip(&model.edges).any(|((weights, _), ty)| weights.are_wide(&ty.properties));
        let features = names.edge_numbers().clone();
        let field = |name, data_type| Field::new(name, data_type, false);
        let mut fields = vec![field("type", DataType::Int32), field("weight", DataType::Float64)];
        if clock.is_some() {
            fields.extend([field(CREATED, DataType::Int64), field("removed", DataType::Int64)]);
        }
        if !features.names().is_empty() {
            // The features of a row in order, each after its length, or after the marker for a feature without length.
            fields.push(field("features", DataType::Binary));
        }
        let schema = Arc::new(Schema::new(fields));
        let sort = SortOptions::new(&options.budget, &options.scratch).payload(Arc::clone(&schema));
        let sorter = EdgeSorter::new(sort)?;
        let (types, numbers, faults) = (Vec::new(), HashMap::new(), Met::new());
        Ok(Edges { sorter, schema, sequence: 0, types, numbers, columns, wide, faults, features })
    }

    /// Reads all edges of a graph. Relations without edges are also types, with numbers after those of the others.
    pub fn read(&mut self, source: &dyn Source, names: &mut Names) -> Result<()> {
        for (number, ty) in source.graph().edges.iter().enumerate() {
            for part in source.scan(&Request::of(Tables::Edges(number)))? {
                for batch in part {
                    let Batch::Edges(batch) = batch? else { continue };
                    self.push((number, ty), &batch, names)?;
                }
            }
        }
        for name in source.graph().edges.iter().filter_map(|ty| ty.relation.fixed()) {
            self.number(name);
        }
        Ok(())
    }

    fn number(&mut self, name: &str) -> i32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "names are held in memory")]
        let number = self.types.len() as i32;
        self.types.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn push(&mut self, (table, ty): (usize, &EdgeType), batch: &EdgeBatch, names: &mut Names) -> Result<()> {
        let types: Int32Array = match (&ty.relation, &batch.relations) {
            (Relation::Fixed(name), _) => Int32Array::from(vec![self.number(name); batch.rows]),
            (Relation::PerRow, Some(relations)) => {
                let numbers: Vec<i32> =
                    (0..relations.names.len()).map(|at| self.number(relations.names.value(at))).collect();
                let number = |at: &u32| numbers.get(*at as usize).copied();
                let types = relations.index.values().iter().map(number).collect::<Option<Vec<_>>>();
                types.ok_or_else(|| Error::malformed("an edge has a relation without a name"))?.into()
            }
            (Relation::PerRow, None) => return Err(Error::malformed("edges have no relations")),
        };
        let (names_of_types, faults) = (&self.types, &mut self.faults);
        let of = |row: usize| types.values().get(row).copied().unwrap_or_default();
        let name = |row: usize| names_of_types.get(place(of(row))).map(String::as_str).unwrap_or_default();
        let whose = |row: usize| format!("an edge of type {}", name(row));
        let mut lives = None;
        let mut weights = Vec::new();
        if let Some((of_type, times)) = self.columns.get_mut(table) {
            weights = of_type.read(&batch.properties, batch.rows, of, &whose, faults)?;
            let has_times = self.schema.field_with_name(CREATED).is_ok();
            if has_times {
                lives = Some(times.read(&batch.properties, batch.rows, of, &whose, faults)?);
            }
            let seen: BTreeSet<i32> = types.values().iter().copied().collect();
            for ty in seen {
                let name = || names_of_types.get(place(ty)).map(String::as_str).unwrap_or_default();
                match times.unfit() {
                    Some(why) => note(faults, ty, Wrong::NoTime, || format!("edges of type {}: {why}", name())),
                    None if has_times && !times.has_any() => note(faults, ty, Wrong::Timeless, String::new),
                    None => {}
                }
            }
        }
        let mut payload: Vec<ArrayRef> = vec![Arc::new(types), Arc::new(Float64Array::from(weights))];
        payload.extend(lives.into_iter().flatten());
        if !self.features.names().is_empty() {
            payload.push(self.cells(ty, batch)?);
        }
        let payload = RecordBatch::try_new(Arc::clone(&self.schema), payload).map_err(unsorted)?;
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        names.entries(ty.source, &batch.source, &mut sources)?;
        names.targets(ty.target, &batch.target, &mut targets)?;
        self.sort(&sources, &targets, &payload)?;
        let both_ways = |row: usize| match ty.direction {
            Direction::Directed => false,
            Direction::Undirected => true,
            Direction::PerRow => {
                batch.directed.as_ref().is_some_and(|directed| directed.is_valid(row) && !directed.value(row))
            }
        };
        // The reverse of undirected edges; loops exist already.
        let (mut back, mut ends) = (Vec::new(), Vec::new());
        names.entries(ty.target, &batch.target, &mut back)?;
        names.targets(ty.source, &batch.source, &mut ends)?;
        let count = u32::try_from(batch.rows).map_err(|_| Error::unsupported("a batch has more than 2³² edges"))?;
        let rows: Vec<u32> = (0..count)
            .filter(|row| {
                let at = *row as usize;
                both_ways(at) && back[at] != sources[at]
            })
            .collect();
        if rows.is_empty() {
            return Ok(());
        }
        let take = |all: &[u64]| rows.iter().map(|row| all[*row as usize]).collect::<Vec<_>>();
        let indices = arrow_array::UInt32Array::from(rows.clone());
        let columns = payload.columns().iter().map(|column| arrow_select::take::take(column, &indices, None));
        let columns = columns.collect::<std::result::Result<Vec<_>, _>>().map_err(unsorted)?;
        let payload = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(unsorted)?;
        self.sort(&take(&back), &take(&ends), &payload)
    }

    /// Returns the features of the rows of a batch.
    fn cells(&self, ty: &EdgeType, batch: &EdgeBatch) -> Result<ArrayRef> {
        let columns = columns(&batch.properties, &self.features.positions(&ty.properties));
        let (mut cells, mut cell) = (BinaryBuilder::new(), Vec::new());
        for row in 0..batch.rows {
            cell.clear();
            for cells in columns.row(row) {
                let start = cell.len();
                cell.extend_from_slice(&[0; 4]);
                let length = match cells.map_or(Stated::No, |cells| cells.append(row, &mut cell)) {
                    Stated::No => MISSING,
                    Stated::WithNulls => WITH_NULLS,
                    Stated::Yes => u32::try_from(cell.len() - start - 4)
                        .ok()
                        .filter(|length| *length < WITH_NULLS)
                        .ok_or_else(|| Error::new(Kind::TooLarge, "a feature of an edge has more than 4 GiB"))?,
                };
                cell[start..start + 4].copy_from_slice(&length.to_le_bytes());
            }
            cells.append_value(&cell);
        }
        Ok(Arc::new(cells.finish()))
    }

    fn sort(&mut self, sources: &[u64], targets: &[u64], payload: &RecordBatch) -> Result<()> {
        self.sorter.push(sources, targets, Some(payload), self.sequence)?;
        self.sequence += sources.len() as u64;
        Ok(())
    }

    /// Writes the edges of `entries` nodes.
    pub fn finish(self, entries: u64, options: &GraphOptions) -> Result<Sorted> {
        // Names that are numbers keep them (DeepGNN); others are numbered in order of occurrence.
        let parsed: Option<Vec<i32>> = self.types.iter().map(|name| type_of_name(name)).collect();
        let numbers = parsed.unwrap_or_else(|| (0..).take(self.types.len()).collect());
        let count = numbers.iter().max().map_or(0, |max| place(*max) + 1);
        let mut names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        numbers.iter().zip(self.types).for_each(|(number, name)| names[place(*number)] = name);
        let number = |ty: i32| numbers.get(place(ty)).copied().unwrap_or(ty);
        let faults = self.faults.into_iter().map(|((ty, wrong), message)| ((number(ty), wrong), message)).collect();
        let mut counts = vec![0; count];
        let (mut starts, mut records) = (Writer::new(options)?, Writer::new(options)?);
        let mut features = FeatureWriter::new(options)?;
        let has_times = self.schema.field_with_name(CREATED).is_ok();
        let mut times = has_times.then(|| Writer::new(options)).transpose()?;
        let mut exact = self.wide.then(|| Writer::new(options)).transpose()?;
        let (mut fits, mut sum) = (true, 0.0);
        if let Some(times) = &mut times {
            // The latest known time, which no request uses.
            times.put(&i64::MAX.to_le_bytes())?;
        }
        let (mut written, mut next) = (0u64, 0u64);
        let (mut pending, mut cells) = (Vec::<Pending>::new(), Vec::<u8>::new());
        let mut flush = |pending: &mut Vec<Pending>, cells: &mut Vec<u8>, records: &mut Writer| -> Result<u64> {
            pending.sort_by_key(|(ty, target, weight, life, _)| {
                (*ty, *target, single(*weight).to_bits(), weight.to_bits(), *life)
            });
            for (ty, target, weight, life, of) in pending.iter() {
                counts[place(*ty)] += 1;
                record(records, *target, features.slot, *ty, single(*weight))?;
                if let Some(exact) = &mut exact {
                    exact.put(&weight.to_le_bytes())?;
                }
                fits &= f64::from(single(*weight)) == *weight || weight.is_nan();
                sum += Some(mass(*weight)).filter(|mass| !mass.is_nan()).unwrap_or_default();
                if let Some(times) = &mut times {
                    times.put(&life[0].to_le_bytes())?;
                    times.put(&life[1].to_le_bytes())?;
                }
                let mut rest = cells.get(of.clone()).unwrap_or_default();
                while let Some((length, behind)) = rest.split_first_chunk::<4>() {
                    let (stated, length) = match u32::from_le_bytes(*length) {
                        MISSING => (Stated::No, 0),
                        WITH_NULLS => (Stated::WithNulls, 0),
                        length => (Stated::Yes, length as usize),
                    };
                    let (bytes, behind) = behind.split_at(length.min(behind.len()));
                    features.bytes(stated, bytes)?;
                    rest = behind;
                }
            }
            let count = pending.len() as u64;
            pending.clear();
            cells.clear();
            Ok(count)
        };
        let sorted = self.sorter.finish()?;
        for batch in sorted.stream()? {
            let batch = batch?;
            let types = batch.payload.column(0).as_primitive::<Int32Type>();
            let weights = batch.payload.column(1).as_primitive::<Float64Type>();
            let time = |at: usize| batch.payload.column(at).as_primitive::<Int64Type>().values();
            let lives = has_times.then(|| [time(2), time(3)]);
            let own = batch.payload.columns().last().and_then(|column| column.as_binary_opt::<i32>());
            for row in 0..batch.aligned.len() {
                let source = batch.aligned.value(row);
                while next <= source {
                    written += flush(&mut pending, &mut cells, &mut records)?;
                    starts.put(&written.to_le_bytes())?;
                    next += 1;
                }
                let start = cells.len();
                cells.extend_from_slice(own.map_or(&[], |own| own.value(row)));
                let life = lives.map_or([NO_TIME, NEVER], |lives| lives.map(|times| times[row]));
                let number = numbers[place(types.value(row))];
                pending.push((number, batch.other.value(row), weights.value(row), life, start..cells.len()));
            }
        }
        written += flush(&mut pending, &mut cells, &mut records)?;
        while next <= entries {
            starts.put(&written.to_le_bytes())?;
            next += 1;
        }
        record(&mut records, 0, features.slot, 0, -1.0)?;
        let columns = EdgeColumns {
            neighbors: starts.column("neighbors")?,
            records: records.column("edges")?,
            times: times.map(|times| times.column("times")).transpose()?,
            exact: exact.filter(|_| !fits).map(|exact| exact.column("weights")).transpose()?,
            scale: scale_of(sum),
            features: features.finish()?,
        };
        Ok(Sorted { columns, wide: self.wide, types: names, counts, faults })
    }
}

/// Returns the type that is the name of a relation; `None` if the spelling is not ours, because two names could then be the same number.
fn type_of_name(name: &str) -> Option<i32> {
    let number: u16 = name.parse().ok()?;
    (number.to_string() == name).then_some(number.into())
}

/// Returns the index of a type in a list.
fn place(ty: i32) -> usize {
    ty.unsigned_abs() as usize
}

fn record(records: &mut Writer, target: u64, slot: u64, ty: i32, weight: f32) -> Result<()> {
    records.put(&target.to_le_bytes())?;
    records.put(&slot.to_le_bytes())?;
    records.put(&ty.to_le_bytes())?;
    records.put(&weight.to_le_bytes())
}

fn unsorted(error: arrow_schema::ArrowError) -> Error {
    Error::malformed("columns of edges differ").caused_by(error)
}
