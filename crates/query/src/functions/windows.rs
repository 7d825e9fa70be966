//! Aggregates of sliding windows, which never subtract what leaves the window.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{FieldRef, Schema};
use datafusion::common::{Result, ScalarValue, internal_err, not_impl_err};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDF};
use datafusion::physical_expr::{PhysicalExpr, PhysicalSortExpr};

/// Sum or mean of floats: two stacks, so that each value is added about twice, and never subtracted.
#[derive(Debug, Default)]
pub(crate) struct Sliding {
    is_mean: bool,
    /// Sums from each of the older values on, the oldest last.
    older: Vec<f64>,
    newer: Vec<f64>,
    of_newer: f64,
}

impl Sliding {
    /// An empty window.
    pub fn new(is_mean: bool) -> Self {
        Sliding { is_mean, ..Sliding::default() }
    }

    fn pop(&mut self) {
        if self.older.is_empty() {
            let mut sum = 0.0;
            for value in self.newer.drain(..).rev() {
                // The first sum is the value itself: `-0.0` stays what it is.
                sum = if self.older.is_empty() { value } else { value + sum };
                self.older.push(sum);
            }
            self.of_newer = 0.0;
        }
        self.older.pop();
    }
}

impl Accumulator for Sliding {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let Some(values) = values.first().and_then(|values| values.as_primitive_opt::<Float64Type>()) else {
            return internal_err!("a window of no floats");
        };
        for value in values.iter().flatten() {
            self.of_newer = if self.newer.is_empty() { value } else { self.of_newer + value };
            self.newer.push(value);
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let leaving = values.first().map_or(0, |values| values.len() - values.null_count());
        (0..leaving).for_each(|_| self.pop());
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        not_impl_err!("windows are not merged")
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        not_impl_err!("windows have no state")
    }

    #[expect(clippy::cast_precision_loss, reason = "a number of rows")]
    fn evaluate(&mut self) -> Result<ScalarValue> {
        let sum = match (self.older.last(), self.newer.is_empty()) {
            (Some(older), true) => Some(*older),
            (Some(older), false) => Some(older + self.of_newer),
            (None, false) => Some(self.of_newer),
            (None, true) => None,
        };
        let count = self.older.len() + self.newer.len();
        Ok(ScalarValue::Float64(if self.is_mean { sum.map(|sum| sum / count as f64) } else { sum }))
    }

    fn size(&self) -> usize {
        size_of_val(self) + (self.older.capacity() + self.newer.capacity()) * size_of::<f64>()
    }
}

/// What an accumulator is made of.
#[derive(Debug)]
struct Owned {
    return_field: FieldRef,
    schema: Schema,
    expr_fields: Vec<FieldRef>,
    ignore_nulls: bool,
    order_bys: Vec<PhysicalSortExpr>,
    is_reversed: bool,
    name: String,
    is_distinct: bool,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
}

/// Any aggregate: it is computed anew for each window.
#[derive(Debug)]
pub(crate) struct Anew {
    function: Arc<AggregateUDF>,
    args: Owned,
    rows: Vec<ArrayRef>,
}

impl Anew {
    pub fn new(function: &Arc<AggregateUDF>, args: &AccumulatorArgs<'_>) -> Self {
        let args = Owned {
            return_field: Arc::clone(&args.return_field),
            schema: args.schema.clone(),
            expr_fields: args.expr_fields.to_vec(),
            ignore_nulls: args.ignore_nulls,
            order_bys: args.order_bys.to_vec(),
            is_reversed: args.is_reversed,
            name: args.name.to_owned(),
            is_distinct: args.is_distinct,
            exprs: args.exprs.to_vec(),
        };
        Anew { function: Arc::clone(function), args, rows: Vec::new() }
    }
}

impl Accumulator for Anew {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.rows = match self.rows.is_empty() {
            true => values.to_vec(),
            false => {
                let both = self.rows.iter().zip(values);
                both.map(|(old, new)| datafusion::arrow::compute::concat(&[old, new])).collect::<Result<_, _>>()?
            }
        };
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let leaving = values.first().map_or(0, |values| values.len());
        for rows in &mut self.rows {
            let leaving = leaving.min(rows.len());
            *rows = rows.slice(leaving, rows.len() - leaving);
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        not_impl_err!("windows are not merged")
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        not_impl_err!("windows have no state")
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let Owned { return_field, schema, expr_fields, ignore_nulls, order_bys, is_reversed, name, is_distinct, exprs } =
            &self.args;
        let mut whole = self.function.accumulator(AccumulatorArgs {
            return_field: Arc::clone(return_field),
            schema,
            expr_fields,
            ignore_nulls: *ignore_nulls,
            order_bys,
            is_reversed: *is_reversed,
            name,
            is_distinct: *is_distinct,
            exprs,
        })?;
        if !self.rows.is_empty() {
            whole.update_batch(&self.rows)?;
        }
        whole.evaluate()
    }

    fn size(&self) -> usize {
        self.rows.iter().map(|rows| rows.get_array_memory_size()).sum::<usize>() + size_of_val(self)
    }
}
