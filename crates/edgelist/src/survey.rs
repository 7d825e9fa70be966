//! The pass over the text that opening takes: which types ends and values have, how many edges there are, and the nodes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::PackedFile;
use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};

use crate::columns::{Kind, Properties};
use crate::layout::{Form, Layout};
use crate::line::{content, integer, split, with_dictionary};
use crate::nodes::{Collector, Nodes};
use crate::pieces::{Piece, Pieces};
use crate::{python, rules};

/// Names of properties in dictionaries, at most.
const NAMES: usize = 10_000;

/// Where whole lines lie in the file.
#[derive(Debug, Clone)]
pub(crate) struct Lies {
    pub line: u64,
    pub range: Range<u64>,
    pub edges: u64,
    /// The first line that says something is in it.
    pub is_first: bool,
}

/// What a pass has found.
pub(crate) struct Survey {
    pub edges: u64,
    /// All ends are integers.
    pub integers: bool,
    pub properties: Properties,
    /// Pieces of the file.
    pub places: Vec<Lies>,
    pub nodes: Nodes,
}

/// What is wrong in a piece, and at which byte of it.
pub(crate) struct Wrong {
    pub error: Error,
    pub at: usize,
}

impl Wrong {
    pub fn new(rule: &'static isomorph_error::Rule, message: impl Into<String>, at: usize) -> Wrong {
        Wrong { error: Error::broken(rule, message), at }
    }

    /// The error with file and line.
    pub fn in_piece(self, piece: &Piece, file: &PackedFile) -> Error {
        let before = piece.text.get(..self.at).unwrap_or(&piece.text);
        let line = piece.line + memchr::memchr_iter(b'\n', before).count() as u64;
        self.error.at(Place::file(file.blob.name()).line(line))
    }
}

/// Takes an edge: the byte where its line begins, both ends, what is behind them.
pub(crate) type Take<'t, 'a> = &'t mut dyn FnMut(usize, &str, &str, Behind<'_, 'a>) -> Result<(), Wrong>;

/// What stands behind the ends.
pub(crate) enum Behind<'f, 'a> {
    Fields(&'f [Cow<'a, str>]),
    Dictionary(&'a str),
}

/// Hands over the edges of a piece: the byte where the line begins, both ends, what is behind them.
///
/// # Errors
/// At the first line that is none, and what `take` says.
pub(crate) fn edges<'a>(piece: &'a Piece, layout: &Layout, skip_header: bool, take: Take<'_, 'a>) -> Result<(), Wrong> {
    let text = match std::str::from_utf8(&piece.text) {
        Ok(text) => text,
        Err(error) => return Err(Wrong::new(&rules::ENCODING, "a byte that is no UTF-8", error.valid_up_to())),
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
        let Some(line) = content(line) else { continue };
        if std::mem::take(&mut is_header) {
            continue;
        }
        match layout.form {
            Form::Dictionary => {
                let found = with_dictionary(line, layout.separator);
                let (source, target, open) =
                    found.ok_or_else(|| Wrong::new(&rules::FIELDS, "not two names and a dictionary", at))?;
                take(at, source, target, Behind::Dictionary(line.get(open..).unwrap_or_default().trim_end()))?;
            }
            Form::Columns(behind) => {
                split(line, layout.separator, &mut fields);
                if fields.len() != behind + 2 {
                    let message = format!("{} fields, where the first line has {}", fields.len(), behind + 2);
                    return Err(Wrong::new(&rules::FIELDS, message, at));
                }
                if fields[0].is_empty() || fields[1].is_empty() {
                    return Err(Wrong::new(&rules::NAME, "an end without a name", at));
                }
                let (ends, rest) = fields.split_at(2);
                take(at, &ends[0], &ends[1], Behind::Fields(rest))?;
            }
        }
    }
    Ok(())
}

/// What is said in one piece.
#[derive(Default)]
struct Found {
    edges: u64,
    integers: bool,
    properties: Properties,
}

fn otherwise(layout: &Layout) -> Kind {
    if layout.form == Form::Dictionary { Kind::Json } else { Kind::Text }
}

