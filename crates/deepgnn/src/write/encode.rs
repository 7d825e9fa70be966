//! Conversion of model batches to records, and of records to elements of blocks.
//!
//! A record is the weight (32 bits), then for each feature a byte with its type, its length (32 bits) and its bytes as
//! the binary stores them.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Int32Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, PrimitiveArray};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Kind as ErrorKind, Place, Result};
use isomorph_model::{Columns, EdgeBatch, Ends, NodeBatch, Property};
use std::sync::Arc;

use super::records::{End, Key, Records};
use super::shape::{Role, Shape, relation};
use crate::block::{Features, Kind};
use crate::feature::{FeatureType, SparseView};
use crate::number::f64_of_shortest;
use crate::rules;

/// Adds the nodes of a batch; `see` is called with the type and the record of each.
///
/// # Errors
/// Returns an error if a column has the wrong type, or a value cannot be stored.
pub(super) fn nodes(
    shape: &Shape,
    properties: &[Property],
    batch: &NodeBatch,
    records: &mut Records,
    see: &mut dyn FnMut(i32, &[u8]),
) -> Result<()> {
    let keys = batch.keys.as_ref().ok_or_else(|| Error::usage("nodes without keys"))?;
    let ids = ids(keys)?;
    let rows = Rows::of(&shape.nodes, properties, &batch.properties, batch.rows)?;
    for (row, id) in ids.values().iter().enumerate() {
        let ty = rows.types.as_ref().map_or(0, |types| types.value(row));
        if !(0..=i32::from(u16::MAX)).contains(&ty) {
            return Err(Error::broken(&rules::TYPE, format!("{ty} is not a valid type")).at(at(batch.start, row)));
        }
        let (created, removed) = rows.life(row);
        let key = Key { id: *id, rank: 0, created, removed, other: ty.unsigned_abs().into() };
        let record = |out: &mut Vec<u8>| rows.seen(row, ty, out, see);
        records.push(key, record).map_err(|error| error.at(at(batch.start, row)))?;
    }
    Ok(())
}

/// Adds the edges of a batch; `see` is called with the type and the record of each. Returns the latest time that one of
/// them states.
///
/// # Errors
/// Returns the errors of [`nodes`].
pub(super) fn edges(
    shape: &Shape,
    properties: &[Property],
    batch: &EdgeBatch,
    records: &mut Records,
    see: &mut dyn FnMut(i32, &[u8]),
) -> Result<Option<i64>> {
    let (sources, targets) = (ends(&batch.source)?, ends(&batch.target)?);
    let rows = Rows::of(&shape.edges, properties, &batch.properties, batch.rows)?;
    let types = match &batch.relations {
        // Names that no row uses need not be numbers.
        Some(relations) => relations.names.iter().map(|name| relation(name.unwrap_or_default()).ok()).collect(),
        None => Vec::new(),
    };
    for row in 0..batch.rows {
        let ty = match &batch.relations {
            None => shape.relation.unwrap_or_default(),
            Some(relations) => {
                let number = relations.index.value(row) as usize;
                let known = types.get(number).copied().flatten();
                known.map_or_else(|| relation(relations.names.value(number)), Ok)?
            }
        };
        let (created, removed) = rows.life(row);
        let (id, other) = (sources.value(row), targets.value(row));
        let key = Key { id, rank: ty.cast_unsigned() + 1, created, removed, other };
        records
            .push(key, |out| rows.seen(row, ty, out, see))
            .map_err(|error| error.at(Place::field(format!("edge from {id} to {other}"))))?;
    }
    let latest =
        |times: &Option<PrimitiveArray<Int64Type>>| times.as_ref().and_then(|times| times.iter().flatten().max());
    Ok(latest(&rows.created).max(latest(&rows.removed)))
}

fn at(start: u64, row: usize) -> Place {
    Place::file(crate::batches::NODE).row(start + row as u64)
}

/// Casts the column to this type; every value must stay equal.
fn cast(column: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if column.data_type() == to {
        return Ok(Arc::clone(column));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, to, &options).map_err(|error| Error::unsupported(error.to_string()))
}

