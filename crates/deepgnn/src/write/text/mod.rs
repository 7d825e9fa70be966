//! Texts, written as the specification requires and the published converter reads them.

mod edge_list;
mod json;
mod linear;
mod number;
mod tsv;

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use isomorph_error::{Error, Kind as ErrorKind, Result, index};
use isomorph_storage::{StagedFile, Staging};

use super::common::Left;
use super::lines::Lines;
use crate::binary::first_id;
use crate::block::{Block, Features, Kind, Life, RecordEnd};
use crate::feature::FeatureType;
use crate::text::{Packing, of_name};
use crate::{Dispatch, TextFormat, WriteOptions, rules};

/// Size of a write buffer in bytes.
const BUFFER: usize = 1 << 20;

/// Total size of the write buffers of all files.
const BUFFERS: usize = 16 << 20;

/// A file with the compression that its name states.
enum Packed {
    Plain(StagedFile),
    Gzip(GzEncoder<StagedFile>),
    Zstd(zstd::Encoder<'static, StagedFile>),
}

impl Packed {
    fn create(staging: &Staging, name: &str) -> Result<Packed> {
        let file = staging.create(name)?;
        Ok(match of_name(name).1 {
            Packing::None => Packed::Plain(file),
            Packing::Gzip => Packed::Gzip(GzEncoder::new(file, Compression::default())),
            Packing::Zstd => {
                let mut encoder = zstd::Encoder::new(file, 0)?;
                // As in gzip, so that a flipped bit is detected.
                encoder.include_checksum(true)?;
                Packed::Zstd(encoder)
            }
        })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Packed::Plain(file) => file.write_all(bytes)?,
            Packed::Gzip(file) => file.write_all(bytes)?,
            Packed::Zstd(file) => file.write_all(bytes)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        let file = match self {
            Packed::Plain(file) => file,
            Packed::Gzip(file) => file.finish()?,
            Packed::Zstd(file) => file.finish()?,
        };
        file.finish()?;
        Ok(())
    }
}

/// An element of a line.
struct Element<'a> {
    ty: i32,
    weight: f64,
    life: Option<Life>,
    features: &'a Features,
    /// Its index among those of the block.
    number: usize,
}

impl<'a> Element<'a> {
    fn node(block: &'a Block, number: usize) -> Self {
        let nodes = &block.nodes;
        let life = nodes.lives.get(number).copied();
        let (ty, weight) = (nodes.types[number], nodes.weights[number]);
        Element { ty, weight, life, features: &nodes.features, number }
    }

    fn edge(block: &'a Block, number: usize) -> Self {
        let edges = &block.edges;
        let life = edges.lives.get(number).copied();
        let (ty, weight) = (edges.types[number], edges.weights[number]);
        Element { ty, weight, life, features: &edges.features, number }
    }

