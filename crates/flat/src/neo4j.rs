//! Tables as Neo4j's admin import reads them: headers that say what columns are, `;` between labels and between items.
//!
//! Source: the Operations Manual of Neo4j, "Import header format". The mapping file beside the tables has what headers do not say.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::{EdgeType, Graph, KeyKind, LabelColumn, NodeType, Property, ValueKind};
use isomorph_tables::Encoding;

use crate::conventions::is_id;
use crate::sql::Script;
use crate::write::{Form, free};

/// Under which word a property declares its type of Neo4j, if its values are kept as text: `localtime`, `point{crs:WGS-84}`.
pub const DECLARED: &str = "neo4j";

/// Whether values are text, or lists of text.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::List(item) => *item.data_type() == DataType::Utf8,
        other => *other == DataType::Utf8,
    }
}

/// What divides the items of arrays, and labels.
pub(crate) const ITEMS: char = ';';

/// Whether a column of a table for Neo4j has the values of a property as they are: plain values, or lists of them.
pub fn holds(property: &Property) -> bool {
    let fits = |data_type: &DataType| *data_type != DataType::UInt64 && crate::holds(Encoding::Csv, &plain(data_type));
    match (&property.kind, &property.data_type) {
        (ValueKind::Plain, DataType::List(item)) => {
            let is_item =
                matches!(item.data_type(), DataType::Boolean | DataType::Float32 | DataType::Float64 | DataType::Utf8)
                    || item.data_type().is_integer();
            // Where SQL has no name for the items, nothing says of a list that it is a set.
            is_item && fits(item.data_type()) && crate::holds(Encoding::Parquet, property)
        }
        (ValueKind::Plain, DataType::UInt64) => false,
        _ => crate::holds(Encoding::Csv, property),
    }
}

fn plain(data_type: &DataType) -> Property {
    Property::new("x", data_type.clone())
}

/// Whether a name can stand in a header: braces begin options.
pub fn is_property(name: &str) -> bool {
    !name.is_empty() && !name.contains(['{', '}'])
}

/// Whether a name can be a label.
pub fn is_label(name: &str) -> bool {
    !name.is_empty() && !name.contains(ITEMS)
}

/// The type of a column in a header.
fn type_of(data_type: &DataType) -> String {
    let word = match data_type {
        DataType::List(item) => return format!("{}[]", type_of(item.data_type())),
        DataType::Boolean => "boolean",
        DataType::Int8 => "byte",
        DataType::Int16 | DataType::UInt8 => "short",
        DataType::Int32 | DataType::UInt16 => "int",
        DataType::Int64 | DataType::UInt32 => "long",
        DataType::Float32 => "float",
        DataType::Float64 => "double",
        DataType::Date32 => "date",
        DataType::Timestamp(_, None) => "localdatetime",
        DataType::Timestamp(_, Some(_)) => "datetime",
        _ => "string",
    };
    word.to_owned()
}

/// The field of a header for a property.
pub(crate) fn field(property: &Property) -> String {
    match property.declared.get(DECLARED).filter(|_| is_text(&property.data_type)) {
        Some(word) => format!("{}:{word}", property.name),
        None => format!("{}:{}", property.name, type_of(&property.data_type)),
    }
}

/// The columns of a table of nodes that are no properties.
pub(crate) struct NodeFields {
    /// The field with the ids, and the name of the key, if Neo4j keeps it.
    pub id: String,
    pub key: Option<String>,
    pub labels: &'static str,
}

/// The columns of a table of edges that are no properties.
pub(crate) struct EdgeFields {
    pub ends: [String; 2],
    pub relation: &'static str,
    /// The name of the column of directions, which Neo4j keeps as a property.
    pub directed: String,
}

/// Spaces of ids: one for each node type.
pub(crate) struct Spaces(Vec<String>);

