//! Reads triples as a property graph, if everything fits into memory: nothing is sorted or written.

use std::ops::Range;

use isomorph_error::{Error, Result};
use isomorph_graphlake::{GraphLake, TripleId};
use isomorph_model::faces::{EdgeRange, Object, Quad, QuadColumns, QuadRows, RDF_REIFIES, Triple};
use isomorph_model::{Batch, Part, Progress, Source, part};
use isomorph_rdf::RdfText;
use isomorph_storage::{Budget, Reservation};

use super::Lifting;
use super::edge_forms::FromForm;
use super::lowered::misfit;
use crate::arrow_limits::narrow;

/// Quads between two checks of memory use.
const AT_ONCE: u64 = 1 << 14;

/// Rows of a part: one thread reads them again.
const PART: usize = 1 << 16;

/// All rows of a graph.
pub(super) struct InMemory {
    rows: QuadRows,
    _held: Reservation,
}

/// The graph that is being collected.
struct Filling<'p> {
    columns: QuadColumns,
    held: Reservation,
    /// Memory limit in bytes.
    most: u64,
    /// Quads since the last check.
    quads: u64,
    fits: bool,
    progress: &'p dyn Progress,
}

impl InMemory {
    /// Reads all triples of `inner` within half of what is left of `budget`. Returns `None` if they do not fit, are
    /// neither a store nor a text, or describe a graph with other than plain columns.
    ///
    /// # Errors
    /// If the triples cannot be read, or do not describe a graph of the record.
    pub fn read(
        inner: &dyn Source,
        record: &Lifting,
        budget: &Budget,
        progress: &dyn Progress,
    ) -> Result<Option<InMemory>> {
        let Some(any) = inner.as_any() else { return Ok(None) };
        if let Some(lake) = any.downcast_ref::<GraphLake>().filter(|lake| lake.is_whole()) {
            return InMemory::fill(record, budget, progress, |filling| filling.lake(lake));
        }
        match any.downcast_ref::<RdfText>() {
            Some(text) => InMemory::of_quads(record, budget, progress, |take| text.quads(take)),
            None => Ok(None),
        }
    }

    /// The same for quads that `read` passes on, some of them more than once.
    ///
    /// # Errors
    /// As [`InMemory::read`].
    pub fn of_quads(
        record: &Lifting,
        budget: &Budget,
        progress: &dyn Progress,
        read: impl FnOnce(&mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()>,
    ) -> Result<Option<InMemory>> {
        InMemory::fill(record, budget, progress, |filling| {
            let mut put = |quad: Quad<'_>| {
                filling.columns.take(&quad);
                filling.count(0)
            };
            if record.edge_form().is_none() && record.iri_map.is_none() {
                return read(&mut put);
            }
            let mut form = FromForm::of(record, budget)?;
            read(&mut |quad| form.take(quad, &mut put))?;
            form.finish()
        })
    }

    fn fill(
        record: &Lifting,
        budget: &Budget,
        progress: &dyn Progress,
        read: impl FnOnce(&mut Filling<'_>) -> Result<()>,
    ) -> Result<Option<InMemory>> {
        let Some(columns) = QuadColumns::new(&record.graph, Some(&record.base)) else { return Ok(None) };
        let columns = columns.ordered_by_keys(record.ordered_by_keys);
        let (held, most) = (budget.reserve(0)?, budget.available() / 2);
        let mut filling = Filling { columns, held, most, quads: 0, fits: true, progress };
        progress.begin("read", None);
        let read = read(&mut filling).and_then(|()| filling.look(0));
        progress.end();
        if !filling.fits {
            return Ok(None);
        }
        read?;
        Ok(Some(InMemory { rows: filling.columns.finish().map_err(misfit)?, _held: filling.held }))
    }

    /// The parts of these node types and edge types.
    pub fn parts(&self, nodes: Range<usize>, edges: Range<usize>, batch_rows: usize) -> Vec<Box<dyn Part + '_>> {
        let (rows, at_once) = (&self.rows, batch_rows.max(1));
        let mut parts: Vec<Box<dyn Part + '_>> = Vec::new();
        for ty in nodes {
            let all = rows.node_rows(ty);
            let starts = (0..all).step_by(PART);
            parts.extend(starts.map(|start| nodes_part(rows, ty, at_once, start..all.min(start + PART))));
        }
        for ty in edges {
            let ranges = rows.edge_ranges(ty, PART.min(at_once));
            parts.extend(ranges.into_iter().map(|range| edges_part(rows, range)));
        }
        parts
    }
}

