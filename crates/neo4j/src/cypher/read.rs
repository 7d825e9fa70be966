//! Reads the scripts that are written here.

use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read};

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_tables::PackedFile;

use super::token::{Tokens, Wrong};
use crate::item::{Edge, Item, Items, Node};
use crate::rules;
use crate::value::{Members, Value};

/// The longest statement, in bytes.
const STATEMENT: usize = 256 << 20;

/// A statement.
enum Statement {
    /// It says nothing of the graph.
    Nothing,
    /// Nodes, and the label by which those of their type are found.
    Nodes(Vec<Node>, Option<(String, String)>),
    /// The type of nodes, their keys, and a label.
    Label(String, Vec<Value>, String),
    Edges(Vec<Edge>),
    /// A label is taken away from all nodes.
    Without(String),
}

/// Reads a script.
pub(crate) struct Script {
    reader: BufReader<Box<dyn Read + Send>>,
    place: Place,
    /// The line of the last byte, and of the first one of the statement.
    line: u64,
    begin: u64,
    ready: VecDeque<Item>,
    /// Nodes whose labels may follow.
    nodes: Vec<Node>,
    /// Types by the labels by which their nodes are found, where these differ.
    finders: HashMap<String, String>,
}

impl Script {
    /// Starts reading.
    ///
    /// # Errors
    /// If the file cannot be unpacked.
    pub fn new(file: &PackedFile) -> Result<Self> {
        Ok(Script {
            reader: BufReader::with_capacity(1 << 18, file.reader()?),
            place: file.blob.place(),
            line: 1,
            begin: 1,
            ready: VecDeque::new(),
            nodes: Vec::new(),
            finders: HashMap::new(),
        })
    }

    /// The next statement, without its semicolon.
    fn text(&mut self) -> Result<Option<String>> {
        let mut bytes: Vec<u8> = Vec::new();
        let mut within = Within::Statement;
        self.begin = self.line;
        loop {
            let block = self.reader.fill_buf()?;
            if block.is_empty() {
                return match String::from_utf8(bytes) {
                    Ok(text) if Tokens::new(&text).is_done() => Ok(None),
                    Ok(_) => Err(self.wrong(0, "the last statement does not end with a semicolon".to_owned(), "")),
                    Err(_) => Err(self.wrong(0, "the statement is not UTF-8".to_owned(), "")),
                };
            }
            let mut end = None;
            for (at, byte) in block.iter().enumerate() {
                self.line += u64::from(*byte == b'\n');
                if within.take(*byte) {
                    end = Some(at);
                    break;
                }
            }
            let taken = end.unwrap_or(block.len());
            bytes.extend_from_slice(block.get(..taken).unwrap_or_default());
            let used = taken + usize::from(end.is_some());
            self.reader.consume(used);
            if bytes.len() > STATEMENT {
                return Err(Error::new(Kind::TooLarge, "a statement has more than 256 MiB").at(self.place()));
            }
            if end.is_some() {
                let text = String::from_utf8(bytes);
                return text.map(Some).map_err(|_| self.wrong(0, "the statement is not UTF-8".to_owned(), ""));
            }
        }
    }

    fn wrong(&self, at: usize, what: String, text: &str) -> Error {
        let before = text.as_bytes().get(..at).unwrap_or_default();
        let lines = before.iter().filter(|byte| **byte == b'\n').count() as u64;
        Error::broken(&rules::RECORD, what).at(self.place.clone().line(self.begin + lines))
    }

    /// The type whose nodes are found by a label.
    fn type_of(&self, label: String) -> String {
        self.finders.get(&label).cloned().unwrap_or(label)
    }

    fn flush(&mut self) {
        self.ready.extend(self.nodes.drain(..).map(Item::Node));
    }
}

/// What a byte is in: a semicolon ends a statement outside of texts, names and comments only.
enum Within {
    Statement,
    Text,
    Escape,
    Name,
    Slash,
    Comment,
}

