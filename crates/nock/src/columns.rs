//! The nine standard columns of the format.

use std::fmt;

use isomorph_model::json::{self, Members, Value};

/// One of the nine columns, in the order in which they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// Name of the source node; on a node row, the name of the node itself.
    SrcName,
    /// Negative on node rows; a number from 0 on edge rows.
    EdgeId,
    /// Relation of an edge row.
    RelName,
    /// Name of the destination node of an edge row.
    DstName,
    /// Degree of belief in the node or the edge, 0 to 1.
    Truth,
    /// -1 for a node of this partition; otherwise the number of the partition that owns the node.
    Shadow,
    /// Whether the source node came from an RDF stack.
    IsRdf,
    /// Labels of the node, joined by commas.
    Labels,
    /// Properties of the node or the edge: the text of a JSON object.
    Props,
}

impl Column {
    /// All columns, in the order in which they are written.
    pub const ALL: [Column; 9] = [
        Column::SrcName,
        Column::EdgeId,
        Column::RelName,
        Column::DstName,
        Column::Truth,
        Column::Shadow,
        Column::IsRdf,
        Column::Labels,
        Column::Props,
    ];

    /// Returns its name in a file.
    pub fn name(self) -> &'static str {
        match self {
            Column::SrcName => "src_name",
            Column::EdgeId => "edge_id",
            Column::RelName => "rel_name",
            Column::DstName => "dst_name",
            Column::Truth => "truth",
            Column::Shadow => "shadow",
            Column::IsRdf => "is_rdf",
            Column::Labels => "labels",
            Column::Props => "props",
        }
    }

    /// Returns the column with the name `name`.
    pub fn named(name: &str) -> Option<Column> {
        Column::ALL.into_iter().find(|column| column.name() == name)
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of the nine columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ColumnSet(u16);

impl ColumnSet {
    /// All nine.
    pub const ALL: ColumnSet = ColumnSet(0x1ff);

    /// Returns the set of these columns.
    pub const fn of(columns: &[Column]) -> Self {
        let mut bits = 0;
        let mut at = 0;
        while at < columns.len() {
            bits |= 1 << columns[at] as u16;
            at += 1;
        }
        ColumnSet(bits)
    }

    /// Returns whether `column` is in the set.
    pub fn has(self, column: Column) -> bool {
        self.0 & (1 << column as u16) != 0
    }

    /// Returns the set without `others`.
    pub fn without(self, others: &[Column]) -> Self {
        ColumnSet(self.0 & !ColumnSet::of(others).0)
    }

    /// Returns the set with `column` added.
    pub fn with(self, column: Column) -> Self {
        ColumnSet(self.0 | (1 << column as u16))
    }
}

/// Returns whether pandas or Dask added this column for its index: pynock writes it after sorting; it is never content.
pub(crate) fn is_pandas_index(name: &str) -> bool {
    // In a text file, an index without a name has an empty column name; Dask writes its own name.
    if matches!(name, "" | "__null_dask_index__") {
        return true;
    }
    name.strip_prefix("__index_level_")
        .and_then(|rest| rest.strip_suffix("__"))
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the index columns declared in the metadata that pandas and similar writers put into a file; none if the metadata cannot be
/// read.
pub(crate) fn index_columns(metadata: &str) -> Vec<String> {
    let mut columns = Vec::new();
    let read = Members::default().read(metadata, |name, value| match json::value(value)? {
        Value::Array(array) if name == "index_columns" => json::items(array, |item| {
            // An index that is a range is described by an object and has no column.
            if let Value::Text(column) = json::value(item)? {
                columns.push(column.into_owned());
            }
            Ok(())
        }),
        _ => Ok(()),
    });
    read.map_or_else(|_| Vec::new(), |()| columns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_their_names() {
        for column in Column::ALL {
            assert_eq!(Column::named(column.name()), Some(column));
            assert!(ColumnSet::ALL.has(column));
            assert!(!ColumnSet::of(&[]).has(column));
            assert!(ColumnSet::of(&[column]).has(column));
        }
        assert_eq!(Column::named("source"), None);
    }

    #[test]
    fn pandas_says_which_columns_are_its_index() {
        let metadata = r#"{"index_columns":["__index_level_0__","i"],"columns":[{"name":"x"}],"creator":null}"#;
        assert_eq!(index_columns(metadata), ["__index_level_0__", "i"]);
        assert!(index_columns(r#"{"index_columns":[{"kind":"range","start":0}]}"#).is_empty());
        assert!(index_columns("{").is_empty() && index_columns("[]").is_empty());
    }

    #[test]
    fn only_pandas_own_names_are_its_index() {
        assert!(is_pandas_index("__index_level_0__"));
        assert!(is_pandas_index("__index_level_12__"));
        assert!(!is_pandas_index("__index_level___"));
        assert!(is_pandas_index("") && is_pandas_index("__null_dask_index__"));
        assert!(!is_pandas_index("index"));
    }
}
