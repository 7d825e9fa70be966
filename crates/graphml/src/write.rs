//! Writes GraphML as NetworkX and igraph read it: keys with their types, then nodes, then edges.

use std::fmt::Write as _;
use std::io::Write as _;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, StringArray};
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use isomorph_model::json::{self, Members};
use isomorph_model::schema::DocumentBody;
use isomorph_model::{Batch, Delivery, Direction, EdgeBatch, Ends, Graph, NodeBatch, Property, Sink, Written};
use isomorph_records::xml::push_escaped as escape;
use isomorph_storage::Staging;
use isomorph_tables::PackedWriter;

use crate::bind::{ATTRIBUTE, YFILES};
use crate::capability::{holds, is_of_graph};
use crate::fragment::{declarations, is_fragment};

/// Bytes written at a time.
const BLOCK: usize = 1 << 16;

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

/// A GraphML file that is being written.
pub struct GraphMlWriter<'a> {
    staging: &'a Staging,
    file: PackedWriter,
    nodes: Vec<Goes>,
    edges: Vec<Goes>,
    by_row: bool,
    out: String,
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

impl<'a> GraphMlWriter<'a> {
    /// Starts the file of a graph of one node type and one edge type.
    ///
    /// # Errors
    /// Returns an error if the graph has another shape, or values that GraphML cannot store.
    pub fn create(staging: &'a Staging, graph: &Graph) -> Result<Self> {
        let ([node], [edge]) = (graph.nodes.as_slice(), graph.edges.as_slice()) else {
            return Err(Error::unsupported("GraphML has nodes and edges of one type"));
        };
        if edge.key.is_some() || edge.layered || edge.relation.fixed().is_none() {
            return Err(Error::unsupported("GraphML cannot store such edges").at(Place::field("edge")));
        }
        if let Some(property) = node.properties.iter().chain(&edge.properties).find(|property| !holds(property)) {
            return Err(
                Error::unsupported("GraphML cannot store values of this type").at(Place::field(property.name.clone()))
            );
        }
        let file = PackedWriter::create(staging, staging.destination().file_name())?;
        let places = |properties: &[Property]| properties.iter().map(place).collect::<Vec<_>>();
        let (nodes, edges) = (places(&node.properties), places(&edge.properties));
        let by_row = edge.direction == Direction::PerRow;
        let mut writer = GraphMlWriter { staging, file, nodes, edges, by_row, out: HEAD.to_owned() };
        if writer.nodes.iter().chain(&writer.edges).any(|place| *place == Goes::Xml) {
            writer.out.push_str(&declarations());
        }
        writer.out.push_str(">\n");
        let of_graph = graph.documents.iter().find(|document| is_of_graph(document));
        let of_graph = match of_graph.map(|document| &document.body) {
            Some(DocumentBody::Json(text)) => of_graph_data(text)?,
            _ => Vec::new(),
        };
        for (at, (name, word, _)) in of_graph.iter().enumerate() {
            writer.key(&format!("g{at}"), "graph", name, word, None)?;
        }
        for (domain, letter, properties) in [("node", 'n', &node.properties), ("edge", 'e', &edge.properties)] {
            for (at, property) in properties.iter().enumerate().filter(|(_, property)| place(property) != Goes::Id) {
                let yfiles = property.declared.get(YFILES).map(String::as_str);
                let word = type_word(&property.data_type);
                writer.key(&format!("{letter}{at}"), domain, &property.name, word, yfiles)?;
            }
        }
        writer.out.push_str("<graph");
        if let Some(name) = &graph.name {
            writer.out.push_str(" id=\"");
            escape(&mut writer.out, name, true)?;
            writer.out.push('"');
        }
        let default = if edge.direction == Direction::Undirected { "undirected" } else { "directed" };
        let _ = writeln!(writer.out, " edgedefault=\"{default}\">");
        for (at, (_, _, text)) in of_graph.iter().enumerate() {
            let _ = write!(writer.out, "<data key=\"g{at}\">");
            escape(&mut writer.out, text, false)?;
            writer.out.push_str("</data>\n");
        }
        Ok(writer)
    }

    fn key(&mut self, id: &str, domain: &str, name: &str, word: &str, yfiles: Option<&str>) -> Result<()> {
        let _ = write!(self.out, "<key id=\"{id}\" for=\"{domain}\" ");
        match yfiles {
            Some(yfiles) => {
                self.out.push_str("yfiles.type=\"");
                escape(&mut self.out, yfiles, true)?;
                self.out.push_str("\"/>\n");
            }
            None => {
                self.out.push_str("attr.name=\"");
                escape(&mut self.out, name, true)?;
                let _ = writeln!(self.out, "\" attr.type=\"{word}\"/>");
            }
        }
        Ok(())
    }

