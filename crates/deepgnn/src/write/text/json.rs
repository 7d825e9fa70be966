//! JSON: an object for each node, with its edges, in one line.

use isomorph_error::{Error, Kind as ErrorKind, Result};

use super::{Element, Format, no_place, number, text_of, untyped};
use crate::block::Kind;
use crate::feature::{SparseView, Timed, Times};
use crate::{DType, TextFormat};

/// A writer of objects that reuses its memory for the kinds of the features of an element.
#[derive(Default)]
pub(super) struct Json {
    kinds: Vec<Kind>,
    /// Whether the current object has an edge.
    has_edge: bool,
}

impl Format for Json {
    fn node(&mut self, id: u64, node: &Element<'_>, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(b"{\"node_id\": ");
        number::id(id, out);
        out.extend_from_slice(b", \"node_type\": ");
        number::integer(node.ty, out);
        out.extend_from_slice(b", \"node_weight\": ");
        number::weight(node.weight, out);
        self.rest(node, out)?;
        out.extend_from_slice(b", \"edge\": [");
        self.has_edge = false;
        Ok(())
    }

    fn edge(&mut self, (source, target): (u64, u64), edge: &Element<'_>, first: bool, out: &mut Vec<u8>) -> Result<()> {
        if first {
            let message = format!("JSON only has edges of nodes, but {source} is not a node");
            return Err(Error::new(ErrorKind::WouldLose, message).hint("--text edgelist"));
        }
        if std::mem::replace(&mut self.has_edge, true) {
            out.extend_from_slice(b", ");
        }
        out.extend_from_slice(b"{\"src_id\": ");
        number::id(source, out);
        out.extend_from_slice(b", \"dst_id\": ");
        number::id(target, out);
        out.extend_from_slice(b", \"edge_type\": ");
        number::integer(edge.ty, out);
        out.extend_from_slice(b", \"weight\": ");
        number::weight(edge.weight, out);
        self.rest(edge, out)?;
        out.push(b'}');
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"]}\n");
    }
}

/// Returns the kind that determines the key: the width of a sparse feature is part of its coordinates, and values at
/// times have the key of the others.
fn plain(kind: Kind) -> Kind {
    match kind {
        Kind::Sparse(dtype, _) | Kind::Temporal(Timed::Sparse(dtype)) => Kind::Sparse(dtype, 0),
        Kind::Temporal(Timed::Dense(dtype)) => Kind::Dense(dtype),
        Kind::Temporal(Timed::Text) => Kind::Text,
        other => other,
    }
}

/// Returns the key prefix of a feature type, before `_feature`: `float` has 32 bits, `double` 64.
fn key(dtype: DType) -> &'static str {
    match dtype {
        DType::Float32 => "float",
        DType::Float64 => "double",
        DType::Bool => "uint8",
        other => other.name(),
    }
}

impl Json {
    /// Appends times and features, with one member for all features of a type.
    fn rest(&mut self, element: &Element<'_>, out: &mut Vec<u8>) -> Result<()> {
        if let Some(life) = element.life {
            out.extend_from_slice(b", \"created_at\": ");
            number::integer(life.created.unwrap_or(0), out);
            out.extend_from_slice(b", \"removed_at\": ");
            number::integer(life.removed.unwrap_or(-1), out);
        }
        self.kinds.clear();
        self.kinds.extend(element.features().map(|(kind, _)| plain(kind)).filter(|kind| *kind != Kind::Hole));
        self.kinds.sort_unstable();
        self.kinds.dedup();
        for kind in &self.kinds {
            out.extend_from_slice(b", \"");
            match kind {
                Kind::Text => out.extend_from_slice(b"binary"),
                Kind::Dense(dtype) => out.extend_from_slice(key(*dtype).as_bytes()),
                Kind::Sparse(dtype, _) => {
                    out.extend_from_slice(b"sparse_");
                    out.extend_from_slice(key(*dtype).as_bytes());
                }
                _ => return Err(untyped(*kind, TextFormat::Json)),
            }
            out.extend_from_slice(b"_feature\": {");
            let mut first = true;
            for (id, (own, bytes)) in element.features().enumerate() {
                if plain(own) != *kind {
                    continue;
                }
                out.extend_from_slice(if first { b"\"" } else { b", \"" });
                first = false;
                number::id(id as u64, out);
                out.extend_from_slice(b"\": ");
                value(own, bytes, out)?;
            }
            out.push(b'}');
        }
        Ok(())
    }
}

/// Appends values at times, each as an object with its time.
fn at_times(timed: Timed, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let wrong = || no_place(format!("bytes that are not values of type {} at times", timed.value()), TextFormat::Json);
    let values = Times::of(bytes).ok_or_else(wrong)?;
    out.push(b'[');
    for number in 0..values.count {
        let (created, bytes) = values.get(number).ok_or_else(wrong)?;
        out.extend_from_slice(if number == 0 { b"{" } else { b", {" });
        match timed {
            Timed::Dense(dtype) if !bytes.len().is_multiple_of(dtype.size()) => return Err(wrong()),
            Timed::Sparse(_) if bytes.is_empty() => {
                out.extend_from_slice(b"\"coordinates\": [], \"values\": []");
            }
            Timed::Sparse(dtype) => sparse(dtype, bytes, out)?,
            Timed::Dense(_) | Timed::Text => {
                out.extend_from_slice(b"\"values\": ");
                let kind = if let Timed::Dense(dtype) = timed { Kind::Dense(dtype) } else { Kind::Text };
                value(kind, bytes, out)?;
            }
        }
        out.extend_from_slice(b", \"created_at\": ");
        number::integer(created, out);
        out.push(b'}');
    }
    out.push(b']');
    Ok(())
}

/// Appends the members of a sparse feature.
fn sparse(dtype: DType, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let view = SparseView::of(bytes)?;
    let (points, values) = (view.coordinates.len() / 8 / view.width, view.values.len() / dtype.size());
    if points != values && view.width > 1 {
        return Err(no_place("several points with one value", TextFormat::Json));
    }
    out.extend_from_slice(b"\"coordinates\": [");
    if view.width == 1 {
        number::all(DType::Int64, view.coordinates, b", ", out);
    } else {
        for (at, point) in view.coordinates.chunks(view.width * 8).enumerate() {
            out.extend_from_slice(if at == 0 { b"[" } else { b", [" });
            number::all(DType::Int64, point, b", ", out);
            out.push(b']');
        }
    }
    out.extend_from_slice(b"], \"values\": [");
    number::all(dtype, view.values, b", ", out);
    out.push(b']');
    Ok(())
}

fn value(kind: Kind, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
    match kind {
        Kind::Text => {
            let text = serde_json::to_string(text_of(bytes)?);
            let text = text.map_err(|error| Error::malformed(error.to_string()))?;
            // Characters that end a line in Python are written as escapes.
            for c in text.chars() {
                match c {
                    '\u{85}' | '\u{2028}' | '\u{2029}' => {
                        out.extend_from_slice(format!("\\u{:04x}", u32::from(c)).as_bytes());
                    }
                    c => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
        }
        Kind::Dense(dtype) => {
            out.push(b'[');
            number::all(dtype, bytes, b", ", out);
            out.push(b']');
        }
        Kind::Temporal(timed) => at_times(timed, bytes, out)?,
        Kind::Sparse(dtype, _) => {
            out.push(b'{');
            sparse(dtype, bytes, out)?;
            out.push(b'}');
        }
        _ => return Err(untyped(kind, TextFormat::Json)),
    }
    Ok(())
}
