//! Edges with the numbers of their groups, and the groups.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array};
use arrow_schema::SchemaRef;
use datafusion::arrow::compute::{concat_batches, take_record_batch};
use datafusion::arrow::row::{RowConverter, SortField};
use datafusion::common::{HashMap, Statistics};
use futures::StreamExt;
use isomorph::dataset::{Partition, PlannedRead};
use isomorph::storage::parallel;
use isomorph::storage::{Reservation, Resources};
use isomorph::{Error, Predicate, Result};

use crate::errors::internal;
use crate::tables::columns::Column;
use crate::tables::parts::{Part, Rows, Wanted};

/// Bytes of a group beside its values.
const GROUP_BYTES: u64 = 64;

/// The groups of all nodes of a type, which are found when they are first wanted.
pub(super) struct Groups {
    nodes: Arc<dyn Rows>,
    name: String,
    columns: Vec<usize>,
    resources: Resources,
    found: Mutex<Option<Arc<Found>>>,
}

/// Groups that were found.
struct Found {
    /// The group of each node.
    of_rows: Vec<u32>,
    /// The values of each group.
    values: RecordBatch,
    _memory: Reservation,
}

/// The groups of some nodes.
struct Own {
    of_rows: Vec<u32>,
    values: Vec<RecordBatch>,
    /// The values of each group as bytes that are equal where they are.
    keys: Vec<Box<[u8]>>,
}

impl Groups {
    pub fn new(nodes: &Arc<dyn Rows>, name: &str, columns: &[usize], resources: &Resources) -> Self {
        let (columns, found) = (columns.to_vec(), Mutex::default());
        Groups { nodes: Arc::clone(nodes), name: name.to_owned(), columns, resources: resources.clone(), found }
    }

    fn wanted(&self) -> Wanted {
        Wanted { columns: self.columns.clone(), ..Wanted::default() }
    }

    /// The groups, for all who ask.
    fn found(&self) -> Result<Arc<Found>> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        match &*found {
            Some(found) => Ok(Arc::clone(found)),
            None => Ok(Arc::clone(found.insert(Arc::new(self.find()?)))),
        }
    }

    fn find(&self) -> Result<Found> {
        let table = self.nodes.graph_table().ok_or_else(|| internal("nodes of no graph"))?;
        let partitions = table.partitions(&self.wanted())?;
        let read = |partition: Partition| self.own(partition);
        let all = parallel::map(self.resources.threads, partitions, read);
        let mut memory = self.resources.budget.reserve(0)?;
        let mut numbers: HashMap<Box<[u8]>, u32> = HashMap::new();
        let (mut of_rows, mut values) = (Vec::new(), Vec::new());
        for own in all {
            let Own { of_rows: of_own, values: of_groups, keys } = own?;
            memory
                .grow(4 * of_own.len() as u64 + keys.iter().map(|key| key.len() as u64 + GROUP_BYTES).sum::<u64>())?;
            let mut new = Vec::new();
            let mut renumbered = Vec::with_capacity(keys.len());
            for (at, key) in (0_u32..).zip(keys) {
                let next = u32::try_from(numbers.len()).map_err(|_| too_many())?;
                let number = *numbers.entry(key).or_insert(next);
                if number == next {
                    new.push(at);
                }
                renumbered.push(number);
            }
            let group = |own: &u32| renumbered.get(*own as usize).copied().ok_or_else(|| internal("a lost group"));
            let of_own: Vec<u32> = of_own.iter().map(group).collect::<Result<_>>()?;
            of_rows.extend(of_own);
            if !new.is_empty() {
                let batch = of_groups.first().map(RecordBatch::schema).ok_or_else(|| internal("groups of no rows"))?;
                let batch = concat_batches(&batch, &of_groups).map_err(|error| internal(&error.to_string()))?;
                let new = UInt32Array::from(new);
                values.push(take_record_batch(&batch, &new).map_err(|error| internal(&error.to_string()))?);
            }
        }
        let schema = self.nodes.schema().project(&self.columns).map(Arc::new);
        let schema = schema.map_err(|error| internal(&error.to_string()))?;
        let values = concat_batches(&schema, &values).map_err(|error| internal(&error.to_string()))?;
        Ok(Found { of_rows, values, _memory: memory })
    }

    /// The groups of the nodes of a partition.
    fn own(&self, partition: Partition) -> Result<Own> {
        let shape = |error: datafusion::arrow::error::ArrowError| internal(&error.to_string());
        let schema = self.nodes.schema().project(&self.columns).map(Arc::new).map_err(shape)?;
        let fields = schema.fields().iter().map(|field| SortField::new(field.data_type().clone())).collect();
        let converter = RowConverter::new(fields).map_err(shape)?;
        let mut own = Own { of_rows: Vec::new(), values: Vec::new(), keys: Vec::new() };
        let mut numbers: HashMap<Box<[u8]>, u32> = HashMap::new();
        for batch in partition {
            let batch = crate::tables::table::shown(&batch?, &schema, 0)?;
            let rows = converter.convert_columns(batch.columns()).map_err(shape)?;
            let mut new = Vec::new();
            own.of_rows.reserve(batch.num_rows());
            for (at, row) in (0_u32..).zip(rows.iter()) {
                let bytes: &[u8] = row.as_ref();
                let number = match numbers.get(bytes) {
                    Some(number) => *number,
                    None => {
                        let number = u32::try_from(numbers.len()).map_err(|_| too_many())?;
                        numbers.insert(bytes.into(), number);
                        own.keys.push(bytes.into());
                        new.push(at);
                        number
                    }
                };
                own.of_rows.push(number);
            }
            if !new.is_empty() {
                own.values.push(take_record_batch(&batch, &UInt32Array::from(new)).map_err(shape)?);
            }
        }
        Ok(own)
    }
}

