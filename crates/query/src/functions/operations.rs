//! Functions that stand for operations of the engine which answer wrongly.

use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, PrimitiveArray, TimestampNanosecondArray};
use arrow_schema::{DECIMAL128_MAX_PRECISION, DataType, IntervalUnit, TimeUnit};
use datafusion::arrow::compute::kernels::arity::try_binary;
use datafusion::arrow::compute::kernels::numeric::{add, div, mul, neg, rem, sub};
use datafusion::arrow::compute::{CastOptions, cast_with_options};
use datafusion::arrow::error::ArrowError;
use datafusion::common::utils::normalize_float_zero;
use datafusion::common::{DataFusionError, Result, ScalarValue, internal_err};
use datafusion::logical_expr::binary::BinaryTypeCoercer;
use datafusion::logical_expr::{
    ColumnarValue, Expr, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility, lit,
};
use datafusion::physical_expr_common::datum::apply;
use isomorph::Error;

use crate::errors::inside;
use crate::functions::doubles::nearest;
use crate::functions::intervals::{canonicals, extremes, lengths};
use crate::functions::local_times::instants_in;
use crate::functions::sums::{has_digits, too_long};
use crate::functions::truncated::begins;
use crate::rewrite::instants::UTC;

/// What a function does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Does {
    /// `-` of an integer: an error where the engine wraps.
    Negate,
    /// `0.0` for `-0.0`, which are equal.
    Zero,
    /// A date or time in nanoseconds; those that are too far away become the first or last one. For comparisons.
    Nanoseconds,
    /// A date, or a text of a time, in microseconds. For comparisons.
    Microseconds,
    /// The float that is nearest to a decimal.
    Nearest,
    /// The begin of the year, month … of a date or time, as a time.
    Begin,
    /// The length of an interval in nanoseconds, with days of 24 hours and months of 30 days. For comparisons.
    Length,
    /// The interval that stands for all of its length. Where equal intervals are found by their fields.
    Canonical,
    /// The longer of two intervals.
    Longer,
    /// The shorter of two intervals.
    Shorter,
    /// True, whatever the value is: a key of joins that all rows share.
    Always,
    /// The value, which may be null, whatever the engine knows of its column.
    Perhaps,
    /// The instant of a local time in a zone, in UTC: a cast to the zone is undone by the engine where it is compared with a constant, as if it changed nothing.
    Instant,
    /// The nearest whole number; of two, the even one. For casts of floats to integers.
    Whole,
    /// The nearest decimal with so many digits after the point; of two, the one farther from zero.
    Rounded(i8),
}

/// What a statement calls the function that is true of every value.
pub(crate) const ALWAYS_NAME: &str = "_true_of";

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
    NEGATE = Negate of 1;
    ZERO = Zero of 1;
    NANOSECONDS = Nanoseconds of 1;
    MICROSECONDS = Microseconds of 1;
    NEAREST = Nearest of 1;
    BEGIN = Begin of 2;
    WHOLE = Whole of 1;
    LENGTH = Length of 1;
    CANONICAL = Canonical of 1;
    LONGER = Longer of 2;
    SHORTER = Shorter of 2;
    ALWAYS = Always of 1;
    PERHAPS = Perhaps of 1;
    INSTANT = Instant of 2;
}

/// `+`, `-`, `*` and shifts of integers of one type, and all arithmetic of decimals, from left to right: an error where the engine wraps, or has more digits than its
/// type. A chain is one function, as the engine's work grows with
/// the depth of expressions.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Checked {
    operators: Vec<Operator>,
    is_decimal: bool,
    name: String,
    signature: Signature,
}

/// `left op right` of integers of one type or of decimals, with an error for what the type does not hold.
pub(crate) fn checked(left: Expr, op: Operator, right: Expr, is_decimal: bool) -> Expr {
    let (mut operators, mut args) = match left {
        Expr::ScalarFunction(function) => match chain(&function.func) {
            Some(chain) if chain.is_decimal == is_decimal => (chain.operators.clone(), function.args),
            _ => (Vec::new(), vec![Expr::ScalarFunction(function)]),
        },
        other => (Vec::new(), vec![other]),
    };
    operators.push(op);
    args.push(right);
    ScalarUDF::from(Checked::of(operators, is_decimal)).call(args)
}

impl Checked {
    fn of(operators: Vec<Operator>, is_decimal: bool) -> Self {
        let signs: Vec<String> = operators.iter().map(ToString::to_string).collect();
        let name = format!("checked {}", signs.join(" "));
        let signature = Signature::any(operators.len() + 1, Volatility::Immutable);
        Checked { operators, is_decimal, name, signature }
    }
}

