//! JSON: one object for each node, with its edges.

mod feature;
mod scan;

use std::ops::Range;

use super::Reading;
use super::fault::{Fault, Parsed};
use super::values;
use crate::block::{Block, Features, Kind, Life};
use crate::number::Overflow;
use crate::{number, rules};
use scan::Scan;

/// Features of one element by id, before they are sorted.
#[derive(Debug, Default)]
struct Slots {
    /// Kind and bytes, by id. `None` is a hole.
    of: Vec<Option<(Kind, Range<usize>)>>,
    /// Values that must move because their id was repeated.
    moved: Vec<(Kind, Range<usize>)>,
    bytes: Vec<u8>,
    since_element: Vec<SinceElement>,
    /// The keys that had features.
    keys: Vec<Key>,
}

/// A key that has features: its position and length in the text, and the position of its value.
#[derive(Debug, Clone, Copy)]
struct Key {
    at: usize,
    length: usize,
    value: usize,
}

/// A value that exists since its element does.
#[derive(Debug)]
struct SinceElement {
    /// Position of its time in the bytes of the features.
    place: usize,
    /// Whether the time of another value follows.
    followed: bool,
    /// Position of the feature in the text.
    at: usize,
}

impl Slots {
    fn clear(&mut self) {
        self.of.clear();
        self.moved.clear();
        self.bytes.clear();
        self.since_element.clear();
        self.keys.clear();
    }

    /// Sets the creation time of the element in values that state none.
    ///
    /// # Errors
    /// Returns an error if another value is older.
    fn begin_with(&mut self, created: i64) -> Parsed {
        for since in self.since_element.drain(..) {
            let next = self.bytes.get(since.place + 8..).and_then(|bytes| bytes.first_chunk());
            let next = next.map_or(created, |bytes| i64::from_le_bytes(*bytes));
            if since.followed && next != i64::MIN && next < created {
                let message = format!("a value begins at {next}, but its element begins at {created}");
                return Err(Fault::new(&rules::TIME, message, since.at));
            }
            if let Some(bytes) = self.bytes.get_mut(since.place..since.place + 8) {
                bytes.copy_from_slice(&created.to_le_bytes());
            }
        }
        Ok(())
    }

    /// Assigns `id` the bytes appended since `start`. Returns whether the id already had another value.
    fn set(&mut self, id: usize, kind: Kind, start: usize, compat: bool) -> bool {
        if self.of.len() <= id {
            self.of.resize(id + 1, None);
        }
        let before = self.of[id].replace((kind, start..self.bytes.len()));
        let collides = !compat && before.as_ref().is_some_and(|(_, bytes)| !bytes.is_empty());
        if collides {
            self.moved.extend(before);
        }
        collides
    }

    fn drain_into(&self, out: &mut Features) {
        for slot in self.of.iter().cloned().chain(self.moved.iter().cloned().map(Some)) {
            match slot {
                Some((kind, bytes)) => {
                    out.bytes.extend_from_slice(&self.bytes[bytes]);
                    out.end_feature(kind);
                }
                None => out.end_feature(Kind::Hole),
            }
        }
        out.end_element();
    }
}

/// An edge before sorting.
#[derive(Debug, Default)]
struct Edge {
    source: Option<u64>,
    target: Option<u64>,
    ty: Option<i32>,
    weight: Option<(f64, bool)>,
    life: Life,
    /// Index of its features, if it has any.
    slots: Option<usize>,
}

impl Edge {
    /// Returns the sort key of the published converter: a missing time sorts as 0.
    fn order(&self) -> (i32, i64, i128, u64) {
        let removed = match self.life.removed {
            Some(-1) => i128::MAX,
            removed => i128::from(removed.unwrap_or(0)),
        };
        (self.ty.unwrap_or_default(), self.life.created.unwrap_or(0), removed, self.target.unwrap_or_default())
    }

    /// Returns the sort key for edges without times.
    fn order_without_times(&self) -> (i32, u64) {
        (self.ty.unwrap_or_default(), self.target.unwrap_or_default())
    }
}

/// The features of the edges of a record, for edges that have any.
#[derive(Debug, Default)]
struct Pool {
    slots: Vec<Slots>,
    used: usize,
}

impl Pool {
    /// Returns the index of an empty entry.
    fn next(&mut self) -> usize {
        match self.slots.get_mut(self.used) {
            Some(slots) => slots.clear(),
            None => self.slots.push(Slots::default()),
        }
        self.used += 1;
        self.used - 1
    }
}

/// A parser of records that reuses its memory.
#[derive(Debug, Default)]
pub(super) struct Records {
    node: Slots,
    edges: Vec<Edge>,
    of_edges: Pool,
}

