//! The pieces of a scan.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float32Array, Float64Array, StringArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result, index};
use isomorph_model::{Batch, NodeBatch, Part};

use super::Nock;
use crate::columns::{Column, ColumnSet};
use crate::dataset::Wanted;
use crate::rows::{Depth, Split, broken_props, split};
use crate::settle::Position;

/// Node and edge rows of one piece.
pub(super) struct RowPart<'a> {
    pub nock: &'a Nock,
    pub piece: usize,
    pub nodes: Depth,
    pub edges: Depth,
    /// Number of the first node.
    pub start: u64,
    /// Rows that are left out.
    pub dropped: &'a [Position],
    pub batch_rows: usize,
}

impl RowPart<'_> {
    fn columns(&self) -> ColumnSet {
        let mut columns = ColumnSet::default();
        let mut want = |wanted: &[Column]| wanted.iter().for_each(|&column| columns = columns.with(column));
        if self.edges != Depth::None {
            want(&[Column::RelName, Column::DstName]);
        }
        if self.edges == Depth::Full || self.nodes == Depth::Full {
            want(&[Column::Truth, Column::Props]);
        }
        if self.nodes == Depth::Full {
            want(&[Column::IsRdf, Column::Labels]);
            if self.nock.has_shadows {
                want(&[Column::Shadow]);
            }
        }
        columns
    }
}

impl Part for RowPart<'_> {
    fn read(&self, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let partition = self.nock.partition_of(self.piece)?;
        let extras = self.edges == Depth::Full || self.nodes == Depth::Full;
        let wanted = Wanted { batch_rows: self.batch_rows, ..self.nock.wanted(self.columns(), extras) };
        let what = Split {
            nodes: self.nodes,
            edges: self.edges,
            shadow: self.nock.has_shadows,
            edge_id: self.nock.options.keep_edge_id,
            shape: &self.nock.shape,
        };
        let Some(piece) = self.nock.pieces.get(self.piece) else { return Ok(()) };
        let mut start = self.start;
        let mut row = 0;
        let mut dropped = self.dropped;
        let kept = self.nock.kept(self.piece, self.batch_rows);
        partition.read(piece, kept, &wanted, &mut |rows| {
            let end = row + rows.len as u64;
            let here = dropped.partition_point(|position| position.row() < end);
            let (now, later) = dropped.split_at(here);
            dropped = later;
            let now: Vec<usize> = now.iter().map(|position| index(position.row() - row)).collect();
            row = end;
            let place = |error: Error| error.at(Place::file(&partition.name));
            let (nodes, edges) = split(&rows, &what, start, &now).map_err(place)?;
            start += nodes.as_ref().map_or(0, |nodes| nodes.rows as u64);
            let mut batches = nodes.map(Batch::Nodes).into_iter().chain(edges.map(Batch::Edges));
            batches.try_for_each(&mut *take).map_err(|error| {
                // Whoever took the rows parses props, once, and cannot know where they come from.
                broken_props(&rows).map_or(error, place)
            })
        })
    }

    fn rows(&self) -> Option<u64> {
        let rows = self.nock.pieces.get(self.piece)?.rows.as_ref()?;
        Some(rows.end - rows.start)
    }
}

/// Nodes that only the edge rows of one piece mention.
pub(super) struct ImplicitPart<'a> {
    pub nock: &'a Nock,
    pub piece: usize,
    /// Their first mentions.
    pub mentions: &'a [Position],
    /// Number of the first of them.
    pub start: u64,
    pub batch_rows: usize,
}

impl Part for ImplicitPart<'_> {
    fn read(&self, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let wanted =
            Wanted { batch_rows: self.batch_rows, ..self.nock.wanted(ColumnSet::of(&[Column::DstName]), false) };
        let Some(piece) = self.nock.pieces.get(self.piece) else { return Ok(()) };
        let mut start = self.start;
        let mut row = 0;
        let mut mentions = self.mentions;
        self.nock.partition_of(self.piece)?.read(piece, None, &wanted, &mut |rows| {
            let end = row + rows.len as u64;
            let (now, later) = mentions.split_at(mentions.partition_point(|mention| mention.row() < end));
            mentions = later;
            let name = |mention: &Position| {
                let at = index(mention.row() - row);
                match &rows.dsts {
                    Some(targets) if mention.mark() => targets.value(at),
                    _ => rows.names.value(at),
                }
            };
            let names: Vec<&str> = now.iter().map(name).collect();
            row = end;
            if names.is_empty() {
                return Ok(());
            }
            let batch = self.nock.implicit_nodes(names, start);
            start += now.len() as u64;
            take(Batch::Nodes(batch))
        })
    }

    fn rows(&self) -> Option<u64> {
        Some(self.mentions.len() as u64)
    }
}

impl Nock {
    /// Nodes without a row, as the published library makes them: true, not from RDF, without labels or properties.
    pub(crate) fn implicit_nodes(&self, names: Vec<&str>, start: u64) -> NodeBatch {
        let rows = names.len();
        let truth: ArrayRef = match self.shape.truth {
            DataType::Float32 => Arc::new(Float32Array::from(vec![1.0; rows])),
            _ => Arc::new(Float64Array::from(vec![1.0; rows])),
        };
        let is_rdf: ArrayRef = Arc::new(BooleanArray::new(BooleanBuffer::new_unset(rows), None));
        let count = self.graph.nodes.first().map_or(0, |ty| ty.properties.len());
        let mut properties = vec![Some(truth), Some(is_rdf)];
        properties.resize(count, None);
        let keys: ArrayRef = Arc::new(StringArray::from(names));
        NodeBatch { ty: 0, start, rows, keys: Some(keys), labels: None, properties }
    }
}
