//! Features as columns of their types.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeListArray, Int64Array, ListArray, StringArray, StructArray, make_array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields};
use isomorph::formats::deepgnn::{DType, FeatureType};
use isomorph::sampling::{Dense, Edges, Sampler, Sparse, Strings};
use isomorph::{Error, Result};

use super::answer::Drawn;
use super::place::{Declared, Place};
use crate::args::sample::{Feature, FeaturesArgs};

/// Whose features are asked for.
enum Elements {
    Nodes(Vec<i64>),
    /// Sources, targets, types.
    Edges(Vec<i64>, Vec<i64>, Vec<i32>),
}

/// The features of nodes or of edges, a column for each.
pub(super) fn features(sampler: &Sampler, place: &Place, args: &FeaturesArgs) -> Result<Drawn> {
    let (elements, mut drawn) = match args.edges.is_empty() {
        true => {
            let nodes = place.ids(&args.nodes, &args.common)?;
            let mut drawn = Drawn::new("features", format!("of {} nodes", nodes.len()));
            drawn.keys("node", place, &nodes)?;
            (Elements::Nodes(nodes), drawn)
        }
        false => {
            let ends = |at: usize| -> Vec<String> { args.edges.iter().skip(at).step_by(3).cloned().collect() };
            let (sources, targets) = (place.ids(&ends(0), &args.common)?, place.targets(&ends(1), &args.common)?);
            let types = ends(2).iter().map(|name| place.edge_type(name)).collect::<Result<Vec<i32>>>()?;
            let mut drawn = Drawn::new("features", format!("of {} edges", sources.len()));
            drawn.keys("source", place, &sources)?;
            drawn.keys("target", place, &targets)?;
            drawn.column("type", place.edge_type_names(&types));
            (Elements::Edges(sources, targets, types), drawn)
        }
    };
    let of_edges = !args.edges.is_empty();
    for feature in &args.features {
        let id = place.feature(&feature.id, of_edges)?;
        let column = match feature.ty {
            Some(FeatureType::Dense(dtype)) => elements.dense(sampler, id, feature.count, dtype)?,
            Some(ty) => elements.whole(sampler, id, feature, Declared { ty, single: false, unit: None })?,
            None => elements.whole(sampler, id, feature, place.declared(&feature.id, of_edges)?)?,
        };
        drawn.column(&feature.id, column);
    }
    Ok(drawn)
}

impl Elements {
    fn len(&self) -> usize {
        match self {
            Elements::Nodes(nodes) => nodes.len(),
            Elements::Edges(sources, ..) => sources.len(),
        }
    }

    /// So many numbers of each; zeros where there are less.
    fn dense(&self, sampler: &Sampler, id: u32, count: usize, dtype: DType) -> Result<ArrayRef> {
        let width = count * dtype.size();
        let mut out = vec![0; self.len() * width];
        let wanted = [Dense { id, bytes: width }];
        match self {
            Elements::Nodes(nodes) => sampler.node_features(nodes, &wanted, None, &mut out)?,
            Elements::Edges(sources, targets, types) => {
                sampler.edge_features(Edges { sources, targets, types }, &wanted, None, &mut out)?;
            }
        }
        let numbers = numbers(out, dtype, None)?;
        if count == 1 {
            return Ok(numbers);
        }
        let item = Arc::new(Field::new_list_field(numbers.data_type().clone(), false));
        let count = i32::try_from(count).map_err(|_| Error::usage("these are too many numbers"))?;
        Ok(Arc::new(FixedSizeListArray::try_new(item, count, numbers, None).map_err(wrong)?))
    }

