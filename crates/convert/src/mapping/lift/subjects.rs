//! What is said of subjects, brought together by sorting.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt32Type;
use arrow_array::{Array, RecordBatch, StringArray, UInt32Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use isomorph_error::{Error, Result};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::sort::{EdgeSorter, SortOptions, SortedEdges};
use xxhash_rust::xxh3::xxh3_128;

use crate::mapping::reify::malformed;
use crate::narrow::halves;

/// Quads that are handed to the sort at once.
const TOGETHER: usize = 1 << 15;

/// Stands for the datatype of what is no literal, and for no graph.
const NONE: u32 = u32::MAX;

/// Texts that occur often, by number.
#[derive(Default)]
pub(in crate::mapping) struct Interned {
    numbers: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Interned {
    fn number(&mut self, text: &str) -> Result<u32> {
        if let Some(number) = self.numbers.get(text) {
            return Ok(*number);
        }
        let number = u32::try_from(self.texts.len()).ok().filter(|number| *number != NONE);
        let number = number.ok_or_else(|| Error::malformed("more than 2^32 predicates and graphs"))?;
        self.numbers.insert(text.to_owned(), number);
        self.texts.push(text.to_owned());
        Ok(number)
    }

    /// The text of a number; nothing if that is none.
    pub fn text(&self, number: u32) -> Option<&str> {
        self.texts.get(number as usize).map(String::as_str)
    }
}

/// What is said of subjects, those of one subject together.
pub(in crate::mapping) struct Subjects {
    pub sorted: SortedEdges,
    /// Predicates, datatypes and graphs.
    pub names: Interned,
}

/// Takes quads in any order.
pub(in crate::mapping) struct Collecting {
    sorter: EdgeSorter,
    names: Interned,
    columns: Columns,
    before: u64,
}

impl Collecting {
    /// Nothing yet; to be sorted in `memory` bytes of `budget` and temporary files.
    ///
    /// # Errors
    /// When the budget has next to nothing left.
    pub fn new(budget: &Budget, memory: u64, scratch: &Scratch) -> Result<Self> {
        let sorter = EdgeSorter::new(SortOptions::new(budget, scratch).payload(schema()).memory(memory))?;
        Ok(Collecting { sorter, names: Interned::default(), columns: Columns::new(), before: 0 })
    }

    /// Adds a quad.
    ///
    /// # Errors
    /// When there is no room for temporary files.
    pub fn push(&mut self, quad: &Quad<'_>) -> Result<()> {
        self.columns.push(quad, &mut self.names)?;
        if self.columns.rows.len() >= TOGETHER { self.columns.flush(&self.sorter, &mut self.before) } else { Ok(()) }
    }

    /// All quads have come.
    ///
    /// # Errors
    /// As [`Collecting::push`].
    pub fn finish(mut self) -> Result<Subjects> {
        self.columns.flush(&self.sorter, &mut self.before)?;
        Ok(Subjects { sorted: self.sorter.finish()?, names: self.names })
    }
}

/// Columns of what is said.
struct Columns {
    rows: Vec<(u64, u64)>,
    subjects: StringBuilder,
    predicates: Vec<u32>,
    objects: StringBuilder,
    datatypes: Vec<u32>,
    languages: StringBuilder,
    directions: StringBuilder,
    graphs: Vec<u32>,
}

fn schema() -> SchemaRef {
    let text = |name: &str| Field::new(name, DataType::Utf8, true);
    let number = |name: &str| Field::new(name, DataType::UInt32, false);
    Arc::new(Schema::new(vec![
        text("subject"),
        number("predicate"),
        text("object"),
        number("datatype"),
        text("language"),
        text("direction"),
        number("graph"),
    ]))
}

impl Columns {
    fn new() -> Self {
        let text = || StringBuilder::with_capacity(TOGETHER, TOGETHER * 32);
        Columns {
            rows: Vec::with_capacity(TOGETHER),
            subjects: text(),
            predicates: Vec::with_capacity(TOGETHER),
            objects: text(),
            datatypes: Vec::with_capacity(TOGETHER),
            languages: StringBuilder::new(),
            directions: StringBuilder::new(),
            graphs: Vec::with_capacity(TOGETHER),
        }
    }

    fn push(&mut self, quad: &Quad<'_>, names: &mut Interned) -> Result<()> {
        let subject = xxh3_128(quad.subject.as_bytes());
        self.rows.push(halves(subject));
        self.subjects.append_value(quad.subject);
        self.predicates.push(names.number(quad.predicate)?);
        let (text, datatype, language, direction) = match quad.object {
            Object::Term(term) => (term, NONE, None, None),
            Object::Literal { lexical, datatype, language, direction } => {
                (lexical, names.number(datatype)?, language, direction)
            }
        };
        self.objects.append_value(text);
        self.datatypes.push(datatype);
        self.languages.append_option(language);
        self.directions.append_option(direction);
        self.graphs.push(quad.graph.map_or(Ok(NONE), |graph| names.number(graph))?);
        Ok(())
    }

    /// Hands over the rows to the sort; `before` is the number of those before.
    fn flush(&mut self, sorter: &EdgeSorter, before: &mut u64) -> Result<()> {
        let (first, second): (Vec<u64>, Vec<u64>) = self.rows.drain(..).unzip();
        let numbers = |numbers: &mut Vec<u32>| Arc::new(UInt32Array::from(std::mem::take(numbers)));
        let payload = RecordBatch::try_new(
            schema(),
            vec![
                Arc::new(self.subjects.finish()),
                numbers(&mut self.predicates),
                Arc::new(self.objects.finish()),
                numbers(&mut self.datatypes),
                Arc::new(self.languages.finish()),
                Arc::new(self.directions.finish()),
                numbers(&mut self.graphs),
            ],
        );
        sorter.push(&first, &second, Some(&payload.map_err(malformed)?), *before)?;
        *before += first.len() as u64;
        Ok(())
    }
}

/// What is said, as columns of a batch.
pub(in crate::mapping) struct Said<'b> {
    texts: [&'b StringArray; 4],
    numbers: [&'b UInt32Array; 3],
}

impl<'b> Said<'b> {
    /// The columns of a batch of [`Subjects`].
    pub fn of(batch: &'b RecordBatch) -> Result<Self> {
        let number = |at: usize| {
            let column = batch.columns().get(at).and_then(|column| column.as_primitive_opt::<UInt32Type>());
            column.ok_or_else(|| Error::malformed("a temporary file lacks a column"))
        };
        Ok(Said {
            texts: [text(batch, 0)?, text(batch, 2)?, text(batch, 4)?, text(batch, 5)?],
            numbers: [number(1)?, number(3)?, number(6)?],
        })
    }

    /// The number of a row's predicate.
    pub fn predicate(&self, row: usize) -> u32 {
        self.numbers[0].value(row)
    }

    /// A row, whose texts are among `names`.
    pub fn quad<'q>(&'q self, row: usize, names: &'q Interned) -> Quad<'q> {
        let [subjects, objects, languages, directions] = self.texts;
        let [predicates, datatypes, graphs] = self.numbers.map(|numbers| numbers.value(row));
        let some = |texts: &'q StringArray| texts.is_valid(row).then(|| texts.value(row));
        let object = match names.text(datatypes) {
            None => Object::Term(objects.value(row)),
            Some(datatype) => Object::Literal {
                lexical: objects.value(row),
                datatype,
                language: some(languages),
                direction: some(directions),
            },
        };
        let predicate = names.text(predicates).unwrap_or_default();
        Quad { subject: subjects.value(row), predicate, object, graph: names.text(graphs) }
    }
}

/// Text of a column of `batch`.
fn text(batch: &RecordBatch, at: usize) -> Result<&StringArray> {
    let column = batch.columns().get(at).and_then(|column| column.as_string_opt::<i32>());
    column.ok_or_else(|| Error::malformed("a temporary file lacks a column"))
}
