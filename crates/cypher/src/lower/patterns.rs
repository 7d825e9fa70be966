//! Patterns: of `MATCH`, of pattern predicates and of pattern comprehensions.

use std::sync::Arc;

use open_cypher::ast::{
    Expr as AstExpr, ExprKind, LabelExpression, LabelExpressionKind, Name, NodePattern as AstNode, PathFactor,
    PathFactorKind, PathSelector, Pattern as AstPattern, QuantifierKind, RelationshipDirection,
    RelationshipPattern as AstRelationship,
};

use super::projection::unwrapped;
use super::scope::Scope;
use super::types::Ty;
use super::{Lowering, unsupported};
use crate::fault::{Fault, Result};
use crate::graph::Direction;
use crate::names::Names;
use crate::plan::{Condition, Expr, Labels, NodePattern, Operator, PathPattern, Pattern, RelationshipPattern, Slot};

/// Properties and conditions of elements, which are lowered when all variables of the pattern are known.
struct Later<'a> {
    slot: Slot,
    /// The relationship of the pattern, if it has a variable length: its properties are of each single relationship.
    list: Option<usize>,
    properties: Option<&'a AstExpr>,
    condition: Option<&'a AstExpr>,
}

impl Lowering<'_> {
    /// A pattern with its condition; variables that it binds are added to `scope`, which is an error unless `may_bind`.
    pub(super) fn match_pattern(
        &mut self,
        ast: &AstPattern,
        condition: Option<&AstExpr>,
        scope: &mut Scope,
        may_bind: bool,
    ) -> Result<Pattern> {
        let mut pattern = Pattern::default();
        let mut later = Vec::new();
        let before = scope.variables.len();
        let outer = scope.clone();
        for part in &ast.parts {
            let mut shortest = None;
            if let Some(selector) = &part.kind.selector {
                shortest = match &selector.kind {
                    PathSelector::AnyShortest => Some(false),
                    PathSelector::AllShortest => Some(true),
                    PathSelector::All => None,
                    _ => return Err(unsupported("this path selector is", selector.span)),
                };
            }
            let mut factors = part.kind.path.kind.factors.as_slice();
            while let [one] = factors {
                match &one.kind {
                    PathFactorKind::LegacyShortest { all, pattern } => {
                        shortest = Some(*all);
                        factors = pattern.kind.factors.as_slice();
                    }
                    PathFactorKind::Parenthesized { pattern, where_clause: None, quantifier: None } => {
                        factors = pattern.kind.factors.as_slice();
                    }
                    _ => break,
                }
            }
            if let Some(binding) = &part.kind.binding {
                if any_named(&part.kind.path.kind.factors, &binding.kind.text) {
                    let message = format!("variable {} is already bound", binding.kind.text);
                    return Err(Fault::syntax("VariableAlreadyBound", message, binding.span));
                }
                self.must_be_new(binding, scope)?;
                if named_in(ast, &binding.kind.text) {
                    let message = format!("{} is a path and a part of the pattern", binding.kind.text);
                    return Err(Fault::syntax("VariableTypeConflict", message, binding.span));
                }
            }
            let path = self.chain(factors, shortest, &outer, scope, may_bind, &mut pattern, &mut later)?;
            if let Some(binding) = &part.kind.binding {
                let slot = self.slot();
                scope.add(&binding.kind.text, slot, Ty::Path);
                pattern.introduces.push(slot);
                pattern.paths.push(PathPattern { slot, ..path });
            }
        }
        for one in later {
            self.element_conditions(&one, scope, &mut pattern)?;
        }
        if let Some(condition) = condition {
            let mut conjuncts = Vec::new();
            split(condition, &mut conjuncts);
            for conjunct in conjuncts {
                let expr = self.predicate(conjunct, scope)?;
                self.condition(expr, &mut pattern);
            }
        }
        debug_assert!(may_bind || scope.variables.len() >= before, "variables are only added");
        Ok(pattern)
    }

    fn condition(&mut self, expr: Expr, pattern: &mut Pattern) {
        let (reads, is_safe) = (expr.slots(), expr.is_safe());
        pattern.conditions.push(Condition { expr: Arc::new(expr), reads, is_safe });
    }

    /// Nodes and relationships in turn.
    #[allow(clippy::too_many_arguments)]
    fn chain<'a>(
        &mut self,
        factors: &'a [PathFactor],
        shortest: Option<bool>,
        outer: &Scope,
        scope: &mut Scope,
        may_bind: bool,
        pattern: &mut Pattern,
        later: &mut Vec<Later<'a>>,
    ) -> Result<PathPattern> {
        let mut path = PathPattern { slot: 0, start: 0, relationships: Vec::new() };
        let mut left: Option<usize> = None;
        let mut pending: Option<&'a AstRelationship> = None;
        for factor in factors {
            match &factor.kind {
                PathFactorKind::Node(node) => {
                    let at = self.node(node, outer, scope, may_bind, pattern, later)?;
                    match (left, pending.take()) {
                        (Some(before), Some(relationship)) => {
                            let index = self.relationship(
                                relationship,
                                (before, at),
                                shortest,
                                outer,
                                scope,
                                may_bind,
                                pattern,
                                later,
                            )?;
                            path.relationships.push(index);
                        }
                        (None, None) => path.start = at,
                        _ => return Err(unsupported("two nodes without a relationship between them are", factor.span)),
                    }
                    left = Some(at);
                }
                PathFactorKind::Relationship(relationship) if pending.is_none() && left.is_some() => {
                    pending = Some(relationship);
                }
                PathFactorKind::Relationship(_) => {
                    return Err(Fault::syntax(
                        "UnexpectedSyntax",
                        "a relationship must be between two nodes",
                        factor.span,
                    ));
                }
                _ => return Err(unsupported("this path pattern is", factor.span)),
            }
        }
        if pending.is_some() || left.is_none() {
            let span = factors.last().map(|last| last.span).unwrap_or_default();
            return Err(Fault::syntax("UnexpectedSyntax", "a path must end with a node", span));
        }
        if let (Some(_), false) = (shortest, path.relationships.len() == 1) {
            let span = factors.first().map(|first| first.span).unwrap_or_default();
            return Err(unsupported("a shortest path of more than one relationship pattern is", span));
        }
        Ok(path)
    }

    fn node<'a>(
        &mut self,
        node: &'a AstNode,
        outer: &Scope,
        scope: &mut Scope,
        may_bind: bool,
        pattern: &mut Pattern,
        later: &mut Vec<Later<'a>>,
    ) -> Result<usize> {
        let name = node.variable.as_ref();
        let known = name.and_then(|name| scope.get(&name.kind.text).cloned());
        let index = match (name, known) {
            (Some(name), Some(variable)) => {
                if !matches!(variable.ty, Ty::Node | Ty::Any | Ty::Null) {
                    return Err(conflict(name, &variable.ty, "a node"));
                }
                match pattern.nodes.iter().position(|one| one.slot == variable.slot) {
                    Some(at) => at,
                    None => {
                        pattern.nodes.push(NodePattern { slot: variable.slot, is_bound: true });
                        pattern.nodes.len() - 1
                    }
                }
            }
            (name, _) => {
                let slot = self.slot();
                if let Some(name) = name {
                    if !may_bind {
                        outer.find(&name.kind.text, name.span)?;
                    }
                    scope.add(&name.kind.text, slot, Ty::Node);
                    pattern.introduces.push(slot);
                }
                pattern.nodes.push(NodePattern { slot, is_bound: false });
                pattern.nodes.len() - 1
            }
        };
        let slot = pattern.nodes.get(index).map_or(0, |one| one.slot);
        if let Some(labels) = &node.labels {
            let labels = labels_of(labels)?;
            self.names.add_labels(&labels);
            self.condition(Expr::HasLabels(Box::new(Expr::Slot(slot)), labels), pattern);
        }
        let (properties, condition) = (node.properties.as_deref(), node.where_clause.as_deref());
        later.push(Later { slot, list: None, properties, condition });
        Ok(index)
    }

    #[allow(clippy::too_many_arguments)]
    fn relationship<'a>(
        &mut self,
        ast: &'a AstRelationship,
        (left, right): (usize, usize),
        shortest: Option<bool>,
        outer: &Scope,
        scope: &mut Scope,
        may_bind: bool,
        pattern: &mut Pattern,
        later: &mut Vec<Later<'a>>,
    ) -> Result<usize> {
        if let (Some(_), Some(quantifier)) = (&ast.legacy_quantifier, &ast.graph_quantifier) {
            return Err(unsupported("two lengths of a relationship are", quantifier.span));
        }
        // Without a lower bound a length begins at 1 in openCypher, and a quantifier after the relationship at 0.
        let (quantifier, lowest) = match &ast.graph_quantifier {
            Some(quantifier) => (Some(quantifier), 0),
            None => (ast.legacy_quantifier.as_ref(), 1),
        };
        let length = match quantifier {
            None => None,
            Some(quantifier) => Some(match &quantifier.kind {
                QuantifierKind::ZeroOrMore => (lowest, u64::MAX),
                QuantifierKind::OneOrMore => (1, u64::MAX),
                QuantifierKind::Optional => (0, 1),
                QuantifierKind::Fixed(count) => {
                    let count = bound(count, quantifier.span)?;
                    (count, count)
                }
                QuantifierKind::Range { lower, upper } => {
                    let lower = lower.as_ref().map(|text| bound(text, quantifier.span)).transpose()?;
                    let upper = upper.as_ref().map(|text| bound(text, quantifier.span)).transpose()?;
                    (lower.unwrap_or(lowest), upper.unwrap_or(u64::MAX))
                }
                _ => return Err(unsupported("this quantifier is", quantifier.span)),
            }),
        };
        let is_list = length.is_some();
        let name = ast.variable.as_ref();
        let known = name.and_then(|name| scope.get(&name.kind.text).cloned());
        let (slot, is_bound) = match (name, known) {
            (Some(name), Some(variable)) => {
                let fits = match &variable.ty {
                    Ty::Any | Ty::Null => true,
                    Ty::Relationship => !is_list,
                    Ty::List(of) => is_list && matches!(**of, Ty::Relationship | Ty::Any),
                    _ => false,
                };
                if !fits {
                    return Err(conflict(
                        name,
                        &variable.ty,
                        if is_list { "a list of relationships" } else { "a relationship" },
                    ));
                }
                if pattern.relationships.iter().any(|one| one.slot == variable.slot) {
                    let message =
                        format!("relationship {} is used twice in one pattern, so nothing can match", name.kind.text);
                    return Err(Fault::syntax("RelationshipUniquenessViolation", message, name.span));
                }
                (variable.slot, true)
            }
            (name, _) => {
                let slot = self.slot();
                if let Some(name) = name {
                    if !may_bind {
                        outer.find(&name.kind.text, name.span)?;
                    }
                    let ty = if is_list { Ty::list(Ty::Relationship) } else { Ty::Relationship };
                    scope.add(&name.kind.text, slot, ty);
                    pattern.introduces.push(slot);
                }
                (slot, false)
            }
        };
        let direction = match ast.direction.kind {
            RelationshipDirection::Right => Direction::Out,
            RelationshipDirection::Left => Direction::In,
            _ => Direction::Both,
        };
        let mut types = Vec::new();
        if let Some(labels) = &ast.labels
            && !alternatives(labels, &mut types)
        {
            let condition = labels_of(labels)?;
            if is_list {
                return Err(unsupported("this type expression is, for a variable length,", labels.span));
            }
            types.clear();
            let mut of_types = Names::default();
            of_types.add_labels(&condition);
            self.names.types.append(&mut of_types.labels);
            self.condition(Expr::HasLabels(Box::new(Expr::Slot(slot)), condition), pattern);
        }
        self.names.types.extend(types.iter().map(ToString::to_string));
        let index = pattern.relationships.len();
        pattern.relationships.push(RelationshipPattern {
            slot,
            is_bound,
            left,
            right,
            direction,
            types,
            length,
            properties: Vec::new(),
            shortest,
            is_list,
        });
        let (properties, condition) = (ast.properties.as_deref(), ast.where_clause.as_deref());
        later.push(Later { slot, list: is_list.then_some(index), properties, condition });
        Ok(index)
    }

    fn element_conditions(&mut self, later: &Later<'_>, scope: &Scope, pattern: &mut Pattern) -> Result<()> {
        if let Some(properties) = later.properties {
            match &unwrapped(properties).kind {
                ExprKind::Map(entries) => {
                    for entry in entries {
                        let (value, _) = self.expr(&entry.value, scope)?;
                        let key: Arc<str> = Arc::from(entry.key.kind.text.as_str());
                        self.names.properties.insert(entry.key.kind.text.clone());
                        match later.list.and_then(|index| pattern.relationships.get_mut(index)) {
                            Some(relationship) => relationship.properties.push((key, value)),
                            None => {
                                let property = Expr::Property(Box::new(Expr::Slot(later.slot)), key);
                                let equal = Expr::Binary(Operator::Equal, Box::new(property), Box::new(value));
                                self.condition(equal, pattern);
                            }
                        }
                    }
                }
                ExprKind::Parameter(_) => {
                    let message = "a parameter cannot stand for the properties of a pattern";
                    return Err(Fault::syntax("InvalidParameterUse", message, properties.span)
                        .hint("compare single properties: {name: $name}"));
                }
                _ => return Err(Fault::syntax("UnexpectedSyntax", "expected a map of properties", properties.span)),
            }
        }
        if let Some(condition) = later.condition {
            if later.list.is_some() {
                return Err(unsupported("WHERE inside of a relationship of variable length is", condition.span));
            }
            let expr = self.predicate(condition, scope)?;
            self.condition(expr, pattern);
        }
        Ok(())
    }
}

