//! Aggregate functions of the engine, with other accumulators where its own answer wrongly.
//!
//! | aggregate | the engine | here |
//! |---|---|---|
//! | `sum` of integers | wraps | an error |
//! | `avg` of integers | a sum of floats | an exact sum, divided |
//! | `sum` and `avg` of decimals | wrap, or have more digits than their type | an error |
//! | `max` and `min` of floats in groups | depend on the order of rows where there is a NaN | NaN is the greatest |
//! | `max` and `min` of intervals | by months, then days, then the rest | by length |
//! | `sum`, `avg`, variances, correlations over a sliding window | subtract what leaves it, so that it leaves traces | computed from the rows of the window |
//! | `bool_and`, `bit_or`, `string_agg` and their like over a sliding window | refuses them | computed from the rows of the window |
//! | `percentile_cont` | a part of six digits; in groups of several threads, the values of one | the whole part; all values |
//! | `array_agg` and `string_agg` in windows of opposite orders | sort once, and are reversed with the rows | each in its own order |

use std::sync::Arc;

use arrow_array::types::{Float16Type, Float32Type, Float64Type, IntervalMonthDayNanoType};
use arrow_schema::{DataType, Field, FieldRef, IntervalUnit};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::expr::{AggregateFunctionParams, WindowFunctionParams};
use datafusion::logical_expr::function::{AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, GroupsAccumulator, ReversedUDAF, SetMonotonicity,
    Signature, StatisticsArgs,
};
use datafusion::physical_expr::expressions::Literal;

use crate::functions::extremes::{Extreme, Extremes, floats};
use crate::functions::integer_means::{self, IntegerMeans};
use crate::functions::intervals;
use crate::functions::means::{DecimalMean, mean_of};
use crate::functions::ordered_sets;
use crate::functions::sums::{DIGITS, OfValues, WholeSum, WholeSums, percentile_of, sum_of};
use crate::functions::windows::{Anew, Sliding};

/// Those whose windows are computed anew, beside sums and means.
const ANEW: [&str; 21] = [
    "var",
    "var_pop",
    "stddev",
    "stddev_pop",
    "covar_samp",
    "covar_pop",
    "corr",
    "regr_slope",
    "regr_intercept",
    "regr_count",
    "regr_r2",
    "regr_avgx",
    "regr_avgy",
    "regr_sxx",
    "regr_syy",
    "regr_sxy",
    "median",
    "bool_and",
    "bool_or",
    "bit_and",
    "bit_or",
];

/// The most digits of decimals whose mean is the engine's.
const FEW_DIGITS: u8 = 27;

/// Puts these functions in the place of the engine's.
///
/// # Errors
/// If a function cannot be registered.
pub(crate) fn register(state: &mut SessionState) -> Result<()> {
    let own = [
        ("sum", Kind::Sum),
        ("avg", Kind::Mean),
        ("max", Kind::Greatest),
        ("min", Kind::Least),
        ("percentile_cont", Kind::Percentile),
        ("array_agg", Kind::Ordered),
        ("string_agg", Kind::Ordered),
    ];
    let all = own.into_iter().chain(ANEW.map(|name| (name, Kind::Anew)));
    for (name, kind) in all {
        if let Ok(inner) = state.udaf(name) {
            state.register_udaf(Arc::new(AggregateUDF::from(Exactly { inner, kind })))?;
        }
    }
    ordered_sets::register(state)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Sum,
    Mean,
    Percentile,
    Greatest,
    Least,
    Anew,
    Ordered,
}

/// A function of the engine, and what is done otherwise.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Exactly {
    inner: Arc<AggregateUDF>,
    kind: Kind,
}

impl Exactly {
    /// Whether a result of this type is summed here.
    fn is_whole(&self, data_type: &DataType) -> bool {
        self.kind == Kind::Sum
            && matches!(data_type, DataType::Int64 | DataType::UInt64 | DataType::Decimal128(DIGITS, _))
    }

    /// Whether a mean of these values is made here: 10^11 decimals of fewer digits have room in 128 bits.
    fn is_wide(&self, argument: Option<&FieldRef>) -> bool {
        self.kind == Kind::Mean
            && argument.is_some_and(
                |field| matches!(field.data_type(), DataType::Decimal128(digits, _) if *digits > FEW_DIGITS),
            )
    }

    /// Whether the exact mean of these values is made here.
    fn is_of_integers(&self, argument: Option<&FieldRef>) -> bool {
        self.kind == Kind::Mean && integer_means::are_integers(argument)
    }

