//! Ids are unique, and relationships end in nodes: checked when a text is opened, so that no reading counts what another does not find.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use isomorph_error::{Error, Finding, Findings, Kind, Place, Result};
use isomorph_storage::{Budget, Scratch};
use isomorph_tables::lookup::{Asked, IdsInOrder, LookupOptions, Take, WrongId, wrong_ids};
use isomorph_tables::sort::Sequence;

use crate::item::{Item, Items};
use crate::rules;
use crate::value::Value;

/// Ids that are checked at a time.
const ROWS: usize = 1 << 13;

/// The most records that are set aside, and that `validate` names.
pub(crate) const MOST: usize = 1_000_000;

/// The most records that are named when a text is opened.
pub(crate) const NAMED: usize = 100;

/// How ids are looked up.
///
/// # Errors
/// If there is no directory for temporary files.
pub(crate) fn lookups(budget: &Budget, scratch: Option<&Scratch>) -> Result<LookupOptions> {
    let scratch = scratch.cloned().map_or_else(|| Scratch::new(None), Ok)?;
    Ok(LookupOptions::new(budget, &scratch).memory(budget.available() / 4))
}

/// The id of a node: its type and its key.
fn push_id(text: &mut String, ty: &str, key: &Value) {
    text.clear();
    text.push_str(ty);
    text.push('\u{0}');
    key.push_json(text);
}

/// Ids that were read, and the rows that they belong to.
#[derive(Default)]
struct Column {
    texts: StringBuilder,
    rows: Vec<u64>,
    text: String,
}

impl Column {
    fn push(&mut self, row: u64, ty: &str, key: &Value) {
        push_id(&mut self.text, ty, key);
        self.texts.append_value(&self.text);
        self.rows.push(row);
    }

    fn give(&mut self, mut take: impl FnMut(Sequence<'_>, &dyn arrow_array::Array) -> Result<()>) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        take(Sequence::Each(&self.rows), &self.texts.finish())?;
        self.rows.clear();
        Ok(())
    }
}

/// Records that are checked while they are read.
pub(crate) struct Checked<'a> {
    items: &'a mut dyn Items,
    check: IdsInOrder,
    ids: Column,
    ends: Column,
}

impl<'a> Checked<'a> {
    pub fn new(items: &'a mut dyn Items, lookups: LookupOptions) -> Self {
        Checked { items, check: IdsInOrder::new(lookups), ids: Column::default(), ends: Column::default() }
    }

    /// Reads what is left; returns whether ids are known to be unique, and all ends to be ids.
    ///
    /// # Errors
    /// If the text cannot be read.
    pub fn finish(mut self) -> Result<bool> {
        while self.next()?.is_some() {}
        self.check.finish()
    }

    fn give(&mut self, ids: bool, ends: bool) -> Result<()> {
        if ids {
            self.ids.give(|_, ids| self.check.push_ids(ids))?;
        }
        if ends {
            self.ends.give(|_, ends| self.check.push_ends(ends))?;
        }
        Ok(())
    }
}

impl Items for Checked<'_> {
    fn next(&mut self) -> Result<Option<Item>> {
        let item = self.items.next()?;
        match &item {
            Some(Item::Node(node)) => {
                self.give(self.ids.rows.len() >= ROWS, true)?;
                self.ids.push(0, &node.ty, &node.key);
            }
            Some(Item::Edge(edge)) => {
                self.give(true, self.ends.rows.len() >= ROWS)?;
                edge.ends.iter().for_each(|(ty, key)| self.ends.push(0, ty, key));
            }
            None => {
                self.give(true, true)?;
            }
        }
        Ok(item)
    }

    fn place(&self) -> Place {
        self.items.place()
    }
}

/// Records that are not read, by their positions among nodes and among relationships.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeftOut {
    nodes: BTreeSet<u64>,
    edges: BTreeSet<u64>,
}

impl LeftOut {
    /// Whether it is nothing.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.edges.is_empty()
    }
}

/// Records without those that are left out.
pub(crate) struct Remaining {
    items: Box<dyn Items>,
    left_out: Arc<LeftOut>,
    nodes: u64,
    edges: u64,
}

impl Remaining {
    pub fn new(items: Box<dyn Items>, left_out: Arc<LeftOut>) -> Self {
        Remaining { items, left_out, nodes: 0, edges: 0 }
    }
}

impl Items for Remaining {
    fn next(&mut self) -> Result<Option<Item>> {
        loop {
            let item = self.items.next()?;
            let (count, left_out) = match &item {
                Some(Item::Node(_)) => (&mut self.nodes, &self.left_out.nodes),
                Some(Item::Edge(_)) => (&mut self.edges, &self.left_out.edges),
                None => return Ok(None),
            };
            let position = *count;
            *count += 1;
            if !left_out.contains(&position) {
                return Ok(item);
            }
        }
    }

