//! Names of files and columns in each layout, and detection of the layout of a graph.

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{Location, Root, Scheme};

use crate::members::Members;

/// Files whose names are the same in every layout, relative to the root.
pub mod file {
    /// Direction, version and slices.
    pub const MANIFEST: &str = "manifest.json";
    /// The layers that layer ids refer to (v2).
    pub const LAYER_DICT: &str = "structure/layer_dict.json";
    /// Placements of entities (v2, and 0.2.0).
    pub const ENTITY_INDEX: &str = "structure/entity_index.parquet";
    /// Edges with their ends (v2).
    pub const EDGES: &str = "structure/edges.parquet";
    /// Edges with their ends (v1).
    pub const EDGE_DEFINITIONS: &str = "structure/edge_definitions.parquet";
    /// Members of hyperedges.
    pub const HYPEREDGES: &str = "structure/hyperedge_definitions.parquet";
    /// Explicit coefficients (v2).
    pub const COEFFICIENTS: &str = "structure/edge_coeffs.parquet";
    /// Flexible directions (v2).
    pub const POLICIES: &str = "structure/edge_direction_policy.json";
    /// Rows of entities (v1).
    pub const ENTITY_TO_IDX: &str = "structure/entity_to_idx.parquet";
    /// Entities by row (v1).
    pub const IDX_TO_ENTITY: &str = "structure/idx_to_entity.parquet";
    /// `vertex` or `edge` (v1).
    pub const ENTITY_TYPES: &str = "structure/entity_types.parquet";
    /// Columns of edges (v1).
    pub const EDGE_TO_IDX: &str = "structure/edge_to_idx.parquet";
    /// Edges by column (v1).
    pub const IDX_TO_EDGE: &str = "structure/idx_to_edge.parquet";
    /// Weights of edges (v1).
    pub const EDGE_WEIGHTS: &str = "structure/edge_weights.parquet";
    /// Directions of edges (v1).
    pub const EDGE_DIRECTED: &str = "structure/edge_directed.parquet";
    /// Kinds of edges (v1).
    pub const EDGE_KIND: &str = "structure/edge_kind.parquet";
    /// The incidence matrix, a Zarr group.
    pub const INCIDENCE: &str = "structure/incidence.zarr";
    /// Attributes of slices.
    pub const SLICE_ATTRIBUTES: &str = "tables/slice_attributes.parquet";
    /// Attributes of edges in slices.
    pub const EDGE_SLICE_ATTRIBUTES: &str = "tables/edge_slice_attributes.parquet";
    /// Aspects and elementary layers.
    pub const LAYERS: &str = "layers/metadata.json";
    /// Layers of edges, derived.
    pub const EDGE_LAYERS: &str = "layers/edge_layers.parquet";
    /// Attributes of elementary layers.
    pub const ELEMENTARY_ATTRIBUTES: &str = "layers/elem_layer_attributes.parquet";
    /// Attributes of aspects.
    pub const ASPECT_ATTRIBUTES: &str = "layers/aspect_attributes.json";
    /// Attributes of layers.
    pub const LAYER_ATTRIBUTES: &str = "layers/tuple_layer_attributes.parquet";
    /// Slices in their order.
    pub const REGISTRY: &str = "slices/registry.parquet";
    /// Memberships of edges in slices.
    pub const EDGE_MEMBERSHIPS: &str = "slices/edge_memberships.parquet";
    /// Operations on the graph.
    pub const HISTORY: &str = "audit/history.parquet";
    /// Labelled states: sets of ids.
    pub const SNAPSHOTS: &str = "audit/snapshots.json";
    /// Labelled states, one file each.
    pub const SNAPSHOT_FOLDER: &str = "audit/snapshots/";
    /// SHA-256 of every file, as `sha256sum` writes them.
    pub const CHECKSUMS: &str = "audit/checksums.sha256";
    /// Information about the writer. Never content.
    pub const PROVENANCE: &str = "audit/provenance.json";
    /// Attributes of the graph.
    pub const UNS: &str = "uns/graph_attributes.json";
    /// Results of algorithms, one file each.
    pub const RESULT_FOLDER: &str = "uns/results/";

