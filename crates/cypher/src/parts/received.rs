//! Rows that other processes found.

use std::collections::BTreeMap;

use isomorph::{Error, Kind};

use super::answer::AnswerGraph;
use super::wire::Reader;
use super::{DIVIDED, ROW};
use crate::fault::{Fault, Result};
use crate::value::Value;

/// The messages of shares: those of one share in their order, shares in any.
pub type Messages<'g> = Box<dyn Iterator<Item = isomorph::Result<Vec<u8>>> + 'g>;

/// Rows that other processes found.
pub(crate) struct Received<'g> {
    messages: Messages<'g>,
    graph: &'g AnswerGraph,
    /// Into how many partitions each table was divided.
    divided: BTreeMap<String, u64>,
}

impl<'g> Received<'g> {
    pub(super) fn new(messages: Messages<'g>, graph: &'g AnswerGraph) -> Self {
        Received { messages, graph, divided: BTreeMap::new() }
    }

    /// The values of the next row.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<Value>>> {
        loop {
            let Some(message) = self.messages.next() else { return Ok(None) };
            let message = message?;
            let (kind, rest) = message.split_first().ok_or_else(|| Fault::Other(super::wire::broken()))?;
            let mut reader = Reader::new(rest, Some(self.graph));
            match *kind {
                ROW => return Ok(Some(reader.all()?)),
                DIVIDED => self.check(&mut reader)?,
                _ => return Err(Fault::Other(super::wire::broken())),
            }
        }
    }

    /// Parts that divided a table into other partitions have read other rows.
    fn check(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        while !reader.is_at_end() {
            let table = reader.text()?.to_owned();
            let parts = reader.number()?;
            let known = *self.divided.entry(table.clone()).or_insert(parts);
            if known != parts {
                let text = format!("parts of the query divided {table} into {known} and {parts} partitions");
                let error = Error::new(Kind::Conflict, text);
                return Err(Fault::Other(
                    error.hint("ask again; if it fails again, the machines do not see the same files"),
                ));
            }
        }
        Ok(())
    }
}
