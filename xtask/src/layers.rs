//! The layers of the workspace, lowest first.

/// One layer: its crates depend only on crates of lower layers, and so never on each other.
pub(crate) struct Layer {
    /// The name of the layer, for messages.
    pub(crate) what: &'static str,
    /// The crates in it, without the prefix `isomorph-`.
    pub(crate) crates: &'static [&'static str],
}

const fn layer(what: &'static str, crates: &'static [&'static str]) -> Layer {
    Layer { what, crates }
}

/// Every crate that may exist. A new crate is added here first, which determines what it may depend on.
pub(crate) const LAYERS: &[Layer] = &[
    layer("errors, and the files of tests", &["error", "fixtures"]),
    layer("model and storage", &["model", "storage"]),
    layer("tables, clients of object stores, graphs for tests", &["network", "tables", "zoo"]),
    layer("files of records", &["records"]),
    layer(
        "formats",
        &[
            "graphar",
            "nock",
            "deepgnn",
            "graphlake",
            "annnet",
            "rdf",
            "edgelist",
            "graphfile",
            "graphml",
            "flat",
            "neo4j",
            "psl",
        ],
    ),
    layer("what any format is read through", &["dataset"]),
    layer("what works over any format", &["algorithms", "convert", "sampling"]),
    layer("services", &["server"]),
    layer("the public library", &["isomorph"]),
    layer("query languages", &["cypher", "sparql"]),
    layer("SQL, whose patterns are those of openCypher", &["query"]),
    layer("queries on several machines", &["cluster"]),
    layer("programs and bindings", &["cli", "python", "conformance", "benches", "fuzz", "examples"]),
    layer("programs that extend the command", &["seventh"]),
];

/// Packages that a crate must not depend on although no layer forbids them: the invariants of the architecture.
pub(crate) const FORBIDDEN: &[(&str, &[&str], &str)] = &[
    ("error", &["tokio", "futures", "object_store", "arrow-array"], "errors do no I/O and know no columns"),
    ("model", &["tokio", "futures", "object_store", "parquet", "orc-rust"], "the model does no I/O and is not async"),
    ("storage", &["tokio", "futures", "object_store"], "storage is not async, and has no clients: they are above it"),
    ("storage", &["arrow-array", "arrow-schema", "parquet", "orc-rust"], "storage knows bytes, not tables"),
];

/// The prefix of the names of our crates, which their directories omit.
const STEM: &str = "isomorph-";

/// The short name of one of our packages: `isomorph-model` is `model`.
pub(crate) fn short(package: &str) -> &str {
    package.strip_prefix(STEM).unwrap_or(package)
}

/// The height of a crate, 0 at the bottom.
pub(crate) fn height(short_name: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.crates.contains(&short_name))
}
