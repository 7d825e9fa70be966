//! Layers and kinds of edges that were set by hand: those that do not follow from the ends, or from the index of entities.
//!
//! They are no content of the model, in which layers are those of the ends. So that a rewrite keeps what somebody set, they travel
//! beside the graph, by the ids of the edges.

use std::collections::HashMap;

use isomorph_error::{Findings, Place, Result};
use isomorph_model::Graph;
use isomorph_model::json::{Value, push_string, value};
use xxhash_rust::xxh3::xxh3_128;

use crate::layout::{column, file, word};
use crate::members::Members;
use crate::read::json::{items, members, strings};
use crate::read::{Known, Placement, Role, hash};
use crate::rules;
use crate::table::Table;
use crate::write::{LayerIds, list};

/// The key of a description's metadata: by ids of edges an object of `kind` (between layers), `layers`, and `edge_kind` (of
/// edges with two ends: whether one is an entity).
const METADATA: &str = "annnet.stated";
/// Most edges: with more, none travels.
const MOST: usize = 1 << 16;

/// The layers of an edge: one, or those of both sides.
pub(crate) type OfEdge = (u32, Option<u32>);

/// What follows from the ends of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Follows {
    pub kind: &'static str,
    /// None in a flat graph, and where the members of a side lie in several layers.
    pub layers: Option<OfEdge>,
    /// Whether the edge has two ends: of a hyperedge its row may say where it lies, too.
    has_ends: bool,
    is_flat: bool,
}

impl Follows {
    /// Of an edge with these ends; in a flat graph all lie in one layer that nobody names.
    pub fn of_ends(source: Placement, target: Placement, is_flat: bool) -> Self {
        let kind = match (source.layer == target.layer, source.node == target.node) {
            (true, _) => "intra",
            (false, true) => "coupling",
            (false, false) => "inter",
        };
        let layers = (!is_flat).then_some((source.layer, Some(target.layer)));
        Follows { kind, layers, has_ends: true, is_flat }
    }

    /// Of a hyperedge with these members.
    pub fn of_members(all: &[(Placement, Role)], is_flat: bool) -> Self {
        let agreed = |of: &dyn Fn(&Placement) -> u32, side: &dyn Fn(Role) -> bool| {
            let mut own = all.iter().filter(|(_, role)| side(*role)).map(|(member, _)| of(member));
            let first = own.next()?;
            own.all(|other| other == first).then_some(first)
        };
        let layer = |member: &Placement| member.layer;
        let one = agreed(&layer, &|_| true);
        let kind = match (is_flat || one.is_some(), agreed(&|member| member.node, &|_| true)) {
            (true, _) => "intra",
            (false, Some(_)) => "coupling",
            (false, None) => "inter",
        };
        let pair = agreed(&layer, &|role| role != Role::Tail).zip(agreed(&layer, &|role| role == Role::Tail));
        let layers = one.map(|one| (one, None)).or(pair.map(|(head, tail)| (head, Some(tail))));
        Follows { kind, layers: layers.filter(|_| !is_flat), has_ends: false, is_flat }
    }
}

/// What was found of edges while they were read.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// What is stated in the row of an edge and does not follow, by the row.
    pub own: Vec<(String, Stated)>,
    /// How many there are, also those that do not travel.
    pub count: u64,
    /// The sum of what follows for the layers of all edges.
    pub sum: u128,
}

/// What is stated of an edge, where it is not what follows. A null says something as well: the published library finds an edge
/// without a kind, or without layers, in other layers than it would be in by its ends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stated {
    pub kind: Option<Option<String>>,
    pub layers: Option<Option<OfEdge>>,
    /// What the kind of an edge with two ends says, where the index of entities says something else.
    pub edge_kind: Option<&'static str>,
}

impl Found {
    /// Adds an edge: its kind where it does not follow, its kind between layers and layers as the row states them, and what follows.
    pub fn add(
        &mut self,
        id: &str,
        edge_kind: Option<&'static str>,
        stated: (Option<&str>, Option<u32>),
        follows: Follows,
    ) {
        if let Some(layers) = follows.layers {
            self.sum = self.sum.wrapping_add(mix(id, layers));
        }
        // In a flat graph nothing is asked by kinds.
        let differs = stated.0 != Some(follows.kind) && !(stated.0.is_none() && follows.is_flat);
        let kind = differs.then(|| stated.0.map(str::to_owned));
        let layers = stated.1.map(|layer| (layer, None)).filter(|layers| Some(*layers) != follows.layers).map(Some);
        if kind.is_some() || layers.is_some() || edge_kind.is_some() {
            self.push(id, Stated { kind, layers, edge_kind });
        }
    }

