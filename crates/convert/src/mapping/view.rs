//! What the views of a source share: parts whose batches are shown as others, and look-ups in one table for several types.

use isomorph_error::Result;
use isomorph_model::{About, Batch, EdgeBatch, Part};

/// Takes a batch that is shown.
pub(crate) type Take<'t> = &'t mut dyn FnMut(Batch) -> Result<()>;

/// A part of another source, each of whose batches `show` hands on as it is seen through the view.
struct Shown<'a, F> {
    inner: Box<dyn Part + 'a>,
    show: F,
}

impl<F: Fn(Batch, Take<'_>) -> Result<()> + Send + Sync> Part for Shown<'_, F> {
    fn read(&self, take: Take<'_>) -> Result<()> {
        self.inner.read(&mut |batch| (self.show)(batch, take))
    }

    fn rows(&self) -> Option<u64> {
        self.inner.rows()
    }
}

/// `inner`, each of whose batches `show` hands on as it is seen through the view: as one, as several, or not at all.
pub(crate) fn shown<'a, F>(inner: Box<dyn Part + 'a>, show: F) -> Box<dyn Part + 'a>
where
    F: Fn(Batch, Take<'_>) -> Result<()> + Send + Sync + 'a,
{
    Box::new(Shown { inner, show })
}

/// The edges that `show` hands on for `batches`.
///
/// # Errors
/// Those of `show`.
pub(crate) fn edges_shown(
    batches: &[EdgeBatch],
    show: impl Fn(&EdgeBatch, Take<'_>) -> Result<()>,
) -> Result<Vec<EdgeBatch>> {
    let mut found = Vec::new();
    for batch in batches {
        show(batch, &mut |batch| {
            if let Batch::Edges(edges) = batch {
                found.push(edges);
            }
            Ok(())
        })?;
    }
    Ok(found)
}

/// What is known of a source whose one table of edges is shown as that of `types` types.
pub(crate) fn one_table(mut about: About, types: usize) -> About {
    if let Some(layout) = about.edge_layouts.first().cloned() {
        about.edge_layouts = vec![layout; types];
    }
    about
}
