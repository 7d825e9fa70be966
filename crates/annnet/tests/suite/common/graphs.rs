//! The names of the fixtures.

/// Graphs of 0.4.1 and similar versions, which the library reads without loss; each is in `NAME/graph.annnet.d`.
pub const SOUND: [&str; 14] = [
    "aspects_without_nodes",
    "attr_types",
    "backend_pandas",
    "backend_pyarrow",
    "backend_pyarrow_nopolars",
    "direction_none",
    "empty",
    "empty_undirected",
    "everything_flat",
    "everything_multilayer",
    "legacy_vertex_words",
    "one_node",
    "plain_directed",
    "plain_undirected",
];

/// Graphs of which the library loses something when it reads them.
pub const LOSSY: [&str; 2] = ["jsonlike_ids_lossy", "stale_overwrite"];

/// Graphs of older layouts for which there is also a directory.
pub const OLDER: [&str; 5] = [
    "v1_0.1.1/empty",
    "v1_0.1.1/flat",
    "v1_0.1.1/multilayer",
    "v1_0.1.1/weighted_slices",
    "v2_vertex_words/multilayer",
];

/// All graphs of the newest layout.
pub fn newest() -> impl Iterator<Item = &'static str> {
    SOUND.into_iter().chain(LOSSY)
}

/// All graphs of all layouts.
pub fn every() -> impl Iterator<Item = &'static str> {
    newest().chain(OLDER)
}
