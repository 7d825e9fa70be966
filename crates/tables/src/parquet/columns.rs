//! The columns of a Parquet file as Arrow fields.
//!
//! Only the Parquet schema is used. The Arrow schema that some writers embed describes what the writing program had in
//! memory, and may be wrong: it is read only for types that Parquet lacks, and only on request.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef};
use isomorph_error::{Error, Kind, Place, Result};
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use parquet::arrow::{FieldLevels, ProjectionMask, parquet_to_arrow_field_levels, parquet_to_arrow_schema};
use parquet::basic::{ConvertedType, LogicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::FileMetaData;
use parquet::schema::types::{SchemaDescPtr, SchemaDescriptor, Type, TypePtr};

use super::embedded::with_embedded;
use crate::catch_panic::fenced;
use crate::convert;
use crate::rules::PARQUET_FOOTER;
use crate::{ReadOptions, TextType};

/// The columns of a file.
#[derive(Debug)]
pub(super) struct Columns {
    parquet: SchemaDescPtr,
    /// The types that the decoder produces.
    decoded: Fields,
    /// The types that batches have.
    pub schema: SchemaRef,
    /// For each column, its leaves in the Parquet schema.
    leaves: Vec<Range<usize>>,
}

/// The decoder's description of some columns.
pub(super) type Levels = FieldLevels;

impl Columns {
    /// Creates the columns of a file with this schema.
    ///
    /// # Errors
    /// [`Kind::Unsupported`] for types that Arrow lacks, and for declared types to which a column cannot be converted.
    pub(super) fn new(metadata: &FileMetaData, options: &ReadOptions) -> Result<Self> {
        let parquet = checked_text(&metadata.schema_descr_ptr())?;
        let native = fenced(&PARQUET_FOOTER, || {
            parquet_to_arrow_schema(&parquet, None)
                .map_err(|error| Error::unsupported(error.to_string()).caused_by(error))
        })?;
        let native = match options.embedded_types {
            true => with_embedded(native.fields(), &parquet, metadata),
            false => native.fields().clone(),
        };
        let declared = |field: &Field| options.schema.as_ref()?.field_with_name(field.name()).ok();
        let decoded: Fields = native
            .iter()
            .map(|field| match declared(field) {
                Some(declared) if is_words(field, declared) => {
                    Field::new(field.name(), declared.data_type().clone(), field.is_nullable())
                }
                _ if options.text == TextType::Utf8View && *field.data_type() == DataType::Utf8 => {
                    Field::new(field.name(), DataType::Utf8View, field.is_nullable())
                }
                _ => decoded_field(field, options.text),
            })
            .collect();
        let schema = convert::schema(&decoded, options.schema.as_deref())?;
        let mut leaves: Vec<Range<usize>> = vec![0..0; decoded.len()];
        for leaf in 0..parquet.num_columns() {
            let root = parquet.get_column_root_idx(leaf);
            let column =
                leaves.get_mut(root).ok_or_else(|| Error::broken(&PARQUET_FOOTER, "a leaf belongs to no column"))?;
            *column = if column.end == 0 { leaf..leaf + 1 } else { column.start..leaf + 1 };
        }
        Ok(Columns { parquet, decoded, schema: Arc::new(schema), leaves })
    }

    /// Returns the leaves of `column`.
    pub(super) fn leaves(&self, column: usize) -> Range<usize> {
        self.leaves.get(column).cloned().unwrap_or_default()
    }

    /// Returns the only leaf of a column without nested structure, which has one value or null per row.
    pub(super) fn flat_leaf(&self, column: usize) -> Option<usize> {
        let leaves = self.leaves(column);
        let is_flat = leaves.len() == 1
            && self.parquet.column(leaves.start).max_rep_level() == 0
            && self.parquet.column(leaves.start).path().parts().len() == 1;
        is_flat.then_some(leaves.start)
    }

    /// Returns the type that the decoder produces for `column`, before the conversion to its declared type.
    pub(super) fn decoded_type(&self, column: usize) -> &DataType {
        self.decoded.get(column).map_or(&DataType::Null, |field| field.data_type())
    }

    /// Returns the decoder's description of `columns`, in the order of the file.
    pub(super) fn levels(&self, columns: &[usize]) -> Result<Levels> {
        let mask = ProjectionMask::roots(&self.parquet, columns.iter().copied());
        fenced(&PARQUET_FOOTER, || {
            parquet_to_arrow_field_levels(&self.parquet, mask, Some(&self.decoded))
                .map_err(|error| Error::unsupported(error.to_string()).caused_by(error))
        })
    }
}

/// Declares text that Parquet annotates as JSON or as an enumeration to be a string, because the decoder checks only that
/// strings are UTF-8.
fn checked_text(parquet: &SchemaDescPtr) -> Result<SchemaDescPtr> {
    let unchecked = |leaf: usize| is_unchecked(&parquet.column(leaf).self_type_ptr());
    if !(0..parquet.num_columns()).any(unchecked) {
        return Ok(Arc::clone(parquet));
    }
    let invalid = |error: ParquetError| Error::broken(&PARQUET_FOOTER, error.to_string()).caused_by(error);
    let root = with_strings(&parquet.root_schema_ptr()).map_err(invalid)?;
    Ok(Arc::new(SchemaDescriptor::new(root)))
}

fn is_unchecked(leaf: &Type) -> bool {
    let info = leaf.get_basic_info();
    matches!(info.logical_type_ref(), Some(LogicalType::Json | LogicalType::Enum))
        || matches!(info.converted_type(), ConvertedType::JSON | ConvertedType::ENUM)
}

fn with_strings(node: &TypePtr) -> Result<TypePtr, ParquetError> {
    let info = node.get_basic_info();
    let id = info.has_id().then(|| info.id());
    match node.as_ref() {
        Type::PrimitiveType { physical_type, .. } if is_unchecked(node) => {
            let string = Type::primitive_type_builder(info.name(), *physical_type)
                .with_repetition(info.repetition())
                .with_logical_type(Some(LogicalType::String))
                .with_id(id)
                .build()?;
            Ok(Arc::new(string))
        }
        Type::PrimitiveType { .. } => Ok(Arc::clone(node)),
        Type::GroupType { fields, .. } => {
            let fields = fields.iter().map(with_strings).collect::<Result<_, _>>()?;
            let mut group = Type::group_type_builder(info.name())
                .with_converted_type(info.converted_type())
                .with_logical_type(info.logical_type_ref().cloned())
                .with_fields(fields)
                .with_id(id);
            if info.has_repetition() {
                group = group.with_repetition(info.repetition());
            }
            Ok(Arc::new(group.build()?))
        }
    }
}

/// Whether text is declared as a dictionary, which the decoder then takes from the pages instead of copying every
/// value.
fn is_words(field: &Field, declared: &Field) -> bool {
    let DataType::Dictionary(keys, values) = declared.data_type() else { return false };
    (keys.as_ref(), values.as_ref(), field.data_type()) == (&DataType::Int32, &DataType::Utf8, &DataType::Utf8)
}

/// Returns the field with the requested type of text, without metadata.
fn decoded_field(field: &Field, text: TextType) -> Field {
    Field::new(field.name(), decoded_type(field.data_type(), text), field.is_nullable())
}

fn decoded_type(data_type: &DataType, text: TextType) -> DataType {
    let inner = |field: &Arc<Field>| Arc::new(decoded_field(field, text));
    match data_type {
        DataType::Utf8 if text == TextType::LargeUtf8 => DataType::LargeUtf8,
        DataType::List(item) => DataType::List(inner(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(inner).collect()),
        DataType::Map(entries, sorted) => DataType::Map(inner(entries), *sorted),
        other => other.clone(),
    }
}

/// Returns the positions of the named columns in `schema`, in the given order; all columns if `names` is `None`.
///
/// # Errors
/// [`Kind::Usage`] for a name that does not exist, that occurs twice in the file, or that is requested twice.
pub(crate) fn positions(schema: &Schema, names: Option<&[String]>) -> Result<Vec<usize>> {
    let Some(names) = names else { return Ok((0..schema.fields().len()).collect()) };
    let mut positions = Vec::with_capacity(names.len());
    // Tables may have many thousands of columns: each name is looked up, not searched.
    let (mut places, mut taken) = (HashMap::new(), HashSet::new());
    for (position, field) in schema.fields().iter().enumerate() {
        places.entry(field.name().as_str()).or_insert((position, 0usize)).1 += 1;
    }
    for name in names {
        let Some((position, times)) = places.get(name.as_str()).copied() else {
            let there: Vec<&str> = schema.fields().iter().take(20).map(|field| field.name().as_str()).collect();
            let message = format!("column `{name}` does not exist; the columns are {}", there.join(", "));
            return Err(Error::usage(message).of_kind(Kind::NotFound).at(Place::field(name)));
        };
        if times > 1 {
            return Err(Error::malformed(format!("two columns are named `{name}`")).at(Place::field(name)));
        }
        if !taken.insert(position) {
            return Err(Error::usage(format!("column `{name}` is requested twice")).at(Place::field(name)));
        }
        positions.push(position);
    }
    Ok(positions)
}

/// A decoder of record batches.
pub(super) type Decoder = ParquetRecordBatchReader;
