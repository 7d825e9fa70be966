//! The rules of the formats, each with a stable id.
//!
//! An *error* has no clear meaning, or cannot be stored; a *warning* is a repair, or something that the published
//! converter reads differently.

isomorph_error::rules! {
    /// An alias table that does not fit its elements.
    ALIAS "DEEPGNN-ALIAS" Warning
        "an alias table has one record for each element of its type, with a probability from 0 to 1",
        "write the graph again: samplers are made from the weights";
    /// A length, an offset or a slot points outside.
    BOUNDS "DEEPGNN-BOUNDS" Error
        "files of a partition have the lengths that their counts ask for, and offsets ascend and end with the data",
        "the file is damaged or half copied: write it again";
    /// Coordinates that do not fit their values.
    COORDINATES "DEEPGNN-COORDINATES" Error
        "a sparse feature has one point for each value",
        "correct the number of coordinates";
    /// Counts disagree.
    COUNTS "DEEPGNN-COUNTS" Warning
        "the counts of meta.json are those of the partitions", "counts are never trusted";
    /// Defaults that cannot be used.
    DEFAULTS "DEEPGNN-DEFAULTS" Error
        "defaults are numbers, and pairs of a type and a length, divided by one space", "";
    /// Defaults that were mended.
    DEFAULTS_MENDED "DEEPGNN-DEFAULTS-MENDED" Warning
        "a file of defaults is JSON", "read without trailing commas, and .5 as 0.5, as in the specification's example";
    /// A type of numbers that is not known.
    DTYPE "DEEPGNN-DTYPE" Error
        "a feature is of bool, int8 to int64, uint8 to uint64, float16 to float64, or text", "";
    /// An end of an edge that is no node.
    EDGE_END "DEEPGNN-EDGE-END" Warning
        "the source of an edge is a node of the graph", "the engine gives such a node no type";
    /// Edges that are not in order.
    EDGE_ORDER "DEEPGNN-EDGE-ORDER" Warning
        "edges of one type from one node are sorted by their target",
        "the engine searches features of more than 16 edges from end to end then";
    /// Two values of one feature.
    FEATURE_ID "DEEPGNN-FEATURE-ID" Warning
        "a feature id has one value, whatever its type",
        "the value that came first has moved behind the others; the published converter drops it (--compat deepgnn)";
    /// Something is missing or left over in a line.
    FIELD "DEEPGNN-FIELD" Error
        "a line has all fields of its nodes and edges, and no others", "";
    /// A file is missing.
    FILE "DEEPGNN-FILE" Error
        "every partition has its map, its indexes and its features, even when they are empty", "";
    /// Holes without end.
    HOLES "DEEPGNN-HOLES" Error
        "a mebibyte of text has at most 8388608 features, holes included",
        "number features from 0 on: every id below the largest takes 16 bytes in memory and 8 in the binary";
    /// An id that cannot be stored.
    ID "DEEPGNN-ID" Error
        "ids are integers from 0 to 18446744073709551615", "";
    /// A record that is no JSON object, or lacks a member.
    JSON "DEEPGNN-JSON" Error
        "a record is one JSON object with node_id, node_type, node_weight and edge", "";
    /// JSON that was mended.
    JSON_MENDED "DEEPGNN-JSON-MENDED" Warning
        "a record is one line of JSON without trailing commas",
        "isomorph reads it; the published converter does not";
    /// A metadata file that is none.
    META "DEEPGNN-META" Error
        "meta.json names version, counts, and partitions from 0 on", "";
    /// Edges that only `neighbor` names.
    NEIGHBOR "DEEPGNN-NEIGHBOR" Warning
        "edges stand in `edge`", "those of `neighbor` are read; the published converter fails";
    /// A neighbour of five fields.
    NEIGHBOR_FIELDS "DEEPGNN-NEIGHBOR-FIELDS" Warning
        "a neighbour has target, type, weight and features",
        "the fourth of five fields is passed over; the published converter drops the fifth (--compat deepgnn)";
    /// Statements of one node that differ.
    NODE_CONTRADICTED "DEEPGNN-NODE-CONTRADICTED" Warning
        "statements of one node agree", "of type, weight and each feature the first value counts, as in the engine";
    /// A node twice.
    NODE_REPEATED "DEEPGNN-NODE-REPEATED" Warning
        "a node is stated once", "its statements are read as one node, with the edges of all";
    /// A number that is none.
    NUMBER "DEEPGNN-NUMBER" Error
        "numbers are written as Python writes them and are in the range of their type", "";
    /// Values that the length promised.
    SHORT "DEEPGNN-SHORT" Error
        "a feature has as many values as its length says",
        "the published converter stores fewer (--compat deepgnn)";
    /// A sum of weights that is not that of the edges.
    SUMS "DEEPGNN-SUMS" Warning
        "each partition's entry in meta.json has the sum of the weights of each type",
        "servers are chosen by these sums: write the graph again; the published merger gives every partition that of its worker";
    /// Times that contradict each other.
    TIME "DEEPGNN-TIME" Error
        "an edge lives while its source does", "";
    /// A number without a width.
    TSV_WIDTH "DEEPGNN-TSV-WIDTH" Warning
        "integers state their width, as in i64",
        "read as 64 bits, as in the specification's example; the published converter fails";
    /// A type that cannot be stored.
    TYPE "DEEPGNN-TYPE" Error
        "types are integers from 0 to 65535",
        "the published engine has arrays of that length: number types from 0 on";
    /// Types that descend.
    TYPE_ORDER "DEEPGNN-TYPE-ORDER" Error
        "types of edges do not descend within a node", "sort edges by source, type and target";
    /// A negative number in an unsigned feature.
    WRAPPED "DEEPGNN-WRAPPED" Warning
        "features of unsigned type hold no negative numbers",
        "read as its 64 bits, as in the specification's example; the published converter needs an old numpy for it";
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
