//! A text as a source of model batches.

mod batches;
mod distinct;
mod parts;
mod triples;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::quality::RandomState;
use isomorph_error::{Findings, Result};
use isomorph_model::faces::{Object, Quad, Triples, description};
use isomorph_model::{About, Batch, EdgeOrder, Graph, Part, Request, Source, Tables, part};
use isomorph_storage::parallel::Pulled;
use isomorph_storage::{Location, Scratch};

pub use self::batches::Collectors;
use self::batches::Wanted;
use self::distinct::{Distinct, Gather, UNKNOWN};
use self::parts::{Again, Numbered};
pub use self::triples::Statements;
use crate::{Packing, Piece, ReadOptions, Reading, Syntax, Text};

/// Batches of a text that may wait for their consumer.
const AHEAD: usize = 2;

/// Number of hashes that a thread collects before it passes them on, if their positions are not known later.
const HASHES: usize = 1 << 10;

/// The same if they are: there are fewer in a piece of a text, unless it was skipped.
const HASHES_OF_PIECES: usize = 1 << 20;

/// How a text is opened as a graph.
#[derive(Debug, Clone, Default)]
pub struct OpenOptions {
    /// Its syntax, instead of the one that its name or beginning shows.
    pub syntax: Option<Syntax>,
    /// Its compression, instead of the one that its name or beginning shows.
    pub packing: Option<Packing>,
    /// How it is read.
    pub read: ReadOptions,
    /// The directory for data that does not fit into memory; by default the system's directory for temporary files.
    pub scratch: Option<Scratch>,
    /// Number of threads that read a line-based text when it is opened; default: one.
    pub threads: usize,
}

/// A text of RDF as a graph. It is read once when it is opened, to find its predicates and its duplicates.
///
/// ```no_run
/// use isomorph_rdf::{OpenOptions, RdfText};
/// use isomorph_model::Source;
/// use isomorph_storage::Location;
///
/// let graph = RdfText::open(&Location::parse("people.ttl")?, &OpenOptions::default())?;
/// println!("{:?} triples between resources", graph.graph().edges[0].rows);
/// # Ok::<(), isomorph_error::Error>(())
/// ```
pub struct RdfText {
    once: Arc<Once>,
    reading: Reading,
    graph: Graph,
}

/// The state of a text for reading each quad once.
struct Once {
    text: Text,
    options: ReadOptions,
    distinct: Distinct,
    /// All pieces of the text, if they can be read independently.
    pieces: Vec<Numbered>,
    /// The numbers of quads that are duplicates of earlier ones, if there are pieces.
    again: Vec<u64>,
}

impl Once {
    fn quads(&self, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        if !self.pieces.is_empty() {
            let mut again = Again::from(&self.again, 0);
            let read = self.text.read(&self.options, &mut |quad| if again.next() { Ok(()) } else { take(quad) });
            return read.map(|_| ());
        }
        let mut once = self.distinct.once(&self.options.budget)?;
        self.text.read(&self.options, &mut |quad| if once.is_new(&quad) { take(quad) } else { Ok(()) }).map(|_| ())
    }
}

