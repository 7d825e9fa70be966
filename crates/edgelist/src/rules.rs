//! The rules of edge lists, each with a stable id.

isomorph_error::rules! {
    /// Edges with and without a direction.
    DIRECTION "EDGELIST-DIRECTION" Error
        "all edges of a list are directed, or all are undirected: the cells of a column `directed` or `Type` say the same",
        "correct the line in the message, put nodes.csv beside edges.csv, which may have both, or split the file in two";
    /// An invalid dictionary.
    DICTIONARY "EDGELIST-DICTIONARY" Error
        "text in braces after source and target is a Python dictionary, as NetworkX writes it: names are texts, and \
         values are numbers, texts, True, False, None, lists and dictionaries",
        "correct the line in the message";
    /// Text that is not UTF-8.
    ENCODING "EDGELIST-ENCODING" Error "an edge list is UTF-8", "save the file as UTF-8";
    /// A line with a different number of fields.
    FIELDS "EDGELIST-FIELDS" Error
        "every line has two ends, and all lines have the same number of fields", "correct the line in the message";
    /// Counts in the comments that differ from those of the file.
    HEAD "EDGELIST-HEAD" Warning
        "the numbers of nodes and edges in the comments at the beginning equal those in the file",
        "get the file again if it is truncated; otherwise correct the comment";
    /// Integers and floats in one property.
    MIXED "EDGELIST-MIXED" Warning
        "a value is an integer for all edges or a float for all edges",
        "write 1.0 for 1 if other values are floats, and write numbers with more digits than a float can represent as \
         text";
    /// An end without a name.
    NAME "EDGELIST-NAME" Error "both ends of an edge have a name", "correct the line in the message";
    /// A value of another type than declared.
    VALUE "EDGELIST-VALUE" Error
        "values have the type that --edge-columns or the sidecar states",
        "correct the line in the message, or use another type";
}
