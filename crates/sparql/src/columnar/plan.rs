//! The plan of a query: its algebra, with variables and terms as numbers.

use spargebra::algebra::{AggregateFunction, Expression};

use super::table::{Table, Var, Vars, only};

/// A position of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    Var(Var),
    /// A term. It has a number even if the graph does not have it: then it matches nothing.
    Term(u32),
}

impl Slot {
    pub fn vars(self) -> Vars {
        match self {
            Slot::Var(var) => only(var),
            Slot::Term(_) => 0,
        }
    }
}

/// What must match.
#[derive(Debug, Clone)]
pub(super) enum Atom {
    Triple([Slot; 3]),
    Path(Slot, Path, Slot),
}

impl Atom {
    pub fn vars(&self) -> Vars {
        match self {
            Atom::Triple(slots) => slots.iter().fold(0, |set, slot| set | slot.vars()),
            Atom::Path(subject, _, object) => subject.vars() | object.vars(),
        }
    }
}

/// A property path that is not just a join of triples.
#[derive(Debug, Clone)]
pub(super) enum Path {
    One(u32),
    Reverse(Box<Path>),
    Sequence(Box<Path>, Box<Path>),
    Alternative(Box<Path>, Box<Path>),
    /// `+`: many; `?`: zero; `*`: both.
    Repeated {
        path: Box<Path>,
        zero: bool,
        many: bool,
    },
}

/// A value for each solution.
#[derive(Debug, Clone)]
pub(super) enum Scalar {
    Var(Var),
    Term(u32),
    Computed(Computed),
}

impl Scalar {
    pub fn vars(&self) -> Vars {
        match self {
            Scalar::Var(var) => only(*var),
            Scalar::Term(_) => 0,
            Scalar::Computed(computed) => computed.vars(),
        }
    }
}

/// An expression that is computed once for each distinct tuple of its variables.
#[derive(Debug, Clone)]
pub(super) struct Computed {
    pub expression: Expression,
    /// Its variables, and their names in it.
    pub inputs: Vec<(Var, oxrdf::Variable)>,
    /// The number of its memory of results.
    pub memo: usize,
}

impl Computed {
    pub fn vars(&self) -> Vars {
        self.inputs.iter().fold(0, |set, (var, _)| set | only(*var))
    }
}

/// Whether a solution is kept: yes, no, or an error.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    And(Vec<Condition>),
    Or(Vec<Condition>),
    Not(Box<Condition>),
    Bound(Var),
    Exists(Box<Node>),
    /// The effective boolean value, as a term: `true`, `false`, or none.
    Value(Computed),
}

impl Condition {
    pub fn vars(&self) -> Vars {
        match self {
            Condition::And(all) | Condition::Or(all) => all.iter().fold(0, |set, one| set | one.vars()),
            Condition::Not(inner) => inner.vars(),
            Condition::Bound(var) => only(*var),
            Condition::Exists(node) => node.vars(),
            Condition::Value(computed) => computed.vars(),
        }
    }

    pub fn has_pattern(&self) -> bool {
        match self {
            Condition::And(all) | Condition::Or(all) => all.iter().any(Condition::has_pattern),
            Condition::Not(inner) => inner.has_pattern(),
            Condition::Exists(_) => true,
            Condition::Bound(_) | Condition::Value(_) => false,
        }
    }
}

/// What is computed of a group.
#[derive(Debug, Clone)]
pub(super) enum Aggregate {
    /// `COUNT(*)`.
    Rows,
    /// `COUNT(?x)`.
    Bound { var: Var, distinct: bool },
    /// Others, of an expression.
    Of { function: AggregateFunction, distinct: bool, of: Scalar },
}

impl Aggregate {
    pub fn vars(&self) -> Vars {
        match self {
            Aggregate::Rows => 0,
            Aggregate::Bound { var, .. } => only(*var),
            Aggregate::Of { of, .. } => of.vars(),
        }
    }
}

/// A key of ORDER BY.
#[derive(Debug, Clone)]
pub(super) struct SortKey {
    pub of: Scalar,
    pub descending: bool,
}