impl RdfText {
    /// Opens and reads a text.
    ///
    /// # Errors
    /// As [`Text::open`] and [`Text::read`]; [`isomorph_error::Kind::NoSpace`] and [`isomorph_error::Kind::Io`] from
    /// temporary files.
    pub fn open(location: &Location, options: &OpenOptions) -> Result<RdfText> {
        let text = Text::open_as(location, options.syntax, options.packing)?;
        let gather = Gather::new(&options.read.budget, options.scratch.as_ref())?;
        let keys = gather.keys().clone();
        let gather = Mutex::new(gather);
        // The last hashes may belong to a piece.
        let gathered = |hashes: &mut Vec<u128>, piece: Option<&Piece>| {
            let count = hashes.len() as u64;
            let (begin, before) = match piece.filter(|piece| piece.quads <= count) {
                Some(piece) => (piece.begin, count - piece.quads),
                None => (UNKNOWN, count),
            };
            let mut gather = gather.lock().unwrap_or_else(PoisonError::into_inner);
            (0..).zip(hashes.drain(..)).try_for_each(|(at, hash): (u64, u128)| {
                // A quad has more than one byte, so that positions of two pieces differ.
                gather.push(hash, at.checked_sub(before).map_or(UNKNOWN, |at| begin.saturating_add(at)))
            })
        };
        let taker = (Survey::default(), Vec::with_capacity(HASHES), Vec::new(), Vec::new());
        let mut takers = vec![taker; options.threads.max(1)];
        let in_pieces = parts::has_pieces(&text);
        let most = if in_pieces { HASHES_OF_PIECES } else { HASHES };
        let reading = text.read_pieces(
            &options.read,
            &[],
            &mut takers,
            &|(survey, hashes, buffer, _), quad| {
                survey.see(&quad);
                hashes.push(keys.hash(&quad, buffer));
                if hashes.len() < most { Ok(()) } else { gathered(hashes, None) }
            },
            &|(_, hashes, _, pieces), piece| {
                if !in_pieces {
                    return Ok(());
                }
                pieces.push(piece);
                gathered(hashes, Some(&piece))
            },
        )?;
        let (mut survey, mut pieces) = (Survey::default(), Vec::new());
        for (seen, mut hashes, _, read) in takers {
            survey.merge(seen);
            gathered(&mut hashes, None)?;
            pieces.extend(read);
        }
        let gather = gather.into_inner().unwrap_or_else(PoisonError::into_inner);
        let distinct = gather.finish(options.threads.max(1))?;
        let repeated = distinct.surplus() > 0;
        // Duplicates are one triple; counting them by kind would need another pass.
        let rows = |rows: u64| (!repeated).then_some(rows);
        // Sorted by name, so that the description is the same in every run.
        let literals: BTreeMap<&str, u64> =
            survey.literals.iter().map(|(predicate, count)| (predicate.as_str(), *count)).collect();
        let tables = literals.into_iter().map(|(predicate, count)| (predicate, rows(count)));
        let mut graph = description(rows(survey.edges), tables);
        graph.metadata.extend(reading.base.iter().map(|base| ("base".to_owned(), base.clone())));
        let prefixes = reading.prefixes.iter().map(|(name, iri)| (format!("prefix {name}"), iri.clone()));
        graph.metadata.extend(prefixes);
        // Which of several equal statements is the first is known from their positions, or if they are read in order.
        let pieces = parts::of_all(pieces, text.blob().size());
        let (pieces, again) = match distinct.again() {
            Some(again) => {
                let again = parts::numbers(again, &pieces);
                (pieces, again)
            }
            None => (Vec::new(), Vec::new()),
        };
        let once = Arc::new(Once { text, options: options.read.clone(), distinct, pieces, again });
        Ok(RdfText { once, reading, graph })
    }

    /// The same text with the description of another graph with the same triples.
    pub fn described_as(mut self, graph: &Graph) -> Self {
        self.graph = graph.clone();
        self
    }

    /// The text.
    pub fn text(&self) -> &Text {
        &self.once.text
    }

    /// The result of opening: prefixes, base, what was skipped.
    pub fn reading(&self) -> &Reading {
        &self.reading
    }

    /// Passes on its quads in the order of the text, without duplicates.
    ///
    /// # Errors
    /// As [`Text::read`].
    pub fn quads(&self, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        self.once.quads(take)
    }
}

/// Number of rows of the batches that are made of quads while these are also passed on: few, because each thread has
/// some of each predicate.
const ROWS: usize = 4096;

impl RdfText {
    /// Whether the text has duplicate statements.
    pub fn repeats(&self) -> bool {
        self.once.distinct.surplus() > 0
    }

