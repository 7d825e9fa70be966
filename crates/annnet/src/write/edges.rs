//! The table of edges, which is written as edges arrive, and the other tables about edges.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, StringArray, UInt32Array};
use arrow_schema::DataType;
use arrow_select::interleave::interleave;
use isomorph_error::{Error, Result};
use isomorph_model::{EdgeBatch, well_known};

use super::columns::{arrow, column, columns, floats, gather, ids, keys, lost};
use super::facts::EdgeFacts;
use super::layers::{LayerIds, layer_column};
use super::matrix::{Matrix, weight_of};
use super::nodes::Nodes;
use super::output::Output;
use super::shape::Shape;
use super::table::TableOut;
use super::{WriteLayout, WriteOptions};
use crate::explicit::{COUPLING, INTER, INTRA, Own, Said, Stating};
use crate::inherited::Inheriting;
use crate::layout::{column as name, file, word};
use crate::order::{Positions, Told};

/// The value of `col_idx` for edges without a column in the incidence matrix.
const NO_COLUMN: i64 = -1;

/// The tables of edges that are being written.
pub(super) struct Edges {
    table: EdgeTables,
    attributes: TableOut,
    /// Layers of edges, if the graph has layers.
    layers: Option<TableOut>,
    coefficients: Option<TableOut>,
    matrix: Option<Matrix>,
    /// Number of columns of the incidence matrix.
    pub columns: u64,
    /// Values of `col_idx`.
    positions: Positions,
    /// Positions of the rows that were pushed last, if a matrix is written.
    last: Int64Array,
    inheriting: Inheriting,
    /// Layers and kinds that do not follow from the ends.
    pub stating: Stating,
}

/// The tables that contain edges.
enum EdgeTables {
    /// One table.
    One(Box<TableOut>),
    /// One table for each fact.
    Facts(Box<EdgeFacts>),
}

/// Rows of the table of edges.
pub(super) struct Rows {
    pub ids: ArrayRef,
    /// Whether the rows are columns of the incidence matrix.
    pub are_columns: bool,
    /// Whether they come before the edges with two ends.
    pub are_first: bool,
    pub weights: Option<ArrayRef>,
    pub directed: Option<BooleanArray>,
    pub kinds: StringArray,
    /// Ends and their layers.
    pub source: (Option<ArrayRef>, Option<Int64Array>),
    pub target: (Option<ArrayRef>, Option<Int64Array>),
    pub ml_kinds: Option<StringArray>,
    /// The one layer of all members.
    pub hyper_layers: Option<Int64Array>,
    pub attributes: Vec<Option<ArrayRef>>,
}

/// Coefficients: rows of the edges, entities, their layers, values.
#[derive(Default)]
pub(super) struct Coefficients {
    pub edges: Vec<u32>,
    pub entities: Vec<u32>,
    pub layers: Vec<Option<i64>>,
    pub values: Vec<f64>,
}

