//! `WITH` and `RETURN`: items, aggregates and their grouping keys, order.

use open_cypher::Span;
use open_cypher::ast::{Expr as AstExpr, ExprKind, ProjectionClause, ProjectionItemKind, SetQuantifier, SortDirection};

use super::scope::Scope;
use super::types::Ty;
use super::{Lowering, unsupported};
use crate::fault::{Fault, Result};
use crate::plan::{Expr, Projection, Slot};

/// An item, with the name of its column.
struct Item<'a> {
    name: String,
    expr: Option<&'a AstExpr>,
    slot: Slot,
    ty: Ty,
}

impl Lowering<'_> {
    /// A projection, the scope after it, the names of its columns, and the expressions that they hold.
    #[allow(clippy::type_complexity)]
    pub(super) fn projection(
        &mut self,
        clause: &ProjectionClause,
        scope: &Scope,
        outer: &Scope,
        is_with: bool,
    ) -> Result<(Projection, Scope, Vec<String>, Vec<(String, Slot, Ty)>)> {
        let distinct = matches!(clause.quantifier.as_ref().map(|one| one.kind), Some(SetQuantifier::Distinct));
        let mut items: Vec<Item<'_>> = Vec::new();
        let (mut keys, mut after) = (Vec::new(), Vec::new());
        let mut mixed: Vec<&AstExpr> = Vec::new();
        let mut aggregates = Vec::new();
        for item in &clause.items {
            match &item.kind {
                ProjectionItemKind::Wildcard => self.all_variables(scope, &mut items, &mut keys, item.span, is_with)?,
                ProjectionItemKind::Expression { expression, alias } => {
                    let name = match alias {
                        Some(alias) => alias.kind.text.clone(),
                        None => match &expression.kind {
                            ExprKind::Variable(name) => name.kind.text.clone(),
                            _ if is_with => {
                                let message = "an expression in WITH must have an alias: expression AS name";
                                return Err(Fault::syntax("NoExpressionAlias", message, expression.span));
                            }
                            _ => self.source.written(expression.span).to_owned(),
                        },
                    };
                    if items.iter().any(|one| one.name == name) {
                        let message = format!("two columns are called {name}");
                        return Err(Fault::syntax("ColumnNameConflict", message, item.span));
                    }
                    self.aggregates = Some(Vec::new());
                    let lowered = self.expr(expression, scope);
                    let found = self.aggregates.take().unwrap_or_default();
                    let (expr, ty) = lowered?;
                    let slot = self.slot();
                    if found.is_empty() {
                        keys.push((slot, expr));
                    } else {
                        aggregates.extend(found);
                        after.push((slot, expr));
                        mixed.push(expression);
                    }
                    items.push(Item { name, expr: Some(expression), slot, ty });
                }
                _ => return Err(Fault::syntax("UnexpectedSyntax", "not an expression", item.span)),
            }
        }
        let is_aggregating = !aggregates.is_empty();
        self.check_grouping(&mixed, &items, scope)?;

        let mut next = Scope::default();
        for item in &items {
            next.add(&item.name, item.slot, item.ty.clone());
        }
        let mut order_scope = next.clone();
        let hides = distinct || is_aggregating;
        if !hides {
            let mut all = scope.clone();
            all.variables.extend(next.variables.iter().cloned());
            order_scope = all;
        }
        let known = items
            .iter()
            .filter_map(|item| Some((self.text_of(unwrapped(item.expr?).span), item.slot, item.ty.clone())));
        let known: Vec<_> = known.collect();
        let mut order = Vec::new();
        for item in clause.order_by.iter().flat_map(|order| &order.items) {
            if item.nulls.is_some() {
                return Err(unsupported("NULLS FIRST and NULLS LAST are", item.span));
            }
            self.known.clone_from(&known);
            let has_aggregate = self.has_aggregate(&item.expression);
            if has_aggregate && !is_aggregating {
                self.known.clear();
                let message = "ORDER BY cannot aggregate if the items before it do not";
                return Err(Fault::syntax("InvalidAggregation", message, item.expression.span));
            }
            if has_aggregate && is_aggregating {
                self.check_order(&item.expression, &items, &next, scope)?;
            }
            let mut held = Vec::new();
            if is_aggregating {
                self.aggregates = Some(Vec::new());
            }
            let lowered = self.expr(&item.expression, &order_scope);
            held.extend(self.aggregates.take().unwrap_or_default());
            self.known.clear();
            let (expr, _) = lowered?;
            aggregates.extend(held);
            let descending = matches!(item.direction.as_ref().map(|one| one.kind), Some(SortDirection::Descending));
            order.push((expr, descending));
        }
        let skip = clause.skip.as_ref().or(clause.offset.as_ref());
        let skip = skip.map(|expr| self.constant(expr, "SKIP")).transpose()?;
        let limit = clause.limit.as_ref().map(|expr| self.constant(expr, "LIMIT")).transpose()?;
        let columns = items.iter().map(|item| item.name.clone()).collect();
        let outputs: Vec<Slot> = items.iter().map(|item| item.slot).collect();
        // A subquery still sees the variables around it.
        let mut scope_after = outer.clone();
        scope_after.variables.extend(next.variables);
        let projection = Projection {
            keys,
            aggregates,
            is_aggregating,
            after,
            kept: outputs.clone(),
            outputs,
            distinct,
            order,
            skip,
            limit,
        };
        Ok((projection, scope_after, columns, known))
    }

    fn all_variables(
        &mut self,
        scope: &Scope,
        items: &mut Vec<Item<'_>>,
        keys: &mut Vec<(Slot, Expr)>,
        span: Span,
        is_with: bool,
    ) -> Result<()> {
        let mut names: Vec<&str> = scope.variables.iter().map(|one| one.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        if names.is_empty() && !is_with {
            return Err(Fault::syntax("NoVariablesInScope", "there are no variables that * could stand for", span));
        }
        for name in names {
            let Some(variable) = scope.get(name) else { continue };
            let slot = self.slot();
            keys.push((slot, Expr::Slot(variable.slot)));
            items.push(Item { name: name.to_owned(), expr: None, slot, ty: variable.ty.clone() });
        }
        Ok(())
    }

    /// `SKIP` and `LIMIT`: no variables, and, as a literal, no negative or broken number.
    fn constant(&mut self, expr: &AstExpr, what: &str) -> Result<Expr> {
        let lowered = self.expr(expr, &Scope::default());
        let non_constant = || {
            let message = format!("{what} must not depend on rows");
            Fault::syntax("NonConstantExpression", message, expr.span)
        };
        let (lowered, ty) = lowered.map_err(|fault| match fault {
            Fault::Query { detail: "UndefinedVariable", .. } => non_constant(),
            other => other,
        })?;
        let number = match &unwrapped(expr).kind {
            ExprKind::Unary { operator, operand }
                if operator.kind == open_cypher::ast::UnaryOperator::Minus
                    && matches!(operand.kind, ExprKind::Literal(_)) =>
            {
                Some(-1)
            }
            _ => None,
        };
        if ty.is_wrong(|ty| *ty == Ty::Int) {
            let message = format!("{what} expects an integer, found {}", ty.name());
            return Err(Fault::syntax("InvalidArgumentType", message, expr.span));
        }
        if number.is_some() {
            return Err(Fault::syntax("NegativeIntegerArgument", format!("{what} is negative"), expr.span));
        }
        Ok(lowered)
    }

    /// Beside an aggregate there may be constants and grouping keys, nothing else.
    fn check_grouping(&self, mixed: &[&AstExpr], items: &[Item<'_>], scope: &Scope) -> Result<()> {
        let keys: Vec<String> = items
            .iter()
            .filter_map(|item| item.expr)
            .filter(|expr| !self.has_aggregate(expr))
            .map(unwrapped)
            .filter(|expr| is_simple(expr))
            .map(|expr| self.text_of(expr.span))
            .collect();
        let starred: Vec<&str> =
            items.iter().filter(|item| item.expr.is_none()).map(|item| item.name.as_str()).collect();
        mixed.iter().try_for_each(|expr| self.grouped(expr, &keys, &starred, scope, "AmbiguousAggregationExpression"))
    }

    fn check_order(&self, expr: &AstExpr, items: &[Item<'_>], next: &Scope, scope: &Scope) -> Result<()> {
        let whole: Vec<String> =
            items.iter().filter_map(|item| item.expr).map(|expr| self.text_of(unwrapped(expr).span)).collect();
        if whole.contains(&self.text_of(unwrapped(expr).span)) {
            return Ok(());
        }
        let keys: Vec<String> = items
            .iter()
            .filter_map(|item| item.expr)
            .filter(|expr| !self.has_aggregate(expr))
            .map(unwrapped)
            .filter(|expr| is_simple(expr))
            .map(|expr| self.text_of(expr.span))
            .collect();
        let names: Vec<&str> = next.variables.iter().map(|one| one.name.as_str()).collect();
        self.grouped(expr, &keys, &names, scope, "UndefinedVariable")
    }

    fn grouped(
        &self,
        expr: &AstExpr,
        keys: &[String],
        names: &[&str],
        scope: &Scope,
        detail: &'static str,
    ) -> Result<()> {
        let expr = unwrapped(expr);
        if !self.has_aggregate(expr) {
            if keys.contains(&self.text_of(expr.span)) {
                return Ok(());
            }
            if let ExprKind::Property { expression, .. } = &expr.kind
                && let ExprKind::Variable(name) = &unwrapped(expression).kind
                && (keys.contains(&self.text_of(name.span)) || names.contains(&name.kind.text.as_str()))
            {
                return Ok(());
            }
        }
        if let ExprKind::Function(call) = &expr.kind
            && super::expressions::aggregation(&call.name).is_some()
        {
            return Ok(());
        }
        if let ExprKind::Variable(name) = &expr.kind {
            // A variable that is in no scope is local to a comprehension.
            if names.contains(&name.kind.text.as_str()) || scope.get(&name.kind.text).is_none() {
                return Ok(());
            }
            let message = format!("{} is used beside an aggregate, but it is not a grouping key", name.kind.text);
            return Err(Fault::syntax(detail, message, name.span)
                .hint(format!("add {} to the columns, or compute it in a WITH before", name.kind.text)));
        }
        super::expressions::children(expr)
            .into_iter()
            .try_for_each(|child| self.grouped(child, keys, names, scope, detail))
    }

    pub(super) fn has_aggregate(&self, expr: &AstExpr) -> bool {
        if let ExprKind::Function(call) = &expr.kind
            && super::expressions::aggregation(&call.name).is_some()
        {
            return true;
        }
        super::expressions::children(expr).into_iter().any(|child| self.has_aggregate(child))
    }
}

/// Without parentheses around it.
pub(super) fn unwrapped(expr: &AstExpr) -> &AstExpr {
    match &expr.kind {
        ExprKind::Parenthesized(inner) => unwrapped(inner),
        _ => expr,
    }
}

/// A variable or a property of one: what can be a grouping key inside of another expression.
fn is_simple(expr: &AstExpr) -> bool {
    match &expr.kind {
        ExprKind::Variable(_) => true,
        ExprKind::Property { expression, .. } => is_simple(unwrapped(expression)),
        _ => false,
    }
}
