//! Comparisons with subqueries that the engine does not answer, or only by comparing all rows with each other.
//!
//! | question | the engine | here |
//! |---|---|---|
//! | `x = any (select …)`, `x <> all (select …)` in a condition | compares all rows with each other | `x in (select …)`, `x not in (select …)` |
//! | `(a, b) in (select x, y …)`, also `= any` and `row(a, b)` | refuses several columns | `exists (select 1 from (select x, y …) where a = x and b = y)`, see also `correlated` |
//!
//! A row with a null may be neither in a subquery nor not in it. A condition takes that for false, so below an even number of `not` it is
//! asked whether the comparison is true, and below an odd number whether it is not false. That is asked of three sets of rows, as the engine joins by hash what is
//! equal: rows that are equal; rows of the subquery with nulls; and all of them, for a row with nulls outside. Without nulls the last two find nothing to compare.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CaseWhen, Expr, Ident, Query, SetExpr, Statement, TableFactor, UnaryOperator, Value, Visit,
    VisitMut, Visitor, VisitorMut,
};
use datafusion::sql::sqlparser::parser::Parser;
use isomorph::error::Place;
use isomorph::{Error, Kind, Result};

use crate::errors::syntax;
use crate::functions::operations::ALWAYS_NAME;
use crate::syntax::dialect::Questions;
use crate::syntax::row_values::values;

/// What the rows of a subquery are called that a row is compared with.
pub(crate) const COMPARED_ROWS: &str = "_compared_rows";

/// The most subqueries that a question may have more than it has: they are written several times, also those inside of others.
const MOST_COPIES: usize = 100;

