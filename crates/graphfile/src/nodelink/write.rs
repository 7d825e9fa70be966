//! Writes a record in each line.

use isomorph_error::Result;
use isomorph_model::{Direction, Graph, json};
use isomorph_records::{Cells, EdgeRow, Form, KeyCell};

use super::{MEMBERS, MULTIGRAPH, Vocabulary, edges_member};
use crate::OF_GRAPH;
use crate::capability::json_document;

/// Writes a list of nodes and a list of edges.
pub(crate) struct PairsForm {
    vocabulary: Vocabulary,
    edges: &'static str,
    is_first: bool,
}

impl PairsForm {
    pub fn new(vocabulary: Vocabulary) -> PairsForm {
        PairsForm { vocabulary, edges: "edges", is_first: true }
    }

    fn begin_record(&mut self, out: &mut String) {
        out.push_str(if std::mem::take(&mut self.is_first) { "\n{" } else { ",\n{" });
    }
}

/// Appends members, each after a comma.
pub(crate) fn push_members(out: &mut String, cells: Cells<'_>) -> Result<()> {
    cells.each(|_, property, cell| {
        out.push_str(", ");
        json::push_string(out, &property.name);
        out.push_str(": ");
        cell.push_json(out)
    })
}

impl Form for PairsForm {
    fn begin(&mut self, out: &mut String, graph: &Graph) -> Result<()> {
        self.edges = edges_member(graph, self.vocabulary);
        out.push('{');
        let document = |name: &str| graph.documents.iter().find_map(|document| json_document(document, &[name]));
        if self.vocabulary.has_head {
            let directed = graph.edges.iter().all(|ty| ty.direction != Direction::Undirected);
            let multigraph = graph.metadata.get(MULTIGRAPH).is_none_or(|word| word != "false");
            let of_graph = document(OF_GRAPH).unwrap_or("{}").replace(['\n', '\r'], " ");
            out.push_str(&format!("\"directed\": {directed}, \"multigraph\": {multigraph}, \"graph\": {of_graph},\n"));
        }
        if let Some(members) = document(MEMBERS) {
            json::Members::default().read(members, |name, raw| {
                json::push_string(out, name);
                out.push_str(": ");
                out.push_str(raw);
                out.push_str(",\n");
                Ok(())
            })?;
        }
        out.push_str("\"nodes\": [");
        Ok(())
    }

    fn node(&mut self, out: &mut String, key: KeyCell<'_>, _row: u64, cells: Cells<'_>) -> Result<()> {
        self.begin_record(out);
        out.push_str("\"id\": ");
        key.push_json(out);
        push_members(out, cells)?;
        out.push('}');
        Ok(())
    }

    fn between(&mut self, out: &mut String) -> Result<()> {
        out.push_str("\n],\n\"");
        out.push_str(self.edges);
        out.push_str("\": [");
        self.is_first = true;
        Ok(())
    }

    fn edge(&mut self, out: &mut String, edge: EdgeRow<'_>) -> Result<()> {
        self.begin_record(out);
        out.push_str(&format!("\"{}\": ", self.vocabulary.source));
        edge.source.push_json(out);
        out.push_str(&format!(", \"{}\": ", self.vocabulary.target));
        edge.target.push_json(out);
        push_members(out, edge.cells)?;
        out.push('}');
        Ok(())
    }

    fn end(&mut self, out: &mut String) -> Result<()> {
        out.push_str("\n]\n}\n");
        Ok(())
    }
}
