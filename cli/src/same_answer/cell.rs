//! Values of the three languages in one form, by type.

use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use chrono::{NaiveDate, NaiveDateTime};
use isomorph::model::{Graph, KeyKind};
use isomorph_cypher::{Temporal, Value};
use isomorph_sparql::oxrdf::Term;

/// A value. Decimals and floats are numbers with twelve digits: the sum of floats depends on their order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    Null,
    Bool(bool),
    Int(i128),
    Real(String),
    Text(String),
    Date(NaiveDate),
    Moment(NaiveDateTime),
}

fn real(float: f64) -> Cell {
    // Zero has one sign.
    Cell::Real(format!("{:.11e}", float + 0.0))
}

fn moment(text: &str) -> Cell {
    Cell::Moment(NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").expect(text))
}

/// The rows of a batch.
pub fn of_batch(batch: &RecordBatch) -> Vec<Vec<Cell>> {
    let options = FormatOptions::default();
    let formatters: Vec<ArrayFormatter<'_>> =
        batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options).unwrap()).collect();
    let cell = |at: usize, row: usize| {
        let column = batch.column(at);
        if column.is_null(row) {
            return Cell::Null;
        }
        let text = formatters[at].value(row).to_string();
        match column.data_type() {
            DataType::Boolean => Cell::Bool(text == "true"),
            int if int.is_integer() => Cell::Int(text.parse().unwrap()),
            number if number.is_numeric() => real(text.parse().unwrap()),
            DataType::Date32 => Cell::Date(text.parse().unwrap()),
            DataType::Timestamp(..) => moment(&text),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Cell::Text(text),
            other => panic!("{other}: {text}"),
        }
    };
    (0..batch.num_rows()).map(|row| (0..batch.num_columns()).map(|at| cell(at, row)).collect()).collect()
}

pub fn of_value(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Bool(truth) => Cell::Bool(*truth),
        Value::Int(int) => Cell::Int(i128::from(*int)),
        Value::Float(float) => real(*float),
        Value::String(text) => Cell::Text(text.to_string()),
        Value::Temporal(Temporal::Date(date)) => Cell::Date(*date),
        Value::Temporal(Temporal::LocalDateTime(time)) => Cell::Moment(*time),
        other => panic!("{other:?}"),
    }
}

/// A node is its key, as the other languages have it.
pub fn of_term(term: Option<&Term>, graph: &Graph) -> Cell {
    match term {
        None => Cell::Null,
        Some(Term::NamedNode(iri)) => {
            let (name, key) = iri.as_str().strip_prefix("urn:x-isomorph:").unwrap().split_once('/').unwrap();
            let ty = graph.nodes.iter().find(|ty| ty.name == name).unwrap();
            match ty.key.kind {
                KeyKind::Int => Cell::Int(key.parse().unwrap()),
                _ => Cell::Text(decoded(key)),
            }
        }
        Some(Term::Literal(literal)) => {
            let text = literal.value();
            match literal.datatype().as_str().rsplit('#').next().unwrap() {
                "integer" => Cell::Int(text.parse().unwrap()),
                "decimal" | "double" | "float" => real(text.parse().unwrap()),
                "boolean" => Cell::Bool(text == "true"),
                "date" => Cell::Date(text.parse().unwrap()),
                "dateTime" => moment(text),
                "string" => Cell::Text(text.to_owned()),
                other => panic!("{other}: {text}"),
            }
        }
        Some(other) => panic!("{other}"),
    }
}

/// A part of an IRI without its percent signs.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next().unwrap(), rest.next().unwrap()];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}
