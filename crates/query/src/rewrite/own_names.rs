//! Subqueries whose conditions on the outer row name columns that are called alike.
//!
//! The engine joins the outer rows with those of a subquery, as rows of one table: the conditions on the outer row are the condition of the join, and what columns
//! they name are columns of that table. So `s.a` and `t.a` become one, whichever it finds first; and so do the marks that say whether two subqueries inside have a row, as all of them are called
//! `mark`. Here such columns have names of their own before: `select … where s.a = r.a and t.a = r.b` is asked of the table of `s` and `t` with `s.a as _own_1` and `t.a as _own_2`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use datafusion::common::alias::AliasGenerator;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::utils::{conjunction, split_conjunction, split_conjunction_owned};
use datafusion::logical_expr::{Expr, Filter, Limit, LogicalPlan, LogicalPlanBuilder, Subquery};
use datafusion::optimizer::decorrelate_predicate_subquery::DecorrelatePredicateSubquery;
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use isomorph::Error;

use crate::errors::inside;
use crate::rewrite::marks::marked;

/// The rule of the engine that joins subqueries: before it does, and after it has joined those inside of them, their columns get the names.
pub(crate) fn joined() -> impl OptimizerRule + Send + Sync {
    OwnNames { engine: DecorrelatePredicateSubquery::new() }
}

#[derive(Debug)]
struct OwnNames {
    engine: DecorrelatePredicateSubquery,
}

impl OptimizerRule for OwnNames {
    fn name(&self) -> &str {
        self.engine.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.engine.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if let LogicalPlan::Subquery(Subquery { subquery, outer_ref_columns, spans }) = plan {
            let inner = Arc::unwrap_or_clone(subquery).transform_down(|plan| self.rewrite(plan, config))?.data;
            let subquery = Arc::new(with_own_names(inner, config.alias_generator())?);
            return Ok(Transformed::yes(LogicalPlan::Subquery(Subquery { subquery, outer_ref_columns, spans })));
        }
        let plan = plan.map_subqueries(|subquery| self.rewrite(subquery, config))?;
        let plan = plan.transform_data(|plan| marked(plan, &self.engine, config))?;
        plan.transform_data(|plan| self.engine.rewrite(plan, config))
    }
}

