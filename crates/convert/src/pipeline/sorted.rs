//! Edges that must be sorted: one pass over the source feeds all requested orders.

use arrow_array::RecordBatch;
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, EdgeBatch, EdgeOrder, EdgeType, Ends, Graph, Request, Source, Tables};
use isomorph_tables::sort::{EdgeSorter, Sequence, SortOptions, SortedEdges};

use super::bulk::BulkTypes;
use super::ends::RowsByKey;
use super::shares::shares;
use crate::parallel::Pass;
use crate::progress::Progress;
use crate::spilled_rows::{edge_batch, edge_record, edge_schema};
use isomorph_storage::Resources;

/// Edges of one type in one order for one delivery.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    /// Number of the delivery.
    pub number: usize,
    /// Edge type.
    pub ty: usize,
    /// Order.
    pub order: EdgeOrder,
}

/// Edges of one type in one order.
pub(super) struct Sorted {
    edges: SortedEdges,
    ty: EdgeType,
    /// The number of the type.
    number: usize,
    order: EdgeOrder,
}

/// Sorters for some of the requested orders; several threads may push at once.
struct Sorters<'w> {
    wanted: &'w [Wanted],
    /// Each with its index in `wanted`.
    sorters: Vec<(usize, EdgeSorter)>,
}

impl<'w> Sorters<'w> {
    /// Creates sorters for the entries that `shares` lists by index, with this many bytes of memory each.
    ///
    /// # Errors
    /// If there is too little memory even for spilling, or a column cannot be part of the sort.
    fn new(graph: &Graph, wanted: &'w [Wanted], shares: &[(usize, u64)], resources: &Resources) -> Result<Self> {
        let mut sorters = Vec::with_capacity(shares.len());
        for &(at, memory) in shares {
            let ty = wanted.get(at).and_then(|wanted| graph.edges.get(wanted.ty));
            let ty = ty.ok_or_else(|| Error::usage("no such edge type"))?;
            let options = SortOptions::new(&resources.budget, &resources.scratch).payload(edge_schema(ty, []));
            sorters.push((at, EdgeSorter::new(options.memory(memory).threads(resources.threads))?));
        }
        Ok(Sorters { wanted, sorters })
    }

    /// Adds edges of type `ty`.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    fn push<'s>(
        &self,
        ty: usize,
        (source, target): (&[u64], &[u64]),
        columns: Option<&RecordBatch>,
        sequence: impl Into<Sequence<'s>>,
    ) -> Result<()> {
        let sequence = sequence.into();
        for (at, sorter) in &self.sorters {
            let Some(wanted) = self.wanted.get(*at).filter(|wanted| wanted.ty == ty) else { continue };
            let (aligned, other) = match wanted.order {
                EdgeOrder::Target => (target, source),
                EdgeOrder::Source | EdgeOrder::Any => (source, target),
            };
            sorter.push(aligned, other, columns, sequence)?;
        }
        Ok(())
    }

    /// Stores the sorted edges in `sorted`.
    ///
    /// # Errors
    /// If there is no space for temporary files.
    fn finish(self, graph: &Graph, sorted: &mut [Option<Sorted>]) -> Result<()> {
        for (at, sorter) in self.sorters {
            let place =
                self.wanted.get(at).and_then(|wanted| Some((wanted, graph.edges.get(wanted.ty)?, sorted.get_mut(at)?)));
            let Some((wanted, ty, place)) = place else {
                return Err(Error::usage("edges were sorted that were not requested"));
            };
            let (number, order) = (wanted.ty, wanted.order);
            *place = Some(Sorted { edges: sorter.finish()?, ty: ty.clone(), number, order });
        }
        Ok(())
    }
}

