//! Equal graphs in other representations.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, StringArray, UInt32Array, UInt64Array, new_null_array};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, TimeUnit};
use arrow_select::concat::concat;

use super::json::{columns_to_bags, respell};
use super::rows::{Referred, ends, map_columns, map_keys, pick, pick_column, properties};
use isomorph_model::batch::ValueBatch;
use isomorph_model::label::LabelBuilder;
use isomorph_model::schema::{Owner, ValueTable};
use isomorph_model::{
    Batch, Cardinality, Direction, Ends, Key, KeyKind, MemoryGraph, Property, Relation, Relations, ValueKind,
    digest::key_hashes,
};

/// Returns equal graphs in other batches, orders, encodings, widths and forms, each with a description of the difference.
/// All have the same content digest.
pub fn same(memory: &MemoryGraph) -> Vec<(&'static str, MemoryGraph)> {
    let large = |data_type: &DataType| match data_type {
        DataType::Utf8 => Some(DataType::LargeUtf8),
        DataType::Binary => Some(DataType::LargeBinary),
        DataType::List(item) => Some(DataType::LargeList(Arc::clone(item))),
        _ => None,
    };
    let views = |data_type: &DataType| match data_type {
        DataType::Utf8 => Some(DataType::Utf8View),
        DataType::Binary => Some(DataType::BinaryView),
        _ => None,
    };
    let dictionary = |data_type: &DataType| {
        let nested = data_type.is_nested() || matches!(data_type, DataType::Boolean);
        (!nested).then(|| DataType::Dictionary(Box::new(DataType::Int32), Box::new(data_type.clone())))
    };
    let mut all = vec![
        ("cut into small batches", cut(memory)),
        ("batches in reverse", reversed_batches(memory)),
        ("edges in reverse", reversed_rows(memory, |batch| matches!(batch, Batch::Edges(_)))),
        (
            "the rest in reverse",
            reversed_rows(memory, |batch| {
                matches!(batch, Batch::Members(_) | Batch::Values(_) | Batch::Memberships(_))
            }),
        ),
        ("keyed nodes in reverse", reversed_nodes(memory)),
        ("ends as keys", ends_as_keys(memory)),
        ("ends as rows", ends_as_rows(memory)),
        ("large types", map_keys(&cast_columns(memory, large), |keys| cast_to(keys, large(keys.data_type())))),
        ("views", cast_columns(memory, views)),
        (
            "dictionaries",
            map_keys(&cast_columns(memory, dictionary), |keys| cast_to(keys, dictionary(keys.data_type()))),
        ),
        ("wider", map_keys(&cast_columns(memory, wider), |keys| cast_to(keys, wider(keys.data_type())))),
        ("narrower", map_keys(&cast_columns(memory, narrower), |keys| cast_to(keys, narrower(keys.data_type())))),
        ("labels in another order", relabelled(memory)),
        ("columns of nulls left out", null_columns(memory, false)),
        ("columns of nulls put in", null_columns(memory, true)),
        ("relations by row", relations_by_row(memory)),
        ("directions by row", directions_by_row(memory)),
        ("undirected edges the other way round", turned(memory)),
        ("JSON spelt otherwise", respelt(memory)),
        ("properties in another order", reversed_properties(memory)),
        ("columns in long form", long_form(memory)),
    ];
    all.extend(columns_to_bags(memory).map(|memory| ("columns as bags", memory)));
    all
}

/// Splits every batch, the first part with one row.
fn cut(memory: &MemoryGraph) -> MemoryGraph {
    let mut batches = Vec::new();
    for batch in &memory.batches {
        let (rows, step) = (batch.rows(), batch.rows() / 20 + 1);
        let mut start = 0;
        while start < rows {
            let piece = if start == 0 { 1 } else { step.min(rows - start) };
            batches.push(batch.slice(start, piece));
            start += piece;
        }
    }
    MemoryGraph { graph: memory.graph.clone(), batches }
}

fn reversed_batches(memory: &MemoryGraph) -> MemoryGraph {
    let mut memory = cut(memory);
    memory.batches.reverse();
    memory
}

fn reversed_rows(memory: &MemoryGraph, which: impl Fn(&Batch) -> bool) -> MemoryGraph {
    let mut memory = memory.clone();
    for batch in memory.batches.iter_mut().filter(|batch| which(batch)) {
        *batch = pick(batch, &(0..batch.rows()).rev().collect::<Vec<_>>());
    }
    memory
}

