//! How graphs are opened and written.

use std::borrow::Cow;
use std::time::SystemTime;

use isomorph_model::Graph;
use isomorph_storage::{Budget, Resources};

use crate::driver::Format;
use crate::mapping::{EdgeProperties, IriMap, NodeTypes};
use crate::registry::Registry;
use crate::settings::{Setting, Settings};

/// What to do with a sidecar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SidecarUse {
    /// Use it; an error if the data has changed.
    #[default]
    Auto,
    /// Use its names and types even if the data has changed.
    Schema,
    /// Read the data without it.
    Ignore,
}

/// How a graph is opened.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// The format; detected if `None`.
    pub from: Option<Format>,
    /// What to do with a sidecar.
    pub sidecar: SidecarUse,
    /// The known formats.
    pub formats: Registry,
    /// Options of single formats, by type: see [`OpenOptions::get`].
    pub own: Settings,
    /// Memory, threads and temporary files; if `None`, those in the options of the format.
    pub resources: Option<Resources>,
    /// Only the neighbours of nodes that are given by key will be requested: data that this does not need can stay
    /// unread, and the source may refuse everything else.
    pub look_ups: bool,
    /// Open the graph even if opening finds errors: for describing or checking it, or if the user asked to continue.
    /// Otherwise errors end opening, because the graph may be read incorrectly.
    pub unsound: bool,
}

impl OpenOptions {
    /// The options of one format, like `isomorph_nock::OpenOptions`.
    pub fn get<T: Setting + Clone + Default>(&self) -> Cow<'_, T> {
        self.own.get()
    }

    /// The same, for changing them.
    pub fn get_mut<T: Setting + Clone + Default>(&mut self) -> &mut T {
        self.own.get_mut()
    }

    /// The memory budget for reading a graph through its sidecar.
    pub(crate) fn budget(&self) -> Budget {
        self.resources.as_ref().map_or_else(Budget::of_this_machine, |resources| resources.budget.clone())
    }

    /// The options to open files of `format` that were written from `graph`, so that they show everything it had.
    pub(crate) fn showing(&self, format: Format, graph: Option<&Graph>) -> OpenOptions {
        let mut options = self.clone();
        if let Some(graph) = graph {
            format.show_all_of(&mut options, graph);
        }
        options
    }
}

/// Limits up to which members, labels and relations of a graph without a schema become columns, labels and edge types,
/// if the target declares these. Above a limit, all share one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typing {
    /// Members with a column each; otherwise one column of JSON objects.
    pub columns: usize,
    /// Labels that stay labels; otherwise a property that is a set of text.
    pub labels: usize,
    /// Relations that are edge types; otherwise one edge type with the relation in a column.
    pub relations: usize,
}

impl Default for Typing {
    /// A thousand of each.
    fn default() -> Self {
        Typing { columns: 1_000, labels: 1_000, relations: 1_000 }
    }
}

/// What happens to hyperedges in a format that has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hyperedges {
    /// Nodes with edges to their members. Lossless.
    #[default]
    Reify,
    /// Edges between their members: from each head to each tail; without direction, between every two members.
    Expand,
    /// They are dropped.
    Skip,
}

/// How RDF is stored in NOCK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RdfMode {
    /// Resources are nodes, literals their properties. Lossless.
    Rich,
    /// As in pynock: literals are also nodes, named by their text; from NOCK, only edges become RDF.
    Pynock,
}

/// How a graph is laid out when it is written.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// Options of single formats, by type: see [`WriteOptions::get`].
    pub own: Settings,
}

impl WriteOptions {
    /// The options of one format, like `isomorph_graphar::WriteOptions`.
    pub fn get<T: Setting + Clone + Default>(&self) -> Cow<'_, T> {
        self.own.get()
    }

    /// The same, for changing them.
    pub fn get_mut<T: Setting + Clone + Default>(&mut self) -> &mut T {
        self.own.get_mut()
    }

    /// The options to write `graph` in `format` at a destination of this name.
    pub(crate) fn fitted(&self, format: Format, graph: &Graph, name: &str, resources: &Resources) -> WriteOptions {
        let mut options = self.clone();
        format.fit(&mut options, graph, name, resources);
        options
    }

    /// Whether the result of writing `format` is a directory.
    pub fn is_directory(&self, format: Format) -> bool {
        format.is_directory(self)
    }
}

/// The name of a graph without one, from the name of its destination: without the extension of the format, and without
/// characters that GraphAr does not allow in file names.
pub(crate) fn graph_name(destination: &str) -> Option<String> {
    let stem = [".graphar", ".gar"].iter().find_map(|ending| destination.strip_suffix(ending)).unwrap_or(destination);
    let name: String = stem.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')).collect();
    Some(name).filter(|name| !name.starts_with(['.', '-']) && !name.is_empty())
}

/// How a graph is converted.
#[derive(Debug, Clone, Default)]
pub struct ConvertOptions {
    /// The target format; by default determined by the destination's name, or by the sidecar.
    pub to: Option<Format>,
    /// The beginning of IRIs that are made of names and keys, if the target is RDF; default:
    /// [`isomorph_model::faces::BASE`].
    pub base: Option<String>,
    /// Write no sidecar, and list what is lost.
    pub lossy: bool,
    /// Do not verify the output.
    pub no_verify: bool,
    /// Replace an existing destination.
    pub replace: bool,
    /// The time of files and directories, and in annnet files, instead of the current time. Nothing else that is
    /// written depends on a clock.
    pub epoch: Option<SystemTime>,
    /// How a graph without a schema is typed.
    pub typing: Typing,
    /// What determines the types of nodes, if nodes of one type get several types.
    pub node_types: Option<NodeTypes>,
    /// What happens to hyperedges if the target has none.
    pub hyperedges: Hyperedges,
    /// Whether classes, the objects of `rdf:type`, become labels if RDF becomes a property graph.
    pub labels_from_type: bool,
    /// How RDF is stored in NOCK, for RDF that becomes NOCK and for NOCK whose nodes are RDF.
    pub rdf_mode: Option<RdfMode>,
    /// If RDF text must be RDF 1.1, which has no triple terms: how properties of edges are written.
    pub rdf_1_1: Option<EdgeProperties>,
    /// Names and the IRIs of a vocabulary, for property graphs that become RDF text, and RDF that becomes a typed graph.
    pub iri_map: Option<IriMap>,
    /// Layout.
    pub write: WriteOptions,
}

impl ConvertOptions {
    /// Whether no sidecar is written: as requested, or because hyperedges, literals or properties of edges cannot be restored.
    pub fn loses(&self) -> bool {
        self.lossy
            || self.hyperedges != Hyperedges::Reify
            || self.rdf_mode == Some(RdfMode::Pynock)
            || self.rdf_1_1 == Some(EdgeProperties::Drop)
    }
}

#[cfg(test)]
mod tests {
    use super::graph_name;

    #[test]
    fn a_graph_is_called_like_its_destination() {
        let names = ["people", "my people.graphar", "social.v2", "\u{6f22}", "..", ""].map(graph_name);
        let expected = [Some("people"), Some("mypeople"), Some("social.v2"), None, None, None];
        assert_eq!(names, expected.map(|name| name.map(str::to_owned)));
    }
}