impl Within {
    /// Takes a byte; whether it ends the statement.
    fn take(&mut self, byte: u8) -> bool {
        *self = match (&self, byte) {
            (Within::Statement | Within::Slash, b';') => return true,
            (Within::Slash, b'/') => Within::Comment,
            (Within::Statement, b'/') => Within::Slash,
            (Within::Statement | Within::Slash, b'"') => Within::Text,
            (Within::Statement | Within::Slash, b'`') => Within::Name,
            (Within::Statement | Within::Slash, _) => Within::Statement,
            (Within::Text, b'\\') => Within::Escape,
            (Within::Text, b'"') | (Within::Name, b'`') | (Within::Comment, b'\n') => Within::Statement,
            (Within::Text | Within::Escape, _) => Within::Text,
            (Within::Name, _) => Within::Name,
            (Within::Comment, _) => Within::Comment,
        };
        false
    }
}

impl Items for Script {
    fn next(&mut self) -> Result<Option<Item>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                return Ok(Some(item));
            }
            let Some(text) = self.text()? else {
                self.flush();
                return Ok(self.ready.pop_front());
            };
            let read = statement(&mut Tokens::new(&text)).map_err(|(at, what)| self.wrong(at, what, &text))?;
            match read {
                Statement::Nothing => {}
                Statement::Without(label) => {
                    if !self.finders.contains_key(&label) {
                        return Err(self.wrong(0, format!("no nodes are found by the label {label}"), &text));
                    }
                }
                Statement::Nodes(nodes, finder) => {
                    self.flush();
                    self.nodes = nodes;
                    if let Some((finder, ty)) = finder {
                        let known = self.finders.insert(finder.clone(), ty.clone());
                        if known.is_some_and(|known| known != ty) {
                            return Err(self.wrong(0, format!("nodes of two types are found by {finder}"), &text));
                        }
                    }
                }
                Statement::Label(found, keys, label) => {
                    let ty = self.type_of(found);
                    let rows: HashMap<String, usize> =
                        self.nodes.iter().enumerate().map(|(row, node)| (name_of(&node.key), row)).collect();
                    for key in keys {
                        let row = rows.get(&name_of(&key)).and_then(|row| self.nodes.get_mut(*row));
                        match row.filter(|node| node.ty == ty) {
                            Some(node) => node.labels.push(label.clone()),
                            None => {
                                let what = format!("there is no {ty} {} just before", name_of(&key));
                                return Err(self.wrong(0, what, &text));
                            }
                        }
                    }
                }
                Statement::Edges(mut edges) => {
                    self.flush();
                    for (ty, _) in edges.iter_mut().flat_map(|edge| &mut edge.ends) {
                        if let Some(named) = self.finders.get(ty) {
                            ty.clone_from(named);
                        }
                    }
                    self.ready.extend(edges.into_iter().map(Item::Edge));
                }
            }
        }
    }

    fn place(&self) -> Place {
        self.place.clone().line(self.begin)
    }
}

fn name_of(key: &Value) -> String {
    let mut text = String::new();
    key.push_json(&mut text);
    text
}

