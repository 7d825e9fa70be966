//! SPARQL Update: operations on a graph in memory, and their net effect on a store as one transaction.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use isomorph::convert::Progress;
use isomorph::error::{Error, Kind, Result};
use isomorph::formats::graphlake::{At, Committed, GraphLake, Lake, OpenOptions, Transaction};
use isomorph::storage::{Budget, Location, Resources};
use oxrdf::{BlankNode, GraphName, NamedOrBlankNode, Quad, Term, Triple};
use spareval::{CancellationToken, DeleteInsertQuad, QueryEvaluator};
use spargebra::GraphUpdateOperation;
use spargebra::algebra::GraphTarget;

use crate::answer::with_quad;
use crate::builder::{Builder, DEFAULT_GRAPH};
use crate::dataset::Face;
use crate::index::TripleIndex;
use crate::load::load_lake;
use crate::patterns::Wanted;
use crate::question::{QuestionOptions, check_pattern, check_text, parser, syntax};
use crate::run::{failure, watched};
use crate::stack::on_large_stack;
use crate::sums;
use crate::term::{self, Adding};

/// How often an update that reads is repeated because another writer was faster.
const ATTEMPTS: usize = 20;

/// A parsed update: operations, one after another.
#[derive(Debug, Clone)]
pub struct Update {
    update: spargebra::Update,
}

/// The net effect of an update on one graph.
#[derive(Debug, Clone, Default)]
pub struct GraphChange {
    /// Whether all quads that it had are removed: then its inserts are all of its quads afterwards.
    wiped: Option<Wiped>,
    /// Whether it was created.
    created: bool,
    deletes: Vec<Quad>,
    inserts: Vec<Quad>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wiped {
    Cleared,
    Dropped,
}

/// What an update did to a store.
#[derive(Debug, Clone, Default)]
pub struct Updated {
    /// The number of quads that exist afterwards and did not before.
    pub inserts: u64,
    /// The number of quads that existed before and do not afterwards.
    pub deletes: u64,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Committed>,
    /// How often the update was evaluated again because another writer was faster.
    pub repeated: usize,
}

impl Update {
    /// Parses an update.
    ///
    /// # Errors
    /// As [`crate::Question::parse`]; [`Kind::Unsupported`] for LOAD without SILENT.
    pub fn parse(text: &str, options: &QuestionOptions) -> Result<Update> {
        check_text(text)?;
        on_large_stack(|| {
            let update = parser(options)?.parse_update(text).map_err(|error| syntax(text, &error))?;
            for operation in &update.operations {
                match operation {
                    GraphUpdateOperation::DeleteInsert { pattern, .. } => check_pattern(pattern)?,
                    GraphUpdateOperation::Load { source, silent: false, .. } => {
                        return Err(Error::unsupported(format!("LOAD {source}: updates read no files"))
                            .hint("isomorph lake load PATH FILE    load a file"));
                    }
                    _ => {}
                }
            }
            Ok(Update { update })
        })
    }

    /// Whether the effect depends on what the graph contains.
    pub fn reads(&self) -> bool {
        let is_data = |operation: &GraphUpdateOperation| {
            matches!(operation, GraphUpdateOperation::InsertData { .. } | GraphUpdateOperation::DeleteData { .. })
        };
        !self.update.operations.iter().all(is_data)
    }

    /// Applies the update to a graph in memory. Returns the graph afterwards, and what changed in each graph; `None` is
    /// the default graph.
    ///
    /// # Errors
    /// [`Kind::NotFound`] and [`Kind::AlreadyExists`] for graphs that must exist or must not; otherwise as
    /// [`crate::Question::run`].
    pub fn apply(
        &self,
        graph: TripleIndex,
        budget: &Budget,
        timeout: Option<Duration>,
    ) -> Result<(TripleIndex, BTreeMap<Option<String>, GraphChange>)> {
        let token = CancellationToken::new();
        watched(timeout, &|| Ok(()), &token, || {
            on_large_stack(|| {
                let mut state = State::new(graph, budget)?;
                let evaluator = sums::evaluator(&token);
                for operation in &self.update.operations {
                    state.operation(operation, &self.update, &evaluator, timeout)?;
                }
                let changes = state.changes()?;
                state.settle()?;
                Ok((state.graph, changes))
            })
        })
    }