/// An operator.
#[derive(Debug, Clone)]
pub(super) enum Node {
    /// Patterns that must all match, and conditions on what they bind.
    Match {
        atoms: Vec<Atom>,
        filters: Vec<Condition>,
    },
    Values(Table),
    Join(Box<Node>, Box<Node>),
    LeftJoin(Box<Node>, Box<Node>, Option<Condition>),
    Minus(Box<Node>, Box<Node>),
    Union(Box<Node>, Box<Node>),
    Filter(Condition, Box<Node>),
    Extend(Box<Node>, Var, Scalar),
    Project(Box<Node>, Vars),
    Distinct(Box<Node>),
    /// Repeated solutions that follow one another are one.
    Reduced(Box<Node>),
    Slice {
        inner: Box<Node>,
        start: usize,
        length: Option<usize>,
    },
    Order {
        inner: Box<Node>,
        keys: Vec<SortKey>,
    },
    Group {
        inner: Box<Node>,
        keys: Vec<Var>,
        aggregates: Vec<(Var, Aggregate)>,
    },
}

impl Node {
    /// The variables that may have values.
    pub fn vars(&self) -> Vars {
        match self {
            Node::Match { atoms, .. } => atoms.iter().fold(0, |set, atom| set | atom.vars()),
            Node::Values(table) => table.set(),
            Node::Join(left, right) | Node::LeftJoin(left, right, _) | Node::Union(left, right) => {
                left.vars() | right.vars()
            }
            Node::Minus(left, _) => left.vars(),
            Node::Filter(_, inner)
            | Node::Distinct(inner)
            | Node::Reduced(inner)
            | Node::Slice { inner, .. }
            | Node::Order { inner, .. } => inner.vars(),
            Node::Extend(inner, var, _) => inner.vars() | only(*var),
            Node::Project(inner, vars) => inner.vars() & vars,
            Node::Group { keys, aggregates, .. } => {
                let keys = keys.iter().fold(0, |set, var| set | only(*var));
                aggregates.iter().fold(keys, |set, (var, _)| set | only(*var))
            }
        }
    }

    /// The variables that have a value in every solution.
    pub fn certain(&self) -> Vars {
        match self {
            Node::Match { .. } => self.vars(),
            Node::Values(table) => {
                let bound = table.vars.iter().zip(&table.columns).filter(|(_, column)| !column.contains(&0));
                bound.fold(0, |set, (var, _)| set | only(*var))
            }
            Node::Join(left, right) => left.certain() | right.certain(),
            Node::Union(left, right) => left.certain() & right.certain(),
            Node::LeftJoin(left, ..) | Node::Minus(left, _) => left.certain(),
            Node::Filter(_, inner)
            | Node::Extend(inner, ..)
            | Node::Distinct(inner)
            | Node::Reduced(inner)
            | Node::Slice { inner, .. }
            | Node::Order { inner, .. } => inner.certain(),
            Node::Project(inner, vars) => inner.certain() & vars,
            Node::Group { inner, keys, .. } => {
                let certain = inner.certain();
                keys.iter().fold(0, |set, var| set | only(*var)) & certain
            }
        }
    }

    /// Whether joining some solutions with this node is the same as evaluating it for each of them.
    pub fn takes_input(&self) -> bool {
        match self {
            Node::Match { .. } => true,
            Node::Join(left, right) | Node::Union(left, right) => left.takes_input() && right.takes_input(),
            Node::Filter(condition, inner) => inner.takes_input() && condition.vars() & !inner.certain() == 0,
            _ => false,
        }
    }
}

/// A query.
#[derive(Debug)]
pub(super) struct Plan {
    pub root: Node,
    /// The selected variables, and their names.
    pub answer: Vec<(Var, oxrdf::Variable)>,
    pub is_ask: bool,
    /// The number of memories of results.
    pub memos: usize,
    /// Whether an operator may find values that only the evaluator of rows can compare.
    pub compares: bool,
}
