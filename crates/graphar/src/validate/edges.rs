//! Validation of an edge type: each adjacency list, then the lists against each other.

use std::sync::Arc;

use arrow_array::Int64Array;
use isomorph_error::{Error, Findings, Place, Result};

use super::chunks::{BATCH_ROWS, blank_lines, embedded, everything, extra_columns, extra_files, nulls, stated_rows};
use super::hashes::RowSum;
use super::offsets::Offsets;
use super::{find, or_find};
use crate::counts::read_count;
use crate::layout::{check_chunks, chunk_count, chunk_rows};
use crate::read::{EdgeScan, Steps, first_descent, first_outside, indexes};
use crate::rules;
use crate::table::{Chunk, EdgeTable, List, SOURCE_INDEX, TARGET_INDEX, missing, open_chunk};

/// Checks every list of an edge type; `vertices` are the numbers of source and destination vertices, if known.
pub(super) fn check(table: &EdgeTable, vertices: (Option<u64>, Option<u64>), findings: &mut Findings) -> Result<()> {
    let mut sums: Vec<(&List, RowSum)> = Vec::new();
    for list in &table.lists {
        if let Some(sum) = check_list(table, list, vertices, findings)? {
            sums.push((list, sum));
        }
    }
    if let Some(((first, sum), others)) = sums.split_first() {
        for (list, other) in others.iter().filter(|(_, other)| other != sum) {
            let message = if other.rows == sum.rows {
                format!("{} differs from {} in edges or properties", list.kind, first.kind)
            } else {
                format!("{} has {} edges, {} has {}", list.kind, other.rows, first.kind, sum.rows)
            };
            findings.push(&rules::LISTS_DIFFER, message, list.layout.base());
        }
    }
    Ok(())
}

/// Reads the count in a file; a missing file is a finding, unless opening has reported it already.
fn count(table: &EdgeTable, path: &str, findings: &mut Findings) -> Result<Option<u64>> {
    let found = read_count(&table.root, path).and_then(|count| count.ok_or_else(|| missing(path)));
    match found {
        Err(error) if known(findings, &error) => Ok(None),
        found => or_find(findings, found),
    }
}

fn known(findings: &Findings, error: &Error) -> bool {
    let same = |finding: &isomorph_error::Finding| {
        error.broken_rule().is_some_and(|rule| rule.id == finding.rule.id) && finding.place == *error.place()
    };
    findings.by_rule().any(|(_, kept)| kept.iter().any(same))
}

/// The state of a list while it is read.
struct Reading {
    /// Whether everything was read, so that the sum is valid.
    complete: bool,
    sum: RowSum,
}

fn check_list(
    table: &EdgeTable,
    list: &List,
    vertices: (Option<u64>, Option<u64>),
    findings: &mut Findings,
) -> Result<Option<RowSum>> {
    let aligned = if list.kind.by_source() { vertices.0 } else { vertices.1 };
    let own = count(table, &list.layout.vertex_count(), findings)?;
    if let (Some(own), Some(aligned)) = (own, aligned)
        && own != aligned
    {
        let message = format!("vertex count is {own}, but the vertex type has {aligned} vertices");
        findings.push(&rules::COUNT_ALIGNED, message, list.layout.vertex_count());
    }
    let Some(aligned) = own.or(aligned) else { return Ok(None) };
    let parts = chunk_count(aligned, list.part_size);
    if or_find(findings, check_chunks(parts, "the vertex count"))?.is_none() {
        return Ok(None);
    }
    let mut reading = Reading { complete: own.is_some(), sum: RowSum::default() };
    let mut expected = Vec::new();
    for part in 0..parts {
        let path = list.layout.edge_count(part);
        let Some(edges) = count(table, &path, findings)? else {
            reading.complete = false;
            continue;
        };
        let chunks = chunk_count(edges, list.chunk_size);
        if or_find(findings, check_chunks(chunks, "the edge count").map_err(|error| error.at(path)))?.is_none() {
            reading.complete = false;
            continue;
        }
        expected.extend((0..chunks).map(|chunk| (part, chunk)));
        check_part(table, list, part, edges, (vertices.0, vertices.1, aligned), &mut reading, findings)?;
    }
    if reading.complete {
        let adj = format!("{}/adj_list", list.layout.base());
        let paths = expected.iter().map(|(part, chunk)| list.layout.adj(*part, *chunk));
        extra_files(&table.root, &adj, paths, findings)?;
        for number in 0..table.info.groups.len() {
            let paths = expected.iter().map(|(part, chunk)| list.layout.chunk(number, *part, *chunk));
            extra_files(&table.root, &list.layout.group(number), paths, findings)?;
        }
        if list.kind.ordered() {
            let offsets = (0..parts).map(|part| list.layout.offset(part));
            extra_files(&table.root, &format!("{}/offset", list.layout.base()), offsets, findings)?;
        }
    }
    Ok(reading.complete.then_some(reading.sum))
}

