//! What a format can say, as data: plans, loss reports and the table in the documentation are made from it.
//!
//! The constants are in the crates of the formats; this module knows none of them.

mod losses;
mod scalar;

pub use losses::{Loss, LossOf};
pub use scalar::Scalar;

use crate::KeyKind;

/// What a format can say natively. What it cannot say is carried beside it, or lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capability {
    /// It has several node types, not one.
    pub node_types: bool,
    /// It has several edge types between different node types, not one list of edges with relations.
    pub edge_types: bool,
    /// Kinds of keys of nodes.
    pub keys: &'static [KeyKind],
    /// It keeps the order of nodes where the graph says that it means something.
    pub order: bool,
    /// Nodes have labels beside their type.
    pub labels: bool,
    /// Characters that no label may have.
    pub no_label_with: &'static str,
    /// Types and properties have names of letters, digits and `_` only, in ASCII.
    pub plain_names: bool,
    /// Values of nodes.
    pub nodes: Values,
    /// Values of edges.
    pub edges: Values,
    /// What says whether edges have a direction.
    pub directions: Directions,
    /// Several edges of one type between the same nodes.
    pub parallel_edges: bool,
    /// Edges have keys.
    pub edge_keys: bool,
    /// Edges of more than two ends.
    pub hyperedges: bool,
    /// Ends name layers and coefficients.
    pub layers: bool,
    /// Kinds of groups.
    pub groups: &'static [&'static str],
    /// Several values of a property, and qualifiers of a value.
    pub long_values: bool,
    /// Documents.
    pub documents: Documents,
}

/// Which values a format has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Values {
    /// Single values.
    pub scalars: &'static [Scalar],
    /// Items of lists.
    pub lists: &'static [Scalar],
    /// Lists of lists.
    pub nested: bool,
    /// Sets: lists whose order means nothing.
    pub sets: bool,
    /// Null, or absence.
    pub nulls: bool,
    /// Any JSON, also of different kinds in different rows.
    pub json: bool,
    /// RDF literals with datatypes and languages.
    pub literals: bool,
    /// Tensors, dense and sparse.
    pub tensors: bool,
}

/// What says whether edges have a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Directions {
    /// Nothing: all edges have one.
    None,
    /// The edge type.
    ByType,
    /// Each edge.
    ByRow,
}

/// Which documents a format has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Documents {
    /// None.
    None,
    /// Those of these names.
    Named(&'static [&'static str]),
    /// Any.
    Any,
}

impl Values {
    /// No values at all.
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
    /// A format that can say that nodes with text keys exist, and edges between them, and nothing else: to be added to.
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

/// A Markdown table of what formats can say: a row for each feature, a column for each format.
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

/// The word for a kind of keys.
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
