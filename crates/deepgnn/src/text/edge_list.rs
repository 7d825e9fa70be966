//! EdgeList: a node or an edge in each line, as fields separated by commas.

use super::Reading;
use super::defaults::numbers;
use super::fault::{Fault, Parsed, shown};
use super::values::{self, Length, Like, Values, Words};
use crate::block::{Block, Kind, Life};
use crate::{number, rules};

/// The type of text.
pub(super) const TEXT: &str = "binary";

/// Parses a length: `N`, or the number of values and the number of coordinates of each, separated by a slash.
pub(super) fn length(text: &[u8]) -> Option<Length> {
    match *numbers(text, b'/')? {
        [values] => Some(Length::Dense(values)),
        // No values or no coordinates: nothing follows, whatever the other number is.
        [0, _] => Some(Length::Dense(0)),
        [values, 0] => Length::of_sides(&[values], values),
        [values, width] => Length::of_sides(&[values, width], values),
        _ => None,
    }
}

struct Line<'a> {
    text: &'a [u8],
    /// Position of the next field; past the end of the text if there is none.
    at: usize,
    start: usize,
}

impl<'a> Words<'a> for Line<'a> {
    fn word(&mut self) -> Option<(&'a [u8], usize)> {
        let rest = self.text.get(self.at..)?;
        let end = memchr::memchr(b',', rest).unwrap_or(rest.len());
        let place = self.start + self.at;
        self.at += end + 1;
        Some((&rest[..end], place))
    }

    fn here(&mut self) -> usize {
        self.start + self.at.min(self.text.len())
    }
}

impl<'a> Line<'a> {
    fn must(&mut self, what: &str) -> Parsed<(&'a [u8], usize)> {
        match self.word() {
            Some(found) => Ok(found),
            None => Err(Fault::new(&rules::FIELD, format!("the line ends before {what}"), self.here())),
        }
    }

    /// Parses a text, in which a comma is escaped by an odd number of backslashes.
    fn text(&mut self, out: &mut Vec<u8>) -> Parsed {
        let (mut field, mut at) = self.must("a text")?;
        loop {
            if std::str::from_utf8(field).is_err() {
                return Err(Fault::new(&rules::FIELD, "invalid UTF-8", at));
            }
            let backslashes = field.iter().rev().take_while(|byte| **byte == b'\\').count();
            if backslashes % 2 == 0 {
                out.extend_from_slice(field);
                return Ok(());
            }
            out.extend_from_slice(&field[..field.len() - 1]);
            match self.word() {
                Some(next) => (field, at) = next,
                None => return Ok(()),
            }
            out.push(b',');
        }
    }
}

/// Replaces a removal time of 0 by that of the node in whose record the edge is, as the published converter does.
fn removed_with(block: &Block, source: u64, life: Life) -> Life {
    if life.removed != Some(0) {
        return life;
    }
    let node = block.nodes.ids.len().checked_sub(1).filter(|node| block.nodes.ids.get(*node) == Some(&source));
    let removed = node.and_then(|node| block.node_life(node).removed).filter(|time| *time != 0);
    Life { removed: removed.or(Some(-1)), ..life }
}

/// Parses one line.
///
/// # Errors
/// Returns an error if it is malformed.
pub(super) fn line(reading: &Reading, text: &[u8], start: usize, block: &mut Block) -> Parsed {
    if text.is_empty() {
        return Ok(());
    }
    let mut line = Line { text, at: 0, start };
    let (source, source_at) = line.must("the id")?;
    let (second, second_at) = line.must("the second id")?;
    let source = values::id(source, source_at)?;
    let is_node = number::integer(second) == Ok(-1);
    let of = if is_node { &reading.defaults.node } else { &reading.defaults.edge };
    let ((mut target, mut target_at), mut ty) = ((second, second_at), of.ty);
    if ty.is_none() {
        // For a node, this is its type; for an edge, the type comes before its target.
        let (word, at) = line.must(if is_node { "the type" } else { "the target" })?;
        if is_node {
            ty = Some(values::element_type(word, at)?);
        } else {
            ty = Some(values::element_type(second, second_at)?);
            (target, target_at) = (word, at);
        }
    }
    let ty = ty.unwrap_or_default();
    let weight = match of.weight {
        Some(weight) => weight,
        None => {
            let (word, at) = line.must("the weight")?;
            values::weight(word, at)?
        }
    };
    let life = match reading.temporal {
        false => None,
        true => {
            let (created, created_at) = line.must("the creation time")?;
            let (removed, removed_at) = line.must("the removal time")?;
            let (created, removed) = (values::time(created, created_at)?, values::time(removed, removed_at)?);
            Some(Life { created: Some(created), removed: Some(removed) })
        }
    };
    let out = match is_node {
        true => {
            block.node(source, ty, weight, life);
            &mut block.nodes.features
        }
        false => {
            block.edge(source, values::id(target, target_at)?, ty, weight);
            let life = life.map(|life| removed_with(block, source, life));
            block.edge_says(false, life);
            &mut block.edges.features
        }
    };
    // Here, the published converter itself fails on too few values.
    let like = Like { truth: reading.compat, overflow: reading.compat, ..Like::default() };
    let mut defaults = of.features.iter();
    loop {
        let (values, length) = defaults.next().copied().unwrap_or_default();
        let values = match values {
            Some(values) => values,
            None => {
                let Some((word, at)) = line.word() else { break };
                let word = word.trim_ascii();
                if word.is_empty() {
                    // A comma at the end. Text after it has no meaning.
                    if let Some((rest, at)) = line.word().filter(|_| !reading.compat) {
                        let message = format!("unexpected {}", shown(rest));
                        return Err(Fault::new(&rules::FIELD, message, at));
                    }
                    break;
                }
                Values::of_name(word, TEXT.as_bytes())
                    .ok_or_else(|| Fault::new(&rules::DTYPE, format!("{} is not a feature type", shown(word)), at))?
            }
        };
        let length = match length {
            Some(length) => length,
            None => {
                let (word, at) = line.must("the length of a feature")?;
                self::length(word).ok_or_else(|| Fault::number(number::Wrong::NotNumber, "length", word, at))?
            }
        };
        match (values, length) {
            (_, Length::Dense(0)) => out.end_feature(Kind::Hole),
            (Values::Numbers(dtype), length) => {
                if length.words() > text.len() {
                    let message = format!("{} values announced in a line of {} bytes", length.words(), text.len());
                    return Err(Fault::new(&rules::SHORT, message, line.here()));
                }
                values::read(&mut line, dtype, length, like, out)?;
            }
            (Values::Text, Length::Dense(1)) => {
                line.text(&mut out.bytes)?;
                out.end_feature(Kind::Text);
            }
            (Values::Text, _) => return Err(Fault::new(&rules::DTYPE, "a text must have length 1", line.here())),
        }
    }
    out.end_element();
    Ok(())
}
