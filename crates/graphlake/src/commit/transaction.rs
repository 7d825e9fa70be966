//! Transactions: changes that are gathered, and then made at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use isomorph_error::{Error, Kind, Result};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::{Additions, Reservation};

use super::base::Base;
use super::publish::{Attempt, Committed};
use super::work::{Fate, Work, graph_key, triple_of};
use super::written;
use super::{Lake, plan};
use crate::read::quoted;
use crate::write::{Bulk, Resume};
use crate::{DataFile, GraphLake, InGraph, Pattern, term};

/// How often a commit is repeated because other writers were faster.
const ATTEMPTS: u32 = 1000;

/// A change of a store that is made completely or not at all. It is invisible before [`Transaction::commit`]; dropping
/// it removes what was written.
///
/// Inserts and deletes are by value: of several for one triple the last counts; inserting an existing triple and
/// deleting a missing one change nothing. Such a transaction can be made on top of any commits of others. One that has
/// *read* ([`Transaction::matching`], [`Transaction::has_graph`]) is only made if no other writer changed what it has
/// read: graphs, or the predicates, in the graphs, that its patterns could match.
#[derive(Debug)]
pub struct Transaction<'l> {
    pub(super) lake: &'l Lake,
    pub(super) base: Base,
    pub(super) additions: Additions,
    pub(super) graphs: BTreeMap<String, Work>,
    /// What was read: graphs (`None`: all of them), with predicates (`None`: all of them).
    pub(super) reads: BTreeSet<(Option<String>, Option<String>)>,
    held: Reservation,
}

impl<'l> Transaction<'l> {
    pub(super) fn begin(lake: &'l Lake) -> Result<Self> {
        let base = lake.base()?;
        // Checked before anything is gathered and written.
        base.next(0)?;
        let additions = lake.shared.additions()?;
        let held = lake.writing.budget.reserve(0)?;
        Ok(Transaction { lake, base, additions, graphs: BTreeMap::new(), reads: BTreeSet::new(), held })
    }

    /// The version of the snapshot that its reads refer to; 0 if the store had none.
    pub fn base_version(&self) -> i64 {
        self.base.snapshot.version
    }

    /// Inserts a quad. A triple term becomes the IRI of its id, and its triple is added to the graph of quoted triples
    /// (R33).
    ///
    /// # Errors
    /// [`GRAPHLAKE-IRI`](crate::rules::IRI) if a store cannot hold a term;
    /// [`GRAPHLAKE-RESERVED`](crate::rules::RESERVED) for the graph of quoted triples; errors of writing, if memory is
    /// short.
    pub fn insert(&mut self, quad: &Quad<'_>) -> Result<()> {
        term::check_graph(quad.graph)?;
        self.note(quad, Fate::Insert)
    }

    /// Deletes a quad, if it exists. A triple that it quotes stays in the graph of quoted triples: others may quote it,
    /// too.
    ///
    /// # Errors
    /// As [`Transaction::insert`]; [`Kind::TooLarge`] if so much was inserted that some of it is written already.
    pub fn delete(&mut self, quad: &Quad<'_>) -> Result<()> {
        term::check_graph(quad.graph)?;
        self.note(quad, Fate::Delete)
    }

