//! Returns the values of a feature as a column of their type.

use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BinaryArray, FixedSizeListArray, Int64Array, ListArray, StringArray, StructArray, make_array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields};
use isomorph_deepgnn::{DType, FeatureType};

use isomorph_error::{Error, Result, index};

use super::declared::{Declared, Found};
use super::exact;
use crate::{Dense, Edges, Sampler, Sparse, Stated, Strings};

/// Bytes of a number that is asked for: as bytes, as it is converted, and in its column.
const OF_NUMBER: u64 = 32;

/// The elements whose features are requested.
pub(super) enum Elements {
    Nodes(Vec<i64>),
    /// Sources, targets, types.
    Edges(Vec<i64>, Vec<i64>, Vec<i32>),
}

impl Elements {
    /// Returns whether they are edges.
    pub fn are_edges(&self) -> bool {
        matches!(self, Elements::Edges(..))
    }

    fn len(&self) -> usize {
        match self {
            Elements::Nodes(nodes) => nodes.len(),
            Elements::Edges(sources, ..) => sources.len(),
        }
    }

    /// Returns a feature as a column, null where it is missing. A feature whose type the graph states is converted to
    /// another type if the values stay equal; bytes are read as the requested type.
    ///
    /// # Errors
    /// Returns an error if values do not have the requested type, or a list has nulls.
    pub fn column(&self, sampler: &Sampler, feature: &Found<'_>) -> Result<ArrayRef> {
        let stated = match self {
            Elements::Nodes(nodes) => sampler.node_stated(nodes, feature.id)?,
            Elements::Edges(sources, targets, types) => {
                sampler.edge_stated(Edges { sources, targets, types }, feature.id)?
            }
        };
        if stated.contains(&Stated::WithNulls) && !matches!(feature.wanted, Some((FeatureType::Raw, _))) {
            let message = format!("a list of numbers in {} contains a null", feature.name);
            return Err(Error::unsupported(message).hint("isomorph dump PATH    show the values"));
        }
        let there = NullBuffer::from_iter(stated.iter().map(|stated| *stated == Stated::Yes));
        let Some((wanted, count)) = feature.wanted else { return self.whole(sampler, feature, feature.what, there) };
        let refused = || {
            let message = format!("{} is {}, not {wanted}", feature.name, feature.what.ty);
            Error::usage(message).hint(format!("--features {}    in its own type", feature.name))
        };
        // Shorter lists are filled, so the number is not bounded by the graph.
        let numbers = (self.len() as u64).saturating_mul(count.unwrap_or(0) as u64);
        let room = sampler.graph().budget().reserve(numbers.saturating_mul(OF_NUMBER));
        let _memory = room.map_err(|error| error.hint("ask for fewer numbers"))?;
        match (feature.what.ty, wanted, count) {
            (FeatureType::Raw, FeatureType::Dense(dtype), Some(count)) => {
                self.dense(sampler, feature.id, count, dtype, there)
            }
            (FeatureType::Raw, ..) | (_, FeatureType::Raw, _) => {
                self.whole(sampler, feature, Declared::of(wanted), there)
            }
            (FeatureType::Dense(_), FeatureType::Dense(dtype), _) => {
                let numbers = self.whole(sampler, feature, Declared { unit: None, ..feature.what }, there)?;
                exact::as_numbers(&numbers, dtype, count, &feature.name)
            }
            (own, wanted, _) if own == wanted => self.whole(sampler, feature, feature.what, there),
            _ => Err(refused()),
        }
    }

    /// Returns the first `count` numbers of each element, filled with zeros.
    fn dense(&self, sampler: &Sampler, id: u32, count: usize, dtype: DType, there: NullBuffer) -> Result<ArrayRef> {
        let width = count * dtype.size();
        let mut out = vec![0; self.len() * width];
        let wanted = [Dense { id, bytes: width }];
        match self {
            Elements::Nodes(nodes) => sampler.node_features(nodes, &wanted, None, &mut out)?,
            Elements::Edges(sources, targets, types) => {
                sampler.edge_features(Edges { sources, targets, types }, &wanted, None, &mut out)?;
            }
        }
        if count == 1 {
            return numbers(out, dtype, Some(there));
        }
        lists_of(count, numbers(out, dtype, None)?, Some(there))
    }

