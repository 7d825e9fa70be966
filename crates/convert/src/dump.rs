//! Every element as one canonical JSON line.

use isomorph_error::{Error, Kind, Result};
use isomorph_model::{Request, Source, Tables};

use crate::parallel;
use crate::progress::Progress;
use crate::render::Renderer;
use isomorph_storage::Resources;

/// Up to so many lines are read on one thread, which reads nothing ahead.
const FEW: u64 = 1 << 12;

/// Writes the lines of `source` to `out`, documents first, then nodes and edges, and then the rest in the order of the
/// source.
///
/// # Errors
/// When the source cannot be read, a value has no JSON form, or `out` cannot be written: then no more is read than was begun.
pub fn dump(
    source: &dyn Source,
    out: &mut dyn std::io::Write,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<()> {
    dump_first(source, u64::MAX, out, resources, progress)
}

/// The same of the first `most` lines: the last of them ends the work.
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
        // That no more is wanted is no failure; whoever has said so has stopped at the last line.
        Err(error) if lines.left == 0 && error.kind() == Kind::Cancelled => Ok(()),
        done => done,
    }
}

/// Where lines go, and how many more are wanted.
struct Lines<'o> {
    out: &'o mut dyn std::io::Write,
    left: u64,
}

impl Lines<'_> {
    /// Writes as many of these lines as are wanted.
    ///
    /// # Errors
    /// [`Kind::Cancelled`] when no more are.
    fn write(&mut self, text: &[u8]) -> Result<()> {
        if self.left == u64::MAX {
            return Ok(self.out.write_all(text)?);
        }
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            self.out.write_all(line)?;
            self.left -= 1;
            if self.left == 0 {
                return Err(Error::new(Kind::Cancelled, "no more lines are wanted"));
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
        // Nodes need no keys of others: their lines come before these are read.
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
