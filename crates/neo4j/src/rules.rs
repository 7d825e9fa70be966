//! The rules of the texts, each with a stable id.

isomorph_error::rules! {
    /// An end that is not a node.
    END "NEO4J-END" Error "both ends of a relationship are nodes of the file", "add the node, or remove the relationship";
    /// A repeated or missing id.
    ID "NEO4J-ID" Error "every node has an id that no other has", "rename one of the nodes, or write one node instead of both";
    /// A line or statement that is not understood.
    RECORD "NEO4J-RECORD" Error
        "each line of APOC is one node or one relationship in JSON; a script of Cypher has the statements that isomorph writes",
        "correct the record; other scripts of Cypher can be run in Neo4j and exported with apoc.export.json.all";
    /// A value of another type.
    VALUE "NEO4J-VALUE" Error "a value has the type of its property", "correct the value";
}
