//! Triples as columns.

use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{Array, ArrayRef, StringArray, StructArray, UInt32Array};
use isomorph_error::Result;
use isomorph_model::batch::ValueBatch;
use isomorph_model::{Batch, EdgeBatch, Ends, Relations};

use super::graph::literal_fields;
use super::quoted::Quoted;
use crate::term::Datatype;
use crate::triple::Triple;

/// A batch with this many bytes of text is full, whatever its number of rows: offsets have 32 bits.
const FULL: usize = 256 << 20;

/// Collects the triples of one predicate in one graph: those with resources or those with literals as objects.
#[derive(Default)]
pub(crate) struct Collector {
    subjects: StringBuilder,
    objects: StringBuilder,
    datatypes: StringBuilder,
    languages: StringBuilder,
    directions: StringBuilder,
    rows: usize,
    bytes: usize,
}

impl Collector {
    /// Adds a triple; if the object is the id of a quoted triple, it becomes a triple term.
    pub(crate) fn push(&mut self, triple: &Triple, quoted: &Quoted) -> Result<()> {
        if quoted.is_empty() {
            self.add(&triple.subject, &triple.object, triple);
            return Ok(());
        }
        let object = if triple.literal { None } else { quoted.term(&triple.object)? };
        self.add(&triple.subject, object.as_deref().unwrap_or(&triple.object), triple);
        Ok(())
    }

    fn add(&mut self, subject: &str, object: &str, triple: &Triple) {
        self.subjects.append_value(subject);
        self.objects.append_value(object);
        if triple.literal {
            let Datatype { iri, language, direction } = Datatype::of(&triple.datatype);
            self.datatypes.append_option(iri);
            self.languages.append_option(language);
            self.directions.append_option(direction);
        }
        self.rows += 1;
        self.bytes += subject.len() + object.len() + triple.datatype.len();
    }

    pub(crate) fn is_full(&self, rows: usize) -> bool {
        self.rows >= rows || self.bytes >= FULL
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    fn begin_again(&mut self) -> usize {
        self.bytes = 0;
        std::mem::take(&mut self.rows)
    }

    /// Returns the collected triples as edges.
    pub(crate) fn edges(&mut self, predicate: &str, graph: Option<&str>) -> Batch {
        let rows = self.begin_again();
        let relations =
            Relations { names: StringArray::from(vec![predicate]), index: UInt32Array::from(vec![0; rows]) };
        let source: ArrayRef = Arc::new(self.subjects.finish());
        let target: ArrayRef = Arc::new(self.objects.finish());
        Batch::Edges(EdgeBatch {
            ty: 0,
            rows,
            relations: Some(relations),
            source: Ends::Keys(source),
            target: Ends::Keys(target),
            layers: None,
            directed: None,
            keys: None,
            properties: vec![graph.map(|graph| repeated(graph, rows))],
        })
    }

    /// Returns the collected triples as values of table number `table`.
    pub(super) fn values(&mut self, table: usize, graph: Option<&str>) -> Batch {
        let rows = self.begin_again();
        let columns = [&mut self.objects, &mut self.datatypes, &mut self.languages, &mut self.directions];
        let columns = columns.map(|column| Arc::new(column.finish()) as ArrayRef);
        let owner: ArrayRef = Arc::new(self.subjects.finish());
        let values = StructArray::new(literal_fields(), columns.into(), None);
        debug_assert_eq!(values.len(), rows);
        Batch::Values(ValueBatch {
            table,
            owner: Ends::Keys(owner),
            values: Arc::new(values),
            // The column also exists if all its values are null: code that converts values to quads looks for it.
            qualifiers: vec![Some(graph.map_or_else(|| nulls(rows), |graph| repeated(graph, rows)))],
        })
    }
}

fn repeated(text: &str, rows: usize) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(text, rows)))
}

fn nulls(rows: usize) -> ArrayRef {
    Arc::new(StringArray::new_null(rows))
}
