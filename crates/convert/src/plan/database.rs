//! What plans say of formats of databases.

use isomorph_storage::Location;

use crate::mapping::Step;
use crate::plan::{Plan, counted};

impl Plan {
    /// Keeps the types and columns of formats whose files do not state them, and prints the command that loads the output.
    pub(crate) fn for_database(&mut self, destination: &Location) {
        if self.to.traits().needs_schema {
            let (nodes, edges) = (&self.target.nodes, &self.target.edges);
            let (nodes, edges) = (counted(nodes.len(), "node type"), counted(edges.len(), "edge type"));
            self.carried.push(format!("schema of {nodes} and {edges}"));
            if !matches!(self.mapping.steps.last(), Some(Step::Native(_))) {
                self.keep(&self.target.clone());
            }
        }
        if let Some(command) = self.to.loaded_by(&self.target, destination.file_name()) {
            self.line("load it with", command);
        }
    }
}
