//! Edges that must be sorted: one pass over the source feeds every order that is wanted.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, new_null_array};
use arrow_schema::{Field, Schema, SchemaRef};
use isomorph_error::{Error, Result};
use isomorph_model::{Batch, EdgeBatch, EdgeOrder, EdgeType, Ends, Relations, Request, Source, Tables};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};

use super::ends::RowsByKey;
use crate::digests::Resources;
use crate::parallel;
use crate::progress::Progress;

/// Edges of one type, wanted in one order for one delivery.
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
    ty: usize,
    order: EdgeOrder,
    relations: bool,
}

/// Reads the edges of `source` once and sorts them for each of `wanted`.
///
/// # Errors
/// When the source cannot be read, an end does not exist, or memory is too short even for spilling.
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
    let mut sorters = Vec::with_capacity(wanted.len());
    for wanted in wanted {
        let ty = graph.edges.get(wanted.ty).ok_or_else(|| Error::usage("no such edge type"))?;
        let options = SortOptions::new(&resources.budget, &resources.scratch).payload(payload_schema(ty));
        sorters.push(EdgeSorter::new(options.threads(resources.threads))?);
    }
    let mut types: Vec<usize> = wanted.iter().map(|wanted| wanted.ty).collect();
    types.sort_unstable();
    types.dedup();
    // One pass over everything; or over the types that are wanted, where only some are.
    let requests: Vec<Tables> = match types.len() == graph.edges.len() {
        true => vec![Tables::AllEdges],
        false => types.into_iter().map(Tables::Edges).collect(),
    };
    for (pass, tables) in requests.into_iter().enumerate() {
        let parts = source.scan(&Request::of(tables))?;
        progress.begin("edges", parts.iter().map(|part| part.rows()).sum());
        let new = || (usize::MAX, 0u64);
        let read = parallel::fold(&parts, resources.threads, new, |(last, offset), part, batch| {
            let Batch::Edges(edges) = batch else { return Ok(()) };
            if *last != part {
                (*last, *offset) = (part, 0);
            }
            // Parallel edges keep the order in which they were read, whoever read them.
            let sequence = ((pass as u64) << 56) | ((part as u64) << 36) | *offset;
            *offset += edges.rows as u64;
            progress.advance(edges.rows as u64);
            let ty = graph.edges.get(edges.ty).ok_or_else(|| Error::usage("no such edge type"))?;
            let from = rows.rows(ty.source, &edges.source)?;
            let to = rows.rows(ty.target, &edges.target)?;
            let payload = payload(ty, &edges)?;
            for (wanted, sorter) in wanted.iter().zip(&sorters).filter(|(wanted, _)| wanted.ty == edges.ty) {
                let (aligned, other) = match wanted.order {
                    EdgeOrder::Target => (&to, &from),
                    EdgeOrder::Source | EdgeOrder::Any => (&from, &to),
                };
                sorter.push(aligned.values(), other.values(), payload.as_ref(), sequence)?;
            }
            Ok(())
        });
        progress.end();
        read?;
    }
    wanted
        .iter()
        .zip(sorters)
        .map(|(wanted, sorter)| {
            let relations = graph.edges.get(wanted.ty).is_some_and(|ty| ty.relation.fixed().is_none());
            Ok(Sorted { edges: sorter.finish()?, ty: wanted.ty, order: wanted.order, relations })
        })
        .collect()
}

/// What travels with the ends: the relation where rows have their own, then the properties.
fn payload_schema(ty: &EdgeType) -> SchemaRef {
    let relation = ty.relation.fixed().is_none().then(|| Field::new("relation", arrow_schema::DataType::Utf8, false));
    let properties = ty.properties.iter().enumerate();
    let properties = properties.map(|(at, property)| Field::new(at.to_string(), property.data_type.clone(), true));
    Arc::new(Schema::new(relation.into_iter().chain(properties).collect::<Vec<_>>()))
}

fn payload(ty: &EdgeType, edges: &EdgeBatch) -> Result<Option<RecordBatch>> {
    let schema = payload_schema(ty);
    if schema.fields().is_empty() {
        return Ok(None);
    }
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    if let Some(relations) = &edges.relations {
        let names = arrow_select::take::take(&relations.names, &relations.index, None);
        columns.push(names.map_err(|error| Error::malformed(error.to_string()))?);
    }
    for (property, column) in ty.properties.iter().zip(&edges.properties) {
        columns.push(column.clone().unwrap_or_else(|| new_null_array(&property.data_type, edges.rows)));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(edges.rows));
    let batch = RecordBatch::try_new_with_options(schema, columns, &options);
    batch.map(Some).map_err(|error| Error::usage(format!("an edge batch does not fit its type: {error}")))
}

impl Sorted {
    /// Number of edges.
    pub fn rows(&self) -> u64 {
        self.edges.rows()
    }

    /// Hands over the edges in order.
    ///
    /// # Errors
    /// When a spilled run cannot be read, or `take` returns an error.
    pub fn each(&self, mut take: impl FnMut(EdgeBatch) -> Result<()>) -> Result<()> {
        let mut stream = self.edges.stream()?;
        while let Some(batch) = stream.next_batch()? {
            let (aligned, other) = (Ends::Rows(batch.aligned), Ends::Rows(batch.other));
            let (source, target) = if self.order == EdgeOrder::Target { (other, aligned) } else { (aligned, other) };
            let mut columns = batch.payload.columns().iter().cloned();
            let relations =
                if self.relations { columns.next().map(|names| relations(&names)).transpose()? } else { None };
            take(EdgeBatch {
                ty: self.ty,
                rows: source.len(),
                relations,
                source,
                target,
                layers: None,
                directed: None,
                keys: None,
                properties: columns.map(Some).collect(),
            })?;
        }
        Ok(())
    }
}

/// Relation names of rows, as a dictionary.
fn relations(names: &ArrayRef) -> Result<Relations> {
    use arrow_array::cast::AsArray;
    let names = names.as_string_opt::<i32>().ok_or_else(|| Error::usage("relations are text"))?;
    let mut distinct: Vec<&str> = Vec::new();
    let mut known: std::collections::HashMap<&str, u32> = std::collections::HashMap::new();
    let index = names.iter().map(|name| {
        let name = name.unwrap_or_default();
        *known.entry(name).or_insert_with(|| {
            distinct.push(name);
            distinct.len() as u32 - 1
        })
    });
    let index = index.collect::<Vec<u32>>();
    Ok(Relations { names: distinct.into(), index: index.into() })
}
