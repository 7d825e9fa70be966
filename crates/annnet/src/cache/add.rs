//! Adding views to an existing graph.

use std::collections::BTreeSet;

use isomorph_error::Result;
use isomorph_storage::{Changed, Location, Redo, Root};

use super::{CSC, CSR, FOLDER, build};
use crate::update::Target;
use crate::write::{Output, WriteOptions};
use crate::{Annnet, OpenOptions};

/// Writes `cache/csr.zarr` and `cache/csc.zarr` of the graph at `location`, replacing older ones. Both change together;
/// no other files change, but an archive is rewritten.
///
/// # Errors
/// Returns an error if the graph cannot be read, the budget is exceeded, or the location is not writable.
pub fn write_cache(location: &Location, options: &WriteOptions) -> Result<Changed> {
    let reading = OpenOptions { budget: options.budget.clone(), scratch: options.scratch.clone(), verify: true };
    let annnet = Annnet::open(location, &reading)?;
    if annnet.members.archive().is_some() {
        let mut output = Output::apart(options)?;
        build(&annnet, &mut output, options)?;
        let mut target = Target::begin(location, &annnet.members, None, options)?;
        target.remove(FOLDER.trim_end_matches('/'))?;
        for (name, file) in output.take() {
            target.copy(&name, &file.blob()?)?;
        }
        let wrote = target.commit(&annnet.members, &annnet.words)?;
        return Ok(Changed { files: wrote.files, bytes: wrote.bytes });
    }
    let redo = Redo::begin(&Root::open(location)?)?;
    let mut output = Output::within(&redo);
    build(&annnet, &mut output, options)?;
    let names: BTreeSet<String> = output.close()?.into_iter().map(|(name, _)| name).collect();
    // A missing chunk means zeros: chunks of older views must not remain.
    for (name, _) in annnet.members.list()? {
        if name.starts_with(FOLDER) && !names.contains(&name) {
            redo.remove(&name)?;
        }
    }
    redo.commit(&[&format!("{CSC}/zarr.json"), &format!("{CSR}/zarr.json")])
}
