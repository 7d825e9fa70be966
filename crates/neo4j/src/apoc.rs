//! JSON lines of APOC: `apoc.export.json.all` writes them, `apoc.import.json` reads them.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::json::push_string;
use isomorph_tables::PackedFile;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::item::{Edge, Item, Items, Node};
use crate::rules;
use crate::value::{Members, Value};

/// The longest line, in bytes.
const LINE: u64 = 64 << 20;

/// The node type of a file without a sidecar.
pub(crate) const NODE: &str = "node";

/// Whether a text begins with a record of APOC.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    let line = text.lines().next().unwrap_or_default();
    let has = |part: &str| line.split_whitespace().collect::<String>().contains(part);
    line.starts_with('{')
        && (has(r#""type":"node""#) && has(r#""id":"#) || has(r#""type":"relationship""#) && has(r#""start":{"#))
}

/// A line.
#[derive(Deserialize)]
struct Line<'a> {
    r#type: String,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    labels: Vec<String>,
    #[serde(default)]
    label: Option<String>,
    #[serde(borrow, default)]
    properties: Option<Raw<'a>>,
    #[serde(borrow, default)]
    start: Option<Reference<'a>>,
    #[serde(borrow, default)]
    end: Option<Reference<'a>>,
}

/// Properties in their order; a map would keep only the last of two with the same name.
struct Raw<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        struct Members;
        impl<'de> serde::de::Visitor<'de> for Members {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object of properties")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> std::result::Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(all)
            }
        }
        deserializer.deserialize_map(Members).map(Raw)
    }
}

/// The end of a relationship.
#[derive(Deserialize)]
struct Reference<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(default)]
    labels: Vec<String>,
}

/// Reads lines.
pub(crate) struct Lines {
    reader: BufReader<Box<dyn Read + Send>>,
    place: Place,
    line: u64,
    text: Vec<u8>,
    /// Whether the first label is the type, and ids begin with it: the file was written for a known graph.
    types: Option<bool>,
}

impl Lines {
    /// Starts reading. `types` tells whether first labels are types, and whether ids begin with them.
    ///
    /// # Errors
    /// If the file cannot be unpacked.
    pub fn new(file: &PackedFile, types: Option<bool>) -> Result<Self> {
        Ok(Lines {
            reader: BufReader::with_capacity(1 << 18, file.reader()?),
            place: file.blob.place(),
            line: 0,
            text: Vec::new(),
            types,
        })
    }

    fn wrong(&self, what: impl Into<String>) -> Error {
        Error::broken(&rules::RECORD, what).at(self.place())
    }

    /// The type and the key of a node, from its id and its labels.
    fn named(&self, id: &RawValue, labels: &[String]) -> Result<(String, Value)> {
        let id = match Value::of_json(id).map_err(|what| self.wrong(what))? {
            Value::Text(text) | Value::Number(text) => text,
            _ => return Err(self.wrong("an id is neither a text nor a number")),
        };
        let Some(begins) = self.types else { return Ok((NODE.to_owned(), Value::Text(id))) };
        let ty = labels.first().ok_or_else(|| self.wrong("the node has no label, which names its type"))?;
        let key = match begins {
            true => id.strip_prefix(ty.as_str()).and_then(|key| key.strip_prefix('/')).map(str::to_owned),
            false => Some(id),
        };
        let key = key.ok_or_else(|| self.wrong(format!("the id does not begin with {ty}/")))?;
        Ok((ty.clone(), Value::Text(key)))
    }

