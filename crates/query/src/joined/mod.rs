//! Joins of tables by their ends, answered by a search over lists of neighbours.
//!
//! The engine joins two tables at a time: of a triangle it makes all paths of two edges first, which are many times as many rows as the question reads or
//! returns. Inner joins of tables of which at most two columns are used, integers or texts, are patterns: a set of equal columns is a node, a table a relationship.
//! `isomorph-cypher` searches for their matches, holding the edges and no more than one match for each thread. Matches that are only counted are never made.
//!
//! Only joins of tables of about the same size come here: a small one, or one that a look-up finds, is better joined first. If the edges do not fit into memory,
//! `large_joins` plans the question again without this rule.

mod flat;
mod numbers;
mod rows;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_schema::{DataType, Field, Schema};
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{Column, DataFusionError, Result, ScalarValue};
use datafusion::datasource::provider_as_source;
use datafusion::functions_aggregate::sum::sum_udaf;
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable, LogicalPlan, LogicalPlanBuilder, ident, lit, when};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use isomorph::storage::Resources;

use crate::tables::catalog::SqlTable;
pub use flat::renamed;
use flat::{Flat, name_of, numbered};
use rows::JoinedRows;

/// The column with the number of equal rows.
const TIMES: &str = "times";

/// Fewer tables are joined by the engine, unless their rows are only counted.
const LEAST_TABLES: usize = 3;

/// Replaces joins by tables of their rows.
#[derive(Debug)]
pub(crate) struct Searches {
    resources: Resources,
    names: AtomicUsize,
}

impl Searches {
    pub fn new(resources: &Resources) -> Self {
        Searches { resources: resources.clone(), names: AtomicUsize::new(0) }
    }

    /// A table of the rows of a join, with all other conditions.
    fn table(&self, flat: Flat, counts: bool) -> Result<Option<LogicalPlan>> {
        let others = flat.others.clone();
        let mut fields: Vec<Field> = flat
            .fields
            .iter()
            .enumerate()
            .map(|(number, field)| Field::clone(field).with_name(name_of(number)))
            .collect();
        let Some(spec) = flat.spec(counts) else { return Ok(None) };
        if counts {
            fields.push(Field::new(TIMES, DataType::Int64, false));
        }
        let rows = Arc::new(JoinedRows::new(spec, Arc::new(Schema::new(fields)), &self.resources));
        let name = format!("_joined_{}", self.names.fetch_add(1, Ordering::Relaxed));
        let source = provider_as_source(Arc::new(SqlTable { name: name.clone(), rows }));
        let mut plan = LogicalPlanBuilder::scan(name, source, None)?;
        if let Some(condition) = others.into_iter().reduce(Expr::and) {
            plan = plan.filter(condition)?;
        }
        plan.build().map(Some)
    }

    /// A join as a table of its rows.
    fn rows(&self, plan: &LogicalPlan) -> Result<Option<LogicalPlan>> {
        let Some((flat, outputs)) = Flat::of(plan).filter(|(flat, _)| flat.leaves.len() >= LEAST_TABLES) else {
            return Ok(None);
        };
        let Some(table) = self.table(flat, false)? else { return Ok(None) };
        let named =
            plan.schema().iter().zip(outputs).map(|((relation, field), number)| {
                ident(name_of(number)).alias_qualified(relation.cloned(), field.name())
            });
        LogicalPlanBuilder::from(table).project(named.collect::<Vec<_>>())?.build().map(Some)
    }

    /// The groups of a join, whose rows are only counted.
    fn groups(&self, aggregate: &Aggregate) -> Result<Option<LogicalPlan>> {
        let input = &aggregate.input;
        let Some((flat, outputs)) = Flat::of(input).filter(|(flat, _)| flat.leaves.len() > 1) else {
            return Ok(None);
        };
        let name = |column: &Column| numbered(column, input.schema(), &outputs).map(name_of);
        let mut groups = Vec::new();
        for expr in &aggregate.group_expr {
            let Some(expr) = renamed(expr.clone().unalias(), name)? else { return Ok(None) };
            if matches!(expr, Expr::GroupingSet(_)) {
                return Ok(None);
            }
            groups.push(expr);
        }
        let mut aggregates = Vec::new();
        let mut counts = Vec::new();
        for expr in &aggregate.aggr_expr {
            let Expr::AggregateFunction(function) = expr.clone().unalias() else { return Ok(None) };
            let counted = is_count_of_rows(&function, input)?;
            counts.push(counted);
            if counted {
                aggregates.push(Expr::AggregateFunction(AggregateFunction::new_udf(
                    sum_udaf(),
                    vec![ident(TIMES)],
                    false,
                    None,
                    Vec::new(),
                    None,
                )));
                continue;
            }
            // Others do not see how often a row is there.
            let sees_equal_rows = !(function.params.distinct || matches!(function.func.name(), "min" | "max"));
            let is_plain = function.params.filter.is_none() && function.params.order_by.is_empty();
            if sees_equal_rows || !is_plain {
                return Ok(None);
            }
            let Some(expr) = renamed(Expr::AggregateFunction(function), name)? else {
                return Ok(None);
            };
            aggregates.push(expr);
        }
        let Some(table) = self.table(flat, true)? else { return Ok(None) };
        // Names of their own: those of the new expressions may be long, and equal.
        let named = |from: usize, all: Vec<Expr>| -> Vec<Expr> {
            all.into_iter().enumerate().map(|(at, expr)| expr.alias(format!("result_{}", from + at))).collect()
        };
        let (first, is_grouped) = (groups.len(), !groups.is_empty());
        let plan = LogicalPlanBuilder::from(table).aggregate(named(0, groups), named(first, aggregates))?;
        let mut shown = Vec::new();
        for (at, (relation, field)) in aggregate.schema.iter().enumerate() {
            let mut value = ident(format!("result_{at}"));
            let is_counted = at.checked_sub(first).is_some_and(|at| counts.get(at) == Some(&true));
            if is_counted && !is_grouped {
                // The sum of no rows is null, and their count zero.
                let zero = lit(ScalarValue::Int64(Some(0)));
                value = when(value.clone().is_null(), zero).otherwise(value)?;
            }
            shown.push(value.alias_qualified(relation.cloned(), field.name()));
        }
        plan.project(shown)?.build().map(Some)
    }
}

/// Whether an aggregate is the number of rows.
fn is_count_of_rows(function: &AggregateFunction, input: &LogicalPlan) -> Result<bool> {
    let AggregateFunctionParams { args, distinct, filter, order_by, .. } = &function.params;
    if function.func.name() != "count" || *distinct || filter.is_some() || !order_by.is_empty() {
        return Ok(false);
    }
    Ok(match args.as_slice() {
        [] => true,
        [Expr::Literal(value, _)] => !value.is_null(),
        [column @ Expr::Column(_)] => !column.nullable(&**input.schema())?,
        _ => false,
    })
}

impl OptimizerRule for Searches {
    fn name(&self) -> &'static str {
        "search_over_lists_of_neighbours"
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>, DataFusionError> {
        plan.transform_down_with_subqueries(|plan| {
            let found = match &plan {
                LogicalPlan::Aggregate(aggregate) => self.groups(aggregate)?,
                LogicalPlan::Join(_) => self.rows(&plan)?,
                _ => None,
            };
            Ok(match found {
                Some(found) => Transformed::new(found, true, TreeNodeRecursion::Jump),
                None => Transformed::no(plan),
            })
        })
    }
}