    /// All files.
    pub(crate) const ALL: [&str; 30] = [
        MANIFEST,
        LAYER_DICT,
        ENTITY_INDEX,
        EDGES,
        EDGE_DEFINITIONS,
        HYPEREDGES,
        COEFFICIENTS,
        POLICIES,
        ENTITY_TO_IDX,
        IDX_TO_ENTITY,
        ENTITY_TYPES,
        EDGE_TO_IDX,
        IDX_TO_EDGE,
        EDGE_WEIGHTS,
        EDGE_DIRECTED,
        EDGE_KIND,
        SLICE_ATTRIBUTES,
        EDGE_SLICE_ATTRIBUTES,
        LAYERS,
        EDGE_LAYERS,
        ELEMENTARY_ATTRIBUTES,
        ASPECT_ATTRIBUTES,
        LAYER_ATTRIBUTES,
        REGISTRY,
        EDGE_MEMBERSHIPS,
        HISTORY,
        SNAPSHOTS,
        CHECKSUMS,
        PROVENANCE,
        UNS,
    ];
}

/// Names of columns.
pub mod column {
    /// Of `entity_index`.
    pub const ENTITY_ID: &str = "entity_id";
    /// A layer by its number.
    pub const LAYER_ID: &str = "layer_id";
    /// Position of an entity.
    pub const IDX: &str = "idx";
    /// `node` (`vertex`) or `edge_entity` (`edge`).
    pub const TYPE: &str = "type";
    /// Key of edges.
    pub const EDGE_ID: &str = "edge_id";
    /// Position of an edge, -1 for placeholders.
    pub const COL_IDX: &str = "col_idx";
    /// Weight of an edge, or of an edge in a slice.
    pub const WEIGHT: &str = "weight";
    /// Direction of an edge.
    pub const DIRECTED: &str = "directed";
    /// `binary`, `hyper`, `node_edge` or `edge_placeholder`.
    pub const KIND: &str = "kind";
    /// Derived, never read.
    pub const EDGE_TYPE: &str = "edge_type";
    /// One end.
    pub const SOURCE: &str = "source";
    /// The other end.
    pub const TARGET: &str = "target";
    /// Layer of one end.
    pub const SOURCE_LAYER: &str = "source_layer_id";
    /// Layer of the other end.
    pub const TARGET_LAYER: &str = "target_layer_id";
    /// `intra`, `inter` or `coupling`: derived.
    pub const ML_KIND: &str = "ml_kind";
    /// Layer of all members of a hyperedge: derived.
    pub const HYPER_LAYER: &str = "hyper_layer_id";
    /// Members of an undirected hyperedge.
    pub const MEMBERS: &str = "members";
    /// The source side of a hyperedge.
    pub const HEAD: &str = "head";
    /// The target side of a hyperedge.
    pub const TAIL: &str = "tail";
    /// Signed coefficient of an entity in an edge.
    pub const COEFFICIENT: &str = "coeff";
    /// Key of slices.
    pub const SLICE_ID: &str = "slice_id";
    /// Attributes as JSON.
    pub const ATTRIBUTES: &str = "attributes";
    /// Name of an aspect.
    pub const ASPECT: &str = "aspect";
    /// Label within an aspect.
    pub const ELEMENTARY: &str = "elementary_layer";
    /// A layer by its labels (v1).
    pub const LAYER: &str = "layer";
    /// Layer of the source side, or of all members.
    pub const LAYER_1_ID: &str = "layer_1_id";
    /// Layer of the target side.
    pub const LAYER_2_ID: &str = "layer_2_id";
    /// Layer of the source side, or of all members, by its labels (v1).
    pub const LAYER_1: &str = "layer_1";
    /// Layer of the target side, if it is another (v1).
    pub const LAYER_2: &str = "layer_2";
    /// Name of a slice (v1).
    pub const NAME: &str = "name";
}

