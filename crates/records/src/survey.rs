//! The pass over a file when it is opened: counts, attributes, the type of each, and the kind of ids. What is read is kept, if there is
//! memory for it.

use std::sync::Arc;

use arrow_array::Array;
use isomorph_error::{Error, Result, Rule};
use isomorph_model::{KeyKind, Property};
use isomorph_storage::{Reservation, Scratch};
use isomorph_tables::PackedFile;
use isomorph_tables::lookup::{IdsInOrder, KeyRowsBuilder, LookupOptions, RowKeys, RowKeysBuilder};

use crate::check::WrongRecords;
use crate::chunk::{Chunk, Chunks, LeftOut, Wanted};
use crate::kinds::Kinds;
use crate::reader::{Head, Item, Labels, OpenOptions, Syntax};
use crate::slots::{Record, Slots};
use crate::stored::Stored;

/// The properties of elements of one kind.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub rows: u64,
    pub properties: Vec<Property>,
    /// The slot of each property; `None` for a property that no record has.
    pub slots: Vec<Option<usize>>,
    /// Whether the sidecar describes each property.
    pub told: Vec<bool>,
    kinds: Vec<Kinds>,
    /// Numbers of records that say that they are undirected, that they are directed, and that say nothing.
    directions: [u64; 3],
}

/// What ids are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ids {
    Integers,
    Texts,
    /// No node has an id: they are numbered, and edges end in these numbers.
    Positions,
}

/// The result of the pass.
pub(crate) struct Survey {
    pub nodes: Table,
    pub edges: Table,
    pub hyperedges: Table,
    /// Number of ends of hyperedges.
    pub members: u64,
    pub ids: Ids,
    /// The slot whose values are the keys of nodes; ids are then rows.
    pub label: Option<usize>,
    /// These keys by row.
    pub labels: Option<RowKeys>,
    /// Whether edges have different directions.
    pub by_row: bool,
    pub directed: bool,
    /// Whether there are hyperedges with a direction, and with members without one.
    pub hyperedge_directions: [bool; 2],
    pub head: Head,
    /// A record with all names, so that scans find them at the same positions.
    pub template: Record,
    /// Names of attributes with integers and floats that no type has in common.
    pub mixed_numbers: Vec<String>,
    /// Whether ids have different kinds.
    pub mixed_ids: bool,
    /// All that was read; `None` if there is no memory for it.
    pub kept: Option<Kept>,
    /// Whether ids are known to be unique, and all ends to be nodes.
    pub is_sound: bool,
    /// Records without an id or an end, if these are set aside.
    pub incomplete: WrongRecords,
}

/// Chunks that are kept.
pub(crate) struct Kept {
    pub chunks: Vec<Arc<Chunk>>,
    reservation: Reservation,
}

impl Kept {
    /// Keeps a chunk too; `None` if there is no memory for it.
    fn with(mut self, chunk: &Arc<Chunk>, limit: u64) -> Option<Kept> {
        let bytes = chunk.bytes() as u64;
        let fits = self.reservation.bytes() + bytes <= limit && self.reservation.try_grow(bytes);
        self.chunks.push(Arc::clone(chunk));
        fits.then_some(self)
    }
}

#[derive(Default)]
struct IdKinds {
    integers: bool,
    texts: bool,
    others: bool,
}

impl IdKinds {
    fn see(&mut self, ids: &Stored) {
        let [integers, texts, others] = ids.id_kinds();
        self.integers |= integers;
        self.texts |= texts;
        self.others |= others;
    }

    fn is_mixed(&self) -> bool {
        self.others || self.integers && self.texts
    }
}

/// Texts that may be keys: whether they are all there and all different.
struct Candidates {
    name: &'static str,
    keys: KeyRowsBuilder,
    rows: RowKeysBuilder,
    /// Whether all nodes so far have a text, and their positions as ids.
    fits: bool,
}

