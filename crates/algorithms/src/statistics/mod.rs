//! What a graph looks like: counts, degrees, components, columns.

mod columns;
mod degrees;
mod edges;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ArrayRef;
use isomorph_dataset::{Dataset, Role, TableKind};
use isomorph_error::Result;
use isomorph_model::{Batch, KeyKind, Request, Source, Tables};
use isomorph_storage::parallel::map;
use serde::{Deserialize, Serialize};

use crate::arcs::{Arcs, Kept};
use crate::array::Array;
use crate::components::Union;
use crate::jobs::{Job, by_size};
use crate::nodes::Nodes;
use crate::read::{self, Wanted};
pub use columns::Distinct;
use columns::{Hashes, Sketch};
pub use degrees::{Degrees, HistogramBar};
pub use edges::EdgeTypeStatistics;

/// What a graph looks like.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GraphStatistics {
    /// Number of nodes.
    pub nodes: u64,
    /// Number of edges, dangling ones included.
    pub edges: u64,
    /// Each node type.
    pub node_types: Vec<NodeTypeStatistics>,
    /// Each relation of each edge type.
    pub edge_types: Vec<EdgeTypeStatistics>,
    /// Ends of edges at each node: a loop counts twice.
    pub degree: Degrees,
    /// Directed edges that leave each node; `None` if no edge is directed.
    pub out_degree: Option<Degrees>,
    /// Directed edges that reach each node; `None` if no edge is directed.
    pub in_degree: Option<Degrees>,
    /// Nodes without edges.
    pub isolated: u64,
    /// Edges from a node to itself.
    pub loops: u64,
    /// Edges beyond the first with the same ends, relation and direction.
    pub parallel: u64,
    /// Of directed edges between different nodes of one type, parallel ones counted once, the share whose reverse, of the same relation, exists; `None` without such edges.
    pub reciprocity: Option<f64>,
    /// Edges of which an end is no node; they count in no number but `edges`.
    pub dangling: u64,
    /// Weakly connected components.
    pub components: ComponentStatistics,
    /// Hyperedges, which count in no other number; `None` if their number is unknown.
    pub hyperedges: Option<u64>,
    /// Keys that several nodes of a type have; edges refer to the first of these nodes.
    pub repeated_keys: u64,
    /// The columns of nodes and edges.
    pub tables: Vec<TableColumns>,
}

/// The nodes of a type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeTypeStatistics {
    /// The type.
    pub name: String,
    /// Their number.
    pub nodes: u64,
    /// Of these, without edges.
    pub isolated: u64,
}

/// The weakly connected components.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentStatistics {
    /// Their number.
    pub count: u64,
    /// Nodes of the largest.
    pub largest: u64,
    /// Components by the number of their nodes.
    pub histogram: Vec<HistogramBar>,
}

/// The columns of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableColumns {
    /// The table, as SQL calls it.
    pub table: String,
    /// Number of rows.
    pub rows: u64,
    /// The columns: the key, and properties.
    pub columns: Vec<ColumnStatistics>,
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnStatistics {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub data_type: String,
    /// Number of nulls.
    pub nulls: u64,
    /// Number of different values that are not null.
    pub distinct: Distinct,
}

/// The sketches of the columns of a table: the key first, if there is one.
struct TableSketch {
    name: String,
    names: Vec<(String, String)>,
    has_key: bool,
    rows: Mutex<u64>,
    columns: Vec<Mutex<Sketch>>,
}

impl TableSketch {
    fn add(&self, key: Option<&ArrayRef>, properties: &[Option<ArrayRef>], rows: usize) -> Result<()> {
        let rows = rows as u64;
        *self.rows.lock().unwrap_or_else(PoisonError::into_inner) += rows;
        let keys = self.has_key.then_some(key).into_iter();
        let absent = std::iter::repeat(None);
        let columns = keys.chain(properties.iter().map(Option::as_ref).chain(absent));
        for (column, sketch) in columns.zip(&self.columns) {
            let hashes = column.map(Hashes::of).transpose()?;
            sketch.lock().unwrap_or_else(PoisonError::into_inner).add(hashes.as_ref(), rows);
        }
        Ok(())
    }