    /// Adds an edge with a missing end: its kind, where that does not follow.
    pub fn add_one_sided(&mut self, id: &str, edge_kind: Option<&'static str>) {
        if edge_kind.is_some() {
            self.push(id, Stated { edge_kind, ..Stated::default() });
        }
    }

    fn push(&mut self, id: &str, stated: Stated) {
        self.count += 1;
        if self.own.len() < MOST {
            self.own.push((id.to_owned(), stated));
        }
    }

    /// Adds what was found in other rows.
    pub fn merge(&mut self, other: Found) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
        self.own.extend(other.own.into_iter().take(MOST.saturating_sub(self.own.len())));
    }

    /// Lets what is stated travel with a graph. `follows` tells what follows for the edges with these ids, where the table of
    /// layers says something else of some.
    ///
    /// # Errors
    /// When the table of layers cannot be read.
    pub fn note(
        mut self,
        graph: &mut Graph,
        found: &Members,
        known: Known<'_>,
        follows: impl FnOnce(&mut dyn FnMut(&str, Follows)) -> Result<()>,
        findings: &mut Findings,
    ) -> Result<()> {
        if !known.layers.is_flat()
            && let Some(table) = Table::find(found, file::EDGE_LAYERS)?
        {
            let mut sum = 0u128;
            each(&table, known, |id, layers| sum = sum.wrapping_add(mix(id, layers)))?;
            if sum != self.sum {
                let mut all: HashMap<u128, OfEdge> = HashMap::new();
                each(&table, known, |id, layers| {
                    all.insert(hash(id), layers);
                })?;
                let mut others = Found::default();
                follows(&mut |id, follows| {
                    let layers = all.get(&hash(id)).copied();
                    let is_left_out = layers.is_none() && follows.has_ends;
                    if is_left_out || layers.is_some_and(|layers| Some(layers) != follows.layers) {
                        others.push(id, Stated { layers: Some(layers), ..Stated::default() });
                    }
                })?;
                self.take(others);
            }
        }
        if self.count > self.own.len() as u64 {
            let message = format!("{} edges have layers or kinds that do not follow from their ends", self.count);
            findings.push(&rules::EDGE_LAYERS, message, Place::file(file::EDGE_LAYERS));
            return Ok(());
        }
        // The order of edges in the file says nothing.
        self.own.sort_by(|(one, _), (other, _)| one.cmp(other));
        if !self.own.is_empty() {
            graph.metadata.insert(METADATA.to_owned(), self.to_metadata(known));
        }
        Ok(())
    }

    /// The table of layers counts for more than the rows of edges.
    fn take(&mut self, others: Found) {
        let mut at: HashMap<String, usize> = HashMap::new();
        for (row, (id, _)) in self.own.iter().enumerate() {
            at.insert(id.clone(), row);
        }
        self.count += others.count;
        for (id, stated) in others.own {
            match at.get(&id).and_then(|row| self.own.get_mut(*row)) {
                Some((_, own)) => {
                    own.layers = stated.layers;
                    self.count -= 1;
                }
                None => self.own.push((id, stated)),
            }
        }
    }

    fn to_metadata(&self, known: Known<'_>) -> String {
        let mut out = String::from("{");
        for (id, stated) in &self.own {
            out.push_str(if out.len() == 1 { "" } else { ", " });
            push_string(&mut out, id);
            out.push_str(": {");
            let mut said: Vec<String> = Vec::new();
            if let Some(kind) = &stated.kind {
                let mut text = String::from("\"kind\": ");
                match kind {
                    Some(kind) => push_string(&mut text, kind),
                    None => text.push_str("null"),
                }
                said.push(text);
            }
            if let Some(layers) = stated.layers {
                said.push(match layers {
                    Some((first, second)) => {
                        let both = [Some(first), second].into_iter().flatten();
                        let both: Vec<String> = both.map(|layer| list(known.layers.labels(layer))).collect();
                        format!("\"layers\": [{}]", both.join(", "))
                    }
                    None => "\"layers\": null".to_owned(),
                });
            }
            said.extend(stated.edge_kind.map(|kind| format!("\"edge_kind\": \"{kind}\"")));
            out.push_str(&said.join(", "));
            out.push('}');
        }
        out.push('}');
        out
    }
}

