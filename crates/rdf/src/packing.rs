//! Packed files: gzip and Zstandard, as names or first bytes tell.

use std::io::{self, BufRead, Read, Write};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use isomorph_error::Result;
use isomorph_storage::{Blob, Unpacked};

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    None,
    /// gzip, of one member or several.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl Packing {
    /// The packing that the name of a file tells.
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

    /// The packing that the first bytes of a file tell.
    pub fn of_bytes(begin: &[u8]) -> Packing {
        match begin {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Packing::Zstd,
            _ => Packing::None,
        }
    }

    /// The bytes of a file as they were before it was packed.
    ///
    /// # Errors
    /// When memory for unpacking cannot be had.
    pub fn reader(self, blob: &Blob) -> Result<Box<dyn Read + Send>> {
        self.unpacked(blob.reader()).map_err(|error| error.at(blob.place()))
    }

    /// The bytes of a stream as they were before it was packed.
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

/// A file that is packed while it is written.
pub enum Packed<W: Write> {
    /// As it is.
    Plain(W),
    /// By gzip.
    Gzip(GzEncoder<W>),
    /// By Zstandard.
    Zstd(zstd::Encoder<'static, W>),
}

impl<W: Write> Packed<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// When memory for packing cannot be had.
    pub fn new(packing: Packing, out: W) -> Result<Self> {
        Ok(match packing {
            Packing::None => Packed::Plain(out),
            // The same bytes at any time: no name, no time.
            Packing::Gzip => Packed::Gzip(GzEncoder::new(out, Compression::default())),
            Packing::Zstd => {
                let mut encoder = zstd::Encoder::new(out, 0)?;
                // As gzip has it: a bit that flips is found.
                encoder.include_checksum(true)?;
                Packed::Zstd(encoder)
            }
        })
    }

    /// Writes what is left and gives the file back.
    ///
    /// # Errors
    /// When that cannot be written.
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
