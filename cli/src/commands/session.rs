//! What queries open and read, for those that come after them: the shell has one for all of its queries, a command one of its own.

use std::collections::BTreeMap;
use std::sync::Arc;

#[cfg(feature = "query")]
use isomorph::convert::Format;
use isomorph::convert::Registry;
use isomorph::storage::Resources;
use isomorph::{Graph, Result};

use crate::args::{OpenArgs, ResourceArgs};
use crate::console::Console;
use crate::interrupt::Interrupt;

/// Graphs that were opened, and what was read of them.
#[derive(Default)]
pub struct Session {
    resources: Option<Resources>,
    graphs: BTreeMap<String, Arc<Graph>>,
    /// The engine of SQL with its tables.
    #[cfg(feature = "query")]
    pub engine: Option<super::sql::Tables>,
    /// What SPARQL has loaded.
    #[cfg(feature = "query")]
    pub triples: super::sparql::Loaded,
    interrupt: Option<Interrupt>,
}

impl Session {
    /// A session of several queries, each of which this ends.
    #[cfg(feature = "query")]
    pub fn of_queries(interrupt: &Interrupt) -> Self {
        Session { interrupt: Some(interrupt.clone()), ..Session::default() }
    }

    /// Whether several queries have it.
    #[cfg(feature = "query")]
    pub fn is_of_queries(&self) -> bool {
        self.interrupt.is_some()
    }

    /// The format of the graph at `path`, if it is open.
    #[cfg(feature = "query")]
    pub fn format(&self, path: &str) -> Option<Format> {
        self.graphs.get(path).map(|graph| graph.opened().format_of_graph())
    }

    /// What ends a query: that of the session, else what `own` gives.
    ///
    /// # Errors
    /// Those of `own`.
    pub fn interrupt(&self, own: impl FnOnce() -> Result<Interrupt>) -> Result<Interrupt> {
        self.interrupt.clone().map_or_else(own, Ok)
    }

    /// Memory and threads of all queries.
    ///
    /// # Errors
    /// As [`ResourceArgs::resources`].
    pub fn resources(&mut self, args: &ResourceArgs) -> Result<Resources> {
        let resources = match self.resources.take() {
            Some(resources) => resources,
            None => args.resources()?,
        };
        Ok(self.resources.insert(resources).clone())
    }

    /// The graph at `path`. When it is opened, its findings are printed.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub fn graph(
        &mut self,
        path: &str,
        open: &OpenArgs,
        formats: &Registry,
        resources: &Resources,
        console: &Console,
    ) -> Result<Arc<Graph>> {
        if let Some(graph) = self.graphs.get(path) {
            return Ok(Arc::clone(graph));
        }
        let (location, options) = open.place(path, formats, resources)?;
        let graph = Arc::new(Graph::open(&location, &options, resources.clone())?);
        console.warn(&graph.opened().native.about().findings);
        console.warn(&graph.opened().cautions()?);
        self.graphs.insert(path.to_owned(), Arc::clone(&graph));
        Ok(graph)
    }
}
