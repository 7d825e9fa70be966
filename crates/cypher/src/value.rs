//! Values of openCypher, and the three ways to compare them: equality (of three truth values), equivalence (of grouping and
//! `DISTINCT`) and order (of `ORDER BY`).

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::temporal::{Duration, Temporal};

/// A map: from names to values.
pub type Map = BTreeMap<Arc<str>, Value>;

/// A node, by a number that its graph chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Node(pub u64);

/// A relationship, by a number that its graph chose, with its ends.
#[derive(Debug, Clone, Copy)]
pub struct Relationship {
    /// Its number, unique in the graph.
    pub id: u64,
    /// Where it starts.
    pub source: Node,
    /// Where it ends.
    pub target: Node,
}

impl PartialEq for Relationship {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for Relationship {}

/// A path: one node more than relationships.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    /// The nodes, in order.
    pub nodes: Vec<Node>,
    /// The relationships between them; each may be walked against its direction.
    pub relationships: Vec<Relationship>,
}

/// A value.
#[derive(Debug, Clone, Default)]
pub enum Value {
    /// Unknown or missing.
    #[default]
    Null,
    /// The null of a JSON column: a value, where [`Value::Null`] says that there is none.
    JsonNull,
    /// A truth value.
    Bool(bool),
    /// A 64-bit integer.
    Int(i64),
    /// A 64-bit floating point number.
    Float(f64),
    /// A text.
    String(Arc<str>),
    /// A list.
    List(Arc<Vec<Value>>),
    /// A map.
    Map(Arc<Map>),
    /// A node.
    Node(Node),
    /// A relationship.
    Relationship(Relationship),
    /// A path.
    Path(Arc<Path>),
    /// A point in time.
    Temporal(Temporal),
    /// A length of time.
    Duration(Arc<Duration>),
}

impl Value {
    /// A text.
    pub fn text(text: impl AsRef<str>) -> Value {
        Value::String(Arc::from(text.as_ref()))
    }

    /// A list.
    pub fn list(values: Vec<Value>) -> Value {
        Value::List(Arc::new(values))
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }

    /// The name of its type, as in error messages.
    pub fn type_name(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::JsonNull => "a JSON null",
            Value::Bool(_) => "a Boolean",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::String(_) => "a string",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
            Value::Node(_) => "a node",
            Value::Relationship(_) => "a relationship",
            Value::Path(_) => "a path",
            Value::Temporal(temporal) => temporal.type_name(),
            Value::Duration(_) => "a duration",
        }
    }

    /// Bytes that it occupies, about: for the accounting of memory.
    pub fn bytes(&self) -> u64 {
        let own = size_of::<Value>() as u64;
        own + match self {
            Value::String(text) => text.len() as u64 + 16,
            Value::List(list) => 40 + list.iter().map(Value::bytes).sum::<u64>(),
            Value::Map(map) => 40 + map.iter().map(|(key, value)| 48 + key.len() as u64 + value.bytes()).sum::<u64>(),
            Value::Path(path) => 64 + 8 * path.nodes.len() as u64 + 24 * path.relationships.len() as u64,
            Value::Duration(_) => 48,
            _ => 0,
        }
    }
}

/// Whether two values are equal; `None` if that is unknown.
pub fn equal(left: &Value, right: &Value) -> Option<bool> {
    Some(match (left, right) {
        (Value::Null, _) | (_, Value::Null) => return None,
        (Value::JsonNull, Value::JsonNull) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(a), Value::Int(b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a == b,
        (Value::Int(a), Value::Float(b)) | (Value::Float(b), Value::Int(a)) => {
            int_float(*a, *b) == Some(Ordering::Equal)
        }
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Node(a), Value::Node(b)) => a == b,
        (Value::Relationship(a), Value::Relationship(b)) => a == b,
        (Value::Path(a), Value::Path(b)) => a == b,
        (Value::Temporal(a), Value::Temporal(b)) => a == b,
        (Value::Duration(a), Value::Duration(b)) => a == b,
        (Value::List(a), Value::List(b)) => {
            if a.len() != b.len() {
                return Some(false);
            }
            return all_equal(a.iter().zip(b.iter()));
        }
        (Value::Map(a), Value::Map(b)) => {
            if a.len() != b.len() || !a.keys().eq(b.keys()) {
                return Some(false);
            }
            return all_equal(a.values().zip(b.values()));
        }
        _ => false,
    })
}

fn all_equal<'v>(pairs: impl Iterator<Item = (&'v Value, &'v Value)>) -> Option<bool> {
    let mut known = Some(true);
    for (a, b) in pairs {
        match equal(a, b) {
            Some(false) => return Some(false),
            None => known = None,
            Some(true) => {}
        }
    }
    known
}

/// How an integer compares with a float, exactly: `None` for NaN.
fn int_float(int: i64, float: f64) -> Option<Ordering> {
    if float.is_nan() {
        return None;
    }
    // 2^63, which the integers end before.
    if float >= 9_223_372_036_854_775_808.0 {
        return Some(Ordering::Less);
    }
    if float < -9_223_372_036_854_775_808.0 {
        return Some(Ordering::Greater);
    }
    let whole = float.trunc();
    #[expect(clippy::cast_possible_truncation, reason = "within the range of integers, checked above")]
    let as_int = whole as i64;
    Some(int.cmp(&as_int).then_with(|| 0.0_f64.partial_cmp(&(float - whole)).unwrap_or(Ordering::Equal)))
}

/// What `<` and its like know of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// They have an order.
    Ordered(Ordering),
    /// They are numbers, but one is NaN: every comparison is false.
    Never,
    /// Their types have no common order, or one is null: every comparison is null.
    Unknown,
}

