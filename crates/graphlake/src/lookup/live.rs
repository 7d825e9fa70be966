//! Finds out which of many triples are live.

use std::sync::Arc;

use isomorph_error::Result;

use super::keys::{Keys, Wanted};
use super::terms::{Bindings, Terms};
use crate::read::{GraphLake, Order};
use crate::triple::Triple;

/// Triples that are looked up together.
const TOGETHER: usize = 1 << 16;

/// Maximum memory for them, in bytes.
const TEXT: usize = 16 << 20;

/// Memory for each in addition to its subject, in bytes.
const OF_EACH: usize = 64;

impl GraphLake {
    /// For each of `wanted`, which ascend by subject, returns whether it is live in the first graph. Only the blocks of
    /// files that can have their subjects are read.
    ///
    /// # Errors
    /// Returns an error if a file is missing, truncated, damaged or not in order, or if the budget is exhausted.
    pub(crate) fn which_live(&self, predicate: &str, wanted: &[&Triple]) -> Result<Vec<bool>> {
        let mut live = Vec::with_capacity(wanted.len());
        let graph = self.snapshot.graphs.first();
        let files =
            graph.zip(self.catalog().graphs.first()).and_then(|(graph, all)| Some((graph, all.get(predicate)?)));
        let Some((graph, files)) = files else { return Ok(vec![false; wanted.len()]) };
        let most = TEXT.min(usize::try_from(self.options.budget.limit() / 16).unwrap_or(TEXT));
        let of_each = |triple: &Triple| triple.subject.len() + OF_EACH;
        let mut rest = wanted;
        while !rest.is_empty() {
            let mut taken = 0;
            let fits = rest.iter().take(TOGETHER).take_while(|triple| {
                taken += of_each(triple);
                taken <= most
            });
            let (now, later) = rest.split_at_checked(fits.count().max(1)).unwrap_or((rest, &[]));
            rest = later;
            let needed: usize = now.iter().map(|triple| of_each(triple)).sum();
            let _memory = self.options.budget.reserve(needed as u64)?;
            let mut column = Terms::default();
            now.iter().try_for_each(|triple| column.push_resource(&triple.subject))?;
            let bindings = Arc::new(Bindings::new(vec![column])?);
            let keys = Keys::of(&bindings, 0, bindings.numbers().collect());
            let all = 0..keys.len();
            let only = Wanted::Keys(Arc::new(keys), all);
            let begin = live.len();
            live.resize(begin + now.len(), false);
            let mut merge = self.merge_of(graph, files, Order::Subject, &only)?;
            while let Some(triple) = merge.next()? {
                // Other triples of these subjects are ignored.
                if let Ok(at) = now.binary_search_by(|one| one.compare(triple, Order::Subject))
                    && let Some(one) = live.get_mut(begin + at)
                {
                    *one = true;
                }
            }
        }
        Ok(live)
    }
}
