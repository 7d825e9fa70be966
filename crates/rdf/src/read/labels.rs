//! Labels of blank nodes: labels of a text are kept, and nodes without one get a label that is the same in every run.
//!
//! Parsers give a node without a label a random one: 128 bits, in hexadecimal digits. A text may have such labels
//! itself, if it was written by a store that keeps them. So a text is searched for such digits before the parser reads
//! it: a label that is not among them is random.

use std::collections::{HashMap, HashSet};

use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Reservation};
use oxrdf::BlankNodeRef;

use super::guard::Watch;
use super::{ReadOptions, Unlabelled};

/// Random labels have 128 bits; a shorter number is a label of the text. The probability of a random one this short is
/// negligible.
const DRAWN: u128 = 1 << 76;

/// Number of hexadecimal digits of the shortest number of that size, and of the longest.
const DIGITS: std::ops::RangeInclusive<usize> = 20..=32;

/// The prefix of labels for nodes without a label.
const STEM: &str = "anon";

/// Bytes of the budget for one label that is kept, and the number of labels that are reserved at once.
const EACH: u64 = 64;
const AT_ONCE: u64 = 1 << 10;

/// Numbers in a text that look like random labels, so that they are recognised as labels of the text.
pub(super) struct Seen {
    numbers: HashSet<u128>,
    memory: Room,
    value: u128,
    digits: usize,
}

/// Memory of the budget, reserved for a thousand labels at a time.
struct Room {
    memory: Reservation,
    left: u64,
}

impl Room {
    fn new(budget: &Budget) -> Result<Self> {
        Ok(Room { memory: budget.reserve(0)?, left: 0 })
    }

    fn one(&mut self) -> Result<()> {
        if self.left == 0 {
            self.memory.grow(EACH * AT_ONCE)?;
            self.left = AT_ONCE;
        }
        self.left -= 1;
        Ok(())
    }
}

impl Seen {
    pub(super) fn new(budget: &Budget) -> Result<Self> {
        Ok(Seen { numbers: HashSet::new(), memory: Room::new(budget)?, value: 0, digits: 0 })
    }

    /// Searches the next bytes.
    pub(super) fn look(&mut self, bytes: &[u8]) -> Result<()> {
        for byte in bytes {
            let digit = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'f' => byte - b'a' + 10,
                _ if self.digits == 0 => continue,
                _ => {
                    if DIGITS.contains(&self.digits) && self.numbers.insert(self.value) {
                        self.memory.one()?;
                    }
                    (self.value, self.digits) = (0, 0);
                    continue;
                }
            };
            self.value = self.value << 4 | u128::from(digit);
            self.digits += 1;
        }
        Ok(())
    }
}

/// Assigns the labels of the blank nodes of one text.
pub(super) struct Labels {
    drawn: HashMap<u128, u64>,
    next: u64,
    /// Labels of the text that look like ours, with their replacements.
    kept: HashMap<String, String>,
    given: HashSet<String>,
    unlabelled: Unlabelled,
    memory: Room,
}

impl Labels {
    pub(super) fn new(options: &ReadOptions) -> Result<Self> {
        let (memory, unlabelled) = (Room::new(&options.budget)?, options.unlabelled.clone());
        Ok(Labels { drawn: HashMap::new(), next: 0, kept: HashMap::new(), given: HashSet::new(), unlabelled, memory })
    }

    /// Appends `_:` and the label of a node.
    pub(super) fn push(&mut self, out: &mut String, node: BlankNodeRef<'_>, watch: &Watch) -> Result<()> {
        out.push_str("_:");
        let Some(seen) = &watch.seen else {
            out.push_str(node.as_str());
            return Ok(());
        };
        let drawn = node.unique_id().filter(|id| *id >= DRAWN && !seen.borrow().numbers.contains(id));
        match drawn {
            Some(id) => {
                let number = self.number(id)?;
                out.push_str(match &self.unlabelled {
                    Unlabelled::Numbered => STEM,
                    Unlabelled::Called(stem) => stem,
                    Unlabelled::Refused => return Err(no_label()),
                });
                out.push_str(&number.to_string());
            }
            None if self.unlabelled != Unlabelled::Numbered => out.push_str(node.as_str()),
            None => out.push_str(self.kept(node.as_str())?),
        }
        Ok(())
    }