/// Checks one part: its chunks and, for an ordered list, its offsets. The numbers of vertices are those of sources,
/// destinations and the aligned type.
fn check_part(
    table: &EdgeTable,
    list: &List,
    part: u64,
    edges: u64,
    vertices: (Option<u64>, Option<u64>, u64),
    reading: &mut Reading,
    findings: &mut Findings,
) -> Result<()> {
    let mut offsets = None;
    if list.kind.ordered() {
        let opened = Offsets::open(&table.root, list.layout.offset(part), list.encoding, edges, findings);
        offsets = or_find(findings, opened)?;
    }
    let mut part_check = PartCheck { list, part, vertices, start: 0, last: None, comparable: true };
    for chunk in 0..chunk_count(edges, list.chunk_size) {
        let rows = chunk_rows(edges, list.chunk_size, chunk);
        let read = read_chunk(table, &mut part_check, chunk, rows, &mut offsets, reading, findings);
        if or_find(findings, read)?.is_none() {
            reading.complete = false;
            part_check.comparable = false;
        }
        part_check.start = chunk.saturating_add(1).saturating_mul(list.chunk_size);
    }
    if let Some(offsets) = offsets {
        let own = chunk_rows(vertices.2, list.part_size, part);
        let finished = offsets.finish(own, list.part_size, part_check.comparable, findings);
        or_find(findings, finished)?;
    }
    Ok(())
}

/// The state of a part while its edges are read.
struct PartCheck<'a> {
    list: &'a List,
    part: u64,
    vertices: (Option<u64>, Option<u64>, u64),
    /// Row of the part where the chunk begins.
    start: u64,
    /// Aligned end of the previous edge.
    last: Option<i64>,
    /// Whether the edges were in order so far, so that offsets can be compared with them.
    comparable: bool,
}

fn read_chunk(
    table: &EdgeTable,
    check: &mut PartCheck<'_>,
    chunk: u64,
    rows: u64,
    offsets: &mut Option<Offsets>,
    reading: &mut Reading,
    findings: &mut Findings,
) -> Result<()> {
    let list = check.list;
    let adj = list.layout.adj(check.part, chunk);
    let reader = open_chunk(&table.root, &adj, list.encoding, EdgeScan::adj_fields())?;
    embedded(&adj, &reader, findings)?;
    let mut same = stated_rows(&adj, reader.row_count(), rows, findings);
    // Every file is opened before any is read, so that all missing ones are reported.
    let mut opened = Vec::new();
    for group in &table.groups {
        let path = list.layout.chunk(group.number, check.part, chunk);
        let chunk = Chunk::open(&table.root, path, group.encoding, Arc::clone(&group.columns), false);
        let (Some(chunk), Some(info)) = (or_find(findings, chunk)?, table.info.groups.get(group.number)) else {
            reading.complete = false;
            continue;
        };
        extra_columns(&chunk, info, &[], findings);
        embedded(&chunk.path, &chunk.reader, findings)?;
        same &= stated_rows(&chunk.path, chunk.reader.row_count(), rows, findings);
        opened.push((chunk, group, info));
    }
    reading.complete &= same;
    // Files of different lengths are read independently, each to its end.
    let read = reader.row_count().unwrap_or(rows).min(rows);
    if !same {
        opened.clear();
    }
    let mut steps = Steps::new(read, BATCH_ROWS);
    let adj_rows = if read < rows || !same { everything().rows(std::iter::once(0..read)) } else { everything() };
    let batches = reader.batches(&adj_rows.columns([SOURCE_INDEX, TARGET_INDEX]));
    steps.push(&adj, batches.map_err(|error| error.at(adj.as_str()))?);
    for (chunk, _, _) in &opened {
        steps.push(&chunk.path, chunk.batches(everything())?);
    }
    while let Some((at, _, batches)) = steps.next()? {
        let Some(ends) = batches.first() else { continue };
        let named = |error: Error| error.at(Place::file(&adj));
        let source = indexes(ends.column(0), SOURCE_INDEX, at).map_err(named)?;
        let target = indexes(ends.column(1), TARGET_INDEX, at).map_err(named)?;
        check.ends(&adj, at, source, target, offsets, findings)?;
        let mut arrays = Vec::new();
        for ((chunk, group, info), batch) in opened.iter().zip(batches.iter().skip(1)) {
            let columns = chunk.columns(batch)?;
            nulls(&chunk.path, info, &group.columns, &columns, at, findings);
            blank_lines(chunk, info, &columns, at, findings);
            arrays.extend(columns);
        }
        reading.sum.add([source.values(), target.values()], &arrays);
    }
    Ok(())
}

