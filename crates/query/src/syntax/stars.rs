//! `select *, *`: the engine has no two columns of a name. All columns are selected once, and shown again above.

use datafusion::common::Result;
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::sql::sqlparser::ast::{self, OrderByKind, SelectItem, SetExpr, Statement, Value};

use crate::syntax::labels::Labels;

/// What a question shows: for each item whether it is all columns.
pub(crate) struct Stars(Vec<bool>);

/// Takes repeated stars out of a question; nothing, if it has none, or several different ones.
pub(crate) fn once(statement: &mut Statement) -> Option<Stars> {
    let Statement::Query(query) = statement else { return None };
    // A number in the order is the place of a column.
    let has_place = query.order_by.as_ref().is_some_and(|order| match &order.kind {
        OrderByKind::Expressions(all) => all
            .iter()
            .any(|one| matches!(&one.expr, ast::Expr::Value(value) if matches!(value.value, Value::Number(..)))),
        OrderByKind::All(_) => true,
    });
    let SetExpr::Select(select) = &mut *query.body else { return None };
    let is_star = |item: &SelectItem| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..));
    let all: Vec<bool> = select.projection.iter().map(is_star).collect();
    let mut stars = select.projection.iter().filter(|item| is_star(item));
    let first = stars.next().map(ToString::to_string)?;
    let others: Vec<String> = stars.map(ToString::to_string).collect();
    if has_place || others.is_empty() || others.iter().any(|other| *other != first) {
        return None;
    }
    let mut count = 0;
    select.projection.retain(|item| {
        count += usize::from(is_star(item));
        !is_star(item) || count == 1
    });
    Some(Stars(all))
}

impl Stars {
    /// The plan and its labels with all columns.
    ///
    /// # Errors
    /// Those of the engine.
    pub fn again(&self, plan: LogicalPlan, labels: &Labels) -> Result<(LogicalPlan, Labels)> {
        let columns = plan.schema().columns();
        let names = labels.on(plan.schema().inner());
        let (front, single) =
            (self.0.iter().take_while(|is_all| !**is_all).count(), self.0.iter().filter(|one| !**one).count());
        let stars = front..front + columns.len().saturating_sub(single);
        let mut places: Vec<usize> = Vec::new();
        let mut next = 0;
        for is_all in &self.0 {
            match is_all {
                true => places.extend(stars.clone()),
                false => places.push(if next < front { next } else { next + stars.len() }),
            }
            next += usize::from(!is_all);
        }
        let shown = places
            .iter()
            .enumerate()
            .filter_map(|(at, place)| Some(Expr::Column(columns.get(*place)?.clone()).alias(format!("_column_{at}"))));
        let plan = LogicalPlanBuilder::from(plan).project(shown.collect::<Vec<_>>())?.build()?;
        let names = places.iter().filter_map(|place| names.fields().get(*place).map(|field| field.name().clone()));
        Ok((plan, Labels::all(names.collect())))
    }
}
