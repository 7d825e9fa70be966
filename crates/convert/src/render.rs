//! Elements as canonical JSON lines: the same element has the same line in every encoding.
//!
//! Properties are sorted by name, labels are sorted, and sets are sorted by the text of their members.

mod rest;

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use isomorph_error::{Error, Result};
use isomorph_model::json::{self, Members};
use isomorph_model::schema::DocumentBody;
use isomorph_model::{
    Batch, Cardinality, Columns, Direction, EdgeBatch, EndForm, Ends, Graph, Key, KeyKind, NodeBatch, Property, Source,
    ValueKind, well_known,
};

use rest::{DetailTexts, KeysBeside, split_details};

use crate::mapping::json_out::{JsonCells, push_float};
use crate::node_keys;
use crate::progress::Progress;
use isomorph_dataset::KeysByRow;
use isomorph_storage::Resources;

/// The subject of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LineOf {
    /// A node.
    Node,
    /// An edge.
    Edge,
    /// A hyperedge.
    Hyperedge,
    /// A value that is stored apart from its owner.
    Value,
    /// A member of a hyperedge.
    Member,
    /// A group.
    Group,
    /// A membership in a group.
    Membership,
    /// A document.
    Document,
}

impl LineOf {
    /// The word that a line starts with.
    pub fn word(self) -> &'static str {
        match self {
            LineOf::Node => "node",
            LineOf::Edge => "edge",
            LineOf::Hyperedge => "hyperedge",
            LineOf::Value => "value",
            LineOf::Member => "member",
            LineOf::Group => "group",
            LineOf::Membership => "membership",
            LineOf::Document => "document",
        }
    }
}

/// One element as text.
#[derive(Debug, Clone, Copy)]
pub struct Element<'a> {
    /// The kind of element.
    pub of: LineOf,
    /// Name of its type; for an edge, its relation.
    pub ty: &'a str,
    /// Its identity within the type, as JSON: a key, the ends, or a group and its member.
    pub identity: &'a str,
    /// For a value that is stored apart: its identity within its owner, apart from its text: property and qualifiers.
    pub statement: &'a str,
    /// The whole line, without a line end.
    pub line: &'a str,
}

/// Renders the elements of one source.
pub struct Renderer {
    graph: Graph,
    keys: KeysByRow,
    beside: KeysBeside,
}

impl Renderer {
    /// Creates a renderer for the rows of `source`. Reads the keys of nodes if edges refer to them by row.
    ///
    /// # Errors
    /// If keys cannot be read.
    pub fn new(source: &dyn Source, resources: &Resources, progress: &dyn Progress) -> Result<Self> {
        let graph = source.graph().clone();
        let mut keys = KeysByRow::builder(&graph, resources);
        let has_rest = !graph.hyperedges.is_empty() || !graph.groups.is_empty();
        // Without edges, nothing states how members are identified.
        let is_open = graph.edges.is_empty() && (has_rest || !graph.values.is_empty());
        let by_row = is_open || (0..graph.edges.len()).any(|ty| source.end_form(ty) == EndForm::Rows);
        for together in node_keys::passes(source, (0..graph.nodes.len()).filter(|_| by_row), usize::MAX) {
            node_keys::read(source, &together, "keys", resources.threads, progress, |nodes| keys.add(nodes))?;
        }
        let beside = if by_row && has_rest { KeysBeside::read(source)? } else { KeysBeside::default() };
        Ok(Renderer { graph, keys: keys.finish()?, beside })
    }

    /// Creates a renderer for documents, nodes, and elements that refer to others by key. Reads nothing.
    ///
    /// # Errors
    /// If there is too little memory.
    pub fn without_keys(source: &dyn Source, resources: &Resources) -> Result<Self> {
        let graph = source.graph().clone();
        let keys = KeysByRow::builder(&graph, resources).finish()?;
        Ok(Renderer { graph, keys, beside: KeysBeside::default() })
    }

