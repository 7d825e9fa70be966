//! The rules of the formats, each with a stable id.
//!
//! An *error* has no clear meaning, or cannot be stored; a *warning* is a repair, or something that the published
//! converter reads differently.

use isomorph_error::Rule;

isomorph_error::rules! {
    /// An alias table that does not fit its elements.
    ALIAS "DEEPGNN-ALIAS" Warning
        "an alias table has one record for each element of its type, with a probability from 0 to 1",
        "convert the text or the binary again, which makes new tables; where weights are negative, correct them in the text first, or write no \
         tables (--no-samplers)";
    /// A length, an offset or a slot points outside.
    BOUNDS "DEEPGNN-BOUNDS" Error
        "files of a partition have the lengths that their counts ask for, and offsets ascend and end with the data",
        "write the file again: it is damaged or half copied";
    /// Coordinates that do not fit their values.
    COORDINATES "DEEPGNN-COORDINATES" Error
        "a sparse feature has one point for each value",
        "correct the number of coordinates; the specification's own example, uint8 2,3 0 4 1 1 1, is meant as uint8 3,3 0 4 10 1 1 1 (--compat deepgnn)";
    /// Counts disagree.
    COUNTS "DEEPGNN-COUNTS" Warning
        "the counts of meta.json are those of the partitions", "write meta.json again: the counts of the partitions are what is read";
    /// Files that are not one text.
    DATASET "DEEPGNN-DATASET" Error
        "the files of a directory are one text if there is one of them, or if all are of one text format and named part-<number>; a file with a \
         sidecar is a graph of its own",
        "name the files part-0.tsv, part-1.tsv, …, or name them by a pattern (DIR/*.tsv), if they are one graph";
    /// Defaults that cannot be used.
    DEFAULTS "DEEPGNN-DEFAULTS" Error
        "defaults are numbers, and pairs of a type and a length, divided by one space", "correct the default in the place that is named";
    /// Defaults that were mended.
    DEFAULTS_MENDED "DEEPGNN-DEFAULTS-MENDED" Warning
        "a file of defaults is JSON", "remove trailing commas, and write .5 as 0.5: the file is read as if it was so";
    /// A type of numbers that is not known.
    DTYPE "DEEPGNN-DTYPE" Error
        "a feature is of bool, int8 to int64, uint8 to uint64, float16 to float64, or text",
        "write one of these types; text is named binary_feature in Linear and JSON, binary in EdgeList, and b in TSV";
    /// An end of an edge that is no node.
    EDGE_END "DEEPGNN-EDGE-END" Warning
        "the source of an edge is a node of the graph", "add the node: the engine gives a source that is not a node no type";
    /// Edges that are not in order.
    EDGE_ORDER "DEEPGNN-EDGE-ORDER" Warning
        "edges of one type from one node are sorted by their target",
        "sort the edges of a node by type and target: the engine searches the features of more than 16 unsorted edges from end to end";
    /// The sparse feature of the specification's example.
    EXAMPLE "DEEPGNN-EXAMPLE" Warning
        "a sparse feature has one point for each value, also in the specification's example",
        "write uint8 3,3 0 4 10 1 1 1, as the project's later documentation has it: uint8 2,3 0 4 1 1 1 is read so";
    /// Two values of one feature.
    FEATURE_ID "DEEPGNN-FEATURE-ID" Warning
        "a feature id has one value, whatever its type",
        "give each feature an id of its own, or use --compat deepgnn to drop a value as the published converter does";
    /// Something is missing or left over in a line.
    FIELD "DEEPGNN-FIELD" Error
        "a line has all fields of its nodes and edges, and no others", "correct the fields in the place that is named";
    /// A file is missing.
    FILE "DEEPGNN-FILE" Error
        "every partition has its map, its indexes and its features, even when they are empty, and a table for sampling of each type, if it has any", "get the missing file again, or write the graph again";
    /// Holes without end.
    HOLES "DEEPGNN-HOLES" Error
        "a mebibyte of text has at most 8388608 features, holes included",
        "number features from 0 on: every id below the largest takes 16 bytes in memory and 8 in the binary";
    /// An id that cannot be stored.
    ID "DEEPGNN-ID" Error
        "ids are integers from 0 to 18446744073709551615", "write an integer from 0 to 18446744073709551615";
    /// A record that is no JSON object, or lacks a member.
    JSON "DEEPGNN-JSON" Error
        "a record is one JSON object with node_id, node_type, node_weight and edge", "write the missing keys, one object in each record";
    /// JSON that was mended.
    JSON_MENDED "DEEPGNN-JSON-MENDED" Warning
        "a record is one line of JSON without trailing commas",
        "write each record in one line without trailing commas, if the published converter has to read it";
    /// A key that comes twice.
    JSON_TWICE "DEEPGNN-JSON-TWICE" Warning
        "an object has each key once",
        "write each key once: the last value counts, and of features those of both; the published converter has the last alone (--compat deepgnn)";
    /// A metadata file that is none.
    META "DEEPGNN-META" Error
        "meta.json names version, counts, and partitions from 0 on", "correct meta.json, or write the graph again";
    /// A weight below 0.
    NEGATIVE "DEEPGNN-NEGATIVE" Warning
        "weights are not negative",
        "correct the weight, or convert without tables for sampling (--no-samplers): those of negative weights hold numbers that are no \
         probabilities";
    /// Edges that only `neighbor` names.
    NEIGHBOR "DEEPGNN-NEIGHBOR" Warning
        "edges stand in `edge`", "rename `neighbor` to `edge`: the published converter fails";
    /// Edges that `neighbor` names and `edge` does not.
    NEIGHBOR_ALONE "DEEPGNN-NEIGHBOR-ALONE" Warning
        "what `neighbor` states is also in `edge`",
        "add the edge to `edge`: one that is in `neighbor` alone is dropped, as by the published converter";
    /// A neighbour of five fields.
    NEIGHBOR_FIELDS "DEEPGNN-NEIGHBOR-FIELDS" Warning
        "a neighbour has target, type, weight and features",
        "remove the fourth of the five fields, or use --compat deepgnn to drop the fifth as the published converter does";
    /// Statements of one node that differ.
    NODE_CONTRADICTED "DEEPGNN-NODE-CONTRADICTED" Warning
        "statements of one node agree", "remove all but one of the values: the first one counts, as in the engine";
    /// Nodes that are not in order.
    NODE_ORDER "DEEPGNN-NODE-ORDER" Warning
        "the nodes of a text in Linear are sorted by their ids", "sort the lines by the id of their node, or convert the text: what is written is sorted";
    /// A node twice.
    NODE_REPEATED "DEEPGNN-NODE-REPEATED" Warning
        "a node is stated once", "write each node once: its statements are read as one node, with the edges of all";
    /// Weights of nodes that cannot be recovered.
    NODE_WEIGHTS "DEEPGNN-NODE-WEIGHTS" Warning
        "weights of nodes are recovered from the tables for sampling and the sums of meta.json",
        "convert the text that the binary was made of: the graph is read without weights of nodes";
    /// A number that is none.
    NUMBER "DEEPGNN-NUMBER" Error
        "numbers are written as Python writes them and are in the range of their type", "correct the number in the place that is named";
    /// Values that the length promised.
    SHORT "DEEPGNN-SHORT" Error
        "a feature has as many values as its length says",
        "add the missing values, or use --compat deepgnn to store fewer as the published converter does";
    /// A record that was left out.
    SKIPPED "DEEPGNN-SKIPPED" Warning
        "every record of a text is what its format says", "correct the record: with --lenient it is skipped, its node and all its edges";
    /// A sum of weights that is not that of the edges.
    SUMS "DEEPGNN-SUMS" Warning
        "each partition's entry in meta.json has the sum of the weights of each type",
        "write the graph again: servers are chosen by these sums";
    /// Times that contradict each other.
    TIME "DEEPGNN-TIME" Error
        "an edge lives while its source does", "correct the times of the edge, or those of its source";
    /// Times of edges that the engine does not expect.
    TIME_ORDER "DEEPGNN-TIME-ORDER" Warning
        "an edge of a binary is created before it is removed, and edges of one type from one node are sorted by the time when they were created",
        "write the graph again, with correct times: the engine counts and draws the edges of a time by searches that need this order";
    /// A number without a width.
    TSV_WIDTH "DEEPGNN-TSV-WIDTH" Warning
        "integers state their width, as in i64",
        "write the width, as in i64: the published converter fails without it";
    /// A type that cannot be stored.
    TYPE "DEEPGNN-TYPE" Error
        "types are integers from 0 to 65535",
        "number types from 0 on: the published engine has arrays of that length";
    /// Types that descend.
    TYPE_ORDER "DEEPGNN-TYPE-ORDER" Error
        "types of edges do not descend within a node", "sort edges by source, type and target";
    /// A weight that is too small.
    UNDERFLOW "DEEPGNN-UNDERFLOW" Warning
        "a weight that is not 0 is not 0 in 32 bits", "scale the weights: binaries hold them in 32 bits, in which the smallest is 1.4e-45";
    /// A weight that is not finite.
    WEIGHT "DEEPGNN-WEIGHT" Error
        "weights are finite numbers of 32 bits, from -3.4e38 to 3.4e38",
        "correct the weight, or leave the line out with --lenient: the published engine opens no binary with such a sum";
    /// A negative number in an unsigned feature.
    WRAPPED "DEEPGNN-WRAPPED" Warning
        "features of unsigned type hold no negative numbers",
        "write the number without a sign: it is read as its 64 bits";
}

