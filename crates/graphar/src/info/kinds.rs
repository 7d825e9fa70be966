//! Enumerations of the information files: file types, adjacency lists, data types.

use arrow_schema::{DataType, TimeUnit};
use isomorph_model::EdgeOrder;
use isomorph_model::type_name::list_of;
use isomorph_tables::Encoding;
use std::fmt;

/// The file type of chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileType {
    /// Apache Parquet.
    Parquet,
    /// Apache ORC.
    Orc,
    /// Comma-separated text with a header line.
    Csv,
    /// JSON lines.
    Json,
}

impl FileType {
    /// All file types.
    pub const ALL: [FileType; 4] = [FileType::Parquet, FileType::Orc, FileType::Csv, FileType::Json];

    /// Returns the name used in the information files.
    pub fn word(self) -> &'static str {
        match self {
            FileType::Parquet => "parquet",
            FileType::Orc => "orc",
            FileType::Csv => "csv",
            FileType::Json => "json",
        }
    }

    /// Returns the encoding of its tables.
    pub fn encoding(self) -> Encoding {
        match self {
            FileType::Parquet => Encoding::Parquet,
            FileType::Orc => Encoding::Orc,
            FileType::Csv => Encoding::Csv,
            FileType::Json => Encoding::JsonLines,
        }
    }

    /// Returns the file type with the name `word`.
    pub fn from_word(word: &str) -> Option<Self> {
        FileType::ALL.into_iter().find(|file_type| file_type.word() == word)
    }
}

impl fmt::Display for FileType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileType::Parquet => "Parquet",
            FileType::Orc => "ORC",
            FileType::Csv => "CSV",
            FileType::Json => "JSON",
        })
    }
}

/// The four kinds of adjacency lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AdjListType {
    /// Partitioned by vertex chunk of the source, sorted by source: CSR.
    OrderedBySource,
    /// Partitioned by vertex chunk of the destination, sorted by destination: CSC.
    OrderedByDest,
    /// Partitioned by vertex chunk of the source, unsorted.
    UnorderedBySource,
    /// Partitioned by vertex chunk of the destination, unsorted.
    UnorderedByDest,
}

impl AdjListType {
    /// All kinds, in the order in which they are preferred for reading.
    pub const ALL: [AdjListType; 4] = [
        AdjListType::OrderedBySource,
        AdjListType::OrderedByDest,
        AdjListType::UnorderedBySource,
        AdjListType::UnorderedByDest,
    ];

    /// Returns the kind with this order and alignment.
    pub fn new(ordered: bool, by_source: bool) -> Self {
        match (ordered, by_source) {
            (true, true) => AdjListType::OrderedBySource,
            (true, false) => AdjListType::OrderedByDest,
            (false, true) => AdjListType::UnorderedBySource,
            (false, false) => AdjListType::UnorderedByDest,
        }
    }

    /// Returns whether the list is sorted by the aligned end and has offsets.
    pub fn ordered(self) -> bool {
        matches!(self, AdjListType::OrderedBySource | AdjListType::OrderedByDest)
    }

    /// Returns whether the list is aligned by source.
    pub fn by_source(self) -> bool {
        matches!(self, AdjListType::OrderedBySource | AdjListType::UnorderedBySource)
    }

    /// Returns its name in the specification, which is also its default directory.
    pub fn word(self) -> &'static str {
        match self {
            AdjListType::OrderedBySource => "ordered_by_source",
            AdjListType::OrderedByDest => "ordered_by_dest",
            AdjListType::UnorderedBySource => "unordered_by_source",
            AdjListType::UnorderedByDest => "unordered_by_dest",
        }
    }

    /// Returns the kind with the name `word`.
    pub fn from_word(word: &str) -> Option<Self> {
        AdjListType::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// Returns the order of edges that its alignment requires.
    pub fn order(self) -> EdgeOrder {
        if self.by_source() { EdgeOrder::Source } else { EdgeOrder::Target }
    }
}

impl fmt::Display for AdjListType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Types of list items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListItem {
    /// 32-bit integer.
    Int32,
    /// 64-bit integer.
    Int64,
    /// 32-bit float.
    Float,
    /// 64-bit float.
    Double,
    /// Text.
    String,
}

/// The data type of a property.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// Boolean.
    Bool,
    /// 32-bit integer.
    Int32,
    /// 64-bit integer.
    Int64,
    /// 32-bit float.
    Float,
    /// 64-bit float.
    Double,
    /// Text.
    String,
    /// Days since 1970.
    Date,
    /// Local time in milliseconds since 1970; files may hold finer units.
    Timestamp,
    /// Ordered list.
    List(ListItem),
    /// Ordered list whose item type is only in the chunk files (written by the Java and Spark libraries).
    AnyList,
    /// Any other type: user-defined types and the specification's `time`. Read as text.
    Other(String),
}

