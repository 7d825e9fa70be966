//! The files of a dataset: one partition each, opened as far as their metadata.

mod named;
mod names;
mod partition;

pub(crate) use named::Named;
pub use names::Format;
pub(crate) use partition::{Partition, Piece, Wanted};

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::{Blob, Location, Root};

use crate::Tolerance;
use crate::columns::Column;
use names::PartFile;

/// What every Parquet file begins with.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// Most bytes of a header line.
const HEADER_BYTES: u64 = 64 << 10;

/// What is at a place, if it is a NOCK file or a directory of partitions.
///
/// A Parquet file or the first line of a text file must name the columns `src_name`, `edge_id` and `dst_name` (or
/// nest edges); the suffix does not count for a single file. Of a directory the first partition is looked at.
///
/// # Errors
/// When the place cannot be read. What is not NOCK is `None`, not an error.
pub fn detect(location: &Location) -> Result<Option<Format>> {
    match files(location) {
        Ok((blobs, _)) => match blobs.first() {
            Some((blob, _)) => detect_blob(blob),
            None => Ok(None),
        },
        Err(error) if matches!(error.kind(), Kind::Malformed) => Ok(None),
        Err(error) => Err(error),
    }
}

fn detect_blob(blob: &Blob) -> Result<Option<Format>> {
    let format = format_of(blob)?;
    match format {
        Format::Parquet => match Partition::open(blob.clone(), 0, format, Tolerance::Normal) {
            Ok(partition) => Ok((!partition.layout.empty || is_parq(blob)).then_some(format)),
            // The suffix is NOCK's own: such a file is damaged, and opening it says how.
            Err(error) if error.kind().exit_code() == 3 => Ok(is_parq(blob).then_some(format)),
            Err(error) => Err(error),
        },
        Format::Csv => Ok(has_header(blob)?.then_some(format)),
    }
}

/// Whether the first line names the columns that no NOCK text is without.
fn has_header(blob: &Blob) -> Result<bool> {
    let start = blob.read(0..blob.size().min(HEADER_BYTES))?;
    let header = String::from_utf8_lossy(start.split(|&byte| byte == b'\n').next().unwrap_or_default());
    let names =
        |column: Column| header.split(',').any(|field| field.trim_matches(['"', '\r', '\u{feff}']) == column.name());
    Ok([Column::SrcName, Column::EdgeId, Column::DstName].into_iter().all(names))
}

fn is_parq(blob: &Blob) -> bool {
    blob.name().ends_with(".parq")
}

/// What the bytes are; what the name promises where they are neither.
fn format_of(blob: &Blob) -> Result<Format> {
    let magic = blob.read(0..blob.size().min(4))?;
    let promised = Format::of_name(blob.name()) == Some(Format::Parquet);
    let parquet = magic == PARQUET_MAGIC || promised && !has_header(blob)?;
    Ok(if parquet { Format::Parquet } else { Format::Csv })
}

/// The files at `location` with their partition numbers, in their order; and whether it is a directory.
fn files(location: &Location) -> Result<(Vec<(Blob, u64)>, bool)> {
    let single = || Ok((vec![(Blob::open(location)?, 0)], false));
    if !location.scheme().has_listing() {
        return single();
    }
    let root = match Root::open(location) {
        Ok(root) if location.is_local() || Format::of_name(location.file_name()).is_none() => root,
        // There is nothing below the name, and perhaps an object of that name.
        Err(error) if error.kind() == Kind::NotFound && !location.is_local() => return single(),
        Err(error) if error.kind() != Kind::Usage => return Err(error),
        _ => return single(),
    };
    let parts: Vec<PartFile> = names::partitions(&root.list_dir("")?)?;
    let open = |part: &PartFile| Ok((root.file(&part.name)?, part.id));
    Ok((parts.iter().map(open).collect::<Result<_>>()?, true))
}

/// Opens one file as partition `id`; its first bytes say how it is kept.
///
/// # Errors
/// When it is not a NOCK file.
pub(crate) fn open_blob(blob: Blob, id: u64, tolerance: Tolerance) -> Result<Partition> {
    let format = format_of(&blob)?;
    Partition::open(blob, id, format, tolerance)
}

/// Opens every partition at `location`; and whether it is a directory of partitions.
///
/// # Errors
/// When there is none, or one cannot be read.
pub(crate) fn open(location: &Location, tolerance: Tolerance) -> Result<(Vec<Partition>, bool)> {
    let (blobs, is_directory) = files(location)?;
    if blobs.is_empty() {
        return Err(Error::new(Kind::NotFound, "there is no partition here: no Parquet or CSV file")
            .at(Place::file(location.to_string()))
            .hint("a directory of part_<id>.parq files, or one file"));
    }
    let partitions = blobs.into_iter().map(|(blob, id)| open_blob(blob, id, tolerance));
    Ok((partitions.collect::<Result<_>>()?, is_directory))
}
