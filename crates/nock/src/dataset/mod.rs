//! The files of a dataset: one partition each, of which only the metadata is opened.

mod named;
mod names;
mod partition;

pub(crate) use named::Named;
pub use names::Format;
pub(crate) use names::PartFiles;
pub(crate) use partition::{Extras, Partition, Piece, Wanted};

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_storage::parts::unrelated;
use isomorph_storage::{Blob, Location, Root};

use crate::columns::Column;
use crate::{Nock, OpenOptions, Tolerance, rules};
use names::PartFile;

/// The first bytes of every Parquet file.
const PARQUET_MAGIC: &[u8] = b"PAR1";

/// Maximum number of bytes of a header line.
const HEADER_BYTES: u64 = 64 << 10;

/// Returns the format at a location, if it is a NOCK file or a directory of partitions.
///
/// A Parquet file or the first line of a text file must name the columns `src_name`, `edge_id` and `dst_name` (or
/// nest edges); the suffix of a single file does not matter. In a directory whose files are named as partitions, the first one is
/// examined. Several files with other names are opened, and their node names are compared if they have shadow rows: they are
/// one dataset only if shadow rows connect them.
///
/// # Errors
/// Returns an error if the location cannot be read. Other formats return `None`, not an error.
pub fn detect(location: &Location) -> Result<Option<Format>> {
    let files = match Files::at(location) {
        Ok(files) => files,
        // Two files with the same number: opening reports them.
        Err(error) if error.broken_rule() == Some(&rules::PART_ID) => return Ok(Some(Format::Parquet)),
        Err(error) if matches!(error.kind(), Kind::Malformed) => return Ok(None),
        Err(error) => return Err(error),
    };
    let Some((blob, _)) = files.blobs.first() else { return Ok(None) };
    let format = detect_blob(blob)?;
    if format.is_none() || !files.may_be_unrelated() {
        return Ok(format);
    }
    match Nock::open(location, &OpenOptions::default()) {
        Ok(_) => Ok(format),
        Err(error) if error.kind().exit_code() == 3 => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns whether the files in the directory `location` are named as partitions.
///
/// # Errors
/// Returns an error if the directory cannot be listed.
pub fn has_partition_names(location: &Location) -> Result<bool> {
    match Files::at(location) {
        Ok(files) => Ok(files.directory.is_some_and(|directory| directory.numbered)),
        // Two files with the same number are named as partitions.
        Err(error) if error.broken_rule() == Some(&rules::PART_ID) => Ok(true),
        Err(error) => Err(error),
    }
}

fn detect_blob(blob: &Blob) -> Result<Option<Format>> {
    let format = format_of(blob)?;
    match format {
        Format::Parquet => match Partition::open(blob.clone(), 0, format, Tolerance::Normal) {
            Ok(partition) => Ok((!partition.layout.empty || is_parq(blob)).then_some(format)),
            // The suffix is NOCK's own: such a file is damaged, and opening it reports how.
            Err(error) if error.kind().exit_code() == 3 => Ok(is_parq(blob).then_some(format)),
            Err(error) => Err(error),
        },
        Format::Csv => Ok(has_header(blob)?.then_some(format)),
    }
}

/// Returns whether the first line has the columns that every NOCK text has.
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

/// Returns the format of the bytes, or that of the file name if the bytes are neither.
fn format_of(blob: &Blob) -> Result<Format> {
    let magic = blob.read(0..blob.size().min(4))?;
    let promised = Format::of_name(blob.name()) == Some(Format::Parquet);
    let parquet = magic == PARQUET_MAGIC || promised && !has_header(blob)?;
    Ok(if parquet { Format::Parquet } else { Format::Csv })
}

/// The files at a location.
struct Files {
    /// The partitions with their numbers, in their order.
    blobs: Vec<(Blob, u64)>,
    /// The text files that are not read because a Parquet file has the same number: (Parquet file, text file).
    twins: Vec<(Blob, Blob)>,
    /// The partitions found from the names in a directory; `None` for a single file.
    directory: Option<PartFiles>,
}

impl Files {
    /// Finds the files.
    ///
    /// # Errors
    /// Returns an error if the location cannot be read, or [`rules::PART_ID`].
    fn at(location: &Location) -> Result<Files> {
        let single = || Ok(Files { blobs: vec![(Blob::open(location)?, 0)], twins: Vec::new(), directory: None });
        if !location.scheme().has_listing() {
            return single();
        }
        let root = match Root::open(location) {
            Ok(root) if location.is_local() || Format::of_name(location.file_name()).is_none() => root,
            // Nothing exists below this name, but there may be an object with the name.
            Err(error) if error.kind() == Kind::NotFound && !location.is_local() => return single(),
            Err(error) if error.kind() != Kind::Usage => return Err(error),
            _ => return single(),
        };
        let found = names::partitions(&root.list_dir("")?)?;
        let open = |part: &PartFile| Ok((root.file(&part.name)?, part.id));
        let blobs: Vec<(Blob, u64)> = found.parts.iter().map(open).collect::<Result<_>>()?;
        let twin = |twin: &PartFile| {
            let read = blobs.iter().find(|(_, id)| *id == twin.id).map(|(blob, _)| blob.clone());
            Ok(read.zip(Some(root.file(&twin.name)?)))
        };
        let twins = found.twins.iter().filter_map(|part| twin(part).transpose()).collect::<Result<_>>()?;
        Ok(Files { blobs, twins, directory: Some(found) })
    }

    /// Returns whether only rows can show that the files are one dataset, or the files are known not to be one.
    fn may_be_unrelated(&self) -> bool {
        let Some(directory) = &self.directory else { return false };
        !directory.with_sidecar.is_empty() || !directory.numbered && self.blobs.len() > 1
    }
}

/// An opened dataset.
pub(crate) struct Dataset {
    /// Its partitions.
    pub partitions: Vec<Partition>,
    /// The partitions found from the names in its directory; `None` for a single file.
    pub directory: Option<PartFiles>,
    /// Files that should have the same rows: the one that is read, and the one that is not.
    pub twins: Vec<(Blob, Blob)>,
}

/// Opens one file as partition `id`; its first bytes determine the format.
///
/// # Errors
/// Returns an error if it is not a NOCK file.
pub(crate) fn open_blob(blob: Blob, id: u64, tolerance: Tolerance) -> Result<Partition> {
    let format = format_of(&blob)?;
    Partition::open(blob, id, format, tolerance)
}

/// Opens every partition at `location`.
///
/// # Errors
/// Returns an error if there is none or one cannot be read, or [`rules::PART_DATASET`] if one has its own sidecar, or if files
/// that are not named as partitions have different columns.
pub(crate) fn open(location: &Location, tolerance: Tolerance) -> Result<Dataset> {
    let files = Files::at(location)?;
    if files.blobs.is_empty() {
        return Err(Error::new(Kind::NotFound, "no partition found: no Parquet or CSV file")
            .at(Place::file(location.to_string()))
            .hint("open a directory of part_<id>.parq files, or a single file"));
    }
    let names: Vec<&str> = files.blobs.iter().map(|(blob, _)| blob.name()).collect();
    if let Some(file) = files.directory.as_ref().and_then(|directory| directory.with_sidecar.first()) {
        return Err(unrelated(&rules::PART_DATASET, location, &names, &format!("{file} has a sidecar of its own")));
    }
    let loose = files.may_be_unrelated();
    let open = |(blob, id): &(Blob, u64)| open_blob(blob.clone(), *id, tolerance);
    let partitions: Vec<Partition> = files.blobs.iter().map(open).collect::<Result<_>>()?;
    if loose && partitions.windows(2).any(|pair| !pair[0].layout.has_columns_of(&pair[1].layout)) {
        return Err(unrelated(&rules::PART_DATASET, location, &names, "they have different columns"));
    }
    Ok(Dataset { partitions, directory: files.directory, twins: files.twins })
}
