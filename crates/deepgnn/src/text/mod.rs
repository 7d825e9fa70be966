//! The text formats: Linear, EdgeList, JSON, TSV.

mod defaults;
mod edge_list;
mod fault;
mod files;
mod input;
mod json;
mod linear;
mod tokens;
mod tsv;
mod values;

use std::fmt;
use std::str::FromStr;

use isomorph_error::{Error, Result};

pub use defaults::Defaults;
pub(crate) use fault::{Fault, Parsed};
pub(crate) use files::{Packing, apart, begin, is_text, of_name, of_pattern};
pub(crate) use input::Piece;
pub use input::Text;

use crate::block::{Block, Repair};
use crate::{rules, write};

/// A text format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextFormat {
    /// A node and its edges in one line of words: the format of the specification's text.
    Linear,
    /// A node or an edge in each line, as fields separated by commas.
    EdgeList,
    /// A JSON object for each node.
    Json,
    /// A node in each line, in five columns.
    Tsv,
}

impl TextFormat {
    /// All formats.
    pub const ALL: [TextFormat; 4] = [TextFormat::Linear, TextFormat::EdgeList, TextFormat::Json, TextFormat::Tsv];

    /// Returns its id, which is also the suffix of its files.
    pub fn id(self) -> &'static str {
        match self {
            TextFormat::Linear => "linear",
            TextFormat::EdgeList => "edgelist",
            TextFormat::Json => "json",
            TextFormat::Tsv => "tsv",
        }
    }

    /// Returns the format that the name of a file states, compressed or not: `graph.tsv.gz`, `graph.jsonl`.
    pub fn of_name(name: &str) -> Option<TextFormat> {
        of_name(name).0
    }

    /// Returns the name shown to users.
    pub fn name(self) -> &'static str {
        match self {
            TextFormat::Linear => "Linear",
            TextFormat::EdgeList => "EdgeList",
            TextFormat::Json => "JSON",
            TextFormat::Tsv => "TSV",
        }
    }

    fn length(self) -> defaults::LengthOf {
        match self {
            TextFormat::EdgeList => edge_list::length,
            _ => linear::length,
        }
    }

    /// Returns the type name of a text.
    pub(crate) fn word_for_text(self) -> &'static str {
        match self {
            TextFormat::EdgeList => edge_list::TEXT,
            _ => linear::TEXT,
        }
    }

    /// Returns the suffix of one of several files. A directory of `.json` files could contain anything.
    pub(crate) fn ending_of_parts(self) -> &'static str {
        match self {
            TextFormat::Json => "jsonl",
            _ => self.id(),
        }
    }

    /// Returns whether it cannot store every text as a feature.
    pub fn refuses_texts(self) -> bool {
        write::text::is_choosy(self)
    }

    /// Checks that it can store this text as a feature.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::WouldLose`] if it cannot.
    pub fn check_text(self, text: &str) -> Result<()> {
        write::text::check(self, text)
    }

    /// Returns whether it can omit what a file of defaults states.
    pub fn has_defaults(self) -> bool {
        matches!(self, TextFormat::Linear | TextFormat::EdgeList)
    }
}

impl fmt::Display for TextFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for TextFormat {
    type Err = Error;

    fn from_str(id: &str) -> Result<Self, Error> {
        let known = TextFormat::ALL.into_iter().find(|format| format.id() == id.to_ascii_lowercase());
        known.ok_or_else(|| Error::usage(format!("{id:?} is not a text format")).hint("linear, edgelist, json, tsv"))
    }
}

/// Maximum number of features of a piece, including holes, unless it has more bytes: in JSON, a large id implies any
/// number of holes.
const FEATURES: usize = 8 << 20;

/// Refuses a piece that consists mostly of holes before they fill the memory.
fn few_holes(block: &Block, text: &[u8], start: usize) -> Parsed {
    let found = block.nodes.features.kinds.len() + block.edges.features.kinds.len();
    if found > FEATURES.max(text.len()) {
        let message = format!("{found} features in {start} bytes of text, nearly all of them holes");
        return Err(Fault::new(&rules::HOLES, message, start));
    }
    Ok(())
}

/// Options for parsing texts.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub format: TextFormat,
    pub defaults: Defaults,
    pub compat: bool,
    /// Lines of EdgeList have times.
    pub temporal: bool,
    /// JSON objects take several lines.
    pub pretty: bool,
    /// Malformed records are skipped.
    pub lenient: bool,
}

/// Maximum number of consecutive empty lines in a piece. A compressed file of a few kilobytes can contain millions.
const EMPTY_LINES: usize = 500_000;

/// Empty lines after the last line with content.
#[derive(Default)]
struct Empty {
    lines: usize,
    elements: usize,
}

impl Empty {
    /// Counts the line that ends here.
    ///
    /// # Errors
    /// Returns an error if there are too many empty lines.
    fn see(&mut self, block: &Block, start: usize) -> Parsed {
        let elements = block.nodes.ids.len() + block.edges.sources.len();
        self.lines = if elements == self.elements { self.lines + 1 } else { 0 };
        self.elements = elements;
        if self.lines > EMPTY_LINES {
            let message = format!("more than {EMPTY_LINES} consecutive empty lines");
            return Err(Fault::new(&rules::FIELD, message, start));
        }
        Ok(())
    }
}