    /// Returns the whole feature, in its own type.
    fn whole(&self, sampler: &Sampler, feature: &Found<'_>, what: Declared<'_>, there: NullBuffer) -> Result<ArrayRef> {
        if let FeatureType::Sparse(dtype) = what.ty {
            return self.sparse(sampler, feature.id, dtype, there);
        }
        let mut strings = Strings::default();
        match self {
            Elements::Nodes(nodes) => sampler.node_strings(nodes, &[feature.id], None, &mut strings)?,
            Elements::Edges(sources, targets, types) => {
                sampler.edge_strings(Edges { sources, targets, types }, &[feature.id], None, &mut strings)?;
            }
        }
        let mut at = 0;
        let cells = strings.lengths.iter().zip(&there).map(|(length, there)| {
            let cell = strings.bytes.get(at..at + index(*length)).unwrap_or_default();
            at += index(*length);
            Some(cell).filter(|_| there)
        });
        let cells: Vec<Option<&[u8]>> = cells.collect();
        let misfit = |what: &str| {
            Error::malformed(format!("feature {} is not {what}", feature.name)).hint("raw shows its bytes")
        };
        match what.ty {
            FeatureType::Dense(dtype) => {
                let size = dtype.size();
                let fits = |length: usize| length.is_multiple_of(size) && (!what.single || length == size);
                if !cells.iter().flatten().all(|cell| fits(cell.len())) {
                    return Err(misfit(&dtype.to_string()));
                }
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

    /// Returns points and values, as in the model.
    fn sparse(&self, sampler: &Sampler, id: u32, dtype: DType, there: NullBuffer) -> Result<ArrayRef> {
        let mut sparse = [Sparse::default()];
        match self {
            Elements::Nodes(nodes) => sampler.node_sparse(nodes, &[id], None, &mut sparse)?,
            Elements::Edges(sources, targets, types) => {
                sampler.edge_sparse(Edges { sources, targets, types }, &[id], None, &mut sparse)?;
            }
        }
        let [Sparse { indices, values, dimensions }] = sparse;
        let width = dimensions as usize;
        // Each point is the row of its element followed by its coordinates.
        let points: Vec<&[i64]> = indices.chunks_exact(width + 1).filter(|point| point.len() > 1).collect();
        if values.len() != points.len() * dtype.size() {
            return Err(Error::malformed(format!("{} points have {} bytes of values", points.len(), values.len()))
                .hint("request another type of values"));
        }
        let mut lengths = vec![0; self.len()];
        for point in &points {
            if let Some(length) = point.first().and_then(|row| lengths.get_mut(usize::try_from(*row).ok()?)) {
                *length += 1;
            }
        }
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

/// Converts bytes to numbers.
fn numbers(bytes: Vec<u8>, dtype: DType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let data = ArrayData::builder(dtype.arrow()).len(bytes.len() / dtype.size()).nulls(nulls);
    let data = data.add_buffer(Buffer::from(bytes)).align_buffers(true);
    Ok(make_array(data.build().map_err(wrong)?))
}

/// Converts numbers to dates or times.
fn of_unit(numbers: ArrayRef, unit: Option<&DataType>) -> Result<ArrayRef> {
    let Some(unit) = unit else { return Ok(numbers) };
    let data = numbers.to_data().into_builder().data_type(unit.clone());
    Ok(make_array(data.build().map_err(wrong)?))
}

/// Returns lists of `count` numbers each.
pub(super) fn lists_of(count: usize, numbers: ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let item = Arc::new(Field::new_list_field(numbers.data_type().clone(), numbers.is_nullable()));
    let count = i32::try_from(count).map_err(|_| Error::usage("too many numbers are requested"))?;
    Ok(Arc::new(FixedSizeListArray::try_new(item, count, numbers, nulls).map_err(wrong)?))
}

/// Returns lists of numbers between offsets.
pub(super) fn list(offsets: OffsetBuffer<i32>, items: ArrayRef, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let item = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    Ok(Arc::new(ListArray::try_new(item, offsets, items, nulls).map_err(wrong)?))
}

/// Returns the error for an invalid column.
pub(super) fn wrong(error: arrow_schema::ArrowError) -> Error {
    Error::usage("the column of a feature is invalid").caused_by(error)
}
