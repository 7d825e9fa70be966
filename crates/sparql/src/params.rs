//! Parameters: variables that have a value before the query is evaluated.
//!
//! The value takes the place of the variable in the parsed query, so its text is never a part of the query's text. A
//! sub-query that does not select the variable has another variable of that name, and keeps it.

use isomorph::error::{Error, Result};
use oxrdf::{Literal, NamedNode, Term, Variable};
use spargebra::Query;
use spargebra::algebra::{AggregateExpression, Expression, GraphPattern, OrderExpression};
use spargebra::term::{NamedNodePattern, TermPattern, TriplePattern};

use crate::visit::parts_mut;

/// Gives `variable` a value in `query`.
///
/// # Errors
/// [`isomorph::Kind::Usage`] if the query does not have the variable, assigns it itself, or has it where the value
/// cannot be.
pub(crate) fn bind(query: &mut Query, variable: &Variable, term: &Term) -> Result<()> {
    let value = match term {
        Term::NamedNode(iri) => Value { variable, term: TermPattern::NamedNode(iri.clone()) },
        Term::Literal(literal) => Value { variable, term: TermPattern::Literal(literal.clone()) },
        Term::BlankNode(_) | Term::Triple(_) => {
            return Err(Error::usage(format!("the parameter {variable} must be an IRI or a literal")));
        }
    };
    let (Query::Select { pattern, .. }
    | Query::Construct { pattern, .. }
    | Query::Describe { pattern, .. }
    | Query::Ask { pattern, .. }) = query;
    let mut used = value.root(pattern)?;
    if let Query::Construct { template, .. } = query {
        for triple in template {
            used |= value.triple(triple)?;
        }
    }
    if used {
        return Ok(());
    }
    Err(Error::usage(format!("unknown parameter {variable}: the query has no such variable")))
}

struct Value<'v> {
    variable: &'v Variable,
    term: TermPattern,
}

