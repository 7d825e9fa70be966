//! Functions of nodes, relationships and paths.

use std::sync::Arc;

use super::Function;
use crate::eval::properties_of;
use crate::exec::Context;
use crate::fault::{Fault, Result};
use crate::value::Value;

pub(super) fn call(function: Function, arguments: &[Value], cx: &Context<'_>) -> Result<Value> {
    let Some(value) = arguments.first() else { return Ok(Value::Null) };
    if value.is_null() {
        return Ok(Value::Null);
    }
    let wrong = |wanted: &str| Err(Fault::argument_value(format!("expected {wanted}, found {}", value.type_name())));
    let texts = |all: Vec<Arc<str>>| Value::list(all.into_iter().map(Value::String).collect());
    match (function, value) {
        (Function::Id, Value::Node(node)) => Ok(Value::Int(i64::try_from(node.0).unwrap_or(i64::MAX))),
        (Function::Id, Value::Relationship(one)) => Ok(Value::Int(i64::try_from(one.id).unwrap_or(i64::MAX))),
        (Function::ElementId, Value::Node(node)) => Ok(Value::text(cx.graph.node_element_id(*node)?)),
        (Function::ElementId, Value::Relationship(one)) => Ok(Value::text(one.id.to_string())),
        (Function::Id | Function::ElementId, _) => wrong("a node or relationship"),
        (Function::Labels, Value::Node(node)) => Ok(texts(cx.graph.labels(*node)?)),
        (Function::Labels, _) => wrong("a node"),
        (Function::Type, Value::Relationship(one)) => Ok(Value::String(cx.graph.relationship_type(*one)?)),
        (Function::StartNode, Value::Relationship(one)) => Ok(Value::Node(one.source)),
        (Function::EndNode, Value::Relationship(one)) => Ok(Value::Node(one.target)),
        (Function::Type | Function::StartNode | Function::EndNode, _) => wrong("a relationship"),
        (Function::Keys, _) => Ok(texts(properties_of(value, cx)?.into_keys().collect())),
        (Function::Properties, _) => Ok(Value::Map(Arc::new(properties_of(value, cx)?))),
        (Function::Nodes, Value::Path(path)) => Ok(Value::list(path.nodes.iter().copied().map(Value::Node).collect())),
        (Function::Relationships, Value::Path(path)) => {
            Ok(Value::list(path.relationships.iter().copied().map(Value::Relationship).collect()))
        }
        (Function::Length, Value::Path(path)) => {
            Ok(Value::Int(i64::try_from(path.relationships.len()).unwrap_or(i64::MAX)))
        }
        _ => wrong("a path"),
    }
}
