//! Files and the tables of their sidecar as one graph.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{ArrayRef, BooleanArray, Int64Array, RecordBatch, UInt64Array};
use arrow_cast::cast;
use arrow_schema::DataType;
use arrow_select::concat::concat_batches;
use isomorph_error::{Error, Kind, Result};
use isomorph_model::{
    Batch, Columns, EdgeBatch, EdgeOrder, EndForm, Ends, Graph, KeyKind, NodeBatch, NodeId, Part, Request, Side,
    Source, Tables, part,
};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::Batches;
use isomorph_tables::lookup::{RowKeys, RowKeysBuilder};

use super::table::Stored;
use super::{Detachment, Naming};
use crate::mapping::arrays::{as_type, labels_of, malformed};
use crate::mapping::view::{edges_as, near, positions};
use crate::mapping::{CARRY_FITS, declared, forward};
use crate::read_once::ReadOnce;

/// Nodes of the tables, and edges of the files with the columns of the tables.
pub struct Attached {
    inner: Arc<dyn Source>,
    record: Detachment,
    shown: Graph,
    nodes: Vec<Option<Stored>>,
    edges: Vec<Option<Stored>>,
    budget: Budget,
    /// The keys of nodes by their rows, which are read when the first edge is.
    keys: Vec<ReadOnce<RowKeys>>,
}

fn misfit(what: impl Into<String>) -> Error {
    Error::broken(&CARRY_FITS, what.into())
}

fn not_there() -> Error {
    misfit("an edge ends in a number that no node of the sidecar has")
}

impl Attached {
    /// Shows `inner`, which is `record.written`, as `record.whole`. Opens the tables, and reads nothing of them.
    ///
    /// # Errors
    /// If the tables are not there, or the files have another graph.
    pub fn new(inner: Arc<dyn Source>, record: &Detachment, budget: &Budget) -> Result<Self> {
        let folder = record.folder.as_ref().ok_or_else(|| Error::usage("it is not known where the tables are"))?;
        let inner = declared(inner, &record.written)?;
        let open = |all: &[bool], open: &dyn Fn(usize) -> Result<Stored>| {
            let tables = all.iter().enumerate().map(|(ty, table)| table.then(|| open(ty)).transpose());
            tables.collect::<Result<Vec<_>>>()
        };
        let nodes = open(&record.nodes, &|ty| Stored::nodes(folder, record, ty))?;
        let edges = open(&record.edges, &|ty| Stored::edges(folder, record, ty))?;
        let mut shown = record.whole.clone();
        let counted = shown.nodes.iter_mut().zip(&inner.graph().nodes).zip(&nodes);
        counted.for_each(|((ty, own), table)| ty.rows = table.as_ref().map_or(own.rows, |table| Some(table.rows())));
        shown.edges.iter_mut().zip(&inner.graph().edges).for_each(|(ty, own)| ty.rows = own.rows);
        let keys = nodes.iter().map(|_| ReadOnce::default()).collect();
        Ok(Attached { inner, record: record.clone(), shown, nodes, edges, budget: budget.clone(), keys })
    }

