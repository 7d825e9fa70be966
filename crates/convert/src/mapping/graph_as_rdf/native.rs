//! A sink for RDF in the model, in front of one for quads.

use arrow_array::cast::AsArray;
use isomorph_error::Result;
use isomorph_model::faces::{Quad, QuadSink, Quads};
use isomorph_model::{Batch, Delivery, Graph, Sink, Written};

use crate::progress::Progress;

/// Converts resources, triples and literals to quads, and passes them to a sink.
pub struct Native<'a> {
    inner: Box<dyn QuadSink + 'a>,
    quads: Quads<'a>,
    progress: &'a dyn Progress,
}

impl<'a> Native<'a> {
    /// Creates the sink in front of `inner`, for a graph that is RDF.
    pub fn new(inner: Box<dyn QuadSink + 'a>, graph: &'a Graph, progress: &'a dyn Progress) -> Self {
        Native { inner, quads: Quads::new(graph, None), progress }
    }
}

impl Sink for Native<'_> {
    fn deliveries(&self) -> Vec<Delivery> {
        vec![Delivery::EdgesAsTheyCome(0), Delivery::Rest]
    }

    fn write(&mut self, _delivery: usize, batch: Batch) -> Result<()> {
        let inner = &mut self.inner;
        if let Batch::Groups(groups) = &batch {
            let names = groups.keys.as_string_opt::<i32>();
            return names.into_iter().flatten().flatten().try_for_each(|name| inner.graph(name));
        }
        self.quads.batch(&batch, &mut |quad: Quad<'_>| inner.quad(&quad))
    }

    fn finish(self: Box<Self>) -> Result<Written> {
        let Native { mut inner, quads, progress } = *self;
        quads.finish(&mut |quad: Quad<'_>| inner.quad(&quad))?;
        progress.begin("sort", None);
        let written = inner.finish(&|rows| progress.advance(rows));
        progress.end();
        written
    }
}
