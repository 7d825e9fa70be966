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
    Form, OpenOptions as Opening, RecordGraph, RecordWriter, Syntax, WriteOptions as Writing, holds_json, unheld,
};
use isomorph_model::capability::{Capability, Directions, Documents};
use isomorph_model::{Direction, Graph, KeyKind, Sink, Source, well_known};
use isomorph_storage::{Location, Staging};

use crate::conversion::Job;
use crate::driver::Driver;
use crate::mapping::Allowed;
use crate::open::Opened;
use crate::options::{OpenOptions, WriteOptions};
use crate::traits::Traits;

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

/// Whether a location holds a graph of a syntax.
type Detect = fn(&Location) -> Result<bool>;

/// What distinguishes these formats.
struct Facts {
    id: &'static str,
    name: &'static str,
    capability: &'static Capability,
    rules: &'static [&'static Rule],
    usual_names: &'static [&'static str],
    /// Endings of file names: first the one of new files.
    endings: &'static [&'static str],
    /// How it is read, if it is, and whether a location holds it.
    read: Option<(&'static dyn Syntax, Detect)>,
    allowed: Allowed,
    /// How it is written; the flag tells whether keys of nodes are text.
    form: fn(bool) -> Box<dyn Form>,
}

impl GraphFile {
    fn facts(self) -> Facts {
        let anything = Allowed { wide_keys: false, documents: |_| false, ..Allowed::anything() };
        match self {
            GraphFile::NodeLink => Facts {
                id: "nodelink",
                name: NodeLink.name(),
                capability: &isomorph_graphfile::NODE_LINK,
                rules: nodelink::rules::RULES,
                usual_names: &["NAME.json"],
                endings: &[".nodelink.json"],
                read: Some((&NodeLink, NodeLink::detect)),
                allowed: Allowed {
                    holds: |property, _| holds_json(property),
                    is_property: NodeLink::is_property,
                    is_edge_property: Some(NodeLink::is_edge_property),
                    ..anything
                },
                form: |_| NodeLink::form(),
            },
            GraphFile::Kgx => Facts {
                id: "kgx",
                name: Kgx.name(),
                capability: &isomorph_graphfile::KGX,
                rules: nodelink::rules::RULES,
                usual_names: &["NAME.json"],
                endings: &[".kgx.json"],
                read: Some((&Kgx, Kgx::detect)),
                allowed: Allowed {
                    holds: |property, _| holds_json(property),
                    is_property: Kgx::is_property,
                    is_edge_property: Some(Kgx::is_edge_property),
                    ..anything
                },
                form: |_| Kgx::form(),
            },
            GraphFile::Gexf => Facts {
                id: "gexf",
                name: Gexf.name(),
                capability: &isomorph_graphfile::GEXF,
                rules: gexf::rules::RULES,
                usual_names: &["NAME.gexf", "NAME.gexf.gz"],
                endings: &[".gexf"],
                read: Some((&Gexf, Gexf::detect)),
                allowed: Allowed { holds: Gexf::holds, is_edge_property: Some(Gexf::is_edge_property), ..anything },
                form: |_| Gexf::form(),
            },
            GraphFile::Gml => Facts {
                id: "gml",
                name: Gml.name(),
                capability: &isomorph_graphfile::GML,
                rules: gml::rules::RULES,
                usual_names: &["NAME.gml", "NAME.gml.gz"],
                endings: &[".gml"],
                read: Some((&Gml, Gml::detect)),
                allowed: Allowed {
                    holds: |property, _| Gml::holds(property),
                    is_property: Gml::is_property,
                    is_edge_property: Some(Gml::is_edge_property),
                    ..anything
                },
                form: Gml::form,
            },
            GraphFile::Jgf => Facts {
                id: "jgf",
                name: Jgf.name(),
                capability: &isomorph_graphfile::JGF,
                rules: jgf::rules::RULES,
                usual_names: &["NAME.json"],
                endings: &[".jgf.json", ".jgf"],
                read: Some((&Jgf, Jgf::detect)),
                allowed: Allowed {
                    holds: |property, _| holds_json(property),
                    is_property: Jgf::is_property,
                    ..anything
                },
                form: |_| Jgf::form(),
            },
            GraphFile::Cx2 => Facts {
                id: "cx2",
                name: Cx2.name(),
                capability: &isomorph_graphfile::CX2,
                rules: cx2::rules::RULES,
                usual_names: &["NAME.cx2", "NAME.cx2.gz"],
                endings: &[".cx2"],
                read: Some((&Cx2, Cx2::detect)),
                allowed: Allowed {
                    holds: |property, _| Cx2::holds(property),
                    is_property: Cx2::is_property,
                    is_edge_property: Some(Cx2::is_edge_property),
                    ..anything
                },
                form: Cx2::form,
            },
            GraphFile::Drawing(Language::Dot) => Facts {
                id: "dot",
                name: Language::Dot.name(),
                capability: &isomorph_graphfile::DRAWING,
                rules: &[],
                usual_names: &["NAME.dot (written only)"],
                endings: &[".dot", ".gv"],
                read: None,
                allowed: anything,
                form: |_| Drawing::form(Language::Dot),
            },
            GraphFile::Drawing(Language::Mermaid) => Facts {
                id: "mermaid",
                name: Language::Mermaid.name(),
                capability: &isomorph_graphfile::DRAWING,
                rules: &[],
                usual_names: &["NAME.mmd (written only)"],
                endings: &[".mmd", ".mermaid"],
                read: None,
                allowed: anything,
                form: |_| Drawing::form(Language::Mermaid),
            },
        }
    }
}

