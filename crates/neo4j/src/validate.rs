//! Checks that need all ids: ids are unique, and relationships end in nodes.

use std::collections::HashSet;

use isomorph_error::{Error, Findings, Result};
use isomorph_model::{Request, Source, Tables};
use isomorph_storage::Budget;
use xxhash_rust::xxh3::xxh3_128;

use crate::item::{Item, Items};
use crate::rules;
use crate::source::Records;
use crate::value::Value;

/// Approximate memory for the hash of an id, in bytes.
const COST: u64 = 24;

fn hash(ty: &str, key: &Value) -> u128 {
    let mut text = String::from(ty);
    text.push('\u{0}');
    key.push_json(&mut text);
    xxh3_128(text.as_bytes())
}

fn shown(key: &Value) -> String {
    let mut text = String::new();
    key.push_json(&mut text);
    text.chars().take(60).collect()
}

/// Adds findings about records to `findings`.
///
/// # Errors
/// If the text cannot be read, or the hashes of ids do not fit into memory.
pub(crate) fn validate(records: &Records, budget: &Budget, findings: &mut Findings) -> Result<()> {
    let checked = ids(records, budget, findings).and_then(|()| {
        let mut parts = records.scan(&Request::of(Tables::All))?.into_iter();
        parts.try_for_each(|mut part| part.try_for_each(|batch| batch.map(|_| ())))
    });
    match checked {
        Err(error) => match error.broken_rule() {
            Some(rule) => {
                findings.push(rule, error.message(), error.place().clone());
                Ok(())
            }
            None => Err(error),
        },
        Ok(()) => Ok(()),
    }
}

fn ids(records: &Records, budget: &Budget, findings: &mut Findings) -> Result<()> {
    let mut held = budget.reserve(0)?;
    let mut known = HashSet::new();
    let each = |take: &mut dyn FnMut(&dyn Items, Item) -> Result<()>| -> Result<()> {
        let mut items = records.items()?;
        while let Some(item) = items.next()? {
            take(items.as_ref(), item)?;
        }
        Ok::<(), Error>(())
    };
    each(&mut |items, item| {
        if let Item::Node(node) = item {
            held.grow(COST)?;
            if !known.insert(hash(&node.ty, &node.key)) {
                findings.push(&rules::ID, format!("the id {} comes twice", shown(&node.key)), items.place());
            }
        }
        Ok(())
    })?;
    each(&mut |items, item| {
        if let Item::Edge(edge) = item {
            for (ty, key) in &edge.ends {
                if !known.contains(&hash(ty, key)) {
                    findings.push(&rules::END, format!("there is no node {}", shown(key)), items.place());
                }
            }
        }
        Ok(())
    })
}
