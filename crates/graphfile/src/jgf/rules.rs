//! The rules of JSON Graph Format, each with a stable id.

isomorph_error::rules! {
    /// An end that is not a node.
    END "JGF-END" Error
        "every edge has a source and a target, and both are ids of nodes in the file",
        "add the node, or remove the edge";
    /// A repeated or missing node id.
    ID "JGF-ID" Error "every node has a unique id, a text", "rename one of the nodes";
    /// Input beyond a limit.
    LIMIT "JGF-LIMIT" Error
        "a node, an edge or another member has at most 64 MiB and 512 levels, and there are at most 10,000 different \
         attributes",
        "split the record, or remove what is too large";
    /// What is not one graph of nodes and edges.
    NESTED "JGF-NESTED" Error "a file has one graph, without hyperedges", "write one file per graph";
    /// Input that is not JSON Graph Format.
    SYNTAX "JGF-SYNTAX" Error
        "a file is a JSON object in UTF-8 with one graph, whose nodes are an object or a list, and whose edges are a list",
        "correct the place in the message";
    /// A value of another type.
    VALUE "JGF-VALUE" Error
        "values have the type that the sidecar states", "correct the value, or open the file with --sidecar ignore";
}