fn own(native: &dyn Source) -> Option<&RecordGraph> {
    native.as_any().and_then(|own| own.downcast_ref::<RecordGraph>())
}

impl Driver for GraphFile {
    fn id(&self) -> &'static str {
        self.facts().id
    }

    fn name(&self) -> &'static str {
        self.facts().name
    }

    fn capability(&self) -> &'static Capability {
        self.facts().capability
    }

    fn traits(&self) -> Traits {
        let facts = self.facts();
        Traits {
            rules: facts.rules,
            usual_names: facts.usual_names,
            is_single_file: true,
            sorts_edges: false,
            inseparable: &[well_known::WEIGHT],
            is_read: facts.read.is_some(),
            knows_nodes_by_key: true,
            ..Traits::of(self.shape())
        }
    }

    fn detect(&self, location: &Location) -> Result<bool> {
        self.facts().read.map_or(Ok(false), |(_, detect)| detect(location))
    }

    fn matches_name(&self, name: &str) -> bool {
        self.facts().endings.iter().any(|ending| super::unpacked(name).ends_with(ending))
    }

    fn suggested_name(&self, stem: &str, _options: &WriteOptions) -> String {
        format!("{stem}{}", self.facts().endings.first().copied().unwrap_or_default())
    }

    fn open(&self, location: &Location, options: &OpenOptions) -> Result<Arc<dyn Source>> {
        let Some((syntax, _)) = self.facts().read else {
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

    fn shown<'o>(&self, options: &'o mut OpenOptions) -> Option<&'o mut Option<Graph>> {
        Some(&mut options.get_mut::<Opening>().shown)
    }

    fn copy_options(&self, opened: &Opened, options: &mut OpenOptions) {
        let own = options.get_mut::<Opening>();
        (own.shown, own.lenient) = (None, opened.options.get::<Opening>().lenient);
    }

    fn set_aside<'a>(&self, native: &'a dyn Source) -> &'a [Finding] {
        own(native).map(RecordGraph::set_aside).unwrap_or_default()
    }

    fn unread(&self, native: &dyn Source) -> Vec<(String, String)> {
        if *self != GraphFile::Gexf {
            return Vec::new();
        }
        let findings = native.about().findings;
        let all = findings.by_rule().flat_map(|(_, kept)| kept).filter(|finding| *finding.rule == gexf::rules::ELEMENT);
        all.map(|finding| ("content of the file".to_owned(), finding.message.clone())).collect()
    }

    fn recognised(&self, native: &dyn Source) -> Vec<(String, String)> {
        own(native).map(RecordGraph::recognised).unwrap_or_default()
    }

    fn allowed(&self) -> Allowed {
        self.facts().allowed
    }

    fn not_stored(&self, graph: &Graph, _options: &WriteOptions) -> Result<Vec<(String, String)>> {
        if let GraphFile::Drawing(language) = self {
            let why = format!("{} shows ids, types and relations, and is not read back", language.name());
            return Ok(vec![("everything else".to_owned(), why)]);
        }
        let named = |name: String, why: &str| (name, why.to_owned());
        let Facts { name, capability, .. } = self.facts();
        let written = match capability.documents {
            Documents::Named(names) => names,
            Documents::None | Documents::Any => &[],
        };
        let documents = unheld(&graph.documents, written);
        let mut all: Vec<(String, String)> = documents
            .map(|document| (format!("document {}", document.name), format!("{name} cannot store it")))
            .collect();
        let has = |direction: Direction| graph.edges.iter().any(|ty| ty.direction == direction);
        match capability.directions {
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

    fn remarks(&self, graph: &Graph) -> Vec<(String, String)> {
        match self {
            GraphFile::Gexf => super::mixed_directions(graph, "where both kinds are, NetworkX refuses the file"),
            _ => Vec::new(),
        }
    }

    fn needs_no_sidecar(&self, _graph: &Graph, _options: &WriteOptions, _files: &[String]) -> bool {
        self.facts().read.is_some()
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
        let form = (self.facts().form)(has_text_keys);
        Ok(Box::new(RecordWriter::create(staging, graph, form, &options.get::<Writing>())?))
    }
}
