//! Handwritten files: features of the dialects, and invalid files.
#![allow(clippy::unwrap_used, clippy::panic)]

mod cx2;
mod detection;
mod drawings;
mod gexf;
mod gml;
mod jgf;
mod kept;
mod node_link;
mod random;
mod wrong_ids;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_schema::DataType;
use isomorph_error::{Error, Findings};
use isomorph_graphfile::gexf::Gexf;
use isomorph_graphfile::gml::Gml;
use isomorph_graphfile::nodelink::NodeLink;
use isomorph_graphfile::{OpenOptions, RecordGraph, RecordWriter, Syntax, WriteOptions};
use isomorph_model::{Batch, Ends, MemoryGraph, Sink, Source};
use isomorph_storage::{Location, Mode, Staging};

fn open_as(syntax: &'static dyn Syntax, text: &[u8]) -> Result<RecordGraph, Error> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph");
    std::fs::write(&path, text).unwrap();
    RecordGraph::open(&Location::from_path(&path), syntax, OpenOptions::default())
}

fn json(text: &str) -> Result<RecordGraph, Error> {
    open_as(&NodeLink, text.as_bytes())
}

fn gml(text: &str) -> Result<RecordGraph, Error> {
    open_as(&Gml, text.as_bytes())
}

fn gexf(inside: &str) -> Result<RecordGraph, Error> {
    let text = format!(
        "<gexf xmlns=\"http://www.gexf.net/1.2draft\" xmlns:viz=\"http://www.gexf.net/1.2draft/viz\" version=\"1.2\">{inside}</gexf>"
    );
    open_as(&Gexf, text.as_bytes())
}

fn rule(result: Result<RecordGraph, Error>) -> &'static str {
    match result {
        Ok(_) => "none",
        Err(error) => error.broken_rule().unwrap_or_else(|| panic!("{error:?}")).id,
    }
}

/// The rules that opening and validating find broken.
fn found(graph: &RecordGraph) -> Vec<&'static str> {
    let mut findings = Findings::keeping(9);
    graph.validate(&mut findings).unwrap();
    findings.by_rule().flat_map(|(_, kept)| kept).map(|finding| finding.rule.id).collect()
}

fn cell(column: &dyn Array, row: usize) -> String {
    match column.data_type() {
        _ if column.is_null(row) => "-".to_owned(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Float64 => format!("{:?}", column.as_primitive::<Float64Type>().value(row)),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::Utf8 => format!("{:?}", column.as_string::<i32>().value(row)),
        DataType::List(_) => {
            let items = column.as_list::<i32>().value(row);
            let items: Vec<String> = (0..items.len()).map(|at| cell(items.as_ref(), at)).collect();
            format!("[{}]", items.join(" "))
        }
        other => other.to_string(),
    }
}

/// Returns nodes and edges, one line each, in order.
fn shown(source: &dyn Source) -> Vec<String> {
    let graph = MemoryGraph::read(source).unwrap();
    let mut lines = Vec::new();
    for batch in &graph.batches {
        let (rows, mut lines_of) = match batch {
            Batch::Nodes(nodes) => {
                let keys = nodes.keys.clone().unwrap();
                (nodes.rows, (0..nodes.rows).map(|row| cell(keys.as_ref(), row)).collect::<Vec<_>>())
            }
            Batch::Edges(edges) => {
                let end = |ends: &Ends, row: usize| match ends {
                    Ends::Keys(keys) => cell(keys.as_ref(), row),
                    Ends::Rows(rows) => format!("#{}", rows.value(row)),
                };
                (
                    edges.rows,
                    (0..edges.rows)
                        .map(|row| format!("{} {}", end(&edges.source, row), end(&edges.target, row)))
                        .collect(),
                )
            }
            _ => panic!("neither nodes nor edges"),
        };
        let properties = match batch {
            Batch::Nodes(nodes) => &nodes.properties,
            Batch::Edges(edges) => &edges.properties,
            _ => panic!(),
        };
        assert_eq!(lines_of.len(), rows);
        for (row, line) in lines_of.iter_mut().enumerate() {
            for column in properties.iter().flatten() {
                line.push(' ');
                line.push_str(&cell(column.as_ref(), row));
            }
        }
        lines.extend(lines_of);
    }
    lines
}

fn written(form: Box<dyn isomorph_graphfile::Form>, graph: &dyn Source) -> Result<Vec<u8>, Error> {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("x");
    let staging = Staging::file(&Location::from_path(&path), Mode::CreateNew).unwrap();
    let mut sink: Box<dyn Sink> =
        Box::new(RecordWriter::create(&staging, graph.graph(), form, &WriteOptions::default())?);
    let batches = MemoryGraph::read(graph)?.batches;
    for (delivery, of_nodes) in [(0, true), (1, false)] {
        for batch in batches.iter().filter(|batch| matches!(batch, Batch::Nodes(_)) == of_nodes) {
            sink.write(delivery, batch.clone())?;
        }
    }
    sink.finish()?;
    staging.commit(&[])?;
    Ok(std::fs::read(path).unwrap())
}

/// Opens what is written of a graph again.
fn again(syntax: &'static dyn Syntax, form: Box<dyn isomorph_graphfile::Form>, graph: &dyn Source) -> RecordGraph {
    let bytes = written(form, graph).unwrap();
    open_as(syntax, &bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)))
}
