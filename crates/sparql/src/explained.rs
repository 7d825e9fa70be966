//! How a query is answered, and what that reads.

use isomorph::dataset::{Explanation, PlannedRead};
use isomorph::model::Source;
use oxrdf::Variable;
use spargebra::algebra::{Expression, GraphPattern};

use crate::patterns::{WantedGraph, WantedObject, WantedPattern};
use crate::question::{Question, pattern_of};

impl Question {
    /// How the query is answered over the triples of `source`, and what that reads, with the bytes that it takes. Nothing is read.
    pub fn explain(&self, source: &dyn Source) -> Explanation {
        let way = match self.row_at_a_time() {
            None => "evaluated over columns".to_owned(),
            Some(part) => format!("evaluated row at a time, because of {part}"),
        };
        let mut lines = vec![way];
        operators(pattern_of(&self.query), 0, &mut Vec::new(), &mut lines);
        let bytes = Some(source.about().bytes).filter(|bytes| *bytes > 0);
        let wanted = self.wanted();
        let patterns = wanted.patterns();
        let looks_up = source.triples().is_some_and(|triples| triples.look_ups().is_some());
        let columns = match patterns {
            Some(patterns) => patterns.iter().map(spelled).collect(),
            None => vec!["all".to_owned()],
        };
        let is_found = looks_up && patterns.is_some();
        let way = if is_found { "look-ups of patterns" } else { "one pass over all triples" };
        let read = PlannedRead { table: "triples".to_owned(), columns, way: way.to_owned(), bytes, is_most: is_found };
        Explanation { plans: vec![("plan".to_owned(), lines.join("\n"))], reads: vec![read], ran: None }
    }
}

/// Quads that are wanted, with `?` for what is not known.
fn spelled(pattern: &WantedPattern) -> String {
    let iri = |iri: &Option<String>| iri.as_ref().map_or("?".to_owned(), |iri| format!("<{iri}>"));
    let object = match &pattern.object {
        None => "?".to_owned(),
        Some(WantedObject::Iri(iri)) => format!("<{iri}>"),
        Some(WantedObject::Literal { lexical, .. }) => format!("{lexical:?}"),
    };
    let graph = match &pattern.graph {
        WantedGraph::Any | WantedGraph::Default => String::new(),
        WantedGraph::Named => " in any named graph".to_owned(),
        WantedGraph::One(name) => format!(" in <{name}>"),
    };
    format!("{} {} {object}{graph}", iri(&pattern.subject), iri(&pattern.predicate))
}

fn names(variables: &[Variable]) -> String {
    variables.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Adds a line for each operator, indented below the one that it feeds. `named` has the variables of aggregates that the parser made, with the names that the query gives them.
fn operators<'p>(
    pattern: &'p GraphPattern,
    depth: usize,
    named: &mut Vec<(&'p Variable, &'p Variable)>,
    lines: &mut Vec<String>,
) {
    if let GraphPattern::Extend { inner, variable, expression: Expression::Variable(made) } = pattern
        && matches!(**inner, GraphPattern::Extend { .. } | GraphPattern::Group { .. })
    {
        named.push((made, variable));
        return operators(inner, depth, named, lines);
    }
    let (own, inside): (String, Vec<&GraphPattern>) = match pattern {
        GraphPattern::Bgp { patterns } => {
            let triples = patterns.iter().map(ToString::to_string).collect::<Vec<_>>().join(" . ");
            (format!("match {triples}"), Vec::new())
        }
        GraphPattern::Path { subject, path, object } => (format!("path {subject} {path} {object}"), Vec::new()),
        GraphPattern::Join { left, right } => ("join".to_owned(), vec![left, right]),
        GraphPattern::Lateral { left, right } => ("lateral join".to_owned(), vec![left, right]),
        GraphPattern::LeftJoin { left, right, .. } => ("optional".to_owned(), vec![left, right]),
        GraphPattern::Minus { left, right } => ("minus".to_owned(), vec![left, right]),
        GraphPattern::Union { left, right } => ("union".to_owned(), vec![left, right]),
        GraphPattern::Filter { expr, inner } => (format!("filter {expr}"), vec![inner]),
        GraphPattern::Graph { name, inner } => (format!("graph {name}"), vec![inner]),
        GraphPattern::Extend { inner, variable, expression } => {
            (format!("bind {variable} = {expression}"), vec![inner])
        }
        GraphPattern::Values { variables, bindings } => {
            (format!("values of {}: {} rows", names(variables), bindings.len()), Vec::new())
        }
        GraphPattern::OrderBy { inner, expression } => {
            let keys = expression.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            (format!("sort by {keys}"), vec![inner])
        }
        GraphPattern::Project { inner, variables } => (format!("project {}", names(variables)), vec![inner]),
        GraphPattern::Distinct { inner } => ("distinct".to_owned(), vec![inner]),
        GraphPattern::Reduced { inner } => ("reduced".to_owned(), vec![inner]),
        GraphPattern::Slice { inner, start, length } => {
            let length = length.map_or(String::new(), |length| format!(", limit {length}"));
            (format!("skip {start}{length}"), vec![inner])
        }
        GraphPattern::Group { inner, variables, aggregates } => {
            let shown = |own: &Variable| {
                named.iter().find(|(made, _)| *made == own).map_or(own.clone(), |(_, name)| (*name).clone())
            };
            let all: Vec<String> = aggregates.iter().map(|(name, one)| format!("{one} as {}", shown(name))).collect();
            let all = all.join(", ");
            let keys = if variables.is_empty() { "all rows".to_owned() } else { names(variables) };
            (format!("group by {keys}: {all}"), vec![inner])
        }
        GraphPattern::Service { name, .. } => (format!("service {name}"), Vec::new()),
    };
    lines.push(format!("{}{own}", "  ".repeat(depth)));
    inside.into_iter().for_each(|one| operators(one, depth + 1, named, lines));
}
