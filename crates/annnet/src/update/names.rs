//! Names of attributes as a graph shows them, and as its tables store them.

use std::collections::BTreeMap;

use arrow_array::ArrayRef;
use isomorph_error::Error;
use isomorph_model::Source;

use super::input::Input;
use crate::preserved;
use crate::read::{Annnet, shown_name};

/// Renames the columns of a complete table. `reserved` cannot be an attribute name in an opened graph: the attribute
/// that the graph shows under another name goes into this column, if it is still shown that way.
pub(super) fn as_in_file(annnet: &Annnet, reserved: &str, columns: &mut [(String, ArrayRef)]) {
    let Some(shown) = shown(&preserved::names(annnet.graph()), reserved) else { return };
    let has = |name: &str| columns.iter().any(|(own, _)| own == name);
    let again = shown_name(reserved, |name| name == reserved || name != shown && has(name));
    if again != shown || has(reserved) {
        return;
    }
    for (name, _) in columns.iter_mut().filter(|(name, _)| *name == shown) {
        reserved.clone_into(name);
    }
}

/// Returns the error for a table with a column `reserved`, whose meaning is ambiguous.
pub(super) fn reserved(annnet: &Annnet, input: &Input, reserved: &str, why: &str) -> Error {
    let names = preserved::names(annnet.graph());
    let free = shown(&names, reserved).filter(|shown| !input.has(shown));
    let shown = free.unwrap_or_else(|| shown_name(reserved, |name| input.has(name)));
    Error::usage(format!("{why}, not an attribute"))
        .at(input.place(0, reserved))
        .hint(format!("rename the column to {shown}, which is how an attribute of that name is shown"))
}

/// Returns the shown name of the attribute in the column `reserved`, if there is one.
fn shown(names: &BTreeMap<String, String>, reserved: &str) -> Option<String> {
    names.iter().find(|(_, own)| *own == reserved).map(|(shown, _)| shown.clone())
}
