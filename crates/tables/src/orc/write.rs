//! Writes ORC files.
//!
//! It writes neither statistics nor row indexes, because readers read whole stripes, and no dictionaries for text, because
//! compression finds repetitions.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema, SchemaRef};
use isomorph_error::{Error, Place, Result};

use super::column_writer::ColumnWriter;
use super::proto::Message;
use super::schema::{declare_all, stored_type};
use super::stream::{Codec, Packer, Packing};
use super::tail::{Stripe, Type};
use crate::{Compression, WriteOptions, convert};

const MAGIC: &[u8] = b"ORC";
/// The decompressed size of a compression block, bytes.
const BLOCK: usize = 256 << 10;
/// A stripe ends when its streams have this many bytes.
const STRIPE_BYTES: usize = 64 << 20;
/// The writer code of a program to which the format assigns no number.
const UNKNOWN: u64 = u32::MAX as u64;

/// Writes one ORC file.
pub(crate) struct OrcWriter<W> {
    out: W,
    /// The offset of the next byte.
    at: u64,
    schema: SchemaRef,
    types: Vec<Type>,
    packer: Packer,
    packing: Packing,
    columns: Vec<ColumnWriter>,
    stripe_rows: u64,
    most_rows: u64,
    stripes: Vec<Stripe>,
}

impl<W: Write> OrcWriter<W> {
    /// # Errors
    /// [`isomorph_error::Kind::Unsupported`] for types and compressions that ORC lacks, before anything is written.
    pub(crate) fn create(mut out: W, schema: &Schema, options: &WriteOptions) -> Result<Self> {
        let stored = |field: &Arc<Field>| {
            let data_type = stored_type(field.data_type()).ok_or_else(|| {
                let message = format!("ORC has no type for column `{}` of type {}", field.name(), field.data_type());
                Error::unsupported(message).at(Place::field(field.name()))
            })?;
            Ok(Field::new(field.name(), data_type, field.is_nullable()))
        };
        let schema = Schema::new(schema.fields().iter().map(stored).collect::<Result<Vec<_>>>()?);
        let (codec, level) = match options.compression {
            Compression::None => (Codec::None, 0),
            Compression::Snappy => (Codec::Snappy, 0),
            Compression::Zstd(level) => (Codec::Zstd, level),
            Compression::Lz4 => (Codec::Lz4, 0),
            Compression::Gzip(_) => (Codec::Zlib, 0),
            Compression::Brotli(_) => return Err(Error::unsupported("Brotli compression is not supported in ORC")),
        };
        let types = declare_all(&schema);
        let columns = (types[0].inner.iter().zip(schema.fields()))
            .map(|(number, field)| ColumnWriter::new(*number, field.data_type(), &types))
            .collect();
        let packing = Packing { codec, block: BLOCK };
        let packer = Packer::new(packing, level)?;
        out.write_all(MAGIC)?;
        Ok(OrcWriter {
            out,
            at: MAGIC.len() as u64,
            schema: Arc::new(schema),
            types,
            packer,
            packing,
            columns,
            stripe_rows: 0,
            most_rows: options.row_group_rows.max(1) as u64,
            stripes: Vec::new(),
        })
    }

    pub(crate) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        let batch = convert::batch(batch.columns().to_vec(), &self.schema, batch.num_rows())?;
        let mut done = 0;
        while done < batch.num_rows() {
            // The size is checked every few thousand rows, so that a stripe is not much larger than intended.
            let room = usize::try_from(self.most_rows - self.stripe_rows).unwrap_or(usize::MAX);
            let rows = (batch.num_rows() - done).min(room).min(8192);
            for ((column, values), field) in self.columns.iter_mut().zip(batch.columns()).zip(self.schema.fields()) {
                column.append(values, done, rows).map_err(|(row, reason)| {
                    Error::unsupported(reason).at(Place::field(field.name()).row(row as u64))
                })?;
            }
            done += rows;
            self.stripe_rows += rows as u64;
            let bytes: usize = self.columns.iter().map(ColumnWriter::bytes).sum();
            if self.stripe_rows == self.most_rows || bytes >= STRIPE_BYTES {
                self.end_stripe()?;
            }
        }
        Ok(())
    }

    fn end_stripe(&mut self) -> Result<()> {
        let start = self.at;
        // The root has neither streams nor an encoding.
        let mut encodings = vec![0];
        let mut streams = Vec::new();
        for column in &mut self.columns {
            column.finish(&mut encodings, &mut streams);
        }
        let mut footer = Message::default();
        for (kind, number, bytes) in streams {
            let stored = self.packer.pack(bytes)?;
            let place = Message::default().int(1, kind).int(2, number as u64).int(3, stored.len() as u64);
            footer = footer.message(1, place);
            self.put(&stored)?;
        }
        for encoding in encodings {
            footer = footer.message(2, Message::default().int(1, encoding));
        }
        let footer = self.packer.pack(footer.bytes(3, b"UTC").finish())?;
        let streams = start..self.at;
        self.put(&footer)?;
        self.stripes.push(Stripe { streams: streams.clone(), footer: streams.end..self.at, rows: self.stripe_rows });
        self.stripe_rows = 0;
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<W> {
        if self.stripe_rows > 0 {
            self.end_stripe()?;
        }
        let footer = self.packer.pack(self.footer().finish())?;
        self.put(&footer)?;
        let postscript = Message::default()
            .int(1, footer.len() as u64)
            .int(2, self.packing.codec.kind())
            .int(3, self.packing.block as u64)
            .ints(4, [0, 12])
            .int(5, 0)
            .int(6, UNKNOWN)
            .bytes(8000, MAGIC)
            .finish();
        self.put(&postscript)?;
        let length = u8::try_from(postscript.len());
        self.put(&[length.map_err(|_| Error::malformed("the postscript has more than 255 bytes"))?])?;
        self.out.flush()?;
        Ok(self.out)
    }

    fn footer(&self) -> Message {
        let mut footer = Message::default().int(1, MAGIC.len() as u64).int(2, self.at);
        for stripe in &self.stripes {
            let message = Message::default()
                .int(1, stripe.streams.start)
                .int(2, 0)
                .int(3, stripe.streams.end - stripe.streams.start)
                .int(4, stripe.footer.end - stripe.footer.start)
                .int(5, stripe.rows);
            footer = footer.message(3, message);
        }
        for own in &self.types {
            let mut message = Message::default().int(1, own.kind).ints(2, own.inner.iter().map(|inner| *inner as u64));
            for name in &own.names {
                message = message.bytes(3, name.as_bytes());
            }
            footer = footer.message(4, message);
        }
        let rows = self.stripes.iter().map(|stripe| stripe.rows).sum();
        footer.int(6, rows).int(8, 0).int(9, UNKNOWN)
    }
}
