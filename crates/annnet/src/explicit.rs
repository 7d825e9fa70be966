//! Layers and kinds of edges that were set explicitly and do not follow from the ends or from the index of entities.
//!
//! They are not content of the model, in which layers belong to the ends. They are kept in the metadata of the graph,
//! by edge id, so that a rewrite preserves them.

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

/// Key in the metadata of a description. Its value maps edge ids to objects with `kind` (between layers), `layers`, and
/// `edge_kind` (of edges with two ends: whether one is an entity). `layers` is a list of one or two layers, an empty
/// list if the edge is in no layer, and null if no row states what follows from the ends.
const METADATA: &str = "annnet.stated";
/// Maximum number of edges; if there are more, none is kept.
const MOST: usize = 1 << 16;
/// Values of `ml_kind` for edges within a layer, between layers of one node, and across both.
pub(crate) const INTRA: &str = "intra";
pub(crate) const COUPLING: &str = "coupling";
pub(crate) const INTER: &str = "inter";

/// Returns the explicitly set layers and kinds of edges that do not follow from their ends, as one text. Conversions
/// from annnet to annnet compare it, because no digest covers it.
pub fn stated(graph: &Graph) -> Option<&str> {
    graph.metadata.get(METADATA).map(String::as_str)
}

/// The layers of an edge: one, or one for each side.
pub(crate) type OfEdge = (u32, Option<u32>);

/// What follows from the ends of an edge. A writer uses it unless something else is stated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Follows {
    /// `None` for an edge with a missing end.
    pub kind: Option<&'static str>,
    /// `None` in a flat graph, if the members of a side are in several layers, and for an edge with a missing end.
    pub layers: Option<OfEdge>,
    /// Whether the edge has two ends, so that the layers of the ends determine the layers of the edge.
    has_ends: bool,
    is_flat: bool,
}

/// The stated layers of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said<L> {
    /// No row names them; they are those of the ends.
    Nothing,
    /// The edge is in no layer.
    Nowhere,
    /// The edge is in this layer, or its sides are in these layers.
    In(L, Option<L>),
}

/// What the row of an edge states: its kind between layers, and the layers that the published library uses if the layer
/// table has no row for the edge. These are the layers of both ends if the row states them, or the one layer of a
/// hyperedge.
pub(crate) type OwnRow<'a> = (Option<&'a str>, Option<OfEdge>);

impl Follows {
    /// Returns the value for an edge with a missing end, or without ends.
    pub fn of_none(is_flat: bool) -> Self {
        Follows { kind: None, layers: None, has_ends: false, is_flat }
    }

    /// Returns whether the kind is this one. In a flat graph, a missing kind counts as the kind within a layer.
    fn is_kind(self, kind: Option<&str>) -> bool {
        let plain = self.is_flat.then_some(INTRA);
        kind.or(plain) == self.kind.or(plain)
    }

    /// Returns the value for an edge with these ends. In a flat graph, all edges are in one unnamed layer.
    pub fn of_ends(source: Placement, target: Placement, is_flat: bool) -> Self {
        let kind = match (source.layer == target.layer, source.node == target.node) {
            (true, _) => INTRA,
            (false, true) => COUPLING,
            (false, false) => INTER,
        };
        let (kind, layers) = (Some(kind), (!is_flat).then_some((source.layer, Some(target.layer))));
        Follows { kind, layers, has_ends: true, is_flat }
    }

    /// Returns the value for a hyperedge with these members.
    pub fn of_members(all: &[(Placement, Role)], is_flat: bool) -> Self {
        let agreed = |of: &dyn Fn(&Placement) -> u32, side: &dyn Fn(Role) -> bool| {
            let mut own = all.iter().filter(|(_, role)| side(*role)).map(|(member, _)| of(member));
            let first = own.next()?;
            own.all(|other| other == first).then_some(first)
        };
        let layer = |member: &Placement| member.layer;
        let one = agreed(&layer, &|_| true);
        let kind = match (is_flat || one.is_some(), agreed(&|member| member.node, &|_| true)) {
            (true, _) => INTRA,
            (false, Some(_)) => COUPLING,
            (false, None) => INTER,
        };
        let pair = agreed(&layer, &|role| role != Role::Tail).zip(agreed(&layer, &|role| role == Role::Tail));
        let layers = one.map(|one| (one, None)).or(pair.map(|(head, tail)| (head, Some(tail))));
        Follows { kind: Some(kind), layers: layers.filter(|_| !is_flat), has_ends: false, is_flat }
    }
}

/// What was collected while edges were read.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Stated layers and kinds that do not follow from the ends.
    own: All,
    /// Layers stated in rows of edges where none follow from the ends. They count if the layer table has no row for the
    /// edge.
    alone: All,
    /// Sum of the layers that follow from the ends of all edges.
    sum: u128,
}

