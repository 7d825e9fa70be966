//! The pass over the text when it is opened: types of ends and values, number of edges, and the nodes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_schema::DataType;
use isomorph_error::{Error, Findings, Place, Result, Rule};
use isomorph_model::Property;
use isomorph_storage::{Budget, Scratch, pool};
use isomorph_tables::PackedFile;
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};

use crate::columns::{Kind, Properties};
use crate::layout::{Form, Layout};
use crate::line::{Separator, cell, content, integer, split, trimmed, with_dictionary, without_comment};
use crate::nodes::{Collector, Nodes};
use crate::pieces::{Piece, Pieces};
use crate::{python, rules};

/// Maximum number of names in dictionaries.
const NAMES: usize = 10_000;

/// The position of a piece in the file.
#[derive(Debug, Clone)]
pub(crate) struct Lies {
    pub line: u64,
    pub range: Range<u64>,
    pub edges: u64,
    /// Whether it contains the first line with content.
    pub is_first: bool,
}

/// The result of a pass.
pub(crate) struct Survey {
    pub edges: u64,
    /// Whether all ends are integers.
    pub integers: bool,
    pub properties: Properties,
    /// The pieces of the file.
    pub places: Vec<Lies>,
    pub nodes: Nodes,
}

/// An error in a piece, and the byte at which it is.
pub(crate) struct Wrong {
    pub error: Error,
    pub at: usize,
}

impl Wrong {
    pub fn new(rule: &'static isomorph_error::Rule, message: impl Into<String>, at: usize) -> Wrong {
        Wrong { error: Error::broken(rule, message), at }
    }

    /// Converts it to an error with file and line.
    pub fn in_piece(self, piece: &Piece, file: &PackedFile) -> Error {
        let before = piece.text.get(..self.at).unwrap_or(&piece.text);
        let line = piece.line + memchr::memchr_iter(b'\n', before).count() as u64;
        self.error.at(Place::file(file.blob.name()).line(line))
    }
}

/// Takes an edge: the byte at which its line begins, source, target, and what follows.
pub(crate) type Take<'t, 'a> = &'t mut dyn FnMut(usize, &str, &str, Behind<'_, 'a>) -> Result<(), Wrong>;

/// What follows source and target.
pub(crate) enum Behind<'f, 'a> {
    Fields(&'f [Cow<'a, str>]),
    Dictionary(&'a str),
}

/// Passes on the edges of a piece: the byte at which the line begins, source, target, and what follows.
///
/// # Errors
/// Returns an error at the first invalid line, or an error of `take`.
pub(crate) fn edges<'a>(piece: &'a Piece, layout: &Layout, skip_header: bool, take: Take<'_, 'a>) -> Result<(), Wrong> {
    let text = match std::str::from_utf8(&piece.text) {
        Ok(text) => text,
        Err(error) => return Err(Wrong::new(&rules::ENCODING, "the text is not UTF-8", error.valid_up_to())),
    };
    let (mut start, mut is_header) = (0, skip_header && layout.has_header);
    if piece.offset == 0 && text.starts_with('\u{feff}') {
        start = '\u{feff}'.len_utf8();
    }
    let mut fields = Vec::new();
    while start < text.len() {
        let end = memchr::memchr(b'\n', &text.as_bytes()[start..]).map_or(text.len(), |at| start + at);
        let line = text.get(start..end).unwrap_or_default();
        let at = start;
        start = end + 1;
        // There are no comments after a header.
        let Some(line) = content(line, is_header || !layout.has_header) else { continue };
        if line.contains('\r') {
            return Err(Wrong::new(&rules::FIELDS, "the line contains a carriage return", at));
        }
        if std::mem::take(&mut is_header) {
            continue;
        }
        match layout.form {
            Form::Dictionary => {
                let line = without_comment(line, layout.separator == Separator::Blanks);
                let found = with_dictionary(line, layout.separator);
                let (first, second, open) =
                    found.ok_or_else(|| Wrong::new(&rules::FIELDS, "expected two names and a dictionary", at))?;
                let (source, target) = if layout.ends == (1, 0) { (second, first) } else { (first, second) };
                for end in [source, target] {
                    check_end(end, layout).map_err(|(rule, message)| Wrong::new(rule, message, at))?;
                }
                take(at, source, target, Behind::Dictionary(line.get(open..).unwrap_or_default().trim_end()))?;
            }
            Form::Columns(behind) => {
                let is_blanks = layout.separator == Separator::Blanks;
                let line = if is_blanks { without_comment(line, true) } else { line };
                if !split(line, layout.separator, &mut fields) {
                    let message = "quotation marks do not enclose a whole field of one line";
                    return Err(Wrong::new(&rules::FIELDS, message, at));
                }
                if fields.len() != behind + 2 {
                    let message = match fields.len() {
                        1 => format!("1 field, expected {}", behind + 2),
                        found => format!("{found} fields, expected {}", behind + 2),
                    };
                    return Err(Wrong::new(&rules::FIELDS, message, at));
                }
                layout.arrange(&mut fields);
                for end in fields.iter_mut().take(2) {
                    check_end(end, layout).map_err(|(rule, message)| Wrong::new(rule, message, at))?;
                    if !is_blanks && trimmed(end).len() != end.len() {
                        *end = Cow::Owned(trimmed(end).to_owned());
                    }
                }
                let (ends, rest) = fields.split_at(2);
                if let Some(column) = layout.type_column
                    && rest.get(column.at).is_some_and(|field| !column.agrees(field))
                {
                    let message = "the column of directions says something else than in the first lines";
                    return Err(Wrong::new(&rules::DIRECTION, message, at));
                }
                take(at, &ends[0], &ends[1], Behind::Fields(rest))?;
            }
        }
    }
    Ok(())
}

