//! EdgeList: a node or an edge in each line, in fields divided by commas.

use super::Reading;
use super::defaults::numbers;
use super::fault::{Fault, Parsed, shown};
use super::values::{self, Length, Like, Values, Words};
use crate::block::{Block, Kind, Life};
use crate::{number, rules};

/// The word for text.
pub(super) const TEXT: &str = "binary";

/// `N`, or the number of values and that of the coordinates of each, divided by a slash.
pub(super) fn length(text: &[u8]) -> Option<Length> {
    match *numbers(text, b'/')? {
        [values] => Some(Length::Dense(values)),
        // No values, no coordinates: whatever the other number is, nothing follows.
        [0, _] => Some(Length::Dense(0)),
        [values, 0] => Length::of_sides(&[values], values),
        [values, width] => Length::of_sides(&[values, width], values),
        _ => None,
    }
}

struct Line<'a> {
    text: &'a [u8],
    /// Where the next field begins; behind the end of the text when there is none.
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

    /// A text, in which a comma stands behind an odd number of backslashes.
    fn text(&mut self, out: &mut Vec<u8>) -> Parsed {
        let (mut field, mut at) = self.must("a text")?;
        loop {
            if std::str::from_utf8(field).is_err() {
                return Err(Fault::new(&rules::FIELD, "text that is not UTF-8", at));
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

/// A time of removal that is 0 is that of the node of whose record the edge is, as in the published converter.
fn removed_with(block: &Block, source: u64, life: Life) -> Life {
    if life.removed != Some(0) {
        return life;
    }
    let node = block.nodes.ids.len().checked_sub(1).filter(|node| block.nodes.ids.get(*node) == Some(&source));
    let removed = node.and_then(|node| block.node_life(node).removed).filter(|time| *time != 0);
    Life { removed: removed.or(Some(-1)), ..life }
}

/// Reads one line.
///
/// # Errors
/// Returns an error if it is none.
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
        // In the place of a node's type, or, of an edge, before its target.
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
            let (created, created_at) = line.must("the time of its creation")?;
            let (removed, removed_at) = line.must("the time of its removal")?;
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
    // The published converter itself fails on too few values here.
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
                    // A comma at the end. What stands behind it has no meaning.
                    if let Some((rest, at)) = line.word().filter(|_| !reading.compat) {
                        let message = format!("{} belongs to nothing", shown(rest));
                        return Err(Fault::new(&rules::FIELD, message, at));
                    }
                    break;
                }
                Values::of_name(word, TEXT.as_bytes())
                    .ok_or_else(|| Fault::new(&rules::DTYPE, format!("{} is no type of features", shown(word)), at))?
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
            (Values::Text, _) => return Err(Fault::new(&rules::DTYPE, "a text has length 1", line.here())),
        }
    }
    out.end_element();
    Ok(())
}