/// The columns that each table must have in any layout; any column of an inner list is enough. A table without rows
/// needs no columns.
const REQUIRED: &[(&str, &[&[&str]])] = &[
    (file::ENTITY_INDEX, &[&[column::ENTITY_ID], &[column::IDX], &[column::LAYER_ID, column::LAYER]]),
    (file::EDGES, &[&[column::EDGE_ID], &[column::COL_IDX]]),
    (file::EDGE_DEFINITIONS, &[&[column::EDGE_ID], &[column::SOURCE], &[column::TARGET]]),
    (file::HYPEREDGES, &[&[column::EDGE_ID], &[column::MEMBERS], &[column::HEAD], &[column::TAIL]]),
    (file::COEFFICIENTS, &[&[column::EDGE_ID], &[column::ENTITY_ID], &[column::COEFFICIENT]]),
    (file::ENTITY_TO_IDX, &[&[column::ENTITY_ID], &[column::IDX]]),
    (file::IDX_TO_ENTITY, &[&[column::ENTITY_ID], &[column::IDX]]),
    (file::ENTITY_TYPES, &[&[column::ENTITY_ID], &[column::TYPE]]),
    (file::EDGE_TO_IDX, &[&[column::EDGE_ID], &[column::IDX]]),
    (file::IDX_TO_EDGE, &[&[column::EDGE_ID], &[column::IDX]]),
    (file::EDGE_WEIGHTS, &[&[column::EDGE_ID], &[column::WEIGHT]]),
    (file::EDGE_DIRECTED, &[&[column::EDGE_ID], &[column::DIRECTED]]),
    (file::EDGE_KIND, &[&[column::EDGE_ID], &[column::KIND]]),
    (file::SLICE_ATTRIBUTES, &[&[column::SLICE_ID]]),
    (file::EDGE_SLICE_ATTRIBUTES, &[&[column::SLICE_ID], &[column::EDGE_ID]]),
    (file::EDGE_LAYERS, &[&[column::EDGE_ID], &[column::LAYER_1_ID, column::LAYER_1]]),
    (file::LAYER_ATTRIBUTES, &[&[column::LAYER_ID, column::LAYER], &[column::ATTRIBUTES]]),
    (file::REGISTRY, &[&[column::SLICE_ID]]),
    (file::EDGE_MEMBERSHIPS, &[&[column::SLICE_ID], &[column::EDGE_ID]]),
];

