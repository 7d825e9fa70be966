//! Features in the model: types of columns, and the columns of a block.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::{ArrayRef, BinaryArray, StringArray, make_array};
use arrow_buffer::{MutableBuffer, NullBuffer, OffsetBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, Fields};
use isomorph_error::{Error, Kind as ErrorKind, Place, Result};
use isomorph_model::{Property, ValueKind};

use crate::block::{Depth, Features, Kind};
use crate::{DType, rules};

/// The type of the values of a feature, which the binary does not store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FeatureType {
    /// Numbers: a one-dimensional tensor.
    Dense(DType),
    /// Points and values: a sparse tensor.
    Sparse(DType),
    /// Text.
    Text,
    /// Values at times: bytes as the engine reads them.
    Timed(Timed),
    /// Bytes of unknown type.
    Raw,
}

/// The type of values at times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Timed {
    /// Numbers.
    Dense(DType),
    /// Points and values.
    Sparse(DType),
    /// Text.
    Text,
}

impl Timed {
    /// Returns the type of one value.
    pub(crate) fn value(self) -> FeatureType {
        match self {
            Timed::Dense(dtype) => FeatureType::Dense(dtype),
            Timed::Sparse(dtype) => FeatureType::Sparse(dtype),
            Timed::Text => FeatureType::Text,
        }
    }
}

const TEXT: u8 = 1;
const RAW: u8 = 2;
const DENSE: u8 = 0x40;
const SPARSE: u8 = 0x80;
const TIMED: u8 = 0xc0;
const TIMED_SPARSE: u8 = TIMED | 0x10;
const TIMED_TEXT: u8 = TIMED | 0x20;

/// Suffix of the type name of values at times.
const AT_TIMES: &str = "-at-times";

/// The number types that columns can have; the position stands for the type in a byte.
const DTYPES: [DType; 11] = [
    DType::Int8,
    DType::Int16,
    DType::Int32,
    DType::Int64,
    DType::UInt8,
    DType::UInt16,
    DType::UInt32,
    DType::UInt64,
    DType::Float16,
    DType::Float32,
    DType::Float64,
];

impl FeatureType {
    /// Returns the type of a column that contains features of this kind; `None` for a hole.
    pub(crate) fn of(kind: Kind) -> Option<FeatureType> {
        match kind {
            Kind::Hole => None,
            Kind::Dense(dtype) => Some(FeatureType::Dense(dtype).of_column()),
            Kind::Sparse(dtype, _) => Some(FeatureType::Sparse(dtype).of_column()),
            Kind::Text => Some(FeatureType::Text),
            Kind::Temporal(timed) => Some(FeatureType::Timed(timed).of_column()),
            Kind::Raw => Some(FeatureType::Raw),
        }
    }

    /// Returns a byte that stands for the type, never 0.
    pub(crate) fn tag(self) -> u8 {
        // Every type is among them.
        let number = |dtype: DType| (0..).zip(DTYPES).find(|(_, other)| *other == dtype).map_or(4, |(at, _)| at);
        match self {
            FeatureType::Text => TEXT,
            FeatureType::Raw => RAW,
            FeatureType::Dense(dtype) => DENSE | number(dtype),
            FeatureType::Sparse(dtype) => SPARSE | number(dtype),
            FeatureType::Timed(Timed::Dense(dtype)) => TIMED | number(dtype),
            FeatureType::Timed(Timed::Sparse(dtype)) => TIMED_SPARSE | number(dtype),
            FeatureType::Timed(Timed::Text) => TIMED_TEXT,
        }
    }

