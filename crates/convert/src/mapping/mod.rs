//! Mappings: records with an inverse, which the plan makes, the sidecar keeps, and only `convert` applies.
//!
//! Property graphs have two shapes. The *typed* shape (GraphAr) has node types, edge types and typed columns. The
//! *bundled* shape (NOCK) has one table of nodes and one of edges; names, labels and relations identify the types, and
//! properties are in JSON bags. A [`Bundling`] relates a typed and a bundled graph. For typed graphs with one node type
//! and one edge type (annnet), a [`Fusion`] makes one type of several; for edges that name their relations (DeepGNN), a
//! [`Relating`] makes edge types of the relations. These three are one operation: each is a [`Layout`] of types in one
//! table of nodes and one of edges, which [`Merged`] and [`Divided`] carry out in either direction.
//!
//! A [`Completion`] adds nodes for ends of edges without one, and a [`Parting`] makes node types of a property or of
//! labels. A [`Fitting`] maps names and
//! types of a graph to the nearest ones of a format. A [`Lifting`] writes a graph as RDF, a [`Gathering`] makes nodes
//! with properties from RDF. Within one shape the graph is unchanged; [`declared`] restores what its files do not
//! declare. A [`Detachment`] keeps in tables of the sidecar what a format cannot store of nodes and edges.

mod arrays;
mod coerce;
mod declare;
mod described_nodes;
mod detached;
mod exact_cast;
mod forward;
mod graph_as_rdf;
mod implied_ends;
mod iri_map;
mod json_in;
pub(crate) mod json_out;
mod names;
mod narrowed;
mod numbered;
mod one_table;
mod one_type;
mod projection;
mod property_bags;
mod quad_pass;
mod rdf_as_nodes;
mod redeclared;
mod reify;
mod relation_types;
mod subjects;
mod surveyed;
mod types_by_label;
mod view;
mod without_row_counts;

use std::sync::Arc;

use isomorph_error::Result;
use isomorph_model::{Graph, KeyKind, Property, Source};
use isomorph_storage::{Budget, Location};
use serde::{Deserialize, Serialize};

pub(crate) use arrays::{as_type, label_lists, labels_of, malformed, relations_of};
pub(crate) use coerce::has_large_keys;
pub use coerce::{Allowed, Fitting};
pub use declare::{declared, says_itself};
pub use described_nodes::Described;
pub(crate) use detached::TableFiles;
pub use detached::{Attached, Detacher, Detachment, Naming};
pub(crate) use forward::forward;
pub use graph_as_rdf::{EdgeProperties, Lifter, Lifting, Lowered, LoweredText, in_form};
pub use implied_ends::{Completed, Completion};
pub use iri_map::{InVocabulary, IriMap, Vocabulary};
pub use names::Names;
pub use numbered::{Ids, Numberer, Numbering, Unnumbered, holds as holds_feature};
pub use one_table::{CARRY_FITS, Divided, EdgeSlots, Layout, Merged, NodeSlots, Slot};
pub use one_type::{Fusing, Fusion};
pub use projection::{Projected, Projection};
pub use property_bags::Bundling;
pub use rdf_as_nodes::{Exported, Flattened, Gathered, Gathering, Scattered, TERM};
pub use redeclared::Redeclared;
pub use reify::{EdgeColumns, Reification, Reified, Restored};
pub use relation_types::Relating;
pub use surveyed::NameRules;
pub use types_by_label::{By, Labels, NodeTypes, Parted, Parting, TypesFrom, Unparted};
pub(crate) use view::{edges_as, properties_of};

