//! The rules of GraphML, each with a stable id.

isomorph_error::rules! {
    /// An end of an edge that is no node.
    END "GRAPHML-END" Error "both ends of an edge are nodes of the file", "add the node, or remove the edge";
    /// A node that is there twice.
    ID "GRAPHML-ID" Error "the id of a node is that of no other", "rename one of the nodes, or make one of both";
    /// A key that is declared wrongly, or not at all.
    KEY "GRAPHML-KEY" Error
        "every key that data names is declared before, once, for the element that the data stands in", "declare the key, or remove the data";
    /// More than is read.
    LIMIT "GRAPHML-LIMIT" Error
        "a tag has at most 1 MiB, a text 64 MiB, elements lie at most 128 deep inside one another, and there are at most 10,000 keys",
        "split the file, or shorten the value that is too large";
    /// Graphs inside nodes, or beside one another.
    NESTED "GRAPHML-NESTED" Error
        "a file has one graph, and its nodes have no graphs inside",
        "write one file for each graph; a nested graph has to be flattened by the tool that wrote it";
    /// What is not read.
    PORT "GRAPHML-PORT" Warning
        "nodes and edges have data, and no ports, locators and descriptions, which graphs have no place for",
        "write what has to be kept as data";
    /// Something that is no GraphML.
    SYNTAX "GRAPHML-SYNTAX" Error
        "a file is well-formed XML in UTF-8, without entities of its own: graphml, its keys, and one graph of nodes, edges and hyperedges",
        "correct the place that is named";
    /// A type of values that GraphML does not have.
    TYPE "GRAPHML-TYPE" Warning
        "a key has the type boolean, int, long, float, double or string", "correct attr.type; its values are read as text";
    /// A value that is none of its type.
    VALUE "GRAPHML-VALUE" Error "a value is of the type that its key declares", "correct the value or the key";
}
