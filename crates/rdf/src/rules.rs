//! The rules of RDF texts, each with a stable id.

isomorph_error::rules! {
    /// A text that would take more time or memory than its length allows.
    LIMIT "RDF-LIMIT" Error
        "triple terms, XML elements and JSON values nest at most 128 deep, XML elements have at most 256 attributes, strings of JSON-LD 8,000,000 bytes, and entities stand for at most 16 times the text and 1 MiB",
        "split the text, or write it with less nesting";
    /// A statement that was left out because it is broken, when reading leniently.
    SKIPPED "RDF-SKIPPED" Warning
        "every statement of a text can be read", "correct the statement: it was left out, with what cannot be understood without it";
    /// A text that is not a sentence of its syntax.
    SYNTAX "RDF-SYNTAX" Error
        "a text is what the grammar of its syntax says, in UTF-8, with absolute IRIs or a base", "use --lenient, to skip invalid statements where the syntax tells where they end";
}