fn too_many() -> Error {
    Error::unsupported("more than 4,294,967,295 groups")
}

/// Columns of edges, behind the number of the group of the node at one end.
pub(super) struct NumberedEdges {
    edges: Arc<dyn Rows>,
    name: String,
    end: usize,
    columns: Vec<usize>,
    filter: Option<Predicate>,
    schema: SchemaRef,
    groups: Arc<Groups>,
}

impl fmt::Debug for NumberedEdges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NumberedEdges").field("edges", &self.name).finish_non_exhaustive()
    }
}

impl NumberedEdges {
    pub fn new(
        (edges, name): (Arc<dyn Rows>, &str),
        end: usize,
        columns: Vec<usize>,
        filter: Option<Predicate>,
        schema: SchemaRef,
        groups: &Arc<Groups>,
    ) -> Self {
        NumberedEdges { edges, name: name.to_owned(), end, columns, filter, schema, groups: Arc::clone(groups) }
    }

    /// What is read of the edges for columns of this table: the end comes first.
    fn inner(&self, wanted: &Wanted) -> Wanted {
        let own = wanted.columns.iter().filter_map(|at| at.checked_sub(1)).filter_map(|at| self.columns.get(at));
        let columns = std::iter::once(self.end).chain(own.copied()).collect();
        Wanted { columns, filter: self.filter.clone(), limit: wanted.limit, ..Wanted::default() }
    }
}

impl Rows for NumberedEdges {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn column(&self, _: &str) -> Option<Column> {
        None
    }

    fn statistics(&self) -> Statistics {
        let num_rows = self.edges.statistics().num_rows.to_inexact();
        Statistics { num_rows, ..Statistics::new_unknown(&self.schema) }
    }

    fn fraction(&self, _: &Predicate) -> f64 {
        1.0
    }

    fn parts(&self, wanted: &Wanted) -> Result<Vec<Part>> {
        let table = self.edges.graph_table().ok_or_else(|| internal("edges of no graph"))?;
        let schema = self.schema.project(&wanted.columns).map(Arc::new);
        let schema = schema.map_err(|error| internal(&error.to_string()))?;
        // The first column is the end, which is shown wherever the group is.
        let is_group: Vec<bool> = wanted.columns.iter().map(|at| *at == 0).collect();
        let part = |partition: Partition| {
            let (schema, is_group, groups) = (Arc::clone(&schema), is_group.clone(), Arc::clone(&self.groups));
            let batches = partition.into_stream();
            batches.map(move |batch| numbered(&batch?, &schema, &is_group, groups.found()?.as_ref())).boxed()
        };
        Ok(table.partitions_of_ends(&self.inner(wanted))?.into_iter().map(part).collect())
    }