/// Edges with explicitly stated layers or kinds.
#[derive(Debug, Default)]
struct All {
    edges: Vec<(String, Stated)>,
    /// Their number, including those that are not kept.
    count: u64,
}

/// What an edge states that differs from what follows. A null is also a statement: the published library finds an edge
/// without a kind, or without layers, in other layers than its ends imply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Stated {
    kind: Option<Option<String>>,
    layers: Option<Said<u32>>,
    /// The kind stated for an edge with two ends that contradicts the index of entities.
    edge_kind: Option<&'static str>,
}

impl All {
    fn push(&mut self, id: &str, stated: Stated) {
        self.count += 1;
        if self.edges.len() < MOST {
            self.edges.push((id.to_owned(), stated));
        }
    }

    fn append(&mut self, other: All) {
        self.count += other.count;
        self.edges.extend(other.edges.into_iter().take(MOST.saturating_sub(self.edges.len())));
    }

    /// Adds the layers of edges, some of which may already be recorded.
    fn add_layers(&mut self, layers: All) {
        let mut at: HashMap<String, usize> = HashMap::new();
        for (row, (id, _)) in self.edges.iter().enumerate() {
            at.insert(id.clone(), row);
        }
        self.count += layers.count;
        for (id, stated) in layers.edges {
            match at.get(&id).and_then(|row| self.edges.get_mut(*row)) {
                Some((_, own)) => {
                    own.layers = stated.layers;
                    self.count -= 1;
                }
                None => self.edges.push((id, stated)),
            }
        }
    }
}

impl Found {
    /// Adds an edge: its kind if it does not follow, what its row states, and what follows from its ends.
    pub fn add(&mut self, id: &str, edge_kind: Option<&'static str>, (kind, alone): OwnRow<'_>, follows: Follows) {
        match (follows.layers, alone) {
            (Some(layers), _) => self.sum = self.sum.wrapping_add(mix(id, Some(layers))),
            (None, Some((first, second))) => {
                let layers = Some(Said::In(first, second));
                self.alone.push(id, Stated { layers, ..Stated::default() });
            }
            (None, None) => {}
        }
        let kind = (!follows.is_kind(kind)).then(|| kind.map(str::to_owned));
        if kind.is_some() || edge_kind.is_some() {
            self.own.push(id, Stated { kind, layers: None, edge_kind });
        }
    }

    /// Adds what was collected from other rows.
    pub fn merge(&mut self, other: Found) {
        self.own.append(other.own);
        self.alone.append(other.alone);
        self.sum = self.sum.wrapping_add(other.sum);
    }

    /// Writes what is stated to the metadata of a graph. `each_edge` delivers, for every edge, the layers that its row
    /// states and what follows from its ends; it is called if the layer table states something different for some edge.
    ///
    /// # Errors
    /// Returns an error if the table of layers cannot be read.
    pub fn note(
        mut self,
        graph: &mut Graph,
        found: &Members,
        known: Known<'_>,
        each_edge: impl FnOnce(&mut dyn FnMut(&str, Option<OfEdge>, Follows)) -> Result<()>,
        findings: &mut Findings,
    ) -> Result<()> {
        if !known.layers.is_flat() {
            let table = Table::find(found, file::EDGE_LAYERS)?;
            let mut sum = 0u128;
            each(table.as_ref(), known, |id, layers| sum = sum.wrapping_add(mix(id, layers)))?;
            // If everything that follows is stated and nothing else, the rows of edges count only for edges without
            // layers.
            if sum != self.sum {
                self.alone = All::default();
                let mut rows: HashMap<u128, Option<OfEdge>> = HashMap::new();
                each(table.as_ref(), known, |id, layers| {
                    rows.insert(hash(id), layers);
                })?;
                each_edge(&mut |id, alone, follows| {
                    let row = rows.get(&hash(id)).copied();
                    let said = match row.unwrap_or(alone) {
                        layers if layers == follows.layers => {
                            (row.is_none() && follows.has_ends && table.is_some()).then_some(Said::Nothing)
                        }
                        Some((first, second)) => Some(Said::In(first, second)),
                        None => Some(Said::Nowhere),
                    };
                    if said.is_some() {
                        self.alone.push(id, Stated { layers: said, ..Stated::default() });
                    }
                })?;
            }
        }
        let Found { mut own, alone, .. } = self;
        own.add_layers(alone);
        if own.count > own.edges.len() as u64 {
            let message = format!("{} edges have layers or kinds that do not follow from their ends", own.count);
            findings.push(&rules::EDGE_LAYERS, message, Place::file(file::EDGE_LAYERS));
            return Ok(());
        }
        // The order of edges in the file has no meaning.
        own.edges.sort_by(|(one, _), (other, _)| one.cmp(other));
        if !own.edges.is_empty() {
            graph.metadata.insert(METADATA.to_owned(), own.to_metadata(known));
        }
        Ok(())
    }
}

