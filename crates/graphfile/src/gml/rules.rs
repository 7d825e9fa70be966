//! The rules of GML, each with a stable id.

isomorph_error::rules! {
    /// An end that is not a node.
    END "GML-END" Error
        "every edge has a source and a target, and both are ids of nodes in the file",
        "add the node, or remove the edge";
    /// A repeated or missing node id.
    ID "GML-ID" Error "every node has a unique id, an integer", "give every node an id of its own";
    /// Input beyond a limit.
    LIMIT "GML-LIMIT" Error
        "a key, a value, a node and an edge have at most 64 MiB, lists are nested at most 128 deep, and there are at most \
         10,000 different attributes",
        "split the file, or shorten the value that is too large";
    /// Edges that NetworkX does not read.
    MULTIGRAPH "GML-MULTIGRAPH" Warning
        "a graph with several edges for the same ends has multigraph 1; without it, all are read, but NetworkX refuses the file",
        "write multigraph 1 into the graph, or remove the other edges";
    /// A second graph.
    NESTED "GML-NESTED" Error "a file has one graph, without inner graphs", "write one file per graph";
    /// Input that is not GML.
    SYNTAX "GML-SYNTAX" Error
        "a file consists of pairs of a key and a value, which is a number, a text in quotation marks, or a list of pairs in \
         brackets; one of them is the graph",
        "correct the place in the message";
    /// A value of another type.
    VALUE "GML-VALUE" Error
        "values have the type that the sidecar states", "correct the value, or open the file with --sidecar ignore";
}
