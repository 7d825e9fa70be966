//! Rules about counts, chunks, offsets and values.

use isomorph_error::Rule;

use super::{error, note, warning};

/// A file that the metadata and counts call for is not there.
pub static FILE_MISSING: Rule = error(
    "GAR-FILE-MISSING",
    "every file that the information files and counts call for is there",
    "use --types, to work on the types that are there; use --root, if the data is in another directory",
);

/// A file that nothing calls for.
pub static FILE_EXTRA: Rule = warning(
    "GAR-FILE-EXTRA",
    "the directories of a graph hold no other files: some published readers read every file of a directory",
    "remove the file",
);

/// A chunk that cannot be decoded.
pub static FILE_UNREADABLE: Rule = error(
    "GAR-FILE-UNREADABLE",
    "a chunk is a sound file of its type",
    "get the file again: it is cut short or damaged",
);

/// A count file of another size.
pub static COUNT_SIZE: Rule = error(
    "GAR-COUNT-SIZE",
    "a count file is 8 bytes, a little-endian integer",
    "get the count file again, or write the count as 8 bytes, little-endian",
);

/// A count out of range.
pub static COUNT_RANGE: Rule = error(
    "GAR-COUNT-RANGE",
    "a count is not negative, and small enough for 1,000,000 chunk files",
    "correct the count file: write the number of rows",
);

/// The vertex count of an adjacency list differs from that of the vertex type.
pub static COUNT_ALIGNED: Rule = error(
    "GAR-COUNT-ALIGNED",
    "the vertex count of an adjacency list is that of the vertex type that it is aligned by",
    "correct the vertex count of the adjacency list, if its offsets are those of all vertices",
);

/// A chunk has more or fewer rows than the counts say.
pub static COUNT_ROWS: Rule = error(
    "GAR-COUNT-ROWS",
    "a chunk has as many rows as the counts and chunk sizes say",
    "isomorph validate PATH    list every such chunk",
);

/// No vertex index column.
pub static INDEX_ABSENT: Rule = note(
    "GAR-INDEX-ABSENT",
    "vertex chunks have a column _graphArVertexIndex; without it the position is the index",
    "isomorph convert PATH NEW --to graphar    write the column",
);

/// A vertex index that is not its position.
pub static INDEX_GAP: Rule = error(
    "GAR-INDEX-GAP",
    "the vertex index of a row is its chunk times the chunk size plus its row",
    "get the chunk again, or check that chunks were not renamed",
);

/// A column that is not in the file.
pub static COLUMN_MISSING: Rule = error(
    "GAR-COLUMN-MISSING",
    "a chunk has a column for each property of its group",
    "use --columns, to leave the property out",
);

/// A column that nothing declares.
pub static COLUMN_EXTRA: Rule = note(
    "GAR-COLUMN-EXTRA",
    "a chunk has no columns that its group does not declare",
    "declare the column in the property group, or remove it from the chunks",
);

/// A column of a type that does not become the declared one.
pub static COLUMN_TYPE: Rule = error(
    "GAR-COLUMN-TYPE",
    "a column has the type that the information file declares",
    "correct the data_type in the information file, or write the chunk again with the declared type",
);

/// A value that the declared type cannot hold exactly.
pub static VALUE_INEXACT: Rule = error(
    "GAR-VALUE-INEXACT",
    "a value fits its declared type exactly",
    "correct the data_type in the information file, or write the chunk again; or use --timestamps us or ns, for timestamps finer than milliseconds",
);

/// A null in a property that is declared never null.
pub static NULL: Rule = error(
    "GAR-NULL",
    "a property with is_nullable: false has a value in every row",
    "set is_nullable: true, or fill in the missing values",
);

/// A null that is an empty line.
pub static CSV_BLANK: Rule = warning(
    "GAR-CSV-BLANK",
    "a CSV file with a single column has no nulls: each is an empty line, which published readers skip, so that later values move to other rows",
    "isomorph convert PATH NEW --to graphar    write the property group as Parquet",
);

/// A primary property without value.
pub static KEY_NULL: Rule = error(
    "GAR-KEY-NULL",
    "a primary property has a value in every row",
    "use --key row, to identify vertices by their row",
);

/// Two vertices with one key.
pub static KEY_TWICE: Rule = error(
    "GAR-KEY-TWICE",
    "no two vertices of a type have the same primary property",
    "use --key row, to identify vertices by their row",
);

/// A declared label without column.
pub static LABEL_MISSING: Rule = error(
    "GAR-LABEL-MISSING",
    "a label file has a boolean column for each label of its vertex type",
    "remove the label from the vertex file, or add its column to the label chunks",
);

/// Label columns that the published library reads under another name.
pub static LABEL_ORDER: Rule = warning(
    "GAR-LABEL-ORDER",
    "the columns of a label file are the declared labels in their order: the published library reads them by position",
    "list the labels in the vertex file in the order of the columns",
);

/// A null in a label column.
pub static LABEL_NULL: Rule = warning(
    "GAR-LABEL-NULL",
    "a label column is true or false in every row; null is read as false",
    "write false instead of null",
);

/// An edge without an end.
pub static EDGE_NULL: Rule = error(
    "GAR-EDGE-NULL",
    "an edge has a source and a destination",
    "use --adjacency, to read another copy of these edges",
);

/// An edge to a vertex that is not there.
pub static EDGE_DANGLING: Rule = error(
    "GAR-EDGE-DANGLING",
    "the ends of an edge are indexes of vertices that exist",
    "use --adjacency, to read another copy of these edges",
);

/// An edge in the wrong part.
pub static EDGE_PART: Rule = error(
    "GAR-EDGE-PART",
    "the aligned end of an edge is in the vertex chunk of its part",
    "use --adjacency, to read another copy of these edges",
);

/// An ordered list that is not in order.
pub static EDGE_ORDER: Rule = error(
    "GAR-EDGE-ORDER",
    "the edges of an ordered list ascend by their aligned end",
    "use --adjacency, to read another copy of these edges",
);

/// The first offset of a part.
pub static OFFSET_FIRST: Rule = error(
    "GAR-OFFSET-FIRST",
    "the first offset of a part is 0",
    "use --adjacency, to read another copy of these edges",
);

/// Offsets that fall.
pub static OFFSET_FALLS: Rule = error(
    "GAR-OFFSET-FALLS",
    "the offsets of a part never fall",
    "use --adjacency, to read another copy of these edges",
);

/// The last offset of a part.
pub static OFFSET_END: Rule = error(
    "GAR-OFFSET-END",
    "the last offset of a part equals its edge count",
    "use --adjacency, to read another copy of these edges",
);

/// The number of offsets.
pub static OFFSET_ROWS: Rule = error(
    "GAR-OFFSET-ROWS",
    "a part has an offset more than its vertex chunk has vertices, or than the chunk size",
    "use --adjacency, to read another copy of these edges",
);

/// Offsets that disagree with the edges.
pub static OFFSET_DEGREE: Rule = error(
    "GAR-OFFSET-DEGREE",
    "the edges of a vertex stand between its offset and the next",
    "use --adjacency, to read another copy of these edges",
);

/// 32-bit offsets.
pub static OFFSET_INT32: Rule = warning(
    "GAR-OFFSET-INT32",
    "offsets are 64-bit integers: the published C++ library reads others as garbage",
    "isomorph convert PATH NEW --to graphar    write 64-bit offsets",
);

/// Two copies of the same edges that differ.
pub static LISTS_DIFFER: Rule = error(
    "GAR-LISTS-DIFFER",
    "all adjacency lists of an edge type hold the same edges with the same properties",
    "use --adjacency, to choose the copy that is right",
);
