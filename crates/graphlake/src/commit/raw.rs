//! A snapshot as text, parsed only as far as a commit changes it, so that members of other writers are kept byte for
//! byte, and a commit to a store of many files does not pay for parsing them all.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bytes::Bytes;
use isomorph_error::{Error, Findings, Place, Result};
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::snapshot::{DataFile, Files, Living, file_of, live_count};
use crate::{json, rules, term};

/// A range of the text.
pub(crate) type Span = Range<usize>;

/// A snapshot whose graphs are not parsed.
#[derive(Debug, Default)]
pub(crate) struct RawSnapshot {
    pub(crate) id: String,
    pub(crate) version: i64,
    pub(crate) timestamp: i64,
    text: Bytes,
    /// Names with the ranges of their objects, in the order of the file.
    graphs: Vec<(String, Span)>,
    /// Built on the first look-up of a graph: there may be many, and as many that change.
    numbers: OnceLock<Numbers>,
    /// Graphs that were parsed: a commit needs each several times.
    known: Mutex<HashMap<String, Arc<RawGraph>>>,
}

/// A graph whose files are not parsed.
#[derive(Debug, Clone, Default)]
pub(crate) struct RawGraph {
    pub(crate) id: String,
    /// Predicates with the ids of their partitions.
    pub(crate) predicates: Vec<(String, String)>,
    /// Partitions with the ids of their files; `None` if the graph has none.
    pub(crate) partitions: Option<Vec<(String, Files)>>,
    /// Files by subject, by object, and deletions.
    pub(crate) lists: [Vec<RawFile>; 3],
    /// The files of each predicate, built on the first look-up.
    own: OnceLock<HashMap<String, Own>>,
    /// Unknown members.
    pub(crate) extra: Vec<(String, Span)>,
}

/// Numbers of the graphs.
#[derive(Debug, Default)]
struct Numbers {
    all: HashMap<String, usize>,
    default: Option<usize>,
}

/// The files of a predicate in a graph.
#[derive(Debug, Clone, Default)]
struct Own {
    partition: Option<usize>,
    /// Numbers of files in each list.
    files: [Vec<usize>; 3],
}

/// A file of a list.
#[derive(Debug, Clone)]
pub(crate) struct RawFile {
    pub(crate) predicate: String,
    pub(crate) id: String,
    pub(crate) version: i64,
    pub(crate) records: u64,
    /// Bounds of its first texts, if they are trusted.
    pub(crate) bounds: Option<(String, String)>,
    pub(crate) span: Span,
}

impl RawGraph {
    fn own(&self, predicate: &str) -> Option<&Own> {
        let all = self.own.get_or_init(|| {
            let mut all: HashMap<String, Own> = HashMap::new();
            let mut of = |predicate: &str, enter: &dyn Fn(&mut Own)| match all.get_mut(predicate) {
                Some(own) => enter(own),
                None => enter(all.entry(predicate.to_owned()).or_default()),
            };
            for (at, (predicate, _)) in self.predicates.iter().enumerate() {
                of(predicate, &|own| own.partition = Some(at));
            }
            for (list, files) in self.lists.iter().enumerate() {
                for (at, file) in files.iter().enumerate() {
                    of(&file.predicate, &|own| own.files.iter_mut().skip(list).take(1).for_each(|own| own.push(at)));
                }
            }
            all
        });
        all.get(predicate)
    }

    /// The predicate, and the id of its partition.
    pub(crate) fn partition(&self, predicate: &str) -> Option<&(String, String)> {
        self.predicates.get(self.own(predicate)?.partition?)
    }