/// Reads all of the text. Nodes are collected as integers for as long as all ends are that, unless `as_text`; else the text is
/// read once more.
///
/// # Errors
/// When it cannot be read, or a line is none.
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
        |piece, is_first| {
            let mut found = Found { integers: true, ..Found::default() };
            if let Form::Columns(behind) = layout.form {
                (0..behind).for_each(|at| {
                    found.properties.place(&at.to_string());
                });
            }
            let mut own = collector.of_piece(piece);
            let seen = edges(piece, layout, is_first, &mut |at, source, target, behind| {
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
                            found.properties.at(at).into_iter().for_each(|seen| seen.field(field));
                        }
                        Ok(())
                    }
                    Behind::Dictionary(text) => {
                        let read = python::dictionary(text, &mut |name, value| {
                            let at = found.properties.place(&name);
                            found.properties.at(at).into_iter().for_each(|seen| seen.value(&value));
                        });
                        read.map_err(|fault| {
                            let message = format!("{}, at byte {} of the dictionary", fault.message, fault.at + 1);
                            Wrong::new(&rules::DICTIONARY, message, at)
                        })?;
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
        true => collector.finish(budget, scratch)?,
        false => {
            drop(collector);
            nodes_as_text(file, layout, budget, scratch)?
        }
    };
    Ok(Survey { edges: all.edges, integers: all.integers, properties: all.properties, places, nodes })
}

/// The nodes of a text whose ends are not all integers.
fn nodes_as_text(file: &PackedFile, layout: &Layout, budget: &Budget, scratch: &Scratch) -> Result<Nodes> {
    let collector = Collector::new(false, budget, scratch)?;
    passed(
        file,
        |piece, is_first| {
            let mut own = collector.of_piece(piece);
            let seen = edges(piece, layout, is_first, &mut |at, source, target, _| {
                own.see(at, source, target);
                Ok(())
            });
            seen.map_err(|wrong| wrong.in_piece(piece, file))?;
            own.push()
        },
        |_, _, ()| Ok(()),
    )?;
    collector.finish(budget, scratch)
}

/// Works on the pieces of a file on all threads, and takes what came of them in their order. The first piece is the one with the
/// header.
fn passed<T: Send>(
    file: &PackedFile,
    work: impl Fn(&Piece, bool) -> Result<T> + Sync,
    mut take: impl FnMut(&Piece, bool, T) -> Result<()>,
) -> Result<()> {
    let (mut pieces, mut has_header) = (Pieces::of(file)?, true);
    loop {
        let mut slots: Vec<(Piece, bool, Option<Result<T>>)> = Vec::new();
        while slots.len() < rayon::current_num_threads() * 2 {
            let Some(piece) = pieces.next()? else { break };
            // A piece of comments alone leaves the header to the next.
            let says = piece.text.split(|byte| *byte == b'\n').any(|line| {
                let line = line.trim_ascii();
                !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"%")
            });
            slots.push((piece, has_header, None));
            has_header &= !says;
        }
        if slots.is_empty() {
            return Ok(());
        }
        slots.par_iter_mut().for_each(|(piece, is_first, done)| *done = Some(work(piece, *is_first)));
        for (piece, is_first, done) in slots {
            if let Some(done) = done {
                take(&piece, is_first, done?)?;
            }
        }
    }
}

/// What the survey has noticed.
pub(crate) fn noticed(survey: &Survey, layout: &Layout, place: &Place) -> Findings {
    let mut findings = Findings::keeping(8);
    for (name, seen) in survey.properties.names.iter().zip(&survey.properties.seen) {
        if seen.mixed && layout.form == Form::Dictionary {
            let message = format!("{name} has integers and floats: all of them are read as floats");
            findings.push(&rules::MIXED, message, place.clone());
        }
    }
    let counted = [("nodes", survey.nodes.rows()), ("edges", survey.edges)];
    for ((what, found), stated) in counted.into_iter().zip(layout.stated) {
        if let Some(stated) = stated.filter(|stated| *stated != found) {
            let message = format!("a comment says {stated} {what}, and there are {found}");
            findings.push(&rules::HEAD, message, place.clone());
        }
    }
    findings
}