fn chain(function: &Arc<ScalarUDF>) -> Option<&Checked> {
    let any: &dyn std::any::Any = function.inner().as_ref();
    any.downcast_ref::<Checked>()
}

/// The operators that chains have.
#[cfg(feature = "distributed")]
const CHAINED: [Operator; 7] = [
    Operator::Plus,
    Operator::Minus,
    Operator::Multiply,
    Operator::Divide,
    Operator::Modulo,
    Operator::BitwiseShiftLeft,
    Operator::BitwiseShiftRight,
];

/// A function that is made for a question as text: `int + -` for a chain, `round 2` for decimals of fewer digits. Nothing for other functions.
#[cfg(feature = "distributed")]
pub(crate) fn made_to_text(function: &ScalarUDF) -> Option<String> {
    let any: &dyn std::any::Any = function.inner().as_ref();
    if let Some(Function { does: Does::Rounded(scale), .. }) = any.downcast_ref() {
        return Some(format!("round {scale}"));
    }
    let chain = any.downcast_ref::<Checked>()?;
    let signs: Vec<String> = chain.operators.iter().map(ToString::to_string).collect();
    Some(format!("{} {}", if chain.is_decimal { "decimal" } else { "int" }, signs.join(" ")))
}

/// The function of such a text.
#[cfg(feature = "distributed")]
pub(crate) fn made_of_text(text: &str) -> Option<Arc<ScalarUDF>> {
    let (kind, rest) = text.split_once(' ')?;
    let is_decimal = match kind {
        "round" => return rest.parse().ok().map(|scale| Function::udf(Does::Rounded(scale), 1)),
        "decimal" => true,
        "int" => false,
        _ => return None,
    };
    let operator = |sign: &str| CHAINED.iter().copied().find(|one| one.to_string() == sign);
    let operators = rest.split(' ').map(operator).collect::<Option<Vec<_>>>()?;
    Some(Arc::new(ScalarUDF::from(Checked::of(operators, is_decimal))))
}

/// The functions whose names say all that they do.
#[cfg(feature = "distributed")]
pub(crate) fn all() -> [Arc<ScalarUDF>; 14] {
    [
        &NEGATE,
        &ZERO,
        &NANOSECONDS,
        &MICROSECONDS,
        &NEAREST,
        &BEGIN,
        &WHOLE,
        &LENGTH,
        &CANONICAL,
        &LONGER,
        &SHORTER,
        &ALWAYS,
        &PERHAPS,
        &INSTANT,
    ]
    .map(|function| Arc::clone(function))
}

/// The first operand of such a chain of integers, which has its type.
pub(crate) fn first_operand(value: &Expr) -> Option<&Expr> {
    match value {
        Expr::ScalarFunction(function) if chain(&function.func).is_some_and(|chain| !chain.is_decimal) => {
            function.args.first()
        }
        _ => None,
    }
}

impl ScalarUDFImpl for Checked {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        let Some((first, others)) = types.split_first() else { return internal_err!("{} of nothing", self.name) };
        if !self.is_decimal {
            return Ok(first.clone());
        }
        let mut both = self.operators.iter().zip(others);
        both.try_fold(first.clone(), |left, (op, right)| BinaryTypeCoercer::new(&left, op, right).get_result_type())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let mut all = args.args.into_iter();
        let Some(mut value) = all.next() else { return internal_err!("{} of nothing", self.name) };
        for (operator, other) in self.operators.iter().zip(all) {
            value = match operator {
                Operator::Plus => apply(&value, &other, |left, right| add(left, right)),
                Operator::Minus => apply(&value, &other, |left, right| sub(left, right)),
                Operator::Divide => apply(&value, &other, |left, right| div(left, right)),
                Operator::Modulo => apply(&value, &other, |left, right| rem(left, right)),
                Operator::BitwiseShiftLeft | Operator::BitwiseShiftRight => {
                    let is_left = *operator == Operator::BitwiseShiftLeft;
                    let is_scalar = [&value, &other].iter().all(|one| matches!(one, ColumnarValue::Scalar(_)));
                    let rows = if is_scalar { 1 } else { args.number_rows };
                    let found = shifted(&value.into_array(rows)?, &other.into_array(rows)?, is_left)?;
                    match is_scalar {
                        true => ScalarValue::try_from_array(&found, 0).map(ColumnarValue::Scalar),
                        false => Ok(ColumnarValue::Array(found)),
                    }
                }
                _ => apply(&value, &other, |left, right| mul(left, right)),
            }?;
            if self.is_decimal && !is_in_type(&value) {
                return Err(too_long());
            }
        }
        Ok(value)
    }
}

