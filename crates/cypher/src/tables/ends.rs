//! Positions of the nodes at the ends of edges, for whole columns of keys.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use isomorph::Result;

use super::keys::Key;
use super::{TableGraph, cells, unknown};

/// No position.
const NONE: u32 = u32::MAX;

/// Finds the nodes of one table by their keys. Integers that lie close together are found without hashing.
pub(super) struct Ends {
    /// The node table.
    pub table: usize,
    dense: Option<(i64, Vec<u32>)>,
    /// The key that was found last: edges are often sorted by an end.
    last: Option<(String, usize)>,
}

impl Ends {
    /// Reads all keys of the table.
    pub(super) fn new(table: usize, graph: &TableGraph<'_>) -> Result<Self> {
        let mut nodes = graph.nodes.get(table).ok_or_else(unknown)?.borrow_mut();
        nodes.read_all(&graph.scans)?;
        let dense = dense(nodes.keys());
        if let Some((_, positions)) = &dense {
            graph.scans.grow(4 * positions.len() as u64)?;
        }
        Ok(Ends { table, dense, last: None })
    }

    /// Calls `each` with the position of the node of each key, or of those in `rows`.
    pub(super) fn positions(
        &mut self,
        keys: &dyn Array,
        rows: Option<&[u32]>,
        graph: &TableGraph<'_>,
        each: &mut dyn FnMut(usize),
    ) -> Result<()> {
        let mut nodes = graph.nodes.get(self.table).ok_or_else(unknown)?.borrow_mut();
        let mut find = |row: usize| -> Result<()> {
            if let Some(ints) = keys.as_primitive_opt::<Int64Type>()
                && !ints.is_null(row)
            {
                let key = ints.value(row);
                let found = self.dense.as_ref().and_then(|(least, positions)| {
                    let at = usize::try_from(key.checked_sub(*least)?).ok()?;
                    positions.get(at).copied().filter(|position| *position != NONE)
                });
                each(match found {
                    Some(position) => position as usize,
                    None => nodes.add(Key::Int(key), &graph.scans)?,
                });
                return Ok(());
            }
            if let Some(texts) = keys.as_string_opt::<i32>()
                && !texts.is_null(row)
            {
                let text = texts.value(row);
                let position = match &self.last {
                    Some((last, position)) if last == text => *position,
                    _ => nodes.add(Key::Text(text.into()), &graph.scans)?,
                };
                self.last = Some((text.to_owned(), position));
                each(position);
                return Ok(());
            }
            each(nodes.add(cells::key(keys, row)?, &graph.scans)?);
            Ok(())
        };
        match rows {
            Some(rows) => rows.iter().try_for_each(|row| find(*row as usize)),
            None => (0..keys.len()).try_for_each(find),
        }
    }
}

/// Positions by key, from the least one on, if integers lie close together.
fn dense(keys: &[Key]) -> Option<(i64, Vec<u32>)> {
    let ints: Option<Vec<i64>> =
        keys.iter().map(|key| if let Key::Int(int) = key { Some(*int) } else { None }).collect();
    let ints = ints?;
    let (least, most) = (ints.iter().min()?, ints.iter().max()?);
    let span = usize::try_from(most.checked_sub(*least)?).ok()?.checked_add(1)?;
    if span > 4 * ints.len() + 1024 || ints.len() >= NONE as usize {
        return None;
    }
    let mut positions = vec![NONE; span];
    for (position, key) in ints.iter().enumerate() {
        let place = positions.get_mut(usize::try_from(key - least).ok()?)?;
        *place = u32::try_from(position).ok()?;
    }
    Some((*least, positions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_lie_close_together_are_found_by_position() {
        let keys = |ints: &[i64]| ints.iter().copied().map(Key::Int).collect::<Vec<_>>();
        let (least, positions) = dense(&keys(&[7, -2, 3])).unwrap_or_default();
        assert_eq!((least, positions.len()), (-2, 10));
        assert_eq!([positions[9], positions[0], positions[5], positions[1]], [0, 1, 2, NONE]);
        assert!(dense(&keys(&[0, 1 << 40])).is_none() && dense(&keys(&[i64::MIN, i64::MAX])).is_none());
        assert!(dense(&[]).is_none() && dense(&[Key::Text("a".into())]).is_none());
    }
}