    /// Calls `each` for the documents of the graph.
    ///
    /// # Errors
    /// Returns the errors of `each`.
    pub fn documents(&self, mut each: impl FnMut(Element<'_>) -> Result<()>) -> Result<()> {
        let mut line = String::new();
        for document in &self.graph.documents {
            line.clear();
            line.push_str("{\"document\":");
            json::push_string(&mut line, &document.name);
            match &document.body {
                DocumentBody::Json(text) => {
                    line.push_str(",\"json\":");
                    push_compact(text, &mut line)?;
                }
                DocumentBody::Text(text) => {
                    line.push_str(",\"text\":");
                    json::push_string(&mut line, text);
                }
                DocumentBody::Bytes(bytes) => {
                    let _ = write!(line, ",\"bytes\":{}", bytes.len());
                }
                DocumentBody::Table(table) => {
                    let _ = write!(line, ",\"rows\":{}", table.num_rows());
                }
            }
            line.push('}');
            each(Element { of: LineOf::Document, ty: &document.name, identity: "", statement: "", line: &line })?;
        }
        Ok(())
    }

    /// Calls `each` for every row of a batch.
    ///
    /// # Errors
    /// If a value has no JSON form, or `each` returns an error.
    pub fn batch(&self, batch: &Batch, mut each: impl FnMut(Element<'_>) -> Result<()>) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => self.nodes(nodes, each),
            Batch::Edges(edges) => self.edges(edges, each),
            rest => self.rest(rest, &mut each),
        }
    }

    fn nodes(&self, batch: &NodeBatch, mut each: impl FnMut(Element<'_>) -> Result<()>) -> Result<()> {
        let ty = self.graph.nodes.get(batch.ty).ok_or_else(|| Error::usage("no such node type"))?;
        let mut properties = PropertyTexts::new(&ty.properties, &batch.properties)?;
        let keys = batch.keys.as_ref().map(|keys| KeyTexts::new(&ty.key, keys)).transpose()?;
        let (mut line, mut identity) = (String::new(), String::new());
        for row in 0..batch.rows {
            identity.clear();
            match &keys {
                Some(keys) => keys.push(row, &mut identity),
                None => {
                    let _ = write!(identity, "{}", batch.start + row as u64);
                }
            }
            line.clear();
            line.push_str("{\"node\":");
            json::push_string(&mut line, &ty.name);
            line.push_str(if keys.is_some() { ",\"key\":" } else { ",\"row\":" });
            line.push_str(&identity);
            if let Some(labels) = &batch.labels {
                let mut names: Vec<&str> = labels.row(row).collect();
                names.sort_unstable();
                if !names.is_empty() {
                    line.push_str(",\"labels\":");
                    for (at, name) in names.into_iter().enumerate() {
                        line.push(if at == 0 { '[' } else { ',' });
                        json::push_string(&mut line, name);
                    }
                    line.push(']');
                }
            }
            properties.push(row, &mut line)?;
            line.push('}');
            each(Element { of: LineOf::Node, ty: &ty.name, identity: &identity, statement: "", line: &line })?;
        }
        Ok(())
    }

    fn edges(&self, batch: &EdgeBatch, mut each: impl FnMut(Element<'_>) -> Result<()>) -> Result<()> {
        let ty = self.graph.edges.get(batch.ty).ok_or_else(|| Error::usage("no such edge type"))?;
        let (source_type, fixed, target_type) = self.graph.edge_name(ty);
        let mut properties = PropertyTexts::new(&ty.properties, &batch.properties)?;
        let ends = |node: usize, ends: &Ends| -> Result<ArrayRef> {
            match ends {
                Ends::Keys(keys) => Ok(keys.clone()),
                Ends::Rows(rows) => self.keys.gather(node, rows.values()),
            }
        };
        let (sources, targets) = (ends(ty.source, &batch.source)?, ends(ty.target, &batch.target)?);
        let key = |node: usize| self.graph.nodes.get(node).map_or_else(Key::row, |ty| ty.key.clone());
        let sources = KeyTexts::new(&key(ty.source), &sources)?;
        let targets = KeyTexts::new(&key(ty.target), &targets)?;
        let own = ty.key.as_ref().zip(batch.keys.as_ref());
        let own = own.map(|(key, keys)| KeyTexts::new(key, keys)).transpose()?;
        let layers = batch.layers.as_ref().map(|(source, target)| (split_details(source), split_details(target)));
        let layers = layers.as_ref().map(|(source, target)| DetailTexts::new(source, target)).transpose()?;
        let (mut line, mut identity, mut swap) = (String::new(), String::new(), String::new());
        for row in 0..batch.rows {
            let relation = batch
                .relations
                .as_ref()
                .map_or(fixed.as_str(), |relations| relations.names.value(relations.index.value(row) as usize));
            let directed = match ty.direction {
                Direction::Directed => true,
                Direction::Undirected => false,
                Direction::PerRow => batch.directed.as_ref().is_none_or(|all| all.is_null(row) || all.value(row)),
            };
            identity.clear();
            sources.push(row, &mut identity);
            let middle = identity.len();
            targets.push(row, &mut identity);
            // An undirected edge between nodes of one type has no first end.
            let swapped = !directed && ty.source == ty.target && identity.get(middle..) < identity.get(..middle);
            if swapped {
                swap.clear();
                swap.push_str(identity.get(middle..).unwrap_or_default());
                swap.push(',');
                swap.push_str(identity.get(..middle).unwrap_or_default());
                std::mem::swap(&mut identity, &mut swap);
            } else {
                identity.insert(middle, ',');
            }
            line.clear();
            line.push_str("{\"edge\":");
            json::push_string(&mut line, relation);
            line.push_str(",\"types\":[");
            json::push_string(&mut line, &source_type);
            line.push(',');
            json::push_string(&mut line, &target_type);
            line.push_str("],\"ends\":[");
            line.push_str(&identity);
            line.push(']');
            if let Some(layers) = &layers {
                // Layers and coefficients are in the order of the ends.
                layers.push(row, swapped, &mut line);
            }
            if let Some(own) = &own {
                identity.clear();
                own.push(row, &mut identity);
                let _ = write!(line, ",\"key\":{identity}");
            }
            if !directed {
                line.push_str(",\"directed\":false");
            }
            properties.push(row, &mut line)?;
            line.push('}');
            each(Element { of: LineOf::Edge, ty: relation, identity: &identity, statement: "", line: &line })?;
        }
        Ok(())
    }
}

/// Keys as JSON, as [`crate::dump`] writes them.
pub struct KeyTexts<'a>(JsonCells<'a>);

impl<'a> KeyTexts<'a> {
    /// The texts of keys of that kind.
    ///
    /// # Errors
    /// If they have no JSON form.
    pub fn new(key: &Key, keys: &'a ArrayRef) -> Result<Self> {
        let kind = if key.kind == KeyKind::Term { ValueKind::Term } else { ValueKind::Plain };
        Ok(KeyTexts(JsonCells::new(&Property::new("", keys.data_type().clone()).of_kind(kind), keys.as_ref())?))
    }

    /// Appends the key of a row.
    pub fn push(&self, row: usize, out: &mut String) {
        if !self.0.push(row, out) {
            out.push_str("null");
        }
    }
}

/// Properties as the members of a JSON object, sorted by name. Members of a bag with the name of a column are separate
/// properties: they are in a separate object, `bag`.
pub struct PropertyTexts<'a> {
    properties: &'a [Property],
    columns: Vec<(&'a Property, JsonCells<'a>)>,
    bag: Option<&'a arrow_array::StringArray>,
    members: Members,
    texts: Vec<(String, String)>,
    /// Members of the bag with the name of a column.
    aside: Vec<(String, String)>,
}

impl<'a> PropertyTexts<'a> {
    /// The texts of these columns of these properties; those that are `None` have no values.
    ///
    /// # Errors
    /// If values have no JSON form.
    pub fn new(properties: &'a [Property], columns: &'a Columns) -> Result<Self> {
        let mut texts = PropertyTexts {
            properties,
            columns: Vec::new(),
            bag: None,
            members: Members::default(),
            texts: Vec::new(),
            aside: Vec::new(),
        };
        for (property, column) in properties.iter().zip(columns) {
            match column {
                Some(column) if property.kind == ValueKind::Bag => texts.bag = column.as_string_opt::<i32>(),
                Some(column) => texts.columns.push((property, JsonCells::new(property, column.as_ref())?)),
                None => {}
            }
        }
        Ok(texts)
    }

