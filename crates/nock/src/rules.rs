//! The rules of the format, each with a stable id.
//!
//! An *error* makes the published library fail, or has no clear meaning; a *warning* is a violation of the
//! specification that can be read; a *note* is worth knowing. Whether reading stops depends on
//! [`crate::Tolerance`], not by the severity.

isomorph_error::rules! {
    /// A text file has a blank line.
    CSV_BLANK "NOCK-CSV-BLANK" Error
        "a text file has no blank lines: pynock fails on them", "isomorph convert PATH NEW.csv    write the file without them";
    /// A text file begins with a byte-order mark.
    CSV_BOM "NOCK-CSV-BOM" Error
        "a text file begins with its header, not with a byte-order mark", "save the file as UTF-8 without a byte-order mark";
    /// A field that is too long for Python's csv module.
    CSV_FIELD "NOCK-CSV-FIELD" Warning
        "a field of a text file has at most 131,072 characters, the limit of Python's csv module",
        "isomorph convert PATH NEW.parq    write Parquet, which has no such limit";
    /// A flag has a spelling that Python does not read.
    CSV_FLAG "NOCK-CSV-FLAG" Error
        "is_rdf is spelled True or False in a text file; pynock fails on other spellings",
        "isomorph convert PATH NEW.csv    write True and False";
    /// A text is not quoted.
    CSV_QUOTES "NOCK-CSV-QUOTES" Warning
        "texts are quoted in a text file, numbers and flags are not", "isomorph convert PATH NEW.csv    quote them";
    /// A text contains a carriage return, which Python's csv module reads as a line break.
    CSV_RETURN "NOCK-CSV-RETURN" Warning
        "texts in a text file have no carriage returns: pynock reads them as line feeds",
        "isomorph convert PATH NEW.parq    write Parquet, which keeps them";
    /// An edge row has no number.
    EDGE_ID "NOCK-EDGE-ID" Error
        "edge_id is -1 on a node row and 0 or more on an edge row, never missing", "write -1 on node rows, and a number from 0 on edge rows";
    /// A number that is outside the specification's type.
    EDGE_ID_RANGE "NOCK-EDGE-ID-RANGE" Warning
        "edge_id is -1 on a node row, and within 32 bits, the specification's type, on an edge row",
        "isomorph convert PATH NEW.parq    renumber the edges";
    /// Two edge rows of one node have the same number.
    EDGE_ID_REPEATED "NOCK-EDGE-ID-REPEATED" Warning
        "edge_id is unique among the edge rows of a node", "give each edge row of the node another number";
    /// An edge row follows the node row of another node, or precedes the first node row.
    EDGE_SEQUENCE "NOCK-EDGE-SEQUENCE" Error
        "the edge rows of a node follow its node row", "isomorph convert PATH NEW.parq --lenient    put the rows in sequence";
    /// A column has a type that cannot store its values.
    FILE_COLUMN_TYPE "NOCK-FILE-COLUMN-TYPE" Error
        "names, labels and props are text, edge_id and shadow integers, truth a number, is_rdf a boolean; further columns are not maps",
        "write the column with the specification's type";
    /// A column is missing.
    FILE_COLUMNS "NOCK-FILE-COLUMNS" Error
        "a partition has the nine columns src_name, edge_id, rel_name, dst_name, truth, shadow, is_rdf, labels, props",
        "add the missing column";
    /// A column is treated as an index, although the file does not declare it as one.
    FILE_INDEX "NOCK-FILE-INDEX" Note
        "a column without a name, `__index_level_N__` or `__null_dask_index__` is the index of pandas or Dask, and is not read",
        "name the column if it contains data of the graph";
    /// The physical types differ from the specification's.
    FILE_TYPES "NOCK-FILE-TYPES" Note
        "src_name is REQUIRED, edge_id and shadow are INT32, truth is FLOAT",
        "isomorph convert PATH NEW.parq    write the specification's types";
    /// A cell that readers ignore has a value.
    IGNORED "NOCK-IGNORED" Warning
        "rel_name and dst_name are empty on node rows; shadow is -1 and labels are empty on edge rows",
        "move the value to another row: readers ignore these cells";
    /// A label that is not read back as intended.
    LABELS "NOCK-LABELS" Note
        "labels are not empty and have no spaces at either end", "remove empty labels, and the spaces around labels";
    /// Labels are missing on a node row.
    LABELS_NULL "NOCK-LABELS-NULL" Error
        "labels are an empty text, not a null, on a node row without labels", "write an empty text instead of null";
    /// A string is null.
    MISSING_NULL "NOCK-MISSING-NULL" Note
        "a missing text is the empty text, a missing integer is -1", "isomorph convert PATH NEW.parq    write empty texts and -1";
    /// A name is empty.
    NAME_EMPTY "NOCK-NAME-EMPTY" Error
        "every row names its source node, every edge row its destination", "give the node a name";
    /// An edge refers to a node without a node row.
    NODE_IMPLICIT "NOCK-NODE-IMPLICIT" Warning
        "each node has a node row", "isomorph convert PATH NEW.parq    write the missing rows";
    /// Two partitions own the same node.
    NODE_OWNERS "NOCK-NODE-OWNERS" Warning
        "a node is local (shadow -1) in one partition only", "keep the node local in one partition, and a shadow in the others";
    /// A node has several node rows.
    NODE_REPEATED "NOCK-NODE-REPEATED" Warning
        "each node has one node row in a partition", "remove all but one of the node rows";
    /// A text file has the same number as a Parquet file.
    PART_BOTH "NOCK-PART-BOTH" Warning
        "a partition is one file; if a Parquet file and a CSV file have the same number, the Parquet file is read",
        "move one of the files to another directory";
    /// The files of a directory are separate graphs.
    PART_DATASET "NOCK-PART-DATASET" Error
        "the files of a directory are one graph if they are named part_<id>, or if they have the same columns and the shadow \
         rows of each refer to nodes of others; a file with its own sidecar is a separate graph",
        "name the files part_0.parq, part_1.parq, …    if they are the partitions of one graph";
    /// Two files claim one partition number.
    PART_ID "NOCK-PART-ID" Error
        "partitions have different numbers", "move one of the files away";
    /// A file that is not named like the partitions next to it.
    PART_OTHER "NOCK-PART-OTHER" Warning
        "a directory of partitions contains no other Parquet or CSV files", "move the file to another directory";
    /// Partitions have different columns or types.
    PART_SCHEMA "NOCK-PART-SCHEMA" Warning
        "all partitions have the same schema; otherwise tools that read a directory as one table fail",
        "isomorph convert DIR NEW_DIR    write the same schema in all partitions";
    /// A text file has other rows than the Parquet file with the same number.
    PART_TWIN "NOCK-PART-TWIN" Error
        "a CSV file next to a Parquet file of the same number has the same rows; only the Parquet file is read",
        "remove one of the two files";
    /// Properties are not JSON.
    PROPS_JSON "NOCK-PROPS-JSON" Error
        "props is empty or the text of a JSON object", "correct the JSON at the named position";
    /// Properties contain NaN or Infinity.
    PROPS_NAN "NOCK-PROPS-NAN" Error
        "props contains no NaN and no Infinity, which JSON does not have", "use --lenient to read NaN and Infinity as null";
    /// Properties are missing.
    PROPS_NULL "NOCK-PROPS-NULL" Error
        "props is an empty text, not a null, on a row without properties", "write an empty text instead of null";
    /// Properties are JSON, but not an object.
    PROPS_OBJECT "NOCK-PROPS-OBJECT" Error
        "props is a JSON object, not an array or a scalar",
        "use --lenient to read the value as a property with an empty name";
    /// A property is repeated.
    PROPS_REPEATED "NOCK-PROPS-REPEATED" Warning
        "the keys of props are unique", "remove all but one of the repeated keys: the last one counts";
    /// The RDF flag of an edge differs from its source's.
    RDF_EDGE "NOCK-RDF-EDGE" Warning
        "is_rdf of an edge row equals that of its source node", "set is_rdf of the edge row to the value of its source node";
    /// A node from an RDF stack has a name that is not an IRI.
    RDF_NAME "NOCK-RDF-NAME" Note
        "the names of nodes and relations from an RDF stack are absolute IRIs", "write the absolute IRI instead of the name";
    /// The RDF flag is missing.
    RDF_NULL "NOCK-RDF-NULL" Warning
        "is_rdf is true or false, never null", "write true or false";
    /// The relation name of an edge is null.
    REL_NULL "NOCK-REL-NULL" Warning
        "an edge without a relation has an empty rel_name, not a null", "write an empty text instead of null";
    /// A row of a foreign node has edges.
    SHADOW_EDGES "NOCK-SHADOW-EDGES" Warning
        "the edges of a node are in the partition that owns it", "move the edge rows into the partition that owns the node";
    /// A partition refers to a node that has a row in other partitions only.
    SHADOW_MISSING "NOCK-SHADOW-MISSING" Warning
        "a partition has a row for each node of its edges: a shadow row if another partition owns the node",
        "isomorph convert DIR NEW_DIR --partitions 2    write the missing rows";
    /// No partition owns a shadow node.
    SHADOW_OWNER "NOCK-SHADOW-OWNER" Warning
        "a shadow node is local in another partition", "open the directory with all partitions";
    /// The partition number is invalid.
    SHADOW_RANGE "NOCK-SHADOW-RANGE" Warning
        "shadow is -1, or the number of a partition", "write -1, or the number of the partition that owns the node";
    /// A shadow row has values that the chosen row does not have.
    SHADOW_VALUES "NOCK-SHADOW-VALUES" Warning
        "a shadow row has no values of its node, or the same values as the owner's row",
        "write the shadow row with name and shadow only";
    /// A degree of belief is missing.
    TRUTH_MISSING "NOCK-TRUTH-MISSING" Error
        "truth is never null and never NaN", "use --lenient to read a missing truth as 1.0";
    /// A degree of belief is out of range.
    TRUTH_RANGE "NOCK-TRUTH-RANGE" Warning
        "truth is between 0 and 1", "write a truth between 0 and 1";
    /// A number that JSON cannot represent.
    WRITE_NAN "NOCK-WRITE-NAN" Error
        "props is JSON, which has no NaN and no Infinity",
        "write null or a text instead of NaN and Infinity in the source, or choose another format";
    /// A value that the format cannot store.
    WRITE_VALUE "NOCK-WRITE-VALUE" Error
        "names are not empty, labels have no comma, truth is a number, edge ids are in the range of their column", "rename the node or label, or choose another format";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_sorted_and_different() {
        let ids: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
        assert!(ids.iter().all(|id| id.starts_with("NOCK-")));
    }
}
