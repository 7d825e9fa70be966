//! The rules of node-link JSON and of KGX JSON, each with a stable id.

isomorph_error::rules! {
    /// A graph that does not state the direction of its edges.
    DIRECTION "NODELINK-DIRECTION" Warning
        "the member directed states whether edges are directed; without it, they are undirected, as in NetworkX",
        "write \"directed\": true or \"directed\": false";
    /// An end that is not a node.
    END "NODELINK-END" Error
        "every edge has a source and a target (in KGX subject and object), and both are ids of nodes in the file",
        "add the node, or remove the edge";
    /// A repeated or missing node id.
    ID "NODELINK-ID" Error
        "every node has a unique id; if no node has one, edges end in positions of nodes, counted from 0",
        "give every node an id of its own";
    /// Ids of several kinds.
    IDS "NODELINK-IDS" Warning
        "ids are all integers, or all texts; otherwise all are read as texts, and lists as JSON",
        "write all ids as texts";
    /// Input beyond a limit.
    LIMIT "NODELINK-LIMIT" Error
        "a node, an edge or another member has at most 64 MiB and 512 levels, and there are at most 10,000 different \
         attributes",
        "split the record, or remove what is too large";
    /// Edges that a graph without parallel edges cannot have.
    MULTIGRAPH "NODELINK-MULTIGRAPH" Warning
        "a file with \"multigraph\": false has at most one edge for the same ends; of several, all are read, and NetworkX keeps \
         the last one's values",
        "write \"multigraph\": true, or remove the other edges";
    /// A null.
    NULL "NODELINK-NULL" Note
        "a value that is null is read as no value", "remove the member, or write another value";
    /// A repeated member.
    REPEATED "NODELINK-REPEATED" Warning
        "the names of an object are different; of repeated names the last counts, as in Python and in browsers",
        "remove the other values";
    /// Input that is not node-link JSON.
    SYNTAX "NODELINK-SYNTAX" Error
        "a file is a JSON object in UTF-8 with one list of nodes and one list of edges (edges or links), and nodes and \
         edges are objects",
        "correct the place in the message";
    /// A value of another type.
    VALUE "NODELINK-VALUE" Error
        "values have the type that the sidecar states", "correct the value, or open the file with --sidecar ignore";
}