impl PartCheck<'_> {
    /// Checks the ends of rows that begin at row `at` of a chunk; one finding for each violated rule.
    fn ends(
        &mut self,
        path: &str,
        at: u64,
        source: &Int64Array,
        target: &Int64Array,
        offsets: &mut Option<Offsets>,
        findings: &mut Findings,
    ) -> Result<()> {
        let place = |row: usize, name: &str| Place::file(path).row(at + row as u64).in_field(name);
        let (sources, targets, aligned_count) = self.vertices;
        for (array, name, count) in [(source, SOURCE_INDEX, sources), (target, TARGET_INDEX, targets)] {
            let Some(count) = count else { continue };
            if let Some(row) = first_outside(array.values(), 0, count) {
                let number = array.values().iter().filter(|end| end.cast_unsigned() >= count).count();
                let message = format!("{number} dangling edges, the first to vertex {} of {count}", array.value(row));
                findings.push(&rules::EDGE_DANGLING, message, place(row, name));
            }
        }
        let (array, name) = if self.list.kind.by_source() { (source, SOURCE_INDEX) } else { (target, TARGET_INDEX) };
        let aligned = array.values();
        let low = self.part.saturating_mul(self.list.part_size);
        let high = low.saturating_add(self.list.part_size);
        if let Some(row) = first_outside(aligned, low, high) {
            self.comparable = false;
            // An end beyond the last vertex has been reported already.
            if aligned[row] >= 0 && aligned[row].cast_unsigned() < aligned_count {
                let message = format!("vertex {} is in the part of vertices {low} to {}", aligned[row], high - 1);
                findings.push(&rules::EDGE_PART, message, place(row, name));
            }
        }
        if self.list.kind.ordered() {
            let across = self.last.zip(aligned.first()).is_some_and(|(last, first)| last > *first);
            if let Some(row) = if across { Some(0) } else { first_descent(aligned) } {
                self.comparable = false;
                let before = if row == 0 { self.last.unwrap_or_default() } else { aligned[row - 1] };
                findings.push(&rules::EDGE_ORDER, format!("{} follows {before}", aligned[row]), place(row, name));
            }
        }
        if self.comparable
            && let Some(known) = offsets
            && let Err(error) = self.offsets(known, aligned, at, low, findings)
        {
            *offsets = None;
            find(findings, error)?;
        }
        self.last = aligned.last().copied().or(self.last);
        Ok(())
    }

    /// Compares the offsets with the edges: the edges of each vertex begin at its offset.
    fn offsets(
        &self,
        offsets: &mut Offsets,
        aligned: &[i64],
        at: u64,
        low: u64,
        findings: &mut Findings,
    ) -> Result<()> {
        let mut before = self.last;
        for (row, vertex) in aligned.iter().enumerate() {
            if before != Some(*vertex) {
                offsets.expect(vertex.cast_unsigned() - low, self.start + at + row as u64, findings)?;
                before = Some(*vertex);
            }
        }
        Ok(())
    }
}
