//! Rules about counts, chunks, offsets and values.

use isomorph_error::Rule;

use super::{error, note, warning};

/// A file that the metadata and counts require is missing.
pub static FILE_MISSING: Rule = error(
    "GAR-FILE-MISSING",
    "every file that the information files and counts require exists",
    "use --types to work with the types that exist, or --root if the data is in another directory",
);

/// A file that nothing refers to.
pub static FILE_EXTRA: Rule = warning(
    "GAR-FILE-EXTRA",
    "the directories of a graph contain no other files: some published readers read every file in a directory",
    "remove the file",
);

/// A chunk that cannot be decoded.
pub static FILE_UNREADABLE: Rule = error(
    "GAR-FILE-UNREADABLE",
    "a chunk is a valid file of its type",
    "get the file again: it is truncated or damaged",
);

/// A count file of another size.
pub static COUNT_SIZE: Rule = error(
    "GAR-COUNT-SIZE",
    "a count file is an integer of 8 bytes, little-endian",
    "get the count file again, or write the count as 8 bytes, little-endian",
);

/// A count out of range.
pub static COUNT_RANGE: Rule = error(
    "GAR-COUNT-RANGE",
    "a count is at least 0 and needs at most 1,000,000 chunk files",
    "correct the count file: write the number of rows",
);

/// The vertex count of an adjacency list differs from that of the vertex type.
pub static COUNT_ALIGNED: Rule = error(
    "GAR-COUNT-ALIGNED",
    "the vertex count of an adjacency list equals that of the vertex type it is aligned by",
    "correct the vertex count of the adjacency list, if its offsets cover all vertices",
);

/// The row count of a chunk does not match the count files.
pub static COUNT_ROWS: Rule = error(
    "GAR-COUNT-ROWS",
    "the number of rows in a chunk follows from the counts and chunk sizes",
    "isomorph validate PATH    list every such chunk",
);

/// A vertex chunk without an index column.
pub static INDEX_ABSENT: Rule = note(
    "GAR-INDEX-ABSENT",
    "vertex chunks have a column _graphArVertexIndex; without it, the row position is the index",
    "isomorph convert PATH NEW --to graphar    write the column",
);

/// A vertex index that differs from the row position.
pub static INDEX_GAP: Rule = error(
    "GAR-INDEX-GAP",
    "the vertex index of a row is chunk number × chunk size + row in the chunk",
    "get the chunk again, or check that chunks were not renamed",
);

/// A column that is missing from the file.
pub static COLUMN_MISSING: Rule = error(
    "GAR-COLUMN-MISSING",
    "a chunk has a column for each property of its group",
    "use --columns to exclude the property",
);

/// A column that nothing declares.
pub static COLUMN_EXTRA: Rule = note(
    "GAR-COLUMN-EXTRA",
    "every column of a chunk is declared in its property group",
    "declare the column in the property group, or remove it from the chunks",
);

/// A column whose type cannot be converted to the declared one.
pub static COLUMN_TYPE: Rule = error(
    "GAR-COLUMN-TYPE",
    "a column has the type declared in the information file",
    "correct the data_type in the information file, or write the chunk again with the declared type",
);

/// A value that the declared type cannot represent exactly.
pub static VALUE_INEXACT: Rule = error(
    "GAR-VALUE-INEXACT",
    "a value can be represented exactly in the declared type",
    "correct the data_type in the information file, or write the chunk again; use --timestamps us or ns for timestamps finer than milliseconds",
);

/// A null in a property that is declared as not nullable.
pub static NULL: Rule = error(
    "GAR-NULL",
    "a property with is_nullable: false has a value in every row",
    "set is_nullable: true, or fill in the missing values",
);

/// A null that is stored as an empty line.
pub static CSV_BLANK: Rule = warning(
    "GAR-CSV-BLANK",
    "a CSV file with a single column has no nulls: a null is an empty line, which published readers skip, so that later values move to other rows",
    "isomorph convert PATH NEW --to graphar    write the property group as Parquet",
);

