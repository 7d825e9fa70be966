//! The columns that are sorted along with the edges.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, make_array};
use arrow_cast::{can_cast_types, cast};
use arrow_data::ArrayData;
use arrow_data::transform::MutableArrayData;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, SchemaRef};
use isomorph_error::{Error, Kind, Place, Result};

/// A slice that keeps more unrelated memory alive than this is copied, bytes.
const SHARED_ALLOWANCE: usize = 16 << 10;

/// The types of the payload: those of the caller, and those in which it is stored.
///
/// Stored columns are plain: no dictionaries, views or runs, whose parts several batches would share and whose sizes could
/// not be counted.
#[derive(Debug, Clone)]
pub(crate) struct Payload {
    given: SchemaRef,
    kept: Vec<FieldRef>,
}

impl Payload {
    /// # Errors
    /// [`Kind::Unsupported`] for a type that has no plain form.
    pub fn new(given: SchemaRef) -> Result<Self> {
        let kept = given.fields().iter().map(|field| plain_field(field)).collect::<Result<_>>()?;
        Ok(Payload { given, kept })
    }

    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.kept.len()
    }

    pub fn kept_type(&self, column: usize) -> &DataType {
        self.kept[column].data_type()
    }

    /// Converts the columns of a batch to their stored types.
    ///
    /// # Errors
    /// [`Kind::Usage`] if the batch does not have the columns of the schema.
    pub fn keep(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let given = self.given.fields();
        let same = batch.num_columns() == given.len()
            && batch.columns().iter().zip(given).all(|(column, field)| column.data_type() == field.data_type());
        if !same {
            return Err(Error::usage("the columns of the payload differ from the declared ones"));
        }
        let columns = batch.columns().iter().zip(&self.kept);
        columns.map(|(column, kept)| own(&to_type(column, kept.data_type())?)).collect()
    }

    /// Returns a batch with the caller's types.
    pub fn give_back(&self, columns: &[ArrayRef], rows: usize) -> Result<RecordBatch> {
        let columns = columns.iter().zip(self.given.fields());
        let columns = columns.map(|(column, field)| to_type(column, field.data_type())).collect::<Result<_>>()?;
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(self.given.clone(), columns, &options).map_err(arrow)
    }
}

/// Converts an error of Arrow. None is expected here, except for a batch whose text exceeds 2 GiB.
pub(crate) fn arrow(error: ArrowError) -> Error {
    let kind = match error {
        ArrowError::OffsetOverflowError(_) | ArrowError::MemoryError(_) => Kind::TooLarge,
        _ => Kind::Malformed,
    };
    Error::new(kind, error.to_string()).caused_by(error)
}

/// Returns the size of the rows of an array; of shared buffers, only the used part counts.
pub(crate) fn bytes_of(array: &dyn Array) -> Result<usize> {
    array.to_data().get_slice_memory_size().map_err(arrow)
}

fn to_type(column: &ArrayRef, target: &DataType) -> Result<ArrayRef> {
    if column.data_type() == target { Ok(column.clone()) } else { cast(column, target).map_err(arrow) }
}

/// Returns the array, copied if it is a small part of larger buffers, so that its real size is counted.
fn own(array: &ArrayRef) -> Result<ArrayRef> {
    let used = bytes_of(array)?;
    if array.get_buffer_memory_size() <= used + used / 4 + SHARED_ALLOWANCE {
        return Ok(array.clone());
    }
    let data: ArrayData = array.to_data();
    let mut copy = MutableArrayData::new(vec![&data], false, data.len());
    copy.try_extend(0, 0, data.len()).map_err(arrow)?;
    Ok(make_array(copy.freeze()))
}

fn plain_field(field: &Field) -> Result<FieldRef> {
    let given = field.data_type();
    let kept = plain(given);
    let both_ways =
        kept.as_ref().is_some_and(|kept| kept == given || (can_cast_types(given, kept) && can_cast_types(kept, given)));
    match kept {
        Some(kept) if both_ways => Ok(Arc::new(field.clone().with_data_type(kept))),
        _ => {
            let message = format!("sorting columns of type {given} is not supported");
            Err(Error::unsupported(message).at(Place::field(field.name().as_str())))
        }
    }
}

/// Returns the type with the same values but without shared parts. `None` for unions, and for dictionaries with such small
/// keys that one batch of the result, which mixes rows of all batches, may have too many values for them.
fn plain(given: &DataType) -> Option<DataType> {
    let inner = |field: &FieldRef| Some(Arc::new(field.as_ref().clone().with_data_type(plain(field.data_type())?)));
    Some(match given {
        DataType::Dictionary(keys, values) if keys.primitive_width()? >= size_of::<i32>() => plain(values)?,
        DataType::Dictionary(..) | DataType::Union(..) => return None,
        DataType::RunEndEncoded(_, values) => plain(values.data_type())?,
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        DataType::List(field) | DataType::ListView(field) => DataType::List(inner(field)?),
        DataType::LargeList(field) | DataType::LargeListView(field) => DataType::LargeList(inner(field)?),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(inner(field)?, *size),
        DataType::Map(field, sorted) => DataType::Map(inner(field)?, *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect::<Option<_>>()?),
        other => other.clone(),
    })
}
