//! What the engine learns while a question runs: the keys of the smaller side of a join, the bound of a top-k.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::logical_expr::Operator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{
    BinaryExpr, Column as Named, DynamicFilterPhysicalExpr, InListExpr, IsNotNullExpr, IsNullExpr, Literal, NotExpr,
};
use isomorph::Predicate;

use crate::tables::columns::Column;
use crate::tables::filter::{among, compare};

/// Something that is true of every row for which `expression` is, as a condition of the dataset: of conditions that must all be true, those that mean exactly the
/// same there.
pub(crate) fn implied(
    expression: &Arc<dyn PhysicalExpr>,
    column: &dyn Fn(&str) -> Option<Column>,
) -> Option<Predicate> {
    if let Some(filter) = expression.downcast_ref::<DynamicFilterPhysicalExpr>() {
        return implied(&filter.current().ok()?, column);
    }
    if let Some(both) = expression.downcast_ref::<BinaryExpr>().filter(|both| *both.op() == Operator::And) {
        return Predicate::both(implied(both.left(), column), implied(both.right(), column));
    }
    exactly(expression, column).filter(|predicate| *predicate != Predicate::And(Vec::new()))
}

fn exactly(expression: &Arc<dyn PhysicalExpr>, column: &dyn Fn(&str) -> Option<Column>) -> Option<Predicate> {
    let named = |expression: &Arc<dyn PhysicalExpr>| column(expression.downcast_ref::<Named>()?.name());
    if let Some(filter) = expression.downcast_ref::<DynamicFilterPhysicalExpr>() {
        return exactly(&filter.current().ok()?, column);
    }
    if let Some(binary) = expression.downcast_ref::<BinaryExpr>() {
        let both = || Some(vec![exactly(binary.left(), column)?, exactly(binary.right(), column)?]);
        return Some(match binary.op() {
            Operator::And => Predicate::And(both()?),
            Operator::Or => Predicate::Or(both()?),
            op => {
                let value = |side: &Arc<dyn PhysicalExpr>| {
                    side.downcast_ref::<Literal>().map(|literal| literal.value().clone())
                };
                match (value(binary.left()), value(binary.right())) {
                    (None, Some(value)) => compare(&named(binary.left())?, *op, &value)?,
                    (Some(value), None) => compare(&named(binary.right())?, op.swap()?, &value)?,
                    _ => return None,
                }
            }
        });
    }
    if let Some(list) = expression.downcast_ref::<InListExpr>().filter(|list| !list.negated()) {
        let values: Option<Vec<&ScalarValue>> =
            list.list().iter().map(|one| one.downcast_ref::<Literal>().map(Literal::value)).collect();
        // A null among the values equals nothing.
        let values = values?.into_iter().filter(|value| !value.is_null()).map(Some);
        return among(&named(list.expr())?, values);
    }
    if let Some(literal) = expression.downcast_ref::<Literal>() {
        return match literal.value() {
            ScalarValue::Boolean(Some(true)) => Some(Predicate::And(Vec::new())),
            ScalarValue::Boolean(_) => Some(Predicate::Or(Vec::new())),
            _ => None,
        };
    }
    if let Some(one) = expression.downcast_ref::<IsNullExpr>() {
        return Some(Predicate::IsNull(named(one.arg())?.stored));
    }
    if let Some(one) = expression.downcast_ref::<IsNotNullExpr>() {
        return Some(Predicate::IsNotNull(named(one.arg())?.stored));
    }
    if let Some(one) = expression.downcast_ref::<NotExpr>() {
        return Some(Predicate::Not(Box::new(exactly(one.arg(), column)?)));
    }
    None
}
