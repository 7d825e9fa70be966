//! A union as a source: the parts of one graph after those of another, without the nodes that an earlier one has.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, new_null_array};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_select::filter::filter;
use isomorph_error::{Error, Place, Result, index};
use isomorph_model::part::shown;
use isomorph_model::{
    About, Batch, Columns, Direction, EdgeBatch, EdgeOrder, EndForm, Graph, LabelColumn, NodeBatch, Part, Property,
    Request, Source, Tables, part,
};
use isomorph_storage::{Reservation, Resources};
use xxhash_rust::xxh3::xxh3_128;

use super::Clash;
use super::merged::{Merged, Places};
use crate::progress::Progress;

/// One of the graphs; its edges refer to keys.
pub(super) struct Member {
    pub graph: Arc<dyn Source>,
    pub place: String,
}

/// The union of several graphs.
pub(super) struct Union {
    members: Vec<Member>,
    merged: Merged,
    /// For each graph and node type which rows an earlier graph has: a bit each; empty if there are none.
    repeated: Vec<Vec<Vec<u64>>>,
    _held: Reservation,
}

/// Approximate memory for each node while nodes are compared, in bytes.
const COST: u64 = 64;

/// What is known of a node: its graph, and a hash of its labels and properties.
struct Known {
    member: usize,
    content: u128,
}

fn has(bits: &[u64], row: u64) -> bool {
    bits.get(index(row / 64)).is_some_and(|word| word >> (row % 64) & 1 == 1)
}

fn set(bits: &mut Vec<u64>, row: u64) {
    let at = index(row / 64);
    if bits.len() <= at {
        bits.resize(at + 1, 0);
    }
    if let Some(word) = bits.get_mut(at) {
        *word |= 1 << (row % 64);
    }
}

fn malformed(error: impl std::fmt::Display) -> Error {
    Error::malformed(error.to_string())
}

/// Texts of the rows of a column.
fn texts<'c>(column: &'c dyn Array, options: &FormatOptions<'c>) -> Result<ArrayFormatter<'c>> {
    ArrayFormatter::try_new(column, options).map_err(malformed)
}

impl Union {
    /// Reads all nodes, to find those that several graphs have.
    ///
    /// # Errors
    /// If nodes clash, the graphs cannot be read, or hashes of keys do not fit into memory.
    pub fn read(
        members: Vec<Member>,
        merged: Merged,
        clash: Clash,
        resources: &Resources,
        progress: &dyn Progress,
    ) -> Result<Union> {
        let mut held = resources.budget.reserve(0)?;
        let types = merged.graph.nodes.len();
        let mut repeated = Vec::with_capacity(members.len());
        let mut known: Vec<HashMap<u128, Known>> = (0..types).map(|_| HashMap::new()).collect();
        progress.begin("keys", None);
        for (number, member) in members.iter().enumerate() {
            let places = merged.nodes.get(number).map(Vec::as_slice).unwrap_or_default();
            let mut own: Vec<Vec<u64>> = vec![Vec::new(); places.len()];
            for part in member.graph.scan(&Request::of(Tables::AllNodes))? {
                for batch in part {
                    let Batch::Nodes(nodes) = batch? else { continue };
                    progress.advance(nodes.rows as u64)?;
                    let (Some(places), Some(bits)) = (places.get(nodes.ty), own.get_mut(nodes.ty)) else { continue };
                    let (Some(ty), Some(known)) = (merged.graph.nodes.get(places.ty), known.get_mut(places.ty)) else {
                        continue;
                    };
                    held.grow(COST * nodes.rows as u64)?;
                    for (row, (key, content, text)) in hashes(&nodes, places, &ty.properties)?.into_iter().enumerate() {
                        match known.get(&key) {
                            None => {
                                known.insert(key, Known { member: number, content });
                            }
                            Some(first) if first.member == number => {
                                let what = format!("two nodes of type {} have the key {text}", ty.name);
                                return Err(Error::broken(&crate::pipeline::REPEATED_KEY, what)
                                    .at(Place::file(&member.place).row(nodes.start + row as u64)));
                            }
                            Some(first) if first.content != content && clash == Clash::Error => {
                                let other = members.get(first.member).map_or("", |member| member.place.as_str());
                                let what = format!("{} {text} has other labels or properties in {other}", ty.name);
                                return Err(Error::unsupported(what)
                                    .at(Place::file(&member.place).row(nodes.start + row as u64))
                                    .hint("--on-clash first    keep the node of the first graph"));
                            }
                            Some(_) => set(bits, nodes.start + row as u64),
                        }
                    }
                }
            }
            repeated.push(own);
        }
        progress.end();
        drop(known);
        let bits: usize = repeated.iter().flatten().map(Vec::len).sum();
        held.shrink(held.bytes());
        held.grow(8 * bits as u64)?;
        Ok(Union { members, merged, repeated, _held: held })
    }

