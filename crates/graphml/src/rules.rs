//! The rules of GraphML, each with a stable id.

isomorph_error::rules! {
    /// A graph that does not state the direction of its edges.
    DIRECTION "GRAPHML-DIRECTION" Warning
        "a graph has the attribute edgedefault; without it, edges are undirected, as in NetworkX and igraph",
        "write edgedefault=\"directed\" or edgedefault=\"undirected\"";
    /// Elements that are not read.
    ELEMENT "GRAPHML-ELEMENT" Warning
        "a file has GraphML elements, in GraphML's namespace or in none, and other XML only inside data",
        "correct the name or the namespace of the element, or remove it";
    /// An end that is not a node.
    END "GRAPHML-END" Error
        "every edge has a source and a target, and all ends of edges and hyperedges are nodes of the file",
        "add the node, or remove the edge";
    /// A repeated or missing node id.
    ID "GRAPHML-ID" Error "every node has a unique id", "give every node an id of its own, or write one node instead of both";
    /// Hyperedges that cannot be distinguished.
    HYPEREDGE "GRAPHML-HYPEREDGE" Error
        "every hyperedge has a unique id; GraphML allows hyperedges without id, but their ends could not be \
         distinguished",
        "give every hyperedge an id of its own";
    /// A key that is declared wrongly, or not at all.
    KEY "GRAPHML-KEY" Error
        "the key of data is declared before it, once, for the kind of element with the data, and a graph has one \
         value per name",
        "declare the key, or remove the data";
    /// Input beyond a limit.
    LIMIT "GRAPHML-LIMIT" Error
        "a tag has at most 1 MiB, a text 64 MiB, elements are nested at most 128 deep, and there are at most 10,000 \
         keys and 256 namespaces",
        "split the file, or shorten the value that is too large";
    /// Keys that tools read as one.
    NAME "GRAPHML-NAME" Warning
        "keys for the same elements have different names, except a key of integers and a key of doubles, which become \
         one property",
        "rename one of the keys: tools that read by name keep the values of only one of them";
    /// Several graphs, or graphs inside nodes.
    NESTED "GRAPHML-NESTED" Error
        "a file has one graph, and its nodes contain no graphs",
        "write one file per graph; flatten nested graphs with the tool that wrote them";
    /// Input that is not read.
    PORT "GRAPHML-PORT" Warning
        "nodes and edges have data, but no ports, locators and descriptions, which are not part of a graph",
        "write content that must be kept as data";
    /// Values that others replace.
    REPEATED "GRAPHML-REPEATED" Warning
        "an element has one value for each key; of several the last is read, as by NetworkX and igraph",
        "remove the values that are not meant";
    /// Input that is not GraphML.
    SYNTAX "GRAPHML-SYNTAX" Error
        "a file is well-formed XML in UTF-8 or UTF-16, without entities of its own: graphml, its keys, and one graph of nodes, \
         edges and hyperedges",
        "correct the place in the message";
    /// A type that GraphML does not have.
    TYPE "GRAPHML-TYPE" Warning
        "a key has the type boolean, int, long, float, double or string",
        "correct attr.type; its values are read as text";
    /// A value of another type.
    VALUE "GRAPHML-VALUE" Error
        "a value has the type of its key, numbers are in the range of doubles, and integers of a property that also \
         has doubles are exact as doubles",
        "correct the value or the key";
}
