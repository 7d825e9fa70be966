//! A sink for a property graph, or for RDF in the model, in front of a sink for its triples.

use arrow_array::cast::AsArray;
use isomorph_error::{Error, Result};
use isomorph_model::faces::{JsonDigits, Quad, QuadSink, Quads};
use isomorph_model::{Batch, Delivery, EdgeOrder, Ends, Graph, KeyKind, Sink, Written};

use super::Lifting;
use crate::progress::Progress;
use isomorph_dataset::{KeysByRow, KeysByRowBuilder};
use isomorph_storage::Resources;

/// Converts the rows of a property graph to quads, and passes them to a sink.
pub struct Lifter<'a> {
    inner: Box<dyn QuadSink + 'a>,
    graph: &'a Graph,
    quads: Quads<'a>,
    keys: Keys,
    /// The tables that it takes.
    deliveries: Vec<Delivery>,
    progress: &'a dyn Progress,
}

/// Keys of nodes by row: sorted edges refer to rows.
enum Keys {
    Collecting(KeysByRowBuilder),
    Complete(KeysByRow),
    /// During the change from the one to the other; also in RDF, whose edges refer to keys.
    None,
}

impl<'a> Lifter<'a> {
    /// Creates a lifter in front of `inner`.
    pub fn new(
        inner: Box<dyn QuadSink + 'a>,
        record: &'a Lifting,
        resources: &Resources,
        progress: &'a dyn Progress,
    ) -> Self {
        let graph = &record.graph;
        let nodes = (0..graph.nodes.len()).map(Delivery::Nodes);
        // This order makes parallel edges adjacent.
        let edges = (0..graph.edges.len()).map(|ty| Delivery::Edges { ty, order: EdgeOrder::Source });
        let digits = if record.wide_floats { JsonDigits::Of64Bits } else { JsonDigits::Shortest };
        Lifter {
            inner,
            graph,
            quads: Quads::new(graph, Some(&record.base)).with_digits(digits).ordered_by_keys(record.ordered_by_keys),
            keys: Keys::Collecting(KeysByRow::builder(graph, resources)),
            deliveries: nodes.chain(edges).collect(),
            progress,
        }
    }

    /// Creates the sink in front of `inner` for a graph that is RDF: resources, triples and literals.
    pub fn of_rdf(inner: Box<dyn QuadSink + 'a>, graph: &'a Graph, progress: &'a dyn Progress) -> Self {
        let deliveries = vec![Delivery::EdgesAsTheyCome(0), Delivery::Rest];
        Lifter { inner, graph, quads: Quads::new(graph, None), keys: Keys::None, deliveries, progress }
    }

    /// Ends as keys; as rows if a type has none.
    fn ends(&mut self, ty: usize, ends: Ends) -> Result<Ends> {
        let is_row = self.graph.nodes.get(ty).is_none_or(|ty| ty.key.kind == KeyKind::Row);
        let Ends::Rows(rows) = &ends else { return Ok(ends) };
        if is_row {
            return Ok(ends);
        }
        if let Keys::Collecting(_) = self.keys
            && let Keys::Collecting(builder) = std::mem::replace(&mut self.keys, Keys::None)
        {
            self.keys = Keys::Complete(builder.finish()?);
        }
        match &self.keys {
            Keys::Complete(keys) => Ok(Ends::Keys(keys.gather(ty, rows.values())?)),
            _ => Err(Error::usage("edges were delivered after the keys of nodes were lost")),
        }
    }
}

impl Sink for Lifter<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        self.deliveries.clone()
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        let batch = match batch {
            Batch::Nodes(nodes) => {
                if let Keys::Collecting(keys) = &mut self.keys {
                    keys.add(&nodes)?;
                }
                Batch::Nodes(nodes)
            }
            Batch::Edges(mut edges) => {
                let ty = self.graph.edges.get(edges.ty).ok_or_else(|| Error::usage("no such edge type"))?;
                let (source, target) = (ty.source, ty.target);
                edges.source = self.ends(source, edges.source)?;
                edges.target = self.ends(target, edges.target)?;
                Batch::Edges(edges)
            }
            Batch::Groups(groups) => {
                let names = groups.keys.as_string_opt::<i32>();
                return names.into_iter().flatten().flatten().try_for_each(|name| self.inner.graph(name));
            }
            other => other,
        };
        let inner = &mut self.inner;
        self.quads.batch(&batch, &mut |quad: Quad<'_>| inner.quad(&quad))
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let Lifter { mut inner, quads, progress, .. } = *self;
        quads.finish(&mut |quad: Quad<'_>| inner.quad(&quad))?;
        progress.begin("sort", None);
        let written = inner.finish(&|rows| progress.advance(rows));
        progress.end();
        written
    }
}
