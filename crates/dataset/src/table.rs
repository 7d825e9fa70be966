//! The tables of a graph.

use arrow_schema::SchemaRef;
use isomorph_error::{Error, Result, did_you_mean};
use isomorph_model::{Graph, Predicate, schema::Owner};

use crate::condition::LABELS;
use crate::names::numbered;
use crate::schema::{Role, columns};

/// The table of the description that a table is, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TableKind {
    /// Nodes of a type.
    Nodes(usize),
    /// Edges of a type.
    Edges(usize),
    /// Hyperedges of a type.
    Hyperedges(usize),
    /// Members of the hyperedges of a type.
    Members(usize),
    /// Values of a property that has several values, or qualified ones.
    Values(usize),
    /// Groups of a kind.
    Groups(usize),
    /// Memberships in groups of a kind.
    Memberships {
        /// The kind.
        kind: usize,
        /// The membership table of that kind.
        table: usize,
    },
}

/// A table of a graph.
#[derive(Debug, Clone)]
pub struct Table {
    name: String,
    kind: TableKind,
    rows: Option<u64>,
    roles: Vec<Role>,
    schema: SchemaRef,
}

impl Table {
    /// Its name, unique in the dataset.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The table of the description that it is.
    pub fn kind(&self) -> TableKind {
        self.kind
    }

    /// Its columns. The metadata of a field states its [role](crate::ROLE) and [kind](crate::KIND).
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The role of each column.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// Number of rows, if the format states it.
    pub fn rows(&self) -> Option<u64> {
        self.rows
    }

    /// The position of a column, by its name or, after `@`, by its role. A column that is itself called like `@key` comes first: whoever reads a
    /// table by the names of its columns gets these.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if it does not exist.
    pub fn column(&self, name: &str) -> Result<usize> {
        if let Some((at, _)) = self.schema.column_with_name(name) {
            return Ok(at);
        }
        let by_role = |word: &str| self.roles.iter().position(|role| role.word() == word);
        if let Some(at) = name.strip_prefix('@').and_then(by_role) {
            return Ok(at);
        }
        let names = || self.schema.fields().iter().map(|field| field.name().as_str());
        let error = match name.strip_prefix('@') {
            Some(role) if role == Role::Labels.word() && matches!(self.kind, TableKind::Nodes(_)) => {
                Error::usage(format!("nodes of type {} cannot have labels", self.name))
            }
            Some(role) => Error::usage(format!("{} has no column of the role {role}", self.name)),
            None => {
                let near = did_you_mean(name, names());
                Error::usage(format!("{} has no column {name}{near}", self.name))
            }
        };
        let shown: Vec<&str> = names().take(20).collect();
        Err(error.hint(format!("its columns are {}", shown.join(", "))))
    }

    /// A condition with the names of columns instead of roles. The columns that it looks at are added to `positions`.
    ///
    /// # Errors
    /// As [`Table::column`]; also for `has label`, if a property is called as it calls the labels.
    pub(crate) fn bound(&self, condition: &Predicate, positions: &mut Vec<usize>) -> Result<Predicate> {
        if asks_for_labels(condition) && self.schema.column_with_name(LABELS).is_some() {
            let message = format!("a property of {} is called {LABELS}, as conditions call the labels", self.name);
            return Err(Error::unsupported(message).hint("another name for the property"));
        }
        let named = condition.renamed(&mut |name| {
            let at = self.column(name)?;
            if !positions.contains(&at) {
                positions.push(at);
            }
            Ok(self.schema.field(at).name().clone())
        })?;
        let labels = self.roles.iter().position(|role| *role == Role::Labels);
        Ok(match labels {
            Some(at) => with_known_labels(named, self.schema.field(at).name()),
            None => named,
        })
    }
}

/// Whether `has label` is part of a condition.
fn asks_for_labels(condition: &Predicate) -> bool {
    match condition {
        Predicate::Has { column, .. } => column == LABELS,
        Predicate::And(list) | Predicate::Or(list) => list.iter().any(asks_for_labels),
        Predicate::Not(one) => asks_for_labels(one),
        _ => false,
    }
}

/// `condition`, in which a node without labels has no label: its labels are null, but not unknown. So `not has label "A"` is true of it.
fn with_known_labels(condition: Predicate, labels: &str) -> Predicate {
    let all = |list: Vec<Predicate>| list.into_iter().map(|one| with_known_labels(one, labels)).collect();
    match condition {
        Predicate::Has { column, literal } if column == labels => {
            Predicate::And(vec![Predicate::IsNotNull(column.clone()), Predicate::Has { column, literal }])
        }
        Predicate::And(list) => Predicate::And(all(list)),
        Predicate::Or(list) => Predicate::Or(all(list)),
        Predicate::Not(one) => Predicate::Not(Box::new(with_known_labels(*one, labels))),
        other => other,
    }
}

/// All tables of a graph.
pub(crate) fn tables(graph: &Graph) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    let mut add = |name: String, kind: TableKind, rows: Option<u64>| {
        let name = numbered(name, |name| tables.iter().any(|table| table.name == name));
        let (roles, schema) = columns(graph, kind);
        tables.push(Table { name, kind, rows, roles, schema });
    };
    for (at, ty) in graph.nodes.iter().enumerate() {
        add(ty.name.clone(), TableKind::Nodes(at), ty.rows);
    }
    for (at, ty) in graph.edges.iter().enumerate() {
        let (source, relation, target) = graph.edge_name(ty);
        let relation = if ty.relation.fixed().is_none() { "to" } else { &relation };
        add(format!("{source}_{relation}_{target}"), TableKind::Edges(at), ty.rows);
    }
    for (at, ty) in graph.hyperedges.iter().enumerate() {
        add(ty.name.clone(), TableKind::Hyperedges(at), ty.rows);
        add(format!("{}_members", ty.name), TableKind::Members(at), None);
    }
    let owner = |owner: Owner| match owner {
        Owner::Nodes(ty) => graph.nodes.get(ty).map(|ty| ty.name.clone()),
        Owner::Edges(ty) => graph.edges.get(ty).map(|ty| {
            let (source, relation, target) = graph.edge_name(ty);
            format!("{source}_{relation}_{target}")
        }),
        Owner::Hyperedges(ty) => graph.hyperedges.get(ty).map(|ty| ty.name.clone()),
    };
    for (at, table) in graph.values.iter().enumerate() {
        let name = format!("{}_{}", owner(table.owner).unwrap_or_default(), table.property.name);
        add(name, TableKind::Values(at), table.rows);
    }
    for (at, kind) in graph.groups.iter().enumerate() {
        add(kind.kind.clone(), TableKind::Groups(at), None);
        for (table, members) in kind.memberships.iter().enumerate() {
            let name = format!("{}_of_{}", kind.kind, owner(members.of).unwrap_or_default());
            add(name, TableKind::Memberships { kind: at, table }, None);
        }
    }
    tables
}
