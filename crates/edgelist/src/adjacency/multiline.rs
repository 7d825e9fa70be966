//! NetworkX's multiline adjacency lists: a node and its number of neighbours, then a line for each of these.

use super::{check, content, rules};
use crate::grammar::{Cell, Cells, End, Grammar, Item, State, Take, lines, offset};
use crate::pieces::Piece;
use crate::python;
use crate::survey::Wrong;

pub(super) struct Multiline;

/// The first word of a line, and what follows.
fn first(line: &str) -> (&str, &str) {
    let line = line.trim_matches([' ', '\t']);
    let end = line.find([' ', '\t', '{']).unwrap_or(line.len());
    let (word, rest) = line.split_at_checked(end).unwrap_or((line, ""));
    (word, rest.trim_matches([' ', '\t']))
}

fn degree(text: &str, at: usize) -> Result<u64, Wrong> {
    let wrong = || Wrong::new(&rules::DEGREE, "expected a node and the number of its neighbours", at);
    text.parse().map_err(|_| wrong())
}

impl Grammar for Multiline {
    fn skip(&self, piece: &Piece, state: &mut State) -> Result<(), Wrong> {
        let mut name = "";
        for line in lines(piece, &rules::ENCODING)? {
            let (at, line) = line?;
            let Some(line) = content(line) else { continue };
            if state.left > 0 {
                state.left -= 1;
                continue;
            }
            let (node, rest) = first(line);
            name = node;
            state.left = degree(rest, at)?;
        }
        if !name.is_empty() {
            name.clone_into(&mut state.name);
        }
        Ok(())
    }

    fn read<'a>(&self, piece: &'a Piece, state: &'a State, take: Take<'_, 'a>) -> Result<(), Wrong> {
        let (mut left, mut name) = (state.left, None);
        let mut cells: Cells<'a> = Vec::new();
        for line in lines(piece, &rules::ENCODING)? {
            let (at, whole) = line?;
            let Some(line) = content(whole) else { continue };
            let (word, rest) = first(line);
            check(word, at)?;
            let place = at + offset(whole, word);
            if word.is_empty() {
                return Err(Wrong::new(&rules::NAME, "a node has no name", at));
            }
            cells.clear();
            if left == 0 {
                left = degree(rest, at)?;
                name = Some(word);
                take(place, Item::Node(End::Name(word), &mut cells))?;
                continue;
            }
            left -= 1;
            if !rest.is_empty() {
                let read = python::dictionary(rest, &mut |name, value| cells.push((name, Cell::Value(value))));
                read.map_err(|fault| {
                    let message = format!("{}, at byte {} of the dictionary", fault.message, fault.at + 1);
                    Wrong::new(&rules::DICTIONARY, message, at)
                })?;
                let mut names: Vec<&str> = cells.iter().map(|(name, _)| name.as_ref()).collect();
                names.sort_unstable();
                if let Some([twice, _]) = names.windows(2).find(|pair| pair.first() == pair.last()) {
                    let message = format!("{twice} occurs twice, but Python keeps only the last: remove the others");
                    return Err(Wrong::new(&rules::DICTIONARY, message, at));
                }
            }
            // The node may be in the piece before.
            match name {
                Some(name) => take(place, Item::Edge(End::Name(name), End::Name(word), false, &mut cells))?,
                None => take(place, Item::Edge(End::Name(&state.name), End::Name(word), false, &mut cells))?,
            }
        }
        Ok(())
    }
}
