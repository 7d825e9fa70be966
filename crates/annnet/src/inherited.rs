//! Edges that state no direction and inherit that of the graph.
//!
//! Whether a direction is inherited is not content: in the model, each edge has a direction. So that a rewrite does not
//! state directions that the input did not state, this is kept in the metadata of the graph: for edges with two ends,
//! placeholders and edges with a missing end, the runs of edges that inherit, in the order of their kind. Hyperedges
//! are not included: their members determine their direction.

use arrow_array::{Array, BooleanArray, StringArray};
use isomorph_model::Graph;

use crate::layout::word;
use crate::order::Runs;
use crate::read::Class;

/// Metadata key: for each of [`CLASSES`] the number of its edges, `:`, and runs, separated by `;`.
const METADATA: &str = "annnet.inherited";
/// The kinds of edges whose direction may be inherited.
const CLASSES: [Class; 3] = [Class::TwoEnded, Class::Placeholder, Class::OneSided];

/// Removes from a description everything that refers to rows by their position alone. For graphs read from another
/// format, whose rows may be in another order.
pub fn forget_rows(graph: &mut Graph) {
    graph.metadata.remove(METADATA);
    graph.metadata.remove(crate::order::OTHERS);
}

fn position(class: Class) -> Option<usize> {
    CLASSES.iter().position(|own| *own == class)
}

/// What was collected while edges were read.
#[derive(Debug, Default)]
pub(crate) struct Inherited {
    counts: [u64; 3],
    runs: [Runs; 3],
    /// There are more runs than can be kept: none is kept.
    too_many: bool,
}

impl Inherited {
    /// Counts the next edge of a class.
    pub fn add(&mut self, class: Class, inherits: bool) {
        let Some(at) = position(class) else { return };
        if inherits && !self.too_many {
            self.too_many = !self.runs[at].push(i64::try_from(self.counts[at]).ok());
        }
        self.counts[at] += 1;
    }

    /// Adds what was collected from the rows that follow.
    pub fn append(&mut self, other: &Inherited) {
        self.too_many |= other.too_many;
        for (at, runs) in self.runs.iter_mut().enumerate() {
            self.too_many |= !runs.append(&other.runs[at], self.counts[at]);
            self.counts[at] += other.counts[at];
        }
    }

    /// Stores it in the metadata of a graph, if some edges inherit.
    pub fn note(&self, graph: &mut Graph) {
        if self.too_many || self.runs.iter().all(Runs::is_empty) {
            return;
        }
        let all: Vec<String> =
            self.counts.iter().zip(&self.runs).map(|(count, runs)| format!("{count}:{runs}")).collect();
        graph.metadata.insert(METADATA.to_owned(), all.join(";"));
    }
}

/// Removes inherited directions while edges are written.
#[derive(Debug, Default)]
pub(crate) struct Inheriting {
    /// The direction of an edge that states none.
    default: bool,
    /// For each class: the number of edges seen so far, the runs that inherit, and the index of the next run.
    classes: [(u64, Runs, usize); 3],
}

impl Inheriting {
    /// Reads the metadata of a graph, if it has as many edges as were read; `default` is the direction that its edges
    /// inherit.
    pub fn of(graph: &Graph, default: bool) -> Inheriting {
        let mut all = Inheriting { default, ..Inheriting::default() };
        let Some(text) = graph.metadata.get(METADATA) else { return all };
        let hyperedges = |name: &str| {
            let own = graph.hyperedges.iter().find(|own| own.name == name);
            own.map_or(Some(0), |own| own.rows)
        };
        let rows = [
            graph.edges.first().and_then(|edge| edge.rows),
            hyperedges(word::PLACEHOLDER),
            hyperedges(word::ONE_SIDED),
        ];
        for ((part, rows), class) in text.split(';').zip(rows).zip(&mut all.classes) {
            let told = part.split_once(':').filter(|(count, _)| count.parse().ok() == rows);
            class.1 = told.and_then(|(_, runs)| Runs::of_text(runs)).unwrap_or_default();
        }
        all
    }

