//! Comparisons with subqueries that the engine does not answer, or only by comparing all rows with each other.
//!
//! | question | the engine | here |
//! |---|---|---|
//! | `x = any (select …)`, `x <> all (select …)` in a condition | compares all rows with each other | `x in (select …)`, `x not in (select …)` |
//! | `(a, b) in (select x, y …)` | refuses several columns | `exists (select 1 from (select x, y …) where a = x and b = y)` |
//!
//! A row with a null may be neither in a subquery nor not in it. A condition takes that for false, so below an even number of `not` it is
//! asked whether the comparison is true, and below an odd number whether it is not false.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CaseWhen, Expr, Ident, Query, SetExpr, Statement, TableFactor, UnaryOperator, Value, VisitMut,
    VisitorMut,
};
use datafusion::sql::sqlparser::parser::Parser;
use isomorph::{Error, Result};

use crate::dialect::Questions;
use crate::errors::syntax;

/// Rewrites them in `statement`.
///
/// # Errors
/// None but internal ones.
pub(crate) fn rewrite(statement: &mut Statement) -> Result<()> {
    match statement.visit(&mut Rewriter) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Rewriter;

impl VisitorMut for Rewriter {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        match of_body(&mut query.body) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Error> {
        match of_rows(expression, &mut |row| row.with_nulls()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }
}

fn of_body(body: &mut SetExpr) -> Result<()> {
    match body {
        SetExpr::Select(select) => {
            select.selection.iter_mut().chain(&mut select.having).try_for_each(|one| of_condition(one, false))
        }
        SetExpr::SetOperation { left, right, .. } => of_body(left).and_then(|()| of_body(right)),
        _ => Ok(()),
    }
}

/// Rewrites the parts of a condition, which is below an odd number of `not` if `is_negated`.
fn of_condition(condition: &mut Expr, is_negated: bool) -> Result<()> {
    match condition {
        Expr::BinaryOp { left, op: BinaryOperator::And | BinaryOperator::Or, right } => {
            of_condition(left, is_negated)?;
            of_condition(right, is_negated)
        }
        Expr::Nested(inner) => of_condition(inner, is_negated),
        Expr::UnaryOp { op: UnaryOperator::Not, expr } => of_condition(expr, !is_negated),
        Expr::AnyOp { left, compare_op: BinaryOperator::Eq, right, .. } => {
            if let Some(found) = within(left, right, false) {
                *condition = found;
            }
            of_rows(condition, &mut |row| row.exists(is_negated))
        }
        Expr::AllOp { left, compare_op: BinaryOperator::NotEq, right } => {
            if let Some(found) = within(left, right, true) {
                *condition = found;
            }
            of_rows(condition, &mut |row| row.exists(is_negated))
        }
        other => of_rows(other, &mut |row| row.exists(is_negated)),
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
        && let Expr::Tuple(items) = &mut **expr
    {
        let row = Row { items: std::mem::take(items), subquery: subquery.clone(), negated: *negated };
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
            right: Box::new(Expr::Identifier(Ident::with_quote('"', column(at)))),
        });
        let both =
            |left, right| Expr::BinaryOp { left: Box::new(left), op: BinaryOperator::And, right: Box::new(right) };
        pairs.reduce(both).unwrap_or_else(|| truth(Some(true)))
    }

    /// Whether the subquery has a row for which the condition is true.
    fn any(&self, condition: Expr) -> Result<Expr> {
        let columns: Vec<String> = (0..self.items.len()).map(|at| format!("\"{}\"", column(at))).collect();
        let text = format!("exists (select 1 from (select 1) as \"_compared_rows\" ({}))", columns.join(", "));
        let parser = Parser::new(&Questions).try_with_sql(&text);
        let mut found = parser.and_then(|mut parser| parser.parse_expr()).map_err(|error| syntax(&error))?;
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
    fn exists(&self, is_negated: bool) -> Result<Expr> {
        // Whether unknown counts as equal.
        let is_wide = is_negated != self.negated;
        let equal = Expr::Nested(Box::new(self.equal()));
        let found = self.any(if is_wide { Expr::IsNotFalse(Box::new(equal)) } else { equal })?;
        Ok(if self.negated { not(found) } else { found })
    }

    /// The comparison with its three truth values.
    fn with_nulls(&self) -> Result<Expr> {
        let equal = self.equal();
        let unknown = Expr::IsNull(Box::new(Expr::Nested(Box::new(equal.clone()))));
        let when = |condition, result| CaseWhen { condition, result };
        let conditions = vec![when(self.any(equal)?, truth(Some(true))), when(self.any(unknown)?, truth(None))];
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

fn column(at: usize) -> String {
    format!("_compared_{at}")
}
