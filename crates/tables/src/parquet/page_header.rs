//! Page headers, parsed before the decoder gets them, so that the claims of a page are checked before anything is
//! allocated for it.
//!
//! Source: `PageHeader` in <https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift>.

use parquet::basic::Encoding;

use super::thrift::{Reader, Thrift, ThriftError, Wire};

/// A page header. Counts and sizes are those that the file claims, and known only not to be negative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageHeader {
    /// Size of the header, bytes.
    pub length: usize,
    /// Stored size of the page after the header, bytes.
    pub compressed: usize,
    /// Size of the decompressed page, bytes.
    pub uncompressed: usize,
    /// CRC-32 of the stored bytes, if the writer stored it.
    pub crc: Option<u32>,
    pub kind: PageKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    Dictionary {
        values: u32,
        encoding: Encoding,
    },
    Data {
        values: u32,
        encoding: Encoding,
        definition: Encoding,
        repetition: Encoding,
    },
    DataV2(DataV2),
    /// A page without data, which is skipped.
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DataV2 {
    pub values: u32,
    pub nulls: u32,
    pub rows: u32,
    pub encoding: Encoding,
    /// Sizes of the two kinds of levels, which are not compressed and come before the values.
    pub definition_bytes: usize,
    pub repetition_bytes: usize,
    pub compressed: bool,
}

impl PageHeader {
    /// Parses the header at the start of `bytes`.
    pub(super) fn parse(bytes: &[u8]) -> Thrift<Self> {
        let mut reader = Reader::new(bytes);
        let (mut page_type, mut uncompressed, mut compressed, mut crc) = (None, None, None, None);
        let (mut data, mut dictionary, mut data_v2) = (None, None, None);
        let mut last = 0;
        while let Some((number, wire)) = reader.field(&mut last)? {
            match (number, wire) {
                (1, Wire::I32) => page_type = Some(reader.i32()?),
                (2, Wire::I32) => uncompressed = Some(size(&mut reader)?),
                (3, Wire::I32) => compressed = Some(size(&mut reader)?),
                (4, Wire::I32) => crc = Some(reader.i32()?.cast_unsigned()),
                (5, Wire::Struct) => data = Some(data_page(&mut reader)?),
                (7, Wire::Struct) => dictionary = Some(dictionary_page(&mut reader)?),
                (8, Wire::Struct) => data_v2 = Some(data_page_v2(&mut reader)?),
                (_, wire) => reader.skip(wire)?,
            }
        }
        let missing = ThriftError::Invalid("a page header lacks a required field");
        let kind = match page_type.ok_or(missing)? {
            0 => data.ok_or(missing)?,
            2 => dictionary.ok_or(missing)?,
            3 => data_v2.ok_or(missing)?,
            _ => PageKind::Other,
        };
        Ok(PageHeader {
            length: reader.position(),
            compressed: compressed.ok_or(missing)?,
            uncompressed: uncompressed.ok_or(missing)?,
            crc,
            kind,
        })
    }
}

fn size(reader: &mut Reader<'_>) -> Thrift<usize> {
    usize::try_from(reader.i32()?).map_err(|_| ThriftError::Invalid("a page header has a negative size"))
}

fn count(reader: &mut Reader<'_>) -> Thrift<u32> {
    u32::try_from(reader.i32()?).map_err(|_| ThriftError::Invalid("a page header has a negative count"))
}

fn encoding(reader: &mut Reader<'_>) -> Thrift<Encoding> {
    Ok(match reader.i32()? {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        #[allow(deprecated)] // old files have bit-packed levels
        4 => Encoding::BIT_PACKED,
        5 => Encoding::DELTA_BINARY_PACKED,
        6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        7 => Encoding::DELTA_BYTE_ARRAY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        _ => return Err(ThriftError::Invalid("unknown encoding in a page header")),
    })
}

