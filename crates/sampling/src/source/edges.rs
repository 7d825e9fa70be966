//! Edges, sorted by source, then type, then target.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int32Type};
use arrow_array::{Array, ArrayRef, Float32Array, Int32Array, RecordBatch};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, Direction, EdgeBatch, EdgeType, Relation, Request, Source, Tables, well_known};
use isomorph_tables::sort::{EdgeSorter, SortOptions};

use super::{Names, Writer};
use crate::graph::GraphOptions;
use crate::partition::Column;

/// Edges on their way into order.
pub(super) struct Edges {
    sorter: EdgeSorter,
    schema: Arc<Schema>,
    sequence: u64,
    types: Vec<String>,
    numbers: HashMap<String, i32>,
}

impl Edges {
    pub fn new(options: &GraphOptions) -> Result<Self> {
        let field = |name, data_type| Field::new(name, data_type, false);
        let schema = Arc::new(Schema::new(vec![field("type", DataType::Int32), field("weight", DataType::Float32)]));
        let sort = SortOptions::new(&options.budget, &options.scratch).payload(Arc::clone(&schema));
        Ok(Edges { sorter: EdgeSorter::new(sort)?, schema, sequence: 0, types: Vec::new(), numbers: HashMap::new() })
    }

    /// Reads all edges of a graph.
    pub fn read(&mut self, source: &dyn Source, names: &mut Names) -> Result<()> {
        for (number, ty) in source.graph().edges.iter().enumerate() {
            for part in source.scan(&Request::of(Tables::Edges(number)))? {
                part.read(&mut |batch| match batch {
                    Batch::Edges(batch) => self.push(ty, &batch, names),
                    _ => Ok(()),
                })?;
            }
        }
        Ok(())
    }

    fn number(&mut self, name: &str) -> i32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.types.len() as i32;
        self.types.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn push(&mut self, ty: &EdgeType, batch: &EdgeBatch, names: &mut Names) -> Result<()> {
        let types: ArrayRef = match (&ty.relation, &batch.relations) {
            (Relation::Fixed(name), _) => Arc::new(Int32Array::from(vec![self.number(name); batch.rows])),
            (Relation::PerRow, Some(relations)) => {
                let numbers: Vec<i32> =
                    (0..relations.names.len()).map(|at| self.number(relations.names.value(at))).collect();
                let number = |at: &u32| numbers.get(*at as usize).copied().unwrap_or(0);
                Arc::new(Int32Array::from(relations.index.values().iter().map(number).collect::<Vec<_>>()))
            }
            (Relation::PerRow, None) => return Err(Error::malformed("edges come without their relations")),
        };
        let at = ty.properties.iter().position(|property| property.name == well_known::WEIGHT);
        let weights = at.and_then(|at| batch.properties.get(at)?.as_ref());
        let weights = weights.and_then(|weights| cast(weights, &DataType::Float32).ok());
        let weights: ArrayRef = match weights {
            Some(weights) => Arc::new(
                weights
                    .as_primitive::<Float32Type>()
                    .iter()
                    .map(|weight| weight.unwrap_or(1.0))
                    .collect::<Float32Array>(),
            ),
            None => Arc::new(Float32Array::from(vec![1.0; batch.rows])),
        };
        let payload = RecordBatch::try_new(Arc::clone(&self.schema), vec![types, weights]).map_err(unsorted)?;
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
        // The other way of edges without direction; loops are there already.
        let (mut back, mut ends) = (Vec::new(), Vec::new());
        names.entries(ty.target, &batch.target, &mut back)?;
        names.targets(ty.source, &batch.source, &mut ends)?;
        let rows: Vec<u32> = (0..batch.rows as u32)
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

    fn sort(&mut self, sources: &[u64], targets: &[u64], payload: &RecordBatch) -> Result<()> {
        self.sorter.push(sources, targets, Some(payload), self.sequence)?;
        self.sequence += sources.len() as u64;
        Ok(())
    }

    /// Writes the edges of `entries` nodes: where those of each begin, the records, names of the types, and how many edges they have.
    pub fn finish(self, entries: u64, options: &GraphOptions) -> Result<(Column, Column, Vec<String>, Vec<u64>)> {
        // Names that are numbers are the numbers (DeepGNN); others are numbered as they came.
        let parsed: Option<Vec<u16>> = self.types.iter().map(|name| name.parse().ok()).collect();
        let numbers: Vec<i32> = match &parsed {
            Some(numbers) => numbers.iter().map(|number| i32::from(*number)).collect(),
            None => (0..self.types.len() as i32).collect(),
        };
        let count = numbers.iter().max().map_or(0, |max| *max as usize + 1);
        let mut names: Vec<String> = (0..count).map(|number| number.to_string()).collect();
        numbers.iter().zip(self.types).for_each(|(number, name)| names[*number as usize] = name);
        let mut counts = vec![0; count];
        let (mut starts, mut records) = (Writer::new(options)?, Writer::new(options)?);
        let (mut written, mut next, mut pending) = (0u64, 0u64, Vec::<(i32, u64, f32)>::new());
        let mut flush = |pending: &mut Vec<(i32, u64, f32)>, records: &mut Writer| -> Result<u64> {
            pending.sort_by_key(|(ty, target, weight)| (*ty, *target, weight.to_bits()));
            for (ty, target, weight) in pending.iter() {
                counts[*ty as usize] += 1;
                record(records, *target, *ty, *weight)?;
            }
            let count = pending.len() as u64;
            pending.clear();
            Ok(count)
        };
        let sorted = self.sorter.finish()?;
        for batch in sorted.stream()? {
            let batch = batch?;
            let types = batch.payload.column(0).as_primitive::<Int32Type>();
            let weights = batch.payload.column(1).as_primitive::<Float32Type>();
            for row in 0..batch.aligned.len() {
                let source = batch.aligned.value(row);
                while next <= source {
                    written += flush(&mut pending, &mut records)?;
                    starts.put(&written.to_le_bytes())?;
                    next += 1;
                }
                pending.push((numbers[types.value(row) as usize], batch.other.value(row), weights.value(row)));
            }
        }
        written += flush(&mut pending, &mut records)?;
        while next <= entries {
            starts.put(&written.to_le_bytes())?;
            next += 1;
        }
        record(&mut records, 0, 0, -1.0)?;
        Ok((starts.column("neighbors")?, records.column("edges")?, names, counts))
    }
}

fn record(records: &mut Writer, target: u64, ty: i32, weight: f32) -> Result<()> {
    records.put(&target.to_le_bytes())?;
    records.put(&0u64.to_le_bytes())?;
    records.put(&ty.to_le_bytes())?;
    records.put(&weight.to_le_bytes())
}

fn unsorted(error: arrow_schema::ArrowError) -> Error {
    Error::malformed("columns of edges differ").caused_by(error)
}
