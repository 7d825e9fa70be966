//! Which label of a node is its type.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use isomorph_error::{Error, Result};
use isomorph_model::{LabelColumn, LabelVocabulary, NodeType};

use super::NodeTypes;
use super::types::NO_TYPE;
use crate::mapping::{Bundling, NameRules, Names, Slot};

/// The labels of a graph, by precedence as types: first those that are named, in that order, then the others in the
/// byte order of the source.
#[derive(Debug, Clone)]
pub struct Labels {
    ordered: Vec<String>,
    /// The requested names of their types.
    names: Vec<Option<String>>,
    ranks: Arc<HashMap<String, u64>>,
    legal: fn(char) -> bool,
}

impl Labels {
    /// The labels of the only node type of `bundling.typed`. They have other names than in the source if `rules` forbid
    /// these.
    ///
    /// # Errors
    /// Returns [`isomorph_error::Kind::Unsupported`] if there are so many labels that they are a property.
    pub fn of(bundling: &Bundling, how: &NodeTypes, rules: &NameRules) -> Result<Labels> {
        let node = super::only(&bundling.typed)?;
        let declared = match &node.labels {
            LabelVocabulary::Declared(labels) => labels.as_slice(),
            LabelVocabulary::None | LabelVocabulary::Open => &[],
        };
        if bundling.nodes.iter().any(|slots| slots.properties.contains(&Slot::Labels)) {
            return Err(Error::unsupported(
                "more than a thousand labels are written as a property, and cannot be node types",
            )
            .hint("without --node-type-from they are written as that property"));
        }
        let renamed = bundling.nodes.first().map(|slots| slots.labels.as_slice()).unwrap_or_default();
        let real: BTreeMap<&str, &str> = renamed.iter().map(|(given, real)| (given.as_str(), real.as_str())).collect();
        let of = |label: &String| real.get(label.as_str()).map_or_else(|| label.clone(), |real| (*real).to_owned());
        let place = |real: &str| how.names.iter().position(|(known, _)| known == real).unwrap_or(usize::MAX);
        let mut all: Vec<(usize, String, &String)> =
            declared.iter().map(|label| (of(label), label)).map(|(real, label)| (place(&real), real, label)).collect();
        all.sort();
        let ordered: Vec<String> = all.iter().map(|(_, _, label)| (*label).clone()).collect();
        let names = all.iter().map(|(_, real, _)| how.name(real).map(str::to_owned)).collect();
        let ranks = ordered.iter().cloned().zip(0..).collect();
        Ok(Labels { ordered, names, ranks: Arc::new(ranks), legal: rules.legal })
    }

    /// The code of the type for these labels.
    pub(super) fn code<'a>(&self, labels: impl Iterator<Item = &'a str>) -> u64 {
        labels.filter_map(|label| self.ranks.get(label)).min().copied().unwrap_or(NO_TYPE)
    }

    /// The label of a code.
    pub(super) fn of_code(&self, code: u64) -> Option<&str> {
        usize::try_from(code).ok().and_then(|at| self.ordered.get(at)).map(String::as_str)
    }

    /// The codes of rows.
    pub(super) fn codes(&self, column: Option<&LabelColumn>, rows: usize) -> Vec<u64> {
        let Some(column) = column else { return vec![NO_TYPE; rows] };
        let name = |at: &u32| column.names().get(*at as usize).map(String::as_str);
        let sets: Vec<u64> = column.sets().iter().map(|set| self.code(set.iter().filter_map(name))).collect();
        column.rows().iter().map(|set| sets.get(*set as usize).copied().unwrap_or(NO_TYPE)).collect()
    }

    /// The name of the type for a label, or for the only type of the source.
    pub(super) fn type_name(&self, label: &str, names: &mut Names) -> String {
        let at = self.ranks.get(label).and_then(|rank| usize::try_from(*rank).ok());
        let wanted = at.and_then(|at| self.names.get(at)).and_then(Option::as_deref);
        names.give(wanted.unwrap_or(label), self.legal)
    }
}

/// The labels of `rows` nodes, with `own` in addition.
pub(super) fn with(labels: Option<&LabelColumn>, own: &str, rows: usize) -> LabelColumn {
    match labels {
        Some(labels) => labels.map_sets(|names| names.into_iter().chain([own]).map(str::to_owned).collect()),
        None => {
            let mut builder = isomorph_model::label::LabelBuilder::default();
            let set = builder.intern([own]);
            (0..rows).for_each(|_| builder.push_set(set));
            builder.finish()
        }
    }
}

/// Whether nodes of this type have labels.
pub(super) fn has_labels(ty: &NodeType) -> bool {
    ty.labels != LabelVocabulary::None
}
