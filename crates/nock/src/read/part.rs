//! The pieces of a scan.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float32Array, Float64Array, StringArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result, index};
use isomorph_model::{Batch, EdgeBatch, Narrowing, NodeBatch, Part, Predicate, Property, ValueKind, part};

use super::Nock;
use crate::columns::{Column, ColumnSet};
use crate::dataset::{Extras, Partition, Wanted};
use crate::node_rows::Position;
use crate::rows::{Depth, Rows, Split, broken_props, split};

/// Node and edge rows of one piece.
pub(super) struct RowPart<'a> {
    pub nock: &'a Nock,
    pub piece: usize,
    pub nodes: Depth,
    pub edges: Depth,
    /// Number of the first node.
    pub start: u64,
    /// What is read of nodes or edges, if not everything.
    pub narrowing: Option<Arc<Narrowing>>,
    /// Rows that are dropped.
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
        match &self.narrowing {
            None => columns,
            Some(narrowing) => columns.without(&self.unwanted(narrowing)),
        }
    }

    /// Returns the properties of the type that is read.
    fn properties(&self) -> &'_ [Property] {
        let graph = &self.nock.graph;
        let nodes = || graph.nodes.first().map(|ty| ty.properties.as_slice());
        let edges = || graph.edges.first().map(|ty| ty.properties.as_slice());
        if self.nodes == Depth::None { edges() } else { nodes() }.unwrap_or_default()
    }

    /// Returns the columns that were not requested.
    fn unwanted(&self, narrowing: &Narrowing) -> Vec<Column> {
        let of = |property: &Property| match property.kind {
            ValueKind::Bag => Some(Column::Props),
            _ => Column::named(&property.name),
        };
        let properties = self.properties().iter().enumerate().filter(|(at, _)| !narrowing.wants(*at));
        let labels = (!narrowing.labels).then_some(Column::Labels);
        properties.filter_map(|(_, property)| of(property)).chain(labels).collect()
    }

    /// Returns the further columns that were requested.
    fn extras(&self) -> Extras {
        if self.edges != Depth::Full && self.nodes != Depth::Full {
            return Extras::None;
        }
        let Some(narrowing) = &self.narrowing else { return Extras::All };
        let properties = self.properties().iter().enumerate().filter(|(at, _)| narrowing.wants(*at));
        Extras::Named(properties.map(|(_, property)| property.name.clone()).collect())
    }
}

impl<'a> RowPart<'a> {
    /// Converts it to a part of a scan.
    pub fn part(self) -> Box<dyn Part + 'a> {
        let rows = self.nock.pieces.get(self.piece).and_then(|piece| piece.rows.as_ref());
        let rows = rows.map(|rows| rows.end - rows.start);
        Box::new(RowReader { rows, part: self, opened: None, row: 0, last: None, edges: None, is_done: false })
    }

    fn open(&self) -> Result<Option<OpenedRows<'a>>> {
        let partition = self.nock.partition_of(self.piece)?;
        let (batch_rows, extras) = (self.batch_rows, self.extras());
        let wanted = Wanted { batch_rows, extras, ..self.nock.wanted(self.columns(), false) };
        let Some(piece) = self.nock.pieces.get(self.piece) else { return Ok(None) };
        let filter = self.narrowing.as_ref().and_then(|narrowing| self.own(&narrowing.filter_now()?));
        let passing = filter.map(|filter| partition.passing(piece, &filter, &self.nock.shape)).transpose()?.flatten();
        if let Some(rows) = passing {
            let first = piece.rows.as_ref().map_or(0, |rows| rows.start);
            return Ok(Some(OpenedRows {
                partition,
                some: Some(first),
                rows: partition.rows_at(piece, rows, &wanted)?,
            }));
        }
        let kept = self.nock.kept(self.piece, self.batch_rows);
        Ok(Some(OpenedRows { partition, some: None, rows: Box::new(partition.read(piece, kept, &wanted)?) }))
    }

    /// Returns the filter with names of columns. Those of the nine that are properties have default values instead of nulls.
    fn own(&self, filter: &Predicate) -> Option<Predicate> {
        let is_nodes = self.nodes != Depth::None;
        // An edge without a relation has the empty one, which the file may state or leave out.
        let relations = filter.set_of(Narrowing::RELATION).filter(|set| !is_nodes && !set.has_text(""));
        let relations =
            relations.map(|set| Predicate::In { column: Column::RelName.name().to_owned(), set: set.clone() });
        let own = filter.known_part(&mut |name| match name {
            Narrowing::KEY if is_nodes => Some(Column::SrcName.name().to_owned()),
            Narrowing::SOURCE if !is_nodes => Some(Column::SrcName.name().to_owned()),
            Narrowing::TARGET if !is_nodes => Some(Column::DstName.name().to_owned()),
            _ if Narrowing::NAMES.contains(&name) => None,
            _ if Column::named(name).is_some() => None,
            _ => Some(name.to_owned()),
        });
        Predicate::both(own, relations)
    }
}

struct OpenedRows<'a> {
    partition: &'a Partition,
    /// The number of the piece's first row in its file, if only some of its rows are read.
    some: Option<u64>,
    rows: Box<dyn Iterator<Item = Result<Rows>> + Send + 'a>,
}

