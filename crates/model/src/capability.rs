//! What a format can store, as data. Plans, loss reports and the table in the documentation are generated from it.
//!
//! The constants are in the crates of the formats, of which this module is independent.

mod losses;
mod scalar;

pub use losses::{Loss, LossOf};
pub use scalar::Scalar;

use crate::KeyKind;

/// What a format can store natively. Everything else is stored in the sidecar, or lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capability {
    /// Whether it has several node types.
    pub node_types: bool,
    /// Whether it has several edge types between different node types, rather than one list of edges with relations.
    pub edge_types: bool,
    /// The kinds of node keys.
    pub keys: &'static [KeyKind],
    /// Whether it preserves the order of nodes if the graph declares the order to be significant.
    pub order: bool,
    /// Whether nodes have labels in addition to their type.
    pub labels: bool,
    /// Characters that are not allowed in labels.
    pub no_label_with: &'static str,
    /// Whether names of types and properties are limited to ASCII letters, digits and `_`.
    pub plain_names: bool,
    /// Values of nodes.
    pub nodes: Values,
    /// Values of edges.
    pub edges: Values,
    /// Where the direction of edges is stored.
    pub directions: Directions,
    /// Whether there can be several edges of one type between the same nodes.
    pub parallel_edges: bool,
    /// Whether edges have keys.
    pub edge_keys: bool,
    /// Whether edges can have more than two ends.
    pub hyperedges: bool,
    /// Whether ends have layers and coefficients.
    pub layers: bool,
    /// Kinds of groups.
    pub groups: &'static [&'static str],
    /// Whether a property can have several values, and values can have qualifiers.
    pub long_values: bool,
    /// Documents.
    pub documents: Documents,
}

/// The values that a format can store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Values {
    /// Types of single values.
    pub scalars: &'static [Scalar],
    /// Types of list items.
    pub lists: &'static [Scalar],
    /// Whether lists can contain lists.
    pub nested: bool,
    /// Whether there are sets: lists whose order is not significant.
    pub sets: bool,
    /// Whether values can be null or absent.
    pub nulls: bool,
    /// Whether any JSON can be stored, including different kinds in different rows.
    pub json: bool,
    /// Whether there are RDF literals with datatypes and languages.
    pub literals: bool,
    /// Whether there are tensors, dense and sparse.
    pub tensors: bool,
}

/// Where the direction of edges is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Directions {
    /// Nowhere: all edges are directed.
    None,
    /// In the edge type.
    ByType,
    /// In each edge.
    ByRow,
}

/// The documents that a format can store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Documents {
    /// None.
    None,
    /// Documents with these names.
    Named(&'static [&'static str]),
    /// Any document.
    Any,
}

impl Values {
    /// No values.
    pub const NONE: Values = Values {
        scalars: &[],
        lists: &[],
        nested: false,
        sets: false,
        nulls: false,
        json: false,
        literals: false,
        tensors: false,
    };
}

impl Capability {
    /// A format that can only store nodes with text keys and edges between them, as a base for others.
    pub const LEAST: Capability = Capability {
        node_types: false,
        edge_types: false,
        keys: &[KeyKind::Utf8],
        order: false,
        labels: false,
        no_label_with: "",
        plain_names: false,
        nodes: Values::NONE,
        edges: Values::NONE,
        directions: Directions::None,
        parallel_edges: false,
        edge_keys: false,
        hyperedges: false,
        layers: false,
        groups: &[],
        long_values: false,
        documents: Documents::None,
    };
}

/// Returns a Markdown table of capabilities: a row for each feature, a column for each format.
pub fn table(formats: &[(&str, &Capability)]) -> String {
    type Row = (&'static str, fn(&Capability) -> String);
    const ROWS: &[Row] = &[
        ("node types", |format| several(format.node_types)),
        ("edge types", |format| several(format.edge_types)),
        ("keys of nodes", |format| joined(format.keys.iter().map(|kind| key_word(*kind)))),
        ("order of nodes", |format| yes(format.order)),
        ("labels", |format| match (format.labels, format.no_label_with) {
            (true, "") => "yes".to_owned(),
            (true, without) => format!("without `{without}`"),
            (false, _) => "–".to_owned(),
        }),
        ("names", |format| if format.plain_names { "ASCII letters, digits, `_`" } else { "any" }.to_owned()),
        ("values of nodes", |format| joined(format.nodes.scalars.iter().map(Scalar::to_string))),
        ("lists of nodes", |format| lists(&format.nodes)),
        ("values of edges", |format| joined(format.edges.scalars.iter().map(Scalar::to_string))),
        ("lists of edges", |format| lists(&format.edges)),
        ("null", |format| both(format, |values| values.nulls)),
        ("JSON, mixed values", |format| both(format, |values| values.json)),
        ("RDF literals", |format| both(format, |values| values.literals)),
        ("tensors", |format| both(format, |values| values.tensors)),
        ("several values, qualifiers", |format| yes(format.long_values)),
        ("undirected edges", |format| match format.directions {
            Directions::None => "–".to_owned(),
            Directions::ByType => "by type".to_owned(),
            Directions::ByRow => "by edge".to_owned(),
        }),
        ("parallel edges", |format| yes(format.parallel_edges)),
        ("keys of edges", |format| yes(format.edge_keys)),
        ("hyperedges", |format| yes(format.hyperedges)),
        ("layers of ends", |format| yes(format.layers)),
        ("groups", |format| joined(format.groups.iter())),
        ("documents", |format| match format.documents {
            Documents::None => "–".to_owned(),
            Documents::Named(names) => joined(names.iter()),
            Documents::Any => "any".to_owned(),
        }),
    ];
    let mut out = String::from("| |");
    formats.iter().for_each(|(name, _)| out.push_str(&format!(" {name} |")));
    out.push_str("\n|---|");
    formats.iter().for_each(|_| out.push_str("---|"));
    out.push('\n');
    for (feature, cell) in ROWS {
        out.push_str(&format!("| {feature} |"));
        formats.iter().for_each(|(_, format)| out.push_str(&format!(" {} |", cell(format))));
        out.push('\n');
    }
    out
}

/// Returns the name of a kind of keys.
pub(crate) fn key_word(kind: KeyKind) -> &'static str {
    match kind {
        KeyKind::Int => "integer",
        KeyKind::Utf8 => "text",
        KeyKind::Term => "RDF term",
        KeyKind::Tuple => "list of labels",
        KeyKind::Row => "row number",
    }
}

fn several(several: bool) -> String {
    if several { "several" } else { "one" }.to_owned()
}

fn yes(yes: bool) -> String {
    if yes { "yes" } else { "–" }.to_owned()
}

fn joined<T: ToString>(words: impl Iterator<Item = T>) -> String {
    let words: Vec<String> = words.map(|word| word.to_string()).collect();
    if words.is_empty() { "–".to_owned() } else { words.join(", ") }
}

fn lists(values: &Values) -> String {
    let mut words: Vec<String> = values.lists.iter().map(Scalar::to_string).collect();
    words.extend(values.nested.then(|| "lists".to_owned()));
    words.extend(values.sets.then(|| "as sets".to_owned()));
    joined(words.iter())
}

fn both(format: &Capability, has: fn(&Values) -> bool) -> String {
    match (has(&format.nodes), has(&format.edges)) {
        (true, true) => "yes".to_owned(),
        (true, false) => "nodes".to_owned(),
        (false, true) => "edges".to_owned(),
        (false, false) => "–".to_owned(),
    }
}
