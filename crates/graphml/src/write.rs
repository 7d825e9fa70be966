//! Writes GraphML as NetworkX and igraph read it: keys with their types, then nodes, then edges.

use std::fmt::Write as _;

use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use isomorph_model::json::{self, Members};
use isomorph_model::schema::DocumentBody;
use isomorph_model::{Direction, Graph, Property};
use isomorph_records::xml::push_escaped as escape;
use isomorph_records::{Cell, Cells, EdgeRow, Form, KeyCell};

use crate::GraphMl;
use crate::bind::{ATTRIBUTE, YFILES};
use crate::capability::{holds, is_of_graph};
use crate::fragment::{declarations, is_fragment};

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd""#;

/// How a property is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Goes {
    /// As data of a key.
    Data,
    /// As data of a key; as XML if the value is XML.
    Xml,
    /// As the id of the element.
    Id,
}

impl GraphMl {
    /// Returns how GraphML is written.
    pub fn form() -> Box<dyn Form> {
        Box::new(GraphMlForm { nodes: Vec::new(), edges: Vec::new() })
    }
}

struct GraphMlForm {
    nodes: Vec<Goes>,
    edges: Vec<Goes>,
}

fn place(property: &Property) -> Goes {
    match property.declared.get(ATTRIBUTE) {
        Some(_) => Goes::Id,
        None if property.declared.contains_key(YFILES) => Goes::Xml,
        None => Goes::Data,
    }
}

fn type_word(data_type: &DataType) -> &'static str {
    match data_type {
        DataType::Boolean => "boolean",
        DataType::Int32 => "int",
        DataType::Int64 => "long",
        DataType::Float64 => "double",
        _ => "string",
    }
}

fn key(out: &mut String, id: &str, domain: &str, name: &str, word: &str, yfiles: Option<&str>) -> Result<()> {
    let _ = write!(out, "<key id=\"{id}\" for=\"{domain}\" ");
    match yfiles {
        Some(yfiles) => {
            attribute(out, "yfiles.type", yfiles)?;
            out.push_str("/>\n");
        }
        None => {
            attribute(out, "attr.name", name)?;
            let _ = writeln!(out, " attr.type=\"{word}\"/>");
        }
    }
    Ok(())
}

fn attribute(out: &mut String, name: &str, value: &str) -> Result<()> {
    out.push_str(name);
    out.push_str("=\"");
    escape(out, value, true)?;
    out.push('"');
    Ok(())
}

/// Appends an id, or an end.
fn id(out: &mut String, name: &str, key: KeyCell<'_>) -> Result<()> {
    match key {
        KeyCell::Text(text) => attribute(out, name, text),
        KeyCell::Integer(_) | KeyCell::Row(_) => Err(Error::usage("node ids must be text")),
    }
}

/// Appends the data of an element, and its end.
fn data(out: &mut String, (letter, element): (char, &str), places: &[Goes], cells: Cells<'_>) -> Result<()> {
    let mut is_empty = true;
    cells.each(|at, _, cell| {
        let place = places.get(at).copied().unwrap_or(Goes::Data);
        if place == Goes::Id {
            return Ok(());
        }
        if std::mem::take(&mut is_empty) {
            out.push('>');
        }
        let _ = write!(out, "<data key=\"{letter}{at}\">");
        value(out, &cell, place == Goes::Xml)?;
        out.push_str("</data>");
        Ok(())
    })?;
    match is_empty {
        true => out.push_str("/>\n"),
        false => {
            let _ = writeln!(out, "</{element}>");
        }
    }
    Ok(())
}

