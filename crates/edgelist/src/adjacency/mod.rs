#![doc = include_str!("README.md")]

mod multiline;
pub mod rules;
mod write;

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::Direction;
use isomorph_storage::Scratch;
use isomorph_tables::PackedFile;

use crate::OpenOptions;
use crate::columns::Kind;
use crate::grammar::{End, Grammar, Item, State, Take, lines, offset};
use crate::layout::beginning;
use crate::line::without_comment;
use crate::listing::{Keys, Listing, Text, described, has_text_keys, place, properties, shown};
use crate::listing_survey::{Mentions, Wanted, survey};
use crate::notation::Notation;
use crate::pieces::Piece;
use crate::survey::Wrong;

use multiline::Multiline;
pub(crate) use write::AdjacencyWriter;

/// How the comment at the beginning starts, in what isomorph writes.
const HEAD: [&str; 2] = ["# Adjacency list:", "# Multiline adjacency list:"];

/// How the comment continues if each undirected edge stands once.
const ONCE: &str = "each edge once";

/// Returns how the comment at the beginning starts.
fn head(notation: Notation) -> &'static str {
    let [plain, multiline] = HEAD;
    if notation == Notation::MultilineAdjacencyList { multiline } else { plain }
}

/// Returns whether a text begins with the comment of this notation.
pub(crate) fn begins(notation: Notation, begin: &[u8]) -> bool {
    begin.starts_with(head(notation).as_bytes())
}

/// Returns whether the lines of a text, up to the last line end in it, can be read.
pub(crate) fn reads(notation: Notation, begin: &[u8], is_whole: bool) -> bool {
    let end = if is_whole { begin.len() } else { memchr::memrchr(b'\n', begin).map_or(0, |at| at + 1) };
    let Some(text) = begin.get(..end) else { return false };
    let piece = Piece { line: 1, offset: 0, text: bytes::Bytes::copy_from_slice(text) };
    let grammar = grammar(notation);
    let mut count = 0u64;
    let read = grammar.read(&piece, &State::default(), &mut |_, _| {
        count += 1;
        Ok(())
    });
    read.is_ok() && count > 0
}

fn grammar(notation: Notation) -> Box<dyn Grammar> {
    if notation == Notation::MultilineAdjacencyList { Box::new(Multiline) } else { Box::new(Plain) }
}

/// Returns the content of a line, without a comment; `None` if there is none.
fn content(line: &str) -> Option<&str> {
    let begin = line.trim_start_matches([' ', '\t']);
    if begin.is_empty() || begin.starts_with('#') {
        return None;
    }
    Some(without_comment(line, true)).filter(|line| !line.trim().is_empty())
}

fn check(name: &str, at: usize) -> Result<(), Wrong> {
    let is_foreign = |c: char| c == '#' || c.is_whitespace();
    match name.contains(is_foreign) {
        true => Err(Wrong::new(
            &rules::NAME,
            "a name contains # or a blank, where NetworkX cuts the line: put a blank before a comment, and rename nodes",
            at,
        )),
        false => Ok(()),
    }
}

/// A line for each node: the node, then its neighbours.
struct Plain;

impl Grammar for Plain {
    fn read<'a>(&self, piece: &'a Piece, _state: &'a State, take: Take<'_, 'a>) -> Result<(), Wrong> {
        let mut cells = Vec::new();
        for line in lines(piece, &rules::ENCODING)? {
            let (at, line) = line?;
            let Some(content) = content(line) else { continue };
            let mut words = content.split([' ', '\t']).filter(|word| !word.is_empty());
            let Some(node) = words.next() else { continue };
            check(node, at)?;
            take(at + offset(line, node), Item::Node(End::Name(node), &mut cells))?;
            for word in words {
                check(word, at)?;
                take(at + offset(line, word), Item::Edge(End::Name(node), End::Name(word), false, &mut cells))?;
            }
        }
        Ok(())
    }
}

/// Returns the direction that a comment at the beginning states, and whether each undirected edge stands once.
fn stated(notation: Notation, begin: &[u8]) -> (Option<bool>, bool) {
    let first = begin.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let first = String::from_utf8_lossy(first);
    let Some(rest) = first.strip_prefix(head(notation)) else { return (None, false) };
    (Some(rest.trim_start().starts_with("undirected")), rest.contains(ONCE))
}

/// Opens an adjacency list.
///
/// # Errors
/// Returns an error if the file cannot be read, or is invalid.
pub(crate) fn open(file: PackedFile, notation: Notation, options: &OpenOptions, scratch: &Scratch) -> Result<Listing> {
    let (begin, _) = beginning(&file)?;
    let (said, stands_once) = stated(notation, &begin);
    let grammar = grammar(notation);
    let (_, shown_edges) = shown(options);
    let told = options.shown.as_ref().and_then(|graph| graph.edges.first()).map(|ty| ty.direction);
    let (undirected, who) = match (options.undirected, told, said) {
        (true, _, _) => (true, "by --undirected"),
        (_, Some(direction), _) => (direction == Direction::Undirected, "by the sidecar"),
        (_, _, Some(undirected)) => (undirected, "by a comment"),
        _ => (false, "by default; change with --undirected"),
    };
    let mut findings = Findings::keeping(8);
    let as_text = has_text_keys(options);
    let wanted = Wanted {
        names: Some(as_text),
        sums: undirected && !stands_once,
        otherwise: Kind::Json,
        memory: (&options.budget, scratch),
        too_many: &rules::DICTIONARY,
    };
    let (found, extents, nodes) = survey(&file, grammar.as_ref(), wanted, &mut findings)?;
    if found.end.left > 0 {
        let message = format!("the list ends before the last {} neighbours of {}", found.end.left, found.end.name);
        return Err(Error::broken(&rules::DEGREE, message).at(Place::file(file.blob.name())));
    }
    // Lists of other tools state each edge at both of its ends; NetworkX states it once.
    let is_twice = wanted.sums && found.upper > 0 && found.sums[0] == found.sums[1];
    let mentions = if is_twice { Mentions::AtBothEnds } else { Mentions::Once };
    let count = if is_twice { found.edges - found.upper } else { found.edges };
    let Some(nodes) = nodes else { return Err(Error::usage("names were not collected")) };
    // A property of a part of the mentions is one of the same part of the edges.
    let (of_edges, all) = properties(&found.of_edges, found.edges, shown_edges, Kind::Json, None);
    for (own, seen) in all.iter().zip(&found.of_edges.seen) {
        if seen.mixed {
            let message = format!("{} has integers and floats: all are read as one type", own.name);
            findings.push(&rules::MIXED, message, place(&file));
        }
    }
    let integers = !as_text && !found.has_words;
    let direction = if undirected { Direction::Undirected } else { Direction::Directed };
    let graph = described((nodes.rows(), count), (Vec::new(), all), integers, direction);
    let lines = match notation {
        Notation::MultilineAdjacencyList => "a node and its number of neighbours, then a line for each of these",
        _ => "a node and its neighbours",
    };
    let times = match (undirected, is_twice) {
        (false, _) => "from the first node of a line to the others",
        (true, true) => "undirected, each stated at both ends",
        (true, false) => "undirected, each stated once",
    };
    let recognised = vec![("lines".to_owned(), lines.to_owned()), ("edges".to_owned(), format!("{times}: {who}"))];
    Ok(Listing {
        notation,
        texts: vec![Text { file, grammar, extents, nodes: 0 }],
        keys: Keys::Names(Box::new(nodes)),
        mentions,
        of_nodes: Vec::new(),
        of_edges,
        graph,
        recognised,
        findings,
        labels: None,
    })
}
