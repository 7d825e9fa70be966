//! Where a plan is cut.

use std::collections::{BTreeMap, BTreeSet};

use crate::columnar::{Read, is_count_of, is_random, may_read};
use crate::functions::Function;
use crate::plan::{Aggregate, Aggregation, Branch, Clause, Expr, Pattern, Plan, Projection, Slot};

/// The place where a plan is cut: what comes before is done for each part, what follows once.
#[derive(Debug)]
pub(crate) struct Cut<'p> {
    /// The number of clauses that are done for each part.
    pub at: usize,
    /// The clause after them, which needs all rows; nothing if no clause does.
    pub projection: Option<&'p Projection>,
    /// What travels of a row, unless it is grouped. The last ones are what rows are ordered by.
    pub slots: Vec<Slot>,
    /// The width of a row: behind its variables it has what rows are ordered by.
    pub width: usize,
}

impl<'p> Cut<'p> {
    /// The cut of a plan that can be divided, as far as the plan says.
    pub(crate) fn of(plan: &'p Plan) -> Option<Cut<'p>> {
        let [branch] = plan.branches.as_slice() else { return None };
        if !matches!(branch.clauses.first(), Some(Clause::Match { optional: false, .. })) {
            return None;
        }
        if branch.clauses.iter().flat_map(exprs).any(is_of_one_process) {
            return None;
        }
        let at = branch.clauses.iter().position(needs_all).unwrap_or(branch.clauses.len());
        let (before, rest) = branch.clauses.split_at(at);
        let after = rest.get(1..).unwrap_or_default();
        let projection = match rest.first() {
            Some(Clause::Project(projection)) => Some(projection),
            _ => None,
        };
        let keys = projection.filter(|one| !one.is_aggregating).map_or(0, |one| one.order.len());
        let own = projection.map_or(&branch.outputs, |one| &one.kept);
        let cut = Cut {
            at,
            projection,
            slots: own.iter().copied().chain(plan.width..plan.width + keys).collect(),
            width: plan.width + keys,
        };
        (cut.fits(before, after) && no_relationship_travels(branch, &cut) && cut.orders_alike(before)).then_some(cut)
    }

    /// Whether groups travel, and not rows.
    pub(crate) fn is_grouped(&self) -> bool {
        self.projection.is_some_and(|one| one.is_aggregating)
    }

    /// Whether parts choose the first rows, the least and the greatest values in one order: that of nodes is another one in each process.
    fn orders_alike(&self, before: &[Clause]) -> bool {
        let Some(projection) = self.projection else { return true };
        let mut nodes = Nodes::new();
        for clause in before {
            match clause {
                Clause::Match { pattern, .. } => nodes.extend(pattern.nodes.iter().map(|node| (node.slot, true))),
                Clause::Unwind { list, slot } if has_node(list, &nodes) => {
                    nodes.insert(*slot, false);
                }
                Clause::Project(one) => add_made(one, &mut nodes),
                Clause::Unwind { .. } | Clause::Filter(_) => {}
            }
        }
        let chooses = |one: &Aggregate| matches!(one.what, Aggregation::Min | Aggregation::Max);
        let mut chosen = projection.aggregates.iter().filter(|one| chooses(one)).flat_map(|one| &one.arguments);
        if chosen.any(|expr| has_node(expr, &nodes)) {
            return false;
        }
        add_made(projection, &mut nodes);
        // Groups are ordered when all are there.
        projection.is_aggregating || !projection.order.iter().any(|(expr, _)| has_node(expr, &nodes))
    }

    /// Whether what follows reads nothing but what travels.
    fn fits(&self, before: &[Clause], after: &[Clause]) -> bool {
        let mut gone = BTreeSet::new();
        before.iter().for_each(|clause| {
            bound(clause, &mut |slot| {
                gone.insert(slot);
            })
        });
        let made = self.projection.into_iter().flat_map(|one| &one.keys);
        gone.extend(made.map(|(slot, _)| *slot));
        for slot in &self.slots {
            gone.remove(slot);
        }
        after.iter().all(|clause| {
            let kept = match clause {
                Clause::Match { .. } => return false,
                Clause::Project(one) => one.kept.iter().chain(&one.outputs).any(|slot| gone.contains(slot)),
                Clause::Unwind { .. } | Clause::Filter(_) => false,
            };
            !kept && exprs(clause).all(|expr| !expr.slots().iter().any(|slot| gone.contains(slot)))
        })
    }
}

/// Slots whose values may have nodes inside, with whether they are nodes.
type Nodes = BTreeMap<Slot, bool>;

/// Adds those of a projection.
fn add_made(projection: &Projection, nodes: &mut Nodes) {
    for (slot, expr) in &projection.keys {
        if has_node(expr, nodes) {
            let is_node = matches!(expr, Expr::Slot(own) if nodes.get(own) == Some(&true));
            nodes.insert(*slot, is_node);
        }
    }
}

/// Whether a value may be a node or have one inside.
fn has_node(expr: &Expr, nodes: &Nodes) -> bool {
    match expr {
        Expr::Slot(slot) => nodes.contains_key(slot),
        Expr::HasLabels(..) | Expr::IsNull(..) | Expr::Call(Function::ElementId | Function::Labels, _) => false,
        // Properties of nodes are no nodes; values of maps may be.
        Expr::Property(base, _) if matches!(**base, Expr::Slot(slot) if nodes.get(&slot) == Some(&true)) => false,
        _ => {
            let mut found = false;
            expr.each_child(&mut |one| found = found || has_node(one, nodes));
            found
        }
    }
}

/// Whether a clause needs all rows.
fn needs_all(clause: &Clause) -> bool {
    let Clause::Project(one) = clause else { return false };
    one.is_aggregating || one.distinct || !one.order.is_empty() || one.skip.is_some() || one.limit.is_some()
}

/// All expressions of a clause.
fn exprs(clause: &Clause) -> Box<dyn Iterator<Item = &Expr> + '_> {
    match clause {
        Clause::Match { pattern, .. } => {
            let properties = pattern.relationships.iter().flat_map(|one| &one.properties).map(|(_, expr)| expr);
            Box::new(properties.chain(pattern.conditions.iter().map(|one| &*one.expr)))
        }
        Clause::Unwind { list: expr, .. } | Clause::Filter(expr) => Box::new(std::iter::once(expr)),
        Clause::Project(one) => Box::new(one.exprs()),
    }
}