/// Rejects an end that other readers read as another name.
fn check_end(end: &str, layout: &Layout) -> Result<(), (&'static Rule, &'static str)> {
    if end.is_empty() {
        return Err((&rules::NAME, "source or target has no name"));
    }
    if layout.separator == Separator::Blanks {
        return match end.contains('#') {
            true => Err((
                &rules::NAME,
                "a name contains #, where NetworkX cuts the line: separate the fields by tabs, or put a blank before #",
            )),
            false => Ok(()),
        };
    }
    // Blanks around a number do not belong to it; blanks around a name do, but are mostly unintended.
    let own = trimmed(end);
    match own.len() != end.len() && !(layout.integers && integer(own).is_some()) {
        true => Err((
            &rules::NAME,
            "a name has blanks around it: remove them, because readers disagree whether they belong to the name",
        )),
        false => Ok(()),
    }
}

/// What was found in one piece.
#[derive(Default)]
struct Found {
    edges: u64,
    integers: bool,
    properties: Properties,
}

fn otherwise(layout: &Layout) -> Kind {
    if layout.form == Form::Dictionary { Kind::Json } else { Kind::Text }
}

/// Reads the whole text. Nodes are collected as integers as long as all ends are integers, unless `as_text`; otherwise
/// the text is read again.
///
/// # Errors
/// Returns an error if the text cannot be read, or a line is invalid.
pub(crate) fn survey(
    file: &PackedFile,
    layout: &Layout,
    as_text: bool,
    (budget, scratch): (&Budget, &Scratch),
) -> Result<Survey> {
    let stays = AtomicBool::new(!as_text);
    let collector = Collector::new(!as_text, budget, scratch)?;
    let mut all = Found { integers: true, ..Found::default() };
    let mut places = Vec::new();
    passed(
        file,
        first_with_content(),
        |piece, is_first| {
            let mut found = Found { integers: true, ..Found::default() };
            if let Form::Columns(behind) = layout.form {
                (0..behind).for_each(|at| {
                    found.properties.place(&at.to_string());
                });
            }
            let mut own = collector.of_piece(piece);
            // For each property, the number from 1 of the last edge that had it.
            let mut last: Vec<u64> = Vec::new();
            let seen = edges(piece, layout, *is_first, &mut |at, source, target, behind| {
                found.edges += 1;
                if found.integers && (integer(source).is_none() || integer(target).is_none()) {
                    found.integers = false;
                    stays.store(false, Ordering::Relaxed);
                }
                if as_text || stays.load(Ordering::Relaxed) {
                    own.see(at, source, target);
                }
                match behind {
                    Behind::Fields(fields) => {
                        for (at, field) in fields.iter().enumerate() {
                            found.properties.at(at).into_iter().for_each(|seen| seen.field(cell(field)));
                        }
                        Ok(())
                    }
                    Behind::Dictionary(text) => {
                        let mut twice = None;
                        let read = python::dictionary(text, &mut |name, value| {
                            let at = found.properties.place(&name);
                            last.resize(found.properties.names.len(), 0);
                            if std::mem::replace(&mut last[at], found.edges) == found.edges {
                                twice = Some(name.into_owned());
                            }
                            found.properties.at(at).into_iter().for_each(|seen| seen.value(&value));
                        });
                        read.map_err(|fault| {
                            let message = format!("{}, at byte {} of the dictionary", fault.message, fault.at + 1);
                            Wrong::new(&rules::DICTIONARY, message, at)
                        })?;
                        if let Some(name) = twice {
                            let message =
                                format!("{name} occurs twice, but Python keeps only the last: remove the others");
                            return Err(Wrong::new(&rules::DICTIONARY, message, at));
                        }
                        match found.properties.names.len() > NAMES {
                            true => {
                                Err(Wrong::new(&rules::DICTIONARY, format!("more than {NAMES} different names"), at))
                            }
                            false => Ok(()),
                        }
                    }
                }
            });
            seen.map_err(|wrong| wrong.in_piece(piece, file))?;
            if as_text || stays.load(Ordering::Relaxed) {
                own.push()?;
            }
            Ok(found)
        },
        |piece, is_first, found| {
            all.integers &= found.integers;
            all.properties.merge(&found.properties, otherwise(layout));
            let range = piece.offset..piece.offset + piece.text.len() as u64;
            places.push(Lies { line: piece.line, range, edges: found.edges, is_first });
            all.edges += found.edges;
            if all.properties.names.len() > NAMES {
                return Err(Wrong::new(&rules::DICTIONARY, format!("more than {NAMES} different names"), 0)
                    .in_piece(piece, file));
            }
            Ok(())
        },
    )?;
    let nodes = match all.integers || as_text {
        true => collector.finish()?,
        false => {
            drop(collector);
            nodes_as_text(file, layout, budget, scratch)?
        }
    };
    Ok(Survey { edges: all.edges, integers: all.integers, properties: all.properties, places, nodes })
}

