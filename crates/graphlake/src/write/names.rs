//! Names of graphs, predicates and datatypes: few texts, with numbers that all threads share.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use isomorph_error::{Error, Kind, Result};
use isomorph_storage::{Budget, Reservation};

/// Memory of a name in addition to its text, for both directions, in bytes.
const OVERHEAD: u64 = 112;

/// The names so far. The meaning of a number never changes.
pub(super) struct Names(Mutex<Inner>);

struct Inner {
    graphs: List<String>,
    partitions: List<(u32, String)>,
    datatypes: List<String>,
    held: Reservation,
}

/// The names, once the numbers are final.
pub(super) struct Named {
    pub(super) graphs: Vec<String>,
    /// Graph and predicate.
    pub(super) partitions: Vec<(u32, String)>,
    /// Datatypes with their languages; the first is that of plain text.
    pub(super) datatypes: Vec<String>,
}

struct List<T> {
    numbers: HashMap<T, u32>,
    all: Vec<T>,
}

impl<T: Clone + Eq + std::hash::Hash> List<T> {
    fn new() -> Self {
        List { numbers: HashMap::new(), all: Vec::new() }
    }

    fn number(&mut self, name: T, bytes: usize, held: &mut Reservation) -> Result<u32> {
        if let Some(number) = self.numbers.get(&name) {
            return Ok(*number);
        }
        held.grow(2 * bytes as u64 + OVERHEAD)?;
        let too_many = |_| Error::new(Kind::TooLarge, "more than 2^32 names of graphs, predicates or datatypes");
        let number = u32::try_from(self.all.len()).map_err(too_many)?;
        self.all.push(name.clone());
        self.numbers.insert(name, number);
        Ok(number)
    }
}

impl Names {
    pub(super) fn new(budget: &Budget) -> Result<Self> {
        let held = budget.reserve(0)?;
        let mut datatypes = List::new();
        datatypes.all.push(String::new());
        datatypes.numbers.insert(String::new(), 0);
        Ok(Names(Mutex::new(Inner { graphs: List::new(), partitions: List::new(), datatypes, held })))
    }

    /// Gives names the numbers that they had in an earlier load. Must be called before any other name is added.
    ///
    /// # Errors
    /// [`Kind::Malformed`] if a name is repeated, or the graph of a partition is unknown.
    pub(super) fn restore(&self, graphs: &[String], partitions: &[(u32, String)], datatypes: &[String]) -> Result<()> {
        let in_order = |numbers: &mut dyn Iterator<Item = Result<u32>>, first: u32| {
            for (wanted, number) in (first..).zip(numbers) {
                if number? != wanted {
                    return Err(Error::malformed("the log of the load repeats a name"));
                }
            }
            Ok(())
        };
        in_order(&mut graphs.iter().map(|name| self.graph(name)), 0)?;
        if partitions.iter().any(|(graph, _)| *graph as usize >= graphs.len()) {
            return Err(Error::malformed("the log of the load refers to a graph that it does not define"));
        }
        in_order(&mut partitions.iter().map(|(graph, predicate)| self.partition(*graph, predicate)), 0)?;
        // The first always exists.
        in_order(&mut datatypes.iter().map(|text| self.datatype(text)), 1)
    }

    fn with<R>(&self, work: impl FnOnce(&mut Inner) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn graph(&self, name: &str) -> Result<u32> {
        self.with(|inner| inner.graphs.number(name.to_owned(), name.len(), &mut inner.held))
    }

    pub(super) fn partition(&self, graph: u32, predicate: &str) -> Result<u32> {
        self.with(|inner| inner.partitions.number((graph, predicate.to_owned()), predicate.len(), &mut inner.held))
    }

    pub(super) fn datatype(&self, text: &str) -> Result<u32> {
        self.with(|inner| inner.datatypes.number(text.to_owned(), text.len(), &mut inner.held))
    }

    /// The names so far, in the order of their numbers.
    pub(super) fn named(&self) -> Named {
        self.with(|inner| Named {
            graphs: inner.graphs.all.clone(),
            partitions: inner.partitions.all.clone(),
            datatypes: inner.datatypes.all.clone(),
        })
    }

    /// The datatypes so far, by number.
    pub(super) fn datatypes(&self) -> Vec<String> {
        self.with(|inner| inner.datatypes.all.clone())
    }
}