/// Returns a required column that is missing from a table with these columns, if there is one.
pub(crate) fn lacks(table: &str, has: impl Fn(&str) -> bool) -> Option<&'static str> {
    let lacking = |all: &[&[&'static str]]| all.iter().find(|any| !any.iter().any(|name| has(name))).map(|any| any[0]);
    if let Some((_, columns)) = REQUIRED.iter().find(|(own, _)| *own == table) {
        return lacking(columns);
    }
    let all = [Layout::V2, Layout::V2Vertex, Layout::V2Early].map(Layout::words);
    all.iter().find_map(|words| {
        let layer = [column::LAYER_ID, column::LAYER];
        match table {
            name if name == words.node_table => lacking(&[&[words.node_id]]),
            name if name == words.edge_table => lacking(&[&[column::EDGE_ID]]),
            name if name == words.memberships => lacking(&[&[column::SLICE_ID], &[words.node_id]]),
            name if name == words.presence => lacking(&[&[words.node_id], &layer]),
            name if name == words.node_layer_attributes => lacking(&[&[words.node_id], &layer, &[column::ATTRIBUTES]]),
            _ => None,
        }
    })
}

/// Documents of the model.
pub mod document {
    /// Attributes of the graph, JSON.
    pub const UNS: &str = "uns";
    /// Operations, a table.
    pub const HISTORY: &str = "history";
    /// Labelled states, JSON.
    pub const SNAPSHOTS: &str = "snapshots";
    /// Direction of edges without a stated direction: JSON `true`, `false` or `null`.
    pub const DIRECTED: &str = "directed";
    /// The active slice, a JSON string.
    pub const ACTIVE_SLICE: &str = "active_slice";
    /// The default slice, a JSON string.
    pub const DEFAULT_SLICE: &str = "default_slice";
    /// Counter of changes, a JSON number or `null`.
    pub const GRAPH_VERSION: &str = "graph_version";
    /// Flexible directions by edge, JSON.
    pub const POLICIES: &str = "direction_policies";
    /// Results of algorithms by name, JSON.
    pub const RESULTS: &str = "results";

    /// All documents.
    pub const ALL: [&str; 9] =
        [UNS, RESULTS, HISTORY, SNAPSHOTS, DIRECTED, ACTIVE_SLICE, DEFAULT_SLICE, GRAPH_VERSION, POLICIES];
}

/// Words of the format that are also words of the model.
pub mod word {
    /// The only node type.
    pub const NODE: &str = "node";
    /// The only relation, and the value of `entity` for a node that is an edge.
    pub const EDGE: &str = "edge";
    /// Hyperedge type of real hyperedges.
    pub const HYPEREDGE: &str = "hyperedge";
    /// Hyperedge type of edges that are entities without ends.
    pub const PLACEHOLDER: &str = "placeholder";
    /// Hyperedge type of edges with a missing end.
    pub const ONE_SIDED: &str = "one_sided";
    /// Group kind.
    pub const SLICE: &str = "slice";
    /// Group kind.
    pub const ASPECT: &str = "aspect";
    /// Group kind.
    pub const ELEMENTARY: &str = "elementary";
    /// Group kind.
    pub const LAYER: &str = "layer";
    /// Property of groups and placements: attributes as JSON.
    pub const ATTRIBUTES: &str = "attributes";
    /// Property of aspects: whether their labels have an order.
    pub const ORDERED: &str = "ordered";
    /// Key of this flag in `aspect_attributes.json`.
    pub const ORDERED_KEY: &str = "__ordered__";
    /// The label that stands for no layer in each aspect.
    pub const NO_LAYER: &str = "_";
    /// The slice that always exists.
    pub const DEFAULT: &str = "default";
    /// Kind of an edge with two ends.
    pub const BINARY: &str = "binary";
    /// Kind of a hyperedge.
    pub const HYPER: &str = "hyper";
    /// Kind of an edge that is an entity; `vertex_edge` in older files.
    pub const NODE_EDGE: &str = "node_edge";
    /// The older word for [`NODE_EDGE`].
    pub const VERTEX_EDGE: &str = "vertex_edge";
    /// Kind of an entity without ends.
    pub const EDGE_PLACEHOLDER: &str = "edge_placeholder";
    /// Value of `type` for a node in v1.
    pub const VERTEX: &str = "vertex";
    /// Value of `edge_type` for an edge that is not an entity (v1).
    pub const REGULAR: &str = "regular";
    /// Type of an entity that is an edge; `edge` in the oldest files.
    pub const EDGE_ENTITY: &str = "edge_entity";
}

/// Files and columns whose names changed from `vertex` to `node`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    /// Attributes of nodes.
    pub node_table: &'static str,
    /// Attributes of edges.
    pub edge_table: &'static str,
    /// Placements of nodes.
    pub presence: &'static str,
    /// Memberships of nodes in slices.
    pub memberships: &'static str,
    /// Attributes of placements.
    pub node_layer_attributes: &'static str,
    /// Key of nodes.
    pub node_id: &'static str,
    /// Layer of a membership, always null.
    pub node_layer_id: &'static str,
}

