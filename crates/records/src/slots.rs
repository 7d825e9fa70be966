//! A node, an edge or a hyperedge that was read. The memory of one record is reused for the next.

use std::collections::HashMap;

use isomorph_model::Property;

use crate::values::push_float;

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

/// A number that was parsed when it was read.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) enum Number {
    #[default]
    None,
    Integer(i64),
    Float(f64),
}

/// A value of the current record.
#[derive(Debug, Clone, Default)]
pub struct Slot {
    tag: Tag,
    /// The value, as its kind says; empty for a number that was parsed.
    text: String,
    number: Number,
    is_set: bool,
    /// Whether it is among the slots of the current record, even if it was removed.
    is_listed: bool,
}

impl Slot {
    /// Returns the kind of the value.
    pub fn tag(&self) -> Tag {
        self.tag
    }

    /// Returns the text of a value that is text, JSON, or a number that was put as its text.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn number(&self) -> Number {
        self.number
    }

    /// Sets the value.
    pub fn put(&mut self, tag: Tag, text: &str) {
        (self.tag, self.number) = (tag, Number::None);
        self.text.clear();
        self.text.push_str(text);
    }

    /// Sets the value to an integer, whose text is its decimal notation.
    pub fn put_integer(&mut self, value: i64) {
        self.put(Tag::Integer, "");
        self.number = Number::Integer(value);
    }

    /// Sets the value to a float, whose text is the shortest one that is read as the same float.
    pub fn put_float(&mut self, value: f64) {
        self.put(Tag::Float, "");
        self.number = Number::Float(value);
    }

    /// Sets the value to a boolean.
    pub fn put_bool(&mut self, value: bool) {
        self.put(Tag::Bool, if value { "true" } else { "false" });
    }

    /// Sets the kind, and returns the text to be changed.
    pub fn text_mut(&mut self, tag: Tag) -> &mut String {
        (self.tag, self.number) = (tag, Number::None);
        &mut self.text
    }

    /// Removes the value: the record does not have the attribute.
    pub fn unset(&mut self) {
        self.put(Tag::Null, "");
        self.is_set = false;
    }

    /// Sets the value to that of another slot.
    pub fn copy_from(&mut self, other: &Slot) {
        self.put(other.tag, &other.text);
        self.number = other.number;
    }

    /// Appends the text of the value.
    pub fn push_text(&self, out: &mut String) {
        push_value(out, &self.text, self.number);
    }
}

/// Appends the text of a value.
pub(crate) fn push_value(out: &mut String, text: &str, number: Number) {
    use std::fmt::Write as _;
    match number {
        Number::None => out.push_str(text),
        Number::Integer(value) => {
            let _ = write!(out, "{value}");
        }
        Number::Float(value) => push_float(out, value),
    }
}

/// The attributes of elements of one kind: a slot for each name that has occurred.
#[derive(Debug, Clone, Default)]
pub struct Slots {
    names: Vec<String>,
    index: HashMap<String, usize>,
    slots: Vec<Slot>,
    /// Slots of the current record, in the order in which they were set.
    set: Vec<usize>,
    /// What the file declares, by name.
    declared: HashMap<usize, Property>,
}

/// Maximum number of different attributes of elements of one kind.
pub const NAMES: usize = 10_000;

impl Slots {
    /// Starts the next record.
    pub fn clear(&mut self) {
        for at in self.set.drain(..) {
            let slot = &mut self.slots[at];
            (slot.is_set, slot.is_listed) = (false, false);
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
        slot.is_set = true;
        let was_listed = std::mem::replace(&mut slot.is_listed, true);
        if !was_listed {
            self.set.push(at);
            slot.put(Tag::Null, "");
        }
        (slot, was_listed)
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

    /// Returns the positions of the slots that may be set in the current record.
    pub(crate) fn set(&self) -> &[usize] {
        &self.set
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

    /// Sets the kind, and returns the text to be changed.
    pub fn text_mut(&mut self, tag: Tag) -> &mut String {
        self.tag = tag;
        &mut self.text
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

    /// Removes it if it is no such integer.
    pub fn keep_integer(&mut self) {
        if self.integer().is_none() {
            self.clear();
        }
    }
}

/// What a node is in a hyperedge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// An end without a direction.
    #[default]
    Member,
    /// An end to which the hyperedge goes.
    Head,
    /// An end from which it comes.
    Tail,
}

impl Role {
    /// Returns the word of the model for it.
    pub fn word(self) -> &'static str {
        match self {
            Role::Member => "member",
            Role::Head => "head",
            Role::Tail => "tail",
        }
    }
}

/// An end of a hyperedge.
#[derive(Debug, Clone, Default)]
pub struct Endpoint {
    /// The node.
    pub node: String,
    /// Its role.
    pub role: Role,
}

/// A node, an edge or a hyperedge.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// The id of a node or a hyperedge.
    pub id: Id,
    /// The source of an edge.
    pub source: Id,
    /// The target of an edge.
    pub target: Id,
    /// Whether an edge is directed, if it says so itself.
    pub directed: Option<bool>,
    /// The ends of a hyperedge.
    pub endpoints: Vec<Endpoint>,
    /// Attributes of nodes.
    pub nodes: Slots,
    /// Attributes of edges.
    pub edges: Slots,
    /// Attributes of hyperedges.
    pub hyperedges: Slots,
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

    /// Starts a hyperedge.
    pub fn begin_hyperedge(&mut self) {
        self.hyperedges.clear();
        self.id.clear();
        self.endpoints.clear();
    }
}
