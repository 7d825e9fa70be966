//! EdgeList: a node or an edge in each line, as fields separated by commas.

use isomorph_error::Result;

use super::{Element, Format, Left, check, no_place, number, text_of, untyped};
use crate::TextFormat;
use crate::block::Kind;
use crate::feature::SparseView;

pub(super) struct EdgeList {
    /// What nodes and edges do not state themselves.
    pub left: [Left; 2],
}

impl Format for EdgeList {
    fn node(&mut self, id: u64, node: &Element<'_>, out: &mut Vec<u8>) -> Result<()> {
        number::id(id, out);
        out.extend_from_slice(b",-1");
        if !self.left[0].ty {
            out.push(b',');
            number::integer(node.ty, out);
        }
        element(node, self.left[0], out)
    }

    fn edge(&mut self, (source, target): (u64, u64), edge: &Element<'_>, _: bool, out: &mut Vec<u8>) -> Result<()> {
        number::id(source, out);
        if !self.left[1].ty {
            out.push(b',');
            number::integer(edge.ty, out);
        }
        out.push(b',');
        number::id(target, out);
        element(edge, self.left[1], out)
    }

    /// Does nothing: every element has ended its own line.
    fn end(&mut self, _: &mut Vec<u8>) {}
}

fn element(element: &Element<'_>, left: Left, out: &mut Vec<u8>) -> Result<()> {
    if !left.weight {
        out.push(b',');
        number::weight(element.weight, out);
    }
    if let Some(life) = element.life {
        out.push(b',');
        number::integer(life.created.unwrap_or(0), out);
        out.push(b',');
        number::integer(life.removed.unwrap_or(-1), out);
    }
    for (slot, (kind, bytes)) in element.features().enumerate() {
        let is_typed = slot >= left.features;
        out.push(b',');
        match kind {
            Kind::Hole => out.extend_from_slice(b"uint8,0"),
            Kind::Dense(dtype) => {
                if is_typed {
                    out.extend_from_slice(dtype.name().as_bytes());
                    out.push(b',');
                    number::id((bytes.len() / dtype.size()) as u64, out);
                    out.push(b',');
                }
                number::all(dtype, bytes, b",", out);
            }
            Kind::Sparse(dtype, _) => {
                let view = SparseView::of(bytes)?;
                let values = view.values.len() / dtype.size();
                if view.coordinates.len() / 8 != values * view.width {
                    return Err(no_place("several points with one value", TextFormat::EdgeList).hint("--text linear"));
                }
                out.extend_from_slice(dtype.name().as_bytes());
                out.push(b',');
                number::id(values as u64, out);
                out.push(b'/');
                number::id(if view.width == 1 { 0 } else { view.width as u64 }, out);
                out.push(b',');
                number::all(crate::DType::Int64, view.coordinates, b",", out);
                out.push(b',');
                number::all(dtype, view.values, b",", out);
            }
            Kind::Text => {
                let text = text_of(bytes)?;
                check(TextFormat::EdgeList, text)?;
                if is_typed {
                    out.extend_from_slice(b"binary,1,");
                }
                out.extend_from_slice(text.replace(',', "\\,").as_bytes());
            }
            Kind::Raw | Kind::Temporal(_) => return Err(untyped(kind, TextFormat::EdgeList)),
        }
    }
    out.push(b'\n');
    Ok(())
}
