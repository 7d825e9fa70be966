//! Values as bytes that another process of the same version reads.

use std::sync::Arc;

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, Timelike};
use isomorph::error::index;
use isomorph::{Error, Result};

use super::answer::AnswerGraph;
use crate::fault::Fault;
use crate::graph::PropertyGraph;
use crate::temporal::{Duration, Temporal, Zone, Zoned};
use crate::value::{Map, Node, Path, Relationship, Value};

/// Lists and maps inside of each other.
const DEEPEST: u32 = 512;

pub(super) fn broken() -> Error {
    Error::malformed("rows of another process cannot be read")
}

/// A value without nodes, relationships and paths as bytes.
///
/// # Errors
/// [`isomorph::Kind::Unsupported`] for other values, and for texts of 4 GiB.
pub fn value_to_bytes(value: &Value) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    Writer { bytes: &mut bytes, graph: None, relationships: false }.value(value)?;
    Ok(bytes)
}

/// The value of such bytes.
///
/// # Errors
/// [`isomorph::Kind::Malformed`] if they are none.
pub fn value_of_bytes(bytes: &[u8]) -> Result<Value> {
    let mut reader = Reader::new(bytes, None);
    let value = reader.value(0)?;
    if reader.is_at_end() { Ok(value) } else { Err(broken()) }
}

/// Appends values; relationships and paths, too, if all of the answer comes from one process.
pub(super) fn push_all(
    bytes: &mut Vec<u8>,
    values: &[Value],
    graph: &dyn PropertyGraph,
    relationships: bool,
) -> std::result::Result<(), Fault> {
    let mut writer = Writer { bytes, graph: Some(graph), relationships };
    values.iter().try_for_each(|value| writer.value(value))?;
    Ok(())
}

pub(super) fn push_text(bytes: &mut Vec<u8>, text: &str) -> Result<()> {
    push_length(bytes, text.len())?;
    bytes.extend(text.as_bytes());
    Ok(())
}

fn push_length(bytes: &mut Vec<u8>, length: usize) -> Result<()> {
    let length = u32::try_from(length).map_err(|_| Error::unsupported("a value of 4 GiB does not travel"))?;
    bytes.extend(length.to_le_bytes());
    Ok(())
}

struct Writer<'w> {
    bytes: &'w mut Vec<u8>,
    /// `None` for values without elements.
    graph: Option<&'w dyn PropertyGraph>,
    relationships: bool,
}

impl<'w> Writer<'w> {
    fn value(&mut self, value: &Value) -> Result<()> {
        match value {
            Value::Null => self.bytes.push(0),
            Value::JsonNull => self.bytes.push(1),
            Value::Bool(truth) => self.bytes.push(2 + u8::from(*truth)),
            Value::Int(int) => self.tagged(4, &int.to_le_bytes()),
            Value::Float(float) => self.tagged(5, &float.to_bits().to_le_bytes()),
            Value::String(text) => {
                self.bytes.push(6);
                push_text(self.bytes, text)?;
            }
            Value::List(items) => {
                self.bytes.push(7);
                push_length(self.bytes, items.len())?;
                items.iter().try_for_each(|item| self.value(item))?;
            }
            Value::Map(map) => {
                self.bytes.push(8);
                self.map(map)?;
            }
            Value::Node(node) => {
                self.bytes.push(9);
                self.node(*node)?;
            }
            Value::Relationship(one) => {
                self.bytes.push(10);
                self.relationship(*one)?;
            }
            Value::Path(path) => {
                self.bytes.push(11);
                push_length(self.bytes, path.relationships.len())?;
                path.nodes.iter().try_for_each(|node| self.node(*node))?;
                path.relationships.iter().try_for_each(|one| self.relationship(*one))?;
            }
            Value::Temporal(temporal) => self.temporal(temporal)?,
            Value::Duration(duration) => {
                self.bytes.push(17);
                let Duration { months, days, seconds, nanoseconds } = **duration;
                for part in [months, days, seconds, nanoseconds] {
                    self.bytes.extend(part.to_le_bytes());
                }
            }
        }
        Ok(())
    }

