//! The pass over a file when it is opened: counts, attributes, the type of each, and the kind of ids.

use arrow_array::StringArray;
use isomorph_error::{Error, Result};
use isomorph_model::{KeyKind, Property};
use isomorph_storage::Scratch;
use isomorph_tables::PackedFile;
use isomorph_tables::lookup::{KeyRowsBuilder, LookupOptions, RowKeys, RowKeysBuilder};

use crate::kinds::Kinds;
use crate::reader::{Head, Item, Labels, OpenOptions, Syntax, wrong};
use crate::slots::{Id, Record, Slots, Tag};

/// The properties of nodes, or of edges.
#[derive(Debug, Default)]
pub(crate) struct Table {
    pub rows: u64,
    pub properties: Vec<Property>,
    /// The slot of each property; `None` for a property that no record has.
    pub slots: Vec<Option<usize>>,
    /// Whether the sidecar describes each property.
    pub told: Vec<bool>,
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
    pub ids: Ids,
    /// The slot whose values are the keys of nodes; ids are then rows.
    pub label: Option<usize>,
    /// These keys by row.
    pub labels: Option<RowKeys>,
    /// Whether edges have different directions.
    pub by_row: bool,
    pub directed: bool,
    pub head: Head,
    /// A record with all names, so that scans find them at the same positions.
    pub template: Record,
    /// Names of attributes with integers and floats that no type has in common.
    pub mixed_numbers: Vec<String>,
    /// Whether ids have different kinds.
    pub mixed_ids: bool,
}

#[derive(Default)]
struct IdKinds {
    integers: bool,
    texts: bool,
    others: bool,
}

impl IdKinds {
    fn see(&mut self, id: &Id) {
        match id.tag {
            Tag::Text => self.texts = true,
            Tag::Integer if id.integer().is_some() => self.integers = true,
            _ => self.others = true,
        }
    }

    fn is_mixed(&self) -> bool {
        self.others || self.integers && self.texts
    }
}

fn see(kinds: &mut Vec<Kinds>, slots: &Slots) -> Result<()> {
    kinds.resize(slots.names().len(), Kinds::default());
    for (at, own) in kinds.iter_mut().enumerate() {
        if let Some(slot) = slots.get(at) {
            own.see(slot)?;
        }
    }
    Ok(())
}

/// Texts that may be keys: whether they are all there and all different.
struct Candidates {
    name: &'static str,
    keys: KeyRowsBuilder,
    rows: RowKeysBuilder,
    batch: Vec<String>,
    /// Whether all nodes so far have a text, and their positions as ids.
    fits: bool,
}

