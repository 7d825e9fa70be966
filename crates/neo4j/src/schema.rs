//! The types and columns of a text: those that a sidecar knows, or those that its values show.

use std::collections::{BTreeSet, HashMap, HashSet};

use arrow_schema::{DataType, TimeUnit};
use isomorph_error::{Error, Kind, Result};
use isomorph_model::type_name::list_of;
use isomorph_model::{EdgeType, Graph, Key, KeyKind, LabelVocabulary, NodeType, Property, ValueKind};

use crate::item::{Item, Items};
use crate::value::{Time, Value, is_float};

/// The most labels that are declared, and the most types and properties.
const LABELS: usize = 1_000;
const TYPES: usize = 10_000;
const PROPERTIES: usize = 10_000;

/// What the values of a property have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Nothing,
    Bool,
    Int,
    Float,
    Text,
    Date,
    /// Moments that are local, or in UTC.
    Moment(Time, Moments),
    /// An array: of nothing, of booleans, integers, floats, texts.
    List(Option<Item1>),
    Mixed,
}

/// What moments have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Moments {
    /// Whether 64 bits hold the nanoseconds of all of them.
    in_nanoseconds: bool,
    /// Whether they are whole microseconds.
    in_microseconds: bool,
}

impl Moments {
    /// `None` for a year that no timestamp has.
    fn of(text: &str) -> Option<Moments> {
        let (year, rest) = text.split_at_checked(4)?;
        let year = year.parse::<u16>().ok().filter(|_| rest.starts_with('-'))?;
        let fraction = text.split_once('.').map_or("", |(_, fraction)| fraction);
        let mut finer = fraction.bytes().take_while(u8::is_ascii_digit).skip(6);
        Some(Moments {
            in_nanoseconds: (1678..=2261).contains(&year),
            in_microseconds: finer.all(|digit| digit == b'0'),
        })
    }

    fn with(self, other: Moments) -> Moments {
        Moments {
            in_nanoseconds: self.in_nanoseconds && other.in_nanoseconds,
            in_microseconds: self.in_microseconds && other.in_microseconds,
        }
    }