/// `left << right` or `left >> right`, of integers of one type.
fn shifted(left: &ArrayRef, right: &ArrayRef, is_left: bool) -> Result<ArrayRef> {
    match left.data_type() {
        DataType::Int8 => shift::<Int8Type>(left, right, is_left),
        DataType::Int16 => shift::<Int16Type>(left, right, is_left),
        DataType::Int32 => shift::<Int32Type>(left, right, is_left),
        DataType::Int64 => shift::<Int64Type>(left, right, is_left),
        DataType::UInt8 => shift::<UInt8Type>(left, right, is_left),
        DataType::UInt16 => shift::<UInt16Type>(left, right, is_left),
        DataType::UInt32 => shift::<UInt32Type>(left, right, is_left),
        DataType::UInt64 => shift::<UInt64Type>(left, right, is_left),
        other => internal_err!("{other} is no integer"),
    }
}

fn shift<T: ArrowPrimitiveType>(left: &ArrayRef, right: &ArrayRef, is_left: bool) -> Result<ArrayRef>
where
    T::Native: Into<i128> + TryFrom<i128>,
{
    let bits = 8 * size_of::<T::Native>();
    let sign = if is_left { "<<" } else { ">>" };
    let one = |value: T::Native, by: T::Native| {
        let (value, by): (i128, i128) = (value.into(), by.into());
        let by = u32::try_from(by).ok().filter(|by| (*by as usize) < bits).ok_or_else(|| {
            ArrowError::ArithmeticOverflow(format!(
                "{value} {sign} {by}: an integer of {bits} bits is shifted by 0 to {}",
                bits - 1
            ))
        })?;
        // 128 bits have room for 64 that are shifted by 63.
        let result = if is_left { value << by } else { value >> by };
        let too_large = || ArrowError::ArithmeticOverflow(format!("{value} << {by} exceeds an integer of {bits} bits"));
        T::Native::try_from(result).map_err(|_| too_large())
    };
    let all: PrimitiveArray<T> = try_binary(left.as_primitive::<T>(), right.as_primitive::<T>(), one)?;
    Ok(Arc::new(all))
}

/// Whether decimals have no more digits than their type.
fn is_in_type(value: &ColumnarValue) -> bool {
    match value {
        ColumnarValue::Scalar(ScalarValue::Decimal128(Some(value), digits, _)) => has_digits(*value, *digits),
        ColumnarValue::Array(array) => match (array.data_type(), array.as_primitive_opt::<Decimal128Type>()) {
            (DataType::Decimal128(digits, _), Some(values)) => {
                values.iter().flatten().all(|value| has_digits(value, *digits))
            }
            _ => true,
        },
        ColumnarValue::Scalar(_) => true,
    }
}

/// `- value`, with an error for the least integer.
pub(crate) fn negated(value: Expr) -> Expr {
    NEGATE.call(vec![value])
}

/// A float whose zero has no sign.
pub(crate) fn without_sign_of_zero(value: Expr) -> Expr {
    ZERO.call(vec![value])
}

/// The whole number nearest to a float, as a float.
pub(crate) fn whole(value: Expr) -> Expr {
    WHOLE.call(vec![value])
}

/// The length of an interval, for comparisons.
pub(crate) fn length(value: Expr) -> Expr {
    LENGTH.call(vec![value])
}

/// The interval that stands for all of its length.
pub(crate) fn canonical(value: Expr) -> Expr {
    CANONICAL.call(vec![value])
}

/// The longer or shorter of two intervals.
pub(crate) fn further(left: Expr, right: Expr, is_greatest: bool) -> Expr {
    if is_greatest { &LONGER } else { &SHORTER }.call(vec![left, right])
}

/// A value that may be null.
pub(crate) fn perhaps(value: Expr) -> Expr {
    PERHAPS.call(vec![value])
}

/// The function that is true of every value, which a statement can name.
pub(crate) fn always() -> Arc<ScalarUDF> {
    Arc::clone(&ALWAYS)
}

/// The instant of a timestamp without a zone, which is a local time in this one.
pub(crate) fn instant_of(time: Expr, zone: &str) -> Expr {
    INSTANT.call(vec![time, lit(zone)])
}

/// A decimal with fewer digits after the point.
pub(crate) fn rounded(value: Expr, scale: i8) -> Expr {
    Function::udf(Does::Rounded(scale), 1).call(vec![value])
}

