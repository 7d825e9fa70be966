//! Several lists about one value that may be null.
//!
//! The engine makes one list of two that are about one value, and true or false where that leaves nothing to ask: `a in (1, 2) and a in (3)` became false, also for a null, for
//! which it is unknown, and `not (…)` kept its row. Equalities that are joined by `or` become lists too. Here the null is a case of its own wherever that makes a difference. For
//! the same reason `~ '.*'` is written so that the engine does not take it for `is not null`.

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion, TreeNodeRewriter};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::utils::{conjunction, merge_schema, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator, when};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use crate::rewrite::kept_names::map_named;

/// The rule, which has to run before expressions are simplified.
#[derive(Debug)]
pub(crate) struct NullLists;

impl OptimizerRule for NullLists {
    fn name(&self) -> &'static str {
        "null_lists"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::TopDown)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        // Filters of a scan came through those of the plan.
        if matches!(plan, LogicalPlan::TableScan(_)) {
            return Ok(Transformed::no(plan));
        }
        if !concerns(&plan)? {
            return Ok(Transformed::no(plan));
        }
        let schema = merge_schema(&plan.inputs());
        let is_condition = matches!(plan, LogicalPlan::Filter(_) | LogicalPlan::Join(_));
        let rewrite = |expression: Expr| {
            let parts = if is_condition { split_conjunction_owned(expression) } else { vec![expression] };
            let mut is_changed = false;
            let mut rewritten = Vec::with_capacity(parts.len());
            for part in parts {
                let part = part.rewrite(&mut Cases { schema: &schema, is_condition, within: Vec::new() })?;
                is_changed |= part.transformed;
                rewritten.push(part.data);
            }
            let all = conjunction(rewritten).unwrap_or(Expr::Literal(ScalarValue::Boolean(Some(true)), None));
            Ok(Transformed::new_transformed(all, is_changed))
        };
        map_named(plan, rewrite)
    }
}

/// Whether an expression has several lists, or the pattern.
fn concerns(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_expressions(|expression| {
        let mut lists = 0_u8;
        found |= expression.exists(|part| {
            lists += u8::from(list(part).is_some());
            Ok(lists == 2 || any_text(part).is_some())
        })?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

/// The value of a list, or of an equality that may become one, and whether the items are excluded.
fn list(expression: &Expr) -> Option<(&Expr, bool)> {
    match expression {
        Expr::InList(InList { expr, negated, .. }) => Some((expr, *negated)),
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => match (&**left, &**right) {
            (value, Expr::Literal(..)) | (Expr::Literal(..), value) => Some((value, false)),
            _ => None,
        },
        _ => None,
    }
}

/// Makes the cases of an expression.
struct Cases<'a> {
    schema: &'a DFSchema,
    /// Whether an unknown result is as good as false.
    is_condition: bool,
    /// Whether the nodes above are `and`, `or` or `not`.
    within: Vec<bool>,
}

impl TreeNodeRewriter for Cases<'_> {
    type Node = Expr;

    fn f_down(&mut self, node: Expr) -> Result<Transformed<Expr>> {
        self.within.push(is_logic(&node));
        Ok(Transformed::no(node))
    }

    fn f_up(&mut self, node: Expr) -> Result<Transformed<Expr>> {
        self.within.pop();
        if let Some(pattern) = any_text(&node) {
            let Expr::BinaryExpr(BinaryExpr { left, op, .. }) = node else { return Ok(Transformed::no(node)) };
            return Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr { left, op, right: Box::new(pattern) })));
        }
        if !is_logic(&node) || self.within.last() == Some(&true) {
            return Ok(Transformed::no(node));
        }
        let values = Lists::of(&node).values(self.is_condition && self.within.is_empty());
        let values: Vec<Expr> = values.into_iter().filter(|value| self.may_be_null(value)).cloned().collect();
        let is_changed = !values.is_empty();
        let mut cased = node;
        for value in values {
            let null = Expr::Literal(ScalarValue::try_new_null(&value.get_type(self.schema)?)?, None);
            let of_null = cased.clone().transform_down(|part| {
                let is_value = part == value;
                Ok(if is_value { Transformed::yes(null.clone()) } else { Transformed::no(part) })
            })?;
            cased = when(value.is_null(), of_null.data).otherwise(cased)?;
        }
        Ok(Transformed::new_transformed(cased, is_changed))
    }
}

impl Cases<'_> {
    fn may_be_null(&self, value: &Expr) -> bool {
        !value.is_volatile() && value.nullable(self.schema).unwrap_or(true)
    }
}

fn is_logic(expression: &Expr) -> bool {
    matches!(expression, Expr::Not(_) | Expr::BinaryExpr(BinaryExpr { op: Operator::And | Operator::Or, .. }))
}

/// The pattern `.*` as one that the engine does not know.
fn any_text(expression: &Expr) -> Option<Expr> {
    let Expr::BinaryExpr(BinaryExpr { op: Operator::RegexMatch | Operator::RegexIMatch, right, .. }) = expression
    else {
        return None;
    };
    let same = "(?:.*)".to_owned();
    let pattern = match right.as_ref() {
        Expr::Literal(ScalarValue::Utf8(Some(text)), _) if text == ".*" => ScalarValue::Utf8(Some(same)),
        Expr::Literal(ScalarValue::LargeUtf8(Some(text)), _) if text == ".*" => ScalarValue::LargeUtf8(Some(same)),
        Expr::Literal(ScalarValue::Utf8View(Some(text)), _) if text == ".*" => ScalarValue::Utf8View(Some(same)),
        _ => return None,
    };
    Some(Expr::Literal(pattern, None))
}

/// What `and`, `or` and `not` join.
#[derive(Default)]
struct Lists<'e> {
    /// The value of each list, and whether its items are excluded.
    lists: Vec<(&'e Expr, bool)>,
    has_and: bool,
    has_or: bool,
    has_not: bool,
}

impl<'e> Lists<'e> {
    fn of(expression: &'e Expr) -> Self {
        let mut all = Lists::default();
        let mut left = vec![expression];
        while let Some(part) = left.pop() {
            match part {
                Expr::Not(inner) => {
                    all.has_not = true;
                    left.push(inner);
                }
                Expr::BinaryExpr(BinaryExpr { left: one, op: op @ (Operator::And | Operator::Or), right: other }) => {
                    *(if *op == Operator::And { &mut all.has_and } else { &mut all.has_or }) = true;
                    left.extend([&**one, other]);
                }
                other => all.lists.extend(list(other)),
            }
        }
        all
    }

    /// The values for which one list may be made of several and that be wrong for a null. In a condition that excludes nothing, false is as good as unknown.
    fn values(&self, is_condition: bool) -> Vec<&'e Expr> {
        let excludes = self.has_not || self.lists.iter().any(|(_, negated)| *negated);
        if self.lists.len() < 2 || is_condition && !excludes {
            return Vec::new();
        }
        let mut values: Vec<&Expr> = Vec::new();
        let mut seen: Vec<(&Expr, bool)> = Vec::new();
        // A list that contains both, or excludes both, is right.
        let is_union = |negated: bool| !self.has_and && !negated || !self.has_or && !self.has_not && negated;
        for (value, negated) in &self.lists {
            let other = seen.iter().find(|(seen, _)| seen == value);
            match other {
                Some((_, before)) if !(values.contains(value) || before == negated && is_union(*negated)) => {
                    values.push(value);
                }
                Some(_) => {}
                None => seen.push((value, *negated)),
            }
        }
        values
    }
}
