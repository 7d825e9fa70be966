//! TSV: a node in each line, with its neighbours in the last of five columns.

use std::borrow::Cow;

use super::Reading;
use super::fault::{Fault, Parsed, shown};
use super::values::{self, Like};
use crate::block::{Block, Features, Kind};
use crate::{DType, number, rules};

/// A column or field, and its position.
#[derive(Debug, Clone, Copy)]
struct Field<'a> {
    text: &'a [u8],
    at: usize,
}

/// Returns the first five columns of a line; missing columns are empty.
fn columns<'a>(text: &'a [u8], start: usize) -> [(Cow<'a, [u8]>, usize); 5] {
    let mut columns: [(Cow<'a, [u8]>, usize); 5] =
        std::array::from_fn(|_| (Cow::Borrowed(&[][..]), start + text.len()));
    let mut at = 0;
    for column in &mut columns {
        let Some(rest) = text.get(at..) else { break };
        column.1 = start + at;
        if rest.first() == Some(&b'"') {
            let (unquoted, used) = unquote(rest);
            *column = (Cow::Owned(unquoted), start + at);
            at += used + 1;
        } else {
            let end = memchr::memchr(b'\t', rest).unwrap_or(rest.len());
            column.0 = Cow::Borrowed(&rest[..end]);
            at += end + 1;
        }
    }
    columns
}

/// Returns the content of a quoted column, and how much of the text it takes. A double quote inside is written as two;
/// text after the closing quote belongs to the column.
fn unquote(text: &[u8]) -> (Vec<u8>, usize) {
    let (mut out, mut at, mut quoted) = (Vec::new(), 1, true);
    while let Some(byte) = text.get(at) {
        match (quoted, byte) {
            (true, b'"') if text.get(at + 1) == Some(&b'"') => {
                out.push(b'"');
                at += 1;
            }
            (true, b'"') => quoted = false,
            (false, b'\t') => break,
            (_, byte) => out.push(*byte),
        }
        at += 1;
    }
    (out, at)
}

/// Parses one line.
///
/// # Errors
/// Returns an error if it is malformed.
pub(super) fn line(
    reading: &Reading,
    text: &[u8],
    start: usize,
    block: &mut Block,
    edges: &mut Vec<Neighbor>,
) -> Parsed {
    let all = columns(text, start);
    let column = |at: usize| Field { text: &all[at].0, at: all[at].1 };
    let (id, ty, weight) = (column(0), column(1), column(2));
    if id.text.is_empty() {
        return Err(Fault::new(&rules::FIELD, "the line has no id", id.at));
    }
    let source = values::id(id.text, id.at)?;
    let (ty, weight) = type_and_weight(ty, weight)?;
    block.node(source, ty, weight, None);
    features(reading, column(3), block, |block| &mut block.nodes.features)?;
    let all = column(4);
    if all.text.is_empty() {
        return Ok(());
    }
    edges.clear();
    let mut at = 0;
    for text in all.text.split(|byte| *byte == b'|') {
        edges.push(neighbor(reading, Field { text, at: all.at + at })?);
        at += text.len() + 1;
    }
    // A stable sort: equal edges keep their order.
    edges.sort_by_key(|edge| (edge.ty, edge.target));
    for edge in edges.iter() {
        if edge.five {
            block.repaired(&rules::NEIGHBOR_FIELDS, edge.at);
        }
        block.edge(source, edge.target, edge.ty, edge.weight);
        let from = edge.features.0 - all.at;
        let text = &all.text[from..from + edge.features.1];
        features(reading, Field { text, at: edge.features.0 }, block, |block| &mut block.edges.features)?;
    }
    Ok(())
}

/// A neighbour; its features are a position and a length in its line.
#[derive(Debug)]
pub(super) struct Neighbor {
    target: u64,
    ty: i32,
    weight: f64,
    features: (usize, usize),
    at: usize,
    five: bool,
}

fn type_and_weight(ty: Field<'_>, weight: Field<'_>) -> Parsed<(i32, f64)> {
    let ty = if ty.text.is_empty() { 0 } else { values::element_type(ty.text, ty.at)? };
    let weight = if weight.text.is_empty() { 0.0 } else { values::weight(weight.text, weight.at)? };
    Ok((ty, weight))
}

fn neighbor(reading: &Reading, all: Field<'_>) -> Parsed<Neighbor> {
    // Target, type, weight, and the rest, because a text may contain commas.
    let mut fields = [Field { text: &[], at: all.at + all.text.len() }; 4];
    let (mut at, mut count) = (0, 0);
    for field in &mut fields {
        let Some(rest) = all.text.get(at..) else { break };
        let end = if count == 3 { rest.len() } else { memchr::memchr(b',', rest).unwrap_or(rest.len()) };
        *field = Field { text: &rest[..end], at: all.at + at };
        at += end + 1;
        count += 1;
    }
    let [target, ty, weight, mut rest] = fields;
    if target.text.is_empty() {
        return Err(Fault::new(&rules::FIELD, "a neighbour has no id", target.at));
    }
    if count < 2 || ty.text.is_empty() {
        return Err(Fault::new(&rules::FIELD, "a neighbour must have an id and a type", ty.at));
    }
    let target_id = values::id(target.text, target.at)?;
    let (ty, weight) = type_and_weight(ty, weight)?;
    let mut five = false;
    if let Some(comma) = memchr::memchr(b',', rest.text) {
        if reading.compat {
            rest.text = &rest.text[..comma];
        } else if number::is_integer(rest.text[..comma].trim_ascii()) {
            five = true;
            let behind = &rest.text[comma + 1..];
            let spaces = behind.len() - behind.trim_ascii_start().len();
            rest = Field { text: &behind[spaces..], at: rest.at + comma + 1 + spaces };
        }
    }
    Ok(Neighbor { target: target_id, ty, weight, features: (rest.at, rest.text.len()), at: all.at, five })
}

/// Parses the features of an element.
fn features(reading: &Reading, all: Field<'_>, block: &mut Block, out: impl Fn(&mut Block) -> &mut Features) -> Parsed {
    let mut before = None;
    let mut at = all.at;
    if !all.text.is_empty() {
        for text in all.text.split(|byte| *byte == b';') {
            if feature(reading, Field { text, at }, &mut before, out(block))? {
                block.repaired(&rules::TSV_WIDTH, at);
            }
            at += text.len() + 1;
        }
    }
    out(block).end_element();
    Ok(())
}

/// The meaning of the code before the colon.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Code {
    Numbers(DType),
    /// An integer without a width.
    Wide(DType),
    Text,
}

fn code(text: &[u8]) -> Option<Code> {
    let (first, width) = text.split_first()?;
    let dtype = match (first, width) {
        (b'i', b"") => return Some(Code::Wide(DType::Int64)),
        (b'u', b"") => return Some(Code::Wide(DType::UInt64)),
        (b'i', b"8") => DType::Int8,
        (b'i', b"16") => DType::Int16,
        (b'i', b"32") => DType::Int32,
        (b'i', b"64") => DType::Int64,
        (b'u', b"8") => DType::UInt8,
        (b'u', b"16") => DType::UInt16,
        (b'u', b"32") => DType::UInt32,
        (b'u', b"64") => DType::UInt64,
        (b'f', b"" | b"32") => DType::Float32,
        (b'f', b"16") => DType::Float16,
        (b'f', b"64") | (b'd', _) => DType::Float64,
        (b'b', _) => return Some(Code::Text),
        _ => return None,
    };
    Some(Code::Numbers(dtype))
}

/// Parses one feature; returns whether a width had to be assumed.
fn feature(reading: &Reading, field: Field<'_>, before: &mut Option<Code>, out: &mut Features) -> Parsed<bool> {
    let Field { text, at } = field;
    let Some(colon) = memchr::memchr(b':', text) else {
        if text.is_empty() || reading.compat {
            out.end_feature(Kind::Hole);
            return Ok(false);
        }
        return Err(Fault::new(&rules::FIELD, format!("{} has no colon", shown(text)), at));
    };
    let (name, values) = (&text[..colon], &text[colon + 1..]);
    let known = code(name);
    let many = memchr::memchr(b':', values).is_some();
    if name.is_empty() || values.is_empty() || many && reading.compat {
        if name.is_empty() && !reading.compat {
            return Err(Fault::new(&rules::DTYPE, "a feature has no type", at));
        }
        out.end_feature(Kind::Hole);
        return Ok(false);
    }
    let code = match known {
        Some(Code::Wide(_)) if reading.compat => None,
        // With an unknown letter, the converter keeps what it had.
        None if reading.compat && !name.starts_with(b"f") && !name.starts_with(b"i") && !name.starts_with(b"u") => {
            *before
        }
        known => known,
    };
    let Some(code) = code else {
        return Err(Fault::new(&rules::DTYPE, format!("{} is not a feature type", shown(name)), at));
    };
    *before = Some(code);
    match code {
        Code::Text => {
            if std::str::from_utf8(values).is_err() {
                return Err(Fault::new(&rules::FIELD, "invalid UTF-8", at));
            }
            out.bytes.extend_from_slice(values);
            out.end_feature(Kind::Text);
        }
        Code::Numbers(dtype) | Code::Wide(dtype) => {
            let like = Like { truth: reading.compat, overflow: reading.compat, ..Like::default() };
            let mut place = at + colon + 1;
            for value in values.split(|byte| *byte == b' ') {
                values::one(dtype, value, place, like, &mut out.bytes)?;
                place += value.len() + 1;
            }
            out.end_feature(Kind::Dense(dtype));
        }
    }
    Ok(matches!(code, Code::Wide(_)))
}
