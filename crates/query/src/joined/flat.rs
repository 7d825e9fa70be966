//! A tree of inner joins as one list of tables with the columns that are equal.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::FieldRef;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, DFSchema, NullEquality, Result};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{
    BinaryExpr, Expr, Filter, Join, JoinType, LogicalPlan, Operator, Projection, SubqueryAlias, TableScan,
};
use isomorph::Predicate;
use isomorph::model::Comparison;

use super::numbers::Type;
use super::rows::{Leaf, Spec};
use crate::tables::catalog::SqlTable;

/// The most columns of a table of a join.
const MOST_COLUMNS: usize = 2;

/// Of tables whose sizes differ more, the small one is joined first, and may save reading the others.
const ALIKE: f64 = 16.0;

/// Tables that are joined. Their columns have numbers, one table after another.
#[derive(Default)]
pub(super) struct Flat {
    pub leaves: Vec<Leaf>,
    pub fields: Vec<FieldRef>,
    types: Vec<Type>,
    /// Columns that are equal.
    equal: Vec<(usize, usize)>,
    comparisons: Vec<(usize, Comparison, usize)>,
    /// Columns without null.
    required: Vec<usize>,
    /// All other conditions; of their columns, the names are numbers.
    pub others: Vec<Expr>,
}

impl Flat {
    /// Takes a plan apart; for each column of its rows, the number of a column. Nothing, if it is something else than inner joins of tables.
    pub fn of(plan: &LogicalPlan) -> Option<(Flat, Vec<usize>)> {
        let mut flat = Flat::default();
        let outputs = flat.plan(plan)?;
        Some((flat, outputs))
    }

    fn plan(&mut self, plan: &LogicalPlan) -> Option<Vec<usize>> {
        match plan {
            LogicalPlan::TableScan(scan) => self.table(scan),
            LogicalPlan::SubqueryAlias(SubqueryAlias { input, .. }) => self.plan(input),
            LogicalPlan::Projection(Projection { expr, input, .. }) => {
                let columns = self.plan(input)?;
                let column = |expr: &Expr| match expr.clone().unalias_nested().data {
                    Expr::Column(column) => numbered(&column, input.schema(), &columns),
                    _ => None,
                };
                expr.iter().map(column).collect()
            }
            LogicalPlan::Filter(Filter { predicate, input, .. }) => {
                let columns = self.plan(input)?;
                self.conditions(predicate, input.schema(), &columns)?;
                Some(columns)
            }
            LogicalPlan::Join(join) => self.join(join),
            _ => None,
        }
    }

    fn join(&mut self, join: &Join) -> Option<Vec<usize>> {
        let Join { left, right, on, filter, join_type, schema, null_equality, .. } = join;
        if *join_type != JoinType::Inner || *null_equality != NullEquality::NullEqualsNothing {
            return None;
        }
        let of_left = self.plan(left)?;
        let of_right = self.plan(right)?;
        for (one, other) in on {
            let one = numbered(one.try_as_col()?, left.schema(), &of_left)?;
            let other = numbered(other.try_as_col()?, right.schema(), &of_right)?;
            self.compare(one, Comparison::Equal, other)?;
        }
        let columns: Vec<usize> = of_left.into_iter().chain(of_right).collect();
        if let Some(filter) = filter {
            self.conditions(filter, schema, &columns)?;
        }
        Some(columns)
    }

    fn table(&mut self, scan: &TableScan) -> Option<Vec<usize>> {
        let provider = source_as_provider(&scan.source).ok()?;
        let table = provider.downcast_ref::<SqlTable>()?;
        // Rows of another search are not held as well.
        if scan.fetch.is_some() || table.rows.holds_tables() {
            return None;
        }
        let schema = table.rows.schema();
        let columns = scan.projection.clone().unwrap_or_else(|| (0..schema.fields().len()).collect());
        if columns.is_empty() || columns.len() > MOST_COLUMNS {
            return None;
        }
        let mut filter = None;
        for one in &scan.filters {
            filter = Predicate::both(filter, Some(table.predicate(one)?));
        }
        let first = self.fields.len();
        for column in &columns {
            let field = schema.fields().get(*column)?;
            self.types.push(Type::of(field.data_type()).filter(|_| field.metadata().is_empty())?);
            self.fields.push(Arc::clone(field));
        }
        self.leaves.push(Leaf { name: table.name.clone(), rows: Arc::clone(&table.rows), columns, filter });
        Some((first..self.fields.len()).collect())
    }

    fn conditions(&mut self, condition: &Expr, schema: &DFSchema, columns: &[usize]) -> Option<()> {
        for one in split_conjunction(condition) {
            if let Expr::BinaryExpr(BinaryExpr { left, op, right }) = one
                && let (Expr::Column(left), Expr::Column(right)) = (&**left, &**right)
                && let Some(comparison) = comparison(*op)
                && let (Some(left), Some(right)) = (numbered(left, schema, columns), numbered(right, schema, columns))
                && self.compare(left, comparison, right).is_some()
            {
                continue;
            }
            if let Expr::IsNotNull(column) = one
                && let Some(column) = column.try_as_col()
            {
                self.required.push(numbered(column, schema, columns)?);
                continue;
            }
            // A condition on one table leaves few of its rows, perhaps: the engine tests it first.
            let of_one = |column: &&Column| numbered(column, schema, columns).map(|column| self.leaf_of(column));
            let read: Vec<_> = one.column_refs().iter().map(of_one).collect::<Option<_>>()?;
            if read.iter().all(|leaf| Some(leaf) == read.first()) {
                return None;
            }
            let other = renamed(one.clone(), |column| numbered(column, schema, columns).map(name_of)).ok().flatten()?;
            self.others.push(other);
        }
        Some(())
    }

