//! Expressions: variables, types that are known, functions and aggregates.

use std::sync::Arc;

use open_cypher::Span;
use open_cypher::ast::{
    BinaryOperator, Expr as AstExpr, ExprKind, IntegerRadix, IsPredicate, LiteralKind, MapProjectionItemKind,
    ParameterName, QualifiedName, QuantifiedPredicateKind, SubqueryExpressionKind, UnaryOperator,
};

use super::projection::unwrapped;
use super::scope::Scope;
use super::types::Ty;
use super::{Lowering, unsupported};
use crate::fault::{Class, Fault, Result};
use crate::plan::{Aggregation, Expr, Operator, Quantifier, SubqueryKind};
use crate::value::Value;

/// The aggregate of that name.
pub(super) fn aggregation(name: &QualifiedName) -> Option<Aggregation> {
    let [part] = name.parts.as_slice() else { return None };
    Some(match part.kind.text.to_ascii_lowercase().as_str() {
        "count" => Aggregation::Count,
        "sum" => Aggregation::Sum,
        "avg" => Aggregation::Avg,
        "min" => Aggregation::Min,
        "max" => Aggregation::Max,
        "collect" => Aggregation::Collect,
        "stdev" => Aggregation::StDev,
        "stdevp" => Aggregation::StDevP,
        "percentilecont" => Aggregation::PercentileCont,
        "percentiledisc" => Aggregation::PercentileDisc,
        _ => return None,
    })
}

/// The expressions directly inside of one, except for subqueries and patterns.
pub(super) fn children(expr: &AstExpr) -> Vec<&AstExpr> {
    let mut all: Vec<&AstExpr> = Vec::new();
    match &expr.kind {
        ExprKind::List(items) => all.extend(items),
        ExprKind::Map(entries) => all.extend(entries.iter().map(|entry| &entry.value)),
        ExprKind::MapProjection(projection) => {
            all.push(&projection.base);
            for item in &projection.items {
                if let MapProjectionItemKind::Entry(entry) = &item.kind {
                    all.push(&entry.value);
                }
            }
        }
        ExprKind::Unary { operand, .. } => all.push(operand),
        ExprKind::Binary { left, right, .. } => all.extend([&**left, &**right]),
        ExprKind::Is { expression, .. } | ExprKind::Property { expression, .. } => all.push(expression),
        ExprKind::DynamicProperty { expression, key } => all.extend([&**expression, &**key]),
        ExprKind::Index { expression, index } => all.extend([&**expression, &**index]),
        ExprKind::Slice { expression, lower, upper } => {
            all.push(expression);
            all.extend(lower.as_deref());
            all.extend(upper.as_deref());
        }
        ExprKind::Function(call) => all.extend(&call.arguments),
        ExprKind::Case(case) => {
            all.extend(case.operand.as_deref());
            for arm in &case.alternatives {
                all.extend(&arm.when);
                all.push(&arm.then);
            }
            all.extend(case.else_expression.as_deref());
        }
        ExprKind::ListComprehension(one) => {
            all.push(&one.list);
            all.extend(one.predicate.as_deref());
            all.extend(one.projection.as_deref());
        }
        ExprKind::PatternComprehension(one) => {
            all.extend(one.predicate.as_deref());
            all.push(&one.projection);
        }
        ExprKind::Reduce(one) => all.extend([&*one.initial, &*one.list, &*one.expression]),
        ExprKind::QuantifiedPredicate(one) => all.extend([&*one.list, &*one.predicate]),
        ExprKind::Parenthesized(one) => all.push(one),
        _ => {}
    }
    all
}

