//! A graph as a format stores it, if this is known only after writing: ids that are rows, edges in both directions.

use std::any::Any;
use std::path::PathBuf;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use isomorph_error::{Error, Findings, Result};
use isomorph_model::{
    About, EdgeOrder, EndForm, Graph, Incidents, Narrowing, NodeId, Part, Request, Run, Side, Source,
};
use isomorph_storage::Location;

use crate::conversion::{convert, native_options};
use crate::mapping::Mapping;
use crate::open::Opened;
use crate::options::ConvertOptions;
use crate::plan::Plan;
use crate::progress::Progress;
use isomorph_storage::Resources;

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
    fn graph(&self) -> &Graph {
        self.inner.graph()
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        self.inner.scan(request)
    }

    fn edge_orders(&self, ty: usize) -> Vec<EdgeOrder> {
        self.inner.edge_orders(ty)
    }

    fn runs(&self, ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        self.inner.runs(ty, order)
    }

    fn end_form(&self, ty: usize) -> EndForm {
        self.inner.end_form(ty)
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Box<dyn Part + '_>> {
        self.inner.neighbors(edge, node, side)
    }

    fn narrowed_neighbors(
        &self,
        edge: usize,
        node: NodeId<'_>,
        side: Side,
        narrowing: Narrowing,
    ) -> Result<Box<dyn Part + '_>> {
        self.inner.narrowed_neighbors(edge, node, side, narrowing)
    }

    fn incidents(&self, key: &str) -> Result<Incidents> {
        self.inner.incidents(key)
    }

    fn about(&self) -> About {
        self.inner.about()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        self.inner.as_any()
    }

    fn validate(&self, findings: &mut Findings) -> Result<()> {
        self.inner.validate(findings)
    }
}
