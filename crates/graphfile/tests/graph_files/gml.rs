//! GML.

use isomorph_graphfile::gml::Gml;
use isomorph_model::Source;

use crate::{again, found, gml, json, open_as, rule, shown, written};

pub(crate) const LABELLED: &str = "# a comment\nCreator \"me\"\ngraph [ directed 1 multigraph 1 name \"g\" note [ a 1 a 2 ]\n node [ id 0 label \"a \"\n w 1.5 n 9223372036854775808 ]\n node [ id 1 label \"Z&uuml;rich\" w 1 flag 1 flag 2 graphics [ x 1.0 type \"a&amp;b\" ] ]\n edge [ source 0 target 1 key 0 value +INF ]\n edge [ source 0 target 0 value 1.E+300 ]\n]\n";

#[test]
fn labels_are_keys_if_ids_are_positions() {
    let graph = gml(LABELLED).unwrap();
    assert_eq!(
        shown(&graph),
        [
            r#""a " 1.5 9223372036854775808 - -"#,
            r#""Zürich" 1.0 - [1 2] "{\"x\":1.0,\"type\":\"a&b\"}""#,
            "\"a \" \"Zürich\" 0 inf",
            "\"a \" \"a \" - 1e300",
        ]
    );
    assert_eq!(graph.graph().name.as_deref(), Some("g"));
    let back = again(&Gml, Gml::form(true), &graph);
    assert_eq!((shown(&back), &back.graph().documents), (shown(&graph), &graph.graph().documents));
    // The same label twice, other ids, and no label.
    for (nodes, expected) in [
        ("node [ id 0 label \"a\" ] node [ id 1 label \"a\" ]", vec!["0 \"a\"", "1 \"a\""]),
        ("node [ id 1 label \"a\" ] node [ id 2 label \"b\" ]", vec!["1 \"a\"", "2 \"b\""]),
        ("node [ id 0 label \"a\" ] node [ id 1 ]", vec!["0 \"a\"", "1 -"]),
        ("node [ id 0 label 5 ] node [ id 1 label 6 ]", vec!["0 5", "1 6"]),
    ] {
        let graph = gml(&format!("graph [ {nodes} ]")).unwrap();
        assert_eq!(shown(&graph), expected);
        assert_eq!(shown(&again(&Gml, Gml::form(false), &graph)), expected);
    }
}

#[test]
fn texts_of_gml_are_no_json() {
    let mixed = "node [ id 5 p 1 ] node [ id 6 p \"2\" ] node [ id 7 p \"true\" ] node [ id 8 p \"[1]\" ] node [ id 9 p \"hello\" ]";
    let graph = gml(&format!("graph [ {mixed} ]")).unwrap();
    assert_eq!(shown(&graph), [r#"5 "1""#, r#"6 "\"2\"""#, r#"7 "\"true\"""#, r#"8 "\"[1]\"""#, r#"9 "\"hello\"""#]);
    assert!(found(&graph).is_empty());
}

#[test]
fn lists_of_one_element_and_infinities_of_gml() {
    let nodes =
        "node [ id 5 s \"_networkx_list_start\" s \"x\" o [ l \"_networkx_list_start\" l 1 ] ] node [ id 6 s 1 s 2 ]";
    let graph =
        gml(&format!("graph [ {nodes} edge [ source 5 target 6 w -Inf ] edge [ source 6 target 6 w Inf ] ]")).unwrap();
    let expected = [r#"5 "[\"x\"] " "{\"l\":[1]}""#, r#"6 "[1,2] " -"#, "5 6 -inf", "6 6 inf"];
    let text = |lines: Vec<String>| lines.iter().map(|line| line.replace("] \"", "]\"")).collect::<Vec<_>>();
    assert_eq!(text(shown(&graph)), expected.map(|line| line.replace("] \"", "]\"")));
    let single = gml("graph [ node [ id 5 s \"_networkx_list_start\" s \"x\" ] ]").unwrap();
    assert_eq!(shown(&single), [r#"5 ["x"]"#]);
    assert_eq!(shown(&again(&Gml, Gml::form(false), &single)), shown(&single));
    let lines = json(r#"{"nodes": [{"id": 7, "t": "l1\n   l2", "u": 18446744073709551615}], "edges": []}"#).unwrap();
    let bytes = String::from_utf8(written(Gml::form(false), &lines).unwrap()).unwrap();
    assert!(bytes.contains("t \"l1&#10;   l2\"") && bytes.contains("u 18446744073709551615"), "{bytes}");
}

#[test]
fn what_is_no_gml_is_refused() {
    for (text, expected) in [
        ("", "GML-SYNTAX"),
        ("graph", "GML-SYNTAX"),
        ("graph [", "GML-SYNTAX"),
        ("graph [ node [ id 0 ]", "GML-SYNTAX"),
        ("graph [ ] ]", "GML-SYNTAX"),
        ("graph [ node [ id 0 x ] ]", "GML-SYNTAX"),
        ("graph [ node [ id 0 x \"a ] ]", "GML-SYNTAX"),
        ("graph [ node [ id 0 x 1-2 ] ]", "GML-SYNTAX"),
        ("graph [ node [ id 0 id 1 ] ]", "GML-SYNTAX"),
        ("graph [ directed 2 ]", "GML-SYNTAX"),
        ("graph [ node [ ] ]", "GML-ID"),
        ("graph [ node [ id \"a\" ] ]", "GML-ID"),
        ("graph [ node [ id 0 ] edge [ source 0 ] ]", "GML-END"),
        ("graph [ node [ id 0 x 1e999 ] ]", "GML-VALUE"),
        ("graph [ ] graph [ ]", "GML-NESTED"),
        ("graph [ graph [ ] ]", "GML-NESTED"),
        ("graph [ node [ id 0 graph [ ] ] ]", "GML-NESTED"),
    ] {
        assert_eq!(rule(gml(text)), expected, "{text}");
    }
    let deep = format!("graph [ node [ id 0 x {} {} ] ]", "[ x ".repeat(200), "]".repeat(200));
    assert_eq!(rule(gml(&deep)), "GML-LIMIT");
    assert_eq!(
        found(&gml("graph [ node [ id 5 ] node [ id 5 ] edge [ source 5 target 7 ] ]").unwrap()),
        ["GML-END", "GML-ID"]
    );
    assert_eq!(found(&gml("graph [ node [ id 0 label \"a\" ] edge [ source 0 target 1 ] ]").unwrap()), ["GML-END"]);
    let latin = open_as(&Gml, b"graph [ node [ id 3 x \"Z\xfcrich\" ] ]").unwrap();
    assert_eq!(shown(&latin), ["3 \"Zürich\""]);
}