    /// Returns the type that a byte stands for.
    pub(crate) fn of_tag(tag: u8) -> Option<FeatureType> {
        let numbered = |bits: u8| DTYPES.get(usize::from(tag & bits)).copied();
        let dtype = || numbered(0x3f);
        match tag & 0xc0 {
            DENSE => dtype().map(FeatureType::Dense),
            SPARSE => dtype().map(FeatureType::Sparse),
            TIMED if tag == TIMED_TEXT => Some(FeatureType::Timed(Timed::Text)),
            TIMED if tag & 0xf0 == TIMED => numbered(0xf).map(|dtype| FeatureType::Timed(Timed::Dense(dtype))),
            TIMED if tag & 0xf0 == TIMED_SPARSE => numbered(0xf).map(|dtype| FeatureType::Timed(Timed::Sparse(dtype))),
            _ if tag == TEXT => Some(FeatureType::Text),
            _ if tag == RAW => Some(FeatureType::Raw),
            _ => None,
        }
    }

    /// Returns the type in columns: booleans are bytes.
    fn of_column(self) -> FeatureType {
        let number = |dtype| if dtype == DType::Bool { DType::UInt8 } else { dtype };
        match self {
            FeatureType::Dense(dtype) => FeatureType::Dense(number(dtype)),
            FeatureType::Sparse(dtype) => FeatureType::Sparse(number(dtype)),
            FeatureType::Timed(Timed::Dense(dtype)) => FeatureType::Timed(Timed::Dense(number(dtype))),
            FeatureType::Timed(Timed::Sparse(dtype)) => FeatureType::Timed(Timed::Sparse(number(dtype))),
            other => other,
        }
    }

    /// Returns the name of its column. For values at times, only the name states the type.
    fn name(self, id: u32, several: bool) -> String {
        if several || matches!(self, FeatureType::Timed(_)) { format!("{id}:{self}") } else { id.to_string() }
    }

    fn property(self, name: String, id: u32) -> Property {
        let item = |data_type| Arc::new(Field::new_list_field(data_type, true));
        let list = |data_type| DataType::List(item(data_type));
        let tensor = |sparse| ValueKind::Tensor { shape: Vec::new(), sparse };
        let property = match self {
            FeatureType::Dense(dtype) => Property::new(name, list(dtype.arrow())).of_kind(tensor(false)),
            FeatureType::Sparse(dtype) => {
                Property::new(name, DataType::Struct(sparse_fields(dtype))).of_kind(tensor(true))
            }
            FeatureType::Text => Property::new(name, DataType::Utf8),
            FeatureType::Timed(_) | FeatureType::Raw => Property::new(name, DataType::Binary).of_kind(ValueKind::Raw),
        };
        Property { feature: Some(id), ..property }
    }
}

/// Returns the fields for coordinates (a list for each point) and values.
fn sparse_fields(dtype: DType) -> Fields {
    let list = |data_type| DataType::List(Arc::new(Field::new_list_field(data_type, true)));
    Fields::from(vec![
        Field::new("coordinates", list(list(DataType::Int64)), true),
        Field::new("values", list(dtype.arrow()), true),
    ])
}

impl fmt::Display for FeatureType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FeatureType::Dense(dtype) => write!(f, "{dtype}"),
            FeatureType::Sparse(dtype) => write!(f, "sparse-{dtype}"),
            FeatureType::Text => f.write_str("text"),
            FeatureType::Timed(timed) => write!(f, "{}{AT_TIMES}", timed.value()),
            FeatureType::Raw => f.write_str("raw"),
        }
    }
}

/// Parses a number type with its numpy name, the same after `sparse-`, or `text`, each optionally followed by
/// `-at-times`; or `raw`.
impl FromStr for FeatureType {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let unknown = |name: &str| {
            let known = "float32, sparse-int64, text, float32-at-times, raw";
            Error::usage(format!("{name:?} is not a feature type")).hint(known)
        };
        let dtype = |name: &str| DType::of_name(name.as_bytes()).ok_or_else(|| unknown(name));
        if let Some(name) = text.strip_suffix(AT_TIMES) {
            return match name.parse()? {
                FeatureType::Dense(dtype) => Ok(FeatureType::Timed(Timed::Dense(dtype))),
                FeatureType::Sparse(dtype) => Ok(FeatureType::Timed(Timed::Sparse(dtype))),
                FeatureType::Text => Ok(FeatureType::Timed(Timed::Text)),
                FeatureType::Timed(_) | FeatureType::Raw => Err(unknown(text)),
            };
        }
        match text {
            "text" => Ok(FeatureType::Text),
            "raw" => Ok(FeatureType::Raw),
            _ => match text.strip_prefix("sparse-") {
                Some(name) => dtype(name).map(FeatureType::Sparse),
                None => dtype(text).map(FeatureType::Dense),
            },
        }
    }
}