fn statement(tokens: &mut Tokens<'_>) -> std::result::Result<Statement, Wrong> {
    if tokens.take("CREATE CONSTRAINT") {
        if !tokens.take("IF NOT EXISTS") {
            tokens.name()?;
            tokens.expect("IF NOT EXISTS")?;
        }
        tokens.expect("FOR (n:")?;
        tokens.name()?;
        tokens.expect(") REQUIRE n.")?;
        tokens.name()?;
        tokens.expect("IS UNIQUE")?;
        return end(tokens, Statement::Nothing);
    }
    if tokens.take("DROP CONSTRAINT") {
        tokens.name()?;
        tokens.expect("IF EXISTS")?;
        return end(tokens, Statement::Nothing);
    }
    if tokens.take("MATCH (n:") {
        let finder = tokens.name()?;
        tokens.expect(") CALL { WITH n REMOVE n:")?;
        // Another label is one that the graph has.
        if tokens.name()? != finder {
            return Err(tokens.wrong("a label is removed"));
        }
        tokens.expect("} IN TRANSACTIONS OF 1000 ROWS")?;
        return end(tokens, Statement::Without(finder));
    }
    tokens.expect("UNWIND [")?;
    let mut rows: Vec<Row> = Vec::new();
    let mut keys = Vec::new();
    while !tokens.take("]") {
        if !rows.is_empty() || !keys.is_empty() {
            tokens.expect(",")?;
        }
        match tokens.take("{") {
            true => rows.push(row(tokens)?),
            false => keys.push(tokens.value(0)?),
        }
    }
    if tokens.take("AS key MATCH (n:") {
        let ty = element(tokens, "key")?.0;
        tokens.expect("SET n:")?;
        let label = tokens.name()?;
        return end(tokens, Statement::Label(ty, keys, label));
    }
    tokens.expect("AS row")?;
    if tokens.take("MERGE (n:") {
        let (found, name) = element(tokens, "row.key")?;
        let named = if tokens.take("SET n:") { Some(tokens.name()?) } else { None };
        tokens.expect("SET n += row.properties")?;
        let ty = named.clone().unwrap_or_else(|| found.clone());
        let nodes = rows.into_iter().map(|row| match row.ends {
            [Some(key), None] => {
                // The key is among the properties of the node, but it is no property of the graph.
                let (keys, properties): (Members, Members) =
                    row.properties.into_iter().partition(|(own, _)| *own == name);
                // SET would give the node this key after MERGE has found it by the other.
                match keys.iter().all(|(_, own)| *own == key) {
                    true => Ok(Node { ty: ty.clone(), key, labels: Vec::new(), properties }),
                    false => Err(tokens.wrong(&format!("the node {} has another {name}", name_of(&key)))),
                }
            }
            _ => Err(tokens.wrong("a row of nodes has no key")),
        });
        let nodes = nodes.collect::<std::result::Result<_, _>>()?;
        return end(tokens, Statement::Nodes(nodes, named.map(|ty| (found, ty))));
    }
    tokens.expect("MATCH (a:")?;
    let source = element(tokens, "row.source")?.0;
    tokens.expect("MATCH (b:")?;
    let target = element(tokens, "row.target")?.0;
    tokens.expect("CREATE (a)-[r:")?;
    let relation = tokens.name()?;
    tokens.expect("]->(b) SET r += row.properties")?;
    let edges = rows.into_iter().map(|row| match row.ends {
        [Some(from), Some(to)] => Ok(Edge {
            relation: relation.clone(),
            ends: [(source.clone(), from), (target.clone(), to)],
            properties: row.properties,
        }),
        _ => Err(tokens.wrong("a row of relationships has no source or no target")),
    });
    let edges = edges.collect::<std::result::Result<_, _>>()?;
    end(tokens, Statement::Edges(edges))
}

fn end(tokens: &mut Tokens<'_>, statement: Statement) -> std::result::Result<Statement, Wrong> {
    match tokens.is_done() {
        true => Ok(statement),
        false => Err(tokens.wrong("expected the end of the statement")),
    }
}

/// The rest of a pattern `(n:TYPE {KEY: VALUE})`: type and key.
fn element(tokens: &mut Tokens<'_>, value: &str) -> std::result::Result<(String, String), Wrong> {
    let ty = tokens.name()?;
    tokens.expect("{")?;
    let key = tokens.name()?;
    tokens.expect(":")?;
    tokens.expect(value)?;
    tokens.expect("})")?;
    Ok((ty, key))
}

/// A row: its key, or source and target.
struct Row {
    ends: [Option<Value>; 2],
    properties: Members,
}

/// A row whose brace has been taken.
fn row(tokens: &mut Tokens<'_>) -> std::result::Result<Row, Wrong> {
    let mut row = Row { ends: [None, None], properties: Members::new() };
    loop {
        let name = tokens.name()?;
        tokens.expect(":")?;
        match name.as_str() {
            "key" | "source" => row.ends[0] = Some(tokens.value(0)?),
            "target" => row.ends[1] = Some(tokens.value(0)?),
            "properties" => row.properties = tokens.map()?,
            _ => return Err(tokens.wrong(&format!("{name} is not part of a row"))),
        }
        if !tokens.take(",") {
            break;
        }
    }
    tokens.expect("}")?;
    Ok(row)
}
