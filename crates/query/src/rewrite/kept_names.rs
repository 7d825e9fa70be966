//! Changes of the expressions of a plan that keep the names of its columns.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, LogicalPlan};

/// The plan with each of its expressions changed, and called as before. The columns of a set of groups are its keys: each of them is changed, and keeps its name.
///
/// # Errors
/// Those of `change`.
pub(crate) fn map_named(
    plan: LogicalPlan,
    mut change: impl FnMut(Expr) -> Result<Transformed<Expr>>,
) -> Result<Transformed<LogicalPlan>> {
    let names = NamePreserver::new(&plan);
    let mut named = |expression: Expr| {
        let name = names.save(&expression);
        Ok(change(expression)?.update_data(|expression| name.restore(expression)))
    };
    plan.map_expressions(|expression| match &expression {
        Expr::GroupingSet(_) => expression.map_children(&mut named),
        _ => named(expression),
    })
}