impl Candidates {
    fn see(&mut self, chunk: &Chunk, slots: &Slots) -> Result<()> {
        let texts = match slots.position(self.name).and_then(|at| chunk.column(at)) {
            Some(Stored::Text(texts)) if texts.null_count() == 0 => texts,
            _ => {
                self.fits = false;
                return Ok(());
            }
        };
        self.fits &= match &chunk.ids[0] {
            Some(Stored::Long(ids)) if ids.null_count() == 0 => {
                (chunk.start..).zip(ids.values()).all(|(row, id)| u64::try_from(*id) == Ok(row))
            }
            _ => false,
        };
        if self.fits {
            self.keys.push(texts)?;
            self.rows.push(texts)?;
        }
        Ok(())
    }

    /// Returns the keys by row, if the texts are keys.
    fn finish(self) -> Result<Option<RowKeys>> {
        if !self.fits || !self.keys.finish()?.repeats().is_empty() {
            return Ok(None);
        }
        self.rows.finish().map(Some)
    }
}

/// Whether ids of nodes and hyperedges are unique, and ends are nodes.
struct Soundness {
    nodes: IdsInOrder,
    hyperedges: IdsInOrder,
}

impl Soundness {
    fn see(&mut self, chunk: &Chunk) -> Result<()> {
        if chunk.incomplete().next().is_some() {
            self.nodes.doubt();
            self.hyperedges.doubt();
            return Ok(());
        }
        let ids =
            |of: &mut IdsInOrder, ids: &Option<Stored>, add: fn(&mut IdsInOrder, &dyn Array) -> Result<()>| match ids
                .as_ref()
                .and_then(Stored::plain_ids)
            {
                Some(ids) => add(of, ids),
                None => {
                    of.doubt();
                    Ok(())
                }
            };
        match chunk.item {
            Item::Node => ids(&mut self.nodes, &chunk.ids[0], IdsInOrder::push_ids),
            Item::Edge => chunk.ids.iter().try_for_each(|own| ids(&mut self.nodes, own, IdsInOrder::push_ends)),
            Item::Hyperedge => {
                ids(&mut self.hyperedges, &chunk.ids[0], IdsInOrder::push_ids)?;
                chunk.members.iter().try_for_each(|own| self.nodes.push_ends(&own.nodes))
            }
        }
    }

    fn finish(self) -> Result<bool> {
        Ok(self.nodes.finish()? && self.hyperedges.finish()?)
    }
}

/// Creates an error of a record in a chunk.
pub(crate) fn wrong(
    rule: &'static Rule,
    message: impl Into<String>,
    file: &PackedFile,
    chunk: &Chunk,
    row: usize,
) -> Error {
    let place = file.blob.place();
    Error::broken(rule, message).at(match chunk.offsets.get(row) {
        Some(offset) => place.offset(*offset),
        None => place,
    })
}

impl Table {
    fn see(&mut self, chunk: &Chunk) -> Result<()> {
        self.rows += chunk.rows as u64;
        for (at, column) in &chunk.columns {
            if self.kinds.len() <= *at {
                self.kinds.resize(at + 1, Kinds::default());
            }
            if let Some(kinds) = self.kinds.get_mut(*at) {
                column.see(kinds)?;
            }
        }
        let stated = match &chunk.directed {
            Some(Stored::Bool(directed)) => [directed.false_count(), directed.true_count()],
            _ => [0; 2],
        };
        self.directions[0] += stated[0] as u64;
        self.directions[1] += stated[1] as u64;
        self.directions[2] += (chunk.rows - stated[0] - stated[1]) as u64;
        Ok(())
    }
}

