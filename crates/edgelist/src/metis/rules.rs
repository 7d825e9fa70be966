//! The rules of METIS graphs, each with a stable id.

isomorph_error::rules! {
    /// A number of edges that differs from the header.
    COUNT "METIS-COUNT" Error
        "the number of edges in the header is that of the pairs of vertices, each counted once", "correct the first line, or get the file again: it may be truncated";
    /// Text that is not UTF-8.
    ENCODING "METIS-ENCODING" Error "a METIS graph is text with Unix or Windows line ends", "save the file as UTF-8";
    /// A first line that is not a header.
    HEADER "METIS-HEADER" Error
        "the first line that is no comment has the numbers of vertices and edges, and optionally the format (three \
         digits: sizes, weights of vertices, weights of edges) and the number of weights of a vertex", "correct the first line";
    /// An edge from a vertex to itself.
    LOOP "METIS-LOOP" Warning "a vertex is not its own neighbour", "remove the edge; METIS does not read it";
    /// An edge that one of its vertices does not state.
    SYMMETRY "METIS-SYMMETRY" Error
        "an edge is stated at both of its vertices, with the same weight", "add the vertex that the message names, or correct the weight";
    /// A line that is not a vertex.
    VERTEX "METIS-VERTEX" Error
        "every vertex has a line: its size and weights if the header says so, then its neighbours, numbers from 1, each \
         with a weight if the header says so", "correct the line in the message";
}
