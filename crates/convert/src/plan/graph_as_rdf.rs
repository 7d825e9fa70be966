//! Plans the conversion of property graphs to triples.

use isomorph_error::{Place, Result};
use isomorph_model::faces::push_encoded;
use isomorph_model::{Direction, EdgeType, Graph, KeyKind, Property, ValueKind};
use isomorph_rdf::Syntax;
use isomorph_storage::Location;

use crate::mapping::{Fitting, Lifting, Step};
use crate::options::ConvertOptions;
use crate::plan::{Plan, counted, edge_text};

impl Plan {
    /// Plans to write nodes and edges as triples.
    ///
    /// # Errors
    /// If the graph has something that cannot be written as triples, or the base is not an IRI.
    pub(crate) fn lift(&mut self, graph: &Graph, destination: &Location, options: &ConvertOptions) -> Result<()> {
        let syntax = self.to.syntax(destination, &options.write)?;
        // Typed graphs were fitted before; bundled graphs were not.
        let fitted = Fitting::of(graph, &self.to.allowed())?;
        let graph = fitted.as_ref().map_or(graph, |record| &record.fitted);
        let mut record = Lifting::of(graph, options.base.as_deref())?;
        if let Some(syntax) = syntax {
            check(&record, syntax)?;
            self.line("everything", format!("one text of {syntax}"));
            record.statements = !syntax.has_triple_terms() && !graph.edges.is_empty();
            if record.statements {
                let what = format!("statements (rdf:subject, rdf:predicate, rdf:object): {syntax} has no triple terms");
                self.line("reifiers", what);
            }
        }
        self.describe_lifting(&record);
        match syntax {
            Some(_) => self.sorts.push("edges by their ends".to_owned()),
            None => self.sorts.extend(["triples by subject", "triples by object"].map(str::to_owned)),
        }
        self.target = record.graph.clone();
        self.mapping.steps.extend(fitted.map(|record| Step::Fit(Box::new(record))));
        self.mapping.steps.push(Step::Lift(Box::new(record)));
        Ok(())
    }

    fn describe_lifting(&mut self, record: &Lifting) {
        let Lifting { graph, base, .. } = record;
        for ty in &graph.nodes {
            let key = match (ty.key.kind, &ty.key.name) {
                (KeyKind::Row, _) => "row",
                (_, Some(name)) => name,
                (_, None) => "key",
            };
            let text = format!("resources {base}{}/{key}{}", ty.name, literals(&ty.properties));
            self.line(&ty.name, text);
        }
        for ty in &graph.edges {
            let relation = ty.relation.fixed().unwrap_or("relation");
            let reified = if has_reifiers(ty) { ", with reifiers" } else { "" };
            let text = format!("triples {base}{relation}{reified}{}", literals(&ty.properties));
            self.line(edge_text(graph, ty), text);
        }
        let (nodes, edges) = (counted(graph.nodes.len(), "node type"), counted(graph.edges.len(), "edge type"));
        self.carried.push(format!("schema of {nodes} and {edges}"));
        self.carried.extend(graph.documents.iter().map(|document| format!("document {}", document.name)));
        if let Some(name) = &graph.name {
            self.carried.push(format!("the graph's name, {name}"));
        }
    }
}

/// Whether edges of a type have more than a triple can state: then each has a reifier.
fn has_reifiers(ty: &EdgeType) -> bool {
    !ty.properties.is_empty() || ty.key.is_some() || ty.direction != Direction::Directed
}

/// Refuses what the syntax cannot represent, as far as the graph is known in advance: its types, properties and
/// relations. Parallel edges, and names that only rows contain, are checked during writing.
fn check(record: &Lifting, syntax: Syntax) -> Result<()> {
    let of_edges = record.graph.edges.iter().flat_map(|ty| {
        let properties = ty.properties.iter().filter(|property| property.kind != ValueKind::Bag);
        ty.relation.fixed().into_iter().chain(properties.map(|property| property.name.as_str()))
    });
    let of_nodes = record.graph.nodes.iter().flat_map(|ty| &ty.properties);
    let of_nodes = of_nodes.filter(|property| property.kind != ValueKind::Bag).map(|property| property.name.as_str());
    for name in of_nodes.chain(of_edges) {
        let mut predicate = record.base.clone();
        push_encoded(&mut predicate, name);
        syntax.check_predicate(&predicate).map_err(|error| {
            error.hint("--base http://example.org/x_    then names start with a letter").at(Place::field(name))
        })?;
    }
    Ok(())
}

fn literals(properties: &[Property]) -> String {
    let names: Vec<&str> = properties.iter().map(|property| property.name.as_str()).collect();
    if names.is_empty() { String::new() } else { format!(", literals {}", names.join(" ")) }
}
