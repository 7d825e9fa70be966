//! The rules of the format, each with a stable id.
//!
//! An *error* is what the published library fails on, or what has no clear meaning; a *warning* is what it loses, or a
//! breach of the specification that can be read; a *note* is worth knowing.

isomorph_error::rules! {
    /// An archive that must not be unpacked.
    ARCHIVE "ANNNET-ARCHIVE" Error
        "an archive has one top-level directory with files of different, relative names that unpack to a sane size",
        "ask whoever made the archive for a sound one";
    /// Attributes that are told twice.
    ATTRIBUTES_REPEATED "ANNNET-ATTRIBUTES-REPEATED" Warning
        "tables of attributes have one row for each node, edge, slice, and edge in a slice",
        "remove the rows before the last of these: the last one counts";
    /// A file that is not what it was.
    CHECKSUM "ANNNET-CHECKSUM" Error
        "every file that audit/checksums.sha256 lists has the SHA-256 that stands there, and the manifest that of the list",
        "write the graph again, or remove `checksum` from the manifest if the change is wanted";
    /// A checksum that says nothing.
    CHECKSUM_UNKNOWN "ANNNET-CHECKSUM-UNKNOWN" Warning
        "the checksum of the manifest is that of audit/checksums.sha256",
        "compare the files with their origin: the specification does not say what is hashed, so isomorph cannot";
    /// A coefficient without a value.
    COEFFICIENT "ANNNET-COEFFICIENT" Error
        "every row of edge_coeffs has a coefficient", "write the coefficient, or remove the row; the published library cannot read such a graph";
    /// A coefficient of something that is no member of its edge.
    COEFFICIENT_MEMBER "ANNNET-COEFFICIENT-MEMBER" Warning
        "coefficients are those of members of an edge, and name the layer that the member names",
        "correct the member or its layer, or remove the row: nothing reads it, and members without a coefficient have 0 beside it";
    /// A column is missing or cannot hold what it should.
    COLUMN "ANNNET-COLUMN" Error
        "tables have the columns of their layout, with ids as text, layers and positions as integers, weights as floats",
        "write the column with the type of its layout";
    /// Counts disagree.
    COUNTS "ANNNET-COUNTS" Note
        "the counts of the manifest are those of the tables", "write the graph again, so that the counts agree; the tables are what is read";
    /// An end that is nowhere.
    EDGE_END "ANNNET-EDGE-END" Warning
        "both ends of an edge are entities, in layers where they are placed",
        "add the missing entity, or its layer; the published library drops such an end without a message";
    /// An edge without an id.
    EDGE_ID "ANNNET-EDGE-ID" Error
        "every edge has an id, and no two the same", "give each edge an id of its own; the published library cannot read such a graph";
    /// A kind that is not known.
    EDGE_KIND "ANNNET-EDGE-KIND" Warning
        "an edge is binary, hyper, node_edge or edge_placeholder", "write binary, hyper, node_edge or edge_placeholder; anything else is read as binary";
    /// Layers and kinds of too many edges.
    EDGE_LAYERS "ANNNET-EDGE-LAYERS" Warning
        "layers and kinds of edges follow from their ends, or are stated otherwise for at most 65,536 edges",
        "set fewer of them, or keep the graph as it is: a conversion writes those that follow from the ends";
    /// Layers of an edge that is nowhere.
    EDGE_LAYERS_UNKNOWN "ANNNET-EDGE-LAYERS-UNKNOWN" Error
        "layers/edge_layers.parquet has the layers of edges of the graph",
        "remove the row; the published library cannot read such a graph";
    /// An order that is none, or that a conversion does not keep.
    EDGE_ORDER "ANNNET-EDGE-ORDER" Warning
        "no two edges have one col_idx, and edges stand in their file in its order, or in at most 131,072 pieces of it",
        "write the edges in the order of col_idx: a conversion keeps the order of the file";
    /// A position is missing.
    EDGE_POSITION "ANNNET-EDGE-POSITION" Error
        "col_idx is never missing, and -1 for placeholders", "write the position, or -1 for placeholders; the published library cannot read such a graph";
    /// An entity without an id.
    ENTITY_ID "ANNNET-ENTITY-ID" Error
        "every entity has an id of its own, is of one kind, and is in a layer once",
        "write the id; that of a new entity must be one that no other has, and rows that repeat one must go";
    /// An entity without a position.
    ENTITY_POSITION "ANNNET-ENTITY-POSITION" Error
        "idx is never missing", "write the position of the entity; the published library cannot read such a graph";
    /// A hyperedge without a row of members, or members of no hyperedge.
    HYPEREDGE "ANNNET-HYPEREDGE" Warning
        "each edge of kind hyper has its members in hyperedge_definitions, and each row there has such an edge", "add the missing rows of hyperedge_definitions, or remove those without an edge";
    /// A member that the published library loses.
    HYPEREDGE_JSON "ANNNET-HYPEREDGE-JSON" Warning
        "ids of members do not themselves read as JSON or as a pair of Python, or the published library loses them",
        "rename these members, if the published library has to read them: isomorph reads them as they are";
    /// A member that is nowhere.
    HYPEREDGE_MEMBER "ANNNET-HYPEREDGE-MEMBER" Warning
        "members of hyperedges are entities, in layers where they are placed",
        "add the missing entity, or its layer; the published library drops such a member without a message";
    /// A member that keeps the published library from reading the graph.
    HYPEREDGE_NESTED "ANNNET-HYPEREDGE-NESTED" Error
        "ids of members do not themselves read as a JSON array or object, or as a pair of Python with a list in it",
        "rename these members: the published library cannot read such a graph";
    /// Sides of a hyperedge that has none by its direction.
    HYPEREDGE_SIDES "ANNNET-HYPEREDGE-SIDES" Error
        "a hyperedge with head or tail is directed, and one with members is not",
        "set directed to what the row has: true for head and tail, false for members; the published library reads such a hyperedge without members";
    /// JSON that is none.
    JSON "ANNNET-JSON" Error
        "files that end in .json, and attributes of layers, are JSON of whole characters, at most 512 levels deep", "correct the JSON in the place that is named";
    /// A layer that does not fit the aspects.
    LAYER "ANNNET-LAYER" Warning
        "a layer has one declared label for each aspect", "declare the label in its aspect, and give one label for each aspect";
    /// Attributes of a layer that does not fit the aspects.
    LAYER_ATTRIBUTES "ANNNET-LAYER-ATTRIBUTES" Error
        "attributes are those of layers with one declared label for each aspect, and elem_layers lists aspects alone, each with a label",
        "correct elem_layers of layers/metadata.json, or remove the row; the published library cannot read such a graph";
    /// A number of a layer that is none.
    LAYER_ID "ANNNET-LAYER-ID" Error
        "layer ids are positions in structure/layer_dict.json", "correct the id, or add the layer to structure/layer_dict.json; the published library cannot read such a graph";
    /// The manifest lacks something.
    MANIFEST "ANNNET-MANIFEST" Error
        "manifest.json is an object with directed, graph_version, active_slice and default_slice",
        "add the missing keys to manifest.json; the published library cannot read such a graph";
    /// A matrix that is none.
    MATRIX "ANNNET-MATRIX" Error
        "structure/incidence.zarr has the attribute shape, and arrays row, col and data of numbers, of one length, with every cell within the shape",
        "remove structure/incidence.zarr: it is only read where structure/edge_coeffs.parquet is missing";
    /// A cell that the tables contradict.
    MATRIX_CELL "ANNNET-MATRIX-CELL" Warning
        "the cells of the incidence matrix are those that the tables give; where structure/edge_coeffs.parquet is missing, at least their places are",
        "remove structure/incidence.zarr, or write the graph again with --matrix: the tables are what is read";
    /// A matrix of another graph.
    MATRIX_SHAPE "ANNNET-MATRIX-SHAPE" Warning
        "the shape of the incidence matrix is the number of entities and of edges",
        "remove structure/incidence.zarr, or write the graph again: the tables are what is read";
    /// A file is missing.
    MEMBER "ANNNET-MEMBER" Error
        "entity_index, edges, tables of attributes, registry and edge_memberships are there, even when empty",
        "add the missing table, empty if need be; the published library cannot read such a graph";
    /// The kind of an edge between layers is not what follows from its ends.
    ML_KIND "ANNNET-ML-KIND" Warning
        "ml_kind is intra within a layer, coupling between layers of one node, else inter", "write the kind that the ends of the edge have: they count";
    /// An entity without ends that has some.
    PLACEHOLDER "ANNNET-PLACEHOLDER" Error
        "an edge of kind edge_placeholder has no ends",
        "write node_edge as the kind if the edge has these ends, or null as its source and target; the published library keeps the ends and lists no such edge";
    /// A placement that comes too late for edges.
    PLACEMENT "ANNNET-PLACEMENT" Error
        "edges end in placements of structure/entity_index.parquet; what only the table of placements has is in declared layers",
        "add the placement to structure/entity_index.parquet: the published library reads the edge without this end";
    /// A node that the published library moves.
    PLACEMENT_MOVED "ANNNET-PLACEMENT-MOVED" Warning
        "a node at the placeholder of structure/entity_index.parquet is in no other layer by the table of placements",
        "add the placement to structure/entity_index.parquet: the published library moves the node there, without its attributes; here it is in both layers";
    /// An attribute that is called like something else.
    RESERVED "ANNNET-RESERVED" Warning
        "no attribute of edges is called weight, and none of nodes entity",
        "rename the attribute, if its name matters elsewhere: it is read as NAME_attribute, numbered where that is taken";
    /// A section of an older layout is missing.
    SECTION "ANNNET-SECTION" Warning
        "in the layouts before 0.3, too, tables of attributes, registry and edge_memberships are there, even when empty",
        "add the missing table, empty if need be: the specification lets readers do without, the libraries of that time cannot read such a graph";
    /// The active slice is none.
    SLICE_ACTIVE "ANNNET-SLICE-ACTIVE" Warning
        "active_slice is in the registry", "set active_slice to a slice of the registry: the default slice is taken";
    /// A membership of a placement.
    SLICE_LAYER "ANNNET-SLICE-LAYER" Error
        "slices hold nodes, not their placements: node_layer_id is null",
        "write null as the node_layer_id of this row; the published library cannot read such a graph";
    /// A member of a slice that is nowhere.
    SLICE_MEMBER "ANNNET-SLICE-MEMBER" Warning
        "members of slices are nodes and edges of the graph", "remove the row: the published library ignores it";
    /// A member that a slice lists again.
    SLICE_REPEATED "ANNNET-SLICE-REPEATED" Warning
        "a slice lists each of its members once",
        "remove the rows that repeat a membership: the published library reads them as one, with the last weight that is stated";
    /// A slice that is not registered.
    SLICE_UNKNOWN "ANNNET-SLICE-UNKNOWN" Warning
        "memberships and attributes are those of slices in the registry", "add the slice to the registry: it is read after the others";
    /// Attributes of an edge in a slice that it is not in.
    SLICE_UNLISTED "ANNNET-SLICE-UNLISTED" Warning
        "an edge with attributes in a slice is a member of it", "add the edge to edge_memberships: it is read as a member";
    /// A slice that is not registered and has nodes.
    SLICE_UNREGISTERED "ANNNET-SLICE-UNREGISTERED" Error
        "every row of the memberships of nodes names a slice of the registry",
        "add the slice to slices/registry.parquet, or remove the row; the published library cannot read such a graph";
    /// A weight of an edge that is nowhere.
    SLICE_WEIGHT "ANNNET-SLICE-WEIGHT" Error
        "an edge with a weight in a slice is one of the graph", "remove the row: the published library cannot read such a graph";
    /// Views that are wrong.
    VIEWS "ANNNET-VIEWS" Error
        "cache/csr.zarr and cache/csc.zarr say of edges and their ends what the tables say", "isomorph extend PATH --cache    build the views again";
    /// Views of another state of the graph.
    VIEWS_STALE "ANNNET-VIEWS-STALE" Warning
        "cache/csr.zarr and cache/csc.zarr were built from the tables as they are now",
        "isomorph extend PATH --cache    build the views again: nothing uses them as they are";
}

#[cfg(test)]
mod tests {
    use super::RULES;

    #[test]
    fn ids_are_sorted_and_of_one_kind() {
        assert!(RULES.windows(2).all(|pair| pair[0].id < pair[1].id));
        assert!(RULES.iter().all(|rule| rule.id.starts_with("ANNNET-") && !rule.says.is_empty()));
    }
}
