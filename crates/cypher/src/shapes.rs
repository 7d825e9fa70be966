//! Types of columns before any row is read: from the expressions of a query and the tables of a graph.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};

use crate::columns::{Columns, Shape, both, shape_of};
use crate::functions::{Function, Returns};
use crate::plan::{Branch, Clause, Expr, Operator, Pattern, Slot, SubqueryKind};
use crate::query::Query;
use crate::tables::TableGraph;
use crate::value::Value;

/// A type, and the unit if it is one of times.
type Typed = (Shape, TimeUnit);

const UNIT: TimeUnit = TimeUnit::Nanosecond;

impl Query {
    /// The columns of a query of one `MATCH` and one `RETURN` without aggregates, as [`Query::of_graph_table`] gives it.
    ///
    /// What a query does not say, like the type of an item of a list, is text: [`Columns::batch`].
    pub fn column_types(&self, graph: &TableGraph<'_>, parameters: &BTreeMap<String, Value>) -> Columns {
        let mut shapes = Vec::new();
        if let [Branch { clauses, outputs }] = self.plan.branches.as_slice()
            && let [Clause::Match { pattern, .. }, Clause::Project(projection)] = clauses.as_slice()
        {
            let types = Types { graph, pattern, parameters };
            for slot in outputs {
                let expr = projection.keys.iter().find(|(own, _)| own == slot).map(|(_, expr)| expr);
                shapes.push(expr.map_or((Shape::Any, UNIT), |expr| types.of(expr)));
            }
        }
        shapes.resize(self.columns().len(), (Shape::Any, UNIT));
        Columns::new(self.columns(), shapes)
    }
}

struct Types<'t> {
    graph: &'t TableGraph<'t>,
    pattern: &'t Pattern,
    parameters: &'t BTreeMap<String, Value>,
}

impl Types<'_> {
    fn of(&self, expr: &Expr) -> Typed {
        let plain = |shape: Shape| (shape, UNIT);
        match expr {
            Expr::Const(value) => plain(shape_of(value)),
            Expr::Parameter(name) => plain(self.parameters.get(&**name).map_or(Shape::Any, shape_of)),
            Expr::Property(base, name) => match &**base {
                Expr::Slot(slot) => self.property(*slot, name),
                _ => plain(Shape::Any),
            },
            Expr::Slot(slot) => plain(if self.is_of_pattern(*slot) { Shape::Json } else { Shape::Any }),
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
            Expr::List(_)
            | Expr::Map(_)
            | Expr::MapProjection { .. }
            | Expr::ListComprehension { .. }
            | Expr::PatternComprehension { .. }
            | Expr::Subquery(SubqueryKind::Collect, _) => plain(Shape::Json),
            Expr::Negate(one) | Expr::Plus(one) => match self.of(one) {
                number @ (Shape::Int | Shape::Float | Shape::Plain, _) => number,
                (_, unit) => (Shape::Any, unit),
            },
            Expr::Binary(op, left, right) => (operation(*op, self.of(left).0, self.of(right).0), UNIT),
            Expr::Case { arms, otherwise, .. } => {
                self.all(arms.iter().map(|(_, then)| then).chain(otherwise.as_deref()))
            }
            Expr::Call(function, arguments) => self.call(*function, arguments),
            Expr::Index(..) | Expr::Slice(..) | Expr::Reduce { .. } => plain(Shape::Any),
        }
    }

    fn all<'e>(&self, all: impl Iterator<Item = &'e Expr>) -> Typed {
        all.fold((Shape::Empty, TimeUnit::Microsecond), |found, one| united(found, self.of(one)))
    }

    fn call(&self, function: Function, arguments: &[Expr]) -> Typed {
        use Function as F;
        let shape = match function {
            F::Coalesce => return self.all(arguments.iter()),
            F::NullIf | F::Abs => return self.all(arguments.iter().take(1)),
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
            _ => match function.returns() {
                Returns::Any => Shape::Any,
                Returns::Bool => Shape::Bool,
                Returns::Int => Shape::Int,
                Returns::Float => Shape::Float,
                Returns::Text => Shape::Text,
                Returns::List | Returns::Nodes | Returns::Relationships | Returns::Map | Returns::Node => Shape::Json,
                // Times of day with an offset, and durations.
                Returns::Temporal => Shape::Plain,
            },
        };
        (shape, UNIT)
    }

    fn is_of_pattern(&self, slot: Slot) -> bool {
        let pattern = self.pattern;
        pattern.nodes.iter().any(|node| node.slot == slot)
            || pattern.relationships.iter().any(|one| one.slot == slot)
            || pattern.paths.iter().any(|path| path.slot == slot)
    }

    /// A property of the node or relationship in a slot: the types that the tables have which it may be of.
    fn property(&self, slot: Slot, name: &Arc<str>) -> Typed {
        let labels = self.pattern.conditions.iter().filter_map(|condition| match &*condition.expr {
            Expr::HasLabels(base, labels) if matches!(**base, Expr::Slot(own) if own == slot) => Some(labels),
            _ => None,
        });
        let labels: Vec<_> = labels.collect();
        let relationship = self.pattern.relationships.iter().find(|one| one.slot == slot);
        if relationship.is_some_and(|one| one.length.is_some()) {
            return (Shape::Any, UNIT);
        }
        if relationship.is_none() && !self.pattern.nodes.iter().any(|node| node.slot == slot) {
            return (Shape::Any, UNIT);
        }
        let types = relationship.map(|one| one.types.as_slice());
        let mut found = (Shape::Empty, TimeUnit::Microsecond);
        self.graph.property_types(types, &labels, name, &mut |data_type| {
            found = united(found, data_type.map_or((Shape::Any, UNIT), typed));
        });
        found
    }
}