fn data_page(reader: &mut Reader<'_>) -> Thrift<PageKind> {
    let (mut values, mut coding, mut definition, mut repetition) = (None, None, None, None);
    let mut last = 0;
    while let Some((number, wire)) = reader.field(&mut last)? {
        match (number, wire) {
            (1, Wire::I32) => values = Some(count(reader)?),
            (2, Wire::I32) => coding = Some(encoding(reader)?),
            (3, Wire::I32) => definition = Some(encoding(reader)?),
            (4, Wire::I32) => repetition = Some(encoding(reader)?),
            (_, wire) => reader.skip(wire)?,
        }
    }
    let missing = ThriftError::Invalid("a data page header lacks a required field");
    Ok(PageKind::Data {
        values: values.ok_or(missing)?,
        encoding: coding.ok_or(missing)?,
        definition: definition.ok_or(missing)?,
        repetition: repetition.ok_or(missing)?,
    })
}

fn dictionary_page(reader: &mut Reader<'_>) -> Thrift<PageKind> {
    let (mut values, mut coding) = (None, None);
    let mut last = 0;
    while let Some((number, wire)) = reader.field(&mut last)? {
        match (number, wire) {
            (1, Wire::I32) => values = Some(count(reader)?),
            (2, Wire::I32) => coding = Some(encoding(reader)?),
            (_, wire) => reader.skip(wire)?,
        }
    }
    let missing = ThriftError::Invalid("a dictionary page header lacks a required field");
    Ok(PageKind::Dictionary { values: values.ok_or(missing)?, encoding: coding.ok_or(missing)? })
}

fn data_page_v2(reader: &mut Reader<'_>) -> Thrift<PageKind> {
    let (mut values, mut nulls, mut rows, mut coding) = (None, None, None, None);
    let (mut definition_bytes, mut repetition_bytes) = (None, None);
    let mut compressed = true;
    let mut last = 0;
    while let Some((number, wire)) = reader.field(&mut last)? {
        match (number, wire) {
            (1, Wire::I32) => values = Some(count(reader)?),
            (2, Wire::I32) => nulls = Some(count(reader)?),
            (3, Wire::I32) => rows = Some(count(reader)?),
            (4, Wire::I32) => coding = Some(encoding(reader)?),
            (5, Wire::I32) => definition_bytes = Some(size(reader)?),
            (6, Wire::I32) => repetition_bytes = Some(size(reader)?),
            (7, Wire::True) => compressed = true,
            (7, Wire::False) => compressed = false,
            (_, wire) => reader.skip(wire)?,
        }
    }
    let missing = ThriftError::Invalid("a data page header lacks a required field");
    Ok(PageKind::DataV2(DataV2 {
        values: values.ok_or(missing)?,
        nulls: nulls.ok_or(missing)?,
        rows: rows.ok_or(missing)?,
        encoding: coding.ok_or(missing)?,
        definition_bytes: definition_bytes.ok_or(missing)?,
        repetition_bytes: repetition_bytes.ok_or(missing)?,
        compressed,
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A data page of 100 values, 40 bytes stored and 80 decompressed, with PLAIN values and RLE levels.
    const DATA: [u8; 17] = [0x15, 0, 0x15, 160, 1, 0x15, 80, 0x2c, 0x15, 200, 1, 0x15, 0, 0x15, 6, 0x15, 6];

    #[test]
    fn a_data_page_header() {
        let mut bytes = DATA.to_vec();
        bytes.extend([0, 0]);
        let header = PageHeader::parse(&bytes).unwrap();
        assert_eq!((header.length, header.compressed, header.uncompressed), (19, 40, 80));
        assert_eq!(
            header.kind,
            PageKind::Data {
                values: 100,
                encoding: Encoding::PLAIN,
                definition: Encoding::RLE,
                repetition: Encoding::RLE
            }
        );
        for end in 0..bytes.len() {
            assert_eq!(PageHeader::parse(&bytes[..end]), Err(ThriftError::Truncated));
        }
    }

    #[test]
    fn negative_sizes_are_refused() {
        let bytes = [0x15, 0, 0x15, 1, 0x15, 80, 0x00];
        assert_eq!(PageHeader::parse(&bytes), Err(ThriftError::Invalid("a page header has a negative size")));
    }
}
