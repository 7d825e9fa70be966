//! Two snapshots of one store without what they share. Files never change: a file that both list with equal metadata is
//! equal in both, and a triple that is in no other file is live in both or in neither.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use isomorph_error::Result;
use isomorph_storage::Reservation;

use super::keys::Wanted;
use crate::read::{GraphLake, Order};
use crate::snapshot::{DataFile, Description, Living};
use crate::term::{self, QUOTED_GRAPH};

/// If the other files of a predicate have more records than this, everything is read.
const MOST: u64 = 1 << 16;

/// And if they have more than one record in this many.
const ONE_IN: u64 = 4;

/// Two snapshots of one store, whose scans return only what can differ.
pub struct Apart {
    /// The first.
    pub left: GraphLake,
    /// The other.
    pub right: GraphLake,
    /// How many triples of each predicate are live in both, whether they are returned or not; without the graph of
    /// quoted triples.
    pub counts: BTreeMap<String, [Living; 2]>,
    /// Memory for the subjects that are looked up.
    _memory: Reservation,
}

/// The part of a snapshot that is returned.
pub(crate) struct Narrowed {
    /// What is returned of which predicates, for each graph.
    wanted: Vec<HashMap<String, Wanted>>,
    /// Names of the graphs without triples.
    pub(crate) empty: Vec<String>,
}

impl Narrowed {
    /// The wanted part of a predicate in the graph with this number.
    pub(crate) fn wanted(&self, graph: usize, predicate: &str) -> Option<&Wanted> {
        self.wanted.get(graph)?.get(predicate)
    }
}

/// A file in a list of a graph: the number of the list, the version, and its metadata.
type Listed<'a> = (usize, i64, Description<'a>);

/// A predicate in a graph.
type Name<'a> = (&'a str, &'a str);

/// The files of a predicate in a graph.
type Files<'a> = BTreeMap<Listed<'a>, &'a DataFile>;

impl GraphLake {
    /// Narrows this snapshot and another one of the same store to what can differ, according to the lists of files, and
    /// to the contents of the files that only one of them lists. Returns `None` if they are of two stores, are read
    /// with different options, or have different quoted triples: then the meaning of an id may differ anywhere.
    ///
    /// # Errors
    /// Returns an error if a file is missing, truncated, damaged or not in order, or if the budget is exhausted.
    pub fn apart(&self, other: &GraphLake) -> Result<Option<Apart>> {
        let same_store = self.root.location().to_string() == other.root.location().to_string();
        let ways = |lake: &GraphLake| (lake.options.naive, lake.options.tolerance, lake.options.namespaces.clone());
        if !same_store || ways(self) != ways(other) {
            return Ok(None);
        }
        let (left, right) = (files(self), files(other));
        let names: BTreeSet<Name<'_>> = left.keys().chain(right.keys()).copied().collect();
        let mut wanted: BTreeMap<Name<'_>, Wanted> = BTreeMap::new();
        let mut memory = self.options.budget.reserve(0)?;
        let none = Files::new();
        for name in names {
            let (one, two) = (left.get(&name).unwrap_or(&none), right.get(&name).unwrap_or(&none));
            if one.keys().eq(two.keys()) {
                continue;
            }
            if name.0 == QUOTED_GRAPH {
                return Ok(None);
            }
            wanted.insert(name, differing([(self, one), (other, two)], &mut memory)?);
        }
        let mut known: HashMap<Name<'_>, Living> = HashMap::new();
        let mut counts: BTreeMap<String, [Living; 2]> = BTreeMap::new();
        let mut narrowed = Vec::new();
        for (side, lake) in [self, other].into_iter().enumerate() {
            let mut empty = Vec::new();
            for graph in lake.snapshot.graphs.iter().filter(|graph| graph.name != QUOTED_GRAPH) {
                let stated = lake.stated(graph);
                let mut all = 0u64;
                for predicate in graph.all_predicates() {
                    let name = (graph.name.as_str(), predicate);
                    let is_shared = !wanted.contains_key(&name);
                    let found =
                        stated.get(predicate).copied().flatten().or(known.get(&name).copied().filter(|_| is_shared));
                    let living = match found {
                        Some(living) => living,
                        None => lake.count(graph, predicate)?,
                    };
                    known.insert(name, living);
                    all = all.saturating_add(living.triples);
                    let sums = counts.entry(predicate.to_owned()).or_default();
                    sums[side] = sums[side].plus(living);
                }
                if let Some(name) = term::graph_name(&graph.name).filter(|_| all == 0) {
                    empty.push(name.to_owned());
                }
            }
            let of_graph = |name: &str| -> HashMap<String, Wanted> {
                let own = wanted.iter().filter(|((graph, _), _)| *graph == name);
                own.map(|((_, predicate), wanted)| ((*predicate).to_owned(), wanted.clone())).collect()
            };
            let wanted = lake.snapshot.graphs.iter().map(|graph| of_graph(&graph.name)).collect();
            narrowed.push(Narrowed { wanted, empty });
        }
        let (Some(right), Some(left)) = (narrowed.pop(), narrowed.pop()) else { return Ok(None) };
        let (left, right) = (self.narrowed_to(left), other.narrowed_to(right));
        Ok(Some(Apart { left, right, counts, _memory: memory }))
    }

