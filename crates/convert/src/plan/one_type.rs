//! The lines of a plan about types that become one.

use isomorph_model::{Direction, KeyKind, LabelVocabulary, Property, Tables};

use crate::mapping::{Fusing, Fusion, properties_of};
use crate::plan::lines::{key_text, push_names};
use crate::plan::{Plan, counted, edge_text};

impl Plan {
    /// Adds a line for each type, and the entries for the sidecar.
    pub(super) fn describe_fusion(&mut self, record: &Fusion) {
        let (typed, fused) = (&record.typed, &record.fused);
        let (of_nodes, of_edges) = (properties_of(fused, Tables::Nodes(0)), properties_of(fused, Tables::Edges(0)));
        let name = |properties: &[Property], at: Option<usize>| Some(properties.get(at?)?.name.clone());
        for (ty, own) in typed.nodes.iter().zip(&record.nodes) {
            let key = key_text(&ty.key);
            let id = if record.fusing == Fusing::Annnet { "node_id" } else { "id" };
            let mut text = format!("nodes, {id} = {}{key}", own.prefix);
            if let Some(attribute) = name(of_nodes, record.node_type) {
                text.push_str(&format!(", {attribute} = {}", ty.name));
            }
            push_names(&mut text, ", ", own.properties.iter().filter_map(|at| of_nodes.get(*at)));
            if ty.labels != LabelVocabulary::None
                && let Some(attribute) = name(of_nodes, record.labels)
            {
                text.push_str(&format!(", {attribute} = the labels"));
            }
            self.line(&ty.name, text);
        }
        for (ty, own) in typed.edges.iter().zip(&record.edges) {
            let mut text = "edges".to_owned();
            if let (Some(attribute), Some(relation)) = (name(of_edges, record.relation), ty.relation.fixed()) {
                text.push_str(&format!(", {attribute} = {relation}"));
            }
            if ty.direction == Direction::Undirected {
                text.push_str(", directed = false");
            }
            push_names(&mut text, ", ", own.iter().filter_map(|at| of_edges.get(*at)));
            self.line(edge_text(typed, ty), text);
        }
        if !typed.edges.is_empty() && record.fusing == Fusing::Annnet {
            let relation = if record.relation.is_some() { "relation:" } else { "" };
            self.line("edge_id", format!("{relation}source>target, further parallel edges ~2, ~3, …"));
        }
        let keys = typed.nodes.iter().filter(|ty| ty.key.kind != KeyKind::Utf8).count();
        let keys = (keys > 0).then(|| format!("{} whose keys are not text", counted(keys, "node type")));
        self.carry_schema(typed, "", keys);
    }
}
