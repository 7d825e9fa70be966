//! Texts and parameters that a function unites with dates and times: they are what the others are.

use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::{Expr, ExprSchemable, cast};

/// Casts texts of the question and parameters among the operands to the type of the first date, time or timestamp. Whether there are any.
pub(crate) fn of_texts(operands: &mut [Expr], schema: &DFSchema) -> bool {
    let types = operands.iter().filter_map(|one| one.get_type(schema).ok());
    let Some(wanted) = types.into_iter().find(arrow_schema::DataType::is_temporal) else { return false };
    let mut is_changed = false;
    for one in operands {
        let is_text = matches!(
            one,
            Expr::Literal(ScalarValue::Utf8(Some(_)) | ScalarValue::LargeUtf8(Some(_)), _) | Expr::Placeholder(_)
        );
        if is_text {
            *one = cast(std::mem::take(one), wanted.clone());
            is_changed = true;
        }
    }
    is_changed
}