impl Spaces {
    pub fn of(graph: &Graph) -> Spaces {
        let mut given = HashSet::new();
        let spaces = graph.nodes.iter().map(|ty| {
            // A colon, braces and parentheses have a meaning in headers.
            let plain = |c: char| if c.is_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
            let mut name: String = ty.name.chars().map(plain).collect();
            while name.is_empty() || !given.insert(name.clone()) {
                name.push('_');
            }
            name
        });
        Spaces(spaces.collect())
    }

    fn get(&self, ty: usize) -> &str {
        self.0.get(ty).map_or("", String::as_str)
    }

    pub fn nodes(&self, at: usize, ty: &NodeType) -> NodeFields {
        let taken: Vec<&str> = ty.properties.iter().map(|property| property.name.as_str()).collect();
        let space = self.get(at);
        let given = ty.key.name.as_deref().filter(|name| !taken.contains(name) && is_property(name));
        let key = (ty.key.kind != KeyKind::Row).then(|| given.map_or_else(|| free("id", &taken), str::to_owned));
        let name = key.as_deref().unwrap_or_default();
        let stored =
            if ty.key.kind == KeyKind::Int && ty.key.data_type != DataType::UInt64 { "{id-type:long}" } else { "" };
        NodeFields { id: format!("{name}:ID({space}){stored}"), key, labels: ":LABEL" }
    }

    pub fn edges(&self, ty: &EdgeType) -> EdgeFields {
        let taken: Vec<&str> = ty.properties.iter().map(|property| property.name.as_str()).collect();
        let end = |role: &str, ty: usize| format!(":{role}({})", self.get(ty));
        EdgeFields {
            ends: [end("START_ID", ty.source), end("END_ID", ty.target)],
            relation: ":TYPE",
            directed: format!("{}:boolean", free("directed", &taken)),
        }
    }
}

/// The labels of nodes of type `ty` as Neo4j has them: the type first, then the others.
pub(crate) fn labels(ty: &str, labels: Option<&LabelColumn>, rows: usize, file: &str) -> Result<ArrayRef> {
    let mut texts = StringBuilder::new();
    let mut text = String::new();
    for row in 0..rows {
        text.clear();
        text.push_str(ty);
        for label in labels.into_iter().flat_map(|labels| labels.row(row)) {
            if !is_label(label) {
                let what = format!("the label {label:?} is empty or has a {ITEMS:?}, which divides labels");
                return Err(Error::new(Kind::WouldLose, what).at(Place::file(file)).hint(OTHERS));
            }
            text.push(ITEMS);
            text.push_str(label);
        }
        texts.append_value(&text);
    }
    Ok(Arc::new(texts.finish()))
}

const OTHERS: &str = "--to cypher, --to apoc    write another format of Neo4j";

/// Whether values of a type are spelled here, as Neo4j reads them: its parser of times wants a `T`, and infinity is `Infinity`.
pub(crate) fn is_spelled(data_type: &DataType) -> bool {
    matches!(data_type, DataType::List(_) | DataType::Float32 | DataType::Float64 | DataType::Timestamp(..))
}

/// A column as Neo4j reads it: lists are texts with `;` between items.
pub(crate) fn as_read(column: &ArrayRef, name: &str) -> Result<ArrayRef> {
    match column.data_type() {
        DataType::List(_) => joined(column, name),
        data_type if is_spelled(data_type) => Ok(Arc::new(spelled(column)?)),
        _ => Ok(Arc::clone(column)),
    }
}

/// A column of lists as texts with `;` between items.
fn joined(lists: &ArrayRef, name: &str) -> Result<ArrayRef> {
    let refused = |what: String| Err(Error::new(Kind::WouldLose, what).at(Place::field(name)).hint(OTHERS));
    let Some(lists) = lists.as_list_opt::<i32>() else { return Ok(Arc::clone(lists)) };
    let mut texts = StringBuilder::new();
    let mut text = String::new();
    for row in 0..lists.len() {
        if lists.is_null(row) {
            texts.append_null();
            continue;
        }
        let items = spelled(&lists.value(row))?;
        text.clear();
        for (at, item) in items.iter().enumerate() {
            let Some(item) = item else {
                return refused("an item of an array is null, which Neo4j has none of".to_owned());
            };
            if item.contains(ITEMS) {
                return refused(format!("an item of an array has a {ITEMS:?}, which divides items: {item:?}"));
            }
            if item.is_empty() && items.len() == 1 {
                return refused("an array with one empty text cannot be told from an empty array".to_owned());
            }
            if at > 0 {
                text.push(ITEMS);
            }
            text.push_str(item);
        }
        texts.append_value(&text);
    }
    Ok(Arc::new(texts.finish()))
}

