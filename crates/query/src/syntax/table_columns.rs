//! The names of the columns of tables, as far as a statement tells them. Tables whose alias names fewer columns than they have, as in `person p(k)`: the others keep their
//! names. The engine wants all of them.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, JoinConstraint, ObjectName, Query, Select, SelectItem, SetExpr, Statement, TableAlias,
    TableAliasColumnDef, TableFactor, VisitMut, VisitorMut, WildcardAdditionalOptions,
};
use isomorph::{Error, Result};

use crate::syntax::merged::constraint;
use crate::tables::catalog::{Catalog, Entry};

/// Names the others in `statement`, whose tables are resolved.
///
/// # Errors
/// Those of reading the tables.
pub(crate) fn complete(statement: &mut Statement, catalog: &Catalog) -> Result<()> {
    match statement.visit(&mut Completer { scope: Scope::new(catalog) }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// Columns, if they are known.
type Columns = Option<Vec<String>>;

/// The tables that a query can name.
pub(crate) struct Scope<'c> {
    catalog: &'c Catalog,
    /// The common table expressions of the queries around, with their columns.
    ctes: Vec<Vec<(String, Columns)>>,
}

impl<'c> Scope<'c> {
    pub fn new(catalog: &'c Catalog) -> Self {
        Scope { catalog, ctes: Vec::new() }
    }

    /// Adds the common table expressions of a query.
    ///
    /// # Errors
    /// Those of reading the tables of a graph.
    pub fn enter(&mut self, query: &Query) -> Result<()> {
        self.ctes.push(Vec::new());
        for table in query.with.iter().flat_map(|with| &with.cte_tables) {
            let columns = with_names(&table.alias, self.of_query(&table.query, false)?);
            if let Some(own) = self.ctes.last_mut() {
                own.push((table.alias.name.value.clone(), columns));
            }
        }
        Ok(())
    }

    /// In how many queries this is.
    pub fn depth(&self) -> usize {
        self.ctes.len()
    }

    /// Removes those of the query that was entered last.
    pub fn leave(&mut self) {
        self.ctes.pop();
    }

    /// The columns of a table.
    ///
    /// # Errors
    /// Those of reading the tables of a graph.
    pub fn of_table(&self, name: &ObjectName) -> Result<Columns> {
        let parts: Vec<&Ident> = name.0.iter().filter_map(|part| part.as_ident()).collect();
        match parts.as_slice() {
            [cte] => {
                let mut all = self.ctes.iter().rev().flat_map(|own| own.iter().rev());
                Ok(all.find(|(name, _)| *name == cte.value).and_then(|(_, columns)| columns.clone()))
            }
            [schema, table] => {
                let tables = self.catalog.tables(&schema.value)?;
                let own = |name: &str| name == table.value;
                let entry = tables.iter().find(|entry| own(&entry.name));
                let entry = entry.or_else(|| tables.iter().find(|entry| entry.other.as_deref().is_some_and(own)));
                let columns =
                    |entry: &Entry| entry.rows.schema().fields().iter().map(|field| field.name().clone()).collect();
                Ok(entry.map(columns))
            }
            _ => Ok(None),
        }
    }

    /// The columns of a query; if `all`, those without a name are called by what they are.
    ///
    /// # Errors
    /// Those of reading the tables of a graph.
    pub fn of_query(&self, query: &Query, all: bool) -> Result<Columns> {
        if query.with.is_some() {
            return Ok(None);
        }
        let mut body = &*query.body;
        loop {
            match body {
                SetExpr::SetOperation { left, .. } => body = left,
                SetExpr::Query(query) => return self.of_query(query, all),
                SetExpr::Values(values) => {
                    let count = values.rows.first().map_or(0, |row| row.content.len());
                    return Ok(Some((1..=count).map(|at| format!("column{at}")).collect()));
                }
                SetExpr::Select(select) => return self.of_select(select, all),
                _ => return Ok(None),
            }
        }
    }

    fn of_select(&self, select: &Select, all: bool) -> Result<Columns> {
        let mut names = Vec::new();
        for item in &select.projection {
            match item {
                SelectItem::UnnamedExpr(Expr::Identifier(name)) => names.push(name.value.clone()),
                SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => {
                    names.extend(parts.last().map(|name| name.value.clone()));
                }
                SelectItem::UnnamedExpr(value) if all => {
                    let text = value.to_string();
                    // It may be several columns.
                    if text.to_lowercase().contains("unnest") {
                        return Ok(None);
                    }
                    names.push(text);
                }
                SelectItem::ExprWithAlias { alias, .. } => names.push(alias.value.clone()),
                SelectItem::Wildcard(options) if is_plain(options) => match self.of_tables(select)? {
                    Some(columns) => names.extend(columns),
                    None => return Ok(None),
                },
                _ => return Ok(None),
            }
        }
        Ok(Some(names))
    }

    /// All columns of the tables of a query, if none are merged.
    fn of_tables(&self, select: &Select) -> Result<Columns> {
        let mut names = Vec::new();
        for table in &select.from {
            let is_kept = |on: &mut JoinConstraint| matches!(on, JoinConstraint::On(_) | JoinConstraint::None);
            if table.joins.iter().any(|join| !constraint(&mut join.clone()).is_some_and(is_kept)) {
                return Ok(None);
            }
            for factor in std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)) {
                match self.of_factor(factor)? {
                    Some(columns) => names.extend(columns),
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(names))
    }

    fn of_factor(&self, factor: &TableFactor) -> Result<Columns> {
        let (alias, columns) = match factor {
            TableFactor::Table { name, alias, args: None, .. } => (alias, self.of_table(name)?),
            TableFactor::Derived { subquery, alias, .. } => (alias, self.of_query(subquery, false)?),
            _ => return Ok(None),
        };
        Ok(match alias {
            Some(alias) => with_names(alias, columns),
            None => columns,
        })
    }
}

fn is_plain(options: &WildcardAdditionalOptions) -> bool {
    let wildcard_token = options.wildcard_token.clone();
    *options == WildcardAdditionalOptions { wildcard_token, ..Default::default() }
}

/// The columns of a table with the names that an alias gives them.
fn with_names(alias: &TableAlias, columns: Columns) -> Columns {
    let given: Vec<String> = alias.columns.iter().map(|column| column.name.value.clone()).collect();
    let count = given.len();
    match columns {
        Some(columns) => Some(given.into_iter().chain(columns.into_iter().skip(count)).collect()),
        None => Some(given).filter(|_| count > 0),
    }
}

struct Completer<'c> {
    scope: Scope<'c>,
}

impl VisitorMut for Completer<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        for table in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
            if let Err(error) = fill(&mut table.alias, || self.scope.of_query(&table.query, true)) {
                return ControlFlow::Break(error);
            }
        }
        match self.scope.enter(query) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.scope.leave();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        let filled = match factor {
            TableFactor::Table { name, alias: Some(alias), args: None, .. } => {
                fill(alias, || self.scope.of_table(name))
            }
            TableFactor::Derived { subquery, alias: Some(alias), .. } => {
                fill(alias, || self.scope.of_query(subquery, true))
            }
            _ => Ok(()),
        };
        match filled {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

/// Adds the names that an alias with some of them does not have.
fn fill(alias: &mut TableAlias, columns: impl FnOnce() -> Result<Columns>) -> Result<()> {
    let given = alias.columns.len();
    if given > 0 {
        let others = columns()?.into_iter().flatten().skip(given);
        let others = others.map(|name| TableAliasColumnDef { name: Ident::with_quote('"', name), data_type: None });
        alias.columns.extend(others);
    }
    Ok(())
}
