//! The columns of a table, from the description of a graph.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_model::{Direction, Graph, Key, KeyKind, LabelVocabulary, Property, Relation, ValueKind, schema::Owner};

use crate::kinds::kind_of;
use crate::names::unique;
use crate::table::TableKind;

/// Metadata key of a field: its role in the graph, the word of a [`Role`].
pub const ROLE: &str = "isomorph.role";

/// Metadata key of a field whose cells have a meaning that the Arrow type does not state: the word of a [`ValueKind`].
pub const KIND: &str = "isomorph.kind";

/// The role of a column in the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The identifier of an element.
    Key,
    /// The position of a node in its table.
    Row,
    /// The labels of a node.
    Labels,
    /// The source of an edge, by key.
    Source,
    /// The target of an edge, by key.
    Target,
    /// The relation of an edge.
    Relation,
    /// Whether an edge or hyperedge is directed.
    Directed,
    /// The layer that the source of an edge is in.
    SourceLayer,
    /// The layer that the target of an edge is in.
    TargetLayer,
    /// The signed coefficient of the source of an edge.
    SourceCoefficient,
    /// The signed coefficient of the target of an edge.
    TargetCoefficient,
    /// The hyperedge that a member belongs to, or the element that a value belongs to.
    Owner,
    /// A member of a hyperedge or group.
    Member,
    /// `head`, `tail` or `member`.
    Part,
    /// The layer that a member is in.
    Layer,
    /// The signed coefficient of a member.
    Coefficient,
    /// One value of a property that has several.
    Value,
    /// The group of a membership.
    Group,
    /// The index of the matching key in a look-up: see [`crate::Scan::look_up`].
    Question,
    /// A property, or a qualifier of a value, by its index in the description.
    Property(usize),
}

impl Role {
    /// The word in metadata, and after `@` where a column is named by its role.
    pub fn word(self) -> &'static str {
        match self {
            Role::Key => "key",
            Role::Row => "row",
            Role::Labels => "labels",
            Role::Source => "source",
            Role::Target => "target",
            Role::Relation => "relation",
            Role::Directed => "directed",
            Role::SourceLayer => "source_layer",
            Role::TargetLayer => "target_layer",
            Role::SourceCoefficient => "source_coefficient",
            Role::TargetCoefficient => "target_coefficient",
            Role::Owner => "owner",
            Role::Member => "member",
            Role::Part => "role",
            Role::Layer => "layer",
            Role::Coefficient => "coefficient",
            Role::Value => "value",
            Role::Group => "group",
            Role::Question => "question",
            Role::Property(_) => "property",
        }
    }
}

/// Collects columns.
struct Builder<'g> {
    columns: Vec<(Role, String, DataType, bool)>,
    properties: &'g [Property],
}

/// The roles and the schema of the columns of a table.
pub(crate) fn columns(graph: &Graph, kind: TableKind) -> (Vec<Role>, SchemaRef) {
    let mut all = Builder { columns: Vec::new(), properties: &[] };
    match kind {
        TableKind::Nodes(ty) => {
            if let Some(ty) = graph.nodes.get(ty) {
                all.key(&ty.key);
                if ty.ordered && ty.key.kind != KeyKind::Row {
                    all.add(Role::Row, DataType::UInt64, false);
                }
                if ty.labels != LabelVocabulary::None {
                    all.add(Role::Labels, texts(), true);
                }
                all.properties = &ty.properties;
            }
        }
        TableKind::Edges(ty) => {
            if let Some(ty) = graph.edges.get(ty) {
                all.add(Role::Source, node_key(graph, ty.source), false);
                all.add(Role::Target, node_key(graph, ty.target), false);
                if ty.relation == Relation::PerRow {
                    all.add(Role::Relation, DataType::Utf8, false);
                }
                all.directed(ty.direction);
                if let Some(key) = &ty.key {
                    all.key(key);
                }
                if ty.layered {
                    for (layer, coefficient) in
                        [(Role::SourceLayer, Role::SourceCoefficient), (Role::TargetLayer, Role::TargetCoefficient)]
                    {
                        all.add(layer, texts(), true);
                        all.add(coefficient, DataType::Float64, true);
                    }
                }
                all.properties = &ty.properties;
            }
        }
        TableKind::Hyperedges(ty) => {
            if let Some(ty) = graph.hyperedges.get(ty) {
                all.key(&ty.key);
                all.directed(ty.direction);
                all.properties = &ty.properties;
            }
        }
        TableKind::Members(ty) => {
            if let Some(ty) = graph.hyperedges.get(ty) {
                all.add(Role::Owner, of_key(&ty.key), false);
                all.add(Role::Member, node_key(graph, ty.ends), false);
                all.add(Role::Part, DataType::Utf8, false);
                if ty.layered {
                    all.add(Role::Layer, texts(), true);
                }
                all.add(Role::Coefficient, DataType::Float64, true);
            }
        }
        TableKind::Values(table) => {
            if let Some(table) = graph.values.get(table) {
                all.add(Role::Owner, owner_key(graph, table.owner), false);
                all.add(Role::Value, table.property.data_type.clone(), true);
                all.properties = &table.qualifiers;
            }
        }
        TableKind::Groups(kind) => {
            if let Some(kind) = graph.groups.get(kind) {
                all.key(&kind.key);
                all.properties = &kind.properties;
            }
        }
        TableKind::Memberships { kind, table } => {
            if let Some(kind) = graph.groups.get(kind)
                && let Some(table) = kind.memberships.get(table)
            {
                all.add(Role::Group, of_key(&kind.key), false);
                all.add(Role::Member, owner_key(graph, table.of), false);
                all.properties = &table.properties;
            }
        }
    }
    all.finish(&|role| kind_of(graph, kind, role))
}

