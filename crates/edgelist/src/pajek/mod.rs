#![doc = include_str!("README.md")]

mod open;
pub mod rules;
mod words;
mod write;

use std::borrow::Cow;

use crate::grammar::{Cell, Cells, End, Grammar, Item, State, Take, lines};
use crate::matrix_market::{WEIGHT, short};
use crate::pieces::Piece;
use crate::survey::Wrong;

pub(crate) use open::{begins, open};
use words::{Word, words};
pub(crate) use write::{PajekWriter, copy, has_place};

/// Names of values that have a place of their own in a line.
pub(crate) const COORDINATES: [&str; 3] = ["x", "y", "z"];
pub(crate) const SHAPE: &str = "shape";
pub(crate) const LABEL: &str = "label";
pub(crate) const TIME: &str = "time";
pub(crate) const RELATION: &str = "relation";
/// The name of a text that lists coordinates, shape or weight which are in a line only because NetworkX expects them.
pub(crate) const FILLED: &str = "isomorph_filled";

/// Returns whether nodes and edges may have a property of this name.
pub fn is_property(name: &str) -> bool {
    name != FILLED
}

/// The sections, as [`State::section`] numbers them.
const NETWORK: usize = 0;
const VERTICES: usize = 1;
const ARCS: usize = 2;
const EDGES: usize = 3;
const ARCSLIST: usize = 4;
const EDGESLIST: usize = 5;

/// A network, with what its first lines state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pajek {
    pub vertices: u64,
    /// Number of vertices of the first kind, if there are two kinds.
    pub first_mode: Option<u64>,
    pub name: Option<String>,
    /// Keys are numbers, and labels are values: some are equal.
    pub labels_are_values: bool,
}

/// Returns what is in a line, without a comment.
fn content(line: &str) -> Option<&str> {
    let line = line.trim_matches([' ', '\t']);
    if line.is_empty() || line.starts_with('%') { None } else { Some(line) }
}

/// The name of a section in lower case, and what follows.
fn section(line: &str) -> Option<(String, &str)> {
    let rest = line.strip_prefix('*')?;
    let end = rest.find([' ', '\t', ':']).unwrap_or(rest.len());
    let (name, rest) = rest.split_at_checked(end)?;
    Some((name.to_lowercase(), rest.trim_matches([' ', '\t'])))
}

impl Pajek {
    /// Follows a line that begins a section.
    fn enter(&self, line: &str, at: usize, state: &mut State) -> Result<(), Wrong> {
        let Some((name, rest)) = section(line) else { return Ok(()) };
        let wrong = |message: String| Wrong::new(&rules::SECTION, message, at);
        let next = match name.as_str() {
            "network" if state.section == NETWORK => NETWORK,
            "vertices" if state.section == NETWORK => VERTICES,
            "network" | "vertices" => return Err(wrong("a second network begins here".to_owned())),
            _ if state.section == NETWORK => return Err(wrong("the vertices come first".to_owned())),
            "arcs" => ARCS,
            "edges" => EDGES,
            "arcslist" => ARCSLIST,
            "edgeslist" => EDGESLIST,
            "matrix" => {
                return Err(wrong(
                    "a matrix is not supported: save the network with lists of arcs or edges".to_owned(),
                ));
            }
            other => return Err(wrong(format!("*{} is not a section of a network", short(other)))),
        };
        state.section = next;
        // `*Arcs :2 "knows"` is one of several relations.
        state.name = match rest.strip_prefix(':') {
            Some(relation) if next >= ARCS => {
                let mut found = Vec::new();
                words(relation, &mut found).ok_or_else(|| wrong("a quotation mark is not closed".to_owned()))?;
                let name = found.get(1).or(found.first());
                name.map(|word| word.text.to_owned()).unwrap_or_default()
            }
            _ => String::new(),
        };
        Ok(())
    }

