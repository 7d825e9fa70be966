//! A node or an edge that was read. The memory of one record is reused for the next.

use std::collections::HashMap;

use isomorph_model::Property;

/// The kind of a value in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tag {
    /// No value.
    #[default]
    Null,
    /// `true` or `false`.
    Bool,
    /// An integer from -2^63 to 2^64 - 1, in decimal.
    Integer,
    /// A float of at most 17 significant digits, `NaN`, `Infinity` or `-Infinity`.
    Float,
    /// Text.
    Text,
    /// The JSON text of any other value.
    Json,
}

/// A value of the current record.
#[derive(Debug, Clone, Default)]
pub struct Slot {
    /// The kind of the value.
    pub tag: Tag,
    /// The value, as its kind says.
    pub text: String,
    is_set: bool,
}

impl Slot {
    /// Returns whether the record has this attribute.
    pub fn is_set(&self) -> bool {
        self.is_set
    }

    /// Sets the value.
    pub fn put(&mut self, tag: Tag, text: &str) {
        self.tag = tag;
        self.text.clear();
        self.text.push_str(text);
    }
}

/// The attributes of nodes, or of edges: a slot for each name that has occurred.
#[derive(Debug, Clone, Default)]
pub struct Slots {
    names: Vec<String>,
    index: HashMap<String, usize>,
    slots: Vec<Slot>,
    /// Slots of the current record.
    set: Vec<usize>,
    /// What the file declares, by name.
    declared: HashMap<usize, Property>,
}

/// Maximum number of different attributes of nodes, and of edges.
pub const NAMES: usize = 10_000;

impl Slots {
    /// Starts the next record.
    pub fn clear(&mut self) {
        for at in self.set.drain(..) {
            self.slots[at].is_set = false;
        }
    }

    /// Returns the slot of an attribute, and whether the record had it already; `None` if there are too many names.
    pub fn slot(&mut self, name: &str) -> Option<(&mut Slot, bool)> {
        let at = self.position_or_new(name)?;
        Some(self.slot_at(at))
    }

    /// The same by the position of the name.
    pub fn slot_at(&mut self, at: usize) -> (&mut Slot, bool) {
        let slot = &mut self.slots[at];
        let was_set = std::mem::replace(&mut slot.is_set, true);
        if !was_set {
            self.set.push(at);
            slot.tag = Tag::Null;
            slot.text.clear();
        }
        (slot, was_set)
    }

    /// Returns the position of a name, which is added if it is new; `None` if there are too many names.
    pub fn position_or_new(&mut self, name: &str) -> Option<usize> {
        // Records mostly have the same attributes in the same order.
        let next = self.set.last().map_or(0, |last| last + 1);
        if self.names.get(next).is_some_and(|own| own == name) {
            return Some(next);
        }
        if let Some(at) = self.index.get(name) {
            return Some(*at);
        }
        if self.names.len() >= NAMES {
            return None;
        }
        self.names.push(name.to_owned());
        self.slots.push(Slot::default());
        self.index.insert(name.to_owned(), self.names.len() - 1);
        Some(self.names.len() - 1)
    }

    /// Declares an attribute with its type; `None` if there are too many names.
    pub fn declare(&mut self, property: Property) -> Option<usize> {
        let at = self.position_or_new(&property.name)?;
        self.declared.insert(at, property);
        Some(at)
    }

    /// Returns what the file declares about a name.
    pub fn declared(&self, at: usize) -> Option<&Property> {
        self.declared.get(&at)
    }

    /// Returns the names, in the order in which they occurred.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the position of a name.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Returns the slot at a position, if the current record has it.
    pub fn get(&self, at: usize) -> Option<&Slot> {
        self.slots.get(at).filter(|slot| slot.is_set)
    }
}

/// An id as it is written.
#[derive(Debug, Clone, Default)]
pub struct Id {
    /// Its kind; null if there is none.
    pub tag: Tag,
    /// Its text.
    pub text: String,
}

impl Id {
    /// Sets the id.
    pub fn put(&mut self, tag: Tag, text: &str) {
        self.tag = tag;
        self.text.clear();
        self.text.push_str(text);
    }

    /// Removes the id.
    pub fn clear(&mut self) {
        self.put(Tag::Null, "");
    }

    /// Returns whether there is one.
    pub fn is_set(&self) -> bool {
        self.tag != Tag::Null
    }

    /// Returns it as an integer, if it is one in its usual form.
    pub fn integer(&self) -> Option<i64> {
        (self.tag == Tag::Integer).then(|| self.text.parse().ok()).flatten()
    }
}

/// A node or an edge.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// The id of a node.
    pub id: Id,
    /// The source of an edge.
    pub source: Id,
    /// The target of an edge.
    pub target: Id,
    /// Whether an edge is directed, if it says so itself.
    pub directed: Option<bool>,
    /// Attributes of nodes.
    pub nodes: Slots,
    /// Attributes of edges.
    pub edges: Slots,
}

impl Record {
    /// Starts a node.
    pub fn begin_node(&mut self) {
        self.nodes.clear();
        self.id.clear();
    }

    /// Starts an edge.
    pub fn begin_edge(&mut self) {
        self.edges.clear();
        self.source.clear();
        self.target.clear();
        self.directed = None;
    }
}
