//! Compressed files: gzip and Zstandard, recognised by names or first bytes.

use std::io::{self, BufRead, Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use isomorph_error::Result;
use isomorph_storage::{Blob, Unpacked};

/// The compression of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Not compressed.
    None,
    /// gzip, with one or several members.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl Packing {
    /// The compression that the name of a file shows.
    pub fn of_name(name: &str) -> Packing {
        let name = name.to_ascii_lowercase();
        if name.ends_with(".gz") {
            Packing::Gzip
        } else if name.ends_with(".zst") {
            Packing::Zstd
        } else {
            Packing::None
        }
    }

    /// The compression that the first bytes of a file show.
    pub fn of_bytes(begin: &[u8]) -> Packing {
        match begin {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            _ => Packing::None,
        }
    }

    /// Decompresses a file.
    ///
    /// # Errors
    /// If memory for decompression cannot be allocated.
    pub fn reader(self, blob: &Blob) -> Result<Box<dyn Read + Send>> {
        self.unpacked(blob.reader()).map_err(|error| error.at(blob.place()))
    }

    /// Decompresses a stream.
    ///
    /// # Errors
    /// As [`Packing::reader`].
    pub fn unpacked<'r>(self, input: impl BufRead + Send + 'r) -> Result<Box<dyn Read + Send + 'r>> {
        Ok(match self {
            Packing::None => Box::new(input),
            Packing::Gzip => Box::new(Unpacked::new(MultiGzDecoder::new(input), "gzip")),
            Packing::Zstd => Box::new(Unpacked::new(zstd::Decoder::with_buffer(input)?, "Zstandard")),
        })
    }
}

/// A file that is compressed while it is written.
pub enum Packed<W: Write> {
    /// Not compressed.
    Plain(W),
    /// With gzip.
    Gzip(GzEncoder<W>),
    /// With Zstandard.
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Packed<W> {
    /// Starts a file.
    ///
    /// # Errors
    /// If memory for compression cannot be allocated.
    pub fn new(packing: Packing, out: W) -> Result<Self> {
        Ok(match packing {
            Packing::None => Packed::Plain(out),
            // The same bytes at any time: no name, no time.
            Packing::Gzip => Packed::Gzip(GzEncoder::new(out, Compression::default())),
            Packing::Zstd => {
                let mut encoder = zstd::Encoder::new(out, 0)?;
                // Like gzip, so that flipped bits are detected.
                encoder.include_checksum(true)?;
                Packed::Zstd(encoder)
            }
        })
    }

    /// Writes what is left and returns the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(self) -> Result<W> {
        Ok(match self {
            Packed::Plain(out) => out,
            Packed::Gzip(encoder) => encoder.finish()?,
            Packed::Zstd(encoder) => encoder.finish()?,
        })
    }
}

impl<W: Write> Write for Packed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Packed::Plain(out) => out.write(bytes),
            Packed::Gzip(encoder) => encoder.write(bytes),
            Packed::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Packed::Plain(out) => out.flush(),
            Packed::Gzip(encoder) => encoder.flush(),
            Packed::Zstd(encoder) => encoder.flush(),
        }
    }
}
