//! Rows of triples: those that state a class that is a label, and the others.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, BooleanArray, StringArray};
use isomorph_error::{Error, Result};
use isomorph_model::faces::RDF_TYPE;
use isomorph_model::term::{self, TermKind};
use isomorph_model::{Columns, EdgeBatch, Ends, Relations};

use crate::mapping::view::Rows;

/// Whether a class can be a label: an IRI without the character that separates labels in NOCK.
fn is_label(class: &str) -> bool {
    term::kind(class) == TermKind::Iri && !class.is_empty() && !class.contains(',')
}

/// The named graphs of triples; `None` if all are in the default graph.
pub(super) fn graphs(batch: &EdgeBatch) -> Option<&StringArray> {
    batch.properties.first().and_then(Option::as_ref).and_then(|column| column.as_string_opt::<i32>())
}

/// Keys of ends, which are texts in both shapes.
pub(super) fn texts(ends: &Ends) -> Option<&StringArray> {
    match ends {
        Ends::Keys(keys) => keys.as_string_opt::<i32>(),
        Ends::Rows(_) => None,
    }
}

/// The same, with an error if they are not.
pub(super) fn terms(ends: &Ends) -> Result<&StringArray> {
    texts(ends).ok_or_else(|| Error::unsupported("triples must refer to terms, not to rows"))
}

/// Which triples of a batch state, in the default graph, a class that can be a label; `None` if there are none.
pub(super) fn classes(batch: &EdgeBatch) -> Result<Option<BooleanArray>> {
    let Some(Relations { names, index }) = &batch.relations else { return Ok(None) };
    let Some(number) = (0..names.len()).find(|at| names.is_valid(*at) && names.value(*at) == RDF_TYPE) else {
        return Ok(None);
    };
    let (graphs, objects) = (graphs(batch), terms(&batch.target)?);
    let says = |row: usize| {
        index.value(row) as usize == number
            && graphs.is_none_or(|graphs| graphs.is_null(row))
            && is_label(objects.value(row))
    };
    let says: BooleanArray = (0..batch.rows).map(|row| Some(says(row))).collect();
    Ok(Some(says).filter(|says| says.true_count() > 0))
}

/// A batch without the triples that are labels.
pub(super) fn without_classes(batch: &EdgeBatch) -> Result<EdgeBatch> {
    match classes(batch)? {
        None => Ok(batch.clone()),
        Some(classes) => Rows::that(batch.rows, |row| !classes.value(row)).of_edges(batch),
    }
}

/// Triples of one relation: one for each pair of `subjects` and `objects`.
pub(super) fn between(subjects: StringArray, relation: &str, objects: StringArray, properties: Columns) -> EdgeBatch {
    let rows = subjects.len();
    EdgeBatch {
        relations: Some(Relations { names: StringArray::from(vec![relation]), index: vec![0; rows].into() }),
        properties,
        ..EdgeBatch::between(0, Ends::Keys(Arc::new(subjects)), Ends::Keys(Arc::new(objects)))
    }
}
