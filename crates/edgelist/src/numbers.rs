//! The numbers of nodes in notations that have no names: 1 to the number of nodes.

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use isomorph_error::{Error, Kind, Result, index};
use isomorph_model::NodeBatch;
use isomorph_storage::{Budget, Reservation};

use crate::WriteOptions;
use crate::line::integer;
use crate::notation::Notation;

/// The numbers of the nodes of a graph that is being written: their keys, or else their rows from 1.
pub(crate) struct Numbers {
    notation: Notation,
    rows: u64,
    /// The number of each row, if they differ from the rows.
    keys: Option<Vec<u64>>,
    /// Whether keys are not numbers from 1, and rows are written instead.
    is_by_row: bool,
    may_lose: bool,
    is_checked: bool,
    budget: Budget,
    held: Option<Reservation>,
}

impl Numbers {
    pub fn new(notation: Notation, options: &WriteOptions) -> Numbers {
        let budget = options.budget.clone().unwrap_or_else(Budget::of_this_machine);
        Numbers {
            notation,
            rows: 0,
            keys: None,
            is_by_row: false,
            may_lose: options.without_unheld,
            is_checked: false,
            budget,
            held: None,
        }
    }

    /// Adds the next nodes.
    ///
    /// # Errors
    /// Returns an error if their keys cannot be stored.
    pub fn add(&mut self, nodes: &NodeBatch) -> Result<()> {
        let before = self.rows;
        self.rows += nodes.rows as u64;
        if self.is_by_row {
            return Ok(());
        }
        let keys: Option<Vec<u64>> = nodes.keys.as_ref().and_then(|keys| match keys.as_primitive_opt::<Int64Type>() {
            Some(numbers) => numbers.values().iter().map(|key| u64::try_from(*key).ok()).collect(),
            None => keys.as_string_opt::<i32>()?.iter().map(|key| u64::try_from(integer(key?)?).ok()).collect(),
        });
        let Some(keys) = keys.filter(|keys| !keys.contains(&0)) else { return self.lose() };
        if self.keys.is_none() && keys.iter().zip(before + 1..).all(|(key, number)| *key == number) {
            return Ok(());
        }
        let bytes = 8 * (if self.keys.is_none() { self.rows } else { keys.len() as u64 });
        match &mut self.held {
            Some(held) => held.grow(bytes)?,
            none => *none = Some(self.budget.reserve(bytes)?),
        }
        self.keys.get_or_insert_with(|| (1..=before).collect()).extend(keys);
        Ok(())
    }

    /// Writes rows, or refuses to.
    fn lose(&mut self) -> Result<()> {
        if !self.may_lose {
            let message = format!(
                "keys of nodes would be lost: nodes in {} are the numbers 1 to their count",
                self.notation.name()
            );
            return Err(Error::new(Kind::WouldLose, message).hint("--lossy    number them in their order"));
        }
        self.is_by_row = true;
        self.keys = None;
        self.held = None;
        Ok(())
    }

    /// Checks that the keys are all numbers from 1 to their count.
    fn check(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_checked, true) {
            return Ok(());
        }
        let Some(keys) = &self.keys else { return Ok(()) };
        let _held = self.budget.reserve(self.rows / 8 + 8)?;
        let mut seen = vec![0u64; index(self.rows / 64 + 1)];
        for key in keys {
            let at = key - 1;
            let word = seen.get_mut(index(at / 64)).filter(|_| at < self.rows);
            match word {
                Some(word) if *word >> (at % 64) & 1 == 0 => *word |= 1 << (at % 64),
                _ => return self.lose(),
            }
        }
        Ok(())
    }

    /// Returns the number of the node in a row.
    ///
    /// # Errors
    /// Returns an error if the keys cannot be stored.
    pub fn of(&mut self, row: u64) -> Result<u64> {
        self.check()?;
        Ok(self.keys.as_ref().and_then(|keys| keys.get(index(row)).copied()).unwrap_or(row + 1))
    }

    /// Returns the number of nodes.
    ///
    /// # Errors
    /// Returns an error if the keys cannot be stored.
    pub fn finish(&mut self) -> Result<u64> {
        self.check()?;
        Ok(self.rows)
    }

    /// Returns the row of each number, if they differ from the rows.
    ///
    /// # Errors
    /// Returns an error if the keys cannot be stored.
    pub fn rows_by_number(&mut self) -> Result<Option<Vec<u64>>> {
        self.check()?;
        let Some(keys) = &self.keys else { return Ok(None) };
        match &mut self.held {
            Some(held) => held.grow(8 * self.rows)?,
            none => *none = Some(self.budget.reserve(8 * self.rows)?),
        }
        let mut rows = vec![0; keys.len()];
        for (row, key) in (0..).zip(keys) {
            if let Some(own) = rows.get_mut(index(key - 1)) {
                *own = row;
            }
        }
        Ok(Some(rows))
    }
}
