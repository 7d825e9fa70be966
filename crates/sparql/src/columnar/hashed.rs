//! Joins by hash tables, of what cannot be looked up in the index.

use std::cell::RefCell;
use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use isomorph::error::Result;
use isomorph::storage::Reservation;

use super::execute::{Context, Out};
use super::table::{Table, UNBOUND, Var, Vars, each, number};

/// Joined rows that are passed on at once.
const BATCH: usize = 1 << 15;

/// The values of some variables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// Of two variables at most.
    Narrow(u64),
    Wide(Box<[u32]>),
}

impl Key {
    pub fn of(table: &Table, vars: &[Var], row: usize) -> Self {
        match vars {
            [] => Key::Narrow(0),
            [var] => Key::Narrow(u64::from(table.value(*var, row))),
            [first, second] => {
                Key::Narrow(u64::from(table.value(*first, row)) << 32 | u64::from(table.value(*second, row)))
            }
            vars => Key::Wide(vars.iter().map(|var| table.value(*var, row)).collect()),
        }
    }
}

/// Different rows.
#[derive(Default)]
pub(super) struct Rows {
    keys: HashSet<Key>,
    wide: u64,
}

impl Rows {
    /// Adds a row; false if there is one like it.
    pub fn insert(&mut self, table: &Table, vars: &[Var], row: usize) -> bool {
        let is_new = self.keys.insert(Key::of(table, vars, row));
        if is_new && vars.len() > 2 {
            self.wide += 16 + 4 * vars.len() as u64;
        }
        is_new
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn bytes(&self) -> u64 {
        (self.keys.capacity() * (size_of::<Key>() + 1)) as u64 + self.wide
    }
}

/// A chain of rows for each key.
struct Index {
    first: HashMap<Key, u32>,
    /// The next row of the same key, and `u32::MAX` at the end.
    next: Vec<u32>,
}

const END: u32 = u32::MAX;

/// Solutions that others are joined with.
pub(super) struct Built {
    table: Table,
    /// Rows by which of the shared variables have values.
    parts: Vec<(Vars, Vec<u32>)>,
    shared: Vars,
    indexes: RefCell<std::collections::HashMap<(usize, Vars), Rc<Index>>>,
    _held: Reservation,
}

impl Built {
    pub fn new(table: Table, shared: Vars, held: Reservation) -> Self {
        let parts = table.by_bound(shared);
        Built { table, parts, shared, indexes: RefCell::default(), _held: held }
    }

    pub fn is_empty(&self) -> bool {
        self.table.rows == 0
    }

    /// The rows of a part by the values of some variables.
    fn index(&self, part: usize, vars: Vars) -> Rc<Index> {
        let make = || {
            let vars: Vec<Var> = each(vars).collect();
            let (mut first, mut next) = (HashMap::new(), vec![END; self.table.rows]);
            let rows = self.parts.get(part).map(|(_, rows)| rows.as_slice()).unwrap_or_default();
            for row in rows.iter().rev() {
                let key = Key::of(&self.table, &vars, *row as usize);
                if let Some(later) = first.insert(key, *row) {
                    next[*row as usize] = later;
                }
            }
            Rc::new(Index { first, next })
        };
        Rc::clone(self.indexes.borrow_mut().entry((part, vars)).or_insert_with(make))
    }

    /// Calls `take` with every row of `other` and the compatible rows here, as long as it returns true for a row. If `disjoint` is
    /// false, rows must have a variable in common.
    fn compatible(&self, other: &Table, disjoint: bool, take: &mut dyn FnMut(u32, u32) -> Result<bool>) -> Result<()> {
        for (bound, rows) in other.by_bound(self.shared) {
            for (part, (here, _)) in self.parts.iter().enumerate() {
                let both = bound & here;
                if both == 0 && !disjoint {
                    continue;
                }
                let index = self.index(part, both);
                let vars: Vec<Var> = each(both).collect();
                for row in &rows {
                    let key = Key::of(other, &vars, *row as usize);
                    let mut at = index.first.get(&key).copied().unwrap_or(END);
                    while at != END && take(*row, at)? {
                        at = index.next[at as usize];
                    }
                }
            }
        }
        Ok(())
    }

    /// The rows of `other` with which no row here is compatible and has a variable in common.
    pub fn without_compatible(&self, other: &Table) -> Vec<u32> {
        let mut removed = vec![false; other.rows];
        // Never an error.
        let _ = self.compatible(other, false, &mut |row, _| {
            removed[row as usize] = true;
            Ok(false)
        });
        removed.iter().enumerate().filter(|(_, removed)| !**removed).map(|(row, _)| number(row)).collect()
    }

    /// Joins the rows of `other` with those here.
    ///
    /// # Errors
    /// If the evaluation is stopped; those of `out`.
    pub fn join(&self, context: &Context<'_>, other: &Table, out: &mut Out<'_>) -> Result<bool> {
        let (mut others, mut here, mut more) = (Vec::new(), Vec::new(), true);
        self.compatible(other, true, &mut |row, found| {
            if !more {
                return Ok(false);
            }
            others.push(row);
            here.push(found);
            if others.len() >= BATCH {
                context.alive()?;
                more = out(self.merged(other, &others, &here))?;
                others.clear();
                here.clear();
            }
            Ok(more)
        })?;
        if more && !others.is_empty() {
            more = out(self.merged(other, &others, &here))?;
        }
        Ok(more)
    }

    fn merged(&self, other: &Table, others: &[u32], here: &[u32]) -> Table {
        let mut merged = other.take(others, Vars::MAX);
        for (var, column) in self.table.vars.iter().zip(&self.table.columns) {
            let values = here.iter().map(|row| column[*row as usize]);
            match merged.vars.iter().position(|of| of == var) {
                None => merged.push_column(*var, values.collect()),
                Some(at) => {
                    for (value, of) in merged.columns[at].iter_mut().zip(values) {
                        if *value == UNBOUND {
                            *value = of;
                        }
                    }
                }
            }
        }
        merged
    }
}
