//! The rules of the formats, each with a stable id.
//!
//! An *error* has no clear meaning or cannot be stored. A *warning* is a repair, or something that the published
//! converter reads differently.

use isomorph_error::Rule;

isomorph_error::rules! {
    /// A sampling table that does not match its elements.
    ALIAS "DEEPGNN-ALIAS" Warning
        "a sampling table has one record for each element of its type, with a probability from 0 to 1",
        "convert the text or the binary again, which builds new tables; if weights are negative, correct them in the text first, or write no tables (--no-samplers)";
    /// A length, an offset or an index is out of range.
    BOUNDS "DEEPGNN-BOUNDS" Error
        "files of a partition have the lengths that their counts require; offsets ascend and end at the end of the data",
        "write the file again: it is damaged or was copied incompletely";
    /// Coordinates that do not match their values.
    COORDINATES "DEEPGNN-COORDINATES" Error
        "a sparse feature has one point for each value",
        "correct the number of coordinates; the specification's example, uint8 2,3 0 4 1 1 1, is meant as uint8 3,3 0 4 10 1 1 1 (--compat deepgnn)";
    /// The counts of the metadata differ from the partitions.
    COUNTS "DEEPGNN-COUNTS" Warning
        "the counts in meta.json match the partitions", "write meta.json again: the counts of the partitions are used";
    /// Files that are not one text.
    DATASET "DEEPGNN-DATASET" Error
        "a directory is one text if it has one file, or if all its files have one text format and are named part-<number>; a file with a sidecar is a graph of its own",
        "name the files part-0.tsv, part-1.tsv, … if they are one graph, or use a pattern (DIR/*.tsv)";
    /// Invalid defaults.
    DEFAULTS "DEEPGNN-DEFAULTS" Error
        "defaults are numbers, and pairs of a type and a length, separated by one space", "correct the default at the given location";
    /// Defaults that were repaired.
    DEFAULTS_MENDED "DEEPGNN-DEFAULTS-MENDED" Warning
        "a file of defaults is valid JSON", "remove trailing commas, and write .5 as 0.5: the file is read as if this was done";
    /// An unknown feature type.
    DTYPE "DEEPGNN-DTYPE" Error
        "the type of a feature is bool, int8 to int64, uint8 to uint64, float16 to float64, or text",
        "write one of these types; the type of text is binary_feature in Linear and JSON, binary in EdgeList, and b in TSV";
    /// A source of an edge that is not a node.
    EDGE_END "DEEPGNN-EDGE-END" Warning
        "the source of an edge is a node of the graph", "add the node: for the engine, a source that is not a node has no type";
    /// Unsorted edges.
    EDGE_ORDER "DEEPGNN-EDGE-ORDER" Warning
        "edges of one type from one node are sorted by their target",
        "sort the edges of a node by type and target: if more than 16 edges are unsorted, the engine searches their features linearly";
    /// The sparse feature of the specification's example.
    EXAMPLE "DEEPGNN-EXAMPLE" Warning
        "a sparse feature has one point for each value, including the specification's example",
        "write uint8 3,3 0 4 10 1 1 1, as in the project's later documentation: uint8 2,3 0 4 1 1 1 is read as this";
    /// A feature with two values.
    FEATURE_ID "DEEPGNN-FEATURE-ID" Warning
        "a feature id has one value, whatever its type",
        "give each feature its own id, or use --compat deepgnn to drop a value as the published converter does";
    /// A missing or superfluous field.
    FIELD "DEEPGNN-FIELD" Error
        "a line has exactly the fields of its nodes and edges", "correct the fields at the given location";
    /// A missing file.
    FILE "DEEPGNN-FILE" Error
        "every partition has its map, indexes and features, even if they are empty, and a sampling table for each type if it has any", "copy the missing file from a backup, or write the graph again";
    /// Too many holes.
    HOLES "DEEPGNN-HOLES" Error
        "a mebibyte of text has at most 8388608 features, including holes",
        "number features from 0: every id below the largest takes 16 bytes in memory and 8 in the binary";
    /// An id that cannot be stored.
    ID "DEEPGNN-ID" Error
        "ids are integers from 0 to 18446744073709551615", "write an integer from 0 to 18446744073709551615";
    /// A record that is not a JSON object, or lacks a member.
    JSON "DEEPGNN-JSON" Error
        "a record is one JSON object with node_id, node_type, node_weight and edge", "write the missing keys, and one object in each record";
    /// JSON that was repaired.
    JSON_MENDED "DEEPGNN-JSON-MENDED" Warning
        "a record is one line of JSON without trailing commas",
        "write each record in one line without trailing commas if the published converter must read it";
    /// A repeated key.
    JSON_TWICE "DEEPGNN-JSON-TWICE" Warning
        "an object has each key once",
        "write each key once: the last value is used, and features of both are combined; the published converter uses only the last (--compat deepgnn)";
    /// An invalid metadata file.
    META "DEEPGNN-META" Error
        "meta.json has a version, counts, and partitions numbered from 0", "correct meta.json, or write the graph again";
    /// A negative weight.
    NEGATIVE "DEEPGNN-NEGATIVE" Warning
        "weights are not negative",
        "correct the weight, or convert without sampling tables (--no-samplers): with negative weights, they contain numbers that are not probabilities";
    /// Edges that are only in `neighbor`.
    NEIGHBOR "DEEPGNN-NEIGHBOR" Warning
        "edges are in `edge`", "rename `neighbor` to `edge`: the published converter fails";
    /// Edges in `neighbor` that `edge` does not have.
    NEIGHBOR_ALONE "DEEPGNN-NEIGHBOR-ALONE" Warning
        "edges in `neighbor` are also in `edge`",
        "add the edge to `edge`: an edge that is only in `neighbor` is dropped, as by the published converter";
    /// A neighbour with five fields.
    NEIGHBOR_FIELDS "DEEPGNN-NEIGHBOR-FIELDS" Warning
        "a neighbour has target, type, weight and features",
        "remove the fourth of the five fields, or use --compat deepgnn to drop the fifth as the published converter does";
    /// Contradicting statements of one node.
    NODE_CONTRADICTED "DEEPGNN-NODE-CONTRADICTED" Warning
        "repeated statements of a node agree", "remove all but one of the values: the first one is used, as in the engine";
    /// Unsorted nodes.
    NODE_ORDER "DEEPGNN-NODE-ORDER" Warning
        "the nodes of a text in Linear are sorted by id", "sort the lines by the id of their node, or convert the text: the output is sorted";
    /// A repeated node.
    NODE_REPEATED "DEEPGNN-NODE-REPEATED" Warning
        "a node is stated once", "write each node once: repeated statements are read as one node with the edges of all of them";
    /// Weights of nodes that cannot be recovered.
    NODE_WEIGHTS "DEEPGNN-NODE-WEIGHTS" Warning
        "weights of nodes can be recovered from the sampling tables and the sums in meta.json",
        "convert the text from which the binary was built: this graph is read without weights of nodes";
    /// An invalid number.
    NUMBER "DEEPGNN-NUMBER" Error
        "numbers are written in Python's syntax and are in the range of their type", "correct the number at the given location";
    /// Fewer values than the stated length.
    SHORT "DEEPGNN-SHORT" Error
        "a feature has as many values as its length states",
        "add the missing values, or use --compat deepgnn to store fewer as the published converter does";
    /// A record that was skipped.
    SKIPPED "DEEPGNN-SKIPPED" Warning
        "every record of a text is valid in its format", "correct the record: with --lenient it is skipped, with its node and all its edges";
    /// A sum of weights that differs from the edges.
    SUMS "DEEPGNN-SUMS" Warning
        "each partition's entry in meta.json has the sum of the weights of each type",
        "write the graph again: servers are chosen by these sums";
    /// Contradicting times.
    TIME "DEEPGNN-TIME" Error
        "the lifetime of an edge is within the lifetime of its source", "correct the times of the edge or of its source";
    /// Times of edges in an order that the engine does not expect.
    TIME_ORDER "DEEPGNN-TIME-ORDER" Warning
        "an edge of a binary is created before it is removed, and edges of one type from one node are sorted by creation time",
        "write the graph again with correct times: the engine counts and draws the edges of a time by searches that require this order";
    /// An integer without a width.
    TSV_WIDTH "DEEPGNN-TSV-WIDTH" Warning
        "integers state their width, as in i64",
        "write the width, as in i64: the published converter fails without it";
    /// A type that cannot be stored.
    TYPE "DEEPGNN-TYPE" Error
        "types are integers from 0 to 65535",
        "number types from 0: the published engine has arrays of this length";
    /// Types in descending order.
    TYPE_ORDER "DEEPGNN-TYPE-ORDER" Error
        "types of edges do not descend within a node", "sort edges by source, type and target";
    /// A weight that becomes 0.
    UNDERFLOW "DEEPGNN-UNDERFLOW" Warning
        "a weight other than 0 does not become 0 in 32 bits", "scale the weights: binaries store them in 32 bits, with a smallest value of 1.4e-45";
    /// A weight that is not finite.
    WEIGHT "DEEPGNN-WEIGHT" Error
        "weights are finite 32-bit floats, from -3.4e38 to 3.4e38",
        "correct the weight, or skip the line with --lenient: the published engine cannot open a binary with such a sum";
    /// A negative number in an unsigned feature.
    WRAPPED "DEEPGNN-WRAPPED" Warning
        "features of unsigned types have no negative numbers",
        "write the number without a sign: it is read as its 64 bits";
}

