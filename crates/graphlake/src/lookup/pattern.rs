//! Patterns, and the triples that match them.

use isomorph_error::Result;
use isomorph_model::faces::{InGraph, Object, Pattern, Quad};

use super::catalog::{Catalog, PredicateFiles};
use super::keys::Wanted;
use super::matches::Matches;
use super::question::Unit;
use crate::merge::Merge;
use crate::read::{GraphLake, Order};
use crate::snapshot::{DataFile, NamedGraph};
use crate::term::{self, Datatype};
use crate::triple::Triple;

/// Bytes that are read at once by a caller that divides large files.
const STRETCH: u64 = 8 << 20;

fn has_graph(pattern: &Pattern<'_>, graph: &NamedGraph) -> bool {
    match pattern.graph {
        InGraph::Any => true,
        InGraph::Default => term::graph_name(&graph.name).is_none(),
        InGraph::Named(name) => term::graph_name(&graph.name) == Some(name),
    }
}

/// The order in which the wanted triples are adjacent.
fn order(pattern: &Pattern<'_>) -> Order {
    if pattern.subject.is_none() && pattern.object.is_some() { Order::Object } else { Order::Subject }
}

impl GraphLake {
    /// Passes the quads that match `pattern` to `take`: graph by graph, predicate by predicate; by subject, or by
    /// object if only the object is known. Predicates and files whose bounds and filters exclude a match are not
    /// opened.
    ///
    /// # Errors
    /// Returns an error if a file is missing, truncated, damaged or not in order, or if `take` returns one.
    pub fn matching(&self, pattern: &Pattern<'_>, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        self.each_match(pattern, &mut |graph, predicate, triple| {
            let (subject, object) = (triple.subject.as_str(), triple.as_object());
            take(Quad { subject, predicate, object, graph: term::graph_name(&graph.name) })
        })
    }

    /// The same, as triples of predicates and graphs.
    pub(super) fn each_match<'s>(
        &'s self,
        pattern: &Pattern<'_>,
        take: &mut dyn FnMut(&'s NamedGraph, &'s str, &Triple) -> Result<()>,
    ) -> Result<()> {
        let mut matches = self.matches(pattern)?;
        while let Some((graph, predicate, triple)) = matches.next()? {
            take(graph, predicate, triple)?;
        }
        Ok(())
    }

    /// The same as an iterator.
    ///
    /// # Errors
    /// Returns an error if a term of the pattern cannot be parsed.
    pub(super) fn matches(&self, pattern: &Pattern<'_>) -> Result<Matches<'_>> {
        let order = order(pattern);
        let object = pattern.object.map(|object| wanted(&object));
        let key = match order {
            Order::Subject => pattern.subject,
            Order::Object => object.as_ref().map(|object| object.object.as_str()),
        };
        let only = match key {
            Some(key) => Wanted::key(key)?,
            None => Wanted::All,
        };
        let mut units = Vec::new();
        let graphs = self.snapshot.graphs.iter().zip(&self.catalog().graphs);
        for (graph, predicates) in graphs.filter(|(graph, _)| has_graph(pattern, graph)) {
            let found = match pattern.predicate {
                Some(predicate) => predicates.get(predicate).map(std::slice::from_ref).unwrap_or_default(),
                None => &predicates.all,
            };
            units.extend(found.iter().map(|files| (graph, files)));
        }
        Ok(Matches::new(self, order, object, only, units))
    }

    /// What look-ups know of the files.
    pub(super) fn catalog(&self) -> &Catalog {
        self.catalog.get_or_init(|| Catalog::of(&self.snapshot))
    }

    /// The files of a unit, with its graph.
    pub(super) fn files(&self, unit: &Unit) -> Option<(&PredicateFiles, &NamedGraph)> {
        Some((self.catalog().graphs.get(unit.graph)?.all.get(unit.predicate)?, self.snapshot.graphs.get(unit.graph)?))
    }

    /// Divides a predicate into sections by subject that can be read at the same time; returns it whole if it is not
    /// large or cannot be divided.
    ///
    /// # Errors
    /// Returns an error if an index cannot be read.
    pub(crate) fn stretches(&self, graph: &NamedGraph, predicate: &str) -> Result<Vec<Wanted>> {
        if self.size_of(graph, predicate, |file| file.size) < 2 * STRETCH {
            return Ok(vec![Wanted::All]);
        }
        let Some(files) = self.files_in(graph, predicate) else { return Ok(vec![Wanted::All]) };
        Ok(Wanted::divided(self.texts_between(graph, files, Order::Subject, STRETCH)?))
    }

    /// The live triples of a section, by subject.
    pub(crate) fn stretch(&self, graph: &NamedGraph, predicate: &str, stretch: &Wanted) -> Result<Merge> {
        match (stretch, self.files_in(graph, predicate)) {
            (Wanted::All, _) | (_, None) => self.merge(graph, predicate, Order::Subject),
            (_, Some(files)) => self.merge_of(graph, files, Order::Subject, stretch),
        }
    }

    /// Whether triples of a predicate lie by object in files of their own, so that those of some objects can be found there.
    pub(crate) fn is_by_object(&self, graph: &NamedGraph, predicate: &str) -> bool {
        let files = self.files_in(graph, predicate);
        files.is_some_and(|files| files.data(Order::Object).iter().all(|known| known.order() == Order::Object))
    }

    /// The living triples with some of the objects, by object.
    pub(crate) fn with_objects(&self, graph: &NamedGraph, predicate: &str, objects: &Wanted) -> Result<Merge> {
        match self.files_in(graph, predicate) {
            Some(files) => self.merge_of(graph, files, Order::Object, objects),
            None => self.merge(graph, predicate, Order::Object),
        }
    }

    /// The sum of something over the files by subject of a predicate.
    pub(crate) fn size_of(&self, graph: &NamedGraph, predicate: &str, of: impl Fn(&DataFile) -> u64) -> u64 {
        let known = self.files_in(graph, predicate).map(|files| files.data(Order::Subject)).unwrap_or_default();
        known.iter().filter_map(|known| known.file(graph)).map(of).fold(0, u64::saturating_add)
    }

    /// The files of a predicate in a graph of the snapshot.
    pub(crate) fn files_in(&self, graph: &NamedGraph, predicate: &str) -> Option<&PredicateFiles> {
        self.catalog().in_graph(&graph.name)?.get(predicate)
    }

    /// Texts that divide the triples of a predicate into parts of about this many bytes, from the index of its largest
    /// file.
    ///
    /// # Errors
    /// Returns an error if the index cannot be read.
    pub(super) fn texts_between(
        &self,
        graph: &NamedGraph,
        files: &PredicateFiles,
        order: Order,
        bytes: u64,
    ) -> Result<Vec<String>> {
        let all = || files.data(order).iter().filter_map(|known| Some((known, known.file(graph)?)));
        let Some((known, largest)) = all().max_by_key(|(_, file)| file.size) else { return Ok(Vec::new()) };
        // A file that may have to be sorted in memory should not be read several times.
        if !all().all(|(known, file)| known.at_hand(file, order).trusted) {
            return Ok(Vec::new());
        }
        let mut texts = known.divided(self, largest, order, bytes)?;
        // The starts of other files that are as large as a part are known without reading.
        let others = all().filter(|(_, file)| file.size >= bytes && file.path != largest.path);
        texts.extend(others.map(|(_, file)| file.min_value.clone()));
        texts.sort();
        texts.dedup();
        Ok(texts)
    }

    /// The live triples of a predicate that are wanted in `order`.
    pub(crate) fn merge_of(
        &self,
        graph: &NamedGraph,
        predicate: &PredicateFiles,
        order: Order,
        wanted: &Wanted,
    ) -> Result<Merge> {
        self.merge_with((graph, predicate), order, wanted, self.options.naive)
    }

    /// The same; with all deletions, for callers that count deletions without effect.
    pub(crate) fn merge_with(
        &self,
        (graph, predicate): (&NamedGraph, &PredicateFiles),
        order: Order,
        wanted: &Wanted,
        every_deletion: bool,
    ) -> Result<Merge> {
        let mut merge = Merge::only(order, self.options.naive, wanted.clone());
        let mut oldest = None;
        for known in predicate.data(order) {
            let Some(file) = known.file(graph) else { continue };
            let found = match known.order() == order {
                true => known.open(self, file, order, wanted)?,
                false => Some((self.resorted(file, order, wanted)?, true)),
            };
            if let Some((cursor, tried)) = found {
                oldest = Some(oldest.map_or(file.snapshot_version, |before: i64| before.min(file.snapshot_version)));
                merge.add(cursor, file.snapshot_version, false, tried)?;
            }
        }
        let Some(oldest) = oldest else { return Ok(merge) };
        for known in predicate.tombstones(graph, order) {
            let Some(file) = known.file(graph) else { continue };
            // A deletion that is not newer than any file deletes nothing.
            if !every_deletion && file.snapshot_version <= oldest {
                continue;
            }
            if file.is_inverse != (order == Order::Object) {
                merge.add(self.resorted(file, order, wanted)?, file.snapshot_version, true, true)?;
            } else if let Some((cursor, tried)) = known.open(self, file, order, wanted)? {
                merge.add(cursor, file.snapshot_version, true, tried)?;
            }
        }
        Ok(merge)
    }
}

/// The object of a triple as records have it.
pub(super) fn wanted(object: &Object<'_>) -> Triple {
    let mut triple = Triple::default();
    match object {
        Object::Term(term) => triple.object.push_str(term),
        Object::Literal { lexical, datatype, language, direction } => {
            triple.literal = true;
            triple.object.push_str(lexical);
            let iri = Some(*datatype).filter(|_| language.is_none());
            Datatype { iri, language: *language, direction: *direction }.push(&mut triple.datatype);
        }
    }
    triple
}
