//! How rows are found by keys: what is asked of the format, and what it costs.

use isomorph_error::Result;
use isomorph_model::{Cost, EndForm, Narrowing, Predicate, Set, Tables, Way};

use crate::dataset::Dataset;
use crate::push_down::named;
use crate::schema::Role;
use crate::table::{Table, TableKind};

/// By what a format finds the rows with some keys.
struct Place {
    tables: Tables,
    column: String,
    /// The node type of which the keys are turned into rows before, where the format finds those better.
    rows_of: Option<usize>,
}

impl Dataset {
    /// What it costs to look rows of a table up by a column, by its name or `@ROLE`: see [`crate::Scan::look_up`]. Nothing is read to say so.
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
    /// [`isomorph_error::Kind::Usage`] when there is no such table or column.
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
            None => self.source().graph().nodes.get(ty).and_then(|ty| ty.rows),
        };
        let cost = counted(cost);
        Ok(Cost { rows: cost.rows.zip(nodes).map(|(rows, nodes)| rows.saturating_add(nodes)), ..cost })
    }

    /// By what the format finds the rows with some values in a column; nothing where it is not told of them.
    fn place(&self, table: &Table, role: Role) -> Option<Place> {
        let source = self.source();
        let (tables, column) = named(source.graph(), table.kind(), role)?;
        let found_by = |column: &str| source.look_up_cost(tables, column).way;
        let by_rows = |column: &str, ty| Place { tables, column: column.to_owned(), rows_of: Some(ty) };
        let is_known = |ty| self.keys().knows_rows(ty) != Some(false);
        match (table.kind(), role) {
            // What finds rows, and keys no better than by a look at each, finds keys whose rows are kept.
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

    /// A condition for the format that holds for all rows of `table` with one of `keys` in the column of a role; nothing where it is not told.
    ///
    /// # Errors
    /// When keys of nodes cannot be read.
    pub(crate) fn located(&self, table: &Table, role: Role, keys: &Set) -> Result<Option<Predicate>> {
        let Some(place) = self.place(table, role) else { return Ok(None) };
        if let Some(ty) = place.rows_of {
            if let Some(rows) = self.keys().rows_of(ty, keys)? {
                return Ok(Some(Predicate::In { column: place.column, set: rows }));
            }
            // Keys do not tell rows: what is left is a look at the keys.
            let by_key = self.place(table, role).filter(|place| place.rows_of.is_none());
            return Ok(by_key.map(|place| Predicate::In { column: place.column, set: keys.clone() }));
        }
        Ok(Some(Predicate::In { column: place.column, set: keys.clone() }))
    }
}
