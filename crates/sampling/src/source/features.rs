//! Properties of nodes as features: their bytes, as a binary of DeepGNN has them.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_buffer::Buffer;
use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::NodeBatch;

use super::Writer;
use crate::graph::GraphOptions;
use crate::partition::{Column, Features};

/// Writes features in the order of nodes.
pub(super) struct FeatureWriter {
    slots: Writer,
    index: Writer,
    data: Writer,
    slot: u64,
    nodes: u64,
    offset: u64,
}

/// Where the bytes of the cells of a column are.
enum Cells {
    /// Values of equal width: bytes, first value, width.
    Fixed(Buffer, usize, usize),
    /// Lists of such values.
    Lists(Vec<i64>, Buffer, usize, usize),
    /// Truth values.
    Truth(ArrayRef),
    /// Texts and bytes.
    Text(ArrayRef),
    /// What has no such form.
    None,
}

impl Cells {
    fn of(column: &ArrayRef) -> Cells {
        let fixed = |column: &ArrayRef| {
            let width = column.data_type().primitive_width()?;
            let data = column.to_data();
            Some((data.buffers().first()?.clone(), data.offset(), width))
        };
        let lists = |ends: Vec<i64>, values: &ArrayRef| match fixed(values) {
            Some((bytes, first, width)) => Cells::Lists(ends, bytes, first, width),
            None => Cells::None,
        };
        match column.data_type() {
            DataType::Boolean => Cells::Truth(Arc::clone(column)),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
                Cells::Text(Arc::clone(column))
            }
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
                lists((0..=column.len() as i64).map(|at| at * size).collect(), column.as_fixed_size_list().values())
            }
            _ => fixed(column).map_or(Cells::None, |(bytes, first, width)| Cells::Fixed(bytes, first, width)),
        }
    }

    fn put(&self, row: usize, out: &mut Writer) -> Result<u64> {
        let bytes: &[u8] = match self {
            Cells::Fixed(bytes, first, width) => {
                bytes.get((first + row) * width..(first + row + 1) * width).unwrap_or_default()
            }
            Cells::Lists(ends, bytes, first, width) => {
                let (from, to) = (ends[row] as usize, ends[row + 1] as usize);
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
                _ => column.as_binary::<i64>().value(row),
            },
            Cells::None => &[],
        };
        out.put(bytes)?;
        Ok(bytes.len() as u64)
    }
}

impl FeatureWriter {
    pub fn new(options: &GraphOptions) -> Result<Self> {
        let (slots, index, data) = (Writer::new(options)?, Writer::new(options)?, Writer::new(options)?);
        Ok(FeatureWriter { slots, index, data, slot: 0, nodes: 0, offset: 0 })
    }

    /// Features that nothing has.
    pub fn none(options: &GraphOptions, name: &str) -> Result<Features> {
        let mut index = Writer::new(options)?;
        index.put(&0u64.to_le_bytes())?;
        Ok(Features::of(index.column(name)?, Writer::new(options)?.column(name)?))
    }

    /// Adds the properties of the next nodes; null is a hole.
    pub fn push(&mut self, batch: &NodeBatch, features: &[Option<usize>]) -> Result<()> {
        let column = |at: Option<usize>| batch.properties.get(at?)?.as_ref();
        let cells: Vec<Option<(&ArrayRef, Cells)>> =
            features.iter().map(|at| column(*at).map(|column| (column, Cells::of(column)))).collect();
        for row in 0..batch.rows {
            self.slots.put(&self.slot.to_le_bytes())?;
            for cell in &cells {
                self.index.put(&self.offset.to_le_bytes())?;
                if let Some((column, cells)) = cell
                    && column.is_valid(row)
                {
                    self.offset += cells.put(row, &mut self.data)?;
                }
            }
            self.slot += cells.len() as u64;
        }
        self.nodes += batch.rows as u64;
        Ok(())
    }

    /// Where the features of each of `entries` nodes begin, and the features. Entries behind the nodes have none.
    pub fn finish(mut self, entries: u64) -> Result<(Column, Features)> {
        for _ in self.nodes..=entries {
            self.slots.put(&self.slot.to_le_bytes())?;
        }
        self.index.put(&self.offset.to_le_bytes())?;
        Ok((self.slots.column("slots")?, Features::of(self.index.column("features")?, self.data.column("features")?)))
    }
}
