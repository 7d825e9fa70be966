//! Reads one document into a tree, within limits of size and depth.

use std::collections::HashSet;

use isomorph_error::{Error, Findings, Kind, Place, Result};
use isomorph_storage::limits;
use serde_saphyr::granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, options};

use super::reference;
use crate::rules;

/// A node of the document. Lines count from 1.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Scalar { text: String, quoted: bool, line: u64 },
    List { items: Vec<Node>, line: u64 },
    Map(Map),
}

/// A mapping, in the order of the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Map {
    pub entries: Vec<(String, Node)>,
    pub line: u64,
}

impl Node {
    pub fn line(&self) -> u64 {
        match self {
            Node::Scalar { line, .. } | Node::List { line, .. } => *line,
            Node::Map(map) => map.line,
        }
    }

    /// Returns whether it is null: an empty value, `~` or `null` without quotes.
    pub fn is_null(&self) -> bool {
        matches!(self, Node::Scalar { text, quoted: false, .. } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }
}

/// Reads the mapping in the file `name`. Syntax that the published library cannot read is a finding, not an error.
///
/// # Errors
/// Returns [`rules::META_YAML`], [`rules::META_ANCHOR`] or [`rules::META_KEY_TWICE`].
pub(crate) fn parse(name: &str, bytes: &[u8], findings: &mut Findings) -> Result<Map> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Error::broken(&rules::META_YAML, "not UTF-8").at(Place::file(name).offset(error.valid_up_to() as u64))
    })?;
    let text = match text.strip_prefix('\u{feff}') {
        Some(rest) => {
            reference::found(findings, name, 1, "a byte order mark");
            rest
        }
        None => text,
    };
    reference::check_characters(name, text, findings);
    let options = options! {
        flow_nesting_limit: limits::MANIFEST_DEPTH,
        block_nesting_limit: limits::MANIFEST_DEPTH,
        emit_comments: false,
    };
    let events = Parser::new_from_str_with_options(text, options);
    let lines = text.lines().collect();
    let mut builder = Builder { name, lines, findings, open: Vec::new(), root: None, documents: 0 };
    for event in events {
        let (event, span) = event.map_err(|error| scan_error(name, &error))?;
        builder.take(event, span)?;
    }
    match builder.root {
        Some(Node::Map(map)) => Ok(map),
        _ => Err(Error::broken(&rules::META_YAML, "not a mapping").at(name)),
    }
}

fn scan_error(name: &str, error: &ScanError) -> Error {
    let line = error.marker().line() as u64;
    Error::broken(&rules::META_YAML, error.info()).at(Place::file(name).line(line))
}

/// A collection whose end has not been reached yet.
enum Open {
    List { items: Vec<Node>, line: u64 },
    Map { map: Map, seen: HashSet<String>, key: Option<String>, column: usize },
}