fn spelled(items: &ArrayRef) -> Result<StringArray> {
    let texts = cast(items, &DataType::Utf8).map_err(|error| Error::malformed(error.to_string()).caused_by(error))?;
    let texts = texts.as_string::<i32>();
    if !matches!(items.data_type(), DataType::Float32 | DataType::Float64) {
        return Ok(texts.clone());
    }
    let word = |text: &str| match text {
        "inf" => "Infinity".to_owned(),
        "-inf" => "-Infinity".to_owned(),
        other => other.to_owned(),
    };
    Ok(texts.iter().map(|text| text.map(word)).collect())
}

/// The command that loads the tables of `graph` into the database `neo4j`.
pub fn command(graph: &Graph) -> String {
    // A graph whose tables cannot be named is refused when it is written; there is nothing to load then.
    let script: Script = crate::write::script(graph, Form::Neo4j).unwrap_or_default();
    let file = |table: &str| script.tables.iter().find(|own| own.name == table).map_or("", |own| own.location.as_str());
    let quoted = |text: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./=".contains(&byte);
        if text.bytes().all(plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
    };
    let mut text = String::from("neo4j-admin database import full neo4j");
    for vertex in &script.graph.vertices {
        text.push_str(&format!(" --nodes={}", quoted(file(&vertex.table))));
    }
    for edge in &script.graph.edges {
        text.push_str(&format!(" --relationships={}", quoted(file(&edge.table))));
    }
    // Texts may have line ends.
    text.push_str(" --multiline-fields=true");
    text
}

/// Whether the tables of a mapping have headers for Neo4j: a key is an `:ID`.
pub(crate) fn is_meant(script: &Script) -> bool {
    let keys: Vec<&str> = script.graph.vertices.iter().filter_map(|vertex| vertex.key.as_deref()).collect();
    !keys.is_empty()
        && keys.iter().all(|key| is_id(key))
        && script.tables.iter().all(|table| table.encoding == Encoding::Csv)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use arrow_array::builder::{ListBuilder, StringBuilder};

    use super::*;

    #[test]
    fn arrays_are_joined_or_refused() {
        let list = |items: &[Option<&str>]| -> ArrayRef {
            let mut lists = ListBuilder::new(StringBuilder::new());
            items.iter().for_each(|item| lists.values().append_option(*item));
            lists.append(true);
            Arc::new(lists.finish())
        };
        for (items, expected) in [(&[Some("a"), Some("b")][..], "a;b"), (&[], ""), (&[Some("a"), Some("")], "a;")] {
            assert_eq!(joined(&list(items), "x").unwrap().as_string::<i32>().value(0), expected);
        }
        for items in [&[Some("a;b")][..], &[None], &[Some("")]] {
            assert_eq!(joined(&list(items), "x").unwrap_err().kind(), Kind::WouldLose, "{items:?}");
        }
    }

    #[test]
    fn headers_say_types() {
        let of = |data_type| field(&Property::new("a:b", data_type));
        assert_eq!(of(DataType::UInt16), "a:b:int");
        let mut time = Property::new("t", DataType::Utf8);
        time.declared.insert(DECLARED.to_owned(), "localtime".to_owned());
        assert_eq!(field(&time), "t:localtime");
        time.data_type = DataType::Int64;
        assert_eq!(field(&time), "t:long");
        assert_eq!(of(isomorph_model::type_name::list_of(DataType::Float32)), "a:b:float[]");
    }
}
