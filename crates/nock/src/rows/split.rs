//! Converts rows to model batches: separates node rows and edge rows, column by column.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, StringArray, StringViewArray,
};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder};
use arrow_schema::{ArrowError, DataType};
use arrow_select::filter::{FilterBuilder, FilterPredicate};
use isomorph_error::{Error, Result};
use isomorph_model::batch::Columns;
use isomorph_model::{EdgeBatch, Ends, NodeBatch};

use super::mask::none_empty;
use super::normalize::empty_name;
use super::relations::{blank, relations};
use super::shape::Shape;
use super::texts::{self, Run};
use super::{Numbers, Rows, label_column};
use crate::columns::Column;

/// How much of a table is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Nothing.
    None,
    /// Keys, or ends and relations.
    Keys,
    /// Also properties and labels.
    Full,
}

/// What to read from rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Split<'a> {
    /// What to read from node rows.
    pub nodes: Depth,
    /// What to read from edge rows.
    pub edges: Depth,
    /// Whether nodes have a property for the owners of foreign nodes.
    pub shadow: bool,
    /// Whether edges have their number as a property.
    pub edge_id: bool,
    /// The types of columns.
    pub shape: &'a Shape,
}

/// Splits rows into a batch of nodes and one of edges; either is missing if it has no row or was not requested.
/// `start` is the number of the first node; `dropped` are rows (ascending positions in `rows`) to skip.
///
/// # Errors
/// Returns [`crate::rules::NAME_EMPTY`] if an edge has no destination.
pub(crate) fn split(
    rows: &Rows,
    what: &Split<'_>,
    start: u64,
    dropped: &[usize],
) -> Result<(Option<NodeBatch>, Option<EdgeBatch>)> {
    let is_node = rows.edge_ids.nodes();
    let count = is_node.true_count();
    let nodes = match what.nodes {
        Depth::None => None,
        depth => {
            let kept = if dropped.is_empty() { is_node.clone() } else { without(&is_node, dropped) };
            let rest = Pick::new(&kept);
            (rest.count > 0).then(|| node_batch(rows, &rest, what, depth, start)).transpose()?
        }
    };
    let edges = match what.edges {
        Depth::None => None,
        _ if count == rows.len => None,
        depth => {
            let pick = Pick::new(&BooleanArray::new(!is_node.values(), None));
            Some(edge_batch(rows, &pick, what, depth)?)
        }
    };
    Ok((nodes, edges))
}

/// Returns the mask without some of its rows.
fn without(mask: &BooleanArray, dropped: &[usize]) -> BooleanArray {
    let mut bits = BooleanBufferBuilder::new(mask.len());
    bits.append_buffer(mask.values());
    for &row in dropped {
        bits.set_bit(row, false);
    }
    BooleanArray::new(bits.finish(), None)
}

/// Selects the same rows from several columns.
struct Pick {
    /// Number of rows.
    count: usize,
    /// The rows.
    runs: Vec<Run>,
    /// `None` if all rows are selected.
    filter: Option<FilterPredicate>,
}

impl Pick {
    fn new(mask: &BooleanArray) -> Self {
        let count = mask.true_count();
        let filter = (count < mask.len()).then(|| FilterBuilder::new(mask).optimize().build());
        Pick { count, runs: mask.values().set_slices().collect(), filter }
    }

    fn texts(&self, texts: &StringViewArray) -> Result<StringArray> {
        texts::picked(texts, &self.runs, texts::bytes_of(texts, &self.runs))
    }

    fn of(&self, column: &dyn Array) -> Result<ArrayRef> {
        match &self.filter {
            Some(filter) => filter.filter(column).map_err(|error| arrow_error(&error)),
            None => Ok(column.slice(0, column.len())),
        }
    }
}

pub(super) fn arrow_error(error: &ArrowError) -> Error {
    Error::malformed(format!("the rows cannot be split: {error}"))
}