    /// The unit that all of them have; `None` if no unit has their range and their fractions.
    fn unit(self) -> Option<TimeUnit> {
        match (self.in_nanoseconds, self.in_microseconds) {
            (true, _) => Some(TimeUnit::Nanosecond),
            (false, true) => Some(TimeUnit::Microsecond),
            (false, false) => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Item1 {
    Bool,
    Int,
    Float,
    Text,
}

impl Seen {
    fn of(value: &Value) -> Seen {
        match value {
            Value::Null => Seen::Nothing,
            Value::Bool(_) => Seen::Bool,
            // A number that no float holds, 1e400, stays as it is written.
            Value::Number(text) if is_float(text) => match isomorph_model::json::value(text) {
                Ok(isomorph_model::json::Value::Float(_)) => Seen::Float,
                _ => Seen::Mixed,
            },
            Value::Number(text) if text.parse::<i64>().is_ok() => Seen::Int,
            Value::Text(_) => Seen::Text,
            Value::Time(Time::Date, _) => Seen::Date,
            // A moment that no timestamp is stays as it is written.
            Value::Time(time, text) => Moments::of(text).map_or(Seen::Mixed, |moments| Seen::Moment(*time, moments)),
            Value::List(items) => {
                let mut all = None;
                for item in items {
                    let item = match Seen::of(item) {
                        Seen::Bool => Item1::Bool,
                        Seen::Int => Item1::Int,
                        Seen::Float => Item1::Float,
                        Seen::Text => Item1::Text,
                        _ => return Seen::Mixed,
                    };
                    if all.is_some_and(|all| all != item) {
                        return Seen::Mixed;
                    }
                    all = Some(item);
                }
                Seen::List(all)
            }
            Value::Number(_) | Value::Object(_) => Seen::Mixed,
        }
    }

    fn with(self, other: Seen) -> Seen {
        match (self, other) {
            (Seen::Nothing, other) | (other, Seen::Nothing) => other,
            (Seen::List(None), Seen::List(item)) | (Seen::List(item), Seen::List(None)) => Seen::List(item),
            (Seen::Moment(one, moments), Seen::Moment(other, others)) if one == other => {
                Seen::Moment(one, moments.with(others))
            }
            (one, other) if one == other => one,
            _ => Seen::Mixed,
        }
    }

    fn property(self, name: &str) -> Property {
        let seen = match self {
            Seen::Moment(_, moments) if moments.unit().is_none() => Seen::Mixed,
            seen => seen,
        };
        let data_type = match seen {
            Seen::Bool => DataType::Boolean,
            Seen::Int => DataType::Int64,
            Seen::Float => DataType::Float64,
            Seen::Date => DataType::Date32,
            Seen::Moment(time, moments) => {
                let zone = (time == Time::Instant).then(|| "UTC".into());
                DataType::Timestamp(moments.unit().unwrap_or(TimeUnit::Nanosecond), zone)
            }
            Seen::List(item) => list_of(match item {
                Some(Item1::Bool) => DataType::Boolean,
                Some(Item1::Int) => DataType::Int64,
                Some(Item1::Float) => DataType::Float64,
                Some(Item1::Text) | None => DataType::Utf8,
            }),
            Seen::Nothing | Seen::Text | Seen::Mixed => DataType::Utf8,
        };
        let cardinality = match data_type {
            DataType::List(_) => isomorph_model::Cardinality::List,
            _ => isomorph_model::Cardinality::Single,
        };
        let property = Property::new(name, data_type).with_cardinality(cardinality);
        if seen == Seen::Mixed { property.of_kind(ValueKind::Json) } else { property }
    }
}

/// Properties in the order in which they were found.
#[derive(Default)]
struct Columns {
    places: HashMap<String, usize>,
    seen: Vec<(String, Seen)>,
}

impl Columns {
    fn see(&mut self, members: &[(String, Value)]) -> Result<()> {
        for (name, value) in members {
            let place = match self.places.get(name) {
                Some(place) => *place,
                None if self.seen.len() >= PROPERTIES => {
                    return Err(Error::new(Kind::TooLarge, "more than 10,000 properties"));
                }
                None => {
                    self.places.insert(name.clone(), self.seen.len());
                    self.seen.push((name.clone(), Seen::Nothing));
                    self.seen.len() - 1
                }
            };
            if let Some((_, seen)) = self.seen.get_mut(place) {
                *seen = seen.with(Seen::of(value));
            }
        }
        Ok(())
    }

    fn properties(&self) -> Vec<Property> {
        self.seen.iter().map(|(name, seen)| seen.property(name)).collect()
    }
}

/// The nodes of a type.
#[derive(Default)]
struct Nodes {
    columns: Columns,
    labels: BTreeSet<String>,
    rows: u64,
    /// Whether a key is no integer.
    texts: bool,
}

/// What is known of a text.
pub(crate) struct Schema {
    pub graph: Graph,
    /// Whether JSON columns are made of the values of a property, and not of texts.
    pub from_values: bool,
    /// Numbers of types by name; those of edges by source, relation and target.
    pub nodes: HashMap<String, usize>,
    pub edges: HashMap<(usize, String, usize), usize>,
}

impl Schema {
    /// The schema of a graph that was written.
    pub fn known(graph: &Graph) -> Schema {
        Schema::of(graph.clone(), false)
    }

    /// The numbers of rows are no longer those that a known graph had.
    pub fn forget_rows(&mut self) {
        self.graph.nodes.iter_mut().for_each(|ty| ty.rows = None);
        self.graph.edges.iter_mut().for_each(|ty| ty.rows = None);
    }

    fn of(graph: Graph, from_values: bool) -> Schema {
        let nodes = graph.nodes.iter().enumerate().map(|(at, ty)| (ty.name.clone(), at)).collect();
        let name = |ty: &EdgeType| ty.relation.fixed().unwrap_or_default().to_owned();
        let edges = graph.edges.iter().enumerate().map(|(at, ty)| ((ty.source, name(ty), ty.target), at)).collect();
        Schema { graph, from_values, nodes, edges }
    }

    /// The schema that all records show.
    ///
    /// # Errors
    /// If the text cannot be read, or has too many types or properties.
    pub fn surveyed(items: &mut dyn Items) -> Result<Schema> {
        let mut nodes: Vec<(String, Nodes)> = Vec::new();
        let mut edges: Vec<((usize, String, usize), Columns, u64)> = Vec::new();
        let (mut places, mut relations) = (HashMap::new(), HashMap::new());
        while let Some(item) = items.next()? {
            let read = match item {
                Item::Node(node) => {
                    let at = *places.entry(node.ty.clone()).or_insert_with(|| {
                        nodes.push((node.ty.clone(), Nodes::default()));
                        nodes.len() - 1
                    });
                    let Some((_, own)) = nodes.get_mut(at) else { continue };
                    own.rows += 1;
                    own.texts |= !matches!(&node.key, Value::Number(text) if text.parse::<i64>().is_ok());
                    if own.labels.len() <= LABELS {
                        own.labels.extend(node.labels);
                    }
                    own.columns.see(&node.properties)
                }
                Item::Edge(edge) => {
                    let [from, to] = edge.ends.map(|(ty, _)| places.get(&ty).copied());
                    let (Some(from), Some(to)) = (from, to) else {
                        let what = "a relationship comes before all nodes of the type of one of its ends";
                        return Err(Error::broken(&crate::rules::END, what).at(items.place()));
                    };
                    let key = (from, edge.relation, to);
                    let at = *relations.entry(key.clone()).or_insert_with(|| {
                        edges.push((key, Columns::default(), 0));
                        edges.len() - 1
                    });
                    let Some((_, columns, rows)) = edges.get_mut(at) else { continue };
                    *rows += 1;
                    columns.see(&edge.properties)
                }
            };
            read.map_err(|error| error.at(items.place()))?;
            if nodes.len() + edges.len() > TYPES {
                return Err(Error::new(Kind::TooLarge, "more than 10,000 types").at(items.place()));
            }
        }
        let mut graph = Graph::default();
        for (name, own) in nodes {
            let key = if own.texts { Key::utf8() } else { Key::int64() };
            let mut ty = NodeType::new(name, key);
            ty.rows = Some(own.rows);
            ty.properties = own.columns.properties();
            ty.labels = match own.labels.len() {
                0 => LabelVocabulary::None,
                1..=LABELS => LabelVocabulary::Declared(own.labels.into_iter().collect()),
                _ => LabelVocabulary::Open,
            };
            graph.nodes.push(ty);
        }
        for ((source, relation, target), columns, rows) in edges {
            let mut ty = EdgeType::new(source, relation, target);
            (ty.rows, ty.properties) = (Some(rows), columns.properties());
            graph.edges.push(ty);
        }
        Ok(Schema::of(graph, true))
    }

    /// Whether several types share one space of ids, so that ids begin with the type.
    pub fn prefixes(graph: &Graph) -> bool {
        graph.nodes.len() > 1
    }

    /// With what keys of each type do not begin where ids begin with types: `A/` and the key `b/c` are the id of `A/b` and `c`.
    pub fn rivals(graph: &Graph) -> Vec<Vec<String>> {
        let of = |ty: &NodeType| {
            let rest = |other: &NodeType| Some(format!("{}/", other.name.strip_prefix(&ty.name)?.strip_prefix('/')?));
            graph.nodes.iter().filter_map(rest).collect()
        };
        graph.nodes.iter().map(of).collect()
    }
}

/// The names of keys as properties of nodes, by type: none that a property has.
pub(crate) fn key_names(graph: &Graph) -> Vec<String> {
    let of = |ty: &NodeType| {
        let taken: HashSet<&str> = ty.properties.iter().map(|property| property.name.as_str()).collect();
        let given = ty.key.name.clone().filter(|_| ty.key.kind != KeyKind::Row).unwrap_or_else(|| "id".to_owned());
        let mut name = if crate::is_property(&given) { given } else { "id".to_owned() };
        while taken.contains(name.as_str()) {
            name.insert(0, '_');
        }
        name
    };
    graph.nodes.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn seen(texts: &[&str]) -> Property {
        let values = texts.iter().map(|text| Seen::of(&Value::Time(Time::Local, (*text).to_owned())));
        values.fold(Seen::Nothing, Seen::with).property("x")
    }

    /// Moments have the unit that loses nothing; if there is none, they stay as they are written.
    #[test]
    fn moments_have_the_unit_that_loses_nothing() {
        let unit = |texts: &[&str]| match seen(texts).data_type {
            DataType::Timestamp(unit, None) => Some(unit),
            _ => None,
        };
        let (old, new) = ("1066-10-14T09:00:00", "2020-01-01T00:00:00.123456789");
        assert_eq!(unit(&[new]), Some(TimeUnit::Nanosecond));
        assert_eq!(unit(&[old, "9999-12-31T23:59:59.999999"]), Some(TimeUnit::Microsecond));
        assert_eq!(unit(&[old, "2020-01-01T00:00:00.123456000"]), Some(TimeUnit::Microsecond));
        for texts in [&[old, new] as &[&str], &["+12020-01-01T00:00:00"], &["-0044-03-15T12:00:00", new]] {
            assert_eq!((unit(texts), seen(texts).kind), (None, ValueKind::Json), "{texts:?}");
        }
    }
}
