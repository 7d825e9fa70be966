//! Triples shown as the property graph that they say.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use isomorph_error::{Error, Result};
use isomorph_graphlake::GraphLake;
use isomorph_model::faces::{FromQuads, Quad, Quads, Rows};
use isomorph_model::{
    About, Batch, EdgeBatch, EndForm, Graph, KeyKind, NodeId, Part, Progress, Request, Side, Source, Tables as Scanned,
};
use isomorph_storage::{Budget, Scratch};

use super::subjects::{Collecting, Said, Subjects};
use super::tables::{EdgesPart, NodesPart, Sorted, Tables};
use super::{Lifting, neighbors};
use crate::mapping::shred::CARRY_FITS;
use crate::progress::Silent;

/// Quads that become rows at once: these are held in memory.
const TOGETHER: usize = 1 << 15;

/// Shows triples as the property graph that was lifted to them.
pub struct Lowered {
    inner: Arc<dyn Source>,
    record: Lifting,
    budget: Budget,
    sorted: OnceLock<Sorted>,
    /// Held by who sorts, so that nobody does it twice.
    sorting: Mutex<()>,
}

impl Lowered {
    /// Shows `inner` as `record.graph`. Nothing is read before it is asked for; then all is sorted, within `budget`.
    ///
    /// # Errors
    /// [`CARRY_FITS`] when it is no RDF.
    pub fn new(inner: Arc<dyn Source>, record: &Lifting, budget: &Budget) -> Result<Self> {
        if inner.graph().nodes.iter().any(|ty| ty.key.kind != KeyKind::Term) {
            return Err(Error::broken(&CARRY_FITS, "what was lifted to RDF is none"));
        }
        let (record, budget) = (record.clone(), budget.clone());
        Ok(Lowered { inner, record, budget, sorted: OnceLock::new(), sorting: Mutex::new(()) })
    }

    /// The rows of all tables, sorted when they are first asked for.
    fn sorted(&self, progress: &dyn Progress) -> Result<&Sorted> {
        let _alone = self.sorting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sorted) = self.sorted.get() {
            return Ok(sorted);
        }
        let sorted = self.sort(progress)?;
        Ok(self.sorted.get_or_init(|| sorted))
    }

    fn sort(&self, progress: &dyn Progress) -> Result<Sorted> {
        let scratch = Scratch::new(None)?;
        let available = self.budget.available();
        let mut tables = Tables::new(&self.record.graph, &self.budget, &scratch, available / 3);
        let subjects = self.collect(&mut tables, (available / 3, &scratch), progress)?;
        let mut chunk = self.reader();
        let (mut stream, mut last) = (subjects.sorted.stream()?, None);
        progress.begin("rows", Some(subjects.sorted.rows()));
        while let Some(batch) = stream.next_batch()? {
            progress.advance(batch.other.len() as u64)?;
            let said = Said::of(&batch.payload)?;
            for (row, subject) in batch.aligned.values().iter().zip(batch.other.values()).enumerate() {
                if last != Some((*subject.0, *subject.1)) && chunk.len() >= TOGETHER {
                    put(&mut chunk, &mut tables)?;
                }
                last = Some((*subject.0, *subject.1));
                chunk.take(said.quad(row, &subjects.names));
            }
        }
        put(&mut chunk, &mut tables)?;
        progress.end();
        drop(stream);
        drop(subjects);
        tables.finish()
    }

    fn reader(&self) -> FromQuads<'_> {
        reader(&self.record)
    }
}

/// What tells rows of the graph of a record.
pub(super) fn reader(record: &Lifting) -> FromQuads<'_> {
    FromQuads::new(&record.graph, Some(&record.base))
}

/// Puts the rows that the quads of `chunk` say into their tables.
fn put(chunk: &mut FromQuads<'_>, tables: &mut Tables<'_>) -> Result<()> {
    chunk.rows(&mut |rows| match rows {
        Rows::Nodes(batch, positions) => tables.nodes(*batch, positions),
        Rows::Edges(edges) => tables.edges(*edges),
    })
}

impl Lowered {
    /// Reads everything; edges that no subject has to be known for go to their tables at once.
    fn collect(
        &self,
        tables: &mut Tables<'_>,
        (memory, scratch): (u64, &Scratch),
        progress: &dyn Progress,
    ) -> Result<Subjects> {
        let source = self.inner.as_ref();
        let mut subjects = Collecting::new(&self.budget, memory, scratch)?;
        let mut edges = self.reader();
        let mut quads = Quads::new(source.graph(), None);
        let parts = source.scan(&Request::of(Scanned::All))?;
        progress.begin("read", parts.iter().map(|part| part.rows()).sum());
        let mut take = |quad: Quad<'_>| {
            if !edges.is_edge(&quad) {
                return subjects.push(&quad);
            }
            edges.take(quad);
            if edges.len() >= TOGETHER { put(&mut edges, tables) } else { Ok(()) }
        };
        for part in &parts {
            part.read(&mut |batch| {
                progress.advance(batch.rows() as u64)?;
                match batch {
                    // Nodes of RDF are implied, and a graph by itself says nothing of a property graph.
                    Batch::Edges(_) | Batch::Values(_) => quads.batch(&batch, &mut take),
                    _ => Ok(()),
                }
            })?;
        }
        quads.finish(&mut take)?;
        progress.end();
        put(&mut edges, tables)?;
        subjects.finish()
    }
}

impl Source for Lowered {
    fn graph(&self) -> &Graph {
        &self.record.graph
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)?;
        self.sorted(progress).map(|_| ())
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let graph = &self.record.graph;
        let (nodes, edges) = match request.tables {
            Scanned::All => (0..graph.nodes.len(), 0..graph.edges.len()),
            Scanned::AllNodes => (0..graph.nodes.len(), 0..0),
            Scanned::AllEdges => (0..0, 0..graph.edges.len()),
            Scanned::Nodes(ty) | Scanned::NodeKeys(ty) => (ty..ty + 1, 0..0),
            Scanned::Edges(ty) | Scanned::EdgeEnds(ty) => (0..0, ty..ty + 1),
            Scanned::Rest => (0..0, 0..0),
        };
        let sorted = self.sorted(&Silent)?;
        let mut parts: Vec<Box<dyn Part + '_>> = Vec::new();
        for ty in nodes {
            if let Some(Some(sorted)) = sorted.nodes.get(ty) {
                parts.push(Box::new(NodesPart { graph, ty, sorted }));
            }
        }
        for ty in edges {
            if let Some(Some(sorted)) = sorted.edges.get(ty) {
                parts.push(Box::new(EdgesPart { graph, ty, sorted }));
            }
        }
        Ok(parts)
    }

    fn end_form(&self, ty: usize) -> EndForm {
        let graph = &self.record.graph;
        let keyless = |at: usize| graph.nodes.get(at).is_some_and(|ty| ty.key.kind == KeyKind::Row);
        match graph.edges.get(ty) {
            Some(ty) if keyless(ty.source) && keyless(ty.target) => EndForm::Rows,
            _ => EndForm::Keys,
        }
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Vec<EdgeBatch>> {
        let lake = self.inner.as_any().and_then(|inner| inner.downcast_ref::<GraphLake>());
        let lake = lake.ok_or_else(|| Error::unsupported("only stores of GraphLake find the triples of a node"))?;
        neighbors::neighbors(lake, &self.record, edge, node, side)
    }

    fn about(&self) -> About {
        About { edge_layouts: Vec::new(), ..self.inner.about() }
    }
}
