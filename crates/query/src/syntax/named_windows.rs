//! Named windows, written out where they are used: of `over (w order by a)` the engine keeps only what is in the brackets, without the partitions of `w`; and it
//! knows the names only in what is selected, and in one spelling.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{
    Expr, Ident, NamedWindowDefinition, NamedWindowExpr, OrderBy, Query, Select, SetExpr, Statement, VisitMut,
    VisitorMut, WindowSpec, WindowType,
};
use isomorph::error::Place;
use isomorph::{Error, Result};

use crate::syntax::names::{Match, find};

/// Writes them out in `statement`.
///
/// # Errors
/// [`isomorph::Kind::Usage`] for a window that is not defined, or twice, and for parts that a named window already has.
pub(crate) fn write_out(statement: &mut Statement) -> Result<()> {
    match statement.visit(&mut Queries) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

struct Queries;

impl VisitorMut for Queries {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        let Query { body, order_by, .. } = query;
        of_body(body, order_by.as_mut())
    }
}

fn of_body(body: &mut SetExpr, order: Option<&mut OrderBy>) -> ControlFlow<Error> {
    match body {
        SetExpr::Select(select) => of_select(select, order),
        SetExpr::SetOperation { left, right, .. } => {
            of_body(left, None)?;
            of_body(right, None)
        }
        // A query in brackets is visited by itself.
        _ => ControlFlow::Continue(()),
    }
}

fn of_select(select: &mut Select, order: Option<&mut OrderBy>) -> ControlFlow<Error> {
    let mut windows: Vec<(Ident, WindowSpec)> = Vec::new();
    for NamedWindowDefinition(name, window) in std::mem::take(&mut select.named_window) {
        if windows.iter().any(|(other, _)| other.value == name.value) {
            return ControlFlow::Break(refused(format!("the window {name} is defined twice")));
        }
        // A window may extend those that are defined before it.
        let window = match window {
            NamedWindowExpr::NamedWindow(other) => named(&windows, &other).cloned(),
            NamedWindowExpr::WindowSpec(own) => extended(&windows, own),
        };
        match window {
            Ok(window) => windows.push((name, window)),
            Err(error) => return ControlFlow::Break(error),
        }
    }
    let mut functions = Functions { windows: &windows, depth: 0 };
    select.visit(&mut functions)?;
    match order {
        Some(order) => order.visit(&mut functions),
        None => ControlFlow::Continue(()),
    }
}

/// The functions of one query. A subquery does not know the windows of the query around it.
struct Functions<'w> {
    windows: &'w [(Ident, WindowSpec)],
    depth: usize,
}

impl VisitorMut for Functions<'_> {
    type Break = Error;

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<Error> {
        self.depth = self.depth.saturating_sub(1);
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expression: &mut Expr) -> ControlFlow<Error> {
        let Expr::Function(function) = expression else { return ControlFlow::Continue(()) };
        let Some(over) = function.over.take_if(|_| self.depth == 0) else { return ControlFlow::Continue(()) };
        let window = match over {
            WindowType::NamedWindow(name) => named(self.windows, &name).cloned(),
            WindowType::WindowSpec(own) => extended(self.windows, own),
        };
        match window {
            Ok(window) => {
                function.over = Some(WindowType::WindowSpec(window));
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

fn named<'w>(windows: &'w [(Ident, WindowSpec)], name: &Ident) -> Result<&'w WindowSpec> {
    let all = || windows.iter().map(|(own, window)| (own.value.clone(), (own, window))).collect();
    match find(&name.value, name.quote_style.is_some(), all) {
        Match::One((_, window)) => Ok(window),
        Match::None => {
            let error = refused(format!("the window {name} is not defined"));
            Err(match windows.is_empty() {
                true => error.hint(format!(
                    "from t window {name} as (partition by a order by b)    after where, group by and having"
                )),
                false => {
                    let names: Vec<String> = windows.iter().map(|(own, _)| own.to_string()).collect();
                    error.hint(format!("the windows are {}", names.join(", ")))
                }
            })
        }
        Match::Several(found) => {
            let names: Vec<String> =
                found.iter().map(|(own, _)| Ident::with_quote('"', &own.value).to_string()).collect();
            Err(refused(format!("several windows are called {name}"))
                .hint(format!("write one of {}", names.join(", "))))
        }
    }
}

/// A window with the parts of the one that it names, as in the SQL standard: it adds an order, if the other has none, and a frame.
fn extended(windows: &[(Ident, WindowSpec)], mut own: WindowSpec) -> Result<WindowSpec> {
    let Some(name) = own.window_name.take() else { return Ok(own) };
    let window = named(windows, &name)?;
    if !own.partition_by.is_empty() {
        let error = refused(format!("a window that extends {name} cannot have partitions of its own"));
        return Err(error.hint("over (partition by a order by b)    all parts, without the name"));
    }
    if !own.order_by.is_empty() && !window.order_by.is_empty() {
        let error = refused(format!("a window that extends {name} cannot have an order, as {name} has one"));
        return Err(error.hint("over (partition by a order by b)    all parts, without the name"));
    }
    if window.window_frame.is_some() {
        let error = refused(format!("the window {name} has a frame, so it cannot be extended"));
        return Err(error.hint(format!("over {name}    without brackets: the window as it is")));
    }
    own.partition_by.clone_from(&window.partition_by);
    if own.order_by.is_empty() {
        own.order_by.clone_from(&window.order_by);
    }
    Ok(own)
}

fn refused(what: String) -> Error {
    Error::usage(what).at(Place::file("the question"))
}