fn mix(id: &str, (first, second): OfEdge) -> u128 {
    let mut bytes = hash(id).to_le_bytes().to_vec();
    bytes.extend(first.to_le_bytes());
    bytes.extend(second.map_or(u64::MAX, u64::from).to_le_bytes());
    xxh3_128(&bytes)
}

/// The rows of the table of layers.
fn each(table: &Table, known: Known<'_>, mut take: impl FnMut(&str, OfEdge)) -> Result<()> {
    let columns = [column::EDGE_ID, column::LAYER_1_ID, column::LAYER_2_ID];
    let mut start = 0;
    for cells in table.batches(&columns, 0..table.rows(), 1 << 15)? {
        let cells = cells?;
        let ids = cells.ids(column::EDGE_ID, &rules::EDGE_ID)?;
        let (first, second) = (cells.integers(column::LAYER_1_ID)?, cells.integers(column::LAYER_2_ID)?);
        for (row, ((id, first), second)) in ids.iter().zip(&first).zip(&second).enumerate() {
            let at = |layer: Option<i64>| layer.map(|layer| known.layers.at(layer)).transpose();
            let place = |error: isomorph_error::Error| error.at(Place::file(&table.name).row(start + row as u64));
            if let (Some(id), Some(first)) = (id, at(first).map_err(place)?) {
                take(id, (first, at(second).map_err(place)?));
            }
        }
        start += cells.rows() as u64;
    }
    Ok(())
}

/// What a writer states of edges: the kind, and numbers of layers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stating(HashMap<String, Own>);

/// What is stated of one edge.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    pub kind: Option<Option<String>>,
    pub layers: Option<Option<(i64, Option<i64>)>>,
    /// Of an edge with two ends: whether its kind is that of an entity.
    pub is_entity: Option<bool>,
}

impl Own {
    /// Whether something else than nothing is stated.
    fn is_value(&self) -> bool {
        self.kind.as_ref().is_some_and(Option::is_some)
            || self.layers.is_some_and(|layers| layers.is_some())
            || self.is_entity.is_some()
    }
}

impl Stating {
    /// What travels with a graph. What cannot be understood is nothing.
    pub fn of(graph: &Graph, layers: &mut LayerIds) -> Stating {
        let mut all = HashMap::new();
        let text = graph.metadata.get(METADATA).map(String::as_str).unwrap_or("{}");
        let read = members(text, METADATA, |id, object| {
            let mut own = Own::default();
            members(object, METADATA, |name, said| {
                match (name, value(said)) {
                    ("kind", Ok(Value::Text(kind))) => own.kind = Some(Some(kind.into_owned())),
                    ("edge_kind", Ok(Value::Text(kind))) => own.is_entity = Some(kind == word::NODE_EDGE),
                    ("kind", Ok(Value::Null)) => own.kind = Some(None),
                    ("layers", Ok(Value::Null)) => own.layers = Some(None),
                    ("layers", Ok(Value::Array(array))) => {
                        let mut numbers = Vec::new();
                        items(array, METADATA, |item| {
                            numbers.push(layers.intern(&strings(item, METADATA)?));
                            Ok(())
                        })?;
                        own.layers = numbers.first().map(|first| Some((*first, numbers.get(1).copied())));
                    }
                    _ => {}
                }
                Ok(())
            })?;
            all.insert(id.to_owned(), own);
            Ok(())
        });
        if read.is_ok() { Stating(all) } else { Stating::default() }
    }

    /// An edge of which a kind or layers are stated, if there is one. That some state nothing is no loss in a layout that has no
    /// place for it: there all layers are stated.
    pub fn any(&self) -> Option<&str> {
        self.0.iter().filter(|(_, own)| own.is_value()).map(|(id, _)| id.as_str()).min()
    }

    /// The kind of an edge with two ends, which is an entity by the index or not.
    pub fn edge_kind(&self, id: &str, is_entity: bool) -> &'static str {
        let stated = self.of_edge(id).and_then(|own| own.is_entity);
        if stated.unwrap_or(is_entity) { word::NODE_EDGE } else { word::BINARY }
    }

    /// What is stated of an edge.
    pub fn of_edge(&self, id: &str) -> Option<&Own> {
        if self.0.is_empty() { None } else { self.0.get(id) }
    }
}
