//! Sorted edges as columns, and as a spilled block.

use arrow_array::{Array, ArrayRef};
use isomorph_error::Result;

use super::codec::{self, Input, put_ascending, put_length, put_numbers};
use super::columns::{column, put_column};
use super::payload::Payload;
use super::shape::used_bytes;

/// The size of a column in addition to its values, bytes.
const PER_COLUMN: usize = 256;

/// Some sorted edges.
#[derive(Default)]
pub(super) struct Rows {
    pub aligned: Vec<u64>,
    pub other: Vec<u64>,
    /// Sequence numbers; empty if they are not needed.
    pub sequence: Vec<u64>,
    pub payload: Vec<ArrayRef>,
}

impl Rows {
    pub fn with_capacity(rows: usize) -> Self {
        Rows { aligned: Vec::with_capacity(rows), other: Vec::with_capacity(rows), ..Rows::default() }
    }

    pub fn len(&self) -> usize {
        self.aligned.len()
    }

    /// Returns the size of these rows in memory after they are read back.
    ///
    /// # Errors
    /// Same as [`used_bytes`].
    pub fn bytes(&self) -> Result<usize> {
        let mut bytes = (2 * self.aligned.len() + self.sequence.len()) * size_of::<u64>();
        for column in &self.payload {
            bytes += used_bytes(&column.to_data())? + PER_COLUMN;
        }
        Ok(bytes)
    }

    /// Encodes the rows as a block.
    ///
    /// # Errors
    /// Same as [`put_column`].
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(self.bytes()? / 2);
        put_length(&mut out, self.len());
        put_ascending(&mut out, &self.aligned);
        put_numbers(&mut out, &self.other);
        out.push(u8::from(!self.sequence.is_empty()));
        if !self.sequence.is_empty() {
            put_numbers(&mut out, &self.sequence);
        }
        for column in &self.payload {
            put_column(&mut out, &column.to_data())?;
        }
        Ok(out)
    }

    /// Decodes a block.
    ///
    /// # Errors
    /// [`Kind::Malformed`](isomorph_error::Kind::Malformed) if the bytes were not written by [`Rows::encode`].
    pub fn decode(bytes: &[u8], payload: &Payload) -> Result<Rows> {
        let mut input = Input::new(bytes);
        let rows = input.length()?;
        let aligned = codec::ascending(&mut input, rows)?;
        let other = codec::numbers(&mut input, rows)?;
        let sequence = if input.byte()? == 0 { Vec::new() } else { codec::numbers(&mut input, rows)? };
        let payload =
            (0..payload.columns()).map(|at| column(&mut input, payload.kept_type(at))).collect::<Result<Vec<_>>>()?;
        if payload.iter().any(|column| column.len() != rows) {
            return Err(codec::damaged());
        }
        Ok(Rows { aligned, other, sequence, payload })
    }
}
