//! Types of columns before any row is read: from the expressions of a query and the tables of a graph.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};

use crate::columns::{Columns, Shape, both, shape_of};
use crate::functions::{Function, Returns};
use crate::plan::{Branch, Clause, Expr, Operator, Pattern, Slot, SubqueryKind};
use crate::query::Query;
use crate::tables::TableGraph;
use crate::temporal::is_text_component;
use crate::value::Value;

/// What is known of the values of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Typed {
    /// A type, and the unit if it is one of times.
    Plain(Shape, TimeUnit),
    List(Box<Typed>),
    /// A map of these fields.
    Map(BTreeMap<Arc<str>, Typed>),
    /// The node in a slot of a pattern; without it, any node.
    Node(Option<Slot>),
    Relationship(Option<Slot>),
}

const UNIT: TimeUnit = TimeUnit::Nanosecond;

/// Expressions that are looked at.
const MOST: usize = 1 << 20;

/// Nothing is known.
const ANY: Typed = Typed::Plain(Shape::Any, UNIT);

/// Only nulls.
const NULL: Typed = Typed::Plain(Shape::Empty, TimeUnit::Microsecond);

impl Query {
    /// The columns of a query of one `MATCH` and one `RETURN` without aggregates, as [`Query::of_graph_table`] gives it.
    ///
    /// What is not known before the rows, like a value of JSON, is text: [`Columns::batch`].
    pub fn column_types(&self, graph: &TableGraph<'_>, parameters: &BTreeMap<String, Value>) -> Columns {
        let (mut shapes, mut stored) = (Vec::new(), Vec::new());
        if let [Branch { clauses, outputs }] = self.plan.branches.as_slice()
            && let [Clause::Match { pattern, .. }, Clause::Project(projection)] = clauses.as_slice()
        {
            let mut types =
                Types { graph, patterns: vec![pattern], parameters, variables: BTreeMap::new(), left: MOST };
            for slot in outputs {
                let expr = projection.keys.iter().find(|(own, _)| own == slot).map(|(_, expr)| expr);
                shapes.push(expr.map_or(ANY, |expr| types.of(expr)).shape());
                stored.push(expr.and_then(|expr| types.stored(expr)));
            }
        }
        shapes.resize(self.columns().len(), ANY.shape());
        stored.resize(self.columns().len(), None);
        Columns::new(self.columns(), shapes, stored)
    }
}

struct Types<'t> {
    graph: &'t TableGraph<'t>,
    /// The pattern of the query, and those around the expression, from outside to inside.
    patterns: Vec<&'t Pattern>,
    parameters: &'t BTreeMap<String, Value>,
    /// Variables of comprehensions and of `reduce`.
    variables: BTreeMap<Slot, Typed>,
    /// How many expressions are still looked at: those inside of several `reduce` are several times.
    left: usize,
}