    /// Groups of floats or intervals, of which the greatest or least is found here.
    fn extremes(&self, data_type: &DataType) -> Option<Box<dyn GroupsAccumulator>> {
        let is_greatest = match self.kind {
            Kind::Greatest => true,
            Kind::Least => false,
            _ => return None,
        };
        Some(match data_type {
            DataType::Float16 => Box::new(Extremes::<Float16Type>::new(is_greatest, floats)),
            DataType::Float32 => Box::new(Extremes::<Float32Type>::new(is_greatest, floats)),
            DataType::Float64 => Box::new(Extremes::<Float64Type>::new(is_greatest, floats)),
            DataType::Interval(IntervalUnit::MonthDayNano) => {
                Box::new(Extremes::<IntervalMonthDayNanoType>::new(is_greatest, intervals::compare))
            }
            _ => return None,
        })
    }

    /// Whether the greatest or least interval is found here.
    fn is_of_intervals(&self, data_type: &DataType) -> bool {
        matches!(self.kind, Kind::Greatest | Kind::Least)
            && *data_type == DataType::Interval(IntervalUnit::MonthDayNano)
    }
}

/// The part that `percentile_cont` is asked for.
fn part(args: &AccumulatorArgs<'_>) -> Option<f64> {
    let literal = args.exprs.get(1)?.downcast_ref::<Literal>()?;
    let ScalarValue::Float64(Some(part)) = literal.value().cast_to(&DataType::Float64).ok()? else { return None };
    let is_descending = args.order_bys.first().is_some_and(|sort| sort.options.descending);
    Some(if is_descending { 1.0 - part } else { part })
}