fn ids(keys: &ArrayRef) -> Result<PrimitiveArray<UInt64Type>> {
    let keys = cast(keys, &DataType::UInt64).map_err(|error| Error::broken(&rules::ID, error.message().to_owned()))?;
    if keys.null_count() > 0 {
        return Err(Error::broken(&rules::ID, "an id is null"));
    }
    Ok(keys.as_primitive::<UInt64Type>().clone())
}

fn ends(ends: &Ends) -> Result<PrimitiveArray<UInt64Type>> {
    match ends {
        Ends::Keys(keys) => ids(keys),
        Ends::Rows(_) => Err(Error::usage("expected keys as ends, found rows")),
    }
}

/// The columns of a batch.
struct Rows {
    types: Option<PrimitiveArray<Int32Type>>,
    weights: Option<PrimitiveArray<Float32Type>>,
    created: Option<PrimitiveArray<Int64Type>>,
    removed: Option<PrimitiveArray<Int64Type>>,
    /// Sorted by feature id.
    features: Vec<(u32, Values)>,
}

impl Rows {
    fn of(roles: &[Role], properties: &[Property], columns: &Columns, count: usize) -> Result<Rows> {
        let mut rows = Rows { types: None, weights: None, created: None, removed: None, features: Vec::new() };
        for ((role, property), column) in roles.iter().zip(properties).zip(columns) {
            let named = |error: Error| error.at(Place::field(property.name.clone()));
            let Some(column) = column else {
                match role {
                    Role::Type | Role::Weight if count > 0 => return Err(named(missing())),
                    _ => continue,
                }
            };
            let stated = |column: &ArrayRef| if column.null_count() > 0 { Err(missing()) } else { Ok(()) };
            match role {
                Role::Type => {
                    let types = cast(column, &DataType::Int32).map_err(named)?;
                    stated(&types).map_err(named)?;
                    rows.types = Some(types.as_primitive::<Int32Type>().clone());
                }
                Role::Weight => {
                    let weights = cast(column, &DataType::Float32).map_err(named)?;
                    stated(&weights).map_err(named)?;
                    rows.weights = Some(weights.as_primitive::<Float32Type>().clone());
                }
                Role::Created => {
                    rows.created = Some(cast(column, &DataType::Int64).map_err(named)?.as_primitive().clone());
                }
                Role::Removed => {
                    rows.removed = Some(cast(column, &DataType::Int64).map_err(named)?.as_primitive().clone());
                }
                Role::LeftOut => {}
                Role::Feature(id, ty) => rows.features.push((*id, Values::of(*ty, column).map_err(named)?)),
            }
        }
        rows.features.sort_by_key(|(id, _)| *id);
        Ok(rows)
    }

    /// Returns the lifetime of an element, for sorting.
    fn life(&self, row: usize) -> (i64, End) {
        let time = |times: &Option<PrimitiveArray<Int64Type>>| {
            times.as_ref().filter(|times| times.is_valid(row)).map(|times| times.value(row))
        };
        (time(&self.created).unwrap_or(0), End::at(time(&self.removed).unwrap_or(-1)))
    }

    /// Appends the record of a row, and calls `see` with it.
    fn seen(&self, row: usize, ty: i32, out: &mut Vec<u8>, see: &mut dyn FnMut(i32, &[u8])) -> Result<()> {
        let start = out.len();
        self.record(row, out)?;
        see(ty, &out[start..]);
        Ok(())
    }