    /// The nodes of a type, or their keys.
    fn node_parts(&self, ty: usize, bare: bool, batch_rows: usize) -> Result<Vec<Box<dyn Part + '_>>> {
        let Some(Some(table)) = self.nodes.get(ty) else {
            let tables = if bare { Tables::NodeKeys(ty) } else { Tables::Nodes(ty) };
            return self.inner.scan(&Request::of(tables).in_batches_of(batch_rows));
        };
        let has_keys = self.shown.nodes.get(ty).is_some_and(|own| own.key.kind != KeyKind::Row);
        let part = move |(piece, start, rows): (usize, u64, u64)| {
            let mut next = start;
            let step = move |batches: &mut Batches, take: part::Take<'_>| {
                let Some(batch) = batches.next() else { return Ok(false) };
                let batch = batch?;
                let columns = table.columns(&batch)?;
                take(Batch::Nodes(self.node_batch(ty, next, batch.num_rows(), columns, bare)?))?;
                next += batch.num_rows() as u64;
                Ok(true)
            };
            // Keys alone are the first column.
            let columns = (bare && has_keys).then_some(1);
            part::stepped(Some(rows), move || table.read(Some(piece), columns, batch_rows), step)
        };
        Ok(table.pieces().map(part).collect())
    }

    fn node_batch(&self, ty: usize, start: u64, rows: usize, columns: Columns, bare: bool) -> Result<NodeBatch> {
        let own = self.shown.nodes.get(ty).ok_or_else(|| Error::usage("no such node type"))?;
        let mut columns = columns.into_iter();
        let mut next = || columns.next().flatten();
        let keys = if own.key.kind == KeyKind::Row { None } else { next() };
        if bare {
            let properties = vec![None; own.properties.len()];
            return Ok(NodeBatch { keys, properties, ..NodeBatch::of(ty, start, rows) });
        }
        let labels = if self.record.has_labels(ty) { next().as_ref().map(labels_of).transpose()? } else { None };
        Ok(NodeBatch { keys, labels, properties: columns.collect(), ..NodeBatch::of(ty, start, rows) })
    }

    /// The edges of a type, or their ends.
    fn edge_parts(&self, ty: usize, bare: bool, batch_rows: usize) -> Result<Vec<Box<dyn Part + '_>>> {
        let tables = if bare { Tables::EdgeEnds(ty) } else { Tables::Edges(ty) };
        let parts = self.inner.scan(&Request::of(tables).in_batches_of(batch_rows))?;
        // Directions come with ends, in the first column.
        let columns = bare.then_some(1);
        let is_told = !bare || self.record.has_directions(ty);
        let Some(table) = self.edges.get(ty).and_then(Option::as_ref).filter(|_| is_told) else {
            let shown = |inner| edges_as(inner, move |batch| self.edge_batch(batch, None));
            return Ok(parts.into_iter().map(shown).collect());
        };
        // Rows belong together by their positions, so that they are read one after another.
        let rows = self.shown.edges.get(ty).and_then(|ty| ty.rows);
        let open = move || {
            Ok(Paired { parts: parts.into(), table, batches: table.read(None, columns, batch_rows)?, ahead: None })
        };
        Ok(vec![part::stepped(rows, open, move |paired: &mut Paired<'_>, take| {
            let Some((batch, columns)) = paired.next()? else { return Ok(false) };
            take(Batch::Edges(self.edge_batch(batch, Some(columns))?))?;
            Ok(true)
        })])
    }

    /// Edges of the files with the columns of their table; without these, they have ends alone.
    fn edge_batch(&self, batch: EdgeBatch, columns: Option<Columns>) -> Result<EdgeBatch> {
        let types = (self.shown.edges.get(batch.ty), self.record.written.edges.get(batch.ty));
        let (Some(whole), Some(written)) = types else { return Err(Error::usage("no such edge type")) };
        let EdgeBatch { ty, rows: _, relations, source, target, layers, mut directed, keys, mut properties } = batch;
        let found = positions(&whole.properties, &written.properties).into_iter();
        let mut all: Columns = found.map(|at| properties.get_mut(at?)?.take()).collect();
        if let Some(columns) = columns {
            let mut columns = columns.into_iter();
            if self.record.has_directions(ty) {
                directed = columns.next().flatten().and_then(|own| own.as_boolean_opt().cloned());
            }
            for (at, column) in self.record.detached(ty).into_iter().zip(columns) {
                if let Some(slot) = all.get_mut(at) {
                    *slot = column;
                }
            }
        }
        let (source, target) = (self.ends(whole.source, source)?, self.ends(whole.target, target)?);
        Ok(EdgeBatch { relations, layers, directed, keys, properties: all, ..EdgeBatch::between(ty, source, target) })
    }

    /// The ends of edges as the graph names nodes of type `ty`: by key, if they have one, because types may be divided by their keys.
    fn ends(&self, ty: usize, ends: Ends) -> Result<Ends> {
        let own = self.shown.nodes.get(ty).ok_or_else(|| Error::usage("no such node type"))?;
        let is_by_row = own.key.kind == KeyKind::Row && self.record.naming == Naming::Keys;
        if is_by_row || !self.record.nodes.get(ty).is_some_and(|table| *table) {
            return Ok(ends);
        }
        let rows = match (self.record.naming, ends) {
            (Naming::Keys | Naming::Numbers, Ends::Keys(keys)) => {
                return as_type(&keys, &own.key.data_type).map(Ends::Keys);
            }
            (Naming::Numbers, Ends::Rows(rows)) => {
                let numbers = rows.values().iter().map(|row| i64::try_from(*row).map(|row| row + 1));
                let numbers: std::result::Result<Vec<i64>, _> = numbers.collect();
                let numbers: ArrayRef = Arc::new(Int64Array::from(numbers.map_err(|_| misfit("too many nodes"))?));
                return as_type(&numbers, &own.key.data_type).map(Ends::Keys);
            }
            (Naming::Keys | Naming::Positions, Ends::Rows(rows)) => rows,
            (Naming::Positions, Ends::Keys(keys)) => {
                let numbers = as_type(&keys, &DataType::Int64)?;
                let row = |number: &i64| u64::try_from(*number).ok()?.checked_sub(1);
                let found = numbers.as_primitive::<Int64Type>().values().iter().map(row).collect::<Option<Vec<u64>>>();
                UInt64Array::from(found.ok_or_else(not_there)?)
            }
        };
        let count = own.rows.unwrap_or_default();
        if rows.values().iter().any(|row| *row >= count) {
            return Err(not_there());
        }
        if own.key.kind == KeyKind::Row {
            return Ok(Ends::Rows(rows));
        }
        let keys = self.keys_of(ty)?.gather(rows.values())?;
        as_type(&keys, &own.key.data_type).map(Ends::Keys)
    }

    /// The keys of nodes of type `ty` by their rows.
    fn keys_of(&self, ty: usize) -> Result<&RowKeys> {
        self.keys.get(ty).ok_or_else(|| Error::usage("no such node type"))?.get(|| {
            let mut builder = RowKeysBuilder::new(&self.budget, &Scratch::new(None)?, self.budget.available() / 4);
            for batch in self.node_parts(ty, true, 1 << 13)?.into_iter().flatten() {
                let Batch::Nodes(nodes) = batch? else { continue };
                nodes.keys.iter().try_for_each(|keys| builder.push(keys.as_ref()))?;
            }
            builder.finish()
        })
    }

    /// The row of a node of type `ty`.
    fn row_of(&self, ty: usize, key: &str) -> Result<u64> {
        for part in self.node_parts(ty, true, 1 << 13)? {
            for batch in part {
                let Batch::Nodes(nodes) = batch? else { continue };
                let at = match &nodes.keys {
                    Some(keys) => equal_to(keys, key)?.iter().position(|own| own == Some(true)),
                    None => key
                        .parse::<u64>()
                        .ok()
                        .and_then(|row| row.checked_sub(nodes.start))
                        .and_then(|at| usize::try_from(at).ok())
                        .filter(|at| *at < nodes.rows),
                };
                if let Some(at) = at {
                    return Ok(nodes.start + at as u64);
                }
            }
        }
        Err(Error::new(Kind::NotFound, format!("there is no node {key}")))
    }
}

