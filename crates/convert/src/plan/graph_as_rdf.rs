//! Plans the conversion of property graphs to triples.

use isomorph_error::{Error, Place, Result};
use isomorph_model::faces::{POSITION, push_encoded};
use isomorph_model::{Direction, EdgeType, Graph, KeyKind, LabelVocabulary, ValueKind};
use isomorph_rdf::Syntax;
use isomorph_storage::Location;

use crate::mapping::{EdgeProperties, Fitting, Lifting, Step};
use crate::plan::lines::{key_text, push_names};
use crate::plan::planner::Planner;
use crate::plan::{Plan, PlanLine, edge_text};

/// What precedes the names of properties in a plan.
const LITERALS: &str = ", literals ";

impl Planner<'_> {
    /// Plans to write nodes and edges as triples.
    ///
    /// # Errors
    /// If the graph has something that cannot be written as triples, or the base is not an IRI.
    pub fn lift(&mut self, graph: &Graph) -> Result<()> {
        let (options, to) = (self.options, self.plan.to);
        let syntax = to.syntax(self.destination, &options.write)?;
        // Typed graphs were fitted before; bundled graphs were not.
        let fitted = Fitting::of(graph, &to.allowed(), self.plan.large_keys)?;
        let graph = fitted.as_ref().map_or(graph, |record| &record.fitted);
        let mut record = Lifting::of(graph, options.base.as_deref())?;
        if let Some(syntax) = syntax {
            record.iri_map.clone_from(&options.iri_map);
            record.vocabulary()?;
            check(&record, syntax)?;
            self.plan.line("everything", format!("one text of {syntax}"));
            self.describe_edges(&mut record, syntax)?;
        } else if options.iri_map.is_some() {
            return Err(Error::usage(format!("--iri-map applies to RDF text; the output format is {to}")));
        } else if options.rdf_1_1.is_some() {
            return Err(Error::usage(format!("--rdf applies to RDF text; the output format is {to}")));
        }
        match syntax {
            Some(_) => self.plan.sorts.push("edges by their ends".to_owned()),
            None => self.plan.sorts.extend(["triples by subject", "triples by object"].map(str::to_owned)),
        }
        self.plan.target = record.graph.clone();
        self.plan.mapping.steps.extend(fitted.map(|record| Step::Fit(Box::new(record))));
        self.plan.then(Step::Lift(Box::new(record)));
        Ok(())
    }

    /// Plans how properties of edges are written, and says which version of RDF the text will be.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::WouldLose`] if edges are to be named graphs, which the syntax does not have.
    fn describe_edges(&mut self, record: &mut Lifting, syntax: Syntax) -> Result<()> {
        let (options, plan) = (self.options, &mut self.plan);
        let has_edges = !record.graph.edges.is_empty();
        let reified = record.graph.edges.iter().any(has_reifiers);
        let which = if reified { "of edges with properties" } else { "of parallel edges, if there are any" };
        let Some(form) = options.rdf_1_1 else {
            if has_edges && syntax.has_triple_terms() {
                let other = format!(
                    "isomorph convert {} {} --rdf 1.1",
                    shown_name(&self.opened.location),
                    shown_name(self.destination)
                );
                plan.line("RDF 1.2", format!("reifiers {which} (triple terms); for readers of RDF 1.1: {other}"));
            } else if has_edges {
                record.write_as(EdgeProperties::Reification);
                let what = EdgeProperties::Reification.described();
                plan.line("reifiers", format!("{what}: {syntax} has no triple terms"));
            }
            return Ok(());
        };
        if has_edges {
            if form == EdgeProperties::NamedGraph {
                syntax.check_graphs().map_err(|error| error.hint("--edge-properties reification|singleton|drop"))?;
            }
            record.write_as(form);
            plan.line("RDF 1.1", format!("instead of reifiers {which}: {}", form.described()));
        }
        if options.loses() {
            plan.lose_helpers(&record.graph, form);
        } else if record.graph.nodes.iter().any(|ty| ty.ordered && ty.key.kind != KeyKind::Row) {
            plan.line("positions of nodes", format!("triples {POSITION}; --lossy drops them"));
        }
        Ok(())
    }
}

impl Plan {
    /// Lists what is lost without the triples that only isomorph reads.
    fn lose_helpers(&mut self, graph: &Graph, form: EdgeProperties) {
        let mut lose = |subject: String, becomes: &str| {
            self.losses.push(PlanLine { subject, becomes: becomes.to_owned() });
        };
        for ty in &graph.nodes {
            if ty.ordered && ty.key.kind != KeyKind::Row {
                lose(format!("order of {}", ty.name), "dropped");
            }
            let of_types = match &ty.labels {
                LabelVocabulary::None => false,
                LabelVocabulary::Declared(labels) => labels.iter().any(|label| graph.node_type(label).is_some()),
                LabelVocabulary::Open => true,
            };
            if of_types {
                lose(format!("labels of {} with the name of a type", ty.name), "dropped");
            }
        }
        for ty in &graph.edges {
            let name = edge_text(graph, ty);
            if ty.direction != Direction::Directed {
                lose(format!("missing directions of {name}"), "dropped");
            }
            let names = ty.properties.iter().map(|property| property.name.as_str()).collect::<Vec<_>>();
            if form == EdgeProperties::Drop && !names.is_empty() {
                lose(format!("properties {} of {name}", names.join(" ")), "dropped");
            }
            let without = if form == EdgeProperties::Drop { "" } else { " without properties" };
            lose(format!("parallel edges of {name}{without}"), "one triple");
        }
    }

    pub(super) fn describe_lifting(&mut self, record: &Lifting) {
        let Lifting { graph, base, .. } = record;
        let map = record.iri_map.clone().unwrap_or_default();
        for ty in &graph.nodes {
            let key = key_text(&ty.key);
            let start = map.keys.get(&ty.name).cloned().unwrap_or_else(|| format!("{base}{}/", ty.name));
            let mut text = format!("resources {start}{key}");
            push_names(&mut text, LITERALS, &ty.properties);
            self.line(&ty.name, text);
        }
        for ty in &graph.edges {
            let relation = ty.relation.fixed().unwrap_or("relation");
            let reified = match record.edge_form() {
                Some(EdgeProperties::Drop) => "",
                _ if has_reifiers(ty) => ", with reifiers",
                _ => "",
            };
            let predicate = map.relations.get(relation).cloned().unwrap_or_else(|| format!("{base}{relation}"));
            let mut text = format!("triples {predicate}{reified}");
            push_names(&mut text, LITERALS, &ty.properties);
            self.line(edge_text(graph, ty), text);
        }
        for (table, name) in map.unused(graph) {
            self.line(format!("--iri-map {table}"), format!("nothing is called {name}"));
        }
        self.carry_schema(graph, "", None);
    }
}

/// The name of a file in a command that is printed.
fn shown_name(place: &Location) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
    match place.file_name() {
        name if name.bytes().all(plain) => name.to_owned(),
        name => format!("'{}'", name.replace('\'', r"'\''")),
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
