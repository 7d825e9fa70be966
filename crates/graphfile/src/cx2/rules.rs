//! The rules of CX2, each with a stable id.

isomorph_error::rules! {
    /// An attribute that is not declared.
    ATTRIBUTE "CX2-ATTRIBUTE" Error
        "attributes are declared before the nodes and edges with their values, by their name or an alias",
        "declare the attribute, or remove its values";
    /// An end that is not a node.
    END "CX2-END" Error
        "every edge has a source s and a target t, and both are ids of nodes in the file",
        "add the node, or remove the edge";
    /// A repeated or missing node id.
    ID "CX2-ID" Error "every node has a unique id, an integer", "give every node an id of its own";
    /// Input beyond a limit.
    LIMIT "CX2-LIMIT" Error
        "a node, an edge or another aspect has at most 64 MiB and 512 levels, and there are at most 10,000 different \
         attributes",
        "split the record, or remove what is too large";
    /// Input that is not CX2.
    SYNTAX "CX2-SYNTAX" Error
        "a file is a JSON list in UTF-8 whose first item has CXVersion 2.0, and whose other items are aspects",
        "correct the place in the message, or export the network as CX2 again";
    /// A value of another type.
    VALUE "CX2-VALUE" Error
        "values have the type that the sidecar states", "correct the value, or open the file with --sidecar ignore";
}
