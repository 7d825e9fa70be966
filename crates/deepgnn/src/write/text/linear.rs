//! Linear: a node and its edges in one line of words.

use isomorph_error::Result;

use super::{Element, Format, Left, check, no_place, number, text_of, untyped};
use crate::TextFormat;
use crate::block::Kind;
use crate::feature::SparseView;

pub(super) struct Linear {
    /// What nodes and edges do not state themselves.
    pub left: [Left; 2],
}

impl Format for Linear {
    fn node(&mut self, id: u64, node: &Element<'_>, out: &mut Vec<u8>) -> Result<()> {
        out.extend_from_slice(b"-1 ");
        number::id(id, out);
        element(node, self.left[0], out)
    }

    fn edge(&mut self, (source, target): (u64, u64), edge: &Element<'_>, first: bool, out: &mut Vec<u8>) -> Result<()> {
        if !first {
            out.push(b' ');
        } else if self.left != [Left::default(); 2] {
            // The first element of a line is read with the defaults of nodes, even if it is an edge.
            let what = format!("edges of {source}, which is not a node, together with a file of defaults");
            return Err(no_place(what, TextFormat::Linear).hint("--text edgelist"));
        }
        number::id(source, out);
        out.push(b' ');
        number::id(target, out);
        element(edge, self.left[1], out)
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        out.push(b'\n');
    }
}

fn element(element: &Element<'_>, left: Left, out: &mut Vec<u8>) -> Result<()> {
    if !left.ty {
        out.push(b' ');
        number::integer(element.ty, out);
    }
    if !left.weight {
        out.push(b' ');
        number::weight(element.weight, out);
    }
    for (slot, (kind, bytes)) in element.features().enumerate() {
        let is_typed = slot >= left.features;
        out.push(b' ');
        match kind {
            Kind::Hole => out.extend_from_slice(b"uint8 0"),
            Kind::Dense(dtype) => {
                if is_typed {
                    out.extend_from_slice(dtype.name().as_bytes());
                    out.push(b' ');
                    number::id((bytes.len() / dtype.size()) as u64, out);
                    out.push(b' ');
                }
                number::all(dtype, bytes, b" ", out);
            }
            Kind::Sparse(dtype, _) => {
                let view = SparseView::of(bytes)?;
                out.extend_from_slice(dtype.name().as_bytes());
                out.push(b' ');
                number::id((view.coordinates.len() / 8 / view.width) as u64, out);
                if view.width > 1 {
                    out.push(b',');
                    number::id(view.width as u64, out);
                }
                out.push(b',');
                number::id((view.values.len() / dtype.size()) as u64, out);
                out.push(b' ');
                number::all(crate::DType::Int64, view.coordinates, b" ", out);
                out.push(b' ');
                number::all(dtype, view.values, b" ", out);
            }
            Kind::Text => {
                check(TextFormat::Linear, text_of(bytes)?)?;
                if is_typed {
                    out.extend_from_slice(b"binary_feature 1 ");
                }
                out.extend_from_slice(bytes);
            }
            Kind::Raw | Kind::Temporal(_) => return Err(untyped(kind, TextFormat::Linear)),
        }
    }
    Ok(())
}