/// A subquery whose conditions on the outer row name columns that are called like no others.
fn with_own_names(plan: LogicalPlan, names: &AliasGenerator) -> Result<LogicalPlan> {
    let mistaken = mistaken(&plan)?;
    if mistaken.is_empty() {
        return Ok(plan);
    }
    plan.apply(|node| match node {
        LogicalPlan::SubqueryAlias(alias) => {
            refuse(&alias.input, &mistaken)?;
            Ok(TreeNodeRecursion::Jump)
        }
        _ => Ok(TreeNodeRecursion::Continue),
    })?;
    let plan = plan.transform_up(|node| match node {
        LogicalPlan::Filter(filter) if columns(&filter).iter().any(|column| mistaken.contains(column)) => {
            renamed(filter, &mistaken, names).map(Transformed::yes)
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(plan.data)
}

/// The columns in the conditions of a filter on the outer row.
fn columns(filter: &Filter) -> HashSet<Column> {
    let parts = split_conjunction(&filter.predicate).into_iter().filter(|part| part.contains_outer());
    parts.flat_map(|part| part.column_refs().into_iter().cloned().collect::<Vec<_>>()).collect()
}

/// A table of the subquery does not show the columns that would be named in it.
fn refuse(table: &LogicalPlan, mistaken: &HashSet<Column>) -> Result<()> {
    table.apply(|node| {
        let LogicalPlan::Filter(filter) = node else { return Ok(TreeNodeRecursion::Continue) };
        match columns(filter).into_iter().find(|column| mistaken.contains(column)) {
            Some(column) => {
                let text = format!("a table of a subquery depends on the outer row by {column}, and the subquery has another column of this name");
                Err(inside(Error::unsupported(text).hint("compare with the outer row in the subquery's own where")))
            }
            None => Ok(TreeNodeRecursion::Continue),
        }
    })?;
    Ok(())
}

/// The columns in conditions on the outer row that are called like another column which is in such a condition too, or is selected above it.
fn mistaken(plan: &LogicalPlan) -> Result<HashSet<Column>> {
    let mut named: HashSet<Column> = HashSet::new();
    // What is selected is a column, or `None` for an expression.
    let mut selected: Vec<(String, Option<Column>)> = Vec::new();
    // Without a selection, the columns of all tables are there.
    let mut top = plan;
    while let LogicalPlan::Filter(Filter { input, .. }) | LogicalPlan::Limit(Limit { input, .. }) = top {
        top = input;
    }
    if !matches!(top, LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_)) {
        selected.extend(top.schema().columns().into_iter().map(|one| (one.name.clone(), Some(one))));
    }
    let mut origins: HashMap<Column, Column> = HashMap::new();
    plan.apply(|node| {
        // What does not depend on the outer row stays as it is.
        if matches!(node, LogicalPlan::Subquery(_)) || node.all_out_ref_exprs().is_empty() {
            return Ok(TreeNodeRecursion::Jump);
        }
        match node {
            LogicalPlan::Filter(filter) => named.extend(columns(filter)),
            LogicalPlan::Projection(projection) => {
                for (value, field) in projection.expr.iter().zip(projection.schema.fields()) {
                    let value = if let Expr::Alias(alias) = value { &*alias.expr } else { value };
                    let column = value.try_as_col().filter(|column| column.name == *field.name());
                    selected.push((field.name().clone(), column.cloned()));
                }
            }
            LogicalPlan::Aggregate(aggregate) => {
                selected.extend(aggregate.schema.columns().into_iter().map(|one| (one.name.clone(), Some(one))));
            }
            LogicalPlan::SubqueryAlias(alias) => {
                let pairs = alias.schema.columns().into_iter().zip(alias.input.schema().columns());
                origins.extend(pairs.filter(|(_, inner)| inner.relation.is_some()));
            }
            _ => {}
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    // A column that a table of the subquery passes on is one column. Tables inside of each other may be called alike.
    let origin = |mut column: Column| {
        for _ in 0..origins.len() {
            match origins.get(&column) {
                Some(inner) => column = inner.clone(),
                None => break,
            }
        }
        column
    };
    let mut meanings: HashMap<String, HashSet<Option<Column>>> = HashMap::new();
    for (name, column) in named.iter().map(|one| (one.name.clone(), Some(one.clone()))).chain(selected) {
        meanings.entry(name).or_default().insert(column.map(&origin));
    }
    // The engine would rename the outer column as well.
    let outer = plan.all_out_ref_exprs();
    let is_outer = |one: &Column| outer.iter().any(|of| matches!(of, Expr::OuterReferenceColumn(_, of) if of == one));
    named.retain(|one| is_outer(one) || meanings.get(&one.name).is_some_and(|all| all.len() > 1));
    Ok(named)
}

/// A filter whose conditions on the outer row name these columns by names of their own.
fn renamed(filter: Filter, mistaken: &HashSet<Column>, names: &AliasGenerator) -> Result<LogicalPlan> {
    let Filter { predicate, input, .. } = filter;
    let mut own: HashMap<Column, String> = HashMap::new();
    let mut parts = Vec::new();
    for part in split_conjunction_owned(predicate) {
        if !part.contains_outer() {
            parts.push(part);
            continue;
        }
        let part = part.transform_up(|value| match value {
            Expr::Column(column) if mistaken.contains(&column) => {
                let name = own.entry(column).or_insert_with(|| names.next("_own"));
                Ok(Transformed::yes(Expr::Column(Column::from_name(name.as_str()))))
            }
            other => Ok(Transformed::no(other)),
        })?;
        parts.push(part.data);
    }
    let columns: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
    let mut own: Vec<(Column, String)> = own.into_iter().collect();
    own.sort();
    let own = own.into_iter().map(|(column, name)| Expr::Column(column).alias(name));
    let mut plan = LogicalPlanBuilder::from(Arc::unwrap_or_clone(input)).project(columns.iter().cloned().chain(own))?;
    if let Some(condition) = conjunction(parts) {
        plan = plan.filter(condition)?;
    }
    plan.project(columns)?.build()
}