    fn nodes_of(&self, number: usize, ty: usize, starts: u64, nodes: NodeBatch) -> Result<NodeBatch> {
        let lost = || Error::usage("no such node type");
        let places = self.merged.nodes.get(number).and_then(|own| own.get(ty)).ok_or_else(lost)?;
        let of = self.merged.graph.nodes.get(places.ty).ok_or_else(lost)?;
        let bits = self.repeated.get(number).and_then(|own| own.get(ty)).map(Vec::as_slice).unwrap_or_default();
        let properties = aligned(&nodes.properties, places, &of.properties, nodes.rows);
        let keep: BooleanArray = (nodes.start..).take(nodes.rows).map(|row| Some(!has(bits, row))).collect();
        let rows = keep.true_count();
        let batch = NodeBatch { ty: places.ty, start: starts, numbers: None, properties, ..nodes };
        if rows == batch.rows {
            return Ok(batch);
        }
        let kept = |column: &ArrayRef| filter(column, &keep).map_err(malformed);
        Ok(NodeBatch {
            rows,
            keys: batch.keys.as_ref().map(kept).transpose()?,
            labels: batch.labels.as_ref().map(|labels| labels.keep(keep.values())),
            properties: batch
                .properties
                .iter()
                .map(|column| column.as_ref().map(kept).transpose())
                .collect::<Result<_>>()?,
            ..batch
        })
    }

    fn edges_of(&self, number: usize, edges: EdgeBatch) -> Result<EdgeBatch> {
        let lost = || Error::usage("no such edge type");
        let places = self.merged.edges.get(number).and_then(|own| own.get(edges.ty)).ok_or_else(lost)?;
        let of = self.merged.graph.edges.get(places.ty).ok_or_else(lost)?;
        let found = self.members.get(number).and_then(|member| member.graph.graph().edges.get(edges.ty));
        let directed = match (of.direction, found.map(|ty| ty.direction)) {
            (Direction::PerRow, Some(Direction::Directed)) => Some(BooleanArray::from(vec![true; edges.rows])),
            (Direction::PerRow, Some(Direction::Undirected)) => Some(BooleanArray::from(vec![false; edges.rows])),
            _ => edges.directed.clone(),
        };
        let properties = aligned(&edges.properties, places, &of.properties, edges.rows);
        Ok(EdgeBatch { ty: places.ty, directed, properties, ..edges })
    }

    /// The nodes of a type, graph after graph.
    fn nodes_part(&self, ty: usize, rows: usize) -> Result<Box<dyn Part + '_>> {
        let own = move |number: usize| {
            let places = self.merged.nodes.get(number).map(Vec::as_slice).unwrap_or_default();
            places.iter().position(|places| places.ty == ty).map(|at| (number, at))
        };
        let mut parts = Vec::new();
        for (number, at) in (0..self.members.len()).filter_map(own) {
            let Some(member) = self.members.get(number) else { continue };
            let request = Request::of(Tables::Nodes(at)).in_batches_of(rows);
            for part in member.graph.scan(&request)? {
                parts.push((number, part));
            }
        }
        let mut start = 0;
        let batches = parts.into_iter().flat_map(|(number, part)| part.map(move |batch| (number, batch)));
        let batches = batches.filter_map(move |(number, batch)| match batch {
            // A part may have the nodes of other types, too.
            Ok(Batch::Nodes(nodes)) => {
                let local = nodes.ty;
                let is_own =
                    self.merged.nodes.get(number).and_then(|own| own.get(local)).is_some_and(|own| own.ty == ty);
                if !is_own {
                    return None;
                }
                let nodes = self.nodes_of(number, local, start, nodes);
                start += nodes.as_ref().map_or(0, |nodes| nodes.rows as u64);
                Some(nodes.map(Batch::Nodes))
            }
            Ok(_) => None,
            Err(error) => Some(Err(error)),
        });
        let batches = batches.filter(|batch| !matches!(batch, Ok(batch) if batch.rows() == 0));
        Ok(part::of(None, batches))
    }

    fn edges_parts(&self, ty: usize, rows: usize) -> Result<Vec<Box<dyn Part + '_>>> {
        let mut parts: Vec<Box<dyn Part + '_>> = Vec::new();
        for (number, member) in self.members.iter().enumerate() {
            let places = self.merged.edges.get(number).map(Vec::as_slice).unwrap_or_default();
            for (at, _) in places.iter().enumerate().filter(|(_, places)| places.ty == ty) {
                for inner in member.graph.scan(&Request::of(Tables::Edges(at)).in_batches_of(rows))? {
                    parts.push(shown(inner, move |batch, take| match batch {
                        Batch::Edges(edges) if edges.ty == at => take(Batch::Edges(self.edges_of(number, edges)?)),
                        _ => Ok(()),
                    }));
                }
            }
        }
        Ok(parts)
    }
}