    fn push(&mut self, row: usize, line: &mut String) -> Result<()> {
        let [texts, aside] = self.row(row)?;
        push_members("properties", texts, line);
        push_members("bag", aside, line);
        Ok(())
    }

    /// The names and values of a row, as JSON, sorted by name; and, separately, the members of its bag with the name of
    /// a column.
    ///
    /// # Errors
    /// If a value should be JSON and is not.
    pub fn row(&mut self, row: usize) -> Result<[&[(String, String)]; 2]> {
        let PropertyTexts { properties, columns, bag, members, texts, aside } = self;
        texts.clear();
        aside.clear();
        for (property, cells) in columns {
            let mut text = String::new();
            if cells.push(row, &mut text) {
                if property.cardinality == Cardinality::Set {
                    text = sorted_items(&text)?;
                }
                if property.kind == ValueKind::Json {
                    text = compact(&text)?;
                }
                texts.push((property.name.clone(), text));
            }
        }
        if let Some(bag) = bag.filter(|bag| !bag.is_null(row)) {
            members.read(bag.value(row), |name, value| {
                let is_column = |property: &Property| property.kind != ValueKind::Bag && property.name == name;
                let has_column = properties.iter().any(is_column)
                    || name == well_known::SHADOW && well_known::keep_shadow(properties);
                let all = if has_column { &mut *aside } else { &mut *texts };
                all.push((name.to_owned(), compact(value)?));
                Ok(())
            })?;
        }
        texts.sort();
        aside.sort();
        Ok([texts, aside])
    }
}

/// Rows of a record batch as JSON objects: a member for each column and each field of a struct, also where it is null. Values have the form of [`crate::dump`]; columns whose field says
/// that they hold JSON (`isomorph.kind`) are JSON.
pub struct RecordTexts<'a> {
    columns: Vec<(&'a str, Cells<'a>)>,
}