/// Reads the whole file, but for the records in `left_out`.
///
/// # Errors
/// Returns an error if the file cannot be read, or breaks a rule of its syntax.
pub(crate) fn survey(
    syntax: &dyn Syntax,
    file: &PackedFile,
    options: &OpenOptions,
    left_out: &LeftOut,
) -> Result<Survey> {
    let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
    let rules = syntax.rules();
    let (mut nodes, mut edges, mut hyperedges) = (Table::default(), Table::default(), Table::default());
    let (mut of_ids, mut of_ends, mut without, mut members) = (IdKinds::default(), IdKinds::default(), 0u64, 0u64);
    let mut has_members_beside = false;
    let shown = options.shown.as_ref();
    let shown_key = shown.and_then(|graph| graph.nodes.first()).map(|ty| ty.key.kind);
    let quarter = options.budget.available() / 4;
    let in_order = || IdsInOrder::new(LookupOptions::new(&options.budget, &scratch).memory(quarter));
    let mut soundness = Soundness { nodes: in_order(), hyperedges: in_order() };
    let mut candidates = match (syntax.labels(), shown_key) {
        (Labels::Never, _) | (_, Some(KeyKind::Int)) | (Labels::Sidecar(_), None) => None,
        (Labels::Usual(name) | Labels::Sidecar(name), _) => {
            let lookups = LookupOptions::new(&options.budget, &scratch).memory(quarter);
            let (keys, rows) = (KeyRowsBuilder::new(lookups), RowKeysBuilder::new(&options.budget, &scratch, quarter));
            Some(Candidates { name, keys, rows, fits: true })
        }
    };
    let reservation = options.budget.try_reserve(0);
    let mut kept = reservation.map(|reservation| Kept { chunks: Vec::new(), reservation });
    let mut incomplete = WrongRecords::default();
    let mut chunks = Chunks::new(syntax, file, Record::default(), Wanted::ALL, left_out)?;
    while let Some(chunk) = chunks.next()? {
        let located = |error: Error| error.at(file.blob.place());
        match chunk.item {
            Item::Node => {
                nodes.see(&chunk).map_err(located)?;
                without += chunk.incomplete().count() as u64;
                chunk.ids[0].iter().for_each(|ids| of_ids.see(ids));
                if let Some(candidates) = candidates.as_mut().filter(|own| own.fits) {
                    candidates.see(&chunk, &chunks.record.nodes)?;
                }
            }
            Item::Edge => {
                edges.see(&chunk).map_err(located)?;
                chunk.ids.iter().flatten().for_each(|ends| of_ends.see(ends));
            }
            Item::Hyperedge => {
                hyperedges.see(&chunk).map_err(located)?;
                has_members_beside |= chunk.has_members_beside;
                members += chunk.members.as_ref().map_or(0, |own| own.nodes.len()) as u64;
            }
        }
        if chunk.item != Item::Node || !syntax.numbers_nodes() {
            incomplete.see(&chunk, syntax, file, options.lenient)?;
        }
        soundness.see(&chunk)?;
        kept = kept.and_then(|kept| kept.with(&chunk, quarter));
    }
    // Whether no node has an id is known only now.
    let is_numbered = syntax.numbers_nodes() && without > 0 && without == nodes.rows;
    if syntax.numbers_nodes() && without > 0 && !is_numbered {
        let wanted = Wanted { nodes: true, ..Wanted::BARE };
        let mut nodes = Chunks::new(syntax, file, Record::default(), wanted, left_out)?;
        while let Some(chunk) = nodes.next()? {
            incomplete.see(&chunk, syntax, file, options.lenient)?;
        }
    }
    let is_sound = soundness.finish()?;
    let Chunks { mut reader, mut record, .. } = chunks;
    let head = reader.head();
    let end = || file.blob.place();
    let labels = match candidates.filter(|_| nodes.rows > 0) {
        Some(candidates) => candidates.finish()?,
        None => None,
    };
    let label = syntax.labels().name().filter(|_| labels.is_some()).and_then(|name| record.nodes.position(name));
    let all_integers = !of_ids.is_mixed() && !of_ids.texts && !of_ends.is_mixed() && !of_ends.texts;
    let ids = match (is_numbered, shown_key) {
        (true, _) if of_ends.texts || of_ends.others => {
            let message = "no node has an id, so edges must end in positions of nodes";
            return Err(Error::broken(rules.id, message).at(end()));
        }
        (true, _) => Ids::Positions,
        (_, Some(KeyKind::Utf8)) => Ids::Texts,
        // Without nodes and edges, ids are texts.
        _ if all_integers && (of_ids.integers || of_ends.integers) => Ids::Integers,
        (_, Some(KeyKind::Int)) if nodes.rows == 0 && edges.rows == 0 => Ids::Integers,
        _ => Ids::Texts,
    };
    let positions = of_ids.texts && !of_ids.integers && !of_ids.others && of_ends.integers && !of_ends.texts;
    if positions && !of_ends.others && label.is_none() {
        let message =
            "nodes have texts as ids, but edges end in integers: they are positions of nodes, or ids of others";
        return Err(Error::broken(rules.end, message).at(end()).hint("write the ids of nodes at the ends of edges"));
    }
    let of_nodes = shown.and_then(|graph| graph.nodes.first()).map(|ty| ty.properties.as_slice());
    let of_edges = shown.and_then(|graph| graph.edges.first()).map(|ty| ty.properties.as_slice());
    let of_hyperedges = shown.and_then(|graph| graph.hyperedges.first()).map(|ty| ty.properties.as_slice());
    let mut mixed_numbers = Vec::new();
    for (table, slots, of_shown, label_of) in [
        (&mut nodes, &record.nodes, of_nodes, syntax.labels().name()),
        (&mut edges, &record.edges, of_edges, None),
        (&mut hyperedges, &record.hyperedges, of_hyperedges, None),
    ] {
        let is_key = |at: usize| label_of.is_some() && label == Some(at);
        // The writer adds the attribute for the tools that need it.
        let is_added = |name: &str| {
            (label_of == Some(name) || syntax.added().contains(&name))
                && shown.is_some()
                && of_shown.is_none_or(|all| all.iter().all(|own| own.name != name))
        };
        table.settle(slots, of_shown, is_key, is_added, &mut mixed_numbers);
    }
    // A direction for all edges, if they agree.
    let [undirected, directed, default] = edges.directions;
    let differ = if head.directed { undirected } else { directed };
    let (undirected, directed) = match head.directed {
        true => (undirected, directed + default),
        false => (undirected + default, directed),
    };
    let by_row = undirected > 0 && directed > 0 || syntax.heeds_default_direction() && differ > 0;
    let directed = if edges.rows == 0 { head.directed } else { undirected == 0 };
    let [undirected_hyperedges, directed_hyperedges, _] = hyperedges.directions;
    let hyperedge_directions = [directed_hyperedges > 0, undirected_hyperedges > 0 || has_members_beside];
    record.begin_node();
    record.begin_edge();
    record.begin_hyperedge();
    let mixed_ids = ids == Ids::Texts
        && (of_ids.is_mixed() || of_ends.is_mixed() || of_ids.texts != of_ends.texts)
        && (of_ids.integers || of_ends.integers || of_ids.others || of_ends.others)
        && label.is_none()
        && shown_key.is_none();
    let template = record;
    Ok(Survey {
        nodes,
        edges,
        hyperedges,
        members,
        ids,
        label,
        labels,
        by_row,
        directed,
        hyperedge_directions,
        head,
        template,
        mixed_numbers,
        mixed_ids,
        kept,
        is_sound,
        incomplete,
    })
}

