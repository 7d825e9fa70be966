//! Statements into a store, or out of it, as one transaction.

use std::io::Read;
use std::sync::PoisonError;

use isomorph_bridges::{ReadOptions, Reading, Syntax, Text};
use isomorph_error::{Place, Result};
use isomorph_graphlake::{Committed, Lake, check_graph};
use isomorph_model::faces::Quad;
use isomorph_storage::Budget;

use super::{LakeStream, LakeText};

/// What is done with statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LakeEdit {
    /// They are inserted; labels of blank nodes are those of the store.
    Insert,
    /// They are deleted.
    Delete,
}

/// Inserts statements of N-Quads into a store, or deletes them, as one transaction.
///
/// # Errors
/// When a statement is broken, or something cannot be written: then nothing is changed.
pub fn edit_lake(
    lake: &Lake,
    edit: LakeEdit,
    mut statements: impl Read,
    budget: &Budget,
) -> Result<(Reading, Option<Committed>)> {
    let mut transaction = lake.begin()?;
    let options = ReadOptions { budget: budget.clone(), ..ReadOptions::default() };
    let reading = isomorph_bridges::read(&mut statements, Syntax::NQuads, &options, &mut |quad| match edit {
        LakeEdit::Insert => check_graph(quad.graph).and_then(|()| transaction.insert(&quad)),
        LakeEdit::Delete => transaction.delete(&quad),
    })?;
    Ok((reading, transaction.commit()?))
}

/// What was read for a change, and what became of it.
#[derive(Debug, Clone, Default)]
pub struct LakeChanges {
    /// Statements that were to be deleted.
    pub deletes: u64,
    /// Statements that were to be inserted.
    pub inserts: u64,
    /// The commit; nothing when nothing changed.
    pub commit: Option<Committed>,
}

/// Deletes the statements of some texts and then inserts those of others, as one transaction: a statement that is among both is
/// there in the end. Labels of blank nodes are those of the store. Without `syntax` names and beginnings of files tell theirs;
/// streams are N-Quads.
///
/// # Errors
/// When a text cannot be read or is broken, or something cannot be written: then nothing is changed.
pub fn change_lake(
    lake: &Lake,
    deletes: &[LakeText],
    inserts: &[LakeText],
    syntax: Option<Syntax>,
    budget: &Budget,
) -> Result<LakeChanges> {
    let mut transaction = lake.begin()?;
    let mut changes = LakeChanges::default();
    for text in deletes {
        changes.deletes += statements(text, syntax, budget, &mut |quad| transaction.delete(&quad))?;
    }
    for text in inserts {
        let mut insert = |quad: Quad<'_>| check_graph(quad.graph).and_then(|()| transaction.insert(&quad));
        changes.inserts += statements(text, syntax, budget, &mut insert)?;
    }
    changes.commit = transaction.commit()?;
    Ok(changes)
}

/// Hands over the statements of a text; returns how many there are.
fn statements(
    text: &LakeText,
    syntax: Option<Syntax>,
    budget: &Budget,
    take: &mut dyn FnMut(Quad<'_>) -> Result<()>,
) -> Result<u64> {
    let options = ReadOptions { budget: budget.clone(), ..ReadOptions::default() };
    let reading = match text {
        LakeText::At(location) => Text::open(location, syntax)?.read(&options, take)?,
        LakeText::Stream(LakeStream { name, input }) => {
            let mut input = input.lock().unwrap_or_else(PoisonError::into_inner);
            let syntax = syntax.unwrap_or(Syntax::NQuads);
            isomorph_bridges::read(&mut *input, syntax, &options, take)
                .map_err(|error| error.at(Place::file(name.clone())))?
        }
    };
    Ok(reading.quads)
}
