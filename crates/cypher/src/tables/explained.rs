//! How a query is answered, and what that reads of which table.
//!
//! Nothing is run to find out: which tables a pattern may read follows from its labels and types, which columns from what the branch says of its variables.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use arrow_array::NullArray;
use isomorph::dataset::{Explanation, PlannedRead, Scan};

use super::{First, TableGraph};
use crate::columnar::{holds_for_type, is_count_of, only_properties, ways};
use crate::exec::Context;
use crate::fault::{Fault, Result};
use crate::graph::Direction;
use crate::matching;
use crate::plan::{Branch, Clause, Expr, Labels, Pattern, Projection, RelationshipPattern, Slot};
use crate::query::{Options, Query};
use crate::value::Value;

/// More keys are not told apart from all.
const MOST_KEYS: u64 = 1 << 40;

/// How a pattern is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Pass,
    Search,
    LookUp,
    NodeByNode,
}

impl Way {
    fn words(self) -> &'static str {
        match self {
            Way::Pass => "one pass over the tables",
            Way::Search => "search over lists of neighbours",
            Way::LookUp => "look-up of a node by its key, then from node to node",
            Way::NodeByNode => "from node to node",
        }
    }
}

/// What a branch reads of an element.
enum Wanted<'p> {
    All,
    Properties(Vec<&'p Arc<str>>),
}

impl Wanted<'_> {
    fn is_nothing(&self) -> bool {
        matches!(self, Wanted::Properties(names) if names.is_empty())
    }
}

impl Query {
    /// How the query is answered over this graph, and what that reads, with the bytes that it takes. The query is not run.
    ///
    /// # Errors
    /// If metadata of the graph cannot be read.
    pub fn explain(&self, graph: &TableGraph<'_>, options: &Options) -> Result<Explanation> {
        let cx = self.context(graph, options)?;
        let mut explained = Explanation::default();
        let mut lines = Vec::new();
        for branch in &self.plan.branches {
            if !lines.is_empty() {
                lines.push(if self.plan.keeps_duplicates { "union all" } else { "union" }.to_owned());
            }
            for (at, clause) in branch.clauses.iter().enumerate() {
                match clause {
                    Clause::Match { pattern, optional } => {
                        let way = self.way(branch, at, pattern, &cx, options);
                        let word = if *optional { "optional match" } else { "match" };
                        lines.push(format!("{word} {}: {}", spelled(pattern), way.words()));
                        explained.add(graph.reads(branch, pattern, way).map_err(Fault::Other)?);
                    }
                    Clause::Unwind { .. } => lines.push("unwind".to_owned()),
                    Clause::Filter(_) => lines.push("filter".to_owned()),
                    Clause::Project(projection) => lines.push(projected(projection)),
                }
            }
        }
        explained.plans.push(("plan".to_owned(), lines.join("\n")));
        Ok(explained)
    }

    fn way(&self, branch: &Branch, at: usize, pattern: &Pattern, cx: &Context<'_>, options: &Options) -> Way {
        let start = vec![Value::Null; self.plan.width];
        let first = (at == 0 && !options.node_by_node).then(|| First::of(branch, &start, cx)).flatten();
        match first {
            Some(First::Pass(_)) => Way::Pass,
            Some(First::Expansion(_)) => Way::Search,
            None if matching::begins_with_look_up(pattern, cx.graph) => Way::LookUp,
            None => Way::NodeByNode,
        }
    }
}

