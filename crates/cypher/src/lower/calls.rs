//! Functions, aggregates and shortest paths.

use open_cypher::Span;
use open_cypher::ast::{ExprKind, FunctionInvocation, PathFactorKind, SetQuantifier};

use super::Lowering;
use super::expressions::aggregation;
use super::projection::unwrapped;
use super::scope::Scope;
use super::types::Ty;
use crate::fault::{Fault, Result};
use crate::functions;
use crate::plan::{Aggregate, Aggregation, Expr};
use crate::value::Value;

impl Lowering<'_> {
    /// A call, which may be an aggregate.
    pub(super) fn function(&mut self, call: &FunctionInvocation, span: Span, scope: &Scope) -> Result<(Expr, Ty)> {
        let distinct = matches!(call.quantifier.as_ref().map(|one| one.kind), Some(SetQuantifier::Distinct));
        if let Some(what) = aggregation(&call.name) {
            return self.aggregate(what, distinct, call, span, scope);
        }
        let parts: Vec<String> = call.name.parts.iter().map(|part| part.kind.text.to_ascii_lowercase()).collect();
        let name = parts.join(".");
        if let ("shortestpath" | "allshortestpaths", [argument]) = (name.as_str(), call.arguments.as_slice())
            && let ExprKind::Pattern(pattern) = &argument.kind
        {
            return self.shortest(name == "allshortestpaths", pattern, scope);
        }
        if let ("exists", [argument]) = (name.as_str(), call.arguments.as_slice()) {
            if let ExprKind::Pattern(pattern) = &unwrapped(argument).kind {
                return Ok((self.pattern_exists(pattern, scope)?, Ty::Bool));
            }
            let (inner, _) = self.expr(argument, scope)?;
            return Ok((Expr::IsNull(Box::new(inner), true), Ty::Bool));
        }
        let Some((function, least, most, ty)) = functions::by_name(&name) else {
            let shown: Vec<&str> = call.name.parts.iter().map(|part| part.kind.text.as_str()).collect();
            let near = isomorph::did_you_mean(&name, functions::names());
            let message = format!("there is no function {}{near}", shown.join("."));
            return Err(Fault::syntax("UnknownFunction", message, call.name.span));
        };
        let count = call.arguments.len();
        if count < least || count > most {
            let message = format!("{name} takes {}, found {count} arguments", functions::arity(least, most));
            return Err(Fault::syntax("InvalidNumberOfArguments", message, span));
        }
        let before = std::mem::replace(&mut self.in_predicate, false);
        let arguments = call.arguments.iter().map(|one| self.expr(one, scope)).collect::<Result<Vec<_>>>();
        self.in_predicate = before;
        let arguments = arguments?;
        let types: Vec<Ty> = arguments.iter().map(|(_, ty)| ty.clone()).collect();
        if let Some(message) = wrong_argument(&name, &types) {
            return Err(Fault::syntax("InvalidArgumentType", message, span));
        }
        let ty = match ty {
            functions::Returns::Any => match (name.as_str(), types.first()) {
                ("head" | "last", Some(Ty::List(of))) => (**of).clone(),
                ("tail", Some(list @ Ty::List(_))) => list.clone(),
                _ => Ty::Any,
            },
            functions::Returns::Bool => Ty::Bool,
            functions::Returns::Int => Ty::Int,
            functions::Returns::Float => Ty::Float,
            functions::Returns::Text => Ty::Text,
            functions::Returns::List => Ty::list(Ty::Any),
            functions::Returns::Nodes => Ty::list(Ty::Node),
            functions::Returns::Relationships => Ty::list(Ty::Relationship),
            functions::Returns::Map => Ty::Map,
            functions::Returns::Node => Ty::Node,
            functions::Returns::Temporal => Ty::Temporal,
        };
        Ok((Expr::Call(function, arguments.into_iter().map(|(one, _)| one).collect()), ty))
    }

    fn aggregate(
        &mut self,
        what: Aggregation,
        distinct: bool,
        call: &FunctionInvocation,
        span: Span,
        scope: &Scope,
    ) -> Result<(Expr, Ty)> {
        if self.in_aggregate {
            return Err(Fault::syntax("NestedAggregation", "an aggregate is inside of another one", span));
        }
        if self.aggregates.is_none() {
            let message = "aggregates are allowed only in the items of WITH and RETURN, and in their ORDER BY";
            return Err(Fault::syntax("InvalidAggregation", message, span));
        }
        let is_star = matches!(call.arguments.as_slice(), [one] if matches!(one.kind, ExprKind::Wildcard));
        let wanted = match what {
            Aggregation::PercentileCont | Aggregation::PercentileDisc => 2,
            _ => 1,
        };
        if call.arguments.len() != wanted {
            let message =
                format!("{} takes {wanted} arguments, found {}", call.name.parts[0].kind.text, call.arguments.len());
            return Err(Fault::syntax("InvalidNumberOfArguments", message, span));
        }
        self.in_aggregate = true;
        let known = std::mem::take(&mut self.known);
        let (mut arguments, mut result) = (Vec::new(), Ok(()));
        for argument in call.arguments.iter().filter(|_| !is_star) {
            match self.expr(argument, scope) {
                Ok((_, ty)) if what == Aggregation::Sum && ty.is_wrong(|ty| ty.is_number() || *ty == Ty::Temporal) => {
                    let message = format!("sum expects numbers, found {}", ty.name());
                    result = Err(Fault::syntax("InvalidArgumentType", message, argument.span));
                }
                Ok((expr, _)) => {
                    if contains_random(&expr) {
                        let message = "rand() cannot be inside of an aggregate";
                        result = Err(Fault::syntax("NonConstantExpression", message, argument.span));
                    }
                    arguments.push(expr);
                }
                Err(fault) => result = Err(fault),
            }
        }
        self.known = known;
        self.in_aggregate = false;
        result?;
        let slot = self.slot();
        let (what, ty) = match what {
            Aggregation::Count if is_star => (Aggregation::CountRows, Ty::Int),
            Aggregation::Count => (what, Ty::Int),
            Aggregation::Collect => (what, Ty::list(Ty::Any)),
            Aggregation::StDev | Aggregation::StDevP => (what, Ty::Float),
            _ => (what, Ty::Any),
        };
        if let Some(all) = &mut self.aggregates {
            all.push(Aggregate { slot, what, distinct, arguments });
        }
        Ok((Expr::Slot(slot), ty))
    }

    /// `shortestPath((a)-[*]-(b))` as an expression: its path, or null.
    fn shortest(&mut self, all: bool, ast: &open_cypher::ast::Pattern, scope: &Scope) -> Result<(Expr, Ty)> {
        let mut ast = ast.clone();
        for part in &mut ast.parts {
            let pattern = Box::new(part.kind.path.clone());
            let (kind, span) = (PathFactorKind::LegacyShortest { all, pattern }, part.kind.path.span);
            part.kind.path.kind.factors = vec![open_cypher::ast::Node::new(kind, span)];
            // No variable of a query can be called so.
            let name = open_cypher::ast::Identifier::new("\u{0}path", true);
            part.kind.binding = Some(open_cypher::ast::Node::new(name, span));
        }
        let mut inner = scope.clone();
        let pattern = self.match_pattern(&ast, None, &mut inner, true)?;
        let slot = pattern.paths.first().map_or(0, |path| path.slot);
        let list = Expr::PatternComprehension { pattern: Box::new(pattern), result: Box::new(Expr::Slot(slot)) };
        if all {
            return Ok((list, Ty::list(Ty::Path)));
        }
        Ok((Expr::Index(Box::new(list), Box::new(Expr::Const(Value::Int(0)))), Ty::Path))
    }
}