impl Edges {
    /// Begins the tables of edges.
    ///
    /// # Errors
    /// Returns an error if they cannot be created.
    pub fn new(output: &Output<'_>, shape: &Shape, options: &WriteOptions) -> Result<Self> {
        let columns = [
            (name::EDGE_ID, DataType::Utf8),
            (name::COL_IDX, DataType::Int64),
            (name::WEIGHT, DataType::Float64),
            (name::DIRECTED, DataType::Boolean),
            (name::KIND, DataType::Utf8),
            (name::SOURCE, DataType::Utf8),
            (name::TARGET, DataType::Utf8),
            (name::SOURCE_LAYER, DataType::Int64),
            (name::TARGET_LAYER, DataType::Int64),
            (name::ML_KIND, DataType::Utf8),
            (name::HYPER_LAYER, DataType::Int64),
        ];
        let own = shape.edge_columns.iter().map(|(name, data_type)| (name.as_str(), data_type.clone()));
        let attributes: Vec<(&str, DataType)> = std::iter::once((name::EDGE_ID, DataType::Utf8)).chain(own).collect();
        let (_, layer) = layer_column(options.layout);
        let [first, second] = match options.layout {
            WriteLayout::V2 => [name::LAYER_1_ID, name::LAYER_2_ID],
            WriteLayout::Specification => [name::LAYER_1, name::LAYER_2],
        };
        let layers = [(name::EDGE_ID, DataType::Utf8), (first, layer.clone()), (second, layer)];
        let table = match options.layout {
            WriteLayout::V2 => EdgeTables::One(Box::new(TableOut::create(output, file::EDGES, &columns, options)?)),
            WriteLayout::Specification => EdgeTables::Facts(Box::new(EdgeFacts::new(output, options, shape.is_flat)?)),
        };
        let layers = (!shape.is_flat).then(|| TableOut::create(output, file::EDGE_LAYERS, &layers, options));
        Ok(Edges {
            table,
            attributes: TableOut::create(output, options.layout.words().edge_table, &attributes, options)?,
            layers: layers.transpose()?,
            // Without this table, readers search a matrix for coefficients.
            coefficients: options.has_matrix().then(|| create_coefficients(output, options)).transpose()?,
            matrix: options.has_matrix().then(|| Matrix::create(options)).transpose()?,
            columns: 0,
            positions: Positions::default(),
            last: Int64Array::from(Vec::<i64>::new()),
            inheriting: Inheriting::default(),
            stating: Stating::default(),
        })
    }

    /// Begins with this column, and continues an existing matrix.
    pub fn begin_at(&mut self, column: u64, matrix: Option<Matrix>) {
        (self.columns, self.positions) = (column, Positions::from(column));
        self.matrix = matrix;
    }

    /// Leaves out directions that the graph inherits.
    pub fn inherit(&mut self, inheriting: Inheriting) {
        self.inheriting = inheriting;
    }

    /// Uses the positions that the description states; `count` edges come before those with two ends.
    pub fn keep_positions(&mut self, told: &Told, count: u64) {
        self.positions.keep(told, count);
    }