    /// All of the feature, as what it is.
    fn whole(&self, sampler: &Sampler, id: u32, feature: &Feature, what: Declared<'_>) -> Result<ArrayRef> {
        if let FeatureType::Sparse(dtype) = what.ty {
            return self.sparse(sampler, id, dtype);
        }
        let mut strings = Strings::default();
        match self {
            Elements::Nodes(nodes) => sampler.node_strings(nodes, &[id], None, &mut strings)?,
            Elements::Edges(sources, targets, types) => {
                sampler.edge_strings(Edges { sources, targets, types }, &[id], None, &mut strings)?;
            }
        }
        let mut at = 0;
        let cells = strings.lengths.iter().map(|length| {
            let cell = strings.bytes.get(at..at + *length as usize).unwrap_or_default();
            at += *length as usize;
            // An empty text and none are stored alike.
            Some(cell).filter(|cell| !cell.is_empty())
        });
        let cells: Vec<Option<&[u8]>> = cells.collect();
        let misfit =
            |what: &str| Error::malformed(format!("feature {} is no {what}", feature.id)).hint("raw shows its bytes");
        match what.ty {
            FeatureType::Dense(dtype) => {
                let size = dtype.size();
                let fits = |length: usize| length.is_multiple_of(size) && (!what.single || length == size);
                if !cells.iter().flatten().all(|cell| fits(cell.len())) {
                    return Err(misfit(&dtype.to_string()));
                }
                let there = NullBuffer::from_iter(cells.iter().map(Option::is_some));
                if what.single {
                    let bytes = cells.iter().flat_map(|cell| cell.map_or_else(|| vec![0; size], <[u8]>::to_vec));
                    return of_unit(numbers(bytes.collect(), dtype, Some(there))?, what.unit);
                }
                let lengths = OffsetBuffer::from_lengths(cells.iter().map(|cell| cell.map_or(0, <[u8]>::len) / size));
                let numbers = of_unit(numbers(strings.bytes, dtype, None)?, what.unit)?;
                list(lengths, numbers, Some(there))
            }
            FeatureType::Text => {
                let texts = cells.into_iter().map(|cell| cell.map(std::str::from_utf8).transpose());
                let texts: std::result::Result<Vec<Option<&str>>, _> = texts.collect();
                Ok(Arc::new(StringArray::from(texts.map_err(|_| misfit("text"))?)))
            }
            FeatureType::Raw | FeatureType::Timed(_) | FeatureType::Sparse(_) => Ok(Arc::new(BinaryArray::from(cells))),
        }
    }

    /// Points and values, as the model has them.
    fn sparse(&self, sampler: &Sampler, id: u32, dtype: DType) -> Result<ArrayRef> {
        let mut sparse = [Sparse::default()];
        match self {
            Elements::Nodes(nodes) => sampler.node_sparse(nodes, &[id], None, &mut sparse)?,
            Elements::Edges(sources, targets, types) => {
                sampler.edge_sparse(Edges { sources, targets, types }, &[id], None, &mut sparse)?;
            }
        }
        let [Sparse { indices, values, dimensions }] = sparse;
        let width = dimensions as usize;
        // Behind the row of its element each point has its coordinates.
        let points: Vec<&[i64]> = indices.chunks_exact(width + 1).filter(|point| point.len() > 1).collect();
        if values.len() != points.len() * dtype.size() {
            return Err(Error::malformed(format!("{} points have {} bytes of values", points.len(), values.len()))
                .hint("is the type of the values another one?"));
        }
        let mut lengths = vec![0; self.len()];
        for point in &points {
            if let Some(length) = point.first().and_then(|row| lengths.get_mut(usize::try_from(*row).ok()?)) {
                *length += 1;
            }
        }
        let there = NullBuffer::from_iter(lengths.iter().map(|length| *length > 0));
        let offsets = OffsetBuffer::from_lengths(lengths);
        let coordinates: Int64Array = points.iter().flat_map(|point| point[1..].iter().copied()).collect();
        let each = OffsetBuffer::from_repeated_length(width, points.len());
        let coordinates = list(offsets.clone(), list(each, Arc::new(coordinates), None)?, None)?;
        let values = list(offsets, numbers(values, dtype, None)?, None)?;
        let field = |name: &str, column: &ArrayRef| Field::new(name, column.data_type().clone(), true);
        let fields = Fields::from(vec![field("coordinates", &coordinates), field("values", &values)]);
        Ok(Arc::new(StructArray::try_new(fields, vec![coordinates, values], Some(there)).map_err(wrong)?))
    }
}

/// Bytes as numbers.
fn numbers(bytes: Vec<u8>, dtype: DType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let data = ArrayData::builder(dtype.arrow()).len(bytes.len() / dtype.size()).nulls(nulls);
    let data = data.add_buffer(Buffer::from(bytes)).align_buffers(true);
    Ok(make_array(data.build().map_err(wrong)?))
}

/// Numbers as what they stand for.
fn of_unit(numbers: ArrayRef, unit: Option<&DataType>) -> Result<ArrayRef> {
    let Some(unit) = unit else { return Ok(numbers) };
    let data = numbers.to_data().into_builder().data_type(unit.clone());
    Ok(make_array(data.build().map_err(wrong)?))
}

fn list(offsets: OffsetBuffer<i32>, items: ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let item = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    Ok(Arc::new(ListArray::try_new(item, offsets, items, nulls).map_err(wrong)?))
}

fn wrong(error: arrow_schema::ArrowError) -> Error {
    Error::usage("a column of features could not be made").caused_by(error)
}

/// Whether a column holds numbers, for where it stands in a table.
pub(super) fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric()
}
