//! How graphs are opened and written.

use std::time::SystemTime;

use arrow_schema::DataType;
use isomorph_model::{Graph, well_known};

use crate::mapping::NodeTypes;
use crate::registry::Format;
use isomorph_storage::Resources;

/// What to do with a carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CarryUse {
    /// Use it; refuse when the data has changed since.
    #[default]
    Auto,
    /// Use its names and types even when the data has changed.
    Schema,
    /// Read the data as what it is.
    Ignore,
}

/// How a graph is opened.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// The format, if it is not to be detected.
    pub from: Option<Format>,
    /// What to do with a carry.
    pub carry: CarryUse,
    /// For GraphAr.
    pub graphar: isomorph_graphar::OpenOptions,
    /// For NOCK.
    pub nock: isomorph_nock::OpenOptions,
    /// For annnet.
    pub annnet: isomorph_annnet::OpenOptions,
    /// For DeepGNN.
    pub deepgnn: isomorph_deepgnn::OpenOptions,
    /// For GraphLake.
    pub graphlake: isomorph_graphlake::OpenOptions,
    /// For RDF texts.
    pub rdf: isomorph_bridges::OpenOptions,
    /// Nothing but neighbours of nodes that are named by their keys will be asked for: what that does not need may stay
    /// unread, and the source may refuse everything else.
    pub look_ups: bool,
    /// The graph is opened also where opening finds errors: for whoever describes or checks it, and whoever was told to go on. Else
    /// these end it, because what is read of such a graph may be another one.
    pub unsound: bool,
}

impl OpenOptions {
    /// The options to open files that were written from `graph`: they show what it had.
    pub(crate) fn showing(&self, graph: Option<&Graph>) -> OpenOptions {
        let mut options = self.clone();
        let edges = graph.map(|graph| graph.edges.as_slice()).unwrap_or_default();
        let mut properties = edges.iter().flat_map(|ty| &ty.properties);
        options.nock.keep_edge_id |= properties.any(|property| property.name == isomorph_nock::Column::EdgeId.name());
        if let Some(graph) = graph {
            options.deepgnn = options.deepgnn.showing(graph);
        }
        options
    }
}

/// Up to how many members, labels and relations of a graph without a schema become columns, labels and edge types where the
/// target declares them. What are more lie in one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typing {
    /// Members that have a column each; else one column of JSON objects.
    pub columns: usize,
    /// Labels that are labels; else a property that is a set of text.
    pub labels: usize,
    /// Relations that are edge types; else one edge type with the relation in a column.
    pub relations: usize,
}

impl Default for Typing {
    /// A thousand of each.
    fn default() -> Self {
        Typing { columns: 1_000, labels: 1_000, relations: 1_000 }
    }
}

/// What becomes of hyperedges in a format that has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Hyperedges {
    /// Nodes with edges to their members. Nothing is lost.
    #[default]
    Reify,
    /// Edges between their members: from each head to each tail, and between each two members without a direction.
    Expand,
    /// Nothing.
    Skip,
}

/// How RDF lies in NOCK.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RdfMode {
    /// Resources are nodes, literals their properties. Nothing is lost.
    Rich,
    /// As pynock has it: literals are nodes as well, called by their text; of NOCK nothing becomes RDF but edges.
    Pynock,
}

/// How a graph is laid out when it is written.
#[derive(Debug, Clone, Default)]
pub struct WriteOptions {
    /// For GraphAr.
    pub graphar: isomorph_graphar::WriteOptions,
    /// For NOCK.
    pub nock: isomorph_nock::CreateOptions,
    /// For annnet.
    pub annnet: isomorph_annnet::WriteOptions,
    /// For DeepGNN.
    pub deepgnn: isomorph_deepgnn::WriteOptions,
    /// For RDF texts.
    pub rdf: RdfOptions,
}

/// How an RDF text is written.
#[derive(Debug, Clone, Copy, Default)]
pub struct RdfOptions {
    /// The syntax, where the destination's name does not say it.
    pub syntax: Option<isomorph_bridges::Syntax>,
}

