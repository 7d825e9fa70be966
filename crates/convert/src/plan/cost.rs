//! The cost of a plan, as far as it is known before it runs.

use arrow_schema::DataType;
use isomorph_model::{EdgeOrder, EdgeType, EndForm};
use serde::Serialize;

use crate::conversion::counts;
use crate::mapping::Step;
use crate::open::Opened;
use crate::options::ConvertOptions;
use crate::plan::{Plan, Preparation, Route};
use crate::traits::Shape;
use isomorph_storage::Resources;

/// Assumed size of a text or list of an edge, in bytes.
const GUESSED_BYTES: u64 = 24;

/// The cost of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PlanCost {
    /// Size of the source's files in bytes: the maximum that each pass reads; 0 if unknown.
    pub source_bytes: u64,
    /// Number of edges to sort, if known.
    pub sorted_edges: Option<u64>,
    /// Number of requested orders.
    pub orders: u64,
    /// Memory limit of the job in bytes.
    pub memory: u64,
    /// Size of temporary files for sorting what does not fit into memory, in bytes: an estimate from the types of the
    /// columns.
    pub temporary_bytes: Option<u64>,
}

impl Plan {
    /// The cost of carrying out the plan on `opened`.
    pub fn cost(&self, opened: &Opened, options: &ConvertOptions, resources: &Resources) -> PlanCost {
        let (sorted_edges, bytes, orders) = match (self.route, self.to.traits().has_numbers_only) {
            (Route::Shortcut, true) => (Some(0), Some(0), 0),
            // Everything is sorted once, nodes with their edges.
            (Route::Rows, true) => {
                let edges = self.target.edge_rows();
                let width = self.target.edges.first().map_or(0, row_bytes);
                (edges, edges.map(|edges| edges.saturating_mul(width)), 1)
            }
            (_, false) => self.sorted(opened, options),
        };
        let memory = resources.budget.limit();
        let temporary_bytes = bytes.map(|bytes| bytes.saturating_mul(orders));
        PlanCost {
            source_bytes: opened.native.about().bytes,
            sorted_edges,
            orders,
            memory,
            temporary_bytes: temporary_bytes.map(|bytes| if bytes > memory / 2 { bytes } else { 0 }),
        }
    }

    /// The number of edges to sort, their size in bytes, and the number of orders.
    fn sorted(&self, opened: &Opened, options: &ConvertOptions) -> (Option<u64>, Option<u64>, u64) {
        // Constructs that become nodes and edges add edge types after those of the graph.
        let plain = self.mapping.steps.iter().find_map(|step| match step {
            Step::Reify(record) => Some(&record.plain),
            Step::Relate(record) => Some(&record.typed),
            Step::Part(record) => Some(&record.typed),
            _ => None,
        });
        let projected = self.prepared.iter().find_map(|view| match view {
            Preparation::Project(projection) => Some(&projection.graph),
            _ => None,
        });
        let graph = plain.or(projected).unwrap_or_else(|| opened.graph.graph());
        let typed = self.to.shape() == Shape::Typed;
        let fused = matches!(self.mapping.steps.last(), Some(Step::Fuse(_)));
        let must_sort = |ty: usize| {
            let source = &opened.graph;
            (self.to.traits().sorts_edges || fused)
                && (typed
                    || plain.or(projected).is_some()
                    || source.end_form(ty) == EndForm::Keys
                    || !source.edge_orders(ty).contains(&EdgeOrder::Source))
        };
        let (mut edges, mut bytes) = (Some(0u64), Some(0u64));
        for (_, ty) in graph.edges.iter().enumerate().filter(|(at, _)| must_sort(*at)) {
            edges = edges.zip(ty.rows).map(|(sum, rows)| sum.saturating_add(rows));
            bytes = bytes.zip(ty.rows).map(|(sum, rows)| sum.saturating_add(rows.saturating_mul(row_bytes(ty))));
        }
        // A survey has counted them.
        if let Some((digested, None)) = self.digested.as_ref().map(|digested| (digested, edges)) {
            let count = counts(&digested.table).1;
            let widest = self.target.edges.iter().map(row_bytes).max().unwrap_or_default();
            (edges, bytes) = (Some(count), Some(count.saturating_mul(widest)));
        }
        (edges, bytes, if fused { 1 } else { self.to.edge_orders(&options.write) })
    }
}

/// Size of an edge during sorting, in bytes: two ends, its number, its properties.
fn row_bytes(ty: &EdgeType) -> u64 {
    let width = |data_type: &DataType| data_type.primitive_width().map_or(GUESSED_BYTES, |width| width as u64);
    24 + ty.properties.iter().map(|property| width(&property.data_type)).sum::<u64>()
}
