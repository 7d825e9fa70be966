#![doc = include_str!("README.md")]

pub mod rules;
mod symmetry;
mod write;

use std::borrow::Cow;

use isomorph_error::{Error, Findings, Place, Result};
use isomorph_model::Direction;
use isomorph_storage::Scratch;
use isomorph_tables::PackedFile;

use crate::OpenOptions;
use crate::columns::Kind;
use crate::grammar::{Cell, Cells, End, Grammar, Item, State, Take, lines};
use crate::layout::beginning;
use crate::listing::{Keys, Listing, Text, described, has_text_keys, place, properties, shown};
use crate::listing_survey::{Mentions, Wanted, survey};
use crate::matrix_market::{WEIGHT, short};
use crate::notation::Notation;
use crate::pieces::Piece;
use crate::python::Value;
use crate::survey::Wrong;

pub(crate) use write::MetisWriter;

/// Returns the positions of the properties of nodes that are written.
pub(crate) fn values_of(graph: &isomorph_model::Graph) -> Vec<usize> {
    write::of_nodes(graph).0
}

/// The name of the size of a vertex.
pub(crate) const SIZE: &str = "size";

/// Maximum number of weights of a vertex.
const WEIGHTS: usize = 1_000;

/// What the header states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Metis {
    pub vertices: u64,
    pub edges: u64,
    pub has_sizes: bool,
    /// Number of weights of a vertex.
    pub weights: usize,
    pub has_edge_weights: bool,
    /// Offset of the line after the header.
    body: u64,
}

/// Returns the name of a weight of vertices: they are numbered if there are several.
pub(crate) fn weight_name(at: usize, of: usize) -> String {
    if of == 1 { WEIGHT.to_owned() } else { format!("{WEIGHT}_{}", at + 1) }
}

impl Metis {
    /// Reads the header of a text: the first line that is no comment.
    ///
    /// # Errors
    /// Returns a line and what is wrong with it.
    pub fn of(begin: &[u8]) -> std::result::Result<Metis, (u64, String)> {
        let text = String::from_utf8_lossy(begin);
        let mut body = 0;
        for (number, line) in (1..).zip(text.split_inclusive('\n')) {
            body += line.len() as u64;
            let line = line.trim_start_matches('\u{feff}').trim();
            if line.is_empty() || line.starts_with('%') {
                continue;
            }
            let wrong = |message: &str| Err((number, message.to_owned()));
            let words: Vec<&str> = line.split_whitespace().collect();
            let (sizes, rest) = words.split_at_checked(2).unwrap_or((&[], &[]));
            let [Some(vertices), Some(edges)] =
                [0, 1].map(|at| sizes.get(at).and_then(|word| word.parse::<u64>().ok()))
            else {
                return wrong("expected the numbers of vertices and edges");
            };
            let format = rest.first().copied().unwrap_or("0");
            let digits = format!("{format:0>3}");
            if digits.len() != 3 || !digits.bytes().all(|digit| matches!(digit, b'0' | b'1')) {
                return wrong("the format is at most three digits, each 0 or 1");
            }
            let has = |at: usize| digits.as_bytes().get(at) == Some(&b'1');
            let count = match rest.get(1).map(|word| word.parse::<usize>()) {
                None => 1,
                Some(Ok(count)) if (1..=WEIGHTS).contains(&count) => count,
                _ => return wrong("the number of weights of a vertex is not a number from 1 to 1000"),
            };
            if rest.len() > 2 || rest.len() == 2 && count > 1 && !has(1) {
                return wrong("the format has no weights of vertices, or there are more than four numbers");
            }
            let weights = if has(1) { count } else { 0 };
            return Ok(Metis { vertices, edges, has_sizes: has(0), weights, has_edge_weights: has(2), body });
        }
        Err((1, "there is no line with the numbers of vertices and edges".to_owned()))
    }

    /// Returns whether the lines of a text, up to the last line end in it, can be read.
    pub fn reads(begin: &[u8], is_whole: bool) -> bool {
        let Ok(header) = Metis::of(begin) else { return false };
        let end = if is_whole { begin.len() } else { memchr::memrchr(b'\n', begin).map_or(0, |at| at + 1) };
        let Some(text) = begin.get(..end) else { return false };
        let piece = Piece { line: 1, offset: 0, text: bytes::Bytes::copy_from_slice(text) };
        header.read(&piece, &State::default(), &mut |_, _| Ok(())).is_ok()
    }

    fn has_values(&self) -> bool {
        self.has_sizes || self.weights > 0
    }

    fn recognised(&self) -> Vec<(String, String)> {
        let mut values = Vec::new();
        values.extend(self.has_sizes.then(|| "sizes of vertices".to_owned()));
        match self.weights {
            0 => {}
            1 => values.push("weights of vertices".to_owned()),
            several => values.push(format!("{several} weights of each vertex")),
        }
        values.extend(self.has_edge_weights.then(|| "weights of edges".to_owned()));
        if values.is_empty() {
            values.push("none".to_owned());
        }
        vec![
            ("nodes".to_owned(), format!("vertices 1 to {}, a line for each", self.vertices)),
            ("edges".to_owned(), "undirected, each stated at both ends".to_owned()),
            ("values".to_owned(), values.join(", ")),
        ]
    }
}

