//! A graph as tables.

use std::sync::Arc;

use isomorph_error::{Error, Result, did_you_mean};
use isomorph_model::Predicate;
use isomorph_model::{KeyKind, Property, Source, ValueKind};
use isomorph_storage::Resources;

use crate::lazy::Keys;
use crate::scan::{Scan, comparable};
use crate::schema::Role;
use crate::table::{Table, TableKind, tables};

/// A graph as tables of Arrow columns.
pub struct Dataset {
    source: Arc<dyn Source>,
    tables: Vec<Table>,
    keys: Arc<Keys>,
}

impl std::fmt::Debug for Dataset {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Dataset").field("tables", &self.tables).finish_non_exhaustive()
    }
}

impl Dataset {
    /// The tables of `source`. Nothing is read.
    pub fn new(source: Arc<dyn Source>, resources: Resources) -> Self {
        let tables = tables(source.graph());
        let keys = Arc::new(Keys::new(Arc::clone(&source), resources));
        Dataset { source, tables, keys }
    }

    /// The graph.
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    pub(crate) fn resources(&self) -> &Resources {
        self.keys.resources()
    }

    pub(crate) fn keys(&self) -> &Arc<Keys> {
        &self.keys
    }

    /// All tables, in the order of the description: nodes, edges, hyperedges and their members, values, groups and their members.
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The table of that name.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] when there is none.
    pub fn table(&self, name: &str) -> Result<&Table> {
        let names = || self.tables.iter().map(Table::name);
        self.tables.iter().find(|table| table.name() == name).ok_or_else(|| {
            let shown: Vec<&str> = names().take(20).collect();
            let near = did_you_mean(name, names());
            Error::usage(format!("there is no table {name}{near}")).hint(format!("the tables are {}", shown.join(", ")))
        })
    }

    /// A scan of the table of that name.
    ///
    /// # Errors
    /// As for [`Dataset::table`].
    pub fn scan(&self, table: &str) -> Result<Scan<'_>> {
        Ok(Scan::new(self, self.table(table)?))
    }

    /// Whether a filter compares columns as a reader expects.
    pub(crate) fn comparable(&self, table: &Table, filter: &Predicate) -> Result<()> {
        match filter {
            Predicate::And(all) | Predicate::Or(all) => all.iter().try_for_each(|one| self.comparable(table, one)),
            Predicate::Not(one) => self.comparable(table, one),
            Predicate::IsNull(_) | Predicate::IsNotNull(_) => Ok(()),
            Predicate::Compare { column, .. } | Predicate::Like { column, .. } | Predicate::Has { column, .. } => {
                let at = table.column(column)?;
                let data_type = table.schema().field(at).data_type();
                match table.roles().get(at) {
                    Some(role) => comparable(column, &self.kind_of(table.kind(), *role), data_type, filter),
                    None => Ok(()),
                }
            }
        }
    }

    /// What the cells of a column mean.
    fn kind_of(&self, table: TableKind, role: Role) -> ValueKind {
        let graph = self.source.graph();
        let node_key = |ty: usize| graph.nodes.get(ty).map(|ty| ty.key.kind);
        let of_key = |key: Option<KeyKind>| if key == Some(KeyKind::Term) { ValueKind::Term } else { ValueKind::Plain };
        let of = |properties: Option<&Vec<Property>>, at: usize| {
            properties.and_then(|all| all.get(at)).map_or(ValueKind::Plain, |property| property.kind.clone())
        };
        match (table, role) {
            (TableKind::Nodes(ty), Role::Property(at)) => of(graph.nodes.get(ty).map(|ty| &ty.properties), at),
            (TableKind::Nodes(ty), Role::Key) => of_key(node_key(ty)),
            (TableKind::Edges(ty), Role::Property(at)) => of(graph.edges.get(ty).map(|ty| &ty.properties), at),
            (TableKind::Edges(ty), Role::Source) => of_key(graph.edges.get(ty).and_then(|ty| node_key(ty.source))),
            (TableKind::Edges(ty), Role::Target) => of_key(graph.edges.get(ty).and_then(|ty| node_key(ty.target))),
            (TableKind::Hyperedges(ty), Role::Property(at)) => {
                of(graph.hyperedges.get(ty).map(|ty| &ty.properties), at)
            }
            (TableKind::Values(table), Role::Value) => {
                graph.values.get(table).map_or(ValueKind::Plain, |table| table.property.kind.clone())
            }
            (TableKind::Values(table), Role::Property(at)) => {
                of(graph.values.get(table).map(|table| &table.qualifiers), at)
            }
            (TableKind::Groups(kind), Role::Property(at)) => {
                of(graph.groups.get(kind).map(|kind| &kind.properties), at)
            }
            (TableKind::Memberships { kind, table }, Role::Property(at)) => {
                let table = graph.groups.get(kind).and_then(|kind| kind.memberships.get(table));
                of(table.map(|table| &table.properties), at)
            }
            _ => ValueKind::Plain,
        }
    }
}
