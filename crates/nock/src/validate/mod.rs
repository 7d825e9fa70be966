//! Validation: checks every rule of the format, row by row.

mod cells;
mod raw;
mod rows;
mod text;

use isomorph_error::{Error, Findings, Place, Result, Severity};
use isomorph_tables::Selection;

use crate::columns::ColumnSet;
use crate::dataset::{Extras, Format, Partition, Piece};
use crate::layout::Dialect;
use crate::read::unless_broken;
use crate::{CompareOptions, Nock, OpenOptions, Tolerance, compare, rules};
use raw::Raw;
use rows::RowChecks;

/// Maximum number of rows in a batch.
const BATCH_ROWS: usize = 1 << 14;

/// Adds every violation of a rule to `findings`.
///
/// # Errors
/// Returns an error if a file cannot be read any further.
pub(crate) fn validate(nock: &Nock, findings: &mut Findings) -> Result<()> {
    findings.merge(nock.noticed.clone());
    for (index, partition) in nock.partitions.iter().enumerate() {
        check_file(partition, findings);
        if let Err(error) = partition.check_embedded() {
            match error.broken_rule() {
                Some(rule) => findings.push(rule, error.message(), error.place().clone()),
                None => return Err(error),
            }
        }
        if let Some(blob) = &partition.text {
            text::check(blob, findings)?;
        }
        let mut checks = RowChecks::new(partition);
        for piece in nock.pieces.iter().filter(|piece| piece.partition == index) {
            check_piece(partition, piece, &mut checks, findings)?;
        }
    }
    check_twins(nock, findings)?;
    // A row that cannot be read is already a finding; names are compared if every row can be read.
    if let Some(settled) = unless_broken(nock.settle())? {
        findings.merge(settled.findings.clone());
    }
    Ok(())
}

/// Returns the first violation that is more than a note as an error: strict reading.
///
/// # Errors
/// Returns that violation, or the error of reading the file.
pub(crate) fn refuse(nock: &Nock) -> Result<()> {
    let mut findings = Findings::keeping(1);
    validate(nock, &mut findings)?;
    let all = findings.by_rule().flat_map(|(_, kept)| kept);
    let worst =
        all.filter(|finding| finding.rule.severity > Severity::Note).max_by_key(|finding| finding.rule.severity);
    match worst {
        Some(finding) => Err(Error::broken(finding.rule, finding.message.clone()).at(finding.place.clone())),
        None => Ok(()),
    }
}

/// Checks the rules for a file as a whole.
fn check_file(partition: &Partition, findings: &mut Findings) {
    let place = || Place::file(&partition.name);
    match (partition.format, partition.layout.dialect()) {
        (Format::Parquet, Dialect::Pynock) => {
            findings.push(&rules::FILE_TYPES, "the column types are those of pynock", place())
        }
        (Format::Parquet, Dialect::Nested) => {
            findings.push(&rules::FILE_TYPES, "edge rows are nested; the published library cannot read them", place());
        }
        (Format::Parquet, Dialect::Empty) => {
            findings.push(&rules::FILE_COLUMNS, "the file has no columns", place());
        }
        (Format::Parquet, Dialect::Other) => {
            findings.push(&rules::FILE_TYPES, "the types are neither the specification's nor pynock's", place());
        }
        (Format::Parquet, Dialect::Specification) | (Format::Csv, _) => {}
    }
    if partition.has_mark {
        findings.push(&rules::CSV_BOM, "the file begins with a byte-order mark", place());
    }
}

/// Compares text files with the Parquet files that are read instead of them.
fn check_twins(nock: &Nock, findings: &mut Findings) -> Result<()> {
    let (budget, scratch) = (nock.options.budget.clone(), nock.options.scratch.clone());
    // Text does not declare the types of further columns: they are read with the types of the table.
    let as_read = CompareOptions { narrow_truth: true, as_text: true, ..CompareOptions::default() };
    let compared = CompareOptions { budget, scratch, keep: 1, ..as_read };
    let options = OpenOptions { tolerance: Tolerance::Normal, keep_edge_id: false, ..nock.options.clone() };
    for (table, text) in &nock.twins {
        let place = || Place::file(text.name());
        let rows = Nock::open_blob(table.clone(), &options)
            .and_then(|table| compare(&table, &Nock::open_blob(text.clone(), &options)?, &compared));
        match rows {
            Ok(rows) if rows.is_equal() => {}
            Ok(rows) => {
                let (left, right) = (rows.only_left, rows.only_right);
                let message = format!("{} has {left} rows that are not in this file, and lacks {right}", table.name());
                findings.push(&rules::PART_TWIN, message, place());
            }
            // Input that cannot be read differs from input that can; the table's own errors are found separately.
            Err(error) if error.kind().exit_code() == 3 => {
                let message = format!("cannot be compared with {}: {}", table.name(), error.message());
                findings.push(&rules::PART_TWIN, message, place());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn check_piece(
    partition: &Partition,
    piece: &Piece,
    checks: &mut RowChecks<'_>,
    findings: &mut Findings,
) -> Result<()> {
    // Other columns are also read, and compared with the indexes that look-ups use: all must be valid.
    let everything = Selection::all().batch_rows(BATCH_ROWS).check_indexes();
    for batch in partition.batches(piece, ColumnSet::ALL, &Extras::All, everything)? {
        let (batch, numbers) = batch?;
        let raw =
            Raw::of(&batch, &numbers, partition.map_of_json).map_err(|error| error.at(partition.name.as_str()))?;
        checks.check(&raw, findings);
    }
    Ok(())
}
