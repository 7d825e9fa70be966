//! Shows triples as the property graph that they describe.

use std::sync::Arc;

use isomorph_error::{Error, Kind, Result};
use isomorph_graphlake::GraphLake;
use isomorph_model::faces::{FromQuads, Quad, Quads, Rows};
use isomorph_model::{
    About, Batch, EndForm, Graph, KeyKind, NodeId, Part, Progress, Request, Side, Source, Tables as Scanned,
};
use isomorph_storage::{Budget, Resources, Scratch};

use super::edge_forms::FromForm;
use super::in_memory::InMemory;
use super::tables::{Sorted, Tables, edges_part, nodes_part};
use super::{Lifting, end_form, neighbors, predicate_object, types_of};
use crate::mapping::CARRY_FITS;
use crate::mapping::subjects::{Said, SubjectSorter, Subjects, rows};
use crate::mapping::view::near;
use crate::progress::Silent;
use crate::read_once::ReadOnce;

/// Quads that become rows at once: they are held in memory.
const TOGETHER: usize = 1 << 15;

/// Shows triples as the property graph that was lifted to them.
pub struct Lowered {
    inner: Arc<dyn Source>,
    record: Lifting,
    budget: Budget,
    shown: ReadOnce<Shown>,
}

/// The rows of all tables.
enum Shown {
    InMemory(Box<InMemory>),
    Sorted(Sorted),
}

impl Lowered {
    /// Shows `inner` as `record.graph`. Nothing is read before the first request; then everything is, within `budget`.
    ///
    /// # Errors
    /// Returns [`CARRY_FITS`] if it is not RDF.
    pub fn new(inner: Arc<dyn Source>, record: &Lifting, budget: &Budget) -> Result<Self> {
        if inner.graph().nodes.iter().any(|ty| ty.key.kind != KeyKind::Term) {
            return Err(Error::broken(&CARRY_FITS, "the data is not RDF"));
        }
        let (record, budget) = (record.clone(), budget.clone());
        Ok(Lowered { inner, record, budget, shown: ReadOnce::default() })
    }

    /// The same graph with its rows sorted, although they fit into memory.
    #[cfg(test)]
    pub(super) fn sorted(self) -> Result<Self> {
        let shown = Shown::Sorted(self.sort(1, &Silent)?).into();
        Ok(Lowered { shown, ..self })
    }

    /// Whether its rows are in memory, if they were read.
    #[cfg(test)]
    pub(super) fn is_in_memory(&self) -> bool {
        matches!(self.shown.known(), Some(Shown::InMemory(_)))
    }

    /// The rows of all tables, read on the first request.
    fn shown(&self, threads: usize, progress: &dyn Progress) -> Result<&Shown> {
        self.shown.get(|| match InMemory::read(self.inner.as_ref(), &self.record, &self.budget, progress)? {
            Some(rows) => Ok(Shown::InMemory(Box::new(rows))),
            None => self.sort(threads, progress).map(Shown::Sorted),
        })
    }

    fn sort(&self, threads: usize, progress: &dyn Progress) -> Result<Sorted> {
        let scratch = Scratch::new(None)?;
        let available = self.budget.available();
        let mut tables = Tables::new(&self.record.graph, &self.budget, &scratch, available / 3);
        let resources = Resources { threads, budget: self.budget.clone(), scratch: scratch.clone() };
        let subjects = self.collect(&mut tables, (&resources, available / 3), progress)?;
        let (mut chunk, mut last) = (self.reader(), String::new());
        progress.begin("rows", None);
        for stream in subjects.streams(1)? {
            for batch in stream {
                let batch = batch?;
                progress.advance(batch.other.len() as u64)?;
                for (subject, what) in rows(&batch)? {
                    let Said::Value(_, what) = what else { continue };
                    if last != subject {
                        if chunk.len() >= TOGETHER {
                            put(&mut chunk, &mut tables)?;
                        }
                        last.clear();
                        last.push_str(subject);
                    }
                    chunk.take(predicate_object::quad(subject, what)?);
                }
            }
        }
        put(&mut chunk, &mut tables)?;
        progress.end();
        drop(subjects);
        tables.finish()
    }

