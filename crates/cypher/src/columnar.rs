//! Patterns that are answered by going over tables once, batch by batch, instead of from node to node: one node, or one relationship
//! and its ends.
//!
//! What is read of the element that has the rows of a table (the relationship, or the only node) are properties, labels and types, so
//! nothing is kept of it beyond its batch. If nothing but a count is wanted, or only what one end has, matches are not given one by
//! one: a row stands for all matches that look alike, with their number.

use std::sync::Arc;

use crate::functions::Function;
use crate::graph::{Direction, PropertyGraph};
use crate::matching;
use crate::plan::{Aggregate, Aggregation, Branch, Clause, Expr, Labels, Pattern, Projection, Slot};

/// A branch whose pattern is answered so.
#[derive(Debug)]
pub(crate) struct Shape<'p> {
    pub pattern: &'p Pattern,
    /// The element of which each row of a table is one.
    pub element: Slot,
    /// Its properties that are read.
    pub names: Vec<&'p Arc<str>>,
    /// Whether its labels are read, if it is a node.
    pub reads_labels: bool,
    /// Whether clauses after the pattern read the element.
    pub reads_element: bool,
    /// Whether they read the left and the right node of a relationship.
    pub reads_ends: [bool; 2],
    /// Whether a row may stand for several matches.
    pub may_count: bool,
    /// The aggregates that follow the pattern, if there are no groups, and nothing is read but their arguments.
    pub sums: Option<&'p [Aggregate]>,
    /// The properties that clauses after the pattern read of the element, and of the left and the right node of a relationship, if they read nothing else.
    pub only: [Option<Vec<&'p Arc<str>>>; 3],
}

/// What an expression reads of an element.
#[derive(Default)]
pub(crate) struct Read<'p> {
    pub names: Vec<&'p Arc<str>>,
    pub labels: bool,
    any: bool,
}

