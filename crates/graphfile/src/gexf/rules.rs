//! The rules of GEXF, each with a stable id.

isomorph_error::rules! {
    /// An attribute that is declared wrongly, or not at all.
    ATTRIBUTE "GEXF-ATTRIBUTE" Error
        "attributes are declared before the nodes and edges with their values, once, for nodes or for edges",
        "declare the attribute, or remove its values";
    /// Elements and attributes that are not read.
    ELEMENT "GEXF-ELEMENT" Warning
        "a file has elements and attributes of GEXF and of its module viz; others are not read",
        "write content that must be kept as values of attributes; convert needs --lossy or --lenient to drop it";
    /// An end that is not a node.
    END "GEXF-END" Error "all ends of edges are nodes of the file", "add the node, or remove the edge";
    /// A repeated or missing node id.
    ID "GEXF-ID" Error "every node has a unique id", "rename one of the nodes";
    /// Input beyond a limit.
    LIMIT "GEXF-LIMIT" Error
        "a tag has at most 1 MiB, a text 64 MiB, elements are nested at most 128 deep, and there are at most 10,000 \
         attributes of nodes and of edges",
        "split the file, or shorten the value that is too large";
    /// Edges that stand for two.
    MUTUAL "GEXF-MUTUAL" Warning
        "an edge is directed or undirected; a mutual edge is read as an undirected one",
        "write two directed edges instead";
    /// Two attributes of one name.
    NAME "GEXF-NAME" Warning
        "the attributes of nodes, and those of edges, have different titles",
        "rename one of the attributes: tools that read by title keep the values of only one of them";
    /// A hierarchy.
    NESTED "GEXF-NESTED" Error
        "nodes contain no nodes and have no parents",
        "write the graph without a hierarchy, for example with the parent as an attribute";
    /// Input that is not GEXF.
    SYNTAX "GEXF-SYNTAX" Error
        "a file is well-formed XML in UTF-8, without entities of its own: gexf with one graph of nodes and edges",
        "correct the place in the message";
    /// A type that GEXF does not have.
    TYPE "GEXF-TYPE" Warning
        "an attribute has a type of GEXF; values of types without an equal are read as text",
        "correct the type of the attribute";
    /// A value of another type.
    VALUE "GEXF-VALUE" Error
        "a value has the type of its attribute, and numbers are in the range of 64 bits",
        "correct the value or the type of the attribute";
}