impl<'t> Types<'t> {
    fn of(&mut self, expr: &'t Expr) -> Typed {
        let plain = |shape: Shape| Typed::Plain(shape, UNIT);
        let Some(left) = self.left.checked_sub(1) else { return ANY };
        self.left = left;
        match expr {
            Expr::Const(value) => of_value(value),
            Expr::Parameter(name) => self.parameters.get(&**name).map_or(ANY, of_value),
            Expr::Property(base, name) => {
                let base = self.of(base);
                self.property(&base, name)
            }
            Expr::Slot(slot) => self.slot(*slot),
            Expr::Not(_)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Xor(..)
            | Expr::Chain(..)
            | Expr::IsNull(..)
            | Expr::HasLabels(..)
            | Expr::PatternExists(_)
            | Expr::Quantified { .. }
            | Expr::Subquery(SubqueryKind::Exists, _) => plain(Shape::Bool),
            Expr::Subquery(SubqueryKind::Count, _) => plain(Shape::Int),
            Expr::Subquery(SubqueryKind::Collect, _) => Typed::List(Box::new(ANY)),
            Expr::List(items) => Typed::List(Box::new(self.all(items.iter()))),
            Expr::Map(fields) => {
                Typed::Map(fields.iter().map(|(name, value)| (Arc::clone(name), self.of(value))).collect())
            }
            Expr::MapProjection { all: true, .. } => plain(Shape::Json),
            Expr::MapProjection { base, entries, properties, .. } => {
                let base = self.of(base);
                let own = properties.iter().map(|name| (Arc::clone(name), self.property(&base, name)));
                let mut fields: BTreeMap<_, _> = own.collect();
                fields.extend(entries.iter().map(|(name, value)| (Arc::clone(name), self.of(value))));
                Typed::Map(fields)
            }
            Expr::ListComprehension { slot, list, result, .. } => {
                let item = self.of(list).item();
                let result = result.as_deref().map(|result| self.with(*slot, item.clone(), result));
                Typed::List(Box::new(result.unwrap_or(item)))
            }
            Expr::PatternComprehension { pattern, result } => {
                self.patterns.push(pattern);
                let item = self.of(result);
                self.patterns.pop();
                Typed::List(Box::new(item))
            }
            Expr::Reduce { accumulator, initial, slot, list, expr } => {
                let item = self.of(list).item();
                let mut found = self.of(initial);
                // The accumulator is what it begins with, or what a step makes of it.
                for _ in 0..3 {
                    self.variables.insert(*accumulator, found.clone());
                    let next = united(found.clone(), self.with(*slot, item.clone(), expr));
                    self.variables.remove(accumulator);
                    if next == found {
                        return found;
                    }
                    found = next;
                }
                ANY
            }
            Expr::Negate(one) | Expr::Plus(one) => match self.of(one) {
                number @ Typed::Plain(Shape::Int | Shape::Float | Shape::Duration, _) => number,
                _ => ANY,
            },
            Expr::Binary(op, left, right) => {
                let left = self.of(left);
                operation(*op, left, self.of(right))
            }
            Expr::Case { arms, otherwise, .. } => {
                self.all(arms.iter().map(|(_, then)| then).chain(otherwise.as_deref()))
            }
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Index(base, index) => match (self.of(base), &**index) {
                (list @ Typed::List(_), _) => list.item(),
                (base, Expr::Const(Value::String(name))) => self.property(&base, name),
                _ => ANY,
            },
            Expr::Slice(base, ..) => match self.of(base) {
                list @ Typed::List(_) => list,
                _ => ANY,
            },
        }
    }

    /// The type of an expression in which a variable has a type.
    fn with(&mut self, slot: Slot, typed: Typed, expr: &'t Expr) -> Typed {
        self.variables.insert(slot, typed);
        let found = self.of(expr);
        self.variables.remove(&slot);
        found
    }

    fn all(&mut self, all: impl Iterator<Item = &'t Expr>) -> Typed {
        all.fold(NULL, |found, one| united(found, self.of(one)))
    }

    fn call(&mut self, function: Function, arguments: &'t [Expr]) -> Typed {
        use Function as F;
        let mut first = || arguments.first().map_or(ANY, |first| self.of(first));
        let list = |shape: Shape| Typed::List(Box::new(Typed::Plain(shape, UNIT)));
        let shape = match function {
            F::Coalesce => return self.all(arguments.iter()),
            F::NullIf | F::Abs => return first(),
            F::Head | F::Last => return first().item(),
            F::Tail => return Typed::List(Box::new(first().item())),
            F::Reverse => match first() {
                known @ (Typed::List(_) | Typed::Plain(Shape::Text, _)) => return known,
                _ => Shape::Any,
            },
            F::Properties => match first() {
                known @ (Typed::Map(_) | Typed::Node(_) | Typed::Relationship(_)) => return known,
                _ => Shape::Json,
            },
            F::Labels | F::Keys | F::Split => return list(Shape::Text),
            F::Range => return list(Shape::Int),
            F::Date | F::DateNow | F::DateStatement | F::DateReal | F::DateTruncate => Shape::Date,
            F::LocalTime | F::LocalTimeNow | F::LocalTimeStatement | F::LocalTimeReal | F::LocalTimeTruncate => {
                Shape::Time
            }
            F::LocalDateTime
            | F::LocalDateTimeNow
            | F::LocalDateTimeStatement
            | F::LocalDateTimeReal
            | F::LocalDateTimeTruncate => Shape::Moment,
            F::DateTime
            | F::DateTimeNow
            | F::DateTimeStatement
            | F::DateTimeReal
            | F::DateTimeTruncate
            | F::FromEpoch
            | F::FromEpochMillis => Shape::Instant,
            F::Duration | F::Between | F::InMonths | F::InDays | F::InSeconds => Shape::Duration,
            _ => match function.returns() {
                Returns::Any => Shape::Any,
                Returns::Bool => Shape::Bool,
                Returns::Int => Shape::Int,
                Returns::Float => Shape::Float,
                Returns::Text => Shape::Text,
                Returns::List | Returns::Map => Shape::Json,
                Returns::Nodes => return Typed::List(Box::new(Typed::Node(None))),
                Returns::Relationships => return Typed::List(Box::new(Typed::Relationship(None))),
                Returns::Node => return Typed::Node(None),
                // Times of day with an offset.
                Returns::Temporal => Shape::Plain,
            },
        };
        Typed::Plain(shape, UNIT)
    }

