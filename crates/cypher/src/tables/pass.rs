//! Matches of a pattern by going over tables batch by batch: see `crate::columnar`.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;

use isomorph::model::Predicate;

use super::batch::InBatch;
use super::ends::Ends;
use super::filter::{Columns, predicate};
use super::reading::{EdgeColumns, Found, Mode, Reading, Way};
use super::unordered::Reader;
use super::whole::{Reads, Whole, has_numbers, reads};
use super::{TableGraph, number};
use crate::columnar::{Shape, holds_for_type, only_properties, ways};
use crate::eval::{Row, holds, set};
use crate::exec::Context;
use crate::fault::Result;
use crate::graph::Direction;
use crate::plan::{Branch, Condition, Expr, RelationshipPattern, Slot};
use crate::value::{Node, Relationship, Value};

/// The matches of the first pattern of a branch.
pub(crate) struct Pass<'p, 'g> {
    graph: &'g TableGraph<'g>,
    shape: Shape<'p>,
    /// Numbers the elements of batches.
    id: usize,
    /// Tables to go over, the next one last; `None` before the first look at them.
    tables: Option<Vec<usize>>,
    reading: Option<Reading<'p>>,
    found: VecDeque<Found<'p>>,
    current: Option<Found<'p>>,
    /// The nodes at the ends of a relationship.
    ends: Vec<Slot>,
    /// The row with the match that was found last.
    pub row: Row,
}

impl<'p, 'g> Pass<'p, 'g> {
    /// A pass, if the first pattern of the branch has the shape, and the graph has tables.
    pub(crate) fn of(branch: &'p Branch, start: &Row, cx: &Context<'g>) -> Option<Self> {
        let graph = cx.graph.tables()?;
        let shape = Shape::of(branch, cx.graph)?;
        let id = graph.new_pass();
        let is_edge = !shape.pattern.relationships.is_empty();
        let ends = shape.pattern.nodes.iter().map(|node| node.slot).filter(|_| is_edge).collect();
        Some(Pass {
            graph,
            shape,
            ends,
            id,
            tables: None,
            reading: None,
            found: VecDeque::new(),
            current: None,
            row: start.clone(),
        })
    }

    /// Moves to the next match, and returns how many equal ones it stands for.
    pub(crate) fn next(&mut self, cx: &Context<'g>) -> Result<Option<u64>> {
        loop {
            cx.tick()?;
            let Some(current) = &mut self.current else {
                match self.found.pop_front() {
                    Some(found) => self.current = Some(found),
                    None if self.read(cx)? => {}
                    None => return Ok(None),
                }
                continue;
            };
            let (times, conditions) = match current {
                Found::Count(times) => {
                    let times = *times;
                    self.current = None;
                    if times == 0 {
                        continue;
                    }
                    self.bind([None, None], 0);
                    return Ok(Some(times));
                }
                Found::Weighed { side, table, nodes, weights, next, conditions } => {
                    let Some(at) = weights.iter().skip(*next).position(|times| *times > 0).map(|at| at + *next) else {
                        self.current = None;
                        continue;
                    };
                    *next = at + 1;
                    let times = weights.get(at).copied().unwrap_or_default();
                    let position = nodes.as_ref().and_then(|nodes| nodes.get(at)).map_or(at, |node| *node as usize);
                    let node = Some(Node(number(*table, position)));
                    let (ends, conditions) =
                        (if *side == 0 { [node, None] } else { [None, node] }, Rc::clone(conditions));
                    self.bind(ends, 0);
                    (times, conditions)
                }
                Found::Rows(found) => {
                    let next = found.next;
                    let row = match &found.rows {
                        Some(rows) => rows.get(next).map(|row| *row as usize),
                        None => (next < found.batch.num_rows()).then_some(next),
                    };
                    let Some(row) = row else {
                        self.current = None;
                        continue;
                    };
                    found.next += 1;
                    if !std::mem::replace(&mut found.is_shown, true) {
                        let shown = InBatch { batch: Rc::clone(&found.batch), element: Rc::clone(&found.element) };
                        self.graph.show(self.id, shown);
                    }
                    let ends = [0, 1].map(|side| found.ends.get(side).and_then(|nodes| nodes.get(next)).copied());
                    let times = found.times.as_ref().and_then(|times| times.get(next)).copied().unwrap_or(1);
                    let conditions = Rc::clone(&found.conditions);
                    self.bind(ends, row);
                    (times, conditions)
                }
            };
            let mut fits = true;
            for condition in conditions.iter() {
                if !holds(condition, &mut self.row, cx)? {
                    fits = false;
                    break;
                }
            }
            if fits {
                return Ok(Some(times));
            }
        }
    }