/// A piece that is being read.
struct RowReader<'a> {
    rows: Option<u64>,
    part: RowPart<'a>,
    opened: Option<OpenedRows<'a>>,
    /// The next row of the piece.
    row: u64,
    /// The rows of the last batches.
    last: Option<Rows>,
    /// The edges that follow the nodes returned last.
    edges: Option<EdgeBatch>,
    is_done: bool,
}

impl RowReader<'_> {
    fn read(&mut self) -> Result<Option<Batch>> {
        let part = &mut self.part;
        let opened = match &mut self.opened {
            Some(opened) => opened,
            None => match part.open()? {
                Some(opened) => self.opened.insert(opened),
                None => return Ok(None),
            },
        };
        let what = Split {
            nodes: part.nodes,
            edges: part.edges,
            shadow: part.nock.has_shadows,
            edge_id: part.nock.options.keep_edge_id,
            shape: &part.nock.shape,
        };
        while let Some(rows) = opened.rows.next().transpose()? {
            let now: Vec<usize> = match opened.some {
                None => {
                    let end = self.row + rows.len as u64;
                    let here = part.dropped.partition_point(|position| position.row() < end);
                    let (now, later) = part.dropped.split_at(here);
                    part.dropped = later;
                    let now = now.iter().map(|position| index(position.row() - self.row)).collect();
                    self.row = end;
                    now
                }
                Some(first) => {
                    let is_dropped = |at: &usize| {
                        let row = rows.numbers.at(*at).saturating_sub(first);
                        part.dropped.binary_search_by_key(&row, |position| position.row()).is_ok()
                    };
                    (0..rows.len).filter(is_dropped).collect()
                }
            };
            let place = |error: Error| error.at(Place::file(&opened.partition.name));
            let (mut nodes, mut edges) = split(&rows, &what, part.start, &now).map_err(place)?;
            if let Some(narrowing) = &part.narrowing {
                // A column that was not read is absent, even if a missing column has a default.
                let columns = [
                    nodes.as_mut().map(|nodes| &mut nodes.properties),
                    edges.as_mut().map(|edges| &mut edges.properties),
                ];
                let properties = columns.into_iter().flatten().flat_map(|columns| columns.iter_mut().enumerate());
                properties.filter(|(at, _)| !narrowing.wants(*at)).for_each(|(_, column)| *column = None);
            }
            part.start += nodes.as_ref().map_or(0, |nodes| nodes.rows as u64);
            self.last = Some(rows);
            match (nodes, edges) {
                (Some(nodes), edges) => {
                    self.edges = edges;
                    return Ok(Some(Batch::Nodes(nodes)));
                }
                (None, Some(edges)) => return Ok(Some(Batch::Edges(edges))),
                (None, None) => {}
            }
        }
        Ok(None)
    }
}

impl Iterator for RowReader<'_> {
    type Item = Result<Batch>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(edges) = self.edges.take() {
            return Some(Ok(Batch::Edges(edges)));
        }
        if self.is_done {
            return None;
        }
        let next = self.read().transpose();
        self.is_done = !matches!(next, Some(Ok(_)));
        next
    }
}

impl Part for RowReader<'_> {
    fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// Adds the place to an error of props, which the receiver of the rows parses without knowing where they come from.
    fn explain(&self, error: Error) -> Error {
        match (self.last.as_ref().and_then(broken_props), &self.opened) {
            (Some(broken), Some(opened)) => broken.at(Place::file(&opened.partition.name)),
            _ => error,
        }
    }
}

/// Nodes that are mentioned only in edge rows of one piece.
pub(super) struct ImplicitPart<'a> {
    pub nock: &'a Nock,
    pub piece: usize,
    /// Their first mentions.
    pub mentions: &'a [Position],
    /// Number of the first of them.
    pub start: u64,
    pub batch_rows: usize,
}

impl<'a> ImplicitPart<'a> {
    /// Converts it to a part of a scan.
    pub fn part(self) -> Box<dyn Part + 'a> {
        let ImplicitPart { nock, piece, mut mentions, mut start, batch_rows } = self;
        let count = mentions.len() as u64;
        let open = move || {
            let wanted = Wanted { batch_rows, ..nock.wanted(ColumnSet::of(&[Column::DstName]), false) };
            let Some(of) = nock.pieces.get(piece) else { return Ok(None) };
            nock.partition_of(piece)?.read(of, None, &wanted).map(Some)
        };
        let mut row = 0;
        part::opened(Some(count), open, move |rows| {
            for rows in rows.iter_mut().flatten() {
                let rows = rows?;
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
                if !names.is_empty() {
                    let batch = nock.implicit_nodes(names, start);
                    start += now.len() as u64;
                    return Ok(Some(Batch::Nodes(batch)));
                }
            }
            Ok(None)
        })
    }
}

impl Nock {
    /// Creates nodes without a row, as the published library does: truth 1.0, not from RDF, without labels or properties.
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
        NodeBatch { ty: 0, start, numbers: None, rows, keys: Some(keys), labels: None, properties }
    }
}
