//! `x = any(array)` and `x = all(array)`, and the same with `<>`, `<`, `<=`, `>` and `>=`.
//!
//! The engine forgets that a null may be anything: `1 = any([null])` is unknown, not false, and `1 <> any([1, null])` as well. Arrays that are written out are lists of
//! `in`; for others, these functions compare all items.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, UInt64Array};
use arrow_schema::{DataType, Field};
use datafusion::arrow::compute::{and_kleene, or_kleene, take};
use datafusion::common::utils::normalize_float_zero;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::binary::BinaryTypeCoercer;
use datafusion::logical_expr::{
    ColumnarValue, Operator, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply_cmp;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident,
    ObjectName,
};
use isomorph::Error;
use isomorph::error::Place;

use crate::errors::inside;
use crate::functions::intervals::{has_several_fields, lengths};

/// What the functions begin with that have a value and an array.
pub(crate) const NAME: &str = "_compared_with_";

const OPERATORS: [(BinaryOperator, Operator); 6] = [
    (BinaryOperator::Eq, Operator::Eq),
    (BinaryOperator::NotEq, Operator::NotEq),
    (BinaryOperator::Lt, Operator::Lt),
    (BinaryOperator::LtEq, Operator::LtEq),
    (BinaryOperator::Gt, Operator::Gt),
    (BinaryOperator::GtEq, Operator::GtEq),
];

#[derive(Debug, PartialEq, Eq, Hash)]
struct Compared {
    op: Operator,
    is_all: bool,
    name: String,
    signature: Signature,
}

/// All of these functions.
pub(crate) fn all() -> impl Iterator<Item = Arc<ScalarUDF>> {
    [false, true].into_iter().flat_map(|is_all| {
        OPERATORS.iter().map(move |(_, op)| {
            let (name, signature) = (name(*op, is_all), Signature::user_defined(Volatility::Immutable));
            Arc::new(ScalarUDF::from(Compared { op: *op, is_all, name, signature }))
        })
    })
}

fn name(op: Operator, is_all: bool) -> String {
    format!("{NAME}{} {op}", if is_all { "all" } else { "any" })
}

/// Such a comparison in a statement as a list of `in`, or as a call of a function. Nothing for comparisons with subqueries.
pub(crate) fn respelled(expression: &Expr) -> Option<Expr> {
    let (left, sign, right, is_all) = match expression {
        Expr::AnyOp { left, compare_op, right, .. } => (left, compare_op, right, false),
        Expr::AllOp { left, compare_op, right } => (left, compare_op, right, true),
        _ => return None,
    };
    let mut array = &**right;
    while let Expr::Nested(inner) = array {
        array = inner;
    }
    if let Expr::Array(items) = array
        && !items.elem.is_empty()
        && matches!((sign, is_all), (BinaryOperator::Eq, false) | (BinaryOperator::NotEq, true))
        && !items.elem.iter().any(|item| matches!(item, Expr::Array(_)))
    {
        return Some(Expr::InList { expr: left.clone(), list: items.elem.clone(), negated: is_all });
    }
    if matches!(array, Expr::Subquery(_)) {
        return None;
    }
    let (_, op) = OPERATORS.iter().find(|(own, _)| own == sign)?;
    Some(call(name(*op, is_all), vec![left.as_ref().clone(), array.clone()]))
}

