//! Reads one edge chunk: its adjacency list and property groups, in step, row by row.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::{DataType, Field};
use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::{Batch, Columns, EdgeBatch, Ends, Narrowing, Part, Predicate, Set, part};
use isomorph_tables::{Selection, TableReader};

use super::ends::{Joint, Span, as_rows, first_descent, first_outside, indexes};
use super::filter::{Ranges, add_rows, count};
use super::offsets::{OffsetCheck, PartOffsets};
use super::selected::{Files, Numbers, check_stated, if_few};
use super::{Bounds, Steps};
use crate::rules;
use crate::table::{Chunk, EdgeTable, List, SOURCE_INDEX, TARGET_INDEX, Target, open_chunk};

/// Creates a batch of edges of type `ty` whose vertex indexes have been checked.
pub(crate) fn edge_batch(ty: usize, source: &Int64Array, target: &Int64Array, properties: Columns) -> EdgeBatch {
    EdgeBatch {
        ty,
        rows: source.len(),
        relations: None,
        source: Ends::Rows(as_rows(source)),
        target: Ends::Rows(as_rows(target)),
        layers: None,
        directed: None,
        keys: None,
        properties,
    }
}

/// The state that the parts of one scan of an adjacency list share.
pub(crate) struct EdgeScan<'a> {
    pub table: &'a EdgeTable,
    /// Index of the edge type.
    pub ty: usize,
    pub list: &'a List,
    /// Number of vertices of the source type and of the destination type.
    pub vertices: (u64, u64),
    /// What is read in addition to the ends, if not everything.
    pub narrowing: Option<Arc<Narrowing>>,
    pub batch_rows: usize,
}

/// Which edges of a chunk are asked for by their ends.
#[derive(Debug, Clone, Default)]
pub(crate) enum Asked {
    /// All of them.
    #[default]
    All,
    /// Those with one of these vertices in a column.
    Ends(&'static str, Set),
    /// Those of vertices whose offsets say where in the part they are; with the edges before and behind them, which show whether that is true.
    Spans(Arc<Spans>),
}

/// Where in a part the edges of some vertices are.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    /// Vertices with their edges, ascending.
    pub vertices: Vec<(u64, Range<u64>)>,
    /// The rows to read.
    pub rows: Ranges,
}

impl Spans {
    /// The rows to read among others.
    pub fn within(&self, among: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let from = self.rows.partition_point(|rows| rows.end <= among.start);
        let own = self.rows.iter().skip(from).take_while(move |rows| rows.start < among.end);
        own.map(move |rows| rows.start.max(among.start)..rows.end.min(among.end))
    }

    /// Refuses an edge in row `row` of the part that is not where the offsets have the edges of its vertex: between those of the vertices before
    /// and behind it.
    fn check(&self, row: u64, vertex: u64) -> Result<()> {
        let at = self.vertices.partition_point(|(_, rows)| rows.end <= row);
        let (before, next) = (at.checked_sub(1).and_then(|at| self.vertices.get(at)), self.vertices.get(at));
        let is_right = match next.filter(|(_, rows)| rows.contains(&row)) {
            Some((stated, _)) => *stated == vertex,
            None => before.is_none_or(|(before, _)| *before < vertex) && next.is_none_or(|(next, _)| vertex < *next),
        };
        if is_right {
            return Ok(());
        }
        let message = format!("an edge of vertex {vertex}, which the offsets have elsewhere");
        Err(Error::broken(&rules::OFFSET_DEGREE, message))
    }
}

/// One edge chunk.
pub(crate) struct EdgePart<'a> {
    pub scan: Arc<EdgeScan<'a>>,
    pub part: u64,
    pub chunk: u64,
    /// Number of rows in the chunk.
    pub rows: u64,
    /// Which of them.
    pub asked: Asked,
    /// Whether it is the last one of its part.
    pub last: bool,
    /// Bounds, shared by the chunks of one part of an ordered list.
    pub bounds: Arc<Bounds>,
    /// Offsets, shared in the same way.
    pub offsets: Arc<PartOffsets>,
}

