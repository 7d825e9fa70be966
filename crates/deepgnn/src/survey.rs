//! A pass over a text that determines its rows, its feature types, and the positions of its pieces.

use std::collections::BTreeSet;

use isomorph_error::{Findings, Result};
use isomorph_model::Graph;

use crate::batches::Columns;
use crate::binary::note_repairs;
use crate::block::{Block, Features, Kind, narrow};
use crate::feature::{FeatureColumns, FeatureType};
use crate::text::{Piece, Text};

/// The position of a piece that can be read again, or a whole file that cannot be read from the middle.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub file: usize,
    pub line: u64,
    /// `None` for a whole file.
    pub range: Option<std::ops::Range<u64>>,
    /// Row of the first node.
    pub first_node: u64,
    pub nodes: u64,
    pub edges: u64,
}

/// The result of the pass.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub columns: Columns,
    pub graph: Graph,
    pub places: Vec<Place>,
    pub records: u64,
    /// Whether the ids of nodes ascend; if so, no node is repeated.
    pub ascends: bool,
    pub findings: Findings,
}

type Found = BTreeSet<(u32, FeatureType)>;

/// What elements have, collected during the pass.
#[derive(Debug, Default)]
pub(crate) struct Noted {
    of_nodes: Kinds,
    of_edges: Kinds,
    node_times: bool,
    edge_times: bool,
    /// Whether a node states a lifetime; lines with times may state that it is unlimited.
    pub lives: bool,
}

impl Noted {
    /// Records the elements of a block.
    pub fn see(&mut self, block: &Block) {
        self.of_nodes.see(&block.nodes.features);
        self.of_edges.see(&block.edges.features);
        self.node_times |= !block.nodes.lives.is_empty();
        self.edge_times |= !block.edges.lives.is_empty();
        let stated = |time: Option<i64>, none: i64| time.is_some_and(|time| time != none);
        self.lives |= block.nodes.lives.iter().any(|life| stated(life.created, 0) || stated(life.removed, -1));
    }

    /// Returns the columns for what was found in `text`.
    pub fn columns(&self, text: &Text) -> Columns {
        if text.raw {
            // What the binary cannot store is omitted.
            return Columns {
                node_features: FeatureColumns::declared(narrow(self.of_nodes.last.len()), &[], false).bytes(),
                edge_features: FeatureColumns::declared(narrow(self.of_edges.last.len()), &[], false).bytes(),
                ..Columns::default()
            };
        }
        Columns {
            node_features: FeatureColumns::of(&self.of_nodes.found),
            edge_features: FeatureColumns::of(&self.of_edges.found),
            node_weights: text.node_weights,
            node_times: self.node_times,
            edge_times: self.edge_times,
        }
    }
}

impl Survey {
    /// Reads a text once.
    ///
    /// # Errors
    /// Returns an error if it is malformed.
    pub fn of(text: &Text) -> Result<Survey> {
        let mut survey = Survey { findings: text.noticed.clone(), ascends: true, ..Survey::default() };
        let (mut noted, mut nodes, mut edges) = (Noted::default(), 0, 0);
        let mut last = None;
        text.each(|piece, block| {
            for id in &block.nodes.ids {
                survey.ascends &= last < Some(*id);
                last = Some(*id);
            }
            note_repairs(text, piece, block, &mut survey.findings);
            noted.see(block);
            let counts = (block.nodes.ids.len() as u64, block.edges.sources.len() as u64);
            survey.add(text, piece, nodes, counts);
            nodes += counts.0;
            edges += counts.1;
            survey.records += block.records.len() as u64;
            Ok(())
        })?;
        survey.columns = noted.columns(text);
        survey.graph = survey.columns.graph(Some(nodes), Some(edges));
        Ok(survey)
    }

    fn add(&mut self, text: &Text, piece: &Piece, first_node: u64, (nodes, edges): (u64, u64)) {
        let file = piece.file;
        if !text.is_plain(file)
            && let Some(last) = self.places.last_mut().filter(|last| last.file == file)
        {
            last.nodes += nodes;
            last.edges += edges;
            return;
        }
        let range = text.is_plain(file).then(|| piece.offset..piece.offset + piece.text.len() as u64);
        self.places.push(Place { file, line: piece.line, range, first_node, nodes, edges });
    }
}

/// The feature types of elements.
#[derive(Debug, Default)]
struct Kinds {
    found: Found,
    /// The last kind of each feature, which is nearly always its next kind. As long as the largest number of features
    /// of an element, including holes at its end.
    last: Vec<Kind>,
}

impl Kinds {
    fn see(&mut self, features: &Features) {
        if features.kinds.is_empty() {
            return;
        }
        let mut start = 0;
        for end in &features.ends {
            let end = *end as usize;
            let kinds = features.kinds.get(start..end).unwrap_or_default();
            start = end;
            if kinds.len() > self.last.len() {
                self.last.resize(kinds.len(), Kind::Hole);
            }
            for (id, (kind, last)) in kinds.iter().zip(&mut self.last).enumerate() {
                if kind == last || *kind == Kind::Hole {
                    continue;
                }
                *last = *kind;
                if let Some(ty) = FeatureType::of(*kind) {
                    self.found.insert((narrow(id), ty));
                }
            }
        }
    }
}