    fn tagged(&mut self, tag: u8, bytes: &[u8]) {
        self.bytes.push(tag);
        self.bytes.extend(bytes);
    }

    fn map(&mut self, map: &Map) -> Result<()> {
        push_length(self.bytes, map.len())?;
        for (key, value) in map {
            push_text(self.bytes, key)?;
            self.value(value)?;
        }
        Ok(())
    }

    fn graph(&self) -> Result<&'w dyn PropertyGraph> {
        self.graph.ok_or_else(|| Error::unsupported("a node, relationship or path cannot be a parameter"))
    }

    /// What tells a node from all others, in every process.
    fn identity(&mut self, node: Node) -> Result<()> {
        let graph = self.graph()?;
        let table = graph.tables().map_or(0, |tables| tables.table_of(node) as u64);
        self.bytes.extend(table.to_le_bytes());
        push_text(self.bytes, &graph.node_element_id(node)?)
    }

    fn node(&mut self, node: Node) -> Result<()> {
        self.identity(node)?;
        let graph = self.graph()?;
        let labels = graph.labels(node)?;
        push_length(self.bytes, labels.len())?;
        labels.iter().try_for_each(|label| push_text(self.bytes, label))?;
        self.map(&graph.node_properties(node)?)
    }

    fn relationship(&mut self, one: Relationship) -> Result<()> {
        let graph = self.graph()?;
        if !self.relationships {
            return Err(Error::unsupported("relationships of parts of a query do not travel"));
        }
        self.bytes.extend(one.id.to_le_bytes());
        self.identity(one.source)?;
        self.identity(one.target)?;
        push_text(self.bytes, &graph.relationship_type(one)?)?;
        self.map(&graph.relationship_properties(one)?)
    }

    fn temporal(&mut self, temporal: &Temporal) -> Result<()> {
        match temporal {
            Temporal::Date(date) => {
                self.bytes.push(12);
                self.date(*date);
            }
            Temporal::LocalTime(time) => {
                self.bytes.push(13);
                self.time(*time);
            }
            Temporal::Time(time, offset) => {
                self.bytes.push(14);
                self.time(*time);
                self.bytes.extend(offset.to_le_bytes());
            }
            Temporal::LocalDateTime(local) => {
                self.bytes.push(15);
                self.date(local.date());
                self.time(local.time());
            }
            Temporal::DateTime(Zoned { local, offset, zone }) => {
                self.bytes.push(16);
                self.date(local.date());
                self.time(local.time());
                self.bytes.extend(offset.to_le_bytes());
                let name = match zone {
                    Zone::Offset(_) => "",
                    Zone::Named(zone) => zone.name(),
                };
                push_text(self.bytes, name)?;
            }
        }
        Ok(())
    }

    fn date(&mut self, date: NaiveDate) {
        self.bytes.extend(date.to_epoch_days().to_le_bytes());
    }

    fn time(&mut self, time: NaiveTime) {
        self.bytes.extend(time.num_seconds_from_midnight().to_le_bytes());
        self.bytes.extend(time.nanosecond().to_le_bytes());
    }
}