/// Which keys equal `key`.
fn equal_to(keys: &ArrayRef, key: &str) -> Result<BooleanArray> {
    let texts = cast(keys, &DataType::Utf8).map_err(malformed)?;
    Ok(texts.as_string::<i32>().iter().map(|own| Some(own == Some(key))).collect())
}

/// Edges of files, and rows of their table at the same positions.
struct Paired<'a> {
    parts: VecDeque<Box<dyn Part + 'a>>,
    table: &'a Stored,
    batches: Batches,
    /// Rows of the table that are read already.
    ahead: Option<RecordBatch>,
}

impl Paired<'_> {
    fn next(&mut self) -> Result<Option<(EdgeBatch, Columns)>> {
        loop {
            let Some(part) = self.parts.front_mut() else { return self.end() };
            match part.next().transpose()? {
                Some(Batch::Edges(edges)) if edges.rows > 0 => {
                    let rows = self.take(edges.rows)?;
                    return Ok(Some((edges, self.table.columns(&rows)?)));
                }
                Some(_) => {}
                None => {
                    self.parts.pop_front();
                }
            }
        }
    }

    /// The next rows of the table.
    fn take(&mut self, wanted: usize) -> Result<RecordBatch> {
        let (mut pieces, mut missing) = (Vec::new(), wanted);
        while missing > 0 {
            let rows = match self.ahead.take() {
                Some(rows) => rows,
                None => self.batches.next().ok_or_else(|| misfit("the data has more edges than the sidecar"))??,
            };
            let own = missing.min(rows.num_rows());
            pieces.push(rows.slice(0, own));
            missing -= own;
            self.ahead = (own < rows.num_rows()).then(|| rows.slice(own, rows.num_rows() - own));
        }
        let schema = pieces.first().map(RecordBatch::schema).ok_or_else(|| Error::usage("no rows are wanted"))?;
        concat_batches(&schema, &pieces).map_err(malformed)
    }

    fn end(&mut self) -> Result<Option<(EdgeBatch, Columns)>> {
        match self.ahead.take().map_or_else(|| self.batches.next().transpose(), |rows| Ok(Some(rows)))? {
            Some(rows) if rows.num_rows() > 0 => Err(misfit("the data has fewer edges than the sidecar")),
            _ => Ok(None),
        }
    }
}

