//! One file as a table, which is no graph.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef};
use isomorph_error::{Error, Result};
use isomorph_model::ValueKind;
use isomorph_storage::{Blob, Location, pool};
use isomorph_tables::{Encoding, ReadOptions, TableReader};

use crate::conventions::{delimiter, encoding};
use crate::survey::{Wanted, survey};

/// A table in a file: Parquet, ORC, Arrow IPC, CSV or JSON lines. Texts are read once, to find the types of their columns.
#[derive(Clone)]
pub struct PlainTable {
    reader: TableReader,
    /// Columns that hold JSON text.
    json: Vec<String>,
    name: String,
    bytes: u64,
}

impl std::fmt::Debug for PlainTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlainTable").field("schema", self.reader.schema()).finish_non_exhaustive()
    }
}

impl PlainTable {
    /// The name without endings, if the name of a file says that it is a table: `prices` of `prices.csv.gz`.
    pub fn stem(name: &str) -> Option<String> {
        let name = name.rsplit(['/', '\\']).next().unwrap_or(name);
        encoding(name).map(|(stem, _)| stem)
    }

    /// Opens the file at `location`.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] if its name says no encoding; and if it cannot be read.
    pub fn open(location: &Location) -> Result<PlainTable> {
        let Some((_, encoding)) = encoding(location.file_name()) else {
            return Err(Error::usage("the name of a table must say its encoding")
                .at(location.to_string())
                .hint("use a name that ends with .parquet, .orc, .arrow, .csv or .jsonl"));
        };
        let blob = Blob::open(location)?;
        let mut options = ReadOptions { packed: true, embedded_types: true, ..ReadOptions::default() };
        let mut json = Vec::new();
        if encoding.is_text() {
            if encoding == Encoding::Csv
                && let Some(delimiter) = delimiter(blob.clone())?
            {
                options.csv.separator = delimiter;
            }
            let mut files = [(blob.clone(), options)];
            let wanted = Wanted { relation: None, labels: None, keys: None, known: &[], threads: pool::threads() };
            let found = survey(&mut files, encoding, &wanted)?;
            let [(_, read)] = files;
            options = read;
            let columns = found.columns.iter();
            json = columns.filter(|(_, ty)| ty.kind == ValueKind::Json).map(|(name, _)| name.clone()).collect();
            options.raw_json.clone_from(&json);
            let fields = found.columns.into_iter().map(|(name, ty)| Field::new(name, ty.data_type, true));
            options.schema = Some(Arc::new(Schema::new(fields.collect::<Vec<_>>())));
        }
        let (name, bytes) = (location.file_name().to_owned(), blob.size());
        Ok(PlainTable { reader: TableReader::open(blob, encoding, &options)?, json, name, bytes })
    }

    /// Its columns. Text that is JSON says so in the metadata of its field (`isomorph.kind`).
    pub fn schema(&self) -> SchemaRef {
        let fields = self.reader.schema().fields().iter().map(|field| {
            let mut field = field.as_ref().clone();
            if self.json.contains(field.name()) {
                field.set_metadata([("isomorph.kind".to_owned(), "json".to_owned())].into());
            }
            field
        });
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    /// The name of its file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The size of its file, bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its reader.
    pub fn reader(&self) -> &TableReader {
        &self.reader
    }
}
