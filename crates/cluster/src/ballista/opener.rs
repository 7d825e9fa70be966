//! The graphs that an executor has open.

use std::sync::{Arc, Mutex, PoisonError};

use isomorph::Result;
use isomorph::storage::Resources;
use isomorph_query::distributed::{TableRows, Tables};

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

    /// The rows of a table at a place.
    ///
    /// # Errors
    /// [`isomorph::Kind::Usage`] for a place that is not allowed; as [`Place::open`].
    pub fn rows(&self, place: &Place, table: &str) -> Result<TableRows> {
        self.allowed.check(place.place())?;
        let slot = self.slot(place);
        let mut open = slot.lock().unwrap_or_else(PoisonError::into_inner);
        let tables = match &*open {
            Some(tables) => Arc::clone(tables),
            None => Arc::clone(open.insert(Arc::new(place.open(&self.resources)?))),
        };
        drop(open);
        tables.rows(table)
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
