//! How the columns of one partition are stored, according to its Arrow schema.

use std::fmt;

use arrow_schema::{DataType, Field, Schema};
use isomorph_error::{Error, Place, Result};

use crate::columns::{Column, is_pandas_index};
use crate::rows::common;
use crate::rules;

/// Name of the list column of the nested layout.
pub(crate) const EDGES: &str = "edges";

/// A column other than the nine standard columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Extra {
    /// Its name.
    pub name: String,
    /// Its type in the model.
    pub data_type: DataType,
}

/// The columns of one partition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layout {
    /// Types of the nine columns in the file; `None` for a missing column. In the nested layout, the columns of edges
    /// are members of the list column and are not here.
    types: [Option<DataType>; 9],
    /// Whether `src_name` is declared as not nullable.
    required_name: bool,
    /// Further columns, sorted by name.
    pub extras: Vec<Extra>,
    /// Members of the edge list, for the nested layout.
    pub nested: Option<Box<Layout>>,
    /// Names of columns that are treated as an index of pandas or Dask, and not read.
    pub indexes: Vec<String>,
    /// Whether the file has no columns, as pynock writes an empty partition.
    pub empty: bool,
}

/// The dialect of a partition, for display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// The specification's physical types.
    Specification,
    /// The types that pynock writes: INT64 and DOUBLE.
    Pynock,
    /// Other types that can be read.
    Other,
    /// Edge rows nested in their node rows.
    Nested,
    /// No column at all.
    Empty,
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dialect::Specification => "types of the specification",
            Dialect::Pynock => "types of pynock",
            Dialect::Other => "other types",
            Dialect::Nested => "nested edge rows",
            Dialect::Empty => "no columns",
        })
    }
}

/// Returns the separator of column names if it is not a comma: the header is then read as a single name.
fn divided_by(fields: &[&Field]) -> Option<&'static str> {
    let [only] = fields else { return None };
    let divides = |character: char| {
        let mut names = only.name().split(character);
        only.name().contains(character) && names.any(|name| Column::named(name.trim_matches('"')).is_some())
    };
    [(';', "semicolons"), ('\t', "tabs")].into_iter().find(|(character, _)| divides(*character)).map(|(_, name)| name)
}

/// Returns the first names of columns.
fn shown(fields: &[&Field]) -> String {
    let names: Vec<&str> = fields.iter().take(8).map(|field| field.name().as_str()).collect();
    let more = if names.len() < fields.len() { ", …" } else { "" };
    format!("{}{more}", names.join(", "))
}

impl Layout {
    /// Determines the layout from a schema.
    ///
    /// # Errors
    /// Returns [`rules::FILE_COLUMNS`] if an essential column is missing, [`rules::FILE_COLUMN_TYPE`]
    /// if a column has a type that cannot store its values.
    pub fn of(schema: &Schema, rows: u64) -> Result<Layout> {
        let known = |field: &&Field| Column::named(field.name()).is_some();
        let fields: Vec<&Field> = schema.fields().iter().map(AsRef::as_ref).collect();
        if rows == 0 && !fields.iter().any(known) {
            return Ok(Layout::none());
        }
        let mut layout = Layout::collect(&fields)?;
        layout.nested = match fields.iter().find(|field| field.name() == EDGES).map(|field| field.data_type()) {
            Some(DataType::List(item) | DataType::LargeList(item)) if !layout.has(Column::EdgeId) => {
                let DataType::Struct(members) = item.data_type() else {
                    return Err(column_type(EDGES, item.data_type(), "a list of edge rows"));
                };
                let members: Vec<&Field> = members.iter().map(AsRef::as_ref).collect();
                layout.extras.retain(|extra| extra.name != EDGES);
                let edges = Layout::collect(&members)?;
                check_both(&layout, &edges)?;
                Some(Box::new(edges))
            }
            _ => None,
        };
        let edges = layout.nested.as_deref().unwrap_or(&layout);
        let needed = [(Column::SrcName, layout.has(Column::SrcName)), (Column::DstName, edges.has(Column::DstName))];
        let id = layout.nested.is_some() || layout.has(Column::EdgeId);
        if let Some((column, _)) = needed.into_iter().chain([(Column::EdgeId, id)]).find(|(_, there)| !there) {
            let is_other = !fields.iter().any(known);
            let what = match is_other {
                true => format!("these are not the columns of a graph: {}", shown(&fields)),
                false => format!("there is no column {column}"),
            };
            let error = Error::broken(&rules::FILE_COLUMNS, what);
            let error = error.at(Place::field(column.name()));
            return Err(match divided_by(&fields) {
                Some(name) => error.hint(format!("save the file with commas: its fields are separated by {name}")),
                // It is a table of something else.
                None if is_other => error
                    .hint("rename the ends of edges: source and target in a table of edges; src_name, edge_id and dst_name in NOCK")
                    .hint("--from edgelist    read a table of edges in CSV whose first two columns are source and target")
                    .hint("isomorph import init FILE > DIRECTORY/graph.pgq    write a mapping file, in the directory of the file, that says which columns are the ends, to be corrected"),
                None => error,
            });
        }
        Ok(layout)
    }

