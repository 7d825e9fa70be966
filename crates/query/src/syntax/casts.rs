//! What casts are called. A column that is cast has its own name, as in PostgreSQL: `select t.id from (select id::text from person) t`.
//!
//! The engine calls a cast as what is cast, so that `sum(x)` and `sum(cast(x as double))` are called alike. Where two columns would have one name, a function around each cast says its type, and with it the names of what it stands in. It is taken away again when the plan has its names.

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};

use arrow_schema::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    ColumnarValue, Expr, LogicalPlan, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::sql::sqlparser::ast::{
    self, Ident, Query, SelectItem, SetExpr, Statement, TableFactor, Value, VisitMut, VisitorMut,
};

use crate::functions::array_any::call;
use crate::rewrite::kept_names::map_named;
use crate::syntax::labels::name_of;

const NAME: &str = "_cast_of_type";

/// Gives casts of columns in the tables of a question, in FROM and WITH, the names of the columns.
pub(crate) fn name(statement: &mut Statement) {
    let _ = statement.visit(&mut Namer);
}

struct Namer;

impl VisitorMut for Namer {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        query.with.iter_mut().flat_map(|with| &mut with.cte_tables).for_each(|table| of_body(&mut table.query.body));
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Derived { subquery, .. } = factor {
            of_body(&mut subquery.body);
        }
        ControlFlow::Continue(())
    }
}

fn of_body(mut body: &mut SetExpr) {
    while let SetExpr::SetOperation { left, .. } = body {
        body = left;
    }
    let SetExpr::Select(select) = body else { return };
    for item in &mut select.projection {
        let SelectItem::UnnamedExpr(expr) = item else { continue };
        let mut inner = &*expr;
        while let ast::Expr::Cast { expr, .. } | ast::Expr::Nested(expr) = inner {
            inner = expr;
        }
        if let Some(name) = name_of(inner).filter(|_| inner != expr) {
            let alias = Ident::with_quote('"', name);
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
        }
    }
}

/// Puts the function around the casts of a statement.
pub(crate) fn tell(statement: &mut Statement) {
    let _ = statement.visit(&mut Teller);
}

struct Teller;

impl VisitorMut for Teller {
    type Break = ();

    fn post_visit_expr(&mut self, expression: &mut ast::Expr) -> ControlFlow<()> {
        if let ast::Expr::Cast { expr, data_type, .. } = expression
            && !matches!(&**expr, ast::Expr::Value(_))
        {
            let name = ast::Expr::Value(Value::SingleQuotedString(data_type.to_string()).into());
            let cast = std::mem::replace(expression, ast::Expr::Value(Value::Null.into()));
            *expression = call(NAME.to_owned(), vec![cast, name]);
        }
        ControlFlow::Continue(())
    }
}

/// The plan without the function, whose columns keep their names.
///
/// # Errors
/// Those of the engine.
pub(crate) fn plain(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    map_named(plan, |value| {
        value.transform_up(|part| match part {
            Expr::ScalarFunction(ScalarFunction { func, mut args }) if func.name() == NAME && args.len() == 2 => {
                Ok(Transformed::yes(args.swap_remove(0)))
            }
            other => Ok(Transformed::no(other)),
        })
    })
}

/// The function.
pub(crate) fn function() -> Arc<ScalarUDF> {
    Arc::clone(&TOLD)
}

static TOLD: LazyLock<Arc<ScalarUDF>> =
    LazyLock::new(|| Arc::new(ScalarUDF::from(Told { signature: Signature::any(2, Volatility::Immutable) })));

#[derive(Debug, PartialEq, Eq, Hash)]
struct Told {
    signature: Signature,
}

impl ScalarUDFImpl for Told {
    fn name(&self) -> &str {
        NAME
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types.first() {
            Some(own) => Ok(own.clone()),
            None => internal_err!("a cast of nothing"),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match args.args.into_iter().next() {
            Some(value) => Ok(value),
            None => internal_err!("a cast of nothing"),
        }
    }
}
