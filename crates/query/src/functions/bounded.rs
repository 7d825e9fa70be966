//! Functions whose results may be of any size: an error where the memory limit is too small, before memory is taken.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, FieldRef};
use datafusion::arrow::compute::cast;
use datafusion::common::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};
use isomorph::{Error, Kind};

use crate::errors::inside;

/// How large the result of a function is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Size {
    /// The first argument so often.
    Times,
    /// So many bytes.
    Bytes,
    /// So many values.
    Values,
    /// The integers between the arguments.
    Range,
}

const FUNCTIONS: [(&str, Size); 7] = [
    ("repeat", Size::Times),
    ("lpad", Size::Bytes),
    ("rpad", Size::Bytes),
    ("array_repeat", Size::Values),
    ("array_resize", Size::Values),
    ("range", Size::Range),
    ("generate_series", Size::Range),
];

/// Bytes of a value of a list.
const VALUE: u128 = 8;

/// Bounds these functions of the engine to so many bytes.
///
/// # Errors
/// If a function cannot be registered.
pub(crate) fn register(state: &mut SessionState, most: usize) -> Result<()> {
    for (name, size) in FUNCTIONS {
        if let Ok(inner) = state.udf(name) {
            state.register_udf(Arc::new(ScalarUDF::from(Bounded { inner, size, most })))?;
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Bounded {
    inner: Arc<ScalarUDF>,
    size: Size,
    most: usize,
}

/// The integers of an argument, as far as it has some.
fn integers(args: &ScalarFunctionArgs, at: usize) -> Option<ArrayRef> {
    let array = args.args.get(at)?.to_array(args.number_rows).ok()?;
    let is_number = array.data_type().is_numeric();
    is_number.then(|| cast(&array, &DataType::Int64).ok()).flatten()
}

fn value(array: Option<&ArrayRef>, row: usize) -> Option<i128> {
    let array = array?.as_primitive_opt::<Int64Type>()?;
    (row < array.len() && array.is_valid(row)).then(|| i128::from(array.value(row)))
}

impl Bounded {
    /// About how many bytes the result has.
    fn bytes(&self, args: &ScalarFunctionArgs) -> u128 {
        // Constants make one row.
        let rows = match args.args.iter().all(|one| matches!(one, ColumnarValue::Scalar(_))) {
            true => 1,
            false => args.number_rows,
        };
        let numbers: Vec<Option<ArrayRef>> = (0..args.args.len()).map(|at| integers(args, at)).collect();
        let number = |at: usize, row: usize| value(numbers.get(at).and_then(Option::as_ref), row);
        let texts = match self.size {
            Size::Times => args.args.first().and_then(|text| text.to_array(args.number_rows).ok()),
            _ => None,
        };
        let texts = texts.and_then(|texts| cast(&texts, &DataType::LargeUtf8).ok());
        let many = |number: Option<i128>| u128::try_from(number.unwrap_or_default()).unwrap_or_default();
        (0..rows)
            .map(|row| match self.size {
                Size::Times => {
                    let text = texts.as_ref().and_then(|texts| texts.as_string_opt::<i64>());
                    let length = text.filter(|text| row < text.len()).map_or(1, |text| text.value_length(row));
                    many(number(1, row)).saturating_mul(u128::try_from(length).unwrap_or_default())
                }
                Size::Bytes => many(number(1, row)),
                Size::Values => many(number(1, row)).saturating_mul(VALUE),
                Size::Range => {
                    let (start, stop) = match number(1, row) {
                        Some(stop) => (number(0, row).unwrap_or_default(), stop),
                        None => (0, number(0, row).unwrap_or_default()),
                    };
                    let step = number(2, row).unwrap_or(1).unsigned_abs().max(1);
                    (stop.abs_diff(start) / step).saturating_mul(VALUE)
                }
            })
            .fold(0, u128::saturating_add)
    }
}

impl ScalarUDFImpl for Bounded {
    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let bytes = self.bytes(&args);
        if bytes > self.most as u128 {
            let name = self.inner.name();
            return Err(inside(
                Error::new(Kind::TooLarge, format!("the memory limit is too small: {name} makes {bytes} bytes"))
                    .hint("--memory 2GiB    a larger limit; half of it is the engine's"),
            ));
        }
        self.inner.invoke_with_args(args)
    }

    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        self.inner.schema_name(args)
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.inner.return_type(types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        self.inner.return_field_from_args(args)
    }

    fn simplify(&self, args: Vec<Expr>, info: &SimplifyContext) -> Result<ExprSimplifyResult> {
        self.inner.simplify(args, info)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(types)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}
