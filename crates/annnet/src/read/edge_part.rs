//! Edges with two ends.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray, StructArray, UInt32Array};
use arrow_schema::{DataType, Field, Fields};
use arrow_select::filter::filter_record_batch;
use isomorph_error::{Error, Place, Result};
use isomorph_model::{Batch, EdgeBatch, Ends, Narrowing, Part, Set, part, well_known};

use super::Annnet;
use super::attributes::AttributeReader;
use super::edges::{Class, resolve};
use super::entities::Placement;
use super::ids;
use super::layers::LayerColumns;
use crate::cells::Cells;
use crate::layout::{column, word};
use crate::table::TableBatches;

/// The edges with two ends in one part of the table.
pub(crate) struct EdgePart<'a> {
    pub annnet: &'a Annnet,
    pub group: usize,
    /// The columns to read in addition to keys and ends; all if `None`.
    pub narrowing: Option<Arc<Narrowing>>,
    pub batch_rows: usize,
}

/// The columns of edges, by their names in the table.
pub(crate) const COLUMNS: [&str; 8] = [
    column::EDGE_ID,
    column::WEIGHT,
    column::DIRECTED,
    column::KIND,
    column::SOURCE,
    column::TARGET,
    column::SOURCE_LAYER,
    column::TARGET_LAYER,
];

impl<'a> EdgePart<'a> {
    /// Returns it as a part of a scan.
    pub fn part(self) -> Box<dyn Part + 'a> {
        let (annnet, batch_rows) = (self.annnet, self.batch_rows.max(1));
        let edges = &annnet.edges;
        let rows = edges.groups.get(self.group).cloned();
        let count = rows.as_ref().map(|rows| rows.end - rows.start);
        let rows = rows.unwrap_or_default();
        let mut start = rows.start;
        let narrowing = self.narrowing.clone();
        let wants_weight = narrowing.as_ref().is_none_or(|narrowing| narrowing.wants(0));
        let open = move || {
            let found = self.found(&rows)?;
            if let Some(found) = found {
                return Ok(Reading::Found(self, found, 0));
            }
            let attributes = annnet.edge_attributes.reader(rows.clone(), batch_rows, narrowing.as_deref(), 1)?;
            let columns = COLUMNS.into_iter().filter(|name| wants_weight || *name != column::WEIGHT);
            Ok(Reading::All(self, edges.table.batches(&columns.collect::<Vec<_>>(), rows, batch_rows)?, attributes))
        };
        part::opened(count, open, move |reading| {
            let (part, batches, attributes) = match reading {
                Reading::All(part, batches, attributes) => (part, batches, attributes),
                Reading::Found(part, rows, at) => {
                    while let Some(some) = rows.get(*at..).filter(|rest| !rest.is_empty()) {
                        let some = some.get(..batch_rows).unwrap_or(some);
                        *at += some.len();
                        if let Some(batch) = part.of_rows(some)? {
                            return Ok(Some(Batch::Edges(batch)));
                        }
                    }
                    return Ok(None);
                }
            };
            for cells in batches {
                let cells = cells?;
                let (len, first) = (cells.rows(), start);
                start += len as u64;
                let mask = edges.mask(Class::TwoEnded, first..start);
                let cells = masked(cells, mask.as_ref())?;
                let keys = cells.text(column::EDGE_ID)?;
                let mut properties = vec![wants_weight.then(|| weights(&cells)).transpose()?];
                properties.extend(attributes.next(len, mask.as_ref(), &keys)?);
                if cells.rows() > 0 {
                    let batch = part.batch(&cells, keys, properties);
                    let batch = batch.map_err(|error| error.at(Place::file(&edges.table.name).row(first)))?;
                    return Ok(Some(Batch::Edges(batch)));
                }
            }
            Ok(None)
        })
    }
}

/// Edges that are being read.
enum Reading<'a> {
    All(EdgePart<'a>, TableBatches, AttributeReader<'a>),
    /// Some rows of the table, of which so many were read.
    Found(EdgePart<'a>, Vec<u64>, usize),
}

