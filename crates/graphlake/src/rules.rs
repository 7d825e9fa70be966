//! The rules of the format, each with a stable id. The numbers V1 to V20 are those of the README.
//!
//! An *error* is something that cannot be read, or can be read in two ways; a *warning* is a violation that can be
//! read; a *note* is for information.

isomorph_error::rules! {
    /// V8: a filter denies a key that the file has.
    BLOOM "GRAPHLAKE-BLOOM" Error
        "a Bloom filter answers \"maybe\" for every key of its file", "write the store again: look-ups with this filter miss triples";
    /// V7: bounds do not hold.
    BOUNDS "GRAPHLAKE-BOUNDS" Error
        "no first text of a record is below min_value or above max_value", "write the store again: look-ups with these bounds miss triples";
    /// V16: the bytes differ from those that were written.
    CHECKSUM "GRAPHLAKE-CHECKSUM" Error
        "the XXH64 of a file equals the checksum in its metadata", "get the file again: it is damaged, or it was changed after it was written";
    /// V4: the number of records differs from the stated one.
    COUNT "GRAPHLAKE-COUNT" Error
        "triple_count is the number of records of a file; living_count is the number of live triples, and all files that it was computed from are listed", "write the store again, or correct the counts in the metadata";
    /// V3: a file is missing, or its size differs from the stated one.
    FILE "GRAPHLAKE-FILE" Error
        "every file of a snapshot exists and has the size that its metadata states", "copy the whole store again";
    /// The version of the format is unknown.
    FORMAT_VERSION "GRAPHLAKE-FORMAT-VERSION" Error
        "format_version is 0.1 or 0.1.x", "use a version of isomorph that supports this version of the format";
    /// V12: a file names another graph than the one that lists it.
    GRAPH "GRAPHLAKE-GRAPH" Warning
        "the field graph of a file names the graph that lists the file", "correct `graph` in the metadata of the file";
    /// V18: an id is used twice.
    ID "GRAPHLAKE-ID" Error
        "ids are unique: among the files of a graph, its partitions, and the graphs", "give each of them a different id";
    /// V10: a file is in the list of the other order.
    INVERSE "GRAPHLAKE-INVERSE" Error
        "is_inverse is false in so_data_files and true in os_data_files", "move the file to the list of its order, or correct is_inverse";
    /// V19: an IRI is relative.
    IRI "GRAPHLAKE-IRI" Error
        "IRIs of subjects, predicates, objects, datatypes and graphs are absolute", "write the absolute IRI";
    /// The metadata is not valid JSON.
    JSON "GRAPHLAKE-JSON" Error
        "metadata is JSON in UTF-8 without a byte-order mark, and no object repeats a name", "correct the JSON at the stated position";
    /// A literal has no language where it needs one.
    LANGUAGE "GRAPHLAKE-LANGUAGE" Warning
        "the datatype rdf:langString is followed by @ and a language tag", "add the language; without it the literal is read as plain text";
    /// A number is written as text.
    NUMBER_TEXT "GRAPHLAKE-NUMBER-TEXT" Warning
        "version and timestamp are JSON integers", "write the number without quotes";
    /// V6: records are not in order.
    ORDER "GRAPHLAKE-ORDER" Error
        "records are in strictly ascending order of the bytes of their expanded texts: subject, object, datatype in one order, object, datatype, subject in the other",
        "use --lenient to sort such files in memory";
    /// V9: the two orders hold different triples.
    ORDERS_DIFFER "GRAPHLAKE-ORDERS-DIFFER" Error
        "the files of both orders hold the same triples for each predicate and version", "use --lenient to read the order that has more triples; then isomorph lake compact --full writes both";
    /// V20: no snapshot lists a file.
    ORPHAN "GRAPHLAKE-ORPHAN" Note
        "every file below graphs/ belongs to a snapshot", "isomorph lake vacuum PATH    remove it, unless a writer is running";
    /// V14: a partition names a file that its graph does not list.
    PARTITION "GRAPHLAKE-PARTITION" Warning
        "partitions name files that their graph lists", "remove the name from the partition";
    /// V11: a predicate is not in the index.
    PREDICATE "GRAPHLAKE-PREDICATE" Warning
        "the predicate of a file is in predicate_index", "add the predicate to predicate_index";
    /// V13: the two lists of prefixes differ.
    PREFIXES "GRAPHLAKE-PREFIXES" Warning
        "prefixes lists the prefixes of prefix_map in the order of their numbers", "write prefixes in the order of prefix_map, which is the list that is read";
    /// Prefixes were changed after the file was written.
    PREFIXES_CHANGED "GRAPHLAKE-PREFIXES-CHANGED" Error
        "in a file that isomorph wrote, prefixes and prefix_map are the same", "use --lenient to read the file by prefix_map";
    /// A prefix is not a namespace.
    PREFIX_SHORT "GRAPHLAKE-PREFIX-SHORT" Error
        "the keys of prefix_map are whole namespaces, with which IRIs begin", "use --ns ex=http://… to give the namespace of a short prefix";
    /// The triple that a triple term quotes is unknown.
    QUOTED "GRAPHLAKE-QUOTED" Warning
        "an IRI that stands for a triple is the id of a triple that the store has, quoted or in a graph", "add the statement with the triple term again; until then the id is read as an IRI";
    /// V5: a record cannot be read.
    RECORD "GRAPHLAKE-RECORD" Error
        "a file is a sequence of complete records with known prefixes and texts in UTF-8", "get the file again: it is truncated or damaged";
    /// A name to be written has another meaning in a store.
    RESERVED "GRAPHLAKE-RESERVED" Error
        "names with a special meaning in a store are not used: for graphs, those of the default graph and of the graph of quoted triples; for datatypes, rdf:langString@ and rdf:dirLangString@ with a language", "give the graph or the datatype another name";
    /// V1: metadata does not match the schema.
    SCHEMA "GRAPHLAKE-SCHEMA" Error
        "a snapshot matches the JSON schema of the specification", "correct the metadata at the stated position";
    /// V17: versions or times are not ascending.
    SEQUENCE "GRAPHLAKE-SEQUENCE" Error
        "versions of snapshots are positive and unique, and a later version does not have an earlier time", "correct the versions and times of the snapshots, also in store.json";
    /// V2: `store.json` and a snapshot differ.
    STORE_ENTRY "GRAPHLAKE-STORE-ENTRY" Error
        "store.json and a snapshot state the same id, version and time", "copy the whole store again, or correct store.json";
    /// R26: a deletion has no effect. A commit that deletes a triple and inserts it again may leave one.
    TOMBSTONE "GRAPHLAKE-TOMBSTONE" Note
        "no deletion has the version of the newest copy of its triple: such a deletion has no effect, except with --naive",
        "isomorph lake delete PATH STATEMENT    delete the triple, if it should not exist";
    /// V15: a file is newer than its snapshot.
    VERSION "GRAPHLAKE-VERSION" Error
        "snapshot_version of a file is at most the version of the snapshot", "correct snapshot_version in the metadata of the file";
}
