//! Which conditions on what is stored say the same of what is shown.
//!
//! Conditions are on the tables of the files, and who asks sees them through what travels beside them. Where a column stands for other
//! values, only a test for null has an answer: that of the values.

use std::collections::BTreeMap;

use isomorph_error::{Error, Result};
use isomorph_model::Predicate;

use crate::mapping::{Mapping, Stored};

/// JSON for no value.
const NULL: &str = "null";

/// The conditions on what is stored that are those on what is shown.
///
/// # Errors
/// Of a condition that compares what stands for other values, or that chooses from groups in which edges are: each edge says itself which
/// those are, so that it would go on being in one that was not chosen.
pub(crate) fn on_stored(
    mapping: &Mapping,
    filters: &BTreeMap<String, Predicate>,
) -> Result<BTreeMap<String, Predicate>> {
    let mut all = BTreeMap::new();
    for (ty, filter) in filters {
        if mapping.is_group_of_edges(ty) {
            let message =
                format!("each edge says itself which {ty} it is in, and a condition on {ty} does not reach it");
            return Err(Error::unsupported(message).hint("--carry ignore    chooses from what is stored"));
        }
        let stands = |column: &&str| mapping.stored(ty, column) != Stored::Itself;
        if let Some(column) = filter.compared().into_iter().find(stands) {
            let message =
                format!("{column} of {ty} is stored as something else, which does not compare as its values do");
            return Err(Error::unsupported(message).hint("--carry ignore    compares what is stored"));
        }
        let is_json = |column: &str| mapping.stored(ty, column) == Stored::Json;
        all.insert(ty.clone(), with_values(filter, &is_json));
    }
    Ok(all)
}

/// The same condition where columns of JSON have a text for null.
fn with_values(filter: &Predicate, is_json: &dyn Fn(&str) -> bool) -> Predicate {
    let all = |list: &[Predicate]| list.iter().map(|one| with_values(one, is_json)).collect();
    let is_null = |column: &String| {
        Predicate::Or(vec![Predicate::IsNull(column.clone()), Predicate::equal(column.clone(), NULL)])
    };
    match filter {
        Predicate::IsNull(column) if is_json(column) => is_null(column),
        Predicate::IsNotNull(column) if is_json(column) => Predicate::Not(Box::new(is_null(column))),
        Predicate::And(list) => Predicate::And(all(list)),
        Predicate::Or(list) => Predicate::Or(all(list)),
        Predicate::Not(one) => Predicate::Not(Box::new(with_values(one, is_json))),
        other => other.clone(),
    }
}
