//! Plans the conversion of names and types that the target does not have.

use isomorph_error::Result;
use isomorph_model::type_name::type_name;
use isomorph_model::{Graph, Property, ValueKind};

use crate::mapping::{Allowed, Fitting, Step};
use crate::plan::{Plan, counted, edge_text};
use crate::traits::Shape;

impl Plan {
    /// Replaces names and types that the target does not have by the nearest that it has; returns the resulting graph.
    ///
    /// # Errors
    /// If values have no text form either.
    pub(crate) fn fit(&mut self, graph: &Graph) -> Result<Option<Graph>> {
        let plain = graph.hyperedges.is_empty() && graph.values.is_empty() && graph.groups.is_empty();
        let own = self.from == self.to && self.to.has_one_type();
        if self.from.shape() != Shape::Typed || !plain || own {
            return Ok(None);
        }
        self.fit_to(graph, &self.to.allowed())
    }

    /// The same for a graph of another shape, for a target that allows this.
    ///
    /// # Errors
    /// If values have no text form either.
    pub(crate) fn fit_to(&mut self, graph: &Graph, allowed: &Allowed) -> Result<Option<Graph>> {
        // Where nodes have one type, the format calls their key what it always does.
        let allowed = Allowed { key_names: !self.to.has_one_type(), ..*allowed };
        let Some(record) = Fitting::of(graph, &allowed, self.large_keys)? else { return Ok(None) };
        let fitted = record.fitted.clone();
        self.then(Step::Fit(Box::new(record)));
        Ok(Some(fitted))
    }

    pub(super) fn describe_fitting(&mut self, record: &Fitting) {
        let (graph, fitted) = (&record.graph, &record.fitted);
        // Other steps have a line for each type.
        let alone = self.mapping.steps.is_empty() && self.to.has_types();
        let (mut names, mut types, mut keys) = (0, 0, 0);
        let (mut changes, mut changed_keys) = (Vec::new(), Vec::new());
        let mut of_type = |own: &str, given: &str, shown: String| {
            names += usize::from(own != given);
            match own == given {
                true if alone => changes.push((shown, "the same".to_owned())),
                true => {}
                false => changes.push((shown, format!("called {given}"))),
            }
        };
        for (own, given) in graph.nodes.iter().zip(&fitted.nodes) {
            of_type(&own.name, &given.name, own.name.clone());
        }
        for (of, (own, given)) in graph.nodes.iter().zip(&fitted.nodes).map(|(ty, given)| (ty, (&ty.key, &given.key))) {
            if own.data_type != given.data_type {
                *(if own.kind == given.kind { &mut types } else { &mut keys }) += 1;
                let name = own.name.as_deref().unwrap_or("key");
                let text = format!("{}: {}", type_name(&own.data_type), type_name(&given.data_type));
                changed_keys.push((format!("{}.{name}", of.name), text));
            }
        }
        for (own, given) in graph.edges.iter().zip(&fitted.edges) {
            let relations = [own, given].map(|ty| ty.relation.fixed().unwrap_or_default());
            of_type(relations[0], relations[1], edge_text(graph, own));
        }
        let nodes = graph.nodes.iter().zip(&fitted.nodes);
        let nodes = nodes.map(|(own, given)| (own.name.as_str(), &own.properties, &given.properties));
        let edges = graph.edges.iter().zip(&fitted.edges);
        let edges =
            edges.map(|(own, given)| (own.relation.fixed().unwrap_or_default(), &own.properties, &given.properties));
        for (of, own, given) in nodes.chain(edges) {
            for (own, given) in own.iter().zip(given) {
                names += usize::from(own.name != given.name);
                types += usize::from(own.data_type != given.data_type);
                changes.extend(change(own, given).map(|text| (format!("{of}.{}", own.name), text)));
            }
        }
        for (own, given) in changes.into_iter().chain(changed_keys) {
            self.line(own, given);
        }
        let labels = |graph: &Graph| graph.nodes.iter().map(|ty| ty.labels.clone()).collect::<Vec<_>>();
        if labels(graph) != labels(fitted) {
            self.carried.push(format!("labels that {} cannot store", self.to));
        }
        for (number, what) in [(names, "name"), (types, "column type")] {
            if number > 0 {
                self.carried.push(format!("{} that {} does not have", counted(number, what), self.to));
            }
        }
        if keys > 0 {
            self.carried.push(format!("{} whose keys become text", counted(keys, "node type")));
        }
        let lost = graph.documents.iter().filter(|own| !fitted.documents.contains(own));
        self.carried.extend(lost.map(|document| format!("document {}", document.name)));
    }
}

/// The description of a change to a property; `None` if it is unchanged.
fn change(own: &Property, given: &Property) -> Option<String> {
    let text = match given.kind {
        ValueKind::Json if own.kind == ValueKind::Plain => "JSON text".to_owned(),
        _ => type_name(&given.data_type),
    };
    match (own.name == given.name, own.data_type == given.data_type) {
        (true, true) => None,
        (false, true) => Some(format!("called {}", given.name)),
        (true, false) => Some(format!("{}: {text}", type_name(&own.data_type))),
        (false, false) => Some(format!("called {}, {}: {text}", given.name, type_name(&own.data_type))),
    }
}
