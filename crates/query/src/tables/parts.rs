//! Rows that a scan reads, whatever they are kept in.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use datafusion::common::Statistics;
use futures::Stream;
use isomorph::dataset::PlannedRead;
use isomorph::error::Place;
use isomorph::model::DynamicFilter;
use isomorph::{Predicate, Result};
use isomorph_cypher::Value;

use crate::tables::columns::Column;
use crate::tables::table::GraphTable;

/// A part of the rows: its batches, in the columns that were asked for.
pub(crate) type Part = Pin<Box<dyn Stream<Item = Result<RecordBatch>> + Send>>;

/// The pattern of a `GRAPH_TABLE`, from which its matches are found again.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    /// `MATCH … RETURN …`.
    pub text: Arc<str>,
    pub parameters: BTreeMap<String, Value>,
    /// Where the question has it.
    pub place: Place,
}

/// Which rows and columns are wanted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// The columns, by their positions in the schema.
    pub columns: Vec<usize>,
    /// A condition that all rows pass.
    pub filter: Option<Predicate>,
    /// What became known since the plan was made: rows that do not pass it may be left out.
    pub hints: Option<Predicate>,
    /// What becomes known later.
    pub dynamic: Option<DynamicFilter>,
    /// The most rows that are wanted.
    pub limit: Option<usize>,
    /// Whether they are read by other processes, a part here and a part there: then they are scanned, as the choice of a look-up depends on what a process has
    /// read before, and every process has to divide the table into the same parts.
    pub is_divided: bool,
}

/// Marks sessions whose scans are divided among processes.
#[derive(Debug)]
pub(crate) struct Divided;

impl Wanted {
    /// Everything that is known of the rows.
    pub fn condition(&self) -> Option<Predicate> {
        Predicate::both(self.filter.clone(), self.hints.clone())
    }
}

/// A table's rows.
pub(crate) trait Rows: Debug + Send + Sync + 'static {
    /// All columns.
    fn schema(&self) -> &SchemaRef;

    /// A column that conditions can be asked of.
    fn column(&self, name: &str) -> Option<Column>;

    /// What is known of all rows. It may open files.
    fn statistics(&self) -> Statistics;

    /// About which part of the rows passes.
    fn fraction(&self, filter: &Predicate) -> f64;

    /// The parts of the rows that are wanted.
    ///
    /// # Errors
    /// If metadata cannot be read.
    fn parts(&self, wanted: &Wanted) -> Result<Vec<Part>>;

    /// Whether they are found by an index or an order, and not by reading all.
    fn is_found(&self, _: &Wanted) -> bool {
        false
    }

    /// Whether tables are held in memory to find them, which may be too small for that.
    fn holds_tables(&self) -> bool {
        false
    }

    /// Of a table of a graph: the table.
    fn graph_table(&self) -> Option<&GraphTable> {
        None
    }

    /// Of matches of a pattern: the name of the graph in the question, and the pattern.
    #[cfg(feature = "distributed")]
    fn matched(&self) -> Option<(String, Pattern)> {
        None
    }

    /// What reading them reads of files, as far as it is known without reading rows.
    ///
    /// # Errors
    /// If metadata cannot be read.
    fn reads(&self, wanted: &Wanted) -> Result<Vec<PlannedRead>>;

    /// How they are found, in a few words, for plans.
    fn way(&self, wanted: &Wanted) -> String;
}
