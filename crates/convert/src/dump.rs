//! Every element as one canonical JSON line.

use isomorph_error::Result;
use isomorph_model::{Request, Source, Tables};

use crate::digests::Resources;
use crate::parallel;
use crate::progress::Progress;
use crate::render::Renderer;

/// Writes the lines of `source` to `out`, documents first, then nodes and edges, and then the rest in the order of the
/// source.
///
/// # Errors
/// When the source cannot be read, a value has no JSON form, or `out` cannot be written.
pub fn dump(
    source: &dyn Source,
    out: &mut dyn std::io::Write,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<()> {
    source.prepare(resources.threads, progress)?;
    let renderer = Renderer::new(source, resources, progress)?;
    renderer.documents(|element| Ok(writeln!(out, "{}", element.line)?))?;
    for tables in [Tables::AllNodes, Tables::AllEdges, Tables::Rest] {
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
        parallel::in_order(&parts, resources.threads, prepare, |text| Ok(out.write_all(&text)?))?;
    }
    Ok(())
}