/// Whether a node or relationship of the pattern has that name.
fn named_in(pattern: &AstPattern, name: &str) -> bool {
    pattern.parts.iter().any(|part| any_named(&part.kind.path.kind.factors, name))
}

fn any_named(factors: &[PathFactor], name: &str) -> bool {
    let is = |variable: &Option<Name>| variable.as_ref().is_some_and(|one| one.kind.text == name);
    fn any(factors: &[PathFactor], is: &dyn Fn(&Option<Name>) -> bool) -> bool {
        factors.iter().any(|factor| match &factor.kind {
            PathFactorKind::Node(node) => is(&node.variable),
            PathFactorKind::Relationship(relationship) => is(&relationship.variable),
            PathFactorKind::LegacyShortest { pattern, .. } | PathFactorKind::Parenthesized { pattern, .. } => {
                any(&pattern.kind.factors, is)
            }
            _ => false,
        })
    }
    any(factors, &is)
}

fn conflict(name: &Name, ty: &Ty, wanted: &str) -> Fault {
    let message = format!("variable {} is {}, so it cannot be {wanted}", name.kind.text, ty.name());
    Fault::syntax("VariableTypeConflict", message, name.span)
}

fn bound(text: &str, span: open_cypher::Span) -> Result<u64> {
    text.parse().map_err(|_| Fault::syntax("IntegerOverflow", format!("{text} is too large a length"), span))
}