    /// Appends the record of a row.
    fn record(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let weight = self.weights.as_ref().map_or(1.0, |weights| weights.value(row));
        if !weight.is_finite() {
            return Err(Error::broken(&rules::WEIGHT, format!("{weight} is not a valid weight")));
        }
        out.extend_from_slice(&weight.to_le_bytes());
        let mut next = 0;
        for (id, values) in &self.features {
            if !values.is_there(row) {
                continue;
            }
            let named = |error: Error| error.at(Place::field(format!("feature {id}")));
            if *id < next {
                return Err(named(Error::broken(&rules::FEATURE_ID, "two values of one feature")));
            }
            for _ in next..*id {
                out.push(HOLE);
                out.extend_from_slice(&[0; 4]);
            }
            out.push(values.ty.tag());
            let start = out.len();
            out.extend_from_slice(&[0; 4]);
            values.append(row, out).map_err(named)?;
            let length = u32::try_from(out.len() - start - 4)
                .map_err(|_| named(Error::new(ErrorKind::TooLarge, "more than 4294967295 bytes")))?;
            if length == 0 {
                return Err(named(
                    Error::new(ErrorKind::WouldLose, "DeepGNN cannot store an empty value: it would be a hole")
                        .hint("--lossy    write it as null"),
                ));
            }
            out[start..start + 4].copy_from_slice(&length.to_le_bytes());
            next = id + 1;
        }
        Ok(())
    }
}

fn missing() -> Error {
    Error::broken(&rules::FIELD, "a value is missing: every element must have a type and a weight")
}

/// The values of one feature.
struct Values {
    ty: FeatureType,
    nulls: Option<NullBuffer>,
    store: Store,
}

enum Store {
    Bytes(OffsetBuffer<i32>, Buffer),
    Sparse {
        /// Offsets of the points of each row.
        points: OffsetBuffer<i32>,
        /// Offsets of the coordinates of each point.
        coordinates: OffsetBuffer<i32>,
        numbers: Buffer,
        values: (OffsetBuffer<i32>, Buffer),
    },
}

/// Returns the bytes of the numbers of an array, starting with the first.
fn numbers(array: &dyn Array, size: usize) -> Result<Buffer> {
    if array.null_count() > 0 {
        return Err(Error::malformed("a tensor contains a null"));
    }
    let data = array.to_data();
    let buffer = data.buffers().first().cloned().unwrap_or_default();
    Ok(buffer.slice_with_length(data.offset() * size, data.len() * size))
}

fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(item, true)))
}

/// Returns the offsets and the items of a list column.
fn list(column: &ArrayRef, item: DataType) -> Result<(OffsetBuffer<i32>, ArrayRef)> {
    let column = match column.data_type() {
        DataType::List(field) if *field.data_type() == item => Arc::clone(column),
        _ => cast(column, &list_of(item))?,
    };
    let list = column.as_list::<i32>();
    Ok((list.offsets().clone(), Arc::clone(list.values())))
}

impl Values {
    fn of(ty: FeatureType, column: &ArrayRef) -> Result<Values> {
        let nulls = column.logical_nulls();
        let store = match ty {
            FeatureType::Dense(dtype) => {
                let (offsets, items) = list(column, dtype.arrow())?;
                Store::Bytes(offsets, numbers(items.as_ref(), dtype.size())?)
            }
            FeatureType::Text => {
                let column = cast(column, &DataType::Utf8)?;
                let texts = column.as_string::<i32>();
                Store::Bytes(texts.offsets().clone(), texts.values().clone())
            }
            FeatureType::Timed(_) | FeatureType::Raw => {
                let column = cast(column, &DataType::Binary)?;
                let bytes = column.as_binary::<i32>();
                Store::Bytes(bytes.offsets().clone(), bytes.values().clone())
            }
            FeatureType::Sparse(dtype) => {
                let fields = column.as_struct_opt().ok_or_else(|| Error::usage("a sparse feature must be a struct"))?;
                let field = |name: &str| {
                    let child = fields.column_by_name(name);
                    child.ok_or_else(|| Error::usage(format!("a sparse feature has no {name}")))
                };
                let (points, each) = list(field("coordinates")?, list_of(DataType::Int64))?;
                let (coordinates, items) = list(&each, DataType::Int64)?;
                let (offsets, values) = list(field("values")?, dtype.arrow())?;
                Store::Sparse {
                    points,
                    coordinates,
                    numbers: numbers(items.as_ref(), 8)?,
                    values: (offsets, numbers(values.as_ref(), dtype.size())?),
                }
            }
        };
        Ok(Values { ty, nulls, store })
    }

