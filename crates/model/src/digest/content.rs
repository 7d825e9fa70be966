//! The digest of what a graph says.

use std::collections::HashMap;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use isomorph_error::{Error, Place, Result};
use xxhash_rust::xxh3::xxh3_128;

use super::encode::{self, Cells};
use super::fact::{hash_keys, key_stem, of_parts, row_hash, stem};
use super::order::node_key_stem;
use super::table::{Digest, Line, LineKind, Sum, Table, push_text};
use crate::json::Members;
use crate::schema::DocumentBody;
use crate::{
    Columns, Direction, EdgeBatch, EdgeType, Ends, Graph, KeyKind, LabelColumn, NodeBatch, Property, ValueKind,
    well_known,
};

/// The key hashes of nodes by their row: needed for edges whose ends are rows of a keyed type.
pub trait RowHashes {
    /// Appends the hashes of the keys of the given rows of node type `ty`.
    ///
    /// # Errors
    /// When a row does not exist.
    fn gather(&self, ty: usize, rows: &[u64], out: &mut Vec<u128>) -> Result<()>;
}

/// Hashes held in memory, by node type and row.
impl RowHashes for Vec<Vec<u128>> {
    fn gather(&self, ty: usize, rows: &[u64], out: &mut Vec<u128>) -> Result<()> {
        let hashes = self.get(ty).map(Vec::as_slice).unwrap_or_default();
        for &row in rows {
            let hash = usize::try_from(row).ok().and_then(|row| hashes.get(row));
            out.push(*hash.ok_or_else(|| Error::malformed(format!("no node in row {row}")))?);
        }
        Ok(())
    }
}

/// A running content digest. Add batches in any order, on any thread, and merge.
#[derive(Debug, Default)]
pub struct ContentDigest {
    table: Table,
    bytes: Vec<u8>,
    hashes: [Vec<u128>; 2],
}

/// The sums of one property column: one for a plain column, one for each member name of a bag.
enum ColumnSums {
    One(Sum),
    ByName(HashMap<String, (u128, Sum)>),
}

impl ContentDigest {
    /// Adds what another thread has summed.
    pub fn merge(&mut self, other: ContentDigest) {
        self.table.merge(other.table);
    }

    /// The table of sums so far.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The table of sums.
    pub fn into_table(self) -> Table {
        self.table
    }

    /// The digest of the table so far.
    pub fn digest(&self) -> Digest {
        self.table.digest()
    }

    /// Adds nodes; returns the hashes of their keys, in order.
    ///
    /// # Errors
    /// When a key is null, a JSON cell is no JSON, or the model has no place for a type.
    pub fn nodes(&mut self, graph: &Graph, batch: &NodeBatch) -> Result<&[u128]> {
        let ty = graph.nodes.get(batch.ty).ok_or_else(|| Error::usage("no such node type"))?;
        let key_stem = node_key_stem(graph, batch.ty);
        let mut hashes = std::mem::take(&mut self.hashes[0]);
        hashes.clear();
        match &batch.keys {
            Some(keys) => hash_keys(key_stem, keys, &mut hashes)?,
            None => hashes.extend((0..batch.rows as u64).map(|row| row_hash(key_stem, batch.start + row))),
        }
        let names = [ty.name.as_str()];
        if !ty.implied {
            self.existence(LineKind::Nodes, &names, &hashes);
        }
        if let Some(labels) = &batch.labels {
            self.labels(&names, labels, &hashes);
        }
        self.values(LineKind::Nodes, &names, &ty.properties, &batch.properties, &hashes)?;
        self.hashes[0] = hashes;
        Ok(&self.hashes[0])
    }

