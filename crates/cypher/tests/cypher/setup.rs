//! The queries that make graphs of the kit: `CREATE` and `DELETE` between reading clauses. Only for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use isomorph::storage::Budget;
use isomorph_cypher::{Map, Node, Options, Query, Value};
use open_cypher::ast::{
    Clause, ClauseKind, Expr, LabelExpression, LabelExpressionKind, Name, NodePattern, PathFactorKind, Pattern,
    QueryKind, RelationshipDirection, RelationshipPattern, StatementKind,
};

use crate::memory_graph::{Edge, MemoryGraph};

type Variables = BTreeMap<String, Value>;

/// All rows of a query.
pub fn rows(
    graph: &MemoryGraph,
    text: &str,
    parameters: &Variables,
) -> isomorph_cypher::Result<(Vec<String>, Vec<Vec<Value>>)> {
    let mut options = Options::new(Budget::new(1 << 30));
    options.parameters.clone_from(parameters);
    let query = Query::parse(text, parameters)?;
    let rows = query.run(graph, &options)?.collect::<isomorph_cypher::Result<Vec<_>>>()?;
    Ok((query.columns().to_vec(), rows))
}

/// Runs a query that creates.
pub fn create(graph: &mut MemoryGraph, text: &str) {
    let parsed = open_cypher::parse(text).unwrap_or_else(|errors| panic!("{text}: {}", errors.render(text)));
    let StatementKind::Query(query) = &parsed.program.statements[0].kind else { panic!("no query: {text}") };
    let QueryKind::Regular(query) = &query.query.kind else { panic!("no query: {text}") };
    let mut table: Vec<Variables> = vec![Variables::new()];
    let mut reading: Option<(usize, usize)> = None;
    let clauses = &query.head.kind.clauses;
    for clause in clauses {
        match &clause.kind {
            ClauseKind::Create(create) => {
                table = read(graph, text, reading.take(), table);
                for variables in &mut table {
                    add(graph, text, &create.pattern, variables);
                }
            }
            ClauseKind::Delete(delete) => {
                table = read(graph, text, reading.take(), table);
                for (variables, expr) in
                    table.iter().flat_map(|row| delete.expressions.iter().map(move |expr| (row, expr)))
                {
                    if let Value::Relationship(one) = value(graph, text, expr, variables) {
                        graph.edges[usize::try_from(one.id).unwrap()].deleted = true;
                    }
                }
            }
            _ => reading = Some((reading.map_or(clause.span.start, |(start, _)| start), clause.span.end)),
        }
    }
    let _: &Vec<Clause> = clauses;
}

/// Runs the reading clauses between two that write.
fn read(graph: &MemoryGraph, text: &str, span: Option<(usize, usize)>, table: Vec<Variables>) -> Vec<Variables> {
    let Some((start, end)) = span else { return table };
    let names: Vec<String> = table.first().map(|row| row.keys().cloned().collect()).unwrap_or_default();
    let list = table
        .iter()
        .map(|row| Value::Map(Arc::new(row.iter().map(|(k, v)| (Arc::from(k.as_str()), v.clone())).collect())));
    let items: Vec<String> = names.iter().map(|name| format!("row_.{name} AS {name}")).collect();
    let with = if items.is_empty() { String::new() } else { format!("WITH {}", items.join(", ")) };
    let body = &text[start..end];
    let query = format!("UNWIND $rows_ AS row_ {with} {body} WITH *, 1 AS one_ RETURN *");
    let parameters = Variables::from([("rows_".to_owned(), Value::list(list.collect()))]);
    let (columns, rows) = rows(graph, &query, &parameters).unwrap_or_else(|fault| panic!("{query}: {fault:?}"));
    let named = |row: Vec<Value>| columns.iter().cloned().zip(row).filter(|(name, _)| !name.ends_with('_')).collect();
    rows.into_iter().map(named).collect()
}

fn value(graph: &MemoryGraph, text: &str, expr: &Expr, variables: &Variables) -> Value {
    let items: Vec<String> = variables.keys().map(|name| format!("${name} AS {name}")).collect();
    let with = if items.is_empty() { String::new() } else { format!("WITH {}", items.join(", ")) };
    let query = format!("{with} RETURN {} AS value_", &text[expr.span.start..expr.span.end]);
    let (_, rows) = rows(graph, &query, variables).unwrap_or_else(|fault| panic!("{query}: {fault:?}"));
    rows[0][0].clone()
}

fn properties(graph: &MemoryGraph, text: &str, expr: Option<&Expr>, variables: &Variables) -> Map {
    match expr.map(|expr| value(graph, text, expr, variables)) {
        Some(Value::Map(map)) => {
            map.iter().filter(|(_, value)| !value.is_null()).map(|(k, v)| (k.clone(), v.clone())).collect()
        }
        _ => Map::new(),
    }
}

fn names(labels: Option<&LabelExpression>) -> Vec<String> {
    match labels.map(|labels| &labels.kind) {
        Some(LabelExpressionKind::Name(name)) => vec![name.kind.text.clone()],
        Some(LabelExpressionKind::And(all)) => all.iter().flat_map(|one| names(Some(one))).collect(),
        _ => Vec::new(),
    }
}

fn add(graph: &mut MemoryGraph, text: &str, pattern: &Pattern, variables: &mut Variables) {
    for part in &pattern.parts {
        let mut left: Option<usize> = None;
        let mut pending: Option<&RelationshipPattern> = None;
        for factor in &part.kind.path.kind.factors {
            match &factor.kind {
                PathFactorKind::Node(node) => {
                    let at = add_node(graph, text, node, variables);
                    if let (Some(left), Some(relationship)) = (left, pending.take()) {
                        let properties = properties(graph, text, relationship.properties.as_deref(), variables);
                        let (source, target) = match relationship.direction.kind {
                            RelationshipDirection::Left => (at, left),
                            _ => (left, at),
                        };
                        let ty = names(relationship.labels.as_ref()).pop().expect("a type");
                        graph.edges.push(Edge { source, target, ty, properties, deleted: false });
                        let made = Value::Relationship(graph.relationship(graph.edges.len() - 1));
                        bind(relationship.variable.as_ref(), made, variables);
                    }
                    left = Some(at);
                }
                PathFactorKind::Relationship(relationship) => pending = Some(relationship),
                other => panic!("{other:?} cannot be created"),
            }
        }
    }
}

fn bind(name: Option<&Name>, value: Value, variables: &mut Variables) {
    if let Some(name) = name {
        variables.insert(name.kind.text.clone(), value);
    }
}

fn add_node(graph: &mut MemoryGraph, text: &str, node: &NodePattern, variables: &mut Variables) -> usize {
    if let Some(Value::Node(known)) = node.variable.as_ref().and_then(|name| variables.get(&name.kind.text)) {
        return usize::try_from(known.0).unwrap();
    }
    let properties = properties(graph, text, node.properties.as_deref(), variables);
    graph.nodes.push((names(node.labels.as_ref()).into_iter().collect(), properties));
    let at = graph.nodes.len() - 1;
    bind(node.variable.as_ref(), Value::Node(Node(at as u64)), variables);
    at
}