/// The columns of a batch in the order of the union.
fn aligned(columns: &Columns, places: &Places, properties: &[Property], rows: usize) -> Columns {
    let column = |(place, property): (&Option<usize>, &Property)| match place {
        Some(at) => columns.get(*at).cloned().flatten(),
        None => Some(new_null_array(&property.data_type, rows)),
    };
    places.columns.iter().zip(properties).map(column).collect()
}

/// For each node a hash of its key, one of its labels and properties, and its key as text.
fn hashes(nodes: &NodeBatch, places: &Places, properties: &[Property]) -> Result<Vec<(u128, u128, String)>> {
    let options = FormatOptions::new().with_null("\u{0}");
    let keys = nodes.keys.as_ref().ok_or_else(|| Error::unsupported("the nodes have no keys"))?;
    let keys = texts(keys.as_ref(), &options)?;
    let columns = aligned(&nodes.properties, places, properties, nodes.rows);
    let columns = columns.iter().map(|column| column.as_ref().map(|column| texts(column.as_ref(), &options)));
    let columns = columns.map(Option::transpose).collect::<Result<Vec<_>>>()?;
    let (mut content, mut text) = (String::new(), String::new());
    let mut all = Vec::with_capacity(nodes.rows);
    for row in 0..nodes.rows {
        content.clear();
        for label in sorted_labels(nodes.labels.as_ref(), row) {
            push_part(&mut content, label);
        }
        content.push('\u{1}');
        for column in &columns {
            text.clear();
            match column {
                // Writing to a string cannot fail.
                Some(column) => {
                    let _ = write!(text, "{}", column.value(row));
                }
                None => text.push('\u{0}'),
            }
            push_part(&mut content, &text);
        }
        let key = keys.value(row).to_string();
        all.push((xxh3_128(key.as_bytes()), xxh3_128(content.as_bytes()), key));
    }
    Ok(all)
}

fn sorted_labels(labels: Option<&LabelColumn>, row: usize) -> Vec<&str> {
    let mut all: Vec<&str> = labels.into_iter().flat_map(|labels| labels.row(row)).collect();
    all.sort_unstable();
    all
}

/// Appends a text with its length, so that no two lists of texts are the same.
fn push_part(out: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{}:{text}", text.len());
}

impl Source for Union {
    fn graph(&self) -> &Graph {
        &self.merged.graph
    }

    fn scan(&self, request: &Request) -> Result<Vec<Box<dyn Part + '_>>> {
        if request.order != EdgeOrder::Any {
            return Err(Error::unsupported("the edges of a union come graph after graph"));
        }
        let (nodes, edges) = (0..self.merged.graph.nodes.len(), 0..self.merged.graph.edges.len());
        let (nodes, edges) = match request.tables {
            Tables::All => (nodes, edges),
            Tables::AllNodes => (nodes, 0..0),
            Tables::AllEdges => (0..0, edges),
            Tables::Nodes(ty) | Tables::NodeKeys(ty) => (ty..ty + 1, 0..0),
            Tables::Edges(ty) | Tables::EdgeEnds(ty) => (0..0, ty..ty + 1),
            Tables::Rest => (0..0, 0..0),
        };
        let mut parts: Vec<Box<dyn Part + '_>> = Vec::new();
        for ty in nodes {
            parts.push(self.nodes_part(ty, request.batch_rows)?);
        }
        for ty in edges {
            parts.extend(self.edges_parts(ty, request.batch_rows)?);
        }
        Ok(parts)
    }

    fn end_form(&self, _ty: usize) -> EndForm {
        EndForm::Keys
    }

    fn about(&self) -> About {
        let about: Vec<About> = self.members.iter().map(|member| member.graph.about()).collect();
        About {
            format: "union".to_owned(),
            files: about.iter().map(|about| about.files).sum(),
            bytes: about.iter().map(|about| about.bytes).sum(),
            layout: format!("{} graphs", self.members.len()),
            ..About::default()
        }
    }
}