impl TableGraph<'_> {
    /// What the tables are read for that a pattern may match.
    fn reads(&self, branch: &Branch, pattern: &Pattern, way: Way) -> isomorph::Result<Vec<PlannedRead>> {
        let mut candidates: Vec<Vec<usize>> =
            pattern.nodes.iter().map(|node| self.candidates(pattern, node.slot)).collect();
        // What a relationship does not reach is no candidate, and then its neighbours may be fewer, too.
        for one in pattern.relationships.iter().chain(&pattern.relationships) {
            self.narrow(one, &mut candidates);
        }
        let mut reads = Vec::new();
        let looks_up = way == Way::LookUp;
        for (node, tables) in pattern.nodes.iter().zip(&candidates).filter(|(node, _)| !node.is_bound) {
            // A look-up reads all of the node that it finds.
            let wanted = if looks_up { Wanted::All } else { wanted(branch, node.slot) };
            // Of nodes that nothing is read of, a pass needs no keys.
            let is_end = way == Way::Pass && !pattern.relationships.is_empty();
            if is_end && wanted.is_nothing() {
                continue;
            }
            for table in tables {
                let Some(table) = self.nodes.get(*table) else { continue };
                let table = table.borrow();
                let mut columns = match &wanted {
                    Wanted::All => table.declared().iter().map(|(name, _)| name.clone()).collect(),
                    Wanted::Properties(names) => table.element(names, false).columns,
                };
                let key = table.key_column().to_owned();
                if !columns.contains(&key) && (way != Way::Pass || is_end || columns.is_empty()) {
                    columns.insert(0, key.clone());
                }
                let mut scan = self.scans.dataset.scan(table.table_name())?.columns(columns);
                if looks_up {
                    scan = scan.look_up(key, Arc::new(NullArray::new(1)));
                }
                add(&mut reads, &scan)?;
            }
        }
        let mut keys = 1_u64;
        for one in &pattern.relationships {
            let mut found = 0;
            for (at, table) in self.edges.iter().enumerate() {
                let table = table.borrow();
                if !table.may_have(&one.types) || !self.connects(at, one, &candidates) {
                    continue;
                }
                let wanted = wanted(branch, one.slot);
                let properties: Vec<String> = match &wanted {
                    Wanted::All => table.declared().iter().map(|(name, _)| name.clone()).collect(),
                    Wanted::Properties(names) => table.element(names).columns,
                };
                let (source, target) = table.end_columns();
                let is_read = |node: usize| {
                    way != Way::Pass
                        || pattern.nodes.get(node).is_some_and(|node| !self::wanted(branch, node.slot).is_nothing())
                };
                let (left, right) = match one.direction {
                    Direction::In => (target, source),
                    Direction::Out | Direction::Both => (source, target),
                };
                let ends = [(left, is_read(one.left)), (right, is_read(one.right))];
                let ends = ends.into_iter().filter(|(_, is_read)| *is_read).map(|(name, _)| name.to_owned());
                let columns: Vec<String> = ends.chain(properties).collect();
                // What is only counted is known, if nothing else is asked of it.
                if columns.is_empty() {
                    continue;
                }
                let mut scan = self.scans.dataset.scan(table.table_name())?.columns(columns);
                if looks_up && !table.passes(one.direction, &self.scans)? {
                    let most = usize::try_from(keys.min(MOST_KEYS)).unwrap_or(usize::MAX);
                    scan = scan.look_up(left, Arc::new(NullArray::new(most)));
                }
                add(&mut reads, &scan)?;
                let nodes = self.nodes.get(table.node_tables().0).map_or(1, |nodes| nodes.borrow().estimate());
                let rows = self.scans.dataset.table(table.table_name())?.rows().unwrap_or(nodes);
                found += keys.saturating_mul(rows.div_ceil(nodes.max(1)).max(1));
            }
            keys = found.max(1);
        }
        Ok(reads)
    }

    /// The tables of nodes that a slot of a pattern may be bound to.
    fn candidates(&self, pattern: &Pattern, slot: Slot) -> Vec<usize> {
        let fits = |at: &usize| {
            let Some(table) = self.nodes.get(*at) else { return false };
            let table = table.borrow();
            pattern.conditions.iter().all(|condition| match &*condition.expr {
                Expr::HasLabels(base, labels) if matches!(**base, Expr::Slot(own) if own == slot) => {
                    holds_for_type(labels, table.name(), table.has_labels()) != Some(false)
                }
                _ => true,
            })
        };
        (0..self.nodes.len()).filter(fits).collect()
    }

    /// Leaves out tables of nodes that have no edges of a relationship.
    fn narrow(&self, one: &RelationshipPattern, candidates: &mut [Vec<usize>]) {
        if one.length.is_some() {
            return;
        }
        let tables = self.edges.iter().enumerate().filter(|(_, table)| table.borrow().may_have(&one.types));
        let tables: Vec<usize> =
            tables.map(|(at, _)| at).filter(|table| self.connects(*table, one, candidates)).collect();
        let (mut of_left, mut of_right) = (Vec::new(), Vec::new());
        for table in tables.iter().filter_map(|table| self.edges.get(*table)).map(RefCell::borrow) {
            let (source, target) = table.node_tables();
            let (forward, backward) = ways(one.direction, table.may_be_undirected());
            let met = [(forward, source, target), (backward, target, source)];
            for (_, left, right) in met.into_iter().filter(|(is_met, ..)| *is_met) {
                of_left.push(left);
                of_right.push(right);
            }
        }
        for (node, ends) in [(one.left, of_left), (one.right, of_right)] {
            if let Some(own) = candidates.get_mut(node) {
                own.retain(|table| ends.contains(table));
            }
        }
    }

    /// Whether edges of a table may lie between the nodes of a relationship.
    fn connects(&self, table: usize, one: &RelationshipPattern, candidates: &[Vec<usize>]) -> bool {
        let Some(table) = self.edges.get(table) else { return false };
        let (source, target) = table.borrow().node_tables();
        let may_be = |node: usize, table: usize| candidates.get(node).is_none_or(|tables| tables.contains(&table));
        // Walks go over nodes that are not in the pattern.
        one.length.is_some()
            || may_be(one.left, source) && may_be(one.right, target)
            || may_be(one.left, target) && may_be(one.right, source)
    }
}