/// Reverses node types with a key; rows that refer to them are adapted.
fn reversed_nodes(memory: &MemoryGraph) -> MemoryGraph {
    let mut memory = memory.clone();
    let mut counts = vec![0u64; memory.graph.nodes.len()];
    for batch in &memory.batches {
        if let Batch::Nodes(nodes) = batch {
            counts[nodes.ty] = counts[nodes.ty].max(nodes.start + nodes.rows as u64);
        }
    }
    let keyed: Vec<bool> = memory.graph.nodes.iter().map(|ty| ty.key.kind != KeyKind::Row).collect();
    for batch in &mut memory.batches {
        for (referred, ends) in ends(&memory.graph, batch) {
            if let (Referred::Owner(Owner::Nodes(ty)), Ends::Rows(rows)) = (referred, &ends)
                && keyed[ty]
            {
                let turned = rows.values().iter().map(|row| counts[ty] - 1 - row);
                *ends = Ends::Rows(UInt64Array::from_iter_values(turned));
            }
        }
        if let Batch::Nodes(nodes) = &batch
            && keyed[nodes.ty]
        {
            let start = counts[nodes.ty] - nodes.start - nodes.rows as u64;
            *batch = pick(batch, &(0..batch.rows()).rev().collect::<Vec<_>>());
            if let Batch::Nodes(nodes) = batch {
                nodes.start = start;
            }
        }
    }
    memory
}

/// Returns the keys of every table that is referred to, in the order of its rows.
fn all_keys(memory: &MemoryGraph) -> BTreeMap<Referred, ArrayRef> {
    let mut parts = BTreeMap::<Referred, Vec<(u64, ArrayRef)>>::new();
    for batch in &memory.batches {
        let (referred, start, keys) = match batch {
            Batch::Nodes(batch) => (Referred::Owner(Owner::Nodes(batch.ty)), batch.start, batch.keys.as_ref()),
            Batch::Hyperedges(batch) => (Referred::Owner(Owner::Hyperedges(batch.ty)), batch.start, Some(&batch.keys)),
            Batch::Groups(batch) => (Referred::Group(batch.kind), batch.start, Some(&batch.keys)),
            // Edges have no row numbers: they are counted in the order of their batches.
            Batch::Edges(batch) => {
                let referred = Referred::Owner(Owner::Edges(batch.ty));
                let before = parts.get(&referred).map_or(0, |parts| parts.len() as u64);
                (referred, before, batch.keys.as_ref())
            }
            _ => continue,
        };
        if let Some(keys) = keys {
            parts.entry(referred).or_default().push((start, Arc::clone(keys)));
        }
    }
    let joined = |mut parts: Vec<(u64, ArrayRef)>| {
        parts.sort_by_key(|(start, _)| *start);
        concat(&parts.iter().map(|(_, keys)| keys.as_ref()).collect::<Vec<_>>()).ok()
    };
    parts.into_iter().filter_map(|(referred, parts)| Some((referred, joined(parts)?))).collect()
}

/// Returns the graph with all ends as keys; nodes without a key are identified by their numbers.
pub(super) fn ends_as_keys(memory: &MemoryGraph) -> MemoryGraph {
    let keys = all_keys(memory);
    let mut memory = memory.clone();
    for batch in &mut memory.batches {
        for (referred, ends) in ends(&memory.graph, batch) {
            let Ends::Rows(rows) = &ends else { continue };
            let picked = match keys.get(&referred) {
                Some(keys) => pick_column(keys, &rows.values().iter().map(|row| *row as usize).collect::<Vec<_>>()),
                None => Arc::new(rows.clone()) as ArrayRef,
            };
            *ends = Ends::Keys(picked);
        }
    }
    memory
}

/// Returns the graph with all ends as rows, where these exist.
fn ends_as_rows(memory: &MemoryGraph) -> MemoryGraph {
    let hash = |keys: &ArrayRef| {
        let kind = match keys.data_type() {
            data_type if data_type.is_integer() => Key::int64(),
            data_type if data_type.is_nested() => Key { kind: KeyKind::Tuple, ..Key::utf8() },
            _ => Key::utf8(),
        };
        let mut hashes = Vec::new();
        key_hashes("", &kind, keys, &mut hashes).map(|()| hashes).unwrap_or_default()
    };
    let rows: BTreeMap<Referred, HashMap<u128, u64>> = all_keys(memory)
        .iter()
        .map(|(referred, keys)| (*referred, hash(keys).into_iter().zip(0..).collect()))
        .collect();
    let mut memory = memory.clone();
    for batch in &mut memory.batches {
        for (referred, ends) in ends(&memory.graph, batch) {
            let (Ends::Keys(keys), Some(rows)) = (&ends, rows.get(&referred)) else { continue };
            let found: Option<Vec<u64>> = hash(keys).iter().map(|hash| rows.get(hash).copied()).collect();
            if let Some(found) = found {
                *ends = Ends::Rows(UInt64Array::from(found));
            }
        }
    }
    memory
}

