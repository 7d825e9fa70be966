//! Edges that are grouped by what the node at one of their ends has.
//!
//! A join would find the node of each edge by its key. Formats that store ends as rows of nodes need no key for that: the nodes are read once, each gets the number of
//! its group, and an edge has the group of its row. Edges are grouped by these numbers, and the groups get their values at the end.
//!
//! Keys that several nodes have are left to the join, which finds all of them.

mod numbered;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_schema::{DataType, Field, Schema};
use datafusion::common::tree_node::{Transformed, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, DataFusionError, JoinType, NullEquality, Result};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::{
    Aggregate, Expr, Join, LogicalPlan, LogicalPlanBuilder, Projection, SubqueryAlias, TableScan, ident,
};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use isomorph::Predicate;
use isomorph::storage::Resources;

use crate::joined::renamed;
use crate::tables::catalog::SqlTable;
use crate::tables::parts::{Rows, Wanted};
use numbered::{GroupRows, Groups, NumberedEdges};

/// The column with the number of a group.
const GROUP: &str = "group";

/// The name of a column of a table of this rule.
fn name_of(column: usize) -> String {
    format!("column_{column}")
}

/// Replaces joins of edges and nodes below groups.
#[derive(Debug)]
pub(crate) struct EndGroups {
    resources: Resources,
    names: AtomicUsize,
}

/// A table of a join.
struct Side<'p> {
    scan: &'p TableScan,
    rows: Arc<dyn Rows>,
    name: String,
    filter: Option<Predicate>,
    /// The column that is joined.
    joined: usize,
}

impl<'p> Side<'p> {
    fn of(scan: &'p TableScan, joined: usize) -> Option<Self> {
        let provider = source_as_provider(&scan.source).ok()?;
        let table = provider.downcast_ref::<SqlTable>()?;
        let mut filter = None;
        for one in &scan.filters {
            filter = Predicate::both(filter, Some(table.predicate(one)?));
        }
        let (rows, name) = (Arc::clone(&table.rows), table.name.clone());
        scan.fetch.is_none().then_some(Side { scan, rows, name, filter, joined })
    }
}

/// Two tables that are joined by a column of each; the columns of their rows are those of a table, 0 or 1.
struct Joined<'p> {
    sides: [Side<'p>; 2],
    outputs: Vec<(usize, usize)>,
}

impl<'p> Joined<'p> {
    fn of(plan: &'p LogicalPlan) -> Option<Self> {
        match plan {
            LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. }) => Joined::of(input),
            LogicalPlan::Projection(projection) => {
                let Joined { sides, outputs } = Joined::of(&projection.input)?;
                Some(Joined { sides, outputs: projected(projection, &outputs)? })
            }
            LogicalPlan::Join(Join { left, right, on, filter: None, join_type, null_equality, .. })
                if *join_type == JoinType::Inner && *null_equality == NullEquality::NullEqualsNothing =>
            {
                let [(one, other)] = on.as_slice() else { return None };
                let (left_scan, of_left) = table(left)?;
                let (right_scan, of_right) = table(right)?;
                let one = place(one.try_as_col()?, left.schema(), &of_left)?;
                let other = place(other.try_as_col()?, right.schema(), &of_right)?;
                let of = |side: usize, columns: Vec<usize>| columns.into_iter().map(move |column| (side, column));
                let outputs = of(0, of_left).chain(of(1, of_right)).collect();
                Some(Joined { sides: [Side::of(left_scan, one)?, Side::of(right_scan, other)?], outputs })
            }
            _ => None,
        }
    }
}

/// The scan of a plan of one table, and the column of the table for each of its own.
fn table(plan: &LogicalPlan) -> Option<(&TableScan, Vec<usize>)> {
    match plan {
        LogicalPlan::TableScan(scan) => {
            let count = scan.source.schema().fields().len();
            Some((scan, scan.projection.clone().unwrap_or_else(|| (0..count).collect())))
        }
        LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. }) => table(input),
        LogicalPlan::Projection(projection) => {
            let (scan, columns) = table(&projection.input)?;
            Some((scan, projected(projection, &columns)?))
        }
        _ => None,
    }
}

fn projected<T: Copy>(projection: &Projection, columns: &[T]) -> Option<Vec<T>> {
    let column = |expr: &Expr| match expr.clone().unalias_nested().data {
        Expr::Column(column) => place(&column, projection.input.schema(), columns),
        _ => None,
    };
    projection.expr.iter().map(column).collect()
}

fn place<T: Copy>(column: &Column, schema: &DFSchema, columns: &[T]) -> Option<T> {
    columns.get(schema.index_of_column(column).ok()?).copied()
}

impl EndGroups {
    pub fn new(resources: &Resources) -> Self {
        EndGroups { resources: resources.clone(), names: AtomicUsize::new(0) }
    }

