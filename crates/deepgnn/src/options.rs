//! Options for opening and writing texts and binaries.

use isomorph_storage::{Budget, Location, Scratch};

use crate::FeatureType;
use crate::binary::Asked;
use crate::write::{Role, Shape};

/// Options of [`crate::DeepGnn::open`] and [`crate::Text::open`].
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// The text format, if names do not state it.
    pub format: Option<crate::TextFormat>,
    /// The file of defaults, if it is not `meta.json` next to the text.
    pub defaults: Option<Location>,
    /// Read everything that the published converter reads as it reads it, even if data is lost.
    pub compat: bool,
    /// Skip malformed records of a text and report them as findings.
    pub lenient: bool,
    /// Lines of EdgeList have two times after the weight.
    pub temporal: bool,
    /// Show a text as its binary would be shown: features are bytes, and nothing has times.
    pub raw: bool,
    /// Do not read a text when it is opened, and show no graph: for building a binary from it.
    pub later: bool,
    /// Show no weights of nodes: for a graph that had none, because a text must state them, and a binary has tables of
    /// them.
    pub no_node_weights: bool,
    /// Types of the features of nodes in a binary, which does not store them. Default: bytes.
    pub node_features: Vec<(u32, crate::FeatureType)>,
    /// Types of the features of edges in a binary.
    pub edge_features: Vec<(u32, crate::FeatureType)>,
    /// Show the weights of nodes in the sidecar of a binary, or 1 if there are none. Without this option, weights are
    /// recovered from the sampling tables, and shown unless all are 1.
    pub node_weights: bool,
    /// Do not recover weights of nodes that are only in the sampling tables of a binary, because this reads the tables:
    /// for look-ups.
    pub no_recovery: bool,
    /// Show times of nodes from the sidecar of a binary.
    pub node_times: bool,
    /// Show times of edges of a binary as they were stated: if it stores times, its sidecar contains those that are
    /// stored differently.
    pub edge_times: bool,
    /// If several types are declared for a feature, use all of them, and the sidecar of the binary for the type of each
    /// value. Without this option, the type declared last is used.
    pub several_types: bool,
    /// Memory for sorting while a graph is validated.
    pub budget: Budget,
    /// Where data is stored that does not fit into memory.
    pub scratch: Option<Scratch>,
}

impl OpenOptions {
    /// Returns the options to open files that were written from `graph`, so that they show what it had. For a binary,
    /// much of this is in its sidecar, and types of features are stored nowhere else; a text states weights of nodes
    /// even if the graph has none, and EdgeList does not declare that its lines have times.
    pub fn showing(&self, graph: &isomorph_model::Graph) -> OpenOptions {
        let mut options = self.clone();
        // A graph of another shape was written through a mapping, which is applied in reverse when it is read.
        if let Ok(shape) = Shape::of(graph) {
            options.temporal |= shape.node_times() || shape.edge_times();
            options.no_node_weights |= !shape.nodes.contains(&Role::Weight);
            options.node_weights |= shape.nodes.contains(&Role::Weight);
            options.node_times |= shape.node_times();
            options.edge_times |= shape.edge_times();
            options.several_types |= shape.several().next().is_some();
            for (roles, declared) in
                [(&shape.nodes, &mut options.node_features), (&shape.edges, &mut options.edge_features)]
            {
                // Nothing is known about raw bytes: a declared type is more specific.
                let is_told =
                    |id: u32, ty: FeatureType| ty == FeatureType::Raw && declared.iter().any(|own| own.0 == id);
                let of_graph = roles.iter().filter_map(|role| role.feature());
                let of_graph: Vec<_> = of_graph.filter(|(id, ty)| !is_told(*id, *ty)).collect();
                declared.retain(|(id, _)| !of_graph.iter().any(|(other, _)| other == id));
                declared.extend(of_graph);
            }
        }
        options
    }

    /// Returns whether these options declare the type of a feature that is raw bytes in `graph`.
    pub fn types_raw_features_of(&self, graph: &isomorph_model::Graph) -> bool {
        let Ok(shape) = Shape::of(graph) else { return false };
        [(&shape.nodes, &self.node_features), (&shape.edges, &self.edge_features)].into_iter().any(
            |(roles, declared)| {
                let mut raw = roles.iter().filter_map(|role| role.feature()).filter(|(_, ty)| *ty == FeatureType::Raw);
                raw.any(|(id, _)| declared.iter().any(|(own, ty)| *own == id && *ty != FeatureType::Raw))
            },
        )
    }

    /// Returns the files of the sidecar to read.
    pub(crate) fn asked(&self) -> Asked {
        let asked = |what: bool| what && !self.raw;
        Asked {
            node_weights: asked(self.node_weights),
            node_times: asked(self.node_times),
            edge_times: asked(self.edge_times),
            types: asked(self.several_types),
        }
    }
}

/// How lines are assigned to partitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dispatch {
    /// Line i goes to partition i modulo the number of partitions, as in the published converter.
    #[default]
    Line,
    /// By the first id of the line, modulo the number of partitions: a node and its edges stay together.
    Id,
}

/// Options of [`crate::build`].
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Number of partitions, at least one.
    pub partitions: u32,
    /// How lines are assigned to partitions.
    pub dispatch: Dispatch,
    /// Write tables for weighted sampling of nodes.
    pub node_samplers: bool,
    /// Write tables for weighted sampling of edges.
    pub edge_samplers: bool,
    /// The last known time, for graphs with times; times are stored only if it is set.
    pub watermark: Option<i64>,
    /// Write what a binary cannot store to the folder [`crate::BESIDE`] in it: weights and times of nodes, times of
    /// edges that are not stored as they are stated, and types of features if an id has several.
    pub beside: bool,
    /// Memory for sampling tables; larger ones go to temporary files.
    pub budget: Budget,
    /// Where temporary files are created.
    pub scratch: Option<Scratch>,
}

/// Options of [`crate::DeepGnnWriter`].
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Write a text in this format. Default: a binary.
    pub text: Option<crate::TextFormat>,
    /// Write the text as a directory with this number of files; lines are distributed to them as to the partitions of a
    /// binary.
    pub parts: Option<u32>,
    /// Omit what all nodes or all edges share from Linear and EdgeList, and state it once in `meta.json` among the
    /// files: for a text in several files, or in one file that is in its own directory.
    pub leave_out: bool,
    /// Write holes for features that the text format cannot store, which [`crate::unheld`] lists. Without this option,
    /// they are an error.
    pub without_unheld: bool,
    /// Options for a binary, including memory.
    pub binary: BuildOptions,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            partitions: 1,
            dispatch: Dispatch::Line,
            node_samplers: true,
            edge_samplers: true,
            watermark: None,
            beside: false,
            budget: Budget::default(),
            scratch: None,
        }
    }
}
