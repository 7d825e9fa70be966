//! Files of any rows, valid or not, written by the published Parquet writer only.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::WriterProperties;

/// One row; `None` is null.
#[derive(Debug, Clone)]
pub struct Row {
    pub src_name: Option<&'static str>,
    pub edge_id: Option<i64>,
    pub rel_name: Option<&'static str>,
    pub dst_name: Option<&'static str>,
    pub truth: Option<f64>,
    pub shadow: Option<i64>,
    pub is_rdf: Option<bool>,
    pub labels: Option<&'static str>,
    pub props: Option<&'static str>,
}

/// A valid node row.
pub fn node(name: &'static str) -> Row {
    Row {
        src_name: Some(name),
        edge_id: Some(-1),
        rel_name: Some(""),
        dst_name: Some(""),
        truth: Some(1.0),
        shadow: Some(-1),
        is_rdf: Some(false),
        labels: Some(""),
        props: Some(""),
    }
}

/// A valid edge row.
pub fn edge(name: &'static str, id: i64, rel: &'static str, target: &'static str) -> Row {
    Row { edge_id: Some(id), rel_name: Some(rel), dst_name: Some(target), ..node(name) }
}

impl Row {
    pub fn shadow(mut self, owner: i64) -> Row {
        self.shadow = Some(owner);
        self
    }

    pub fn labels(mut self, labels: &'static str) -> Row {
        self.labels = Some(labels);
        self
    }

    pub fn truth(mut self, truth: f64) -> Row {
        self.truth = Some(truth);
        self
    }

    pub fn props(mut self, props: &'static str) -> Row {
        self.props = Some(props);
        self
    }
}

/// Returns the rows as a Parquet file.
pub fn file(rows: &[Row]) -> Vec<u8> {
    file_of_groups(rows, 1 << 20)
}

/// Returns the rows as a Parquet file with row groups of `group` rows.
pub fn file_of_groups(rows: &[Row], group: usize) -> Vec<u8> {
    parquet(&batch(rows), group)
}

/// Returns the rows as text.
pub fn csv(rows: &[Row]) -> Vec<u8> {
    let quoted = |text: Option<&str>| format!("\"{}\"", text.unwrap().replace('"', "\"\""));
    let line = |row: &Row| {
        format!(
            "{},{},{},{},{},{},{},{},{}\n",
            quoted(row.src_name),
            row.edge_id.unwrap(),
            quoted(row.rel_name),
            quoted(row.dst_name),
            row.truth.unwrap(),
            row.shadow.unwrap(),
            if row.is_rdf.unwrap() { "True" } else { "False" },
            quoted(row.labels),
            quoted(row.props),
        )
    };
    let header = "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n".to_owned();
    std::iter::once(header).chain(rows.iter().map(line)).collect::<String>().into_bytes()
}

/// Returns the rows with the types of pynock.
pub fn batch(rows: &[Row]) -> RecordBatch {
    let text = |cell: fn(&Row) -> Option<&'static str>| -> ArrayRef {
        Arc::new(rows.iter().map(cell).collect::<StringArray>())
    };
    let numbers =
        |cell: fn(&Row) -> Option<i64>| -> ArrayRef { Arc::new(rows.iter().map(cell).collect::<Int64Array>()) };
    let columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("src_name", text(|row| row.src_name), true),
        ("edge_id", numbers(|row| row.edge_id), true),
        ("rel_name", text(|row| row.rel_name), true),
        ("dst_name", text(|row| row.dst_name), true),
        ("truth", Arc::new(rows.iter().map(|row| row.truth).collect::<Float64Array>()), true),
        ("shadow", numbers(|row| row.shadow), true),
        ("is_rdf", Arc::new(rows.iter().map(|row| row.is_rdf).collect::<BooleanArray>()), true),
        ("labels", text(|row| row.labels), true),
        ("props", text(|row| row.props), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// Returns any batch as a Parquet file.
pub fn parquet(batch: &RecordBatch, group: usize) -> Vec<u8> {
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}
