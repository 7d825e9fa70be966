//! From the algebra of a query to a plan, if every part of it can be evaluated over columns.

use std::collections::HashMap;

use isomorph::error::Result;
use oxrdf::{Term, Variable};
use spargebra::Query;
use spargebra::algebra::{
    AggregateExpression, AggregateFunction, Expression, Function, GraphPattern, OrderExpression, PropertyPathExpression,
};
use spargebra::term::{NamedNodePattern, TermPattern};

use super::plan::{Aggregate, Atom, Computed, Condition, Node, Path, Plan, Scalar, Slot, SortKey};
use super::table::{MOST_VARIABLES, Table, UNBOUND, Var, Vars, has, only};
use crate::visit::parts;

/// Patterns of one join beyond this number are not brought into an order here.
const MOST_ATOMS: usize = 48;

/// The most variables of an expression that is computed for each distinct tuple of them.
pub(super) const MOST_INPUTS: usize = 4;

/// Why a query is evaluated row at a time.
#[derive(Debug)]
pub(super) enum Refused {
    /// What is not covered.
    Because(&'static str),
    Failed(isomorph::Error),
}

impl From<isomorph::Error> for Refused {
    fn from(error: isomorph::Error) -> Self {
        Refused::Failed(error)
    }
}

type Compiled<T> = std::result::Result<T, Refused>;

fn because<T>(what: &'static str) -> Compiled<T> {
    Err(Refused::Because(what))
}

/// Makes the plan of a query. `number` gives the numbers of terms.
pub(super) fn plan(query: &Query, number: &mut dyn FnMut(&Term) -> Result<u32>) -> Compiled<Plan> {
    let (pattern, is_ask) = match query {
        Query::Select { dataset: None, pattern, .. } => (pattern, false),
        Query::Ask { dataset: None, pattern, .. } => (pattern, true),
        Query::Select { .. } | Query::Ask { .. } => return because("FROM"),
        Query::Construct { .. } | Query::Describe { .. } => return because("CONSTRUCT and DESCRIBE"),
    };
    let mut compiler = Compiler { number, variables: 0, memos: 0, compares: false };
    let mut scope = Scope::new();
    let root = compiler.pattern(pattern, &mut scope)?;
    let mut answer = Vec::new();
    if !is_ask {
        let mut inner = pattern;
        while let GraphPattern::Distinct { inner: next }
        | GraphPattern::Reduced { inner: next }
        | GraphPattern::Slice { inner: next, .. } = inner
        {
            inner = next;
        }
        let GraphPattern::Project { variables, .. } = inner else { return because("a query without a projection") };
        for variable in variables {
            answer.push((compiler.var(variable.as_str(), &mut scope)?, variable.clone()));
        }
    }
    Ok(Plan { root, answer, is_ask, memos: compiler.memos, compares: compiler.compares })
}

/// The numbers of names. Blank nodes of patterns are variables, too.
type Scope = HashMap<String, Var>;

struct Compiler<'n> {
    number: &'n mut dyn FnMut(&Term) -> Result<u32>,
    variables: Var,
    memos: usize,
    compares: bool,
}

