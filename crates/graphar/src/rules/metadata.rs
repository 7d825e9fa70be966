//! Rules about the information files.

use isomorph_error::Rule;

use super::{error, note, warning};

/// Not YAML, or not one mapping.
pub static META_YAML: Rule = error(
    "GAR-META-YAML",
    "an information file is one YAML mapping in UTF-8, at most 16 MiB, 64 levels deep",
    "correct the YAML in the place that is named, and save the file as UTF-8",
);

/// Anchors, aliases, tags.
pub static META_ANCHOR: Rule = error(
    "GAR-META-ANCHOR",
    "an information file uses no anchors, aliases or tags",
    "write the repeated text out: GraphAr needs no anchors",
);

/// A key that stands twice in a mapping.
pub static META_KEY_TWICE: Rule =
    error("GAR-META-KEY-TWICE", "a key stands once in its mapping", "remove one of the two keys");

/// A key that stands twice in `extra_info`.
pub static META_EXTRA_TWICE: Rule = warning(
    "GAR-META-EXTRA-TWICE",
    "a key stands once in extra_info",
    "remove one of the two pairs: the first counts, as in the published library",
);

/// A key that must be there is not.
pub static META_KEY_MISSING: Rule = error(
    "GAR-META-KEY-MISSING",
    "types, names, chunk sizes, data types and file types are stated",
    "add the key; without it the published library goes on with an arbitrary value",
);

/// A key that GraphAr does not know.
pub static META_KEY_UNKNOWN: Rule = note(
    "GAR-META-KEY-UNKNOWN",
    "an information file holds no keys that GraphAr does not know; those beside its own keys are written again where they are a line of text",
    "check the spelling of the key; remove it if it means nothing to anybody",
);

/// A value of the wrong form.
pub static META_VALUE: Rule = error(
    "GAR-META-VALUE",
    "texts are texts, lists are lists, and a chunk size is a whole number above 0",
    "write a value of the type that the key needs",
);

/// A truth value in an unusual spelling.
pub static META_BOOL: Rule = warning(
    "GAR-META-BOOL",
    "a truth value is spelled true or false; true, yes and 1 mean true, everything else means false",
    "write true or false",
);

/// `aligned_by` that is neither `src` nor `dst`.
pub static META_ALIGNED: Rule = error(
    "GAR-META-ALIGNED",
    "an adjacency list is aligned by src or by dst",
    "write src or dst; the published library takes every other word, source included, for dst",
);

/// An unknown file type.
pub static META_FILE_TYPE: Rule =
    error("GAR-META-FILE-TYPE", "a file type is parquet, orc, csv or json", "write parquet, orc, csv or json");

/// A cardinality that is not known, or not allowed.
pub static META_CARDINALITY: Rule = error(
    "GAR-META-CARDINALITY",
    "a cardinality is single, list or set, and of an edge property single",
    "write single, list or set, and single for a property of edges",
);

/// A data type that is not built in.
pub static META_TYPE: Rule = warning(
    "GAR-META-TYPE",
    "a data type is one of the built-in types; a property of another type is read as text",
    "write a built-in type such as string; the published library refuses the file",
);

/// Keys of 2023 and 2024.
pub static META_LEGACY_KEYS: Rule = warning(
    "GAR-META-LEGACY-KEYS",
    "types are named by type, src_type, edge_type and dst_type, not by label, src_label, edge_label and dst_label",
    "isomorph convert PATH NEW --to graphar    write today's keys",
);

/// Property groups below an adjacency list.
pub static META_NESTED_GROUPS: Rule = warning(
    "GAR-META-NESTED-GROUPS",
    "property groups stand beside adj_lists; those below an adjacency list are used only where there are no others",
    "isomorph convert PATH NEW --to graphar    write the groups beside adj_lists; the published library ignores them where they are",
);

/// `directed` is not stated.
pub static META_DIRECTED: Rule = note(
    "GAR-META-DIRECTED",
    "an edge type that does not say whether it is directed is undirected",
    "add `directed: false` to the edge file, or `directed: true`",
);

