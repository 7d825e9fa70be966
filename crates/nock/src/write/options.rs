//! Options for writing a dataset.

use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::Compression;

use crate::Format;
use crate::rows::PROPS_FOOTER;
use crate::text::text_options;

/// Physical types of a Parquet file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Types {
    /// The specification's types: `src_name` REQUIRED, INT32, FLOAT.
    #[default]
    Specification,
    /// The types that pynock writes: all OPTIONAL, INT64, DOUBLE.
    Pynock,
}

/// How nodes are assigned to partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum By {
    /// By name: XXH3-64 of its UTF-8 bytes (seed 0), modulo the number of partitions.
    Name,
    /// By a further column of nodes with the number of the partition.
    Column(String),
}

/// Partitioned writing: `part_<id>.parq` (or `.csv`) for each partition, including shadow rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partitioning {
    /// Number of partitions, at least 1.
    pub count: u32,
    /// How nodes are assigned to partitions.
    pub by: By,
}

/// Options of [`crate::NockWriter::create`].
#[derive(Debug, Clone)]
pub struct CreateOptions {
    /// Parquet or text.
    pub format: Format,
    /// Physical types of Parquet files.
    pub types: Types,
    /// Write truth as DOUBLE although the other types are the specification's, for values that FLOAT cannot represent. A
    /// truth that its column cannot represent is an error.
    pub truth_double: bool,
    /// Compression of Parquet pages.
    pub compression: Compression,
    /// Maximum number of rows in a Parquet row group; at most 1,048,576.
    pub row_group_rows: usize,
    /// Nest edge rows in their node rows. Parquet only; pynock cannot read it.
    pub nested_edges: bool,
    /// Write props as a Parquet map. Parquet only; pynock cannot read it.
    pub props_map: bool,
    /// Sort rows by (`src_name`, `edge_id`), for text that will be compared. Text files only.
    pub sort: bool,
    /// Write a directory of partitions instead of one file.
    pub partitions: Option<Partitioning>,
    /// Memory for sorting and for foreign nodes.
    pub budget: Budget,
    /// Where sorting spills; by default the system's directory for temporary files.
    pub scratch: Option<Scratch>,
}

impl Default for CreateOptions {
    fn default() -> Self {
        CreateOptions {
            format: Format::Parquet,
            types: Types::Specification,
            truth_double: false,
            compression: Compression::Snappy,
            row_group_rows: ROW_GROUP_ROWS,
            nested_edges: false,
            props_map: false,
            sort: false,
            partitions: None,
            budget: Budget::default(),
            scratch: None,
        }
    }
}

/// Maximum number of rows in a row group.
const ROW_GROUP_ROWS: usize = 1 << 20;

/// Maximum number of partitions: each is an open file.
const PARTITIONS: u32 = 512;

impl CreateOptions {
    /// Checks that the options do not contradict each other.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if they do.
    pub fn check(&self) -> Result<()> {
        let text = self.format == Format::Csv;
        if text && (self.nested_edges || self.props_map) {
            return Err(Error::usage("text files do not support nested edges or maps"));
        }
        if self.sort && !text {
            return Err(Error::usage("only text files can be sorted").hint("--file-type csv"));
        }
        match &self.partitions {
            Some(partitions) if partitions.count == 0 || partitions.count > PARTITIONS => {
                Err(Error::usage(format!("{} partitions: expected 1 to {PARTITIONS}", partitions.count)))
            }
            _ => Ok(()),
        }
    }

    /// Returns the options of the tables.
    pub(super) fn table(&self) -> isomorph_tables::WriteOptions {
        let mut options = isomorph_tables::WriteOptions {
            compression: self.compression,
            row_group_rows: self.row_group_rows.clamp(1, ROW_GROUP_ROWS),
            ..text_options()
        };
        if let Some(partitions) = &self.partitions {
            // Each open file keeps a row group in memory.
            let share = ROW_GROUP_ROWS / (partitions.count as usize).clamp(1, 64);
            options.row_group_rows = options.row_group_rows.min(share);
        }
        if self.props_map {
            let (key, value) = PROPS_FOOTER;
            options.footer_metadata.push((key.to_owned(), value.to_owned()));
        }
        options
    }
}