    /// The next matches as a batch: see [`super::First::whole`].
    pub(crate) fn whole(&mut self, cx: &Context<'g>) -> Result<Option<Whole<'_>>> {
        while self.current.is_none() {
            match self.found.pop_front() {
                Some(found) => self.current = Some(found),
                None if self.read(cx)? => {}
                None => return Ok(None),
            }
        }
        let Some(Found::Rows(found)) = &self.current else { return Ok(None) };
        let is_whole = found.next == 0
            && found.rows.is_none()
            && found.times.is_none()
            && found.conditions.is_empty()
            && found.ends.iter().all(Vec::is_empty);
        let batch = || InBatch { batch: Rc::clone(&found.batch), element: Rc::clone(&found.element) };
        Ok(is_whole.then(|| Whole { batch: batch(), element: self.shape.element, ends: &self.ends }))
    }

    pub(crate) fn skip(&mut self) {
        self.current = None;
    }

    /// Writes a match into the row. What nobody reads is no null, so that it can be counted.
    fn bind(&mut self, ends: [Option<Node>; 2], row: usize) {
        let pattern = self.shape.pattern;
        let id = super::in_pass(self.id, row);
        match pattern.relationships.first() {
            Some(one) => {
                let relationship = Relationship { id, source: Node(0), target: Node(0) };
                set(&mut self.row, one.slot, Value::Relationship(relationship));
                for (node, end) in pattern.nodes.iter().zip(ends) {
                    set(&mut self.row, node.slot, end.map_or(Value::Bool(true), Value::Node));
                }
            }
            None => set(&mut self.row, self.shape.element, Value::Node(Node(id))),
        }
    }

    /// Reads a batch, or opens a table; false if there are no more.
    fn read(&mut self, cx: &Context<'g>) -> Result<bool> {
        let Some(reading) = &mut self.reading else {
            let is_edges = !self.shape.pattern.relationships.is_empty();
            let count = if is_edges { self.graph.edges.len() } else { self.graph.nodes.len() };
            let tables = self.tables.get_or_insert_with(|| (0..count).rev().collect());
            let Some(table) = tables.pop() else { return Ok(false) };
            self.reading = match self.shape.pattern.relationships.first() {
                Some(one) => self.open_edges(table, one, cx)?,
                None => self.open_nodes(table, cx)?,
            };
            return Ok(true);
        };
        cx.check()?;
        let batch = reading.batches.as_mut().and_then(Iterator::next).transpose()?;
        match batch {
            Some(batch) => match self.shape.pattern.relationships.first() {
                Some(one) => reading.edges(self.graph, one, batch, &mut self.found)?,
                None => reading.nodes(batch, &mut self.found),
            },
            None => {
                if let Some(mut reading) = self.reading.take() {
                    reading.finish(self.graph, &mut self.found)?;
                }
            }
        }
        Ok(true)
    }

    /// How the conditions of the pattern are tested for one way of meeting a table: those that are left, and whether any can hold.
    /// `static_of` knows what holds for a whole table, `done` which conditions the filter of the scan has tested.
    fn conditions(&self, static_of: &dyn Fn(&Expr) -> Option<bool>, done: &[bool]) -> Option<Vec<&'p Expr>> {
        let mut left: Vec<&'p Condition> = Vec::new();
        for (condition, done) in self.shape.pattern.conditions.iter().zip(done) {
            match static_of(&condition.expr) {
                Some(false) => return None,
                Some(true) => {}
                None if *done => {}
                None => left.push(condition),
            }
        }
        // What may fail waits for the others, as in other patterns.
        left.sort_by_key(|one| !one.is_safe);
        Some(left.into_iter().map(|one| &*one.expr).collect())
    }

    /// The conditions that a scan can test, and which they are.
    fn filter(&self, columns: &Columns, cx: &Context<'g>) -> (Option<Predicate>, Vec<bool>) {
        let conditions = &self.shape.pattern.conditions;
        let translated: Vec<Option<Predicate>> =
            conditions.iter().map(|one| predicate(&one.expr, self.shape.element, columns, cx)).collect();
        // A condition that can fail must see the rows that it would have seen.
        let may_fail = conditions.iter().zip(&translated).any(|(one, done)| !one.is_safe && done.is_none());
        if may_fail {
            return (None, vec![false; conditions.len()]);
        }
        let done = translated.iter().map(Option::is_some).collect();
        let mut all: Vec<Predicate> = translated.into_iter().flatten().collect();
        let filter = if all.len() > 1 { Some(Predicate::And(all)) } else { all.pop() };
        (filter, done)
    }

