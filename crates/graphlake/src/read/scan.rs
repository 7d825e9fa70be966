//! Live triples of a graph and a predicate.

use isomorph_error::Result;
use isomorph_model::faces::{Object, Quad};

use super::{GraphLake, Order};
use crate::cursor::Cursor;
use crate::lookup::Wanted;
use crate::merge::Merge;
use crate::record::Prefixes;
use crate::snapshot::{DataFile, NamedGraph};
use crate::term;

/// The triples of a predicate in a graph, or a section of them, in an order.
#[derive(Debug, Clone)]
pub struct Section<'a> {
    graph: &'a NamedGraph,
    predicate: &'a str,
    order: Order,
    /// Which of them are wanted; all, if they are not read by subject.
    stretch: Wanted,
}

impl Section<'_> {
    /// The name of its graph in the snapshot.
    pub(super) fn graph_name(&self) -> &str {
        &self.graph.name
    }
}

impl GraphLake {
    /// Returns the live triples of `predicate` in `graph`, in `order`.
    pub(crate) fn merge(&self, graph: &NamedGraph, predicate: &str, order: Order) -> Result<Merge> {
        match self.files_in(graph, predicate) {
            Some(files) => self.merge_of(graph, files, order, &Wanted::All),
            None => Ok(Merge::new(order, self.options.naive)),
        }
    }

    /// The same triples by subject; at the end, the merge knows which of them are live although they have deletions.
    pub(crate) fn merge_noting(&self, graph: &NamedGraph, predicate: &str) -> Result<Merge> {
        match self.files_in(graph, predicate) {
            Some(files) => self.merge_with((graph, files), Order::Subject, &Wanted::All, true),
            None => Ok(Merge::new(Order::Subject, self.options.naive)),
        }
    }

    /// The wanted part of a file of the other order, sorted in memory.
    pub(crate) fn resorted(&self, file: &DataFile, order: Order, wanted: &Wanted) -> Result<Cursor> {
        let blob = self.file(file)?;
        let prefixes = Prefixes::of(file, &self.options).map_err(|error| error.at(blob.place()))?;
        Cursor::of_unsorted(blob, prefixes, order, wanted, (file, &self.options.budget))
    }

    /// Names of the named graphs, including those without triples.
    pub fn named_graphs(&self) -> impl Iterator<Item = &str> {
        self.snapshot.graphs.iter().filter_map(|graph| term::graph_name(&graph.name))
    }

    /// Names of the named graphs without live triples. No file is opened if nothing was deleted, or if the snapshot
    /// states the number of live triples; otherwise the files of a graph are read up to its first triple.
    ///
    /// # Errors
    /// Returns an error if a file is missing, truncated or damaged.
    pub fn empty_graphs(&self) -> Result<Vec<&str>> {
        let mut names = Vec::new();
        for graph in &self.snapshot.graphs {
            let name = term::graph_name(&graph.name).filter(|name| *name != term::QUOTED_GRAPH);
            if let Some(name) = name
                && self.is_empty(graph)?
            {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn is_empty(&self, graph: &NamedGraph) -> Result<bool> {
        if graph.tombstones.is_empty() {
            return Ok(graph.once().all(|file| file.triple_count == 0));
        }
        let stated = self.stated(graph);
        for predicate in graph.all_predicates() {
            let lives = match stated.get(predicate).copied().flatten() {
                Some(living) => living.triples > 0,
                None => self.merge(graph, predicate, Order::Subject)?.next()?.is_some(),
            };
            if lives {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Passes every quad of the snapshot to `take` in its RDF form: objects that are ids of quoted triples become
    /// triple terms, and the graph of quoted triples is omitted. Subjects stay ids, because RDF 1.2 has no triple terms
    /// as subjects. Otherwise as [`GraphLake::quads`].
    ///
    /// # Errors
    /// As [`GraphLake::quads`], and if quoted triples are nested too deeply.
    pub fn statements(&self, order: Order, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        self.sections(order).iter().try_for_each(|section| self.statements_of(section, take))
    }

    /// The same for one section.
    ///
    /// # Errors
    /// As [`GraphLake::statements`].
    pub fn statements_of(&self, section: &Section<'_>, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        let quoted = self.quoted()?;
        if quoted.is_empty() {
            return self.quads_of(section, take);
        }
        if section.graph.name == term::QUOTED_GRAPH {
            return Ok(());
        }
        self.quads_of(section, &mut |quad| {
            let object = if let Object::Term(term) = quad.object { quoted.term(term)? } else { None };
            take(Quad { object: object.as_deref().map_or(quad.object, Object::Term), ..quad })
        })
    }

    /// Passes every quad of the snapshot to `take` as it is stored: graph by graph, predicate by predicate, in `order`.
    /// Quoted triples are the IRIs of their ids; the graph of quoted triples is included.
    ///
    /// # Errors
    /// Returns an error if a file is missing, truncated or damaged, or if `take` returns one.
    pub fn quads(&self, order: Order, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        self.sections(order).iter().try_for_each(|section| self.quads_of(section, take))
    }

    /// Sections that can be read independently, on any thread, in the order of [`GraphLake::quads`].
    pub fn sections(&self, order: Order) -> Vec<Section<'_>> {
        let section = |(graph, predicate)| Section { graph, predicate, order, stretch: Wanted::All };
        self.predicates().map(section).collect()
    }

    /// The same by subject, with large predicates divided if their indexes allow it: in sequence, the sections give
    /// what [`Order::Subject`] gives, and one predicate occupies all threads.
    ///
    /// # Errors
    /// Returns an error if an index cannot be read.
    pub fn divided_sections(&self) -> Result<Vec<Section<'_>>> {
        let mut sections = Vec::new();
        for (graph, predicate) in self.predicates() {
            let stretches = self.stretches(graph, predicate)?.into_iter();
            let section = |stretch| Section { graph, predicate, order: Order::Subject, stretch };
            sections.extend(stretches.map(section));
        }
        Ok(sections)
    }

    /// Graphs with each of their predicates.
    fn predicates(&self) -> impl Iterator<Item = (&NamedGraph, &str)> {
        let of = |graph| NamedGraph::all_predicates(graph).into_iter().map(move |predicate| (graph, predicate));
        self.snapshot.graphs.iter().flat_map(of)
    }

    pub(super) fn quads_of(
        &self,
        Section { graph, predicate, order, stretch }: &Section<'_>,
        take: &mut dyn FnMut(Quad<'_>) -> Result<()>,
    ) -> Result<()> {
        let name = term::graph_name(&graph.name);
        let mut merge = match stretch {
            Wanted::All => self.merge(graph, predicate, *order),
            stretch => self.stretch(graph, predicate, stretch),
        }?;
        while let Some(triple) = merge.next()? {
            take(Quad { subject: &triple.subject, predicate, object: triple.as_object(), graph: name })?;
        }
        Ok(())
    }
}