impl Compiler<'_> {
    fn fresh(&mut self) -> Compiled<Var> {
        if self.variables >= MOST_VARIABLES {
            return because("more than 120 variables");
        }
        self.variables += 1;
        Ok(self.variables - 1)
    }

    fn var(&mut self, name: &str, scope: &mut Scope) -> Compiled<Var> {
        if let Some(var) = scope.get(name) {
            return Ok(*var);
        }
        let var = self.fresh()?;
        scope.insert(name.to_owned(), var);
        Ok(var)
    }

    fn pattern(&mut self, pattern: &GraphPattern, scope: &mut Scope) -> Compiled<Node> {
        Ok(match pattern {
            GraphPattern::Bgp { patterns } => {
                if patterns.len() > MOST_ATOMS {
                    return because("more than 48 patterns in a join");
                }
                let mut atoms = Vec::with_capacity(patterns.len());
                for triple in patterns {
                    let predicate = match &triple.predicate {
                        NamedNodePattern::NamedNode(iri) => Slot::Term((self.number)(&iri.clone().into())?),
                        NamedNodePattern::Variable(variable) => Slot::Var(self.var(variable.as_str(), scope)?),
                    };
                    let subject = self.slot(&triple.subject, scope)?;
                    atoms.push(Atom::Triple([subject, predicate, self.slot(&triple.object, scope)?]));
                }
                Node::Match { atoms, filters: Vec::new() }
            }
            GraphPattern::Path { subject, path, object } => {
                let (subject, object) = (self.slot(subject, scope)?, self.slot(object, scope)?);
                let mut atoms = Vec::new();
                self.path_atoms(subject, path, object, &mut atoms)?;
                Node::Match { atoms, filters: Vec::new() }
            }
            GraphPattern::Join { left, right } => {
                let (left, right) = (self.pattern(left, scope)?, self.pattern(right, scope)?);
                joined(left, right)?
            }
            GraphPattern::LeftJoin { left, right, expression } => {
                let (left, right) = (self.pattern(left, scope)?, self.pattern(right, scope)?);
                let condition = expression.as_ref().map(|one| self.condition(one, scope)).transpose()?;
                if condition.as_ref().is_some_and(Condition::has_pattern) {
                    return because("EXISTS in the condition of OPTIONAL");
                }
                Node::LeftJoin(left.into(), right.into(), condition)
            }
            GraphPattern::Minus { left, right } => {
                Node::Minus(self.pattern(left, scope)?.into(), self.pattern(right, scope)?.into())
            }
            GraphPattern::Union { left, right } => {
                Node::Union(self.pattern(left, scope)?.into(), self.pattern(right, scope)?.into())
            }
            GraphPattern::Filter { expr, inner } => {
                let inner = self.pattern(inner, scope)?;
                let mut all = Vec::new();
                conjuncts(self.condition(expr, scope)?, &mut all);
                filtered(inner, all)
            }
            GraphPattern::Extend { inner, variable, expression } => {
                let inner = self.pattern(inner, scope)?;
                let value = self.scalar(expression, scope)?;
                Node::Extend(inner.into(), self.var(variable.as_str(), scope)?, value)
            }
            GraphPattern::Values { variables, bindings } => {
                let mut table = Table { rows: bindings.len(), ..Table::default() };
                for (at, variable) in variables.iter().enumerate() {
                    let mut column = Vec::with_capacity(bindings.len());
                    for row in bindings {
                        column.push(match row.get(at).and_then(Option::as_ref) {
                            Some(term) => (self.number)(&term.clone().into())?,
                            None => UNBOUND,
                        });
                    }
                    let var = self.var(variable.as_str(), scope)?;
                    if has(table.set(), var) {
                        return because("a variable that VALUES has twice");
                    }
                    table.push_column(var, column);
                }
                Node::Values(table)
            }
            GraphPattern::OrderBy { inner, expression } => {
                let inner = self.pattern(inner, scope)?;
                self.compares = true;
                let mut keys = Vec::with_capacity(expression.len());
                for key in expression {
                    let (OrderExpression::Asc(of) | OrderExpression::Desc(of)) = key;
                    let descending = matches!(key, OrderExpression::Desc(_));
                    keys.push(SortKey { of: self.scalar(of, scope)?, descending });
                }
                Node::Order { inner: inner.into(), keys }
            }
            GraphPattern::Project { inner, variables } => {
                // Variables that are not selected are others than those of the same name outside.
                let mut inside = Scope::new();
                let mut vars = 0;
                for variable in variables {
                    let var = self.var(variable.as_str(), scope)?;
                    inside.insert(variable.as_str().to_owned(), var);
                    vars |= only(var);
                }
                Node::Project(self.pattern(inner, &mut inside)?.into(), vars)
            }
            GraphPattern::Distinct { inner } => Node::Distinct(self.pattern(inner, scope)?.into()),
            GraphPattern::Reduced { inner } => Node::Reduced(self.pattern(inner, scope)?.into()),
            GraphPattern::Slice { inner, start, length } => {
                Node::Slice { inner: self.pattern(inner, scope)?.into(), start: *start, length: *length }
            }
            GraphPattern::Group { inner, variables, aggregates } => {
                let inner = self.pattern(inner, scope)?;
                let mut keys = Vec::new();
                for variable in variables {
                    keys.push(self.var(variable.as_str(), scope)?);
                }
                let mut computed = Vec::new();
                for (variable, aggregate) in aggregates {
                    let aggregate = self.aggregate(aggregate, scope)?;
                    computed.push((self.var(variable.as_str(), scope)?, aggregate));
                }
                Node::Group { inner: inner.into(), keys, aggregates: computed }
            }
            GraphPattern::Graph { .. } => return because("GRAPH"),
            GraphPattern::Lateral { .. } => return because("LATERAL"),
            GraphPattern::Service { .. } => return because("SERVICE"),
        })
    }

    fn slot(&mut self, term: &TermPattern, scope: &mut Scope) -> Compiled<Slot> {
        Ok(match term {
            TermPattern::Variable(variable) => Slot::Var(self.var(variable.as_str(), scope)?),
            TermPattern::BlankNode(node) => Slot::Var(self.var(&format!("_:{}", node.as_str()), scope)?),
            TermPattern::NamedNode(iri) => Slot::Term((self.number)(&iri.clone().into())?),
            TermPattern::Literal(literal) => Slot::Term((self.number)(&literal.clone().into())?),
            TermPattern::Triple(_) => return because("patterns of triple terms"),
        })
    }

    /// Sequences are joins, and reversed paths other paths with the ends exchanged.
    fn path_atoms(
        &mut self,
        subject: Slot,
        path: &PropertyPathExpression,
        object: Slot,
        atoms: &mut Vec<Atom>,
    ) -> Compiled<()> {
        match path {
            PropertyPathExpression::NamedNode(iri) => {
                let predicate = Slot::Term((self.number)(&iri.clone().into())?);
                atoms.push(Atom::Triple([subject, predicate, object]));
            }
            PropertyPathExpression::Reverse(inner) => self.path_atoms(object, inner, subject, atoms)?,
            PropertyPathExpression::Sequence(first, second) => {
                let middle = Slot::Var(self.fresh()?);
                self.path_atoms(subject, first, middle, atoms)?;
                self.path_atoms(middle, second, object, atoms)?;
            }
            other => {
                let path = self.path(other)?;
                atoms.push(Atom::Path(subject, path, object));
            }
        }
        Ok(())
    }

    fn path(&mut self, path: &PropertyPathExpression) -> Compiled<Path> {
        Ok(match path {
            PropertyPathExpression::NamedNode(iri) => Path::One((self.number)(&iri.clone().into())?),
            PropertyPathExpression::Reverse(inner) => Path::Reverse(self.path(inner)?.into()),
            PropertyPathExpression::Sequence(first, second) => {
                Path::Sequence(self.path(first)?.into(), self.path(second)?.into())
            }
            PropertyPathExpression::Alternative(first, second) => {
                Path::Alternative(self.path(first)?.into(), self.path(second)?.into())
            }
            PropertyPathExpression::ZeroOrMore(inner) => self.repeated(inner, true, true)?,
            PropertyPathExpression::OneOrMore(inner) => self.repeated(inner, false, true)?,
            PropertyPathExpression::ZeroOrOne(inner) => self.repeated(inner, true, false)?,
            PropertyPathExpression::NegatedPropertySet(_) => return because("negated property sets"),
        })
    }

    fn repeated(&mut self, path: &PropertyPathExpression, zero: bool, many: bool) -> Compiled<Path> {
        Ok(Path::Repeated { path: self.path(path)?.into(), zero, many })
    }

    fn scalar(&mut self, expression: &Expression, scope: &mut Scope) -> Compiled<Scalar> {
        Ok(match expression {
            Expression::Variable(variable) => Scalar::Var(self.var(variable.as_str(), scope)?),
            Expression::NamedNode(iri) => Scalar::Term((self.number)(&iri.clone().into())?),
            // As a value, a literal may be another term: its canonical form.
            other => Scalar::Computed(self.computed(other.clone(), scope)?),
        })
    }

    fn computed(&mut self, expression: Expression, scope: &mut Scope) -> Compiled<Computed> {
        let mut names: Vec<&Variable> = Vec::new();
        inputs(&expression, &mut names)?;
        if names.len() > MOST_INPUTS {
            return because("expressions of more than four variables");
        }
        let mut named = Vec::new();
        for name in names {
            named.push((self.var(name.as_str(), scope)?, name.clone()));
        }
        self.memos += 1;
        Ok(Computed { inputs: named, memo: self.memos - 1, expression })
    }

    fn condition(&mut self, expression: &Expression, scope: &mut Scope) -> Compiled<Condition> {
        let one = |this: &mut Self, inner: &Expression, scope: &mut Scope| this.condition(inner, scope);
        let mut names = Vec::new();
        // What depends on one variable is computed at once.
        let simple = inputs(expression, &mut names).is_ok() && names.len() <= 1;
        Ok(match expression {
            Expression::Bound(variable) => Condition::Bound(self.var(variable.as_str(), scope)?),
            Expression::Not(inner) if matches!(**inner, Expression::Bound(_)) => {
                Condition::Not(one(self, inner, scope)?.into())
            }
            Expression::Exists(pattern) => {
                let node = self.pattern(pattern, scope)?;
                if !node.takes_input() {
                    return because("EXISTS with more than patterns and conditions on their variables");
                }
                Condition::Exists(node.into())
            }
            Expression::And(left, right) => Condition::And(vec![one(self, left, scope)?, one(self, right, scope)?]),
            Expression::Or(left, right) if !simple => {
                Condition::Or(vec![one(self, left, scope)?, one(self, right, scope)?])
            }
            Expression::Not(inner) if !simple => Condition::Not(one(self, inner, scope)?.into()),
            other => {
                let boolean = |value: bool| Expression::Literal(oxrdf::Literal::from(value)).into();
                let value = Expression::If(other.clone().into(), boolean(true), boolean(false));
                Condition::Value(self.computed(value, scope)?)
            }
        })
    }

    fn aggregate(&mut self, aggregate: &AggregateExpression, scope: &mut Scope) -> Compiled<Aggregate> {
        Ok(match aggregate {
            AggregateExpression::CountSolutions { distinct: false } => Aggregate::Rows,
            AggregateExpression::CountSolutions { distinct: true } => return because("COUNT(DISTINCT *)"),
            AggregateExpression::FunctionCall { name, expr, distinct } => {
                if let (AggregateFunction::Count, Expression::Variable(variable)) = (name, expr) {
                    return Ok(Aggregate::Bound { var: self.var(variable.as_str(), scope)?, distinct: *distinct });
                }
                match name {
                    AggregateFunction::Custom(_) => return because("custom aggregates"),
                    // These are evaluated as terms, not as values.
                    AggregateFunction::Count
                        if matches!(
                            expr,
                            Expression::NamedNode(_)
                                | Expression::Literal(_)
                                | Expression::Coalesce(_)
                                | Expression::If(..)
                        ) =>
                    {
                        return because("COUNT of a constant, IF or COALESCE");
                    }
                    AggregateFunction::Min | AggregateFunction::Max => self.compares = true,
                    _ => {}
                }
                Aggregate::Of { function: name.clone(), distinct: *distinct, of: self.scalar(expr, scope)? }
            }
        })
    }
}

