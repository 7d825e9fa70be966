//! Times beside other times, and beside texts.
//!
//! The engine compares and unites times only if they have one unit, and literals have nanoseconds. A text that a function unites with times is one.

use arrow_schema::{DataType, TimeUnit};
use datafusion::common::{DFSchema, ScalarValue};
use datafusion::logical_expr::{Expr, ExprSchemable, cast};

/// The times of several units among the operands as nanoseconds.
pub(crate) fn in_one_unit(operands: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let types: Vec<Option<DataType>> = operands.iter().map(|one| one.get_type(schema).ok()).collect();
    let mut times = types.iter().flatten().filter(|own| is_time(own));
    let first = times.next();
    if first.is_none() || times.all(|own| Some(own) == first) {
        return false;
    }
    let wide = DataType::Time64(TimeUnit::Nanosecond);
    for (one, own) in operands.iter_mut().zip(types) {
        if own.is_some_and(|own| is_time(&own) && own != wide) {
            **one = cast(std::mem::take(*one), wide.clone());
        }
    }
    true
}

/// Texts of the question and parameters among the operands as what the others are: dates, times, timestamps.
pub(crate) fn of_texts(operands: &mut [&mut Expr], schema: &DFSchema) -> bool {
    let types: Vec<Option<DataType>> = operands.iter().map(|one| one.get_type(schema).ok()).collect();
    let Some(wanted) = types.iter().flatten().find(|own| own.is_temporal()).cloned() else { return false };
    let mut is_changed = false;
    for one in operands {
        let is_text = matches!(
            one,
            Expr::Literal(ScalarValue::Utf8(Some(_)) | ScalarValue::LargeUtf8(Some(_)), _) | Expr::Placeholder(_)
        );
        if is_text {
            **one = cast(std::mem::take(*one), wanted.clone());
            is_changed = true;
        }
    }
    is_changed
}

fn is_time(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Time32(_) | DataType::Time64(_))
}