    /// Applies an update that does not read to a transaction.
    fn apply_data(&self, transaction: &mut Transaction<'_>) -> Result<()> {
        for operation in &self.update.operations {
            match operation {
                GraphUpdateOperation::InsertData { data } => {
                    let mut labels = HashMap::new();
                    for quad in data {
                        let quad = fresh(inserted(quad), &mut labels);
                        with(&quad, |quad| transaction.insert(quad))?;
                    }
                }
                GraphUpdateOperation::DeleteData { data } => {
                    for quad in data {
                        with(&deleted(quad), |quad| transaction.delete(quad))?;
                    }
                }
                _ => return Err(Error::usage("this update reads the store")),
            }
        }
        Ok(())
    }
}

/// Applies an update to a store, in one transaction. An update that reads is evaluated again if another writer changed
/// the store in the meantime.
///
/// # Errors
/// As [`Update::apply`]; [`Kind::Conflict`] if other writers were always faster; errors of writing. Nothing is changed
/// in these cases.
pub fn update_lake(
    lake: &Lake,
    location: &Location,
    opening: &OpenOptions,
    update: &Update,
    timeout: Option<Duration>,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Updated> {
    if !update.reads() {
        let mut transaction = lake.begin()?;
        update.apply_data(&mut transaction)?;
        let commit = transaction.commit()?;
        let (inserts, deletes) = commit.as_ref().map_or((0, 0), |commit| (commit.inserted, commit.deleted));
        return Ok(Updated { inserts, deletes, commit, repeated: 0 });
    }
    let mut repeated = 0;
    loop {
        let mut transaction = lake.begin()?;
        // Everything can have been read.
        transaction.alone();
        let version = transaction.base_version();
        let wanted = Arc::new(Wanted::all());
        let graph = match version {
            0 => Builder::new(&wanted, &resources.budget)?.finish()?,
            _ => {
                let options = OpenOptions { at: At::Version(version), survey_up_to: 0, ..opening.clone() };
                load_lake(&GraphLake::open(location, &options)?, &wanted, resources, progress)?
            }
        };
        let (_, changes) = update.apply(graph, &resources.budget, timeout)?;
        let mut done = Updated { repeated, ..Updated::default() };
        for (name, change) in &changes {
            done.deletes += change.deletes.len() as u64;
            done.inserts += change.inserts.len() as u64;
            change.make(name.as_deref(), &mut transaction)?;
        }
        match transaction.commit() {
            Ok(commit) => return Ok(Updated { commit, ..done }),
            Err(error) if error.kind() == Kind::Conflict && repeated < ATTEMPTS => repeated += 1,
            Err(error) => return Err(error),
        }
    }
}

impl GraphChange {
    fn make(&self, name: Option<&str>, transaction: &mut Transaction<'_>) -> Result<()> {
        match self.wiped {
            Some(Wiped::Dropped) => transaction.drop_graph(name)?,
            Some(Wiped::Cleared) => transaction.clear_graph(name)?,
            None => {
                for quad in &self.deletes {
                    with(quad, |quad| transaction.delete(quad))?;
                }
            }
        }
        if self.created {
            transaction.create_graph(name)?;
        }
        self.inserts.iter().try_for_each(|quad| with(quad, |quad| transaction.insert(quad)))
    }

    /// The quads that are deleted, unless the graph is cleared or dropped.
    pub fn deletes(&self) -> &[Quad] {
        &self.deletes
    }

    /// The quads that are inserted.
    pub fn inserts(&self) -> &[Quad] {
        &self.inserts
    }
}

/// Graph, subject, predicate, object.
type Row = [u32; 4];

/// A graph in memory and its changes.
struct State {
    graph: TripleIndex,
    /// Changes since `graph` was sorted: whether a quad exists now.
    pending: HashMap<Row, bool>,
    /// Changes since the beginning: whether a quad exists now.
    net: HashMap<Row, bool>,
    /// Named graphs now.
    names: BTreeSet<u32>,
    /// Named graphs at the beginning.
    before: BTreeSet<u32>,
    /// The number of quads of each graph at the beginning.
    sizes: HashMap<u32, usize>,
    budget: Budget,
    key: Vec<u8>,
}

impl State {
    fn new(graph: TripleIndex, budget: &Budget) -> Result<Self> {
        let names: BTreeSet<u32> = graph.graphs.iter().copied().collect();
        let mut sizes = HashMap::new();
        for [graph, ..] in graph.rows() {
            *sizes.entry(graph).or_default() += 1;
        }
        Ok(State {
            graph,
            pending: HashMap::new(),
            net: HashMap::new(),
            before: names.clone(),
            names,
            sizes,
            budget: budget.clone(),
            key: Vec::new(),
        })
    }

    fn operation(
        &mut self,
        operation: &GraphUpdateOperation,
        update: &spargebra::Update,
        evaluator: &QueryEvaluator,
        timeout: Option<Duration>,
    ) -> Result<()> {
        match operation {
            GraphUpdateOperation::InsertData { data } => {
                let mut labels = HashMap::new();
                data.iter().try_for_each(|quad| self.insert(&fresh(inserted(quad), &mut labels)))
            }
            GraphUpdateOperation::DeleteData { data } => data.iter().try_for_each(|quad| self.delete(&deleted(quad))),
            GraphUpdateOperation::DeleteInsert { delete, insert, using, pattern } => {
                self.settle()?;
                let mut pattern = pattern.clone();
                sums::replace(&mut pattern);
                let prepared = evaluator.prepare_delete_insert(
                    delete.clone(),
                    insert.clone(),
                    update.base_iri.clone(),
                    using.clone(),
                    &pattern,
                );
                // The pattern sees the graph as it was before the operation, and deletes come before inserts.
                let (mut deletes, mut inserts) = (Vec::new(), Vec::new());
                let changes = prepared.execute(Face(&self.graph)).map_err(|error| failure(error, timeout))?;
                for change in changes {
                    match change.map_err(|error| failure(error, timeout))? {
                        DeleteInsertQuad::Delete(quad) => deletes.push(quad),
                        DeleteInsertQuad::Insert(quad) => inserts.push(quad),
                    }
                }
                deletes.iter().try_for_each(|quad| self.delete(quad))?;
                inserts.iter().try_for_each(|quad| self.insert(quad))
            }
            // As if the file could not be read.
            GraphUpdateOperation::Load { silent: true, .. } => Ok(()),
            GraphUpdateOperation::Load { source, .. } => {
                Err(Error::unsupported(format!("LOAD {source}: updates read no files")))
            }
            GraphUpdateOperation::Clear { silent, graph } => {
                for graph in self.targets(graph, *silent)? {
                    self.wipe(graph);
                }
                Ok(())
            }
            GraphUpdateOperation::Drop { silent, graph } => {
                for graph in self.targets(graph, *silent)? {
                    // The default graph cannot be dropped; it is empty afterwards.
                    self.wipe(graph);
                    self.names.remove(&graph);
                }
                Ok(())
            }
            GraphUpdateOperation::Create { silent, graph } => {
                let number = self.number(&GraphName::NamedNode(graph.clone()))?;
                if !self.names.insert(number) && !silent {
                    return Err(Error::new(Kind::AlreadyExists, format!("the graph {graph} already exists"))
                        .hint("CREATE SILENT GRAPH    create it if it does not exist"));
                }
                Ok(())
            }
        }
    }

    fn targets(&mut self, target: &GraphTarget, silent: bool) -> Result<Vec<u32>> {
        Ok(match target {
            GraphTarget::DefaultGraph => vec![DEFAULT_GRAPH],
            GraphTarget::NamedGraphs => self.names.iter().copied().collect(),
            GraphTarget::AllGraphs => std::iter::once(DEFAULT_GRAPH).chain(self.names.iter().copied()).collect(),
            GraphTarget::NamedNode(name) => {
                let number = self.number(&GraphName::NamedNode(name.clone()))?;
                match self.names.contains(&number) {
                    true => vec![number],
                    false if silent => Vec::new(),
                    false => {
                        return Err(Error::new(Kind::NotFound, format!("there is no graph {name}"))
                            .hint("SILENT    accept that"));
                    }
                }
            }
        })
    }

    /// Removes all quads of a graph.
    fn wipe(&mut self, graph: u32) {
        let kept: Vec<Row> = self.graph.rows().filter(|[of, ..]| *of == graph).collect();
        let pending: Vec<Row> = self.pending.keys().filter(|[of, ..]| *of == graph).copied().collect();
        for row in kept.into_iter().chain(pending) {
            self.change(row, false);
        }
    }

    fn number(&mut self, graph: &GraphName) -> Result<u32> {
        let name = match graph {
            GraphName::DefaultGraph => return Ok(DEFAULT_GRAPH),
            GraphName::NamedNode(iri) => NamedOrBlankNode::NamedNode(iri.clone()),
            GraphName::BlankNode(node) => NamedOrBlankNode::BlankNode(node.clone()),
        };
        term::of_named_or_blank(&name, &mut self.key, &mut Adding(&mut self.graph.terms))?.ok_or_else(lost)
    }

    fn row(&mut self, quad: &Quad) -> Result<Row> {
        let graph = self.number(&quad.graph_name)?;
        let terms = &mut Adding(&mut self.graph.terms);
        let subject = term::of_named_or_blank(&quad.subject, &mut self.key, terms)?.ok_or_else(lost)?;
        let predicate = Term::NamedNode(quad.predicate.clone());
        let predicate = term::of_term(&predicate, &mut self.key, terms)?.ok_or_else(lost)?;
        let object = term::of_term(&quad.object, &mut self.key, terms)?.ok_or_else(lost)?;
        Ok([graph, subject, predicate, object])
    }

    fn insert(&mut self, quad: &Quad) -> Result<()> {
        let row = self.row(quad)?;
        if row[0] != DEFAULT_GRAPH {
            self.names.insert(row[0]);
        }
        self.change(row, true);
        Ok(())
    }

    fn delete(&mut self, quad: &Quad) -> Result<()> {
        let row = self.row(quad)?;
        self.change(row, false);
        Ok(())
    }

    fn exists(&self, row: &Row) -> bool {
        self.pending.get(row).copied().unwrap_or_else(|| self.graph.has(row))
    }

    fn change(&mut self, row: Row, exists: bool) {
        if self.exists(&row) == exists {
            return;
        }
        self.pending.insert(row, exists);
        // A quad that is as it was at the beginning has not changed.
        if self.net.remove(&row).is_none() {
            self.net.insert(row, exists);
        }
    }

    /// Sorts the graph with its changes.
    fn settle(&mut self) -> Result<()> {
        if self.pending.is_empty() && self.names.iter().eq(self.graph.graphs.iter()) {
            return Ok(());
        }
        let pending = std::mem::take(&mut self.pending);
        let kept = self.graph.rows().filter(|row| pending.get(row).copied().unwrap_or(true));
        let new = pending.iter().filter(|(_, exists)| **exists).map(|(row, _)| *row);
        let rows: Vec<Row> = kept.chain(new).collect();
        let held = self.budget.reserve((size_of::<Row>() * rows.len()) as u64)?;
        let terms = std::mem::take(&mut self.graph.terms);
        let names = self.names.iter().copied().collect();
        self.graph = TripleIndex::new(terms, rows, names, &self.budget, held)?;
        Ok(())
    }

    /// The changes since the beginning, by graph.
    fn changes(&mut self) -> Result<BTreeMap<Option<String>, GraphChange>> {
        let mut changes: BTreeMap<u32, GraphChange> = BTreeMap::new();
        for graph in self.before.symmetric_difference(&self.names) {
            changes.entry(*graph).or_default();
        }
        for (row, exists) in &self.net {
            let change = changes.entry(row[0]).or_default();
            let list = if *exists { &mut change.inserts } else { &mut change.deletes };
            list.push(self.quad(row)?);
        }
        let mut named = BTreeMap::new();
        for (graph, mut change) in changes {
            change.created = self.names.contains(&graph) && !self.before.contains(&graph);
            if graph != DEFAULT_GRAPH && !self.names.contains(&graph) {
                change.wiped = Some(Wiped::Dropped);
            } else if !change.deletes.is_empty() && self.sizes.get(&graph) == Some(&change.deletes.len()) {
                // Everything that was there is gone: the store need not look for each quad.
                change.wiped = Some(Wiped::Cleared);
            }
            let name = match graph {
                DEFAULT_GRAPH => None,
                graph => Some(match term::term(self.graph.terms.key(graph).unwrap_or_default(), &self.graph.terms)? {
                    Term::NamedNode(iri) => iri.into_string(),
                    Term::BlankNode(node) => format!("_:{}", node.as_str()),
                    _ => return Err(lost()),
                }),
            };
            named.insert(name, change);
        }
        Ok(named)
    }

    fn quad(&self, row: &Row) -> Result<Quad> {
        let term = |number: u32| term::term(self.graph.terms.key(number).unwrap_or_default(), &self.graph.terms);
        let [graph, subject, predicate, object] = *row;
        let graph_name = match graph {
            DEFAULT_GRAPH => GraphName::DefaultGraph,
            graph => match term(graph)? {
                Term::NamedNode(iri) => iri.into(),
                Term::BlankNode(node) => node.into(),
                _ => return Err(lost()),
            },
        };
        let triple = Triple::from_terms(term(subject)?, term(predicate)?, term(object)?).map_err(|_| lost())?;
        Ok(triple.in_graph(graph_name))
    }
}

fn lost() -> Error {
    Error::malformed("internal error: a term has no number")
}

fn with<T>(quad: &Quad, take: impl FnOnce(&isomorph::model::faces::Quad<'_>) -> T) -> T {
    let triple =
        Triple { subject: quad.subject.clone(), predicate: quad.predicate.clone(), object: quad.object.clone() };
    with_quad(&triple, &quad.graph_name, take)
}

fn inserted(quad: &spargebra::term::Quad) -> Quad {
    let graph: GraphName = match &quad.graph_name {
        spargebra::term::GraphName::NamedNode(iri) => iri.clone().into(),
        spargebra::term::GraphName::DefaultGraph => GraphName::DefaultGraph,
    };
    Quad::new(quad.subject.clone(), quad.predicate.clone(), quad.object.clone(), graph)
}

fn deleted(quad: &spargebra::term::GroundQuad) -> Quad {
    let graph: GraphName = match &quad.graph_name {
        spargebra::term::GraphName::NamedNode(iri) => iri.clone().into(),
        spargebra::term::GraphName::DefaultGraph => GraphName::DefaultGraph,
    };
    Quad::new(quad.subject.clone(), quad.predicate.clone(), Term::from(quad.object.clone()), graph)
}

/// A quad to insert with new blank nodes: labels of an update are not those of the graph.
fn fresh(quad: Quad, labels: &mut HashMap<BlankNode, BlankNode>) -> Quad {
    let subject = fresh_node(quad.subject, labels);
    let object = fresh_term(quad.object, labels);
    Quad { subject, object, ..quad }
}

fn fresh_node(node: NamedOrBlankNode, labels: &mut HashMap<BlankNode, BlankNode>) -> NamedOrBlankNode {
    match node {
        NamedOrBlankNode::BlankNode(node) => labels.entry(node).or_default().clone().into(),
        iri => iri,
    }
}

fn fresh_term(term: Term, labels: &mut HashMap<BlankNode, BlankNode>) -> Term {
    match term {
        Term::BlankNode(node) => labels.entry(node).or_default().clone().into(),
        Term::Triple(triple) => {
            let Triple { subject, predicate, object } = *triple;
            let (subject, object) = (fresh_node(subject, labels), fresh_term(object, labels));
            Term::Triple(Box::new(Triple { subject, predicate, object }))
        }
        term => term,
    }
}
