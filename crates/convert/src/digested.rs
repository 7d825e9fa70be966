//! A source that is digested while it is read for another purpose.

use isomorph_storage::Resources;
use std::sync::{Arc, Mutex, PoisonError};

use isomorph_error::Result;
use isomorph_model::{EdgeOrder, Part, Request, Run, Source, Tables, part};

use crate::digests::Digested;
use crate::mapping::forward;
use crate::progress::Progress;
use crate::running::{Running, State};

/// Shows `inner` unchanged and adds every node and edge that is read to a digest. Rows must be read exactly once:
/// additional passes read only keys and ends ([`Tables::NodeKeys`], [`Tables::EdgeEnds`]).
pub struct Tapped {
    inner: Arc<dyn Source>,
    running: Running,
    states: Mutex<Vec<State>>,
}

impl Tapped {
    /// Creates a tap on `inner`.
    ///
    /// # Errors
    /// If there is too little memory for the keys.
    pub fn new(inner: Arc<dyn Source>, resources: &Resources) -> Result<Self> {
        let running = Running::new(inner.as_ref(), resources)?.without_order();
        Ok(Tapped { inner, running, states: Mutex::default() })
    }

    /// The digests of what was read; everything except nodes and edges is read now.
    ///
    /// # Errors
    /// If this cannot be read or is invalid.
    pub fn finish(self, resources: &Resources, progress: &dyn Progress) -> Result<Digested> {
        self.running.rest(self.inner.as_ref(), resources, progress)?;
        let states = self.states.into_inner().unwrap_or_else(PoisonError::into_inner);
        states.into_iter().for_each(|state| self.running.merge(state));
        self.running.finish()
    }

    /// A part that is added to the digest while it is read.
    fn tap<'a>(&'a self, request: &Request, parts: Run<'a>) -> Run<'a> {
        let running = &self.running;
        let tapped = |inner: Box<dyn Part + 'a>| match request.tables {
            // The rest is small, and refers to itself: it has a pass of its own at the end.
            Tables::EdgeEnds(_) | Tables::Rest => inner,
            _ if request.is_of_keys() => part::shown(inner, move |batch, take| {
                running.remember(&batch)?;
                take(batch)
            }),
            _ => {
                let mut state = None;
                part::shown(inner, move |batch, take| {
                    let borrowed = state.get_or_insert_with(|| Borrowed::from(&self.states));
                    running.add(&mut borrowed.state, &batch)?;
                    take(batch)
                })
            }
        };
        parts.into_iter().map(tapped).collect()
    }
}

/// A state that is borrowed for one part, so that no two threads share one and few are created.
struct Borrowed<'a> {
    states: &'a Mutex<Vec<State>>,
    state: State,
}

impl<'a> Borrowed<'a> {
    fn from(states: &'a Mutex<Vec<State>>) -> Self {
        let state = states.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default();
        Borrowed { states, state }
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        self.states.lock().unwrap_or_else(PoisonError::into_inner).push(std::mem::take(&mut self.state));
    }
}

impl Source for Tapped {
    forward!(inner: graph prepare is_one_table edge_orders end_form about neighbors narrowed_neighbors incidents);

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if matches!(request.tables, Tables::AllEdges | Tables::Edges(_)) {
            self.running.nodes_done()?;
        }
        Ok(self.tap(request, self.inner.scan(&request.whole())?))
    }

    fn runs(&self, ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        self.running.nodes_done()?;
        let runs = self.inner.runs(ty, order)?;
        let whole = Request::of(Tables::Edges(ty));
        Ok(runs.map(|runs| runs.into_iter().map(|run| self.tap(&whole, run)).collect()))
    }
}
