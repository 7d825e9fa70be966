//! Rules about the information files.

use isomorph_error::Rule;

use super::{error, note, warning};

/// Not YAML, or not one mapping.
pub static META_YAML: Rule = error(
    "GAR-META-YAML",
    "an information file is one YAML mapping in UTF-8, at most 16 MiB, 64 levels deep",
    "correct the YAML at the named position, and save the file as UTF-8",
);

/// Anchors, aliases, tags.
pub static META_ANCHOR: Rule = error(
    "GAR-META-ANCHOR",
    "an information file uses no anchors, aliases or tags",
    "write the repeated text out in full: GraphAr needs no anchors",
);

/// A key that occurs twice in a mapping.
pub static META_KEY_TWICE: Rule =
    error("GAR-META-KEY-TWICE", "a key occurs once in its mapping", "remove one of the two keys");

/// A key that occurs twice in `extra_info`.
pub static META_EXTRA_TWICE: Rule = warning(
    "GAR-META-EXTRA-TWICE",
    "a key occurs once in extra_info",
    "remove one of the two pairs: the first one counts, as in the published library",
);

/// A required key is missing.
pub static META_KEY_MISSING: Rule = error(
    "GAR-META-KEY-MISSING",
    "types, names, chunk sizes, data types and file types are required",
    "add the key; without it, the published library continues with an arbitrary value",
);

/// A key that GraphAr does not know.
pub static META_KEY_UNKNOWN: Rule = note(
    "GAR-META-KEY-UNKNOWN",
    "an information file has only keys of GraphAr; other top-level keys are kept when the file is written again if their value is one line of text",
    "check the spelling of the key, or remove it if nothing uses it",
);

/// A list whose key is nearly one that is missing.
pub static META_KEY_MISTYPED: Rule = error(
    "GAR-META-KEY-MISTYPED",
    "a list has a key of GraphAr; under a mistyped key its vertices, edges or properties would be missed",
    "correct the spelling of the key, or rename it if it is not meant for GraphAr",
);

/// A value of the wrong type.
pub static META_VALUE: Rule = error(
    "GAR-META-VALUE",
    "a value has the type of its key: text, list, or a whole number above 0 for a chunk size",
    "write a value of the type that the key requires",
);

/// A boolean in an unusual spelling.
pub static META_BOOL: Rule = warning(
    "GAR-META-BOOL",
    "a boolean is spelled true or false; true, yes and 1 mean true, anything else means false",
    "write true or false",
);

/// `aligned_by` that is neither `src` nor `dst`.
pub static META_ALIGNED: Rule = error(
    "GAR-META-ALIGNED",
    "an adjacency list is aligned by src or by dst",
    "write src or dst; the published library takes any other word, even source, as dst",
);

/// An unknown file type.
pub static META_FILE_TYPE: Rule =
    error("GAR-META-FILE-TYPE", "a file type is parquet, orc, csv or json", "write parquet, orc, csv or json");

/// A cardinality that is unknown or not allowed.
pub static META_CARDINALITY: Rule = error(
    "GAR-META-CARDINALITY",
    "a cardinality is single, list or set; for an edge property it is single",
    "write single, list or set; for an edge property write single",
);

/// A data type that is not built in.
pub static META_TYPE: Rule = warning(
    "GAR-META-TYPE",
    "a data type is one of the built-in types; a property of another type is read as text",
    "write a built-in type such as string; the published library rejects this file",
);

/// Keys of 2023 and 2024.
pub static META_LEGACY_KEYS: Rule = warning(
    "GAR-META-LEGACY-KEYS",
    "the keys of types are type, src_type, edge_type and dst_type, not label, src_label, edge_label and dst_label",
    "isomorph convert PATH NEW --to graphar    write the current keys",
);

/// Property groups below an adjacency list.
pub static META_NESTED_GROUPS: Rule = warning(
    "GAR-META-NESTED-GROUPS",
    "property_groups is a key next to adj_lists; groups below an adjacency list are used only if there are no others",
    "isomorph convert PATH NEW --to graphar    write the groups next to adj_lists; the published library ignores them where they are now",
);

/// `directed` is not stated.
pub static META_DIRECTED: Rule = note(
    "GAR-META-DIRECTED",
    "an edge type without the key directed is undirected",
    "add `directed: false` to the edge file, or `directed: true`",
);

/// A version that does not match the grammar.
pub static META_VERSION: Rule = warning(
    "GAR-META-VERSION",
    "the version is gar/v1, followed by user-defined types in parentheses, if any",
    "write `version: gar/v1`; the published library rejects other versions",
);

/// YAML that the published library cannot read.
pub static META_REFERENCE: Rule = warning(
    "GAR-META-REFERENCE",
    "an information file uses the subset of YAML that the published library reads: block style, lists indented deeper than their key, ASCII, no empty texts",
    "isomorph convert PATH NEW --to graphar    write information files that the published library reads",
);