    /// The table of a column.
    fn leaf_of(&self, column: usize) -> usize {
        let mut ends = self.leaves.iter().scan(0, |end, leaf| {
            *end += leaf.columns.len();
            Some(*end)
        });
        ends.position(|end| column < end).unwrap_or_default()
    }

    /// Nothing, if columns have different types.
    fn compare(&mut self, left: usize, comparison: Comparison, right: usize) -> Option<()> {
        if self.types.get(left)? != self.types.get(right)? {
            return None;
        }
        match comparison {
            Comparison::Equal => self.equal.push((left, right)),
            other => self.comparisons.push((left, other, right)),
        }
        Some(())
    }

    /// What is searched, if the tables are connected, and a search is not slower than joining one table after another.
    pub fn spec(self, counts: bool) -> Option<Spec> {
        if !self.are_alike() {
            return None;
        }
        let mut nodes: Vec<usize> = (0..self.fields.len()).collect();
        for (left, right) in &self.equal {
            let (one, other) = (*nodes.get(*left)?, *nodes.get(*right)?);
            nodes.iter_mut().filter(|node| **node == other).for_each(|node| *node = one);
        }
        // Numbers without gaps.
        let mut known = BTreeMap::new();
        for node in &mut nodes {
            let next = known.len();
            *node = *known.entry(*node).or_insert(next);
        }
        let node_count = known.len();
        if !self.is_connected(&nodes, node_count) {
            return None;
        }
        let node = |column: &usize| nodes.get(*column).copied();
        let (mut comparisons, mut with_itself) = (Vec::new(), Vec::new());
        for (left, comparison, right) in &self.comparisons {
            let (left, right) = (node(left)?, node(right)?);
            match (left == right, comparison) {
                (false, _) => comparisons.push((left, *comparison, right)),
                // True, unless it is null.
                (true, Comparison::LessOrEqual | Comparison::GreaterOrEqual) => with_itself.push(left),
                // No rows: the engine finds that out.
                (true, _) => return None,
            }
        }
        let is_compared = |node: usize| {
            with_itself.contains(&node)
                || nodes.iter().filter(|other| **other == node).count() > 1
                || comparisons.iter().any(|(left, _, right)| *left == node || *right == node)
        };
        let required = nodes.iter().enumerate();
        let required = required.map(|(column, node)| is_compared(*node) || self.required.contains(&column)).collect();
        Some(Spec { leaves: self.leaves, types: self.types, nodes, node_count, comparisons, required, counts })
    }

    fn is_connected(&self, nodes: &[usize], count: usize) -> bool {
        let mut reached = vec![false; count];
        reached.iter_mut().take(1).for_each(|first| *first = true);
        for _ in 0..self.leaves.len() {
            let mut first = 0;
            for leaf in &self.leaves {
                let own = nodes.get(first..first + leaf.columns.len()).unwrap_or_default();
                first += leaf.columns.len();
                if own.iter().any(|node| reached.get(*node) == Some(&true)) {
                    own.iter().for_each(|node| reached[*node] = true);
                }
            }
        }
        reached.into_iter().all(|one| one)
    }

    /// Whether all tables are read by scans, of about as many rows.
    fn are_alike(&self) -> bool {
        let (mut counts, mut parts) = (Vec::new(), Vec::new());
        for leaf in &self.leaves {
            if leaf.rows.is_found(&leaf.wanted()) {
                return false;
            }
            parts.push(leaf.filter.as_ref().map_or(1.0, |filter| leaf.rows.fraction(filter)));
            counts.push(leaf.rows.statistics().num_rows.get_value().copied());
        }
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let of_rows = |(count, part): (&Option<usize>, &f64)| count.map(|count| count as f64 * part);
        let rows: Option<Vec<f64>> = counts.iter().zip(&parts).map(of_rows).collect();
        let rows = rows.unwrap_or(parts);
        let most = rows.iter().copied().fold(0.0, f64::max);
        rows.iter().all(|rows| rows * ALIKE >= most)
    }
}

fn comparison(op: Operator) -> Option<Comparison> {
    match op {
        Operator::Eq => Some(Comparison::Equal),
        Operator::NotEq => Some(Comparison::NotEqual),
        Operator::Lt => Some(Comparison::Less),
        Operator::LtEq => Some(Comparison::LessOrEqual),
        Operator::Gt => Some(Comparison::Greater),
        Operator::GtEq => Some(Comparison::GreaterOrEqual),
        _ => None,
    }
}

/// The number of a column of rows with this schema.
pub(super) fn numbered(column: &Column, schema: &DFSchema, columns: &[usize]) -> Option<usize> {
    columns.get(schema.index_of_column(column).ok()?).copied()
}

/// The name of a column by its number.
pub(super) fn name_of(number: usize) -> String {
    format!("column_{number}")
}

/// An expression whose columns have other names; nothing, if it has a column without one, or a subquery.
///
/// # Errors
/// Those of the engine.
pub fn renamed(expr: Expr, mut name: impl FnMut(&Column) -> Option<String>) -> Result<Option<Expr>> {
    let mut is_known = true;
    let expr = expr.transform_up(|expr| {
        Ok(match expr {
            Expr::Column(column) => match name(&column) {
                Some(name) => Transformed::yes(Expr::Column(Column::from_name(name))),
                None => {
                    is_known = false;
                    Transformed::no(Expr::Column(column))
                }
            },
            other => {
                is_known &= !matches!(
                    other,
                    Expr::OuterReferenceColumn(..)
                        | Expr::ScalarSubquery(_)
                        | Expr::InSubquery(_)
                        | Expr::Exists(_)
                        | Expr::SetComparison(_)
                );
                Transformed::no(other)
            }
        })
    });
    Ok(Some(expr.data()?).filter(|_| is_known))
}