    fn is_there(&self, row: usize) -> bool {
        self.nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))
    }

    /// Appends the bytes of a row, as the binary stores them.
    fn append(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        let range = |offsets: &OffsetBuffer<i32>, at: usize, size: usize| {
            offsets[at].as_usize() * size..offsets[at + 1].as_usize() * size
        };
        let size = match self.ty {
            FeatureType::Dense(dtype) | FeatureType::Sparse(dtype) => dtype.size(),
            FeatureType::Text | FeatureType::Timed(_) | FeatureType::Raw => 1,
        };
        match &self.store {
            Store::Bytes(offsets, bytes) => {
                out.extend_from_slice(bytes.get(range(offsets, row, size)).unwrap_or_default());
            }
            Store::Sparse { points, coordinates, numbers, values } => {
                let of_row = range(points, row, 1);
                let values = values.1.get(range(&values.0, row, size)).unwrap_or_default();
                let count = values.len() / size;
                let mut widths = of_row.clone().map(|point| range(coordinates, point, 1).len());
                let width = widths.next().unwrap_or_default();
                // One value may have a point for each of its coordinates, because the published converter stores a
                // flat list this way.
                let fits = of_row.len() == count || count == 1 && width == 1;
                if width == 0 || count == 0 || !fits || widths.any(|other| other != width) {
                    let message = format!("{} points of coordinates for {count} values", of_row.len());
                    return Err(Error::broken(&rules::COORDINATES, message));
                }
                let all = coordinates[of_row.start].as_usize() * 8..coordinates[of_row.end].as_usize() * 8;
                let wide = |number: usize| {
                    u32::try_from(number).map_err(|_| Error::new(ErrorKind::TooLarge, "more than 2^32 coordinates"))
                };
                out.extend_from_slice(&wide(all.len() / 8)?.to_le_bytes());
                out.extend_from_slice(&wide(width)?.to_le_bytes());
                out.extend_from_slice(numbers.get(all).unwrap_or_default());
                out.extend_from_slice(values);
            }
        }
        Ok(())
    }
}

/// Stands for a hole in place of a feature type.
const HOLE: u8 = 0;

fn kind_of(tag: u8, bytes: &[u8]) -> Kind {
    match FeatureType::of_tag(tag) {
        None => Kind::Hole,
        Some(FeatureType::Text) => Kind::Text,
        Some(FeatureType::Timed(timed)) => Kind::Temporal(timed),
        Some(FeatureType::Raw) => Kind::Raw,
        Some(FeatureType::Dense(dtype)) => Kind::Dense(dtype),
        Some(FeatureType::Sparse(dtype)) => {
            // Written by this program: a count of 32 bits.
            let width = SparseView::of(bytes).ok().and_then(|view| u32::try_from(view.width).ok());
            Kind::Sparse(dtype, width.unwrap_or_default())
        }
    }
}

/// Returns the weight of a record: the shortest decimal for its 32 bits, as in a text.
pub(super) fn weight(record: &[u8]) -> f64 {
    shortest(record.first_chunk().map_or(1.0, |bytes| f32::from_le_bytes(*bytes)))
}

/// Returns the shortest decimal for a 32-bit float.
pub(super) fn shortest(weight: f32) -> f64 {
    f64_of_shortest(weight)
}

/// Returns the features of a record: the type byte and the bytes of each.
fn slots(record: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    let mut rest = record.get(4..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (tag, behind) = rest.split_first()?;
        let (length, behind) = behind.split_first_chunk()?;
        let (bytes, behind) = behind.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        rest = behind;
        Some((*tag, bytes))
    })
}

/// Returns the kinds of the features of a record, and the lengths of their bytes.
pub(super) fn kinds(record: &[u8]) -> impl Iterator<Item = (Kind, usize)> {
    slots(record).map(|(tag, bytes)| (kind_of(tag, bytes), bytes.len()))
}

/// Appends the features of a record as those of one element.
pub(super) fn features(record: &[u8], out: &mut Features) {
    for (tag, bytes) in slots(record) {
        out.bytes.extend_from_slice(bytes);
        out.end_feature(kind_of(tag, bytes));
    }
    out.end_element();
}