    fn narrowed_to(&self, narrowed: Narrowed) -> GraphLake {
        let (root, store, snapshot) = (self.root.clone(), self.store.clone(), self.snapshot.clone());
        let mut lake = GraphLake::over(root, store, snapshot, self.options.clone()).described_as(&self.graph);
        lake.narrowed = Some(narrowed);
        lake
    }
}

/// The files of each predicate in each graph.
fn files(lake: &GraphLake) -> BTreeMap<Name<'_>, Files<'_>> {
    let mut all: BTreeMap<Name<'_>, Files<'_>> = BTreeMap::new();
    for graph in &lake.snapshot.graphs {
        for (list, files) in [&graph.subject_files, &graph.object_files, &graph.tombstones].into_iter().enumerate() {
            for file in files {
                let listed = (list, file.snapshot_version, file.description());
                all.entry((&graph.name, &file.predicate)).or_default().insert(listed, file);
            }
        }
    }
    all
}

/// What can differ of a predicate: the subjects of files that only one side lists; everything if these are many.
fn differing(sides: [(&GraphLake, &Files<'_>); 2], memory: &mut Reservation) -> Result<Wanted> {
    let [(_, left), (_, right)] = sides;
    let mut only = Vec::new();
    // Records by subject of both sides; and of files of one side: of triples, and of deletions in either order.
    let (mut all, mut new, mut deleted) = (0u64, 0u64, [0u64; 2]);
    for ((lake, own), other) in sides.into_iter().zip([right, left]) {
        for (listed, file) in own {
            let count = |sum: &mut u64| *sum = sum.saturating_add(file.triple_count);
            let is_only = !other.contains_key(listed);
            match listed.0 {
                0 => {
                    count(&mut all);
                    if is_only {
                        count(&mut new);
                        only.push((lake, *file));
                    }
                }
                2 if is_only => {
                    count(&mut deleted[usize::from(file.is_inverse)]);
                    if !file.is_inverse {
                        only.push((lake, *file));
                    }
                }
                _ => {}
            }
        }
    }
    let [by_subject, by_object] = deleted;
    let candidates = new.saturating_add(by_subject);
    // Deletions that are in one order only are read as they are.
    if by_subject != by_object || candidates > MOST || candidates > all / ONE_IN {
        return Ok(Wanted::All);
    }
    let mut subjects = BTreeSet::new();
    for (lake, file) in only {
        let mut cursor = lake.cursor(file, Order::Subject)?;
        while cursor.advance()? {
            let subject = &cursor.triple.subject;
            if !subjects.contains(subject) {
                memory.grow(2 * subject.len() as u64 + 96)?;
                subjects.insert(subject.clone());
            }
        }
    }
    Ok(Wanted::resources(subjects.iter().map(String::as_str))?.0)
}