/// A version that the grammar does not know.
pub static META_VERSION: Rule = warning(
    "GAR-META-VERSION",
    "the version is gar/v1, with names of user-defined types in brackets behind it",
    "write `version: gar/v1`; the published library refuses other versions",
);

/// YAML that the published library cannot read.
pub static META_REFERENCE: Rule = warning(
    "GAR-META-REFERENCE",
    "an information file stays in the part of YAML that the published library reads: block style, lists deeper than their key, ASCII, no empty texts",
    "isomorph convert PATH NEW --to graphar    write information files that the published library reads",
);

/// A text that cannot be written to an information file.
pub static META_TEXT: Rule = error(
    "GAR-META-TEXT",
    "a text in an information file is printable ASCII without ~ that the published library reads back unchanged",
    "rename it, with printable ASCII characters only",
);

/// A name that cannot be the name of a type, property or label.
pub static META_NAME: Rule = error(
    "GAR-META-NAME",
    "names of types, properties and labels are not empty, and can be part of a file name",
    "rename it, without characters that a file name cannot have",
);

/// A type that is declared twice.
pub static META_DUPLICATE: Rule = error(
    "GAR-META-DUPLICATE",
    "a vertex type, and a triple of source, edge and destination type, is declared once",
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

/// Two adjacency lists of one kind.
pub static META_LIST_TWICE: Rule = error(
    "GAR-META-LIST-TWICE",
    "an edge type has at most one adjacency list of each kind",
    "remove one of the two adjacency lists",
);

/// No adjacency list.
pub static META_LIST_NONE: Rule = error(
    "GAR-META-LIST-NONE",
    "an edge type has an adjacency list",
    "add the adjacency list that the edge directory holds",
);

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
    "correct the sizes in the edge file, if its chunks were written with those of the vertex files",
);

/// Vertex chunks that the published library reads wrongly.
pub static META_CHUNK_LARGE: Rule = warning(
    "GAR-META-CHUNK-LARGE",
    "vertex chunks hold at most 131,071 vertices: the published library reads only that many offsets of a chunk",
    "isomorph convert PATH NEW --to graphar --vertex-chunk 65536    write smaller chunks",
);

/// A prefix without its slash.
pub static META_PREFIX_SLASH: Rule =
    warning("GAR-META-PREFIX-SLASH", "a prefix ends in a slash", "add a slash to the end of the prefix");

/// A graph prefix that leads away from the graph file.
pub static META_PREFIX_ELSEWHERE: Rule = warning(
    "GAR-META-PREFIX-ELSEWHERE",
    "the graph's prefix is the directory of the graph file or below it; another one is not followed, and the data is looked for beside the graph file",
    "use --root DIRECTORY, if the data is elsewhere",
);

/// Two tables in one directory.
pub static META_PREFIX_SHARED: Rule = error(
    "GAR-META-PREFIX-SHARED",
    "every table of a type has a directory of its own",
    "give each table a prefix of its own, and move its files there",
);

/// A referenced information file has another name.
pub static META_FILE_NAME: Rule = warning(
    "GAR-META-FILE-NAME",
    "information files are named relative to the graph file, with the extension they have",
    "write the name of the file relative to the graph file",
);

/// Lists in CSV files.
pub static META_LIST_IN_CSV: Rule =
    error("GAR-META-LIST-IN-CSV", "CSV holds no lists", "store the property group as parquet or orc");

/// JSON files.
pub static META_JSON: Rule = warning(
    "GAR-META-JSON",
    "chunks are parquet, orc or csv; the published library reads JSON, but calls the graph invalid",
    "isomorph convert PATH NEW --to graphar --file-type parquet    write chunks of another type",
);

/// A vertex type without exactly one usable primary property.
pub static META_KEY_ROW: Rule = note(
    "GAR-META-KEY-ROW",
    "a vertex type has exactly one primary property, an integer or a text; otherwise its row numbers are its keys",
    "set is_primary: true on one property, if the values of an integer or text property identify the vertices",
);
