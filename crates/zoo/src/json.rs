//! JSON in other spellings, and columns as JSON.

use std::fmt::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_schema::DataType;

use super::rows::properties;
use isomorph_model::json::{self, Members, Value};
use isomorph_model::{Batch, Cardinality, MemoryGraph, Property, ValueKind};

/// Returns the same JSON with other whitespace and escapes; members are reversed if their order is not significant.
pub(super) fn respell(text: &str, bag: bool) -> String {
    let mut members = Vec::new();
    let read = Members::default().read(text, |name, value| {
        members.push(format!("{} : {}", escape(name), respell_value(value)));
        Ok(())
    });
    if !bag || read.is_err() {
        return respell_value(text);
    }
    members.reverse();
    format!("{{ {} }}", members.join(" ,\n "))
}

fn respell_value(text: &str) -> String {
    match json::value(text) {
        Ok(Value::Text(text)) => escape(&text),
        Ok(Value::Array(array)) => {
            let mut items = Vec::new();
            let _ = json::items(array, |item| {
                items.push(respell_value(item));
                Ok(())
            });
            format!("[ {} ]", items.join("\t, "))
        }
        Ok(Value::Object(object)) => {
            let mut members = Vec::new();
            let _ = Members::default().read(object, |name, value| {
                members.push(format!("{}: {}", escape(name), respell_value(value)));
                Ok(())
            });
            format!("{{ {} }}", members.join(", "))
        }
        // A number with a point gets an additional zero.
        Ok(Value::Float(_) | Value::Number(_)) if text.contains('.') && !text.contains(['e', 'E']) => {
            format!("{text}0")
        }
        _ => text.to_owned(),
    }
}

/// Returns a JSON string with every character escaped.
fn escape(text: &str) -> String {
    let mut out = String::from("\"");
    for unit in text.encode_utf16() {
        let _ = write!(out, "\\u{unit:04X}");
    }
    out.push('"');
    out
}

/// Returns the graph with all properties of nodes and edges in bags; `None` if JSON cannot represent one of them.
pub(super) fn columns_to_bags(memory: &MemoryGraph) -> Option<MemoryGraph> {
    let fits = |property: &Property| {
        property.kind == ValueKind::Plain
            && property.cardinality == Cardinality::Single
            && matches!(
                property.data_type,
                DataType::Boolean
                    | DataType::Int32
                    | DataType::Int64
                    | DataType::Float32
                    | DataType::Float64
                    | DataType::Utf8
            )
    };
    let mut all = memory.graph.nodes.iter().map(|ty| &ty.properties);
    let mut edges = memory.graph.edges.iter().map(|ty| &ty.properties);
    if !all.all(|properties| properties.iter().all(fits)) || !edges.all(|properties| properties.iter().all(fits)) {
        return None;
    }
    let mut memory = memory.clone();
    let mut graph = memory.graph.clone();
    for batch in &mut memory.batches {
        let rows = batch.rows();
        if !matches!(batch, Batch::Nodes(_) | Batch::Edges(_)) {
            continue;
        }
        let (properties, columns) = properties(&mut graph, batch)?;
        let bags = (0..rows).map(|row| {
            let members = properties.iter().zip(columns.iter());
            let members = members.filter_map(|(property, column)| Some((property, cell(column.as_ref()?, row)?)));
            let members: Vec<String> = members
                .map(|(property, cell)| {
                    let mut name = String::new();
                    json::push_string(&mut name, &property.name);
                    format!("{name}:{cell}")
                })
                .collect();
            format!("{{{}}}", members.join(","))
        });
        *columns = vec![Some(Arc::new(StringArray::from_iter_values(bags.collect::<Vec<_>>())))];
    }
    memory.graph.nodes.iter_mut().for_each(|ty| ty.properties = vec![Property::bag()]);
    memory.graph.edges.iter_mut().for_each(|ty| ty.properties = vec![Property::bag()]);
    Some(memory)
}

/// Returns the JSON text of a cell of a simple type.
fn cell(column: &ArrayRef, row: usize) -> Option<String> {
    if column.is_null(row) {
        return None;
    }
    let float = |value: f64| match value {
        value if value.is_nan() => "NaN".to_owned(),
        value if value.is_infinite() => if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        value => format!("{value:?}"),
    };
    Some(match column.data_type() {
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float32 => float(column.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => float(column.as_primitive::<Float64Type>().value(row)),
        _ => {
            let mut text = String::new();
            json::push_string(&mut text, column.as_string::<i32>().value(row));
            text
        }
    })
}
