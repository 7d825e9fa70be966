//! The rules of GraphML, each with a stable id.

isomorph_error::rules! {
    /// A graph that does not say whether its edges have directions.
    DIRECTION "GRAPHML-DIRECTION" Warning
        "a graph has the attribute edgedefault; without it edges are undirected, as NetworkX and igraph take them",
        "write edgedefault=\"directed\" or edgedefault=\"undirected\"";
    /// Elements that are not read.
    ELEMENT "GRAPHML-ELEMENT" Warning
        "a file has the elements of GraphML, in its namespace or in none, and XML of others only inside data",
        "correct the name or the namespace of the element, or remove it";
    /// An end that is no node.
    END "GRAPHML-END" Error "all ends of edges and hyperedges are nodes of the file", "add the node, or remove the edge";
    /// A node that is there twice.
    ID "GRAPHML-ID" Error "the id of a node is that of no other", "rename one of the nodes, or make one of both";
    /// Hyperedges that nothing tells apart.
    HYPEREDGE "GRAPHML-HYPEREDGE" Error
        "every hyperedge has an id that no other has; GraphML allows one without, but its ends could not be told from those of others",
        "give every hyperedge an id of its own";
    /// A key that is declared wrongly, or not at all.
    KEY "GRAPHML-KEY" Error
        "every key that data names is declared before, once, for the element that the data stands in, and a graph has one value of a name", "declare the key, or remove the data";
    /// More than is read.
    LIMIT "GRAPHML-LIMIT" Error
        "a tag has at most 1 MiB, a text 64 MiB, elements lie at most 128 deep inside one another, and there are at most 10,000 keys and 256 namespaces",
        "split the file, or shorten the value that is too large";
    /// Keys that tools take for one.
    NAME "GRAPHML-NAME" Warning
        "keys for the same elements have different names, unless one is of integers and the other of doubles, which become one property",
        "rename one of the keys: tools that read by name keep the values of one of them only";
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
    VALUE "GRAPHML-VALUE" Error
        "a value is of the type that its key declares, no number is beyond a double, and an integer whose property also has doubles is one exactly",
        "correct the value or the key";
}