    fn slot(&self, slot: Slot) -> Typed {
        if let Some(known) = self.variables.get(&slot) {
            return known.clone();
        }
        for pattern in self.patterns.iter().rev() {
            if pattern.nodes.iter().any(|node| node.slot == slot) {
                return Typed::Node(Some(slot));
            }
            if let Some(one) = pattern.relationships.iter().find(|one| one.slot == slot) {
                let relationship = Typed::Relationship(Some(slot));
                let is_list = one.is_list || one.length.is_some();
                return if is_list { Typed::List(Box::new(relationship)) } else { relationship };
            }
            if pattern.paths.iter().any(|path| path.slot == slot) {
                return Typed::Plain(Shape::Json, UNIT);
            }
        }
        ANY
    }

    /// The type of the tables for a property that is nothing but one, and has one type in all of them. Numbers and times are read as wider ones.
    fn stored(&self, expr: &Expr) -> Option<DataType> {
        let Expr::Property(base, name) = expr else { return None };
        let Expr::Slot(slot) = &**base else { return None };
        let (mut found, mut is_one) = (None, true);
        self.properties(&self.slot(*slot), name, &mut |own| match (&found, own) {
            (None, Some(own)) => found = Some(own.clone()),
            (Some(found), Some(own)) if found == own => {}
            _ => is_one = false,
        });
        let is_cast = |own: &DataType| {
            own.is_integer()
                || own.is_floating()
                || matches!(own, DataType::Time32(_) | DataType::Time64(_) | DataType::Timestamp(..))
        };
        found.filter(|own| is_one && is_cast(own))
    }

    /// A property: a component of a time, a field of a map, or of the types that the tables have which a node or relationship may be of.
    fn property(&self, base: &Typed, name: &str) -> Typed {
        let mut found = NULL;
        let mut add = |data_type: Option<&DataType>| {
            found = united(found.clone(), data_type.map_or(ANY, of_arrow));
        };
        match base {
            Typed::Map(fields) => return fields.get(name).cloned().unwrap_or(NULL),
            Typed::Plain(Shape::Empty, _) => return NULL,
            Typed::Plain(shape, _) if shape.is_temporal() => {
                return Typed::Plain(if is_text_component(name) { Shape::Text } else { Shape::Int }, UNIT);
            }
            Typed::Plain(..) | Typed::List(_) => return ANY,
            Typed::Node(_) | Typed::Relationship(_) => self.properties(base, name, &mut add),
        }
        found
    }

    /// Passes the types that a property of a node or relationship has in the tables which it may be of; `None` where a type is not known.
    fn properties(&self, base: &Typed, name: &str, add: &mut dyn FnMut(Option<&DataType>)) {
        match base {
            Typed::Node(slot) => {
                let conditions = self.patterns.iter().flat_map(|pattern| &pattern.conditions);
                let labels = conditions.filter_map(|condition| match &*condition.expr {
                    Expr::HasLabels(base, labels) if matches!(**base, Expr::Slot(own) if Some(own) == *slot) => {
                        Some(labels)
                    }
                    _ => None,
                });
                self.graph.property_types(None, &labels.collect::<Vec<_>>(), name, add);
            }
            Typed::Relationship(slot) => {
                let mut all = self.patterns.iter().flat_map(|pattern| &pattern.relationships);
                let types = all.find(|one| Some(one.slot) == *slot).map_or(&[][..], |one| one.types.as_slice());
                self.graph.property_types(Some(types), &[], name, add);
            }
            Typed::Plain(..) | Typed::List(_) | Typed::Map(_) => {}
        }
    }
}

impl Typed {
    /// The type of items of a list.
    fn item(self) -> Typed {
        match self {
            Typed::List(item) => *item,
            Typed::Plain(Shape::Empty, _) => NULL,
            _ => ANY,
        }
    }

    /// The type of a column.
    fn shape(&self) -> (Shape, TimeUnit) {
        match self {
            Typed::Plain(shape, unit) => (*shape, *unit),
            _ => (Shape::Json, UNIT),
        }
    }
}

