//! The rules of edge lists, each with a stable id.

isomorph_error::rules! {
    /// Edges with and without a direction.
    DIRECTION "EDGELIST-DIRECTION" Error
        "all edges of a list are directed, or all are undirected", "split the file into one of directed edges and one of undirected edges";
    /// A dictionary that is none.
    DICTIONARY "EDGELIST-DICTIONARY" Error
        "what stands behind the ends of an edge in braces is a dictionary of Python, as NetworkX writes it: texts for names, and for values \
         numbers, texts, True, False, None, lists and dictionaries",
        "correct the line that is named";
    /// Text that is no UTF-8.
    ENCODING "EDGELIST-ENCODING" Error "an edge list is UTF-8", "save the file as UTF-8";
    /// A line with other fields than the rest.
    FIELDS "EDGELIST-FIELDS" Error
        "every line has two ends, and all lines have the same number of fields", "correct the line that is named";
    /// Counts in the comments that are not those of the file.
    HEAD "EDGELIST-HEAD" Warning
        "numbers of nodes and edges in the comments at the beginning are those of the file",
        "get the file again if it is cut off; else correct the comment";
    /// Integers and floats in one property.
    MIXED "EDGELIST-MIXED" Warning
        "a value is an integer for all edges or a float for all edges", "write 1.0 for 1 where others are floats, and numbers of more digits than a float holds as text";
    /// An end without a name.
    NAME "EDGELIST-NAME" Error "both ends of an edge have a name", "correct the line that is named";
    /// A value of another type than was said.
    VALUE "EDGELIST-VALUE" Error
        "a value is of the type that --edge-columns or the sidecar says", "correct the line that is named, or say another type";
}
