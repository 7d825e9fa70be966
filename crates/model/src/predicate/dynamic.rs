//! Conditions that become narrower while a scan runs.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use isomorph_error::{Error, Result};

use super::Predicate;

/// A condition that becomes narrower while a scan runs: the bound of a top-k, or the keys on the other side of a join. Clones share it, on any
/// thread.
///
/// A scan looks at it again before each part that it can leave out: a chunk, a row group, a partition. **Every row that any condition so far
/// excludes may be missing, and may be there**: whoever narrows applies the condition to what comes. A later condition should therefore imply those before;
/// one that does not brings no row back for sure.
#[derive(Clone)]
pub struct DynamicFilter(Arc<Shared>);

struct Shared {
    columns: Vec<String>,
    now: RwLock<Option<Arc<Predicate>>>,
}

impl DynamicFilter {
    /// A condition on these columns that excludes nothing yet. A scan reads them even if nobody else wants them.
    pub fn new<S: Into<String>>(columns: impl IntoIterator<Item = S>) -> Self {
        let columns = columns.into_iter().map(Into::into).collect();
        DynamicFilter(Arc::new(Shared { columns, now: RwLock::default() }))
    }

    /// The columns that it may compare.
    pub fn columns(&self) -> &[String] {
        &self.0.columns
    }

    /// From now on only rows for which `condition` is true are wanted. It takes the place of the condition before.
    ///
    /// # Errors
    /// [`isomorph_error::Kind::Usage`] for a condition on other columns.
    pub fn narrow(&self, condition: Predicate) -> Result<()> {
        if let Some(other) = condition.columns().iter().find(|column| !self.0.columns.iter().any(|own| own == *column))
        {
            let own = self.0.columns.join(", ");
            return Err(Error::usage(format!("column {other} is not one of those that the filter may compare: {own}")));
        }
        *self.0.now.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(condition));
        Ok(())
    }

    /// The condition now, if there is one.
    pub fn now(&self) -> Option<Arc<Predicate>> {
        self.0.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for DynamicFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicFilter").field("columns", &self.0.columns).field("now", &self.now()).finish()
    }
}

impl PartialEq for DynamicFilter {
    /// Whether both are the same condition, now and later.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A dynamic filter whose columns have other names.
#[derive(Debug, Clone, PartialEq)]
pub struct Renamed {
    filter: DynamicFilter,
    /// The names of those of its columns that are known.
    names: BTreeMap<String, String>,
}

impl Renamed {
    /// `filter`, whose columns have the names that `name` gives; conditions on columns that it does not know are left out.
    pub fn new(filter: &DynamicFilter, name: &mut dyn FnMut(&str) -> Option<String>) -> Self {
        let names = filter.columns().iter().filter_map(|column| Some((column.clone(), name(column)?)));
        Renamed { filter: filter.clone(), names: names.collect() }
    }

    /// The same with other names for the columns that it knows.
    pub fn renamed(&self, name: &mut dyn FnMut(&str) -> Option<String>) -> Self {
        let names = self.names.iter().filter_map(|(own, known)| Some((own.clone(), name(known)?)));
        Renamed { filter: self.filter.clone(), names: names.collect() }
    }

    /// What the condition says now of the columns that are known.
    pub fn now(&self) -> Option<Predicate> {
        self.filter.now()?.known_part(&mut |column| self.names.get(column).cloned())
    }
}
