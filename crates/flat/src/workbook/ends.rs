//! The nodes of a workbook whose only sheet is a table of edges: their ends, each once, in the order of the rows.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use isomorph_error::{Error, Result};
use isomorph_storage::Blob;
use isomorph_tables::{Encoding, ReadOptions, Selection, TableReader};

use crate::conventions::{TableFile, ends_by_name};

/// The name of the column with the keys.
const KEY: &str = "id";

/// Calls the only table of a workbook edges, and adds one of its ends, if the names of columns say which these are.
///
/// # Errors
/// If the names could mean several columns, or the table cannot be read.
pub(crate) fn with_nodes(workbook: &str, tables: &mut Vec<(TableFile, Blob)>) -> Result<()> {
    let [(edges, text)] = tables.as_mut_slice() else { return Ok(()) };
    let Some((source, target)) = ends_by_name(edges)? else { return Ok(()) };
    let of = |name: &str| edges.cells.iter().find(|(column, _)| column == name).map(|(_, data_type)| data_type.clone());
    let types = [of(source), of(target)];
    // Ends of two types are texts, as those of an edge list are.
    let data_type = types[0].clone().filter(|own| types[1].as_ref() == Some(own) && own.is_integer());
    let nodes = Bytes::from(keys(text, [source, target])?);
    let ends = [source.to_owned(), target.to_owned()];
    if data_type.is_none() {
        let is_end = |(name, _): &&mut (String, DataType)| ends.contains(name);
        edges.cells.iter_mut().filter(is_end).for_each(|(_, own)| *own = DataType::Utf8);
    }
    "edges".clone_into(&mut edges.stem);
    let name = format!("{workbook}#the ends of edges");
    let nodes = Blob::from_bytes(&name, &nodes);
    let file = TableFile {
        name,
        stem: "nodes".to_owned(),
        encoding: Encoding::Csv,
        delimiter: Some(b','),
        columns: vec![KEY.to_owned()],
        cells: vec![(KEY.to_owned(), data_type.unwrap_or(DataType::Utf8))],
    };
    tables.push((file, nodes));
    Ok(())
}

/// The text of a table with the different texts of two columns.
fn keys(edges: &Blob, ends: [&str; 2]) -> Result<String> {
    let fields = ends.map(|name| Field::new(name, DataType::Utf8, true)).to_vec();
    let options = ReadOptions::declared(Arc::new(Schema::new(fields)));
    let reader = TableReader::open(edges.clone(), Encoding::Csv, &options)?;
    let (mut known, mut out) = (HashSet::new(), format!("{KEY}\n"));
    for batch in reader.batches(&Selection::all())? {
        let batch = batch?;
        let column = |name: &str| batch.column_by_name(name).and_then(|own| own.as_string_opt::<i32>());
        let Some((sources, targets)) = column(ends[0]).zip(column(ends[1])) else {
            return Err(Error::usage("a batch lacks a column"));
        };
        for end in sources.iter().zip(targets).flat_map(|(source, target)| [source, target]).flatten() {
            if !known.contains(end) {
                known.insert(end.to_owned());
                out.push('"');
                out.push_str(&end.replace('"', "\"\""));
                out.push_str("\"\n");
            }
        }
    }
    Ok(out)
}
