//! Sinks of quads that pass changed quads on to another sink.

use isomorph_error::Result;
use isomorph_model::Written;
use isomorph_model::faces::{Quad, QuadSink};

/// What becomes of quads on their way to a sink.
pub(super) trait QuadPass: Send {
    /// Passes a quad on to `inner`: as one, as several, or not at all.
    ///
    /// # Errors
    /// Those of `inner`; also if the quad cannot be changed as needed.
    fn quad(&mut self, quad: &Quad<'_>, inner: &mut dyn QuadSink) -> Result<()>;

    /// Passes on what is held after the last quad.
    ///
    /// # Errors
    /// Those of `inner`.
    fn end(&mut self, _inner: &mut dyn QuadSink) -> Result<()> {
        Ok(())
    }
}

/// A sink behind a pass.
struct Passed<'a, P> {
    pass: P,
    inner: Box<dyn QuadSink + 'a>,
}

/// Puts `pass` in front of `inner`.
pub(super) fn passed<'a>(pass: impl QuadPass + 'a, inner: Box<dyn QuadSink + 'a>) -> Box<dyn QuadSink + 'a> {
    Box::new(Passed { pass, inner })
}

impl<P: QuadPass> QuadSink for Passed<'_, P> {
    fn graph(&mut self, name: &str) -> Result<()> {
        self.inner.graph(name)
    }

    fn quad(&mut self, quad: &Quad<'_>) -> Result<()> {
        self.pass.quad(quad, self.inner.as_mut())
    }

    fn finish(mut self: Box<Self>, advance: &dyn Fn(u64) -> Result<()>) -> Result<Written> {
        self.pass.end(self.inner.as_mut())?;
        self.inner.finish(advance)
    }
}
