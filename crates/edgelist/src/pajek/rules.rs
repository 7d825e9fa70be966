//! The rules of Pajek networks, each with a stable id.

isomorph_error::rules! {
    /// A line of edges that cannot be read.
    EDGE "PAJEK-EDGE" Error
        "a line below *Arcs or *Edges has two vertices, then optionally a value, and pairs of names and values", "correct the line in the message";
    /// Text that is not UTF-8.
    ENCODING "PAJEK-ENCODING" Error "a Pajek network is UTF-8 with Unix or Windows line ends", "save the file as UTF-8";
    /// Vertices with the same label.
    LABEL "PAJEK-LABEL" Warning "vertices have different labels", "rename vertices, if they should be found by their labels";
    /// A network with two kinds of vertices.
    MODES "PAJEK-MODES" Warning
        "a network has one kind of vertices; where *Vertices has two numbers, the first vertices are of another kind than the rest",
        "write one number: kinds are not read";
    /// A section that cannot be read.
    SECTION "PAJEK-SECTION" Error
        "a network has *Vertices, then *Arcs, *Edges, *Arcslist and *Edgeslist in any order", "remove other sections, or split the project into networks";
    /// A line of a vertex that cannot be read.
    VERTEX "PAJEK-VERTEX" Error
        "below *Vertices there is a line for each vertex, or for none: its number, from 1 and ascending, then its label, \
         coordinates, shape, and pairs of names and values", "correct the line in the message";
}
