//! Execution: each clause is an iterator that pulls rows from the one before, so that `LIMIT` ends all work.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use isomorph::dataset::Cancel;
use isomorph::storage::{Budget, Reservation};
use isomorph::{Error, Kind};
use regex::Regex;

use crate::aggregate::Grouping;
use crate::eval::{Row, eval, holds, set};
use crate::fault::{Class, Fault, Result};
use crate::graph::PropertyGraph;
use crate::matching::Matches;
use crate::parts::{Divided, Part, Received};
use crate::plan::{Clause, Expr, Pattern, Plan, Projection, Slot};
use crate::sort::Sorted;
use crate::tables::First;
use crate::value::{Equivalent, Value};

/// What a running query knows besides its rows.
pub(crate) struct Context<'a> {
    pub graph: &'a dyn PropertyGraph,
    pub parameters: &'a BTreeMap<String, Value>,
    pub cancel: Cancel,
    pub deadline: Option<Instant>,
    pub memory: RefCell<Reservation>,
    /// Bytes that were counted since memory was last reserved.
    pub pending: Cell<u64>,
    pub ticks: Cell<u32>,
    pub regexes: RefCell<HashMap<Arc<str>, Rc<Regex>>>,
    pub now: chrono::DateTime<chrono::Utc>,
    pub random: Cell<u64>,
    pub width: usize,
    /// Patterns are matched from node to node only.
    pub node_by_node: bool,
    /// The part of the first pattern that is answered here, if it is not all.
    pub part: Option<Part>,
    /// How its tables were divided.
    pub divided: Divided,
}

/// Steps between two looks at the clock.
const STEPS: u32 = 256;

/// Bytes that are reserved at once.
const PIECE: u64 = 64 * 1024;

impl<'a> Context<'a> {
    pub(crate) fn reservation(budget: &Budget) -> Result<Reservation> {
        Ok(budget.reserve(0)?)
    }

    /// Counts a step; every few of them, looks whether the query was cancelled or takes too long.
    pub(crate) fn tick(&self) -> Result<()> {
        let ticks = self.ticks.get().wrapping_add(1);
        self.ticks.set(ticks);
        if ticks.is_multiple_of(STEPS) { self.check() } else { Ok(()) }
    }