/// The type of values of either type.
fn united(left: Typed, right: Typed) -> Typed {
    match (left, right) {
        (left, right) if left == right => left,
        (NULL, known) | (known, NULL) => known,
        (Typed::List(left), Typed::List(right)) => Typed::List(Box::new(united(*left, *right))),
        (Typed::Map(mut left), Typed::Map(mut right)) => {
            // A field that only one has is null in the other.
            for (name, field) in &mut left {
                *field = united(std::mem::replace(field, NULL), right.remove(name).unwrap_or(NULL));
            }
            left.extend(right);
            Typed::Map(left)
        }
        (Typed::Node(_), Typed::Node(_)) => Typed::Node(None),
        (Typed::Relationship(_), Typed::Relationship(_)) => Typed::Relationship(None),
        (left, right) => {
            let ((left, unit), (right, other)) = (left.shape(), right.shape());
            Typed::Plain(both(left, right), if other == UNIT { UNIT } else { unit })
        }
    }
}

/// The type of a value.
fn of_value(value: &Value) -> Typed {
    match value {
        Value::Null => NULL,
        Value::List(items) => Typed::List(Box::new(items.iter().map(of_value).fold(NULL, united))),
        Value::Map(fields) => {
            Typed::Map(fields.iter().map(|(name, value)| (Arc::clone(name), of_value(value))).collect())
        }
        value => Typed::Plain(shape_of(value), UNIT),
    }
}

/// The type of the values of a column.
fn of_arrow(data_type: &DataType) -> Typed {
    let shape = match data_type {
        DataType::Null => Shape::Empty,
        DataType::Boolean => Shape::Bool,
        data_type if data_type.is_integer() => Shape::Int,
        data_type if data_type.is_floating() => Shape::Float,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Shape::Text,
        DataType::Dictionary(_, values) => return of_arrow(values),
        DataType::Date32 | DataType::Date64 => Shape::Date,
        DataType::Time32(_) | DataType::Time64(_) => Shape::Time,
        DataType::Duration(_) | DataType::Interval(_) => Shape::Duration,
        DataType::Timestamp(unit, zone) => {
            let unit = if *unit == UNIT { UNIT } else { TimeUnit::Microsecond };
            return Typed::Plain(if zone.is_some() { Shape::Instant } else { Shape::Moment }, unit);
        }
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            return Typed::List(Box::new(of_arrow(item.data_type())));
        }
        DataType::Struct(fields) => {
            let of = |field: &Arc<arrow_schema::Field>| (field.name().as_str().into(), of_arrow(field.data_type()));
            return Typed::Map(fields.iter().map(of).collect());
        }
        _ => Shape::Any,
    };
    Typed::Plain(shape, TimeUnit::Microsecond)
}

fn operation(op: Operator, left: Typed, right: Typed) -> Typed {
    use Operator as O;
    let shape = match op {
        O::Power => Shape::Float,
        O::Add | O::Subtract | O::Multiply | O::Divide | O::Remainder => match (op, left, right) {
            (_, NULL, _) | (_, _, NULL) => Shape::Any,
            (O::Add, Typed::List(left), Typed::List(right)) => return Typed::List(Box::new(united(*left, *right))),
            // What is not known may be a list.
            (O::Add, Typed::List(item), other) | (O::Add, other, Typed::List(item)) => {
                let other = if matches!(other, Typed::Plain(Shape::Json, _)) { ANY } else { other };
                return Typed::List(Box::new(united(*item, other)));
            }
            (op, Typed::Plain(left, unit), Typed::Plain(right, other)) => match (op, left, right) {
                (_, Shape::Int, Shape::Int) => Shape::Int,
                (_, Shape::Int | Shape::Float, Shape::Int | Shape::Float) => Shape::Float,
                (O::Add, Shape::Text, Shape::Text | Shape::Int | Shape::Float | Shape::Bool)
                | (O::Add, Shape::Int | Shape::Float | Shape::Bool, Shape::Text) => Shape::Text,
                (O::Add | O::Subtract, temporal, Shape::Duration) if temporal.is_temporal() => {
                    return Typed::Plain(temporal, unit);
                }
                (O::Add, Shape::Duration, temporal) if temporal.is_temporal() => return Typed::Plain(temporal, other),
                (O::Multiply | O::Divide, Shape::Duration, Shape::Int | Shape::Float)
                | (O::Multiply, Shape::Int | Shape::Float, Shape::Duration) => Shape::Duration,
                _ => Shape::Any,
            },
            _ => Shape::Any,
        },
        _ => Shape::Bool,
    };
    Typed::Plain(shape, UNIT)
}