/// Returns how a text that breaks one of these rules is read nevertheless: the message of the finding.
pub(crate) fn repair(rule: &Rule) -> &'static str {
    if rule.id == FEATURE_ID.id {
        "the first value was moved after the others; the published converter drops it (--compat deepgnn)"
    } else if rule.id == NEIGHBOR.id {
        "edges are read from `neighbor`; the published converter fails"
    } else if rule.id == NEIGHBOR_FIELDS.id {
        "the fourth of five fields is ignored; the published converter drops the fifth (--compat deepgnn)"
    } else if rule.id == EXAMPLE.id {
        "read as uint8 3,3 0 4 10 1 1 1, as in the project's later documentation"
    } else if rule.id == JSON_TWICE.id {
        "the last value is used, and features of both are combined; the published converter uses only the last (--compat deepgnn)"
    } else if rule.id == TSV_WIDTH.id {
        "read as 64 bits, as in the specification's example; the published converter fails"
    } else if rule.id == NEGATIVE.id {
        "kept unchanged, as by the published converter, whose sampling tables treat it as a probability"
    } else if rule.id == UNDERFLOW.id {
        "it becomes 0 in the binary, as with the published converter"
    } else if rule.id == WRAPPED.id {
        "read as its 64 bits, as in the specification's example; the published converter requires an old numpy for it"
    } else {
        "isomorph reads it; the published converter does not"
    }
}

#[cfg(test)]
mod tests {
    use super::RULES;

    #[test]
    fn ids_are_sorted_and_of_one_kind() {
        assert!(RULES.windows(2).all(|pair| pair[0].id < pair[1].id));
        assert!(RULES.iter().all(|rule| rule.id.starts_with("DEEPGNN-") && !rule.says.is_empty()));
    }
}
