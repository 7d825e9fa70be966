//! Triples between resources with some of many subjects or objects, as a part of a scan.

use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::{RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::Result;
use isomorph_model::{Cost, Filter, Narrowing, Predicate, Request, Tables, Way};
use isomorph_storage::Reservation;

use super::keys::Wanted;
use crate::read::{GraphLake, Order};
use crate::snapshot::NamedGraph;

/// The ends that a scan asks for.
#[derive(Clone)]
pub(crate) struct Asked {
    /// [`Order::Subject`] for subjects.
    order: Order,
    wanted: Wanted,
    _memory: Arc<Reservation>,
}

impl Asked {
    /// What of a predicate is to be read for them, and in which order; everything by subject, where no files have their order.
    pub(crate) fn of(&self, lake: &GraphLake, graph: &NamedGraph, predicate: &str) -> Option<(Order, Wanted)> {
        let is_found = self.order == Order::Subject || lake.is_by_object(graph, predicate);
        is_found.then(|| (self.order, self.wanted.clone()))
    }
}

/// What a filter says of predicates.
pub(crate) struct Relation(Filter, SchemaRef);

impl Relation {
    /// Of the conditions that must all be true, those on the predicate alone.
    pub(crate) fn of(filter: &Predicate) -> Option<Self> {
        let own = filter.known_part(&mut |name| (name == Narrowing::RELATION).then(|| name.to_owned()))?;
        let schema = Arc::new(Schema::new(vec![Field::new(Narrowing::RELATION, DataType::Utf8, false)]));
        // What does not compare is refused by who applies the filter to all that comes.
        Filter::new(&own, &schema).ok().map(|filter| Relation(filter, schema))
    }

    /// Whether triples of a predicate may be wanted.
    pub(crate) fn passes(&self, predicate: &str) -> bool {
        let row = RecordBatch::try_new(Arc::clone(&self.1), vec![Arc::new(StringArray::from(vec![predicate]))]);
        row.ok().and_then(|row| self.0.passing(&row).ok()).is_none_or(|passing| passing.count_set_bits() > 0)
    }
}

impl GraphLake {
    /// The ends that a scan of edges asks for, if it does.
    ///
    /// # Errors
    /// When the quoted triples cannot be read, or they do not fit into the budget.
    pub(crate) fn asked(&self, request: &Request) -> Result<Option<Asked>> {
        let Some(filter) = request.filter() else { return Ok(None) };
        let sides = [(Narrowing::SOURCE, Order::Subject), (Narrowing::TARGET, Order::Object)];
        let found = sides.into_iter().find_map(|(name, order)| Some((filter.set_of(name)?.texts()?, order)));
        let Some((texts, order)) = found else { return Ok(None) };
        let memory = self.options.budget.reserve(2 * texts.values().len() as u64 + 64 * texts.iter().count() as u64)?;
        let all = texts.iter().flatten();
        let quoted = self.quoted()?;
        let wanted = match order {
            Order::Object if !quoted.is_empty() => {
                // What is shown as a triple term is stored as the IRI of its id.
                let mut names: BTreeSet<String> = BTreeSet::new();
                for text in all {
                    names.insert(text.to_owned());
                    // What begins like one and is none finds nothing.
                    if let Ok(Some(id)) = quoted.id_of(text) {
                        names.extend([id.iri(), id.ni()]);
                    }
                }
                Wanted::resources(names.iter().map(String::as_str))?.0
            }
            _ => Wanted::resources(all)?.0,
        };
        Ok(Some(Asked { order, wanted, _memory: Arc::new(memory) }))
    }

    /// What it costs to find triples by a column.
    pub(crate) fn cost_of(&self, tables: Tables, column: &str) -> Cost {
        let rows = self.graph.edges.first().and_then(|edge| edge.rows);
        let sorted = Cost { way: Way::Sorted, rows: Some(0) };
        match (tables, column) {
            (Tables::Edges(_) | Tables::EdgeEnds(_), Narrowing::SOURCE) => sorted,
            (Tables::Edges(_) | Tables::EdgeEnds(_), Narrowing::TARGET) => {
                let of = |graph: &NamedGraph| {
                    graph.all_predicates().into_iter().all(|predicate| self.is_by_object(graph, predicate))
                };
                if self.snapshot.graphs.iter().all(of) { sorted } else { Cost::pass(rows) }
            }
            _ => Cost::pass(rows),
        }
    }
}
