//! The rules of graphs of LDBC Graphalytics, each with a stable id.

isomorph_error::rules! {
    /// A number of vertices or edges that differs from the properties.
    COUNT "GRAPHALYTICS-COUNT" Error
        "meta.vertices and meta.edges are the numbers of lines in the files of vertices and edges", "get the files again: they may be truncated; or correct the properties";
    /// An end that is not a vertex.
    DANGLING "GRAPHALYTICS-DANGLING" Error "the ends of edges are in the file of vertices", "add the missing vertices";
    /// Text that is not UTF-8.
    ENCODING "GRAPHALYTICS-ENCODING" Error "files are text with Unix or Windows line ends", "save the file as UTF-8";
    /// A line that cannot be read.
    LINE "GRAPHALYTICS-LINE" Error
        "a vertex is an integer, an edge is two integers; the values that the properties name follow, integers or \
         floats, separated by blanks", "correct the line in the message";
    /// Properties that cannot be read.
    PROPERTIES "GRAPHALYTICS-PROPERTIES" Error
        "the properties of one graph name its files of vertices and edges, say whether it is directed, and name values and their types: int or real",
        "correct the file of properties";
    /// A vertex that is there twice.
    VERTEX "GRAPHALYTICS-VERTEX" Error "a vertex is in the file once", "remove repeated lines";
}