/// Casts a column if no value changes; otherwise the column stays.
fn cast_to(column: &ArrayRef, to: Option<DataType>) -> ArrayRef {
    let exact = CastOptions { safe: false, ..Default::default() };
    let there = to.and_then(|to| cast_with_options(column, &to, &exact).ok());
    let back = there.as_ref().and_then(|there| cast_with_options(there, column.data_type(), &exact).ok());
    match (there, back) {
        (Some(there), Some(back)) if back.as_ref() == column.as_ref() => there,
        _ => Arc::clone(column),
    }
}

fn cast_columns(memory: &MemoryGraph, to: impl Fn(&DataType) -> Option<DataType>) -> MemoryGraph {
    map_columns(memory, |property, column| match property.kind {
        // The number type of tensors is content.
        ValueKind::Tensor { .. } => Arc::clone(column),
        _ => cast_to(column, to(column.data_type())),
    })
}

fn wider(data_type: &DataType) -> Option<DataType> {
    Some(match data_type {
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt32 => DataType::Int64,
        DataType::Float32 => DataType::Float64,
        DataType::Date32 => DataType::Date64,
        DataType::Timestamp(TimeUnit::Second, zone) => DataType::Timestamp(TimeUnit::Millisecond, zone.clone()),
        DataType::Timestamp(TimeUnit::Millisecond, zone) => DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
        DataType::List(item) => {
            let wide = item.as_ref().clone().with_data_type(wider(item.data_type())?);
            DataType::List(Arc::new(wide))
        }
        _ => return None,
    })
}

fn narrower(data_type: &DataType) -> Option<DataType> {
    Some(match data_type {
        DataType::Int64 => DataType::Int32,
        DataType::Int32 => DataType::Int16,
        DataType::UInt64 => DataType::Int64,
        DataType::Float64 => DataType::Float32,
        DataType::Timestamp(TimeUnit::Millisecond, zone) => DataType::Timestamp(TimeUnit::Second, zone.clone()),
        _ => return None,
    })
}

/// Renumbers label sets, and adds a name that no row uses.
fn relabelled(memory: &MemoryGraph) -> MemoryGraph {
    let mut memory = memory.clone();
    for batch in &mut memory.batches {
        let Batch::Nodes(nodes) = batch else { continue };
        if let Some(labels) = &mut nodes.labels {
            let mut builder = LabelBuilder::default();
            builder.intern(["unused"].into_iter().chain(labels.names().iter().rev().map(String::as_str)));
            for row in 0..labels.len() {
                let mut names: Vec<&str> = labels.row(row).collect();
                names.reverse();
                builder.push(names.iter().chain(&names).copied());
            }
            *labels = builder.finish();
        }
    }
    memory
}

fn null_columns(memory: &MemoryGraph, put_in: bool) -> MemoryGraph {
    let mut memory = memory.clone();
    for batch in &mut memory.batches {
        let rows = batch.rows();
        let Some((properties, columns)) = properties(&mut memory.graph, batch) else { continue };
        if put_in {
            if properties.len() == columns.len() {
                properties.push(Property::new("nothing here", DataType::Int64));
            }
            columns.push(Some(new_null_array(&DataType::Int64, rows)));
        } else {
            columns.iter_mut().for_each(|column| *column = column.take().filter(|cells| cells.null_count() < rows));
        }
    }
    memory
}

/// Moves the relation of edge types without a key to their rows, and adds relations that no row uses.
fn relations_by_row(memory: &MemoryGraph) -> MemoryGraph {
    let mut memory = memory.clone();
    for batch in &mut memory.batches {
        let Batch::Edges(edges) = batch else { continue };
        let ty = &memory.graph.edges[edges.ty];
        match (&ty.relation, &edges.relations) {
            (Relation::Fixed(name), None) if ty.key.is_none() => {
                let names = StringArray::from(vec!["no edge has it", name.as_str()]);
                edges.relations = Some(Relations { names, index: UInt32Array::from_value(1, edges.rows) });
            }
            (_, Some(relations)) => {
                let names: Vec<Option<&str>> = relations.names.iter().rev().collect();
                let last = relations.names.len().saturating_sub(1) as u32;
                let index = relations.index.values().iter().map(|index| last - index);
                let index = UInt32Array::from_iter_values(index);
                edges.relations = Some(Relations { names: StringArray::from(names), index });
            }
            _ => {}
        }
    }
    for ty in memory.graph.edges.iter_mut().filter(|ty| ty.key.is_none()) {
        ty.relation = Relation::PerRow;
    }
    memory
}