    /// Deletes quads and inserts others: a quad that is among both exists in the end.
    ///
    /// # Errors
    /// As [`Transaction::insert`] and [`Transaction::delete`].
    pub fn delete_insert<'q>(
        &mut self,
        deleted: impl IntoIterator<Item = Quad<'q>>,
        inserted: impl IntoIterator<Item = Quad<'q>>,
    ) -> Result<()> {
        deleted.into_iter().try_for_each(|quad| self.delete(&quad))?;
        inserted.into_iter().try_for_each(|quad| self.insert(&quad))
    }

    fn note(&mut self, quad: &Quad<'_>, fate: Fate) -> Result<()> {
        let [subject, object] = quoted::ids(quad, &mut String::new(), &mut |quoted| match fate {
            Fate::Insert => self.note_plain(quoted, fate),
            Fate::Delete => Ok(()),
        })?;
        self.note_plain(
            &Quad {
                subject: subject.as_deref().unwrap_or(quad.subject),
                object: object.as_deref().map_or(quad.object, Object::Term),
                ..*quad
            },
            fate,
        )
    }

    fn note_plain(&mut self, quad: &Quad<'_>, fate: Fate) -> Result<()> {
        // What a store has already can be deleted, whatever it is.
        if fate == Fate::Insert {
            written::check(quad)?;
        }
        let triple = triple_of(quad)?;
        let graph = self.key(quad.graph)?;
        let more = self.graphs.entry(graph).or_default().note(quad.predicate, triple, fate)?;
        // The rest of the budget is for sorting and writing.
        if self.held.bytes().saturating_add(more) > self.lake.writing.budget.limit() / 4 || !self.held.try_grow(more) {
            self.spill()?;
        }
        Ok(())
    }

    /// Starts to gather quads for a bulk insert: in any order, from several threads, sorted within the budget. See
    /// [`Transaction::insert_bulk`].
    ///
    /// # Errors
    /// Returns an error if no temporary files can be created.
    pub fn bulk(&self) -> Result<Bulk> {
        Bulk::new(&self.lake.writing)
    }

    /// The same, continuing with what an earlier load gathered.
    ///
    /// # Errors
    /// As [`Transaction::bulk`]; [`Kind::Malformed`] if the earlier work is inconsistent.
    pub fn bulk_resumed(&self, resume: &Arc<Resume>) -> Result<Bulk> {
        Bulk::resumed(&self.lake.writing, resume)
    }

    /// Files of triples that were written so far, under unique paths.
    pub fn bulk_files(&self) -> Vec<&DataFile> {
        let spilled = self.graphs.values().flat_map(|work| work.predicates.values()).map(|rows| &rows.spilled);
        spilled.flat_map(|files| files.subject.iter().chain(&files.object)).collect()
    }

    /// Inserts what was gathered. Its files are written now; `advance` gets the number of triples written since its
    /// last call, and can stop the work.
    ///
    /// # Errors
    /// [`Kind::Usage`] if this transaction deletes triples of the same predicates; returns an error if something cannot
    /// be written, or `advance` returns an error.
    pub fn insert_bulk(&mut self, bulk: Bulk, advance: &dyn Fn(u64) -> Result<()>) -> Result<()> {
        let (additions, base) = (&self.additions, &self.base);
        let keys = |graph: &str| self.key(term::graph_name(graph));
        let mut ids = BTreeMap::new();
        for (graph, predicate) in bulk.partitions() {
            ids.insert((graph.clone(), predicate), keys(&graph)?);
        }
        for ((_, predicate), key) in &ids {
            let work = self.graphs.entry(key.clone()).or_default();
            let rows = work.predicates.get(predicate);
            if rows.is_some_and(|rows| rows.deletes().next().is_some()) {
                return Err(Error::usage("this transaction deletes triples of the same predicate")
                    .hint("delete in one transaction, and load in the next"));
            }
        }
        let graphs = &mut self.graphs;
        let written = bulk.write(
            additions,
            &mut |graph, predicate| {
                let key = ids.get(&(graph.to_owned(), predicate.to_owned())).map_or(graph, String::as_str);
                let work = graphs.entry(key.to_owned()).or_default();
                plan::ids_of(base, key, predicate, work)
            },
            advance,
        )?;
        for (graph, predicate, [subject, object]) in written {
            let key = ids.remove(&(graph.clone(), predicate.clone())).unwrap_or(graph);
            let work = self.graphs.entry(key).or_default();
            (work.dropped, work.wanted) = (false, true);
            let rows = work.predicates.entry(predicate).or_default();
            rows.spilled.subject.extend(subject);
            rows.spilled.object.extend(object);
            rows.spills += 1;
        }
        Ok(())
    }

    /// Makes the commit fail if another writer has changed anything in the meantime, as if everything had been read.
    pub fn alone(&mut self) {
        self.reads.insert((None, None));
    }

    /// The name of a graph in the snapshot: other writers may use another name for the default graph.
    ///
    /// # Errors
    /// [`GRAPHLAKE-IRI`](crate::rules::IRI).
    pub(super) fn key(&self, name: Option<&str>) -> Result<String> {
        match (name, self.base.snapshot.default_graph()) {
            (None, Some(own)) => Ok(own.to_owned()),
            _ => graph_key(name),
        }
    }

    /// The same for a graph that is created, changed or dropped as a whole: the graph of quoted triples is refused.
    ///
    /// # Errors
    /// [`GRAPHLAKE-IRI`](crate::rules::IRI), [`GRAPHLAKE-RESERVED`](crate::rules::RESERVED).
    pub(super) fn own_key(&self, name: Option<&str>) -> Result<String> {
        term::check_graph(name)?;
        self.key(name)
    }

    /// Writes the triples to be inserted, to free their memory.
    fn spill(&mut self) -> Result<()> {
        for (name, work) in &mut self.graphs {
            plan::write_inserts(self.lake, &self.additions, &self.base, name, work)?;
            for rows in work.predicates.values_mut() {
                if let Some(written) = rows.written.take() {
                    rows.spilled.subject.extend(written.subject);
                    rows.spilled.object.extend(written.object);
                    rows.spills += 1;
                }
                rows.rows.retain(|_, fate| *fate == Fate::Delete);
            }
        }
        let held = self.held.bytes();
        self.held.shrink(held);
        Ok(())
    }

    /// Passes the quads that match `pattern` to `take`, and records that they were read. The snapshot that the
    /// transaction started from is read, without its own changes.
    ///
    /// # Errors
    /// As [`GraphLake::matching`].
    pub fn matching(&mut self, pattern: &Pattern<'_>, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        let graph = match pattern.graph {
            InGraph::Any => None,
            InGraph::Default => Some(self.key(None)?),
            InGraph::Named(name) => Some(name.to_owned()),
        };
        self.reads.insert((graph.clone(), pattern.predicate.map(str::to_owned)));
        self.part(graph.as_deref(), pattern.predicate)?.matching(pattern, take)
    }

    /// A part of the snapshot that it started from.
    fn part(&self, graph: Option<&str>, predicate: Option<&str>) -> Result<GraphLake> {
        let mut parts = Vec::new();
        for name in self.base.snapshot.names() {
            if graph.is_none_or(|wanted| wanted == name)
                && let Some(raw) = self.base.snapshot.graph(name)?
            {
                parts.push(self.base.part(name, &raw, [true; 3], predicate)?);
            }
        }
        Ok(self.base.lake(self.lake, parts))
    }

    /// Makes the change durable and visible, on top of whatever others have committed since; if there is nothing to
    /// change, writes nothing and returns `None`.
    ///
    /// # Errors
    /// [`Kind::Conflict`] if others changed what it has read; [`Kind::NotFound`] if a graph that it copies no longer
    /// exists; [`Kind::Incomplete`] if another writer's claim is broken; [`Kind::Poisoned`], [`Kind::NoSpace`],
    /// [`Kind::Io`]: then it was not made, unless the error says that it may have been.
    pub fn commit(mut self) -> Result<Option<Committed>> {
        for lost in 0..ATTEMPTS {
            let plan = plan::plan(&mut self)?;
            if plan.changes.is_empty() {
                return Ok(None);
            }
            let written = self.additions.settle()?;
            match self.lake.make(&self.base, &self.additions, plan.changes)? {
                Attempt::Done(entry) => {
                    return Ok(Some(Committed {
                        version: entry.version,
                        id: entry.id,
                        timestamp: entry.timestamp,
                        inserted: plan.inserted,
                        quoted: plan.quoted,
                        again: plan.again,
                        deleted: plan.deleted,
                        missing: plan.missing,
                        files: written.files,
                        bytes: written.bytes,
                        lost,
                    }));
                }
                Attempt::Lost => self.begin_again(&plan.own)?,
            }
        }
        Err(Error::new(Kind::Conflict, format!("other writers were faster {ATTEMPTS} times"))
            .hint("run again when fewer writers are active"))
    }

    /// Takes the commits of others as the new base.
    fn begin_again(&mut self, own: &[String]) -> Result<()> {
        // Rewritten deletions are useless on a new base, where other triples may have to be deleted.
        for path in own {
            self.lake.shared.remove(path)?;
        }
        let base = self.lake.base()?;
        for (graph, predicate) in &self.reads {
            let names = || base.snapshot.names().chain(self.base.snapshot.names()).map(String::as_str);
            let graphs: BTreeSet<&str> = match graph {
                Some(graph) => [graph.as_str()].into(),
                None => names().collect(),
            };
            for graph in graphs {
                let predicate = predicate.as_deref();
                if base.files_of(graph, predicate)? != self.base.files_of(graph, predicate)? {
                    let what = predicate.map_or_else(String::new, |predicate| format!("{predicate} in "));
                    let message =
                        format!("another writer changed {what}the graph {graph}, which this transaction has read");
                    return Err(Error::new(Kind::Conflict, message).hint("run again, to use the new state"));
                }
            }
        }
        self.base = base;
        Ok(())
    }
}