impl Table {
    /// Gives every attribute the type that fits all its values, or that the sidecar (`of_shown`) states.
    fn settle(
        &mut self,
        slots: &Slots,
        of_shown: Option<&[Property]>,
        is_key: impl Fn(usize) -> bool,
        is_added: impl Fn(&str) -> bool,
        mixed_numbers: &mut Vec<String>,
    ) {
        self.kinds.resize(slots.names().len(), Kinds::default());
        for (at, (name, kinds)) in slots.names().iter().zip(std::mem::take(&mut self.kinds)).enumerate() {
            let told = of_shown.and_then(|all| all.iter().find(|own| own.name == *name));
            if is_key(at) || is_added(name) {
                continue;
            }
            let surveyed = kinds.property(name);
            let declared = slots.declared(at).filter(|own| kinds.fits(own, &surveyed)).cloned();
            let found = declared.unwrap_or(surveyed);
            let mut property = told.cloned().unwrap_or(found);
            if told.is_none() && kinds.mixes_large() {
                mixed_numbers.push(name.clone());
            }
            property.nullable = kinds.count < self.rows || self.rows == 0;
            self.properties.push(property);
            self.slots.push(Some(at));
            self.told.push(told.is_some());
        }
        for told in of_shown.into_iter().flatten() {
            if !self.properties.iter().any(|own| own.name == told.name) {
                self.properties.push(Property { nullable: true, ..told.clone() });
                self.slots.push(None);
                self.told.push(true);
            }
        }
    }
}