    /// Adds rows of any kind.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn push(&mut self, rows: Rows) -> Result<()> {
        let count = rows.ids.len();
        let mut rows = rows;
        rows.directed = rows.directed.map(|own| self.inheriting.leave_out(&rows.kinds, rows.are_first, own));
        let positions = match (rows.are_columns, rows.are_first) {
            (true, true) => self.positions.first(count),
            (true, false) => self.positions.between(count),
            (false, _) => Int64Array::from_value(NO_COLUMN, count),
        };
        self.columns += if rows.are_columns { count as u64 } else { 0 };
        if self.matrix.is_some() {
            self.last = positions.clone();
        }
        let array = |column: Option<Int64Array>| column.map(|column| Arc::new(column) as ArrayRef);
        let mut attributes = vec![Some(Arc::clone(&rows.ids))];
        attributes.extend(rows.attributes.iter().cloned());
        self.attributes.push(count, attributes)?;
        let table = match &mut self.table {
            EdgeTables::One(table) => table,
            EdgeTables::Facts(facts) => {
                let positions = rows.are_columns.then_some(positions);
                return facts.push(rows, positions);
            }
        };
        let (source, source_layers) = rows.source;
        let (target, target_layers) = rows.target;
        table.push(
            count,
            vec![
                Some(rows.ids),
                Some(Arc::new(positions)),
                rows.weights,
                rows.directed.map(|directed| Arc::new(directed) as ArrayRef),
                Some(Arc::new(rows.kinds)),
                source,
                target,
                array(source_layers),
                array(target_layers),
                rows.ml_kinds.map(|kinds| Arc::new(kinds) as ArrayRef),
                array(rows.hyper_layers),
            ],
        )
    }

    /// Adds the layers of edges: one, or those of both sides.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn push_layers(
        &mut self,
        ids: ArrayRef,
        (first, second): (Int64Array, Int64Array),
        layers: &LayerIds,
        options: &WriteOptions,
    ) -> Result<()> {
        let Some(table) = &mut self.layers else { return Ok(()) };
        // If layers are named by their labels, the second one is written only if it differs.
        let second: Int64Array = match options.layout {
            WriteLayout::V2 => second,
            WriteLayout::Specification => {
                let pairs = first.iter().zip(&second);
                pairs.map(|(first, second)| second.filter(|second| first != Some(*second))).collect()
            }
        };
        let columns = [first, second].map(|column| Some(layers.as_column(column, options.layout)));
        table.push(ids.len(), std::iter::once(Some(ids)).chain(columns).collect())
    }

    /// Adds coefficients. The table is created only if there are any.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn push_coefficients(
        &mut self,
        ids: &dyn Array,
        entities: &dyn Array,
        found: Coefficients,
        layers: &LayerIds,
        (output, options): (&Output<'_>, &WriteOptions),
    ) -> Result<()> {
        if found.values.is_empty() {
            return Ok(());
        }
        let table = match &mut self.coefficients {
            Some(table) => table,
            none => none.insert(create_coefficients(output, options)?),
        };
        table.push(
            found.values.len(),
            vec![
                Some(gather(ids, &UInt32Array::from(found.edges))?),
                Some(gather(entities, &UInt32Array::from(found.entities))?),
                Some(layers.as_column(Int64Array::from(found.layers), options.layout)),
                Some(Arc::new(Float64Array::from(found.values))),
            ],
        )
    }

    /// Adds the columns of the rows that were pushed last. `cells` contains, sorted by row, the row in the batch, the
    /// row of the matrix and the value of each role.
    ///
    /// # Errors
    /// Returns an error if they cannot be written, or must wait for earlier columns and exceed the budget.
    pub fn push_cells(&mut self, cells: &[(u32, i32, f32)], is_first: bool, output: &mut Output<'_>) -> Result<()> {
        let Some(matrix) = &mut self.matrix else { return Ok(()) };
        let column = |row: u32| self.last.values().get(row as usize).map_or(0, |own| own.unsigned_abs());
        if is_first && self.positions.were_kept() || self.positions.are_mixed() {
            return matrix.hold(cells.iter().map(|(row, place, value)| (column(*row), *place, *value)));
        }
        let mut own = Vec::new();
        for same in cells.chunk_by(|left, right| left.0 == right.0) {
            own.extend(same.iter().map(|(_, row, value)| (*row, *value)));
            matrix.add(column(same[0].0), &mut own, output)?;
        }
        Ok(())
    }

    /// Returns whether a matrix is written.
    pub fn has_matrix(&self) -> bool {
        self.matrix.is_some()
    }

    /// Adds edges with two ends.
    ///
    /// # Errors
    /// Returns an error if the format cannot represent a value of an edge, or the tables cannot be written.
    pub fn write(
        &mut self,
        batch: &EdgeBatch,
        shape: &Shape,
        nodes: &Nodes,
        layers: &mut LayerIds,
        (output, options): (&mut Output<'_>, &WriteOptions),
    ) -> Result<()> {
        let column_of_ids = batch.keys.as_ref().ok_or_else(|| Error::usage("edges of annnet must have ids"))?;
        let own = ids(column_of_ids, "ids of edges")?;
        let (sources, targets) = (keys(&batch.source)?, keys(&batch.target)?);
        let ends = (ids(sources, "sources of edges")?, ids(targets, "targets of edges")?);
        let mut of_ends = (None, None);
        let mut coefficients = (None, None);
        if let Some((source, target)) = &batch.layers {
            let (source, target) = (End::of(source)?, End::of(target)?);
            self.write_coefficients(own, ends, (&source, &target), layers, (&*output, options))?;
            coefficients = (source.coefficients, target.coefficients);
            if !shape.is_flat {
                of_ends = (Some(source.layers(layers)?), Some(target.layers(layers)?));
            }
        }
        let kind = |id: &str| self.stating.edge_kind(id, nodes.is_entity(id));
        let kinds = StringArray::from_iter_values((0..batch.rows).map(|row| kind(own.value(row))));
        let ml_kinds: Vec<&'static str> = match &of_ends {
            (Some(first), Some(second)) => {
                let kind = |row: usize| match (
                    first.value(row) == second.value(row),
                    ends.0.value(row) == ends.1.value(row),
                ) {
                    (true, _) => INTRA,
                    (false, true) => COUPLING,
                    (false, false) => INTER,
                };
                // First and second layer of each edge that has a row.
                let of_edge = |row: usize| match self.stating.of_edge(own.value(row)).and_then(|own| own.layers) {
                    Some(Said::In(first, second)) => Some((Some(first), second)),
                    Some(Said::Nowhere) => Some((None, None)),
                    // In the specification's layout, the ends take their layers from this table: all are stated in
                    // it.
                    Some(Said::Nothing) if options.layout == WriteLayout::V2 => None,
                    _ => Some((Some(first.value(row)), Some(second.value(row)))),
                };
                let all: Vec<_> = (0..batch.rows).map(of_edge).collect();
                let rows: UInt32Array =
                    (0u32..).zip(&all).filter(|(_, layers)| layers.is_some()).map(|(row, _)| Some(row)).collect();
                let both = all.into_iter().flatten().unzip::<_, _, Vec<_>, Vec<_>>();
                let both = (Int64Array::from(both.0), Int64Array::from(both.1));
                let ids =
                    if rows.len() == batch.rows { Arc::clone(column_of_ids) } else { gather(column_of_ids, &rows)? };
                self.push_layers(ids, both, layers, options)?;
                (0..batch.rows).map(kind).collect()
            }
            _ => vec![INTRA; batch.rows],
        };
        let kind =
            |(row, follows): (usize, &'static str)| Own::kind_of(self.stating.of_edge(own.value(row)), Some(follows));
        let ml_kinds: StringArray = ml_kinds.iter().copied().enumerate().map(kind).collect();
        let weights = column(&batch.properties, shape.edges.weight);
        let directed = directions(batch.directed.as_ref(), batch.rows);
        let mut cells = Vec::new();
        if self.has_matrix() {
            let weights = weights.map(|weights| floats(weights, "weights")).transpose()?;
            let sides = [(ends.0, &of_ends.0, coefficients.0, false), (ends.1, &of_ends.1, coefficients.1, true)];
            for row in 0..batch.rows {
                let weight = weight_of(weights, row);
                for (ids, layers, coefficients, is_target) in sides {
                    let layer = layers.as_ref().filter(|layers| layers.is_valid(row)).map(|layers| layers.value(row));
                    let stated = coefficients.filter(|all| all.is_valid(row)).map(|all| all.value(row));
                    let implied = if is_target && directed.value(row) { -weight } else { weight };
                    if let Some(place) = nodes.matrix_row(ids.value(row), layer) {
                        cells.push((row as u32, place, stated.unwrap_or(implied) as f32));
                    }
                }
            }
        }
        self.push(Rows {
            ids: Arc::clone(column_of_ids),
            are_columns: true,
            are_first: false,
            weights: weights.cloned(),
            directed: Some(directed),
            kinds,
            source: (Some(Arc::clone(sources)), of_ends.0),
            target: (Some(Arc::clone(targets)), of_ends.1),
            ml_kinds: Some(ml_kinds),
            hyper_layers: None,
            attributes: columns(&batch.properties, &shape.edges.attributes),
        })?;
        self.push_cells(&cells, false, output)
    }

    fn write_coefficients(
        &mut self,
        own: &StringArray,
        ends: (&StringArray, &StringArray),
        (source, target): (&End<'_>, &End<'_>),
        layers: &mut LayerIds,
        files: (&Output<'_>, &WriteOptions),
    ) -> Result<()> {
        let (Some(first), Some(second)) = (source.coefficients, target.coefficients) else { return Ok(()) };
        if first.null_count() == first.len() && second.null_count() == second.len() {
            return Ok(());
        }
        let numbers = (source.layers(layers)?, target.layers(layers)?);
        let (mut found, mut of_rows) = (Coefficients::default(), Vec::new());
        for row in 0..own.len() {
            match (first.is_valid(row), second.is_valid(row)) {
                (false, false) => continue,
                (true, true) => {}
                _ => return Err(lost(format!("edge {:?} has a coefficient at only one end", own.value(row)))),
            }
            let layer = |numbers: &Int64Array| numbers.is_valid(row).then(|| numbers.value(row));
            let mut add = |side: usize, layer: Option<i64>, value: f64| {
                found.edges.push(row as u32);
                found.entities.push(of_rows.len() as u32);
                of_rows.push((side, row));
                found.layers.push(layer);
                found.values.push(value);
            };
            let (at, to) = (layer(&numbers.0), layer(&numbers.1));
            add(0, at, first.value(row));
            if ends.0.value(row) != ends.1.value(row) || at != to {
                add(1, to, second.value(row));
            } else if first.value(row).to_bits() != second.value(row).to_bits() {
                // An entity has one coefficient in an edge, which applies to each of its roles.
                return Err(lost(format!("loop {:?} has two coefficients", own.value(row))));
            }
        }
        let entities = interleave(&[ends.0, ends.1], &of_rows).map_err(arrow)?;
        self.push_coefficients(own, &entities, found, layers, files)
    }

    /// Completes the tables, and the matrix of this number of entities.
    ///
    /// # Errors
    /// Returns an error if they cannot be written.
    pub fn finish(self, entities: u64, output: &mut Output<'_>) -> Result<()> {
        if let Some(matrix) = self.matrix {
            matrix.finish((entities, self.columns), output)?;
        }
        match self.table {
            EdgeTables::One(table) => table.finish(output)?,
            EdgeTables::Facts(facts) => facts.finish(output)?,
        }
        for table in [Some(self.attributes), self.layers, self.coefficients].into_iter().flatten() {
            table.finish(output)?;
        }
        Ok(())
    }
}

fn create_coefficients(output: &Output<'_>, options: &WriteOptions) -> Result<TableOut> {
    let columns = [
        (name::EDGE_ID, DataType::Utf8),
        (name::ENTITY_ID, DataType::Utf8),
        layer_column(options.layout),
        (name::COEFFICIENT, DataType::Float64),
    ];
    TableOut::create(output, file::COEFFICIENTS, &columns, options)
}

/// The layer and coefficient of the ends of one side.
struct End<'a> {
    layers: &'a ArrayRef,
    coefficients: Option<&'a Float64Array>,
}

impl<'a> End<'a> {
    fn of(column: &'a ArrayRef) -> Result<Self> {
        let Some(both) = column.as_struct_opt() else { return Ok(End { layers: column, coefficients: None }) };
        let missing = || Error::usage("ends of annnet edges can only have a layer and a coefficient");
        let coefficients = both.column_by_name(well_known::COEFFICIENT).ok_or_else(missing)?;
        Ok(End {
            layers: both.column_by_name(word::LAYER).ok_or_else(missing)?,
            coefficients: Some(floats(coefficients, "coefficients")?),
        })
    }

    fn layers(&self, layers: &mut LayerIds) -> Result<Int64Array> {
        layers.column(self.layers)
    }
}

/// Returns directions without nulls: an edge that states none is directed.
pub(super) fn directions(stated: Option<&BooleanArray>, rows: usize) -> BooleanArray {
    match stated {
        Some(stated) if stated.null_count() == 0 => stated.clone(),
        Some(stated) => stated.iter().map(|directed| Some(directed.unwrap_or(true))).collect(),
        None => BooleanArray::from(vec![true; rows]),
    }
}