/// The variables of an expression.
fn inputs<'e>(expression: &'e Expression, names: &mut Vec<&'e Variable>) -> Compiled<()> {
    match expression {
        Expression::Variable(name) | Expression::Bound(name) => {
            if !names.contains(&name) {
                names.push(name);
            }
            return Ok(());
        }
        Expression::Exists(_) => return because("EXISTS inside of an expression"),
        Expression::FunctionCall(
            Function::Now | Function::Rand | Function::Uuid | Function::StrUuid | Function::BNode | Function::Custom(_),
            _,
        ) => return because("functions whose results are new for each solution or query"),
        _ => {}
    }
    parts(expression).0.into_iter().try_for_each(|part| inputs(part, names))
}

/// Conditions that must all hold.
fn conjuncts(condition: Condition, into: &mut Vec<Condition>) {
    match condition {
        Condition::And(all) => all.into_iter().for_each(|one| conjuncts(one, into)),
        one => into.push(one),
    }
}

/// Conditions on what patterns bind are tested while they are matched.
fn filtered(inner: Node, conditions: Vec<Condition>) -> Node {
    let certain: Vars = inner.certain();
    let (early, late): (Vec<_>, Vec<_>) = conditions
        .into_iter()
        .partition(|one| matches!(inner, Node::Match { .. }) && !one.has_pattern() && one.vars() & !certain == 0);
    let inner = match inner {
        Node::Match { atoms, mut filters } => {
            filters.extend(early);
            Node::Match { atoms, filters }
        }
        other => other,
    };
    match late.len() {
        0 => inner,
        _ => Node::Filter(Condition::And(late), inner.into()),
    }
}

fn joined(left: Node, right: Node) -> Compiled<Node> {
    Ok(match (left, right) {
        (Node::Match { mut atoms, mut filters }, Node::Match { atoms: more, filters: others }) => {
            atoms.extend(more);
            filters.extend(others);
            if atoms.len() > MOST_ATOMS {
                return because("more than 48 patterns in a join");
            }
            Node::Match { atoms, filters }
        }
        // A join binds more, so conditions that hold for its left side may be tested after it.
        (left, right) => Node::Join(left.into(), right.into()),
    })
}