    fn groups(&self, aggregate: &Aggregate) -> Result<Option<LogicalPlan>> {
        let input = &aggregate.input;
        let Some(Joined { sides, outputs }) = Joined::of(input).filter(|_| !aggregate.group_expr.is_empty()) else {
            return Ok(None);
        };
        // Which of them are the edges?
        let is_end = |edges: &Side<'_>, nodes: &Side<'_>| {
            let tables = edges.rows.graph_table().zip(nodes.rows.graph_table());
            tables.is_some_and(|(edges_of, nodes_of)| edges_of.has_rows_of(edges.joined, nodes_of, nodes.joined))
        };
        let of_edges = match &sides {
            [edges, nodes] if is_end(edges, nodes) => 0,
            [nodes, edges] if is_end(edges, nodes) => 1,
            _ => return Ok(None),
        };
        let [left, right] = sides;
        let (edges, nodes) = if of_edges == 0 { (left, right) } else { (right, left) };
        let Some(groups) = grouped(aggregate, &outputs, 1 - of_edges, &nodes) else { return Ok(None) };
        let mut columns = Vec::new();
        let Some(aggregates) = aggregated(aggregate, &outputs, of_edges, &mut columns)? else { return Ok(None) };
        let wanted = Wanted { columns: columns.clone(), filter: edges.filter.clone(), ..Wanted::default() };
        // Both ends are rows then, and not what the question reads.
        let reads_ends = edges.rows.graph_table().is_none_or(|table| {
            table.filters_ends(edges.filter.as_ref()) || columns.iter().any(|column| table.has_end(*column))
        });
        if nodes.filter.is_some() || reads_ends || edges.rows.is_found(&wanted) {
            return Ok(None);
        }
        if !nodes.rows.graph_table().is_some_and(|table| table.has_distinct_keys().unwrap_or(false)) {
            return Ok(None);
        }
        self.plan(aggregate, &edges, &nodes, &groups, columns, aggregates).map(Some)
    }

    fn plan(
        &self,
        aggregate: &Aggregate,
        edges: &Side<'_>,
        nodes: &Side<'_>,
        groups: &[usize],
        columns: Vec<usize>,
        aggregates: Vec<Expr>,
    ) -> Result<LogicalPlan> {
        let number = self.names.fetch_add(1, Ordering::Relaxed);
        // A column may be a key of the groups twice.
        let mut different = groups.to_vec();
        different.sort_unstable();
        different.dedup();
        let shared = Arc::new(Groups::new(&nodes.rows, &nodes.name, &different, &self.resources));
        let group = Field::new(GROUP, DataType::UInt32, false);
        let schema = |scan: &TableScan, columns: &[usize]| {
            let own = scan.source.schema();
            let fields = columns.iter().enumerate().filter_map(|(at, column)| {
                own.fields().get(*column).map(|field| Field::clone(field).with_name(name_of(at)))
            });
            Arc::new(Schema::new(std::iter::once(group.clone()).chain(fields).collect::<Vec<_>>()))
        };
        let numbered = NumberedEdges::new(
            (Arc::clone(&edges.rows), &edges.name),
            edges.joined,
            columns.clone(),
            edges.filter.clone(),
            schema(edges.scan, &columns),
            &shared,
        );
        let values = GroupRows::new(schema(nodes.scan, &different), &shared);
        let scan = |name: String, rows: Arc<dyn Rows>| {
            let source = provider_as_source(Arc::new(SqlTable { name: name.clone(), rows }));
            LogicalPlanBuilder::scan(name, source, None)
        };
        let results = aggregates.into_iter().enumerate().map(|(at, one)| one.alias(format!("result_{at}")));
        let counted = scan(format!("_edges_{number}"), Arc::new(numbered))?
            .aggregate([ident(GROUP)], results.collect::<Vec<_>>())?;
        let values = scan(format!("_groups_{number}"), Arc::new(values))?.build()?;
        let of_values = |name: &str| Column::new(Some(format!("_groups_{number}")), name);
        let on = (vec![Column::new(Some(format!("_edges_{number}")), GROUP)], vec![of_values(GROUP)]);
        let plan = counted.join(values, JoinType::Inner, on, None)?;
        let mut shown = Vec::new();
        for (at, (relation, field)) in aggregate.schema.iter().enumerate() {
            let value = match groups.get(at) {
                Some(column) => {
                    let at = different.iter().position(|one| one == column).unwrap_or_default();
                    Expr::Column(of_values(&name_of(at)))
                }
                None => ident(format!("result_{}", at - groups.len())),
            };
            shown.push(value.alias_qualified(relation.cloned(), field.name()));
        }
        plan.project(shown)?.build()
    }
}

/// The columns of nodes by which edges are grouped; nothing, if they are grouped by something else.
fn grouped(aggregate: &Aggregate, outputs: &[(usize, usize)], side: usize, nodes: &Side<'_>) -> Option<Vec<usize>> {
    let schema = nodes.rows.schema();
    let group = |expr: &Expr| {
        let Expr::Column(column) = expr.clone().unalias() else { return None };
        let (of, column) = place(&column, aggregate.input.schema(), outputs)?;
        let field = schema.fields().get(column)?;
        let is_compared = matches!(field.data_type(), DataType::Utf8 | DataType::Boolean | DataType::Date32)
            || field.data_type().is_integer();
        (of == side && is_compared && field.metadata().is_empty()).then_some(column)
    };
    aggregate.group_expr.iter().map(group).collect()
}

/// The aggregates with the names of columns of edges, which are added to `columns`; nothing, if they read something else.
fn aggregated(
    aggregate: &Aggregate,
    outputs: &[(usize, usize)],
    side: usize,
    columns: &mut Vec<usize>,
) -> Result<Option<Vec<Expr>>> {
    let mut name = |column: &Column| {
        let (_, column) = place(column, aggregate.input.schema(), outputs).filter(|(of, _)| *of == side)?;
        let at = columns.iter().position(|own| *own == column).unwrap_or_else(|| {
            columns.push(column);
            columns.len() - 1
        });
        Some(name_of(at))
    };
    aggregate.aggr_expr.iter().map(|expr| renamed(expr.clone().unalias(), &mut name)).collect()
}

impl OptimizerRule for EndGroups {
    fn name(&self) -> &'static str {
        "groups_of_edges_by_rows_of_nodes"
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>, DataFusionError> {
        plan.transform_down_with_subqueries(|plan| {
            let found = match &plan {
                LogicalPlan::Aggregate(aggregate) => self.groups(aggregate)?,
                _ => None,
            };
            Ok(match found {
                Some(found) => Transformed::new(found, true, TreeNodeRecursion::Jump),
                None => Transformed::no(plan),
            })
        })
    }
}