    fn mode(&self, conditions: &[&Expr]) -> (Mode, [bool; 2]) {
        let shape = &self.shape;
        let slots: Vec<usize> = conditions.iter().flat_map(|expr| expr.slots()).collect();
        if shape.pattern.relationships.is_empty() {
            let reads = shape.reads_element || slots.contains(&shape.element);
            let counts = !reads && shape.may_count && conditions.is_empty();
            return (if counts { Mode::Count } else { Mode::Rows }, [false; 2]);
        }
        let ends = [0, 1].map(|side| {
            let slot = shape.pattern.nodes.get(side).map(|node| node.slot);
            shape.reads_ends.get(side) == Some(&true) || slot.is_some_and(|slot| slots.contains(&slot))
        });
        let mode = match ends {
            _ if !shape.may_count || shape.reads_element || slots.contains(&shape.element) => Mode::Rows,
            // A condition that reads nothing of a match is still a condition.
            [false, false] if !conditions.is_empty() => Mode::Rows,
            [false, false] => Mode::Count,
            [true, false] => Mode::Weigh(0),
            [false, true] => Mode::Weigh(1),
            [true, true] => Mode::Rows,
        };
        (mode, ends)
    }

    /// Properties by which matches look alike, if nothing else is read of them.
    fn only(&self, mode: Mode, ends: [bool; 2], conditions: &[&'p Expr]) -> Option<Vec<&'p Arc<str>>> {
        let shape = &self.shape;
        let (at, slot) = match mode {
            Mode::Weigh(side) => (side + 1, shape.pattern.nodes.get(side)?.slot),
            Mode::Rows if shape.may_count && ends == [false; 2] => (0, shape.element),
            _ => return None,
        };
        let mut names = shape.only.get(at)?.clone()?;
        conditions.iter().all(|expr| only_properties(expr, slot, &mut names)).then_some(names)
    }

    /// A way of meeting a table.
    fn way(&self, is_backward: bool, conditions: Vec<&'p Expr>) -> Way<'p> {
        let (mode, ends) = self.mode(&conditions);
        let only = self.only(mode, ends, &conditions);
        Way { only, ..Way::new(is_backward, mode, conditions, ends) }
    }

    /// Whether all that is read of a table are columns of numbers that are aggregated as they are: rows that look alike are not looked for.
    fn sums(&self, table: &str) -> Result<bool> {
        let Some(aggregates) = self.shape.sums else { return Ok(false) };
        let schema = self.graph.scans.dataset.table(table)?.schema();
        Ok(aggregates.iter().all(|one| match reads(one, self.shape.element, &self.ends) {
            Some(Reads::Nothing) => true,
            Some(Reads::Property(name)) => schema.field_with_name(name).is_ok_and(has_numbers),
            None => false,
        }))
    }

    fn open_nodes(&self, at: usize, cx: &Context<'g>) -> Result<Option<Reading<'p>>> {
        let Some(cell) = self.graph.nodes.get(at) else { return Ok(None) };
        let table = cell.borrow();
        let static_of = |expr: &Expr| match expr {
            Expr::HasLabels(base, labels) if matches!(**base, Expr::Slot(_)) => {
                holds_for_type(labels, table.name(), table.has_labels())
            }
            _ => None,
        };
        let (filter, done) = self.filter(&table.filtered(), cx);
        let Some(conditions) = self.conditions(&static_of, &done) else { return Ok(None) };
        let way = self.way(false, conditions);
        let mut element = table.element(&self.shape.names, self.shape.reads_labels);
        let mut reading = Reading::new(at);
        if way.mode == Mode::Count {
            if filter.is_none()
                && cx.part.is_none()
                && let Some(rows) = self.graph.scans.dataset.statistics(table.table_name())?.rows.exact()
            {
                reading.counted = *rows;
                return Ok(Some(reading));
            }
            element = table.element(&[], false);
        }
        if element.columns.is_empty() {
            element.columns.push(table.key_column().to_owned());
        }
        reading.ways = vec![way];
        if self.sums(table.table_name())? {
            reading.ways.iter_mut().for_each(Way::row_by_row);
        }
        reading.batches = Some(self.scan(table.table_name(), &element.columns, filter, &reading.ways, cx)?);
        reading.element = Rc::new(element);
        Ok(Some(reading))
    }

    fn open_edges(&self, at: usize, one: &RelationshipPattern, cx: &Context<'g>) -> Result<Option<Reading<'p>>> {
        let Some(cell) = self.graph.edges.get(at) else { return Ok(None) };
        let table = cell.borrow();
        if !table.may_have(&one.types) {
            return Ok(None);
        }
        let (source, target) = table.node_tables();
        let (filter, done) = self.filter(&table.filtered(), cx);
        let (forward, backward) = ways(one.direction, table.may_be_undirected());
        let mut found = Vec::new();
        for is_backward in [false, true] {
            if !(if is_backward { backward } else { forward }) {
                continue;
            }
            let ends = if is_backward { [target, source] } else { [source, target] };
            let static_of = |expr: &Expr| {
                let Expr::HasLabels(base, labels) = expr else { return None };
                let Expr::Slot(slot) = **base else { return None };
                if slot == self.shape.element {
                    return table.fixed_relation().and_then(|relation| holds_for_type(labels, relation, false));
                }
                let side = self.shape.pattern.nodes.iter().position(|node| node.slot == slot)?;
                let nodes = self.graph.nodes.get(*ends.get(side)?)?.borrow();
                holds_for_type(labels, nodes.name(), nodes.has_labels())
            };
            if let Some(conditions) = self.conditions(&static_of, &done) {
                found.push(self.way(is_backward, conditions));
            }
        }
        if found.is_empty() {
            return Ok(None);
        }
        if self.sums(table.table_name())? {
            found.iter_mut().for_each(Way::row_by_row);
        }
        let mut reading = Reading::new(at);
        let has_loops = source == target && found.len() > 1;
        reading.has_loops = has_loops;
        let is_mixed = table.directed_column().is_some() && one.direction != Direction::Both;
        let tests_type = table.relation_column().is_some() && !one.types.is_empty();
        let only_counts = found.iter().all(|way| way.mode == Mode::Count);
        if only_counts
            && !has_loops
            && !is_mixed
            && !tests_type
            && filter.is_none()
            && cx.part.is_none()
            && let Some(rows) = self.graph.scans.dataset.statistics(table.table_name())?.rows.exact()
        {
            reading.counted = rows.saturating_mul(found.len() as u64);
            return Ok(Some(reading));
        }
        let reads_rows = found.iter().any(|way| way.mode == Mode::Rows);
        let mut element = table.element(if reads_rows { &self.shape.names } else { &[] });
        let wants = |is_target: bool| {
            has_loops
                || found.iter().any(|way| {
                    let side = usize::from(is_target != way.is_backward);
                    way.mode != Mode::Count && way.reads_ends.get(side) == Some(&true)
                })
        };
        let mut columns = EdgeColumns::default();
        if wants(false) {
            columns.source = Some(element.column(table.end_columns().0));
        }
        if wants(true) {
            columns.target = Some(element.column(table.end_columns().1));
        }
        if let Some(name) = table.relation_column().filter(|_| tests_type || reads_rows) {
            columns.relation = Some(element.column(name));
            element.relation_at = columns.relation;
        }
        if let Some(name) = table.directed_column().filter(|_| is_mixed) {
            columns.directed = Some(element.column(name));
        }
        if element.columns.is_empty() {
            element.column(table.end_columns().0);
        }
        for (end, of, is_wanted) in [(0, source, wants(false)), (1, target, wants(true))] {
            // Only to find loops, keys are compared with each other.
            let is_read = found.iter().any(|way| {
                let side = usize::from((end == 1) != way.is_backward);
                way.mode != Mode::Count && way.reads_ends.get(side) == Some(&true)
            });
            if is_wanted
                && is_read
                && let Some(place) = reading.ends.get_mut(end)
            {
                *place = Some(Ends::new(of, self.graph)?);
            }
        }
        reading.batches = Some(self.scan(table.table_name(), &element.columns, filter, &found, cx)?);
        (reading.element, reading.ways, reading.columns) = (Rc::new(element), found, columns);
        Ok(Some(reading))
    }

    /// What is only counted may come in any order.
    fn scan(
        &self,
        table: &str,
        columns: &[String],
        filter: Option<Predicate>,
        ways: &[Way<'p>],
        cx: &Context<'g>,
    ) -> Result<Reader> {
        let scans = &self.graph.scans;
        let mut scan = scans.dataset.scan(table)?.columns(columns.iter().cloned()).cancel(scans.cancel.clone());
        if let Some(filter) = filter {
            scan = scan.filter(filter);
        }
        let is_counted = ways.iter().all(|way| way.mode != Mode::Rows);
        let threads = if is_counted { self.graph.threads } else { 1 };
        let Some(part) = cx.part else { return Ok(Reader::unordered(scan.partitions()?, threads)?) };
        let partitions = scan.partitions()?;
        cx.divided.borrow_mut().push((table.to_owned(), partitions.len() as u64));
        let own = partitions.into_iter().enumerate().filter(|(at, _)| part.has(*at)).map(|(_, one)| one);
        Ok(Reader::unordered(own.collect(), threads)?)
    }
}

impl Drop for Pass<'_, '_> {
    fn drop(&mut self) {
        self.graph.hide(self.id);
    }
}
