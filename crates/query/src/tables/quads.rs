//! Triples as a table of text.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::common::Statistics;
use futures::StreamExt;
use isomorph::dataset::{PlannedRead, Role};
use isomorph::model::faces::{Object, Pattern, Quad, TripleLookUps};
use isomorph::model::{Source, ntriples};
use isomorph::{Error, Kind, Predicate, Result};
use tokio::sync::mpsc::{Sender, channel};

use crate::tables::columns::{Column, Compares};
use crate::tables::parts::{Part, Rows, Wanted};

/// Rows of a batch.
const ROWS: usize = 8192;

/// Batches that wait for their reader.
const AHEAD: usize = 2;

/// The most look-ups instead of a scan.
const LOOK_UPS: usize = 256;

/// How all triples are read.
const ALL: &str = "triples";

/// The names of the columns.
const COLUMNS: [&str; 4] = ["subject", "predicate", "object", "graph"];

/// The triples of a text or a store, each term as N-Triples writes it.
pub(crate) struct Quads {
    source: Arc<dyn Source>,
    schema: SchemaRef,
}

impl std::fmt::Debug for Quads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Quads")
    }
}

impl Quads {
    /// The triples of `source`; `None` if it has none.
    pub fn of(source: &Arc<dyn Source>) -> Option<Self> {
        source.triples().filter(|triples| triples.are_distinct())?;
        let fields: Vec<Field> =
            COLUMNS.iter().map(|name| Field::new(*name, DataType::Utf8, *name == "graph")).collect();
        Some(Quads { source: Arc::clone(source), schema: Arc::new(Schema::new(fields)) })
    }
}

/// The terms that each column must have one of, where the condition says so.
#[derive(Default)]
struct Terms([Option<isomorph::model::Set>; 4]);

impl Terms {
    fn of(filter: Option<&Predicate>) -> Self {
        let equal = |column: &str| {
            let filter = filter?;
            filter.set_of(column).cloned().or_else(|| equal_to(filter, column))
        };
        Terms(COLUMNS.map(equal))
    }

    /// Subject, predicate and object of the look-ups that find all quads that are wanted: of the columns that must be one of few IRIs, every choice. `None` if these are no
    /// columns, or too many choices.
    fn asked(&self) -> Option<Vec<[Option<String>; 3]>> {
        let mut asked: Vec<[Option<String>; 3]> = vec![[const { None }; 3]];
        for at in 0..3 {
            let Some(iris) = self.iris(at) else { continue };
            if iris.len().saturating_mul(asked.len()) > LOOK_UPS {
                continue;
            }
            let with = |asked: &[Option<String>; 3], iri: &String| {
                let mut asked = asked.clone();
                asked[at] = Some(iri.clone());
                asked
            };
            asked = asked.iter().flat_map(|asked| iris.iter().map(move |iri| with(asked, iri))).collect();
        }
        (asked != [[const { None }; 3]]).then_some(asked)
    }

    /// What a column must be one of, if these are IRIs as they are stored.
    fn iris(&self, at: usize) -> Option<Vec<String>> {
        let iri = |text: Option<&str>| {
            let iri = text?.strip_prefix('<')?.strip_suffix('>')?;
            (!iri.contains(['\\', '<', '>'])).then(|| iri.to_owned())
        };
        self.0.get(at)?.as_ref()?.texts()?.iter().map(iri).collect()
    }

    fn has(&self, at: usize, text: &str) -> bool {
        self.0.get(at).and_then(Option::as_ref).is_none_or(|set| set.has_text(text))
    }
}

/// The one text that a column must equal.
fn equal_to(filter: &Predicate, column: &str) -> Option<isomorph::model::Set> {
    use isomorph::model::{Comparison, Literal, Set};
    match filter {
        Predicate::Compare { column: own, comparison: Comparison::Equal, literal: Literal::Text(text) }
            if own == column =>
        {
            Set::of(&StringArray::from_iter_values([text])).ok()
        }
        Predicate::And(all) => all.iter().find_map(|one| equal_to(one, column)),
        _ => None,
    }
}

/// Collects quads into batches, and hands these over.
struct Collector {
    columns: Vec<usize>,
    /// The whole condition, and the schema of all columns.
    filter: Option<isomorph::model::Filter>,
    terms: Terms,
    schema: SchemaRef,
    shown: SchemaRef,
    cells: [Vec<Option<String>>; 4],
    to: Sender<Result<RecordBatch>>,
    left: usize,
}

impl Collector {
    fn push(&mut self, quad: &Quad<'_>) -> Result<()> {
        let term = |text: &str| {
            let mut out = String::new();
            ntriples::push_term(&mut out, text);
            out
        };
        let subject = term(quad.subject);
        if !self.terms.has(0, &subject) {
            return Ok(());
        }
        let predicate = term(quad.predicate);
        let mut object = String::new();
        ntriples::push_object(&mut object, &quad.object);
        let graph = quad.graph.map(term);
        let is_wanted = self.terms.has(1, &predicate)
            && self.terms.has(2, &object)
            && graph.as_deref().map_or(self.terms.0[3].is_none(), |graph| self.terms.has(3, graph));
        if is_wanted {
            for (cells, cell) in self.cells.iter_mut().zip([Some(subject), Some(predicate), Some(object), graph]) {
                cells.push(cell);
            }
            if self.cells[0].len() >= ROWS.min(self.left) {
                self.hand_over()?;
            }
        }
        Ok(())
    }