/// Rewrites them in `statement`.
///
/// # Errors
/// [`Kind::TooLarge`], if the subqueries would be written too often.
pub(crate) fn rewrite(statement: &mut Statement) -> Result<()> {
    match statement.visit(&mut Rewriter { copies: 0 }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Rewriter {
    copies: usize,
}

impl VisitorMut for Rewriter {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        match of_body(&mut query.body, &mut self.copies) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Error> {
        if matches!(expression, Expr::AnyOp { left, .. } | Expr::AllOp { left, .. } if values(left).is_some()) {
            as_membership(expression);
        }
        let copies = &mut self.copies;
        match of_rows(expression, &mut |row| row.with_nulls(copies)) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

fn of_body(body: &mut SetExpr, copies: &mut usize) -> Result<()> {
    match body {
        SetExpr::Select(select) => {
            select.selection.iter_mut().chain(&mut select.having).try_for_each(|one| of_condition(one, false, copies))
        }
        SetExpr::SetOperation { left, right, .. } => of_body(left, copies).and_then(|()| of_body(right, copies)),
        _ => Ok(()),
    }
}

/// Rewrites the parts of a condition, which is below an odd number of `not` if `is_negated`.
fn of_condition(condition: &mut Expr, is_negated: bool, copies: &mut usize) -> Result<()> {
    match condition {
        Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
            of_condition(left, is_negated, copies)?;
            return of_condition(right, is_negated, copies);
        }
        Expr::Nested(inner) => return of_condition(inner, is_negated, copies),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => return of_condition(expr, !is_negated, copies),
        _ => as_membership(condition),
    }
    of_rows(condition, &mut |row| row.exists(is_negated, copies))
}

/// Writes `= any` and `<> all` of subqueries with `in`.
fn as_membership(expression: &mut Expr) {
    let found = match expression {
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => within(left, right, false),
        Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right } => within(left, right, true),
        _ => None,
    };
    if let Some(found) = found {
        *expression = found;
    }
}

/// `left [not] in (right)`, if `right` is a subquery.
fn within(left: &mut Box<Expr>, right: &mut Expr, negated: bool) -> Option<Expr> {
    match right {
        Expr::Subquery(subquery) => {
            let null = || Box::new(Expr::Value(Value::Null.into()));
            Some(Expr::InSubquery { expr: std::mem::replace(left, null()), subquery: subquery.clone(), negated })
        }
        Expr::Nested(inner) => within(left, inner, negated),
        _ => None,
    }
}

/// A row and the subquery that may have it.
struct Row {
    items: Vec<Expr>,
    subquery: Box<Query>,
    negated: bool,
}

/// Rewrites `expression` if it is a row in a subquery.
fn of_rows(expression: &mut Expr, rewrite: &mut dyn FnMut(&Row) -> Result<Expr>) -> Result<()> {
    if let Expr::InSubquery { expr, subquery, negated } = expression
        && let Some(items) = values(expr).map(|items| items.into_iter().cloned().collect())
    {
        let row = Row { items, subquery: subquery.clone(), negated: *negated };
        *expression = rewrite(&row)?;
    }
    Ok(())
}

fn not(expression: Expr) -> Expr {
    Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(expression) }
}

fn truth(value: Option<bool>) -> Expr {
    Expr::Value(value.map_or(Value::Null, Value::Boolean).into())
}

impl Row {
    /// Whether its columns equal those of a row of the subquery.
    fn equal(&self) -> Expr {
        let pairs = self.items.iter().enumerate().map(|(at, item)| Expr::BinaryOp {
            left: Box::new(Expr::Nested(Box::new(item.clone()))),
            op: BinaryOperator::Eq,
            right: Box::new(of_subquery(at)),
        });
        joined(pairs, &BinaryOperator::And).unwrap_or_else(|| truth(Some(true)))
    }

    /// Whether no row of the subquery equals this one, or may be equal.
    fn differs(&self) -> Result<Expr> {
        let equal = self.any(Expr::Nested(Box::new(self.equal())))?;
        let all = std::iter::once(equal).chain(self.unknown()?).map(not);
        let all = joined(all, &BinaryOperator::And).unwrap_or_else(|| truth(Some(true)));
        Ok(Expr::Nested(Box::new(all)))
    }

    /// Questions, one of which is true if a row of the subquery may equal this one, because of nulls.
    fn unknown(&self) -> Result<Vec<Expr>> {
        let may_be = Expr::IsNotFalse(Box::new(Expr::Nested(Box::new(self.equal()))));
        let is_null = |values: Vec<Expr>| {
            let all = values.into_iter().map(|value| Expr::IsNull(Box::new(Expr::Nested(Box::new(value)))));
            joined(all, &BinaryOperator::Or).map(|any| Expr::Nested(Box::new(any)))
        };
        let mut all = Vec::new();
        if let Some(has_null) = is_null((0..self.items.len()).map(of_subquery).collect()) {
            let both = joined([has_null, may_be.clone()].into_iter(), &BinaryOperator::And);
            all.extend(both.map(|both| self.any(both)).transpose()?);
        }
        let may_be_null = self.items.iter().filter(|item| !is_known(item)).cloned().collect();
        if let Some(has_null) = is_null(may_be_null) {
            // All rows of the subquery have this key, and of those outside the ones with nulls.
            let key = Expr::BinaryOp {
                left: Box::new(has_null),
                op: BinaryOperator::Eq,
                right: Box::new(call(ALWAYS_NAME, of_subquery(0))?),
            };
            let both = joined([key, may_be].into_iter(), &BinaryOperator::And);
            all.extend(both.map(|both| self.any(both)).transpose()?);
        }
        Ok(all)
    }

    /// Whether the subquery has a row for which the condition is true.
    fn any(&self, condition: Expr) -> Result<Expr> {
        let columns: Vec<String> = (0..self.items.len()).map(|at| format!("\"{}\"", column(at))).collect();
        let text = format!("exists (select 1 from (select 1) as \"{COMPARED_ROWS}\" ({}))", columns.join(", "));
        let mut found = parsed(&text)?;
        if let Expr::Exists { subquery, .. } = &mut found
            && let SetExpr::Select(select) = &mut *subquery.body
        {
            select.selection = Some(condition);
            for table in &mut select.from {
                if let TableFactor::Derived { subquery, .. } = &mut table.relation {
                    subquery.clone_from(&self.subquery);
                }
            }
        }
        Ok(found)
    }

    /// The comparison in a condition: unknown is false, or true below an odd number of `not`.
    fn exists(&self, is_negated: bool, copies: &mut usize) -> Result<Expr> {
        if is_negated == self.negated {
            let found = self.any(Expr::Nested(Box::new(self.equal())))?;
            return Ok(if self.negated { not(found) } else { found });
        }
        // Unknown counts as equal.
        let differs = match *copies < MOST_COPIES {
            true => self.differs()?,
            false => not(self.any(Expr::IsNotFalse(Box::new(Expr::Nested(Box::new(self.equal())))))?),
        };
        *copies += 2;
        Ok(if self.negated { differs } else { not(differs) })
    }

    /// The comparison with its three truth values.
    fn with_nulls(&self, copies: &mut usize) -> Result<Expr> {
        let mut inside = Queries(0);
        let _ = self.subquery.visit(&mut inside);
        *copies = copies.saturating_add(inside.0.saturating_mul(2));
        if *copies > MOST_COPIES {
            let text = "rows are compared with the rows of too many subqueries";
            return Err(Error::new(Kind::TooLarge, text).at(Place::file("the question")));
        }
        let equal = self.any(self.equal())?;
        let when = |condition, result| CaseWhen { condition, result };
        let mut conditions = vec![when(equal, truth(Some(true)))];
        conditions.extend(self.unknown()?.into_iter().map(|unknown| when(unknown, truth(None))));
        let token = || datafusion::sql::sqlparser::ast::helpers::attached_token::AttachedToken::empty();
        let found = Expr::Case {
            case_token: token(),
            end_token: token(),
            operand: None,
            conditions,
            else_result: Some(Box::new(truth(Some(false)))),
        };
        Ok(if self.negated { not(found) } else { found })
    }
}

/// The number of queries, also those inside of others.
struct Queries(usize);

impl Visitor for Queries {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.0 += 1;
        ControlFlow::Continue(())
    }
}

fn column(at: usize) -> String {
    format!("_compared_{at}")
}

/// A column of the subquery.
fn of_subquery(at: usize) -> Expr {
    Expr::Identifier(Ident::with_quote('"', column(at)))
}

/// All of them with `op` between; `None` of nothing.
fn joined(all: impl Iterator<Item = Expr>, op: &BinaryOperator) -> Option<Expr> {
    all.reduce(|left, right| Expr::BinaryOp { left: Box::new(left), op: op.clone(), right: Box::new(right) })
}

/// Whether a value is written down, and is no null.
fn is_known(value: &Expr) -> bool {
    match value {
        Expr::Nested(inner) => is_known(inner),
        Expr::Value(value) => !matches!(value.value, Value::Null | Value::Placeholder(_)),
        Expr::TypedString(_) => true,
        _ => false,
    }
}

/// A call of a function.
fn call(name: &str, argument: Expr) -> Result<Expr> {
    parsed(&format!("\"{name}\"({argument})"))
}

fn parsed(text: &str) -> Result<Expr> {
    let parser = Parser::new(&Questions).try_with_sql(text);
    parser.and_then(|mut parser| parser.parse_expr()).map_err(|error| syntax(&error))
}
