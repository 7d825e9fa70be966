//! Rules about the information files.

use isomorph_error::Rule;

use super::{error, note, warning};

/// Not YAML, or not one mapping.
pub static META_YAML: Rule =
    error("GAR-META-YAML", "an information file is one YAML mapping in UTF-8, at most 16 MiB, 64 levels deep", "");

/// Anchors, aliases, tags.
pub static META_ANCHOR: Rule = error(
    "GAR-META-ANCHOR",
    "an information file uses no anchors, aliases or tags",
    "write the repeated text out: GraphAr needs none of them",
);

/// A key that stands twice in a mapping.
pub static META_KEY_TWICE: Rule = error("GAR-META-KEY-TWICE", "a key stands once in its mapping", "");

/// A key that must be there is not.
pub static META_KEY_MISSING: Rule = error(
    "GAR-META-KEY-MISSING",
    "types, names, chunk sizes, data types and file types are stated",
    "add the key; the published library would go on with an arbitrary value",
);

/// A key that GraphAr does not know.
pub static META_KEY_UNKNOWN: Rule = note(
    "GAR-META-KEY-UNKNOWN",
    "an information file holds no keys that GraphAr does not know; those beside its own keys are kept as hints",
    "",
);

/// A value of the wrong form.
pub static META_VALUE: Rule =
    error("GAR-META-VALUE", "texts are texts, lists are lists, and a chunk size is a whole number above 0", "");

/// A truth value in an unusual spelling.
pub static META_BOOL: Rule = warning(
    "GAR-META-BOOL",
    "a truth value is spelled true or false; true, yes and 1 mean true, everything else means false",
    "spell it true or false",
);

/// `aligned_by` that is neither `src` nor `dst`.
pub static META_ALIGNED: Rule = error(
    "GAR-META-ALIGNED",
    "an adjacency list is aligned by src or by dst",
    "write src or dst; the published library takes every other word, source included, for dst",
);

/// An unknown file type.
pub static META_FILE_TYPE: Rule = error("GAR-META-FILE-TYPE", "a file type is parquet, orc, csv or json", "");

/// A cardinality that is not known, or not allowed.
pub static META_CARDINALITY: Rule =
    error("GAR-META-CARDINALITY", "a cardinality is single, list or set, and of an edge property single", "");

/// A data type that is not built in.
pub static META_TYPE: Rule = warning(
    "GAR-META-TYPE",
    "a data type is one of the built-in types; a property of another type is read as text",
    "the published library refuses the file",
);

/// Keys of 2023 and 2024.
pub static META_LEGACY_KEYS: Rule = warning(
    "GAR-META-LEGACY-KEYS",
    "types are named by type, src_type, edge_type and dst_type, not by label, src_label, edge_label and dst_label",
    "isomorph convert writes today's keys",
);

/// Property groups below an adjacency list.
pub static META_NESTED_GROUPS: Rule = warning(
    "GAR-META-NESTED-GROUPS",
    "property groups stand beside adj_lists; those below an adjacency list are used only where there are no others",
    "the published library ignores them; isomorph convert writes them in the right place",
);

/// `directed` is not stated.
pub static META_DIRECTED: Rule =
    note("GAR-META-DIRECTED", "an edge type that does not say whether it is directed is undirected", "");

/// A version that the grammar does not know.
pub static META_VERSION: Rule = warning(
    "GAR-META-VERSION",
    "the version is gar/v1, with names of user-defined types in brackets behind it",
    "the published library refuses other versions",
);

/// YAML that the published library cannot read.
pub static META_REFERENCE: Rule = warning(
    "GAR-META-REFERENCE",
    "an information file stays in the part of YAML that the published library reads: block style, lists deeper than their key, ASCII, no empty texts",
    "isomorph convert writes files that it reads",
);

/// A text that cannot be written to an information file.
pub static META_TEXT: Rule = error(
    "GAR-META-TEXT",
    "a text in an information file is printable ASCII without ~ that the published library reads back unchanged",
    "rename it",
);

/// A name that cannot be the name of a type, property or label.
pub static META_NAME: Rule =
    error("GAR-META-NAME", "names of types, properties and labels are not empty, and can be part of a file name", "");

/// A type that is declared twice.
pub static META_DUPLICATE: Rule = error(
    "GAR-META-DUPLICATE",
    "a vertex type, and a triple of source, edge and destination type, is declared once",
    "",
);

/// A property name that is used twice in one type.
pub static META_PROPERTY_TWICE: Rule =
    error("GAR-META-PROPERTY-TWICE", "a property name is used once in all property groups of a type", "");

/// A property name that GraphAr uses itself.
pub static META_RESERVED: Rule = error("GAR-META-RESERVED", "no property name begins with _graphAr", "rename it");

/// A property group without properties.
pub static META_GROUP_EMPTY: Rule =
    warning("GAR-META-GROUP-EMPTY", "a property group has properties", "remove the group");

/// Two adjacency lists of one kind.
pub static META_LIST_TWICE: Rule =
    error("GAR-META-LIST-TWICE", "an edge type has at most one adjacency list of each kind", "");

/// No adjacency list.
pub static META_LIST_NONE: Rule = error("GAR-META-LIST-NONE", "an edge type has an adjacency list", "");

/// An edge type between vertex types that are not there.
pub static META_ENDS: Rule = error(
    "GAR-META-ENDS",
    "the source and destination type of an edge type are vertex types of the graph",
    "add the vertex file to the graph file, or leave the edge type out with --types",
);

/// Chunk sizes of edge and vertex file differ.
pub static META_CHUNK_SIZE: Rule = warning(
    "GAR-META-CHUNK-SIZE",
    "src_chunk_size and dst_chunk_size equal the chunk_size of the vertex types; the edge file's own sizes are used",
    "",
);

/// Vertex chunks that the published library reads wrongly.
pub static META_CHUNK_LARGE: Rule = warning(
    "GAR-META-CHUNK-LARGE",
    "vertex chunks hold at most 131,071 vertices: the published library reads only that many offsets of a chunk",
    "isomorph convert --vertex-chunk 65536",
);

/// A prefix without its slash.
pub static META_PREFIX_SLASH: Rule = warning("GAR-META-PREFIX-SLASH", "a prefix ends in a slash", "");

/// A graph prefix that leads away from the graph file.
pub static META_PREFIX_ELSEWHERE: Rule = warning(
    "GAR-META-PREFIX-ELSEWHERE",
    "the graph's prefix is the directory of the graph file or below it; another one is not followed, and the data is looked for beside the graph file",
    "--root DIRECTORY, if the data is elsewhere",
);

/// Two tables in one directory.
pub static META_PREFIX_SHARED: Rule =
    error("GAR-META-PREFIX-SHARED", "every table of a type has a directory of its own", "");

/// A referenced information file has another name.
pub static META_FILE_NAME: Rule = warning(
    "GAR-META-FILE-NAME",
    "information files are named relative to the graph file, with the extension they have",
    "",
);

/// Lists in CSV files.
pub static META_LIST_IN_CSV: Rule =
    error("GAR-META-LIST-IN-CSV", "CSV holds no lists", "store the property group as parquet or orc");

/// JSON files.
pub static META_JSON: Rule = warning(
    "GAR-META-JSON",
    "chunks are parquet, orc or csv; the published library reads JSON, but calls the graph invalid",
    "",
);

/// A vertex type without exactly one usable primary property.
pub static META_KEY_ROW: Rule = note(
    "GAR-META-KEY-ROW",
    "a vertex type has exactly one primary property, an integer or a text; otherwise its row numbers are its keys",
    "",
);
