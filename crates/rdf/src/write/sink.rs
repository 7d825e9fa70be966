//! A text in the making, as a sink of quads.

use isomorph_error::{Error, Kind, Result};
use isomorph_model::Written;
use isomorph_model::faces::{Quad, QuadSink};
use isomorph_storage::{StagedFile, Staging};

use super::{QuadWriter, WriteOptions};
use crate::{Packed, Packing, Syntax};

/// Writes quads to the only file of a [`Staging`], in the order in which they come.
pub struct TextSink<'a> {
    staging: &'a Staging,
    writer: QuadWriter<Packed<StagedFile>>,
    leaves_out: bool,
}

impl<'a> TextSink<'a> {
    /// Begins a text. With `leaves_out`, graphs without triples are left out; else they are an error.
    ///
    /// # Errors
    /// When the file cannot be begun.
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
            false => {
                Err(Error::new(Kind::WouldLose, format!("a text has no words for the graph {name} without triples"))
                    .hint("--lossy    write it without graphs that have no triples"))
            }
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
