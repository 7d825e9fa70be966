//! The two kinds of rows in a sequence: node rows and edge rows, each as columns of the file.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, StringArray};
use isomorph_error::{Error, Result};
use isomorph_model::{EdgeBatch, Ends, NodeBatch};

use super::cells;
use super::target::Target;
use crate::columns::Column;
use crate::rows::Sequence;

/// The cells of node rows.
pub(super) struct Nodes {
    /// Number of the first node.
    pub start: u64,
    names: StringArray,
    truth: ArrayRef,
    shadow: ArrayRef,
    is_rdf: ArrayRef,
    labels: ArrayRef,
    props: ArrayRef,
    extras: Vec<ArrayRef>,
}

fn property(properties: &[Option<ArrayRef>], at: Option<usize>) -> Option<&ArrayRef> {
    properties.get(at?)?.as_ref()
}

impl Nodes {
    /// Checks and converts a batch of nodes.
    ///
    /// # Errors
    /// Returns [`crate::rules::WRITE_VALUE`] for values that the format cannot store.
    pub fn of(batch: &NodeBatch, target: &Target) -> Result<Self> {
        let rows = batch.rows;
        let keys = batch.keys.as_ref().ok_or_else(|| Error::usage("nodes must have keys"))?;
        let of = |at| property(&batch.properties, at);
        let extras =
            target.extras.iter().map(|extra| cells::extra(of(extra.node), rows, &extra.data_type, &extra.name));
        Ok(Nodes {
            start: batch.start,
            names: cells::names(keys, Column::SrcName)?,
            truth: cells::truth(of(target.node_truth), rows, target)?,
            shadow: cells::numbers(of(target.node_shadow), rows, -1, &target.integer, Column::Shadow)?,
            is_rdf: cells::flags(of(target.node_rdf), rows)?,
            labels: cells::labels(batch.labels.as_ref(), rows)?,
            props: cells::props(of(target.node_bag), rows)?,
            extras: extras.collect::<Result<_>>()?,
        })
    }

    /// Returns the number of nodes.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns a slice of the nodes, without a copy.
    pub fn slice(&self, from: usize, len: usize) -> Nodes {
        let slice = |array: &ArrayRef| array.slice(from, len);
        Nodes {
            start: self.start + from as u64,
            names: self.names.slice(from, len),
            truth: slice(&self.truth),
            shadow: slice(&self.shadow),
            is_rdf: slice(&self.is_rdf),
            labels: slice(&self.labels),
            props: slice(&self.props),
            extras: self.extras.iter().map(slice).collect(),
        }
    }
}

/// The cells of edge rows.
pub(super) struct Edges {
    /// Rows of the sources.
    pub sources: Vec<u64>,
    ids: Option<ArrayRef>,
    rels: ArrayRef,
    targets: StringArray,
    truth: ArrayRef,
    props: ArrayRef,
    extras: Vec<ArrayRef>,
}

impl Edges {
    /// Checks and converts a batch of edges.
    ///
    /// # Errors
    /// Returns [`crate::rules::WRITE_VALUE`] for values that the format cannot store; [`isomorph_error::Kind::Usage`] if ends have
    /// another form than requested.
    pub fn of(batch: &EdgeBatch, target: &Target) -> Result<Self> {
        let rows = batch.rows;
        let (Ends::Rows(sources), Ends::Keys(targets)) = (&batch.source, &batch.target) else {
            return Err(Error::usage("edges must have sources as rows and targets as keys"));
        };
        let relations = match &batch.relations {
            Some(relations) => cells::relations(relations)?,
            None => cells::blank(rows),
        };
        let of = |at| property(&batch.properties, at);
        let ids = of(target.edge_id).map(|ids| cells::numbers(Some(ids), rows, 0, &target.integer, Column::EdgeId));
        let ids = ids.transpose()?;
        if let Some(ids) = &ids {
            let wide = cells::cast(ids, &arrow_schema::DataType::Int64, Column::EdgeId.name())?;
            if wide.as_primitive::<arrow_array::types::Int64Type>().values().iter().any(|&id| id < 0) {
                return Err(Error::broken(&crate::rules::WRITE_VALUE, "an edge has a negative edge_id"));
            }
        }
        let extras =
            target.extras.iter().map(|extra| cells::extra(of(extra.edge), rows, &extra.data_type, &extra.name));
        Ok(Edges {
            sources: sources.values().to_vec(),
            ids,
            rels: relations,
            targets: cells::names(targets, Column::DstName)?,
            truth: cells::truth(of(target.edge_truth), rows, target)?,
            props: cells::props(of(target.edge_bag), rows)?,
            extras: extras.collect::<Result<_>>()?,
        })
    }

