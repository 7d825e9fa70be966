//! Quads as columns.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::builder::{StringBuilder, UInt32Builder};
use arrow_array::{Array, ArrayRef, StringArray, StructArray};
use foldhash::quality::RandomState;
use isomorph_error::Result;
use isomorph_model::batch::ValueBatch;
use isomorph_model::faces::{Object, Quad, literal_fields};
use isomorph_model::{Batch, EdgeBatch, Ends, Graph, Relations, xsd};

use crate::read::changed;

/// Size of the text at which batches are full, whatever their rows.
const FULL: usize = 64 << 20;

/// The columns that a scan needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted {
    pub(super) edges: bool,
    pub(super) values: bool,
    pub(super) rows: usize,
}

/// Makes batches of the quads of a text: columns of edges, and of the values of each predicate.
pub struct Collectors {
    wanted: Wanted,
    edges: Edges,
    /// Value tables by predicate.
    tables: HashMap<String, usize, RandomState>,
    /// Sorted, so that the order of batches is the same in every run.
    values: BTreeMap<usize, Values>,
    bytes: usize,
}

type Take<'t> = dyn FnMut(Batch) -> Result<()> + 't;

impl Collectors {
    pub(super) fn new(graph: &Graph, wanted: Wanted) -> Self {
        let tables = graph.values.iter().enumerate().map(|(at, table)| (table.property.name.clone(), at)).collect();
        Collectors { wanted, edges: Edges::default(), tables, values: BTreeMap::new(), bytes: 0 }
    }

    /// Adds a quad; passes on a batch when one is full.
    ///
    /// # Errors
    /// If the predicate of a literal was not in the text when it was opened; and the errors of `take`.
    pub fn push(&mut self, quad: &Quad<'_>, take: &mut Take<'_>) -> Result<()> {
        match quad.object {
            Object::Term(object) if self.wanted.edges => {
                self.edges.push(quad, object);
                self.bytes += object.len();
                if self.edges.rows == self.wanted.rows {
                    take(self.edges.batch())?;
                }
            }
            Object::Literal { lexical, datatype, language, direction } if self.wanted.values => {
                let Some(table) = self.tables.get(quad.predicate).copied() else {
                    // The text was read before, so all of its predicates are known.
                    return Err(changed());
                };
                let values = self.values.entry(table).or_default();
                // xsd:string is the default, and the datatype of a literal with a language is implied.
                let stated = language.is_none() && !matches!(datatype, "" | xsd::STRING);
                values.push(quad, [Some(lexical), Some(datatype).filter(|_| stated), language, direction]);
                self.bytes += lexical.len() + datatype.len();
                if values.rows == self.wanted.rows {
                    take(values.batch(table))?;
                }
            }
            _ => return Ok(()),
        }
        self.bytes += quad.subject.len() + quad.graph.map_or(0, str::len) + 32;
        if self.bytes > FULL { self.finish(take) } else { Ok(()) }
    }

    /// Passes on what is left.
    ///
    /// # Errors
    /// Returns the errors of `take`.
    pub fn finish(&mut self, take: &mut Take<'_>) -> Result<()> {
        self.bytes = 0;
        if self.edges.rows > 0 {
            take(self.edges.batch())?;
        }
        for (table, mut values) in std::mem::take(&mut self.values) {
            if values.rows > 0 {
                take(values.batch(table))?;
            }
        }
        Ok(())
    }
}

/// Nothing is reserved in advance: there may be a hundred thousand predicates.
fn texts() -> StringBuilder {
    StringBuilder::with_capacity(0, 0)
}

struct Edges {
    subjects: StringBuilder,
    objects: StringBuilder,
    graphs: StringBuilder,
    relations: UInt32Builder,
    numbers: HashMap<String, u32, RandomState>,
    names: Vec<String>,
    rows: usize,
}

impl Default for Edges {
    fn default() -> Self {
        Edges {
            subjects: texts(),
            objects: texts(),
            graphs: texts(),
            relations: UInt32Builder::with_capacity(0),
            numbers: HashMap::default(),
            names: Vec::new(),
            rows: 0,
        }
    }
}

impl Edges {
    fn push(&mut self, quad: &Quad<'_>, object: &str) {
        let number = match self.numbers.get(quad.predicate) {
            Some(number) => *number,
            None => {
                #[expect(clippy::cast_possible_truncation, reason = "a batch has at most as many names as edges")]
                let number = self.names.len() as u32;
                self.names.push(quad.predicate.to_owned());
                self.numbers.insert(quad.predicate.to_owned(), number);
                number
            }
        };
        self.relations.append_value(number);
        self.subjects.append_value(quad.subject);
        self.objects.append_value(object);
        self.graphs.append_option(quad.graph);
        self.rows += 1;
    }

    fn batch(&mut self) -> Batch {
        self.numbers.clear();
        let names = std::mem::take(&mut self.names);
        let relations = Relations { names: StringArray::from(names), index: self.relations.finish() };
        let graphs: ArrayRef = Arc::new(self.graphs.finish());
        Batch::Edges(EdgeBatch {
            ty: 0,
            rows: std::mem::take(&mut self.rows),
            relations: Some(relations),
            source: Ends::Keys(Arc::new(self.subjects.finish())),
            target: Ends::Keys(Arc::new(self.objects.finish())),
            layers: None,
            directed: None,
            keys: None,
            properties: vec![(graphs.null_count() < graphs.len()).then_some(graphs)],
        })
    }
}

struct Values {
    subjects: StringBuilder,
    /// Lexical form, datatype, language, direction.
    parts: [StringBuilder; 4],
    graphs: StringBuilder,
    rows: usize,
}

impl Default for Values {
    fn default() -> Self {
        Values { subjects: texts(), parts: [texts(), texts(), texts(), texts()], graphs: texts(), rows: 0 }
    }
}

impl Values {
    fn push(&mut self, quad: &Quad<'_>, parts: [Option<&str>; 4]) {
        self.subjects.append_value(quad.subject);
        for (builder, part) in self.parts.iter_mut().zip(parts) {
            builder.append_option(part);
        }
        self.graphs.append_option(quad.graph);
        self.rows += 1;
    }

    fn batch(&mut self, table: usize) -> Batch {
        self.rows = 0;
        let columns: Vec<ArrayRef> = self.parts.iter_mut().map(|part| Arc::new(part.finish()) as ArrayRef).collect();
        Batch::Values(ValueBatch {
            table,
            owner: Ends::Keys(Arc::new(self.subjects.finish())),
            values: Arc::new(StructArray::new(literal_fields(), columns, None)),
            qualifiers: vec![Some(Arc::new(self.graphs.finish()))],
        })
    }
}
