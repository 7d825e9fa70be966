//! What a query becomes: clauses over rows whose variables are numbered slots.

use std::sync::{Arc, OnceLock};

use crate::functions::Function;
use crate::graph::Direction;
use crate::value::Value;

/// The position of a variable in a row.
pub(crate) type Slot = usize;

/// A query: branches of `UNION`, which have the same columns.
#[derive(Debug)]
pub(crate) struct Plan {
    pub branches: Vec<Branch>,
    /// Whether each `UNION` keeps duplicates.
    pub keeps_duplicates: bool,
    /// Names of the columns, in order.
    pub columns: Vec<String>,
    /// Width of a row.
    pub width: usize,
}

#[derive(Debug)]
pub(crate) struct Branch {
    pub clauses: Vec<Clause>,
    /// The slots of the columns. Empty for a subquery without `RETURN`.
    pub outputs: Vec<Slot>,
}

#[derive(Debug)]
pub(crate) enum Clause {
    Match { pattern: Pattern, optional: bool },
    Unwind { list: Expr, slot: Slot },
    Filter(Expr),
    Project(Projection),
}

/// `WITH` or `RETURN`.
#[derive(Debug)]
pub(crate) struct Projection {
    /// Computed in this order; with aggregates, these are the grouping keys.
    pub keys: Vec<(Slot, Expr)>,
    pub aggregates: Vec<Aggregate>,
    pub is_aggregating: bool,
    /// Computed from keys and aggregates.
    pub after: Vec<(Slot, Expr)>,
    /// Slots of the result.
    pub outputs: Vec<Slot>,
    /// Slots that sorted rows keep: the outputs, and what the condition after `WITH` reads.
    pub kept: Vec<Slot>,
    pub distinct: bool,
    pub order: Vec<(Expr, bool)>,
    pub skip: Option<Expr>,
    pub limit: Option<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Aggregation {
    CountRows,
    Count,
    Sum,
    Avg,
    Min,
    Max,
    Collect,
    StDev,
    StDevP,
    PercentileCont,
    PercentileDisc,
}

#[derive(Debug)]
pub(crate) struct Aggregate {
    pub slot: Slot,
    pub what: Aggregation,
    pub distinct: bool,
    pub arguments: Vec<Expr>,
}

/// The pattern of one `MATCH`, with its conditions.
#[derive(Debug, Default)]
pub(crate) struct Pattern {
    pub nodes: Vec<NodePattern>,
    pub relationships: Vec<RelationshipPattern>,
    pub paths: Vec<PathPattern>,
    pub conditions: Vec<Condition>,
    /// Slots that are bound by the pattern, for `OPTIONAL MATCH`.
    pub introduces: Vec<Slot>,
    /// A match may have a relationship several times, as in SQL/PGQ. In openCypher it has each once.
    pub repeats: bool,
    /// The order of evaluation, chosen when it is first run.
    pub steps: OnceLock<Vec<crate::matching::Step>>,
}

#[derive(Debug)]
pub(crate) struct NodePattern {
    pub slot: Slot,
    /// Bound by an earlier clause.
    pub is_bound: bool,
}

#[derive(Debug)]
pub(crate) struct RelationshipPattern {
    pub slot: Slot,
    pub is_bound: bool,
    /// Indices of nodes of the pattern, in the order of the text.
    pub left: usize,
    pub right: usize,
    /// From left to right.
    pub direction: Direction,
    pub types: Vec<Arc<str>>,
    /// Of a pattern of variable length: least and most.
    pub length: Option<(u64, u64)>,
    /// Properties that each relationship of a variable length must have.
    pub properties: Vec<(Arc<str>, Expr)>,
    /// `Some(all)`: a shortest path.
    pub shortest: Option<bool>,
    /// A single relationship written in a path pattern of variable length, whose value is a list.
    pub is_list: bool,
}

#[derive(Debug)]
pub(crate) struct PathPattern {
    pub slot: Slot,
    /// The first node.
    pub start: usize,
    /// Indices of relationships, in order.
    pub relationships: Vec<usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct Condition {
    pub expr: Arc<Expr>,
    /// Slots of the pattern that it reads.
    pub reads: Vec<Slot>,
    /// It cannot fail, so it may be evaluated before others.
    pub is_safe: bool,
}

/// A condition on labels.
#[derive(Debug, Clone)]
pub(crate) enum Labels {
    Any,
    Name(Arc<str>),
    Not(Box<Labels>),
    And(Vec<Labels>),
    Or(Vec<Labels>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Matches,
    In,
    StartsWith,
    EndsWith,
    Contains,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantifier {
    All,
    Any,
    None,
    Single,
}

#[derive(Debug)]
pub(crate) enum Expr {
    Const(Value),
    Slot(Slot),
    Parameter(Arc<str>),
    List(Vec<Expr>),
    Map(Vec<(Arc<str>, Expr)>),
    MapProjection {
        base: Box<Expr>,
        all: bool,
        entries: Vec<(Arc<str>, Expr)>,
        properties: Vec<Arc<str>>,
    },
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Plus(Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    Xor(Box<Expr>, Box<Expr>),
    /// `a < b <= c`: each operand is evaluated once.
    Chain(Vec<Expr>, Vec<Operator>),
    Binary(Operator, Box<Expr>, Box<Expr>),
    IsNull(Box<Expr>, bool),
    HasLabels(Box<Expr>, Labels),
    Property(Box<Expr>, Arc<str>),
    Index(Box<Expr>, Box<Expr>),
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    Call(Function, Vec<Expr>),
    Case {
        operand: Option<Box<Expr>>,
        arms: Vec<(Vec<Expr>, Expr)>,
        otherwise: Option<Box<Expr>>,
    },
    ListComprehension {
        slot: Slot,
        list: Box<Expr>,
        condition: Option<Box<Expr>>,
        result: Option<Box<Expr>>,
    },
    Reduce {
        accumulator: Slot,
        initial: Box<Expr>,
        slot: Slot,
        list: Box<Expr>,
        expr: Box<Expr>,
    },
    Quantified {
        quantifier: Quantifier,
        slot: Slot,
        list: Box<Expr>,
        condition: Box<Expr>,
    },
    /// Whether a pattern has a match.
    PatternExists(Box<Pattern>),
    PatternComprehension {
        pattern: Box<Pattern>,
        result: Box<Expr>,
    },
    Subquery(SubqueryKind, Box<Plan>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubqueryKind {
    Exists,
    Count,
    Collect,
}

impl Expr {
    /// Calls `each` with each expression directly inside, except for those of patterns and subqueries.
    pub(crate) fn each_child<'e>(&'e self, each: &mut dyn FnMut(&'e Expr)) {
        match self {
            Expr::Const(_) | Expr::Parameter(_) | Expr::Slot(_) | Expr::PatternExists(_) | Expr::Subquery(..) => {}
            Expr::List(all) | Expr::Call(_, all) | Expr::Chain(all, _) => all.iter().for_each(each),
            Expr::Map(entries) => entries.iter().for_each(|(_, one)| each(one)),
            Expr::MapProjection { base, entries, .. } => {
                each(base);
                entries.iter().for_each(|(_, one)| each(one));
            }
            Expr::Not(one)
            | Expr::Negate(one)
            | Expr::Plus(one)
            | Expr::IsNull(one, _)
            | Expr::HasLabels(one, _)
            | Expr::Property(one, _)
            | Expr::PatternComprehension { result: one, .. } => each(one),
            Expr::And(a, b) | Expr::Or(a, b) | Expr::Xor(a, b) | Expr::Binary(_, a, b) | Expr::Index(a, b) => {
                each(a);
                each(b);
            }
            Expr::Slice(base, from, to) => {
                each(base);
                from.iter().chain(to).for_each(|one| each(one));
            }
            Expr::Case { operand, arms, otherwise } => {
                operand.iter().chain(otherwise).for_each(|one| each(one));
                for (whens, then) in arms {
                    whens.iter().for_each(&mut *each);
                    each(then);
                }
            }
            Expr::ListComprehension { list, condition, result, .. } => {
                each(list);
                condition.iter().chain(result).for_each(|one| each(one));
            }
            Expr::Reduce { initial, list, expr, .. } => {
                each(initial);
                each(list);
                each(expr);
            }
            Expr::Quantified { list, condition, .. } => {
                each(list);
                each(condition);
            }
        }
    }

    /// Calls `found` with each slot that occurs, read or bound.
    pub(crate) fn each_slot(&self, found: &mut dyn FnMut(Slot)) {
        match self {
            Expr::Slot(slot) => found(*slot),
            Expr::PatternExists(pattern) | Expr::PatternComprehension { pattern, .. } => pattern.each_slot(found),
            Expr::Subquery(_, plan) => plan.each_slot(found),
            _ => {}
        }
        self.each_child(&mut |one| one.each_slot(found));
    }

    /// The slots that occur, without repetition.
    pub(crate) fn slots(&self) -> Vec<Slot> {
        let mut slots = Vec::new();
        self.each_slot(&mut |slot| slots.push(slot));
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// Whether evaluation can fail only because of the graph or an interruption, whatever the values are.
    pub(crate) fn is_safe(&self) -> bool {
        match self {
            Expr::Const(_) | Expr::Slot(_) => true,
            Expr::List(all) | Expr::Chain(all, _) => all.iter().all(Expr::is_safe),
            Expr::IsNull(one, _) => one.is_safe(),
            // Slots with a property or labels here are nodes or relationships, or null: those of patterns.
            Expr::Property(one, _) | Expr::HasLabels(one, _) => matches!(**one, Expr::Slot(_)),
            Expr::Binary(
                Operator::Equal
                | Operator::NotEqual
                | Operator::Less
                | Operator::LessEqual
                | Operator::Greater
                | Operator::GreaterEqual
                | Operator::StartsWith
                | Operator::EndsWith
                | Operator::Contains,
                a,
                b,
            ) => a.is_safe() && b.is_safe(),
            Expr::Binary(Operator::In, a, b) => {
                a.is_safe() && matches!(**b, Expr::List(_) | Expr::Const(Value::List(_))) && b.is_safe()
            }
            Expr::Not(one) => one.is_truth() && one.is_safe(),
            Expr::And(a, b) | Expr::Or(a, b) | Expr::Xor(a, b) => {
                a.is_truth() && b.is_truth() && a.is_safe() && b.is_safe()
            }
            _ => false,
        }
    }

    /// Whether the value is certainly a Boolean or null.
    fn is_truth(&self) -> bool {
        matches!(
            self,
            Expr::Const(Value::Bool(_) | Value::Null)
                | Expr::Chain(..)
                | Expr::IsNull(..)
                | Expr::HasLabels(..)
                | Expr::Not(_)
                | Expr::And(..)
                | Expr::Or(..)
                | Expr::Xor(..)
                | Expr::Binary(
                    Operator::Equal
                        | Operator::NotEqual
                        | Operator::Less
                        | Operator::LessEqual
                        | Operator::Greater
                        | Operator::GreaterEqual
                        | Operator::StartsWith
                        | Operator::EndsWith
                        | Operator::Contains
                        | Operator::In,
                    ..
                )
        )
    }
}

impl Pattern {
    /// Calls `found` with each slot that occurs, read or bound.
    pub(crate) fn each_slot(&self, found: &mut dyn FnMut(Slot)) {
        self.nodes.iter().for_each(|one| found(one.slot));
        for one in &self.relationships {
            found(one.slot);
            one.properties.iter().for_each(|(_, expr)| expr.each_slot(found));
        }
        self.paths.iter().for_each(|one| found(one.slot));
        self.conditions.iter().for_each(|one| one.expr.each_slot(found));
    }
}

impl Plan {
    fn each_slot(&self, found: &mut dyn FnMut(Slot)) {
        for clause in self.branches.iter().flat_map(|branch| &branch.clauses) {
            match clause {
                Clause::Match { pattern, .. } => pattern.each_slot(found),
                Clause::Unwind { list, .. } => list.each_slot(found),
                Clause::Filter(condition) => condition.each_slot(found),
                Clause::Project(projection) => {
                    let all = projection.keys.iter().chain(&projection.after).map(|(_, expr)| expr);
                    let all = all.chain(projection.order.iter().map(|(expr, _)| expr));
                    let all = all.chain(projection.skip.iter().chain(&projection.limit));
                    all.for_each(|expr| expr.each_slot(found));
                    projection.aggregates.iter().flat_map(|one| &one.arguments).for_each(|expr| expr.each_slot(found));
                }
            }
        }
    }
}
