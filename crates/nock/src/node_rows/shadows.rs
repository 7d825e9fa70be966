//! Nodes with shadow rows: chooses a row if no partition owns the node, and finds rows with values that are lost by the choice.

use std::collections::HashMap;

use isomorph_error::Result;

use super::findings::Breach;
use super::{Position, Said};

/// Returns the values of the rows at some ascending positions, for the rows that pass.
pub(crate) type SaidAt<'a> = dyn Fn(&[Position], &(dyn Fn(&Said) -> bool + Sync)) -> Result<Vec<(Position, Said)>> + 'a;

/// Shadow rows of nodes that have other rows.
#[derive(Default)]
pub(super) struct Shadows {
    /// The row that would be chosen by position alone for a node without an owner, and another row of the node.
    pub open: Vec<(Position, Position)>,
    /// The row of an owner, and a shadow row in another partition.
    pub owned: Vec<(Position, Position)>,
}

/// The decisions.
#[derive(Default)]
pub(super) struct Spoken {
    /// Rows that are not chosen.
    pub dropped: Vec<Position>,
    /// The chosen row, by the row that would be chosen by position alone.
    pub speakers: HashMap<Position, Position>,
    /// Rows that violate a rule.
    pub breaches: Vec<Breach>,
}

impl Shadows {
    /// Adds the shadow rows of other names.
    pub fn extend(&mut self, other: Shadows) {
        self.open.extend(other.open);
        self.owned.extend(other.owned);
    }

    /// Reads the rows that have to be compared, and decides.
    ///
    /// # Errors
    /// Returns an error if the rows cannot be read.
    pub fn speak(mut self, partition_of: &dyn Fn(usize) -> usize, said_at: &SaidAt<'_>) -> Result<Spoken> {
        let mut spoken = Spoken::default();
        self.choose(partition_of, said_at, &mut spoken)?;
        self.compare_with_owners(said_at, &mut spoken)?;
        Ok(spoken)
    }

    /// Chooses among the rows of a node without an owner the one with the most values, then the last one: a row with only the
    /// name must not hide a row with values.
    fn choose(
        &mut self,
        partition_of: &dyn Fn(usize) -> usize,
        said_at: &SaidAt<'_>,
        spoken: &mut Spoken,
    ) -> Result<()> {
        self.open.sort_unstable();
        let said = by_row(self.open.iter().flat_map(|&(one, other)| [one, other]), said_at, &|_| true)?;
        for group in self.open.chunk_by(|one, other| one.0 == other.0) {
            let Some(&(first, _)) = group.first() else { continue };
            let rows = || group.iter().map(|&(_, row)| row).chain([first]);
            let speaker = rows().max_by_key(|row| (said.get(row).map_or(0, Said::cells), *row)).unwrap_or(first);
            spoken.speakers.insert(first, speaker);
            for row in rows().filter(|&row| row != speaker) {
                spoken.dropped.push(row.unmarked());
                if partition_of(row.piece()) == partition_of(speaker.piece()) {
                    spoken.breaches.push(Breach::Repeated(row));
                } else if let (Some(own), Some(other)) = (said.get(&row), said.get(&speaker))
                    && (own.is_more_than(other) || !own.has_owner_of(other))
                {
                    spoken.breaches.push(Breach::Differs(row));
                }
            }
        }
        Ok(())
    }

    /// Compares shadow rows with the owner's row, which is chosen. Most shadow rows have no values, so that few owners are read.
    fn compare_with_owners(&mut self, said_at: &SaidAt<'_>, spoken: &mut Spoken) -> Result<()> {
        let said = by_row(self.owned.iter().map(|&(_, row)| row), said_at, &|said| said.cells() > 0)?;
        self.owned.retain(|(_, row)| said.contains_key(row));
        let owners = by_row(self.owned.iter().map(|&(owner, _)| owner), said_at, &|_| true)?;
        for (owner, row) in &self.owned {
            if let (Some(own), Some(other)) = (said.get(row), owners.get(owner))
                && own.is_more_than(other)
            {
                spoken.breaches.push(Breach::Differs(*row));
            }
        }
        Ok(())
    }
}

/// Returns the values of rows, by position.
fn by_row(
    rows: impl Iterator<Item = Position>,
    said_at: &SaidAt<'_>,
    keep: &(dyn Fn(&Said) -> bool + Sync),
) -> Result<HashMap<Position, Said>> {
    let mut rows: Vec<Position> = rows.collect();
    if rows.is_empty() {
        return Ok(HashMap::new());
    }
    rows.sort_unstable();
    rows.dedup();
    Ok(said_at(&rows, keep)?.into_iter().collect())
}