/// One step from a graph to what a format can store.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// Typed to bundled.
    Bundle(Box<Bundling>),
    /// Bundled to typed.
    Shred(Box<Bundling>),
    /// A graph with hyperedges, groups and other constructs to nodes and edges only.
    Reify(Box<Reification>),
    /// The inverse.
    Restore(Box<Reification>),
    /// Edges that name their relations to edge types.
    Relate(Box<Relating>),
    /// The inverse.
    Unrelate(Box<Relating>),
    /// One node type to several, by a property or by labels.
    Part(Box<Parting>),
    /// The inverse.
    Unpart(Box<Parting>),
    /// Adds nodes for edge ends without one. The inverse only restores the declarations.
    Complete(Box<Completion>),
    /// To names and types of the format.
    Fit(Box<Fitting>),
    /// The inverse.
    Unfit(Box<Fitting>),
    /// Several types to one.
    Fuse(Box<Fusion>),
    /// The inverse.
    Split(Box<Fusion>),
    /// Types and values to numbers and features. In this direction, a [`Numberer`] before the sink does it.
    Number(Box<Numbering>),
    /// The inverse.
    Unnumber(Box<Numbering>),
    /// A property graph to triples. In this direction, a [`Lifter`] before the sink does it.
    Lift(Box<Lifting>),
    /// The inverse.
    Lower(Box<Lifting>),
    /// RDF to nodes with bags of properties.
    Gather(Box<Gathering>),
    /// The inverse.
    Scatter(Box<Gathering>),
    /// A part to tables of the sidecar. In this direction, a [`Detacher`] before the sink does it.
    Detach(Box<Detachment>),
    /// The inverse.
    Attach(Box<Detachment>),
    /// No change: the format stores this graph, except some of its declarations.
    Native(Box<Graph>),
    /// Restores the declarations of this graph, which the format does not store.
    Declare(Box<Graph>),
}

/// Whether the values of a property can be written as JSON and read back.
pub(crate) fn has_text(property: &Property) -> bool {
    json_in::JsonColumn::new(property).is_ok()
}

/// A mapping from one graph to another, with an inverse.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Mapping {
    /// The steps, in order.
    pub steps: Vec<Step>,
}

impl Mapping {
    /// The inverse mapping.
    pub fn inverse(&self) -> Mapping {
        let turned = |step: &Step| match step {
            Step::Bundle(bundling) => Step::Shred(bundling.clone()),
            Step::Shred(bundling) => Step::Bundle(bundling.clone()),
            Step::Reify(record) => Step::Restore(record.clone()),
            Step::Restore(record) => Step::Reify(record.clone()),
            Step::Relate(record) => Step::Unrelate(record.clone()),
            Step::Unrelate(record) => Step::Relate(record.clone()),
            Step::Part(record) => Step::Unpart(record.clone()),
            Step::Unpart(record) => Step::Part(record.clone()),
            Step::Complete(record) => Step::Declare(Box::new(record.found.clone())),
            Step::Fit(record) => Step::Unfit(record.clone()),
            Step::Unfit(record) => Step::Fit(record.clone()),
            Step::Fuse(record) => Step::Split(record.clone()),
            Step::Split(record) => Step::Fuse(record.clone()),
            Step::Number(record) => Step::Unnumber(record.clone()),
            Step::Unnumber(record) => Step::Number(record.clone()),
            Step::Lift(record) => Step::Lower(record.clone()),
            Step::Lower(record) => Step::Lift(record.clone()),
            Step::Gather(record) => Step::Scatter(record.clone()),
            Step::Scatter(record) => Step::Gather(record.clone()),
            Step::Detach(record) => Step::Attach(record.clone()),
            Step::Attach(record) => Step::Detach(record.clone()),
            Step::Native(graph) => Step::Declare(graph.clone()),
            Step::Declare(graph) => Step::Native(graph.clone()),
        };
        Mapping { steps: self.steps.iter().rev().map(turned).collect() }
    }

    /// The graph that the files store unchanged, if that is the whole mapping.
    pub fn kept(&self) -> Option<&Graph> {
        match self.steps.as_slice() {
            [Step::Native(graph)] => Some(graph),
            _ => None,
        }
    }

    /// The attribute with the relation from which, in addition to the ends, edge ids are generated, if there is one.
    pub fn relation_of_ids(&self) -> Option<usize> {
        match self.steps.last() {
            Some(Step::Fuse(record)) => record.relation,
            _ => None,
        }
    }

    /// The graph that readers of the files show, if it is not obvious.
    pub fn shown(&self) -> Option<&Graph> {
        match self.steps.last() {
            Some(Step::Native(graph)) => Some(graph),
            Some(Step::Number(record)) => Some(&record.numbered),
            Some(Step::Fuse(record)) => Some(&record.fused),
            Some(Step::Fit(record)) => Some(&record.fitted),
            Some(Step::Detach(record)) => Some(&record.written),
            _ => None,
        }
    }

    /// The numbering, if it is the last step.
    pub fn numbering(&self) -> Option<&Numbering> {
        match self.steps.last() {
            Some(Step::Number(record)) => Some(record),
            _ => None,
        }
    }

