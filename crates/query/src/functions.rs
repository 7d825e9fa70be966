//! Functions that stand for operations of the engine which answer wrongly.

use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Date32Type, Decimal128Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType,
};
use arrow_array::{Array, ArrayRef, Float64Array, TimestampNanosecondArray};
use arrow_schema::{DataType, TimeUnit};
use datafusion::arrow::compute::kernels::numeric::{add, mul, neg, sub};
use datafusion::common::utils::normalize_float_zero;
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply;

use crate::doubles::nearest;

/// What a function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Does {
    /// `+`, `-`, `*` of integers: an error where the engine wraps.
    Add,
    Subtract,
    Multiply,
    Negate,
    /// `0.0` for `-0.0`, which are equal.
    Zero,
    /// A date or time in nanoseconds; those that are too far away become the first or last one. For comparisons.
    Nanoseconds,
    /// The float that is nearest to a decimal.
    Nearest,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Function {
    does: Does,
    signature: Signature,
}

impl Function {
    fn udf(does: Does, arguments: usize) -> Arc<ScalarUDF> {
        Arc::new(ScalarUDF::from(Function { does, signature: Signature::any(arguments, Volatility::Immutable) }))
    }
}

macro_rules! function {
    ($($name:ident = $does:ident of $arguments:literal;)*) => {
        $(static $name: LazyLock<Arc<ScalarUDF>> = LazyLock::new(|| Function::udf(Does::$does, $arguments));)*
    };
}

function! {
    ADD = Add of 2;
    SUBTRACT = Subtract of 2;
    MULTIPLY = Multiply of 2;
    NEGATE = Negate of 1;
    ZERO = Zero of 1;
    NANOSECONDS = Nanoseconds of 1;
    NEAREST = Nearest of 1;
}

/// `left op right` of integers of one type, with an error for what the type does not hold.
pub(crate) fn checked(left: Expr, op: Operator, right: Expr) -> Option<Expr> {
    let function = match op {
        Operator::Plus => &ADD,
        Operator::Minus => &SUBTRACT,
        Operator::Multiply => &MULTIPLY,
        _ => return None,
    };
    Some(function.call(vec![left, right]))
}

/// `- value`, with an error for the least integer.
pub(crate) fn negated(value: Expr) -> Expr {
    NEGATE.call(vec![value])
}

/// A float whose zero has no sign.
pub(crate) fn without_sign_of_zero(value: Expr) -> Expr {
    ZERO.call(vec![value])
}

/// Whether this is such a function.
pub(crate) fn has_no_sign_of_zero(value: &Expr) -> bool {
    matches!(value, Expr::ScalarFunction(function) if function.func.name() == ZERO.name())
}

/// A date or time in nanoseconds, for comparisons.
pub(crate) fn in_nanoseconds(value: Expr) -> Expr {
    NANOSECONDS.call(vec![value])
}

/// A decimal as a float.
pub(crate) fn nearest_float(value: Expr) -> Expr {
    NEAREST.call(vec![value])
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        match self.does {
            Does::Add => "checked_add",
            Does::Subtract => "checked_subtract",
            Does::Multiply => "checked_multiply",
            Does::Negate => "checked_negate",
            Does::Zero => "without_sign_of_zero",
            Does::Nanoseconds => "in_nanoseconds",
            Does::Nearest => "nearest_float",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(match (self.does, types.first()) {
            (Does::Nanoseconds, Some(DataType::Timestamp(_, zone))) => {
                DataType::Timestamp(TimeUnit::Nanosecond, zone.clone())
            }
            (Does::Nanoseconds, _) => DataType::Timestamp(TimeUnit::Nanosecond, None),
            (Does::Nearest, _) => DataType::Float64,
            (_, Some(own)) => own.clone(),
            (_, None) => return internal_err!("{} of nothing", self.name()),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match (self.does, args.args.as_slice()) {
            (Does::Add, [left, right]) => apply(left, right, |left, right| add(left, right)),
            (Does::Subtract, [left, right]) => apply(left, right, |left, right| sub(left, right)),
            (Does::Multiply, [left, right]) => apply(left, right, |left, right| mul(left, right)),
            (Does::Negate, [value]) => each(value, &|array| Ok(neg(array.as_ref())?)),
            (Does::Zero, [value]) => each(value, &|array| Ok(normalize_float_zero(array))),
            (Does::Nanoseconds, [value]) => each(value, &nanoseconds),
            (Does::Nearest, [value]) => each(value, &|array| match array.data_type() {
                DataType::Decimal128(_, scale) => {
                    let scale = *scale;
                    let all: Float64Array = array.as_primitive::<Decimal128Type>().unary(|value| nearest(value, scale));
                    Ok(Arc::new(all))
                }
                other => internal_err!("{other} is no decimal"),
            }),
            _ => internal_err!("{} of {} arguments", self.name(), args.args.len()),
        }
    }
}

fn each(value: &ColumnarValue, change: &dyn Fn(&ArrayRef) -> Result<ArrayRef>) -> Result<ColumnarValue> {
    match value {
        ColumnarValue::Array(array) => change(array).map(ColumnarValue::Array),
        ColumnarValue::Scalar(value) => {
            let array = change(&value.to_array()?)?;
            datafusion::common::ScalarValue::try_from_array(&array, 0).map(ColumnarValue::Scalar)
        }
    }
}

fn nanoseconds(array: &ArrayRef) -> Result<ArrayRef> {
    const DAY: i64 = 86_400_000_000_000;
    let times: TimestampNanosecondArray = match array.data_type() {
        DataType::Date32 => array.as_primitive::<Date32Type>().unary(|days| i64::from(days).saturating_mul(DAY)),
        DataType::Timestamp(TimeUnit::Second, _) => {
            array.as_primitive::<TimestampSecondType>().unary(|time| time.saturating_mul(1_000_000_000))
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => {
            array.as_primitive::<TimestampMillisecondType>().unary(|time| time.saturating_mul(1_000_000))
        }
        DataType::Timestamp(TimeUnit::Microsecond, _) => {
            array.as_primitive::<TimestampMicrosecondType>().unary(|time| time.saturating_mul(1000))
        }
        DataType::Timestamp(TimeUnit::Nanosecond, _) => array.as_primitive::<TimestampNanosecondType>().clone(),
        other => return internal_err!("{other} is no time"),
    };
    Ok(match array.data_type() {
        DataType::Timestamp(_, Some(zone)) => Arc::new(times.with_timezone(Arc::clone(zone))),
        _ => Arc::new(times),
    })
}