struct Builder<'a> {
    name: &'a str,
    lines: Vec<&'a str>,
    findings: &'a mut Findings,
    open: Vec<Open>,
    root: Option<Node>,
    documents: u32,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<()> {
        let line = span.start.line() as u64;
        let column = span.start.col();
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(self.error(line, "more than one document"));
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.plain(line, anchor, tag.is_some())?;
                let quoted = style != ScalarStyle::Plain;
                if text.is_empty() {
                    reference::found(self.findings, self.name, line, "an empty text");
                }
                if matches!(style, ScalarStyle::Literal | ScalarStyle::Folded) {
                    reference::found(self.findings, self.name, line, "a block scalar");
                }
                self.add(Node::Scalar { text: text.into_owned(), quoted, line }, column)
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.plain(line, anchor, tag.is_some())?;
                let indent = self.indent(line);
                reference::check_list(self.findings, self.name, line, style, indent, self.column());
                self.push(Open::List { items: Vec::new(), line }, line)
            }
            Event::MappingStart(style, anchor, tag) => {
                self.plain(line, anchor, tag.is_some())?;
                reference::check_map(self.findings, self.name, line, style);
                self.push(
                    Open::Map { map: Map { entries: Vec::new(), line }, seen: HashSet::new(), key: None, column },
                    line,
                )
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List { items, line }) => self.add(Node::List { items, line }, column),
                Some(Open::Map { map, .. }) => self.add(Node::Map(map), column),
                None => Err(self.error(line, "unexpected end of a collection")),
            },
            Event::Alias(_) | Event::UnresolvedAlias(_) | Event::Anchor(..) => Err(self.anchored(line)),
            _ => Ok(()),
        }
    }

    /// Returns the number of spaces at the start of a line.
    fn indent(&self, line: u64) -> usize {
        let text = usize::try_from(line).ok().and_then(|line| self.lines.get(line.checked_sub(1)?));
        text.map_or(0, |text| text.len() - text.trim_start_matches(' ').len())
    }

    /// Returns the column at which the innermost open mapping begins.
    fn column(&self) -> Option<usize> {
        match self.open.last() {
            Some(Open::Map { column, .. }) => Some(*column),
            _ => None,
        }
    }

    fn push(&mut self, collection: Open, line: u64) -> Result<()> {
        if self.open.len() >= limits::MANIFEST_DEPTH {
            return Err(self.error(line, "more than 64 levels deep").of_kind(Kind::TooLarge));
        }
        self.open.push(collection);
        Ok(())
    }

    fn add(&mut self, node: Node, column: usize) -> Result<()> {
        match self.open.last_mut() {
            None => self.root = Some(node),
            Some(Open::List { items, .. }) => items.push(node),
            Some(Open::Map { map, seen, key, column: at }) => match key.take() {
                Some(key) => map.entries.push((key, node)),
                None => {
                    let Node::Scalar { text, line, .. } = node else {
                        return Err(self.error(node.line(), "a key must be a text"));
                    };
                    if !seen.insert(text.clone()) {
                        let place = Place::file(self.name).line(line).in_field(text);
                        return Err(Error::broken(&rules::META_KEY_TWICE, "repeated key").at(place));
                    }
                    *at = column;
                    *key = Some(text);
                }
            },
        }
        Ok(())
    }

    fn plain(&self, line: u64, anchor: usize, tagged: bool) -> Result<()> {
        if anchor != 0 || tagged { Err(self.anchored(line)) } else { Ok(()) }
    }

    fn anchored(&self, line: u64) -> Error {
        Error::broken(&rules::META_ANCHOR, "unsupported anchor, alias or tag").at(Place::file(self.name).line(line))
    }

    fn error(&self, line: u64, message: &str) -> Error {
        Error::broken(&rules::META_YAML, message).at(Place::file(self.name).line(line))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    fn read(text: &str) -> Result<Map> {
        parse("x.yml", text.as_bytes(), &mut Findings::default())
    }

    fn reference(text: &str) -> u64 {
        let mut findings = Findings::default();
        parse("x.yml", text.as_bytes(), &mut findings).unwrap();
        findings.count(&rules::META_REFERENCE)
    }

    #[test]
    fn scalars_stay_texts() {
        let map = read("a: 1.10\nb: no\nc: \"null\"\nd: null\ne:\n").unwrap();
        let texts: Vec<_> = map.entries.iter().map(|(_, node)| (node.is_null(), node.line())).collect();
        assert_eq!(texts, [(false, 1), (false, 2), (false, 3), (true, 4), (true, 5)]);
        assert!(matches!(&map.entries[0].1, Node::Scalar { text, .. } if text == "1.10"));
    }

    #[test]
    fn anchors_tags_and_repeats_are_refused() {
        for (text, rule) in [
            ("a: &x 1\nb: *x\n", &rules::META_ANCHOR),
            ("a: !!str 1\n", &rules::META_ANCHOR),
            ("a: *x\n", &rules::META_YAML),
            ("a: 1\na: 2\n", &rules::META_KEY_TWICE),
            ("- a\n", &rules::META_YAML),
            ("", &rules::META_YAML),
            ("a: 1\n---\nb: 1\n", &rules::META_YAML),
            ("a: [1\n", &rules::META_YAML),
            ("? [a]\n: 1\n", &rules::META_YAML),
        ] {
            let error = read(text).unwrap_err();
            assert_eq!(error.broken_rule().unwrap().id, rule.id, "{text:?}: {error}");
        }
        assert_eq!(parse("x", b"a: \xff", &mut Findings::default()).unwrap_err().place().offset, Some(3));
    }

    #[test]
    fn a_manifest_of_many_keys_is_read_in_one_go() {
        let many: String = (0..300_000).map(|number| format!("k{number}: 1\n")).collect();
        assert_eq!(read(&many).unwrap().entries.len(), 300_000);
        let twice = read(&(many + "k7: 1\n")).unwrap_err();
        assert_eq!(twice.broken_rule().unwrap().id, rules::META_KEY_TWICE.id);
    }

    #[test]
    fn bombs_end_early() {
        let deep = format!("a: {}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(read(&deep).is_err());
        let indented: String = (0..1000).map(|depth| format!("{}k:\n", " ".repeat(depth))).collect();
        assert!(read(&indented).is_err());
        let laughs = "a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: [*b,*b,*b,*b]\n";
        assert_eq!(read(laughs).unwrap_err().broken_rule().unwrap().id, rules::META_ANCHOR.id);
    }

    #[test]
    fn what_the_published_library_cannot_read_is_found() {
        assert_eq!(reference("a: 1\nb:\n  - x\n  - k: v\n    l:\n      - y\n"), 0);
        assert_eq!(reference("b:\n- x\n"), 1);
        assert_eq!(reference("a:\n  - k:\n    - x\n"), 1);
        assert_eq!(reference("b: [x]\n"), 1);
        assert_eq!(reference("b: {x: y}\n"), 1);
        assert_eq!(reference("b: \"\"\n"), 1);
        assert_eq!(reference("b: p\u{e9}rson\n"), 1);
        assert_eq!(reference("b: a~b\n"), 1);
        assert_eq!(reference("\u{feff}b: a\n"), 1);
    }
}
