//! The rules of RDF texts, each with a stable id.

isomorph_error::rules! {
    /// A text that would need more time or memory than its length justifies.
    LIMIT "RDF-LIMIT" Error
        "triple terms, XML elements and JSON values nest at most 128 deep, XML elements have at most 256 attributes, strings of JSON-LD 8,000,000 bytes, and entities stand for at most 16 times the text and 1 MiB",
        "split the text, or write it with less nesting";
    /// A malformed statement that was skipped in lenient reading.
    SKIPPED "RDF-SKIPPED" Warning
        "every statement of a text can be read", "correct the statement: it was skipped, with those that depend on it";
    /// A text that does not follow the grammar of its syntax.
    SYNTAX "RDF-SYNTAX" Error
        "a text follows the grammar of its syntax, in UTF-8, with absolute IRIs or a base", "use --lenient to skip invalid statements, if the syntax shows where they end";
}
