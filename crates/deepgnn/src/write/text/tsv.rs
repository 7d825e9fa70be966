//! TSV: a node in each line, with its neighbours in the last of five columns.

use isomorph_error::{Error, Kind as ErrorKind, Result};

use super::{Element, Format, check, number, text_of, untyped};
use crate::block::Kind;
use crate::{DType, TextFormat};

#[derive(Default)]
pub(super) struct Tsv {
    /// Whether the current line has a neighbour.
    has_neighbor: bool,
}

impl Format for Tsv {
    fn node(&mut self, id: u64, node: &Element<'_>, out: &mut Vec<u8>) -> Result<()> {
        number::id(id, out);
        out.push(b'\t');
        number::integer(node.ty, out);
        out.push(b'\t');
        number::weight(node.weight, out);
        out.push(b'\t');
        features(node, out)?;
        out.push(b'\t');
        self.has_neighbor = false;
        Ok(())
    }

    fn edge(&mut self, (source, target): (u64, u64), edge: &Element<'_>, first: bool, out: &mut Vec<u8>) -> Result<()> {
        if first {
            let message = format!("TSV only has edges of nodes, but {source} is not a node");
            return Err(Error::new(ErrorKind::WouldLose, message).hint("--text edgelist"));
        }
        if std::mem::replace(&mut self.has_neighbor, true) {
            out.push(b'|');
        }
        number::id(target, out);
        out.push(b',');
        number::integer(edge.ty, out);
        out.push(b',');
        number::weight(edge.weight, out);
        if edge.features().next().is_some() {
            out.push(b',');
            features(edge, out)?;
        }
        Ok(())
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.push(b'\n');
    }
}

fn code(dtype: DType) -> &'static str {
    match dtype {
        DType::Int8 => "i8",
        DType::Int16 => "i16",
        DType::Int32 => "i32",
        DType::Int64 => "i64",
        DType::Bool | DType::UInt8 => "u8",
        DType::UInt16 => "u16",
        DType::UInt32 => "u32",
        DType::UInt64 => "u64",
        DType::Float16 => "f16",
        DType::Float32 => "f32",
        DType::Float64 => "f64",
    }
}

fn features(element: &Element<'_>, out: &mut Vec<u8>) -> Result<()> {
    for (number, (kind, bytes)) in element.features().enumerate() {
        if number > 0 {
            out.push(b';');
        }
        match kind {
            Kind::Hole => {}
            Kind::Dense(dtype) => {
                out.extend_from_slice(code(dtype).as_bytes());
                out.push(b':');
                number::all(dtype, bytes, b" ", out);
            }
            Kind::Text => {
                check(TextFormat::Tsv, text_of(bytes)?)?;
                out.extend_from_slice(b"b:");
                out.extend_from_slice(bytes);
            }
            Kind::Sparse(..) | Kind::Raw | Kind::Temporal(_) => return Err(untyped(kind, TextFormat::Tsv)),
        }
    }
    Ok(())
}