    /// Whether nodes are stored under numbers that are not their keys, or several node types as one.
    pub fn renumbers_nodes(&self) -> bool {
        self.numbering().is_some_and(|record| match (record.ids, record.typed.nodes.as_slice()) {
            (Ids::Keys, _) => false,
            (Ids::Rows, [only]) => only.key.kind != KeyKind::Row,
            (Ids::Rows, _) => true,
        })
    }

    /// The gathering by which bundled nodes are read as RDF, if it is the last step.
    pub fn scattering(&self) -> Option<&Gathering> {
        match self.steps.last() {
            Some(Step::Scatter(record)) => Some(record),
            _ => None,
        }
    }

    /// The lifting, if it is the last step.
    pub fn lifting(&self) -> Option<&Lifting> {
        match self.steps.last() {
            Some(Step::Lift(record)) => Some(record),
            _ => None,
        }
    }

    /// The record of what tables of the sidecar hold, if there are some.
    pub fn detachment(&self) -> Option<&Detachment> {
        self.steps.iter().find_map(|step| match step {
            Step::Detach(record) => Some(record.as_ref()),
            _ => None,
        })
    }

    /// The same mapping, with its tables in `folder`.
    pub fn in_folder(mut self, folder: Location) -> Mapping {
        for step in &mut self.steps {
            if let Step::Detach(record) = step {
                record.folder = Some(folder.clone());
            }
        }
        self
    }

    /// The mapping without its first step.
    pub fn rest(&self) -> Mapping {
        Mapping { steps: self.steps.get(1..).unwrap_or_default().to_vec() }
    }

    /// Shows `source` as the graph that it is mapped to. Reads nothing; data that must be held later is held within
    /// `budget`.
    ///
    /// # Errors
    /// If the source does not fit the mapping.
    pub fn apply(&self, source: Arc<dyn Source>, budget: &Budget) -> Result<Arc<dyn Source>> {
        self.steps.iter().try_fold(source, |source, step| step.apply(source, budget))
    }
}

impl Step {
    /// Shows `source` as the result of this step. Reads nothing.
    ///
    /// # Errors
    /// If the source does not fit the step.
    pub(crate) fn apply(&self, source: Arc<dyn Source>, budget: &Budget) -> Result<Arc<dyn Source>> {
        Ok(match self {
            Step::Bundle(record) => Arc::new(Merged::of(source, record.layout())?),
            Step::Shred(record) => Arc::new(Divided::of(source, record.layout())?),
            Step::Reify(record) => Arc::new(Reified::new(source, record, budget)?),
            Step::Restore(record) => Arc::new(Restored::new(source, record)?),
            Step::Relate(record) => Arc::new(Divided::of(declared(source, &record.single)?, record.layout())?),
            Step::Unrelate(record) => Arc::new(Merged::of(source, record.layout())?),
            Step::Part(record) => Arc::new(Parted::new(source, record)?),
            Step::Unpart(record) => Arc::new(Unparted::new(source, record)?),
            Step::Complete(record) => Arc::new(Completed::new(source, record)?),
            Step::Fit(record) => Arc::new(Redeclared::fitted(source, record)?),
            Step::Unfit(record) => Arc::new(Redeclared::original(source, record)?),
            Step::Fuse(record) => Arc::new(Merged::of(source, record.layout())?),
            Step::Split(record) => Arc::new(Divided::of(source, record.layout())?),
            Step::Unnumber(record) => Arc::new(Unnumbered::new(source, record, budget)?),
            Step::Gather(record) => Arc::new(Gathered::new(source, record, budget)),
            Step::Scatter(record) => Arc::new(Scattered::new(source, record, budget)?),
            Step::Lower(record) => Arc::new(Lowered::new(source, record, budget)?),
            Step::Attach(record) => Arc::new(Attached::new(source, record, budget)?),
            Step::Native(_) | Step::Number(_) | Step::Lift(_) | Step::Detach(_) => source,
            Step::Declare(graph) => declared(source, graph)?,
        })
    }

    /// Whether the nodes of several types are written type after type, so that they are read type by type.
    pub(crate) fn puts_types_in_line(&self) -> bool {
        matches!(self, Step::Bundle(_) | Step::Fuse(_))
    }
}
