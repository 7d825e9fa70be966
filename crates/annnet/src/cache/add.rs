//! Giving a graph that is there its views.

use std::collections::BTreeSet;

use isomorph_error::{Error, Result};
use isomorph_storage::{Changed, Location, Redo, Root};

use super::{CSC, CSR, FOLDER, build};
use crate::layout::Layout;
use crate::write::{Output, WriteOptions};
use crate::{Annnet, OpenOptions};

/// Writes `cache/csr.zarr` and `cache/csc.zarr` of the graph at `location`, a directory, in the place of older ones. They
/// change together; nothing else is touched.
///
/// # Errors
/// [`isomorph_error::Kind::Usage`] for an archive and for a layout older than v2; when the graph cannot be read, does not
/// fit the budget, or nothing can be written there.
pub fn write_cache(location: &Location, options: &WriteOptions) -> Result<Changed> {
    let reading = OpenOptions { budget: options.budget.clone(), scratch: options.scratch.clone(), verify: true };
    let annnet = Annnet::open(location, &reading)?;
    if annnet.members.archive().is_some() {
        return Err(Error::usage("an archive is unpacked whole: a cache in it is of no use"));
    }
    if annnet.layout() == Layout::V1 {
        return Err(
            Error::usage("graphs of the layout v1 have no cache").hint("isomorph convert PATH COPY --to annnet")
        );
    }
    let redo = Redo::begin(&Root::open(location)?)?;
    let mut output = Output::within(&redo);
    build(&annnet, &mut output, options)?;
    let names: BTreeSet<String> = output.close()?.into_iter().map(|(name, _)| name).collect();
    // A chunk that is missing is full of zeros: one of older views must not stand in its place.
    for (name, _) in annnet.members.list()? {
        if name.starts_with(FOLDER) && !names.contains(&name) {
            redo.remove(&name)?;
        }
    }
    redo.commit(&[&format!("{CSC}/zarr.json"), &format!("{CSR}/zarr.json")])
}
