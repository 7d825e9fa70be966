//! Inserts statements into a store, or deletes them, in one transaction.

use std::io::Read;
use std::sync::PoisonError;

use isomorph_error::{Place, Result};
use isomorph_graphlake::{Committed, Lake};
use isomorph_model::faces::Quad;
use isomorph_rdf::{ReadOptions, Reading, Syntax, Text, Unlabelled};
use isomorph_storage::Budget;

use super::{LakeStream, LakeText, fresh_prefix};

/// What to do with statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LakeEdit {
    /// Insert them; labels of blank nodes are those of the store.
    Insert,
    /// Delete them.
    Delete,
}

/// Inserts statements of N-Quads into a store, or deletes them, in one transaction.
///
/// # Errors
/// If a statement is malformed, or writing fails. Nothing is changed in these cases.
pub fn edit_lake(
    lake: &Lake,
    edit: LakeEdit,
    mut statements: impl Read,
    budget: &Budget,
) -> Result<(Reading, Option<Committed>)> {
    let mut transaction = lake.begin()?;
    let options = ReadOptions { budget: budget.clone(), ..ReadOptions::default() };
    let reading = isomorph_rdf::read(&mut statements, Syntax::NQuads, &options, &mut |quad| match edit {
        LakeEdit::Insert => transaction.insert(&quad),
        LakeEdit::Delete => transaction.delete(&quad),
    })?;
    Ok((reading, transaction.commit()?))
}

/// What was read for a change, and the result.
#[derive(Debug, Clone, Default)]
pub struct LakeChanges {
    /// Number of statements to delete.
    pub deletes: u64,
    /// Number of statements to insert.
    pub inserts: u64,
    /// The commit; `None` if nothing changed.
    pub commit: Option<Committed>,
}

/// Deletes the statements of some texts and then inserts those of others, in one transaction: a statement that is in
/// both exists afterwards. Labels of blank nodes are those of the store; a node without a label is a new one, which can
/// be inserted but not deleted. Without `syntax`, the names and beginnings of files determine the syntax; streams are
/// N-Quads.
///
/// # Errors
/// Returns [`isomorph_error::Kind::Usage`] if a node without a label is to be deleted; also if a text cannot be read or
/// is malformed, or writing fails. Nothing is changed in these cases.
pub fn change_lake(
    lake: &Lake,
    deletes: &[LakeText],
    inserts: &[LakeText],
    syntax: Option<Syntax>,
    budget: &Budget,
) -> Result<LakeChanges> {
    let mut transaction = lake.begin()?;
    let mut changes = LakeChanges::default();
    let options = |unlabelled| ReadOptions { budget: budget.clone(), unlabelled, ..ReadOptions::default() };
    for text in deletes {
        let options = options(Unlabelled::Refused);
        changes.deletes += statements(text, syntax, &options, &mut |quad| transaction.delete(&quad))?;
    }
    // Nodes without a label are different in each text, and are not nodes of the store.
    let fresh = fresh_prefix()?;
    for (at, text) in inserts.iter().enumerate() {
        let options = options(Unlabelled::Called(format!("{fresh}{}_", at + 1)));
        changes.inserts += statements(text, syntax, &options, &mut |quad| transaction.insert(&quad))?;
    }
    changes.commit = transaction.commit()?;
    Ok(changes)
}

/// Passes on the statements of a text. Returns their number.
fn statements(
    text: &LakeText,
    syntax: Option<Syntax>,
    options: &ReadOptions,
    take: &mut dyn FnMut(Quad<'_>) -> Result<()>,
) -> Result<u64> {
    let reading = match text {
        LakeText::At(location) => Text::open(location, syntax)?.read(options, take)?,
        LakeText::Stream(LakeStream { name, input }) => {
            let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
            let syntax = syntax.unwrap_or(Syntax::NQuads);
            isomorph_rdf::read(&mut *input, syntax, options, take)
                .map_err(|error| error.at(Place::file(name.clone())))?
        }
    };
    Ok(reading.quads)
}
