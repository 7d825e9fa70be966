//! Checks that views match the tables: they are built again in temporary files and compared number by number.

use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_tables::Compression;

use super::stamp::{BUILT_FROM, FACTS, SHAPE, attributes, built_from};
use super::{CHUNK, CSC, CSR, build};
use crate::Annnet;
use crate::members::Members;
use crate::rules;
use crate::write::{Output, WriteOptions};
use crate::zarr::ArrayReader;

/// The arrays of both views.
const ARRAYS: [(&str, &[&str]); 2] =
    [(CSR, &["indptr", "indices", "data", "side", "id_hash", "id_row"]), (CSC, &["indptr", "indices", "data", "row"])];

/// Adds a finding for views that are stale or that differ from the tables.
///
/// # Errors
/// Returns an error if files cannot be read, or building the views exceeds the budget.
pub(crate) fn check(annnet: &Annnet, findings: &mut Findings) -> Result<()> {
    let members = &annnet.members;
    let (csr, csc) = (attributes(members, CSR)?, attributes(members, CSC)?);
    let (csr, csc) = match (csr, csc) {
        (None, None) => return Ok(()),
        (Some(csr), Some(csc)) => (csr, csc),
        (Some(_), None) | (None, Some(_)) => {
            findings.push(&rules::VIEWS, "one of the two views is missing", Place::file(super::FOLDER));
            return Ok(());
        }
    };
    let stamp = built_from(members, &annnet.words, annnet.manifest.graph_version.as_deref())?;
    for (view, own) in [(CSR, &csr), (CSC, &csc)] {
        if own.get(BUILT_FROM) != Some(&stamp) {
            findings.push(&rules::VIEWS_STALE, "the view was built from other files", Place::file(view));
            return Ok(());
        }
    }
    let options = WriteOptions {
        compression: Compression::None,
        budget: annnet.options.budget.clone(),
        scratch: annnet.options.scratch.clone(),
        ..WriteOptions::default()
    };
    let mut output = Output::apart(&options)?;
    build(annnet, &mut output, &options)?;
    let again = output.members(&annnet.options)?;
    for (view, names) in ARRAYS {
        let (own, wanted) = (attributes(members, view)?, attributes(&again, view)?);
        let of = |all: &Option<serde_json::Map<String, serde_json::Value>>, name: &str| {
            all.as_ref().and_then(|all| all.get(name)).cloned()
        };
        if [SHAPE, FACTS].iter().any(|name| of(&own, name) != of(&wanted, name)) {
            findings.push(&rules::VIEWS, "the stated facts differ from the graph", Place::file(view));
        }
        for name in names {
            let array = format!("{view}/{name}");
            match differs(members, &again, &array) {
                Ok(None) => {}
                Ok(Some(at)) => {
                    findings.push(&rules::VIEWS, "the number differs from the tables", Place::file(array).row(at))
                }
                // A chunk that cannot be unpacked is also a difference; one that cannot be fetched is an error.
                Err(error) if error.broken_rule().is_some() => {
                    findings.push(&rules::VIEWS, error.message(), error.place().clone());
                }
                Err(error) => return Err(error),
            }
        }
    }
    Ok(())
}

/// Returns the position of the first number that differs.
fn differs(members: &Members, again: &Members, name: &str) -> Result<Option<u64>> {
    let missing = || Error::broken(&rules::VIEWS, "the array is missing").at(Place::file(name));
    let own = ArrayReader::open(members, name)?.ok_or_else(missing)?;
    let wanted = ArrayReader::open(again, name)?.ok_or_else(|| Error::new(Kind::Io, "a view was not built"))?;
    let (mut found, mut right) = (Vec::new(), Vec::new());
    for start in (0..own.len().max(wanted.len())).step_by(CHUNK.get() as usize) {
        let range = start..start + CHUNK.get();
        found.clear();
        right.clear();
        for (array, out) in [(&own, &mut found), (&wanted, &mut right)] {
            // Compared as bits: 32-bit integers and these floats convert to 64-bit floats without loss.
            match array.is_integer() {
                true => array.integers(range.clone(), out)?,
                false => {
                    let mut floats = Vec::new();
                    array.floats(range.clone(), &mut floats)?;
                    out.extend(floats.iter().map(|float| float.to_bits().cast_signed()));
                }
            }
        }
        if found != right {
            let at = found.iter().zip(&right).take_while(|(own, wanted)| own == wanted).count();
            return Ok(Some(start + at as u64));
        }
    }
    Ok(None)
}
