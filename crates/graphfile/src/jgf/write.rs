//! Writes version 2: nodes are members of an object.

use isomorph_error::Result;
use isomorph_model::{Direction, Graph, json};
use isomorph_records::{Cells, EdgeRow, Form, KeyCell};

use super::{OF_EDGES, OF_NODES, PREFIX};
use crate::OF_GRAPH;
use crate::capability::json_document;

#[derive(Default)]
pub(crate) struct JgfForm {
    directed: bool,
    has_begun: bool,
}

impl JgfForm {
    fn begin_record(&mut self, out: &mut String) {
        out.push_str(if std::mem::replace(&mut self.has_begun, true) { ",\n" } else { "\n" });
    }
}

/// Appends members, each after a comma but the first: those of the format, then the metadata.
fn push_members(out: &mut String, cells: Cells<'_>, own: &[&str], mut is_first: bool) -> Result<()> {
    let mut metadata = String::new();
    cells.each(|_, property, cell| {
        let is_own = own.contains(&property.name.as_str());
        let (to, name) = match is_own {
            true => (&mut *out, property.name.as_str()),
            false => (&mut metadata, property.name.strip_prefix(PREFIX).unwrap_or(&property.name)),
        };
        let is_next = if is_own { !std::mem::take(&mut is_first) } else { !to.is_empty() };
        if is_next {
            to.push_str(", ");
        }
        json::push_string(to, name);
        to.push_str(": ");
        cell.push_json(to)
    })?;
    if !metadata.is_empty() {
        out.push_str(if is_first { "\"metadata\": {" } else { ", \"metadata\": {" });
        out.push_str(&metadata);
        out.push('}');
    }
    Ok(())
}

impl Form for JgfForm {
    fn begin(&mut self, out: &mut String, graph: &Graph) -> Result<()> {
        self.directed = graph.edges.iter().all(|ty| ty.direction != Direction::Undirected);
        out.push_str(&format!("{{\"graph\": {{\"directed\": {}", self.directed));
        if let Some(name) = &graph.name {
            out.push_str(", \"label\": ");
            json::push_string(out, name);
        }
        let document = graph.documents.iter().find_map(|document| json_document(document, &[OF_GRAPH]));
        json::Members::default().read(document.unwrap_or("{}"), |name, raw| {
            out.push_str(", ");
            json::push_string(out, name);
            out.push_str(": ");
            out.push_str(raw);
            Ok(())
        })?;
        out.push_str(",\n\"nodes\": {");
        Ok(())
    }

    fn node(&mut self, out: &mut String, key: KeyCell<'_>, _row: u64, cells: Cells<'_>) -> Result<()> {
        self.begin_record(out);
        match key {
            KeyCell::Text(text) => json::push_string(out, text),
            KeyCell::Integer(value) => json::push_string(out, &value.to_string()),
            KeyCell::Row(row) => json::push_string(out, &row.to_string()),
        }
        out.push_str(": {");
        push_members(out, cells, OF_NODES, true)?;
        out.push('}');
        Ok(())
    }

    fn between(&mut self, out: &mut String) -> Result<()> {
        out.push_str("\n},\n\"edges\": [");
        self.has_begun = false;
        Ok(())
    }

    fn edge(&mut self, out: &mut String, edge: EdgeRow<'_>) -> Result<()> {
        self.begin_record(out);
        out.push_str("{\"source\": ");
        edge.source.push_json(out);
        out.push_str(", \"target\": ");
        edge.target.push_json(out);
        if let Some(directed) = edge.directed.filter(|directed| *directed != self.directed) {
            out.push_str(&format!(", \"directed\": {directed}"));
        }
        push_members(out, edge.cells, OF_EDGES, false)?;
        out.push('}');
        Ok(())
    }

    fn end(&mut self, out: &mut String) -> Result<()> {
        out.push_str("\n]\n}}\n");
        Ok(())
    }
}