/// A null in a primary property.
pub static KEY_NULL: Rule = error(
    "GAR-KEY-NULL",
    "a primary property has a value in every row",
    "use --key row to identify vertices by row number",
);

/// Two vertices with the same key.
pub static KEY_TWICE: Rule = error(
    "GAR-KEY-TWICE",
    "the primary property is unique among the vertices of a type",
    "use --key row to identify vertices by row number",
);

/// A declared label without a column.
pub static LABEL_MISSING: Rule = error(
    "GAR-LABEL-MISSING",
    "a label file has a boolean column for each label of its vertex type",
    "remove the label from the vertex file, or add its column to the label chunks",
);

/// Label columns in another order than declared, which the published library reads as other labels.
pub static LABEL_ORDER: Rule = warning(
    "GAR-LABEL-ORDER",
    "the columns of a label file are the declared labels in the same order: the published library reads them by position",
    "list the labels in the vertex file in the order of the columns",
);

/// A null in a label column.
pub static LABEL_NULL: Rule = warning(
    "GAR-LABEL-NULL",
    "a label column is true or false in every row; null is read as false",
    "write false instead of null",
);

/// An edge without a source or destination.
pub static EDGE_NULL: Rule = error(
    "GAR-EDGE-NULL",
    "an edge has a source and a destination",
    "use --adjacency to read another copy of these edges",
);

/// An edge to a vertex that does not exist.
pub static EDGE_DANGLING: Rule = error(
    "GAR-EDGE-DANGLING",
    "the source and destination of an edge are indexes of existing vertices",
    "use --adjacency to read another copy of these edges",
);

/// An edge in the wrong part.
pub static EDGE_PART: Rule = error(
    "GAR-EDGE-PART",
    "the aligned end of an edge is in the vertex chunk of its part",
    "use --adjacency to read another copy of these edges",
);

/// An ordered list that is not sorted.
pub static EDGE_ORDER: Rule = error(
    "GAR-EDGE-ORDER",
    "the edges of an ordered list are sorted by their aligned end",
    "use --adjacency to read another copy of these edges",
);

/// The first offset of a part is not 0.
pub static OFFSET_FIRST: Rule =
    error("GAR-OFFSET-FIRST", "the first offset of a part is 0", "use --adjacency to read another copy of these edges");

/// Offsets that decrease.
pub static OFFSET_FALLS: Rule = error(
    "GAR-OFFSET-FALLS",
    "the offsets of a part never decrease",
    "use --adjacency to read another copy of these edges",
);

/// The last offset of a part differs from the edge count.
pub static OFFSET_END: Rule = error(
    "GAR-OFFSET-END",
    "the last offset of a part equals its edge count",
    "use --adjacency to read another copy of these edges",
);

/// A wrong number of offsets.
pub static OFFSET_ROWS: Rule = error(
    "GAR-OFFSET-ROWS",
    "a part has one offset more than its vertex chunk has vertices, or one more than the chunk size",
    "use --adjacency to read another copy of these edges",
);

/// Offsets that do not match the edges.
pub static OFFSET_DEGREE: Rule = error(
    "GAR-OFFSET-DEGREE",
    "the edges of a vertex are the rows from its offset up to the next offset",
    "use --adjacency to read another copy of these edges",
);

/// 32-bit offsets.
pub static OFFSET_INT32: Rule = warning(
    "GAR-OFFSET-INT32",
    "offsets are 64-bit integers: the published C++ library reads other widths as garbage",
    "isomorph convert PATH NEW --to graphar    write 64-bit offsets",
);

/// Two copies of the same edges that differ.
pub static LISTS_DIFFER: Rule = error(
    "GAR-LISTS-DIFFER",
    "all adjacency lists of an edge type contain the same edges with the same properties",
    "use --adjacency to choose the correct copy",
);
