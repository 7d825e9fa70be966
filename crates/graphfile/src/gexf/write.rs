//! Writes GEXF 1.2, which NetworkX reads.

use isomorph_error::{Error, Result};
use isomorph_model::{Direction, Graph, Property, ValueKind, json};
use isomorph_records::xml::push_escaped;
use isomorph_records::{Cell, Cells, EdgeRow, Form, KeyCell};

use super::attributes::{Kind, default_values};
use super::{DEFAULT, DYNAMIC, OPTIONS, attribute_of};
use crate::OF_GRAPH;
use crate::capability::json_document;

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" xmlns:viz="http://www.gexf.net/1.2draft/viz" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.gexf.net/1.2draft http://www.gexf.net/1.2draft/gexf.xsd" version="1.2">
"#;

/// How a property is written.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Goes {
    /// As the value of a declared attribute.
    Value,
    /// As the values of a declared attribute, each with its time, except these, which are the default.
    Dynamic(Option<String>),
    /// As an attribute of the element.
    Attribute(String),
    /// As an element inside.
    Inside(String),
}

#[derive(Default)]
pub(crate) struct GexfForm {
    nodes: Vec<Goes>,
    edges: Vec<Goes>,
    directed: bool,
    inside: String,
    values: String,
}

fn place(property: &Property, all: &[Property], of_node: bool) -> Goes {
    let is_json = property.kind == ValueKind::Json;
    match attribute_of(property, all, of_node) {
        Some(name @ ("spells" | "viz")) if is_json => Goes::Inside(name.to_owned()),
        Some("spells" | "viz") => Goes::Value,
        Some(name) => Goes::Attribute(name.to_owned()),
        None if is_json && property.declared.contains_key(DYNAMIC) => Goes::Dynamic(default(property)),
        None => Goes::Value,
    }
}

/// Returns the values of elements that have only the default of a dynamic attribute. Elements without a value would have the default,
/// too: where there are any, none is declared.
fn default(property: &Property) -> Option<String> {
    let word = property.declared.get(DYNAMIC)?;
    let default = property.declared.get(DEFAULT).filter(|_| !property.nullable)?;
    default_values(Kind::of(word).0, default)
}

fn attribute(out: &mut String, name: &str, value: &str) -> Result<()> {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    push_escaped(out, value, true)?;
    out.push('"');
    Ok(())
}

/// Appends a value as text.
fn text(out: &mut String, cell: &Cell<'_>) -> Result<()> {
    match cell {
        Cell::Float(value) if value.is_infinite() => out.push_str(if *value > 0.0 { "INF" } else { "-INF" }),
        Cell::Text(text) | Cell::Json(text) => push_escaped(out, text, true)?,
        other => other.push_json(out)?,
    }
    Ok(())
}

/// Calls `each` with the members of a JSON object whose values are texts.
fn pairs(object: &str, mut each: impl FnMut(&str, &str) -> Result<()>) -> Result<()> {
    json::Members::default().read(object, |name, raw| match json::value(raw)? {
        json::Value::Text(text) => each(name, &text),
        _ => each(name, raw),
    })
}

impl GexfForm {
    fn declare(&self, out: &mut String, class: &str, properties: &[Property], places: &[Goes]) -> Result<()> {
        for mode in ["static", "dynamic"] {
            let is_wanted = |place: &Goes| match place {
                Goes::Value => mode == "static",
                Goes::Dynamic(_) => mode == "dynamic",
                Goes::Attribute(_) | Goes::Inside(_) => false,
            };
            let mut wanted =
                properties.iter().zip(places).enumerate().filter(|(_, (_, place))| is_wanted(place)).peekable();
            if wanted.peek().is_none() {
                continue;
            }
            out.push_str(&format!("<attributes class=\"{class}\" mode=\"{mode}\">\n"));
            for (at, (property, place)) in wanted {
                out.push_str(&format!("<attribute id=\"{at}\""));
                attribute(out, "title", &property.name)?;
                let word = property.declared.get(DYNAMIC).map(String::as_str);
                attribute(out, "type", word.unwrap_or_else(|| Kind::word(&property.data_type)))?;
                let default = property.declared.get(DEFAULT).filter(|_| matches!(place, Goes::Dynamic(Some(_))));
                let inside = [("default", default), ("options", property.declared.get(OPTIONS))];
                if inside.iter().all(|(_, text)| text.is_none()) {
                    out.push_str("/>\n");
                    continue;
                }
                out.push('>');
                for (name, text) in inside {
                    let Some(text) = text else { continue };
                    out.push_str(&format!("<{name}>"));
                    push_escaped(out, text, false)?;
                    out.push_str(&format!("</{name}>"));
                }
                out.push_str("</attribute>\n");
            }
            out.push_str("</attributes>\n");
        }
        Ok(())
    }

