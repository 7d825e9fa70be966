//! Files of graph tools: nodes and edges in one text.

use std::sync::Arc;

use isomorph_error::{Result, Rule};
use isomorph_graphfile::gexf::{self, Gexf};
use isomorph_graphfile::gml::{self, Gml};
use isomorph_graphfile::nodelink::{self, Kgx, NodeLink};
use isomorph_graphfile::{OpenOptions as Opening, RecordGraph, RecordWriter, holds_json, unheld};
use isomorph_model::capability::{Capability, Directions, Documents};
use isomorph_model::{Direction, Graph, KeyKind, Property, Sink, Source, well_known};
use isomorph_storage::{Location, Staging};

use crate::driver::Driver;
use crate::mapping::{Allowed, NameRules};
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};

/// The syntax of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GraphFile {
    NodeLink,
    Kgx,
    Gexf,
    Gml,
}

impl GraphFile {
    fn of_records(self) -> &'static dyn isomorph_graphfile::Syntax {
        match self {
            GraphFile::NodeLink => &NodeLink,
            GraphFile::Kgx => &Kgx,
            GraphFile::Gexf => &Gexf,
            GraphFile::Gml => &Gml,
        }
    }

    /// The documents that are written.
    fn documents(self) -> &'static [&'static str] {
        match self.capability().documents {
            Documents::Named(names) => names,
            Documents::None | Documents::Any => &[],
        }
    }
}

fn own(native: &dyn Source) -> Option<&RecordGraph> {
    native.as_any().and_then(|own| own.downcast_ref::<RecordGraph>())
}

impl Driver for GraphFile {
    fn id(&self) -> &'static str {
        match self {
            GraphFile::NodeLink => "nodelink",
            GraphFile::Kgx => "kgx",
            GraphFile::Gexf => "gexf",
            GraphFile::Gml => "gml",
        }
    }

    fn name(&self) -> &'static str {
        self.of_records().name()
    }

    fn capability(&self) -> &'static Capability {
        match self {
            GraphFile::NodeLink => &isomorph_graphfile::NODE_LINK,
            GraphFile::Kgx => &isomorph_graphfile::KGX,
            GraphFile::Gexf => &isomorph_graphfile::GEXF,
            GraphFile::Gml => &isomorph_graphfile::GML,
        }
    }

    fn rules(&self) -> &'static [&'static Rule] {
        match self {
            GraphFile::NodeLink => nodelink::rules::RULES,
            // The same rules, which are listed once.
            GraphFile::Kgx => &[],
            GraphFile::Gexf => gexf::rules::RULES,
            GraphFile::Gml => gml::rules::RULES,
        }
    }

    fn usual_names(&self) -> &'static [&'static str] {
        match self {
            GraphFile::NodeLink | GraphFile::Kgx => &["NAME.json"],
            GraphFile::Gexf => &["NAME.gexf", "NAME.gexf.gz"],
            GraphFile::Gml => &["NAME.gml", "NAME.gml.gz"],
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        match self {
            GraphFile::NodeLink => NodeLink::detect(location),
            GraphFile::Kgx => Kgx::detect(location),
            GraphFile::Gexf => Gexf::detect(location),
            GraphFile::Gml => Gml::detect(location),
        }
    }

    fn is_single_file(&self) -> bool {
        true
    }

    fn matches_name(&self, name: &str) -> bool {
        let stem = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
        match self {
            GraphFile::NodeLink => stem.ends_with(".nodelink.json"),
            GraphFile::Kgx => stem.ends_with(".kgx.json"),
            GraphFile::Gexf => stem.ends_with(".gexf"),
            GraphFile::Gml => stem.ends_with(".gml"),
        }
    }

    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        match self {
            GraphFile::NodeLink | GraphFile::Kgx => format!("{stem}.{}.json", self.id()),
            GraphFile::Gexf | GraphFile::Gml => format!("{stem}.{}", self.id()),
        }
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let mut own = options.get::<Opening>().into_owned();
        if let Some(resources) = &options.resources {
            own.budget = resources.budget.clone();
            own.scratch = Some(resources.scratch.clone());
        }
        Ok(Arc::new(RecordGraph::open(location, self.of_records(), own)?))
    }

    fn show_all_of(&self, options: &mut OpenOptions, graph: &Graph) {
        options.get_mut::<Opening>().shown = Some(graph.clone());
    }

    fn options_from_sidecar(&self, options: &mut OpenOptions, carried: &dyn Fn() -> Option<Graph>) {
        options.get_mut::<Opening>().shown = carried();
    }

    fn copy_options(&self, _opened: &Opened, options: &mut OpenOptions) {
        options.get_mut::<Opening>().shown = None;
    }

    fn recognised(&self, native: &dyn Source) -> Vec<(String, String)> {
        own(native).map(RecordGraph::recognised).unwrap_or_default()
    }

    fn name_rules(&self) -> NameRules {
        NameRules { legal: |_| true, reserved_prefix: "", key: "id" }
    }

    fn allowed(&self) -> Allowed {
        let anything = Allowed { wide_keys: false, documents: |_| false, ..Allowed::anything() };
        match self {
            GraphFile::NodeLink => Allowed {
                holds: |property, _| holds_json(property),
                is_property: NodeLink::is_property,
                is_edge_property: Some(NodeLink::is_edge_property),
                ..anything
            },
            GraphFile::Kgx => Allowed {
                holds: |property, _| holds_json(property),
                is_property: Kgx::is_property,
                is_edge_property: Some(Kgx::is_edge_property),
                ..anything
            },
            GraphFile::Gexf => Allowed { holds: |property: &Property, _| Gexf::holds(property), ..anything },
            GraphFile::Gml => Allowed {
                holds: |property, _| Gml::holds(property),
                is_property: Gml::is_property,
                is_edge_property: Some(Gml::is_edge_property),
                ..anything
            },
        }
    }

    fn knows_nodes_by_key(&self) -> bool {
        true
    }

    fn sorts_edges(&self) -> bool {
        false
    }

    fn not_stored(&self, graph: &Graph, _options: &WriteOptions) -> Result<Vec<(String, String)>> {
        let named = |name: String, why: &str| (name, why.to_owned());
        let documents = unheld(&graph.documents, self.documents());
        let name = self.name();
        let mut all: Vec<(String, String)> = documents
            .map(|document| (format!("document {}", document.name), format!("{name} cannot store it")))
            .collect();
        let has = |direction: Direction| graph.edges.iter().any(|ty| ty.direction == direction);
        match self.capability().directions {
            Directions::ByType if has(Direction::PerRow) => {
                all.push(named(
                    "direction of edges".to_owned(),
                    "all edges of such a file are directed, or all are undirected",
                ));
            }
            Directions::None if has(Direction::PerRow) || has(Direction::Undirected) => {
                all.push(named("direction of edges".to_owned(), "all edges of such a file are directed"));
            }
            _ => {}
        }
        Ok(all)
    }

    fn inseparable(&self) -> &'static [&'static str] {
        &[well_known::WEIGHT]
    }

    fn is_text(&self, _options: &WriteOptions) -> bool {
        true
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, _options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        let has_text_keys = graph.nodes.first().is_none_or(|ty| ty.key.kind == KeyKind::Utf8);
        let form = match self {
            GraphFile::NodeLink => NodeLink::form(),
            GraphFile::Kgx => Kgx::form(),
            GraphFile::Gexf => Gexf::form(),
            GraphFile::Gml => Gml::form(has_text_keys),
        };
        Ok(Box::new(RecordWriter::create(staging, graph, form)?))
    }
}
