//! The parts of the Thrift compact protocol that Parquet's structures use: a reader over a slice that does not
//! allocate, and whose recursion depth is limited.
//!
//! Source: <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>.

/// The maximum nesting depth of structures. Parquet's own footer needs six levels.
const DEPTH: usize = 32;

/// The reason why a structure could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ThriftError {
    /// The slice ends inside the structure; more bytes may help.
    Truncated,
    /// The structure is invalid, whatever bytes follow.
    Invalid(&'static str),
}

pub(super) type Thrift<T> = Result<T, ThriftError>;

/// The encoded type of a field or an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    True,
    False,
    Byte,
    I16,
    I32,
    I64,
    Double,
    Binary,
    List,
    Map,
    Struct,
    Uuid,
}

impl Wire {
    fn from_nibble(nibble: u8) -> Thrift<Self> {
        Ok(match nibble {
            1 => Wire::True,
            2 => Wire::False,
            3 => Wire::Byte,
            4 => Wire::I16,
            5 => Wire::I32,
            6 => Wire::I64,
            7 => Wire::Double,
            8 => Wire::Binary,
            9 | 10 => Wire::List,
            11 => Wire::Map,
            12 => Wire::Struct,
            13 => Wire::Uuid,
            _ => return Err(ThriftError::Invalid("unknown field type")),
        })
    }

    /// Returns the minimum size of a value of this type in a collection, bytes.
    fn least_bytes(self) -> usize {
        match self {
            Wire::Double => 8,
            Wire::Uuid => 16,
            _ => 1,
        }
    }
}

