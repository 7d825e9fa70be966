//! The rules of adjacency lists, each with a stable id.

isomorph_error::rules! {
    /// A number of neighbours that differs from the lines that follow.
    DEGREE "ADJACENCY-DEGREE" Error
        "in a multiline list a node and the number of its neighbours are followed by that many lines, one for each neighbour",
        "correct the number in the message, or get the file again: it may be truncated";
    /// An invalid dictionary.
    DICTIONARY "ADJACENCY-DICTIONARY" Error
        "text after a neighbour is a Python dictionary, as NetworkX writes it", "correct the line in the message";
    /// Text that is not UTF-8.
    ENCODING "ADJACENCY-ENCODING" Error "an adjacency list is text with Unix or Windows line ends", "save the file as UTF-8";
    /// Integers and floats in one property.
    MIXED "ADJACENCY-MIXED" Warning
        "a value is an integer for all edges or a float for all edges", "write 1.0 for 1 if other values are floats";
    /// A name that other readers cut.
    NAME "ADJACENCY-NAME" Error "a name has no blanks and no #", "rename the node in the message";
}