impl Lowering<'_> {
    /// A condition: aggregates are not allowed, patterns are.
    pub(super) fn predicate(&mut self, expr: &AstExpr, scope: &Scope) -> Result<Expr> {
        let aggregates = self.aggregates.take();
        let before = std::mem::replace(&mut self.in_predicate, true);
        let lowered = self.expr(expr, scope);
        self.in_predicate = before;
        self.aggregates = aggregates;
        let (lowered, ty) = lowered?;
        self.must_be(&ty, |ty| *ty == Ty::Bool, "a Boolean", expr.span)?;
        Ok(lowered)
    }

    fn must_be(&self, ty: &Ty, fits: impl Fn(&Ty) -> bool, wanted: &str, span: Span) -> Result<()> {
        if ty.is_wrong(fits) {
            let message = format!("expected {wanted}, found {}", ty.name());
            return Err(Fault::syntax("InvalidArgumentType", message, span));
        }
        Ok(())
    }

    /// An expression and its type.
    pub(super) fn expr(&mut self, expr: &AstExpr, scope: &Scope) -> Result<(Expr, Ty)> {
        self.deeper(expr.span, |own| own.expr_inside(expr, scope))
    }

    fn boxed(&mut self, expr: &AstExpr, scope: &Scope) -> Result<Box<Expr>> {
        Ok(Box::new(self.expr(expr, scope)?.0))
    }

    fn expr_inside(&mut self, expr: &AstExpr, scope: &Scope) -> Result<(Expr, Ty)> {
        if !self.known.is_empty() {
            let text = self.text_of(unwrapped(expr).span);
            // An alias hides a variable of the same name; it is found in the scope.
            if let Some((_, slot, ty)) = self.known.iter().find(|(known, ..)| *known == text)
                && !matches!(&unwrapped(expr).kind, ExprKind::Variable(name) if scope.get(&name.kind.text).is_some())
            {
                return Ok((Expr::Slot(*slot), ty.clone()));
            }
        }
        Ok(match &expr.kind {
            ExprKind::Parenthesized(inner) => self.expr(inner, scope)?,
            ExprKind::Literal(literal) => literal_value(&literal.kind, literal.span, false)?,
            ExprKind::Variable(name) => {
                let variable = scope.find(&name.kind.text, name.span)?;
                (Expr::Slot(variable.slot), variable.ty.clone())
            }
            ExprKind::Parameter(parameter) => {
                let (ParameterName::Named(name) | ParameterName::Positional(name)) = &parameter.name else {
                    return Err(unsupported("this parameter is", expr.span));
                };
                if !self.parameters.contains(name) {
                    let message = format!("parameter ${name} has no value");
                    return Err(Fault::compile(Class::ParameterMissing, "MissingParameter", message, expr.span)
                        .hint(format!("--param {name}=VALUE")));
                }
                (Expr::Parameter(Arc::from(name.as_str())), Ty::Any)
            }
            ExprKind::List(items) => {
                let (mut all, mut of) = (Vec::with_capacity(items.len()), None::<Ty>);
                for item in items {
                    let (item, ty) = self.expr(item, scope)?;
                    of = Some(match of {
                        None => ty,
                        Some(of) => of.or(&ty),
                    });
                    all.push(item);
                }
                (Expr::List(all), Ty::list(of.unwrap_or(Ty::Any)))
            }
            ExprKind::Map(entries) => {
                let mut all = Vec::with_capacity(entries.len());
                for entry in entries {
                    all.push((Arc::from(entry.key.kind.text.as_str()), self.expr(&entry.value, scope)?.0));
                }
                (Expr::Map(all), Ty::Map)
            }
            ExprKind::MapProjection(projection) => self.map_projection(projection, scope)?,
            ExprKind::Unary { operator, operand } => self.unary(operator.kind, operand, expr.span, scope)?,
            ExprKind::Binary { left, operator, right } => self.binary(expr, left, operator.kind, right, scope)?,
            ExprKind::Is { expression, negated, predicate } => {
                let (inner, ty) = self.expr(expression, scope)?;
                let tested = match predicate {
                    IsPredicate::Null => return Ok((Expr::IsNull(Box::new(inner), *negated), Ty::Bool)),
                    IsPredicate::Label(labels) => {
                        self.must_be(
                            &ty,
                            |ty| matches!(ty, Ty::Node | Ty::Relationship),
                            "a node or relationship",
                            expr.span,
                        )?;
                        let labels = super::patterns::labels_of(labels)?;
                        self.names.add_labels(&labels);
                        Expr::HasLabels(Box::new(inner), labels)
                    }
                    _ => return Err(unsupported("this predicate is", expr.span)),
                };
                (if *negated { Expr::Not(Box::new(tested)) } else { tested }, Ty::Bool)
            }
            ExprKind::Property { expression, key } => {
                let (inner, ty) = self.expr(expression, scope)?;
                let fits = |ty: &Ty| matches!(ty, Ty::Node | Ty::Relationship | Ty::Map | Ty::Temporal);
                if ty.is_wrong(fits) {
                    let message = format!("{} has no properties, so not {}", ty.name(), key.kind.text);
                    let class = if ty == Ty::Path { Class::SyntaxError } else { Class::TypeError };
                    return Err(Fault::compile(class, "InvalidArgumentType", message, expr.span));
                }
                if matches!(ty, Ty::Node | Ty::Relationship) {
                    self.names.properties.insert(key.kind.text.clone());
                }
                (Expr::Property(Box::new(inner), Arc::from(key.kind.text.as_str())), Ty::Any)
            }
            ExprKind::DynamicProperty { expression, key } => {
                (Expr::Index(self.boxed(expression, scope)?, self.boxed(key, scope)?), Ty::Any)
            }
            ExprKind::Index { expression, index } => {
                let (base, ty) = self.expr(expression, scope)?;
                (Expr::Index(Box::new(base), self.boxed(index, scope)?), ty.item())
            }
            ExprKind::Slice { expression, lower, upper } => {
                let (base, ty) = self.expr(expression, scope)?;
                let lower = lower.as_ref().map(|one| self.boxed(one, scope)).transpose()?;
                let upper = upper.as_ref().map(|one| self.boxed(one, scope)).transpose()?;
                (Expr::Slice(Box::new(base), lower, upper), ty)
            }
            ExprKind::Function(call) => self.function(call, expr.span, scope)?,
            ExprKind::Case(case) => {
                let operand = case.operand.as_ref().map(|one| self.boxed(one, scope)).transpose()?;
                let mut arms = Vec::new();
                for arm in &case.alternatives {
                    let whens = arm.when.iter().map(|one| Ok(self.expr(one, scope)?.0)).collect::<Result<Vec<_>>>()?;
                    arms.push((whens, self.expr(&arm.then, scope)?.0));
                }
                let otherwise = case.else_expression.as_ref().map(|one| self.boxed(one, scope)).transpose()?;
                (Expr::Case { operand, arms, otherwise }, Ty::Any)
            }
            ExprKind::ListComprehension(one) => {
                let (list, ty) = self.expr(&one.list, scope)?;
                self.must_be(&ty, |ty| matches!(ty, Ty::List(_)), "a list", one.list.span)?;
                let (slot, mut inner) = (self.slot(), scope.clone());
                inner.add(&one.variable.kind.text, slot, ty.item());
                let (held, was_inside) = (self.aggregates.take(), self.in_aggregate);
                let condition = one.predicate.as_ref().map(|one| self.boxed(one, &inner)).transpose();
                let result = one.projection.as_ref().map(|one| self.expr(one, &inner)).transpose();
                (self.aggregates, self.in_aggregate) = (held, was_inside);
                let (condition, result) = (condition?, result?);
                let of = result.as_ref().map_or_else(|| ty.item(), |(_, ty)| ty.clone());
                let result = result.map(|(result, _)| Box::new(result));
                (Expr::ListComprehension { slot, list: Box::new(list), condition, result }, Ty::list(of))
            }
            ExprKind::QuantifiedPredicate(one) => {
                let (list, ty) = self.expr(&one.list, scope)?;
                self.must_be(&ty, |ty| matches!(ty, Ty::List(_)), "a list", one.list.span)?;
                let (slot, mut inner) = (self.slot(), scope.clone());
                inner.add(&one.variable.kind.text, slot, ty.item());
                let condition = Box::new(self.predicate(&one.predicate, &inner)?);
                let quantifier = match one.kind.kind {
                    QuantifiedPredicateKind::All => Quantifier::All,
                    QuantifiedPredicateKind::Any => Quantifier::Any,
                    QuantifiedPredicateKind::None => Quantifier::None,
                    QuantifiedPredicateKind::Single => Quantifier::Single,
                    _ => return Err(unsupported("this quantifier is", expr.span)),
                };
                (Expr::Quantified { quantifier, slot, list: Box::new(list), condition }, Ty::Bool)
            }
            ExprKind::Reduce(one) => {
                let list = self.boxed(&one.list, scope)?;
                let initial = self.boxed(&one.initial, scope)?;
                let (accumulator, slot, mut inner) = (self.slot(), self.slot(), scope.clone());
                inner.add(&one.accumulator.kind.text, accumulator, Ty::Any);
                inner.add(&one.variable.kind.text, slot, Ty::Any);
                let held = self.aggregates.take();
                let body = self.boxed(&one.expression, &inner);
                self.aggregates = held;
                (Expr::Reduce { accumulator, initial, slot, list, expr: body? }, Ty::Any)
            }
            ExprKind::PatternComprehension(one) => {
                let mut inner = scope.clone();
                let mut ast = one.pattern.clone();
                if let (Some(binding), Some(part)) = (&one.binding, ast.parts.first_mut()) {
                    part.kind.binding = Some(binding.clone());
                }
                let held = self.aggregates.take();
                let pattern = self.match_pattern(&ast, one.predicate.as_deref(), &mut inner, true);
                let result = pattern.and_then(|pattern| Ok((pattern, self.expr(&one.projection, &inner)?)));
                self.aggregates = held;
                let (pattern, (result, ty)) = result?;
                (Expr::PatternComprehension { pattern: Box::new(pattern), result: Box::new(result) }, Ty::list(ty))
            }
            ExprKind::Pattern(pattern) => {
                if !self.in_predicate {
                    let message = "a pattern can be a condition, but has no value";
                    return Err(Fault::syntax("UnexpectedSyntax", message, expr.span)
                        .hint("EXISTS { pattern }, COUNT { pattern }, or [pattern | expression]"));
                }
                (self.pattern_exists(pattern, scope)?, Ty::Bool)
            }
            ExprKind::Subquery(subquery) => {
                let (kind, ty) = match subquery.kind.kind {
                    SubqueryExpressionKind::Exists => (SubqueryKind::Exists, Ty::Bool),
                    SubqueryExpressionKind::Count => (SubqueryKind::Count, Ty::Int),
                    SubqueryExpressionKind::Collect => (SubqueryKind::Collect, Ty::list(Ty::Any)),
                    _ => return Err(unsupported("this subquery is", expr.span)),
                };
                let held = (self.aggregates.take(), self.in_aggregate, std::mem::take(&mut self.known));
                self.in_aggregate = false;
                let plan = self.query(&subquery.query, scope, true);
                (self.aggregates, self.in_aggregate, self.known) = held;
                let plan = plan?;
                if kind == SubqueryKind::Collect && plan.columns.len() != 1 {
                    return Err(Fault::syntax(
                        "UnexpectedSyntax",
                        "COLLECT needs a query that returns one column",
                        expr.span,
                    ));
                }
                (Expr::Subquery(kind, Box::new(plan)), ty)
            }
            ExprKind::Wildcard => return Err(Fault::syntax("UnexpectedSyntax", "* is not an expression", expr.span)),
            _ => return Err(unsupported("this expression is", expr.span)),
        })
    }

    pub(super) fn pattern_exists(&mut self, pattern: &open_cypher::ast::Pattern, scope: &Scope) -> Result<Expr> {
        let mut inner = scope.clone();
        let held = self.aggregates.take();
        let pattern = self.match_pattern(pattern, None, &mut inner, false);
        self.aggregates = held;
        Ok(Expr::PatternExists(Box::new(pattern?)))
    }

    fn map_projection(&mut self, projection: &open_cypher::ast::MapProjection, scope: &Scope) -> Result<(Expr, Ty)> {
        let base = self.boxed(&projection.base, scope)?;
        let (mut all, mut entries, mut properties) = (false, Vec::new(), Vec::new());
        for item in &projection.items {
            match &item.kind {
                MapProjectionItemKind::Property(name) => properties.push(Arc::from(name.kind.text.as_str())),
                MapProjectionItemKind::AllProperties => all = true,
                MapProjectionItemKind::Variable(name) => {
                    let slot = scope.find(&name.kind.text, name.span)?.slot;
                    entries.push((Arc::from(name.kind.text.as_str()), Expr::Slot(slot)));
                }
                MapProjectionItemKind::Entry(entry) => {
                    entries.push((Arc::from(entry.key.kind.text.as_str()), self.expr(&entry.value, scope)?.0));
                }
                _ => return Err(unsupported("this item is", item.span)),
            }
        }
        Ok((Expr::MapProjection { base, all, entries, properties }, Ty::Map))
    }

    fn unary(&mut self, operator: UnaryOperator, operand: &AstExpr, span: Span, scope: &Scope) -> Result<(Expr, Ty)> {
        if operator == UnaryOperator::Minus
            && let ExprKind::Literal(literal) = &operand.kind
            && matches!(literal.kind, LiteralKind::Integer(_))
        {
            return literal_value(&literal.kind, span, true);
        }
        let (inner, ty) = self.expr(operand, scope)?;
        let inner = Box::new(inner);
        Ok(match operator {
            UnaryOperator::Not => {
                self.must_be(&ty, |ty| *ty == Ty::Bool, "a Boolean", operand.span)?;
                (Expr::Not(inner), Ty::Bool)
            }
            UnaryOperator::Minus => {
                self.must_be(&ty, |ty| ty.is_number() || *ty == Ty::Temporal, "a number", operand.span)?;
                (Expr::Negate(inner), ty)
            }
            UnaryOperator::Plus => {
                self.must_be(&ty, Ty::is_number, "a number", operand.span)?;
                (Expr::Plus(inner), ty)
            }
            _ => return Err(unsupported("this operator is", span)),
        })
    }

    fn binary(
        &mut self,
        expr: &AstExpr,
        left: &AstExpr,
        operator: BinaryOperator,
        right: &AstExpr,
        scope: &Scope,
    ) -> Result<(Expr, Ty)> {
        if let (Some(_), ExprKind::Binary { operator: inner, .. }) = (comparison(operator), &left.kind)
            && comparison(inner.kind).is_some()
        {
            let (mut operands, mut operators) = (Vec::new(), Vec::new());
            let mut at = expr;
            while let ExprKind::Binary { left, operator, right } = &at.kind
                && let Some(operator) = comparison(operator.kind)
            {
                operands.push(self.expr(right, scope)?.0);
                operators.push(operator);
                at = left;
            }
            operands.push(self.expr(at, scope)?.0);
            operands.reverse();
            operators.reverse();
            return Ok((Expr::Chain(operands, operators), Ty::Bool));
        }
        let (a, left_ty) = self.expr(left, scope)?;
        let (b, right_ty) = self.expr(right, scope)?;
        let (a, b) = (Box::new(a), Box::new(b));
        if let Some(operator) = comparison(operator) {
            return Ok((Expr::Binary(operator, a, b), Ty::Bool));
        }
        let logical = |own: &Self| -> Result<()> {
            own.must_be(&left_ty, |ty| *ty == Ty::Bool, "a Boolean", left.span)?;
            own.must_be(&right_ty, |ty| *ty == Ty::Bool, "a Boolean", right.span)
        };
        let number_ty = || match (&left_ty, &right_ty) {
            (Ty::Int, Ty::Int) => Ty::Int,
            (Ty::Int | Ty::Float, Ty::Int | Ty::Float) => Ty::Float,
            _ => Ty::Any,
        };
        let (operator, ty) = match operator {
            BinaryOperator::And => {
                logical(self)?;
                return Ok((Expr::And(a, b), Ty::Bool));
            }
            BinaryOperator::Or => {
                logical(self)?;
                return Ok((Expr::Or(a, b), Ty::Bool));
            }
            BinaryOperator::Xor => {
                logical(self)?;
                return Ok((Expr::Xor(a, b), Ty::Bool));
            }
            BinaryOperator::In => {
                self.must_be(&right_ty, |ty| matches!(ty, Ty::List(_)), "a list", right.span)?;
                (Operator::In, Ty::Bool)
            }
            BinaryOperator::RegexMatch => (Operator::Matches, Ty::Bool),
            BinaryOperator::StartsWith => (Operator::StartsWith, Ty::Bool),
            BinaryOperator::EndsWith => (Operator::EndsWith, Ty::Bool),
            BinaryOperator::Contains => (Operator::Contains, Ty::Bool),
            BinaryOperator::Add | BinaryOperator::Concat => {
                let ty = match (&left_ty, &right_ty) {
                    (Ty::List(_), _) | (_, Ty::List(_)) => Ty::list(Ty::Any),
                    (Ty::Text, Ty::Text) => Ty::Text,
                    _ => number_ty(),
                };
                (Operator::Add, ty)
            }
            BinaryOperator::Subtract
            | BinaryOperator::Multiply
            | BinaryOperator::Divide
            | BinaryOperator::Remainder => {
                for (ty, span) in [(&left_ty, left.span), (&right_ty, right.span)] {
                    self.must_be(ty, |ty| ty.is_number() || *ty == Ty::Temporal, "a number", span)?;
                }
                let operator = match operator {
                    BinaryOperator::Subtract => Operator::Subtract,
                    BinaryOperator::Multiply => Operator::Multiply,
                    BinaryOperator::Divide => Operator::Divide,
                    _ => Operator::Remainder,
                };
                (operator, number_ty())
            }
            BinaryOperator::Power => {
                for (ty, span) in [(&left_ty, left.span), (&right_ty, right.span)] {
                    self.must_be(ty, Ty::is_number, "a number", span)?;
                }
                (Operator::Power, Ty::Float)
            }
            _ => return Err(unsupported("this operator is", expr.span)),
        };
        Ok((Expr::Binary(operator, a, b), ty))
    }
}

