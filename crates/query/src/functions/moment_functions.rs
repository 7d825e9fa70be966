//! Functions of the engine that take times of day of several units, and texts beside moments: their types are united (see `instants`, `moment_lists`) only after the
//! planner has asked for them.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef};
use datafusion::common::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::simplify::{ExprSimplifyResult, SimplifyContext};
use datafusion::logical_expr::type_coercion::functions::fields_with_udf;
use datafusion::logical_expr::{
    ColumnarValue, Documentation, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};

use crate::functions::moment_lists::{COMPARING, item};
use crate::rewrite::instants::{TIME, is_text};
use crate::rewrite::mixed::UNITING;

/// Puts functions that do so in the place of the engine's.
///
/// # Errors
/// If a function cannot be registered.
pub(crate) fn register(state: &mut SessionState) -> Result<()> {
    for name in UNITING.into_iter().chain(COMPARING) {
        if let Ok(inner) = state.udf(name) {
            let signature = Signature::user_defined(inner.signature().volatility);
            state.register_udf(Arc::new(ScalarUDF::from(OfMoments { inner, signature })))?;
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct OfMoments {
    inner: Arc<ScalarUDF>,
    signature: Signature,
}

/// The types of arguments, with one for all times of day, and for texts beside moments.
fn united(types: &[DataType]) -> Vec<DataType> {
    let items = || types.iter().map(|own| item(own).unwrap_or(own));
    let is_time = |own: &DataType| matches!(own, DataType::Time32(_) | DataType::Time64(_));
    let first = |is: &dyn Fn(&DataType) -> bool| items().find(|own| is(own)).cloned();
    let moment = first(&is_time)
        .or_else(|| first(&|own| matches!(own, DataType::Timestamp(..))))
        .or_else(|| first(&|own| *own == DataType::Date32));
    let Some(moment) = moment else { return types.to_vec() };
    let are_alike = items().all(|own| *own == moment);
    let wanted = match is_time(&moment) {
        true if are_alike => return types.to_vec(),
        true => TIME,
        false => moment,
    };
    let one = |own: &DataType| if is_text(Some(own)) || is_time(own) { wanted.clone() } else { own.clone() };
    let list = |inner: &DataType| DataType::List(Arc::new(Field::new_list_field(one(inner), true)));
    types.iter().map(|own| item(own).filter(|inner| one(inner) != **inner).map_or_else(|| one(own), list)).collect()
}

impl ScalarUDFImpl for OfMoments {
    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let fields: Vec<FieldRef> = united(types).into_iter().map(|own| Arc::new(Field::new("", own, true))).collect();
        Ok(fields_with_udf(&fields, &*self.inner)?.iter().map(|field| field.data_type().clone()).collect())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
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
        &self.signature
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

    fn short_circuits(&self) -> bool {
        self.inner.short_circuits()
    }

    fn conditional_arguments<'a>(&self, args: &'a [Expr]) -> Option<(Vec<&'a Expr>, Vec<&'a Expr>)> {
        self.inner.conditional_arguments(args)
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner.documentation()
    }
}
