//! Files of graph tools: nodes and edges in one text.

use std::sync::Arc;

use isomorph_error::{Error, Finding, Result, Rule};
use isomorph_graphfile::cx2::{self, Cx2};
use isomorph_graphfile::draw::{Drawing, Language};
use isomorph_graphfile::gexf::{self, Gexf};
use isomorph_graphfile::gml::{self, Gml};
use isomorph_graphfile::jgf::{self, Jgf};
use isomorph_graphfile::nodelink::{self, Kgx, NodeLink};
use isomorph_graphfile::{
    OpenOptions as Opening, RecordGraph, RecordWriter, WriteOptions as Writing, holds_json, unheld,
};
use isomorph_model::capability::{Capability, Directions, Documents};
use isomorph_model::{Direction, Graph, KeyKind, Property, Sink, Source, well_known};
use isomorph_storage::{Location, Staging};

use crate::conversion::Job;
use crate::driver::{Driver, Traits};
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
    Jgf,
    Cx2,
    /// A drawing, which is written only.
    Drawing(Language),
}

impl GraphFile {
    /// What reads it.
    fn of_records(self) -> Option<&'static dyn isomorph_graphfile::Syntax> {
        match self {
            GraphFile::NodeLink => Some(&NodeLink),
            GraphFile::Kgx => Some(&Kgx),
            GraphFile::Gexf => Some(&Gexf),
            GraphFile::Gml => Some(&Gml),
            GraphFile::Jgf => Some(&Jgf),
            GraphFile::Cx2 => Some(&Cx2),
            GraphFile::Drawing(_) => None,
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
            GraphFile::Jgf => "jgf",
            GraphFile::Cx2 => "cx2",
            GraphFile::Drawing(Language::Dot) => "dot",
            GraphFile::Drawing(Language::Mermaid) => "mermaid",
        }
    }

    fn name(&self) -> &'static str {
        match self {
            GraphFile::Drawing(language) => language.name(),
            own => own.of_records().map(isomorph_graphfile::Syntax::name).unwrap_or_default(),
        }
    }

    fn capability(&self) -> &'static Capability {
        match self {
            GraphFile::NodeLink => &isomorph_graphfile::NODE_LINK,
            GraphFile::Kgx => &isomorph_graphfile::KGX,
            GraphFile::Gexf => &isomorph_graphfile::GEXF,
            GraphFile::Gml => &isomorph_graphfile::GML,
            GraphFile::Jgf => &isomorph_graphfile::JGF,
            GraphFile::Cx2 => &isomorph_graphfile::CX2,
            GraphFile::Drawing(_) => &isomorph_graphfile::DRAWING,
        }
    }

    fn rules(&self) -> &'static [&'static Rule] {
        match self {
            GraphFile::NodeLink | GraphFile::Kgx => nodelink::rules::RULES,
            GraphFile::Drawing(_) => &[],
            GraphFile::Gexf => gexf::rules::RULES,
            GraphFile::Gml => gml::rules::RULES,
            GraphFile::Jgf => jgf::rules::RULES,
            GraphFile::Cx2 => cx2::rules::RULES,
        }
    }

    fn usual_names(&self) -> &'static [&'static str] {
        match self {
            GraphFile::NodeLink | GraphFile::Kgx | GraphFile::Jgf => &["NAME.json"],
            GraphFile::Cx2 => &["NAME.cx2", "NAME.cx2.gz"],
            GraphFile::Gexf => &["NAME.gexf", "NAME.gexf.gz"],
            GraphFile::Gml => &["NAME.gml", "NAME.gml.gz"],
            GraphFile::Drawing(Language::Dot) => &["NAME.dot (written only)"],
            GraphFile::Drawing(Language::Mermaid) => &["NAME.mmd (written only)"],
        }
    }

    fn traits(&self) -> Traits {
        Traits {
            is_single_file: true,
            sorts_edges: false,
            inseparable: &[well_known::WEIGHT],
            is_read: !matches!(self, GraphFile::Drawing(_)),
            knows_nodes_by_key: true,
            ..Traits::of(self.shape())
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        match self {
            GraphFile::NodeLink => NodeLink::detect(location),
            GraphFile::Kgx => Kgx::detect(location),
            GraphFile::Gexf => Gexf::detect(location),
            GraphFile::Gml => Gml::detect(location),
            GraphFile::Jgf => Jgf::detect(location),
            GraphFile::Cx2 => Cx2::detect(location),
            GraphFile::Drawing(_) => Ok(false),
        }
    }

    fn matches_name(&self, name: &str) -> bool {
        let stem = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
        match self {
            GraphFile::NodeLink => stem.ends_with(".nodelink.json"),
            GraphFile::Kgx => stem.ends_with(".kgx.json"),
            GraphFile::Gexf => stem.ends_with(".gexf"),
            GraphFile::Gml => stem.ends_with(".gml"),
            GraphFile::Cx2 => stem.ends_with(".cx2"),
            GraphFile::Jgf => stem.ends_with(".jgf") || stem.ends_with(".jgf.json"),
            GraphFile::Drawing(Language::Dot) => stem.ends_with(".dot") || stem.ends_with(".gv"),
            GraphFile::Drawing(Language::Mermaid) => stem.ends_with(".mmd") || stem.ends_with(".mermaid"),
        }
    }

    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        match self {
            GraphFile::NodeLink | GraphFile::Kgx | GraphFile::Jgf => format!("{stem}.{}.json", self.id()),
            GraphFile::Drawing(Language::Mermaid) => format!("{stem}.mmd"),
            GraphFile::Gexf | GraphFile::Gml | GraphFile::Cx2 | GraphFile::Drawing(_) => {
                format!("{stem}.{}", self.id())
            }
        }
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let Some(syntax) = self.of_records() else {
            return Err(
                Error::unsupported(format!("{} is written, but not read", self.name())).at(location.to_string())
            );
        };
        let mut own = options.get::<Opening>().into_owned();
        if let Some(resources) = &options.resources {
            own.budget = resources.budget.clone();
            own.scratch = Some(resources.scratch.clone());
        }
        Ok(Arc::new(RecordGraph::open(location, syntax, own)?))
    }

    fn show_all_of(&self, options: &mut OpenOptions, graph: &Graph) {
        options.get_mut::<Opening>().shown = Some(graph.clone());
    }

    fn options_from_sidecar(&self, options: &mut OpenOptions, carried: &dyn Fn() -> Option<Graph>) {
        options.get_mut::<Opening>().shown = carried();
    }

    fn copy_options(&self, opened: &Opened, options: &mut OpenOptions) {
        let own = options.get_mut::<Opening>();
        (own.shown, own.lenient) = (None, opened.options.get::<Opening>().lenient);
    }

    fn set_aside<'a>(&self, native: &'a dyn Source) -> &'a [Finding] {
        own(native).map(RecordGraph::set_aside).unwrap_or_default()
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
            GraphFile::Gexf => Allowed {
                holds: |property: &Property, _| Gexf::holds(property),
                is_edge_property: Some(Gexf::is_edge_property),
                ..anything
            },
            GraphFile::Gml => Allowed {
                holds: |property, _| Gml::holds(property),
                is_property: Gml::is_property,
                is_edge_property: Some(Gml::is_edge_property),
                ..anything
            },
            GraphFile::Jgf => {
                Allowed { holds: |property, _| holds_json(property), is_property: Jgf::is_property, ..anything }
            }
            GraphFile::Cx2 => Allowed {
                holds: |property, _| Cx2::holds(property),
                is_property: Cx2::is_property,
                is_edge_property: Some(Cx2::is_edge_property),
                ..anything
            },
            GraphFile::Drawing(_) => anything,
        }
    }

    fn not_stored(&self, graph: &Graph, _options: &WriteOptions) -> Result<Vec<(String, String)>> {
        if let GraphFile::Drawing(language) = self {
            let why = format!("{} shows ids, types and relations, and is not read back", language.name());
            return Ok(vec![("everything else".to_owned(), why)]);
        }
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

    fn needs_no_sidecar(&self, _graph: &Graph, _options: &WriteOptions, _files: &[String]) -> bool {
        self.of_records().is_some()
    }

    fn is_text(&self, _options: &WriteOptions) -> bool {
        true
    }

    fn prepare(&self, options: &mut WriteOptions, job: &Job<'_>) -> Result<()> {
        let own = options.get_mut::<Writing>();
        (own.budget, own.scratch) = (job.resources.budget.clone(), Some(job.resources.scratch.clone()));
        Ok(())
    }

    fn create<'a>(&self, staging: &'a Staging, graph: &Graph, options: &WriteOptions) -> Result<Box<dyn Sink + 'a>> {
        let has_text_keys = graph.nodes.first().is_none_or(|ty| ty.key.kind == KeyKind::Utf8);
        let form = match self {
            GraphFile::NodeLink => NodeLink::form(),
            GraphFile::Kgx => Kgx::form(),
            GraphFile::Gexf => Gexf::form(),
            GraphFile::Gml => Gml::form(has_text_keys),
            GraphFile::Jgf => Jgf::form(),
            GraphFile::Cx2 => Cx2::form(has_text_keys),
            GraphFile::Drawing(language) => Drawing::form(*language),
        };
        Ok(Box::new(RecordWriter::create(staging, graph, form, &options.get::<Writing>())?))
    }
}
