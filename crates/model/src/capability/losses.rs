//! The losses of a graph: what a format cannot store natively.

use arrow_schema::DataType;

use super::scalar::{Fit, Scalar};
use super::{Capability, Directions, Documents, Values, key_word};
use crate::schema::Owner;
use crate::type_name::type_name;
use crate::{Cardinality, Direction, Graph, Key, KeyKind, LabelVocabulary, Property, ValueKind};

/// The aspect of the graph that is lost, and thus the digest that would differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LossOf {
    /// The content of the graph.
    Content,
    /// Significant positions.
    Order,
    /// Declarations: widths, types.
    Schema,
}

/// Something that a format cannot store natively.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The subject: a type, a property, a document.
    pub subject: String,
    /// What cannot be stored, or what it is converted to.
    pub text: String,
    /// The aspect that is lost.
    pub of: LossOf,
}

impl Capability {
    /// Returns what the format cannot store of a graph, in the order of the graph's tables. Names that must be spelt
    /// differently are not included: they have a substitute, which the mapping records.
    pub fn losses(&self, graph: &Graph) -> Vec<Loss> {
        let mut found = Losses { found: Vec::new() };
        if graph.nodes.len() > 1 && !self.node_types {
            let types: Vec<&str> = graph.nodes.iter().map(|ty| ty.name.as_str()).collect();
            found.push(LossOf::Schema, "node types", format!("{} become one type", types.join(", ")));
        }
        for ty in &graph.nodes {
            self.key(&ty.key, &ty.name, &mut found);
            if ty.ordered && ty.key.kind != KeyKind::Row && !self.order {
                found.push(LossOf::Order, &ty.name, "the order of its rows");
            }
            self.labels(&ty.name, &ty.labels, &mut found);
            found.properties(&ty.name, &ty.properties, &self.nodes);
        }
        if graph.edges.len() > 1 && !self.edge_types {
            found.push(LossOf::Schema, "edge types", "all become one list of edges");
        }
        for ty in &graph.edges {
            let (source, relation, target) = graph.edge_name(ty);
            let name = format!("{source} {relation} {target}");
            self.edge(&name, ty, &mut found);
        }
        for ty in &graph.hyperedges {
            match self.hyperedges {
                false => found.push(LossOf::Content, &ty.name, "hyperedges"),
                true => found.properties(&ty.name, &ty.properties, &self.edges),
            }
        }
        for table in &graph.values {
            let values = if matches!(table.owner, Owner::Nodes(_)) { &self.nodes } else { &self.edges };
            match self.long_values {
                false => found.push(LossOf::Content, &table.property.name, "multiple values, or qualifiers of values"),
                true => found.properties("", std::slice::from_ref(&table.property), values),
            }
        }
        for kind in graph.groups.iter().filter(|kind| !self.groups.contains(&kind.kind.as_str())) {
            found.push(LossOf::Content, &kind.kind, "groups of this kind, and their members");
        }
        for document in &graph.documents {
            let said = match self.documents {
                Documents::None => false,
                Documents::Named(names) => names.contains(&document.name.as_str()),
                Documents::Any => true,
            };
            if !said {
                found.push(LossOf::Content, &document.name, "the document");
            }
        }
        found.found
    }

    fn key(&self, key: &Key, subject: &str, found: &mut Losses) {
        if !self.keys.contains(&key.kind) {
            found.push(LossOf::Schema, subject, format!("its key ({})", key_word(key.kind)));
        }
    }

    fn labels(&self, subject: &str, labels: &LabelVocabulary, found: &mut Losses) {
        if *labels == LabelVocabulary::None {
            return;
        }
        if !self.labels {
            found.push(LossOf::Content, subject, "labels");
        }
        if let LabelVocabulary::Declared(names) = labels {
            for name in names.iter().filter(|name| name.contains(|c| self.no_label_with.contains(c))) {
                found.push(LossOf::Schema, subject, format!("label {name:?} is renamed"));
            }
        }
    }

    fn edge(&self, name: &str, ty: &crate::EdgeType, found: &mut Losses) {
        let needed = match ty.direction {
            Direction::Directed => Directions::None,
            Direction::Undirected => Directions::ByType,
            Direction::PerRow => Directions::ByRow,
        };
        if needed > self.directions {
            found.push(LossOf::Content, name, "undirected edges");
        }
        if ty.key.is_some() && !self.edge_keys {
            found.push(LossOf::Content, name, "keys of edges");
        }
        if ty.key.is_none() && !self.parallel_edges {
            found.push(LossOf::Content, name, "parallel edges, if there are any");
        }
        if ty.layered && !self.layers {
            found.push(LossOf::Content, name, "layers of the ends");
        }
        found.properties(name, &ty.properties, &self.edges);
    }
}