    fn hand_over(&mut self) -> Result<()> {
        let arrays: Vec<ArrayRef> =
            self.cells.iter_mut().map(|cells| Arc::new(StringArray::from(std::mem::take(cells))) as ArrayRef).collect();
        let broken = |error: arrow_schema::ArrowError| Error::malformed(error.to_string()).caused_by(error);
        let mut all = RecordBatch::try_new(Arc::clone(&self.schema), arrays).map_err(broken)?;
        if let Some(filter) = &self.filter {
            let passing = filter.passing(&all)?;
            all = datafusion::arrow::compute::filter_record_batch(&all, &passing.into()).map_err(broken)?;
        }
        let rows = all.num_rows().min(self.left);
        self.left -= rows;
        let columns = self.columns.iter().map(|at| all.column(*at).slice(0, rows)).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let batch = RecordBatch::try_new_with_options(Arc::clone(&self.shown), columns, &options).map_err(broken)?;
        let is_gone = self.to.blocking_send(Ok(batch)).is_err();
        // Nobody wants more.
        if is_gone || self.left == 0 { Err(Error::new(Kind::Cancelled, "enough")) } else { Ok(()) }
    }
}

fn read(source: &dyn Source, collector: &mut Collector) -> Result<()> {
    let Some(triples) = source.triples() else { return collector.hand_over() };
    let asked = collector.terms.asked();
    match triples.look_ups().zip(asked) {
        Some((look_ups, asked)) => look_up(look_ups, &asked, collector)?,
        None => triples.each(&mut |quad| collector.push(quad).map(|()| true))?,
    }
    collector.hand_over()
}

fn look_up(look_ups: &dyn TripleLookUps, asked: &[[Option<String>; 3]], collector: &mut Collector) -> Result<()> {
    asked.iter().try_for_each(|[subject, predicate, object]| {
        let pattern = Pattern {
            subject: subject.as_deref(),
            predicate: predicate.as_deref(),
            object: object.as_deref().map(Object::Term),
            ..Pattern::default()
        };
        look_ups.matching(&pattern, 1, &mut |quad| collector.push(quad))
    })
}

impl Rows for Quads {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn column(&self, name: &str) -> Option<Column> {
        COLUMNS.contains(&name).then(|| Column {
            stored: name.to_owned(),
            role: Role::Value,
            compares: Compares::Fully,
            data_type: DataType::Utf8,
        })
    }

    fn statistics(&self) -> Statistics {
        Statistics::new_unknown(&self.schema)
    }

    fn fraction(&self, _: &Predicate) -> f64 {
        0.1
    }

    fn parts(&self, wanted: &Wanted) -> Result<Vec<Part>> {
        let condition = wanted.condition();
        let shown = self.schema.project(&wanted.columns).map_err(|error| Error::usage(error.to_string()))?;
        let (to, from) = channel(AHEAD);
        let mut collector = Collector {
            columns: wanted.columns.clone(),
            filter: condition.as_ref().map(|own| isomorph::model::Filter::new(own, &self.schema)).transpose()?,
            terms: Terms::of(condition.as_ref()),
            schema: Arc::clone(&self.schema),
            shown: Arc::new(shown),
            cells: Default::default(),
            to,
            left: wanted.limit.unwrap_or(usize::MAX),
        };
        let source = Arc::clone(&self.source);
        let start = move || {
            let thread = std::thread::Builder::new().name("isomorph-quads".to_owned());
            thread.spawn(move || match read(source.as_ref(), &mut collector) {
                Err(error) if error.kind() != Kind::Cancelled => drop(collector.to.blocking_send(Err(error))),
                _ => {}
            })
        };
        // Nothing is read before the first batch is wanted.
        let stream = futures::stream::unfold((Some(start), from), |(start, mut from)| async move {
            if let Some(start) = start
                && let Err(error) = start()
            {
                return Some((Err(error.into()), (None, from)));
            }
            from.recv().await.map(|batch| (batch, (None, from)))
        });
        Ok(vec![stream.boxed()])
    }

    fn reads(&self, wanted: &Wanted) -> Result<Vec<PlannedRead>> {
        let columns = wanted.columns.iter().filter_map(|at| COLUMNS.get(*at)).map(|name| (*name).to_owned());
        let bytes = Some(self.source.about().bytes).filter(|bytes| *bytes > 0);
        let way = self.way(wanted);
        let is_most = way != ALL || wanted.limit.is_some();
        Ok(vec![PlannedRead { table: "quads".to_owned(), columns: columns.collect(), way, bytes, is_most }])
    }

    fn way(&self, wanted: &Wanted) -> String {
        let asked = Terms::of(wanted.condition().as_ref()).asked();
        let can = self.source.triples().is_some_and(|triples| triples.look_ups().is_some());
        match asked.filter(|_| can) {
            Some(asked) => format!("triples, looked up {} times", asked.len()),
            None => ALL.to_owned(),
        }
    }
}