impl AggregateUDFImpl for Exactly {
    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let data_type = args.return_type().clone();
        if self.is_of_intervals(&data_type) {
            let all = Extremes::<IntervalMonthDayNanoType>::new(self.kind == Kind::Greatest, intervals::compare);
            return Ok(Box::new(Extreme(all)));
        }
        if self.is_whole(&data_type) {
            return match args.is_distinct {
                true => {
                    let inner = self.inner.accumulator(args)?;
                    Ok(Box::new(OfValues { inner, evaluate: sum_of, parameter: 0.0, data_type }))
                }
                false => Ok(Box::new(WholeSum::new(data_type))),
            };
        }
        if self.is_of_integers(args.expr_fields.first()) {
            return integer_means::accumulator(args);
        }
        if self.is_wide(args.expr_fields.first()) {
            return match args.is_distinct {
                true => {
                    let inner = self.inner.accumulator(args)?;
                    Ok(Box::new(OfValues { inner, evaluate: mean_of, parameter: 0.0, data_type }))
                }
                false => {
                    Ok(Box::new(DecimalMean::new(args.expr_fields.first().map(|field| field.data_type()), data_type)))
                }
            };
        }
        match part(&args).filter(|_| self.kind == Kind::Percentile && !args.is_distinct) {
            Some(parameter) => {
                let inner = self.inner.accumulator(args)?;
                Ok(Box::new(OfValues { inner, evaluate: percentile_of, parameter, data_type }))
            }
            None => self.inner.accumulator(args),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        if self.is_whole(args.return_type()) && !args.is_distinct {
            let name = format_state_name(args.name, "sum");
            return Ok(vec![Arc::new(Field::new(name, DataType::Decimal128(DIGITS, 0), true))]);
        }
        if self.is_of_integers(args.input_fields.first()) {
            return Ok(integer_means::state_fields(&args));
        }
        if self.is_wide(args.input_fields.first()) && !args.is_distinct {
            let field =
                |name: &str, data_type| Arc::new(Field::new(format_state_name(args.name, name), data_type, true));
            return Ok(vec![field("count", DataType::UInt64), field("sum", DataType::Decimal128(DIGITS, 0))]);
        }
        self.inner.state_fields(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs<'_>) -> bool {
        match self.kind {
            Kind::Percentile => false,
            Kind::Sum if self.is_whole(args.return_type()) => !args.is_distinct,
            Kind::Mean if self.is_of_integers(args.expr_fields.first()) => !args.is_distinct,
            Kind::Mean if self.is_wide(args.expr_fields.first()) => false,
            _ if self.is_of_intervals(args.return_type()) => true,
            _ => self.inner.groups_accumulator_supported(args),
        }
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn GroupsAccumulator>> {
        let data_type = args.return_type().clone();
        if let Some(extremes) = self.extremes(&data_type) {
            return Ok(extremes);
        }
        if self.is_of_integers(args.expr_fields.first()) {
            return Ok(Box::new(IntegerMeans::default()));
        }
        match self.is_whole(&data_type) {
            true => Ok(Box::new(WholeSums { data_type, sums: Vec::new() })),
            false => self.inner.create_groups_accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        let is_float = args.expr_fields.first().is_some_and(|field| *field.data_type() == DataType::Float64);
        match self.kind {
            _ if args.is_distinct => Ok(Box::new(Anew::new(&Arc::new(AggregateUDF::from(self.again())), &args))),
            Kind::Sum if self.is_whole(args.return_type()) => self.accumulator(args),
            Kind::Mean if self.is_of_integers(args.expr_fields.first()) => self.accumulator(args),
            Kind::Sum | Kind::Mean if is_float => Ok(Box::new(Sliding::new(self.kind == Kind::Mean))),
            Kind::Mean if self.is_wide(args.expr_fields.first()) => self.accumulator(args),
            _ if self.is_of_intervals(args.return_type()) => {
                Ok(Box::new(Anew::new(&Arc::new(AggregateUDF::from(self.again())), &args)))
            }
            Kind::Ordered if self.inner.name() == "string_agg" => {
                Ok(Box::new(Anew::new(&Arc::new(AggregateUDF::from(self.again())), &args)))
            }
            Kind::Sum | Kind::Mean | Kind::Greatest | Kind::Least | Kind::Ordered => {
                self.inner.create_sliding_accumulator(args)
            }
            Kind::Percentile | Kind::Anew => {
                Ok(Box::new(Anew::new(&Arc::new(AggregateUDF::from(self.again())), &args)))
            }
        }
    }

    /// `sum(x + 1)` would become `sum(x) + count(x)` with additions that wrap.
    fn simplify_expr_op_literal(
        &self,
        _: &datafusion::logical_expr::expr::AggregateFunction,
        _: &datafusion::logical_expr::Expr,
        _: datafusion::logical_expr::Operator,
        _: &datafusion::logical_expr::Expr,
        _: bool,
    ) -> Result<Option<datafusion::logical_expr::Expr>> {
        Ok(None)
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn schema_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.inner.schema_name(params)
    }

    fn human_display(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.inner.human_display(params)
    }

    fn window_function_schema_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.inner.window_function_schema_name(params)
    }

    fn display_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.inner.display_name(params)
    }

    fn window_function_display_name(&self, params: &WindowFunctionParams) -> Result<String> {
        self.inner.window_function_display_name(params)
    }

    fn signature(&self) -> &Signature {
        match self.kind {
            Kind::Mean => &integer_means::SIGNATURE,
            _ => self.inner.signature(),
        }
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn return_field(&self, fields: &[FieldRef]) -> Result<FieldRef> {
        self.inner.return_field(fields)
    }

    fn is_nullable(&self) -> bool {
        self.inner.is_nullable()
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        match self.kind {
            // They sort their values themselves.
            Kind::Ordered => AggregateOrderSensitivity::Beneficial,
            _ => self.inner.order_sensitivity(),
        }
    }

    fn with_beneficial_ordering(self: Arc<Self>, is_there: bool) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        let inner = self.inner.as_ref().clone().with_beneficial_ordering(is_there)?;
        Ok(match inner {
            Some(inner) => Some(Arc::new(Exactly { inner: Arc::new(inner), kind: self.kind })),
            None if self.kind == Kind::Ordered => Some(self),
            None => None,
        })
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        match self.kind {
            // The first and the last part would become `min` and `max` of the engine.
            Kind::Percentile => None,
            _ => self.inner.simplify(),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        match self.kind {
            // A window without an order of its own would return its values in the reversed order.
            Kind::Ordered => ReversedUDAF::NotSupported,
            _ => self.inner.reverse_udf(),
        }
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        match self.kind {
            Kind::Mean => integer_means::coerced(types, &self.inner),
            _ => self.inner.coerce_types(types),
        }
    }

    fn is_descending(&self) -> Option<bool> {
        self.inner.is_descending()
    }

    fn default_value(&self, data_type: &DataType) -> Result<ScalarValue> {
        self.inner.default_value(data_type)
    }

    fn supports_null_handling_clause(&self) -> bool {
        self.inner.supports_null_handling_clause()
    }

    fn supports_within_group_clause(&self) -> bool {
        self.inner.supports_within_group_clause()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner.inner().set_monotonicity(data_type)
    }

    fn value_from_stats(&self, statistics: &StatisticsArgs<'_>) -> Option<ScalarValue> {
        match self.kind {
            Kind::Greatest | Kind::Least => self.inner.value_from_stats(statistics),
            _ => None,
        }
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}

impl Exactly {
    fn again(&self) -> Exactly {
        Exactly { inner: Arc::clone(&self.inner), kind: self.kind }
    }
}
