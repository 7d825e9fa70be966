//! Quads as lines with replaceable labels of blank nodes.

use isomorph_model::faces::{Object, Quad};
use isomorph_model::ntriples;
use isomorph_model::term::{self, TermKind};

/// A part of a line.
#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    /// A blank node, and its position: `s`, `o`, `g`, and inside triple terms `os`, `oo`, `oos` and so on.
    Node(u32, String),
}

/// A quad with blank nodes.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) pieces: Vec<Piece>,
    pub(super) predicate: String,
}

impl Line {
    /// A quad as a line; `None` if it has no blank nodes.
    pub(super) fn of(quad: &Quad<'_>, number: &mut dyn FnMut(&str) -> u32) -> Option<Line> {
        let blank = |text: &str| text.starts_with("_:") || text.starts_with("<<(") && text.contains("_:");
        let object = if let Object::Term(object) = quad.object { Some(object) } else { None };
        if !blank(quad.subject) && !object.is_some_and(blank) && !quad.graph.is_some_and(blank) {
            return None;
        }
        let mut pieces = Pieces { done: Vec::new(), text: String::new(), number };
        pieces.term(quad.subject, "s");
        pieces.text.push(' ');
        ntriples::push_term(&mut pieces.text, quad.predicate);
        pieces.text.push(' ');
        match object {
            Some(object) => pieces.term(object, "o"),
            None => ntriples::push_object(&mut pieces.text, &quad.object),
        }
        if let Some(graph) = quad.graph {
            pieces.text.push(' ');
            pieces.term(graph, "g");
        }
        pieces.text.push_str(" .\n");
        pieces.flush();
        let line = Line { pieces: pieces.done, predicate: quad.predicate.to_owned() };
        let speaks_of_one = line.nodes().next().is_some();
        speaks_of_one.then_some(line)
    }

    /// Its blank nodes, with repetitions.
    pub(super) fn nodes(&self) -> impl Iterator<Item = u32> + '_ {
        self.pieces.iter().filter_map(|piece| if let Piece::Node(node, _) = piece { Some(*node) } else { None })
    }

    /// The line from the view of one of its blank nodes: this node is `_:a`, all others are `_:z`.
    pub(super) fn seen_from(&self, node: u32) -> String {
        let mut line = String::new();
        for piece in &self.pieces {
            line.push_str(match piece {
                Piece::Text(text) => text,
                Piece::Node(other, _) if *other == node => "_:a",
                Piece::Node(..) => "_:z",
            });
        }
        line
    }

    pub(super) fn bytes(&self) -> usize {
        let length = |piece: &Piece| if let Piece::Text(text) = piece { text.len() + 48 } else { 56 };
        self.pieces.iter().map(length).sum::<usize>() + self.predicate.len()
    }
}

struct Pieces<'n> {
    done: Vec<Piece>,
    text: String,
    number: &'n mut dyn FnMut(&str) -> u32,
}

impl Pieces<'_> {
    fn term(&mut self, text: &str, position: &str) {
        match (term::kind(text), text.strip_prefix("_:")) {
            (_, Some(label)) => self.node(label, position.to_owned()),
            (TermKind::Triple, None) => {
                let mut rest = 0;
                for (at, label, inner) in blanks(text) {
                    self.text.push_str(text.get(rest..at).unwrap_or_default());
                    self.node(label, format!("{position}{inner}"));
                    rest = at + 2 + label.len();
                }
                self.text.push_str(text.get(rest..).unwrap_or_default());
            }
            _ => ntriples::push_term(&mut self.text, text),
        }
    }

    fn node(&mut self, label: &str, position: String) {
        self.flush();
        let number = (self.number)(label);
        self.done.push(Piece::Node(number, position));
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.done.push(Piece::Text(std::mem::take(&mut self.text)));
        }
    }
}

/// A term with other labels for its blank nodes, including those inside triple terms: `label_of` returns the new label
/// of each, without `_:`. `None` if `text` neither is nor contains a blank node.
pub fn relabelled<L: AsRef<str>>(text: &str, label_of: &mut dyn FnMut(&str) -> Option<L>) -> Option<String> {
    if let Some(label) = text.strip_prefix("_:") {
        return label_of(label).map(|label| term::blank(label.as_ref()));
    }
    if term::kind(text) != TermKind::Triple || !text.contains("_:") {
        return None;
    }
    let (mut out, mut rest) = (String::new(), 0);
    for (at, label, _) in blanks(text) {
        out.push_str(text.get(rest..at + 2)?);
        out.push_str(label_of(label).as_ref().map_or(label, AsRef::as_ref));
        rest = at + 2 + label.len();
    }
    out.push_str(text.get(rest..)?);
    Some(out)
}

/// The blank nodes of a triple term: their positions, their labels, and whether they are subject or object at each
/// level.
fn blanks(text: &str) -> Vec<(usize, &str, String)> {
    let mut found = Vec::new();
    // For each open triple, the number of its terms so far.
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let length = if rest.starts_with("<<(") {
            open.push(0);
            at += 3;
            continue;
        } else if rest.starts_with(")>>") {
            open.pop();
            3
        } else if rest.starts_with('<') {
            rest.find('>').map_or(rest.len(), |end| end + 1)
        } else if rest.starts_with('"') {
            literal(rest)
        } else if let Some(label) = rest.strip_prefix("_:") {
            let label = label.split(' ').next().unwrap_or_default();
            let position = open.iter().map(|seen| if *seen == 0 { 's' } else { 'o' }).collect();
            found.push((at, label, position));
            2 + label.len()
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
            continue;
        };
        if let Some(seen) = open.last_mut() {
            *seen += 1;
        }
        at += length;
    }
    found
}

/// Number of bytes of the literal at the start of a text, including datatype and language.
fn literal(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 1;
    while bytes.get(end).is_some_and(|byte| *byte != b'"') {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    let behind = text.get(end + 1..).unwrap_or_default();
    end + 1 + behind.find(' ').unwrap_or(behind.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_nodes_are_found_inside_triple_terms() {
        let text = "<<( _:a <urn:_:p> <<( _:b <urn:p> \"_:c \\\" _:d\"@en )>> )>>";
        let found: Vec<_> = blanks(text).into_iter().map(|(_, label, position)| (label, position)).collect();
        assert_eq!(found, [("a", "s".to_owned()), ("b", "os".to_owned())]);
        let text = "<<( <urn:s> <urn:p> <<( <urn:s> <urn:p> _:o )>> )>>";
        assert_eq!(relabelled(text, &mut |_| Some("x")).as_deref(), Some(text.replace("_:o", "_:x").as_str()));
        assert_eq!(relabelled("urn:_:a", &mut |_| Some("x")), None);
        assert_eq!(relabelled("_:a", &mut |_| Some("x")).as_deref(), Some("_:x"));
    }
}
