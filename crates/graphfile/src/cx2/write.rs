//! Writes CX2 as its specification says.

use isomorph_error::{Result, Rule};
use isomorph_model::{Graph, Property, ValueKind, json};
use isomorph_records::{Cell, Cells, EdgeRow, Form, KeyCell};

use super::{ASPECTS, COORDINATES, EDGE_ID, NAME, SHARED_NAME, word};
use crate::OF_GRAPH;
use crate::capability::json_document;

pub(crate) struct Cx2Form {
    has_text_keys: bool,
    /// Whether no property is the name that is shown: then the key is.
    shows_keys: bool,
    /// Whether a property has the ids of edges; otherwise they are numbered.
    has_edge_ids: bool,
    has_begun: bool,
    aspects: Option<String>,
}

impl Cx2Form {
    pub fn new(has_text_keys: bool) -> Cx2Form {
        Cx2Form { has_text_keys, shows_keys: false, has_edge_ids: false, has_begun: false, aspects: None }
    }

    fn begin_record(&mut self, out: &mut String) {
        out.push_str(if std::mem::replace(&mut self.has_begun, true) { ",\n" } else { "\n" });
    }
}

/// Returns the member of a record that a property is, if it is not an attribute.
fn member_of(property: &Property, of_node: bool) -> Option<&'static str> {
    match of_node {
        true => COORDINATES.iter().find(|(_, own)| *own == property.name).map(|(member, _)| *member),
        false => (property.name == EDGE_ID).then_some("id"),
    }
}

fn declare(out: &mut String, names: &[(&str, String)]) {
    out.push('{');
    for (at, (name, word)) in names.iter().enumerate() {
        out.push_str(if at > 0 { ", " } else { "" });
        json::push_string(out, name);
        out.push_str(&format!(": {{\"d\": \"{word}\"}}"));
    }
    out.push('}');
}

/// Appends members of a record, and then its attributes; `values` are those that are added.
fn push_members(out: &mut String, cells: Cells<'_>, of_node: bool, mut values: String) -> Result<()> {
    cells.each(|_, property, cell| {
        let to = match member_of(property, of_node) {
            Some(member) => {
                out.push_str(&format!(", \"{member}\": "));
                &mut *out
            }
            None => {
                values.push_str(if values.is_empty() { "" } else { ", " });
                json::push_string(&mut values, &property.name);
                values.push_str(": ");
                &mut values
            }
        };
        match cell {
            // JSON is a text: attributes have one type.
            Cell::Json(text) => json::push_string(to, text),
            other => other.push_json(to)?,
        }
        Ok(())
    })?;
    out.push_str(", \"v\": {");
    out.push_str(&values);
    out.push_str("}}");
    Ok(())
}

/// Returns the type of a value of the network.
fn type_of(raw: &str) -> Result<&'static str> {
    Ok(match json::value(raw)? {
        json::Value::Bool(_) => "boolean",
        json::Value::Integer(_) => "long",
        json::Value::Float(_) => "double",
        json::Value::Array(_) => "list_of_string",
        _ => "string",
    })
}

