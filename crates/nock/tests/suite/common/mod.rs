//! Shared code of the tests: a source as a plain list of nodes and edges, and the location of the fixtures.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod graphs;
pub mod rows;

use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef};
use isomorph_error::Result;
use isomorph_model::{Batch, Ends, Request, Source, Tables};
use isomorph_nock::{Nock, OpenOptions};
use isomorph_storage::{Blob, Location};
use serde_json::{Value, json};

/// Returns the directory of this format's fixtures.
pub fn fixtures() -> PathBuf {
    isomorph_fixtures::fixture("nock")
}

/// Opens a file or directory.
pub fn open(path: &Path, options: &OpenOptions) -> Result<Nock> {
    Nock::open(&Location::from_path(path), options)
}

/// Opens bytes.
pub fn open_bytes(bytes: Vec<u8>, options: &OpenOptions) -> Result<Nock> {
    Nock::open_blob(Blob::from_bytes("memory.parq", &bytes.into()), options)
}

/// Returns everything in a source, in the form of the fixtures.
pub fn view(source: &dyn Source) -> Result<Value> {
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    let mut next = 0;
    let properties: Vec<String> = source.graph().nodes[0].properties.iter().map(|p| p.name.clone()).collect();
    let edge_properties: Vec<String> = source.graph().edges[0].properties.iter().map(|p| p.name.clone()).collect();
    for mut part in source.scan(&Request::of(Tables::All))? {
        part.read(&mut |batch| {
            match batch {
                Batch::Nodes(batch) => {
                    assert_eq!(batch.start, next, "rows are numbered without gaps");
                    next += batch.rows as u64;
                    assert_eq!(batch.properties.len(), properties.len());
                    let column = |name: &str| {
                        let at = properties.iter().position(|own| own == name)?;
                        batch.properties[at].as_ref()
                    };
                    for row in 0..batch.rows {
                        let mut labels: Vec<&str> =
                            batch.labels.as_ref().map(|labels| labels.row(row).collect()).unwrap_or_default();
                        labels.sort_unstable();
                        let shadow = column("shadow").filter(|column| column.is_valid(row));
                        nodes.push(json!({
                            "name": batch.keys.as_ref().unwrap().as_string::<i32>().value(row),
                            "labels": labels,
                            "truth": float(column("truth").unwrap(), row),
                            "is_rdf": column("is_rdf").unwrap().as_boolean().value(row),
                            "shadow": shadow.map_or(-1, |column| column.as_primitive::<Int64Type>().value(row)),
                            "props": props(column(""), row)?,
                        }));
                    }
                }
                Batch::Edges(batch) => {
                    let (Ends::Keys(source), Ends::Keys(target)) = (&batch.source, &batch.target) else { panic!() };
                    let relations = batch.relations.as_ref().unwrap();
                    let bag = edge_properties.iter().position(String::is_empty).unwrap();
                    for row in 0..batch.rows {
                        edges.push(json!({
                            "src": source.as_string::<i32>().value(row),
                            "rel": relations.names.value(relations.index.value(row) as usize),
                            "dst": target.as_string::<i32>().value(row),
                            "truth": float(batch.properties[0].as_ref().unwrap(), row),
                            "props": props(batch.properties[bag].as_ref(), row)?,
                        }));
                    }
                }
                _ => panic!("NOCK has nodes and edges"),
            }
            Ok(())
        })?;
    }
    nodes.sort_by_key(|node| node["name"].as_str().unwrap().to_owned());
    edges.sort_by_key(edge_order);
    Ok(json!({ "nodes": nodes, "edges": edges }))
}

/// The order in which the fixtures list edges.
pub fn edge_order(edge: &Value) -> (String, String, String, String) {
    let text = |key: &str| edge[key].as_str().unwrap().to_owned();
    (text("src"), text("rel"), text("dst"), edge.to_string())
}

fn float(column: &ArrayRef, row: usize) -> Value {
    match column.as_primitive_opt::<Float32Type>() {
        Some(column) => json!(f64::from(column.value(row))),
        None => json!(column.as_primitive::<Float64Type>().value(row)),
    }
}

fn props(column: Option<&ArrayRef>, row: usize) -> Result<Value> {
    let text = column.filter(|column| column.is_valid(row)).map(|column| column.as_string::<i32>().value(row));
    match text {
        None | Some("" | "null") => Ok(json!({})),
        Some(text) => serde_json::from_str(text).map_err(|error| isomorph_error::Error::malformed(error.to_string())),
    }
}

/// Fails with the first element that differs.
pub fn assert_same(found: &Value, wanted: &Value, what: &str) {
    for kind in ["nodes", "edges"] {
        let (found, wanted) = (found[kind].as_array().unwrap(), wanted[kind].as_array().unwrap());
        for (found, wanted) in found.iter().zip(wanted) {
            assert_eq!(found, wanted, "{what}");
        }
        assert_eq!(found.len(), wanted.len(), "{what}: number of {kind}");
    }
}