fn contains_random(expr: &Expr) -> bool {
    match expr {
        Expr::Call(functions::Function::Rand, _) => true,
        Expr::Call(_, all) | Expr::List(all) => all.iter().any(contains_random),
        Expr::Binary(_, a, b) => contains_random(a) || contains_random(b),
        _ => false,
    }
}

/// What is wrong with arguments of known types.
fn wrong_argument(name: &str, types: &[Ty]) -> Option<String> {
    let first = types.first()?;
    let (fits, wanted): (fn(&Ty) -> bool, &str) = match name {
        "length" => (|ty| *ty == Ty::Path, "a path"),
        "nodes" | "relationships" => (|ty| *ty == Ty::Path, "a path"),
        "type" | "startnode" | "endnode" => (|ty| *ty == Ty::Relationship, "a relationship"),
        "labels" => (|ty| *ty == Ty::Node, "a node"),
        "size" => (|ty| matches!(ty, Ty::List(_) | Ty::Text | Ty::Map), "a list or a string"),
        "keys" | "properties" => {
            (|ty| matches!(ty, Ty::Node | Ty::Relationship | Ty::Map), "a node, a relationship or a map")
        }
        "id" | "elementid" => (|ty| matches!(ty, Ty::Node | Ty::Relationship), "a node or relationship"),
        _ => return None,
    };
    first.is_wrong(fits).then(|| format!("{name} expects {wanted}, found {}", first.name()))
}
