//! Every element as one canonical JSON line.

use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Request, Source, Tables};

use crate::parallel;
use crate::progress::Progress;
use crate::render::Renderer;
use isomorph_storage::Resources;

/// Maximum number of lines that are read on one thread, without reading ahead.
const FEW: u64 = 1 << 12;

/// Writes the lines of `source` to `out`: documents first, then nodes and edges, and then everything else in the order
/// of the source.
///
/// # Errors
/// If the source cannot be read, a value has no JSON form, or `out` cannot be written; reading stops then.
/// When the source cannot be read, a value has no JSON form, or `out` cannot be written: then no more is read than was begun.
pub fn dump(
    source: &dyn Source,
    out: &mut dyn std::io::Write,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<()> {
    dump_first(source, u64::MAX, out, resources, progress)
}

/// The same for the first `most` lines; reading ends after the last of them.
///
/// # Errors
/// As [`dump`].
pub fn dump_first(
    source: &dyn Source,
    most: u64,
    out: &mut dyn std::io::Write,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<()> {
    let mut lines = Lines { out, left: most };
    match lines.all(source, if most <= FEW { 1 } else { resources.threads }, resources, progress) {
        // Stopping because no more is needed is not a failure; the consumer has stopped at the last line.
        Err(error) if lines.left == 0 && error.kind() == Kind::Cancelled => Ok(()),
        done => done,
    }
}

/// The output, and the number of lines that are still needed.
struct Lines<'o> {
    out: &'o mut dyn std::io::Write,
    left: u64,
}

impl Lines<'_> {
    /// Writes lines, up to the limit.
    ///
    /// # Errors
    /// Returns [`Kind::Cancelled`] if the limit is reached.
    fn write(&mut self, text: &[u8]) -> Result<()> {
        if self.left == u64::MAX {
            return Ok(self.out.write_all(text)?);
        }
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            self.out.write_all(line)?;
            self.left -= 1;
            if self.left == 0 {
                return Err(Error::new(Kind::Cancelled, "the limit of lines is reached"));
            }
        }
        Ok(())
    }

    fn all(
        &mut self,
        source: &dyn Source,
        threads: usize,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<()> {
        if self.left == 0 {
            return Ok(());
        }
        source.prepare(threads, progress)?;
        // Nodes need no keys of other nodes: their lines are written before these are read.
        let mut renderer = Renderer::without_keys(source, resources)?;
        renderer.documents(|element| self.write(format!("{}\n", element.line).as_bytes()))?;
        for tables in [Tables::AllNodes, Tables::AllEdges, Tables::Rest] {
            if tables == Tables::AllEdges {
                renderer = Renderer::new(source, resources, progress)?;
            }
            let parts = source.scan(&Request::of(tables))?;
            let prepare = |batch| {
                let mut text = Vec::new();
                renderer.batch(&batch, |element| {
                    text.extend_from_slice(element.line.as_bytes());
                    text.push(b'\n');
                    Ok(())
                })?;
                Ok(text)
            };
            parallel::in_order(parts, threads, prepare, |text| self.write(&text))?;
        }
        Ok(())
    }
}
