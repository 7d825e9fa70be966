//! Names of attributes as a graph shows them, and as its tables have them.

use std::collections::BTreeMap;

use arrow_array::ArrayRef;
use isomorph_error::Error;
use isomorph_model::Source;

use super::input::Input;
use crate::kept;
use crate::read::{Annnet, shown_name};

/// The columns of a whole table, of which `reserved` is no attribute where a graph is shown: what the graph shows under another
/// name goes into that column, if it is shown so again.
pub(super) fn as_in_file(annnet: &Annnet, reserved: &str, columns: &mut [(String, ArrayRef)]) {
    let Some(shown) = shown(&kept::names(annnet.graph()), reserved) else { return };
    let has = |name: &str| columns.iter().any(|(own, _)| own == name);
    let again = shown_name(reserved, |name| name == reserved || name != shown && has(name));
    if again != shown || has(reserved) {
        return;
    }
    for (name, _) in columns.iter_mut().filter(|(name, _)| *name == shown) {
        reserved.clone_into(name);
    }
}

/// The error for a table that has a column `reserved`, because of which there is no telling what is meant.
pub(super) fn reserved(annnet: &Annnet, input: &Input, reserved: &str, why: &str) -> Error {
    let names = kept::names(annnet.graph());
    let free = shown(&names, reserved).filter(|shown| !input.has(shown));
    let shown = free.unwrap_or_else(|| shown_name(reserved, |name| input.has(name)));
    Error::usage(format!("{why}, and is no attribute"))
        .at(input.place(0, reserved))
        .hint(format!("rename the column to {shown}, which is how an attribute of that name is shown"))
}

/// What the attribute in the column `reserved` is called, if there is one.
fn shown(names: &BTreeMap<String, String>, reserved: &str) -> Option<String> {
    names.iter().find(|(_, own)| *own == reserved).map(|(shown, _)| shown.clone())
}
