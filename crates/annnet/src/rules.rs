//! The rules of the format, each with a stable id.
//!
//! An *error* is something that the published library fails on, or that has no clear meaning. A *warning* is something
//! that the library loses, or a violation of the specification that can still be read. A *note* is for information.

isomorph_error::rules! {
    /// An archive that must not be unpacked.
    ARCHIVE "ANNNET-ARCHIVE" Error
        "an archive has one top-level directory whose files have distinct relative names, and it unpacks to a reasonable size",
        "get a valid archive from its author";
    /// Two rows of attributes for the same element.
    ATTRIBUTES_REPEATED "ANNNET-ATTRIBUTES-REPEATED" Warning
        "attribute tables have one row for each node, edge, slice, and edge in a slice",
        "remove all of these rows but the last: the last one is used";
    /// A file differs from its checksum.
    CHECKSUM "ANNNET-CHECKSUM" Error
        "every file listed in audit/checksums.sha256 has the SHA-256 given there, and the manifest has the SHA-256 of the list",
        "write the graph again, or remove `checksum` from the manifest if the change is intended";
    /// A checksum that cannot be verified.
    CHECKSUM_UNKNOWN "ANNNET-CHECKSUM-UNKNOWN" Warning
        "the checksum in the manifest is the SHA-256 of audit/checksums.sha256",
        "compare the files with their source: the specification does not define what is hashed, so isomorph cannot check it";
    /// A coefficient without a value.
    COEFFICIENT "ANNNET-COEFFICIENT" Error
        "every row of edge_coeffs has a coefficient", "write the coefficient, or remove the row; the published library cannot read such a graph";
    /// A coefficient of an entity that is not a member of its edge.
    COEFFICIENT_MEMBER "ANNNET-COEFFICIENT-MEMBER" Warning
        "each coefficient belongs to a member of its edge and names the same layer as that member",
        "correct the member or its layer, or remove the row: it is not read, and members of the edge without a coefficient get 0";
    /// A column is missing or has the wrong type.
    COLUMN "ANNNET-COLUMN" Error
        "tables have the columns of their layout: ids are text, layers and positions are integers, weights are floats",
        "write the column with the type that the layout requires";
    /// The counts of the manifest differ from the tables.
    COUNTS "ANNNET-COUNTS" Note
        "the counts in the manifest match the tables", "write the graph again to correct the counts; only the tables are read";
    /// An end of an edge that is not an entity.
    EDGE_END "ANNNET-EDGE-END" Warning
        "both ends of an edge are entities, in layers where they are placed",
        "add the missing entity or its layer; the published library drops such an end silently";
    /// An edge without an id, or with the id of another edge.
    EDGE_ID "ANNNET-EDGE-ID" Error
        "every edge has an id, and ids are unique", "give each edge a unique id; the published library cannot read such a graph";
    /// An unknown kind of edge.
    EDGE_KIND "ANNNET-EDGE-KIND" Warning
        "an edge is binary, hyper, node_edge or edge_placeholder", "write binary, hyper, node_edge or edge_placeholder; any other kind is read as binary";
    /// Too many edges with layers or kinds of their own.
    EDGE_LAYERS "ANNNET-EDGE-LAYERS" Warning
        "layers and kinds of edges follow from their ends, with at most 65,536 exceptions",
        "set fewer of them, or keep the graph in this format: a conversion writes the layers and kinds that follow from the ends";
    /// Layers of an edge that does not exist.
    EDGE_LAYERS_UNKNOWN "ANNNET-EDGE-LAYERS-UNKNOWN" Error
        "layers/edge_layers.parquet names only edges of the graph",
        "remove the row; the published library cannot read such a graph";
    /// An order of edges that is ambiguous, or that a conversion does not preserve.
    EDGE_ORDER "ANNNET-EDGE-ORDER" Warning
        "col_idx is unique, and the edges are in its order in their file, or in at most 131,072 runs of that order",
        "write the edges in the order of col_idx: a conversion keeps the order of the file";
    /// A missing or invalid position of an edge.
    EDGE_POSITION "ANNNET-EDGE-POSITION" Error
        "col_idx is never missing, and is -1 for placeholders", "write the position, or -1 for placeholders; the published library cannot read such a graph";
    /// An entity without an id, or listed twice.
    ENTITY_ID "ANNNET-ENTITY-ID" Error
        "every entity has a unique id and one kind, and is listed at most once in each layer",
        "write the missing id, choose an unused id for a new entity, and remove rows that repeat an entity";
    /// An entity without a position.
    ENTITY_POSITION "ANNNET-ENTITY-POSITION" Error
        "idx is never missing", "write the position of the entity; the published library cannot read such a graph";
    /// A hyperedge without members in the table, or members without a hyperedge.
    HYPEREDGE "ANNNET-HYPEREDGE" Warning
        "each edge of kind hyper has a row in hyperedge_definitions, and each row there belongs to such an edge", "add the missing rows to hyperedge_definitions, or remove those without an edge";
    /// A member that the published library loses.
    HYPEREDGE_JSON "ANNNET-HYPEREDGE-JSON" Warning
        "ids of members are not themselves valid JSON or Python pairs, because the published library loses such members",
        "rename these members if the published library must read them; isomorph reads them as they are";
    /// A member of a hyperedge that is not an entity.
    HYPEREDGE_MEMBER "ANNNET-HYPEREDGE-MEMBER" Warning
        "members of hyperedges are entities, in layers where they are placed",
        "add the missing entity or its layer; the published library drops such a member silently";
    /// A member listed twice on one side.
    HYPEREDGE_MEMBER_TWICE "ANNNET-HYPEREDGE-MEMBER-TWICE" Warning
        "a hyperedge lists each member at most once on each side",
        "remove the repeated member; the published library keeps one of them";
    /// A member that prevents the published library from reading the graph.
    HYPEREDGE_NESTED "ANNNET-HYPEREDGE-NESTED" Error
        "ids of members are not themselves JSON arrays, JSON objects, or Python pairs that contain a list",
        "rename these members: the published library cannot read such a graph";
    /// Sides of a hyperedge that contradict its direction.
    HYPEREDGE_SIDES "ANNNET-HYPEREDGE-SIDES" Error
        "a hyperedge with head or tail is directed, and a hyperedge with members is undirected",
        "set directed to match the row: true for head and tail, false for members; the published library reads such a hyperedge without members";
    /// Invalid JSON.
    JSON "ANNNET-JSON" Error
        "files ending in .json, and attributes of layers, are valid JSON without unpaired surrogates, nested at most 512 levels deep", "correct the JSON at the given location";
    /// A layer that does not match the aspects.
    LAYER "ANNNET-LAYER" Warning
        "a layer has one declared label for each aspect", "declare the label in its aspect, and write one label for each aspect";
    /// Attributes of a layer that does not match the aspects.
    LAYER_ATTRIBUTES "ANNNET-LAYER-ATTRIBUTES" Error
        "attributes belong to layers with one declared label for each aspect, and elem_layers lists only aspects, each with at least one label",
        "correct elem_layers in layers/metadata.json, or remove the row; the published library cannot read such a graph";
    /// An invalid layer id.
    LAYER_ID "ANNNET-LAYER-ID" Error
        "layer ids are positions in structure/layer_dict.json", "correct the id, or add the layer to structure/layer_dict.json; the published library cannot read such a graph";
    /// A key is missing from the manifest.
    MANIFEST "ANNNET-MANIFEST" Error
        "manifest.json is an object with directed, graph_version, active_slice and default_slice",
        "add the missing keys to manifest.json; the published library cannot read such a graph";
    /// An invalid incidence matrix.
    MATRIX "ANNNET-MATRIX" Error
        "structure/incidence.zarr has the attribute shape and numeric arrays row, col and data of equal length, and every cell is within the shape",
        "remove structure/incidence.zarr: it is read only if structure/edge_coeffs.parquet is missing";
    /// A cell of the matrix that contradicts the tables.
    MATRIX_CELL "ANNNET-MATRIX-CELL" Warning
        "the cells of the incidence matrix match the tables; if structure/edge_coeffs.parquet is missing, their positions do",
        "remove structure/incidence.zarr, or write the graph again with --matrix: only the tables are read";
    /// An incidence matrix of another graph.
    MATRIX_SHAPE "ANNNET-MATRIX-SHAPE" Warning
        "the shape of the incidence matrix is (number of entities, number of edges)",
        "remove structure/incidence.zarr, or write the graph again: only the tables are read";
    /// A missing file.
    MEMBER "ANNNET-MEMBER" Error
        "entity_index, edges, attribute tables, registry and edge_memberships exist, even if they are empty",
        "add the missing table, empty if there is nothing to store; the published library cannot read such a graph";
    /// A kind of a multilayer edge that does not follow from its ends.
    ML_KIND "ANNNET-ML-KIND" Warning
        "ml_kind is intra within a layer, coupling between layers of one node, and inter otherwise", "write the kind that follows from the ends: the ends are used";
    /// A placeholder that has ends.
    PLACEHOLDER "ANNNET-PLACEHOLDER" Error
        "an edge of kind edge_placeholder has no ends",
        "set kind to node_edge if the edge has these ends, or set source and target to null; the published library keeps the ends but does not list the edge";
    /// A placement that edges cannot end in.
    PLACEMENT "ANNNET-PLACEMENT" Error
        "edges end in placements listed in structure/entity_index.parquet; placements listed only in the placement table are in declared layers",
        "add the placement to structure/entity_index.parquet: the published library reads the edge without this end";
    /// A node that the published library moves to another layer.
    PLACEMENT_MOVED "ANNNET-PLACEMENT-MOVED" Warning
        "a node at the placeholder in structure/entity_index.parquet is in no other layer in the placement table",
        "add the placement to structure/entity_index.parquet: the published library moves the node there, without its attributes; isomorph reads it in both layers";
    /// An attribute with a reserved name.
    RESERVED "ANNNET-RESERVED" Warning
        "no edge attribute is called weight, and no node attribute is called entity",
        "rename the attribute if other programs need its name: it is read as NAME_attribute, with a number if that name is taken";
    /// A missing section of an older layout.
    SECTION "ANNNET-SECTION" Warning
        "layouts before 0.3 also have attribute tables, registry and edge_memberships, even if they are empty",
        "add the missing table, empty if there is nothing to store: the specification allows it to be missing, but the libraries of that time cannot read such a graph";
    /// An active slice that does not exist.
    SLICE_ACTIVE "ANNNET-SLICE-ACTIVE" Warning
        "active_slice is in the registry", "set active_slice to a slice in the registry: the default slice is used instead";
    /// A slice membership of a placement.
    SLICE_LAYER "ANNNET-SLICE-LAYER" Error
        "slices contain nodes, not placements: node_layer_id is null",
        "set node_layer_id to null in this row; the published library cannot read such a graph";
    /// A member of a slice that does not exist.
    SLICE_MEMBER "ANNNET-SLICE-MEMBER" Warning
        "members of slices are nodes and edges of the graph", "remove the row: the published library ignores it";
    /// A member that a slice lists twice.
    SLICE_REPEATED "ANNNET-SLICE-REPEATED" Warning
        "a slice lists each member once",
        "remove the repeated rows: the published library reads them as one membership with the last stated weight";
    /// An unregistered slice.
    SLICE_UNKNOWN "ANNNET-SLICE-UNKNOWN" Warning
        "memberships and attributes refer to slices in the registry", "add the slice to the registry: it is read after the registered slices";
    /// Attributes of an edge in a slice that does not list it.
    SLICE_UNLISTED "ANNNET-SLICE-UNLISTED" Warning
        "an edge that has attributes in a slice is a member of the slice", "add the edge to edge_memberships: it is read as a member";
    /// An unregistered slice that has nodes.
    SLICE_UNREGISTERED "ANNNET-SLICE-UNREGISTERED" Error
        "every node membership names a slice in the registry",
        "add the slice to slices/registry.parquet, or remove the row; the published library cannot read such a graph";
    /// A slice weight of an edge that does not exist.
    SLICE_WEIGHT "ANNNET-SLICE-WEIGHT" Error
        "an edge that has a weight in a slice is an edge of the graph", "remove the row: the published library cannot read such a graph";
    /// Views that contradict the tables.
    VIEWS "ANNNET-VIEWS" Error
        "cache/csr.zarr and cache/csc.zarr match the tables", "isomorph extend PATH --cache    rebuild the views";
    /// Views built from another version of the graph.
    VIEWS_STALE "ANNNET-VIEWS-STALE" Warning
        "cache/csr.zarr and cache/csc.zarr were built from the current tables",
        "isomorph extend PATH --cache    rebuild the views: stale views are not used";
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