    /// Whether the query was cancelled or takes too long.
    pub(crate) fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(Fault::Other(Error::new(Kind::Cancelled, "the query was cancelled")));
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            let error = Error::new(Kind::Cancelled, "the query takes longer than its time limit");
            return Err(Fault::Other(error.hint("--timeout")));
        }
        Ok(())
    }

    /// Counts bytes that are kept to the end.
    pub(crate) fn grow(&self, bytes: u64) -> Result<()> {
        let pending = self.pending.get() + bytes;
        if pending < PIECE {
            self.pending.set(pending);
            return Ok(());
        }
        self.pending.set(0);
        self.memory.borrow_mut().grow(pending).map_err(|error| Fault::Other(error.hint("--memory")))
    }

    pub(crate) fn parameter(&self, name: &str) -> Result<Value> {
        self.parameters.get(name).cloned().ok_or_else(|| {
            Fault::runtime(Class::ParameterMissing, "MissingParameter", format!("parameter ${name} has no value"))
        })
    }

    /// A regular expression that must match a whole text.
    pub(crate) fn regex(&self, pattern: &Arc<str>) -> Result<Rc<Regex>> {
        if let Some(regex) = self.regexes.borrow().get(pattern) {
            return Ok(Rc::clone(regex));
        }
        let regex = Regex::new(&format!("^(?:{pattern})$")).map_err(|error| {
            let reason = error.to_string();
            let reason = reason.lines().last().unwrap_or_default().trim().to_owned();
            Fault::runtime(
                Class::ArgumentError,
                "InvalidRegularExpression",
                format!("{pattern} is no regular expression: {reason}"),
            )
        })?;
        let regex = Rc::new(regex);
        let mut known = self.regexes.borrow_mut();
        if known.len() >= 64 {
            known.clear();
        }
        known.insert(Arc::clone(pattern), Rc::clone(&regex));
        Ok(regex)
    }

    pub(crate) fn has_match(&self, pattern: &Pattern, row: &Row) -> Result<bool> {
        Ok(Matches::new(pattern, row.clone(), self).next(self)?.is_some())
    }

    pub(crate) fn each_match(
        &self,
        pattern: &Pattern,
        row: &Row,
        each: &mut dyn FnMut(&mut Row) -> Result<bool>,
    ) -> Result<()> {
        let mut matches = Matches::new(pattern, row.clone(), self);
        while let Some(row) = matches.next(self)? {
            if !each(row)? {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn subquery<'p>(&self, plan: &'p Plan, row: &Row) -> Result<Results<'p, 'a>> {
        self.check()?;
        Ok(Results::new(plan, row.clone()))
    }
}

/// The rows of a query: values of its columns.
pub(crate) struct Results<'p, 'g> {
    plan: &'p Plan,
    start: Row,
    branch: usize,
    current: Option<Rows<'p, 'g>>,
    seen: HashSet<Vec<Equivalent>>,
    /// Not a subquery, which is run again and again.
    is_outermost: bool,
}

impl<'p, 'g> Results<'p, 'g> {
    pub(crate) fn new(plan: &'p Plan, start: Row) -> Self {
        Results { plan, start, branch: 0, current: None, seen: HashSet::new(), is_outermost: false }
    }

    pub(crate) fn outermost(plan: &'p Plan, start: Row) -> Self {
        Results { is_outermost: true, ..Results::new(plan, start) }
    }

    /// Those of the only branch, whose rows are these.
    pub(crate) fn of_rows(plan: &'p Plan, rows: Rows<'p, 'g>) -> Self {
        Results { current: Some(rows), ..Results::new(plan, Row::new()) }
    }

    pub(crate) fn next(&mut self, cx: &Context<'g>) -> Result<Option<Vec<Value>>> {
        loop {
            let Some(branch) = self.plan.branches.get(self.branch) else { return Ok(None) };
            let may_pass = self.is_outermost && !cx.node_by_node;
            let rows = self.current.get_or_insert_with(|| {
                let first = may_pass.then(|| First::of(branch, &self.start, cx)).flatten();
                let (first, done) = match first {
                    Some(first) => (Rows::First(first), 1),
                    None => (Rows::Once(Some(self.start.clone())), 0),
                };
                rows_of(branch.clauses.get(done..).unwrap_or_default(), self.start.clone(), first)
            });
            let Some(row) = rows.next(cx)? else {
                self.current = None;
                self.branch += 1;
                continue;
            };
            let values: Vec<Value> =
                branch.outputs.iter().map(|slot| row.get(*slot).cloned().unwrap_or_default()).collect();
            if self.plan.branches.len() > 1 && !self.plan.keeps_duplicates && !first_time(&mut self.seen, &values, cx)?
            {
                continue;
            }
            return Ok(Some(values));
        }
    }
}

/// Whether these values are new; they are remembered.
fn first_time(seen: &mut HashSet<Vec<Equivalent>>, values: &[Value], cx: &Context<'_>) -> Result<bool> {
    let key: Vec<Equivalent> = values.iter().cloned().map(Equivalent).collect();
    if seen.contains(&key) {
        return Ok(false);
    }
    cx.grow(48 + values.iter().map(Value::bytes).sum::<u64>())?;
    seen.insert(key);
    Ok(true)
}

/// An iterator over rows.
pub(crate) enum Rows<'p, 'g> {
    Once(Option<Row>),
    Match {
        input: Box<Rows<'p, 'g>>,
        pattern: &'p Pattern,
        optional: bool,
        current: Option<(Matches<'p, 'g>, Row, bool)>,
    },
    Unwind {
        input: Box<Rows<'p, 'g>>,
        list: &'p Expr,
        slot: Slot,
        current: Option<(Row, Arc<Vec<Value>>, usize)>,
    },
    Filter {
        input: Box<Rows<'p, 'g>>,
        condition: &'p Expr,
    },
    Project(Box<Project<'p, 'g>>),
    /// The first pattern, answered from whole tables.
    First(First<'p, 'g>),
    /// Values of these slots that other processes found.
    Received {
        received: Box<Received<'g>>,
        slots: Vec<Slot>,
        base: Row,
    },
}

/// What clauses make of rows. Rows that are made anew begin as `base`, which holds the variables around a subquery.
pub(crate) fn rows_of<'p, 'g>(clauses: &'p [Clause], base: Row, first: Rows<'p, 'g>) -> Rows<'p, 'g> {
    clauses.iter().fold(first, |input, clause| {
        let input = Box::new(input);
        match clause {
            Clause::Match { pattern, optional } => Rows::Match { input, pattern, optional: *optional, current: None },
            Clause::Unwind { list, slot } => Rows::Unwind { input, list, slot: *slot, current: None },
            Clause::Filter(condition) => Rows::Filter { input, condition },
            Clause::Project(projection) => Rows::Project(Box::new(Project::new(projection, *input, base.clone()))),
        }
    })
}

impl<'p, 'g> Rows<'p, 'g> {
    pub(crate) fn next(&mut self, cx: &Context<'g>) -> Result<Option<Row>> {
        match self {
            Rows::Once(row) => Ok(row.take()),
            Rows::First(first) => Ok(first.next(cx)?.map(|_| first.row().clone())),
            Rows::Received { received, slots, base } => {
                cx.tick()?;
                let Some(values) = received.next()? else { return Ok(None) };
                let mut row = base.clone();
                for (slot, value) in slots.iter().zip(values) {
                    set(&mut row, *slot, value);
                }
                Ok(Some(row))
            }
            Rows::Match { input, pattern, optional, current } => loop {
                if let Some((matches, before, any)) = current {
                    if let Some(row) = matches.next(cx)? {
                        *any = true;
                        return Ok(Some(row.clone()));
                    }
                    let (mut before, any) = (std::mem::take(before), *any);
                    *current = None;
                    if *optional && !any {
                        for slot in &pattern.introduces {
                            set(&mut before, *slot, Value::Null);
                        }
                        return Ok(Some(before));
                    }
                }
                let Some(row) = input.next(cx)? else { return Ok(None) };
                let before = if *optional { row.clone() } else { Row::new() };
                *current = Some((Matches::new(pattern, row, cx), before, false));
            },
            Rows::Unwind { input, list, slot, current } => loop {
                if let Some((row, items, at)) = current {
                    cx.tick()?;
                    if let Some(item) = items.get(*at) {
                        *at += 1;
                        let mut row = row.clone();
                        set(&mut row, *slot, item.clone());
                        return Ok(Some(row));
                    }
                    *current = None;
                }
                let Some(mut row) = input.next(cx)? else { return Ok(None) };
                let items = match eval(list, &mut row, cx)? {
                    Value::Null => continue,
                    Value::List(items) => items,
                    one => Arc::new(vec![one]),
                };
                *current = Some((row, items, 0));
            },
            Rows::Filter { input, condition } => loop {
                let Some(mut row) = input.next(cx)? else { return Ok(None) };
                cx.tick()?;
                if holds(condition, &mut row, cx)? {
                    return Ok(Some(row));
                }
            },
            Rows::Project(project) => project.next(cx),
        }
    }
}

/// `WITH` or `RETURN`: projection or grouping, then `DISTINCT`, order, `SKIP` and `LIMIT`.
pub(crate) struct Project<'p, 'g> {
    projection: &'p Projection,
    input: Rows<'p, 'g>,
    base: Row,
    groups: Option<Grouping<'p>>,
    sorted: Option<Sorted>,
    seen: HashSet<Vec<Equivalent>>,
    /// Rows still to skip and to return, once known.
    window: Option<(u64, u64)>,
    stage: Stage,
}

/// How much of a projection is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// All of it.
    Whole,
    /// What a part can do: rows that no part needs any more are left out, and rows have what they are ordered by behind their variables.
    Part,
    /// What is left to do with the rows of all parts.
    Rest,
}