    fn holds_tables(&self) -> bool {
        true
    }

    fn reads(&self, wanted: &Wanted) -> Result<Vec<PlannedRead>> {
        let table = self.edges.graph_table().ok_or_else(|| internal("edges of no graph"))?;
        table.reads_of_ends(&self.inner(wanted))
    }

    fn way(&self, _: &Wanted) -> String {
        format!("scan of {} with rows of {}", self.name, self.groups.name)
    }
}

/// A batch of edges with the numbers of groups.
fn numbered(batch: &RecordBatch, schema: &SchemaRef, is_group: &[bool], found: &Found) -> Result<RecordBatch> {
    let ends = batch.columns().first().and_then(|column| column.as_primitive_opt::<UInt64Type>());
    let ends = ends.ok_or_else(|| internal("ends that are no rows"))?;
    let group = |row: &u64| {
        let group = usize::try_from(*row).ok().and_then(|row| found.of_rows.get(row));
        group.copied().ok_or_else(|| {
            let count = found.of_rows.len();
            Error::malformed(format!("an edge refers to node {row}, but there are {count} nodes"))
        })
    };
    let groups: UInt32Array = ends.values().iter().map(group).collect::<Result<Vec<_>>>()?.into();
    let mut others = batch.columns().iter().skip(1).zip(schema.fields().iter().zip(is_group).filter(|(_, is)| !**is));
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(is_group.len());
    for is_group in is_group {
        columns.push(if *is_group {
            Arc::new(groups.clone())
        } else {
            let (column, (field, _)) = others.next().ok_or_else(|| internal("a lost column"))?;
            crate::tables::columns::as_in_sql(column, field)?
        });
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options)
        .map_err(|error| internal(&error.to_string()))
}

/// The values of groups, behind their numbers.
pub(super) struct GroupRows {
    schema: SchemaRef,
    groups: Arc<Groups>,
}

impl fmt::Debug for GroupRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GroupRows").field("nodes", &self.groups.name).finish_non_exhaustive()
    }
}

impl GroupRows {
    pub fn new(schema: SchemaRef, groups: &Arc<Groups>) -> Self {
        GroupRows { schema, groups: Arc::clone(groups) }
    }
}

impl Rows for GroupRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn column(&self, _: &str) -> Option<Column> {
        None
    }

    fn statistics(&self) -> Statistics {
        Statistics::new_unknown(&self.schema)
    }

    fn fraction(&self, _: &Predicate) -> f64 {
        1.0
    }

    fn parts(&self, wanted: &Wanted) -> Result<Vec<Part>> {
        let (schema, groups, columns) = (Arc::clone(&self.schema), Arc::clone(&self.groups), wanted.columns.clone());
        let most = wanted.limit.unwrap_or(usize::MAX);
        let batch = move || {
            let found = groups.found()?;
            let count = u32::try_from(found.values.num_rows()).map_err(|_| too_many())?;
            let numbers: ArrayRef = Arc::new(UInt32Array::from_iter_values(0..count));
            let all: Vec<ArrayRef> = std::iter::once(numbers).chain(found.values.columns().iter().cloned()).collect();
            let whole = RecordBatch::try_new(schema, all);
            let some = whole.and_then(|whole| whole.slice(0, whole.num_rows().min(most)).project(&columns));
            some.map_err(|error| internal(&error.to_string()))
        };
        Ok(vec![futures::stream::once(async move { batch() }).boxed()])
    }

    fn holds_tables(&self) -> bool {
        true
    }

    fn reads(&self, _: &Wanted) -> Result<Vec<PlannedRead>> {
        self.groups.nodes.reads(&self.groups.wanted())
    }

    fn way(&self, _: &Wanted) -> String {
        format!("groups of {}", self.groups.name)
    }
}