/// Whether equal results of this expression are the same: it is such a function.
pub(crate) fn is_in_one_form(value: &Expr) -> bool {
    matches!(value, Expr::ScalarFunction(function) if [ZERO.name(), CANONICAL.name()].contains(&function.func.name()))
}

/// A date or time in nanoseconds, for comparisons.
pub(crate) fn in_nanoseconds(value: Expr) -> Expr {
    NANOSECONDS.call(vec![value])
}

/// A date, a time, or a text of one, in microseconds, for comparisons: an error for years that these do not have.
pub(crate) fn in_microseconds(value: Expr) -> Expr {
    MICROSECONDS.call(vec![value])
}

/// A decimal as a float.
pub(crate) fn nearest_float(value: Expr) -> Expr {
    NEAREST.call(vec![value])
}

/// The begin of the year, month … of a date or time.
pub(crate) fn begin(of: Expr, time: Expr) -> Expr {
    BEGIN.call(vec![of, time])
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        match self.does {
            Does::Negate => "checked_negate",
            Does::Zero => "without_sign_of_zero",
            Does::Nanoseconds => "in_nanoseconds",
            Does::Microseconds => "in_microseconds",
            Does::Nearest => "nearest_float",
            Does::Begin => "begin_of_date",
            Does::Whole => "nearest_integer",
            Does::Length => "length_of_interval",
            Does::Canonical => "canonical_interval",
            Does::Longer => "longer_interval",
            Does::Shorter => "shorter_interval",
            Does::Always => ALWAYS_NAME,
            Does::Perhaps => "value_or_null",
            Does::Instant => "instant_of_zone",
            Does::Rounded(_) => "nearest_decimal",
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
            (Does::Length, _) => DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0),
            (Does::Canonical | Does::Longer | Does::Shorter, _) => DataType::Interval(IntervalUnit::MonthDayNano),
            (Does::Always, _) => DataType::Boolean,
            (Does::Instant, Some(DataType::Timestamp(unit, _))) => DataType::Timestamp(*unit, Some(UTC.into())),
            (Does::Begin, _) => match types.get(1) {
                Some(own @ DataType::Timestamp(..)) => own.clone(),
                _ => DataType::Timestamp(TimeUnit::Microsecond, None),
            },
            (Does::Microseconds, Some(DataType::Timestamp(_, zone))) => {
                DataType::Timestamp(TimeUnit::Microsecond, zone.clone())
            }
            (Does::Microseconds, _) => DataType::Timestamp(TimeUnit::Microsecond, None),
            (Does::Rounded(to), Some(DataType::Decimal128(digits, from))) => {
                // A digit more, as 9.9 becomes 10.
                let left = i16::from(*digits) - i16::from(*from) + i16::from(to) + 1;
                let left = u8::try_from(left).unwrap_or(DECIMAL128_MAX_PRECISION).min(DECIMAL128_MAX_PRECISION);
                DataType::Decimal128(left, to)
            }
            (_, Some(own)) => own.clone(),
            (_, None) => return internal_err!("{} of nothing", self.name()),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match (self.does, args.args.as_slice()) {
            (Does::Negate, [value]) => each(value, &|array| Ok(neg(array.as_ref())?)),
            (Does::Zero, [value]) => each(value, &|array| Ok(normalize_float_zero(array))),
            (Does::Nanoseconds, [value]) => each(value, &nanoseconds),
            (Does::Microseconds, [value]) => each(value, &microseconds),
            (Does::Nearest, [value]) => each(value, &|array| match array.data_type() {
                DataType::Decimal128(_, scale) => {
                    let scale = *scale;
                    let all: Float64Array = array.as_primitive::<Decimal128Type>().unary(|value| nearest(value, scale));
                    Ok(Arc::new(all))
                }
                other => internal_err!("{other} is no decimal"),
            }),
            (Does::Whole, [value]) => each(value, &|array| match array.data_type() {
                DataType::Float32 => {
                    let all = array.as_primitive::<Float32Type>();
                    Ok(Arc::new(all.unary::<_, Float32Type>(f32::round_ties_even)))
                }
                DataType::Float64 => {
                    let all = array.as_primitive::<Float64Type>();
                    Ok(Arc::new(all.unary::<_, Float64Type>(f64::round_ties_even)))
                }
                other => internal_err!("{other} is no float"),
            }),
            (Does::Length, [value]) => each(value, &lengths),
            (Does::Canonical, [value]) => each(value, &canonicals),
            (Does::Longer | Does::Shorter, [left, right]) => {
                let [left, right] = [left.to_array(args.number_rows)?, right.to_array(args.number_rows)?];
                extremes(&left, &right, self.does == Does::Longer).map(ColumnarValue::Array)
            }
            (Does::Always, [value]) => each(value, &|array| Ok(Arc::new(BooleanArray::from(vec![true; array.len()])))),
            (Does::Perhaps, [value]) => Ok(value.clone()),
            (Does::Rounded(scale), [value]) => {
                let data_type = args.return_field.data_type();
                each(value, &|array| round(array, scale, data_type))
            }
            (Does::Instant, [time, ColumnarValue::Scalar(zone)]) => {
                let zone = zone.try_as_str().flatten().unwrap_or(UTC);
                let utc = args.return_field.data_type();
                each(time, &|times| instants_in(times, zone, utc))
            }
            (Does::Begin, [ColumnarValue::Scalar(of), date]) => {
                let of = of.try_as_str().flatten().unwrap_or_default().to_lowercase();
                each(date, &|dates| begins(&of, dates))
            }
            _ => internal_err!("{} of {} arguments", self.name(), args.args.len()),
        }
    }
}

