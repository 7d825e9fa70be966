//! JSON Graph Format.

use isomorph_graphfile::jgf::Jgf;
use isomorph_model::{Direction, Source};

use crate::{again, open_as, rule, shown};

#[test]
fn jgf_of_both_versions() {
    let two = r#"{"graph": {"directed": true, "label": "g", "type": "t", "metadata": {"n": 1}, "nodes": {"a": {"label": "A", "metadata": {"w": 1.5, "label": "own"}}, "b": {}},
        "edges": [{"id": "e", "source": "a", "target": "b", "relation": "knows", "metadata": {"since": 2020}}, {"source": "b", "target": "b", "directed": false}]}}"#;
    let graph = open_as(&Jgf, two.as_bytes()).unwrap();
    assert_eq!(
        shown(&graph),
        ["\"a\" \"A\" 1.5 \"own\"", "\"b\" - - -", "\"a\" \"b\" \"e\" \"knows\" 2020", "\"b\" \"b\" - - -"]
    );
    assert_eq!((graph.graph().name.as_deref(), graph.graph().edges[0].direction), (Some("g"), Direction::PerRow));
    let back = again(&Jgf, Jgf::form(), &graph);
    assert_eq!((shown(&back), back.graph()), (shown(&graph), graph.graph()));
    let one =
        r#"{"graphs": [{"nodes": [{"id": "a", "metadata": {"w": 1}}], "edges": [{"source": "a", "target": "a"}]}]}"#;
    assert_eq!(shown(&open_as(&Jgf, one.as_bytes()).unwrap()), ["\"a\" 1", "\"a\" \"a\""]);
    for (text, expected) in [
        (r#"{"graphs": [{}, {}]}"#, "JGF-NESTED"),
        (r#"{"graph": {"hyperedges": [{"nodes": ["a"]}]}}"#, "JGF-NESTED"),
        (r#"{"graph": {"nodes": 5}}"#, "JGF-SYNTAX"),
        (r#"{}"#, "JGF-SYNTAX"),
        (r#"{"graph": {"nodes": [{"x": 1}]}}"#, "JGF-ID"),
        (r#"{"graph": {"edges": [{"source": "a"}]}}"#, "JGF-END"),
        (r#"{"graph": {"edges": [{"source": "a", "target": "a", "directed": 1}]}}"#, "JGF-SYNTAX"),
    ] {
        assert_eq!(rule(open_as(&Jgf, text.as_bytes())), expected, "{text}");
    }
}
