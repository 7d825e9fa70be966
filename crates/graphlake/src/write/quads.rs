//! A new store as a sink of quads.

use isomorph_error::Result;
use isomorph_model::Written;
use isomorph_model::faces::{Quad, QuadSink};

use super::LakeWriter;
use crate::term::check_graph;

impl QuadSink for LakeWriter<'_> {
    fn graph(&mut self, name: &str) -> Result<()> {
        check_graph(Some(name))?;
        LakeWriter::graph(self, name)
    }

    fn quad(&mut self, quad: &Quad<'_>) -> Result<()> {
        check_graph(quad.graph)?;
        self.push(quad)
    }

    fn finish(self: Box<Self>, advance: &dyn Fn(u64) -> Result<()>) -> Result<Written> {
        let staging = self.staging();
        LakeWriter::finish(*self, advance)?;
        let files = staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}
