//! What is known about a table without reading its rows.

use isomorph_error::Result;
use isomorph_model::statistics::{ColumnStatistics, Known};

use crate::dataset::Dataset;
use crate::push_down::named;

/// What is known about a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableStatistics {
    /// Number of rows.
    pub rows: Known<u64>,
    /// For each column, in the order of the schema.
    pub columns: Vec<ColumnStatistics>,
}

impl Dataset {
    /// What is known of a table without reading its rows, each with whether it is exact: what reading every row gives. It costs no more than
    /// opening a few hundred files. Selections, sidecars that do more than declare types, and tables that are neither nodes nor edges say at
    /// most how many rows there are about; of typed tables that a survey found, only the number of rows is known.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if the table does not exist; and errors of reading files.
    /// [`isomorph_error::Kind::Usage`] when there is no such table; when files that are opened cannot be read.
    pub fn statistics(&self, table: &str) -> Result<TableStatistics> {
        let table = self.table(table)?;
        let graph = self.source().graph();
        let names = || table.roles().iter().map(|role| named(graph, table.kind(), *role));
        let tables = names().flatten().map(|(tables, _)| tables).next();
        let known = tables.map(|tables| self.source().statistics(tables)).transpose()?.unwrap_or_default();
        let rows = match known.rows {
            Known::Unknown => table.rows().map_or(Known::Unknown, Known::Estimated),
            rows => rows,
        };
        let column = |name: Option<(_, String)>| name.map(|(_, name)| known.column(&name)).unwrap_or_default();
        Ok(TableStatistics { rows, columns: names().map(column).collect() })
    }
}
