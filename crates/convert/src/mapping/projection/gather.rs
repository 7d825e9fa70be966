//! Collects the members of hyperedges.
//!
//! A source can return the members of one hyperedge anywhere: a file that stores them as edges returns all heads before
//! the first tail. So hyperedges and members are sorted by hyperedge, in memory or in temporary files.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt8Array, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Result};
use isomorph_model::batch::{HyperedgeBatch, MemberBatch};
use isomorph_model::schema::HyperedgeType;
use isomorph_model::type_name::list_of;
use isomorph_model::{Batch, EndForm, Ends, Graph, Request, Source, Tables, well_known};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};
use xxhash_rust::xxh3::xxh3_128;

use super::pairs::Groups;
use crate::arrow_limits::halves;
use crate::mapping::arrays::{as_type, malformed};
use crate::parallel::Pass;
use crate::progress::Progress;
use isomorph_storage::Resources;

/// Parts of a scan of pairs: enough for the threads of any machine, and few enough that each has some rows.
const PARTS: usize = 32;

/// The content of a row of the sort: the hyperedge itself, or a member in this role.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Is {
    Hyperedge = 0,
    Head = 1,
    Tail = 2,
    Member = 3,
}

/// Columns of the sort, before the properties.
pub(super) mod at {
    /// The content of the row.
    pub const IS: usize = 0;
    /// The id of the hyperedge, in its own row.
    pub const KEY: usize = 1;
    /// The member.
    pub const END: usize = 2;
    /// Its layer.
    pub const LAYER: usize = 3;
    /// Whether the hyperedge is directed.
    pub const DIRECTED: usize = 4;
    /// The first property of the hyperedge.
    pub const PROPERTIES: usize = 5;
}

/// Counts.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub types: Vec<TypeCounts>,
    /// Memberships of hyperedges, by kind of groups.
    pub memberships: Vec<u64>,
}

/// Counts of a hyperedge type, and how its members refer to hyperedges and nodes.
#[derive(Debug, Clone, Default)]
pub(super) struct TypeCounts {
    pub hyperedges: u64,
    pub members: u64,
    pub coefficients: u64,
    /// Whether members refer to their hyperedge by row.
    owner_rows: bool,
    /// Whether members refer to nodes by row.
    end_rows: bool,
}