/// The columns of the features of nodes or edges.
#[derive(Debug, Clone, Default)]
pub(crate) struct FeatureColumns {
    columns: Vec<(u32, FeatureType, String)>,
    /// All are bytes, even if a type is known.
    raw: bool,
}

impl FeatureColumns {
    /// Creates a column for each id and type. A feature whose rows have different types has several columns, with their
    /// types in their names.
    pub fn of(found: &BTreeSet<(u32, FeatureType)>) -> Self {
        let column = |(id, ty): &(u32, FeatureType)| {
            let types = found.range((*id, FeatureType::Dense(DType::Bool))..).take_while(|(other, _)| other == id);
            (*id, *ty, ty.name(*id, types.count() > 1))
        };
        FeatureColumns { columns: found.iter().map(column).collect(), raw: false }
    }

    /// Creates columns for the first `count` features. The type of a feature is the one declared last, or all that are
    /// declared for the id if it may have `several`; otherwise it is bytes.
    pub fn declared(count: u32, declared: &[(u32, FeatureType)], several: bool) -> Self {
        if several {
            let mut found: BTreeSet<_> = declared.iter().map(|(id, ty)| (*id, ty.of_column())).collect();
            found.retain(|(id, _)| *id < count);
            let known: BTreeSet<u32> = found.iter().map(|(id, _)| *id).collect();
            found.extend((0..count).filter(|id| !known.contains(id)).map(|id| (id, FeatureType::Raw)));
            return FeatureColumns::of(&found);
        }
        let ty = |id: u32| declared.iter().rev().find(|(of, _)| *of == id).map_or(FeatureType::Raw, |(_, ty)| *ty);
        let column = |id: u32| (id, ty(id).of_column(), ty(id).of_column().name(id, false));
        FeatureColumns { columns: (0..count).map(column).collect(), raw: false }
    }

    /// Returns the same columns with everything as bytes.
    pub fn bytes(self) -> Self {
        FeatureColumns { raw: true, ..self }
    }

    /// Returns the declared type of the feature `id`; the first one if it has several.
    pub fn type_of(&self, id: usize) -> FeatureType {
        // If each lower id has one column, this is its position.
        let at = match self.columns.get(id) {
            Some((own, _, _)) if *own as usize == id => id,
            _ => self.columns.partition_point(|(own, _, _)| (*own as usize) < id),
        };
        self.columns.get(at).filter(|(own, _, _)| *own as usize == id).map_or(FeatureType::Raw, |(_, ty, _)| *ty)
    }

    /// Returns whether an id has several columns.
    pub fn has_several(&self) -> bool {
        self.columns.windows(2).any(|pair| pair[0].0 == pair[1].0)
    }

    /// Returns their properties.
    pub fn properties(&self) -> impl Iterator<Item = Property> {
        self.columns.iter().map(|(id, ty, name)| ty.property(name.clone(), *id))
    }

    /// Returns the number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Returns the ids of columns, by their positions.
    pub fn ids(&self, positions: impl Iterator<Item = usize>) -> impl Iterator<Item = u32> {
        positions.filter_map(|at| self.columns.get(at).map(|(id, _, _)| *id))
    }

