//! Algorithms over a whole graph.

use std::sync::Arc;

use isomorph_algorithms::{
    Components, GraphStatistics, Job, NodeValues, PageRank, Paths, PathsBetween, clustering, communities, components,
    distances, page_rank, shortest_paths, statistics,
};
use isomorph_convert::Silent;
use isomorph_error::Result;
use isomorph_model::Source;

use crate::graph::Graph;

/// These read the edges once, within the memory and threads of the graph. RDF is walked from resource to resource. To follow progress, to cancel, or to walk some
/// relations only, use [`crate::algorithms`].
impl Graph {
    /// Counts of nodes and edges by type, degrees, components, reciprocity, and the nulls and different values of each column.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let social = isomorph::open("examples/social")?;
    /// let found = social.graph_statistics()?;
    /// assert!(found.nodes > 500 && found.degree.max >= found.degree.p99);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the graph cannot be read, or the budget is too small.
    pub fn graph_statistics(&self) -> Result<GraphStatistics> {
        statistics(&self.walked()?, &self.job())
    }

    /// Shortest paths between two nodes: one, or all; by the number of edges, or the sum of a column.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// use isomorph::algorithms::PathsBetween;
    ///
    /// let social = isomorph::open("examples/social")?;
    /// let (from, to) = ((Some("person"), "1000"), (Some("person"), "1007"));
    /// let paths = social.shortest_paths(&PathsBetween { from, to, both_ways: true, ..PathsBetween::default() })?;
    /// assert!(paths.length.is_some() && paths.rows()?.num_rows() > 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`isomorph_algorithms::shortest_paths`].
    pub fn shortest_paths(&self, wanted: &PathsBetween<'_>) -> Result<Paths> {
        shortest_paths(&self.walked()?, wanted, &self.job())
    }

    /// The distance of each node from one: the fewest edges, or the smallest sum of a column.
    ///
    /// # Errors
    /// As [`isomorph_algorithms::distances`].
    pub fn distances(&self, from: (Option<&str>, &str), weight: Option<&str>, both_ways: bool) -> Result<NodeValues> {
        distances(&self.walked()?, from, weight, both_ways, &self.job())
    }

    /// The PageRank of each node.
    ///
    /// ```
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// use isomorph::algorithms::{Order, PageRank};
    ///
    /// let ranks = isomorph::open("examples/social")?.page_rank(&PageRank::default())?;
    /// let rows: isomorph::Result<Vec<_>> = ranks.rows(Order::Greatest, Some(3))?.collect();
    /// assert_eq!(rows?[0].num_rows(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`isomorph_algorithms::page_rank`].
    pub fn page_rank(&self, how: &PageRank) -> Result<NodeValues> {
        page_rank(&self.walked()?, how, &self.job())
    }

    /// The weakly connected components.
    ///
    /// # Errors
    /// If the graph cannot be read.
    pub fn components(&self) -> Result<Components> {
        components(&self.walked()?, &self.job())
    }

    /// The local clustering coefficient of each node.
    ///
    /// # Errors
    /// If the graph cannot be read.
    pub fn clustering(&self) -> Result<NodeValues> {
        clustering(&self.walked()?, &self.job())
    }

    /// Communities, by so many iterations of the propagation of labels.
    ///
    /// # Errors
    /// If the graph cannot be read.
    pub fn communities(&self, iterations: u32) -> Result<NodeValues> {
        communities(&self.walked()?, iterations, &self.job())
    }

    fn job(&self) -> Job<'_> {
        Job { resources: self.resources(), relations: None, progress: &Silent }
    }

    /// The graph as nodes and edges.
    fn walked(&self) -> Result<Arc<dyn Source>> {
        self.opened().with_resources_as_nodes(self.resources())
    }
}
