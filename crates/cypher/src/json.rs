//! Values as JSON, and JSON as values of parameters.

use serde_json::{Map as JsonMap, Number, Value as Json, json};

use crate::fault::Result;
use crate::graph::PropertyGraph;
use crate::operators::float_text;
use crate::value::{Map, Node, Relationship, Value};

/// The value of a parameter: JSON has no other types than these.
pub fn value_of_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(truth) => Value::Bool(*truth),
        Json::Number(number) => match number.as_i64() {
            Some(int) => Value::Int(int),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => Value::text(text),
        Json::Array(items) => Value::list(items.iter().map(value_of_json).collect()),
        Json::Object(map) => {
            let map: Map = map.iter().map(|(key, value)| (key.as_str().into(), value_of_json(value))).collect();
            Value::Map(map.into())
        }
    }
}

/// A value as JSON: a node is `{"id": …, "labels": […], "properties": {…}}`, a relationship `{"type": …, "source": …, "target": …,
/// "properties": {…}}` `source` and `target` are the `id` of its ends, a path `{"nodes": […], "relationships": […]}`. Temporal values are texts in ISO 8601;
/// so are `NaN` and the infinite floats, which JSON does not have.
///
/// # Errors
/// If the graph cannot be read.
pub fn to_json(value: &Value, graph: &dyn PropertyGraph) -> Result<Json> {
    Ok(match value {
        Value::Null | Value::JsonNull => Json::Null,
        Value::Bool(truth) => Json::Bool(*truth),
        Value::Int(int) => json!(int),
        Value::Float(float) => Number::from_f64(*float).map_or_else(|| Json::String(float_text(*float)), Json::Number),
        Value::String(text) => Json::String(text.to_string()),
        Value::List(items) => Json::Array(items.iter().map(|item| to_json(item, graph)).collect::<Result<_>>()?),
        Value::Map(map) => Json::Object(object(map, graph)?),
        Value::Node(node) => of_node(*node, graph)?,
        Value::Relationship(one) => of_relationship(*one, graph)?,
        Value::Path(path) => {
            let nodes = path.nodes.iter().map(|node| of_node(*node, graph)).collect::<Result<Vec<_>>>()?;
            let steps =
                path.relationships.iter().map(|one| of_relationship(*one, graph)).collect::<Result<Vec<_>>>()?;
            json!({ "nodes": nodes, "relationships": steps })
        }
        Value::Temporal(temporal) => Json::String(temporal.to_string()),
        Value::Duration(duration) => Json::String(duration.to_string()),
    })
}

fn object(map: &Map, graph: &dyn PropertyGraph) -> Result<JsonMap<String, Json>> {
    map.iter().map(|(key, value)| Ok((key.to_string(), to_json(value, graph)?))).collect()
}

fn of_node(node: Node, graph: &dyn PropertyGraph) -> Result<Json> {
    let labels: Vec<String> = graph.labels(node)?.iter().map(ToString::to_string).collect();
    let properties = object(&graph.node_properties(node)?, graph)?;
    Ok(json!({ "id": graph.node_element_id(node)?, "labels": labels, "properties": properties }))
}

fn of_relationship(one: Relationship, graph: &dyn PropertyGraph) -> Result<Json> {
    let properties = object(&graph.relationship_properties(one)?, graph)?;
    let (source, target) = (graph.node_element_id(one.source)?, graph.node_element_id(one.target)?);
    Ok(json!({
        "type": graph.relationship_type(one)?.to_string(),
        "source": source,
        "target": target,
        "properties": properties,
    }))
}

/// A value as one line of text, as openCypher writes it: `(:person {id: 7})`, `[:knows]`, `[1, 'two']`. A string alone is written as it is.
///
/// # Errors
/// If the graph cannot be read.
pub fn to_text(value: &Value, graph: &dyn PropertyGraph) -> Result<String> {
    match value {
        Value::String(text) => Ok(text.to_string()),
        other => written(other, graph),
    }
}

fn written(value: &Value, graph: &dyn PropertyGraph) -> Result<String> {
    Ok(match value {
        Value::Null | Value::JsonNull => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(int) => int.to_string(),
        Value::Float(float) => float_text(*float),
        Value::String(text) => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'")),
        Value::List(items) => {
            let items = items.iter().map(|item| written(item, graph)).collect::<Result<Vec<_>>>()?;
            format!("[{}]", items.join(", "))
        }
        Value::Map(map) => written_map(map, graph)?,
        Value::Node(node) => written_node(*node, graph)?,
        Value::Relationship(one) => written_relationship(*one, graph)?,
        Value::Path(path) => {
            let mut text = String::new();
            for (at, node) in path.nodes.iter().enumerate() {
                text.push_str(&written_node(*node, graph)?);
                if let Some(one) = path.relationships.get(at) {
                    let step = written_relationship(*one, graph)?;
                    let is_forward = one.source == *node;
                    text.push_str(&if is_forward { format!("-{step}->") } else { format!("<-{step}-") });
                }
            }
            text
        }
        Value::Temporal(temporal) => temporal.to_string(),
        Value::Duration(duration) => duration.to_string(),
    })
}

fn written_map(map: &Map, graph: &dyn PropertyGraph) -> Result<String> {
    let entries = map.iter().map(|(key, value)| Ok(format!("{key}: {}", written(value, graph)?)));
    Ok(format!("{{{}}}", entries.collect::<Result<Vec<_>>>()?.join(", ")))
}

fn written_node(node: Node, graph: &dyn PropertyGraph) -> Result<String> {
    let labels: String = graph.labels(node)?.iter().map(|label| format!(":{label}")).collect();
    let properties = graph.node_properties(node)?;
    if properties.is_empty() {
        return Ok(format!("({labels})"));
    }
    let space = if labels.is_empty() { "" } else { " " };
    Ok(format!("({labels}{space}{})", written_map(&properties, graph)?))
}

fn written_relationship(one: Relationship, graph: &dyn PropertyGraph) -> Result<String> {
    let ty = graph.relationship_type(one)?;
    let properties = graph.relationship_properties(one)?;
    Ok(if properties.is_empty() { format!("[:{ty}]") } else { format!("[:{ty} {}]", written_map(&properties, graph)?) })
}