    fn number(&mut self, id: u128) -> Result<u64> {
        if let Some(number) = self.drawn.get(&id) {
            return Ok(*number);
        }
        while self.given.contains(&format!("{STEM}{}", self.next)) {
            self.next += 1;
        }
        let number = self.next;
        self.next += 1;
        self.memory.one()?;
        self.drawn.insert(id, number);
        Ok(number)
    }

    /// The label of the text itself, unless it was already assigned to a node without one.
    fn kept<'l>(&'l mut self, label: &'l str) -> Result<&'l str> {
        let Some(rest) = label.strip_prefix(STEM) else { return Ok(label) };
        if rest.is_empty() || !rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            return Ok(label);
        }
        if !self.kept.contains_key(label) {
            let mut free = label.to_owned();
            while self.given.contains(&free) || self.is_number(&free) {
                free.push('-');
            }
            self.memory.one()?;
            self.given.insert(free.clone());
            self.kept.insert(label.to_owned(), free);
        }
        Ok(self.kept.get(label).map_or(label, String::as_str))
    }

    /// Whether this label was assigned to a node without one.
    fn is_number(&self, label: &str) -> bool {
        let number = label.strip_prefix(STEM).and_then(|number| number.parse::<u64>().ok());
        number.is_some_and(|number| number < self.next && format!("{STEM}{number}") == label)
    }
}

fn no_label() -> Error {
    Error::usage("a blank node without a label is a new node, so it cannot refer to an existing one")
        .hint("write the label of the node, as isomorph match LAKE '_ _ _' shows it: _:b0")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::cell::RefCell;

    use oxrdf::BlankNode;

    use super::*;

    fn label(labels: &mut Labels, node: &BlankNode, watch: &Watch) -> String {
        let mut out = String::new();
        labels.push(&mut out, node.as_ref(), watch).unwrap();
        out
    }

    #[test]
    fn labels_of_the_text_are_kept_and_nodes_without_one_are_numbered() {
        let budget = Budget::default();
        let mut seen = Seen::new(&budget).unwrap();
        let own = "f0123456789abcdef0123456789abcde";
        for bytes in format!("_:{own} <urn:p> _:abc . []").as_bytes().chunks(5) {
            seen.look(bytes).unwrap();
        }
        let watch = Watch { seen: Some(RefCell::new(seen)), ..Watch::default() };
        let mut labels = Labels::new(&ReadOptions { budget, ..ReadOptions::default() }).unwrap();
        let (first, second) = (BlankNode::default(), BlankNode::default());
        assert_eq!(label(&mut labels, &first, &watch), "_:anon0");
        assert_eq!(label(&mut labels, &BlankNode::new(own).unwrap(), &watch), format!("_:{own}"));
        assert_eq!(label(&mut labels, &BlankNode::new("abc").unwrap(), &watch), "_:abc");
        // Assigned before the text uses it, and used before it is assigned.
        assert_eq!(label(&mut labels, &BlankNode::new("anon0").unwrap(), &watch), "_:anon0-");
        assert_eq!(label(&mut labels, &BlankNode::new("anon0-").unwrap(), &watch), "_:anon0--");
        assert_eq!(label(&mut labels, &BlankNode::new("anon1").unwrap(), &watch), "_:anon1");
        assert_eq!(label(&mut labels, &BlankNode::new("anon01").unwrap(), &watch), "_:anon01");
        assert_eq!(label(&mut labels, &second, &watch), "_:anon2");
        assert_eq!(label(&mut labels, &BlankNode::new("anonymous").unwrap(), &watch), "_:anonymous");
        assert_eq!(label(&mut labels, &first, &watch), "_:anon0");
        assert_eq!(label(&mut labels, &BlankNode::new("anon0").unwrap(), &watch), "_:anon0-");
    }
}