/// The token of each type.
const TOKENS: [(ValueType, &str); 14] = [
    (ValueType::Bool, "bool"),
    (ValueType::Int32, "int32"),
    (ValueType::Int64, "int64"),
    (ValueType::Float, "float"),
    (ValueType::Double, "double"),
    (ValueType::String, "string"),
    (ValueType::Date, "date"),
    (ValueType::Timestamp, "timestamp"),
    (ValueType::List(ListItem::Int32), "list<int32>"),
    (ValueType::List(ListItem::Int64), "list<int64>"),
    (ValueType::List(ListItem::Float), "list<float>"),
    (ValueType::List(ListItem::Double), "list<double>"),
    (ValueType::List(ListItem::String), "list<string>"),
    (ValueType::AnyList, "list"),
];

impl ValueType {
    /// Returns the type with exactly the name `token`.
    pub fn from_token(token: &str) -> Self {
        let known = TOKENS.iter().find(|(_, known)| *known == token);
        known.map_or_else(|| ValueType::Other(token.to_owned()), |(value_type, _)| value_type.clone())
    }

    /// Returns the token used in the information files.
    pub fn token(&self) -> &str {
        match self {
            ValueType::Other(token) => token,
            other => TOKENS.iter().find(|(value_type, _)| value_type == other).map_or("", |(_, token)| token),
        }
    }

    /// Returns the Arrow type of one value. Timestamps have the specification's unit; lists without item type contain text.
    pub fn data_type(&self) -> DataType {
        match self {
            ValueType::Bool => DataType::Boolean,
            ValueType::Int32 => DataType::Int32,
            ValueType::Int64 => DataType::Int64,
            ValueType::Float => DataType::Float32,
            ValueType::Double => DataType::Float64,
            ValueType::String | ValueType::Other(_) => DataType::Utf8,
            ValueType::Date => DataType::Date32,
            ValueType::Timestamp => DataType::Timestamp(TimeUnit::Millisecond, None),
            ValueType::List(item) => list_of(item.data_type()),
            ValueType::AnyList => list_of(DataType::Utf8),
        }
    }

    /// Returns the type for values of `data_type`, if GraphAr has one.
    pub fn from_data_type(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Boolean => ValueType::Bool,
            DataType::Int32 => ValueType::Int32,
            DataType::Int64 => ValueType::Int64,
            DataType::Float32 => ValueType::Float,
            DataType::Float64 => ValueType::Double,
            DataType::Utf8 => ValueType::String,
            DataType::Date32 => ValueType::Date,
            DataType::Timestamp(_, None) => ValueType::Timestamp,
            DataType::List(item) => ValueType::List(match item.data_type() {
                DataType::Int32 => ListItem::Int32,
                DataType::Int64 => ListItem::Int64,
                DataType::Float32 => ListItem::Float,
                DataType::Float64 => ListItem::Double,
                DataType::Utf8 => ListItem::String,
                _ => return None,
            }),
            _ => return None,
        })
    }

    /// Returns whether a value is a list.
    pub fn is_list(&self) -> bool {
        matches!(self, ValueType::List(_) | ValueType::AnyList)
    }
}

impl ListItem {
    fn data_type(self) -> DataType {
        match self {
            ListItem::Int32 => DataType::Int32,
            ListItem::Int64 => DataType::Int64,
            ListItem::Float => DataType::Float32,
            ListItem::Double => DataType::Float64,
            ListItem::String => DataType::Utf8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_types_agree() {
        for (value_type, token) in TOKENS {
            assert_eq!(ValueType::from_token(token), value_type);
            assert_eq!(value_type.token(), token);
            if value_type != ValueType::AnyList {
                assert_eq!(ValueType::from_data_type(&value_type.data_type()), Some(value_type));
            }
        }
        assert_eq!(ValueType::from_token("Int64"), ValueType::Other("Int64".into()));
        assert_eq!(ValueType::from_token("list<bool>").data_type(), DataType::Utf8);
        assert_eq!(ValueType::from_data_type(&DataType::UInt64), None);
    }

    #[test]
    fn list_kinds_are_what_their_names_say() {
        for kind in AdjListType::ALL {
            assert_eq!(AdjListType::from_word(kind.word()), Some(kind));
            assert_eq!(AdjListType::new(kind.ordered(), kind.by_source()), kind);
        }
    }
}
