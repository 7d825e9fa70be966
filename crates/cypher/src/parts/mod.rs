//! A query that several processes answer: each goes over a part of the first pattern's matches, and one puts together what they send.
//!
//! The plan is cut at the first projection that needs all rows: one that groups, sorts, limits or removes duplicates. What comes before it is done for each
//! part, row by row, and so is what of that projection parts can do alone: groups, the first rows in order, different rows. What follows is done once. Both
//! sides make the plan from the same text, so only rows travel.

mod answer;
mod cut;
mod received;
mod wire;

use std::cell::RefCell;

use isomorph::Error;

use crate::exec::{Context, Project, Results, Rows as Found, rows_of};
use crate::fault::{Fault, Result};
use crate::graph::PropertyGraph;
use crate::query::{Options, Query, Rows};
use crate::tables::First;
use crate::value::Value;

pub use answer::AnswerGraph;
pub(crate) use cut::Cut;
pub use received::Messages;
pub(crate) use received::Received;
pub use wire::{value_of_bytes, value_to_bytes};

/// Which part of a query is answered: the partitions of tables, or the nodes with which a search begins, that have this number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// From 0 to `of`.
    pub number: u32,
    /// The number of parts.
    pub of: u32,
}

impl Part {
    /// Whether something that is `at` some place in an order that all processes agree on belongs to it.
    pub(crate) fn has(self, at: usize) -> bool {
        at % (self.of.max(1) as usize) == self.number as usize
    }

    /// Whether what has this key belongs to it.
    pub(crate) fn has_key(self, key: &[u8]) -> bool {
        // FNV-1a: the same in every process.
        let hash = key
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3));
        (hash >> 32) % u64::from(self.of.max(1)) == u64::from(self.number)
    }
}

/// What one process answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Share {
    /// All of the query.
    Whole,
    /// A part of its first pattern, and what follows as far as it can be done for a part.
    Part(Part),
}

/// How the tables of a part were divided, which all parts must agree on.
pub(crate) type Divided = RefCell<Vec<(String, u64)>>;

/// Messages: a row, and how a table was divided.
const ROW: u8 = 0;
const DIVIDED: u8 = 1;

/// Takes a message; false if no more are wanted.
pub type Take<'t> = &'t mut dyn FnMut(Vec<u8>) -> isomorph::Result<bool>;

impl Query {
    /// Whether parts of it can be answered by several processes. Reads nothing but what is known of tables.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn is_divisible(&self, graph: &dyn PropertyGraph, options: &Options) -> Result<bool> {
        let Some(branch) = Cut::of(&self.plan).and(self.plan.branches.first()) else { return Ok(false) };
        let context = self.context(graph, options)?;
        Ok(First::of(branch, &vec![Value::Null; context.width], &context).is_some())
    }

    /// Answers a share of the query, in messages for [`Query::received`].
    ///
    /// # Errors
    /// Those of the query, of reading and of `take`; [`isomorph::Kind::Unsupported`] for a part of a query that is not divisible.
    pub fn send(&self, graph: &dyn PropertyGraph, options: &Options, share: Share, take: Take<'_>) -> Result<()> {
        let Share::Part(part) = share else {
            for row in self.run(graph, options)? {
                if !take(message(&row?, graph, share)?)? {
                    break;
                }
            }
            return Ok(());
        };
        let refused = || Fault::Other(Error::unsupported("this query cannot be divided"));
        let (cut, branch) = Cut::of(&self.plan).zip(self.plan.branches.first()).ok_or_else(refused)?;
        let context = Context { part: Some(part), width: cut.width, ..self.context(graph, options)? };
        let start = vec![Value::Null; cut.width];
        let first = First::of(branch, &start, &context).ok_or_else(refused)?;
        let clauses = branch.clauses.get(1..cut.at).unwrap_or_default();
        let mut rows = rows_of(clauses, start.clone(), Found::First(first));
        if let Some(projection) = cut.projection {
            let mut project = Project::partial(projection, rows, start);
            if projection.is_aggregating {
                for group in project.grouped(&context)?.into_parts() {
                    context.tick()?;
                    if !take(message(&group, graph, share)?)? {
                        return Ok(());
                    }
                }
                return send_divided(&context, take);
            }
            rows = Found::Project(Box::new(project));
        }
        while let Some(row) = rows.next(&context)? {
            let values: Vec<Value> = cut.slots.iter().map(|slot| row.get(*slot).cloned().unwrap_or_default()).collect();
            if !take(message(&values, graph, share)?)? {
                return Ok(());
            }
        }
        send_divided(&context, take)
    }

    /// The rows of a query whose shares were answered elsewhere, from all their messages in any order of shares. Nodes and relationships of the rows are those of
    /// `graph`, which has nothing else.
    ///
    /// # Errors
    /// If there is no memory. Reading the rows fails with [`isomorph::Kind::Conflict`] if parts did not divide the same tables.
    pub fn received<'q, 'g>(
        &'q self,
        graph: &'g AnswerGraph,
        options: &'g Options,
        is_divided: bool,
        messages: Messages<'g>,
    ) -> Result<Rows<'q, 'g>> {
        let received = Received::new(messages, graph);
        let context = self.context(graph, options)?;
        if !is_divided {
            return Ok(Rows::received(received, context));
        }
        let refused = || Fault::Other(Error::unsupported("this query cannot be divided"));
        let (cut, branch) = Cut::of(&self.plan).zip(self.plan.branches.first()).ok_or_else(refused)?;
        let context = Context { width: cut.width, ..context };
        let start = vec![Value::Null; cut.width];
        let slots = if cut.is_grouped() { Vec::new() } else { cut.slots.clone() };
        let mut rows = Found::Received { received: Box::new(received), slots, base: start.clone() };
        let mut next = cut.at;
        if let Some(projection) = cut.projection {
            rows = Found::Project(Box::new(Project::of_parts(projection, rows, start.clone())));
            next += 1;
        }
        let rows = rows_of(branch.clauses.get(next..).unwrap_or_default(), start, rows);
        Ok(Rows::of(Results::of_rows(&self.plan, rows), context))
    }
}

/// A row as a message.
fn message(values: &[Value], graph: &dyn PropertyGraph, share: Share) -> Result<Vec<u8>> {
    let mut bytes = vec![ROW];
    wire::push_all(&mut bytes, values, graph, share == Share::Whole)?;
    Ok(bytes)
}

/// How tables were divided, as the last message of a part.
fn send_divided(context: &Context<'_>, take: Take<'_>) -> Result<()> {
    let mut bytes = vec![DIVIDED];
    for (table, parts) in context.divided.borrow().iter() {
        wire::push_text(&mut bytes, table)?;
        bytes.extend(parts.to_le_bytes());
    }
    take(bytes)?;
    Ok(())
}
