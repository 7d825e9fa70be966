//! The counts of the manifest.

use crate::layout::Layout;
use crate::read::{Annnet, Class};
use crate::write::documents::Counts;

/// The counts of the manifest: placements in a graph with layers, unless the layout counts entities; edges without
/// placeholders.
pub(super) struct Totals {
    layout: Layout,
    entities: u64,
    nodes: u64,
    edges: u64,
    hyperedges: u64,
}

impl Totals {
    /// Counts a graph before the change.
    pub fn of(annnet: &Annnet) -> Self {
        let entities = &annnet.entities;
        let is_node = |node: u32| !entities.is_edge.get(node as usize).copied().unwrap_or_default();
        let (all, nodes) = match annnet.layers.is_flat() || annnet.layout() == Layout::V1 {
            true => (entities.len(), entities.is_edge.iter().filter(|is_edge| !**is_edge).count()),
            false => {
                let placed = entities.placements.iter().filter(|placement| is_node(placement.node)).count();
                (entities.placements.len(), placed)
            }
        };
        let edges = annnet.edges.ids.count - annnet.edges.count(Class::Placeholder);
        let hyperedges = annnet.edges.count(Class::Hyperedge);
        Totals { layout: annnet.layout(), entities: all as u64, nodes: nodes as u64, edges, hyperedges }
    }

    /// Adds new elements.
    pub fn add(&mut self, new: &Counts) {
        self.entities += new.entities;
        self.nodes += new.nodes;
        self.edges += new.edges;
        self.hyperedges += new.hyperedges;
    }

    /// Returns the counts for the manifest.
    pub fn stated(&self, aspects: usize, slices: &[String]) -> Vec<(&'static str, String)> {
        let is_text = self.layout == Layout::V1;
        let counts = [
            (if is_text { "vertices" } else { "nodes" }, self.nodes),
            ("edges", self.edges),
            ("entities", self.entities),
            ("slices", slices.len() as u64),
            ("hyperedges", self.hyperedges),
            ("aspects", aspects as u64),
        ];
        let counts: Vec<String> = counts.iter().map(|(name, count)| format!("    \"{name}\": {count}")).collect();
        let mut stated = vec![
            ("counts", format!("{{\n{}\n  }}", counts.join(",\n"))),
            ("slices", crate::write::layers::list(slices)),
        ];
        if !is_text {
            stated.push(("matrix_shape", format!("[{}, {}]", self.entities, self.edges)));
        }
        stated
    }
}