    fn flush(&mut self, least: usize) -> Result<()> {
        if self.out.len() >= least {
            self.file.write_all(self.out.as_bytes())?;
            self.out.clear();
        }
        Ok(())
    }

    fn data(
        &mut self,
        letter: char,
        places: &[Goes],
        columns: &[Option<ArrayRef>],
        row: usize,
        end: &str,
    ) -> Result<()> {
        let mut is_empty = true;
        for (at, (place, column)) in places.iter().zip(columns).enumerate() {
            let Some(column) = column.as_ref().filter(|column| column.is_valid(row) && *place != Goes::Id) else {
                continue;
            };
            if std::mem::take(&mut is_empty) {
                self.out.push('>');
            }
            let _ = write!(self.out, "<data key=\"{letter}{at}\">");
            value(&mut self.out, column, row, *place == Goes::Xml)?;
            self.out.push_str("</data>");
        }
        match is_empty {
            true => self.out.push_str("/>\n"),
            false => {
                let _ = writeln!(self.out, "</{end}>");
            }
        }
        self.flush(BLOCK)
    }

    fn write_nodes(&mut self, nodes: &NodeBatch) -> Result<()> {
        let keys = nodes.keys.as_ref().and_then(|keys| keys.as_string_opt::<i32>());
        let keys = keys.ok_or_else(|| Error::usage("node ids must be text"))?;
        let places = self.nodes.clone();
        for row in 0..nodes.rows {
            self.out.push_str("<node id=\"");
            escape(&mut self.out, keys.value(row), true)?;
            self.out.push('"');
            self.data('n', &places, &nodes.properties, row, "node")?;
        }
        Ok(())
    }

    fn write_edges(&mut self, edges: &EdgeBatch) -> Result<()> {
        let (sources, targets) = (texts(&edges.source)?, texts(&edges.target)?);
        let places = self.edges.clone();
        let ids = places.iter().position(|place| *place == Goes::Id).and_then(|at| edges.properties.get(at));
        let ids = ids.and_then(Option::as_ref).and_then(|ids| ids.as_string_opt::<i32>());
        let directed: Option<&BooleanArray> = edges.directed.as_ref().filter(|_| self.by_row);
        for row in 0..edges.rows {
            self.out.push_str("<edge source=\"");
            escape(&mut self.out, sources.value(row), true)?;
            self.out.push_str("\" target=\"");
            escape(&mut self.out, targets.value(row), true)?;
            self.out.push('"');
            if let Some(ids) = ids.filter(|ids| ids.is_valid(row)) {
                self.out.push_str(" id=\"");
                escape(&mut self.out, ids.value(row), true)?;
                self.out.push('"');
            }
            if directed.is_some_and(|directed| directed.is_valid(row) && !directed.value(row)) {
                self.out.push_str(" directed=\"false\"");
            }
            self.data('e', &places, &edges.properties, row, "edge")?;
        }
        Ok(())
    }
}

fn texts(ends: &Ends) -> Result<&StringArray> {
    match ends {
        Ends::Keys(keys) => keys.as_string_opt::<i32>().ok_or_else(|| Error::usage("node ids must be text")),
        Ends::Rows(_) => Err(Error::usage("ends must be keys")),
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

/// Appends a value that is not null.
fn value(out: &mut String, column: &ArrayRef, row: usize, as_xml: bool) -> Result<()> {
    match column.data_type() {
        DataType::Boolean => out.push_str(if column.as_boolean().value(row) { "true" } else { "false" }),
        DataType::Int32 => {
            let _ = write!(out, "{}", column.as_primitive::<Int32Type>().value(row));
        }
        DataType::Int64 => {
            let _ = write!(out, "{}", column.as_primitive::<Int64Type>().value(row));
        }
        DataType::Float64 => {
            let value = column.as_primitive::<Float64Type>().value(row);
            if value.is_finite() {
                let _ = write!(out, "{value:?}");
            } else {
                push_infinite(out, value);
            }
        }
        _ => {
            let text =
                column.as_string_opt::<i32>().ok_or_else(|| Error::usage("a column has another type than declared"))?;
            match as_xml && is_fragment(text.value(row)) {
                true => out.push_str(text.value(row)),
                false => escape(out, text.value(row), false)?,
            }
        }
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

impl Sink for GraphMlWriter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        vec![Delivery::Nodes(0), Delivery::EdgesAsTheyCome(0)]
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        match batch {
            Batch::Nodes(nodes) => self.write_nodes(&nodes),
            Batch::Edges(edges) => self.write_edges(&edges),
            _ => Err(Error::usage("GraphML is written as nodes and edges")),
        }
    }

    fn finish(mut self: Box<Self>) -> Result<Written> {
        self.out.push_str("</graph>\n</graphml>\n");
        self.flush(0)?;
        self.file.finish()?;
        let files = self.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}