    fn place(&self) -> Place {
        self.items.place()
    }
}

/// What is wrong in a text.
pub(crate) struct Wrong {
    /// Whether each is a relationship, its position, and what is wrong.
    all: Vec<(bool, u64, Finding)>,
    /// How many more nodes and ends are wrong.
    more: [u64; 2],
}

impl Wrong {
    /// Finds what is wrong, and names up to `most` nodes and ends.
    ///
    /// # Errors
    /// If the text cannot be read, or there is no space for temporary files.
    pub fn of(open: &dyn Fn() -> Result<Box<dyn Items>>, lookups: &LookupOptions, most: usize) -> Result<Wrong> {
        let found = wrong_ids(lookups, most, |asked, take| read(open()?.as_mut(), asked, take))?;
        let repeated = found.repeated.iter().map(|own| ((false, own.row), own));
        let all: Vec<((bool, u64), &WrongId)> =
            repeated.chain(found.lost.iter().map(|own| ((true, own.row), own))).collect();
        let firsts = found.repeated.iter().filter_map(|own| own.first).map(|row| (false, row));
        let wanted = all.iter().map(|(record, _)| *record).chain(firsts);
        let mut places: BTreeMap<(bool, u64), Option<Place>> = wanted.map(|record| (record, None)).collect();
        if !places.is_empty() {
            each(open()?.as_mut(), |items, position, item| {
                if let Some(place) = places.get_mut(&(matches!(item, Item::Edge(_)), position)) {
                    *place = Some(items.place());
                }
                Ok(())
            })?;
        }
        let place = |record: (bool, u64)| places.get(&record).cloned().flatten().unwrap_or_default();
        let told = |(record, own): &((bool, u64), &WrongId)| {
            let id = own.id.split_once('\u{0}').map_or(own.id.as_str(), |(_, key)| key);
            let (rule, message) = match own.first {
                Some(first) => {
                    let line = place((false, first)).line.unwrap_or_default();
                    (&rules::ID, format!("the id {id} is that of the node in line {line} already"))
                }
                None => (&rules::END, format!("the relationship ends in {id}, which is not a node")),
            };
            (record.0, record.1, Finding { rule, message, place: place(*record) })
        };
        let more = [found.repeats - found.repeated.len() as u64, found.losses - found.lost.len() as u64];
        Ok(Wrong { all: all.iter().map(told).collect(), more })
    }

    /// Adds what is wrong to `findings`.
    pub fn tell(self, findings: &mut Findings) {
        self.all.into_iter().for_each(|(.., own)| findings.push(own.rule, own.message, own.place));
        for (count, rule, message) in
            [(self.more[0], &rules::ID, "an id comes twice"), (self.more[1], &rules::END, "an end is not a node")]
        {
            (0..count).for_each(|_| findings.push(rule, message, Place::default()));
        }
    }

    /// The records that are to be left out, and what is wrong with each.
    ///
    /// # Errors
    /// If there are too many.
    pub fn set_aside(self) -> Result<(LeftOut, Vec<Finding>)> {
        if self.more != [0, 0] {
            let message =
                "more records are wrong than can be set aside: 1,000,000, or 16 if ids do not fit into memory";
            return Err(Error::new(Kind::TooLarge, message).hint("--memory SIZE    allow more memory"));
        }
        let (mut left_out, mut told) = (LeftOut::default(), Vec::new());
        for (is_edge, position, finding) in self.all {
            // A relationship may have two wrong ends.
            if if is_edge { &mut left_out.edges } else { &mut left_out.nodes }.insert(position) {
                told.push(finding);
            }
        }
        Ok((left_out, told))
    }
}

/// Calls `take` with each record, and its position among those of its kind.
fn each(items: &mut dyn Items, mut take: impl FnMut(&dyn Items, u64, &Item) -> Result<()>) -> Result<()> {
    let mut counts = [0u64; 2];
    while let Some(item) = items.next()? {
        let count = &mut counts[usize::from(matches!(item, Item::Edge(_)))];
        *count += 1;
        let position = *count - 1;
        take(items, position, &item)?;
    }
    Ok(())
}

fn read(items: &mut dyn Items, asked: Asked, take: &mut Take<'_>) -> Result<()> {
    let mut column = Column::default();
    each(items, |_, position, item| {
        match (asked, item) {
            (Asked::Ids, Item::Node(node)) => column.push(position, &node.ty, &node.key),
            (Asked::Ends, Item::Edge(edge)) => {
                edge.ends.iter().for_each(|(ty, key)| column.push(position, ty, key));
            }
            _ => {}
        }
        if column.rows.len() >= ROWS { column.give(&mut *take) } else { Ok(()) }
    })?;
    column.give(take)
}
