//! Resources as nodes with bags of properties.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, BooleanArray, Float32Array};
use arrow_schema::DataType;
use isomorph_error::Result;
use isomorph_model::json::push_string;
use isomorph_model::label::LabelBuilder;
use isomorph_model::{Batch, NodeBatch, Part, Take, part};
use isomorph_tables::sort::EdgeStream;

use super::Gathering;
use crate::mapping::arrays::{finished, malformed};
use crate::mapping::subjects::{Said, Subjects, rows};

/// Nodes in a batch.
const ROWS: usize = 1 << 13;

/// All resources, in one part, so that their rows are numbered in order.
///
/// # Errors
/// If temporary files cannot be read.
pub(super) fn nodes<'a>(subjects: &'a Subjects, record: &'a Gathering) -> Result<Vec<Box<dyn Part + 'a>>> {
    unnumbered_nodes(subjects, record, 1)
}

/// The same in this number of parts, each with rows numbered from 0.
///
/// # Errors
/// If temporary files cannot be read.
pub(super) fn unnumbered_nodes<'a>(
    subjects: &'a Subjects,
    record: &'a Gathering,
    parts: usize,
) -> Result<Vec<Box<dyn Part + 'a>>> {
    Ok(subjects.streams(parts)?.into_iter().map(|stream| nodes_of(stream, record)).collect())
}

fn nodes_of<'a>(stream: EdgeStream<'a>, record: &'a Gathering) -> Box<dyn Part + 'a> {
    part::stepped(
        None,
        move || Ok((stream, Nodes::new(record))),
        |(stream, nodes), take| {
            let Some(batch) = stream.next_batch()? else {
                nodes.close(take)?;
                nodes.flush(take)?;
                return Ok(false);
            };
            for (subject, said) in rows(&batch)? {
                if subject != nodes.name {
                    nodes.close(take)?;
                    nodes.name.push_str(subject);
                }
                match said {
                    Said::Mentioned => {}
                    Said::Class(class) => nodes.classes.push(class.to_owned()),
                    Said::Value(predicate, value) => nodes.say(predicate, value),
                }
            }
            Ok(true)
        },
    )
}

/// Nodes that are being built.
struct Nodes<'a> {
    record: &'a Gathering,
    keys: StringBuilder,
    bags: StringBuilder,
    rows: usize,
    start: u64,
    labels: Option<LabelBuilder>,
    /// The current node: its name, its values as text, and the position of each value of a predicate in that text.
    name: String,
    text: String,
    said: Vec<(u32, Range<usize>)>,
    bag: String,
    classes: Vec<String>,
}

impl<'a> Nodes<'a> {
    fn new(record: &'a Gathering) -> Self {
        Nodes {
            record,
            keys: StringBuilder::new(),
            bags: StringBuilder::new(),
            rows: 0,
            start: 0,
            labels: record.labels.then(LabelBuilder::default),
            name: String::new(),
            text: String::new(),
            said: Vec::new(),
            bag: String::new(),
            classes: Vec::new(),
        }
    }

    /// Adds a value of a predicate.
    fn say(&mut self, predicate: u32, value: &str) {
        let start = self.text.len();
        self.text.push_str(value);
        self.said.push((predicate, start..self.text.len()));
    }

    /// Ends the current node.
    fn close(&mut self, take: Take<'_>) -> Result<()> {
        if self.name.is_empty() {
            return Ok(());
        }
        self.keys.append_value(&self.name);
        self.name.clear();
        if let Some(labels) = &mut self.labels {
            labels.push(self.classes.iter().map(String::as_str));
            self.classes.clear();
        }
        // Values of one predicate may come from several graphs; they stay in their order.
        self.said.sort_by_key(|(predicate, _)| *predicate);
        self.bag.clear();
        for several in self.said.chunk_by(|one, other| one.0 == other.0) {
            let Some((predicate, _)) = several.first() else { continue };
            self.bag.push(if self.bag.is_empty() { '{' } else { ',' });
            push_string(&mut self.bag, self.record.predicate(*predicate));
            self.bag.push(':');
            for (at, (_, value)) in several.iter().enumerate() {
                if several.len() > 1 {
                    self.bag.push(if at == 0 { '[' } else { ',' });
                }
                self.bag.push_str(self.text.get(value.clone()).unwrap_or_default());
            }
            if several.len() > 1 {
                self.bag.push(']');
            }
        }
        self.said.clear();
        self.text.clear();
        if self.bag.is_empty() {
            self.bags.append_null();
        } else {
            self.bag.push('}');
            self.bags.append_value(&self.bag);
        }
        self.rows += 1;
        if self.rows >= ROWS { self.flush(take) } else { Ok(()) }
    }

    fn flush(&mut self, take: Take<'_>) -> Result<()> {
        let rows = std::mem::take(&mut self.rows);
        if rows == 0 {
            return Ok(());
        }
        let flags: Vec<ArrayRef> = match self.record.truth_of_nodes() {
            Some(truth) => vec![truths(rows, truth)?, Arc::new(BooleanArray::from(vec![true; rows]))],
            None => Vec::new(),
        };
        let keys: ArrayRef = Arc::new(finished(&mut self.keys));
        let bags: ArrayRef = Arc::new(finished(&mut self.bags));
        let start = self.start;
        self.start += rows as u64;
        let properties = flags.into_iter().chain([bags]).map(Some).collect();
        let labels = self.labels.as_mut().map(|labels| std::mem::take(labels).finish());
        take(Batch::Nodes(NodeBatch { keys: Some(keys), labels, properties, ..NodeBatch::of(0, start, rows) }))
    }
}

/// Statements of RDF are true.
pub(super) fn truths(rows: usize, data_type: &DataType) -> Result<ArrayRef> {
    let ones: ArrayRef = Arc::new(Float32Array::from_value(1.0, rows));
    arrow_cast::cast(&ones, data_type).map_err(malformed)
}