struct Losses {
    found: Vec<Loss>,
}

impl Losses {
    fn push(&mut self, of: LossOf, subject: impl Into<String>, text: impl Into<String>) {
        self.found.push(Loss { subject: subject.into(), text: text.into(), of });
    }

    fn properties(&mut self, owner: &str, properties: &[Property], values: &Values) {
        for property in properties {
            let subject = match (owner, property.name.as_str()) {
                ("", name) => name.to_owned(),
                (owner, "") => owner.to_owned(),
                (owner, name) => format!("{owner}.{name}"),
            };
            self.property(subject, property, values);
        }
    }

    fn property(&mut self, subject: String, property: &Property, values: &Values) {
        let Some((of, text)) = misfit(property, values) else {
            if property.nullable && !values.nulls {
                self.push(LossOf::Content, subject, "nulls, if there are any");
            }
            return;
        };
        self.push(of, subject, text);
    }
}

/// Returns what is lost of a property's values, if anything.
fn misfit(property: &Property, values: &Values) -> Option<(LossOf, String)> {
    let content = |text: &str| Some((LossOf::Content, text.to_owned()));
    match &property.kind {
        ValueKind::Json | ValueKind::Bag if !values.json => content("values of different types become JSON text"),
        ValueKind::Literal { .. } if !values.literals => content("RDF literals become their lexical form"),
        ValueKind::Tensor { .. } if !values.tensors => content("tensors become lists"),
        ValueKind::Plain | ValueKind::Term | ValueKind::Raw => plain(property, values),
        ValueKind::Json | ValueKind::Bag | ValueKind::Literal { .. } | ValueKind::Tensor { .. } => None,
    }
}

fn plain(property: &Property, values: &Values) -> Option<(LossOf, String)> {
    let name = type_name(&property.data_type);
    match (&property.data_type, property.cardinality) {
        (DataType::Null, _) => None,
        (DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _), cardinality) => {
            if cardinality == Cardinality::Set && !values.sets {
                return Some((LossOf::Schema, "sets become lists".to_owned()));
            }
            match Scalar::of(item.data_type()) {
                Some(scalar) => one(scalar, values.lists, &name, values.json),
                None if values.nested || values.json => None,
                None => Some((LossOf::Schema, format!("{name} becomes JSON text"))),
            }
        }
        (data_type, _) => match Scalar::of(data_type) {
            Some(scalar) => one(scalar, values.scalars, &name, values.json),
            None if values.json => Some((LossOf::Schema, format!("{name} becomes a JSON object"))),
            None => Some((LossOf::Schema, format!("{name} becomes JSON text"))),
        },
    }
}