/// A text that cannot be written to an information file.
pub static META_TEXT: Rule = error(
    "GAR-META-TEXT",
    "a text in an information file is printable ASCII without ~, and the published library reads it back unchanged",
    "rename it, using printable ASCII characters only",
);

/// A name that cannot be the name of a type, property or label.
pub static META_NAME: Rule = error(
    "GAR-META-NAME",
    "names of types, properties and labels are not empty, and can be part of a file name",
    "rename it, without characters that are not allowed in file names",
);

/// A type that is declared twice.
pub static META_DUPLICATE: Rule = error(
    "GAR-META-DUPLICATE",
    "a vertex type is declared once, and so is each triple of source, edge and destination type",
    "remove one of the two information files from the graph file, or rename its type",
);

/// A property name that is used twice in one type.
pub static META_PROPERTY_TWICE: Rule = error(
    "GAR-META-PROPERTY-TWICE",
    "a property name is used once in all property groups of a type",
    "remove one of the two properties, or rename it",
);

/// A property name that GraphAr uses itself.
pub static META_RESERVED: Rule =
    error("GAR-META-RESERVED", "no property name begins with _graphAr", "rename the property");

/// A property group without properties.
pub static META_GROUP_EMPTY: Rule =
    warning("GAR-META-GROUP-EMPTY", "a property group has properties", "remove the group");

/// Two adjacency lists of the same kind.
pub static META_LIST_TWICE: Rule = error(
    "GAR-META-LIST-TWICE",
    "an edge type has at most one adjacency list of each kind",
    "remove one of the two adjacency lists",
);

/// An edge type without an adjacency list.
pub static META_LIST_NONE: Rule = error(
    "GAR-META-LIST-NONE",
    "an edge type has at least one adjacency list",
    "add the adjacency list that is in the edge directory",
);

/// An edge type whose source or destination type is not in the graph.
pub static META_ENDS: Rule = error(
    "GAR-META-ENDS",
    "the source and destination type of an edge type are vertex types of the graph",
    "add the vertex file to the graph file, or exclude the edge type with --types",
);

/// The chunk sizes in an edge file and a vertex file differ.
pub static META_CHUNK_SIZE: Rule = warning(
    "GAR-META-CHUNK-SIZE",
    "src_chunk_size and dst_chunk_size equal the chunk_size of the vertex types; the edge file's own sizes are used",
    "correct the sizes in the edge file, if its chunks were written with the sizes of the vertex files",
);

/// Vertex chunks that are too large for the published library.
pub static META_CHUNK_LARGE: Rule = warning(
    "GAR-META-CHUNK-LARGE",
    "vertex chunks have at most 131,071 vertices: the published library does not read the offsets beyond that",
    "isomorph convert PATH NEW --to graphar --vertex-chunk 65536    write smaller chunks",
);

/// A prefix without a trailing slash.
pub static META_PREFIX_SLASH: Rule =
    warning("GAR-META-PREFIX-SLASH", "a prefix ends with a slash", "add a slash to the end of the prefix");

/// A graph prefix that points outside the graph file's directory.
pub static META_PREFIX_ELSEWHERE: Rule = warning(
    "GAR-META-PREFIX-ELSEWHERE",
    "the graph's prefix is the directory of the graph file or below it; any other prefix is ignored, and the data is expected next to the graph file",
    "use --root DIRECTORY if the data is elsewhere",
);

/// Two tables in one directory.
pub static META_PREFIX_SHARED: Rule = error(
    "GAR-META-PREFIX-SHARED",
    "every property group and adjacency list of a type has its own directory",
    "give each of them its own prefix, and move its files there",
);

/// An information file that is found under another name than the reference.
pub static META_FILE_NAME: Rule = warning(
    "GAR-META-FILE-NAME",
    "references to information files are relative to the graph file and have the file's actual extension",
    "write the path of the file relative to the graph file",
);

/// Lists in CSV files.
pub static META_LIST_IN_CSV: Rule =
    error("GAR-META-LIST-IN-CSV", "CSV cannot store lists", "store the property group as parquet or orc");

/// JSON files.
pub static META_JSON: Rule = warning(
    "GAR-META-JSON",
    "chunks are parquet, orc or csv; the published library reads JSON, but reports the graph as invalid",
    "isomorph convert PATH NEW --to graphar --file-type parquet    write chunks of another type",
);

/// A vertex type without exactly one usable primary property.
pub static META_KEY_ROW: Rule = note(
    "GAR-META-KEY-ROW",
    "a vertex type has exactly one primary property, of integer or string type; otherwise row numbers are the keys",
    "set is_primary: true on one property, if an integer or string property identifies the vertices",
);