    fn vertex<'a>(&self, found: &[Word<'a>], row: u64, at: usize, take: Take<'_, 'a>) -> Result<(), Wrong> {
        let wrong = |message: String| Wrong::new(&rules::VERTEX, message, at);
        let number = found.first().and_then(|word| word.text.parse::<u64>().ok());
        if number != Some(row + 1) || row >= self.vertices {
            let message = format!("expected vertex {}, of {} vertices", row + 1, self.vertices);
            return Err(wrong(message));
        }
        let label = found.get(1).map(|word| word.text).unwrap_or_else(|| found.first().map_or("", |word| word.text));
        let mut cells: Cells<'a> = Vec::new();
        if self.labels_are_values {
            cells.push((Cow::Borrowed(LABEL), Cell::Text(label)));
        }
        let mut rest: Vec<Word<'a>> = found.get(2..).unwrap_or_default().to_vec();
        take_time(&mut rest, &mut cells);
        let numbers =
            rest.iter().take(3).take_while(|word| !word.is_quoted && word.text.parse::<f64>().is_ok()).count();
        for (name, word) in COORDINATES.into_iter().zip(rest.drain(..numbers)) {
            cells.push((Cow::Borrowed(name), Cell::Field(word.text)));
        }
        if rest.len() % 2 == 1 {
            cells.push((Cow::Borrowed(SHAPE), Cell::Text(rest.remove(0).text)));
        }
        pairs(&rest, &mut cells).map_err(|twice| wrong(format!("{} has two values", short(twice))))?;
        leave_out_filled(&mut cells);
        let end = if self.labels_are_values { End::Row(row) } else { End::Name(label) };
        take(at, Item::Node(end, &mut cells))
    }

    fn edge<'a>(&self, found: &[Word<'a>], state: &State, at: usize, take: Take<'_, 'a>) -> Result<(), Wrong> {
        let wrong = |message: String| Wrong::new(&rules::EDGE, message, at);
        let row = |word: Option<&Word<'a>>| {
            let word = word.ok_or_else(|| wrong("expected two vertices".to_owned()))?;
            let number = word.text.parse::<u64>().ok().filter(|number| (1..=self.vertices).contains(number));
            let number = number
                .ok_or_else(|| wrong(format!("{:?} is not a vertex from 1 to {}", short(word.text), self.vertices)))?;
            Ok(End::Row(number - 1))
        };
        let directed = matches!(state.section, ARCS | ARCSLIST);
        let relation = || {
            (!state.name.is_empty()).then(|| Cell::Value(crate::python::Value::Text(Cow::Owned(state.name.clone()))))
        };
        let mut cells: Cells<'a> = Vec::new();
        if matches!(state.section, ARCSLIST | EDGESLIST) {
            let from = row(found.first())?;
            for word in found.get(1..).unwrap_or_default() {
                cells.clear();
                cells.extend(relation().map(|cell| (Cow::Borrowed(RELATION), cell)));
                take(at, Item::Edge(from, row(Some(word))?, directed, &mut cells))?;
            }
            return Ok(());
        }
        // `2: 1 3 0.5` names the relation in the line.
        let named = found.first().and_then(|word| word.text.strip_suffix(':')).filter(|_| !state.section.eq(&NETWORK));
        let found = if named.is_some() { found.get(1..).unwrap_or_default() } else { found };
        let (source, target) = (row(found.first())?, row(found.get(1))?);
        match named {
            Some(named) => cells.push((Cow::Borrowed(RELATION), Cell::Text(named))),
            None => cells.extend(relation().map(|cell| (Cow::Borrowed(RELATION), cell))),
        }
        let mut rest: Vec<Word<'a>> = found.get(2..).unwrap_or_default().to_vec();
        take_time(&mut rest, &mut cells);
        if let Some(word) = rest.first().filter(|word| !word.is_quoted && word.text.parse::<f64>().is_ok()) {
            cells.push((Cow::Borrowed(WEIGHT), Cell::Field(word.text)));
            rest.remove(0);
        }
        if rest.len() % 2 == 1 {
            return Err(wrong("expected pairs of names and values after the vertices and the value".to_owned()));
        }
        pairs(&rest, &mut cells).map_err(|twice| wrong(format!("{} has two values", short(twice))))?;
        leave_out_filled(&mut cells);
        take(at, Item::Edge(source, target, directed, &mut cells))
    }
}

/// Moves intervals of time, `[1-3,7]`, from words to values.
fn take_time<'a>(rest: &mut Vec<Word<'a>>, cells: &mut Cells<'a>) {
    let is_time = |word: &Word<'_>| !word.is_quoted && word.text.starts_with('[') && word.text.ends_with(']');
    if let Some(at) = rest.iter().position(is_time) {
        cells.push((Cow::Borrowed(TIME), Cell::Text(rest.remove(at).text)));
    }
}

/// Adds pairs of names and values; fails for a name that occurs twice.
fn pairs<'a>(rest: &[Word<'a>], cells: &mut Cells<'a>) -> Result<(), &'a str> {
    for pair in rest.chunks_exact(2) {
        let [name, value] = pair else { continue };
        if cells.iter().any(|(other, _)| *other == name.text) {
            return Err(name.text);
        }
        let cell = if value.is_quoted { Cell::Text(value.text) } else { Cell::Field(value.text) };
        cells.push((Cow::Borrowed(name.text), cell));
    }
    Ok(())
}

/// Removes the values that [`FILLED`] lists, and the list.
fn leave_out_filled(cells: &mut Cells<'_>) {
    let is_list = |(name, cell): &(Cow<'_, str>, Cell<'_>)| *name == FILLED && matches!(cell, Cell::Text(_));
    let Some(at) = cells.iter().position(is_list) else { return };
    if let (_, Cell::Text(filled)) = cells.remove(at) {
        cells.retain(|(name, _)| !filled.split(' ').any(|own| own == name));
    }
}

impl Grammar for Pajek {
    fn skip(&self, piece: &Piece, state: &mut State) -> Result<(), Wrong> {
        for line in lines(piece, &rules::ENCODING)? {
            let (at, line) = line?;
            let Some(line) = content(line) else { continue };
            if line.starts_with('*') {
                self.enter(line, at, state)?;
            } else if state.section == VERTICES {
                state.row += 1;
            }
        }
        Ok(())
    }

    fn read<'a>(&self, piece: &'a Piece, state: &'a State, take: Take<'_, 'a>) -> Result<(), Wrong> {
        let mut state = state.clone();
        let mut found = Vec::new();
        for line in lines(piece, &rules::ENCODING)? {
            let (at, line) = line?;
            let Some(line) = content(line) else { continue };
            if line.starts_with('*') {
                self.enter(line, at, &mut state)?;
                continue;
            }
            let rule = if state.section <= VERTICES { &rules::VERTEX } else { &rules::EDGE };
            words(line, &mut found).ok_or_else(|| Wrong::new(rule, "a quotation mark is not closed", at))?;
            match state.section {
                NETWORK => return Err(Wrong::new(&rules::SECTION, "the file begins with *Vertices", at)),
                VERTICES => {
                    self.vertex(&found, state.row, at, take)?;
                    state.row += 1;
                }
                _ => self.edge(&found, &state, at, take)?,
            }
        }
        Ok(())
    }
}
