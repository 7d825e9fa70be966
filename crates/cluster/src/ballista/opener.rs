//! The graphs that an executor has open.

use std::sync::{Arc, Mutex, PoisonError};

use isomorph::storage::Resources;
use isomorph::{Error, Graph, Result};
use isomorph_query::distributed::{TableRows, TableScan, Tables};

use crate::ballista::allow::Allowed;
use crate::ballista::place::Place;

/// Graphs that are kept open. The one that was asked longest ago makes room.
const MOST: usize = 16;

/// A graph that is open, or is being opened by one task while others wait.
type Slot = Arc<Mutex<Option<Arc<Tables>>>>;

/// Opens graphs, each state of a place once.
#[derive(Debug)]
pub(crate) struct Opener {
    allowed: Allowed,
    resources: Resources,
    /// The last one was asked last.
    open: Mutex<Vec<(Place, Slot)>>,
}

impl Opener {
    pub fn new(allowed: Allowed, resources: Resources) -> Self {
        Opener { allowed, resources, open: Mutex::default() }
    }

    /// The rows that a scan of a place reads.
    ///
    /// # Errors
    /// [`isomorph::Kind::Usage`] for a place that is not allowed; as [`Place::open`].
    pub fn rows(&self, place: &Place, scan: &TableScan) -> Result<TableRows> {
        self.tables(place)?.rows(scan, &self.resources)
    }

    /// The graph at a place.
    ///
    /// # Errors
    /// As [`Opener::rows`]; [`isomorph::Kind::Usage`] for a table file.
    pub fn graph(&self, place: &Place) -> Result<Arc<Graph>> {
        let tables = self.tables(place)?;
        let graph = tables.graph().map(Arc::clone);
        graph.ok_or_else(|| Error::usage("a table file is no graph").at(place.place().to_owned()))
    }

    /// The memory and threads with which graphs are read.
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    fn tables(&self, place: &Place) -> Result<Arc<Tables>> {
        self.allowed.check(place.place())?;
        let slot = self.slot(place);
        let mut open = slot.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(match &*open {
            Some(tables) => Arc::clone(tables),
            None => Arc::clone(open.insert(Arc::new(place.open(&self.resources)?))),
        })
    }

    fn slot(&self, place: &Place) -> Slot {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = match open.iter().position(|(own, _)| own == place) {
            Some(at) => open.remove(at).1,
            None => Slot::default(),
        };
        // Another state of the same place is history.
        open.retain(|(own, _)| own.place() != place.place() || own.is_snapshot());
        if open.len() >= MOST {
            open.remove(0);
        }
        open.push((place.clone(), Arc::clone(&slot)));
        slot
    }
}
