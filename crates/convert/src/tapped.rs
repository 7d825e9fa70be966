//! A source that is digested while it is read for something else.

use std::sync::{Arc, Mutex, PoisonError};

use isomorph_error::Result;
use isomorph_model::{
    About, Batch, EdgeBatch, EdgeOrder, EndForm, Graph, NodeId, Part, Request, Run, Side, Source, Tables,
};

use crate::digests::{Digested, Resources};
use crate::progress::Progress;
use crate::running::{Running, State};

/// Shows `inner` unchanged and adds every node and edge that is read to a digest. Rows must be read exactly once: whoever drives
/// it asks for keys and ends alone ([`Tables::NodeKeys`], [`Tables::EdgeEnds`]) where it reads more often.
pub struct Tapped {
    inner: Arc<dyn Source>,
    running: Running,
    states: Mutex<Vec<State>>,
}

impl Tapped {
    /// A tap on `inner`.
    ///
    /// # Errors
    /// When memory for the keys is short.
    pub fn new(inner: Arc<dyn Source>, resources: &Resources) -> Result<Self> {
        let running = Running::new(inner.as_ref(), resources)?.without_order();
        Ok(Tapped { inner, running, states: Mutex::default() })
    }

    /// The digests of what was read; what is neither nodes nor edges is read now.
    ///
    /// # Errors
    /// When the rest cannot be read or is not sound.
    pub fn finish(self, resources: &Resources, progress: &dyn Progress) -> Result<Digested> {
        self.running.rest(self.inner.as_ref(), resources, progress)?;
        let states = self.states.into_inner().unwrap_or_else(PoisonError::into_inner);
        states.into_iter().for_each(|state| self.running.merge(state));
        self.running.finish()
    }

    fn tap<'a>(&'a self, tables: Tables, parts: Run<'a>) -> Run<'a> {
        parts.into_iter().map(|inner| Box::new(TappedPart { tapped: self, tables, inner }) as Box<dyn Part>).collect()
    }
}

struct TappedPart<'a> {
    tapped: &'a Tapped,
    tables: Tables,
    inner: Box<dyn Part + 'a>,
}

impl Part for TappedPart<'_> {
    fn read(&self, take: &mut dyn FnMut(Batch) -> Result<()>) -> Result<()> {
        let running = &self.tapped.running;
        match self.tables {
            // The rest is small, and refers to itself: it has a pass of its own at the end.
            Tables::EdgeEnds(_) | Tables::Rest => return self.inner.read(take),
            Tables::NodeKeys(_) => {
                return self.inner.read(&mut |batch| {
                    running.remember(&batch)?;
                    take(batch)
                });
            }
            _ => {}
        }
        // A state is borrowed for one part, so that no two threads share one and few are made.
        let states = || self.tapped.states.lock().unwrap_or_else(PoisonError::into_inner);
        let mut state = states().pop().unwrap_or_default();
        let read = self.inner.read(&mut |batch| {
            running.add(&mut state, &batch)?;
            take(batch)
        });
        states().push(state);
        read
    }

    fn rows(&self) -> Option<u64> {
        self.inner.rows()
    }
}

impl Source for Tapped {
    fn graph(&self) -> &Graph {
        self.inner.graph()
    }

    fn prepare(&self, threads: usize, progress: &dyn Progress) -> Result<()> {
        self.inner.prepare(threads, progress)
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if matches!(request.tables, Tables::AllEdges | Tables::Edges(_)) {
            self.running.nodes_done()?;
        }
        Ok(self.tap(request.tables, self.inner.scan(request)?))
    }

    fn edge_orders(&self, ty: usize) -> Vec<EdgeOrder> {
        self.inner.edge_orders(ty)
    }

    fn runs(&self, ty: usize, order: EdgeOrder) -> Result<Option<Vec<Run<'_>>>> {
        self.running.nodes_done()?;
        let runs = self.inner.runs(ty, order)?;
        Ok(runs.map(|runs| runs.into_iter().map(|run| self.tap(Tables::Edges(ty), run)).collect()))
    }

    fn end_form(&self, ty: usize) -> EndForm {
        self.inner.end_form(ty)
    }

    fn about(&self) -> About {
        self.inner.about()
    }

    fn neighbors(&self, edge: usize, node: NodeId<'_>, side: Side) -> Result<Vec<EdgeBatch>> {
        self.inner.neighbors(edge, node, side)
    }
}
