//! Rows of a partition in a common form, independent of the file's dialect, and their conversion to model batches.

mod dictionary;
mod edge_ids;
mod labels;
mod mask;
mod nested;
mod normalize;
mod numbers;
mod props;
mod props_map;
mod relations;
mod shape;
mod split;
mod texts;
mod truth;

pub(crate) use edge_ids::EdgeIds;
pub(crate) use labels::{label_column, split_labels};
pub(crate) use mask::{is_node, none_empty};
pub(crate) use nested::{STATED_ID, Sequence, explode, sequence};
pub(crate) use normalize::{Reading, normalize};
pub(crate) use numbers::Numbers;
pub(crate) use props::{broken_props, check_cell, end_of_string};
pub(crate) use props_map::{PROPS_FOOTER, from_map, map_field, to_map};
pub(crate) use shape::{Shape, cast_strict, common};
pub(crate) use split::{Depth, Split, no_destination, split};

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, BooleanArray, DictionaryArray, Int64Array, StringViewArray};

/// Text with few distinct values: keys into a dictionary of `Utf8`.
pub(crate) type Words = DictionaryArray<Int32Type>;

/// Consecutive rows of one partition: node rows and edge rows in file order, columns in a common form.
///
/// A column is `None` if it was not requested or the file does not have it.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    /// The row numbers in the file.
    pub numbers: Numbers,
    /// Number of rows.
    pub len: usize,
    /// Names of the source nodes, never null or empty.
    pub names: StringViewArray,
    /// Edge numbers, never null; negative on node rows.
    pub edge_ids: EdgeIds,
    /// Relations; null means the empty text.
    pub rels: Option<Words>,
    /// Destinations; checked on edge rows, where they are used.
    pub dsts: Option<StringViewArray>,
    /// Degrees of belief, never null or NaN.
    pub truth: Option<ArrayRef>,
    /// Partition numbers; null means -1. Also `None` if all of them are negative.
    pub shadow: Option<Int64Array>,
    /// RDF flags, never null.
    pub is_rdf: Option<BooleanArray>,
    /// Labels joined by commas; null means the empty text.
    pub labels: Option<Words>,
    /// Properties as JSON objects; null, the empty text and `null` mean the empty object.
    pub props: Option<StringViewArray>,
    /// Further columns, in the order of the shape; `None` for a column that this partition does not have.
    pub extras: Vec<Option<ArrayRef>>,
}
