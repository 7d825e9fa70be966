//! The rules of the format, each with a stable id. The numbers V1 to V20 are those of the README.
//!
//! An *error* is what cannot be read, or read in two ways; a *warning* is a breach that can be read; a *note* is worth
//! knowing.

isomorph_error::rules! {
    /// V8: a filter denies a key that is there.
    BLOOM "GRAPHLAKE-BLOOM" Error
        "a Bloom filter answers \"maybe\" for every key of its file", "write the store anew: look-ups with this filter miss triples";
    /// V7: bounds do not hold.
    BOUNDS "GRAPHLAKE-BOUNDS" Error
        "no first text of a record is below min_value or above max_value", "write the store anew: look-ups with these bounds miss triples";
    /// V16: other bytes than were written.
    CHECKSUM "GRAPHLAKE-CHECKSUM" Error
        "the XXH64 of a file is the one that its metadata states", "get the file again: it is damaged, or was changed after it was written";
    /// V4: another number of records.
    COUNT "GRAPHLAKE-COUNT" Error
        "a file has as many records as triple_count says; as many triples live as living_count says, in files that are all listed", "write the store anew, or correct the counts in the metadata";
    /// V3: a file is missing or of another size.
    FILE "GRAPHLAKE-FILE" Error
        "every file of a snapshot exists and is as long as its metadata says", "copy the store again, whole";
    /// The version is unknown.
    FORMAT_VERSION "GRAPHLAKE-FORMAT-VERSION" Error
        "format_version is 0.1 or 0.1.x", "use a version of isomorph that knows this version of the format";
    /// V12: a file names another graph than the one that lists it.
    GRAPH "GRAPHLAKE-GRAPH" Warning
        "graph of a file is the graph that lists it", "correct `graph` in the metadata of the file";
    /// V18: an id stands for two things.
    ID "GRAPHLAKE-ID" Error
        "ids of the files of a graph, of its partitions and of the graphs differ", "give each of them an id of its own";
    /// V10: a file of the other order.
    INVERSE "GRAPHLAKE-INVERSE" Error
        "is_inverse is false in so_data_files and true in os_data_files", "move the file to the list of its order, or correct is_inverse";
    /// V19: a relative IRI.
    IRI "GRAPHLAKE-IRI" Error
        "IRIs of subjects, predicates, objects, datatypes and graphs are absolute", "write the absolute IRI";
    /// Metadata that is no JSON.
    JSON "GRAPHLAKE-JSON" Error
        "metadata is JSON in UTF-8 without a byte-order mark, and no object has a name twice", "correct the JSON in the place that is named";
    /// A literal that should have a language.
    LANGUAGE "GRAPHLAKE-LANGUAGE" Warning
        "the datatype rdf:langString is followed by @ and a language", "add the language: such a literal is read as plain text";
    /// A number written as text.
    NUMBER_TEXT "GRAPHLAKE-NUMBER-TEXT" Warning
        "version and timestamp are JSON integers", "write the number without quotes";
    /// V6: records out of order.
    ORDER "GRAPHLAKE-ORDER" Error
        "records ascend strictly by the bytes of their expanded texts: subject, object, datatype in one order, object, datatype, subject in the other",
        "use --lenient, to sort such files in memory";
    /// V9: the two orders hold different triples.
    ORDERS_DIFFER "GRAPHLAKE-ORDERS-DIFFER" Error
        "the files of both orders hold the same triples for each predicate and version", "use --lenient, to read the order that has more where one lacks something; isomorph lake compact --full writes both then";
    /// V20: a file that nothing names.
    ORPHAN "GRAPHLAKE-ORPHAN" Note
        "every file below graphs/ belongs to a snapshot", "isomorph lake vacuum PATH    remove it, unless a writer is at work";
    /// V14: a partition names a file that there is not.
    PARTITION "GRAPHLAKE-PARTITION" Warning
        "partitions name files of their graph", "remove the name from the partition";
    /// V11: a predicate that the index does not have.
    PREDICATE "GRAPHLAKE-PREDICATE" Warning
        "the predicate of a file is in predicate_index", "add the predicate to predicate_index";
    /// V13: two lists of prefixes that differ.
    PREFIXES "GRAPHLAKE-PREFIXES" Warning
        "prefixes lists the prefixes of prefix_map in the order of their numbers", "write prefixes in the order of prefix_map, which is what is read";
    /// Prefixes that were changed.
    PREFIXES_CHANGED "GRAPHLAKE-PREFIXES-CHANGED" Error
        "in a file that isomorph wrote, prefixes and prefix_map are the same", "use --lenient, to read the file by prefix_map";
    /// A prefix that is no namespace.
    PREFIX_SHORT "GRAPHLAKE-PREFIX-SHORT" Error
        "the keys of prefix_map are namespaces, from which IRIs can be made", "use --ns ex=http://…, to give the namespace of a short prefix";
    /// A triple term of which nobody knows what it quotes.
    QUOTED "GRAPHLAKE-QUOTED" Warning
        "an IRI that stands for a triple is the id of one that is in the store, as a quoted triple or in another graph", "add the statement with the triple term again: it is read as an IRI";
    /// V5: a record that cannot be read.
    RECORD "GRAPHLAKE-RECORD" Error
        "a file is a sequence of whole records with known prefixes and texts in UTF-8", "get the file again: it is cut short or damaged";
    /// Writing a name that means something else in a store.
    RESERVED "GRAPHLAKE-RESERVED" Error
        "no graph that is written, copied or dropped is called as a store calls its default graph or its quoted triples, and no datatype as a store writes a language", "give the graph or the datatype another name";
    /// V1: metadata of another shape.
    SCHEMA "GRAPHLAKE-SCHEMA" Error
        "a snapshot fits the JSON schema of the specification", "correct the metadata in the place that is named";
    /// V17: versions or times go back.
    SEQUENCE "GRAPHLAKE-SEQUENCE" Error
        "versions of snapshots are positive and differ, and later versions have no earlier time", "correct the versions and times of the snapshots, in store.json too";
    /// V2: the list of snapshots and a snapshot differ.
    STORE_ENTRY "GRAPHLAKE-STORE-ENTRY" Error
        "store.json and a snapshot state the same id, version and time", "copy the store again, whole, or correct store.json";
    /// R26: a deletion that deletes nothing. A commit that deletes a triple and inserts it again may leave one.
    TOMBSTONE "GRAPHLAKE-TOMBSTONE" Note
        "no deletion has the version of the newest copy of its triple: such a one has no effect, but when all versions are read as one (--naive)",
        "isomorph lake delete PATH STATEMENT    delete the triple, if it should be gone";
    /// V15: a file newer than its snapshot.
    VERSION "GRAPHLAKE-VERSION" Error
        "snapshot_version of a file is not above the version of the snapshot", "correct snapshot_version in the metadata of the file";
}