fn each(value: &ColumnarValue, change: &dyn Fn(&ArrayRef) -> Result<ArrayRef>) -> Result<ColumnarValue> {
    match value {
        ColumnarValue::Array(array) => change(array).map(ColumnarValue::Array),
        ColumnarValue::Scalar(value) => {
            let array = change(&value.to_array()?)?;
            ScalarValue::try_from_array(&array, 0).map(ColumnarValue::Scalar)
        }
    }
}

/// Decimals rounded to fewer digits after the point: halves away from zero.
fn round(array: &ArrayRef, scale: i8, data_type: &DataType) -> Result<ArrayRef> {
    let DataType::Decimal128(_, from) = array.data_type() else {
        return internal_err!("{} is no decimal", array.data_type());
    };
    let less = u32::try_from(i16::from(*from) - i16::from(scale)).unwrap_or_default();
    let Some(unit) = 10_i128.checked_pow(less) else { return internal_err!("a scale of {less} digits") };
    let rounded = |value: i128| {
        let (whole, rest) = (value / unit, (value % unit).abs());
        // Twice the rest may have no room.
        if rest >= unit - rest { whole + value.signum() } else { whole }
    };
    let all = array.as_primitive::<Decimal128Type>().unary::<_, Decimal128Type>(rounded);
    Ok(Arc::new(all.with_data_type(data_type.clone())))
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

fn microseconds(array: &ArrayRef) -> Result<ArrayRef> {
    const DAY: i64 = 86_400_000_000;
    let zone = match array.data_type() {
        DataType::Timestamp(_, zone) => zone.clone(),
        _ => None,
    };
    let to = DataType::Timestamp(TimeUnit::Microsecond, zone);
    if let Some(days) = array.as_primitive_opt::<Date32Type>() {
        let times = days.try_unary::<_, TimestampMicrosecondType, DataFusionError>(|days| {
            let time = i64::from(days).checked_mul(DAY);
            time.ok_or_else(|| {
                inside(Error::usage("the question cannot be answered: a date is beyond the years of timestamps"))
            })
        });
        return Ok(Arc::new(times?));
    }
    let options = CastOptions { safe: false, ..CastOptions::default() };
    Ok(cast_with_options(array, &to, &options)?)
}

#[cfg(all(test, feature = "distributed"))]
mod tests {
    use super::*;

    #[test]
    fn functions_that_are_made_for_a_question_come_back_from_their_texts() {
        let chain = |(operators, is_decimal)| ScalarUDF::from(Checked::of(operators, is_decimal));
        let mut made: Vec<ScalarUDF> =
            [(vec![Operator::Plus], false), (CHAINED.to_vec(), true)].into_iter().map(chain).collect();
        made.extend([0, 2, -3].map(|scale| Function::udf(Does::Rounded(scale), 1).as_ref().clone()));
        for function in made {
            let back = made_to_text(&function).and_then(|text| made_of_text(&text));
            assert_eq!(back.as_deref(), Some(&function));
        }
        assert!(["int ^", "round", "round x", "x 1"].iter().all(|text| made_of_text(text).is_none()));
        // The others are found by their names, each by its own.
        let mut names: Vec<String> = all().iter().map(|function| function.name().to_owned()).collect();
        assert!(all().iter().all(|function| made_to_text(function).is_none()));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all().len());
    }
}
