//! Rows of values in comparisons: `(a, b) < (c, d)`, also written `row(a, b)`.
//!
//! `(a, b) is null` is true if both are null, `(a, b) is not null` if none is.
//!
//! They compare as in the SQL standard: the first pair of values that differs decides, and a null before it makes the comparison null. The engine
//! compares rows as structs, of which nulls are the smallest values.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    BinaryOperator, CaseWhen, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Statement, UnaryOperator, Visit,
    VisitMut, Visitor, VisitorMut,
};
use isomorph::error::Place;
use isomorph::{Error, Kind, Result};

/// The most expressions that the comparisons of a question may have more than it has: an order names values twice.
const MOST_COPIES: usize = 20_000;

/// Rewrites them in `statement` as comparisons of values.
///
/// # Errors
/// [`Kind::Usage`] for rows of different lengths; [`Kind::TooLarge`] for comparisons inside of comparisons.
pub(crate) fn compare_values(statement: &mut Statement) -> Result<()> {
    match statement.visit(&mut Rewrite { copies: 0 }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Rewrite {
    copies: usize,
}

impl VisitorMut for Rewrite {
    type Break = Error;

    fn post_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Error> {
        match self.rewritten(expression) {
            Err(error) => ControlFlow::Break(error),
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(other)) => {
                *expression = nested(other);
                ControlFlow::Continue(())
            }
        }
    }
}

impl Rewrite {
    fn rewritten(&mut self, expression: &Expr) -> Result<Option<Expr>> {
        Ok(match expression {
            Expr::BinaryOp { left, op, right } => match pairs(left, right)? {
                Some(pairs) => self.compared(op, &pairs)?,
                None => None,
            },
            Expr::IsDistinctFrom(left, right) => pairs(left, right)?.map(|pairs| {
                let one = |(left, right): &Pair<'_>| Expr::IsDistinctFrom(boxed(left), boxed(right));
                joined(pairs.iter().map(one).collect(), BinaryOperator::Or)
            }),
            Expr::IsNotDistinctFrom(left, right) => pairs(left, right)?.map(|pairs| {
                let one = |(left, right): &Pair<'_>| Expr::IsNotDistinctFrom(boxed(left), boxed(right));
                joined(pairs.iter().map(one).collect(), BinaryOperator::And)
            }),
            // Of rows inside of the row the engine says that they are not null, as PostgreSQL does.
            Expr::IsNull(row) => each(row, Expr::IsNull),
            Expr::IsNotNull(row) => each(row, Expr::IsNotNull),
            Expr::Between { expr, negated, low, high } => match (pairs(expr, low)?, pairs(expr, high)?) {
                (Some(low), Some(high)) => {
                    let low = self.compared(&BinaryOperator::GtEq, &low)?;
                    let high = self.compared(&BinaryOperator::LtEq, &high)?;
                    let all = joined(low.into_iter().chain(high).collect(), BinaryOperator::And);
                    Some(if *negated { not(all) } else { all })
                }
                _ => None,
            },
            Expr::InList { expr, list, negated } => {
                let mut any = Vec::with_capacity(list.len());
                for one in list {
                    let Some(pairs) = pairs(expr, one)? else { return Ok(None) };
                    self.copy(pairs.iter().map(|(left, _)| *left))?;
                    any.extend(self.compared(&BinaryOperator::Eq, &pairs)?);
                }
                let any = joined(any, BinaryOperator::Or);
                Some(if *negated { not(any) } else { any })
            }
            Expr::Case { case_token, end_token, operand: Some(operand), conditions, else_result } => {
                let mut all = Vec::with_capacity(conditions.len());
                for CaseWhen { condition, result } in conditions {
                    let Some(pairs) = pairs(operand, condition)? else { return Ok(None) };
                    self.copy(pairs.iter().map(|(left, _)| *left))?;
                    let Some(condition) = self.compared(&BinaryOperator::Eq, &pairs)? else { return Ok(None) };
                    all.push(CaseWhen { condition, result: result.clone() });
                }
                Some(Expr::Case {
                    case_token: case_token.clone(),
                    end_token: end_token.clone(),
                    operand: None,
                    conditions: all,
                    else_result: else_result.clone(),
                })
            }
            _ => None,
        })
    }

    /// A comparison of rows; `None` for other operators.
    fn compared(&mut self, op: &BinaryOperator, pairs: &[Pair<'_>]) -> Result<Option<Expr>> {
        use BinaryOperator as O;
        let each = |op: &O| pairs.iter().map(|(left, right)| binary(left, op, right)).collect::<Vec<_>>();
        let strict = match op {
            O::Eq => return Ok(Some(joined(each(op), O::And))),
            O::NotEq => return Ok(Some(joined(each(op), O::Or))),
            O::Lt | O::LtEq => O::Lt,
            O::Gt | O::GtEq => O::Gt,
            _ => return Ok(None),
        };
        let Some(((left, right), before)) = pairs.split_last() else { return Ok(None) };
        self.copy(before.iter().flat_map(|(left, right)| [*left, *right]))?;
        // a < c or a = c and (b < d or …): null if a or c is null, unless false.
        let mut all = binary(left, op, right);
        for (left, right) in before.iter().rev() {
            let equal = joined(vec![binary(left, &O::Eq, right), nested(all)], O::And);
            all = joined(vec![binary(left, &strict, right), equal], O::Or);
        }
        Ok(Some(all))
    }

    /// Counts expressions that are written once more.
    fn copy<'e>(&mut self, expressions: impl Iterator<Item = &'e Expr>) -> Result<()> {
        for expression in expressions {
            let mut count = Count(0);
            let _ = expression.visit(&mut count);
            self.copies = self.copies.saturating_add(count.0);
        }
        match self.copies <= MOST_COPIES {
            true => Ok(()),
            false => Err(Error::new(Kind::TooLarge, "comparisons of rows are too long").at(place())),
        }
    }
}

struct Count(usize);

impl Visitor for Count {
    type Break = ();

    fn pre_visit_expr(&mut self, _: &Expr) -> ControlFlow<()> {
        self.0 += 1;
        ControlFlow::Continue(())
    }
}

type Pair<'e> = (&'e Expr, &'e Expr);

fn place() -> Place {
    Place::file("the question")
}

/// The values of two rows in pairs, also of rows inside of them; `None` if these are no two rows.
fn pairs<'e>(left: &'e Expr, right: &'e Expr) -> Result<Option<Vec<Pair<'e>>>> {
    let (Some(left), Some(right)) = (values(left), values(right)) else { return Ok(None) };
    if left.len() != right.len() {
        let text = format!("a row of {} values is compared with one of {}", left.len(), right.len());
        return Err(Error::usage(text).at(place()));
    }
    let mut all = Vec::with_capacity(left.len());
    for (left, right) in left.into_iter().zip(right) {
        match pairs(left, right)? {
            Some(inner) => all.extend(inner),
            None => all.push((left, right)),
        }
    }
    Ok((!all.is_empty()).then_some(all))
}

/// The values of a row.
pub(crate) fn values(expression: &Expr) -> Option<Vec<&Expr>> {
    match expression {
        Expr::Nested(inner) => values(inner),
        Expr::Tuple(values) => Some(values.iter().collect()),
        Expr::Function(function) => {
            let [name] = function.name.0.as_slice() else { return None };
            let FunctionArguments::List(list) = &function.args else { return None };
            let is_row = name.as_ident().is_some_and(|name| name.value.eq_ignore_ascii_case("row"));
            let values = list.args.iter().map(|argument| match argument {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => Some(value),
                _ => None,
            });
            if is_row { values.collect() } else { None }
        }
        _ => None,
    }
}

/// What is true of a row if it is of each of its values; `None` for what is no row.
fn each(row: &Expr, is: fn(Box<Expr>) -> Expr) -> Option<Expr> {
    let all: Vec<Expr> = values(row)?.into_iter().map(|value| is(boxed(value))).collect();
    (!all.is_empty()).then(|| joined(all, BinaryOperator::And))
}

fn boxed(expression: &Expr) -> Box<Expr> {
    Box::new(nested(expression.clone()))
}

fn nested(expression: Expr) -> Expr {
    match expression {
        Expr::Nested(_) | Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) => expression,
        other => Expr::Nested(Box::new(other)),
    }
}

fn binary(left: &Expr, op: &BinaryOperator, right: &Expr) -> Expr {
    Expr::BinaryOp { left: boxed(left), op: op.clone(), right: boxed(right) }
}

fn not(expression: Expr) -> Expr {
    Expr::UnaryOp { op: UnaryOperator::Not, expr: Box::new(nested(expression)) }
}

/// All of them with `op` between, in a tree that is not deep.
fn joined(mut all: Vec<Expr>, op: BinaryOperator) -> Expr {
    if all.len() > 1 {
        let rest = all.split_off(all.len() / 2);
        let [left, right] = [all, rest].map(|half| Box::new(nested(joined(half, op.clone()))));
        return Expr::BinaryOp { left, op, right };
    }
    // Callers have one or more.
    all.pop().unwrap_or(Expr::Tuple(Vec::new()))
}