    /// Returns the directions of the next edges without those that were inherited and are still the same. The edges are
    /// of one kind, and come before the edges with two ends or are among them.
    pub fn leave_out(&mut self, kinds: &StringArray, is_first: bool, directed: BooleanArray) -> BooleanArray {
        let class = match kinds.iter().next().flatten() {
            Some(word::HYPER) | None => return directed,
            Some(word::EDGE_PLACEHOLDER) => Class::Placeholder,
            _ if is_first => Class::OneSided,
            _ => Class::TwoEnded,
        };
        let Some((next, runs, at)) = position(class).and_then(|at| self.classes.get_mut(at)) else { return directed };
        let start = *next;
        *next += directed.len() as u64;
        if runs.get(*at).is_none_or(|run| run.start >= *next) {
            return directed;
        }
        let default = self.default;
        let mut cell = |row: usize| {
            let position = start + row as u64;
            while runs.get(*at).is_some_and(|run| run.end <= position) {
                *at += 1;
            }
            let inherits = runs.get(*at).is_some_and(|run| run.start <= position);
            // An edge that is an entity has no direction unless it states one.
            let meant = default && !matches!(kinds.value(row), word::NODE_EDGE | word::EDGE_PLACEHOLDER);
            let stated = directed.is_valid(row).then(|| directed.value(row));
            stated.filter(|stated| !inherits || *stated != meant)
        };
        (0..directed.len()).map(&mut cell).collect()
    }
}

#[cfg(test)]
mod tests {
    use isomorph_model::EdgeType;

    use super::*;

    /// A graph of five edges, some of which inherit, delivered in batches of two and three.
    fn graph(inherits: [bool; 5]) -> Graph {
        let mut all = Inherited::default();
        for part in [&inherits[..2], &inherits[2..]] {
            let mut own = Inherited::default();
            part.iter().for_each(|inherits| own.add(Class::TwoEnded, *inherits));
            all.append(&own);
        }
        let mut edge = EdgeType::new(0, word::EDGE, 0);
        edge.rows = Some(5);
        let mut graph = Graph { edges: vec![edge], ..Graph::default() };
        all.note(&mut graph);
        graph
    }

    fn written(graph: &Graph, default: bool, directed: [bool; 5], kind: &str) -> Vec<Option<bool>> {
        let mut inheriting = Inheriting::of(graph, default);
        let mut all = Vec::new();
        for rows in [0..1, 1..4, 4..5] {
            let kinds = StringArray::from(vec![kind; rows.len()]);
            let own = BooleanArray::from(directed[rows].to_vec());
            all.extend(inheriting.leave_out(&kinds, false, own).iter());
        }
        all
    }

    #[test]
    fn what_was_not_stated_is_left_out() {
        let own = graph([true, false, true, true, false]);
        assert_eq!(own.metadata[METADATA], "5:0+1,2+2;0:;0:");
        let (yes, no) = (Some(true), Some(false));
        assert_eq!(written(&own, true, [true; 5], word::BINARY), [None, yes, None, None, yes]);
        // A direction that has changed since, or that would be read differently, is stated.
        assert_eq!(written(&own, true, [true, true, false, true, true], word::BINARY), [None, yes, no, None, yes]);
        assert_eq!(written(&own, false, [true; 5], word::BINARY), [yes; 5]);
        assert_eq!(written(&own, true, [true; 5], word::NODE_EDGE), [yes; 5]);
        assert_eq!(written(&own, true, [false; 5], word::NODE_EDGE), [None, no, None, None, no]);
    }

    #[test]
    fn another_graph_inherits_nothing() {
        assert!(graph([false; 5]).metadata.is_empty());
        let mut other = graph([true; 5]);
        assert_eq!(written(&other, true, [true; 5], word::BINARY), [None; 5]);
        other.edges[0].rows = Some(6);
        assert_eq!(written(&other, true, [true; 5], word::BINARY), [Some(true); 5]);
        for text in ["", "5", "5:x", "5:0+0", "x:0+5", "5:0+99999999999999999999"] {
            other.edges[0].rows = Some(5);
            other.metadata.insert(METADATA.to_owned(), text.to_owned());
            assert_eq!(written(&other, true, [true; 5], word::BINARY), [Some(true); 5], "{text}");
        }
    }
}