    fn finish(self) -> TableColumns {
        let columns = self.names.into_iter().zip(self.columns).map(|((name, data_type), sketch)| {
            let sketch = sketch.into_inner().unwrap_or_else(PoisonError::into_inner);
            ColumnStatistics { name, data_type, nulls: sketch.nulls, distinct: sketch.distinct() }
        });
        let rows = self.rows.into_inner().unwrap_or_else(PoisonError::into_inner);
        TableColumns { table: self.name, rows, columns: columns.collect() }
    }
}

/// The statistics of a graph. Nodes and edges are read once with all their columns; if edges name nodes by key, the keys of nodes are read once more.
///
/// # Errors
/// If the graph cannot be read, the budget is too small, or the work is cancelled.
pub fn statistics(source: &Arc<dyn Source>, job: &Job<'_>) -> Result<GraphStatistics> {
    let (resources, progress) = (job.resources, job.progress);
    let sketches = sketches(source, job);
    let mut nodes = Nodes::read(source, resources, progress)?;
    let observer = |batch: &isomorph_model::EdgeBatch| match sketches.get(&(true, batch.ty)) {
        Some(sketch) => sketch.add(batch.keys.as_ref(), &batch.properties, batch.rows),
        None => Ok(()),
    };
    let mut arcs = Arcs::new(resources, Kept { labels: true, weights: false }, nodes.count(), 24);
    let wanted = Wanted { relations: job.relations, weight: None, observer: Some(&observer) };
    let relations = read::edges(&mut nodes, &wanted, progress, &mut |edges| edges::collect(&mut arcs, &edges))?;
    let arcs = arcs.finish(nodes.len())?;
    let of_edges = edges::count(&arcs, &relations, source.graph(), resources.threads);
    let degrees = degrees::of(&arcs, resources)?;
    let mut union = Union::new(u64::from(arcs.nodes()), resources)?;
    for node in 0..arcs.nodes() {
        arcs.of(node).iter().for_each(|other| union.unite(node, *other));
    }
    drop(arcs);
    let (_, sizes) = by_size(union.finish(nodes.len(), resources)?, resources)?;
    let components = ComponentStatistics {
        count: sizes.len() as u64,
        largest: sizes.first().map_or(0, |(size, _)| *size),
        histogram: degrees::histogram(&degrees::counted(sizes.iter().map(|(size, _)| *size))),
    };
    read_nodes(source, &sketches, job)?;
    let isolated = isolated(&nodes, &degrees.total);
    let node_types = nodes.types().enumerate().map(|(at, name)| NodeTypeStatistics {
        name: name.to_owned(),
        nodes: nodes.of_type(at),
        isolated: isolated.get(at).copied().unwrap_or_default(),
    });
    let node_types: Vec<NodeTypeStatistics> = node_types.collect();
    let directed: u64 = of_edges.iter().map(|ty| ty.directed).sum();
    let has_directed = directed > 0;
    Ok(GraphStatistics {
        nodes: nodes.count(),
        edges: of_edges.iter().map(|ty| ty.edges).sum(),
        degree: degrees.of_total(),
        out_degree: has_directed.then(|| degrees.of_out()),
        in_degree: has_directed.then(|| degrees.of_in()),
        isolated: node_types.iter().map(|ty| ty.isolated).sum(),
        loops: of_edges.iter().map(|ty| ty.loops).sum(),
        parallel: of_edges.iter().map(|ty| ty.parallel).sum(),
        reciprocity: edges::reciprocity(&of_edges),
        dangling: relations.dangling(),
        components,
        hyperedges: source.graph().hyperedges.iter().map(|ty| ty.rows).sum(),
        repeated_keys: nodes.repeated_keys(),
        node_types,
        edge_types: of_edges,
        tables: sketches.into_values().map(TableSketch::finish).collect(),
    })
}