fn comparison(operator: BinaryOperator) -> Option<Operator> {
    Some(match operator {
        BinaryOperator::Equal => Operator::Equal,
        BinaryOperator::NotEqual => Operator::NotEqual,
        BinaryOperator::Less => Operator::Less,
        BinaryOperator::LessEqual => Operator::LessEqual,
        BinaryOperator::Greater => Operator::Greater,
        BinaryOperator::GreaterEqual => Operator::GreaterEqual,
        _ => return None,
    })
}

fn literal_value(literal: &LiteralKind, span: Span, is_negative: bool) -> Result<(Expr, Ty)> {
    let (value, ty) = match literal {
        LiteralKind::Null => (Value::Null, Ty::Null),
        LiteralKind::Boolean(truth) => (Value::Bool(*truth), Ty::Bool),
        LiteralKind::Integer(integer) => {
            let digits = integer.text.replace('_', "");
            let (digits, radix) = match integer.radix {
                IntegerRadix::Hexadecimal => (digits.get(2..).unwrap_or_default().to_owned(), 16),
                IntegerRadix::Octal if digits.len() > 1 && !digits.starts_with("0o") && !digits.starts_with("0O") => {
                    (digits.get(1..).unwrap_or_default().to_owned(), 8)
                }
                IntegerRadix::Octal => (digits.get(2..).unwrap_or_default().to_owned(), 8),
                _ => (digits, 10),
            };
            let signed = if is_negative { format!("-{digits}") } else { digits };
            let int = i64::from_str_radix(&signed, radix).map_err(|_| {
                let message = format!("{}{} is not a 64-bit integer", if is_negative { "-" } else { "" }, integer.text);
                Fault::syntax("IntegerOverflow", message, span)
            })?;
            (Value::Int(int), Ty::Int)
        }
        LiteralKind::Float(float) => {
            let text = float.text.replace('_', "");
            let number: f64 =
                text.trim_end_matches(['f', 'F', 'd', 'D']).parse().or_else(|_| text.parse()).map_err(|_| {
                    Fault::syntax("InvalidNumberLiteral", format!("{} is not a number", float.text), span)
                })?;
            let is_named = text.chars().next().is_some_and(|first| first.is_ascii_alphabetic());
            if number.is_infinite() && !is_named {
                let message = format!("{} is too large a number", float.text);
                return Err(Fault::syntax("FloatingPointOverflow", message, span));
            }
            (Value::Float(number), Ty::Float)
        }
        LiteralKind::String(text) => (Value::text(&text.value), Ty::Text),
        _ => return Err(unsupported("this literal is", span)),
    };
    Ok((Expr::Const(value), ty))
}