    /// Appends attributes of the element, and its content to `self.inside`.
    fn content(&mut self, out: &mut String, cells: Cells<'_>, of_node: bool) -> Result<()> {
        let places = if of_node { &self.nodes } else { &self.edges };
        let (inside, values) = (&mut self.inside, &mut self.values);
        inside.clear();
        values.clear();
        cells.each(|at, _, cell| {
            match places.get(at) {
                Some(Goes::Attribute(name)) => {
                    out.push(' ');
                    out.push_str(name);
                    out.push_str("=\"");
                    text(out, &cell)?;
                    out.push('"');
                }
                Some(Goes::Inside(name)) => {
                    if let Cell::Json(json) = cell {
                        element(inside, name, json)?;
                    }
                }
                Some(Goes::Dynamic(default)) => {
                    if let Cell::Json(json) = cell
                        && default.as_deref() != Some(json)
                    {
                        dynamic(values, at, json)?;
                    }
                }
                _ => {
                    values.push_str(&format!("<attvalue for=\"{at}\" value=\""));
                    text(values, &cell)?;
                    values.push_str("\"/>");
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    fn close(&self, out: &mut String, name: &str) {
        if self.inside.is_empty() && self.values.is_empty() {
            out.push_str("/>\n");
            return;
        }
        out.push('>');
        if !self.values.is_empty() {
            out.push_str("<attvalues>");
            out.push_str(&self.values);
            out.push_str("</attvalues>");
        }
        out.push_str(&self.inside);
        out.push_str(&format!("</{name}>\n"));
    }
}

/// Appends spells, or the elements of viz.
fn element(out: &mut String, name: &str, text: &str) -> Result<()> {
    if name == "spells" {
        out.push_str("<spells>");
        json::items(text, |spell| {
            out.push_str("<spell");
            pairs(spell, |name, value| attribute(out, name, value))?;
            out.push_str("/>");
            Ok(())
        })?;
        out.push_str("</spells>");
        return Ok(());
    }
    json::Members::default().read(text, |name, raw| {
        out.push_str("<viz:");
        out.push_str(name);
        pairs(raw, |name, value| attribute(out, name, value))?;
        out.push_str("/>");
        Ok(())
    })
}

/// Appends the values of a dynamic attribute.
fn dynamic(out: &mut String, at: usize, list: &str) -> Result<()> {
    json::items(list, |spell| {
        out.push_str(&format!("<attvalue for=\"{at}\""));
        let mut names = ["value", "start", "end"].into_iter();
        json::items(spell, |raw| {
            let Some(name) = names.next() else {
                return pairs(raw, |name, value| attribute(out, name, value));
            };
            match json::value(raw)? {
                json::Value::Null => Ok(()),
                json::Value::Text(text) => attribute(out, name, &text),
                json::Value::Float(value) if value.is_infinite() => {
                    attribute(out, name, if value > 0.0 { "INF" } else { "-INF" })
                }
                _ => attribute(out, name, raw.trim()),
            }
        })?;
        out.push_str("/>");
        Ok(())
    })
}

fn id(out: &mut String, name: &str, key: KeyCell<'_>) -> Result<()> {
    match key {
        KeyCell::Text(text) => attribute(out, name, text),
        KeyCell::Integer(value) => attribute(out, name, &value.to_string()),
        KeyCell::Row(row) => attribute(out, name, &row.to_string()),
    }
}

impl Form for GexfForm {
    fn begin(&mut self, out: &mut String, graph: &Graph) -> Result<()> {
        let ([node], [edge]) = (graph.nodes.as_slice(), graph.edges.as_slice()) else {
            return Err(Error::unsupported("GEXF has nodes and edges of one type"));
        };
        self.nodes = node.properties.iter().map(|own| place(own, &node.properties, true)).collect();
        self.edges = edge.properties.iter().map(|own| place(own, &edge.properties, false)).collect();
        self.directed = edge.direction != Direction::Undirected;
        out.push_str(HEAD);
        let document = graph.documents.iter().find_map(|document| json_document(document, &[OF_GRAPH]));
        let (mut head, mut meta) = (String::new(), String::new());
        pairs(document.unwrap_or("{}"), |name, value| {
            if name != "meta" {
                return attribute(&mut head, name, value);
            }
            let mut inside = String::new();
            let mut tag = String::new();
            pairs(value, |name, value| {
                if name == "lastmodifieddate" {
                    return attribute(&mut tag, name, value);
                }
                inside.push_str(&format!("<{name}>"));
                push_escaped(&mut inside, value, false)?;
                inside.push_str(&format!("</{name}>"));
                Ok(())
            })?;
            meta = format!("<meta{tag}>{inside}</meta>\n");
            Ok(())
        })?;
        out.push_str(&meta);
        let default = if self.directed { "directed" } else { "undirected" };
        out.push_str(&format!("<graph defaultedgetype=\"{default}\""));
        if !head.contains(" mode=") {
            out.push_str(" mode=\"static\"");
        }
        out.push_str(&head);
        if let Some(name) = &graph.name {
            attribute(out, "name", name)?;
        }
        out.push_str(">\n");
        self.declare(out, "node", &node.properties, &self.nodes)?;
        self.declare(out, "edge", &edge.properties, &self.edges)?;
        out.push_str("<nodes>\n");
        Ok(())
    }

    fn node(&mut self, out: &mut String, key: KeyCell<'_>, _row: u64, cells: Cells<'_>) -> Result<()> {
        out.push_str("<node");
        id(out, "id", key)?;
        self.content(out, cells, true)?;
        self.close(out, "node");
        Ok(())
    }

    fn between(&mut self, out: &mut String) -> Result<()> {
        out.push_str("</nodes>\n<edges>\n");
        Ok(())
    }

    fn edge(&mut self, out: &mut String, edge: EdgeRow<'_>) -> Result<()> {
        out.push_str("<edge");
        id(out, "source", edge.source)?;
        id(out, "target", edge.target)?;
        if let Some(directed) = edge.directed.filter(|directed| *directed != self.directed) {
            out.push_str(if directed { " type=\"directed\"" } else { " type=\"undirected\"" });
        }
        self.content(out, edge.cells, false)?;
        self.close(out, "edge");
        Ok(())
    }

    fn end(&mut self, out: &mut String) -> Result<()> {
        out.push_str("</edges>\n</graph>\n</gexf>\n");
        Ok(())
    }
}