fn node_batch(rows: &Rows, pick: &Pick, what: &Split<'_>, depth: Depth, start: u64) -> Result<NodeBatch> {
    let keys = Arc::new(pick.texts(&rows.names)?);
    let (mut labels, mut properties) = (None, Vec::new());
    if depth == Depth::Full {
        labels = match &rows.labels {
            Some(words) => label_column(pick.of(words)?.as_dictionary()),
            None => None,
        };
        properties.push(Some(truth_of(rows, pick, &what.shape.truth)?));
        properties.push(Some(match &rows.is_rdf {
            Some(flags) => pick.of(flags)?,
            None => Arc::new(BooleanArray::new(BooleanBuffer::new_unset(pick.count), None)),
        }));
        if what.shadow {
            let owners = rows.shadow.as_ref().map(|owners| pick.of(owners)).transpose()?;
            properties.push(owners.and_then(|owners| owners_only(owners.as_primitive())));
        }
        push_rest(&mut properties, rows, pick)?;
    } else {
        let absent = 3 + usize::from(what.shadow) + what.shape.extras.len();
        properties.resize(absent, None);
    }
    Ok(NodeBatch { ty: 0, start, numbers: None, rows: pick.count, keys: Some(keys), labels, properties })
}

fn edge_batch(rows: &Rows, pick: &Pick, what: &Split<'_>, depth: Depth) -> Result<EdgeBatch> {
    let target = match &rows.dsts {
        Some(names) => pick.texts(names)?,
        None => StringArray::new_null(pick.count),
    };
    if !none_empty(&target) {
        return Err(no_destination(rows));
    }
    let relations = match &rows.rels {
        Some(words) => relations(pick.of(words)?.as_dictionary()),
        None => blank(pick.count),
    };
    let mut properties = Vec::new();
    if depth == Depth::Full {
        properties.push(Some(truth_of(rows, pick, &what.shape.truth)?));
        if what.edge_id {
            properties.push(Some(pick.of(&rows.edge_ids.wide())?));
        }
        push_rest(&mut properties, rows, pick)?;
    } else {
        properties.resize(2 + usize::from(what.edge_id) + what.shape.extras.len(), None);
    }
    Ok(EdgeBatch {
        ty: 0,
        rows: pick.count,
        relations: Some(relations),
        source: Ends::Keys(Arc::new(pick.texts(&rows.names)?)),
        target: Ends::Keys(Arc::new(target)),
        layers: None,
        directed: None,
        keys: None,
        properties,
    })
}

/// Returns the error for the first edge row without a destination.
pub(crate) fn no_destination(rows: &Rows) -> Error {
    let missing = |row: &usize| {
        let named = rows.dsts.as_ref().is_some_and(|names| names.is_valid(*row) && !names.value(*row).is_empty());
        rows.edge_ids.value(*row) >= 0 && !named
    };
    let row = (0..rows.len).find(missing).unwrap_or_default();
    let name = match &rows.dsts {
        Some(names) => names.slice(row, 1),
        None => StringViewArray::new_null(1),
    };
    empty_name(&name, Column::DstName, &Numbers::From(rows.numbers.at(row)))
}

fn truth_of(rows: &Rows, pick: &Pick, data_type: &DataType) -> Result<ArrayRef> {
    match (&rows.truth, data_type) {
        (Some(truth), _) => pick.of(truth),
        (None, DataType::Float32) => Ok(Arc::new(Float32Array::from(vec![1.0; pick.count]))),
        (None, _) => Ok(Arc::new(Float64Array::from(vec![1.0; pick.count]))),
    }
}

/// Returns the partition numbers of foreign nodes, null for the others; `None` if there are no foreign nodes.
fn owners_only(owners: &Int64Array) -> Option<ArrayRef> {
    let foreign = owners.iter().any(|owner| owner.is_some_and(|owner| owner >= 0));
    foreign.then(|| -> ArrayRef {
        let owners = owners.iter().map(|owner| owner.filter(|&owner| owner >= 0));
        Arc::new(owners.collect::<arrow_array::PrimitiveArray<Int64Type>>())
    })
}

/// Adds properties and further columns, except those without values.
fn push_rest(properties: &mut Columns, rows: &Rows, pick: &Pick) -> Result<()> {
    let props = rows.props.as_ref().map(|props| (props, texts::bytes_of(props, &pick.runs)));
    let props = props.filter(|(_, bytes)| *bytes > 0).map(|(props, bytes)| texts::picked(props, &pick.runs, bytes));
    properties.push(props.transpose()?.map(|props| Arc::new(props) as ArrayRef));
    for extra in &rows.extras {
        let extra = extra.as_ref().map(|extra| pick.of(extra.as_ref())).transpose()?;
        properties.push(extra.filter(|extra| extra.null_count() < extra.len()));
    }
    Ok(())
}
