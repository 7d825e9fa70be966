//! Validation of a vertex type.

use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use isomorph_error::{Findings, Place, Result};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::lookup::{KeyRowsBuilder, LookupOptions};

use super::chunks::{
    Files, blank_lines, embedded, everything, extra_columns, extra_files, must_count, nulls, stated_rows,
};
use super::{find, or_find};
use crate::read::{LabelFile, check_index};
use crate::rules;
use crate::table::{Chunk, Group, Target, VERTEX_INDEX, VertexTable, inexact};

/// Bytes of memory for finding repeated keys; beyond that, temporary files are used.
const KEY_MEMORY: u64 = 128 << 20;

/// Checks every chunk of a vertex type. Nothing can be checked without a count, whose absence opening has reported.
pub(super) fn check(table: &VertexTable, findings: &mut Findings) -> Result<()> {
    if table.count.is_none() {
        return Ok(());
    }
    let chunks = table.chunks()?;
    for (number, _) in table.info.groups.iter().enumerate() {
        let expected = (0..chunks).map(|chunk| table.layout.chunk(number, chunk));
        extra_files(&table.root, &table.layout.group(number), expected, findings)?;
    }
    for group in &table.groups {
        check_group(table, group, chunks, findings)?;
    }
    if !table.info.labels.is_empty() {
        let mut files = Files::below(&table.root, &table.layout.labels())?;
        for chunk in 0..chunks {
            // If the prefix has no trailing slash, the C++ library puts label files next to the directory.
            let glued = match table.layout.glued_label_chunk(chunk) {
                Some(path) => table.root.try_file(&path)?.is_some(),
                None => false,
            };
            if !glued && files.lack(&table.layout.label_chunk(chunk), findings) {
                continue;
            }
            if let Some(file) = or_find(findings, LabelFile::open(table, chunk))? {
                embedded(&file.path, &file.reader, findings)?;
                let checked = check_labels(table, &file, table.chunk_rows(chunk)?, findings);
                or_find(findings, checked)?;
            }
        }
        files.others((0..chunks).map(|chunk| table.layout.label_chunk(chunk)), findings);
    }
    Ok(())
}

fn check_group(table: &VertexTable, group: &Group, chunks: u64, findings: &mut Findings) -> Result<()> {
    let Some(info) = table.info.groups.get(group.number) else { return Ok(()) };
    let key = group.columns.iter().position(|column| column.target == Target::Key);
    let mut keys = match key {
        Some(_) => Some(KeyRowsBuilder::new(LookupOptions::new(&Budget::new(2 * KEY_MEMORY), &Scratch::new(None)?))),
        None => None,
    };
    let mut files = Files::below(&table.root, &table.layout.group(group.number))?;
    let mut absent = 0;
    for number in 0..chunks {
        let path = table.layout.chunk(group.number, number);
        if files.lack(&path, findings) {
            keys = None;
            continue;
        }
        let opened = Chunk::open(&table.root, path, group.encoding, Arc::clone(&group.columns), true);
        let Some(chunk) = or_find(findings, opened)? else {
            keys = None;
            continue;
        };
        absent += u64::from(!chunk.indexed);
        extra_columns(&chunk, info, &[VERTEX_INDEX], findings);
        embedded(&chunk.path, &chunk.reader, findings)?;
        let expected = table.chunk_rows(number)?;
        if !stated_rows(&chunk.path, chunk.reader.row_count(), expected, findings) {
            keys = None;
        }
        let first = number * table.info.chunk_size;
        let mut seen = 0;
        let mut gap = false;
        let read = (|| {
            for batch in chunk.batches(everything())? {
                let batch = batch.map_err(|error| inexact(error).at(Place::file(&chunk.path)))?;
                // One gap shifts every later row.
                if chunk.indexed
                    && !gap
                    && let Err(error) = check_index(&chunk.path, batch.column(0), first + seen, seen)
                {
                    gap = true;
                    find(findings, error)?;
                }
                let arrays = chunk.columns(&batch)?;
                nulls(&chunk.path, info, &group.columns, &arrays, seen, findings);
                blank_lines(&chunk, info, &arrays, seen, findings);
                match (&mut keys, key.and_then(|key| arrays.get(key))) {
                    (Some(keys), Some(array)) if array.null_count() == 0 => keys.push(array)?,
                    _ => keys = None,
                }
                seen += batch.num_rows() as u64;
            }
            Ok(())
        })();
        if or_find(findings, read)?.is_none() {
            keys = None;
        } else if must_count(group.encoding) {
            stated_rows(&chunk.path, Some(seen), expected, findings);
        }
    }
    if absent > 0 {
        let message = format!("{absent} chunks have no vertex index");
        findings.push(&rules::INDEX_ABSENT, message, table.layout.group(group.number));
    }
    match keys {
        Some(keys) => repeats(table, group, keys, findings),
        None => Ok(()),
    }
}

fn repeats(table: &VertexTable, group: &Group, keys: KeyRowsBuilder, findings: &mut Findings) -> Result<()> {
    let found = keys.finish()?;
    let repeats = found.repeats();
    for repeat in repeats.shown() {
        let size = table.info.chunk_size;
        let place = Place::file(table.layout.chunk(group.number, repeat.row / size)).row(repeat.row % size);
        findings.push(
            &rules::KEY_TWICE,
            format!("vertex {} has the same key as vertex {}", repeat.row, repeat.first),
            place,
        );
    }
    for _ in repeats.shown().len() as u64..repeats.count() {
        findings.push(&rules::KEY_TWICE, "repeated key", table.layout.group(group.number));
    }
    Ok(())
}

fn check_labels(table: &VertexTable, file: &LabelFile, expected: u64, findings: &mut Findings) -> Result<()> {
    let labels = &table.info.labels;
    let stored: Vec<&str> = file.reader.schema().fields().iter().map(|field| field.name().as_str()).collect();
    if stored != labels.iter().map(String::as_str).collect::<Vec<_>>() {
        let message = format!("the columns are {}", stored.join(", "));
        findings.push(&rules::LABEL_ORDER, message, file.path.as_str());
    }
    stated_rows(&file.path, file.reader.row_count(), expected, findings);
    let mut nulls = vec![0u64; labels.len()];
    for batch in file.batches(labels.iter().map(String::as_str), everything())? {
        let batch = batch.map_err(|error| error.at(Place::file(&file.path)))?;
        for (nulls, column) in nulls.iter_mut().zip(batch.columns()) {
            *nulls += column.as_boolean_opt().map_or(0, |column| column.null_count() as u64);
        }
    }
    for (label, nulls) in labels.iter().zip(nulls).filter(|(_, nulls)| *nulls > 0) {
        let place = Place::file(&file.path).in_field(label);
        findings.push(&rules::LABEL_NULL, format!("{nulls} nulls in label {label}"), place);
    }
    Ok(())
}