impl EdgeScan<'_> {
    /// Returns the columns of an adjacency chunk as declared to its reader.
    pub fn adj_fields() -> Vec<Field> {
        [SOURCE_INDEX, TARGET_INDEX].into_iter().map(|name| Field::new(name, DataType::Int64, true)).collect()
    }

    /// Returns the first vertex of part `part`.
    pub fn first_vertex(&self, part: u64) -> u64 {
        part.saturating_mul(self.list.part_size)
    }

    /// Adds the other copies of the edges to an error of the data, as hints.
    pub fn explained(&self, error: Error) -> Error {
        match error.kind() {
            Kind::Malformed | Kind::Incomplete => self.table.with_other_lists(error, self.list),
            _ => error,
        }
    }

    /// Checks that the ends exist, that the aligned end belongs to the part, and the order of an ordered list. `start` is
    /// the row of the first edge in its file.
    fn check(&self, part: u64, start: u64, source: &Int64Array, target: &Int64Array) -> Result<()> {
        let by_source = self.list.kind.by_source();
        let (aligned, name) = if by_source { (source, SOURCE_INDEX) } else { (target, TARGET_INDEX) };
        let failed = |rule, message: String, name: &str, row: usize| {
            Err(Error::broken(rule, message).at(Place::field(name).row(start + row as u64)))
        };
        for (array, name, count) in [(source, SOURCE_INDEX, self.vertices.0), (target, TARGET_INDEX, self.vertices.1)] {
            if let Some(row) = first_outside(array.values(), 0, count) {
                let message = format!("edge refers to vertex {}, but there are {count} vertices", array.value(row));
                return failed(&rules::EDGE_DANGLING, message, name, row);
            }
        }
        let low = self.first_vertex(part);
        let high = low.saturating_add(self.list.part_size);
        if let Some(row) = first_outside(aligned.values(), low, high) {
            let message = format!("vertex {} is in the part of vertices {low} to {}", aligned.value(row), high - 1);
            return failed(&rules::EDGE_PART, message, name, row);
        }
        if let Some(row) = first_descent(aligned.values()).filter(|_| self.list.kind.ordered()) {
            let message = format!("{} follows {}", aligned.value(row), aligned.value(row - 1));
            return failed(&rules::EDGE_ORDER, message, name, row);
        }
        Ok(())
    }
}

