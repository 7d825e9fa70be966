//! `x in (…)` with items that are no literals, or null.
//!
//! The engine makes one list of two that are about one value and joined by `and`, or excludes the items of one from those of the other, as they are written: `a in (b, 7) and a not in (3, 8)`
//! became `a in (b, 7)`, although `b` may be 3, and nulls were left out. Here only literals are in lists; other items are compared one after another.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Expr, LogicalPlan};

use crate::rewrite::kept_names::map_named;

/// A plan whose lists have literals only.
///
/// # Errors
/// Those of the engine.
pub(crate) fn lists(plan: LogicalPlan) -> Result<LogicalPlan> {
    let changed = map_named(plan, |expression| {
        expression.transform_up(|part| {
            Ok(match part {
                Expr::InList(list) if !list.expr.is_volatile() && !list.list.iter().all(is_value) => {
                    Transformed::yes(divided(list))
                }
                other => Transformed::no(other),
            })
        })
    })?;
    Ok(changed.data)
}

/// Whether an item is a literal that is not null.
fn is_value(item: &Expr) -> bool {
    matches!(item, Expr::Literal(value, _) if !value.is_null())
}

/// The literals as a list, and a comparison for each other item.
fn divided(list: InList) -> Expr {
    let InList { expr, list, negated } = list;
    let (values, others): (Vec<Expr>, Vec<Expr>) = list.into_iter().partition(is_value);
    let of_values =
        (!values.is_empty()).then(|| Expr::InList(InList { expr: expr.clone(), list: values, negated: false }));
    let of_others = others.into_iter().map(|item| match item {
        Expr::Literal(..) => Expr::Literal(ScalarValue::Boolean(None), None),
        item => expr.as_ref().clone().eq(item),
    });
    let found = of_values.into_iter().chain(of_others).reduce(Expr::or);
    let found = found.unwrap_or(Expr::Literal(ScalarValue::Boolean(Some(false)), None));
    if negated { Expr::Not(found.into()) } else { found }
}
