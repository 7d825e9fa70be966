//! Converts properties to features, with the bytes that a binary of DeepGNN has.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, ListArray};
use arrow_buffer::{ArrowNativeType, Buffer};
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::Result;

use super::Writer;
use super::json::{is_json, push};
use crate::features::Stated;
use crate::graph::GraphOptions;
use crate::partition::{Column, Features};

/// Writes features in the order of elements.
pub(super) struct FeatureWriter {
    index: Writer,
    data: Writer,
    /// The first slot of the next element.
    pub slot: u64,
    offset: u64,
    cell: Vec<u8>,
    /// Features that exist but have no bytes, as in [`Features`].
    bare: Writer,
}

/// Writes the features of nodes.
pub(super) struct NodeFeatures {
    slots: Writer,
    features: FeatureWriter,
    nodes: u64,
}

/// The bytes of a column's cells.
pub(super) enum Cells {
    /// Values of equal width: bytes, first value, width.
    Fixed(Buffer, usize, usize),
    /// Lists of such values, none of which is null: ends, bytes, first value, width, values.
    Lists(Vec<i64>, Buffer, usize, usize, ArrayRef),
    /// Booleans.
    Truth(ArrayRef),
    /// Texts or bytes.
    Text(ArrayRef),
    /// Points and values: coordinates of the points of each row, coordinates of each point, numbers; values of each row.
    Sparse { points: ListArray, values: Box<Cells> },
    /// Values without such a form, as JSON text.
    Json(ArrayRef),
}

impl Cells {
    /// Returns the cells of `column`.
    pub fn of(column: &ArrayRef) -> Cells {
        let fixed = |column: &ArrayRef| {
            let width = column.data_type().primitive_width()?;
            let data = column.to_data();
            Some((data.buffers().first()?.clone(), data.offset(), width))
        };
        let lists = |ends: Vec<i64>, values: &ArrayRef| {
            // Booleans can always be cast to numbers.
            // A list of booleans can always be cast to numbers; if not, it would be JSON.
            let bits = || cast(values, &DataType::UInt8).ok();
            let values = if *values.data_type() == DataType::Boolean { bits() } else { Some(Arc::clone(values)) };
            let parts = values.and_then(|values| Some((fixed(&values)?, values)));
            match parts {
                Some(((bytes, first, width), values)) => Cells::Lists(ends, bytes, first, width, values),
                None => Cells::Json(Arc::clone(column)),
            }
        };
        match column.data_type() {
            other if is_json(other) => Cells::Json(Arc::clone(column)),
            DataType::Boolean => Cells::Truth(Arc::clone(column)),
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::FixedSizeBinary(_) => Cells::Text(Arc::clone(column)),
            DataType::List(_) => {
                let list = column.as_list::<i32>();
                lists(list.value_offsets().iter().map(|end| i64::from(*end)).collect(), list.values())
            }
            DataType::LargeList(_) => {
                let list = column.as_list::<i64>();
                lists(list.value_offsets().to_vec(), list.values())
            }
            DataType::FixedSizeList(_, size) => {
                let size = i64::from(*size);
                lists((0..).map(|at| at * size).take(column.len() + 1).collect(), column.as_fixed_size_list().values())
            }
            DataType::Struct(_) => sparse(column).unwrap_or_else(|| Cells::Json(Arc::clone(column))),
            _ => match fixed(column) {
                Some((bytes, first, width)) => Cells::Fixed(bytes, first, width),
                None => Cells::Json(Arc::clone(column)),
            },
        }
    }

    /// Appends the bytes of a row. For a list with nulls, appends nothing and returns that it is one: no number represents null.
    pub fn append(&self, row: usize, out: &mut Vec<u8>) -> Stated {
        let bytes: &[u8] = match self {
            Cells::Fixed(bytes, first, width) => {
                bytes.get((first + row) * width..(first + row + 1) * width).unwrap_or_default()
            }
            Cells::Lists(ends, bytes, first, width, values) => {
                let (from, to) = (ends[row].as_usize(), ends[row + 1].as_usize());
                if values.nulls().is_some_and(|nulls| (from..to).any(|item| nulls.is_null(item))) {
                    return Stated::WithNulls;
                }
                bytes.get((first + from) * width..(first + to) * width).unwrap_or_default()
            }
            Cells::Truth(column) => match column.as_boolean().value(row) {
                true => &[1],
                false => &[0],
            },
            Cells::Text(column) => match column.data_type() {
                DataType::Utf8 => column.as_string::<i32>().value(row).as_bytes(),
                DataType::LargeUtf8 => column.as_string::<i64>().value(row).as_bytes(),
                DataType::Binary => column.as_binary::<i32>().value(row),
                DataType::FixedSizeBinary(_) => column.as_fixed_size_binary().value(row),
                _ => column.as_binary::<i64>().value(row),
            },
            Cells::Sparse { points, values } => {
                let points = points.value(row);
                let coordinates = points.as_list::<i32>();
                let width = if coordinates.is_empty() { 0 } else { coordinates.value_length(0).cast_unsigned() };
                let (from, to) = (coordinates.value_offsets()[0], coordinates.value_offsets()[coordinates.len()]);
                let numbers = coordinates.values().as_primitive::<Int64Type>();
                let numbers = numbers.values().get(from.as_usize()..to.as_usize()).unwrap_or_default();
                if numbers.is_empty() {
                    // The engine has no encoding for a tensor without points.
                    return Stated::Yes;
                }
                let start = out.len();
                // Arrow counts them with 31 bits.
                #[expect(clippy::cast_possible_truncation, reason = "offsets of 32 bits count them")]
                out.extend_from_slice(&(numbers.len() as u32).to_le_bytes());
                out.extend_from_slice(&width.to_le_bytes());
                numbers.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
                let stated = values.append(row, out);
                if stated != Stated::Yes {
                    out.truncate(start);
                }
                return stated;
            }
            Cells::Json(column) => {
                let mut text = String::new();
                push(column, row, &mut text);
                out.extend_from_slice(text.as_bytes());
                return Stated::Yes;
            }
        };
        out.extend_from_slice(bytes);
        Stated::Yes
    }
}