impl<'a> EdgePart<'a> {
    fn open(self) -> Result<Option<EdgeReader<'a>>> {
        let scan = &*self.scan;
        let table = scan.table;
        let path = |group| scan.list.layout.chunk(group, self.part, self.chunk);
        let files = Files::new(&table.root, &table.groups, scan.narrowing.as_deref(), &path, false);
        let begin = self.chunk.saturating_mul(scan.list.chunk_size);
        let adj = scan.list.layout.adj(self.part, self.chunk);
        let reader = || open_chunk(&table.root, &adj, scan.list.encoding, EdgeScan::adj_fields());
        let ranges = match &self.asked {
            Asked::All => files.passing(self.rows)?,
            Asked::Ends(column, set) => match reader()? {
                // How many rows a text has shows by its end.
                text if text.row_count().is_none() => None,
                reader => if_few(rows_with(&reader, column, set).map_err(|error| error.at(adj.as_str()))?, self.rows),
            },
            Asked::Spans(spans) => {
                let own = spans.within(begin..begin.saturating_add(self.rows));
                Some(own.map(|rows| rows.start - begin..rows.end - begin).collect())
            }
        };
        let rows = ranges.as_ref().map_or(self.rows, |ranges| count(ranges));
        if rows == 0 {
            return Ok(None);
        }
        let selection = || {
            let selection = Selection::all().batch_rows(scan.batch_rows);
            ranges.iter().fold(selection, |selection, ranges| selection.rows(ranges.clone()))
        };
        let reader = reader()?;
        let mut steps = Steps::new(rows, scan.batch_rows);
        let batches = reader.batches(&selection().columns([SOURCE_INDEX, TARGET_INDEX]));
        steps.push(&adj, batches.map_err(|error| error.at(adj.as_str()))?);
        if ranges.is_some() {
            check_stated(&reader, &adj, self.rows)?;
        }
        let chunks = files.chunks(ranges.is_some().then_some(self.rows))?;
        for chunk in &chunks {
            steps.push(&chunk.path, chunk.batches(selection())?);
        }
        // If edges are skipped, offsets cannot be checked.
        let compares = scan.list.kind.ordered() && ranges.is_none();
        let numbers = ranges.filter(|_| matches!(self.asked, Asked::Spans(_))).map(Numbers::new);
        Ok(Some(EdgeReader {
            part: self,
            adj,
            chunks,
            steps,
            rows,
            begin,
            numbers,
            compares,
            ends: None,
            offsets: None,
        }))
    }

    /// Opens the offsets from `first` on, the first aligned end of this chunk, which begins at row `begin` of the part.
    fn open_offsets(&self, first: i64, begin: u64) -> Result<OffsetCheck<'a>> {
        if let Some(before) = self.bounds.before(self.chunk) {
            self.check_order(Joint { chunk: self.chunk, before, behind: first, is_whole: false })?;
        }
        // The edges before those of `first` in its part are in the preceding chunks.
        let vertex = if self.chunk == 0 { 0 } else { first.cast_unsigned() - self.scan.first_vertex(self.part) };
        let mut offsets = OffsetCheck::new(&self.scan, self.part, vertex, &self.offsets)?;
        offsets.begin(begin)?;
        Ok(offsets)
    }

    fn check_order(&self, joint: Joint) -> Result<()> {
        if joint.before <= joint.behind {
            return Ok(());
        }
        let path = self.scan.list.layout.adj(self.part, joint.chunk);
        let message = "the chunk begins below the end of the previous chunk";
        Err(Error::broken(&rules::EDGE_ORDER, message).at(Place::file(path).row(0)))
    }

    /// Checks the order of two neighbouring chunks, and the offsets of the vertices between them.
    fn check_joint(&self, joint: Joint) -> Result<()> {
        let scan = &*self.scan;
        self.check_order(joint)?;
        if !joint.is_whole || joint.before == joint.behind {
            return Ok(());
        }
        let low = scan.first_vertex(self.part);
        let (from, to) = (joint.before.cast_unsigned() + 1 - low, joint.behind.cast_unsigned() - low);
        let row = joint.chunk.saturating_mul(scan.list.chunk_size);
        OffsetCheck::new(&self.scan, self.part, from, &self.offsets)?.gap(to, row)
    }
}

/// An edge chunk that is being read.
struct EdgeReader<'a> {
    part: EdgePart<'a>,
    adj: String,
    chunks: Vec<Chunk>,
    steps: Steps,
    /// Number of rows that are read.
    rows: u64,
    /// Row of its first edge within the part.
    begin: u64,
    /// The rows that are read, in the chunk, where offsets say whose they are.
    numbers: Option<Numbers>,
    /// Whether offsets are compared.
    compares: bool,
    /// The first and the last aligned end that were read.
    ends: Option<(i64, i64)>,
    offsets: Option<OffsetCheck<'a>>,
}

