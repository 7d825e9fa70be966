//! Writes Parquet files with small pages, statistics and a page index. The bytes do not depend on the machine or the time.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use isomorph_error::{Error, Place, Result};
use isomorph_storage::pool;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves};
use parquet::arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter};
use parquet::basic::{BrotliLevel, Compression as Codec, Encoding, GzipLevel, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefMutIterator, ParallelIterator};

use super::embedded::needs_embedding;
use crate::convert::{self, ELEMENT};
use crate::{ColumnEncoding, Compression, WriteOptions};

/// The number of values that are encoded before the size of the page is checked again.
const WRITE_BATCH: usize = 1024;
/// The name of the writer in files. It has no version, so that the same data produces the same bytes in every release that
/// does not change the layout.
pub(super) const CREATED_BY: &str = "isomorph";

/// The least rows whose columns are encoded concurrently.
const TOGETHER: usize = 4096;

/// Writes a Parquet file. Columns of a row group are encoded on all threads; the bytes are those that one thread would write.
pub(crate) struct ParquetWriter<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// The writers of the columns of the current row group, once it has rows.
    columns: Vec<ArrowColumnWriter>,
    /// The number of its rows, and of those that it may have.
    rows: usize,
    most_rows: usize,
}

impl<W: Write + Send> ParquetWriter<W> {
    /// # Errors
    /// [`isomorph_error::Kind::Unsupported`] for types that Parquet lacks, [`isomorph_error::Kind::Usage`] for options
    /// that do not match the schema.
    pub(crate) fn create(out: W, schema: &Schema, options: &WriteOptions) -> Result<Self> {
        let metadata = |field: &Field| if options.field_metadata { field.metadata().clone() } else { HashMap::new() };
        let fields = schema.fields().iter().map(|field| Ok(stored(field)?.with_metadata(metadata(field))));
        let fields = fields.collect::<Result<Fields>>()?;
        let stored = Arc::new(Schema::new(fields));
        let properties = properties(&stored, options)?;
        let writer_options = ArrowWriterOptions::new()
            .with_properties(properties)
            .with_skip_arrow_metadata(!embeds(&stored, options))
            .with_schema_root("schema".to_owned());
        let writer = ArrowWriter::try_new_with_options(out, Arc::clone(&stored), writer_options);
        let (writer, factory) = writer.and_then(ArrowWriter::into_serialized_writer).map_err(failed)?;
        let most_rows = options.row_group_rows.max(1);
        Ok(ParquetWriter { writer, factory, schema: stored, columns: Vec::new(), rows: 0, most_rows })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let batch = convert::batch(batch.columns().to_vec(), &self.schema, batch.num_rows())?;
        let mut from = 0;
        while from < batch.num_rows() {
            let count = (self.most_rows - self.rows).min(batch.num_rows() - from);
            self.append(&batch.slice(from, count)).map_err(failed)?;
            from += count;
            if self.rows == self.most_rows {
                self.end_group().map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Adds rows to the current row group.
    fn append(&mut self, batch: &RecordBatch) -> std::result::Result<(), ParquetError> {
        if self.rows == 0 {
            self.columns = self.factory.create_column_writers(self.writer.flushed_row_groups().len())?;
        }
        let mut leaves = Vec::with_capacity(self.columns.len());
        for (field, column) in self.schema.fields().iter().zip(batch.columns()) {
            leaves.extend(compute_leaves(field, column)?);
        }
        let columns = &mut self.columns;
        if batch.num_rows() < TOGETHER || leaves.len() < 2 {
            columns.iter_mut().zip(&leaves).try_for_each(|(writer, leaf)| writer.write(leaf))?;
        } else {
            let encode = || columns.par_iter_mut().zip(&leaves).try_for_each(|(writer, leaf)| writer.write(leaf));
            pool::run(encode)?;
        }
        self.rows += batch.num_rows();
        Ok(())
    }

    /// Writes the current row group to the file.
    fn end_group(&mut self) -> std::result::Result<(), ParquetError> {
        let columns = std::mem::take(&mut self.columns);
        let mut group = self.writer.next_row_group()?;
        for column in columns {
            column.close()?.append_to_row_group(&mut group)?;
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<W> {
        if self.rows > 0 {
            self.end_group().map_err(failed)?;
        }
        self.writer.into_inner().map_err(failed)
    }
}

/// Whether to embed the Arrow schema: if Parquet alone cannot express the types or the metadata of columns, and the caller does not embed another.
fn embeds(stored: &Schema, options: &WriteOptions) -> bool {
    let is_given = options.footer_metadata.iter().any(|(key, _)| key == ARROW_SCHEMA_META_KEY);
    !is_given && (needs_embedding(stored.fields()) || stored.fields().iter().any(|field| !field.metadata().is_empty()))
}

/// Converts an error of the library's writer. It is always an error of writing, because other reasons were excluded before.
fn failed(error: ParquetError) -> Error {
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(error) => (*error).into(),
            Err(other) => Error::unsupported(other.to_string()).caused_by(other),
        },
        other => Error::unsupported(other.to_string()).caused_by(other),
    }
}

/// Returns the field as stored in Parquet.
fn stored(field: &Field) -> Result<Field> {
    let data_type = stored_type(field.data_type()).ok_or_else(|| {
        let message = format!("Parquet has no type for {}", field.data_type());
        Error::unsupported(message).at(Place::field(field.name()))
    })?;
    Ok(Field::new(field.name(), data_type, field.is_nullable()))
}

fn stored_type(data_type: &DataType) -> Option<DataType> {
    use DataType as T;
    let inner =
        |field: &Field| Some(Arc::new(Field::new(field.name(), stored_type(field.data_type())?, field.is_nullable())));
    Some(match data_type {
        T::List(item) => T::List(Arc::new(inner(item)?.as_ref().clone().with_name(ELEMENT))),
        T::Struct(fields) => T::Struct(fields.iter().map(|field| inner(field)).collect::<Option<_>>()?),
        T::Map(entries, sorted) => T::Map(inner(entries)?, *sorted),
        T::Dictionary(_, value) => stored_type(value)?,
        T::Utf8View => T::Utf8,
        T::BinaryView => T::Binary,
        T::Date64 => T::Date32,
        // Parquet has no unit of seconds.
        T::Timestamp(TimeUnit::Second, zone) => T::Timestamp(TimeUnit::Millisecond, zone.clone()),
        T::Null | T::Boolean | T::Float32 | T::Float64 | T::Utf8 | T::LargeUtf8 | T::Binary | T::LargeBinary => {
            data_type.clone()
        }
        T::Date32 | T::Timestamp(_, _) | T::Time32(_) | T::Time64(_) | T::Duration(_) => data_type.clone(),
        T::Float16 | T::FixedSizeBinary(_) | T::Decimal128(_, _) | T::Decimal256(_, _) => data_type.clone(),
        integer if integer.is_integer() => data_type.clone(),
        _ => return None,
    })
}

fn properties(schema: &Schema, options: &WriteOptions) -> Result<WriterProperties> {
    let invalid = |error: ParquetError| Error::usage(error.to_string()).caused_by(error);
    let codec = match options.compression {
        Compression::None => Codec::UNCOMPRESSED,
        Compression::Snappy => Codec::SNAPPY,
        Compression::Zstd(level) => Codec::ZSTD(ZstdLevel::try_new(level).map_err(invalid)?),
        Compression::Lz4 => Codec::LZ4_RAW,
        Compression::Gzip(level) => Codec::GZIP(GzipLevel::try_new(level).map_err(invalid)?),
        Compression::Brotli(level) => Codec::BROTLI(BrotliLevel::try_new(level).map_err(invalid)?),
    };
    let statistics = match (options.statistics, options.page_index) {
        (false, _) => EnabledStatistics::None,
        (true, false) => EnabledStatistics::Chunk,
        (true, true) => EnabledStatistics::Page,
    };
    let page_rows = options.page_rows.max(1);
    let metadata: Vec<KeyValue> =
        options.footer_metadata.iter().map(|(key, value)| KeyValue::new(key.clone(), value.clone())).collect();
    let mut builder = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_1_0)
        .set_created_by(CREATED_BY.to_owned())
        .set_compression(codec)
        .set_statistics_enabled(statistics)
        .set_offset_index_disabled(!options.page_index)
        .set_data_page_row_count_limit(page_rows)
        .set_write_batch_size(page_rows.min(WRITE_BATCH))
        .set_max_row_group_row_count(Some(options.row_group_rows.max(1)))
        .set_key_value_metadata((!metadata.is_empty()).then_some(metadata));
    for (name, encoding) in &options.encodings {
        let Some((_, field)) = schema.column_with_name(name) else {
            return Err(Error::usage(format!("column `{name}` does not exist")).at(Place::field(name)));
        };
        builder = encode(builder, field, *encoding)?;
    }
    Ok(builder.build())
}

fn encode(
    builder: WriterPropertiesBuilder,
    field: &Field,
    encoding: ColumnEncoding,
) -> Result<WriterPropertiesBuilder> {
    let data_type = field.data_type();
    let is_whole = data_type.is_integer() || matches!(data_type, DataType::Date32 | DataType::Timestamp(_, _));
    let (fits, encoding) = match encoding {
        ColumnEncoding::Dictionary => (!data_type.is_nested(), None),
        ColumnEncoding::Plain => (!data_type.is_nested(), Some(Encoding::PLAIN)),
        ColumnEncoding::Delta => (is_whole, Some(Encoding::DELTA_BINARY_PACKED)),
        ColumnEncoding::RunLength => (*data_type == DataType::Boolean, Some(Encoding::RLE)),
        ColumnEncoding::ByteStreamSplit => (data_type.is_floating(), Some(Encoding::BYTE_STREAM_SPLIT)),
    };
    if !fits {
        let message = format!("column `{}` of type {data_type} does not support this encoding", field.name());
        return Err(Error::usage(message).at(Place::field(field.name())));
    }
    let path = ColumnPath::from(field.name().as_str());
    Ok(match encoding {
        None => builder.set_column_dictionary_enabled(path, true),
        Some(encoding) => {
            builder.set_column_dictionary_enabled(path.clone(), false).set_column_encoding(path, encoding)
        }
    })
}
