//! Edges with ends whose keys do not fit into memory: translated in bulk, one end after the other.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array, UInt64Array};
use arrow_cast::cast;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::take::take_record_batch;
use isomorph_error::{Error, Result};
use isomorph_model::{EdgeBatch, EndForm, Ends, Source};
use isomorph_tables::lookup::{AnswerBatch, Answers, BulkLookup, KeyKind, SpilledKeys};

use super::ends::RowsByKey;
use crate::arrow_limits::narrow;
use crate::mapping::malformed;
use crate::parallel;
use crate::progress::Progress;
use crate::spilled_rows::edge_schema;
use isomorph_storage::Resources;

/// Edge types that are translated together: they connect the same node types and have the same columns. At least one of
/// their ends has keys that do not fit into memory.
pub(super) struct BulkTypes<'k> {
    pub types: Vec<usize>,
    /// Node types of sources and targets.
    ends: (usize, usize),
    way: Way<'k>,
    /// The columns that are sorted together with the edges.
    columns: SchemaRef,
}

/// Which ends are looked up.
#[derive(Clone, Copy)]
enum Way<'k> {
    Source(&'k SpilledKeys),
    Target(&'k SpilledKeys),
    /// The sources first, then the targets.
    Both(&'k SpilledKeys, &'k SpilledKeys),
}

impl<'k> BulkTypes<'k> {
    /// The edge types in `types` that are translated in bulk.
    pub fn of(source: &dyn Source, types: &[usize], rows: &'k RowsByKey) -> Vec<BulkTypes<'k>> {
        let mut all: Vec<BulkTypes<'k>> = Vec::new();
        for &number in types.iter().filter(|&&ty| source.end_form(ty) == EndForm::Keys) {
            let Some(ty) = source.graph().edges.get(number) else { continue };
            let way = match (rows.spilled(ty.source), rows.spilled(ty.target)) {
                (Some(source), Some(target)) => Way::Both(source, target),
                (Some(source), None) => Way::Source(source),
                (None, Some(target)) => Way::Target(target),
                (None, None) => continue,
            };
            let (ends, columns) = ((ty.source, ty.target), edge_schema(ty, []));
            match all.iter_mut().find(|like| like.ends == ends && like.columns == columns) {
                Some(like) => like.types.push(number),
                None => all.push(BulkTypes { types: vec![number], ends, way, columns }),
            }
        }
        all
    }

    /// Starts the first look-up with `memory` bytes.
    ///
    /// # Errors
    /// If there is too little memory even for spilling.
    pub fn collect(self, rows: &'k RowsByKey, memory: u64) -> Result<BulkEdges<'k>> {
        let (keys, other) = match self.way {
            Way::Source(keys) | Way::Target(keys) => (keys, DataType::UInt64),
            Way::Both(keys, targets) => (keys, key_type(targets)),
        };
        let tags = self.tags(other);
        let first = BulkLookup::within(keys, &tags, memory)?;
        Ok(BulkEdges { of: self, rows, first, tags })
    }

    /// The columns that are kept during a look-up: the type if there are several, the other end, the columns.
    fn tags(&self, other: DataType) -> SchemaRef {
        let ty = (self.types.len() > 1).then(|| Arc::new(Field::new("type", DataType::UInt32, false)));
        let other = Arc::new(Field::new("other", other, true));
        let columns = self.columns.fields().iter().cloned();
        Arc::new(Schema::new(ty.into_iter().chain([other]).chain(columns).collect::<Vec<_>>()))
    }

    /// The position of the other end in these columns.
    fn other(&self) -> usize {
        usize::from(self.types.len() > 1)
    }
}

/// Edges during the look-ups.
pub(super) struct BulkEdges<'k> {
    of: BulkTypes<'k>,
    rows: &'k RowsByKey,
    first: BulkLookup<'k>,
    tags: SchemaRef,
}

/// Edges of one type whose ends are rows.
pub(super) struct Translated<'a> {
    pub ty: usize,
    pub source: &'a [u64],
    pub target: &'a [u64],
    pub columns: Option<&'a RecordBatch>,
    /// Sequence number of each.
    pub sequence: &'a [u64],
}

impl BulkEdges<'_> {
    /// The edge types.
    pub fn types(&self) -> &[usize] {
        &self.of.types
    }

    /// Adds edges with consecutive sequence numbers.
    ///
    /// # Errors
    /// If an end is not a node, as far as this is known now, or there is no space for temporary files.
    pub fn add(&self, edges: &EdgeBatch, columns: Option<&RecordBatch>, sequence: u64) -> Result<()> {
        let (sources, targets) = self.of.ends;
        let (keys, other): (&ArrayRef, ArrayRef) = match self.of.way {
            Way::Source(_) => (keys(&edges.source)?, Arc::new(self.rows.rows(targets, &edges.target)?)),
            Way::Target(_) => (keys(&edges.target)?, Arc::new(self.rows.rows(sources, &edges.source)?)),
            Way::Both(_, kept) => {
                let other = keys(&edges.target)?;
                (keys(&edges.source)?, as_kept(other, kept)?.ok_or_else(|| self.rows.dangling(targets, None))?)
            }
        };
        let ty =
            (self.of.types.len() > 1).then(|| Arc::new(UInt32Array::from_value(narrow(edges.ty), edges.rows)) as _);
        let tags = self.tagged(&self.tags, ty, other, columns, edges.rows)?;
        self.first.add_probes(keys.as_ref(), &tags, sequence)
    }

    fn tagged(
        &self,
        schema: &SchemaRef,
        ty: Option<ArrayRef>,
        other: ArrayRef,
        columns: Option<&RecordBatch>,
        rows: usize,
    ) -> Result<RecordBatch> {
        let columns = columns.map(RecordBatch::columns).unwrap_or_default().iter().cloned();
        let columns = ty.into_iter().chain([other]).chain(columns).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(schema), columns, &options).map_err(malformed)
    }

    /// Passes on all edges, from several threads, in no order. `begin` creates their consumer, given the memory that is
    /// left for it, in bytes; it is called when the last look-up has all its probes.
    ///
    /// # Errors
    /// If an end is not a node, temporary files cannot be written or read, or `begin` or `take` return an error.
    pub fn each<T: Sync>(
        self,
        resources: &Resources,
        progress: &dyn Progress,
        begin: impl Fn(u64) -> Result<T>,
        take: impl Fn(&T, Translated<'_>) -> Result<()> + Sync,
    ) -> Result<T> {
        let BulkEdges { of, rows, first, .. } = self;
        let mut answers = first.finish()?;
        let (sources, targets) = of.ends;
        if let Way::Both(_, keys) = of.way {
            let tags = of.tags(DataType::UInt64);
            let second = BulkLookup::within(keys, &tags, resources.budget.available())?;
            each_answer(&mut answers, "sources", resources, progress, |answer| {
                known(rows, sources, answer)?;
                let mut columns = answer.tags.columns().to_vec();
                let found: ArrayRef = Arc::new(UInt64Array::from(answer.rows.clone()));
                let other = columns.get_mut(of.other());
                let keys = other.map(|other| std::mem::replace(other, found)).ok_or_else(untagged)?;
                let tagged = RecordBatch::try_new(Arc::clone(&tags), columns).map_err(malformed)?;
                second.add_probes(keys.as_ref(), &tagged, &answer.sequence)
            })?;
            drop(answers);
            answers = second.finish()?;
        }
        let taker = begin(resources.budget.available())?;
        let by_source = matches!(of.way, Way::Source(_));
        let (stage, end) = if by_source { ("sources", sources) } else { ("targets", targets) };
        each_answer(&mut answers, stage, resources, progress, |answer| {
            known(rows, end, answer)?;
            hand_over(&of, answer, by_source, &|edges| take(&taker, edges))
        })?;
        Ok(taker)
    }
}