impl Candidates {
    fn see(&mut self, record: &Record, row: u64) -> Result<()> {
        let slot = record.nodes.position(self.name).and_then(|at| record.nodes.get(at));
        let text = slot.filter(|slot| slot.tag == Tag::Text);
        let is_position = record.id.integer().and_then(|id| u64::try_from(id).ok()) == Some(row);
        self.fits &= text.is_some() && is_position;
        if let Some(text) = text.filter(|_| self.fits) {
            self.batch.push(text.text.clone());
            if self.batch.len() >= 1 << 14 {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let keys = StringArray::from(std::mem::take(&mut self.batch));
        self.keys.push(&keys)?;
        self.rows.push(&keys)
    }

    /// Returns the keys by row, if the texts are keys.
    fn finish(mut self) -> Result<Option<RowKeys>> {
        if !self.fits {
            return Ok(None);
        }
        self.flush()?;
        if !self.keys.finish()?.repeats().is_empty() {
            return Ok(None);
        }
        self.rows.finish().map(Some)
    }
}

/// Reads the whole file.
///
/// # Errors
/// Returns an error if the file cannot be read, or breaks a rule of its syntax.
pub(crate) fn survey(syntax: &dyn Syntax, file: &PackedFile, options: &OpenOptions) -> Result<Survey> {
    let scratch = options.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
    let rules = syntax.rules();
    let mut reader = syntax.reader(file)?;
    let mut record = Record::default();
    let (mut of_nodes, mut of_edges) = (Vec::new(), Vec::new());
    let (mut nodes, mut edges) = (Table::default(), Table::default());
    let (mut of_ids, mut of_ends, mut without) = (IdKinds::default(), IdKinds::default(), 0u64);
    let mut directions = [0u64; 3];
    let shown = options.shown.as_ref();
    let shown_key = shown.and_then(|graph| graph.nodes.first()).map(|ty| ty.key.kind);
    let mut candidates = match (syntax.labels(), shown_key) {
        (Labels::Never, _) | (_, Some(KeyKind::Int)) | (Labels::Sidecar(_), None) => None,
        (Labels::Usual(name) | Labels::Sidecar(name), _) => {
            let quarter = options.budget.available() / 4;
            let lookups = LookupOptions::new(&options.budget, &scratch).memory(quarter);
            let (keys, rows) = (KeyRowsBuilder::new(lookups), RowKeysBuilder::new(&options.budget, &scratch, quarter));
            Some(Candidates { name, keys, rows, batch: Vec::new(), fits: true })
        }
    };
    while let Some(item) = reader.next(&mut record)? {
        let located = |error: Error| error.at(reader.place());
        match item {
            Item::Node => {
                if record.id.is_set() {
                    of_ids.see(&record.id);
                } else {
                    without += 1;
                }
                if without > 0 && (!syntax.numbers_nodes() || without <= nodes.rows) {
                    return Err(wrong(rules.id, "a node has no id", reader.as_ref()));
                }
                if let Some(candidates) = candidates.as_mut().filter(|own| own.fits) {
                    candidates.see(&record, nodes.rows)?;
                }
                nodes.rows += 1;
                see(&mut of_nodes, &record.nodes).map_err(located)?;
            }
            Item::Edge => {
                if !record.source.is_set() || !record.target.is_set() {
                    return Err(wrong(rules.end, "an edge has no source or no target", reader.as_ref()));
                }
                of_ends.see(&record.source);
                of_ends.see(&record.target);
                directions[record.directed.map_or(2, usize::from)] += 1;
                edges.rows += 1;
                see(&mut of_edges, &record.edges).map_err(located)?;
            }
        }
    }
    let head = reader.head();
    let labels = match candidates.filter(|_| nodes.rows > 0) {
        Some(candidates) => candidates.finish()?,
        None => None,
    };
    let label = syntax.labels().name().filter(|_| labels.is_some()).and_then(|name| record.nodes.position(name));
    let all_integers = !of_ids.is_mixed() && !of_ids.texts && !of_ends.is_mixed() && !of_ends.texts;
    let ids = match (without > 0, shown_key) {
        (true, _) if of_ends.texts || of_ends.others => {
            return Err(wrong(rules.id, "no node has an id, so edges must end in positions of nodes", reader.as_ref()));
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
        return Err(wrong(
            rules.end,
            "nodes have texts as ids, but edges end in integers: they are positions of nodes, or ids of others",
            reader.as_ref(),
        )
        .hint("write the ids of nodes at the ends of edges"));
    }
    let mut mixed_numbers = Vec::new();
    for (table, kinds, slots, of_shown) in [
        (
            &mut nodes,
            &mut of_nodes,
            &record.nodes,
            shown.and_then(|graph| graph.nodes.first()).map(|ty| &ty.properties),
        ),
        (
            &mut edges,
            &mut of_edges,
            &record.edges,
            shown.and_then(|graph| graph.edges.first()).map(|ty| &ty.properties),
        ),
    ] {
        kinds.resize(slots.names().len(), Kinds::default());
        let is_node = std::ptr::eq(slots, &record.nodes);
        for (at, (name, kinds)) in slots.names().iter().zip(kinds.iter()).enumerate() {
            let told = of_shown.and_then(|all| all.iter().find(|own| own.name == *name));
            let is_key = is_node && label == Some(at);
            // The writer adds the attribute for the tools that need it.
            let is_label = is_node && syntax.labels().name() == Some(name);
            let is_added = is_label || syntax.added().contains(&name.as_str());
            if is_key || is_added && told.is_none() && shown.is_some() {
                continue;
            }
            let surveyed = kinds.property(name);
            let declared = slots.declared(at).filter(|own| kinds.fits(own, &surveyed)).cloned();
            let found = declared.unwrap_or(surveyed);
            let mut property = told.cloned().unwrap_or(found);
            if told.is_none() && kinds.mixes_large() {
                mixed_numbers.push(name.clone());
            }
            property.nullable = kinds.count < table.rows || table.rows == 0;
            table.properties.push(property);
            table.slots.push(Some(at));
            table.told.push(told.is_some());
        }
        for told in of_shown.into_iter().flatten() {
            if !table.properties.iter().any(|own| own.name == told.name) {
                table.properties.push(Property { nullable: true, ..told.clone() });
                table.slots.push(None);
                table.told.push(true);
            }
        }
    }
    // A direction for all edges, if they agree.
    let [undirected, directed, default] = directions;
    let (undirected, directed) = match head.directed {
        true => (undirected, directed + default),
        false => (undirected + default, directed),
    };
    let by_row = undirected > 0 && directed > 0;
    let directed = if edges.rows == 0 { head.directed } else { undirected == 0 };
    record.begin_node();
    record.begin_edge();
    let mixed_ids = ids == Ids::Texts
        && (of_ids.is_mixed() || of_ends.is_mixed() || of_ids.texts != of_ends.texts)
        && (of_ids.integers || of_ends.integers || of_ids.others || of_ends.others)
        && label.is_none()
        && shown_key.is_none();
    Ok(Survey { nodes, edges, ids, label, labels, by_row, directed, head, template: record, mixed_numbers, mixed_ids })
}
