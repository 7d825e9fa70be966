//! Nodes with shadow rows: which row speaks where the owner is nowhere, and which rows say what is not told then.

use std::collections::HashMap;

use isomorph_error::Result;

use super::findings::Breach;
use super::{Position, Said};

/// What the rows at some positions, ascending, say of their nodes; those that pass.
pub(crate) type SaidAt<'a> = dyn Fn(&[Position], &(dyn Fn(&Said) -> bool + Sync)) -> Result<Vec<(Position, Said)>> + 'a;

/// Shadow rows of nodes that have other rows.
#[derive(Default)]
pub(super) struct Shadows {
    /// The row that speaks for a node without an owner as long as nothing but places is known, and another row of it.
    pub open: Vec<(Position, Position)>,
    /// The row of an owner, and a shadow row in another partition.
    pub owned: Vec<(Position, Position)>,
}

/// What became of them.
#[derive(Default)]
pub(super) struct Spoken {
    /// Rows that do not speak for their nodes.
    pub dropped: Vec<Position>,
    /// The row that speaks, by the one that would have spoken.
    pub speakers: HashMap<Position, Position>,
    /// Rows that something is wrong with.
    pub breaches: Vec<Breach>,
}

impl Shadows {
    /// Adds those of other names.
    pub fn extend(&mut self, other: Shadows) {
        self.open.extend(other.open);
        self.owned.extend(other.owned);
    }

    /// Reads the rows that have to be compared, and decides.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn speak(mut self, partition_of: &dyn Fn(usize) -> usize, said_at: &SaidAt<'_>) -> Result<Spoken> {
        let mut spoken = Spoken::default();
        self.choose(partition_of, said_at, &mut spoken)?;
        self.compare_with_owners(said_at, &mut spoken)?;
        Ok(spoken)
    }

    /// Of the rows of a node without an owner the one that says most speaks, then the last one: a row that names the
    /// node and says nothing of it must not silence one that does.
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

    /// Where the owner is here it speaks. Most shadow rows say nothing, so that few owners have to be read.
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

/// What rows say, by their positions.
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
