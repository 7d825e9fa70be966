//! A text that is being written, as a sink of quads.

use isomorph_error::{Error, Kind, Result};
use isomorph_model::Written;
use isomorph_model::faces::{Quad, QuadSink};
use isomorph_storage::{StagedFile, Staging};

use super::{QuadWriter, WriteOptions};
use crate::{Packed, Packing, Syntax};

/// Writes quads to the only file of a [`Staging`], in the order of arrival.
pub struct TextSink<'a> {
    staging: &'a Staging,
    writer: QuadWriter<Packed<StagedFile>>,
    leaves_out: bool,
}

impl<'a> TextSink<'a> {
    /// Starts a text. With `leaves_out`, graphs without triples are dropped; otherwise they are an error.
    ///
    /// # Errors
    /// If the file cannot be created.
    pub fn create(
        staging: &'a Staging,
        (syntax, packing): (Syntax, Packing),
        options: &WriteOptions,
        leaves_out: bool,
    ) -> Result<Self> {
        let out = Packed::new(packing, staging.create("")?)?;
        Ok(TextSink { staging, writer: QuadWriter::new(syntax, out, options)?, leaves_out })
    }
}

impl QuadSink for TextSink<'_> {
    fn graph(&mut self, name: &str) -> Result<()> {
        match self.leaves_out {
            true => Ok(()),
            false => Err(Error::new(Kind::WouldLose, format!("a text cannot store the graph {name} without triples"))
                .hint("--lossy    drop graphs without triples")),
        }
    }

    fn quad(&mut self, quad: &Quad<'_>) -> Result<()> {
        self.writer.push(quad)
    }

    fn finish(self: Box<Self>, advance: &dyn Fn(u64) -> Result<()>) -> Result<Written> {
        advance(0)?;
        self.writer.finish()?.finish()?.finish()?;
        let files = self.staging.finished().into_iter().map(|(name, digest)| (name, digest.size));
        Ok(Written { files: files.collect() })
    }
}