    /// The files of the list with this number, in its order: those of one predicate, or all.
    pub(crate) fn files_of<'a>(
        &'a self,
        list: usize,
        predicate: Option<&str>,
    ) -> Box<dyn Iterator<Item = &'a RawFile> + 'a> {
        let Some(files) = self.lists.get(list) else { return Box::new(std::iter::empty()) };
        let Some(predicate) = predicate else { return Box::new(files.iter()) };
        let own = self.own(predicate).and_then(|own| own.files.get(list));
        Box::new(own.into_iter().flatten().filter_map(|at| files.get(*at)))
    }

    /// The number of live triples of each predicate that has files; `None` if the snapshot does not state it.
    pub(crate) fn living(&self) -> HashMap<&str, Option<Living>> {
        let [subject, object, tombstones] = &self.lists;
        let data = subject.iter().chain(object).map(|file| (file, false));
        let files = data.chain(tombstones.iter().map(|file| (file, true)));
        live_count::of(
            files.map(|(file, is_tombstone)| (file.predicate.as_str(), file.id.as_str(), is_tombstone)),
            &self.predicates,
            self.partitions.as_deref().unwrap_or_default(),
        )
    }
}

/// Names of the lists of files, in the order of [`RawGraph::lists`].
pub(crate) const LISTS: [&str; 3] = ["so_data_files", "os_data_files", "tombstone_files"];

impl RawSnapshot {
    /// Finds the graphs of the snapshot called `id`.
    ///
    /// # Errors
    /// [`rules::JSON`] and [`rules::SCHEMA`].
    pub(crate) fn parse(text: Bytes, id: &str) -> Result<Self> {
        let place = || Place::file(file_of(id));
        let root = whole(&text, RootSeed).map_err(|error| error.at(place()))?;
        let missing =
            |name: &str| Error::broken(&rules::SCHEMA, format!("{name} is missing or has the wrong type")).at(place());
        let graphs = root.graphs.ok_or_else(|| missing("graphs"))?;
        let graphs = graphs.into_iter().map(|(name, value)| (name, span(&text, value))).collect();
        Ok(RawSnapshot {
            id: root.id.ok_or_else(|| missing("id"))?,
            version: root.version.ok_or_else(|| missing("version"))?,
            timestamp: root.timestamp.ok_or_else(|| missing("timestamp"))?,
            text,
            graphs,
            numbers: OnceLock::new(),
            known: Mutex::default(),
        })
    }