enum Cells<'a> {
    Own(JsonCells<'a>),
    /// Text that should be JSON, and is text where it is not.
    Json(&'a arrow_array::StringArray),
    /// Types without a JSON form: as they are printed.
    Printed(arrow_array::StringArray),
}

impl<'a> RecordTexts<'a> {
    /// The texts of the rows of `batch`.
    ///
    /// # Errors
    /// If a type has neither a JSON form nor a text.
    pub fn new(batch: &'a arrow_array::RecordBatch) -> Result<Self> {
        let schema = batch.schema_ref();
        let mut columns = Vec::with_capacity(batch.num_columns());
        for (at, column) in batch.columns().iter().enumerate() {
            let name = schema.fields().get(at).map_or("", |field| field.name().as_str());
            let kind = schema.fields().get(at).and_then(|field| field.metadata().get(isomorph_dataset::KIND));
            let json = kind.filter(|kind| matches!(kind.as_str(), "json" | "bag")).and(column.as_string_opt::<i32>());
            let cells = match (json, JsonCells::with_nulls(column.as_ref())) {
                (Some(json), _) => Cells::Json(json),
                (None, Ok(cells)) => Cells::Own(cells),
                (None, Err(error)) => {
                    let text = arrow_cast::cast(column, &arrow_schema::DataType::Utf8).map_err(|_| error)?;
                    Cells::Printed(text.as_string::<i32>().clone())
                }
            };
            columns.push((name, cells));
        }
        Ok(RecordTexts { columns })
    }

    /// Appends a row as an object.
    pub fn push(&self, row: usize, out: &mut String) {
        for (at, (name, _)) in self.columns.iter().enumerate() {
            out.push(if at == 0 { '{' } else { ',' });
            json::push_string(out, name);
            out.push(':');
            if !self.push_cell(at, row, out) {
                out.push_str("null");
            }
        }
        out.push_str(if self.columns.is_empty() { "{}" } else { "}" });
    }

    /// Appends a cell. Returns false and appends nothing if it is null.
    pub fn push_cell(&self, column: usize, row: usize, out: &mut String) -> bool {
        match self.columns.get(column).map(|(_, cells)| cells) {
            Some(Cells::Own(cells)) => cells.push(row, out),
            Some(Cells::Json(texts)) if texts.is_valid(row) => {
                match compact(texts.value(row)) {
                    Ok(text) => out.push_str(&text),
                    Err(_) => json::push_string(out, texts.value(row)),
                }
                true
            }
            Some(Cells::Printed(texts)) if texts.is_valid(row) => {
                json::push_string(out, texts.value(row));
                true
            }
            _ => false,
        }
    }
}

/// Appends a member that is the object of `members`, unless it is empty.
fn push_members(name: &str, members: &[(String, String)], line: &mut String) {
    for (at, (own, text)) in members.iter().enumerate() {
        match at {
            0 => {
                let _ = write!(line, ",\"{name}\":{{");
            }
            _ => line.push(','),
        }
        json::push_string(line, own);
        line.push(':');
        line.push_str(text);
    }
    if !members.is_empty() {
        line.push('}');
    }
}

fn sorted_items(array: &str) -> Result<String> {
    let mut items = Vec::new();
    json::items(array, |item| {
        items.push(item);
        Ok(())
    })?;
    items.sort_unstable();
    items.dedup();
    Ok(format!("[{}]", items.join(",")))
}

/// JSON in its canonical form: no spaces, escapes only where needed, floats as the model compares them.
fn compact(text: &str) -> Result<String> {
    let mut out = String::new();
    push_compact(text, &mut out)?;
    Ok(out)
}

fn push_compact(text: &str, out: &mut String) -> Result<()> {
    match json::value(text)? {
        json::Value::Text(text) => json::push_string(out, &text),
        json::Value::Float(value) => push_float(value, out),
        json::Value::Integer(value) => {
            let _ = write!(out, "{value}");
        }
        json::Value::Array(array) => {
            out.push('[');
            let mut first = true;
            json::items(array, |item| {
                if !std::mem::take(&mut first) {
                    out.push(',');
                }
                push_compact(item, out)
            })?;
            out.push(']');
        }
        json::Value::Object(object) => {
            out.push('{');
            let mut first = true;
            Members::default().read(object, |name, value| {
                if !std::mem::take(&mut first) {
                    out.push(',');
                }
                json::push_string(out, name);
                out.push(':');
                push_compact(value, out)
            })?;
            out.push('}');
        }
        json::Value::Bool(_) | json::Value::Null | json::Value::Number(_) => out.push_str(text.trim()),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::compact;

    #[test]
    fn numbers_that_json_lacks_become_text() {
        let compacted = compact(r#"{"scores": [1, 2.5, NaN, -Infinity], "": Infinity}"#).unwrap();
        assert_eq!(compacted, r#"{"scores":[1,2.5,"NaN","-Infinity"],"":"Infinity"}"#);
        serde_json::from_str::<serde_json::Value>(&compacted).unwrap();
    }
}