/// The names of 0.4.1.
pub(crate) const NODE_WORDS: Words = Words {
    node_table: "tables/_node_table.parquet",
    edge_table: "tables/_edge_table.parquet",
    presence: "layers/node_presence.parquet",
    memberships: "slices/node_memberships.parquet",
    node_layer_attributes: "layers/node_layer_attributes.parquet",
    node_id: "node_id",
    node_layer_id: "node_layer_id",
};

/// The names before 0.4.1.
pub(crate) const VERTEX_WORDS: Words = Words {
    node_table: "tables/_vertex_table.parquet",
    edge_table: "tables/_edge_table.parquet",
    presence: "layers/vertex_presence.parquet",
    memberships: "slices/vertex_memberships.parquet",
    node_layer_attributes: "layers/vertex_layer_attributes.parquet",
    node_id: "vertex_id",
    node_layer_id: "vertex_layer_id",
};

/// A layout: which files a graph has, and their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// 0.4.1: integer layers, one table of edges.
    V2,
    /// The same with `vertex` instead of `node`.
    V2Vertex,
    /// The same, before the names of its attribute tables had an underscore.
    V2Early,
    /// 0.1.0 to 0.2.0, and the specification's text: one table for each fact.
    V1,
}

impl Layout {
    /// Returns the name that is shown to users.
    pub fn name(self) -> &'static str {
        match self {
            Layout::V2 => "v2",
            Layout::V2Vertex => "v2 with vertex words",
            Layout::V2Early => "v2 with vertex words, early",
            Layout::V1 => "v1",
        }
    }

    /// Returns the names of files and columns.
    pub fn words(self) -> Words {
        let attributes = |words| Words {
            node_table: "tables/vertex_attributes.parquet",
            edge_table: "tables/edge_attributes.parquet",
            ..words
        };
        match self {
            Layout::V2 => NODE_WORDS,
            Layout::V2Vertex => VERTEX_WORDS,
            Layout::V2Early | Layout::V1 => attributes(VERTEX_WORDS),
        }
    }

    /// Returns the layout of `members`, judged by the files that exist; the version in the manifest is not used.
    ///
    /// # Errors
    /// Returns an error if files cannot be opened.
    pub(crate) fn of(members: &Members) -> Result<Option<Layout>> {
        if members.has(file::EDGES)? {
            for layout in [Layout::V2, Layout::V2Vertex, Layout::V2Early] {
                if members.has(layout.words().node_table)? {
                    return Ok(Some(layout));
                }
            }
            // The table of nodes may be missing.
            let vertex = members.has(VERTEX_WORDS.memberships)? || members.has(VERTEX_WORDS.presence)?;
            return Ok(Some(if vertex { Layout::V2Vertex } else { Layout::V2 }));
        }
        Ok(members.has(file::EDGE_DEFINITIONS)?.then_some(Layout::V1))
    }
}

/// Returns whether `location` contains an annnet graph.
///
/// # Errors
/// Returns [`Kind::NotFound`] if nothing exists there, and an error if the location cannot be read.
pub fn detect(location: &Location) -> Result<bool> {
    let root = match Root::open(location) {
        Ok(root) => root,
        // A file; on an object store, an object that is not a prefix.
        Err(error) if error.kind() == Kind::Usage => return Members::is_archive(location),
        Err(error) if error.kind() == Kind::NotFound && location.scheme() != Scheme::Local => {
            return Members::is_archive(location);
        }
        Err(error) => return Err(error),
    };
    // The web address of a file can also be opened as a root.
    if !location.scheme().has_listing() && location.file_name().ends_with(".annnet") {
        return Members::is_archive(location);
    }
    Ok(Layout::of(&Members::of_root(root))?.is_some())
}

/// Returns the error for a location that does not contain an annnet graph.
pub(crate) fn not_annnet(location: &str) -> Error {
    Error::unsupported(
        "not an annnet graph: it has neither structure/edges.parquet nor structure/edge_definitions.parquet",
    )
    .at(location)
}
