//! Encodes one column of a stripe.

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, GenericByteArray};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{DataType, TimeUnit};

use super::encode::{BitWriter, ByteWriter, IntWriter};
use super::tail::Type;
use super::times;

/// A row that cannot be written, and the reason.
pub(super) type Refused = (usize, &'static str);

/// `Stream.Kind`, the number of the type, and the bytes.
pub(super) type StreamBytes = (u64, usize, Vec<u8>);

/// `ColumnEncoding.Kind` of the format.
const DIRECT: u64 = 0;
const DIRECT_V2: u64 = 2;

/// Collects the streams of a column.
pub(super) struct ColumnWriter {
    number: usize,
    present: BitWriter,
    has_null: bool,
    values: Values,
}

enum Values {
    Bits(BitWriter),
    Bytes(ByteWriter),
    Ints(IntWriter),
    Floats(Vec<u8>),
    Text { lengths: IntWriter, data: Vec<u8> },
    Times { seconds: IntWriter, nanoseconds: IntWriter },
    List { lengths: IntWriter, items: Box<ColumnWriter> },
}

impl ColumnWriter {
    /// Creates a column of the stored type `data_type`, which has the number `number` in `types`.
    pub(super) fn new(number: usize, data_type: &DataType, types: &[Type]) -> Self {
        let values = match data_type {
            DataType::Boolean => Values::Bits(BitWriter::default()),
            DataType::Int8 => Values::Bytes(ByteWriter::default()),
            DataType::Float32 | DataType::Float64 => Values::Floats(Vec::new()),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Binary | DataType::LargeBinary => {
                Values::Text { lengths: IntWriter::new(false), data: Vec::new() }
            }
            DataType::Timestamp(_, _) => {
                Values::Times { seconds: IntWriter::new(true), nanoseconds: IntWriter::new(false) }
            }
            DataType::List(item) => {
                let inner = types.get(number).and_then(|own| own.inner.first()).copied().unwrap_or_default();
                let items = Box::new(ColumnWriter::new(inner, item.data_type(), types));
                Values::List { lengths: IntWriter::new(false), items }
            }
            _ => Values::Ints(IntWriter::new(true)),
        };
        ColumnWriter { number, present: BitWriter::default(), has_null: false, values }
    }

    /// Appends `rows` rows of `array`, starting from row `from`.
    pub(super) fn append(&mut self, array: &ArrayRef, from: usize, rows: usize) -> Result<(), Refused> {
        for row in from..from + rows {
            let is_null = array.is_null(row);
            self.present.push(!is_null);
            self.has_null |= is_null;
        }
        let valid = (from..from + rows).filter(|row| array.is_valid(*row));
        match (&mut self.values, array.data_type()) {
            (Values::Bits(writer), _) => {
                let bits = array.as_boolean().values();
                valid.for_each(|row| writer.push(bits.value(row)));
            }
            (Values::Bytes(writer), _) => {
                let values = array.as_primitive::<Int8Type>().values();
                valid.for_each(|row| writer.push(values[row].cast_unsigned()));
            }
            (Values::Ints(writer), DataType::Int16) => ints::<Int16Type>(writer, array, valid),
            (Values::Ints(writer), DataType::Int32) => ints::<Int32Type>(writer, array, valid),
            (Values::Ints(writer), DataType::Date32) => ints::<Date32Type>(writer, array, valid),
            (Values::Ints(writer), _) => ints::<Int64Type>(writer, array, valid),
            (Values::Floats(out), DataType::Float32) => {
                let values = array.as_primitive::<Float32Type>().values();
                valid.for_each(|row| out.extend_from_slice(&values[row].to_le_bytes()));
            }
            (Values::Floats(out), _) => {
                let values = array.as_primitive::<Float64Type>().values();
                valid.for_each(|row| out.extend_from_slice(&values[row].to_le_bytes()));
            }
            (Values::Text { lengths, data }, DataType::Utf8) => text(lengths, data, array.as_string::<i32>(), valid),
            (Values::Text { lengths, data }, DataType::LargeUtf8) => {
                text(lengths, data, array.as_string::<i64>(), valid);
            }
            (Values::Text { lengths, data }, DataType::Binary) => text(lengths, data, array.as_binary::<i32>(), valid),
            (Values::Text { lengths, data }, _) => text(lengths, data, array.as_binary::<i64>(), valid),
            (Values::Times { seconds, nanoseconds }, DataType::Timestamp(unit, _)) => {
                let values = match unit {
                    TimeUnit::Second => array.as_primitive::<TimestampSecondType>().values(),
                    TimeUnit::Millisecond => array.as_primitive::<TimestampMillisecondType>().values(),
                    TimeUnit::Microsecond => array.as_primitive::<TimestampMicrosecondType>().values(),
                    TimeUnit::Nanosecond => array.as_primitive::<TimestampNanosecondType>().values(),
                };
                for row in valid {
                    let pair = times::encode(values[row], unit);
                    let pair = pair.ok_or((row, "ORC cannot store timestamps so far in the past"))?;
                    seconds.push(pair.0);
                    nanoseconds.push(pair.1);
                }
            }
            (Values::Times { .. }, _) => return Err((from, "expected timestamps")),
            (Values::List { lengths, items }, _) => {
                let list = array.as_list::<i32>();
                let offsets = list.value_offsets();
                // Values of neighbouring rows are adjacent, unless there is a null between them.
                let mut run = 0..0;
                for row in valid {
                    let (start, end) = (offsets[row].as_usize(), offsets[row + 1].as_usize());
                    lengths.push((end - start).cast_signed() as i64);
                    if run.end != start {
                        items.append(list.values(), run.start, run.len()).map_err(|(_, reason)| (row, reason))?;
                        run.start = start;
                    }
                    run.end = end;
                }
                items.append(list.values(), run.start, run.len()).map_err(|(_, reason)| (from, reason))?;
            }
        }
        Ok(())
    }

    /// Returns the approximate number of collected bytes.
    pub(super) fn bytes(&self) -> usize {
        self.present.len()
            + match &self.values {
                Values::Bits(writer) => writer.len(),
                Values::Bytes(writer) => writer.len(),
                Values::Ints(writer) => writer.len(),
                Values::Floats(out) => out.len(),
                Values::Text { lengths, data } => lengths.len() + data.len(),
                Values::Times { seconds, nanoseconds } => seconds.len() + nanoseconds.len(),
                Values::List { lengths, items } => lengths.len() + items.bytes(),
            }
    }

    /// Appends the encoding and the streams of the column, and resets it.
    pub(super) fn finish(&mut self, encodings: &mut Vec<u64>, streams: &mut Vec<StreamBytes>) {
        const PRESENT: u64 = 0;
        const DATA: u64 = 1;
        const LENGTH: u64 = 2;
        const SECONDARY: u64 = 5;
        let number = self.number;
        let present = self.present.take();
        if std::mem::take(&mut self.has_null) {
            streams.push((PRESENT, number, present));
        }
        match &mut self.values {
            Values::Bits(writer) => {
                encodings.push(DIRECT);
                streams.push((DATA, number, writer.take()));
            }
            Values::Bytes(writer) => {
                encodings.push(DIRECT);
                streams.push((DATA, number, writer.take()));
            }
            Values::Floats(out) => {
                encodings.push(DIRECT);
                streams.push((DATA, number, std::mem::take(out)));
            }
            Values::Ints(writer) => {
                encodings.push(DIRECT_V2);
                streams.push((DATA, number, writer.take()));
            }
            Values::Text { lengths, data } => {
                encodings.push(DIRECT_V2);
                streams.push((DATA, number, std::mem::take(data)));
                streams.push((LENGTH, number, lengths.take()));
            }
            Values::Times { seconds, nanoseconds } => {
                encodings.push(DIRECT_V2);
                streams.push((DATA, number, seconds.take()));
                streams.push((SECONDARY, number, nanoseconds.take()));
            }
            Values::List { lengths, items } => {
                encodings.push(DIRECT_V2);
                streams.push((LENGTH, number, lengths.take()));
                items.finish(encodings, streams);
            }
        }
    }
}

fn ints<T: ArrowPrimitiveType>(writer: &mut IntWriter, array: &ArrayRef, rows: impl Iterator<Item = usize>)
where
    T::Native: Into<i64>,
{
    let values = array.as_primitive::<T>().values();
    rows.for_each(|row| writer.push(values[row].into()));
}

fn text<T: arrow_array::types::ByteArrayType>(
    lengths: &mut IntWriter,
    data: &mut Vec<u8>,
    array: &GenericByteArray<T>,
    rows: impl Iterator<Item = usize>,
) {
    for row in rows {
        let value: &[u8] = array.value(row).as_ref();
        lengths.push(value.len().cast_signed() as i64);
        data.extend_from_slice(value);
    }
}