/// Collects the nodes of a text whose ends are not all integers.
fn nodes_as_text(file: &PackedFile, layout: &Layout, budget: &Budget, scratch: &Scratch) -> Result<Nodes> {
    let collector = Collector::new(false, budget, scratch)?;
    passed(
        file,
        first_with_content(),
        |piece, is_first| {
            let mut own = collector.of_piece(piece);
            let seen = edges(piece, layout, *is_first, &mut |at, source, target, _| {
                own.see(at, source, target);
                Ok(())
            });
            seen.map_err(|wrong| wrong.in_piece(piece, file))?;
            own.push()
        },
        |_, _, ()| Ok(()),
    )?;
    collector.finish()
}

/// Tells of each piece, in order, whether it is the first with content: the one with the header. A piece with only
/// comments leaves the header to the next piece.
fn first_with_content() -> impl FnMut(&Piece) -> Result<bool> {
    let mut is_first = true;
    move |piece| {
        let says = piece.text.split(|byte| *byte == b'\n').any(|line| {
            let line = line.trim_ascii();
            !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"%")
        });
        let own = is_first;
        is_first &= !says;
        Ok(own)
    }
}

/// Processes the pieces of a file on all threads, and takes the results in order. `before` is called in order, too: it
/// returns what a piece needs to know of those before it.
pub(crate) fn passed<S: Send + Sync, T: Send>(
    file: &PackedFile,
    mut before: impl FnMut(&Piece) -> Result<S>,
    work: impl Fn(&Piece, &S) -> Result<T> + Sync,
    mut take: impl FnMut(&Piece, S, T) -> Result<()>,
) -> Result<()> {
    let mut pieces = Pieces::of(file)?;
    loop {
        let mut slots: Vec<(Piece, S, Option<Result<T>>)> = Vec::new();
        while slots.len() < pool::threads() * 2 {
            let Some(piece) = pieces.next()? else { break };
            let state = before(&piece)?;
            slots.push((piece, state, None));
        }
        if slots.is_empty() {
            return Ok(());
        }
        pool::run(|| slots.par_iter_mut().for_each(|(piece, state, done)| *done = Some(work(piece, state))));
        for (piece, state, done) in slots {
            if let Some(done) = done {
                take(&piece, state, done?)?;
            }
        }
    }
}

/// Returns the findings of the survey.
pub(crate) fn noticed(survey: &Survey, layout: &Layout, properties: &[Property], place: &Place) -> Findings {
    let mut findings = Findings::keeping(8);
    for (property, seen) in properties.iter().zip(&survey.properties.seen) {
        let name = &property.name;
        if seen.is_torn() && property.data_type == DataType::Utf8 {
            let what = if layout.form == Form::Dictionary { "JSON" } else { "text" };
            let message = format!(
                "{name} has floats, and integers that a float cannot represent exactly: all values are read as {what}"
            );
            findings.push(&rules::MIXED, message, place.clone());
        } else if seen.mixed && layout.form == Form::Dictionary {
            let message = format!("{name} has integers and floats: all are read as floats");
            findings.push(&rules::MIXED, message, place.clone());
        }
    }
    let counted = [("nodes", survey.nodes.rows()), ("edges", survey.edges)];
    for ((what, found), stated) in counted.into_iter().zip(layout.stated) {
        if let Some(stated) = stated.filter(|stated| *stated != found) {
            let message = format!("a comment states {stated} {what}, but there are {found}");
            findings.push(&rules::HEAD, message, place.clone());
        }
    }
    findings
}