impl Records {
    /// Parses one object.
    ///
    /// # Errors
    /// Returns an error if it is malformed.
    pub fn record(&mut self, reading: &Reading, text: &[u8], start: usize, block: &mut Block) -> Parsed {
        let mut scan = Scan::new(text, start);
        if reading.compat {
            scan.overflow = Overflow::Infinite;
            scan.cuts = true;
        }
        self.node.clear();
        self.edges.clear();
        self.of_edges.used = 0;
        let (mut id, mut ty, mut weight, mut life) = (None, None, None, Life::default());
        let (mut has_edges, mut neighbors) = (false, None);
        let at = scan.here();
        let mut twice = false;
        scan.object(|scan, key, key_at| {
            twice |= match key {
                b"node_id" => id.is_some(),
                b"node_type" => ty.is_some(),
                b"node_weight" => weight.is_some(),
                b"created_at" => life.created.is_some(),
                b"removed_at" => life.removed.is_some(),
                b"edge" => has_edges,
                b"neighbor" => neighbors.is_some(),
                _ => false,
            };
            match key {
                b"node_id" => id = Some(node_id(scan)?),
                b"node_type" => ty = Some(element_type(scan)?),
                b"node_weight" => weight = Some(weight_of(scan)?.0),
                b"created_at" => life.created = time(scan)?,
                b"removed_at" => life.removed = time(scan)?,
                b"edge" => {
                    has_edges = true;
                    self.edges.clear();
                    self.of_edges.used = 0;
                    scan.array(|scan| self.edge(reading, scan, block))?;
                }
                b"neighbor" if !reading.compat => {
                    neighbors = Some(scan.clone());
                    scan.skip()?;
                }
                key => self::feature::member(reading, scan, key, key_at, &mut self.node, block)?,
            }
            Ok(())
        })?;
        scan.end()?;
        self::feature::finish(reading, &scan, &mut self.node, block)?;
        if twice {
            block.repaired(&rules::JSON_TWICE, at);
        }
        if scan.mended {
            block.repaired(&rules::JSON_MENDED, at);
        }
        let missing = |what: &str| Fault::new(&rules::JSON, format!("the record has no {what}"), at);
        let id = id.ok_or_else(|| missing("node_id"))?;
        let (ty, weight) = (ty.ok_or_else(|| missing("node_type"))?, weight.ok_or_else(|| missing("node_weight"))?);
        match neighbors {
            Some(mut scan) if !has_edges => {
                block.repaired(&rules::NEIGHBOR, scan.here());
                neighbors_of(id, &mut scan, &mut self.edges)?;
            }
            Some(scan) => self.neighbors_alone(id, scan, block),
            None if !has_edges => return Err(missing("edge")),
            None => {}
        }
        let stated = Life { created: Some(life.created.unwrap_or(0)), removed: Some(life.removed.unwrap_or(-1)) };
        let of_node = stated.removed.map(|time| if time == 0 { -1 } else { time });
        let is_temporal = life != Life::default() || self.edges.iter().any(|edge| edge.life != Life::default());
        block.node(id, ty, weight, is_temporal.then_some(stated));
        self.node.begin_with(life.created.unwrap_or(0))?;
        self.node.drain_into(&mut block.nodes.features);
        // Most texts are sorted, and checking costs less than sorting.
        match is_temporal {
            true => self.edges.sort_by_key(Edge::order),
            false if self.edges.is_sorted_by_key(Edge::order_without_times) => {}
            false => self.edges.sort_by_key(Edge::order_without_times),
        }
        for edge in &self.edges {
            let (source, target) = (edge.source.unwrap_or(id), edge.target.unwrap_or_default());
            let (weight, integral) = edge.weight.unwrap_or_default();
            block.edge(source, target, edge.ty.unwrap_or_default(), weight);
            let created = edge.life.created.or(stated.created);
            // The published converter treats 0 as missing here: the time is then that of the node, unless that is 0.
            let removed = edge.life.removed.filter(|time| *time != 0).or(of_node);
            block.edge_says(integral, is_temporal.then_some(Life { created, removed }));
            match edge.slots.and_then(|slots| self.of_edges.slots.get_mut(slots)) {
                Some(slots) => {
                    slots.begin_with(created.unwrap_or(0))?;
                    slots.drain_into(&mut block.edges.features);
                }
                None => block.edges.features.end_element(),
            }
        }
        Ok(())
    }