    fn item(&self, text: &str) -> Result<Item> {
        let line: Line<'_> = serde_json::from_str(text).map_err(|error| self.wrong(error.to_string()))?;
        let mut properties = Members::new();
        for (name, raw) in line.properties.map(|raw| raw.0).into_iter().flatten() {
            if name.is_empty() {
                return Err(self.wrong("a property has an empty name"));
            }
            if properties.iter().any(|(known, _)| *known == name) {
                return Err(self.wrong(format!("the property {name:?} comes twice")));
            }
            let value = Value::of_json(raw).map_err(|what| self.wrong(what))?;
            properties.push((name, value));
        }
        if line.labels.iter().chain(&line.label).any(String::is_empty) {
            return Err(self.wrong("a label is empty"));
        }
        match line.r#type.as_str() {
            "node" => {
                let id = line.id.ok_or_else(|| self.wrong("the node has no id"))?;
                let (ty, key) = self.named(id, &line.labels)?;
                let labels = line.labels.into_iter().skip(usize::from(self.types.is_some())).collect();
                Ok(Item::Node(Node { ty, key, labels, properties }))
            }
            "relationship" => {
                let end = |end: Option<Reference<'_>>, what: &str| {
                    let end = end.ok_or_else(|| self.wrong(format!("the relationship has no {what}")))?;
                    self.named(end.id, &end.labels)
                };
                let relation = line.label.ok_or_else(|| self.wrong("the relationship has no label"))?;
                let ends = [end(line.start, "start")?, end(line.end, "end")?];
                Ok(Item::Edge(Edge { relation, ends, properties }))
            }
            other => Err(self.wrong(format!("{other:?} is neither node nor relationship"))),
        }
    }
}

impl Items for Lines {
    fn next(&mut self) -> Result<Option<Item>> {
        loop {
            self.text.clear();
            self.line += 1;
            let read = (&mut self.reader).take(LINE + 1).read_until(b'\n', &mut self.text)?;
            if read == 0 {
                return Ok(None);
            }
            if read as u64 > LINE {
                return Err(Error::new(Kind::TooLarge, "a line has more than 64 MiB").at(self.place()));
            }
            let text = std::str::from_utf8(&self.text).map_err(|_| self.wrong("the line is not UTF-8"))?;
            let text = text.trim_start_matches('\u{feff}').trim();
            if !text.is_empty() {
                return self.item(text).map(Some);
            }
        }
    }

    fn place(&self) -> Place {
        self.place.clone().line(self.line)
    }
}

/// Appends the line of a node. The first label is its type.
pub(crate) fn push_node<'a>(
    out: &mut String,
    id: &str,
    labels: impl Iterator<Item = &'a str>,
    properties: impl Iterator<Item = (&'a str, &'a str)>,
) {
    out.push_str(r#"{"type":"node","id":"#);
    push_string(out, id);
    out.push_str(r#","labels":["#);
    for (at, label) in labels.enumerate() {
        if at > 0 {
            out.push(',');
        }
        push_string(out, label);
    }
    out.push(']');
    push_properties(out, properties);
    out.push_str("}\n");
}

/// Appends the line of a relationship: its number, and ids and types of its ends.
pub(crate) fn push_edge<'a>(
    out: &mut String,
    number: u64,
    relation: &str,
    ends: [(&str, &str); 2],
    properties: impl Iterator<Item = (&'a str, &'a str)>,
) {
    // Writing to a string cannot fail.
    let _ = write!(out, r#"{{"id":"{number}","type":"relationship","label":"#);
    push_string(out, relation);
    push_properties(out, properties);
    for (what, (id, ty)) in ["start", "end"].into_iter().zip(ends) {
        let _ = write!(out, r#","{what}":{{"id":"#);
        push_string(out, id);
        out.push_str(r#","labels":["#);
        push_string(out, ty);
        out.push_str("]}");
    }
    out.push_str("}\n");
}

/// Appends properties whose values are JSON already; none if there are none, as APOC does.
fn push_properties<'a>(out: &mut String, properties: impl Iterator<Item = (&'a str, &'a str)>) {
    let mut is_empty = true;
    for (name, value) in properties {
        out.push_str(if std::mem::take(&mut is_empty) { r#","properties":{"# } else { "," });
        push_string(out, name);
        out.push(':');
        out.push_str(value);
    }
    if !is_empty {
        out.push('}');
    }
}

#[cfg(test)]
mod tests {
    use super::begins;

    #[test]
    fn records_are_recognised() {
        for text in [
            r#"{"type":"node","id":"0","labels":["Person"],"properties":{"name":"A"}}"#,
            r#"{"id":"1","type":"relationship","label":"KNOWS","start":{"id":"0"},"end":{"id":"1"}}"#,
            "\n{ \"type\": \"node\", \"id\": \"0\" }",
        ] {
            assert!(begins(text.as_bytes()), "{text}");
        }
        for text in [r#"{"type":"Feature","id":"0"}"#, r#"[{"type":"node","id":"0"}]"#, "", "{", r#"{"type":"node"}"#] {
            assert!(!begins(text.as_bytes()), "{text}");
        }
    }
}
