//! The parts of expressions and patterns.

use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};

/// What is directly inside of an expression: expressions, and the pattern of EXISTS.
pub(crate) fn parts(expression: &Expression) -> (Vec<&Expression>, Option<&GraphPattern>) {
    let inside: Vec<&Expression> = match expression {
        Expression::NamedNode(_) | Expression::Literal(_) | Expression::Variable(_) | Expression::Bound(_) => {
            Vec::new()
        }
        Expression::Or(left, right)
        | Expression::And(left, right)
        | Expression::Equal(left, right)
        | Expression::SameTerm(left, right)
        | Expression::Greater(left, right)
        | Expression::GreaterOrEqual(left, right)
        | Expression::Less(left, right)
        | Expression::LessOrEqual(left, right)
        | Expression::Add(left, right)
        | Expression::Subtract(left, right)
        | Expression::Multiply(left, right)
        | Expression::Divide(left, right) => vec![left, right],
        Expression::In(value, list) => std::iter::once(&**value).chain(list).collect(),
        Expression::UnaryPlus(inner) | Expression::UnaryMinus(inner) | Expression::Not(inner) => vec![inner],
        Expression::If(condition, yes, no) => vec![condition, yes, no],
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => list.iter().collect(),
        Expression::Exists(pattern) => return (Vec::new(), Some(pattern)),
    };
    (inside, None)
}

/// The same, to be changed.
pub(crate) fn parts_mut(expression: &mut Expression) -> (Vec<&mut Expression>, Option<&mut GraphPattern>) {
    let inside: Vec<&mut Expression> = match expression {
        Expression::NamedNode(_) | Expression::Literal(_) | Expression::Variable(_) | Expression::Bound(_) => {
            Vec::new()
        }
        Expression::Or(left, right)
        | Expression::And(left, right)
        | Expression::Equal(left, right)
        | Expression::SameTerm(left, right)
        | Expression::Greater(left, right)
        | Expression::GreaterOrEqual(left, right)
        | Expression::Less(left, right)
        | Expression::LessOrEqual(left, right)
        | Expression::Add(left, right)
        | Expression::Subtract(left, right)
        | Expression::Multiply(left, right)
        | Expression::Divide(left, right) => vec![left, right],
        Expression::In(value, list) => std::iter::once(&mut **value).chain(list).collect(),
        Expression::UnaryPlus(inner) | Expression::UnaryMinus(inner) | Expression::Not(inner) => vec![inner],
        Expression::If(condition, yes, no) => vec![condition, yes, no],
        Expression::Coalesce(list) | Expression::FunctionCall(_, list) => list.iter_mut().collect(),
        Expression::Exists(pattern) => return (Vec::new(), Some(pattern)),
    };
    (inside, None)
}

/// A part of a pattern.
enum Part<'p> {
    Expression(&'p mut Expression),
    /// An expression of which the effective boolean value counts.
    Condition(&'p mut Expression),
    Aggregate(&'p mut AggregateExpression),
    Order(&'p mut Vec<OrderExpression>),
}

/// Calls `change` with every expression of a pattern, those inside of others too, before what is inside of them.
pub(crate) fn each_expression(pattern: &mut GraphPattern, change: &mut dyn FnMut(&mut Expression)) {
    each_part(pattern, &mut |part| {
        if let Part::Expression(expression) = part {
            change(expression);
        }
    });
}

/// Calls `change` with every condition of a FILTER or OPTIONAL in a pattern.
pub(crate) fn each_condition(pattern: &mut GraphPattern, change: &mut dyn FnMut(&mut Expression)) {
    each_part(pattern, &mut |part| {
        if let Part::Condition(expression) = part {
            change(expression);
        }
    });
}

/// Calls `change` with the keys of every ORDER BY of a pattern.
pub(crate) fn each_order(pattern: &mut GraphPattern, change: &mut dyn FnMut(&mut Vec<OrderExpression>)) {
    each_part(pattern, &mut |part| {
        if let Part::Order(keys) = part {
            change(keys);
        }
    });
}

/// Calls `change` with an expression and all that are inside of it, before what is inside of them.
pub(crate) fn each_inside(expression: &mut Expression, change: &mut dyn FnMut(&mut Expression)) {
    in_expression(expression, &mut |part| {
        if let Part::Expression(expression) = part {
            change(expression);
        }
    });
}

/// Calls `change` with every aggregate of a pattern, also of patterns inside of expressions.
pub(crate) fn each_aggregate(pattern: &mut GraphPattern, change: &mut dyn FnMut(&mut AggregateExpression)) {
    each_part(pattern, &mut |part| {
        if let Part::Aggregate(aggregate) = part {
            change(aggregate);
        }
    });
}

fn each_part(pattern: &mut GraphPattern, change: &mut dyn FnMut(Part<'_>)) {
    match pattern {
        GraphPattern::Bgp { .. } | GraphPattern::Path { .. } | GraphPattern::Values { .. } => {}
        GraphPattern::Join { left, right }
        | GraphPattern::Union { left, right }
        | GraphPattern::Minus { left, right }
        | GraphPattern::Lateral { left, right } => {
            each_part(left, change);
            each_part(right, change);
        }
        GraphPattern::LeftJoin { left, right, expression } => {
            each_part(left, change);
            each_part(right, change);
            if let Some(condition) = expression {
                change(Part::Condition(condition));
                in_expression(condition, change);
            }
        }
        GraphPattern::Filter { expr, inner } => {
            change(Part::Condition(expr));
            in_expression(expr, change);
            each_part(inner, change);
        }
        GraphPattern::Extend { inner, expression, .. } => {
            in_expression(expression, change);
            each_part(inner, change);
        }
        GraphPattern::OrderBy { inner, expression } => {
            change(Part::Order(expression));
            for key in expression {
                let (OrderExpression::Asc(key) | OrderExpression::Desc(key)) = key;
                in_expression(key, change);
            }
            each_part(inner, change);
        }
        GraphPattern::Group { inner, aggregates, .. } => {
            for (_, aggregate) in aggregates {
                change(Part::Aggregate(aggregate));
                if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                    in_expression(expr, change);
                }
            }
            each_part(inner, change);
        }
        GraphPattern::Graph { inner, .. }
        | GraphPattern::Service { inner, .. }
        | GraphPattern::Project { inner, .. }
        | GraphPattern::Distinct { inner }
        | GraphPattern::Reduced { inner }
        | GraphPattern::Slice { inner, .. } => each_part(inner, change),
    }
}

fn in_expression(expression: &mut Expression, change: &mut dyn FnMut(Part<'_>)) {
    change(Part::Expression(expression));
    let (inside, pattern) = parts_mut(expression);
    inside.into_iter().for_each(|one| in_expression(one, change));
    if let Some(pattern) = pattern {
        each_part(pattern, change);
    }
}