    /// Names of the graphs, in the order of the file.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.graphs.iter().map(|(name, _)| name)
    }

    /// Names with the texts of their objects, in the order of the file.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&String, &[u8])> {
        self.graphs.iter().map(|(name, span)| (name, self.at(span)))
    }

    /// Whether there is a graph with this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.numbers().all.contains_key(name)
    }

    /// The name of the default graph in this snapshot.
    pub(crate) fn default_graph(&self) -> Option<&str> {
        self.graphs.get(self.numbers().default?).map(|(name, _)| name.as_str())
    }

    fn numbers(&self) -> &Numbers {
        self.numbers.get_or_init(|| Numbers {
            all: self.names().enumerate().map(|(number, name)| (name.clone(), number)).collect(),
            default: self.names().position(|name| term::graph_name(name).is_none()),
        })
    }

    /// Bytes of the text.
    pub(crate) fn size(&self) -> usize {
        self.text.len()
    }

    /// The text.
    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// The text of a range.
    pub(crate) fn at(&self, span: &Span) -> &[u8] {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Returns the graph called `name`, parsed.
    ///
    /// # Errors
    /// As [`RawSnapshot::parse`].
    pub(crate) fn graph(&self, name: &str) -> Result<Option<Arc<RawGraph>>> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(graph) = known().get(name) {
            return Ok(Some(Arc::clone(graph)));
        }
        let number = self.numbers().all.get(name);
        let Some((_, span)) = number.and_then(|number| self.graphs.get(*number)) else { return Ok(None) };
        let graph = Arc::new(self.graph_at(span).map_err(|error| error.at(self.place(name)))?);
        known().insert(name.to_owned(), Arc::clone(&graph));
        Ok(Some(graph))
    }

    fn graph_at(&self, at: &Span) -> Result<RawGraph> {
        let parts = whole(self.at(at), GraphSeed).map_err(|error| {
            // The text is a part of the file.
            let above = memchr::memchr_iter(b'\n', self.text.get(..at.start).unwrap_or_default()).count() as u64;
            let place = Place { line: error.place().line.map(|line| line + above), ..Place::default() };
            Error::broken(error.broken_rule().unwrap_or(&rules::JSON), error.message()).at(place)
        })?;
        let mut graph = RawGraph::default();
        for (name, value) in parts.members {
            let broken = |error: serde_json::Error| Error::broken(json::rule_of(&error), format!("{name}: {error}"));
            match name.as_str() {
                "id" => graph.id = serde_json::from_str(value.get()).map_err(broken)?,
                "predicate_index" => {
                    let Members(index) = serde_json::from_str(value.get()).map_err(broken)?;
                    for (predicate, id) in index {
                        graph.predicates.push((predicate, serde_json::from_str(id.get()).map_err(broken)?));
                    }
                }
                "partitions" => {
                    let Members(partitions) = serde_json::from_str(value.get()).map_err(broken)?;
                    let parsed = partitions.into_iter().map(|(id, partition)| {
                        let mut extra = json::parse(partition.get().as_bytes())?;
                        let ids = serde_json::from_value(extra.remove("files").unwrap_or_default()).map_err(broken)?;
                        Ok((id, Files { ids, extra }))
                    });
                    graph.partitions = Some(parsed.collect::<Result<_>>()?);
                }
                _ => graph.extra.push((name, span(&self.text, value))),
            }
        }
        for (list, items) in graph.lists.iter_mut().zip(parts.lists) {
            for item in items.unwrap_or_default() {
                let broken =
                    |error: serde_json::Error| Error::broken(json::rule_of(&error), format!("a file: {error}"));
                let head: Head<'_> = serde_json::from_str(item.get()).map_err(broken)?;
                let is_ordered = head.sort_order.is_some_and(|order| order.get() == "\"codepoint\"");
                // A bound that is not text excludes nothing; readers of the file reject its metadata.
                let bound = |value: Option<&RawValue>| serde_json::from_str::<String>(value?.get()).ok();
                let bounds = is_ordered.then(|| Some((bound(head.min_value)?, bound(head.max_value)?))).flatten();
                let (predicate, id) = (head.predicate.into_owned(), head.id.into_owned());
                let (version, records) = (head.snapshot_version, head.triple_count);
                if version > self.version {
                    let message =
                        format!("the file has version {version}, but its snapshot has version {}", self.version);
                    let error = Error::broken(&rules::VERSION, message).at(Place::field(format!("file {id}")));
                    return Err(error.hint("isomorph validate LAKE    shows the details"));
                }
                list.push(RawFile { predicate, id, version, records, bounds, span: span(&self.text, item) });
            }
        }
        Ok(graph)
    }

    /// Returns a file, parsed.
    ///
    /// # Errors
    /// [`rules::SCHEMA`].
    pub(crate) fn file(&self, file: &RawFile) -> Result<DataFile> {
        let name = file_of(&self.id);
        let members = json::parse(self.at(&file.span)).map_err(|error| error.at(Place::file(&name)))?;
        DataFile::of(members, &name, &mut Findings::keeping(0))
    }

    /// The position of a graph.
    pub(crate) fn place(&self, graph: &str) -> Place {
        Place::file(file_of(&self.id)).in_field(format!("graphs[{graph}]"))
    }
}

/// The members of a file's object that identify its content.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    predicate: Cow<'a, str>,
    snapshot_version: i64,
    triple_count: u64,
    #[serde(borrow, default)]
    min_value: Option<&'a RawValue>,
    #[serde(borrow, default)]
    max_value: Option<&'a RawValue>,
    #[serde(borrow, default)]
    sort_order: Option<&'a RawValue>,
}