impl<'p> Shape<'p> {
    /// The shape of a branch, if its pattern can be answered in this way, and no look-up answers it.
    pub(crate) fn of(branch: &'p Branch, graph: &dyn PropertyGraph) -> Option<Shape<'p>> {
        let (Clause::Match { pattern, optional: false }, rest) = branch.clauses.split_first()? else { return None };
        let element = element(pattern)?;
        let at = rest.iter().position(|clause| matches!(clause, Clause::Project(_)))?;
        let (before, after) = rest.split_at(at);
        let (Clause::Project(projection), after) = after.split_first()? else { return None };
        let mut read = Read::default();
        for condition in &pattern.conditions {
            may_read(&condition.expr, element, &mut read)?;
        }
        read.any = false;
        for clause in before {
            match clause {
                Clause::Unwind { list: expr, .. } | Clause::Filter(expr) => may_read(expr, element, &mut read)?,
                Clause::Match { .. } | Clause::Project(_) => return None,
            }
        }
        project(projection, element, &mut read)?;
        let mut later = read.any;
        // Later clauses see what the projection made.
        for clause in after {
            let mut none = Read::default();
            match clause {
                Clause::Unwind { list: expr, .. } | Clause::Filter(expr) => may_read(expr, element, &mut none)?,
                Clause::Project(later) => later.exprs().try_for_each(|expr| may_read(expr, element, &mut none))?,
                Clause::Match { .. } => return None,
            }
            // A condition after WITH sees the row from before, which is gone if rows were sorted or grouped.
            if none.any && (projection.is_aggregating || !projection.order.is_empty()) {
                return None;
            }
            later |= none.any;
            read.names.extend(none.names);
            read.labels |= none.labels;
        }
        if matching::begins_with_look_up(pattern, graph) {
            return None;
        }
        // Whether each expression of these clauses that may read a slot is one of those that `fits` is true for.
        let all = |slot: Slot, fits: &mut dyn FnMut(&'p Expr) -> bool| {
            rest.iter().all(|clause| match clause {
                Clause::Unwind { list: expr, .. } | Clause::Filter(expr) => fits(expr),
                Clause::Project(one) => {
                    let counted = |one: &&Aggregate| !is_count_of(one, slot);
                    let arguments = one.aggregates.iter().filter(counted).flat_map(|one| &one.arguments);
                    one.plain_exprs().chain(arguments).all(&mut *fits) && !one.kept.contains(&slot)
                }
                Clause::Match { .. } => false,
            })
        };
        let reads = |slot: Slot| !all(slot, &mut |expr| !expr.slots().contains(&slot));
        let only = |slot: Slot| {
            let mut names = Vec::new();
            all(slot, &mut |expr| only_properties(expr, slot, &mut names)).then_some(names)
        };
        let end = |at: usize| pattern.nodes.get(at).and_then(|node| only(node.slot));
        let reads_ends = match pattern.relationships.first() {
            Some(_) => [0, 1].map(|at| pattern.nodes.get(at).is_none_or(|node| reads(node.slot))),
            None => [false; 2],
        };
        read.names.sort_unstable();
        read.names.dedup();
        let may_count = before.is_empty()
            && projection.is_aggregating
            && projection.aggregates.iter().all(|one| one.distinct || is_weighable(one.what))
            && !projection.exprs().chain(pattern.conditions.iter().map(|one| &*one.expr)).any(is_random);
        let is_only = may_count && projection.keys.is_empty() && later_is_made(projection);
        Some(Shape {
            pattern,
            element,
            sums: is_only.then_some(projection.aggregates.as_slice()),
            names: read.names,
            reads_labels: read.labels,
            reads_element: later,
            reads_ends,
            may_count,
            only: [only(element), end(0), end(1)],
        })
    }
}

/// Whether what is computed of groups, and their order, read nothing but aggregates.
fn later_is_made(projection: &Projection) -> bool {
    let made =
        |slot: &Slot| projection.aggregates.iter().any(|one| one.slot == *slot) || projection.outputs.contains(slot);
    let later = projection.after.iter().map(|(_, expr)| expr).chain(projection.order.iter().map(|(expr, _)| expr));
    later.flat_map(Expr::slots).all(|slot| made(&slot))
}

/// The slot of the element that has the rows of tables.
fn element(pattern: &Pattern) -> Option<Slot> {
    if !pattern.paths.is_empty() || pattern.nodes.iter().any(|node| node.is_bound) {
        return None;
    }
    match (pattern.nodes.as_slice(), pattern.relationships.as_slice()) {
        ([node], []) => Some(node.slot),
        ([_, _], [one]) => {
            let is_plain = !one.is_bound && one.length.is_none() && one.shortest.is_none() && !one.is_list;
            (is_plain && (one.left, one.right) == (0, 1)).then_some(one.slot)
        }
        _ => None,
    }
}

/// Adds what `expr` reads of `element`; `None` if it needs more than properties, labels and the type.
pub(crate) fn may_read<'p>(expr: &'p Expr, element: Slot, read: &mut Read<'p>) -> Option<()> {
    let is_element = |expr: &Expr| matches!(expr, Expr::Slot(slot) if *slot == element);
    match expr {
        Expr::Slot(slot) => return (*slot != element).then_some(()),
        Expr::PatternExists(_) | Expr::PatternComprehension { .. } | Expr::Subquery(..) => return None,
        Expr::Property(base, name) if is_element(base) => {
            read.names.push(name);
            read.any = true;
            return Some(());
        }
        Expr::HasLabels(base, _) if is_element(base) => (read.labels, read.any) = (true, true),
        Expr::IsNull(base, _) if is_element(base) => {}
        Expr::Call(Function::Labels, arguments) if arguments.iter().all(is_element) => {
            (read.labels, read.any) = (true, true);
        }
        Expr::Call(Function::Type, arguments) if arguments.iter().all(is_element) => read.any = true,
        _ => {
            let mut fits = Some(());
            expr.each_child(&mut |one| {
                if fits.is_some() {
                    fits = may_read(one, element, read);
                }
            });
            return fits;
        }
    }
    Some(())
}

