//! Joins patterns by variables: each pattern is evaluated with the bindings that the previous ones found.

use std::ops::Deref;
use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_model::faces::{Estimate, Object};
use isomorph_storage::parallel;

use super::parallel::{ahead, count};
use super::question::{Graphs, Place, Question};
use super::solutions::{Found, Solutions};
use super::terms::{Bindings, Terms};
use crate::read::GraphLake;

/// A term, or a variable by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node<'a> {
    /// This term.
    Term(Object<'a>),
    /// The value of the variable.
    Variable(usize),
}

/// The graph of a pattern: a variable, or as in questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GraphNode<'a> {
    /// Any graph.
    #[default]
    Any,
    /// The default graph.
    Default,
    /// A named graph.
    Named(&'a str),
    /// The value of the variable: a named graph.
    Variable(usize),
}

/// One of the patterns to join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinPattern<'a> {
    /// Subject, predicate, object.
    pub nodes: [Node<'a>; 3],
    /// The graph.
    pub graph: GraphNode<'a>,
}

/// One step of a planned join.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JoinStep {
    /// The number of the pattern.
    pub pattern: usize,
    /// Whether it is evaluated with the bindings found so far.
    pub per_row: bool,
    /// The estimate: for each row of the bindings found so far, if it is evaluated with them.
    pub estimate: Estimate,
}

/// A pattern as it is evaluated, and what its results become.
struct Step<'a> {
    question: Question<'a>,
    /// For each position, the column of the result that its values become; for the first position of each new variable.
    new: [Option<usize>; 4],
    /// Positions that must be equal, because a new variable occurs in both.
    equal: Vec<(usize, usize)>,
}

/// The solutions of a basic graph pattern, batch after batch; otherwise as [`Solutions`], of which it advances one for
/// each pattern. The order of the patterns is chosen by their estimates. Solutions are a bag: a quad is found once for
/// each graph that it is in.
pub struct Join<'a, L> {
    lake: L,
    steps: Arc<[Step<'a>]>,
    plan: Vec<JoinStep>,
    /// For each variable, its column in the last bindings.
    columns: Vec<Option<usize>>,
    /// For each step that was started, its bindings and its solutions.
    levels: Vec<(Arc<Bindings>, Solutions<L>)>,
    begun: bool,
    /// Whether batches start small.
    small: bool,
}