impl Value<'_> {
    /// The outermost pattern, whose selection is that of the query.
    fn root(&self, pattern: &mut GraphPattern) -> Result<bool> {
        match pattern {
            GraphPattern::Project { inner, variables } => {
                let used = self.pattern(inner)?;
                let selected = variables.contains(self.variable);
                if selected {
                    self.extend(inner)?;
                }
                Ok(used || selected)
            }
            GraphPattern::Distinct { inner } | GraphPattern::Reduced { inner } | GraphPattern::Slice { inner, .. } => {
                self.root(inner)
            }
            _ => self.pattern(pattern),
        }
    }

    /// Binds the variable above a pattern from which it vanished.
    fn extend(&self, pattern: &mut Box<GraphPattern>) -> Result<()> {
        self.extend_as(pattern, self.variable)
    }

    fn extend_as(&self, pattern: &mut Box<GraphPattern>, variable: &Variable) -> Result<()> {
        let inner = std::mem::replace(&mut **pattern, GraphPattern::Bgp { patterns: Vec::new() });
        **pattern =
            GraphPattern::Extend { inner: Box::new(inner), variable: variable.clone(), expression: self.value()? };
        Ok(())
    }

    /// Replaces the variable. Returns whether it occurs.
    fn pattern(&self, pattern: &mut GraphPattern) -> Result<bool> {
        Ok(match pattern {
            GraphPattern::Bgp { patterns } => {
                let mut used = false;
                for triple in patterns {
                    used |= self.triple(triple)?;
                }
                used
            }
            GraphPattern::Path { subject, object, .. } => self.term(subject)? | self.term(object)?,
            GraphPattern::Join { left, right }
            | GraphPattern::Union { left, right }
            | GraphPattern::Minus { left, right }
            | GraphPattern::Lateral { left, right } => self.pattern(left)? | self.pattern(right)?,
            GraphPattern::LeftJoin { left, right, expression } => {
                let used = self.pattern(left)? | self.pattern(right)?;
                match expression {
                    Some(expression) => used | self.expression(expression)?,
                    None => used,
                }
            }
            GraphPattern::Filter { expr, inner } => self.expression(expr)? | self.pattern(inner)?,
            GraphPattern::Graph { name, inner } => self.name(name)? | self.pattern(inner)?,
            GraphPattern::Service { inner, .. } => self.pattern(inner)?,
            GraphPattern::Extend { inner, variable, expression } => {
                self.not_assigned(variable)?;
                self.expression(expression)? | self.pattern(inner)?
            }
            GraphPattern::Values { variables, .. } => {
                variables.iter().try_for_each(|variable| self.not_assigned(variable))?;
                false
            }
            GraphPattern::OrderBy { inner, expression } => {
                let mut used = false;
                for key in expression {
                    let (OrderExpression::Asc(key) | OrderExpression::Desc(key)) = key;
                    used |= self.expression(key)?;
                }
                used | self.pattern(inner)?
            }
            // The selection of a sub-query.
            GraphPattern::Project { inner, variables } => match variables.contains(self.variable) {
                true => {
                    self.pattern(inner)?;
                    self.extend(inner)?;
                    true
                }
                false => false,
            },
            GraphPattern::Distinct { inner } | GraphPattern::Reduced { inner } | GraphPattern::Slice { inner, .. } => {
                self.pattern(inner)?
            }
            GraphPattern::Group { inner, variables, aggregates } => {
                let mut used = self.pattern(inner)?;
                for (variable, aggregate) in aggregates {
                    self.not_assigned(variable)?;
                    if let AggregateExpression::FunctionCall { expr, .. } = aggregate {
                        used |= self.expression(expr)?;
                    }
                }
                // Grouping by a constant is one group, or none.
                let place = variables.iter_mut().find(|variable| *variable == self.variable);
                let grouped = place.is_some();
                if let Some(place) = place {
                    // The variable itself is bound where it is selected.
                    let other = Variable::new_unchecked(format!("{}_parameter", self.variable.as_str()));
                    self.extend_as(inner, &other)?;
                    *place = other;
                }
                used | grouped
            }
        })
    }

    fn not_assigned(&self, variable: &Variable) -> Result<()> {
        if variable != self.variable {
            return Ok(());
        }
        Err(Error::usage(format!("{variable} cannot be a parameter: the query assigns it itself")))
    }

    fn triple(&self, triple: &mut TriplePattern) -> Result<bool> {
        Ok(self.term(&mut triple.subject)? | self.name(&mut triple.predicate)? | self.term(&mut triple.object)?)
    }

    fn term(&self, term: &mut TermPattern) -> Result<bool> {
        match term {
            TermPattern::Variable(variable) if variable == self.variable => {
                *term = self.term.clone();
                Ok(true)
            }
            TermPattern::Triple(triple) => self.triple(triple),
            _ => Ok(false),
        }
    }

    /// A position of IRIs: a predicate, or the name of a graph.
    fn name(&self, name: &mut NamedNodePattern) -> Result<bool> {
        match name {
            NamedNodePattern::Variable(variable) if variable == self.variable => {
                let TermPattern::NamedNode(iri) = &self.term else {
                    return Err(Error::usage(format!(
                        "the parameter {variable} must be an IRI: it is a predicate or a graph"
                    )));
                };
                *name = NamedNodePattern::NamedNode(iri.clone());
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn value(&self) -> Result<Expression> {
        match &self.term {
            TermPattern::NamedNode(iri) => Ok(Expression::NamedNode(NamedNode::clone(iri))),
            TermPattern::Literal(literal) => Ok(Expression::Literal(Literal::clone(literal))),
            _ => Err(Error::usage("a parameter must be an IRI or a literal")),
        }
    }

    fn expression(&self, expression: &mut Expression) -> Result<bool> {
        Ok(match expression {
            Expression::Variable(variable) => {
                let found = variable == self.variable;
                if found {
                    *expression = self.value()?;
                }
                found
            }
            Expression::Bound(variable) => {
                let found = variable == self.variable;
                if found {
                    *expression = Expression::Literal(Literal::from(true));
                }
                found
            }
            _ => {
                let (inside, pattern) = parts_mut(expression);
                let mut used = false;
                for one in inside {
                    used |= self.expression(one)?;
                }
                match pattern {
                    Some(pattern) => used | self.pattern(pattern)?,
                    None => used,
                }
            }
        })
    }
}
