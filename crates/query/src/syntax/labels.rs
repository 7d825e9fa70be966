//! Names of columns that the question does not name: what it says.

use arrow_schema::{Schema, SchemaRef};
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, Select, SelectItem, SetExpr, Statement, VisitMut, VisitorMut, visit_expressions,
};
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::syntax::casts;
use crate::syntax::repeated_names::MARK;

/// The names of the first and last columns of an answer, `None` for those that the engine names rightly.
#[derive(Debug, Default, Clone)]
pub(crate) struct Labels {
    first: Vec<Option<String>>,
    last: Vec<Option<String>>,
    /// Whether there may be other columns between them.
    is_open: bool,
}

impl Labels {
    /// The names that `statement` suggests, as it is written.
    pub fn of(statement: &Statement) -> Self {
        Labels::with(statement, &|item| match item {
            SelectItem::UnnamedExpr(Expr::Identifier(_) | Expr::CompoundIdentifier(_)) => Some(None),
            SelectItem::UnnamedExpr(expression) => {
                let text = expression.to_string();
                // It may be several columns.
                if text.to_lowercase().contains("unnest") { None } else { Some(Some(text)) }
            }
            SelectItem::ExprWithAlias { .. } => Some(None),
            _ => None,
        })
    }

    /// The names of all columns.
    pub fn all(names: Vec<String>) -> Self {
        Labels { first: names.into_iter().map(Some).collect(), ..Labels::default() }
    }

    /// These, and the names of columns in `resolved`, the same statement with the names of tables.
    pub fn or_columns_of(self, resolved: &Statement) -> Self {
        let names = Labels::with(resolved, &|item| match item {
            SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(Some(name.value.clone())),
            SelectItem::UnnamedExpr(_) | SelectItem::ExprWithAlias { .. } => Some(None),
            _ => None,
        });
        if (names.first.len(), names.last.len()) != (self.first.len(), self.last.len()) {
            return self;
        }
        let or = |own: Vec<Option<String>>, other: Vec<Option<String>>| {
            own.into_iter().zip(other).map(|(own, other)| own.or(other)).collect()
        };
        Labels { first: or(self.first, names.first), last: or(self.last, names.last), ..self }
    }

    fn with(statement: &Statement, label: &dyn Fn(&SelectItem) -> Option<Option<String>>) -> Self {
        let Statement::Query(query) = statement else { return Labels::default() };
        let mut body = &*query.body;
        let select = loop {
            match body {
                SetExpr::Select(select) => break select,
                SetExpr::SetOperation { left, .. } => body = left,
                SetExpr::Query(query) => body = &query.body,
                _ => return Labels { is_open: true, ..Labels::default() },
            }
        };
        let first: Vec<_> = select.projection.iter().map_while(label).collect();
        let is_open = first.len() < select.projection.len();
        let mut last: Vec<_> = match is_open {
            true => select.projection.iter().rev().map_while(label).collect(),
            false => Vec::new(),
        };
        last.reverse();
        Labels { first, last, is_open }
    }

    /// The statement with other names for columns of which several may have one name, and the labels of these.
    pub fn renamed(&self, statement: &Statement) -> (Statement, Labels) {
        let mut statement = statement.clone();
        let mut labels = self.clone();
        labels.rename_shown(&mut statement);
        let _ = statement.visit(&mut Repeated);
        casts::tell(&mut statement);
        (statement, labels)
    }