    /// Returns the columns of a range of elements; a column without values, or that `depth` does not want, is `None`.
    ///
    /// # Errors
    /// Returns an error if bytes do not match the type.
    pub fn columns(&self, features: &Features, elements: Range<usize>, depth: Depth) -> Result<Vec<Option<ArrayRef>>> {
        let column = |(id, ty, name): &(u32, FeatureType, String)| {
            if !depth.wants(*id as usize) {
                return Ok(None);
            }
            column(features, elements.clone(), *id as usize, *ty, self.raw)
                .map_err(|error| error.at(Place::field(format!("feature {name}"))))
        };
        self.columns.iter().map(column).collect()
    }
}

/// A builder of a list column.
struct Lists {
    offsets: Vec<i32>,
    bytes: MutableBuffer,
    size: usize,
}

impl Lists {
    fn new(size: usize) -> Self {
        Lists { offsets: vec![0], bytes: MutableBuffer::new(0), size }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.bytes.extend_from_slice(bytes);
        let end = i32::try_from(self.bytes.len() / self.size);
        self.offsets.push(end.map_err(|_| Error::new(ErrorKind::TooLarge, "more than 2147483647 values in a batch"))?);
        Ok(())
    }

    fn values(self, dtype: DType) -> Result<(ArrayRef, Vec<i32>)> {
        let len = self.bytes.len() / self.size;
        let data = ArrayData::builder(dtype.arrow()).len(len).add_buffer(self.bytes.into()).build();
        let data = data.map_err(|error| Error::malformed(error.to_string()))?;
        Ok((make_array(data), self.offsets))
    }
}

fn list(values: ArrayRef, offsets: Vec<i32>, nulls: Option<NullBuffer>) -> ArrayRef {
    let field = Arc::new(Field::new_list_field(values.data_type().clone(), true));
    Arc::new(arrow_array::ListArray::new(field, OffsetBuffer::new(offsets.into()), values, nulls))
}

fn column(
    features: &Features,
    elements: Range<usize>,
    id: usize,
    ty: FeatureType,
    raw: bool,
) -> Result<Option<ArrayRef>> {
    let value = |element: usize| {
        let slots = features.of(element);
        let slot = slots.start.checked_add(id).filter(|slot| *slot < slots.end)?;
        let is_of = raw || FeatureType::of(features.kinds[slot]) == Some(ty);
        Some(features.bytes_of(slot)).filter(|bytes| is_of && !bytes.is_empty())
    };
    let present: Vec<bool> = elements.clone().map(|element| value(element).is_some()).collect();
    if !present.contains(&true) {
        return Ok(None);
    }
    let nulls = present.contains(&false).then(|| NullBuffer::from(present));
    Ok(Some(match ty {
        FeatureType::Timed(_) | FeatureType::Raw => Arc::new(elements.map(value).collect::<BinaryArray>()),
        FeatureType::Text => {
            let text = |element| value(element).map(std::str::from_utf8).transpose();
            let texts = elements.map(text).collect::<std::result::Result<StringArray, _>>();
            Arc::new(texts.map_err(|_| Error::broken(&rules::BOUNDS, "a text is not valid UTF-8"))?)
        }
        FeatureType::Dense(dtype) => {
            let mut lists = Lists::new(dtype.size());
            for bytes in elements.map(|element| value(element).unwrap_or_default()) {
                if !bytes.len().is_multiple_of(dtype.size()) {
                    let message = format!("{} bytes are not numbers of type {dtype}", bytes.len());
                    return Err(Error::broken(&rules::BOUNDS, message));
                }
                lists.push(bytes)?;
            }
            let (values, offsets) = lists.values(dtype)?;
            list(values, offsets, nulls)
        }
        FeatureType::Sparse(dtype) => sparse(elements.map(|element| value(element).unwrap_or_default()), dtype, nulls)?,
    }))
}

/// Values at times, as they are stored: their number, times that do not descend, the start of each value and the end of
/// the last, the values, 8 zeros.
pub(crate) struct Times<'a> {
    pub count: usize,
    bytes: &'a [u8],
}