/// What reading did with a text that breaks one of these rules and is read nevertheless: the message of the finding.
pub(crate) fn repair(rule: &Rule) -> &'static str {
    if rule.id == FEATURE_ID.id {
        "the value that came first has moved behind the others; the published converter drops it (--compat deepgnn)"
    } else if rule.id == NEIGHBOR.id {
        "those of `neighbor` are read; the published converter fails"
    } else if rule.id == NEIGHBOR_FIELDS.id {
        "the fourth of five fields is ignored; the published converter drops the fifth (--compat deepgnn)"
    } else if rule.id == EXAMPLE.id {
        "read as uint8 3,3 0 4 10 1 1 1, as the project's later documentation has it"
    } else if rule.id == JSON_TWICE.id {
        "the last value counts, and of features those of both; the published converter has the last alone (--compat deepgnn)"
    } else if rule.id == TSV_WIDTH.id {
        "read as 64 bits, as in the specification's example; the published converter fails"
    } else if rule.id == NEGATIVE.id {
        "kept as it is, as by the published converter, whose tables for sampling take it for a probability"
    } else if rule.id == UNDERFLOW.id {
        "it is 0 in the binary, as by the published converter"
    } else if rule.id == WRAPPED.id {
        "read as its 64 bits, as in the specification's example; the published converter needs an old numpy for it"
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
