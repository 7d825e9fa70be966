//! Look-up by id: no file lists its ids, but a filter or an index file says where an id can be.

use isomorph_error::Result;
use isomorph_model::faces::Quad;

use super::keys::Wanted;
use crate::id::TripleId;
use crate::read::{GraphLake, Order};
use crate::term;
use crate::triple::Triple;

impl GraphLake {
    /// Passes the triple with an id to `take`, once for each graph that has it, including the graph of quoted triples
    /// ([`crate::QUOTED_GRAPH`]): a triple in no other graph is only quoted, and not a statement. A file whose filter
    /// excludes the id is not opened; in other files an index file says which records to hash, and without one all
    /// records are hashed.
    ///
    /// # Errors
    /// Returns an error if a file is missing, truncated, damaged or not in order, or if `take` returns one.
    pub fn by_id(&self, id: &TripleId, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        let mut line = String::new();
        for (graph, predicates) in self.snapshot.graphs.iter().zip(&self.catalog().graphs) {
            for predicate in &predicates.all {
                let mut found = None;
                for known in predicate.data(Order::Subject) {
                    let Some(file) = known.file(graph).filter(|file| file.triple_count > 0) else { continue };
                    if found.is_some() || !known.may_have_id(file, id) {
                        continue;
                    }
                    known.candidates(self, file, id, &mut |triple| {
                        let this = TripleId::with(&mut line, &triple.subject, &predicate.name, &triple.as_object());
                        if this == *id {
                            found = Some(triple.clone());
                        }
                        Ok(())
                    })?;
                }
                let Some(triple) = found else { continue };
                let graph_name = term::graph_name(&graph.name);
                let mut give = |triple: &Triple| {
                    let (subject, object) = (triple.subject.as_str(), triple.as_object());
                    take(Quad { subject, predicate: &predicate.name, object, graph: graph_name })
                };
                if predicate.all_tombstones().is_empty() {
                    give(&triple)?;
                    continue;
                }
                // Whether it is live depends on all files of the predicate.
                let mut merge = self.merge_of(graph, predicate, Order::Subject, &Wanted::key(&triple.subject)?)?;
                while let Some(living) = merge.next()? {
                    if *living == triple {
                        give(living)?;
                    }
                }
            }
        }
        Ok(())
    }
}