/// A call of a function.
pub(crate) fn call(name: String, args: Vec<Expr>) -> Expr {
    let args = args.into_iter().map(|one| FunctionArg::Unnamed(FunctionArgExpr::Expr(one))).collect();
    let args = FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() };
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::with_quote('"', name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(args),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

impl Compared {
    /// The items that a row is compared with, and the row of each.
    fn pairs(value: &ArrayRef, lists: &ArrayRef) -> Result<[ColumnarValue; 2]> {
        let lists = lists.as_list::<i32>();
        let offsets = lists.offsets();
        let (first, last) = (offsets.first().copied().unwrap_or(0), offsets.last().copied().unwrap_or(0));
        let (first, last) = (usize::try_from(first).unwrap_or(0), usize::try_from(last).unwrap_or(0));
        let rows = (0..lists.len()).flat_map(|row| {
            let count = usize::try_from(lists.value_length(row)).unwrap_or(0);
            std::iter::repeat_n(row as u64, count)
        });
        let values = take(value, &UInt64Array::from_iter_values(rows), None)?;
        let items = lists.values().slice(first, last - first);
        Ok([ColumnarValue::Array(in_one_form(&values)?), ColumnarValue::Array(in_one_form(&items)?)])
    }

    /// The values compared with the items of one array.
    fn with_one(&self, values: &ArrayRef, items: &ArrayRef) -> Result<ColumnarValue> {
        let mut found: BooleanArray = std::iter::repeat_n(Some(self.is_all), values.len()).collect();
        let (values, items) = (ColumnarValue::Array(in_one_form(values)?), in_one_form(items)?);
        for at in 0..items.len() {
            let item = ColumnarValue::Scalar(ScalarValue::try_from_array(&items, at)?);
            let holds = apply_cmp(self.op, &values, &item)?.into_array(found.len())?;
            found = match self.is_all {
                true => and_kleene(&found, holds.as_boolean())?,
                false => or_kleene(&found, holds.as_boolean())?,
            };
        }
        Ok(ColumnarValue::Array(Arc::new(found)))
    }
}

/// Values that are the same if they are equal.
pub(crate) fn in_one_form(array: &ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        own if own.is_floating() => Ok(normalize_float_zero(array)),
        own if has_several_fields(own) => lengths(array),
        _ => Ok(Arc::clone(array)),
    }
}

impl ScalarUDFImpl for Compared {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let [value, list] = types else { return internal_err!("{} of {} values", self.name, types.len()) };
        let item = match list {
            DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => item.data_type(),
            DataType::Null => value,
            other => {
                let word = if self.is_all { "all" } else { "any" };
                let error =
                    Error::usage(format!("{word} compares with an array or a subquery, found a value of type {other}"));
                return Err(inside(error.at(Place::file("the question")).hint(format!("x {} {word}(array)", self.op))));
            }
        };
        let [left, right] = match (value, item) {
            (one, other) if one.is_floating() && other.is_decimal() || one.is_decimal() && other.is_floating() => {
                [DataType::Float64, DataType::Float64]
            }
            _ => BinaryTypeCoercer::new(value, &self.op, item).get_input_types()?.into(),
        };
        Ok(vec![left, DataType::List(Arc::new(Field::new_list_field(right, true)))])
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let rows = args.number_rows;
        let Ok([value, lists]) = <[ColumnarValue; 2]>::try_from(args.args) else {
            return internal_err!("{}", self.name);
        };
        if let ColumnarValue::Scalar(ScalarValue::List(list)) = &lists
            && list.is_valid(0)
        {
            return self.with_one(&value.into_array(rows)?, &list.value(0));
        }
        let lists = lists.into_array(rows)?;
        let [values, items] = Compared::pairs(&value.into_array(rows)?, &lists)?;
        let holds = apply_cmp(self.op, &values, &items)?.into_array(0)?;
        let (lists, holds) = (lists.as_list::<i32>(), holds.as_boolean());
        let mut next = 0;
        let found = (0..lists.len()).map(|row| {
            let count = usize::try_from(lists.value_length(row)).unwrap_or(0);
            let own = next..next + count;
            next += count;
            if lists.is_null(row) {
                return None;
            }
            // One that decides is looked for: else a null may be one.
            let decides = |at: usize| holds.is_valid(at) && holds.value(at) != self.is_all;
            match () {
                () if own.clone().any(decides) => Some(!self.is_all),
                () if own.clone().any(|at| holds.is_null(at)) => None,
                () => Some(self.is_all),
            }
        });
        Ok(ColumnarValue::Array(Arc::new(found.collect::<BooleanArray>())))
    }
}
