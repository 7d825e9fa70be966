//! What all nodes, or all edges, have in common, so that a text can omit it for each element.

use isomorph_error::Result;
use serde_json::{Map, Value};

use super::encode;
use crate::TextFormat;
use crate::block::Kind;

/// What all elements seen so far have in common.
#[derive(Debug, Clone, Default)]
pub(super) struct Common {
    seen: bool,
    ty: Option<i32>,
    weight: Option<f32>,
    /// The first features: the kind of each, and the length of its bytes.
    features: Vec<(Kind, usize)>,
}

/// What elements do not state themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Left {
    pub ty: bool,
    pub weight: bool,
    /// The types and lengths of this number of features, starting with the first.
    pub features: usize,
}

impl Common {
    /// Records an element.
    pub fn see(&mut self, ty: i32, record: &[u8]) {
        let weight = record.first_chunk().map(|bytes| f32::from_le_bytes(*bytes)).filter(|weight| weight.is_finite());
        // The length of a sparse feature depends on its values, and a hole has no type.
        let features = encode::kinds(record);
        if !std::mem::replace(&mut self.seen, true) {
            let plain = |(kind, _): &(Kind, usize)| matches!(kind, Kind::Dense(_) | Kind::Text);
            (self.ty, self.weight, self.features) = (Some(ty), weight, features.take_while(plain).collect());
            return;
        }
        self.ty = self.ty.filter(|own| *own == ty);
        self.weight = self.weight.filter(|own| weight.is_some_and(|weight| weight.to_bits() == own.to_bits()));
        if !self.features.is_empty() {
            // A text is one word, whatever its length.
            let same = |(a, b): &(&(Kind, usize), (Kind, usize))| a.0 == b.0 && (a.0 == Kind::Text || a.1 == b.1);
            let count = self.features.iter().zip(features).take_while(same).count();
            self.features.truncate(count);
        }
    }

    /// Returns what a text can omit.
    pub fn left(&self) -> Left {
        Left { ty: self.ty.is_some(), weight: self.weight.is_some(), features: self.features.len() }
    }

    /// Adds it to the file of defaults, as those of `element`.
    fn state(&self, element: &str, format: TextFormat, out: &mut Map<String, Value>) {
        let mut add = |what: &str, value: Value| out.insert(format!("{element}_default_{what}"), value);
        if let Some(ty) = self.ty {
            add("type", ty.into());
        }
        if let Some(weight) = self.weight {
            add("weight", encode::shortest(weight).into());
        }
        let word = |(kind, length): &(Kind, usize)| match kind {
            Kind::Dense(dtype) => Some(format!("{} {}", dtype.name(), length / dtype.size())),
            Kind::Text => Some(format!("{} 1", format.word_for_text())),
            _ => None,
        };
        let words: Vec<String> = self.features.iter().filter_map(word).collect();
        if !words.is_empty() {
            add("features", words.join(" ").into());
        }
    }
}

/// Returns the file of defaults; `None` if nothing is in common.
///
/// # Errors
/// Returns an error if it is not JSON, which cannot happen.
pub(super) fn defaults(nodes: &Common, edges: &Common, format: TextFormat) -> Result<Option<String>> {
    let mut all = Map::new();
    nodes.state("node", format, &mut all);
    edges.state("edge", format, &mut all);
    if all.is_empty() {
        return Ok(None);
    }
    let text = serde_json::to_string(&Value::Object(all));
    text.map(|text| Some(text + "\n")).map_err(|error| isomorph_error::Error::usage(error.to_string()))
}
