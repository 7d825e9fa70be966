//! Labels in the order in which they were requested.

use std::collections::HashMap;

/// Issues labels (section 4.5). It is copied at every step of a path; most of the data is shared between copies.
#[derive(Debug, Clone)]
pub(super) struct Issuer {
    prefix: &'static str,
    issued: HashMap<u32, String>,
    order: Vec<u32>,
}

impl Issuer {
    pub(super) fn new(prefix: &'static str) -> Self {
        Issuer { prefix, issued: HashMap::new(), order: Vec::new() }
    }

    pub(super) fn get(&self, node: u32) -> Option<&str> {
        self.issued.get(&node).map(String::as_str)
    }

    /// The label of a node; a new one on the first call.
    pub(super) fn issue(&mut self, node: u32) -> String {
        if let Some(label) = self.issued.get(&node) {
            return label.clone();
        }
        let label = format!("{}{}", self.prefix, self.order.len());
        self.order.push(node);
        self.issued.insert(node, label.clone());
        label
    }

    /// Nodes in the order in which they got labels.
    pub(super) fn in_order(&self) -> impl Iterator<Item = u32> + '_ {
        self.order.iter().copied()
    }
}