/// Compares two values as `<` does.
pub fn compare(left: &Value, right: &Value) -> Comparison {
    let ordered = |order: Option<Ordering>| order.map_or(Comparison::Never, Comparison::Ordered);
    match (left, right) {
        (Value::Int(a), Value::Int(b)) => Comparison::Ordered(a.cmp(b)),
        (Value::Float(a), Value::Float(b)) => ordered(a.partial_cmp(b)),
        (Value::Int(a), Value::Float(b)) => ordered(int_float(*a, *b)),
        (Value::Float(a), Value::Int(b)) => ordered(int_float(*b, *a).map(Ordering::reverse)),
        (Value::String(a), Value::String(b)) => Comparison::Ordered(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Comparison::Ordered(a.cmp(b)),
        (Value::Temporal(a), Value::Temporal(b)) => a.compare(b).map_or(Comparison::Unknown, Comparison::Ordered),
        (Value::List(a), Value::List(b)) => {
            for (a, b) in a.iter().zip(b.iter()) {
                match equal(a, b) {
                    Some(true) => {}
                    Some(false) => return compare(a, b),
                    None => return Comparison::Unknown,
                }
            }
            Comparison::Ordered(a.len().cmp(&b.len()))
        }
        _ => Comparison::Unknown,
    }
}

/// The rank of a type in `ORDER BY`, ascending; null is last.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Map(_) => 0,
        Value::Node(_) => 1,
        Value::Relationship(_) => 2,
        Value::List(_) => 3,
        Value::Path(_) => 4,
        Value::Temporal(temporal) => 5 + temporal.rank(),
        Value::Duration(_) => 10,
        Value::String(_) => 11,
        Value::Bool(_) => 12,
        Value::Int(_) | Value::Float(_) => 13,
        Value::JsonNull => 14,
        Value::Null => 15,
    }
}

/// The total order of `ORDER BY`: of values of all types.
pub fn order(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Float(a), Value::Float(b)) if a.is_nan() || b.is_nan() => a.is_nan().cmp(&b.is_nan()),
        (Value::Float(a), Value::Int(_)) if a.is_nan() => Ordering::Greater,
        (Value::Int(_), Value::Float(b)) if b.is_nan() => Ordering::Less,
        (Value::List(a), Value::List(b)) => orders(a.iter(), b.iter()),
        (Value::Map(a), Value::Map(b)) => {
            let keys = a.keys().cmp(b.keys());
            keys.then_with(|| orders(a.values(), b.values()))
        }
        (Value::Node(a), Value::Node(b)) => a.cmp(b),
        (Value::Relationship(a), Value::Relationship(b)) => a.id.cmp(&b.id),
        (Value::Path(a), Value::Path(b)) => {
            let ids = |path: &Path| path.relationships.iter().map(|one| one.id).collect::<Vec<_>>();
            a.nodes.cmp(&b.nodes).then_with(|| ids(a).cmp(&ids(b)))
        }
        (Value::Duration(a), Value::Duration(b)) => a.average_nanoseconds().cmp(&b.average_nanoseconds()),
        _ => match compare(left, right) {
            Comparison::Ordered(order) => order,
            _ => rank(left).cmp(&rank(right)),
        },
    }
}

fn orders<'v>(mut left: impl Iterator<Item = &'v Value>, mut right: impl Iterator<Item = &'v Value>) -> Ordering {
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) => match order(a, b) {
                Ordering::Equal => {}
                other => return other,
            },
        }
    }
}

/// A value as a key of grouping and `DISTINCT`: null equals null, NaN equals NaN, 1 equals 1.0.
#[derive(Debug, Clone)]
pub struct Equivalent(pub Value);

impl PartialEq for Equivalent {
    fn eq(&self, other: &Self) -> bool {
        equivalent(&self.0, &other.0)
    }
}

impl Eq for Equivalent {}

/// Whether two values are the same for grouping.
pub fn equivalent(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Float(a), Value::Float(b)) if a.is_nan() => b.is_nan(),
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equivalent(a, b)),
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter().zip(b.iter()).all(|((left, a), (right, b))| left == right && equivalent(a, b))
        }
        _ => equal(left, right) == Some(true),
    }
}

impl Hash for Equivalent {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash(&self.0, state);
    }
}

fn hash<H: Hasher>(value: &Value, state: &mut H) {
    // Integers and floats that are equal have one hash: that of the nearest float.
    let number = |float: f64, state: &mut H| {
        let plain = if float == 0.0 { 0.0 } else { float };
        (13_u8, if plain.is_nan() { u64::MAX } else { plain.to_bits() }).hash(state);
    };
    match value {
        #[expect(clippy::cast_precision_loss, reason = "a hash")]
        Value::Int(int) => number(*int as f64, state),
        Value::Float(float) => number(*float, state),
        Value::Null => 14_u8.hash(state),
        Value::JsonNull => 15_u8.hash(state),
        Value::Bool(truth) => (12_u8, truth).hash(state),
        Value::String(text) => (11_u8, text).hash(state),
        Value::Node(node) => (1_u8, node).hash(state),
        Value::Relationship(one) => (2_u8, one.id).hash(state),
        Value::List(list) => {
            (3_u8, list.len()).hash(state);
            list.iter().for_each(|one| hash(one, state));
        }
        Value::Map(map) => {
            (0_u8, map.len()).hash(state);
            for (key, value) in map.iter() {
                key.hash(state);
                hash(value, state);
            }
        }
        Value::Path(path) => {
            (4_u8, &path.nodes).hash(state);
            path.relationships.iter().for_each(|one| one.id.hash(state));
        }
        Value::Temporal(temporal) => temporal.hash(state),
        Value::Duration(duration) => duration.hash(state),
    }
}