    /// Returns its features: the kind and the bytes of each.
    fn features(&self) -> impl Iterator<Item = (Kind, &'a [u8])> + use<'a> {
        let features = self.features;
        features.of(self.number).map(|slot| (features.kinds[slot], features.bytes_of(slot)))
    }
}

/// Appends elements in a format. A line begins with a node, or with the first edge of an id that is not a node.
trait Format: Send {
    /// Begins a line with a node.
    fn node(&mut self, id: u64, node: &Element<'_>, out: &mut Vec<u8>) -> Result<()>;
    /// Appends an edge to the current line; `first` says that there is none.
    fn edge(&mut self, ends: (u64, u64), edge: &Element<'_>, first: bool, out: &mut Vec<u8>) -> Result<()>;
    /// Ends the line.
    fn end(&mut self, out: &mut Vec<u8>);
}

/// A writer of a text: one file, or a directory of several.
pub(super) struct Texts {
    files: Vec<TextFile>,
    dispatch: Dispatch,
}

impl Texts {
    /// Begins the file with the name of the destination, or `part-0…` in it, compressed as the name states. `left` is
    /// what nodes and edges do not state themselves.
    ///
    /// # Errors
    /// Returns an error if one cannot be created.
    pub fn create(staging: &Staging, format: TextFormat, options: &WriteOptions, left: [Left; 2]) -> Result<Texts> {
        let own = staging.destination().file_name().to_owned();
        let names = match options.parts {
            None => vec![own],
            Some(count) => {
                // The published converter reads files in the order of their names.
                let width = count.saturating_sub(1).to_string().len();
                let ending = match of_name(&own).1 {
                    Packing::None => "",
                    Packing::Gzip => ".gz",
                    Packing::Zstd => ".zst",
                };
                let name = |number| format!("part-{number:0width$}.{}{ending}", format.ending_of_parts());
                (0..count.max(1)).map(name).collect()
            }
        };
        let files = names.iter().map(|name| TextFile::create(staging, name, format, left, names.len()));
        Ok(Texts { files: files.collect::<Result<_>>()?, dispatch: options.binary.dispatch })
    }

    /// Appends lines.
    ///
    /// # Errors
    /// Returns an error if a value cannot be stored in the format, or a file cannot be written.
    pub fn append(&mut self, lines: &Lines) -> Result<()> {
        let block = &lines.block;
        let mut from = RecordEnd::default();
        for (to, number) in block.records.iter().zip(&lines.numbers) {
            let decides = match self.dispatch {
                Dispatch::Line => *number,
                Dispatch::Id => first_id(block, from, *to),
            };
            let file = index(decides % self.files.len().max(1) as u64);
            if let Some(file) = self.files.get_mut(file) {
                file.append(block, from, *to, *number)?;
            }
            from = *to;
        }
        Ok(())
    }

    /// Completes the files.
    ///
    /// # Errors
    /// Returns an error if one cannot be written.
    pub fn finish(self) -> Result<()> {
        self.files.into_iter().try_for_each(TextFile::finish)
    }
}

/// Writes one file.
struct TextFile {
    file: Packed,
    format: Box<dyn Format>,
    buffer: Vec<u8>,
    /// Size of the write buffer.
    most: usize,
    /// Number of the current line.
    open: Option<u64>,
}

impl TextFile {
    fn create(staging: &Staging, name: &str, format: TextFormat, left: [Left; 2], files: usize) -> Result<TextFile> {
        let file = Packed::create(staging, name)?;
        let format: Box<dyn Format> = match format {
            TextFormat::Linear => Box::new(linear::Linear { left }),
            TextFormat::EdgeList => Box::new(edge_list::EdgeList { left }),
            TextFormat::Json => Box::<json::Json>::default(),
            TextFormat::Tsv => Box::<tsv::Tsv>::default(),
        };
        let most = (BUFFERS / files.max(1)).clamp(4 << 10, BUFFER);
        Ok(TextFile { file, format, buffer: Vec::with_capacity(most + most / 4), most, open: None })
    }

    /// Appends the elements between two ends of records, which belong to line `number`.
    fn append(&mut self, block: &Block, from: RecordEnd, to: RecordEnd, number: u64) -> Result<()> {
        let (mut node, mut edge) = (from.nodes as usize, from.edges as usize);
        let mut first = self.open != Some(number);
        if first && self.open.replace(number).is_some() {
            self.format.end(&mut self.buffer);
        }
        while node < to.nodes as usize {
            let id = block.nodes.ids[node];
            let named = |error: Error| error.at(isomorph_error::Place::field(format!("node {id}")));
            self.format.node(id, &Element::node(block, node), &mut self.buffer).map_err(named)?;
            (node, first) = (node + 1, false);
        }
        while edge < to.edges as usize {
            let ends = (block.edges.sources[edge], block.edges.targets[edge]);
            let named =
                |error: Error| error.at(isomorph_error::Place::field(format!("edge from {} to {}", ends.0, ends.1)));
            self.format.edge(ends, &Element::edge(block, edge), first, &mut self.buffer).map_err(named)?;
            (edge, first) = (edge + 1, false);
            if self.buffer.len() >= self.most {
                self.flush()?;
            }
        }
        if self.buffer.len() >= self.most {
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.file.write(&self.buffer)?;
        self.buffer.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        if self.open.is_some() {
            self.format.end(&mut self.buffer);
        }
        self.flush()?;
        self.file.finish()
    }
}

/// Returns whether a format supports features of this type.
pub(super) fn has(format: TextFormat, ty: FeatureType) -> bool {
    match ty {
        FeatureType::Raw => false,
        FeatureType::Timed(_) => format == TextFormat::Json,
        FeatureType::Sparse(_) => format != TextFormat::Tsv,
        FeatureType::Dense(_) | FeatureType::Text => true,
    }
}

/// Returns whether a format supports times.
pub(super) fn has_times(format: TextFormat) -> bool {
    matches!(format, TextFormat::EdgeList | TextFormat::Json)
}

/// Returns the error for a value that a format cannot store.
fn no_place(what: impl Into<String>, format: TextFormat) -> Error {
    let others = match format {
        TextFormat::Json => "--text edgelist",
        _ => "--text json",
    };
    Error::new(ErrorKind::WouldLose, format!("{} cannot store {}", format.name(), what.into())).hint(others)
}

/// Returns whether a format cannot store every text.
pub(crate) fn is_choosy(format: TextFormat) -> bool {
    format != TextFormat::Json
}

/// Checks that a format can store this text as a feature.
///
/// # Errors
/// Returns [`ErrorKind::WouldLose`] if it cannot.
pub(crate) fn check(format: TextFormat, text: &str) -> Result<()> {
    // A word cannot contain a space.
    let space = |c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}');
    match format {
        TextFormat::Linear if text.contains(space) || has_line_end(text) => {
            Err(no_place(format!("spaces, as in the text {text:?}"), format))
        }
        // A backslash is kept unchanged, and escapes the comma after it.
        TextFormat::EdgeList if has_line_end(text) || text.contains("\\,") || text.ends_with('\\') => {
            Err(no_place(format!("the text {text:?}"), format))
        }
        // Field separators cannot be escaped, and the published converter loses texts with a colon.
        TextFormat::Tsv if has_line_end(text) || text.contains([':', ';', ',', '|', '\t']) => {
            Err(no_place(format!("the text {text:?}"), format))
        }
        _ => Ok(()),
    }
}

/// Returns whether Python ends a line at a character of this text.
fn has_line_end(text: &str) -> bool {
    let ends = |c: char| matches!(c, '\n'..='\r' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    text.contains(ends)
}

/// Returns the text of a feature.
fn text_of(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| Error::broken(&rules::BOUNDS, "a text is not valid UTF-8"))
}

/// Returns the error for features that the format cannot store. A hole has its own words in each format.
fn untyped(kind: Kind, format: TextFormat) -> Error {
    let what = match kind {
        Kind::Temporal(_) => "values at times",
        Kind::Sparse(..) => "sparse features",
        _ => "bytes of unknown type",
    };
    let error = no_place(what, format);
    match kind {
        Kind::Raw => error.hint("--node-features ID:TYPE,… --edge-features ID:TYPE,…    declare the types in a binary"),
        _ => error,
    }
}
