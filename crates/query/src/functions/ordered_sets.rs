//! `percentile_disc(part) within group (order by x)` and `mode() within group (order by x)`, which the engine does not have. The latter is the most frequent value; of several,
//! the first in the order.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, Field, FieldRef, SortOptions};
use datafusion::arrow::buffer::OffsetBuffer;
use datafusion::arrow::compute::{SortColumn, concat, filter, is_not_null, lexsort_to_indices, partition, take};
use datafusion::common::{Result, ScalarValue, internal_err, plan_err};
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion::logical_expr::{Accumulator, AggregateUDF, AggregateUDFImpl, Signature, Volatility};
use datafusion::physical_expr::expressions::Literal;
use isomorph::Error;
use isomorph::error::Place;

use crate::errors::inside;
use crate::functions::array_any::in_one_form;
use crate::functions::windows::Anew;

/// Adds these functions.
///
/// # Errors
/// If one cannot be registered.
pub(crate) fn register(state: &mut SessionState) -> Result<()> {
    for (name, alias, is_mode) in [("percentile_disc", Some("quantile_disc"), false), ("mode", None, true)] {
        state.register_udaf(Arc::new(AggregateUDF::from(OrderedSet::new(name, alias, is_mode))))?;
    }
    Ok(())
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct OrderedSet {
    name: &'static str,
    aliases: Vec<String>,
    is_mode: bool,
    signature: Signature,
}

impl OrderedSet {
    fn new(name: &'static str, alias: Option<&str>, is_mode: bool) -> Self {
        let signature = Signature::user_defined(Volatility::Immutable);
        OrderedSet { name, aliases: alias.into_iter().map(ToOwned::to_owned).collect(), is_mode, signature }
    }

    /// The part of the values that `percentile_disc` is asked for.
    fn part(&self, args: &AccumulatorArgs<'_>) -> Result<Option<f64>> {
        let Some(part) = args.exprs.get(1).filter(|_| !self.is_mode) else { return Ok(None) };
        let part = part.downcast_ref::<Literal>().and_then(|one| one.value().cast_to(&DataType::Float64).ok());
        match part {
            Some(ScalarValue::Float64(Some(part))) if (0.0..=1.0).contains(&part) => Ok(Some(part)),
            _ => {
                let error = Error::usage(format!("the part of {} is a number from 0 to 1", self.name));
                let error = error.at(Place::file("the question"));
                Err(inside(error.hint("percentile_disc(0.5) within group (order by x)")))
            }
        }
    }
}

impl AggregateUDFImpl for OrderedSet {
    fn name(&self) -> &str {
        self.name
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        match (types, self.is_mode) {
            ([own], true) => Ok(vec![own.clone()]),
            ([own, part], false) if part.is_numeric() || part.is_null() => Ok(vec![own.clone(), DataType::Float64]),
            (_, true) => plan_err!("mode has one value: mode() within group (order by x)"),
            (_, false) => plan_err!("{0} has a part and a value: {0}(0.5) within group (order by x)", self.name),
        }
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types.first() {
            Some(own) => Ok(own.clone()),
            None => internal_err!("{} of nothing", self.name),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let items = Arc::new(Field::new_list_field(args.return_type().clone(), true));
        Ok(vec![Arc::new(Field::new(format_state_name(args.name, "values"), DataType::List(items), true))])
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return plan_err!("{} of distinct values is not supported", self.name);
        }
        let is_descending = args.order_bys.first().is_some_and(|sort| sort.options.descending);
        let (part, data_type) = (self.part(&args)?, args.return_type().clone());
        Ok(Box::new(Values { part, is_descending, data_type, values: Vec::new() }))
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(Anew::new(&Arc::new(AggregateUDF::from(self.clone())), &args)))
    }

    /// They sort their values themselves.
    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn supports_within_group_clause(&self) -> bool {
        true
    }
}

/// All values that are not null.
#[derive(Debug)]
struct Values {
    /// Nothing for the most frequent value.
    part: Option<f64>,
    is_descending: bool,
    data_type: DataType,
    values: Vec<ArrayRef>,
}

impl Values {
    fn add(&mut self, values: &ArrayRef) -> Result<()> {
        let values = match values.null_count() {
            0 => Arc::clone(values),
            _ => filter(values, &is_not_null(values)?)?,
        };
        if !values.is_empty() {
            self.values.push(values);
        }
        Ok(())
    }

    /// All of them as one array.
    fn all(&self) -> Result<ArrayRef> {
        let values: Vec<&dyn Array> = self.values.iter().map(AsRef::as_ref).collect();
        match values.is_empty() {
            true => Ok(arrow_array::new_empty_array(&self.data_type)),
            false => Ok(concat(&values)?),
        }
    }
}

impl Accumulator for Values {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        match values.first() {
            Some(values) if values.data_type().is_null() => Ok(()),
            Some(values) => self.add(values),
            None => internal_err!("an aggregate of nothing"),
        }
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Some(lists) = states.first().and_then(|states| states.as_list_opt::<i32>()) else {
            return internal_err!("the state of an aggregate is no list");
        };
        lists.iter().flatten().try_for_each(|values| self.add(&values))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let all = self.all()?;
        let items = Arc::new(Field::new_list_field(self.data_type.clone(), true));
        let list = arrow_array::ListArray::try_new(items, OffsetBuffer::from_lengths([all.len()]), all, None)?;
        Ok(vec![ScalarValue::List(Arc::new(list))])
    }

    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a position among the values"
    )]
    fn evaluate(&mut self) -> Result<ScalarValue> {
        let all = self.all()?;
        if all.is_empty() {
            return ScalarValue::try_from(&self.data_type);
        }
        let options = SortOptions { descending: self.is_descending, nulls_first: false };
        let keys = in_one_form(&all)?;
        let order = lexsort_to_indices(&[SortColumn { values: Arc::clone(&keys), options: Some(options) }], None)?;
        let place = match self.part {
            // The first value with so many values up to it.
            Some(part) => ((part * all.len() as f64).ceil() as usize).saturating_sub(1).min(all.len() - 1),
            None => {
                let equal = partition(&[take(&keys, &order, None)?])?.ranges();
                let longest = equal.into_iter().reduce(|one, other| if other.len() > one.len() { other } else { one });
                longest.map_or(0, |values| values.start)
            }
        };
        ScalarValue::try_from_array(&all, order.value(place) as usize)
    }

    fn size(&self) -> usize {
        self.values.iter().map(|values| values.get_array_memory_size()).sum::<usize>() + size_of_val(self)
    }
}
