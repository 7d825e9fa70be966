//! Linear: a node and its edges in one line of words.

use super::Reading;
use super::defaults::{Of, numbers};
use super::fault::{Fault, Parsed, shown};
use super::tokens::Tokens;
use super::values::{self, Length, Like, Values, Words};
use crate::block::{Block, Features, Kind};
use crate::{number, rules};

/// The type of text.
pub(super) const TEXT: &str = "binary_feature";

/// Parses a length: `N`, or dimensions of coordinates and the number of values, separated by commas.
pub(super) fn length(text: &[u8]) -> Option<Length> {
    if let Ok(values) = number::id(text) {
        return Some(Length::Dense(usize::try_from(values).ok()?));
    }
    let all = numbers(text, b',')?;
    let (values, sides) = all.split_last()?;
    Length::of_sides(sides, *values)
}

impl<'a> Words<'a> for Line<'a> {
    fn word(&mut self) -> Option<(&'a [u8], usize)> {
        let at = self.here();
        self.tokens.next().map(|word| (word, at))
    }

    fn here(&mut self) -> usize {
        self.start + self.tokens.place()
    }
}

struct Line<'a> {
    tokens: Tokens<'a>,
    /// Offset of the line in the text.
    start: usize,
}

impl<'a> Line<'a> {
    fn must(&mut self, what: &str) -> Parsed<(&'a [u8], usize)> {
        match self.word() {
            Some(found) => Ok(found),
            None => Err(Fault::new(&rules::FIELD, format!("the line ends before {what}"), self.here())),
        }
    }
}

/// Parses one line.
///
/// # Errors
/// Returns an error if it is malformed.
pub(super) fn line(reading: &Reading, text: &[u8], start: usize, block: &mut Block) -> Parsed {
    let mut line = Line { tokens: Tokens::new(text), start };
    let mut of = &reading.defaults.node;
    while let Some((first, at)) = line.word() {
        let Some((second, second_at)) = line.word() else {
            if reading.compat {
                break;
            }
            let message = format!("unexpected {}", shown(first));
            return Err(Fault::new(&rules::FIELD, message, at));
        };
        if first == b"-1" || number::integer(first) == Ok(-1) {
            let id = values::id(second, second_at)?;
            let (ty, weight) = head(&mut line, of)?;
            block.node(id, ty, weight, None);
            features(&mut line, of, reading.compat, block, |block| &mut block.nodes.features)?;
        } else {
            let (source, target) = (values::id(first, at)?, values::id(second, second_at)?);
            let (ty, weight) = head(&mut line, of)?;
            block.edge(source, target, ty, weight);
            features(&mut line, of, reading.compat, block, |block| &mut block.edges.features)?;
        }
        // The first element of a line has the defaults of nodes, even if it is an edge.
        of = &reading.defaults.edge;
    }
    Ok(())
}

fn head(line: &mut Line<'_>, of: &Of) -> Parsed<(i32, f64)> {
    let ty = match of.ty {
        Some(ty) => ty,
        None => {
            let (word, at) = line.must("the type")?;
            values::element_type(word, at)?
        }
    };
    let weight = match of.weight {
        Some(weight) => weight,
        None => {
            let (word, at) = line.must("the weight")?;
            values::weight(word, at)?
        }
    };
    Ok((ty, weight))
}

fn features(
    line: &mut Line<'_>,
    of: &Of,
    compat: bool,
    block: &mut Block,
    features: impl Fn(&mut Block) -> &mut Features,
) -> Parsed {
    let like = Like { fewer: compat, truth: compat, overflow: compat, example: compat };
    let mut defaults = of.features.iter();
    loop {
        let (values, length) = defaults.next().copied().unwrap_or_default();
        let values = match values {
            Some(values) => values,
            None => {
                // An integer here is the source of the next edge.
                let Some(word) = line.tokens.peek().filter(|word| !number::is_integer(word)) else { break };
                let at = line.here();
                line.tokens.next();
                Values::of_name(word, TEXT.as_bytes()).ok_or_else(|| {
                    let message = format!("{} is neither an id nor a feature type", shown(word));
                    Fault::new(&rules::DTYPE, message, at)
                })?
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
            (_, Length::Dense(0)) => features(block).end_feature(Kind::Hole),
            (Values::Numbers(dtype), length) => {
                let at = line.here();
                if values::read(line, dtype, length, like, features(block))? {
                    block.repaired(&rules::EXAMPLE, at);
                }
            }
            (Values::Text, Length::Dense(1)) => {
                let (word, at) = line.must("a text")?;
                if std::str::from_utf8(word).is_err() {
                    return Err(Fault::new(&rules::FIELD, "invalid UTF-8", at));
                }
                let out = features(block);
                out.bytes.extend_from_slice(word);
                out.end_feature(Kind::Text);
            }
            (Values::Text, _) => {
                return Err(Fault::new(&rules::DTYPE, "a text must have length 1", line.here()));
            }
        }
    }
    features(block).end_element();
    Ok(())
}
