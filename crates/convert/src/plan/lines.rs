//! The lines of a plan about types that keep their shape, are written as nodes and edges, or go into one table or out of it.

use isomorph_error::{Error, Kind, Result};
use isomorph_model::type_name::type_name;
use isomorph_model::{Direction, Graph, Key, KeyKind, LabelVocabulary, Property, ValueKind};

use crate::mapping::{Bundling, Detachment, EdgeColumns, Naming, Reification, Slot};
use crate::options::ConvertOptions;
use crate::plan::{Plan, PlanLine};

/// The sidecar entry of a graph of one table that is written with types.
pub(super) const ONE_TABLE: &str = "names, and that the graph was one table";

impl Plan {
    pub(crate) fn line(&mut self, subject: impl Into<String>, becomes: impl Into<String>) {
        self.lines.push(PlanLine { subject: subject.into(), becomes: becomes.into() });
    }

    /// Adds what the sidecar keeps of a graph whose types the output does not declare: its schema, `further` facts about
    /// it, its documents and its name.
    pub(super) fn carry_schema(&mut self, graph: &Graph, and: &str, further: Option<String>) {
        let (nodes, edges) = (counted(graph.nodes.len(), "node type"), counted(graph.edges.len(), "edge type"));
        self.carried.push(format!("schema of {nodes} and {edges}{and}"));
        self.carried.extend(further);
        self.carried.extend(graph.documents.iter().map(|document| format!("document {}", document.name)));
        self.carried.extend(graph.name.iter().map(|name| format!("the graph's name, {name}")));
    }

    /// The entries of the sidecar for its tables.
    pub(super) fn describe_detachment(&mut self, record: &Detachment) {
        let nodes = record.whole.nodes.iter().zip(&record.nodes).filter(|(_, table)| **table);
        let mut all: Vec<String> = nodes
            .map(|(ty, _)| {
                let properties = if ty.properties.len() == 1 { "property" } else { "properties" };
                format!("nodes {}, with keys and {} {properties}", ty.name, ty.properties.len())
            })
            .collect();
        let edges = record.whole.edges.iter().zip(&record.written.edges).zip(&record.edges);
        for ((ty, left), _) in edges.filter(|(_, table)| **table) {
            let is_left = |name: &str| left.properties.iter().any(|own| own.name == name);
            let names = ty.properties.iter().map(|own| own.name.as_str()).filter(|name| !is_left(name));
            let direction = (ty.direction != left.direction).then_some("directions");
            let names: Vec<&str> = direction.into_iter().chain(names).collect();
            all.push(format!("{} of edges {}", names.join(" "), edge_text(&record.whole, ty)));
        }
        for (name, what) in record.tables().iter().zip(all) {
            self.carried.push(format!("{name}: {what}"));
        }
        if record.naming == Naming::Positions {
            self.line("keys of nodes", "their positions, from 1");
        }
    }

    /// Refuses to lose these parts of the graph, or lists them as lost with `--lossy`, which `hint` describes.
    ///
    /// # Errors
    /// Returns [`Kind::WouldLose`].
    pub(crate) fn lose(&mut self, parts: Vec<(String, String)>, options: &ConvertOptions, hint: &str) -> Result<()> {
        if let Some((subject, why)) = parts.first().filter(|_| !options.loses()) {
            let error = Error::new(Kind::WouldLose, format!("{subject} would be lost: {why}"));
            return Err(error.hint(format!("--lossy    {hint}")));
        }
        self.losses.extend(parts.into_iter().map(|(subject, becomes)| PlanLine { subject, becomes }));
        Ok(())
    }

    pub(super) fn describe_reification(&mut self, record: &Reification) {
        for ty in &record.rich.nodes {
            self.line(format!("nodes {}", ty.name), "the same");
        }
        let node = |at: usize| record.plain.nodes.get(at).map(|ty| ty.name.as_str()).unwrap_or_default();
        for (ty, tables) in record.rich.hyperedges.iter().zip(&record.hyperedges) {
            let roles = tables.roles.iter().flatten().filter_map(|at| record.plain.edges.get(*at));
            let roles: Vec<&str> = roles.filter_map(|ty| ty.relation.fixed()).collect();
            self.line(
                format!("hyperedges {}", ty.name),
                format!("nodes {}, edges {}", node(tables.node), roles.join(" ")),
            );
        }
        for (kind, tables) in record.rich.groups.iter().zip(&record.groups) {
            let members = tables.memberships.iter().flatten().filter_map(|at| record.plain.edges.get(*at));
            let mut text = format!("nodes {}", node(tables.node));
            push_list(&mut text, ", edges ", members.filter_map(|ty| ty.relation.fixed()), " ");
            self.line(format!("groups {}", kind.kind), text);
        }
        for ((rich, plain), columns) in record.rich.edges.iter().zip(&record.plain.edges).zip(&record.edges) {
            let added = plain.properties.iter().skip(rich.properties.len());
            let added: Vec<&str> = added.map(|property| property.name.as_str()).collect();
            if columns != &EdgeColumns::default() {
                self.line(edge_text(&record.rich, rich), format!("columns {}", added.join(" ")));
            }
        }
        let documents = record.rich.documents.iter().map(|document| document.name.as_str()).collect::<Vec<_>>();
        self.carried.push("which of these are hyperedges, groups, keys".to_owned());
        if !documents.is_empty() {
            self.carried.push(format!("documents {}", documents.join(", ")));
        }
    }