/// Reads values.
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
    /// Where nodes and relationships are kept; `None` if there are none.
    graph: Option<&'b AnswerGraph>,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8], graph: Option<&'b AnswerGraph>) -> Self {
        Reader { bytes, graph }
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    /// All values to the end.
    pub(super) fn all(&mut self) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        while !self.is_at_end() {
            values.push(self.value(0)?);
        }
        Ok(values)
    }

    fn take(&mut self, count: usize) -> Result<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count).ok_or_else(broken)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk().ok_or_else(broken)?;
        self.bytes = rest;
        Ok(*taken)
    }

    pub(super) fn number(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn int(&mut self) -> Result<i64> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    fn small(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    /// A number of items, of which each has a byte at least.
    fn length(&mut self) -> Result<usize> {
        let length = index(u64::from(self.small()?));
        if length <= self.bytes.len() { Ok(length) } else { Err(broken()) }
    }

    pub(super) fn text(&mut self) -> Result<&'b str> {
        let length = self.length()?;
        std::str::from_utf8(self.take(length)?).map_err(|_| broken())
    }

    fn value(&mut self, depth: u32) -> Result<Value> {
        if depth > DEEPEST {
            return Err(broken());
        }
        let [tag] = self.array()?;
        Ok(match tag {
            0 => Value::Null,
            1 => Value::JsonNull,
            2 | 3 => Value::Bool(tag == 3),
            4 => Value::Int(self.int()?),
            5 => Value::Float(f64::from_bits(self.number()?)),
            6 => Value::text(self.text()?),
            7 => {
                let length = self.length()?;
                Value::list((0..length).map(|_| self.value(depth + 1)).collect::<Result<_>>()?)
            }
            8 => Value::Map(Arc::new(self.map(depth)?)),
            9 => Value::Node(self.node(depth)?),
            10 => Value::Relationship(self.relationship(depth)?),
            11 => {
                let length = self.length()?;
                let nodes = (0..=length).map(|_| self.node(depth)).collect::<Result<_>>()?;
                let relationships = (0..length).map(|_| self.relationship(depth)).collect::<Result<_>>()?;
                Value::Path(Arc::new(Path { nodes, relationships }))
            }
            12 => Value::Temporal(Temporal::Date(self.date()?)),
            13 => Value::Temporal(Temporal::LocalTime(self.time()?)),
            14 => Value::Temporal(Temporal::Time(self.time()?, i32::from_le_bytes(self.array()?))),
            15 => Value::Temporal(Temporal::LocalDateTime(self.local()?)),
            16 => {
                let (local, offset) = (self.local()?, i32::from_le_bytes(self.array()?));
                let zone = match self.text()? {
                    "" => Zone::Offset(offset),
                    name => Zone::Named(name.parse().map_err(|_| broken())?),
                };
                // Its time in UTC is in the range of the calendar.
                local.checked_sub_signed(TimeDelta::seconds(i64::from(offset))).ok_or_else(broken)?;
                Value::Temporal(Temporal::DateTime(Zoned { local, offset, zone }))
            }
            17 => {
                let [months, days, seconds, nanoseconds] = [self.int()?, self.int()?, self.int()?, self.int()?];
                Value::Duration(Arc::new(Duration { months, days, seconds, nanoseconds }))
            }
            _ => return Err(broken()),
        })
    }

    fn map(&mut self, depth: u32) -> Result<Map> {
        let length = self.length()?;
        (0..length).map(|_| Ok((Arc::from(self.text()?), self.value(depth + 1)?))).collect()
    }

    fn graph(&self) -> Result<&'b AnswerGraph> {
        self.graph.ok_or_else(broken)
    }

    fn identity(&mut self) -> Result<(u64, &'b str)> {
        Ok((self.number()?, self.text()?))
    }

    fn node(&mut self, depth: u32) -> Result<Node> {
        let (table, id) = self.identity()?;
        let labels = self.length()?;
        let labels = (0..labels).map(|_| Ok(Arc::from(self.text()?))).collect::<Result<_>>()?;
        let properties = self.map(depth)?;
        self.graph()?.node(table, id, Some((labels, properties)))
    }

    fn relationship(&mut self, depth: u32) -> Result<Relationship> {
        let (id, graph) = (self.number()?, self.graph()?);
        let [source, target] = [self.identity()?, self.identity()?];
        let [source, target] = [graph.node(source.0, source.1, None)?, graph.node(target.0, target.1, None)?];
        let relation = Arc::from(self.text()?);
        graph.relationship(id, relation, self.map(depth)?)?;
        Ok(Relationship { id, source, target })
    }

    fn date(&mut self) -> Result<NaiveDate> {
        NaiveDate::from_epoch_days(i32::from_le_bytes(self.array()?)).ok_or_else(broken)
    }

    fn time(&mut self) -> Result<NaiveTime> {
        let (seconds, nanoseconds) = (self.small()?, self.small()?);
        NaiveTime::from_num_seconds_from_midnight_opt(seconds, nanoseconds).ok_or_else(broken)
    }

    fn local(&mut self) -> Result<NaiveDateTime> {
        Ok(self.date()?.and_time(self.time()?))
    }
}
