//! Columns of a subquery that are called alike: `(select a.id, b.id from …) s`. The engine calls the second `id:1`, and takes the first for what a query outside names.
//!
//! Here the second is `id_2`, and the first has a mark behind its name, so that no name of a question is this: the engine itself finds no column `id` in `s`, whatever
//! the question calls so elsewhere. Answers and errors show the name without the mark.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use datafusion::common::Result;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::expr::Alias;
use datafusion::logical_expr::planner::{PlannedRelation, RelationPlanner, RelationPlannerContext, RelationPlanning};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, SubqueryAlias};
use datafusion::sql::sqlparser::ast::{self, Statement, TableFactor, visit_expressions};
use isomorph::Error;
use isomorph::error::Place;

use crate::errors::inside;

/// What is behind the name of the first of several columns of a name.
pub(crate) const MARK: char = '\u{1f}';

/// What a column is called in answers and errors.
pub(crate) fn shown(name: &str) -> &str {
    name.trim_end_matches(MARK)
}

/// Plans the tables of a question.
#[derive(Debug, Default)]
pub(crate) struct RepeatedNames {
    /// Whether the engine plans the table that is asked for next by itself.
    is_asked: AtomicBool,
}

impl RelationPlanner for RepeatedNames {
    fn plan_relation(
        &self,
        relation: TableFactor,
        context: &mut dyn RelationPlannerContext,
    ) -> Result<RelationPlanning> {
        let is_table = matches!(
            relation,
            TableFactor::Table { args: None, .. } | TableFactor::Derived { .. } | TableFactor::NestedJoin { .. }
        );
        if self.is_asked.swap(false, Ordering::Relaxed) || !is_table {
            return Ok(RelationPlanning::Original(Box::new(relation)));
        }
        self.is_asked.store(true, Ordering::Relaxed);
        let plan = told_apart(context.plan(relation)?)?;
        Ok(RelationPlanning::Planned(Box::new(PlannedRelation { plan, alias: None })))
    }
}

/// A table whose columns have names of their own.
fn told_apart(plan: LogicalPlan) -> Result<LogicalPlan> {
    let LogicalPlan::SubqueryAlias(table) = &plan else { return Ok(plan) };
    // An alias of a common table expression.
    if let LogicalPlan::SubqueryAlias(_) = &*table.input {
        let input = told_apart(table.input.as_ref().clone())?;
        return SubqueryAlias::try_new(Arc::new(input), table.alias.clone()).map(LogicalPlan::SubqueryAlias);
    }
    let LogicalPlan::Projection(renamed) = &*table.input else { return Ok(plan) };
    let names: Option<Vec<&str>> = renamed.expr.iter().map(name).collect();
    let has_new = renamed.expr.iter().any(|one| matches!(one, Expr::Alias(_)));
    let Some(names) = names.filter(|_| has_new) else { return Ok(plan) };
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let columns = renamed.input.schema().columns().into_iter().enumerate().map(|(at, column)| {
        let count = |names: &[&str]| names.iter().filter(|own| **own == column.name).count();
        let before = names.get(..at).map_or(0, count);
        let is_free = |own: &String| !names.contains(&own.as_str()) && !taken.contains(own);
        let name = match before {
            0 if count(&names) == 1 => return Expr::Column(column),
            0 => format!("{}{MARK}", column.name),
            _ => {
                let mut numbers = before + 1..;
                numbers.find_map(|number| Some(format!("{}_{number}", column.name)).filter(is_free)).unwrap_or_default()
            }
        };
        taken.insert(name.clone());
        Expr::Column(column).alias(name)
    });
    let columns: Vec<Expr> = columns.collect();
    let input = LogicalPlanBuilder::from(renamed.input.as_ref().clone()).project(columns)?.build()?;
    SubqueryAlias::try_new(Arc::new(input), table.alias.clone()).map(LogicalPlan::SubqueryAlias)
}

/// The name of a column, also of one that the engine has given another: with the table, which no alias of a question has.
fn name(value: &Expr) -> Option<&str> {
    match value {
        Expr::Column(column) => Some(&column.name),
        Expr::Alias(Alias { expr, relation, name, .. }) => match &**expr {
            Expr::Column(column) if relation.is_some() && column.relation == *relation => {
                let number = name.strip_prefix(&column.name)?.strip_prefix(':')?;
                number.bytes().all(|digit| digit.is_ascii_digit()).then_some(column.name.as_str())
            }
            _ => None,
        },
        _ => None,
    }
}

/// The names without a table in a statement.
pub(crate) fn plain_names(statement: &Statement) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let _ = visit_expressions(statement, |part| {
        if let ast::Expr::Identifier(name) = part {
            all.insert(name.value.clone());
        }
        ControlFlow::<()>::Continue(())
    });
    all
}

/// Refuses names without a table that may be one of such columns, and were taken for that of another table.
///
/// # Errors
/// [`isomorph::Kind::Usage`] for these.
pub(crate) fn check(plan: &LogicalPlan, names: &BTreeSet<String>) -> Result<()> {
    let one = |node: &LogicalPlan| {
        let inputs = node.inputs();
        let fields = inputs.iter().flat_map(|input| input.schema().fields());
        let marked = fields.filter_map(|field| field.name().strip_suffix(MARK)).filter(|own| names.contains(*own));
        let marked: BTreeSet<&str> = marked.collect();
        if marked.is_empty() {
            return Ok(TreeNodeRecursion::Continue);
        }
        node.apply_expressions(|value| {
            value.apply(|part| match part {
                Expr::Column(column) | Expr::OuterReferenceColumn(_, column)
                    if marked.contains(column.name.as_str()) =>
                {
                    let name = &column.name;
                    let error = Error::usage(format!("several tables have a column {name}"));
                    Err(inside(error.at(Place::file("the question")).hint(format!("name the table: t.{name}"))))
                }
                _ => Ok(TreeNodeRecursion::Continue),
            })
        })
    };
    plan.apply_with_subqueries(one).map(|_| ())
}