    pub(super) fn describe_identity(&mut self, graph: &Graph) {
        for ty in &graph.nodes {
            self.line(&ty.name, "the same");
        }
        for ty in &graph.edges {
            self.line(edge_text(graph, ty), "the same");
        }
    }

    pub(super) fn describe_bundling(&mut self, bundling: &Bundling) {
        let typed = &bundling.typed;
        let mut types = 0;
        for (ty, slots) in typed.nodes.iter().zip(&bundling.nodes) {
            let label = slots.label.as_deref().unwrap_or_default();
            let mut text = format!("label {label}, name = {}{}", slots.prefix, key_text(&ty.key));
            push_members(&mut text, &ty.properties, &slots.properties);
            self.line(&ty.name, text);
            types += usize::from(ty.key.kind != KeyKind::Utf8);
            types += ty.properties.iter().filter(|property| !json_says(property)).count();
            for (real, bundled) in &slots.labels {
                self.line(format!("label {real}"), format!("label {bundled}"));
            }
        }
        for (ty, slots) in typed.edges.iter().zip(&bundling.edges) {
            let mut text = format!("rel_name {}", slots.relation);
            if let Some(directed) = slots.directed.as_deref().filter(|_| ty.direction == Direction::Undirected) {
                text.push_str(&format!(", \"{directed}\": false in props"));
            }
            push_members(&mut text, &ty.properties, &slots.properties);
            self.line(edge_text(typed, ty), text);
            types += ty.properties.iter().filter(|property| !json_says(property)).count();
        }
        let types = (types > 0).then(|| format!("{} that JSON cannot represent", counted(types, "column type")));
        self.carry_schema(typed, "", types);
    }

    pub(super) fn describe_shredding(&mut self, bundling: &Bundling) {
        let typed = &bundling.typed;
        for (ty, slots) in typed.nodes.iter().zip(&bundling.nodes) {
            let key = ty.key.name.as_deref().unwrap_or("id");
            let mut text = format!("vertex type {}, {key} = src_name", ty.name);
            if let LabelVocabulary::Declared(labels) = &ty.labels {
                text.push_str(&format!(", {}", counted(labels.len(), "label")));
            }
            push_columns(&mut text, &ty.properties);
            if slots.properties.contains(&Slot::Labels) {
                text.push_str(" = the labels");
            }
            self.line("nodes", text);
        }
        for (ty, slots) in typed.edges.iter().zip(&bundling.edges) {
            let mut text = format!("edge type {}", ty.relation.fixed().unwrap_or_default());
            if ty.direction == Direction::Undirected {
                text.push_str(", undirected");
            }
            push_columns(&mut text, &ty.properties);
            match slots.properties.contains(&Slot::Relation) {
                true => self.line("all rel_names", format!("{text} = rel_name")),
                false => self.line(format!("rel_name {:?}", slots.relation), text),
            }
            self.sorts.push(ty.relation.fixed().unwrap_or_default().to_owned());
        }
        let properties = typed.nodes.iter().map(|ty| &ty.properties).chain(typed.edges.iter().map(|ty| &ty.properties));
        let mixed = properties.flatten().filter(|property| property.kind == ValueKind::Json).count();
        if mixed > 0 {
            self.carried.push(format!("{} of JSON text, whose values have different types", counted(mixed, "column")));
        }
        self.carried.push(ONE_TABLE.to_owned());
    }
}

/// `1 type`, `2 types`.
pub(crate) fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// What a key is called.
pub(super) fn key_text(key: &Key) -> &str {
    match (key.kind, &key.name) {
        (KeyKind::Row, _) => "row",
        (_, Some(name)) => name,
        (_, None) => "key",
    }
}

pub(crate) fn edge_text(graph: &Graph, ty: &isomorph_model::EdgeType) -> String {
    let (source, relation, target) = graph.edge_name(ty);
    let relation = if ty.relation.fixed().is_some() { relation } else { "…".to_owned() };
    match ty.direction {
        Direction::Undirected => format!("{source} ─{relation}─ {target}"),
        _ => format!("{source} ─{relation}→ {target}"),
    }
}

/// Appends items after `what`; nothing if there are none.
pub(super) fn push_list<T: AsRef<str>>(text: &mut String, what: &str, items: impl Iterator<Item = T>, between: &str) {
    for (number, item) in items.enumerate() {
        text.push_str(if number == 0 { what } else { between });
        text.push_str(item.as_ref());
    }
}

/// Appends the names of properties after `what`.
pub(super) fn push_names<'a>(text: &mut String, what: &str, properties: impl IntoIterator<Item = &'a Property>) {
    push_list(text, what, properties.into_iter().map(|property| &property.name), " ");
}

fn push_members(text: &mut String, properties: &[Property], slots: &[Slot]) {
    let members = properties.iter().zip(slots).filter(|(_, slot)| matches!(slot, Slot::Member(_)));
    push_names(text, ", props ", members.map(|(property, _)| property));
}

fn push_columns(text: &mut String, properties: &[Property]) {
    let columns = properties.iter().map(|property| match property.kind {
        ValueKind::Json | ValueKind::Bag => format!("{} json", property.name),
        _ => format!("{} {}", property.name, type_name(&property.data_type)),
    });
    push_list(text, ", ", columns, ", ");
}

/// Whether a JSON value of this property shows its type.
fn json_says(property: &Property) -> bool {
    use arrow_schema::DataType;
    property.nullable
        && property.kind == ValueKind::Plain
        && matches!(property.data_type, DataType::Int64 | DataType::Float64 | DataType::Utf8 | DataType::Boolean)
}