impl EdgeReader<'_> {
    fn next(&mut self) -> Result<Option<Batch>> {
        if let Some((start, _, batches)) = self.steps.next()? {
            return self.batch(start, &batches).map(|batch| batch.map(Batch::Edges));
        }
        let part = &self.part;
        if let Some((first, last)) = self.ends.take()
            && part.scan.list.kind.ordered()
        {
            for joint in part.bounds.note(part.chunk, Span { first, last, is_whole: self.compares }) {
                part.check_joint(joint)?;
            }
        }
        if let Some(offsets) = self.offsets.take().filter(|_| part.last) {
            offsets.finish(self.begin + self.rows)?;
        }
        Ok(None)
    }

    fn batch(&mut self, start: u64, batches: &[RecordBatch]) -> Result<Option<EdgeBatch>> {
        let (part, scan) = (&self.part, &*self.part.scan);
        let numbers =
            self.numbers.as_mut().map(|numbers| numbers.take(batches.first().map_or(0, RecordBatch::num_rows)));
        let Some(ends) = batches.first() else { return Ok(None) };
        let at = |error: Error| error.at(Place::file(&self.adj));
        let source = indexes(ends.column(0), SOURCE_INDEX, start).map_err(at)?;
        let target = indexes(ends.column(1), TARGET_INDEX, start).map_err(at)?;
        scan.check(part.part, start, source, target).map_err(at)?;
        let aligned = if scan.list.kind.by_source() { source } else { target }.values();
        if let (Asked::Spans(spans), Some(numbers)) = (&part.asked, &numbers) {
            for (row, vertex) in numbers.values().iter().zip(aligned) {
                spans
                    .check(self.begin + row, vertex.cast_unsigned())
                    .map_err(|error| error.at(Place::file(&self.adj).row(*row)))?;
            }
        }
        let last = self.ends.map(|(_, last)| last);
        if let (Some(before), Some(next)) = (last, aligned.first())
            && scan.list.kind.ordered()
            && before > *next
        {
            let error = Error::broken(&rules::EDGE_ORDER, format!("{next} follows {before}"));
            return Err(error.at(Place::file(&self.adj).row(start)));
        }
        if let (Some(first), Some(end)) = (aligned.first(), aligned.last()) {
            let first = self.ends.map_or(*first, |(first, _)| first);
            self.ends = Some((first, *end));
            if self.compares {
                let offsets = match &mut self.offsets {
                    Some(offsets) => offsets,
                    none => none.insert(part.open_offsets(first, self.begin)?),
                };
                offsets.compare(aligned, self.begin + start, last)?;
            }
        }
        let mut properties: Columns = vec![None; scan.table.shown.properties.len()];
        for (chunk, batch) in self.chunks.iter().zip(batches.iter().skip(1)) {
            for (column, array) in chunk.columns.iter().zip(chunk.columns(batch)?) {
                if let Target::Property(position) = column.target
                    && let Some(slot) = properties.get_mut(position)
                {
                    *slot = Some(array);
                }
            }
        }
        Ok(Some(edge_batch(scan.ty, source, target, properties)))
    }
}

impl<'a> EdgePart<'a> {
    /// Converts it to a part of a scan.
    pub fn part(self) -> Box<dyn Part + 'a> {
        let (rows, scan) = (self.rows, Arc::clone(&self.scan));
        let open = || {
            let scan = Arc::clone(&self.scan);
            self.open().map_err(|error| scan.explained(error))
        };
        part::opened(Some(rows), open, move |reader| {
            reader.as_mut().map_or(Ok(None), EdgeReader::next).map_err(|error| scan.explained(error))
        })
    }
}

/// The column of row numbers while rows are looked for.
const ROW: &str = "_isomorphRow";

/// The rows of an adjacency chunk that states how many it has, with one of the vertices in a column.
pub(crate) fn rows_with(reader: &TableReader, column: &str, vertices: &Set) -> Result<Ranges> {
    let is_end = Predicate::In { column: column.to_owned(), set: vertices.clone() };
    let mut found = Ranges::new();
    for batch in reader.batches(&Selection::all().columns::<&str>([]).row_numbers(ROW).filter(is_end))? {
        let batch = batch?;
        let rows = batch.column_by_name(ROW).and_then(|rows| rows.as_primitive_opt::<Int64Type>());
        add_rows(&mut found, rows.into_iter().flat_map(|rows| rows.values()).map(|row| row.unsigned_abs()));
    }
    Ok(found)
}