fn one(scalar: Scalar, offered: &[Scalar], name: &str, json: bool) -> Option<(LossOf, String)> {
    match scalar.best(offered) {
        Some((_, Fit::Exact)) => None,
        Some((best, Fit::Wider)) => Some((LossOf::Schema, format!("{name} becomes {best}"))),
        Some((best, _)) => {
            Some((LossOf::Content, format!("{name} becomes {best}, which cannot represent every value")))
        }
        None if json && offered.is_empty() => None,
        None => Some((LossOf::Schema, format!("{name} becomes text"))),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_schema::TimeUnit;

    use super::super::table;
    use super::*;
    use crate::zoo;

    /// A fictitious format with one table of nodes with text keys and JSON properties.
    const BAGS: Capability = Capability {
        labels: true,
        no_label_with: ",",
        nodes: JSON,
        edges: JSON,
        parallel_edges: true,
        ..Capability::LEAST
    };

    const JSON: Values = Values {
        scalars: &[Scalar::Bool, Scalar::Int(64), Scalar::Float(64), Scalar::Text],
        lists: &[Scalar::Bool, Scalar::Int(64), Scalar::Float(64), Scalar::Text],
        nested: true,
        nulls: true,
        json: true,
        ..Values::NONE
    };

    /// A fictitious format with typed columns.
    const COLUMNS: Capability = Capability {
        node_types: true,
        edge_types: true,
        keys: &[KeyKind::Int, KeyKind::Utf8, KeyKind::Row],
        order: true,
        labels: true,
        nodes: TYPED,
        edges: Values { sets: false, ..TYPED },
        directions: Directions::ByType,
        parallel_edges: true,
        documents: Documents::Named(&["extra_info"]),
        ..Capability::LEAST
    };

    const TYPED: Values = Values {
        scalars: &[
            Scalar::Bool,
            Scalar::Int(32),
            Scalar::Int(64),
            Scalar::Float(32),
            Scalar::Float(64),
            Scalar::Text,
            Scalar::Date,
            Scalar::Timestamp(TimeUnit::Millisecond),
        ],
        lists: &[Scalar::Int(32), Scalar::Int(64), Scalar::Float(32), Scalar::Float(64), Scalar::Text],
        sets: true,
        nulls: true,
        ..Values::NONE
    };

    /// A fictitious format that can store everything.
    const ALL: Capability = Capability {
        keys: &[KeyKind::Int, KeyKind::Utf8, KeyKind::Row, KeyKind::Term, KeyKind::Tuple],
        directions: Directions::ByRow,
        nodes: EVERYTHING,
        edges: EVERYTHING,
        edge_keys: true,
        hyperedges: true,
        layers: true,
        long_values: true,
        groups: &["graph", "slice", "layer", "aspect", "elementary"],
        documents: Documents::Any,
        ..COLUMNS
    };

    const EVERYTHING: Values = Values {
        scalars: &[
            Scalar::Bool,
            Scalar::Int(32),
            Scalar::Int(64),
            Scalar::UInt(64),
            Scalar::Float(32),
            Scalar::Float(64),
            Scalar::Text,
            Scalar::Date,
            Scalar::Timestamp(TimeUnit::Millisecond),
        ],
        json: true,
        literals: true,
        tensors: true,
        ..TYPED
    };

    fn of(format: &Capability, memory: &crate::MemoryGraph) -> Vec<String> {
        let losses = format.losses(&memory.graph);
        losses.into_iter().map(|loss| format!("{:?} {}: {}", loss.of, loss.subject, loss.text)).collect()
    }

    #[test]
    fn what_fits_loses_nothing() {
        for (name, memory) in zoo::property_graphs() {
            // Only directions by row cannot be stored in the columns.
            let losses = of(&COLUMNS, &memory);
            assert!(losses.iter().all(|loss| loss.ends_with("undirected edges")), "{name}: {losses:?}");
        }
        for (name, memory) in zoo::five() {
            assert_eq!(of(&ALL, &memory), [""; 0], "{name}");
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        assert_eq!(
            of(&BAGS, &zoo::graphar()),
            [
                "Schema t: its key (row number)",
                "Schema t.x: int32 becomes int64",
                "Schema t rel t.w: float becomes double",
                "Schema t rel t.since: timestamp[ms] becomes text",
                "Content extra_info: the document",
            ]
        );
        let losses = of(&COLUMNS, &zoo::annnet());
        for expected in [
            "Content node edge node: keys of edges",
            "Content node edge node: layers of the ends",
            "Content hyperedge: hyperedges",
            "Content slice: groups of this kind, and their members",
            "Content uns: the document",
        ] {
            assert!(losses.iter().any(|loss| loss == expected), "{expected}: {losses:?}");
        }
        let wide = zoo::wide_property_graphs().remove(0).1;
        let losses = of(&COLUMNS, &wide);
        for expected in [
            "Schema wide.int8: int8 becomes int32",
            "Schema wide.uint32: uint32 becomes int64",
            "Content wide.uint64: uint64 becomes int64, which cannot represent every value",
            "Content wide.nanos: timestamp[ns] becomes timestamp[ms], which cannot represent every value",
            "Schema wide.bytes: bytes becomes text",
            "Schema wide.nested: list<list<int64>> becomes JSON text",
        ] {
            assert!(losses.iter().any(|loss| loss == expected), "{expected}: {losses:?}");
        }
        let undirected = zoo::property_graphs().into_iter().find(|(name, _)| *name == "undirected").unwrap().1;
        assert_eq!(of(&COLUMNS, &undirected), ["Content a mixed a: undirected edges"]);
    }

    #[test]
    fn the_table_has_a_column_for_each_format() {
        let table = table(&[("Bags", &BAGS), ("Columns", &COLUMNS)]);
        let lines: Vec<&str> = table.lines().collect();
        assert_eq!(lines[0], "| | Bags | Columns |");
        assert_eq!(lines[1], "|---|---|---|");
        assert!(lines.iter().all(|line| line.matches('|').count() == 4), "{table}");
        assert!(lines.contains(&"| keys of nodes | text | integer, text, row number |"));
        assert!(lines.contains(&"| labels | without `,` | yes |"));
        assert!(lines.contains(&"| undirected edges | – | by type |"));
        assert!(lines.contains(
            &"| lists of nodes | bool, int64, double, string, lists | int32, int64, float, double, string, as sets |"
        ));
    }
}