impl EdgePart<'_> {
    /// The rows among `within` that are asked for, as far as columns of the table tell them; nothing for all.
    fn found(&self, within: &Range<u64>) -> Result<Option<Vec<u64>>> {
        let Some(filter) = self.narrowing.as_ref().and_then(|narrowing| narrowing.filter_now()) else {
            return Ok(None);
        };
        if let Some(ids) = filter.set_of(Narrowing::KEY).and_then(Set::texts)
            && let Some(rows) = self.annnet.rows_of_edges(ids, within)?
        {
            let is_worth_it = rows.len() as u64 * 2 <= within.end - within.start;
            return Ok(Some(rows).filter(|_| is_worth_it));
        }
        let of_ends = filter.known_part(&mut |name| match name {
            Narrowing::KEY => Some(column::EDGE_ID.to_owned()),
            Narrowing::SOURCE => Some(column::SOURCE.to_owned()),
            Narrowing::TARGET => Some(column::TARGET.to_owned()),
            _ => None,
        });
        match of_ends {
            Some(own) => self.annnet.edges.table.rows_where(&own, within.clone()),
            None => self.annnet.edge_attributes.rows_where(&filter, within.clone()),
        }
    }

    /// The edges with two ends among some rows of the table, which ascend.
    pub fn of_rows(&self, rows: &[u64]) -> Result<Option<EdgeBatch>> {
        let edges = &self.annnet.edges;
        let others = Class::OTHERS.map(|class| edges.rows_of(class));
        let is_other = |row: &u64| others.iter().any(|others| others.binary_search(row).is_ok());
        let rows: Vec<u64> = rows.iter().copied().filter(|row| !is_other(row)).collect();
        let ranges = ranges_of(&rows);
        if ranges.is_empty() {
            return Ok(None);
        }
        let narrowing = self.narrowing.as_deref();
        let wants_weight = narrowing.is_none_or(|narrowing| narrowing.wants(0));
        let columns = COLUMNS.into_iter().filter(|name| wants_weight || *name != column::WEIGHT);
        let cells = edges.table.read_rows(&columns.collect::<Vec<_>>(), &ranges)?;
        let keys = cells.text(column::EDGE_ID)?;
        let mut properties = vec![wants_weight.then(|| weights(&cells)).transpose()?];
        properties.extend(self.annnet.edge_attributes.of_rows(&ranges, &keys, narrowing, 1)?);
        self.batch(&cells, keys, properties).map(Some)
    }

    fn batch(&self, cells: &Cells, keys: StringArray, properties: Vec<Option<ArrayRef>>) -> Result<EdgeBatch> {
        let (source, target) = (cells.text(column::SOURCE)?, cells.text(column::TARGET)?);
        let layers = match self.annnet.is_layered() {
            true => Some((
                self.details(cells, &keys, &source, column::SOURCE_LAYER)?,
                self.details(cells, &keys, &target, column::TARGET_LAYER)?,
            )),
            false => None,
        };
        Ok(EdgeBatch {
            ty: 0,
            rows: cells.rows(),
            relations: None,
            source: Ends::Keys(Arc::new(source)),
            target: Ends::Keys(Arc::new(target)),
            layers,
            directed: directions(cells, self.annnet.manifest.is_directed())?,
            keys: Some(Arc::new(keys)),
            properties,
        })
    }

    /// Returns the layers of ends, with coefficients if some edges have any.
    fn details(&self, cells: &Cells, keys: &StringArray, ends: &StringArray, layer: &str) -> Result<ArrayRef> {
        let known = self.annnet.known();
        let numbers = cells.integers(layer)?;
        let layers = match known.layers.is_flat() {
            true => UInt32Array::new_null(ends.len()),
            false => (0..ends.len()).map(|row| self.layer(ends, &numbers, row)).collect::<Result<UInt32Array>>()?,
        };
        let lists = self.annnet.layer_columns.column(&layers)?;
        if !self.annnet.edges.has_coefficients {
            return Ok(lists);
        }
        let coefficient = |row: usize| -> Result<Option<f64>> {
            let edge = ids::hash(keys.value(row));
            if !known.coefficients.has(edge) {
                return Ok(None);
            }
            let end: Option<Placement> = resolve(known, Some(ends.value(row)), &numbers, row)?;
            Ok(known.coefficients.of(edge, end, numbers.is_null(row)))
        };
        let coefficients = (0..ends.len()).map(coefficient).collect::<Result<Float64Array>>()?;
        let fields = Fields::from(vec![
            Field::new(word::LAYER, LayerColumns::data_type(), true),
            Field::new(well_known::COEFFICIENT, DataType::Float64, true),
        ]);
        let both = StructArray::try_new(fields, vec![lists, Arc::new(coefficients)], None);
        Ok(Arc::new(both.map_err(|error| Error::malformed(error.to_string()).caused_by(error))?))
    }

    fn layer(&self, ends: &StringArray, numbers: &Int64Array, row: usize) -> Result<Option<u32>> {
        let known = self.annnet.known();
        if numbers.is_valid(row) {
            return known.layers.at(numbers.value(row)).map(Some);
        }
        Ok(known.entities.resolve(ends.value(row), None).map(|placement| placement.layer))
    }
}

/// Converts ascending rows to ranges.
pub(crate) fn ranges_of(rows: &[u64]) -> Vec<Range<u64>> {
    let mut ranges: Vec<Range<u64>> = Vec::with_capacity(rows.len());
    for row in rows.iter().copied() {
        match ranges.last_mut() {
            Some(last) if last.end == row => last.end += 1,
            _ => ranges.push(row..row + 1),
        }
    }
    ranges
}

/// Returns the rows of a mask.
pub(crate) fn masked(cells: Cells, mask: Option<&BooleanArray>) -> Result<Cells> {
    let Some(mask) = mask else { return Ok(cells) };
    let batch = filter_record_batch(&cells.batch, mask).map_err(|error| Error::malformed(error.to_string()))?;
    Ok(Cells { name: cells.name, batch })
}

/// Returns weights; 1 if none is stated.
pub(crate) fn weights(cells: &Cells) -> Result<ArrayRef> {
    let weights = cells.floats(column::WEIGHT)?;
    Ok(match weights.null_count() {
        0 => Arc::new(weights),
        _ => Arc::new(Float64Array::from_iter_values(weights.iter().map(|weight| weight.unwrap_or(1.0)))),
    })
}

/// Returns directions: the row's, else the graph's. An edge that is an entity has no direction unless it states one.
pub(crate) fn directions(cells: &Cells, default: bool) -> Result<Option<BooleanArray>> {
    let stated = cells.booleans(column::DIRECTED)?;
    if stated.null_count() == 0 {
        return Ok(Some(stated));
    }
    let kinds = cells.text(column::KIND)?;
    let entity = |row: usize| {
        kinds.is_valid(row) && matches!(kinds.value(row), word::NODE_EDGE | word::VERTEX_EDGE | word::EDGE_PLACEHOLDER)
    };
    let directed = stated.iter().enumerate().map(|(row, stated)| Some(stated.unwrap_or(default && !entity(row))));
    Ok(Some(directed.collect()))
}