/// Whether a value differs between processes, or is found in the graph: a random number, a number of a node, a pattern in an expression.
fn is_of_one_process(expr: &Expr) -> bool {
    let is_own = matches!(
        expr,
        Expr::PatternExists(_) | Expr::PatternComprehension { .. } | Expr::Subquery(..) | Expr::Call(Function::Id, _)
    );
    let mut found = is_own || is_random(expr);
    expr.each_child(&mut |one| found = found || is_of_one_process(one));
    found
}

/// Calls `each` with the slots that a clause binds, and perhaps others.
fn bound(clause: &Clause, each: &mut dyn FnMut(Slot)) {
    match clause {
        Clause::Match { pattern, .. } => pattern.each_slot(each),
        Clause::Unwind { slot, .. } => each(*slot),
        Clause::Filter(_) => {}
        Clause::Project(one) => {
            one.keys.iter().chain(&one.after).for_each(|(slot, _)| each(*slot));
            one.aggregates.iter().for_each(|one| each(one.slot));
        }
    }
}

/// Whether of relationships and paths nothing is read but properties and types: they have numbers that only their process knows.
fn no_relationship_travels(branch: &Branch, cut: &Cut<'_>) -> bool {
    let patterns = branch.clauses.iter().filter_map(|clause| match clause {
        Clause::Match { pattern, .. } => Some(pattern),
        _ => None,
    });
    let slots: Vec<Slot> = patterns.flat_map(elements).collect();
    let is_plain = |expr: &Expr| slots.iter().all(|slot| may_read(expr, *slot, &mut Read::default()).is_some());
    let is_read = |clause: &Clause| match clause {
        Clause::Project(one) => {
            let counted = |aggregate: &&Aggregate| !slots.iter().any(|slot| is_count_of(aggregate, *slot));
            let arguments = one.aggregates.iter().filter(counted).flat_map(|one| &one.arguments);
            let passed = one.kept.iter().chain(&one.outputs).any(|slot| slots.contains(slot));
            !passed && one.plain_exprs().chain(arguments).all(is_plain)
        }
        clause => exprs(clause).all(is_plain),
    };
    !cut.slots.iter().any(|slot| slots.contains(slot)) && branch.clauses.iter().all(is_read)
}

/// The slots of relationships and paths.
fn elements(pattern: &Pattern) -> impl Iterator<Item = Slot> {
    pattern.relationships.iter().map(|one| one.slot).chain(pattern.paths.iter().map(|one| one.slot))
}
