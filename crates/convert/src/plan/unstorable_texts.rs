//! Finds texts that the format cannot store, before anything is written.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use isomorph_error::{Error, Place, Result};
use isomorph_model::{Batch, Columns, EdgeBatch, Ends, Key, NodeBatch, Property, Request, Source, Tables};

use crate::driver::TextCheck;
use crate::parallel;
use crate::plan::planner::Planner;

/// Whether these are texts that are written unchanged.
fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8)
}

fn has_text(properties: &[Property]) -> bool {
    properties.iter().any(|property| is_text(&property.data_type))
}

/// The first text of a column that is refused, with its row.
fn check(column: &ArrayRef, check_text: &TextCheck) -> Result<(), (usize, Error)> {
    let each = |texts: &mut dyn Iterator<Item = Option<&str>>| {
        let mut texts = texts.enumerate().filter_map(|(row, text)| Some((row, text?)));
        texts.try_for_each(|(row, text)| check_text(text).map_err(|error| (row, error)))
    };
    match column.data_type() {
        DataType::Utf8 => each(&mut column.as_string::<i32>().iter()),
        DataType::LargeUtf8 => each(&mut column.as_string::<i64>().iter()),
        _ => Ok(()),
    }
}

/// The name of a row of keys.
fn name(keys: Option<&ArrayRef>, row: usize) -> Option<String> {
    let keys = keys.filter(|keys| keys.is_valid(row))?;
    match keys.data_type() {
        DataType::UInt64 => Some(keys.as_primitive::<UInt64Type>().value(row).to_string()),
        DataType::Int64 => Some(keys.as_primitive::<Int64Type>().value(row).to_string()),
        DataType::Utf8 => Some(keys.as_string::<i32>().value(row).to_owned()),
        DataType::LargeUtf8 => Some(keys.as_string::<i64>().value(row).to_owned()),
        _ => None,
    }
}

fn end(ends: &Ends, row: usize) -> String {
    match ends {
        Ends::Keys(keys) => name(Some(keys), row).unwrap_or_default(),
        Ends::Rows(rows) => format!("row {}", rows.value(row)),
    }
}

/// Checks the texts of some rows; `named` returns the name of a row.
fn rows(
    columns: &Columns,
    properties: &[Property],
    check_text: &TextCheck,
    named: &dyn Fn(usize) -> String,
) -> Result<()> {
    let stated = properties.iter().zip(columns).filter_map(|(property, column)| Some((property, column.as_ref()?)));
    for (property, column) in stated {
        let place = |row: usize| Place::field(format!("{}, {}", named(row), property.name));
        check(column, check_text).map_err(|(row, error)| error.at(place(row)))?;
    }
    Ok(())
}

fn nodes(batch: &NodeBatch, (ty, key): (&str, &Key), properties: &[Property], check_text: &TextCheck) -> Result<()> {
    let named = |row: usize| match name(batch.keys.as_ref(), row) {
        Some(name) => format!("{ty} {name}"),
        None => format!("{ty} of row {}", batch.start + row as u64),
    };
    if let Some(keys) = batch.keys.as_ref().filter(|_| is_text(&key.data_type)) {
        check(keys, check_text).map_err(|(row, error)| error.at(Place::field(named(row))))?;
    }
    rows(&batch.properties, properties, check_text, &named)
}

fn edges(batch: &EdgeBatch, properties: &[Property], check_text: &TextCheck) -> Result<()> {
    let named = |row: usize| format!("edge from {} to {}", end(&batch.source, row), end(&batch.target, row));
    rows(&batch.properties, properties, check_text, &named)
}

impl Planner<'_> {
    /// Reads the texts of `source`, if the target format cannot store every text. Values that are written as JSON text
    /// (labels, lists, empty cells) are not included: they are checked during writing.
    ///
    /// # Errors
    /// If a text cannot be stored, with its element and another format; also if the texts cannot be read.
    pub fn read_texts(&mut self, source: Arc<dyn Source>) -> Result<()> {
        let (resources, progress) = (self.resources, self.progress);
        let Some(check_text) = &self.plan.to.text_check(&self.options.write) else { return Ok(()) };
        let shown = self.plan.mapped(source, resources)?;
        let graph = shown.graph();
        let of_nodes = graph.nodes.iter().enumerate();
        let of_nodes = of_nodes.filter(|(_, ty)| has_text(&ty.properties) || is_text(&ty.key.data_type));
        let of_edges = graph.edges.iter().enumerate().filter(|(_, ty)| has_text(&ty.properties));
        let tables: Vec<Tables> =
            of_nodes.map(|(at, _)| Tables::Nodes(at)).chain(of_edges.map(|(at, _)| Tables::Edges(at))).collect();
        if tables.is_empty() {
            return Ok(());
        }
        self.plan.passes.push("texts");
        for tables in tables {
            let parts = shown.scan(&Request::of(tables))?;
            progress.begin("texts", parts.iter().map(|part| part.rows()).sum());
            let checked = |batch: Batch| {
                match &batch {
                    Batch::Nodes(batch) => {
                        let Some(ty) = graph.nodes.get(batch.ty) else { return Ok(0) };
                        nodes(batch, (&ty.name, &ty.key), &ty.properties, check_text)?;
                    }
                    Batch::Edges(batch) => {
                        let Some(ty) = graph.edges.get(batch.ty) else { return Ok(0) };
                        edges(batch, &ty.properties, check_text)?;
                    }
                    _ => {}
                }
                Ok(batch.rows() as u64)
            };
            let read = parallel::in_order(parts, resources.threads, checked, |rows| progress.advance(rows));
            progress.end();
            read?;
        }
        Ok(())
    }
}
