//! A graph as a format stores it, if this is known only after writing: ids that are rows, edges in both directions.

use std::path::PathBuf;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use isomorph_error::{Error, Result};
use isomorph_model::Source;
use isomorph_storage::{Location, Resources};

use crate::conversion::{convert, native_options};
use crate::mapping::{Mapping, forward};
use crate::open::Opened;
use crate::options::ConvertOptions;
use crate::plan::Plan;
use crate::progress::Progress;

/// A folder that is deleted after its graph was read.
pub(crate) struct Folder {
    path: PathBuf,
    place: Location,
}

impl Folder {
    /// Creates a unique folder among the temporary files.
    fn new(resources: &Resources) -> Result<Folder> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let name = format!("isomorph-view-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = resources.scratch.directory().join(name);
        std::fs::create_dir(&path).map_err(|error| Error::from(error).at(path.display().to_string()))?;
        let place = Location::from_path(&path.join("data"));
        Ok(Folder { path, place })
    }

    /// The location of the graph in the folder.
    pub(crate) fn place(&self) -> &Location {
        &self.place
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Writes `opened` as planned to a temporary folder, and returns the folder.
///
/// # Errors
/// If it cannot be read or written.
pub(crate) fn beside(
    opened: &Opened,
    plan: &Plan,
    options: &ConvertOptions,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Folder> {
    let folder = Folder::new(resources)?;
    convert(opened, plan, folder.place(), options, resources, progress)?;
    Ok(folder)
}

/// The output, while it is being read.
struct Written {
    inner: Arc<dyn Source>,
    _folder: Folder,
}

/// Writes `opened` as planned to a temporary folder, and opens it there.
///
/// # Errors
/// If it cannot be read or written.
pub(crate) fn written(
    opened: &Opened,
    plan: &Plan,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Arc<dyn Source>> {
    let options = ConvertOptions { to: Some(plan.to), no_verify: true, lossy: true, ..ConvertOptions::default() };
    let folder = beside(opened, plan, &options, resources, progress)?;
    let shown = Mapping { steps: plan.mapping.steps.last().cloned().into_iter().collect() };
    let inner = plan.to.open(folder.place(), &native_options(opened, plan.to, &shown, resources))?;
    Ok(Arc::new(Written { inner, _folder: folder }))
}

impl Source for Written {
    forward!(inner: graph scan edge_orders runs end_form about neighbors narrowed_neighbors incidents as_any validate);
}
