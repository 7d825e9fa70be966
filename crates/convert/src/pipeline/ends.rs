//! Keys of nodes, kept as far as edges need them.

use std::borrow::Cow;

use arrow_array::{Array, ArrayRef, UInt64Array};
use isomorph_error::{Error, Result, Rule, Severity};
use isomorph_model::{EndForm, Ends, Graph, NodeBatch, Source};
use isomorph_tables::lookup::{KeyRows, RowKeys};

use crate::digests::Resources;

/// An edge ends in a node that is not there.
pub static DANGLING_END: Rule = Rule {
    id: "MODEL-DANGLING-END",
    severity: Severity::Error,
    says: "both ends of every edge are nodes of the graph",
    remedy: "isomorph validate PATH",
};

/// Two nodes have one key.
pub static REPEATED_KEY: Rule = Rule {
    id: "MODEL-REPEATED-KEY",
    severity: Severity::Error,
    says: "the keys of a node type are unique",
    remedy: "--key row    identify the nodes by their position",
};