/// Adds the conjuncts of a condition.
fn split<'a>(expr: &'a AstExpr, conjuncts: &mut Vec<&'a AstExpr>) {
    match &expr.kind {
        ExprKind::Parenthesized(inner) => split(inner, conjuncts),
        ExprKind::Binary { left, operator, right } if operator.kind == open_cypher::ast::BinaryOperator::And => {
            split(left, conjuncts);
            split(right, conjuncts);
        }
        _ => conjuncts.push(expr),
    }
}

/// Whether an expression is a choice of names, which are added.
fn alternatives(labels: &LabelExpression, names: &mut Vec<Arc<str>>) -> bool {
    match &labels.kind {
        LabelExpressionKind::Name(name) => {
            let name: Arc<str> = Arc::from(name.kind.text.as_str());
            if !names.contains(&name) {
                names.push(name);
            }
            true
        }
        LabelExpressionKind::Or(all) => all.iter().all(|one| alternatives(one, names)),
        LabelExpressionKind::Parenthesized(one) => alternatives(one, names),
        _ => false,
    }
}

/// A condition on labels.
pub(super) fn labels_of(labels: &LabelExpression) -> Result<Labels> {
    let all = |list: &[LabelExpression]| list.iter().map(labels_of).collect::<Result<Vec<_>>>();
    Ok(match &labels.kind {
        LabelExpressionKind::Name(name) => Labels::Name(Arc::from(name.kind.text.as_str())),
        LabelExpressionKind::Wildcard => Labels::Any,
        LabelExpressionKind::Not(one) => Labels::Not(Box::new(labels_of(one)?)),
        LabelExpressionKind::And(list) => Labels::And(all(list)?),
        LabelExpressionKind::Or(list) => Labels::Or(all(list)?),
        LabelExpressionKind::Parenthesized(one) => labels_of(one)?,
        _ => return Err(Fault::syntax("UnexpectedSyntax", "not a label expression", labels.span)),
    })
}