    /// Adds edges. `rows` gives the key hashes of ends that are rows of a keyed node type.
    ///
    /// # Errors
    /// As for nodes; and when an end does not exist.
    pub fn edges(&mut self, graph: &Graph, batch: &EdgeBatch, rows: &dyn RowHashes) -> Result<()> {
        let ty = graph.edges.get(batch.ty).ok_or_else(|| Error::usage("no such edge type"))?;
        let [mut sources, mut targets] = std::mem::take(&mut self.hashes);
        end_hashes(graph, ty.source, &batch.source, rows, &mut sources)?;
        end_hashes(graph, ty.target, &batch.target, rows, &mut targets)?;
        if sources.len() != batch.rows || targets.len() != batch.rows {
            return Err(Error::usage("an edge batch has ends of other lengths"));
        }
        if let Some((source, target)) = &batch.layers {
            self.with_layers(source, &mut sources)?;
            self.with_layers(target, &mut targets)?;
        }
        self.joined_edges(graph, ty, batch, &sources, &targets)?;
        self.hashes = [sources, targets];
        Ok(())
    }

    fn joined_edges(
        &mut self,
        graph: &Graph,
        ty: &EdgeType,
        batch: &EdgeBatch,
        sources: &[u128],
        targets: &[u128],
    ) -> Result<()> {
        let (source, fixed, target) = graph.edge_name(ty);
        let relations: Vec<&str> = match &batch.relations {
            Some(relations) => relations.names.iter().map(Option::unwrap_or_default).collect(),
            None => vec![&fixed],
        };
        let stems: Vec<u128> =
            relations.iter().map(|relation| stem("edges", &[&source, relation, &target], "")).collect();
        let directed = |row: usize| match ty.direction {
            Direction::Directed => true,
            Direction::Undirected => false,
            Direction::PerRow => {
                batch.directed.as_ref().is_none_or(|directed| directed.is_null(row) || directed.value(row))
            }
        };
        // Keyed edges are found by their key; of the others the row is one fact, its values included.
        let mut row_values = vec![0u128; if ty.key.is_none() { batch.rows } else { 0 }];
        if ty.key.is_none() {
            self.row_values(&ty.properties, &batch.properties, &mut row_values)?;
        }
        let mut keys = Vec::new();
        if let (Some(key), Some(column)) = (&ty.key, &batch.keys) {
            hash_keys(key_stem("edges", &[&source, &fixed, &target], key.kind), column, &mut keys)?;
        }
        let same_type = ty.source == ty.target;
        let mut sums = vec![Sum::default(); stems.len()];
        for row in 0..batch.rows {
            let relation = batch.relations.as_ref().map_or(0, |relations| relations.index.value(row) as usize);
            let (Some(&stem), Some(sum)) = (stems.get(relation), sums.get_mut(relation)) else {
                return Err(Error::usage("an edge names a relation that its batch does not have"));
            };
            let (Some(&from), Some(&to)) = (sources.get(row), targets.get(row)) else { continue };
            let directed = directed(row);
            let (from, to) = if !directed && same_type && to < from { (to, from) } else { (from, to) };
            let value = row_values.get(row).or_else(|| keys.get(row)).copied().unwrap_or_default();
            sum.add(of_parts([stem, from, to, u128::from(directed), value]));
        }
        for (relation, sum) in relations.iter().zip(sums) {
            let ty = vec![source.clone(), (*relation).to_owned(), target.clone()];
            self.table.merge_line(Line { kind: LineKind::Edges, ty, property: String::new() }, sum);
        }
        if ty.key.is_some() {
            self.values(LineKind::Edges, &[&source, &fixed, &target], &ty.properties, &batch.properties, &keys)?;
        }
        Ok(())
    }