impl Form for GraphMlForm {
    fn begin(&mut self, out: &mut String, graph: &Graph) -> Result<()> {
        let ([node], [edge]) = (graph.nodes.as_slice(), graph.edges.as_slice()) else {
            return Err(Error::unsupported("GraphML has nodes and edges of one type"));
        };
        if let Some(property) = node.properties.iter().chain(&edge.properties).find(|property| !holds(property)) {
            return Err(
                Error::unsupported("GraphML cannot store values of this type").at(Place::field(property.name.clone()))
            );
        }
        let places = |properties: &[Property]| properties.iter().map(place).collect::<Vec<_>>();
        (self.nodes, self.edges) = (places(&node.properties), places(&edge.properties));
        out.push_str(HEAD);
        if self.nodes.iter().chain(&self.edges).any(|place| *place == Goes::Xml) {
            out.push_str(&declarations());
        }
        out.push_str(">\n");
        let of_graph = graph.documents.iter().find(|document| is_of_graph(document));
        let of_graph = match of_graph.map(|document| &document.body) {
            Some(DocumentBody::Json(text)) => of_graph_data(text)?,
            _ => Vec::new(),
        };
        for (at, (name, word, _)) in of_graph.iter().enumerate() {
            key(out, &format!("g{at}"), "graph", name, word, None)?;
        }
        for (domain, letter, properties) in [("node", 'n', &node.properties), ("edge", 'e', &edge.properties)] {
            for (at, property) in properties.iter().enumerate().filter(|(_, property)| place(property) != Goes::Id) {
                let yfiles = property.declared.get(YFILES).map(String::as_str);
                let word = type_word(&property.data_type);
                key(out, &format!("{letter}{at}"), domain, &property.name, word, yfiles)?;
            }
        }
        out.push_str("<graph");
        if let Some(name) = &graph.name {
            attribute(out, " id", name)?;
        }
        let default = if edge.direction == Direction::Undirected { "undirected" } else { "directed" };
        let _ = writeln!(out, " edgedefault=\"{default}\">");
        for (at, (_, _, text)) in of_graph.iter().enumerate() {
            let _ = write!(out, "<data key=\"g{at}\">");
            escape(out, text, false)?;
            out.push_str("</data>\n");
        }
        Ok(())
    }

    fn node(&mut self, out: &mut String, key: KeyCell<'_>, _row: u64, cells: Cells<'_>) -> Result<()> {
        id(out, "<node id", key)?;
        data(out, ('n', "node"), &self.nodes, cells)
    }

    fn between(&mut self, _out: &mut String) -> Result<()> {
        Ok(())
    }

    fn edge(&mut self, out: &mut String, edge: EdgeRow<'_>) -> Result<()> {
        id(out, "<edge source", edge.source)?;
        id(out, " target", edge.target)?;
        if let Some(at) = self.edges.iter().position(|place| *place == Goes::Id)
            && let Some(Cell::Text(text)) = edge.cells.get(at)?
        {
            attribute(out, " id", text)?;
        }
        // Where edges differ, the default is that they are directed.
        if edge.directed == Some(false) {
            out.push_str(" directed=\"false\"");
        }
        data(out, ('e', "edge"), &self.edges, edge.cells)
    }

    fn end(&mut self, out: &mut String) -> Result<()> {
        out.push_str("</graph>\n</graphml>\n");
        Ok(())
    }
}

/// Returns names, types and texts of the data of the graph.
fn of_graph_data(object: &str) -> Result<Vec<(String, &'static str, String)>> {
    let mut all = Vec::new();
    Members::default().read(object, |name, raw| {
        let (word, text) = match json::value(raw)? {
            json::Value::Bool(value) => ("boolean", value.to_string()),
            json::Value::Integer(value) if i64::try_from(value).is_ok() => ("long", value.to_string()),
            json::Value::Float(value) => ("double", format!("{value:?}")),
            json::Value::Text(text) => ("string", text.into_owned()),
            _ => ("string", raw.to_owned()),
        };
        all.push((name.to_owned(), word, text));
        Ok(())
    })?;
    Ok(all)
}

/// Appends a value.
fn value(out: &mut String, cell: &Cell<'_>, as_xml: bool) -> Result<()> {
    match cell {
        Cell::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Cell::Integer(value) => {
            let _ = write!(out, "{value}");
        }
        Cell::Float(value) if value.is_finite() => {
            let _ = write!(out, "{value:?}");
        }
        Cell::Float(value) => push_infinite(out, *value),
        Cell::Text(text) | Cell::Json(text) if as_xml && is_fragment(text) => out.push_str(text),
        Cell::Text(text) | Cell::Json(text) => escape(out, text, false)?,
        Cell::List(_) => return Err(Error::usage("GraphML has no lists")),
    }
    Ok(())
}

/// Appends a float that is not finite, in the notation of XML Schema.
fn push_infinite(out: &mut String, value: f64) {
    out.push_str(if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "INF"
    } else {
        "-INF"
    });
}