fn add(reads: &mut Vec<PlannedRead>, scan: &Scan<'_>) -> isomorph::Result<()> {
    for read in scan.planned_reads()? {
        if !reads.contains(&read) {
            reads.push(read);
        }
    }
    Ok(())
}

/// What a branch reads of the element in a slot.
fn wanted<'b>(branch: &'b Branch, slot: Slot) -> Wanted<'b> {
    let mut names = Vec::new();
    let is_label = |expr: &Expr| matches!(expr, Expr::HasLabels(base, _) if matches!(**base, Expr::Slot(_)));
    let mut fits = |expr: &'b Expr| is_label(expr) || only_properties(expr, slot, &mut names);
    let all = branch.clauses.iter().all(|clause| match clause {
        Clause::Match { pattern, .. } => {
            pattern.conditions.iter().all(|one| fits(&one.expr))
                && pattern.relationships.iter().flat_map(|one| &one.properties).all(|(_, expr)| fits(expr))
        }
        Clause::Unwind { list: expr, .. } | Clause::Filter(expr) => fits(expr),
        Clause::Project(one) => {
            let arguments = one.aggregates.iter().filter(|own| !is_count_of(own, slot)).flat_map(|own| &own.arguments);
            one.plain_exprs().chain(arguments).all(&mut fits)
        }
    });
    for clause in &branch.clauses {
        let Clause::Match { pattern, .. } = clause else { continue };
        let own = pattern.relationships.iter().filter(|one| one.slot == slot);
        for (name, _) in own.flat_map(|one| &one.properties) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    if all { Wanted::Properties(names) } else { Wanted::All }
}

/// A pattern in words of openCypher, without its variables.
fn spelled(pattern: &Pattern) -> String {
    let node = |at: usize| {
        let slot = pattern.nodes.get(at).map(|node| node.slot);
        let mut names = BTreeSet::new();
        for condition in &pattern.conditions {
            if let Expr::HasLabels(base, labels) = &*condition.expr
                && matches!(**base, Expr::Slot(own) if Some(own) == slot)
            {
                labels_of(labels, &mut names);
            }
        }
        let names: Vec<&str> = names.into_iter().collect();
        if names.is_empty() { "()".to_owned() } else { format!("(:{})", names.join("|")) }
    };
    let relationship = |one: &RelationshipPattern| {
        let types = one.types.iter().map(|one| &**one).collect::<Vec<_>>().join("|");
        let length = match one.length {
            None => String::new(),
            Some((least, u64::MAX)) => format!("*{least}.."),
            Some((least, most)) => format!("*{least}..{most}"),
        };
        let types = if types.is_empty() { types } else { format!(":{types}") };
        let (before, after) = match one.direction {
            Direction::Out => ("-", "->"),
            Direction::In => ("<-", "-"),
            Direction::Both => ("-", "-"),
        };
        format!("{}{before}[{types}{length}]{after}{}", node(one.left), node(one.right))
    };
    let all: Vec<String> = match pattern.relationships.as_slice() {
        [] => (0..pattern.nodes.len()).map(node).collect(),
        some => some.iter().map(relationship).collect(),
    };
    all.join(", ")
}

fn labels_of<'l>(labels: &'l Labels, names: &mut BTreeSet<&'l str>) {
    match labels {
        Labels::Any => {}
        Labels::Name(name) => drop(names.insert(name)),
        Labels::Not(_) => {}
        Labels::And(all) | Labels::Or(all) => all.iter().for_each(|one| labels_of(one, names)),
    }
}

fn projected(one: &Projection) -> String {
    let mut parts = Vec::new();
    if one.is_aggregating {
        parts.push(match (one.keys.len(), one.aggregates.len()) {
            (0, count) => format!("{} of all rows", counted(count, "aggregate")),
            (keys, count) => format!("group by {}, {}", counted(keys, "key"), counted(count, "aggregate")),
        });
    } else {
        parts.push(format!("project {}", counted(one.outputs.len(), "column")));
    }
    let and = [
        (one.distinct, "distinct"),
        (!one.order.is_empty(), "sort"),
        (one.skip.is_some(), "skip"),
        (one.limit.is_some(), "limit"),
    ];
    parts.extend(and.into_iter().filter(|(is, _)| *is).map(|(_, word)| word.to_owned()));
    parts.join(", ")
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