    fn none() -> Layout {
        Layout {
            types: Default::default(),
            required_name: false,
            extras: Vec::new(),
            nested: None,
            indexes: Vec::new(),
            empty: true,
        }
    }

    fn collect(fields: &[&Field]) -> Result<Layout> {
        let mut layout = Layout { empty: false, ..Layout::none() };
        for field in fields {
            match Column::named(field.name()) {
                Some(column) => {
                    check_type(column, field.data_type())?;
                    let slot = &mut layout.types[column as usize];
                    // The in-memory form of text is not a property of the file.
                    let data_type = if is_view(field) { &DataType::Utf8 } else { field.data_type() };
                    if slot.replace(data_type.clone()).is_some() {
                        return Err(Error::broken(&rules::FILE_COLUMNS, format!("there are two columns {column}")));
                    }
                    layout.required_name |= column == Column::SrcName && !field.is_nullable();
                }
                None if is_pandas_index(field.name()) => layout.indexes.push(field.name().clone()),
                None => {
                    let data_type = model_type(field.data_type());
                    layout.extras.push(Extra { name: field.name().clone(), data_type });
                }
            }
        }
        layout.extras.sort_by(|left, right| left.name.cmp(&right.name));
        if let Some(pair) = layout.extras.windows(2).find(|pair| pair[0].name == pair[1].name) {
            let message = format!("there are two columns {}", pair[0].name);
            return Err(Error::broken(&rules::FILE_COLUMNS, message));
        }
        Ok(layout)
    }

    /// Returns whether the file has `column`.
    pub fn has(&self, column: Column) -> bool {
        self.types[column as usize].is_some()
    }

    /// Returns whether the file states edge numbers: nested edge rows do not need them, because they have a position.
    pub fn states_edge_ids(&self) -> bool {
        self.empty || self.nested.as_deref().unwrap_or(self).has(Column::EdgeId)
    }

    /// Returns whether the file has `column` with a type other than null.
    pub fn has_values(&self, column: Column) -> bool {
        self.data_type(column).is_some_and(|data_type| *data_type != DataType::Null)
    }

    /// Returns the type of `column` in the file.
    pub fn data_type(&self, column: Column) -> Option<&DataType> {
        self.types[column as usize].as_ref()
    }

    /// Returns the type of truth in the model: as wide as in the file; integers and half floats are widened.
    pub fn truth_type(&self) -> DataType {
        match self.data_type(Column::Truth) {
            Some(DataType::Float32 | DataType::Float16) => DataType::Float32,
            Some(_) => DataType::Float64,
            None => DataType::Float32,
        }
    }

    /// Returns the required columns that are missing. In the nested layout, node rows and edge rows each
    /// have their own columns.
    pub fn missing(&self) -> Vec<Column> {
        let absent = |layout: &Layout, columns: &[Column]| {
            columns.iter().copied().filter(|&column| !layout.has(column)).collect::<Vec<_>>()
        };
        match &self.nested {
            _ if self.empty => Vec::new(),
            None => absent(self, &Column::ALL),
            Some(edges) => {
                let of_nodes =
                    [Column::SrcName, Column::Truth, Column::Shadow, Column::IsRdf, Column::Labels, Column::Props];
                let mut missing = absent(self, &of_nodes);
                missing.extend(absent(edges, &[Column::RelName, Column::DstName, Column::Truth, Column::Props]));
                missing
            }
        }
    }

    /// Returns whether tools that read a directory as one table can read both files as parts of it.
    pub fn is_like(&self, other: &Layout) -> bool {
        self.types == other.types && self.extras == other.extras && self.nested == other.nested
    }