/// Parses a text to its end. The line of an error is that in the text.
fn whole<'a, S: DeserializeSeed<'a>>(text: &'a [u8], seed: S) -> Result<S::Value> {
    let broken = |error: serde_json::Error| {
        Error::broken(json::rule_of(&error), error.to_string()).at(Place::default().line(error.line() as u64))
    };
    let mut reader = serde_json::Deserializer::from_slice(text);
    let value = seed.deserialize(&mut reader).map_err(broken)?;
    reader.end().map_err(broken)?;
    Ok(value)
}

/// The range of a value that was borrowed from `text`.
fn span(text: &[u8], value: &RawValue) -> Span {
    let start = (value.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + value.get().len()
}

/// The members of an object, without repeated names.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Deserialize<'a> for Members<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor).map(Members)
    }
}

struct MembersVisitor;

impl<'a> Visitor<'a> for MembersVisitor {
    type Value = Vec<(String, &'a RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut all: Vec<(String, &'a RawValue)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        while let Some((name, value)) = members.next_entry::<String, &'a RawValue>()? {
            if !seen.insert(name.clone()) {
                return Err(json::twice(&name));
            }
            all.push((name, value));
        }
        Ok(all)
    }
}

/// The root of a snapshot, in one pass.
struct RootSeed;

#[derive(Default)]
struct Root<'a> {
    id: Option<String>,
    version: Option<i64>,
    timestamp: Option<i64>,
    graphs: Option<Vec<(String, &'a RawValue)>>,
}

/// An integer, possibly as decimal text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Integer(i64),
    Text(String),
}

impl Number {
    fn get(self) -> Option<i64> {
        match self {
            Number::Integer(number) => Some(number),
            Number::Text(text) => text.parse().ok(),
        }
    }
}

impl<'a> DeserializeSeed<'a> for RootSeed {
    type Value = Root<'a>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<Root<'a>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for RootSeed {
    type Value = Root<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object of a snapshot")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut members: A) -> Result<Root<'a>, A::Error> {
        let mut root = Root::default();
        while let Some(name) = members.next_key::<String>()? {
            let there = match name.as_str() {
                "id" => root.id.replace(members.next_value()?).is_some(),
                "version" => std::mem::replace(&mut root.version, members.next_value::<Number>()?.get()).is_some(),
                "timestamp" => std::mem::replace(&mut root.timestamp, members.next_value::<Number>()?.get()).is_some(),
                "graphs" => root.graphs.replace(members.next_value::<Members<'a>>()?.0).is_some(),
                // The schema has no other members, so a new snapshot has none either.
                _ => members.next_value::<IgnoredAny>().map(|_| false)?,
            };
            if there {
                return Err(json::twice(&name));
            }
        }
        Ok(root)
    }
}

/// A graph, in one pass.
struct GraphSeed;

#[derive(Default)]
struct GraphParts<'a> {
    members: Vec<(String, &'a RawValue)>,
    lists: [Option<Vec<&'a RawValue>>; 3],
}

impl<'a> DeserializeSeed<'a> for GraphSeed {
    type Value = GraphParts<'a>;

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<GraphParts<'a>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for GraphSeed {
    type Value = GraphParts<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object of a graph")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut members: A) -> Result<GraphParts<'a>, A::Error> {
        let mut parts = GraphParts::default();
        while let Some(name) = members.next_key::<String>()? {
            let list = LISTS.iter().zip(&mut parts.lists).find(|(own, _)| **own == name).map(|(_, list)| list);
            let there = match list {
                Some(list) => list.replace(members.next_value()?).is_some(),
                None => {
                    let there = parts.members.iter().any(|(own, _)| *own == name);
                    parts.members.push((name.clone(), members.next_value()?));
                    there
                }
            };
            if there {
                return Err(json::twice(&name));
            }
        }
        Ok(parts)
    }
}
