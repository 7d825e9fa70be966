//! Data of the graph as a document.

use arrow_schema::DataType;
use isomorph_model::Document;
use isomorph_model::json::push_string;
use isomorph_model::schema::DocumentBody;

use crate::OF_GRAPH;
use crate::keys::{float, integer, truth};

/// A value of the graph.
pub(crate) struct Datum<'a> {
    pub name: &'a str,
    pub data_type: &'a DataType,
    pub text: &'a str,
}

/// Returns the data of the graph, as a JSON object.
pub(crate) fn document(data: &[Datum<'_>]) -> Option<Document> {
    if data.is_empty() {
        return None;
    }
    let mut json = String::from("{");
    for Datum { name, data_type, text } in data {
        if json.len() > 1 {
            json.push(',');
        }
        push_string(&mut json, name);
        json.push(':');
        let number = match data_type {
            DataType::Boolean => truth(text).map(|value| value.to_string()),
            DataType::Int32 | DataType::Int64 => integer(text).map(|value| value.to_string()),
            DataType::Float64 => float(text).filter(|value| value.is_finite()).map(|value| format!("{value:?}")),
            _ => None,
        };
        match number {
            Some(number) => json.push_str(&number),
            None => push_string(&mut json, text),
        }
    }
    json.push('}');
    Some(Document { name: OF_GRAPH.to_owned(), body: DocumentBody::Json(json) })
}
