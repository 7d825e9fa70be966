//! Positions of the nodes at the ends of edges, for whole columns of keys.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use isomorph::Result;

use super::keys::Key;
use super::{TableGraph, cells, unknown};

/// Finds the nodes of one table by their keys.
pub(super) struct Ends {
    /// The node table.
    pub table: usize,
    /// The key that was found last: edges are often sorted by an end.
    last: Option<(String, usize)>,
}

impl Ends {
    /// Reads all keys of the table.
    pub(super) fn new(table: usize, graph: &TableGraph<'_>) -> Result<Self> {
        graph.nodes.get(table).ok_or_else(unknown)?.borrow_mut().read_all(&graph.scans)?;
        Ok(Ends { table, last: None })
    }

    /// Writes the position of the node of each key, or of those in `rows`, to `found`.
    pub(super) fn positions(
        &mut self,
        keys: &dyn Array,
        rows: Option<&[u32]>,
        graph: &TableGraph<'_>,
        found: &mut Vec<usize>,
    ) -> Result<()> {
        found.clear();
        found.reserve(rows.map_or(keys.len(), <[u32]>::len));
        let mut nodes = graph.nodes.get(self.table).ok_or_else(unknown)?.borrow_mut();
        let ints = keys.as_primitive_opt::<Int64Type>();
        if let (Some(ints), None, 0) = (ints, rows, keys.null_count()) {
            for key in ints.values() {
                found.push(match nodes.position(*key) {
                    Some(position) => position,
                    None => nodes.add(Key::Int(*key), &graph.scans)?,
                });
            }
            return Ok(());
        }
        let mut find = |row: usize| -> Result<()> {
            if let Some(ints) = ints
                && !ints.is_null(row)
            {
                let key = ints.value(row);
                found.push(match nodes.position(key) {
                    Some(position) => position,
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
                    _ => {
                        let position = nodes.add(Key::Text(text.into()), &graph.scans)?;
                        self.last = Some((text.to_owned(), position));
                        position
                    }
                };
                found.push(position);
                return Ok(());
            }
            found.push(nodes.add(cells::key(keys, row)?, &graph.scans)?);
            Ok(())
        };
        match rows {
            Some(rows) => rows.iter().try_for_each(|row| find(*row as usize)),
            None => (0..keys.len()).try_for_each(find),
        }
    }
}