impl<'a> Times<'a> {
    /// Parses values that are stored exactly like this; returns `None` for other bytes.
    pub fn of(bytes: &'a [u8]) -> Option<Self> {
        let count = bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes) as usize).filter(|count| *count > 0)?;
        let begin = count.checked_mul(16)?.checked_add(12)?;
        let end = bytes.len().checked_sub(8).filter(|end| *end >= begin && bytes[*end..] == [0; 8])?;
        let times = Times { count, bytes };
        let ascend = (1..count).all(|at| times.word(4 + 8 * at - 8) <= times.word(4 + 8 * at));
        let offsets = (0..=count).map(|at| times.word(4 + 8 * (count + at))).collect::<Option<Vec<i64>>>()?;
        let bounds =
            offsets.first() == Some(&i64::try_from(begin).ok()?) && offsets.last() == Some(&i64::try_from(end).ok()?);
        (ascend && bounds && offsets.is_sorted()).then_some(times)
    }

    fn word(&self, at: usize) -> Option<i64> {
        self.bytes.get(at..)?.first_chunk().map(|bytes| i64::from_le_bytes(*bytes))
    }

    /// Returns the time of a value, and its bytes.
    pub fn get(&self, number: usize) -> Option<(i64, &'a [u8])> {
        let offset = |at: usize| usize::try_from(self.word(4 + 8 * (self.count + at))?).ok();
        Some((self.word(4 + 8 * number)?, self.bytes.get(offset(number)?..offset(number + 1)?)?))
    }
}

/// A sparse feature: coordinates, the number of coordinates of a point, values.
pub(crate) struct SparseView<'a> {
    pub coordinates: &'a [u8],
    pub width: usize,
    pub values: &'a [u8],
}

impl<'a> SparseView<'a> {
    /// Parses the two counts.
    ///
    /// # Errors
    /// Returns an error if there are fewer bytes than they require.
    pub fn of(bytes: &'a [u8]) -> Result<Self> {
        let wrong = || Error::broken(&rules::BOUNDS, format!("{} bytes are not a sparse feature", bytes.len()));
        let count = |at: usize| bytes.get(at..at + 4)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes) as usize);
        let (count, width) = count(0).zip(count(4)).ok_or_else(wrong)?;
        let end = count.checked_mul(8).and_then(|size| size.checked_add(8)).ok_or_else(wrong)?;
        let (coordinates, values) = (bytes.get(8..end).ok_or_else(wrong)?, &bytes[end..]);
        if width == 0 || !count.is_multiple_of(width) {
            return Err(wrong());
        }
        Ok(SparseView { coordinates, width, values })
    }
}

fn sparse<'a>(all: impl Iterator<Item = &'a [u8]>, dtype: DType, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
    let (mut coordinates, mut values) = (Lists::new(8), Lists::new(dtype.size()));
    // Number of points of each element.
    let mut points = vec![0i32];
    for bytes in all {
        if bytes.is_empty() {
            values.push(&[])?;
        } else {
            let view = SparseView::of(bytes)?;
            if !view.values.len().is_multiple_of(dtype.size()) {
                return Err(Error::broken(&rules::BOUNDS, format!("values are not numbers of type {dtype}")));
            }
            for point in view.coordinates.chunks(view.width * 8) {
                coordinates.push(point)?;
            }
            values.push(view.values)?;
        }
        let count = i32::try_from(coordinates.offsets.len() - 1);
        points.push(count.map_err(|_| Error::unsupported("more than 2³¹ points in one batch"))?);
    }
    let (numbers, offsets) = coordinates.values(DType::Int64)?;
    let coordinates = list(list(numbers, offsets, None), points, None);
    let (numbers, offsets) = values.values(dtype)?;
    let columns = vec![coordinates, list(numbers, offsets, None)];
    Ok(Arc::new(arrow_array::StructArray::new(sparse_fields(dtype), columns, nulls)))
}