impl Grammar for Metis {
    fn skip(&self, piece: &Piece, state: &mut State) -> Result<(), Wrong> {
        for line in lines(piece, &rules::ENCODING)? {
            let (at, line) = line?;
            let is_vertex = !line.trim_start().starts_with('%') && piece.offset + at as u64 >= self.body;
            state.row += u64::from(is_vertex && (state.row < self.vertices || !line.trim().is_empty()));
        }
        Ok(())
    }

    fn read<'a>(&self, piece: &'a Piece, state: &'a State, take: Take<'_, 'a>) -> Result<(), Wrong> {
        let mut row = state.row;
        let mut cells: Cells<'a> = Vec::new();
        for line in lines(piece, &rules::ENCODING)? {
            let (at, line) = line?;
            if piece.offset + (at as u64) < self.body || line.trim_start().starts_with('%') {
                continue;
            }
            let mut words = line.split_ascii_whitespace();
            let wrong = |message: String| Wrong::new(&rules::VERTEX, message, at);
            let number = |word: Option<&str>, what: &str| {
                let word = word.ok_or_else(|| wrong(format!("{what} is missing")))?;
                let value: Option<i64> = word.parse().ok().filter(|value| *value >= 0);
                value.ok_or_else(|| wrong(format!("{:?} is not {what}: an integer that is not negative", short(word))))
            };
            if row >= self.vertices {
                if words.next().is_some() {
                    return Err(wrong(format!(
                        "the header states {} vertices, but there are more lines",
                        self.vertices
                    )));
                }
                continue;
            }
            let own = row;
            row += 1;
            cells.clear();
            if self.has_sizes {
                cells.push((Cow::Borrowed(SIZE), Cell::Value(Value::Int(number(words.next(), "the size")?))));
            }
            for weight in 0..self.weights {
                let value = number(words.next(), "a weight of the vertex")?;
                cells.push((Cow::Owned(weight_name(weight, self.weights)), Cell::Value(Value::Int(value))));
            }
            if self.has_values() {
                take(at, Item::Node(End::Row(own), &mut cells))?;
            }
            while let Some(word) = words.next() {
                let neighbour: Option<u64> = word.parse().ok().filter(|number| (1..=self.vertices).contains(number));
                let neighbour = neighbour
                    .ok_or_else(|| wrong(format!("{:?} is not a vertex from 1 to {}", short(word), self.vertices)))?;
                cells.clear();
                if self.has_edge_weights {
                    let value = number(words.next(), "the weight of an edge")?;
                    cells.push((Cow::Borrowed(WEIGHT), Cell::Value(Value::Int(value))));
                }
                if neighbour == own + 1 {
                    take(at, Item::Odd(&rules::LOOP, "a vertex is its own neighbour"))?;
                }
                take(at, Item::Edge(End::Row(own), End::Row(neighbour - 1), false, &mut cells))?;
            }
        }
        Ok(())
    }
}

/// Opens a METIS graph.
///
/// # Errors
/// Returns an error if the file cannot be read, or is invalid.
pub(crate) fn open(file: PackedFile, options: &OpenOptions, scratch: &Scratch) -> Result<Listing> {
    let (begin, _) = beginning(&file)?;
    let metis = Metis::of(&begin).map_err(|(line, message)| {
        Error::broken(&rules::HEADER, message).at(Place::file(file.blob.name()).line(line))
    })?;
    let mut findings = Findings::keeping(8);
    let wanted = Wanted {
        names: None,
        sums: true,
        otherwise: Kind::Text,
        memory: (&options.budget, scratch),
        too_many: &rules::VERTEX,
    };
    let (mut found, extents, _) = survey(&file, &metis, wanted, &mut findings)?;
    if found.end.row != metis.vertices {
        let message = format!("the header states {} vertices, but there are {} lines", metis.vertices, found.end.row);
        return Err(Error::broken(&rules::VERTEX, message).at(place(&file)));
    }
    if found.sums[0] != found.sums[1] {
        let message = symmetry::contradiction(&file, &metis, (&options.budget, scratch))?;
        return Err(Error::broken(&rules::SYMMETRY, message).at(place(&file)));
    }
    let edges = found.edges - found.upper;
    let is_right = edges == metis.edges || found.loops > 0 && (edges - found.loops..=edges).contains(&metis.edges);
    if !is_right {
        let message = format!("the header states {} edges, but there are {edges}", metis.edges);
        return Err(Error::broken(&rules::COUNT, message).at(place(&file)));
    }
    // Declared weights have a type although there is no edge or vertex.
    let zero = Value::Int(0);
    if metis.has_edge_weights && found.edges == 0 {
        let at = found.of_edges.place(WEIGHT);
        found.of_edges.at(at).into_iter().for_each(|seen| seen.value(&zero));
    }
    let (shown_nodes, shown_edges) = shown(options);
    let (of_nodes, nodes) = properties(&found.of_nodes, metis.vertices, shown_nodes, Kind::Text, None);
    let (of_edges, all) = properties(&found.of_edges, found.edges, shown_edges, Kind::Text, Some(Notation::Metis));
    let graph = described((metis.vertices, edges), (nodes, all), !has_text_keys(options), Direction::Undirected);
    let (vertices, recognised) = (metis.vertices, metis.recognised());
    Ok(Listing {
        notation: Notation::Metis,
        texts: vec![Text { file, grammar: Box::new(metis), extents, nodes: found.nodes }],
        keys: Keys::Numbers(vertices),
        mentions: Mentions::AtBothEnds,
        of_nodes,
        of_edges,
        graph,
        recognised,
        findings,
        labels: None,
    })
}