impl WriteOptions {
    /// The options for `graph` at a destination of this name: the name says whether NOCK is text and whether annnet is
    /// one file, and a truth of 64 bits needs a column of 64 bits.
    pub(crate) fn fitted(&self, graph: &Graph, name: &str, resources: &Resources) -> WriteOptions {
        let mut options = self.clone();
        if name.to_ascii_lowercase().ends_with(".csv") {
            options.nock.format = isomorph_nock::Format::Csv;
        }
        options.annnet.archive |= name.to_ascii_lowercase().ends_with(".annnet");
        options.annnet.budget = resources.budget.clone();
        options.annnet.scratch = Some(resources.scratch.clone());
        options.deepgnn.binary.budget = resources.budget.clone();
        options.deepgnn.binary.scratch = Some(resources.scratch.clone());
        let mut properties =
            graph.nodes.iter().flat_map(|ty| &ty.properties).chain(graph.edges.iter().flat_map(|ty| &ty.properties));
        options.nock.truth_double |=
            properties.any(|property| property.name == well_known::TRUTH && property.data_type == DataType::Float64);
        options.nock.budget = resources.budget.clone();
        options.nock.scratch = Some(resources.scratch.clone());
        options.graphar.threads = Some(resources.threads);
        options
    }

    /// Whether the result of writing `format` at `destination` is a directory.
    pub fn is_directory(&self, format: Format) -> bool {
        match format {
            Format::GraphAr | Format::GraphLake => true,
            Format::Rdf => false,
            Format::DeepGnn => self.deepgnn.text.is_none() || self.deepgnn.parts.is_some(),
            Format::Annnet => !self.annnet.archive,
            Format::Nock => self.nock.partitions.is_some(),
        }
    }
}

/// The name of a graph that has none, from the name of its destination: without the ending that says the format, and
/// without what GraphAr does not allow in the name of a file.
pub(crate) fn graph_name(destination: &str) -> Option<String> {
    let stem = [".graphar", ".gar"].iter().find_map(|ending| destination.strip_suffix(ending)).unwrap_or(destination);
    let name: String = stem.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')).collect();
    Some(name).filter(|name| !name.starts_with(['.', '-']) && !name.is_empty())
}

/// How a graph is converted.
#[derive(Debug, Clone, Default)]
pub struct ConvertOptions {
    /// The target format; else told by the destination's name, or by the carry.
    pub to: Option<Format>,
    /// What IRIs begin with that are made of names and keys, where the target is RDF; [`isomorph_model::faces::BASE`] if
    /// nothing is given.
    pub base: Option<String>,
    /// Write no carry and say what is lost.
    pub lossy: bool,
    /// Do not read the result back.
    pub no_verify: bool,
    /// Replace what is at the destination.
    pub replace: bool,
    /// The time that files and directories get, and that annnet files name, instead of the clock's. Nothing else that is
    /// written depends on a clock.
    pub epoch: Option<SystemTime>,
    /// How a graph without a schema is typed.
    pub typing: Typing,
    /// What gives nodes of one type types of their own.
    pub node_types: Option<NodeTypes>,
    /// What becomes of hyperedges where the target has none.
    pub hyperedges: Hyperedges,
    /// Whether classes, the objects of `rdf:type`, become labels where RDF becomes a property graph.
    pub labels_from_type: bool,
    /// How RDF lies in NOCK, for RDF that becomes NOCK and for NOCK whose nodes are RDF.
    pub rdf_mode: Option<RdfMode>,
    /// Layout.
    pub write: WriteOptions,
}

impl ConvertOptions {
    /// Whether no carry is written: as asked for, or because the hyperedges or the literals do not come back.
    pub fn loses(&self) -> bool {
        self.lossy || self.hyperedges != Hyperedges::Reify || self.rdf_mode == Some(RdfMode::Pynock)
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