    /// Creates an empty batch of edges.
    ///
    /// # Errors
    /// Never fails.
    pub fn none(target: &Target) -> Result<Self> {
        let extras = target.extras.iter().map(|extra| cells::extra(None, 0, &extra.data_type, &extra.name));
        Ok(Edges {
            sources: Vec::new(),
            ids: None,
            rels: cells::blank(0),
            targets: StringArray::new_null(0),
            truth: cells::truth(None, 0, target)?,
            props: cells::blank(0),
            extras: extras.collect::<Result<_>>()?,
        })
    }
}

/// Returns rows of the file: `nodes` and `edges` in `sequence`.
///
/// # Errors
/// Returns an error if the columns do not match.
pub(super) fn rows(nodes: &Nodes, edges: &Edges, sequence: &Sequence, target: &Target) -> Result<RecordBatch> {
    let blank_nodes = cells::blank(nodes.len());
    let minus_one = |rows| cells::numbers(None, rows, -1, &target.integer, Column::EdgeId);
    let edge_ids: ArrayRef = match &edges.ids {
        Some(ids) => sequence.column(&minus_one(nodes.len())?, ids)?,
        None => {
            let ids: ArrayRef = std::sync::Arc::new(sequence.edge_ids.clone());
            cells::cast(&ids, &target.integer, Column::EdgeId.name())?
        }
    };
    let edge_count = edges.targets.len();
    let mut columns: Vec<ArrayRef> = vec![
        sequence.repeated(&nodes.names)?,
        edge_ids,
        sequence.column(&blank_nodes, &edges.rels)?,
        sequence.column(&blank_nodes, &edges.targets)?,
        sequence.column(&nodes.truth, &edges.truth)?,
        sequence.column(&nodes.shadow, &minus_one(edge_count)?)?,
        sequence.repeated(&nodes.is_rdf)?,
        sequence.column(&nodes.labels, &cells::blank(edge_count))?,
        sequence.column(&nodes.props, &edges.props)?,
    ];
    for (of_nodes, of_edges) in nodes.extras.iter().zip(&edges.extras) {
        columns.push(sequence.column(of_nodes, of_edges)?);
    }
    RecordBatch::try_new(target.schema.clone(), columns)
        .map_err(|error| Error::usage(format!("the columns of a batch do not match: {error}")))
}

/// Returns a shadow row for each foreign node, with only its name and owner.
///
/// # Errors
/// Returns an error if an owner is out of the range of its column.
pub(super) fn shadow_rows(names: StringArray, owners: &ArrayRef, target: &Target) -> Result<RecordBatch> {
    let rows = names.len();
    let nodes = Nodes {
        start: 0,
        names,
        truth: cells::truth(None, rows, target)?,
        shadow: cells::numbers(Some(owners), rows, -1, &target.integer, Column::Shadow)?,
        is_rdf: std::sync::Arc::new(BooleanArray::from(vec![false; rows])),
        labels: cells::blank(rows),
        props: cells::blank(rows),
        extras: target
            .extras
            .iter()
            .map(|extra| cells::extra(None, rows, &extra.data_type, &extra.name))
            .collect::<Result<_>>()?,
    };
    let sequence = crate::rows::sequence(rows, &[], true, 0)?;
    self::rows(&nodes, &Edges::none(target)?, &sequence, target)
}
