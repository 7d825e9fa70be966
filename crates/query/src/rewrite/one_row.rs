//! Subqueries as values that depend on the outer row, and select a column: `(select name from person p where p.id = e._source)`.
//!
//! The engine joins aggregates only, which have one row for each outer row. So of each such subquery the first value and the number of rows are asked, and a function
//! above takes the value: several rows are an error, if it is the value of these that is asked for. Rows of the subquery that no outer row asks for may be any number.

use std::sync::{Arc, LazyLock};

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::DataType;
use datafusion::arrow::compute::{is_null, nullif};
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::functions::core::named_struct;
use datafusion::functions_aggregate::count::count;
use datafusion::functions_aggregate::first_last::first_value_udaf;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, LogicalPlanBuilder, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
    Subquery, Volatility, lit,
};

use crate::errors::{inside, many_rows};

/// What the fields of a value and of its number of rows are called.
const FIELDS: [&str; 2] = ["value", "rows"];

/// A subquery as a value, with an error if it has several rows for an outer row.
///
/// # Errors
/// Those of the engine.
pub(crate) fn of_one_row(subquery: Subquery) -> Result<Expr> {
    let mut plan = subquery.subquery.as_ref();
    // The order of one row does not matter.
    while let LogicalPlan::Sort(sort) = plan {
        match sort.fetch {
            None => plan = &sort.input,
            Some(_) => break,
        }
    }
    let columns = plan.schema().columns();
    let ([column], false) = (columns.as_slice(), subquery.outer_ref_columns.is_empty() || has_aggregate(plan)?) else {
        return Ok(Expr::ScalarSubquery(subquery));
    };
    let first = first_value_udaf().call(vec![Expr::Column(column.clone())]);
    let [value, rows] = FIELDS.map(|name| format!("_{name}_of_row"));
    let row = LogicalPlanBuilder::from(plan.clone())
        .aggregate(std::iter::empty::<Expr>(), [first.alias(&value), count(lit(1_i64)).alias(&rows)])?;
    let [value, rows] = [value, rows].map(|name| Expr::Column(datafusion::common::Column::from_name(name)));
    let pair = named_struct().call(vec![lit(FIELDS[0]), value, lit(FIELDS[1]), rows]);
    let row = row.project([pair.alias("_row")])?.build()?;
    let Subquery { outer_ref_columns, spans, .. } = subquery;
    let row = Expr::ScalarSubquery(Subquery { subquery: Arc::new(row), outer_ref_columns, spans });
    Ok(ONLY.call(vec![row]))
}

/// Whether rows that depend on the outer row are aggregated without groups: the engine gives them a row where there is none.
fn has_aggregate(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| {
        Ok(match node {
            LogicalPlan::Aggregate(one) => one.group_expr.is_empty() && !node.all_out_ref_exprs().is_empty(),
            _ => false,
        })
    })
}

/// The function that takes the value of a row.
#[cfg(feature = "distributed")]
pub(crate) fn function() -> Arc<ScalarUDF> {
    Arc::clone(&ONLY)
}

static ONLY: LazyLock<Arc<ScalarUDF>> =
    LazyLock::new(|| Arc::new(ScalarUDF::from(Only { signature: Signature::any(1, Volatility::Immutable) })));

#[derive(Debug, PartialEq, Eq, Hash)]
struct Only {
    signature: Signature,
}

impl ScalarUDFImpl for Only {
    fn name(&self) -> &str {
        "value_of_one_row"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types {
            [DataType::Struct(fields)] if fields.len() == FIELDS.len() => Ok(fields[0].data_type().clone()),
            [DataType::Null] => Ok(DataType::Null),
            _ => internal_err!("{} of {types:?}", self.name()),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let only = |rows: &ArrayRef| match rows.as_struct_opt() {
            Some(rows) => value(rows),
            None => Ok(Arc::clone(rows)),
        };
        match args.args.as_slice() {
            [ColumnarValue::Array(rows)] => only(rows).map(ColumnarValue::Array),
            [ColumnarValue::Scalar(row)] => {
                ScalarValue::try_from_array(&only(&row.to_array()?)?, 0).map(ColumnarValue::Scalar)
            }
            _ => internal_err!("{} of {} values", self.name(), args.args.len()),
        }
    }
}

/// The values of these rows.
fn value(rows: &StructArray) -> Result<ArrayRef> {
    let [values, counts] = rows.columns() else { return internal_err!("a row of {} columns", rows.num_columns()) };
    let Some(counts) = counts.as_primitive_opt::<Int64Type>() else {
        return internal_err!("a number of {}", counts.data_type());
    };
    if (0..rows.len()).any(|at| rows.is_valid(at) && counts.is_valid(at) && counts.value(at) > 1) {
        return Err(inside(many_rows()));
    }
    // What is beside no row is null as well.
    Ok(nullif(values, &is_null(rows)?)?)
}