/// Returns the cells of a sparse tensor, if the column is one.
fn sparse(column: &ArrayRef) -> Option<Cells> {
    let fields = column.as_struct_opt()?;
    let points = fields.column_by_name("coordinates")?.as_list_opt::<i32>()?;
    points.values().as_list_opt::<i32>()?.values().as_primitive_opt::<Int64Type>()?;
    let values = Cells::of(fields.column_by_name("values")?);
    matches!(values, Cells::Lists(..)).then(|| Cells::Sparse { points: points.clone(), values: Box::new(values) })
}

/// The columns of a batch that are features: columns and cells for each number.
pub(super) struct Columns<'a>(Vec<Vec<(&'a ArrayRef, Cells)>>);

/// Returns the columns of the properties that are features.
pub(super) fn columns<'a>(properties: &'a [Option<ArrayRef>], features: &[Vec<usize>]) -> Columns<'a> {
    let column = |at: &usize| properties.get(*at)?.as_ref().map(|column| (column, Cells::of(column)));
    Columns(features.iter().map(|places| places.iter().filter_map(column).collect()).collect())
}

impl Columns<'_> {
    /// Returns the cells of a row by number, up to its last feature.
    pub fn row(&self, row: usize) -> impl Iterator<Item = Option<&Cells>> {
        let there = move |columns: &Vec<(&ArrayRef, Cells)>| columns.iter().any(|(column, _)| column.is_valid(row));
        let count = self.0.iter().rposition(there).map_or(0, |last| last + 1);
        self.0
            .iter()
            .take(count)
            .map(move |columns| columns.iter().find(|(column, _)| column.is_valid(row)).map(|(_, cells)| cells))
    }
}

impl FeatureWriter {
    pub fn new(options: &GraphOptions) -> Result<Self> {
        Ok(FeatureWriter {
            index: Writer::new(options)?,
            data: Writer::new(options)?,
            slot: 0,
            offset: 0,
            cell: Vec::new(),
            bare: Writer::new(options)?,
        })
    }

    /// Adds the features of the next element; null becomes a hole.
    pub fn row(&mut self, columns: &Columns<'_>, row: usize) -> Result<()> {
        let mut bytes = std::mem::take(&mut self.cell);
        for cells in columns.row(row) {
            bytes.clear();
            let stated = cells.map_or(Stated::No, |cells| cells.append(row, &mut bytes));
            self.bytes(stated, &bytes)?;
        }
        self.cell = bytes;
        Ok(())
    }

    /// Adds a feature from its bytes.
    pub fn bytes(&mut self, stated: Stated, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() && stated != Stated::No {
            let with_nulls = u64::from(stated == Stated::WithNulls);
            self.bare.put(&(self.slot << 1 | with_nulls).to_le_bytes())?;
        }
        self.index.put(&self.offset.to_le_bytes())?;
        self.data.put(bytes)?;
        self.offset += bytes.len() as u64;
        self.slot += 1;
        Ok(())
    }

    pub fn finish(mut self) -> Result<Features> {
        self.index.put(&self.offset.to_le_bytes())?;
        let bare = self.bare.column("features")?;
        Ok(Features::of(self.index.column("features")?, self.data.column("features")?, bare))
    }
}

impl NodeFeatures {
    pub fn new(options: &GraphOptions) -> Result<Self> {
        Ok(NodeFeatures { slots: Writer::new(options)?, features: FeatureWriter::new(options)?, nodes: 0 })
    }

    /// Adds the properties of the next nodes.
    pub fn push(&mut self, properties: &[Option<ArrayRef>], rows: usize, features: &[Vec<usize>]) -> Result<()> {
        let columns = columns(properties, features);
        for row in 0..rows {
            self.slots.put(&self.features.slot.to_le_bytes())?;
            self.features.row(&columns, row)?;
        }
        self.nodes += rows as u64;
        Ok(())
    }

    /// Returns the offset of the features of each of `entries` nodes, and the features. Entries after the nodes have none.
    pub fn finish(mut self, entries: u64) -> Result<(Column, Features)> {
        for _ in self.nodes..=entries {
            self.slots.put(&self.features.slot.to_le_bytes())?;
        }
        Ok((self.slots.column("slots")?, self.features.finish()?))
    }
}