/// A position in encoded bytes.
#[derive(Debug, Clone)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, at: 0 }
    }

    /// Returns the number of bytes consumed so far.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    fn byte(&mut self) -> Thrift<u8> {
        let byte = *self.bytes.get(self.at).ok_or(ThriftError::Truncated)?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, length: usize) -> Thrift<&'a [u8]> {
        let taken =
            self.at.checked_add(length).and_then(|end| self.bytes.get(self.at..end)).ok_or(ThriftError::Truncated)?;
        self.at += length;
        Ok(taken)
    }

    /// Reads an unsigned integer of variable length.
    fn varint(&mut self) -> Thrift<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(ThriftError::Invalid("an integer of more than ten bytes"))
    }

    /// Reads the header of the next field: its number and type, or `None` at the end of the structure. `last` is the number of
    /// the previous field, 0 at the start.
    pub(super) fn field(&mut self, last: &mut i16) -> Thrift<Option<(i16, Wire)>> {
        let head = self.byte()?;
        if head & 0x0f == 0 {
            return Ok(None);
        }
        let wire = Wire::from_nibble(head & 0x0f)?;
        let number = match head >> 4 {
            0 => i16::try_from(self.int()?).map_err(|_| ThriftError::Invalid("field number out of range"))?,
            delta => last.checked_add(i16::from(delta)).ok_or(ThriftError::Invalid("field number out of range"))?,
        };
        *last = number;
        Ok(Some((number, wire)))
    }

    /// Reads a signed integer of any width.
    pub(super) fn int(&mut self) -> Thrift<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    /// Reads a signed integer of at most 32 bits.
    pub(super) fn i32(&mut self) -> Thrift<i32> {
        i32::try_from(self.int()?).map_err(|_| ThriftError::Invalid("a 32-bit integer is out of range"))
    }

    /// Reads a byte string.
    pub(super) fn binary(&mut self) -> Thrift<&'a [u8]> {
        let length = usize::try_from(self.varint()?).map_err(|_| ThriftError::Truncated)?;
        self.take(length)
    }

    /// Reads the header of a list: the element type, and the number of elements, which is checked against the remaining bytes.
    pub(super) fn list(&mut self) -> Thrift<(Wire, usize)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => usize::try_from(self.varint()?).map_err(|_| ThriftError::Truncated)?,
            count => usize::from(count),
        };
        if count == 0 {
            return Ok((Wire::Byte, 0));
        }
        // In lists, some writers use type 1 for booleans and some type 2; both have one byte per element.
        let wire = Wire::from_nibble(head & 0x0f)?;
        if count.checked_mul(wire.least_bytes()).is_none_or(|least| least > self.left()) {
            return Err(ThriftError::Truncated);
        }
        Ok((wire, count))
    }

    /// Reads a boolean in a list.
    pub(super) fn list_bool(&mut self) -> Thrift<bool> {
        Ok(self.byte()? == 1)
    }

    /// Skips the value of a field.
    pub(super) fn skip(&mut self, wire: Wire) -> Thrift<()> {
        self.skip_value(wire, false, DEPTH)
    }

    fn skip_value(&mut self, wire: Wire, in_collection: bool, depth: usize) -> Thrift<()> {
        let deeper = depth.checked_sub(1).ok_or(ThriftError::Invalid("structures are nested too deeply"))?;
        match wire {
            // A boolean field has its value in its header, a boolean element is a byte.
            Wire::True | Wire::False => {
                if in_collection {
                    self.byte()?;
                }
            }
            Wire::Byte => {
                self.byte()?;
            }
            Wire::I16 | Wire::I32 | Wire::I64 => {
                self.varint()?;
            }
            Wire::Double => {
                self.take(8)?;
            }
            Wire::Uuid => {
                self.take(16)?;
            }
            Wire::Binary => {
                self.binary()?;
            }
            Wire::List => {
                let (element, count) = self.list()?;
                for _ in 0..count {
                    self.skip_value(element, true, deeper)?;
                }
            }
            Wire::Map => {
                let count = self.varint()?;
                if count > 0 {
                    let types = self.byte()?;
                    let (key, value) = (Wire::from_nibble(types >> 4)?, Wire::from_nibble(types & 0x0f)?);
                    for _ in 0..count {
                        self.skip_value(key, true, deeper)?;
                        self.skip_value(value, true, deeper)?;
                    }
                }
            }
            Wire::Struct => {
                let mut last = 0;
                while let Some((_, wire)) = self.field(&mut last)? {
                    self.skip_value(wire, false, deeper)?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn fields_integers_and_strings() {
        // {1: i32 -3, 3: binary "ab", 20: true}, then a byte that is not part of it
        let bytes = [0x15, 0x05, 0x28, 2, b'a', b'b', 0x01, 40, 0x00, 0xff];
        let mut reader = Reader::new(&bytes);
        let mut last = 0;
        assert_eq!(reader.field(&mut last).unwrap(), Some((1, Wire::I32)));
        assert_eq!(reader.i32().unwrap(), -3);
        assert_eq!(reader.field(&mut last).unwrap(), Some((3, Wire::Binary)));
        assert_eq!(reader.binary().unwrap(), b"ab");
        assert_eq!(reader.field(&mut last).unwrap(), Some((20, Wire::True)));
        assert_eq!(reader.field(&mut last).unwrap(), None);
        assert_eq!(reader.position(), 9);

        let mut whole = Reader::new(&bytes);
        whole.skip(Wire::Struct).unwrap();
        assert_eq!(whole.position(), 9);
    }

    #[test]
    fn a_list_cannot_claim_more_than_the_bytes_left() {
        let mut reader = Reader::new(&[0xf5, 0xff, 0xff, 0xff, 0xff, 0x07]);
        assert_eq!(reader.list(), Err(ThriftError::Truncated));
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = [0x19; 4096];
        assert_eq!(
            Reader::new(&deep).skip(Wire::Struct),
            Err(ThriftError::Invalid("structures are nested too deeply"))
        );
    }

    #[test]
    fn every_prefix_is_truncated() {
        let bytes = [0x15, 0x06, 0x28, 2, b'a', b'b', 0x19, 0x25, 0x02, 0x04, 0x00];
        Reader::new(&bytes).skip(Wire::Struct).unwrap();
        for end in 0..bytes.len() {
            assert_eq!(Reader::new(&bytes[..end]).skip(Wire::Struct), Err(ThriftError::Truncated), "{end}");
        }
    }
}