impl<'a, L: Deref<Target = GraphLake> + Clone> Join<'a, L> {
    /// Plans a join; nothing is read. Variables have the numbers from 0 up to, but not including, `variables`.
    ///
    /// # Errors
    /// Returns an error if there is no pattern or no such variable.
    pub fn new(lake: L, patterns: &[JoinPattern<'a>], variables: usize) -> Result<Self> {
        if patterns.is_empty() {
            return Err(Error::usage("a join needs at least one pattern"));
        }
        let mut columns: Vec<Option<usize>> = vec![None; variables];
        let mut bound = 0;
        let mut left: Vec<usize> = (0..patterns.len()).collect();
        let (mut steps, mut plan) = (Vec::new(), Vec::new());
        while !left.is_empty() {
            let mut best: Option<(bool, f64, usize)> = None;
            for (at, pattern) in left.iter().filter_map(|at| Some((*at, patterns.get(*at)?))) {
                let question = question(pattern, &columns)?;
                let apart = !plan.is_empty() && !asks_with_bindings(&question);
                let rows = lake.estimate(&question).rows;
                // A pattern without known variables comes last: every row is combined with every row.
                if best.is_none_or(|(best_apart, best_rows, _)| (apart, rows) < (best_apart, best_rows)) {
                    best = Some((apart, rows, at));
                }
            }
            let Some((pattern, at)) = best.and_then(|(.., at)| Some((patterns.get(at)?, at))) else { break };
            left.retain(|other| *other != at);
            let question = question(pattern, &columns)?;
            let per_row = asks_with_bindings(&question);
            let estimate = lake.estimate(&question);
            let step = step(pattern, question, &mut columns, &mut bound);
            // The files do not show whether positions that share a variable are ever equal.
            let low = if step.equal.is_empty() { estimate.low } else { 0 };
            plan.push(JoinStep { pattern: at, per_row, estimate: Estimate { low, ..estimate } });
            steps.push(step);
        }
        Ok(Join { lake, steps: steps.into(), plan, columns, levels: Vec::new(), begun: false, small: false })
    }

    /// The same in batches that start small and grow, on all levels: for callers that may stop after a few solutions,
    /// which are then cheap.
    pub fn with_small_batches(mut self) -> Self {
        self.small = true;
        self
    }

    /// The order in which the patterns are evaluated, with the estimate of each.
    pub fn plan(&self) -> &[JoinStep] {
        &self.plan
    }

    /// The column of a variable in the batches; `None` if no pattern has it.
    pub fn column(&self, variable: usize) -> Option<usize> {
        self.columns.get(variable).copied().flatten()
    }

    /// Returns the next solutions, which may be an empty batch; `None` at the end.
    ///
    /// # Errors
    /// As [`Solutions::next_batch`].
    pub fn next_batch(&mut self) -> Result<Option<Bindings>> {
        if !self.begun {
            self.begun = true;
            self.begin(Bindings::unit())?;
        }
        loop {
            let depth = self.levels.len();
            let Some((bindings, solutions)) = self.levels.last_mut() else { return Ok(None) };
            let Some(found) = solutions.next_batch()? else {
                self.levels.pop();
                continue;
            };
            let Some(step) = self.steps.get(depth - 1) else { return Ok(None) };
            let joined = joined(step, bindings, &found)?;
            if depth == self.steps.len() || joined.rows() == 0 {
                return Ok(Some(joined));
            }
            self.begin(joined)?;
        }
    }

    /// Passes all solutions to `take`, in the order of the batches, with joins on this many threads: each takes a part
    /// of what the first pattern finds. Batches without a solution are omitted.
    ///
    /// # Errors
    /// As [`Join::next_batch`], or if `take` returns an error.
    pub fn each(self, threads: usize, take: &mut dyn FnMut(Bindings) -> Result<()>) -> Result<()>
    where
        L: Send,
    {
        let lake = self.lake.clone();
        let parts = self.parts(threads)?;
        let (ahead, _held) = ahead(&lake.options.budget, threads, parts.len())?;
        let read = |mut part: Join<'_, L>, give: &mut dyn FnMut(Bindings) -> Result<()>| {
            while let Some(found) = part.next_batch()? {
                if found.rows() > 0 {
                    give(found)?;
                }
            }
            Ok(())
        };
        parallel::in_order(parts, threads, ahead, read, take)
    }

    /// Counts the solutions, with joins on this many threads.
    ///
    /// # Errors
    /// As [`Join::next_batch`].
    pub fn count(self, threads: usize) -> Result<u64>
    where
        L: Send,
    {
        count(self.parts(threads)?, threads, Join::next_batch, |found| found.rows() as u64)
    }

    /// Divides the join into parts, each with a part of what the first pattern finds.
    fn parts(self, threads: usize) -> Result<Vec<Self>> {
        let (Some(first), false) = (self.steps.first(), self.begun) else { return Ok(vec![self]) };
        let unit = Arc::new(Bindings::unit());
        let solutions = Solutions::new(self.lake.clone(), &first.question, Arc::clone(&unit))?;
        let part = |part| Join {
            lake: self.lake.clone(),
            steps: Arc::clone(&self.steps),
            plan: Vec::new(),
            columns: Vec::new(),
            levels: vec![(Arc::clone(&unit), part)],
            begun: true,
            small: self.small,
        };
        Ok(solutions.for_threads(threads)?.into_iter().map(part).collect())
    }