/// Reads answers on all threads, for the last time: their space is released while they are read.
fn each_answer(
    answers: &mut Answers<'_>,
    stage: &str,
    resources: &Resources,
    progress: &dyn Progress,
    take: impl Fn(&AnswerBatch) -> Result<()> + Sync,
) -> Result<()> {
    progress.begin(stage, Some(answers.len()));
    let read = parallel::drive(answers.drain(resources.threads)?, |stream| {
        let Some(answer) = stream.next_batch()? else { return Ok(false) };
        progress.advance(answer.rows.len() as u64)?;
        take(&answer).map(|()| true)
    });
    progress.end();
    read
}

/// Checks that ends are nodes of type `ty`.
fn known(rows: &RowsByKey, ty: usize, answer: &AnswerBatch) -> Result<()> {
    match answer.misses.nulls + answer.misses.not_found {
        0 => Ok(()),
        _ => Err(rows.dangling(ty, answer.missing.as_deref())),
    }
}

/// Passes on edges whose ends are both known, type by type; `sources` states that the sources were looked up last.
fn hand_over(
    of: &BulkTypes<'_>,
    answer: &AnswerBatch,
    sources: bool,
    take_edges: &impl Fn(Translated<'_>) -> Result<()>,
) -> Result<()> {
    let at = of.other();
    let tags = &answer.tags;
    let other = tags.columns().get(at).and_then(|other| other.as_primitive_opt::<UInt64Type>()).ok_or_else(untagged)?;
    let columns: Vec<usize> = (at + 1..tags.num_columns()).collect();
    let columns = if columns.is_empty() { None } else { Some(tags.project(&columns).map_err(malformed)?) };
    let give = |ty, found: &[u64], other: &[u64], columns: Option<&RecordBatch>, sequence: &[u64]| {
        let (source, target) = if sources { (found, other) } else { (other, found) };
        take_edges(Translated { ty, source, target, columns, sequence })
    };
    if let [only] = of.types.as_slice() {
        return give(*only, &answer.rows, other.values(), columns.as_ref(), answer.sequence.values());
    }
    let types = tags.columns().first().and_then(|ty| ty.as_primitive_opt::<UInt32Type>()).ok_or_else(untagged)?;
    for &ty in &of.types {
        let here = types.values().iter().enumerate().filter(|(_, of)| **of as usize == ty);
        let here = UInt32Array::from_iter_values(here.map(|(row, _)| narrow(row)));
        if here.is_empty() {
            continue;
        }
        let pick = |all: &[u64]| here.values().iter().filter_map(|row| all.get(*row as usize).copied()).collect();
        let (found, other): (Vec<u64>, Vec<u64>) = (pick(&answer.rows), pick(other.values()));
        let sequence: Vec<u64> = pick(answer.sequence.values());
        let columns =
            columns.as_ref().map(|columns| take_record_batch(columns, &here)).transpose().map_err(malformed)?;
        give(ty, &found, &other, columns.as_ref(), &sequence)?;
    }
    Ok(())
}

fn untagged() -> Error {
    Error::usage("an edge has lost its columns in a look-up")
}

fn keys(ends: &Ends) -> Result<&ArrayRef> {
    match ends {
        Ends::Keys(keys) => Ok(keys),
        Ends::Rows(_) => Err(Error::usage("ends are rows, but keys were announced")),
    }
}

fn key_type(keys: &SpilledKeys) -> DataType {
    match keys.kind() {
        KeyKind::Text => DataType::Utf8,
        KeyKind::Signed => DataType::Int64,
        KeyKind::Unsigned => DataType::UInt64,
    }
}

/// Converts keys to the type of `kept`; returns `None` if they are of an unrelated type, so that none of them exists.
/// Keys that this type cannot represent become null, which does not exist either.
///
/// # Errors
/// If keys of this type cannot be converted.
fn as_kept(keys: &ArrayRef, kept: &SpilledKeys) -> Result<Option<ArrayRef>> {
    let own = match keys.data_type() {
        DataType::Dictionary(_, values) => values.as_ref(),
        other => other,
    };
    let text = kept.kind() == KeyKind::Text;
    if own.is_integer() == text {
        return Ok(None);
    }
    cast(keys, &key_type(kept)).map(Some).map_err(malformed)
}