/// Nodes without edges, by type.
fn isolated(nodes: &Nodes, degrees: &Array<u64>) -> Vec<u64> {
    let mut isolated = vec![0; nodes.types().len()];
    for (node, degree) in (0u32..).zip(degrees.iter()) {
        if *degree == 0
            && let Some(count) = nodes.type_of(node).and_then(|ty| isolated.get_mut(ty))
        {
            *count += 1;
        }
    }
    isolated
}

/// Empty sketches, by whether they are of edges, and the index of their type.
fn sketches(source: &Arc<dyn Source>, job: &Job<'_>) -> BTreeMap<(bool, usize), TableSketch> {
    let graph = source.graph();
    let tables = Dataset::new(Arc::clone(source), job.resources.clone());
    let columns_of = |properties: usize| properties + 1;
    let all = graph.nodes.iter().map(|ty| columns_of(ty.properties.len())).sum::<usize>()
        + graph.edges.iter().map(|ty| columns_of(ty.properties.len())).sum::<usize>();
    let of = |table: &isomorph_dataset::Table| {
        // Edges that are not walked are not read.
        let is_read = |ty: &&isomorph_model::EdgeType| match (ty.relation.fixed(), job.relations) {
            (Some(name), Some(relations)) => relations.contains(name),
            _ => true,
        };
        let (key, properties, place) = match table.kind() {
            TableKind::Nodes(at) => graph.nodes.get(at).map(|ty| (Some(&ty.key), &ty.properties, (false, at))),
            TableKind::Edges(at) => {
                let ty = graph.edges.get(at).filter(is_read);
                ty.map(|ty| (ty.key.as_ref(), &ty.properties, (true, at)))
            }
            _ => None,
        }?;
        let key = key.filter(|key| key.kind != KeyKind::Row);
        // As the table calls them: a bag of properties has no name of its own.
        let field = |role: Role| {
            let at = table.roles().iter().position(|own| *own == role)?;
            let field = table.schema().field(at);
            Some((field.name().clone(), field.data_type().to_string()))
        };
        let own = key.and_then(|_| field(Role::Key));
        let has_key = own.is_some();
        let property = |(at, property): (usize, &isomorph_model::Property)| {
            field(Role::Property(at)).unwrap_or_else(|| (property.name.clone(), property.data_type.to_string()))
        };
        let names: Vec<(String, String)> = own.into_iter().chain(properties.iter().enumerate().map(property)).collect();
        let columns = names.iter().map(|_| Mutex::new(Sketch::new(&job.resources.budget, all))).collect();
        let name = table.name().to_owned();
        Some((place, TableSketch { name, names, has_key, rows: Mutex::default(), columns }))
    };
    tables.tables().iter().filter_map(of).collect()
}

/// Reads all columns of nodes.
fn read_nodes(source: &Arc<dyn Source>, sketches: &BTreeMap<(bool, usize), TableSketch>, job: &Job<'_>) -> Result<()> {
    let graph = source.graph();
    let requests = match graph.nodes.len() > 1 && source.is_one_table(Tables::AllNodes) {
        true => vec![Request::of(Tables::AllNodes)],
        false => (0..graph.nodes.len()).map(|at| Request::of(Tables::Nodes(at))).collect(),
    };
    job.progress.begin("columns", graph.node_rows());
    for request in requests {
        let parts = source.scan(&request)?;
        let read = |part: Box<dyn isomorph_model::Part + '_>| -> Result<()> {
            for batch in part {
                let Batch::Nodes(batch) = batch? else { continue };
                job.progress.advance(batch.rows as u64)?;
                if let Some(sketch) = sketches.get(&(false, batch.ty)) {
                    sketch.add(batch.keys.as_ref(), &batch.properties, batch.rows)?;
                }
            }
            Ok(())
        };
        map(job.resources.threads, parts, read).into_iter().collect::<Result<()>>()?;
    }
    job.progress.end();
    Ok(())
}
