//! Writes GML as NetworkX and igraph read it.

use arrow_array::Array;
use isomorph_error::{Error, Place, Result, Rule};
use isomorph_model::{Direction, Graph, json};
use isomorph_records::{Cell, Cells, EdgeRow, Form, KeyCell};

use super::{LIST_START, MULTIGRAPH, is_key};
use crate::OF_GRAPH;
use crate::capability::json_document;

pub(crate) struct GmlForm {
    has_text_keys: bool,
}

impl GmlForm {
    pub fn new(has_text_keys: bool) -> GmlForm {
        GmlForm { has_text_keys }
    }
}

/// Appends text in quotation marks: ASCII, with numbers of all other characters.
fn push_text(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            // igraph knows these by name alone.
            '"' => out.push_str("&quot;"),
            '&' => out.push_str("&amp;"),
            // NetworkX joins the lines of a text with blanks.
            ' '..='~' | '\t' => out.push(character),
            other => out.push_str(&format!("&#{};", u32::from(other))),
        }
    }
    out.push('"');
}

fn push_float(out: &mut String, value: f64) {
    if value.is_finite() {
        let text = format!("{value:?}");
        // GML has digits on both sides of a point, also before an exponent.
        match text.split_once('e') {
            Some((mantissa, exponent)) if !mantissa.contains('.') => out.push_str(&format!("{mantissa}.0E{exponent}")),
            Some((mantissa, exponent)) => out.push_str(&format!("{mantissa}E{exponent}")),
            None => out.push_str(&text),
        }
    } else {
        out.push_str(match (value.is_nan(), value > 0.0) {
            (true, _) => "NAN",
            (_, true) => "+INF",
            _ => "-INF",
        });
    }
}

fn push_cells(out: &mut String, cells: Cells<'_>) -> Result<()> {
    cells.each(|_, property, cell| {
        if let Cell::List(items) = &cell {
            // A key that occurs several times has a list of values.
            if items.len() == 1 {
                push_pair(out, &property.name, &Cell::Text(LIST_START))?;
            }
            for row in 0..items.len() {
                if let Some(item) = Cell::of(items, row, false)? {
                    push_pair(out, &property.name, &item)?;
                }
            }
            return Ok(());
        }
        push_pair(out, &property.name, &cell)
    })
}

fn push_pair(out: &mut String, name: &str, cell: &Cell<'_>) -> Result<()> {
    out.push_str("    ");
    out.push_str(name);
    out.push(' ');
    match cell {
        Cell::Integer(value) => out.push_str(&value.to_string()),
        Cell::Float(value) => push_float(out, *value),
        Cell::Text(text) => push_text(out, text),
        Cell::Json(text) => match list(text)? {
            Some(list) => out.push_str(&list),
            None => push_text(out, text),
        },
        Cell::Bool(_) | Cell::List(_) => return Err(Error::usage("a column has another type than declared")),
    }
    out.push('\n');
    Ok(())
}

fn number(key: KeyCell<'_>) -> Result<String> {
    match key {
        KeyCell::Integer(value) => Ok(value.to_string()),
        KeyCell::Row(row) => Ok(row.to_string()),
        KeyCell::Text(_) => Err(Error::usage("edges of GML end in integers")),
    }
}

impl Form for GmlForm {
    fn begin(&mut self, out: &mut String, graph: &Graph) -> Result<()> {
        let properties =
            graph.nodes.iter().flat_map(|ty| &ty.properties).chain(graph.edges.iter().flat_map(|ty| &ty.properties));
        for property in properties {
            if !is_key(&property.name) {
                return Err(Error::unsupported("GML cannot store this name").at(Place::field(property.name.clone())));
            }
        }
        let directed = graph.edges.iter().all(|ty| ty.direction != Direction::Undirected);
        let multigraph = graph.metadata.get(MULTIGRAPH).is_none_or(|word| word != "false");
        out.push_str("graph [\n");
        if directed {
            out.push_str("  directed 1\n");
        }
        if multigraph {
            out.push_str("  multigraph 1\n");
        }
        if let Some(name) = &graph.name {
            out.push_str("  name ");
            push_text(out, name);
            out.push('\n');
        }
        let document = graph.documents.iter().find_map(|document| json_document(document, &[OF_GRAPH]));
        json::Members::default().read(document.unwrap_or("{}"), |name, raw| {
            if !is_key(name) {
                return Err(Error::unsupported("GML cannot store this name").at(Place::field(name)));
            }
            out.push_str("  ");
            out.push_str(name);
            out.push(' ');
            match json::value(raw)? {
                json::Value::Integer(value) => out.push_str(&value.to_string()),
                json::Value::Float(value) => push_float(out, value),
                json::Value::Text(text) => push_text(out, &text),
                _ => match list(raw)? {
                    Some(list) => out.push_str(&list),
                    None => push_text(out, raw),
                },
            }
            out.push('\n');
            Ok(())
        })
    }

    fn node(&mut self, out: &mut String, key: KeyCell<'_>, row: u64, cells: Cells<'_>) -> Result<()> {
        out.push_str("  node [\n    id ");
        match key {
            KeyCell::Text(text) => {
                out.push_str(&row.to_string());
                out.push_str("\n    label ");
                push_text(out, text);
            }
            other => out.push_str(&number(other)?),
        }
        out.push('\n');
        push_cells(out, cells)?;
        out.push_str("  ]\n");
        Ok(())
    }

    fn key_rules(&self) -> Option<(&'static Rule, &'static Rule)> {
        Some((&super::rules::ID, &super::rules::END))
    }

    fn between(&mut self, _out: &mut String) -> Result<()> {
        Ok(())
    }

    fn edge(&mut self, out: &mut String, edge: EdgeRow<'_>) -> Result<()> {
        let (source, target) = (number(edge.source)?, number(edge.target)?);
        out.push_str(&format!("  edge [\n    source {source}\n    target {target}\n"));
        push_cells(out, edge.cells)?;
        out.push_str("  ]\n");
        Ok(())
    }

    fn end(&mut self, out: &mut String) -> Result<()> {
        out.push_str("]\n");
        Ok(())
    }

    fn wants_rows(&self) -> bool {
        self.has_text_keys
    }
}

/// Returns a JSON object as a list of pairs; `None` if it is none, or has something that such a list cannot store.
fn list(text: &str) -> Result<Option<String>> {
    let json::Value::Object(object) = json::value(text)? else { return Ok(None) };
    let (mut out, mut fits) = (String::from("[ "), true);
    json::Members::default().read(object, |name, raw| {
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic());
        fits &= begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let mut values = Vec::new();
        match json::value(raw)? {
            json::Value::Array(items) => {
                json::items(items, |item| {
                    values.push(item);
                    Ok(())
                })?;
                fits &= !values.is_empty();
                if values.len() == 1 {
                    out.push_str(&format!("{name} \"{LIST_START}\" "));
                }
            }
            _ => values.push(raw),
        }
        for value in values {
            out.push_str(name);
            out.push(' ');
            match json::value(value)? {
                json::Value::Text(text) => push_text(&mut out, &text),
                json::Value::Float(value) => push_float(&mut out, value),
                json::Value::Integer(value) => out.push_str(&value.to_string()),
                json::Value::Object(object) => match list(object)? {
                    Some(inner) => out.push_str(&inner),
                    None => fits = false,
                },
                _ => fits = false,
            }
            out.push(' ');
        }
        Ok(())
    })?;
    out.push(']');
    Ok(fits.then_some(out))
}
