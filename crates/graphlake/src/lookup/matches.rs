//! The triples that match a pattern, as an iterator.

use isomorph_error::Result;

use super::catalog::PredicateFiles;
use super::keys::Wanted;
use crate::merge::Merge;
use crate::read::{GraphLake, Order};
use crate::snapshot::NamedGraph;
use crate::triple::Triple;

/// The triples that match a pattern, predicate by predicate.
pub(super) struct Matches<'s> {
    lake: &'s GraphLake,
    order: Order,
    /// The wanted object, if there is one.
    object: Option<Triple>,
    only: Wanted,
    units: std::vec::IntoIter<(&'s NamedGraph, &'s PredicateFiles)>,
    current: Option<(&'s NamedGraph, &'s str, Merge)>,
}

impl<'s> Matches<'s> {
    pub(super) fn new(
        lake: &'s GraphLake,
        order: Order,
        object: Option<Triple>,
        only: Wanted,
        units: Vec<(&'s NamedGraph, &'s PredicateFiles)>,
    ) -> Self {
        Matches { lake, order, object, only, units: units.into_iter(), current: None }
    }

    /// Returns the next one, with its graph and its predicate.
    ///
    /// # Errors
    /// Returns an error if a file is missing, truncated, damaged or not in order.
    pub(super) fn next(&mut self) -> Result<Option<(&'s NamedGraph, &'s str, &Triple)>> {
        while !self.advance()? {
            let Some((graph, files)) = self.units.next() else { return Ok(None) };
            let merge = self.lake.merge_of(graph, files, self.order, &self.only)?;
            self.current = Some((graph, files.name.as_str(), merge));
        }
        let current = self.current.as_ref();
        Ok(current.and_then(|(graph, predicate, merge)| Some((*graph, *predicate, merge.current()?.0))))
    }

    /// Advances in the current files; false if they have no further triple.
    fn advance(&mut self) -> Result<bool> {
        let Some((_, _, merge)) = &mut self.current else { return Ok(false) };
        while let Some(triple) = merge.next()? {
            let fits = self.object.as_ref().is_none_or(|wanted| {
                (&wanted.object, wanted.literal, &wanted.datatype) == (&triple.object, triple.literal, &triple.datatype)
            });
            if fits {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