impl Source for Attached {
    forward!(inner: prepare about validate);

    fn graph(&self) -> &Graph {
        &self.shown
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::unsupported("edges are in the order of the files"));
        }
        let rows = request.batch_rows;
        let nodes = |bare: bool| {
            let all = (0..self.shown.nodes.len()).map(move |ty| self.node_parts(ty, bare, rows));
            all.collect::<Result<Vec<_>>>().map(|all| all.into_iter().flatten().collect::<Vec<_>>())
        };
        let edges = || {
            let all = (0..self.shown.edges.len()).map(|ty| self.edge_parts(ty, false, rows));
            all.collect::<Result<Vec<_>>>().map(|all| all.into_iter().flatten().collect::<Vec<_>>())
        };
        match request.tables {
            Tables::Nodes(ty) => self.node_parts(ty, false, rows),
            Tables::NodeKeys(ty) => self.node_parts(ty, true, rows),
            Tables::Edges(ty) => self.edge_parts(ty, false, rows),
            Tables::EdgeEnds(ty) => self.edge_parts(ty, true, rows),
            Tables::AllNodes => nodes(request.is_of_keys()),
            Tables::AllEdges => edges(),
            Tables::All => Ok(nodes(false)?.into_iter().chain(edges()?).collect()),
            Tables::Rest => self.inner.scan(&request.whole()),
        }
    }

    fn end_form(&self, ty: usize) -> EndForm {
        let ends = self.shown.edges.get(ty).map(|own| [own.source, own.target]).unwrap_or_default();
        let has_table = |node: usize| self.record.nodes.get(node).is_some_and(|table| *table);
        let has_key = |node: usize| self.shown.nodes.get(node).is_some_and(|own| own.key.kind != KeyKind::Row);
        match ends.into_iter().any(has_table) && ends.into_iter().any(has_key) {
            true => EndForm::Keys,
            false => self.inner.end_form(ty),
        }
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let ty = self.shown.edges.get(edge).ok_or_else(|| Error::usage("no such edge type"))?;
        let near = near(ty, side);
        let (key, row) = match (node, self.end_form(edge)) {
            (NodeId::Key(key), _) => (key.to_owned(), self.row_of(near, key)?),
            (NodeId::Row(row), EndForm::Rows) => (String::new(), row),
            (NodeId::Row(_), EndForm::Keys) => {
                return Err(Error::unsupported("nodes are looked up by key").hint("give the key of the node"));
            }
        };
        let all = part::chained(self.edge_parts(edge, false, 1 << 13)?.into_iter().map(Ok))?;
        Ok(part::shown(all, move |batch, take| {
            let Batch::Edges(edges) = batch else { return Ok(()) };
            let hits: Vec<bool> = match if side == Side::Out { &edges.source } else { &edges.target } {
                Ends::Keys(keys) => equal_to(keys, &key)?.values().iter().collect(),
                Ends::Rows(rows) => rows.values().iter().map(|own| *own == row).collect(),
            };
            let mut at = 0;
            for run in hits.chunk_by(|left, right| left == right) {
                if run.first() == Some(&true) {
                    take(Batch::Edges(edges.slice(at, run.len())))?;
                }
                at += run.len();
            }
            Ok(())
        }))
    }
}
