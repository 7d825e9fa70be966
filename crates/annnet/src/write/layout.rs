//! Which layout is written.

use std::fmt;
use std::str::FromStr;

use isomorph_error::Error;

use crate::layout::{Layout, Words};

/// A layout that is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WriteLayout {
    /// What annnet 0.4.1 reads: integer layers, one table of edges, zip archives.
    #[default]
    V2,
    /// The specification's text, version 1.1.0: a table for each fact, the matrix, checksums, tar archives.
    Specification,
}

impl WriteLayout {
    /// All of them.
    pub const ALL: [WriteLayout; 2] = [WriteLayout::V2, WriteLayout::Specification];

    /// The name that flags use.
    pub fn name(self) -> &'static str {
        match self {
            WriteLayout::V2 => "v2",
            WriteLayout::Specification => "1.1",
        }
    }

    /// The layout as it is read.
    pub(crate) fn read_as(self) -> Layout {
        match self {
            WriteLayout::V2 => Layout::V2,
            WriteLayout::Specification => Layout::V1,
        }
    }

    /// What is called how.
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
        known.ok_or_else(|| Error::usage(format!("{name:?} is no layout of annnet")).hint("v2, 1.1"))
    }
}
