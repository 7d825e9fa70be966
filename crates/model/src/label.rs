//! Labels of nodes: a set per row, with a dictionary of labels and one of sets, because graphs have few labels and few
//! label sets.

use std::collections::HashMap;

/// The label sets of the rows of a batch.
///
/// `rows[i]` is the index of a set; a set is a sorted list of indexes into `names`. The empty set means no labels.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelColumn {
    names: Vec<String>,
    sets: Vec<Vec<u32>>,
    rows: Vec<u32>,
}

impl LabelColumn {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the label names to which sets refer; some may be unused.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the distinct label sets, each as sorted indexes into [`LabelColumn::names`].
    pub fn sets(&self) -> &[Vec<u32>] {
        &self.sets
    }

    /// Returns the index of each row's set.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the labels of one row, in the order of `names`.
    pub fn row(&self, row: usize) -> impl Iterator<Item = &str> {
        let set = self.rows.get(row).and_then(|&set| self.sets.get(set as usize));
        set.into_iter().flatten().filter_map(|&name| self.names.get(name as usize)).map(String::as_str)
    }

    /// Returns `rows` rows from `start` on (fewer at the end).
    pub fn slice(&self, start: usize, rows: usize) -> LabelColumn {
        let end = start.saturating_add(rows).min(self.rows.len());
        let rows = self.rows.get(start.min(end)..end).unwrap_or_default().to_vec();
        LabelColumn { names: self.names.clone(), sets: self.sets.clone(), rows }
    }

    /// Returns the rows at which `mask` is set.
    pub fn keep(&self, mask: &arrow_buffer::BooleanBuffer) -> LabelColumn {
        let rows = self.rows.iter().zip(mask).filter(|(_, stays)| *stays).map(|(set, _)| *set).collect();
        LabelColumn { names: self.names.clone(), sets: self.sets.clone(), rows }
    }

    /// Applies `change` to every set: it gets the names of a set and returns the new names. It is
    /// called once for each distinct set in use, not once for each row.
    pub fn map_sets(&self, mut change: impl FnMut(Vec<&str>) -> Vec<String>) -> LabelColumn {
        let mut builder = LabelBuilder::default();
        let mut used = vec![false; self.sets.len()];
        for &set in &self.rows {
            if let Some(used) = used.get_mut(set as usize) {
                *used = true;
            }
        }
        let sets: Vec<u32> = self
            .sets
            .iter()
            .zip(used)
            .map(|(set, used)| {
                if !used {
                    return 0;
                }
                let names = set.iter().filter_map(|&name| self.names.get(name as usize)).map(String::as_str).collect();
                let changed = change(names);
                builder.intern(changed.iter().map(String::as_str))
            })
            .collect();
        builder.column.rows = self.rows.iter().filter_map(|&set| sets.get(set as usize).copied()).collect();
        builder.finish()
    }
}

/// Builds a [`LabelColumn`] row by row. A set that occurred before costs one hash look-up.
#[derive(Debug, Default)]
pub struct LabelBuilder {
    column: LabelColumn,
    names: HashMap<String, u32>,
    sets: HashMap<Vec<u32>, u32>,
    scratch: Vec<u32>,
    /// The labels of the last row as they came, and their set: the next row often has the same.
    last: Vec<u32>,
    last_set: Option<u32>,
}

impl LabelBuilder {
    /// Returns the index of a set of labels; order and repetition are not significant.
    pub fn intern<'a>(&mut self, labels: impl IntoIterator<Item = &'a str>) -> u32 {
        self.scratch.clear();
        for label in labels {
            let near = self.last.get(self.scratch.len()).copied();
            let id = match near {
                Some(id) if self.column.names.get(id as usize).is_some_and(|name| name == label) => id,
                _ => self.id(label),
            };
            self.scratch.push(id);
        }
        if let Some(set) = self.last_set.filter(|_| self.scratch == self.last) {
            return set;
        }
        self.last.clone_from(&self.scratch);
        self.scratch.sort_unstable();
        self.scratch.dedup();
        let set = self.set();
        self.last_set = Some(set);
        set
    }

    fn id(&mut self, label: &str) -> u32 {
        if let Some(&id) = self.names.get(label) {
            return id;
        }
        let id = number(self.column.names.len());
        self.column.names.push(label.to_owned());
        self.names.insert(label.to_owned(), id);
        id
    }

    /// The index of the set of `scratch`.
    fn set(&mut self) -> u32 {
        if let Some(&set) = self.sets.get(self.scratch.as_slice()) {
            return set;
        }
        let set = number(self.column.sets.len());
        self.column.sets.push(self.scratch.clone());
        self.sets.insert(self.scratch.clone(), set);
        set
    }

    /// Adds one row with the given labels.
    pub fn push<'a>(&mut self, labels: impl IntoIterator<Item = &'a str>) {
        let set = self.intern(labels);
        self.column.rows.push(set);
    }

    /// Adds one row with a set that [`LabelBuilder::intern`] returned.
    pub fn push_set(&mut self, set: u32) {
        self.column.rows.push(set);
    }

    /// Returns the column.
    pub fn finish(self) -> LabelColumn {
        self.column
    }
}

/// Converts a count of labels or sets to the index of the next. Each takes tens of bytes of memory, so there are fewer than
/// 2^32.
#[expect(clippy::cast_possible_truncation, reason = "the counted texts and lists are in memory")]
fn number(count: usize) -> u32 {
    count as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_repeats_of_labels_mean_nothing() {
        let mut builder = LabelBuilder::default();
        builder.push(["b", "a"]);
        builder.push(["a", "b", "a"]);
        builder.push([]);
        let column = builder.finish();
        assert_eq!(column.rows(), [0, 0, 1]);
        assert_eq!(column.row(1).collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!(column.row(2).count(), 0);
    }

    #[test]
    fn a_slice_forgets_the_labels_of_other_rows_when_it_is_changed() {
        let mut builder = LabelBuilder::default();
        builder.push(["a"]);
        builder.push(["b"]);
        let slice = builder.finish().slice(1, 1);
        let column = slice.map_sets(|names| names.into_iter().map(str::to_owned).collect());
        assert_eq!(column.names(), ["b"]);
        assert_eq!(column.row(0).collect::<Vec<_>>(), ["b"]);
    }

    #[test]
    fn sets_are_changed_once_each() {
        let mut builder = LabelBuilder::default();
        for _ in 0..100 {
            builder.push(["x"]);
        }
        let mut calls = 0;
        let column = builder.finish().map_sets(|names| {
            calls += 1;
            names.into_iter().map(str::to_owned).chain(["t".to_owned()]).collect()
        });
        assert_eq!(calls, 1);
        assert_eq!(column.row(99).collect::<Vec<_>>(), ["x", "t"]);
    }
}
