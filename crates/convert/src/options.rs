//! How graphs are opened and written.

use crate::registry::Format;

/// What to do with a carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CarryUse {
    /// Use it; refuse when the data has changed since.
    #[default]
    Auto,
    /// Use its names and types even when the data has changed.
    Schema,
    /// Read the data as what it is.
    Ignore,
}

/// How a graph is opened.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// The format, if it is not to be detected.
    pub from: Option<Format>,
    /// What to do with a carry.
    pub carry: CarryUse,
    /// For GraphAr.
    pub graphar: isomorph_graphar::OpenOptions,
    /// For NOCK.
    pub nock: isomorph_nock::OpenOptions,
}

/// How a graph is laid out when it is written.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// For GraphAr.
    pub graphar: isomorph_graphar::WriteOptions,
    /// For NOCK.
    pub nock: isomorph_nock::WriteOptions,
}

impl WriteOptions {
    /// Whether the result of writing `format` at `destination` is a directory.
    pub fn is_directory(&self, format: Format) -> bool {
        match format {
            Format::GraphAr => true,
            Format::Nock => self.nock.partitions.is_some(),
        }
    }
}

/// How a graph is converted.
#[derive(Debug, Clone, Default)]
pub struct ConvertOptions {
    /// The target format; else told by the destination's name, or by the carry.
    pub to: Option<Format>,
    /// Write no carry and say what is lost.
    pub lossy: bool,
    /// Do not read the result back.
    pub no_verify: bool,
    /// Replace what is at the destination.
    pub replace: bool,
    /// Layout.
    pub write: WriteOptions,
}