fn directions_by_row(memory: &MemoryGraph) -> MemoryGraph {
    let mut memory = memory.clone();
    for batch in &mut memory.batches {
        if let Batch::Edges(edges) = batch {
            let directed = match memory.graph.edges[edges.ty].direction {
                Direction::Directed => true,
                Direction::Undirected => false,
                Direction::PerRow => continue,
            };
            edges.directed = Some(BooleanArray::from(vec![directed; edges.rows]));
        }
    }
    memory.graph.edges.iter_mut().for_each(|ty| ty.direction = Direction::PerRow);
    memory
}

/// Exchanges the ends of undirected edges between nodes of one type, with all their attributes.
fn turned(memory: &MemoryGraph) -> MemoryGraph {
    let mut memory = memory.clone();
    for batch in &mut memory.batches {
        if let Batch::Edges(edges) = batch {
            let ty = &memory.graph.edges[edges.ty];
            if ty.direction == Direction::Undirected && ty.source == ty.target {
                std::mem::swap(&mut edges.source, &mut edges.target);
                edges.layers = edges.layers.take().map(|(source, target)| (target, source));
            }
        }
    }
    memory
}

/// JSON with other whitespace and escapes, and top-level members reversed.
fn respelt(memory: &MemoryGraph) -> MemoryGraph {
    map_columns(memory, |property, column| {
        let bag = property.kind == ValueKind::Bag;
        if !bag && property.kind != ValueKind::Json {
            return Arc::clone(column);
        }
        let texts = column.as_string::<i32>().iter().map(|text| text.map(|text| respell(text, bag)));
        Arc::new(texts.collect::<StringArray>())
    })
}

fn reversed_properties(memory: &MemoryGraph) -> MemoryGraph {
    let mut memory = memory.clone();
    let mut graph = memory.graph.clone();
    for batch in &mut memory.batches {
        if let Some((_, columns)) = properties(&mut graph, batch) {
            columns.reverse();
        }
    }
    let graph = &mut memory.graph;
    graph.nodes.iter_mut().for_each(|ty| ty.properties.reverse());
    graph.edges.iter_mut().for_each(|ty| ty.properties.reverse());
    graph.hyperedges.iter_mut().for_each(|ty| ty.properties.reverse());
    graph.values.iter_mut().for_each(|table| table.qualifiers.reverse());
    for kind in &mut graph.groups {
        kind.properties.reverse();
        kind.memberships.iter_mut().for_each(|table| table.properties.reverse());
    }
    memory
}

/// Properties of nodes and keyed edges as value tables.
fn long_form(memory: &MemoryGraph) -> MemoryGraph {
    let mut memory = memory.clone();
    let mut tables = Vec::new();
    for batch in &mut memory.batches {
        let (owner, ends) = match &*batch {
            Batch::Nodes(nodes) => {
                let rows = (nodes.start..).take(nodes.rows);
                let rows = Ends::Rows(UInt64Array::from_iter_values(rows));
                (Owner::Nodes(nodes.ty), nodes.keys.clone().map_or(rows, Ends::Keys))
            }
            Batch::Edges(edges) => {
                let Some(keys) = &edges.keys else { continue };
                (Owner::Edges(edges.ty), Ends::Keys(Arc::clone(keys)))
            }
            _ => continue,
        };
        let Some((properties, columns)) = properties(&mut memory.graph, batch) else { continue };
        for (property, column) in properties.iter().zip(columns.iter_mut()) {
            if property.kind == ValueKind::Bag || property.cardinality != Cardinality::Single {
                continue;
            }
            if let Some(values) = column.take() {
                tables.push((owner, property.clone(), ends.clone(), values));
            }
        }
    }
    for (owner, property, ends, values) in tables {
        let valid: Vec<usize> = (0..values.len()).filter(|row| values.is_valid(*row)).collect();
        let table = memory.graph.values.len();
        let owners = match &ends {
            Ends::Keys(keys) => Ends::Keys(pick_column(keys, &valid)),
            Ends::Rows(rows) => {
                let picked = pick_column(&(Arc::new(rows.clone()) as ArrayRef), &valid);
                Ends::Rows(picked.as_primitive::<UInt64Type>().clone())
            }
        };
        let values = pick_column(&values, &valid);
        let rows = Some(values.len() as u64);
        memory.graph.values.push(ValueTable { owner, property, qualifiers: Vec::new(), rows });
        memory.batches.push(Batch::Values(ValueBatch { table, owner: owners, values, qualifiers: Vec::new() }));
    }
    memory
}