impl Builder<'_> {
    fn add(&mut self, role: Role, data_type: DataType, nullable: bool) {
        self.columns.push((role, role.word().to_owned(), data_type, nullable));
    }

    fn key(&mut self, key: &Key) {
        if key.kind == KeyKind::Row {
            return self.add(Role::Row, DataType::UInt64, false);
        }
        let name = key.name.clone().unwrap_or_else(|| Role::Key.word().to_owned());
        self.columns.push((Role::Key, name, key.data_type.clone(), false));
    }

    fn directed(&mut self, direction: Direction) {
        if direction == Direction::PerRow {
            self.add(Role::Directed, DataType::Boolean, false);
        }
    }

    /// Properties keep their names; other columns are renamed if necessary.
    fn finish(self, kind_of: &dyn Fn(Role) -> ValueKind) -> (Vec<Role>, SchemaRef) {
        let mut taken: Vec<String> =
            self.properties.iter().map(|property| property_name(property).to_owned()).collect();
        let (mut roles, mut fields) = (Vec::new(), Vec::new());
        for (role, name, data_type, nullable) in self.columns {
            let name = unique(name, &taken);
            taken.push(name.clone());
            roles.push(role);
            fields.push(field(role, &name, data_type, nullable, &kind_of(role)));
        }
        for (at, property) in self.properties.iter().enumerate() {
            roles.push(Role::Property(at));
            // Columns that are declared as never null have nulls in some files.
            fields.push(field(
                Role::Property(at),
                property_name(property),
                property.data_type.clone(),
                true,
                &property.kind,
            ));
        }
        (roles, Arc::new(Schema::new(fields)))
    }
}

/// The column name of a property: a bag of properties has no name of its own.
pub(crate) fn property_name(property: &Property) -> &str {
    match property.name.as_str() {
        "" if property.kind == ValueKind::Bag => "properties",
        name => name,
    }
}

pub(crate) fn field(role: Role, name: &str, data_type: DataType, nullable: bool, kind: &ValueKind) -> Field {
    let mut metadata = HashMap::from([(ROLE.to_owned(), role.word().to_owned())]);
    if *kind != ValueKind::Plain {
        metadata.insert(KIND.to_owned(), kind.word().to_owned());
    }
    Field::new(name, data_type, nullable).with_metadata(metadata)
}

/// A list of text: labels of a node, a layer.
pub(crate) fn texts() -> DataType {
    DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true)))
}

/// The type of a column of keys, or of rows if there is no key.
pub(crate) fn of_key(key: &Key) -> DataType {
    if key.kind == KeyKind::Row { DataType::UInt64 } else { key.data_type.clone() }
}

fn node_key(graph: &Graph, ty: usize) -> DataType {
    graph.nodes.get(ty).map_or(DataType::Null, |ty| of_key(&ty.key))
}

fn owner_key(graph: &Graph, owner: Owner) -> DataType {
    match owner {
        Owner::Nodes(ty) => node_key(graph, ty),
        Owner::Edges(ty) => graph.edges.get(ty).and_then(|ty| ty.key.as_ref()).map_or(DataType::UInt64, of_key),
        Owner::Hyperedges(ty) => graph.hyperedges.get(ty).map_or(DataType::Null, |ty| of_key(&ty.key)),
    }
}
