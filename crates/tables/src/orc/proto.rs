//! The parts of Protocol Buffers that ORC's structures use.
//!
//! Source: <https://protobuf.dev/programming-guides/encoding/>.

/// The reason why a structure cannot be read.
pub(super) type Reason = &'static str;

const TRUNCATED: Reason = "unexpected end of a structure";

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Int(u64),
    Bytes(&'a [u8]),
    /// A number of fixed width, which no structure that we need contains.
    Fixed,
}

impl<'a> Value<'a> {
    /// Returns the number, or 0 for a value of another kind.
    pub(super) fn int(self) -> u64 {
        match self {
            Value::Int(value) => value,
            _ => 0,
        }
    }

    /// Returns the number as 32 bits.
    pub(super) fn u32(self) -> Result<u32, Reason> {
        u32::try_from(self.int()).map_err(|_| "a number is too large")
    }

    /// Returns the bytes, which are empty for a value of another kind.
    pub(super) fn bytes(self) -> &'a [u8] {
        match self {
            Value::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// Returns the text.
    pub(super) fn text(self) -> Result<&'a str, Reason> {
        std::str::from_utf8(self.bytes()).map_err(|_| "text is not UTF-8")
    }

    /// Returns the numbers of a repeated field, packed or not.
    pub(super) fn ints(self) -> Result<Vec<u64>, Reason> {
        match self {
            Value::Bytes(mut bytes) => {
                let mut values = Vec::new();
                while !bytes.is_empty() {
                    values.push(varint(&mut bytes)?);
                }
                Ok(values)
            }
            other => Ok(vec![other.int()]),
        }
    }
}

/// The fields of a message, in the order in which they were written.
pub(super) struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn new(message: &'a [u8]) -> Self {
        Fields(message)
    }

    fn field(&mut self) -> Result<(u64, Value<'a>), Reason> {
        let head = varint(&mut self.0)?;
        let value = match head & 7 {
            0 => Value::Int(varint(&mut self.0)?),
            2 => {
                let length = usize::try_from(varint(&mut self.0)?).map_err(|_| TRUNCATED)?;
                Value::Bytes(self.take(length)?)
            }
            1 => self.take(8).map(|_| Value::Fixed)?,
            5 => self.take(4).map(|_| Value::Fixed)?,
            _ => return Err("unknown field type"),
        };
        Ok((head >> 3, value))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Reason> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(TRUNCATED)?;
        self.0 = rest;
        Ok(taken)
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Value<'a>), Reason>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

fn varint(bytes: &mut &[u8]) -> Result<u64, Reason> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or(TRUNCATED)?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(value);
        }
    }
    Err("a number has more than ten bytes")
}

/// A message that is being written.
#[derive(Debug, Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    pub(super) fn int(mut self, field: u64, value: u64) -> Self {
        put_varint(&mut self.0, field << 3);
        put_varint(&mut self.0, value);
        self
    }

    pub(super) fn bytes(mut self, field: u64, value: &[u8]) -> Self {
        put_varint(&mut self.0, field << 3 | 2);
        put_varint(&mut self.0, value.len() as u64);
        self.0.extend_from_slice(value);
        self
    }

    pub(super) fn message(self, field: u64, value: Message) -> Self {
        self.bytes(field, &value.0)
    }

    /// Appends a repeated number, packed.
    pub(super) fn ints(self, field: u64, values: impl IntoIterator<Item = u64>) -> Self {
        let mut packed = Vec::new();
        for value in values {
            put_varint(&mut packed, value);
        }
        if packed.is_empty() { self } else { self.bytes(field, &packed) }
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }
}

/// Appends a number of variable length.
#[expect(clippy::cast_possible_truncation, reason = "the bits are taken in groups of seven")]
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn messages_come_back_and_cut_ones_do_not() {
        let inner = Message::default().int(2, 300);
        let message =
            Message::default().int(1, u64::MAX).message(3, inner).ints(4, [1, 1000]).bytes(8000, b"ORC").finish();
        let fields: Vec<_> = Fields::new(&message).collect::<Result<_, _>>().unwrap();
        assert_eq!(fields[0], (1, Value::Int(u64::MAX)));
        assert_eq!(Fields::new(fields[1].1.bytes()).next(), Some(Ok((2, Value::Int(300)))));
        assert_eq!(fields[2].1.ints(), Ok(vec![1, 1000]));
        assert_eq!((fields[3].0, fields[3].1.text()), (8000, Ok("ORC")));
        let whole = fields.len();
        for end in 0..message.len() {
            let read: Result<Vec<_>, _> = Fields::new(&message[..end]).collect();
            assert!(read.is_err() || read.unwrap().len() < whole);
        }
    }
}
