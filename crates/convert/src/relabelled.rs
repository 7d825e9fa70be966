//! A graph whose blank nodes have canonical labels (RDFC-1.0): equal graphs are then identical, whatever labels they
//! had.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, StringArray};
use isomorph_error::{Error, Result};
use isomorph_model::faces::Quads;
use isomorph_model::{Batch, Columns, Ends, KeyKind, Part, Property, Request, Source, Tables, ValueKind, part};
use isomorph_rdf::{CanonicalLabels, Canonicalizer};

use crate::mapping::forward;
use crate::parallel::Pass;
use crate::progress::Progress;
use isomorph_storage::Resources;

/// Replaces the labels of `source` by canonical ones. It is read once for this; triples with blank nodes are held in
/// memory.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Usage`] if nodes are not RDF terms; [`isomorph_error::Kind::TooLarge`] if blank
/// nodes do not fit into the budget, or are so similar that distinguishing them takes too long; and errors of reading
/// `source`.
pub fn relabelled(source: Arc<dyn Source>, resources: &Resources, progress: &dyn Progress) -> Result<Arc<dyn Source>> {
    source.prepare(resources.threads, progress)?;
    let graph = source.graph();
    if let Some(ty) = graph.nodes.iter().find(|ty| ty.key.kind != KeyKind::Term) {
        return Err(Error::usage(format!("{} have no blank nodes: their keys are not RDF terms", ty.name))
            .hint("--rdfc applies only to RDF texts and GraphLake"));
    }
    let mut canonicalizer = Canonicalizer::new(&resources.budget)?;
    let mut quads = Quads::new(graph, None);
    let parts = source.scan(&Request::of(Tables::All))?;
    Pass::new(parts, "labels", resources.threads, progress).in_order(|batch| {
        // Graphs without triples only have a name that can be a blank node.
        if matches!(batch, Batch::Groups(_)) {
            Ok(())
        } else {
            quads.batch(&batch, &mut |quad| canonicalizer.push(&quad))
        }
    })?;
    quads.finish(&mut |quad| canonicalizer.push(&quad))?;
    let labels = canonicalizer.finish()?;
    Ok(if labels.is_empty() { source } else { Arc::new(Relabelled { source, labels }) })
}

struct Relabelled {
    source: Arc<dyn Source>,
    labels: CanonicalLabels,
}

impl Relabelled {
    fn batch(&self, batch: Batch) -> Batch {
        let graph = self.source.graph();
        match batch {
            Batch::Nodes(mut nodes) => {
                nodes.keys = nodes.keys.map(|keys| self.terms(keys));
                Batch::Nodes(nodes)
            }
            Batch::Edges(mut edges) => {
                edges.source = self.ends(edges.source);
                edges.target = self.ends(edges.target);
                if let Some(ty) = graph.edges.get(edges.ty) {
                    self.columns(&ty.properties, &mut edges.properties);
                }
                Batch::Edges(edges)
            }
            Batch::Values(mut values) => {
                values.owner = self.ends(values.owner);
                if let Some(table) = graph.values.get(values.table) {
                    self.columns(&table.qualifiers, &mut values.qualifiers);
                }
                Batch::Values(values)
            }
            Batch::Groups(mut groups) => {
                groups.keys = self.terms(groups.keys);
                Batch::Groups(groups)
            }
            other => other,
        }
    }

    fn ends(&self, ends: Ends) -> Ends {
        match ends {
            Ends::Keys(keys) => Ends::Keys(self.terms(keys)),
            rows @ Ends::Rows(_) => rows,
        }
    }

    fn columns(&self, properties: &[Property], columns: &mut Columns) {
        for (_, column) in properties.iter().zip(columns).filter(|(property, _)| property.kind == ValueKind::Term) {
            *column = column.take().map(|column| self.terms(column));
        }
    }

    fn terms(&self, column: ArrayRef) -> ArrayRef {
        let Some(texts) = column.as_string_opt::<i32>() else { return column };
        let may_change = |text: &str| text.starts_with("_:") || text.starts_with("<<(");
        if !texts.iter().flatten().any(may_change) {
            return column;
        }
        let changed = texts.iter().map(|text| {
            text.map(|text| match self.labels.term(text) {
                Some(changed) => std::borrow::Cow::Owned(changed),
                None => std::borrow::Cow::Borrowed(text),
            })
        });
        Arc::new(changed.collect::<StringArray>())
    }
}

impl Source for Relabelled {
    forward!(source: graph edge_orders end_form about);

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        let shown = |inner| part::shown(inner, |batch, take| take(self.batch(batch)));
        Ok(self.source.scan(&request.whole())?.into_iter().map(shown).collect())
    }
}
