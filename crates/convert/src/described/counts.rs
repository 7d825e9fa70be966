//! Row counts that a format does not state, found by reading small data.

use std::collections::HashMap;

use arrow_array::Array;
use isomorph_error::{Error, Result};
use isomorph_model::schema::Owner;
use isomorph_model::{Batch, EdgeType, Ends, NodeBatch, NodeType, Relation, Request, Source, Tables};
use isomorph_storage::Resources;
use isomorph_tables::lookup::{KeyRowsBuilder, LookupOptions};

/// Data up to this size, in bytes, is read.
const SMALL: u64 = 64 << 20;

/// Row counts, as far as known.
#[derive(Debug, Default)]
pub struct Counts {
    /// By node type.
    pub nodes: Vec<Option<u64>>,
    /// By edge type.
    pub edges: Vec<Option<u64>>,
    /// By edge type: the relations, most frequent first, if rows name them.
    pub relations: Vec<Option<Vec<(String, u64)>>>,
    /// The first error that prevented counting.
    pub error: Option<Error>,
}

impl Counts {
    /// Counts the rows of `source`, whose data has `bytes` bytes. What cannot be read is unknown, and the first error
    /// is kept.
    pub fn of(source: &dyn Source, bytes: u64) -> Self {
        let small = bytes <= SMALL;
        let graph = source.graph();
        let mut error = None;
        let mut count = |known: Option<u64>, tables| {
            known.or_else(|| small.then(|| kept(rows(source, tables), &mut error)).flatten())
        };
        // If edges imply nodes, a node may be stated more than once: the known number is that of the statements.
        let known = |ty: &NodeType| ty.rows.filter(|_| !small || !ty.implied);
        let nodes = graph.nodes.iter().enumerate();
        let nodes = nodes.map(|(at, ty)| count(known(ty), Tables::NodeKeys(at)).or(ty.rows));
        let mut counts = Counts { nodes: nodes.collect(), ..Counts::default() };
        for (at, ty) in graph.edges.iter().enumerate() {
            let relations = small.then(|| kept(relations(source, at, ty), &mut error).flatten()).flatten();
            let sum = relations.as_ref().map(|found| found.iter().map(|(_, count)| count).sum());
            let known = ty.rows.or(sum);
            counts
                .edges
                .push(known.or_else(|| small.then(|| kept(rows(source, Tables::EdgeEnds(at)), &mut error)).flatten()));
            counts.relations.push(relations);
        }
        counts.error = error;
        counts
    }

    /// The same with nodes of implied types that have no row, because only edges or values name them: queries and other formats count
    /// them too. Larger data is not read for that.
    pub fn with_implied(mut self, source: &dyn Source, bytes: u64, resources: &Resources) -> Self {
        let types = source.graph().nodes.iter().zip(&mut self.nodes).enumerate();
        for (at, (_, count)) in types.filter(|(_, (ty, _))| ty.implied && bytes <= SMALL) {
            *count = kept(implied(source, at, resources), &mut self.error).flatten().or(*count);
        }
        self
    }
}

/// The number of nodes of type `at` that rows, edges or values name; `None` if nodes are known by their rows.
fn implied(source: &dyn Source, at: usize, resources: &Resources) -> Result<Option<u64>> {
    let graph = source.graph();
    let mut keys = KeyRowsBuilder::new(LookupOptions::new(&resources.budget, &resources.scratch));
    let of_edges = graph.edges.iter().enumerate().filter(|(_, ty)| ty.source == at || ty.target == at);
    let of_values = graph.values.iter().any(|table| table.owner == Owner::Nodes(at)).then_some(Tables::Rest);
    let tables = std::iter::once(Tables::NodeKeys(at)).chain(of_edges.map(|(edge, _)| Tables::EdgeEnds(edge)));
    for tables in tables.chain(of_values) {
        for part in source.scan(&Request::of(tables))? {
            for batch in part {
                match batch? {
                    Batch::Nodes(NodeBatch { keys: Some(own), .. }) => keys.push(own.as_ref())?,
                    Batch::Nodes(_) => return Ok(None),
                    Batch::Edges(edges) => {
                        let own = graph.edges.get(edges.ty).map(|ty| [ty.source, ty.target]).unwrap_or_default();
                        let ends = own.into_iter().zip([&edges.source, &edges.target]);
                        for (_, ends) in ends.filter(|(ty, _)| *ty == at) {
                            // Ends that are rows have one.
                            if let Ends::Keys(ends) = ends {
                                keys.push(ends.as_ref())?;
                            }
                        }
                    }
                    Batch::Values(values) => {
                        let of = graph.values.get(values.table).map(|table| table.owner);
                        if let (Some(Owner::Nodes(ty)), Ends::Keys(owners)) = (of, &values.owner)
                            && ty == at
                        {
                            keys.push(owners.as_ref())?;
                        }
                    }
                    _ => {}
                }
            }
        }
    }
    let known = keys.finish()?;
    Ok(Some(known.rows() - known.repeats().count()))
}

/// Returns the value that was read; keeps the error if it is the first.
fn kept<T>(read: Result<T>, first: &mut Option<Error>) -> Option<T> {
    read.map_err(|error| first.get_or_insert(error).kind()).ok()
}

fn rows(source: &dyn Source, tables: Tables) -> Result<u64> {
    let mut rows = 0;
    for mut part in source.scan(&Request::of(tables))? {
        part.read(&mut |batch| {
            rows += batch.rows() as u64;
            Ok(())
        })?;
    }
    Ok(rows)
}

fn relations(source: &dyn Source, at: usize, ty: &EdgeType) -> Result<Option<Vec<(String, u64)>>> {
    if ty.relation != Relation::PerRow {
        return Ok(None);
    }
    let mut found: HashMap<String, u64> = HashMap::new();
    for mut part in source.scan(&Request::of(Tables::EdgeEnds(at)))? {
        part.read(&mut |batch| {
            let Batch::Edges(edges) = batch else { return Ok(()) };
            let Some(relations) = edges.relations else { return Ok(()) };
            let mut counts = vec![0u64; relations.names.len()];
            for &name in relations.index.values() {
                if let Some(count) = counts.get_mut(name as usize) {
                    *count += 1;
                }
            }
            for (name, count) in relations.names.iter().zip(counts).filter(|(_, count)| *count > 0) {
                *found.entry(name.unwrap_or_default().to_owned()).or_default() += count;
            }
            Ok(())
        })?;
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by(|(name, count), (other, more)| more.cmp(count).then_with(|| name.cmp(other)));
    Ok(Some(found))
}
