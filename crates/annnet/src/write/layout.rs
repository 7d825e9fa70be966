//! The layout to write.

use std::fmt;
use std::str::FromStr;

use isomorph_error::Error;

use crate::layout::{Layout, Words};

/// A layout that can be written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WriteLayout {
    /// The layout that annnet 0.4.1 reads: integer layers, one table of edges, zip archives.
    #[default]
    V2,
    /// The specification's text, version 1.1.0: a table for each fact, the matrix, checksums, tar archives.
    Specification,
}

impl WriteLayout {
    /// All layouts.
    pub const ALL: [WriteLayout; 2] = [WriteLayout::V2, WriteLayout::Specification];

    /// Returns the name used in flags.
    pub fn name(self) -> &'static str {
        match self {
            WriteLayout::V2 => "v2",
            WriteLayout::Specification => "1.1",
        }
    }

    /// Returns the corresponding layout for reading.
    pub(crate) fn read_as(self) -> Layout {
        match self {
            WriteLayout::V2 => Layout::V2,
            WriteLayout::Specification => Layout::V1,
        }
    }

    /// Returns the names of files and columns.
    pub(super) fn words(self) -> Words {
        self.read_as().words()
    }
}

impl fmt::Display for WriteLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for WriteLayout {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = WriteLayout::ALL.into_iter().find(|layout| layout.name() == name);
        known.ok_or_else(|| Error::usage(format!("{name:?} is not a layout of annnet")).hint("v2, 1.1"))
    }
}
