//! Texts that may be packed, as their first bytes tell.

use std::io::{BufWriter, Read, Write};

use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use isomorph_error::{Error, Result};
use isomorph_storage::{Blob, BlobReader, Location, StagedFile, Staging, Unpacked};

/// How a file is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    None,
    /// Gzip, in any number of members.
    Gzip,
    /// Zstandard.
    Zstd,
}

impl Packing {
    /// The word for people; nothing where a file is not packed.
    pub fn word(self) -> &'static str {
        match self {
            Packing::None => "",
            Packing::Gzip => "gzip",
            Packing::Zstd => "Zstandard",
        }
    }
}

/// One file with a text in it, packed or not.
#[derive(Debug, Clone)]
pub struct PackedFile {
    /// The file.
    pub blob: Blob,
    /// How it is packed.
    pub packing: Packing,
}

impl PackedFile {
    /// Opens the file at `location`; its first four bytes tell how it is packed.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn open(location: &Location) -> Result<PackedFile> {
        PackedFile::of(Blob::open(location)?)
    }

    /// The same of a file that is open already.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn of(blob: Blob) -> Result<PackedFile> {
        let packing = match &*blob.read(0..blob.size().min(4))? {
            [0x1f, 0x8b, ..] => Packing::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd] => Packing::Zstd,
            _ => Packing::None,
        };
        Ok(PackedFile { blob, packing })
    }

    /// The bytes of the text from the first to the last.
    ///
    /// # Errors
    /// When it cannot be unpacked.
    pub fn reader(&self) -> Result<Box<dyn Read + Send>> {
        Ok(match self.packing {
            Packing::None => Box::new(self.blob.reader()),
            Packing::Gzip => Box::new(Unpacked::new(MultiGzDecoder::new(self.blob.reader()), Packing::Gzip.word())),
            Packing::Zstd => {
                let decoder: zstd::Decoder<'static, BlobReader> = zstd::Decoder::with_buffer(self.blob.reader())
                    .map_err(|error| Error::from(error).at(self.blob.place()))?;
                Box::new(Unpacked::new(decoder, Packing::Zstd.word()))
            }
        })
    }

    /// The first bytes of the text, at most `most`.
    ///
    /// # Errors
    /// When it cannot be unpacked.
    pub fn begin(&self, most: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.reader()?.take(most).read_to_end(&mut bytes);
        read.map_err(|error| Error::from(error).at(self.blob.place()))?;
        Ok(bytes)
    }
}

/// A text that is being written, packed as the name of its file says.
pub enum PackedWriter {
    /// Not packed.
    Plain(BufWriter<StagedFile>),
    /// In gzip.
    Gzip(Box<GzEncoder<BufWriter<StagedFile>>>),
    /// In Zstandard.
    Zstd(zstd::Encoder<'static, BufWriter<StagedFile>>),
}

impl PackedWriter {
    /// Begins the one file of `staging`, which will have this name.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(staging: &Staging, name: &str) -> Result<PackedWriter> {
        let file = BufWriter::with_capacity(1 << 16, staging.create("")?);
        let name = name.to_ascii_lowercase();
        Ok(match name {
            name if name.ends_with(".gz") => {
                PackedWriter::Gzip(Box::new(GzEncoder::new(file, flate2::Compression::default())))
            }
            name if name.ends_with(".zst") => PackedWriter::Zstd(zstd::Encoder::new(file, 0)?),
            _ => PackedWriter::Plain(file),
        })
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn finish(self) -> Result<()> {
        let file = match self {
            PackedWriter::Plain(file) => file,
            PackedWriter::Gzip(encoder) => encoder.finish()?,
            PackedWriter::Zstd(encoder) => encoder.finish()?,
        };
        file.into_inner().map_err(|error| Error::from(error.into_error()))?.finish()?;
        Ok(())
    }
}

impl Write for PackedWriter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            PackedWriter::Plain(file) => file.write(bytes),
            PackedWriter::Gzip(encoder) => encoder.write(bytes),
            PackedWriter::Zstd(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self {
            PackedWriter::Plain(file) => file.flush(),
            PackedWriter::Gzip(encoder) => encoder.flush(),
            PackedWriter::Zstd(encoder) => encoder.flush(),
        }
    }
}
