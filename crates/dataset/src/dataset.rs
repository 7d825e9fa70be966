//! A graph as tables.

use std::sync::Arc;

use isomorph_error::{Error, Result, did_you_mean};
use isomorph_model::{Predicate, Source};
use isomorph_storage::Resources;

use crate::kinds::kind_of;
use crate::lazy_keys::Keys;
use crate::scan::{Scan, comparable};
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
    /// Creates the tables of `source`. Reads nothing.
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
    /// Returns [`isomorph_error::Kind::Usage`] if it does not exist.
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

    /// Whether no two nodes of a table have one key. An index of the keys is made to find out; false, if it does not fit into memory.
    ///
    /// # Errors
    /// As for [`Dataset::table`], and if keys cannot be read.
    pub fn has_distinct_keys(&self, table: &str) -> Result<bool> {
        match self.table(table)?.kind() {
            TableKind::Nodes(ty) => self.keys.are_distinct(ty),
            _ => Ok(false),
        }
    }

    /// Checks that the columns of a filter can be compared as a user expects.
    pub(crate) fn comparable(&self, table: &Table, filter: &Predicate) -> Result<()> {
        match filter {
            Predicate::And(all) | Predicate::Or(all) => all.iter().try_for_each(|one| self.comparable(table, one)),
            Predicate::Not(one) => self.comparable(table, one),
            Predicate::IsNull(_) | Predicate::IsNotNull(_) => Ok(()),
            Predicate::Compare { column, .. }
            | Predicate::Like { column, .. }
            | Predicate::Has { column, .. }
            | Predicate::In { column, .. } => {
                let at = table.column(column)?;
                let data_type = table.schema().field(at).data_type();
                match table.roles().get(at) {
                    Some(role) => {
                        let kind = kind_of(self.source.graph(), table.kind(), *role);
                        comparable(column, &kind, data_type, filter)
                    }
                    None => Ok(()),
                }
            }
        }
    }
}