/// Counts hyperedges, members and memberships of hyperedges.
///
/// # Errors
/// If they cannot be read.
pub(super) fn count(source: &dyn Source, progress: &dyn Progress) -> Result<Counts> {
    use isomorph_model::schema::Owner;
    let graph = source.graph();
    let mut counts =
        Counts { types: vec![TypeCounts::default(); graph.hyperedges.len()], memberships: vec![0; graph.groups.len()] };
    let parts = source.scan(&Request::of(Tables::Rest))?;
    Pass::new(parts, "hyperedges", 1, progress).in_order(|batch| {
        match &batch {
            Batch::Hyperedges(batch) => {
                if let Some(counts) = counts.types.get_mut(batch.ty) {
                    counts.hyperedges += batch.rows as u64;
                }
            }
            Batch::Members(batch) => {
                if let Some(counts) = counts.types.get_mut(batch.ty) {
                    counts.members += batch.member.len() as u64;
                    let stated = batch.coefficients.as_ref().map_or(0, |all| all.len() - all.null_count());
                    counts.coefficients += stated as u64;
                    counts.owner_rows |= matches!(batch.owner, Ends::Rows(_));
                    counts.end_rows |= matches!(batch.member, Ends::Rows(_));
                }
            }
            Batch::Memberships(batch) => {
                let table = graph.groups.get(batch.kind).and_then(|kind| kind.memberships.get(batch.table));
                if table.is_some_and(|table| matches!(table.of, Owner::Hyperedges(_))) {
                    counts.memberships[batch.kind] += batch.member.len() as u64;
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    Ok(counts)
}

/// The hyperedges of one type with their members.
pub(super) struct Gathered {
    sorted: SortedEdges,
    pub form: EndForm,
}

impl Gathered {
    /// Bounds of parts that can be read independently.
    pub fn parts(&self) -> Vec<std::ops::Range<u64>> {
        let splits = self.sorted.splits(PARTS, 1);
        let starts = std::iter::once(0).chain(splits.iter().copied());
        starts.enumerate().map(|(at, start)| start..splits.get(at).copied().unwrap_or(u64::MAX)).collect()
    }

    /// The hyperedges of a part with their members, in an order that does not depend on the source.
    ///
    /// # Errors
    /// If they cannot be read back.
    pub fn groups(&self, part: std::ops::Range<u64>) -> Result<Groups<'_>> {
        Ok(Groups::new(self.sorted.range(part)?))
    }
}

/// Collects the members of the hyperedges of every type.
///
/// # Errors
/// If they cannot be read, or there is too little memory even for spilling.
pub(super) fn gather(
    source: &dyn Source,
    counts: &Counts,
    resources: &Resources,
    progress: &dyn Progress,
) -> Result<Vec<Gathered>> {
    let graph = source.graph();
    let memory = resources.budget.limit() / 4 / graph.hyperedges.len().max(1) as u64;
    let mut sorters = Vec::new();
    for (ty, counts) in graph.hyperedges.iter().zip(&counts.types) {
        let schema = schema(graph, ty, counts)?;
        let options = SortOptions::new(&resources.budget, &resources.scratch)
            .memory(memory)
            .threads(resources.threads)
            .payload(Arc::clone(&schema));
        sorters.push(Gathering { sorter: EdgeSorter::new(options)?, schema, ty, counts, rows: 0 });
    }
    let parts = source.scan(&Request::of(Tables::Rest))?;
    Pass::new(parts, "members", 1, progress).in_order(|batch| match &batch {
        Batch::Hyperedges(batch) => sorters.get_mut(batch.ty).map_or(Ok(()), |sorter| sorter.hyperedges(batch)),
        Batch::Members(batch) => sorters.get_mut(batch.ty).map_or(Ok(()), |sorter| sorter.members(batch)),
        _ => Ok(()),
    })?;
    sorters.into_iter().map(Gathering::finish).collect()
}

/// The columns of the sort for a type.
fn schema(graph: &Graph, ty: &HyperedgeType, counts: &TypeCounts) -> Result<SchemaRef> {
    let node = graph.nodes.get(ty.ends).ok_or_else(|| Error::usage("hyperedges of an unknown node type"))?;
    let end = if counts.end_rows { DataType::UInt64 } else { node.key.data_type.clone() };
    let mut fields = vec![
        Field::new("is", DataType::UInt8, false),
        Field::new("key", DataType::Utf8, true),
        Field::new("end", end, true),
        Field::new("layer", list_of(DataType::Utf8), true),
        Field::new(well_known::DIRECTED, DataType::Boolean, true),
    ];
    fields.extend(ty.properties.iter().map(|property| Field::new("", property.data_type.clone(), true)));
    Ok(Arc::new(Schema::new(fields)))
}

struct Gathering<'a> {
    sorter: EdgeSorter,
    schema: SchemaRef,
    ty: &'a HyperedgeType,
    counts: &'a TypeCounts,
    /// Number of rows that were added.
    rows: u64,
}

impl Gathering<'_> {
    fn hyperedges(&mut self, batch: &HyperedgeBatch) -> Result<()> {
        let keys = as_type(&batch.keys, &DataType::Utf8)?;
        let (first, second) = match self.counts.owner_rows {
            true => ((batch.start..batch.start + batch.rows as u64).collect(), vec![0; batch.rows]),
            false => places(&keys),
        };
        let mut columns = self.empty(batch.rows);
        columns[at::IS] = Arc::new(UInt8Array::from(vec![Is::Hyperedge as u8; batch.rows]));
        columns[at::KEY] = keys;
        if let Some(directed) = &batch.directed {
            columns[at::DIRECTED] = Arc::new(directed.clone());
        }
        for (place, column) in columns.iter_mut().skip(at::PROPERTIES).zip(&batch.properties) {
            if let Some(column) = column {
                *place = as_type(column, place.data_type())?;
            }
        }
        self.push(&first, &second, columns)
    }

    fn members(&mut self, batch: &MemberBatch) -> Result<()> {
        let rows = batch.member.len();
        let (first, second) = match &batch.owner {
            Ends::Rows(owners) if self.counts.owner_rows => (owners.values().to_vec(), vec![0; rows]),
            Ends::Keys(keys) if !self.counts.owner_rows => places(&as_type(keys, &DataType::Utf8)?),
            _ => return Err(told_in_two_ways(self.ty)),
        };
        let mut columns = self.empty(rows);
        let roles = batch.roles.iter().map(|role| match role {
            Some("head") => Ok(Is::Head as u8),
            Some("tail") => Ok(Is::Tail as u8),
            Some("member") => Ok(Is::Member as u8),
            other => Err(Error::malformed(format!("{:?} is not a role of a member", other.unwrap_or_default()))),
        });
        columns[at::IS] = Arc::new(roles.collect::<Result<UInt8Array>>()?);
        columns[at::END] = match &batch.member {
            Ends::Rows(rows) if self.counts.end_rows => Arc::new(rows.clone()),
            Ends::Keys(keys) if !self.counts.end_rows => as_type(keys, columns[at::END].data_type())?,
            _ => return Err(told_in_two_ways(self.ty)),
        };
        if let Some(layers) = &batch.layers {
            columns[at::LAYER] = as_type(layers, &list_of(DataType::Utf8))?;
        }
        self.push(&first, &second, columns)
    }

    /// Columns of nulls.
    fn empty(&self, rows: usize) -> Vec<ArrayRef> {
        self.schema.fields().iter().map(|field| new_null_array(field.data_type(), rows)).collect()
    }

    fn push(&mut self, first: &[u64], second: &[u64], columns: Vec<ArrayRef>) -> Result<()> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(malformed)?;
        self.sorter.push(first, second, Some(&batch), self.rows)?;
        self.rows += first.len() as u64;
        Ok(())
    }

    fn finish(self) -> Result<Gathered> {
        let form = if self.counts.end_rows { EndForm::Rows } else { EndForm::Keys };
        Ok(Gathered { sorted: self.sorter.finish()?, form })
    }
}

fn told_in_two_ways(ty: &HyperedgeType) -> Error {
    Error::unsupported(format!("members of {} are given partly by row and partly by key", ty.name))
}

/// The positions of hyperedges with these keys in the sort: the two halves of a 127-bit hash, so that no first half is
/// the end of all ranges.
fn places(keys: &ArrayRef) -> (Vec<u64>, Vec<u64>) {
    let hash = |key: Option<&str>| xxh3_128(key.unwrap_or_default().as_bytes());
    keys.as_string::<i32>().iter().map(|key| halves(hash(key))).map(|(first, second)| (first >> 1, second)).unzip()
}

/// The column that states whether a hyperedge is directed; null means directed.
pub(super) fn directed(columns: &RecordBatch) -> &BooleanArray {
    columns.column(at::DIRECTED).as_boolean()
}

/// The members of rows, as ends.
pub(super) fn ends(column: &ArrayRef, form: EndForm) -> Ends {
    match form {
        EndForm::Keys => Ends::Keys(Arc::clone(column)),
        EndForm::Rows => Ends::Rows(column.as_primitive::<UInt64Type>().clone()),
    }
}