    fn reader(&self) -> FromQuads<'_> {
        reader(&self.record)
    }

    /// The error for a look-up in a text, with the pattern that finds the triples of the node.
    fn no_look_ups(&self, edge: usize, node: NodeId<'_>, side: Side) -> Error {
        let graph = &self.record.graph;
        let error = Error::unsupported("a text of RDF is not searched for the edges of one node");
        let near = graph.edges.get(edge).map(|ty| near(ty, side));
        let has_keys = near.and_then(|ty| graph.nodes.get(ty)).is_some_and(|ty| ty.key.kind != KeyKind::Row);
        let key = match node {
            NodeId::Key(key) => Some(key.to_owned()),
            NodeId::Row(row) => Some(row.to_string()).filter(|_| !has_keys),
        };
        let error = match near.zip(key).map(|(ty, key)| self.reader().term(ty, &key)) {
            Some(iri) if side == Side::Out => {
                error.hint(format!("isomorph match PATH '<{iri}> ? ?'    finds its triples"))
            }
            Some(iri) => error.hint(format!("isomorph match PATH '? ? <{iri}>'    finds the triples that reach it")),
            None => error,
        };
        error.hint("isomorph convert PATH STORE --to graphlake    writes a store, which is searched")
    }
}

/// The reader of rows for the graph of a record.
pub(super) fn reader(record: &Lifting) -> FromQuads<'_> {
    FromQuads::new(&record.graph, Some(&record.base)).ordered_by_keys(record.ordered_by_keys)
}

/// Moves the rows of the quads in `chunk` to their tables.
fn put(chunk: &mut FromQuads<'_>, tables: &mut Tables<'_>) -> Result<()> {
    let put = chunk.rows(&mut |rows| match rows {
        Rows::Nodes(batch, places) => tables.nodes(*batch, places),
        Rows::Edges(edges) => tables.edges(*edges),
    });
    put.map_err(misfit)
}

/// The error for triples that do not describe a graph of the record: a key that is not a number, a node without a row.
pub(super) fn misfit(error: Error) -> Error {
    match (error.kind(), error.broken_rule()) {
        (Kind::Malformed, None) => error.rule(&CARRY_FITS),
        _ => error,
    }
}

impl Lowered {
    /// Reads everything; edges for which no subject has to be known are added to their tables at once.
    fn collect(
        &self,
        tables: &mut Tables<'_>,
        (resources, memory): (&Resources, u64),
        progress: &dyn Progress,
    ) -> Result<Subjects> {
        let source = self.inner.as_ref();
        let sorter = SubjectSorter::new(resources, memory)?;
        let (mut subjects, mut what) = (sorter.rows(), String::new());
        let mut edges = self.reader();
        let mut quads = Quads::new(source.graph(), None);
        let mut parts = source.scan(&Request::of(Scanned::All))?;
        progress.begin("read", parts.iter().map(|part| part.rows()).sum());
        let mut put_quad = |quad: Quad<'_>| {
            if !edges.is_edge(&quad) {
                what.clear();
                predicate_object::push(&mut what, &quad);
                return subjects.push(quad.subject, Said::Value(0, &what));
            }
            edges.take(quad);
            if edges.len() >= TOGETHER { put(&mut edges, tables) } else { Ok(()) }
        };
        let mut form = FromForm::of(&self.record, &self.budget)?;
        let mut take = |quad: Quad<'_>| form.take(quad, &mut put_quad);
        for part in &mut parts {
            part.read(&mut |batch| {
                progress.advance(batch.rows() as u64)?;
                match batch {
                    // Nodes of RDF are implied, and a graph without triples has no part in a property graph.
                    Batch::Edges(_) | Batch::Values(_) => quads.batch(&batch, &mut take),
                    _ => Ok(()),
                }
            })?;
        }
        quads.finish(&mut take)?;
        progress.end();
        form.finish()?;
        put(&mut edges, tables)?;
        subjects.flush()?;
        sorter.finish()
    }
}

impl Source for Lowered {
    fn graph(&self) -> &Graph {
        &self.record.graph
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)?;
        self.shown(threads, progress).map(|_| ())
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let graph = &self.record.graph;
        let (nodes, edges) = types_of(graph, request.tables);
        let sorted = match self.shown(1, &Silent)? {
            Shown::InMemory(rows) => return Ok(rows.parts(nodes, edges, request.batch_rows)),
            Shown::Sorted(sorted) => sorted,
        };
        let mut parts: Vec<Box<dyn Part + '_>> = Vec::new();
        for ty in nodes {
            if let Some(Some(sorted)) = sorted.nodes.get(ty) {
                parts.push(nodes_part(graph, ty, sorted));
            }
        }
        for ty in edges {
            if let Some(Some(sorted)) = sorted.edges.get(ty) {
                parts.push(edges_part(graph, ty, sorted));
            }
        }
        Ok(parts)
    }

    fn end_form(&self, ty: usize) -> EndForm {
        end_form(&self.record.graph, ty)
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        let lake = self.inner.as_any().and_then(|inner| inner.downcast_ref::<GraphLake>());
        match lake {
            Some(lake) => neighbors::neighbors(lake, &self.record, edge, node, side),
            None => Err(self.no_look_ups(edge, node, side)),
        }
    }

    fn about(&self) -> About {
        About { edge_layouts: Vec::new(), ..self.inner.about() }
    }
}