/// Reads the edges of `source` once and sorts them for each entry of `wanted`.
///
/// # Errors
/// If the source cannot be read, an end does not exist, or there is too little memory even for spilling.
pub(super) fn sort(
    source: &dyn Source,
    wanted: &[Wanted],
    rows: &RowsByKey,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Vec<Sorted>> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let graph = source.graph();
    let mut types: Vec<usize> = wanted.iter().map(|wanted| wanted.ty).collect();
    types.sort_unstable();
    types.dedup();
    let bulk = BulkTypes::of(source, &types, rows);
    let of_types = |types: &[usize]| -> Vec<usize> {
        let all = wanted.iter().enumerate();
        all.filter(|(_, wanted)| types.contains(&wanted.ty)).map(|(at, _)| at).collect()
    };
    let direct: Vec<usize> =
        types.iter().copied().filter(|ty| !bulk.iter().any(|bulk| bulk.types.contains(ty))).collect();
    // Everything that collects edges during the pass shares the memory.
    let sorted_now = of_types(&direct);
    let rows_of = |ty: usize| graph.edges.get(ty).and_then(|ty| ty.rows);
    let rows_now = sorted_now.iter().map(|&at| wanted.get(at).and_then(|wanted| rows_of(wanted.ty)));
    let rows_bulk = bulk.iter().map(|bulk| bulk.types.iter().map(|&ty| rows_of(ty)).sum::<Option<u64>>());
    let mut memory = shares(resources.budget.available(), &rows_now.chain(rows_bulk).collect::<Vec<_>>());
    let memory_bulk = memory.split_off(sorted_now.len());
    let shares_now: Vec<(usize, u64)> = sorted_now.into_iter().zip(memory).collect();
    let sorters = Sorters::new(graph, wanted, &shares_now, resources)?;
    let bulk = bulk.into_iter().zip(memory_bulk).map(|(bulk, memory)| bulk.collect(rows, memory));
    let bulk = bulk.collect::<Result<Vec<_>>>()?;

    // One pass over everything; or over the requested types, if these are only some.
    let requests: Vec<Tables> = match types.len() == graph.edges.len() {
        true => vec![Tables::AllEdges],
        false => types.into_iter().map(Tables::Edges).collect(),
    };
    for (pass, tables) in requests.into_iter().enumerate() {
        let parts = source.scan(&Request::of(tables))?;
        let new = || (usize::MAX, 0u64);
        let edges = Pass::new(parts, "edges", resources.threads, progress);
        edges.fold(new, |(last, offset), part, batch| {
            let Batch::Edges(edges) = batch else { return Ok(()) };
            if *last != part {
                (*last, *offset) = (part, 0);
            }
            // Parallel edges keep the order of the source, whichever thread reads them.
            let sequence = ((pass as u64) << 56) | ((part as u64) << 36) | *offset;
            *offset += edges.rows as u64;
            let ty = graph.edges.get(edges.ty).ok_or_else(|| Error::usage("no such edge type"))?;
            let columns = columns(ty, &edges)?;
            if let Some(bulk) = bulk.iter().find(|bulk| bulk.types().contains(&edges.ty)) {
                return bulk.add(&edges, columns.as_ref(), sequence);
            }
            let from = rows.rows(ty.source, &edges.source)?;
            let to = rows.rows(ty.target, &edges.target)?;
            sorters.push(edges.ty, (from.values(), to.values()), columns.as_ref(), sequence)
        })?;
    }
    let mut sorted: Vec<Option<Sorted>> = wanted.iter().map(|_| None).collect();
    sorters.finish(graph, &mut sorted)?;
    for bulk in bulk {
        let places = of_types(bulk.types());
        let rows: Vec<_> = places.iter().map(|&at| wanted.get(at).and_then(|wanted| rows_of(wanted.ty))).collect();
        let memory = |available: u64| places.iter().copied().zip(shares(available, &rows)).collect::<Vec<_>>();
        let sorters = bulk.each(
            resources,
            progress,
            |available| Sorters::new(graph, wanted, &memory(available), resources),
            |sorters, edges| sorters.push(edges.ty, (edges.source, edges.target), edges.columns, edges.sequence),
        )?;
        sorters.finish(graph, &mut sorted)?;
    }
    // Deliveries take the sorted edges by position: none may be missing.
    let all: Option<Vec<Sorted>> = sorted.into_iter().collect();
    all.ok_or_else(|| Error::usage("edges of a type were not sorted"))
}

/// The columns that are sorted with the ends.
fn columns(ty: &EdgeType, edges: &EdgeBatch) -> Result<Option<RecordBatch>> {
    let schema = edge_schema(ty, []);
    let has_columns = !schema.fields().is_empty();
    has_columns.then(|| edge_record(&schema, Vec::new(), ty, edges)).transpose()
}

impl Sorted {
    /// Number of edges.
    pub fn rows(&self) -> u64 {
        self.edges.rows()
    }

    /// Passes on the edges in order.
    ///
    /// # Errors
    /// If a spilled run cannot be read, or `take` returns an error.
    pub fn each(&self, mut take: impl FnMut(EdgeBatch) -> Result<()>) -> Result<()> {
        let mut stream = self.edges.stream()?;
        while let Some(batch) = stream.next_batch()? {
            let (aligned, other) = (Ends::Rows(batch.aligned), Ends::Rows(batch.other));
            let (source, target) = if self.order == EdgeOrder::Target { (other, aligned) } else { (aligned, other) };
            take(edge_batch(&self.ty, self.number, (source, target), batch.payload.columns().iter().cloned())?)?;
        }
        Ok(())
    }
}
