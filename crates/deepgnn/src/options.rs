//! How texts and partitions are opened and written.

use isomorph_storage::{Budget, Location, Scratch};

use crate::FeatureType;
use crate::binary::Asked;
use crate::write::{Role, Shape};

/// Options of [`crate::DeepGnn::open`] and [`crate::Text::open`].
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// The text format, if names are not to tell it.
    pub format: Option<crate::TextFormat>,
    /// The file of defaults, where it is not `meta.json` beside the text.
    pub defaults: Option<Location>,
    /// Reads everything that the published converter reads as it reads it, also where that loses data.
    pub compat: bool,
    /// Records of a text that are wrong are left out, and told of as findings.
    pub lenient: bool,
    /// Lines of EdgeList have two times behind the weight.
    pub temporal: bool,
    /// A text shows what its binary would: features are bytes, and nothing has times.
    pub raw: bool,
    /// A text is not read when it is opened, and shows no graph: for who makes a binary of it.
    pub later: bool,
    /// No weights of nodes are shown: for a graph that had none, because a text must state them, and a binary has tables of them.
    pub no_node_weights: bool,
    /// Types of the features of nodes in a binary, which does not store them; bytes otherwise.
    pub node_features: Vec<(u32, crate::FeatureType)>,
    /// The same of edges.
    pub edge_features: Vec<(u32, crate::FeatureType)>,
    /// A binary shows the weights of nodes that lie beside it, and 1 otherwise. Without this they are recovered from its tables for
    /// sampling, and shown unless all are 1.
    pub node_weights: bool,
    /// Weights of nodes that are in the tables of a binary alone are not recovered, which takes reading the tables: for look-ups.
    pub no_recovery: bool,
    /// A binary shows times of nodes: those that lie beside it.
    pub node_times: bool,
    /// A binary shows times of edges as they were stated: what lies beside it says where they are not those that it stores, if it stores any.
    pub edge_times: bool,
    /// Of several types that are declared of a feature all count, and what lies beside a binary says which of them a value has; else the
    /// last that is declared.
    pub several_types: bool,
    /// Memory for what is sorted while a graph is checked.
    pub budget: Budget,
    /// Where it goes beyond that.
    pub scratch: Option<Scratch>,
}

impl OpenOptions {
    /// The options to open files that were written from `graph`: they show what it had. Of a binary much of that
    /// lies beside it, and types of features are nowhere else;
    /// text states weights of nodes also where the graph has none, and EdgeList says nowhere that its lines have times.
    pub fn showing(&self, graph: &isomorph_model::Graph) -> OpenOptions {
        let mut options = self.clone();
        // A graph of another shape was written by way of a mapping, which is told of again when it is read.
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
                // Of bytes nothing is known: who says a type knows more.
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

    /// Whether these say the type of a feature of `graph` of which it knows bytes alone.
    pub fn types_raw_features_of(&self, graph: &isomorph_model::Graph) -> bool {
        let Ok(shape) = Shape::of(graph) else { return false };
        [(&shape.nodes, &self.node_features), (&shape.edges, &self.edge_features)].into_iter().any(
            |(roles, declared)| {
                let mut raw = roles.iter().filter_map(|role| role.feature()).filter(|(_, ty)| *ty == FeatureType::Raw);
                raw.any(|(id, _)| declared.iter().any(|(own, ty)| *own == id && *ty != FeatureType::Raw))
            },
        )
    }

    /// What is asked for of what lies beside a binary.
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

/// What decides which partition a line goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dispatch {
    /// Line i goes to partition i modulo their number, as the published converter does it.
    #[default]
    Line,
    /// The first id of the line modulo the number of partitions: a node and its edges stay together.
    Id,
}

/// Options of [`crate::build`].
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// Number of partitions, at least one.
    pub partitions: u32,
    /// What decides which partition a line goes to.
    pub dispatch: Dispatch,
    /// Write tables for weighted sampling of nodes.
    pub node_samplers: bool,
    /// Write tables for weighted sampling of edges.
    pub edge_samplers: bool,
    /// The last time that is known, for graphs with times; they are stored exactly when there is one.
    pub watermark: Option<i64>,
    /// Write what a binary has no place for into the folder [`crate::BESIDE`] inside it: weights and times of
    /// nodes, times of edges that it does not store as they are stated, and types of features where an id has several.
    pub beside: bool,
    /// Memory for tables of sampling; what does not fit goes to temporary files.
    pub budget: Budget,
    /// Where those are.
    pub scratch: Option<Scratch>,
}

/// Options of [`crate::DeepGnnWriter`].
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Write a text of this format; a binary otherwise.
    pub text: Option<crate::TextFormat>,
    /// Write the text as a directory of so many files; lines go to them as to the partitions of a binary.
    pub parts: Option<u32>,
    /// Leave out of Linear and EdgeList what all nodes or all edges share, and state it once, in `meta.json` among the files: for a text in
    /// several files, or in one that is in a directory of its own.
    pub leave_out: bool,
    /// Write holes for features that the format of the text has no way to write, which [`crate::unheld`] lists; else they are an error.
    pub without_unheld: bool,
    /// How a binary is written, and with what memory.
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
