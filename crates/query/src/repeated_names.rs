//! Columns of a subquery that are called alike: the engine takes the first for what a query outside names.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Query, SelectItem, SetExpr, Statement, TableFactor, Visit, VisitMut, Visitor, VisitorMut,
};
use isomorph::error::Place;
use isomorph::{Error, Result};

/// Gives the second column of a name in a table of the question (in FROM or WITH) another one, `id_2`.
///
/// # Errors
/// [`isomorph::Kind::Usage`], if the name is used outside.
pub(crate) fn rename(statement: &mut Statement) -> Result<()> {
    let mut tables = Tables::default();
    let _ = statement.visit(&mut tables);
    for Table { name, column, inside } in tables.found {
        let mut uses = Uses { column: &column, tables: vec![name.clone()], count: 0 };
        let _ = Visit::visit(statement, &mut Aliases { of: &name, found: &mut uses.tables });
        let _ = Visit::visit(statement, &mut uses);
        if uses.count > inside {
            let error = Error::usage(format!("two columns of {name} are called {column}"));
            return Err(error
                .at(Place::file("the question"))
                .hint(format!("give one a name with as: b.{column} as other")));
        }
    }
    Ok(())
}

/// A table with two columns of a name, and how often its own query uses that.
struct Table {
    name: String,
    column: String,
    inside: usize,
}

#[derive(Default)]
struct Tables {
    found: Vec<Table>,
}

impl VisitorMut for Tables {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        for table in query.with.iter_mut().flat_map(|with| &mut with.cte_tables) {
            if table.alias.columns.is_empty() {
                self.add(&table.alias.name.value, &mut table.query);
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Derived { subquery, alias, .. } = factor
            && alias.as_ref().is_none_or(|alias| alias.columns.is_empty())
        {
            let name = alias.as_ref().map_or("a subquery", |alias| &alias.name.value).to_owned();
            self.add(&name, subquery);
        }
        ControlFlow::Continue(())
    }
}

impl Tables {
    fn add(&mut self, name: &str, query: &mut Query) {
        let whole = query.clone();
        let mut body = &mut *query.body;
        while let SetExpr::SetOperation { left, .. } = body {
            body = left;
        }
        let SetExpr::Select(select) = body else { return };
        let mut names: Vec<(String, Expr)> = Vec::new();
        for item in &mut select.projection {
            let Some(column) = named(item).map(ToOwned::to_owned) else { continue };
            let expr = match &*item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => expr.clone(),
                _ => continue,
            };
            let alike = || names.iter().filter(|(own, _)| own.eq_ignore_ascii_case(&column));
            // The same value twice is what the name means in any case.
            let (count, is_other) = (alike().count(), alike().any(|(_, other)| *other != expr));
            names.push((column.clone(), expr.clone()));
            if count == 0 {
                continue;
            }
            let mut uses = Uses { column: &column, tables: vec![name.to_owned()], count: 0 };
            let _ = Visit::visit(&whole, &mut uses);
            let inside = uses.count;
            let alias = Ident::with_quote('"', format!("{column}_{}", count + 1));
            *item = SelectItem::ExprWithAlias { expr, alias };
            if is_other {
                self.found.push(Table { name: name.to_owned(), column, inside });
            }
        }
    }
}

/// What an item is called.
fn named(item: &SelectItem) -> Option<&str> {
    match item {
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(&name.value),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => names.last().map(|name| name.value.as_str()),
        SelectItem::ExprWithAlias { alias, .. } => Some(&alias.value),
        _ => None,
    }
}

/// Counts where a column is named, without a table, or with one of these.
struct Uses<'c> {
    column: &'c str,
    tables: Vec<String>,
    count: usize,
}

impl Visitor for Uses<'_> {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let is_it = |name: &Ident| name.value.eq_ignore_ascii_case(self.column);
        let is_use = match expr {
            Expr::Identifier(name) => is_it(name),
            Expr::CompoundIdentifier(names) => match names.as_slice() {
                [.., table, name] => {
                    is_it(name) && self.tables.iter().any(|own| own.eq_ignore_ascii_case(&table.value))
                }
                _ => false,
            },
            _ => false,
        };
        self.count += usize::from(is_use);
        ControlFlow::Continue(())
    }
}

/// What a table is called elsewhere.
struct Aliases<'c> {
    of: &'c str,
    found: &'c mut Vec<String>,
}

impl Visitor for Aliases<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias: Some(alias), .. } = factor
            && name.0.last().and_then(|part| part.as_ident()).is_some_and(|own| own.value.eq_ignore_ascii_case(self.of))
        {
            self.found.push(alias.name.value.clone());
        }
        ControlFlow::Continue(())
    }
}