    /// Adds the documents of a graph.
    ///
    /// # Errors
    /// When a JSON document is no JSON, or the model has no place for a type.
    pub fn documents(&mut self, graph: &Graph) -> Result<()> {
        for document in &graph.documents {
            let stem = stem("documents", &[], &document.name);
            let mut bytes = stem.to_le_bytes().to_vec();
            match &document.body {
                DocumentBody::Json(text) => encode::json_value(text, &mut bytes)
                    .map_err(|error| error.at(Place::field(document.name.clone())))?,
                DocumentBody::Text(text) => encode::text(text, &mut bytes),
                DocumentBody::Bytes(raw) => bytes.extend_from_slice(raw),
                DocumentBody::Table(table) => {
                    for (field, column) in table.schema().fields().iter().zip(table.columns()) {
                        push_text(&mut bytes, field.name());
                        let property = Property::new(field.name(), field.data_type().clone());
                        let mut cells = Cells::new(&property, column)?;
                        for row in 0..column.len() {
                            let start = bytes.len();
                            cells.encode(row, &mut bytes)?;
                            let len = (bytes.len() - start) as u64;
                            bytes.extend_from_slice(&len.to_le_bytes());
                        }
                    }
                }
            }
            let mut sum = Sum::default();
            sum.add(xxh3_128(&bytes));
            let line = Line { kind: LineKind::Documents, ty: vec![document.name.clone()], property: String::new() };
            self.table.merge_line(line, sum);
        }
        Ok(())
    }

    fn existence(&mut self, kind: LineKind, ty: &[&str], hashes: &[u128]) {
        let stem = stem(kind.word(), ty, "");
        let mut sum = Sum::default();
        hashes.iter().for_each(|hash| sum.add(of_parts([stem, *hash])));
        self.table.merge_line(line(kind, ty, ""), sum);
    }

    fn labels(&mut self, ty: &[&str], labels: &LabelColumn, hashes: &[u128]) {
        let stem = stem(LineKind::Nodes.word(), ty, well_known::LABELS);
        let names: Vec<u128> = labels
            .names()
            .iter()
            .map(|name| {
                self.bytes.clear();
                encode::text(name, &mut self.bytes);
                xxh3_128(&self.bytes)
            })
            .collect();
        let mut sum = Sum::default();
        for (hash, &set) in hashes.iter().zip(labels.rows()) {
            for name in labels.sets().get(set as usize).into_iter().flatten() {
                let name = names.get(*name as usize).copied().unwrap_or_default();
                sum.add(of_parts([stem, *hash, name]));
            }
        }
        self.table.merge_line(line(LineKind::Nodes, ty, well_known::LABELS), sum);
    }

    /// One fact for each value of a keyed element.
    fn values(
        &mut self,
        kind: LineKind,
        ty: &[&str],
        properties: &[Property],
        columns: &Columns,
        owners: &[u128],
    ) -> Result<()> {
        for (property, column) in properties.iter().zip(columns) {
            let Some(column) = column else { continue };
            let sums = self
                .column_values(kind, ty, property, column, owners)
                .map_err(|error| error.at(Place::field(property.name.clone())))?;
            match sums {
                ColumnSums::One(sum) => self.table.merge_line(line(kind, ty, &property.name), sum),
                ColumnSums::ByName(sums) => {
                    for (name, (_, sum)) in sums {
                        self.table.merge_line(line(kind, ty, &name), sum);
                    }
                }
            }
        }
        Ok(())
    }

    fn column_values(
        &mut self,
        kind: LineKind,
        ty: &[&str],
        property: &Property,
        column: &ArrayRef,
        owners: &[u128],
    ) -> Result<ColumnSums> {
        let bytes = &mut self.bytes;
        let fact = |bytes: &mut Vec<u8>, stem: u128, owner: u128| {
            bytes.clear();
            bytes.extend_from_slice(&stem.to_le_bytes());
            bytes.extend_from_slice(&owner.to_le_bytes());
        };
        if property.kind == ValueKind::Bag {
            let mut sums: HashMap<String, (u128, Sum)> = HashMap::new();
            for_bag(column, |row, name, value| {
                let owner = owners.get(row).copied().unwrap_or_default();
                if !sums.contains_key(name) {
                    sums.insert(name.to_owned(), (stem(kind.word(), ty, name), Sum::default()));
                }
                if let Some((stem, sum)) = sums.get_mut(name) {
                    fact(bytes, *stem, owner);
                    encode::json_value(value, bytes)?;
                    sum.add(xxh3_128(bytes));
                }
                Ok(())
            })?;
            return Ok(ColumnSums::ByName(sums));
        }
        let stem = stem(kind.word(), ty, &property.name);
        let mut cells = Cells::new(property, column)?;
        let mut sum = Sum::default();
        for (row, owner) in owners.iter().enumerate() {
            fact(bytes, stem, *owner);
            if cells.encode(row, bytes).map_err(|error| error.at(Place::default().row(row as u64)))? {
                sum.add(xxh3_128(bytes));
            }
        }
        Ok(ColumnSums::One(sum))
    }