    /// Returns whether both have columns with the same names.
    pub fn has_columns_of(&self, other: &Layout) -> bool {
        let names = |layout: &Layout| {
            let own = Column::ALL.map(|column| layout.has(column));
            (own, layout.extras.iter().map(|extra| extra.name.clone()).collect::<Vec<_>>(), layout.nested.is_some())
        };
        self.empty || other.empty || names(self) == names(other)
    }

    /// Returns the dialect.
    pub fn dialect(&self) -> Dialect {
        if self.empty {
            return Dialect::Empty;
        }
        if self.nested.is_some() {
            return Dialect::Nested;
        }
        let is = |column, wanted: &[DataType]| self.data_type(column).is_some_and(|found| wanted.contains(found));
        let texts = [Column::RelName, Column::DstName, Column::Labels, Column::Props];
        if !texts.into_iter().all(|column| self.data_type(column).is_some_and(is_text)) {
            return Dialect::Other;
        }
        let types = |integer, float| {
            is(Column::EdgeId, std::slice::from_ref(&integer))
                && is(Column::Shadow, &[integer])
                && is(Column::Truth, &[float])
        };
        if self.required_name && types(DataType::Int32, DataType::Float32) {
            Dialect::Specification
        } else if !self.required_name && types(DataType::Int64, DataType::Float64) {
            Dialect::Pynock
        } else {
            Dialect::Other
        }
    }
}

/// Checks that further columns of node rows and nested edge rows with the same name have the same type: they are one column.
fn check_both(nodes: &Layout, edges: &Layout) -> Result<()> {
    for extra in &nodes.extras {
        let Some(other) = edges.extras.iter().find(|other| other.name == extra.name) else { continue };
        let (one, two) = (&extra.data_type, &other.data_type);
        if common(one, two).is_none() {
            let message = format!("column {} is {one} on node rows and {two} in the list {EDGES}", extra.name);
            return Err(Error::broken(&rules::FILE_COLUMN_TYPE, message)
                .at(Place::field(&extra.name))
                .hint(format!("write the column with the same type on node rows and in {EDGES}")));
        }
    }
    Ok(())
}

fn is_view(field: &Field) -> bool {
    *field.data_type() == DataType::Utf8View
}

fn column_type(name: &str, data_type: &DataType, wanted: &str) -> Error {
    Error::broken(&rules::FILE_COLUMN_TYPE, format!("column {name} has the type {data_type}, expected {wanted}"))
        .at(Place::field(name))
}

/// Returns whether columns of this type can contain text.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// Returns whether a column of `data_type` can contain properties as a Parquet map: text keys, values of one scalar type.
pub(crate) fn is_props_map(data_type: &DataType) -> bool {
    let DataType::Map(entries, _) = data_type else { return false };
    let DataType::Struct(members) = entries.data_type() else { return false };
    match members.as_ref() {
        [key, value] => {
            let value = value.data_type();
            is_text(key.data_type()) && (is_text(value) || value.is_numeric() || *value == DataType::Boolean)
        }
        _ => false,
    }
}

fn check_type(column: Column, data_type: &DataType) -> Result<()> {
    let (fits, wanted) = match column {
        Column::SrcName | Column::RelName | Column::DstName | Column::Labels => (is_text(data_type), "text"),
        Column::Props => (is_text(data_type) || is_props_map(data_type), "text or a map of text"),
        Column::EdgeId | Column::Shadow => (data_type.is_integer() || *data_type == DataType::Null, "an integer"),
        Column::Truth => {
            let number = data_type.is_integer() || data_type.is_floating() || *data_type == DataType::Null;
            (number, "a number")
        }
        Column::IsRdf => (matches!(data_type, DataType::Boolean | DataType::Null), "a boolean"),
    };
    if fits { Ok(()) } else { Err(column_type(column.name(), data_type, wanted)) }
}

/// Returns whether the model has no type for a further column: maps, and types that contain maps.
pub(crate) fn has_no_place(data_type: &DataType) -> bool {
    match data_type {
        DataType::Map(..) | DataType::Union(..) | DataType::RunEndEncoded(..) => true,
        DataType::Struct(fields) => fields.iter().any(|field| has_no_place(field.data_type())),
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            has_no_place(item.data_type())
        }
        _ => false,
    }
}

