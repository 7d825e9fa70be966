//! Answers that are graphs: sets of triples.

use crate::common::rows;

const QUADS: &str = "_:x <http://e/p> <http://e/a> .
_:x <http://e/p> <http://e/b> .
<http://e/s> <http://e/p> <http://e/a> .
<http://e/s> <http://e/p> <http://e/b> .
<http://e/t> <http://e/q> _:x .
<http://e/t> <http://e/r> _:x .
";

#[test]
fn a_triple_is_in_a_graph_once() {
    for (query, expected) in [
        // With a blank node of the data as its subject, its object, and inside of a triple term.
        ("CONSTRUCT { ?s <http://e/is> 'k' } { ?s <http://e/p> ?o }", 2),
        ("CONSTRUCT { <http://e/u> <http://e/has> ?o } { <http://e/t> ?p ?o }", 1),
        ("CONSTRUCT { <http://e/u> <http://e/says> <<( ?s <http://e/is> 'k' )>> } { ?s <http://e/p> ?o }", 2),
        // Each solution has a blank node of its own.
        ("CONSTRUCT { [] <http://e/is> ?s } { ?s <http://e/p> ?o }", 4),
        ("DESCRIBE <http://e/t> <http://e/s>", 6),
    ] {
        assert_eq!(rows(query, QUADS).len(), expected, "{query}");
    }
}