    /// Passes its quads to `takers`, as [`Text::read_shared`] does, including duplicates.
    ///
    /// # Errors
    /// As [`Text::read`].
    pub fn quads_shared<T: Send>(
        &self,
        takers: &mut [T],
        take: &(dyn Fn(&mut T, Quad<'_>) -> Result<()> + Sync),
    ) -> Result<()> {
        self.once.text.read_shared(&self.once.options, takers, take).map(|_| ())
    }

    /// Creates collectors that make the batches of a scan from quads that are read for another purpose, so that the
    /// text need not be read twice.
    pub fn collectors(&self) -> Collectors {
        Collectors::new(&self.graph, Wanted { edges: true, values: true, rows: ROWS })
    }
}

/// The contents of a text.
#[derive(Clone, Default)]
struct Survey {
    edges: u64,
    /// Predicates with literals.
    literals: HashMap<String, u64, RandomState>,
}

impl Survey {
    fn merge(&mut self, other: Survey) {
        self.edges += other.edges;
        for (predicate, count) in other.literals {
            *self.literals.entry(predicate).or_default() += count;
        }
    }

    fn see(&mut self, quad: &Quad<'_>) {
        match quad.object {
            Object::Term(_) => self.edges += 1,
            Object::Literal { .. } => match self.literals.get_mut(quad.predicate) {
                Some(count) => *count += 1,
                None => {
                    self.literals.insert(quad.predicate.to_owned(), 1);
                }
            },
        }
    }
}

impl Source for RdfText {
    fn graph(&self) -> &Graph {
        &self.graph
    }

    /// A line-based text in parts of some megabytes; any other text, and one with duplicates, in one part.
    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(isomorph_error::Error::unsupported("the triples of a text can only be read in its order"));
        }
        let (edges, values) = match request.tables {
            Tables::All => (true, true),
            // A triple in two graphs is two edges, so its graph is read with its ends.
            Tables::AllEdges | Tables::Edges(0) | Tables::EdgeEnds(0) => (true, false),
            Tables::Rest => (false, true),
            _ => return Ok(Vec::new()),
        };
        let wanted = Wanted { edges, values, rows: request.batch_rows.max(1) };
        if !self.once.pieces.is_empty() {
            return Ok(parts::of(&self.once, &self.graph, wanted));
        }
        let rows = self.reading.quads - self.once.distinct.surplus();
        let (once, mut collectors) = (Arc::clone(&self.once), Collectors::new(&self.graph, wanted));
        // Parsers read a text at their own pace: their output is pulled from a thread.
        let open = move || {
            let read = move |take: &mut dyn FnMut(Batch) -> Result<()>| {
                once.quads(&mut |quad| collectors.push(&quad, take))?;
                collectors.finish(take)
            };
            Pulled::new(AHEAD, read)
        };
        Ok(vec![part::opened(Some(rows), open, |batches| batches.next().transpose())])
    }

    fn about(&self) -> About {
        let syntax = self.once.text.syntax();
        let mut layout = format!("{} statements", self.reading.quads);
        if self.repeats() {
            layout.push_str(&format!(", {} of them duplicates", self.once.distinct.surplus()));
        }
        if self.reading.skipped > 0 {
            let what = if self.reading.skipped == 1 { "mistake" } else { "mistakes" };
            layout.push_str(&format!(" · {} {what} skipped", self.reading.skipped));
        }
        match self.reading.prefixes.len() {
            0 => {}
            1 => layout.push_str(" · 1 prefix"),
            many => layout.push_str(&format!(" · {many} prefixes")),
        }
        About {
            format: format!("RDF ({syntax})"),
            version: if syntax == Syntax::JsonLd { "1.1" } else { "1.2" }.to_owned(),
            files: 1,
            bytes: self.once.text.blob().size(),
            layout,
            edge_layouts: vec!["unsorted".to_owned()],
            findings: self.reading.findings.clone(),
        }
    }

    fn as_any(&self) -> Option<&dyn std::any::Any> {
        Some(self)
    }

    fn triples(&self) -> Option<&dyn Triples> {
        Some(self)
    }

    /// A text that could be opened is valid; what was skipped is reported.
    fn validate(&self, findings: &mut Findings) -> Result<()> {
        findings.merge(self.reading.findings.clone());
        Ok(())
    }
}