impl Form for Cx2Form {
    fn begin(&mut self, out: &mut String, graph: &Graph) -> Result<()> {
        let document = |name: &str| graph.documents.iter().find_map(|document| json_document(document, &[name]));
        let nodes = graph.nodes.iter().flat_map(|ty| &ty.properties);
        let mut of_nodes: Vec<(&str, String)> = nodes
            .filter(|own| member_of(own, true).is_none())
            .map(|own| {
                (
                    own.name.as_str(),
                    if own.kind == ValueKind::Plain { word(&own.data_type) } else { "string".to_owned() },
                )
            })
            .collect();
        self.shows_keys = self.has_text_keys && !of_nodes.iter().any(|(name, _)| *name == NAME);
        if self.has_text_keys {
            of_nodes.push((SHARED_NAME, "string".to_owned()));
        }
        if self.shows_keys {
            of_nodes.push((NAME, "string".to_owned()));
        }
        let edges = graph.edges.iter().flat_map(|ty| &ty.properties);
        self.has_edge_ids = edges.clone().any(|own| own.name == EDGE_ID);
        let of_edges: Vec<(&str, String)> = edges
            .filter(|own| member_of(own, false).is_none())
            .map(|own| {
                (
                    own.name.as_str(),
                    if own.kind == ValueKind::Plain { word(&own.data_type) } else { "string".to_owned() },
                )
            })
            .collect();
        let mut network = document(OF_GRAPH).map(str::to_owned);
        if network.is_none() {
            network = graph.name.as_ref().map(|name| {
                let mut own = String::from("{\"name\": ");
                json::push_string(&mut own, name);
                own.push('}');
                own
            });
        }
        let mut of_network: Vec<(String, &'static str)> = Vec::new();
        json::Members::default().read(network.as_deref().unwrap_or("{}"), |name, raw| {
            of_network.push((name.to_owned(), type_of(raw)?));
            Ok(())
        })?;
        let of_network: Vec<(&str, String)> =
            of_network.iter().map(|(name, word)| (name.as_str(), (*word).to_owned())).collect();
        out.push_str("[{\"CXVersion\": \"2.0\", \"hasFragments\": false},\n{\"metaData\": [");
        out.push_str("{\"name\": \"attributeDeclarations\"}, {\"name\": \"nodes\"}, {\"name\": \"edges\"}]},\n");
        out.push_str("{\"attributeDeclarations\": [{\"networkAttributes\": ");
        declare(out, &of_network);
        out.push_str(", \"nodes\": ");
        declare(out, &of_nodes);
        out.push_str(", \"edges\": ");
        declare(out, &of_edges);
        out.push_str("}]},\n");
        if let Some(network) = network {
            out.push_str(&format!("{{\"networkAttributes\": [{network}]}},\n"));
        }
        self.aspects = document(ASPECTS).map(str::to_owned);
        out.push_str("{\"nodes\": [");
        Ok(())
    }

    fn node(&mut self, out: &mut String, key: KeyCell<'_>, row: u64, cells: Cells<'_>) -> Result<()> {
        self.begin_record(out);
        let mut values = String::new();
        out.push_str("{\"id\": ");
        match key {
            KeyCell::Text(text) => {
                out.push_str(&row.to_string());
                values.push_str("\"shared name\": ");
                json::push_string(&mut values, text);
                if self.shows_keys {
                    values.push_str(", \"name\": ");
                    json::push_string(&mut values, text);
                }
            }
            other => other.push_json(out),
        }
        push_members(out, cells, true, values)
    }

    fn key_rules(&self) -> Option<(&'static Rule, &'static Rule)> {
        Some((&super::rules::ID, &super::rules::END))
    }

    fn between(&mut self, out: &mut String) -> Result<()> {
        out.push_str("\n]},\n{\"edges\": [");
        self.has_begun = false;
        Ok(())
    }

    fn edge(&mut self, out: &mut String, edge: EdgeRow<'_>) -> Result<()> {
        self.begin_record(out);
        out.push('{');
        if !self.has_edge_ids {
            out.push_str(&format!("\"id\": {}, ", edge.number));
        }
        out.push_str("\"s\": ");
        edge.source.push_json(out);
        out.push_str(", \"t\": ");
        edge.target.push_json(out);
        push_members(out, edge.cells, false, String::new())
    }

    fn end(&mut self, out: &mut String) -> Result<()> {
        out.push_str("\n]}");
        if let Some(aspects) = &self.aspects {
            json::items(aspects, |aspect| {
                out.push_str(",\n");
                out.push_str(aspect);
                Ok(())
            })?;
        }
        out.push_str(",\n{\"status\": [{\"success\": true, \"error\": \"\"}]}]\n");
        Ok(())
    }

    fn wants_rows(&self) -> bool {
        self.has_text_keys
    }
}