    /// For each row the sum of the hashes of its present values: independent of the order of the properties.
    fn row_values(&mut self, properties: &[Property], columns: &Columns, sums: &mut [u128]) -> Result<()> {
        let bytes = &mut self.bytes;
        for (property, column) in properties.iter().zip(columns) {
            let Some(column) = column else { continue };
            if property.kind == ValueKind::Bag {
                for_bag(column, |row, name, value| {
                    bytes.clear();
                    push_text(bytes, name);
                    encode::json_value(value, bytes)?;
                    if let Some(sum) = sums.get_mut(row) {
                        *sum = sum.wrapping_add(xxh3_128(bytes));
                    }
                    Ok(())
                })?;
                continue;
            }
            let mut cells = Cells::new(property, column)?;
            for (row, sum) in sums.iter_mut().enumerate() {
                bytes.clear();
                push_text(bytes, &property.name);
                if cells.encode(row, bytes).map_err(|error| error.at(Place::field(property.name.clone())))? {
                    *sum = sum.wrapping_add(xxh3_128(bytes));
                }
            }
        }
        Ok(())
    }

    /// Binds each end to its layer.
    fn with_layers(&mut self, layers: &ArrayRef, hashes: &mut [u128]) -> Result<()> {
        let property = Property::new("", layers.data_type().clone());
        let mut cells = Cells::new(&property, layers)?;
        for (row, hash) in hashes.iter_mut().enumerate() {
            self.bytes.clear();
            self.bytes.extend_from_slice(&hash.to_le_bytes());
            if cells.encode(row, &mut self.bytes)? {
                *hash = xxh3_128(&self.bytes);
            }
        }
        Ok(())
    }
}

fn line(kind: LineKind, ty: &[&str], property: &str) -> Line {
    Line { kind, ty: ty.iter().map(|part| (*part).to_owned()).collect(), property: property.to_owned() }
}

/// Key hashes of the ends of edges.
fn end_hashes(graph: &Graph, ty: usize, ends: &Ends, rows: &dyn RowHashes, out: &mut Vec<u128>) -> Result<()> {
    out.clear();
    let stem = node_key_stem(graph, ty);
    let keyless = graph.nodes.get(ty).is_some_and(|ty| ty.key.kind == KeyKind::Row);
    match ends {
        Ends::Rows(ends) if keyless => {
            out.extend(ends.values().iter().map(|row| row_hash(stem, *row)));
            Ok(())
        }
        Ends::Rows(ends) => rows.gather(ty, ends.values(), out),
        Ends::Keys(keys) => hash_keys(stem, keys, out),
    }
}

/// Calls `each` for every member of every bag: row, name, text of the value.
fn for_bag<'a>(column: &'a ArrayRef, mut each: impl FnMut(usize, &str, &'a str) -> Result<()>) -> Result<()> {
    let mut members = Members::default();
    let mut read = |row: usize, text: &'a str| {
        members
            .read(text, |name, value| each(row, name, value))
            .map_err(|error| error.at(Place::default().row(row as u64)))
    };
    if let Some(texts) = column.as_string_opt::<i32>() {
        texts
            .iter()
            .enumerate()
            .filter_map(|(row, text)| Some((row, text?)))
            .try_for_each(|(row, text)| read(row, text))
    } else if let Some(texts) = column.as_string_opt::<i64>() {
        texts
            .iter()
            .enumerate()
            .filter_map(|(row, text)| Some((row, text?)))
            .try_for_each(|(row, text)| read(row, text))
    } else {
        Err(Error::unsupported(format!("JSON in a column of type {}", column.data_type())))
    }
}