    fn edge(&mut self, reading: &Reading, scan: &mut Scan<'_>, block: &mut Block) -> Parsed {
        let at = scan.here();
        let mut edge = Edge::default();
        let (mut open, mut twice) = (scan.open()?, false);
        while open {
            // Nearly all keys are one of the first four, which differ in their first letters.
            match scan.initial() {
                Some(b's') if scan.named(b"\"src_id\"") => twice |= edge.source.replace(node_id(scan)?).is_some(),
                Some(b'd') if scan.named(b"\"dst_id\"") => twice |= edge.target.replace(node_id(scan)?).is_some(),
                Some(b'e') if scan.named(b"\"edge_type\"") => twice |= edge.ty.replace(element_type(scan)?).is_some(),
                Some(b'w') if scan.named(b"\"weight\"") => twice |= edge.weight.replace(weight_of(scan)?).is_some(),
                _ => {
                    let (key, key_at) = scan.key()?;
                    match &*key {
                        b"src_id" => twice |= edge.source.replace(node_id(scan)?).is_some(),
                        b"dst_id" => twice |= edge.target.replace(node_id(scan)?).is_some(),
                        b"edge_type" => twice |= edge.ty.replace(element_type(scan)?).is_some(),
                        b"weight" => twice |= edge.weight.replace(weight_of(scan)?).is_some(),
                        b"created_at" => edge.life.created = time(scan)?,
                        b"removed_at" => edge.life.removed = time(scan)?,
                        key => {
                            let pool = &mut self.of_edges;
                            let slots = *edge.slots.get_or_insert_with(|| pool.next());
                            self::feature::member(reading, scan, key, key_at, &mut pool.slots[slots], block)?;
                        }
                    }
                }
            }
            open = scan.more()?;
        }
        if let Some(slots) = edge.slots {
            self::feature::finish(reading, scan, &mut self.of_edges.slots[slots], block)?;
        }
        if twice {
            block.repaired(&rules::JSON_TWICE, at);
        }
        let missing = match edge {
            Edge { source: None, .. } => "src_id",
            Edge { target: None, .. } => "dst_id",
            Edge { ty: None, .. } => "edge_type",
            Edge { weight: None, .. } => "weight",
            _ => {
                self.edges.push(edge);
                return Ok(());
            }
        };
        Err(Fault::new(&rules::JSON, format!("the edge has no {missing}"), at))
    }

    /// Reports edges that `neighbor` states but `edge` does not. The published converter ignores them, because it only
    /// reads `edge`.
    fn neighbors_alone(&self, id: u64, mut scan: Scan<'_>, block: &mut Block) {
        let at = scan.here();
        let mut stated = Vec::new();
        if neighbors_of(id, &mut scan, &mut stated).is_err() {
            block.repaired(&rules::NEIGHBOR_ALONE, at);
        }
        let mut known: Vec<(i32, u64)> = self.edges.iter().map(Edge::order_without_times).collect();
        known.sort_unstable();
        let alone = stated.iter().filter(|edge| known.binary_search(&edge.order_without_times()).is_err()).count();
        for _ in 0..alone {
            block.repaired(&rules::NEIGHBOR_ALONE, at);
        }
    }
}

/// Parses edges as `neighbor` states them: `{"type": {"target": weight}}`.
fn neighbors_of(source: u64, scan: &mut Scan<'_>, edges: &mut Vec<Edge>) -> Parsed {
    scan.object(|scan, ty, at| {
        let ty = values::element_type(ty, at)?;
        scan.object(|scan, target, at| {
            let target = values::id(target, at)?;
            let weight = weight_of(scan)?;
            let (source, target) = (Some(source), Some(target));
            edges.push(Edge { source, target, ty: Some(ty), weight: Some(weight), ..Edge::default() });
            Ok(())
        })
    })
}

fn node_id(scan: &mut Scan<'_>) -> Parsed<u64> {
    let at = scan.here();
    match scan.integer().map(u64::try_from) {
        Some(Ok(id)) => Ok(id),
        Some(Err(_)) => values::id(scan.behind(at), at),
        None => values::id(scan.number("an id")?.0, at),
    }
}

fn element_type(scan: &mut Scan<'_>) -> Parsed<i32> {
    let at = scan.here();
    match scan.integer() {
        #[expect(clippy::cast_possible_truncation, reason = "at most LAST_TYPE")]
        Some(ty @ 0..=values::LAST_TYPE) => Ok(ty as i32),
        Some(_) => values::element_type(scan.behind(at), at),
        None => values::element_type(scan.number("a type")?.0, at),
    }
}

/// Converts a JSON number as Python does: `-0` is the integer 0, which has no sign, and `-0.0` is a float, which has
/// one.
fn of_python(value: f64, is_integer: bool) -> f64 {
    if is_integer && value == 0.0 { 0.0 } else { value }
}

/// Parses a weight, and whether it is written as an integer.
fn weight_of(scan: &mut Scan<'_>) -> Parsed<(f64, bool)> {
    if let Some((weight, is_integer)) = scan.decimal() {
        return Ok((of_python(weight, is_integer), is_integer));
    }
    let (text, at) = scan.number("a weight")?;
    Ok((values::weight(text, at)?, number::is_integer(text)))
}

/// Parses a time; null means none.
fn time(scan: &mut Scan<'_>) -> Parsed<Option<i64>> {
    if scan.null() {
        return Ok(None);
    }
    let (text, at) = scan.number("a time")?;
    values::time(text, at).map(Some)
}

/// Returns where each object of a text ends, for records of several lines: after its last brace. `None` if it is
/// incomplete.
pub(super) fn object_end(text: &[u8]) -> Option<usize> {
    let (mut depth, mut in_text, mut escaped) = (0usize, false, false);
    for (at, byte) in text.iter().enumerate() {
        match (in_text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}