/// Whether an expression reads nothing of the element in `slot` but properties, whose names are added.
pub(crate) fn only_properties<'p>(expr: &'p Expr, slot: Slot, names: &mut Vec<&'p Arc<str>>) -> bool {
    match expr {
        Expr::Slot(own) => *own != slot,
        Expr::Property(base, name) if matches!(**base, Expr::Slot(own) if own == slot) => {
            if !names.contains(&name) {
                names.push(name);
            }
            true
        }
        Expr::PatternExists(_) | Expr::PatternComprehension { .. } | Expr::Subquery(..) => {
            !expr.slots().contains(&slot)
        }
        _ => {
            let mut fits = true;
            expr.each_child(&mut |one| fits = fits && only_properties(one, slot, names));
            fits
        }
    }
}

/// The same for the projection that follows the pattern.
fn project<'p>(projection: &'p Projection, element: Slot, read: &mut Read<'p>) -> Option<()> {
    projection.keys.iter().try_for_each(|(_, expr)| may_read(expr, element, read))?;
    for one in &projection.aggregates {
        if !is_count_of(one, element) {
            one.arguments.iter().try_for_each(|expr| may_read(expr, element, read))?;
        }
    }
    let mut late = Read::default();
    projection.after.iter().try_for_each(|(_, expr)| may_read(expr, element, &mut late))?;
    projection.order.iter().try_for_each(|(expr, _)| may_read(expr, element, &mut late))?;
    // What is computed of groups has no row to read from.
    if (projection.is_aggregating && late.any) || projection.kept.contains(&element) {
        return None;
    }
    read.names.append(&mut late.names);
    read.labels |= late.labels;
    read.any |= late.any;
    Some(())
}

/// Whether an aggregate counts how often a slot is bound.
pub(crate) fn is_count_of(one: &Aggregate, slot: Slot) -> bool {
    one.what == Aggregation::Count
        && !one.distinct
        && matches!(one.arguments.as_slice(), [Expr::Slot(own)] if *own == slot)
}

/// Whether equal values of an aggregate can be added at once.
pub(crate) fn is_weighable(what: Aggregation) -> bool {
    matches!(what, Aggregation::CountRows | Aggregation::Count | Aggregation::Sum | Aggregation::Min | Aggregation::Max)
}

/// Whether an expression has another value each time.
pub(crate) fn is_random(expr: &Expr) -> bool {
    let mut found = matches!(expr, Expr::Call(Function::Rand, _));
    expr.each_child(&mut |one| found |= is_random(one));
    found
}

/// What is known of a condition on labels for all nodes of a type.
pub(crate) fn holds_for_type(labels: &Labels, type_name: &str, has_labels: bool) -> Option<bool> {
    let all = |list: &[Labels], stops: bool| {
        let mut known = Some(!stops);
        for one in list {
            match holds_for_type(one, type_name, has_labels) {
                Some(truth) if truth == stops => return Some(stops),
                Some(_) => {}
                None => known = None,
            }
        }
        known
    };
    match labels {
        // Each node has its type.
        Labels::Any => Some(true),
        Labels::Name(name) if **name == *type_name => Some(true),
        Labels::Name(_) => (!has_labels).then_some(false),
        Labels::Not(one) => holds_for_type(one, type_name, has_labels).map(|truth| !truth),
        Labels::And(list) => all(list, false),
        Labels::Or(list) => all(list, true),
    }
}

/// The ways in which an edge of a table is met: as it is stored, and from its target.
pub(crate) fn ways(direction: Direction, may_be_undirected: bool) -> (bool, bool) {
    match direction {
        Direction::Out => (true, may_be_undirected),
        Direction::In => (may_be_undirected, true),
        Direction::Both => (true, true),
    }
}

impl Projection {
    /// All expressions.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &Expr> {
        self.plain_exprs().chain(self.aggregates.iter().flat_map(|one| &one.arguments))
    }

    /// All expressions but the arguments of aggregates.
    pub(crate) fn plain_exprs(&self) -> impl Iterator<Item = &Expr> {
        let named = self.keys.iter().chain(&self.after).map(|(_, expr)| expr);
        named.chain(self.order.iter().map(|(expr, _)| expr)).chain(self.skip.iter().chain(&self.limit))
    }
}
