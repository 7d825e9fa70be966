//! Columns that `using` and `natural` merge. The engine takes the left one, which is null in rows that only the right table has, and for `*` the one of the table whose
//! name is the first in the alphabet; so joins are written with `on`, and the merged columns of right and full ones with `coalesce`. Of three tables and more the
//! engine does not know which column is meant: these too. In a subquery it takes a merged column for one of the query outside, if that has one of this name.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, OrderBy, OrderByKind, Query, Select, SelectItem,
    SetExpr, Statement, TableAlias, TableFactor, TableWithJoins, VisitMut, VisitorMut, WildcardAdditionalOptions,
};
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use isomorph::error::Place;
use isomorph::{Error, Result};

use crate::errors::syntax;
use crate::syntax::dialect::Questions;
use crate::syntax::table_columns::Scope;
use crate::tables::catalog::Catalog;

/// Rewrites them in `statement`, whose names are resolved.
///
/// # Errors
/// [`isomorph::Kind::Unsupported`] where it is not known which tables have the columns.
pub(crate) fn merge(statement: &mut Statement, catalog: &Catalog) -> Result<()> {
    match statement.visit(&mut Merger { scope: Scope::new(catalog) }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

fn refused(why: &str) -> Error {
    Error::unsupported(format!("right and full joins with USING or NATURAL are not supported {why}"))
        .at(Place::file("the question"))
        .hint("a full join b on a.id = b.id, and coalesce(a.id, b.id) as id")
}

struct Merger<'c> {
    scope: Scope<'c>,
}

impl VisitorMut for Merger<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        let done = self.scope.enter(query).and_then(|()| self.body(&mut query.body, query.order_by.as_mut()));
        match done {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.scope.leave();
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        match factor {
            TableFactor::NestedJoin { table_with_joins, .. } if loses(table_with_joins) => {
                ControlFlow::Break(refused("in brackets"))
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Whether a join has rows that only its right table has, and merges columns.
fn loses(table: &TableWithJoins) -> bool {
    use JoinOperator as J;
    table.joins.iter().any(|join| {
        matches!(
            &join.join_operator,
            J::Right(on) | J::RightOuter(on) | J::FullOuter(on)
                if matches!(on, JoinConstraint::Using(_) | JoinConstraint::Natural)
        )
    })
}

/// Whether a join merges columns.
fn merges(join: &Join) -> bool {
    constraint(&mut join.clone()).is_some_and(|on| matches!(on, JoinConstraint::Using(_) | JoinConstraint::Natural))
}

/// Whether a left join merges columns, also in brackets.
fn merges_left(table: &TableWithJoins) -> bool {
    let is_left = |join: &Join| matches!(join.join_operator, JoinOperator::Left(_) | JoinOperator::LeftOuter(_));
    let mut factors = std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation));
    table.joins.iter().any(|join| is_left(join) && merges(join))
        || factors.any(|factor| match factor {
            TableFactor::NestedJoin { table_with_joins, .. } => merges_left(table_with_joins),
            _ => false,
        })
}

/// Whether joins in brackets merge columns.
fn merges_in_brackets(table: &TableWithJoins) -> bool {
    let mut factors = std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation));
    factors.any(|factor| match factor {
        TableFactor::NestedJoin { table_with_joins: inner, .. } => {
            inner.joins.iter().any(merges) || merges_in_brackets(inner)
        }
        _ => false,
    })
}

/// A table of a join.
struct Table {
    /// What its columns are qualified with, in quotes.
    qualifier: String,
    columns: Option<Vec<String>>,
    /// Its columns that are merged.
    merged: Vec<String>,
}

impl Table {
    fn column(&self, name: &str) -> String {
        format!("{}.{}", self.qualifier, quoted(name))
    }

    /// All of its columns, and merged ones in the place of the first; nothing, if it has no others.
    fn all(&self, merged: &[Merged]) -> Option<String> {
        let is_own = |name: &String| merged.iter().any(|one| one.name == *name && one.is_of(self));
        let except: Vec<&String> = self.merged.iter().filter(|name| !is_own(name)).collect();
        if self.columns.as_ref().is_some_and(|own| own.iter().all(|column| except.contains(&column))) {
            return None;
        }
        let listed = |word: &str, all: Vec<String>| match all.as_slice() {
            [] => String::new(),
            all => format!(" {word} ({})", all.join(", ")),
        };
        let except = listed("except", except.into_iter().map(|name| quoted(name)).collect());
        let several = merged.iter().filter(|one| one.columns.len() > 1 && one.is_of(self));
        let several = several.map(|one| format!("{} as {}", one.text(), quoted(&one.name))).collect();
        Some(format!("{}.*{except}{}", self.qualifier, listed("replace", several)))
    }
}