/// Recognises the beginning of a text that has none of these formats, and returns what to do.
fn foreign(reading: &Reading, text: &[u8]) -> Option<(&'static str, &'static str)> {
    const MARK: &str = "a byte order mark";
    let is_table = || reading.format == TextFormat::Tsv && text.first() == Some(&b'|');
    match text {
        [0xef, 0xbb, 0xbf, ..] => Some((MARK, "save the text as UTF-8 without a byte order mark")),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some((MARK, "the text is UTF-16: save it as UTF-8")),
        _ if is_table() => Some((
            "a Markdown table",
            "the specification shows its example as a table; in a file the five columns are separated by tabs, without outer bars, headings and rules",
        )),
        _ => None,
    }
}

/// A parser of pieces of text that reuses its memory.
#[derive(Debug, Default)]
pub(crate) struct Parser {
    records: json::Records,
    neighbors: Vec<tsv::Neighbor>,
}

impl Parser {
    /// Parses a piece of whole records into `block`, which is empty.
    ///
    /// # Errors
    /// Returns an error at the first malformed record.
    pub fn piece(&mut self, reading: &Reading, text: &[u8], is_last: bool, block: &mut Block) -> Parsed {
        if let Some((what, hint)) = foreign(reading, text) {
            return Err(Fault::new(&rules::FIELD, format!("found {what}, expected a record"), 0).hinting(hint));
        }
        if reading.pretty {
            return self.objects(reading, text, block);
        }
        let (mut start, mut empty) = (0, Empty::default());
        while start < text.len() {
            let end = memchr::memchr(b'\n', &text[start..]).map_or(text.len(), |at| start + at);
            let line = &text[start..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            // The published reader ignores an empty line at the end, in any format.
            if !(line.is_empty() && is_last && end + 1 >= text.len()) {
                let before = Before::of(reading, block);
                let read = self.line(reading, line, start, block);
                before.end(read, start, block)?;
            }
            block.end_record(start);
            few_holes(block, text, start)?;
            empty.see(block, start)?;
            start = end + 1;
        }
        Ok(())
    }

    fn line(&mut self, reading: &Reading, line: &[u8], start: usize, block: &mut Block) -> Parsed {
        match reading.format {
            TextFormat::Linear => linear::line(reading, line, start, block),
            TextFormat::EdgeList => edge_list::line(reading, line, start, block),
            _ if line.trim_ascii().is_empty() => Err(Fault::new(&rules::FIELD, "an empty line", start)),
            TextFormat::Json => self.records.record(reading, line, start, block),
            TextFormat::Tsv => tsv::line(reading, line, start, block, &mut self.neighbors),
        }
    }

    /// Parses objects of several lines, with whitespace between them.
    fn objects(&mut self, reading: &Reading, text: &[u8], block: &mut Block) -> Parsed {
        let mut start = 0;
        loop {
            let rest = &text[start..];
            start += rest.len() - rest.trim_ascii_start().len();
            let rest = &text[start..];
            if rest.is_empty() {
                return Ok(());
            }
            let end = json::object_end(rest).map_or(text.len(), |end| start + end);
            let before = Before::of(reading, block);
            let read = self.records.record(reading, &text[start..end], start, block);
            before.end(read, start, block)?;
            block.repaired(&rules::JSON_MENDED, start);
            block.end_record(start);
            few_holes(block, text, start)?;
            start = end;
        }
    }
}

/// The state of a block before a record.
struct Before {
    nodes: usize,
    edges: usize,
    /// The repairs, if malformed records are skipped.
    repairs: Option<Vec<Repair>>,
}

impl Before {
    fn of(reading: &Reading, block: &Block) -> Before {
        let repairs = reading.lenient.then(|| block.repairs.clone());
        Before { nodes: block.nodes.ids.len(), edges: block.edges.sources.len(), repairs }
    }

    /// Undoes a malformed record and reports it; reports weights that are 0 in 32 bits, and negative weights.
    ///
    /// # Errors
    /// Returns the fault unless malformed records are skipped.
    fn end(self, read: Parsed, start: usize, block: &mut Block) -> Parsed {
        let Before { nodes, edges, repairs } = self;
        let weights = block.nodes.weights[nodes..].iter().chain(&block.edges.weights[edges..]);
        let (mut vanished, mut negative) = (0, 0);
        for weight in weights {
            vanished += usize::from(*weight != 0.0 && crate::number::single(*weight) == 0.0);
            negative += usize::from(*weight < 0.0);
        }
        for (rule, count) in [(&rules::UNDERFLOW, vanished), (&rules::NEGATIVE, negative)] {
            (0..count).for_each(|_| block.repaired(rule, start));
        }
        match (read, repairs) {
            (Err(fault), Some(repairs)) => {
                block.undo_to(nodes, edges, repairs);
                block.skipped(&rules::SKIPPED, fault.at.max(start), format!("{}: {}", fault.rule.id, fault.message));
                Ok(())
            }
            (read, _) => read,
        }
    }
}
