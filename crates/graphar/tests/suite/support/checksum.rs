//! The order-independent checksum with which the reference library's results were recorded: a sum of 64-bit FNV-1a
//! hashes of rows written as text.

use std::fmt::Write;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{DataType, TimeUnit};
use isomorph_graphar::info::AdjListType;
use isomorph_graphar::{GraphAr, OpenOptions};
use isomorph_model::{Batch, Ends, LabelVocabulary, Property, Request, Source, Tables};

fn hash(text: &str) -> u64 {
    text.bytes().fold(1_469_598_103_934_665_603, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(1_099_511_628_211))
}

fn value(array: &ArrayRef, row: usize, out: &mut String) {
    if array.is_null(row) {
        return out.push_str("\\N");
    }
    match array.data_type() {
        DataType::Boolean => write!(out, "{}", array.as_boolean().value(row)),
        DataType::Int32 => write!(out, "{}", array.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => write!(out, "{}", array.as_primitive::<Int64Type>().value(row)),
        DataType::Float32 => write!(out, "f{:08x}", array.as_primitive::<Float32Type>().value(row).to_bits()),
        DataType::Float64 => write!(out, "d{:016x}", array.as_primitive::<Float64Type>().value(row).to_bits()),
        DataType::Utf8 => write!(out, "{}", array.as_string::<i32>().value(row)),
        DataType::Date32 => write!(out, "{}", array.as_primitive::<Date32Type>().value(row)),
        DataType::Timestamp(TimeUnit::Millisecond, None) => {
            write!(out, "{}", array.as_primitive::<TimestampMillisecondType>().value(row))
        }
        DataType::Timestamp(TimeUnit::Microsecond, None) => {
            write!(out, "{}", array.as_primitive::<TimestampMicrosecondType>().value(row).div_euclid(1000))
        }
        DataType::List(_) => {
            let items = array.as_list::<i32>().value(row);
            out.push('[');
            for item in 0..items.len() {
                if item > 0 {
                    out.push(',');
                }
                value(&items, item, out);
            }
            out.push(']');
            Ok(())
        }
        other => panic!("no text for {other}"),
    }
    .unwrap();
}

fn properties(properties: &[Property], columns: &[Option<ArrayRef>], row: usize, out: &mut String) {
    for (property, column) in properties.iter().zip(columns) {
        write!(out, "|{}=", property.name).unwrap();
        value(column.as_ref().unwrap(), row, out);
    }
}

/// Options with which primary properties are among the others, as the checksum requires.
pub fn by_row() -> OpenOptions {
    OpenOptions { key_row: true, ..OpenOptions::default() }
}

fn read(graph: &GraphAr, tables: Tables, mut each: impl FnMut(Batch)) {
    for mut part in graph.scan(&Request::of(tables)).unwrap_or_else(|error| panic!("{error:?}")) {
        part.read(&mut |batch| {
            each(batch);
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error:?}"));
    }
}

/// Returns number and checksum of the vertices of a type.
pub fn vertices(graph: &GraphAr, ty: usize) -> (u64, u64) {
    let (mut count, mut sum, mut text) = (0, 0u64, String::new());
    let node = &graph.graph().nodes[ty];
    read(graph, Tables::Nodes(ty), |batch| {
        let Batch::Nodes(batch) = batch else { panic!("not nodes") };
        for row in 0..batch.rows {
            text.clear();
            write!(text, "{}", batch.start + row as u64).unwrap();
            properties(&node.properties, &batch.properties, row, &mut text);
            if let LabelVocabulary::Declared(declared) = &node.labels {
                let own: Vec<&str> = batch.labels.iter().flat_map(|labels| labels.row(row)).collect();
                let own: Vec<&str> = declared.iter().map(String::as_str).filter(|label| own.contains(label)).collect();
                write!(text, "|:LABEL={}", own.join(";")).unwrap();
            }
            count += 1;
            sum = sum.wrapping_add(hash(&text));
        }
    });
    (count, sum)
}

/// Returns number and checksums of the edges of a type: of ends only, and with properties.
pub fn edges(graph: &GraphAr, ty: usize) -> (u64, u64, u64) {
    let (mut count, mut topo, mut full, mut text) = (0, 0u64, 0u64, String::new());
    let edge = &graph.graph().edges[ty];
    read(graph, Tables::Edges(ty), |batch| {
        let Batch::Edges(batch) = batch else { panic!("not edges") };
        let (Ends::Rows(source), Ends::Rows(target)) = (&batch.source, &batch.target) else { panic!("not rows") };
        for row in 0..batch.rows {
            text.clear();
            write!(text, "{}|{}", source.value(row), target.value(row)).unwrap();
            topo = topo.wrapping_add(hash(&text));
            properties(&edge.properties, &batch.properties, row, &mut text);
            full = full.wrapping_add(hash(&text));
            count += 1;
        }
    });
    (count, topo, full)
}

/// One line of `samples/checksums.txt`.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    Vertices { ty: String, count: u64, checksum: u64 },
    Edges { triple: [String; 3], list: AdjListType, count: u64, topo: u64, full: u64 },
}

/// Returns the recorded results by graph file.
pub fn expected() -> Vec<(String, Vec<Expected>)> {
    let mut graphs: Vec<(String, Vec<Expected>)> = Vec::new();
    for line in include_str!("../../samples/checksums.txt").lines() {
        if let Some(graph) = line.strip_prefix("# ").filter(|name| name.ends_with(".graph.yml")) {
            graphs.push((graph.to_owned(), Vec::new()));
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let field = |name: &str| words.iter().find_map(|word| word.strip_prefix(name)).unwrap();
        let hex = |name: &str| u64::from_str_radix(field(name), 16).unwrap();
        let found = match words.first() {
            Some(&"vertex") => Expected::Vertices {
                ty: words[1].to_owned(),
                count: field("count=").parse().unwrap(),
                checksum: hex("checksum="),
            },
            Some(&"edge") => {
                let triple: Vec<String> = words[1].split('/').map(str::to_owned).collect();
                Expected::Edges {
                    triple: triple.try_into().unwrap(),
                    list: AdjListType::from_word(words[2]).unwrap(),
                    count: field("edge_count=").parse().unwrap(),
                    topo: hex("topo="),
                    full: hex("full="),
                }
            }
            _ => continue,
        };
        graphs.last_mut().unwrap().1.push(found);
    }
    graphs
}