impl<'p, 'g> Project<'p, 'g> {
    fn new(projection: &'p Projection, input: Rows<'p, 'g>, base: Row) -> Self {
        let stage = Stage::Whole;
        Project { projection, input, base, groups: None, sorted: None, seen: HashSet::new(), window: None, stage }
    }

    /// What can be done for a part of the rows.
    pub(crate) fn partial(projection: &'p Projection, input: Rows<'p, 'g>, base: Row) -> Self {
        Project { stage: Stage::Part, ..Project::new(projection, input, base) }
    }

    /// What is left to do with what parts have sent.
    pub(crate) fn of_parts(projection: &'p Projection, input: Rows<'p, 'g>, base: Row) -> Self {
        Project { stage: Stage::Rest, ..Project::new(projection, input, base) }
    }

    fn next(&mut self, cx: &Context<'g>) -> Result<Option<Row>> {
        if self.window.is_none() {
            let skip = count(self.projection.skip.as_ref(), "SKIP", cx)?.unwrap_or(0);
            let limit = count(self.projection.limit.as_ref(), "LIMIT", cx)?.unwrap_or(u64::MAX);
            self.window = Some(match self.stage {
                Stage::Part => (0, skip.saturating_add(limit)),
                Stage::Whole | Stage::Rest => (skip, limit),
            });
        }
        loop {
            let (skip, limit) = self.window.unwrap_or((0, 0));
            if limit == 0 {
                return Ok(None);
            }
            let Some(row) = self.ordered(cx)? else { return Ok(None) };
            if skip > 0 {
                self.window = Some((skip - 1, limit));
                continue;
            }
            self.window = Some((0, limit - 1));
            return Ok(Some(row));
        }
    }

