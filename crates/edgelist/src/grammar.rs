//! What the notations of this crate have in common: a grammar turns the lines of a piece of text into nodes and edges.

use std::borrow::Cow;

use isomorph_error::Rule;

use crate::pieces::Piece;
use crate::python::Value;
use crate::survey::Wrong;

/// A node in a text: by its row, from 0, or by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End<'a> {
    Row(u64),
    Name(&'a str),
}

/// A value in a text.
#[derive(Debug, Clone)]
pub(crate) enum Cell<'a> {
    /// A word that may be a number.
    Field(&'a str),
    /// Text, whatever it looks like.
    Text(&'a str),
    /// A value with a type.
    Value(Value<'a>),
}

impl Default for Cell<'_> {
    fn default() -> Self {
        Cell::Value(Value::None)
    }
}

/// Values by the names of their properties.
pub(crate) type Cells<'a> = Vec<(Cow<'a, str>, Cell<'a>)>;

/// What a grammar finds.
pub(crate) enum Item<'i, 'a> {
    /// A node: its name, if the text names it, and its values.
    Node(End<'a>, &'i mut Cells<'a>),
    /// An edge: source, target, whether it is directed, and its values.
    Edge(End<'a>, End<'a>, bool, &'i mut Cells<'a>),
    /// Something that readers disagree about.
    Odd(&'static Rule, &'static str),
}

/// Takes what was found: the byte of the piece at which it is stated, and the item.
pub(crate) type Take<'t, 'a> = &'t mut dyn FnMut(usize, Item<'_, 'a>) -> Result<(), Wrong>;

/// What the lines before a piece determine about the piece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct State {
    /// Number of nodes before.
    pub row: u64,
    /// Number of lines that belong to the last node.
    pub left: u64,
    /// The last node, or the relation of the section.
    pub name: String,
    /// The section, as the grammar counts them.
    pub section: usize,
}

/// A notation of graphs as lines of text, with what the beginning of one text states.
pub(crate) trait Grammar: Send + Sync {
    /// Changes `state` to that after a piece. The default suits lines that are independent of each other.
    ///
    /// # Errors
    /// Returns an error if the lines cannot be followed.
    fn skip(&self, _piece: &Piece, _state: &mut State) -> Result<(), Wrong> {
        Ok(())
    }

    /// Passes on the nodes and edges of a piece.
    ///
    /// # Errors
    /// Returns an error at the first invalid line, or an error of `take`.
    fn read<'a>(&self, piece: &'a Piece, state: &'a State, take: Take<'_, 'a>) -> Result<(), Wrong>;
}

/// The lines of a piece, without line ends: the byte at which each begins, and its text.
///
/// # Errors
/// Returns an error of rule `encoding` if the text is not UTF-8, or a line contains a carriage return.
pub(crate) fn lines<'a>(
    piece: &'a Piece,
    encoding: &'static Rule,
) -> Result<impl Iterator<Item = Result<(usize, &'a str), Wrong>>, Wrong> {
    let text = std::str::from_utf8(&piece.text)
        .map_err(|error| Wrong::new(encoding, "the text is not UTF-8", error.valid_up_to()))?;
    let mut start = 0;
    if piece.offset == 0 && text.starts_with('\u{feff}') {
        start = '\u{feff}'.len_utf8();
    }
    Ok(std::iter::from_fn(move || {
        let rest = text.get(start..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
        let line = rest.get(..end).unwrap_or_default();
        let at = start;
        start += end + 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        Some(match line.contains('\r') {
            true => Err(Wrong::new(encoding, "the line contains a carriage return", at)),
            false => Ok((at, line)),
        })
    }))
}

/// Returns the byte offset of `part` in `whole`, of which it is a slice.
pub(crate) fn offset(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize)
}