    /// Renames columns of the answer, as far as it is known which of them is which.
    fn rename_shown(&mut self, statement: &mut Statement) {
        let Statement::Query(query) = statement else { return };
        let mut ordered: Vec<String> = Vec::new();
        if let Some(order) = &query.order_by {
            let _ = visit_expressions(order, |part| {
                if let Expr::Identifier(name) = part {
                    ordered.push(name.value.clone());
                }
                ControlFlow::<()>::Continue(())
            });
        }
        let mut body = &mut *query.body;
        let select = loop {
            match body {
                SetExpr::Select(select) => break select,
                SetExpr::SetOperation { left, .. } => body = left,
                _ => return,
            }
        };
        let count = select.projection.len();
        if !self.is_open && self.first.len() != count {
            return;
        }
        let mut taken: Vec<String> = Vec::new();
        for (at, item) in select.projection.iter_mut().enumerate() {
            let of_last = || (at + self.last.len()).checked_sub(count);
            let label = match at < self.first.len() {
                true => self.first.get_mut(at),
                false => of_last().and_then(|at| self.last.get_mut(at)),
            };
            // What is between the others has no label, but may have a name of several columns.
            let Some(label) = label else { continue };
            let (expr, shown) = match item {
                SelectItem::UnnamedExpr(expr @ (Expr::Identifier(_) | Expr::CompoundIdentifier(_))) => {
                    let Some(name) = name_of(expr).map(ToOwned::to_owned) else { continue };
                    // Beside all columns of a table it may be one of them.
                    if !self.is_open && !taken.contains(&name) {
                        taken.push(name);
                        continue;
                    }
                    (expr.clone(), name)
                }
                SelectItem::UnnamedExpr(expr) => (expr.clone(), label.clone().unwrap_or_else(|| expr.to_string())),
                SelectItem::ExprWithAlias { expr, alias } => {
                    // The order may be that of this name.
                    if ordered.contains(&alias.value) || !taken.contains(&alias.value) {
                        taken.push(alias.value.clone());
                        continue;
                    }
                    (expr.clone(), alias.value.clone())
                }
                _ => continue,
            };
            let alias = Ident::with_quote('"', format!("_column_{at}"));
            *item = SelectItem::ExprWithAlias { expr, alias };
            *label = Some(shown);
        }
    }

    /// The schema with these names.
    pub fn on(&self, schema: &SchemaRef) -> SchemaRef {
        let count = schema.fields().len();
        let known = self.first.len() + self.last.len();
        if known > count || !self.is_open && known != count {
            return Arc::clone(schema);
        }
        let fields = schema.fields().iter().enumerate().map(|(at, field)| {
            let label = self.first.get(at).or_else(|| self.last.get((at + self.last.len()).checked_sub(count)?));
            match label {
                Some(Some(name)) => Arc::new(field.as_ref().clone().with_name(name)),
                _ => Arc::clone(field),
            }
        });
        Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
    }
}

/// The last part of the name of a column.
pub(crate) fn name_of(column: &Expr) -> Option<&str> {
    match column {
        Expr::Identifier(name) => Some(&name.value),
        Expr::CompoundIdentifier(names) => names.last().map(|name| name.value.as_str()),
        _ => None,
    }
}

/// Renames columns that a subquery has twice: `y, y` becomes `y, y as y_2`. Of different values with one name the first gets one that a question cannot have.
struct Repeated;

impl VisitorMut for Repeated {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let columns: Vec<Option<Shown>> = select.projection.iter().map(Shown::of).collect();
        for (at, item) in select.projection.iter_mut().enumerate() {
            let Some(own) = columns.get(at).and_then(Option::as_ref) else { continue };
            let is_alike = |other: &&Shown| {
                // Columns of two tables stay alike: they are told apart where the subquery is a table.
                other.name == own.name && (other.expr == own.expr || !other.is_of_table || !own.is_of_table)
            };
            let before = columns.iter().take(at).flatten().filter(is_alike).count();
            let is_one_value = columns.iter().flatten().filter(is_alike).all(|other| other.expr == own.expr);
            let alias = match before {
                0 if is_one_value => continue,
                0 => format!("{}{MARK}", own.name),
                _ => format!("{}_{}", own.name, before + 1),
            };
            *item = SelectItem::ExprWithAlias { expr: own.expr.clone(), alias: Ident::with_quote('"', alias) };
        }
        ControlFlow::Continue(())
    }
}

/// A column of a query.
struct Shown {
    expr: Expr,
    name: String,
    /// Whether it has its name, and its table, from that.
    is_of_table: bool,
}

impl Shown {
    fn of(item: &SelectItem) -> Option<Shown> {
        match item {
            SelectItem::UnnamedExpr(expr) => {
                let name = name_of(expr).map_or_else(|| expr.to_string(), ToOwned::to_owned);
                Some(Shown { expr: expr.clone(), name, is_of_table: matches!(expr, Expr::CompoundIdentifier(_)) })
            }
            SelectItem::ExprWithAlias { expr, alias } => {
                Some(Shown { expr: expr.clone(), name: alias.value.clone(), is_of_table: false })
            }
            _ => None,
        }
    }
}