impl Filling<'_> {
    fn lake(&mut self, lake: &GraphLake) -> Result<()> {
        let mut ids = Ids::new();
        lake.quoted_triples(&mut |id, quad| {
            if let Object::Term(object) = quad.object
                && let Some(triple) = self.columns.triple(quad.subject, quad.predicate, object)
            {
                ids.insert(id, triple);
            }
            self.count(ids.memory())
        })?;
        lake.unquoted(&mut |quad| {
            self.stored(&ids, &quad)?;
            self.count(ids.memory())
        })
    }

    fn stored(&mut self, ids: &Ids, quad: &Quad<'_>) -> Result<()> {
        if ids.is_empty() {
            self.columns.take(quad);
            return Ok(());
        }
        // A triple term as a subject is resolved where it is needed: not here.
        if TripleId::of_term(quad.subject).is_some_and(|id| ids.get(&id).is_some()) {
            return Err(self.stop());
        }
        match quad.object {
            Object::Term(object) if quad.predicate == RDF_REIFIES => {
                if let Some(triple) = TripleId::of_term(object).and_then(|id| ids.get(&id)) {
                    self.columns.reify(quad.subject, triple, quad.graph);
                }
            }
            _ => self.columns.take(quad),
        }
        Ok(())
    }

    /// Counts a quad; `beside` is further memory in use.
    fn count(&mut self, beside: u64) -> Result<()> {
        self.quads += 1;
        if self.quads < AT_ONCE { Ok(()) } else { self.look(beside) }
    }

    /// Checks that memory use is within the limit.
    fn look(&mut self, beside: u64) -> Result<()> {
        self.progress.advance(std::mem::take(&mut self.quads))?;
        let needed = self.columns.memory() / 2 * 3 + beside;
        let missing = needed.saturating_sub(self.held.bytes());
        if needed > self.most || self.columns.is_full() || missing > 0 && !self.held.try_grow(missing) {
            return Err(self.stop());
        }
        Ok(())
    }

    /// Ends the attempt.
    fn stop(&mut self) -> Error {
        self.fits = false;
        Error::usage("not all triples fit into memory")
    }
}

/// Triples by id.
struct Ids {
    ids: Vec<(TripleId, Triple)>,
    /// Positions of ids by hash, each plus one; 0 is empty. The length is a power of two.
    table: Vec<u32>,
    /// Random and odd, so that whoever chooses triples cannot choose which of them collide.
    factor: u64,
}

impl Ids {
    fn new() -> Self {
        use std::hash::{BuildHasher, RandomState};
        Ids { ids: Vec::new(), table: vec![0; 64], factor: RandomState::new().hash_one(0u8) | 1 }
    }

    fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    fn memory(&self) -> u64 {
        (self.ids.capacity() * size_of::<(TripleId, Triple)>() + 4 * self.table.len()) as u64
    }

    /// The slot of an id: where it is, or where it would be inserted.
    fn slot(&self, id: &TripleId) -> usize {
        let half = id.0.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let mask = self.table.len() - 1;
        let mut at = (half.wrapping_mul(self.factor) >> 32) as usize & mask;
        while let Some(number) = self.table.get(at).and_then(|number| (*number as usize).checked_sub(1)) {
            if self.ids.get(number).is_some_and(|(known, _)| known == id) {
                break;
            }
            at = (at + 1) & mask;
        }
        at
    }

    fn get(&self, id: &TripleId) -> Option<Triple> {
        let number = self.table.get(self.slot(id)).copied()?.checked_sub(1)?;
        self.ids.get(number as usize).map(|(_, triple)| *triple)
    }

    fn insert(&mut self, id: TripleId, triple: Triple) {
        if self.ids.len() * 2 >= self.table.len() {
            self.table = vec![0; self.table.len() * 2];
            for number in 0..self.ids.len() {
                let slot = self.ids.get(number).map_or(0, |(id, _)| self.slot(id));
                if let Some(slot) = self.table.get_mut(slot) {
                    *slot = narrow(number + 1);
                }
            }
        }
        let slot = self.slot(&id);
        if let Some(slot) = self.table.get_mut(slot).filter(|slot| **slot == 0) {
            self.ids.push((id, triple));
            *slot = narrow(self.ids.len());
        }
    }
}

fn nodes_part(rows: &QuadRows, ty: usize, at_once: usize, range: Range<usize>) -> Box<dyn Part + '_> {
    let (count, end) = (range.len() as u64, range.end);
    let nodes = move |start: usize| {
        let nodes = rows.nodes(ty, start..end.min(start.saturating_add(at_once)));
        nodes.map(Batch::Nodes).map_err(misfit)
    };
    part::of(Some(count), range.step_by(at_once).map(nodes))
}

fn edges_part(rows: &QuadRows, range: EdgeRange) -> Box<dyn Part + '_> {
    let count = range.rows() as u64;
    part::of(Some(count), std::iter::once_with(move || rows.edges(&range).map(Batch::Edges).map_err(misfit)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn triples_are_found_by_their_ids() {
        let graph = isomorph_zoo::property_graphs().remove(3).1.graph;
        let mut columns = QuadColumns::new(&graph, None).unwrap();
        let ty = &graph.edges[0];
        let node = |at: usize, key: usize| format!("urn:x-isomorph:{}/{key}", graph.nodes[at].name);
        let relation = format!("urn:x-isomorph:{}", ty.relation.fixed().unwrap());
        let mut ids = Ids::new();
        let mut triple = |key: usize| columns.triple(&node(ty.source, key), &relation, &node(ty.target, key)).unwrap();
        let id = |key: usize| TripleId::of("urn:s", "urn:p", &Object::Term(&format!("urn:{key}")));
        for key in 0..1_000 {
            ids.insert(id(key), triple(key));
            ids.insert(id(key / 2), triple(key));
        }
        for key in 0..1_000 {
            assert_eq!(format!("{:?}", ids.get(&id(key)).unwrap()), format!("{:?}", triple(key)));
        }
        assert!(ids.get(&id(1_000)).is_none());
    }
}