/// The type of values of either type.
fn united(left: Typed, right: Typed) -> Typed {
    let unit = if left.1 == UNIT || right.1 == UNIT { UNIT } else { left.1 };
    (both(left.0, right.0), unit)
}

/// The type of the values of a column.
fn typed(data_type: &DataType) -> Typed {
    let shape = match data_type {
        DataType::Null => Shape::Empty,
        DataType::Boolean => Shape::Bool,
        data_type if data_type.is_integer() => Shape::Int,
        data_type if data_type.is_floating() => Shape::Float,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Shape::Text,
        DataType::Dictionary(_, values) => return typed(values),
        DataType::Date32 | DataType::Date64 => Shape::Date,
        DataType::Time32(_) | DataType::Time64(_) => Shape::Time,
        DataType::Timestamp(unit, zone) => {
            let unit = if *unit == UNIT { UNIT } else { TimeUnit::Microsecond };
            return (if zone.is_some() { Shape::Instant } else { Shape::Moment }, unit);
        }
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) | DataType::Struct(_) => Shape::Json,
        _ => Shape::Any,
    };
    (shape, TimeUnit::Microsecond)
}

fn operation(op: Operator, left: Shape, right: Shape) -> Shape {
    use Operator as O;
    match (op, left, right) {
        (O::Power, ..) => Shape::Float,
        (O::Add | O::Subtract | O::Multiply | O::Divide | O::Remainder, Shape::Empty, _)
        | (O::Add | O::Subtract | O::Multiply | O::Divide | O::Remainder, _, Shape::Empty) => Shape::Any,
        (O::Add | O::Subtract | O::Multiply | O::Divide | O::Remainder, Shape::Int, Shape::Int) => Shape::Int,
        (
            O::Add | O::Subtract | O::Multiply | O::Divide | O::Remainder,
            Shape::Int | Shape::Float,
            Shape::Int | Shape::Float,
        ) => Shape::Float,
        (O::Add, Shape::Text, Shape::Text | Shape::Int | Shape::Float | Shape::Bool)
        | (O::Add, Shape::Int | Shape::Float | Shape::Bool, Shape::Text) => Shape::Text,
        (O::Add | O::Subtract | O::Multiply | O::Divide | O::Remainder, ..) => Shape::Any,
        _ => Shape::Bool,
    }
}