    /// The next row in order.
    fn ordered(&mut self, cx: &Context<'g>) -> Result<Option<Row>> {
        if self.projection.order.is_empty() {
            return self.distinct(cx);
        }
        if self.sorted.is_none() {
            let (skip, limit) = self.window.unwrap_or((0, u64::MAX));
            let directions = self.projection.order.iter().map(|(_, descending)| *descending).collect();
            let mut sorted = Sorted::new(directions, skip.saturating_add(limit));
            while let Some(mut row) = self.distinct(cx)? {
                let mut keys = Vec::with_capacity(self.projection.order.len());
                for (at, (expr, _)) in self.projection.order.iter().enumerate() {
                    let is_known = self.stage == Stage::Rest && !self.projection.is_aggregating;
                    let known = is_known.then(|| self.width(cx) + at).and_then(|slot| row.get_mut(slot));
                    keys.push(match known {
                        Some(known) => std::mem::take(known),
                        None => eval(expr, &mut row, cx)?,
                    });
                }
                let kept = self.projection.kept.iter();
                let mut values: Vec<Value> =
                    kept.map(|slot| row.get_mut(*slot).map(std::mem::take).unwrap_or_default()).collect();
                if self.stage == Stage::Part {
                    values.extend(keys.iter().cloned());
                }
                sorted.push(keys, values, cx)?;
            }
            sorted.finish();
            self.sorted = Some(sorted);
        }
        let Some(values) = self.sorted.as_mut().and_then(Sorted::next) else { return Ok(None) };
        let mut row = self.base.clone();
        let ordered_by = self.width(cx)..cx.width;
        for (slot, value) in self.projection.kept.iter().copied().chain(ordered_by).zip(values) {
            set(&mut row, slot, value);
        }
        Ok(Some(row))
    }

    /// The number of variables of a row; behind them is what a row of a part is ordered by.
    fn width(&self, cx: &Context<'g>) -> usize {
        match self.stage {
            Stage::Whole => cx.width,
            Stage::Part | Stage::Rest => cx.width.saturating_sub(self.projection.order.len()),
        }
    }

    fn distinct(&mut self, cx: &Context<'g>) -> Result<Option<Row>> {
        loop {
            let Some(row) = self.projected(cx)? else { return Ok(None) };
            if self.projection.distinct {
                let values: Vec<Value> =
                    self.projection.outputs.iter().map(|slot| row.get(*slot).cloned().unwrap_or_default()).collect();
                if !first_time(&mut self.seen, &values, cx)? {
                    continue;
                }
            }
            return Ok(Some(row));
        }
    }

    fn projected(&mut self, cx: &Context<'g>) -> Result<Option<Row>> {
        if !self.projection.is_aggregating {
            let Some(mut row) = self.input.next(cx)? else { return Ok(None) };
            if self.stage != Stage::Rest {
                for (slot, expr) in &self.projection.keys {
                    let value = eval(expr, &mut row, cx)?;
                    set(&mut row, *slot, value);
                }
            }
            return Ok(Some(row));
        }
        if self.groups.is_none() {
            let mut groups = self.grouped(cx)?;
            groups.finish(cx);
            self.groups = Some(groups);
        }
        let Some(groups) = &mut self.groups else { return Ok(None) };
        let Some(mut row) = groups.next(&self.base, cx)? else { return Ok(None) };
        for (slot, expr) in &self.projection.after {
            let value = eval(expr, &mut row, cx)?;
            set(&mut row, *slot, value);
        }
        Ok(Some(row))
    }

    /// The groups of all rows.
    pub(crate) fn grouped(&mut self, cx: &Context<'g>) -> Result<Grouping<'p>> {
        let mut groups = Grouping::new(self.projection);
        match &mut self.input {
            Rows::First(first) => loop {
                if let Some(whole) = first.whole(cx)?
                    && groups.add_batch(&whole, cx)?
                {
                    first.skip();
                    continue;
                }
                let Some(times) = first.next(cx)? else { break };
                groups.add(first.row(), times, cx)?;
            },
            Rows::Received { received, .. } => {
                while let Some(values) = received.next()? {
                    cx.tick()?;
                    groups.add_part(values, cx)?;
                }
            }
            input => {
                while let Some(mut row) = input.next(cx)? {
                    cx.tick()?;
                    groups.add(&mut row, 1, cx)?;
                }
            }
        }
        Ok(groups)
    }
}

/// The number of `SKIP` or `LIMIT`.
fn count(expr: Option<&Expr>, what: &str, cx: &Context<'_>) -> Result<Option<u64>> {
    let Some(expr) = expr else { return Ok(None) };
    let mut row = vec![Value::Null; cx.width];
    match eval(expr, &mut row, cx)? {
        Value::Int(count) => u64::try_from(count).map(Some).map_err(|_| {
            Fault::runtime(Class::SyntaxError, "NegativeIntegerArgument", format!("{what} is negative: {count}"))
        }),
        other => Err(Fault::runtime(
            Class::SyntaxError,
            "InvalidArgumentType",
            format!("{what} expects an integer, found {}", other.type_name()),
        )),
    }
}