impl All {
    fn to_metadata(&self, known: Known<'_>) -> String {
        let mut out = String::from("{");
        for (id, stated) in &self.edges {
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
                let both = match layers {
                    Said::Nothing => None,
                    Said::Nowhere => Some([None, None]),
                    Said::In(first, second) => Some([Some(first), second]),
                };
                said.push(match both {
                    Some(both) => {
                        let both = both.into_iter().flatten().map(|layer| list(known.layers.labels(layer)));
                        format!("\"layers\": [{}]", both.collect::<Vec<_>>().join(", "))
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

fn mix(id: &str, layers: Option<OfEdge>) -> u128 {
    let mut bytes = hash(id).to_le_bytes().to_vec();
    if let Some((first, second)) = layers {
        bytes.extend(first.to_le_bytes());
        bytes.extend(second.map_or(u64::MAX, u64::from).to_le_bytes());
    }
    xxh3_128(&bytes)
}

/// Calls `take` for each row of the layer table. A row without a first layer states that the edge is in no layer.
fn each(table: Option<&Table>, known: Known<'_>, mut take: impl FnMut(&str, Option<OfEdge>)) -> Result<()> {
    let Some(table) = table else { return Ok(()) };
    let columns = [column::EDGE_ID, column::LAYER_1_ID, column::LAYER_2_ID];
    let mut start = 0;
    for cells in table.batches(&columns, 0..table.rows(), 1 << 15)? {
        let cells = cells?;
        let ids = cells.ids(column::EDGE_ID, &rules::EDGE_ID)?;
        let (first, second) = (cells.integers(column::LAYER_1_ID)?, cells.integers(column::LAYER_2_ID)?);
        for (row, ((id, first), second)) in ids.iter().zip(&first).zip(&second).enumerate() {
            let at = |layer: Option<i64>| layer.map(|layer| known.layers.at(layer)).transpose();
            let place = |error: isomorph_error::Error| error.at(Place::file(&table.name).row(start + row as u64));
            if let Some(id) = id {
                let second = at(second).map_err(place)?;
                take(id, at(first).map_err(place)?.map(|first| (first, second)));
            }
        }
        start += cells.rows() as u64;
    }
    Ok(())
}

/// What a writer states about edges: the kind, and numbers of layers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stating(HashMap<String, Own>);

/// What is stated about one edge.
#[derive(Debug, Clone, Default)]
pub(crate) struct Own {
    pub kind: Option<Option<String>>,
    pub layers: Option<Said<i64>>,
    /// For an edge with two ends: whether its kind is that of an entity.
    pub is_entity: Option<bool>,
}

impl Own {
    /// Returns whether something is stated that differs from what follows from the ends.
    fn is_other(&self) -> bool {
        self.kind.is_some() || !matches!(self.layers, None | Some(Said::Nothing)) || self.is_entity.is_some()
    }

    /// Returns the kind that is written for an edge; `follows` is the kind that follows from its ends.
    pub fn kind_of<'a>(own: Option<&'a Own>, follows: Option<&'a str>) -> Option<&'a str> {
        own.and_then(|own| own.kind.as_ref()).map_or(follows, Option::as_deref)
    }
}

impl Stating {
    /// Reads the stated values from the metadata of a graph. Entries that cannot be parsed are ignored.
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
                    ("layers", Ok(Value::Null)) => own.layers = Some(Said::Nothing),
                    ("layers", Ok(Value::Array(array))) => {
                        let mut numbers = Vec::new();
                        items(array, METADATA, |item| {
                            numbers.push(layers.intern(&strings(item, METADATA)?));
                            Ok(())
                        })?;
                        own.layers = Some(match numbers.first() {
                            Some(first) => Said::In(*first, numbers.get(1).copied()),
                            None => Said::Nowhere,
                        });
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

    /// Returns an edge whose stated kind or layers differ from what follows, if there is one. If no row states what
    /// follows, nothing is lost in a layout in which all layers are stated.
    pub fn any(&self) -> Option<&str> {
        self.0.iter().filter(|(_, own)| own.is_other()).map(|(id, _)| id.as_str()).min()
    }

    /// Returns the kind of an edge with two ends; `is_entity` says whether the index of entities lists it.
    pub fn edge_kind(&self, id: &str, is_entity: bool) -> &'static str {
        let stated = self.of_edge(id).and_then(|own| own.is_entity);
        if stated.unwrap_or(is_entity) { word::NODE_EDGE } else { word::BINARY }
    }

    /// Returns what is stated about an edge.
    pub fn of_edge(&self, id: &str) -> Option<&Own> {
        if self.0.is_empty() { None } else { self.0.get(id) }
    }
}