    /// Evaluates the next pattern with what was found.
    fn begin(&mut self, bindings: Bindings) -> Result<()> {
        if let Some(step) = self.steps.get(self.levels.len()) {
            let bindings = Arc::new(bindings);
            let solutions = Solutions::new(self.lake.clone(), &step.question, Arc::clone(&bindings))?;
            let solutions = if self.small { solutions.with_small_batches() } else { solutions };
            self.levels.push((bindings, solutions));
        }
        Ok(())
    }
}

/// A pattern as it is evaluated if these variables have columns.
fn question<'a>(pattern: &JoinPattern<'a>, columns: &[Option<usize>]) -> Result<Question<'a>> {
    let column = |variable: usize| {
        columns.get(variable).copied().ok_or_else(|| Error::usage(format!("no such variable: {variable}")))
    };
    let place = |node: &Node<'a>| -> Result<Place<'a>> {
        Ok(match node {
            Node::Term(term) => Place::Term(*term),
            Node::Variable(variable) => column(*variable)?.map_or(Place::Any, Place::Column),
        })
    };
    let [subject, predicate, object] = &pattern.nodes;
    Ok(Question {
        subject: place(subject)?,
        predicate: place(predicate)?,
        object: place(object)?,
        graph: match pattern.graph {
            GraphNode::Any => Graphs::Any,
            GraphNode::Default => Graphs::Default,
            GraphNode::Named(name) => Graphs::Named(name),
            GraphNode::Variable(variable) => column(variable)?.map_or(Graphs::AnyNamed, Graphs::Column),
        },
    })
}

fn asks_with_bindings(question: &Question<'_>) -> bool {
    let places = [question.subject, question.predicate, question.object];
    places.iter().any(|place| place.column().is_some()) || matches!(question.graph, Graphs::Column(_))
}

/// Assigns columns to the variables that are new in a pattern.
fn step<'a>(
    pattern: &JoinPattern<'a>,
    question: Question<'a>,
    columns: &mut [Option<usize>],
    bound: &mut usize,
) -> Step<'a> {
    let variable = |node: &Node<'_>| if let Node::Variable(variable) = node { Some(*variable) } else { None };
    let [subject, predicate, object] = pattern.nodes.each_ref().map(variable);
    let graph = if let GraphNode::Variable(variable) = pattern.graph { Some(variable) } else { None };
    let places = [subject, predicate, object, graph];
    let mut step = Step { question, new: [None; 4], equal: Vec::new() };
    for (place, variable) in places.iter().enumerate() {
        let Some((variable, column)) = variable.and_then(|at| Some((at, columns.get_mut(at)?))) else { continue };
        match places.iter().take(place).position(|before| *before == Some(variable)) {
            Some(before) if step.new.get(before).is_some_and(Option::is_some) => step.equal.push((before, place)),
            _ if column.is_none() => {
                *column = Some(*bound);
                if let Some(new) = step.new.get_mut(place) {
                    *new = Some(*bound);
                }
                *bound += 1;
            }
            _ => {}
        }
    }
    step
}

/// Combines the known columns with those that were found.
fn joined(step: &Step<'_>, bindings: &Bindings, found: &Found) -> Result<Bindings> {
    let answers = [&found.subjects, &found.predicates, &found.objects, &found.graphs];
    let same = |row: usize| {
        step.equal.iter().all(|(one, other)| match (answers.get(*one), answers.get(*other)) {
            (Some(one), Some(other)) => one.same(row, other, row),
            _ => false,
        })
    };
    let rows: Vec<usize> = (0..found.rows.len()).filter(|row| same(*row)).collect();
    let mut columns = Vec::with_capacity(bindings.columns().len() + 4);
    for known in bindings.columns() {
        let mut column = Terms::default();
        for row in &rows {
            column.push_row(known, found.rows.get(*row).map_or(0, |row| *row as usize))?;
        }
        columns.push(column);
    }
    for (answer, _) in answers.into_iter().zip(step.new).filter(|(_, new)| new.is_some()) {
        let mut column = Terms::default();
        for row in &rows {
            column.push_row(answer, *row)?;
        }
        columns.push(column);
    }
    Bindings::of(columns, rows.len())
}