/// Returns the type of a further column in the model: the file's type, without the wide and encoded forms in which a
/// writer had it in memory.
pub(crate) fn model_type(data_type: &DataType) -> DataType {
    match data_type {
        DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
        DataType::LargeBinary | DataType::BinaryView => DataType::Binary,
        DataType::Dictionary(_, values) => model_type(values),
        DataType::LargeList(item) => DataType::List(item.clone()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::sync::Arc;

    fn schema(fields: &[(&str, DataType)]) -> Schema {
        Schema::new(fields.iter().map(|(name, ty)| Field::new(*name, ty.clone(), true)).collect::<Vec<_>>())
    }

    fn nine(integer: DataType, float: DataType) -> Vec<(&'static str, DataType)> {
        Column::ALL
            .into_iter()
            .map(|column| {
                let ty = match column {
                    Column::EdgeId | Column::Shadow => integer.clone(),
                    Column::Truth => float.clone(),
                    Column::IsRdf => DataType::Boolean,
                    _ => DataType::Utf8,
                };
                (column.name(), ty)
            })
            .collect()
    }

    #[test]
    fn names_that_no_comma_divides_say_what_to_do() {
        let hints = |name: &str| {
            let error = Layout::of(&schema(&[(name, DataType::Utf8)]), 1).unwrap_err();
            error.hints().map(str::to_owned).collect::<Vec<_>>().join("\n")
        };
        assert!(hints("src_name;edge_id;dst_name").contains("semicolons"));
        assert!(hints("src_name\tedge_id\tdst_name").contains("tabs"));
        assert!(!hints("src_name").contains("divided"));
    }

    #[test]
    fn dialects_are_told_apart() {
        let pynock = schema(&nine(DataType::Int64, DataType::Float64));
        assert_eq!(Layout::of(&pynock, 1).unwrap().dialect(), Dialect::Pynock);
        let mut fields: Vec<Field> = schema(&nine(DataType::Int32, DataType::Float32))
            .fields()
            .iter()
            .map(|field| field.as_ref().clone())
            .collect();
        fields[0].set_nullable(false);
        assert_eq!(Layout::of(&Schema::new(fields), 1).unwrap().dialect(), Dialect::Specification);
        assert_eq!(Layout::of(&Schema::empty(), 0).unwrap().dialect(), Dialect::Empty);
    }

    #[test]
    fn a_column_of_nulls_can_stand_for_any() {
        let mut fields = nine(DataType::Int64, DataType::Float64);
        fields[2].1 = DataType::Null;
        fields[3].1 = DataType::Null;
        assert_eq!(Layout::of(&schema(&fields), 1).unwrap().dialect(), Dialect::Pynock);
    }

    #[test]
    fn further_columns_are_kept_and_pandas_index_is_not() {
        let mut fields = nine(DataType::Int64, DataType::Float64);
        fields.push(("zeta", DataType::LargeUtf8));
        fields.push(("__index_level_0__", DataType::Int64));
        fields.push(("alpha", DataType::Int16));
        let layout = Layout::of(&schema(&fields), 1).unwrap();
        let names: Vec<&str> = layout.extras.iter().map(|extra| extra.name.as_str()).collect();
        assert_eq!(names, ["alpha", "zeta"]);
        assert_eq!(layout.extras[1].data_type, DataType::Utf8);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let error = Layout::of(&schema(&[("src_name", DataType::Utf8)]), 1).unwrap_err();
        assert_eq!(error.broken_rule().unwrap().id, "NOCK-FILE-COLUMNS");
        let mut fields = nine(DataType::Int64, DataType::Float64);
        fields[0].1 = DataType::Binary;
        let error = Layout::of(&schema(&fields), 1).unwrap_err();
        assert_eq!(error.place().field.as_deref(), Some("src_name"));
    }

    #[test]
    fn nested_rows_are_found() {
        let members = vec![Field::new("rel_name", DataType::Utf8, true), Field::new("dst_name", DataType::Utf8, true)];
        let item = Field::new("element", DataType::Struct(members.into()), true);
        let mut fields = vec![("src_name", DataType::Utf8), ("truth", DataType::Float32)];
        fields.push((EDGES, DataType::List(Arc::new(item))));
        let layout = Layout::of(&schema(&fields), 1).unwrap();
        assert_eq!(layout.dialect(), Dialect::Nested);
        assert!(layout.nested.unwrap().has(Column::DstName));
        assert!(layout.extras.is_empty());
    }
}