/// A merged column.
struct Merged {
    name: String,
    /// The columns of which the first that is not null is its value.
    columns: Vec<String>,
}

impl Merged {
    /// Whether it has its place in this table: the first one that has the column.
    fn is_of(&self, table: &Table) -> bool {
        self.columns.first().is_some_and(|first| *first == table.column(&self.name))
    }

    fn text(&self) -> String {
        match self.columns.as_slice() {
            [only] => only.clone(),
            all => format!("coalesce({})", all.join(", ")),
        }
    }
}

fn quoted(name: &str) -> String {
    Ident::with_quote('"', name).to_string()
}

fn parsed<T>(text: &str, parse: impl FnOnce(&mut Parser<'_>) -> Result<T, ParserError>) -> Result<T> {
    let parser = Parser::new(&Questions).try_with_sql(text);
    parser.and_then(|mut parser| parse(&mut parser)).map_err(|error| syntax(&error))
}

impl Merger<'_> {
    fn body(&self, body: &mut SetExpr, order: Option<&mut OrderBy>) -> Result<()> {
        match body {
            SetExpr::Select(select) => self.select(select, order),
            SetExpr::SetOperation { left, right, .. } => {
                self.body(left, None)?;
                self.body(right, None)
            }
            // A query in brackets is visited by itself.
            _ => Ok(()),
        }
    }

    fn select(&self, select: &mut Select, order: Option<&mut OrderBy>) -> Result<()> {
        if select.from.iter().any(loses) {
            return self.rewrite(select, order);
        }
        let has_all = select.projection.iter().any(|item| matches!(item, SelectItem::Wildcard(_)));
        let is_left = select.from.iter().any(merges_left);
        let is_inside = self.scope.depth() > 1;
        let is_changed = |table: &TableWithJoins| {
            let is_written = table.joins.len() > 1 || has_all || is_left || is_inside;
            is_written && table.joins.iter().any(merges) || is_left && has_all || is_inside && merges_in_brackets(table)
        };
        if select.from.iter().any(is_changed) {
            // What cannot be written so may be answered as it is.
            let (mut changed, mut changed_order) = (select.clone(), order.as_deref().cloned());
            if self.rewrite(&mut changed, changed_order.as_mut()).is_ok() {
                *select = changed;
                if let (Some(order), Some(changed)) = (order, changed_order) {
                    *order = changed;
                }
            } else if is_left && has_all {
                return Err(Error::unsupported("* after a left join with USING or NATURAL is not supported here")
                    .at(Place::file("the question"))
                    .hint("select a.*, b.x from a left join b using (id)    the columns by their tables"));
            } else if is_inside {
                let text = "USING and NATURAL are not supported in a subquery with joins in brackets, functions as tables or tables of unknown columns";
                return Err(Error::unsupported(text)
                    .at(Place::file("the question"))
                    .hint("select a.id from a join b on a.id = b.id    the columns by their tables"));
            }
        }
        select.from.iter().try_for_each(|from| self.check(from))
    }

    /// Refuses natural left joins that are left to the engine, unless the tables have columns in common: without one it loses the rows that only the left table has.
    fn check(&self, from: &TableWithJoins) -> Result<()> {
        let mut tables = vec![self.table(&from.relation)];
        for join in &from.joins {
            let right = self.table(&join.relation);
            if let JoinOperator::Left(JoinConstraint::Natural) | JoinOperator::LeftOuter(JoinConstraint::Natural) =
                &join.join_operator
            {
                let left: Result<Vec<&Table>> =
                    tables.iter().map(|table| table.as_ref().map_err(|_| refused("here"))).collect();
                let names = match (left, &right) {
                    (Ok(left), Ok(right)) => common(left, right).unwrap_or_default(),
                    _ => Vec::new(),
                };
                if names.is_empty() {
                    let text =
                        "a natural left join of tables that are not known to have a column in common is not supported";
                    let error = Error::unsupported(text).at(Place::file("the question"));
                    return Err(error.hint("a left join b using (id)"));
                }
            }
            tables.push(right);
        }
        let factors = std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation));
        factors.into_iter().try_for_each(|factor| match factor {
            TableFactor::NestedJoin { table_with_joins, .. } => self.check(table_with_joins),
            _ => Ok(()),
        })
    }

    fn rewrite(&self, select: &mut Select, order: Option<&mut OrderBy>) -> Result<()> {
        let mut merged: Vec<Merged> = Vec::new();
        let mut all: Vec<String> = Vec::new();
        for from in &mut select.from {
            let (own, tables) = self.joined(from)?;
            all.extend(tables.iter().filter_map(|table| table.all(&own)));
            if own.iter().any(|one| merged.iter().any(|other| other.name == one.name)) {
                return Err(refused("twice for one column"));
            }
            merged.extend(own);
        }
        let items = std::mem::take(&mut select.projection);
        // Beside `x.id` no other column can be called `id`.
        let is_taken = |name: &str| {
            items.iter().any(|item| match item {
                SelectItem::UnnamedExpr(Expr::CompoundIdentifier(names)) => {
                    names.last().is_some_and(|last| last.value == name)
                }
                SelectItem::QualifiedWildcard(..) => true,
                _ => false,
            })
        };
        let named: Vec<&Merged> = merged.iter().filter(|own| !is_taken(&own.name)).collect();
        let is_named = |name: &str| named.iter().any(|own| own.name == name);
        let renamed: Vec<bool> = items
            .iter()
            .map(|item| matches!(item, SelectItem::UnnamedExpr(Expr::Identifier(name)) if is_named(&name.value)))
            .collect();
        for (item, is_renamed) in items.into_iter().zip(renamed) {
            match item {
                SelectItem::UnnamedExpr(Expr::Identifier(name)) if is_renamed => {
                    let alias = Ident::with_quote('"', name.value.clone());
                    select.projection.push(SelectItem::ExprWithAlias { expr: Expr::Identifier(name), alias });
                }
                SelectItem::Wildcard(options) => {
                    if options
                        != (WildcardAdditionalOptions {
                            wildcard_token: options.wildcard_token.clone(),
                            ..Default::default()
                        })
                    {
                        return Err(refused("with a part of all columns"));
                    }
                    select.projection.extend(parsed(&all.join(", "), |parser| parser.parse_projection())?);
                }
                other => select.projection.push(other),
            }
        }
        let shown = select.projection.iter().filter_map(|item| match item {
            SelectItem::ExprWithAlias { alias, .. } => Some(alias.value.clone()),
            _ => None,
        });
        let shown: Vec<String> = shown.collect();
        let mut replacer = Replacer { merged: &merged, without: &[], depth: 0 };
        if let ControlFlow::Break(error) = select.visit(&mut replacer) {
            return Err(error);
        }
        if let Some(OrderBy { kind: OrderByKind::Expressions(orders), .. }) = order {
            // What is shown may be ordered by its name.
            let mut replacer = Replacer { merged: &merged, without: &shown, depth: 0 };
            for one in orders {
                if let ControlFlow::Break(error) = one.expr.visit(&mut replacer) {
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Writes joins with `on`. Returns the merged columns, and the tables.
    fn joined(&self, from: &mut TableWithJoins) -> Result<(Vec<Merged>, Vec<Table>)> {
        let mut tables = vec![self.table(&from.relation)?];
        let mut merged: Vec<Merged> = Vec::new();
        for join in &mut from.joins {
            let mut right = self.table(&join.relation)?;
            let keeps_right = matches!(
                join.join_operator,
                JoinOperator::Right(_) | JoinOperator::RightOuter(_) | JoinOperator::FullOuter(_)
            );
            if let Some(constraint) = constraint(join) {
                let names = match constraint {
                    JoinConstraint::Using(names) => Some(names.iter().filter_map(last).collect::<Vec<String>>()),
                    JoinConstraint::Natural => Some(common(&tables, &right)?),
                    _ => None,
                };
                if let Some(names) = names {
                    let mut conditions = Vec::new();
                    for name in names {
                        let at = match merged.iter().position(|own| own.name == name) {
                            Some(at) => at,
                            None => {
                                let table = owner(&mut tables, &name)?;
                                table.merged.push(name.clone());
                                merged.push(Merged { columns: vec![table.column(&name)], name: name.clone() });
                                merged.len() - 1
                            }
                        };
                        let Some(own) = merged.get_mut(at) else { continue };
                        conditions.push(format!("{} = {}", own.text(), right.column(&name)));
                        if keeps_right {
                            own.columns.push(right.column(&name));
                        }
                        right.merged.push(name);
                    }
                    let on = if conditions.is_empty() { "true".to_owned() } else { conditions.join(" and ") };
                    *constraint = JoinConstraint::On(parsed(&on, |parser| parser.parse_expr())?);
                }
            }
            tables.push(right);
        }
        Ok((merged, tables))
    }

    fn table(&self, factor: &TableFactor) -> Result<Table> {
        let of = |alias: &TableAlias, columns: Option<Vec<String>>| {
            let given: Vec<String> = alias.columns.iter().map(|column| column.name.value.clone()).collect();
            let columns = if given.is_empty() { columns } else { Some(given) };
            Table { qualifier: quoted(&alias.name.value), columns, merged: Vec::new() }
        };
        match factor {
            TableFactor::Table { name, alias, args: None, .. } => {
                let columns = self.scope.of_table(name)?;
                Ok(match alias {
                    Some(alias) => of(alias, columns),
                    None => Table { qualifier: name.to_string(), columns, merged: Vec::new() },
                })
            }
            TableFactor::Table { alias: Some(alias), .. } => Ok(of(alias, None)),
            TableFactor::Derived { alias: Some(alias), subquery, .. } => {
                Ok(of(alias, self.scope.of_query(subquery, false)?))
            }
            _ => Err(refused("beside such a table")),
        }
    }
}

fn last(name: &ObjectName) -> Option<String> {
    name.0.last()?.as_ident().map(|ident| ident.value.clone())
}

/// What the rows of a join have in common, if it says so.
pub(crate) fn constraint(join: &mut Join) -> Option<&mut JoinConstraint> {
    use JoinOperator as J;
    match &mut join.join_operator {
        J::Join(on)
        | J::Inner(on)
        | J::Left(on)
        | J::LeftOuter(on)
        | J::Right(on)
        | J::RightOuter(on)
        | J::FullOuter(on) => Some(on),
        _ => None,
    }
}

/// The columns of both sides.
fn common<'t>(tables: impl IntoIterator<Item = &'t Table>, right: &Table) -> Result<Vec<String>> {
    let left = tables.into_iter().map(|table| table.columns.clone()).collect::<Option<Vec<_>>>();
    let (Some(left), Some(right)) = (left, &right.columns) else {
        return Err(refused("beside a table whose columns are not named"));
    };
    let mut names: Vec<String> = left.concat().into_iter().filter(|name| right.contains(name)).collect();
    let mut seen: Vec<String> = Vec::new();
    names.retain(|name| {
        let is_new = !seen.contains(name);
        seen.push(name.clone());
        is_new
    });
    Ok(names)
}

/// The only table that has a column.
fn owner<'t>(tables: &'t mut [Table], name: &str) -> Result<&'t mut Table> {
    let has = |table: &Table| table.columns.as_ref().is_none_or(|columns| columns.iter().any(|own| own == name));
    let owners: Vec<usize> = tables.iter().enumerate().filter(|(_, table)| has(table)).map(|(at, _)| at).collect();
    match owners.as_slice() {
        [at] => tables.get_mut(*at).ok_or_else(|| refused("here")),
        [] => {
            Err(Error::usage(format!("no table before the join has a column {name}")).at(Place::file("the question")))
        }
        _ => Err(refused(&format!("for {name}, which several tables may have"))),
    }
}

/// Writes merged columns where their names are; a subquery has its own names.
struct Replacer<'m> {
    merged: &'m [Merged],
    without: &'m [String],
    depth: usize,
}

impl VisitorMut for Replacer<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth = self.depth.saturating_sub(1);
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Error> {
        let Expr::Identifier(name) = expression else { return ControlFlow::Continue(()) };
        let own = self.merged.iter().find(|own| own.name == name.value && !self.without.contains(&own.name));
        if let Some(own) = own.filter(|_| self.depth == 0) {
            match parsed(&own.text(), |parser| parser.parse_expr()) {
                Ok(other) => *expression = other,
                Err(error) => return ControlFlow::Break(error),
            }
        }
        ControlFlow::Continue(())
    }
}
