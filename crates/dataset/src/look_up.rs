//! How rows are found by keys: the request to the format, and its cost.

use isomorph_error::Result;
use isomorph_model::{Cost, EndForm, Narrowing, Predicate, Set, Tables, Way};

use crate::dataset::Dataset;
use crate::push_down::named;
use crate::schema::Role;
use crate::table::{Table, TableKind};

/// The column by which a format finds the rows with given keys.
struct Place {
    tables: Tables,
    column: String,
    /// The node type whose keys are first converted to rows, if the format finds rows better than keys.
    rows_of: Option<usize>,
}

impl Dataset {
    /// The cost of a look-up in a column of a table, by its name or `@ROLE`: see [`crate::Scan::look_up`]. Reads
    /// nothing.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use isomorph_dataset::Dataset;
    /// # use isomorph_model::{Graph, MemoryGraph, NodeType, Key, Way};
    /// # use isomorph_storage::Resources;
    /// # let graph = Graph { nodes: vec![NodeType::new("person", Key::int64())], ..Graph::default() };
    /// # let source = Arc::new(MemoryGraph { graph, batches: Vec::new() });
    /// let dataset = Dataset::new(source, Resources::of_this_machine()?);
    /// assert_eq!(dataset.look_up_cost("person", "@key")?.way, Way::Pass);
    /// # Ok::<(), isomorph_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Usage`] if the table or column does not exist.
    pub fn look_up_cost(&self, table: &str, column: &str) -> Result<Cost> {
        let table = self.table(table)?;
        let role = table.roles().get(table.column(column)?).copied();
        let place = role.and_then(|role| self.place(table, role));
        let Some(Place { tables, column, rows_of }) = place else { return Ok(Cost::pass(table.rows())) };
        let cost = self.source().look_up_cost(tables, &column);
        let counted = |cost: Cost| match cost.way {
            Way::Pass => Cost { rows: cost.rows.or(table.rows()), ..cost },
            Way::Index | Way::Sorted => cost,
        };
        let Some(ty) = rows_of else { return Ok(counted(cost)) };
        // The first look-up reads all keys.
        let nodes = match self.keys().knows_rows(ty) {
            Some(_) => Some(0),
            None if self.keys().knows_keys(ty) => Some(0),
            None => self.source().graph().nodes.get(ty).and_then(|ty| ty.rows),
        };
        let cost = counted(cost);
        Ok(Cost { rows: cost.rows.zip(nodes).map(|(rows, nodes)| rows.saturating_add(nodes)), ..cost })
    }

    /// The column by which the format finds rows with given values; `None` if the format is not asked.
    fn place(&self, table: &Table, role: Role) -> Option<Place> {
        let source = self.source();
        let (tables, column) = named(source.graph(), table.kind(), role)?;
        let found_by = |column: &str| source.look_up_cost(tables, column).way;
        let by_rows = |column: &str, ty| Place { tables, column: column.to_owned(), rows_of: Some(ty) };
        let is_known = |ty| self.keys().knows_rows(ty) != Some(false);
        match (table.kind(), role) {
            // If the format finds rows, but has to read every key to find keys, the dataset keeps the rows of the keys.
            (TableKind::Nodes(ty), Role::Key)
                if found_by(Narrowing::ROW) == Way::Index && found_by(Narrowing::KEY) != Way::Index && is_known(ty) =>
            {
                Some(by_rows(Narrowing::ROW, ty))
            }
            (TableKind::Edges(ty), Role::Source | Role::Target) if source.end_form(ty) == EndForm::Rows => {
                let edge = source.graph().edges.get(ty)?;
                let (column, node) = match role {
                    Role::Source => (Narrowing::SOURCE_ROW, edge.source),
                    _ => (Narrowing::TARGET_ROW, edge.target),
                };
                is_known(node).then(|| by_rows(column, node))
            }
            _ => Some(Place { tables, column, rows_of: None }),
        }
    }

    /// A condition for the format that is true of all rows of `table` with one of `keys` in the column of a role;
    /// `None` if the format is not asked.
    ///
    /// # Errors
    /// If keys of nodes cannot be read.
    pub(crate) fn located(&self, table: &Table, role: Role, keys: &Set) -> Result<Option<Predicate>> {
        let Some(place) = self.place(table, role) else { return Ok(None) };
        if let Some(ty) = place.rows_of {
            if let Some(rows) = self.keys().rows_of(ty, keys)? {
                return Ok(Some(Predicate::In { column: place.column, set: rows }));
            }
            // Keys do not identify rows: the format has to search for the keys.
            let by_key = self.place(table, role).filter(|place| place.rows_of.is_none());
            return Ok(by_key.map(|place| Predicate::In { column: place.column, set: keys.clone() }));
        }
        Ok(Some(Predicate::In { column: place.column, set: keys.clone() }))
    }
}
