//! `sample features`: selection, names and values of features.

use serde_json::{Value, json};

use crate::support::Home;

const HEAD: &str =
    "\"src_name\",\"edge_id\",\"rel_name\",\"dst_name\",\"truth\",\"shadow\",\"is_rdf\",\"labels\",\"props\"\n";

/// Returns a NOCK node with members.
fn node(name: &str, labels: &str, props: &Value) -> String {
    format!("\"{name}\",-1,\"\",\"\",1.0,-1,False,\"{labels}\",\"{}\"\n", props.to_string().replace('"', "\"\""))
}

fn edge(from: &str, id: u8, to: &str, props: &Value) -> String {
    format!("\"{from}\",{id},\"r\",\"{to}\",0.5,-1,False,\"\",\"{}\"\n", props.to_string().replace('"', "\"\""))
}

fn rows(home: &Home, question: &[&str]) -> Value {
    home.run(&[&["sample"][..], question, &["--json"]].concat()).exits(0).json()["rows"].clone()
}

/// Node 1 has a feature 0 of one type, node 2 of another; an edge has a feature 1.
fn typed_twice(home: &Home) {
    home.write(
        "me.json",
        "{\"node_id\":1,\"node_type\":9,\"node_weight\":2.5,\"float_feature\":{\"0\":[1.5]},\"edge\":[{\"src_id\":1,\"dst_id\":2,\"edge_type\":0,\"weight\":3.5,\"float_feature\":{\"1\":[8]}}]}\n\
         {\"node_id\":2,\"node_type\":9,\"node_weight\":2.5,\"int32_feature\":{\"0\":[7]},\"edge\":[]}\n",
    );
    home.run(&["convert", "me.json", "binary", "--to", "deepgnn"]).exits(0);
}

/// A number is the name of a feature, not its position among the properties.
#[test]
fn a_feature_is_what_is_called_so() {
    let home = Home::new();
    typed_twice(&home);
    for path in ["me.json", "binary"] {
        let ask = |features: &str| rows(&home, &[path, "features", "1", "2", "--features", features]);
        assert_eq!(ask("0:int32"), json!([{"node": 1, "0:int32": null}, {"node": 2, "0:int32": [7]}]), "{path}");
        let both =
            json!([{"node": 1, "0:float32": [1.5], "0:int32": null}, {"node": 2, "0:float32": null, "0:int32": [7]}]);
        assert_eq!(ask("0:float32,0:int32"), both, "{path}");
        assert_eq!(ask("0:int32:2")[1], json!({"node": 2, "0:int32": [7, 0]}), "{path}");
        let several = home.run(&["sample", path, "features", "1", "--features", "0"]).exits(2);
        assert!(several.err.contains("--features 0:") && several.err.contains("0:int32"), "{}", several.err);
    }
    for wrong in ["1", "3", "q", "1:float32"] {
        let done = home.run(&["sample", "me.json", "features", "1", "--features", wrong]).exits(2);
        assert!(done.err.contains("is not a feature"), "{wrong}: {}", done.err);
    }
}

/// The field with the identity of a row is kept, and features that are hidden are reported.
#[test]
fn fields_do_not_take_the_places_of_others() {
    let home = Home::new();
    let parallel = |weight: u8| edge("a", weight, "b", &json!({"source": weight, "type": "t"}));
    let csv = [HEAD, &node("a", "", &json!({"node": "b"})), &parallel(3), &parallel(4), &node("b", "", &json!({}))];
    home.write("f.csv", csv.concat());
    let nodes = rows(&home, &["f.csv", "features", "a", "b", "--features", "node"]);
    assert_eq!(nodes, json!([{"node": "a", "feature:node": "b"}, {"node": "b", "feature:node": null}]));
    let question = ["sample", "f.csv", "features", "--edge", "a", "b", "r", "--features", "source,type", "--json"];
    let edges = home.run(&question).exits(0).json();
    assert_eq!(edges["parallel"], 1);
    let row = json!({"source": "a", "target": "b", "type": "r", "feature:source": 3, "feature:type": "t"});
    assert_eq!(edges["rows"], json!([row]));
    home.run(&[&question[..9], &["--arrow", "f.arrow"]].concat()).exits(0);
    let file = std::fs::File::open(home.at("f.arrow")).unwrap();
    let schema = arrow_ipc::reader::FileReader::try_new(file, None).unwrap().schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["source", "target", "type", "feature:source", "feature:type"]);
}

/// Members of a bag keep their names, unless a column or the labels have the same name.
#[test]
fn members_are_asked_for_by_their_names() {
    let home = Home::new();
    let props = json!({"labels": "q", "truth": 4, "src_name": "zz", "weight": 3});
    home.write("f.csv", [HEAD, &node("a", "", &props), &edge("a", 0, "a", &json!({"truth": 9}))].concat());
    let ask = |features: &str| rows(&home, &["f.csv", "features", "a", "--features", features])[0].clone();
    let wanted = json!({"node": "a", "labels": "q", "src_name": "zz", "weight": 3, "truth": 1.0, "bag.truth": 4});
    assert_eq!(ask("labels,src_name,weight,truth,bag.truth"), wanted);
    let of_edge = rows(&home, &["f.csv", "features", "--edge", "a", "a", "r", "--features", "bag.truth,truth"]);
    assert_eq!((&of_edge[0]["bag.truth"], &of_edge[0]["truth"]), (&json!(9), &json!(0.5)));
    // If there are labels, they keep the name.
    home.write("l.csv", [HEAD, &node("a", "x", &props)].concat());
    let labels = rows(&home, &["l.csv", "features", "a", "--features", "labels,bag.labels"]);
    assert_eq!(labels, json!([{"node": "a", "labels": "[\"x\"]", "bag.labels": "q"}]));
}

/// A typed feature is read as another type only if the values mean the same.
#[test]
fn typed_values_are_not_taken_for_others() {
    let home = Home::new();
    let csv = [
        HEAD,
        &node("a", "", &json!({"q": -1, "d": 0.1, "t": "text", "l": [1, 2, 300]})),
        &node("b", "", &json!({"q": 5, "d": 0.5})),
    ];
    home.write("f.csv", csv.concat());
    home.run(&["convert", "f.csv", "g", "--to", "graphar"]).exits(0);
    for path in ["f.csv", "g"] {
        let ask = |features: &str| rows(&home, &[path, "features", "a", "b", "--features", features]);
        let column = |features: &str, name: &str| {
            ask(features).as_array().unwrap().iter().map(|row| row[name].clone()).collect::<Vec<_>>()
        };
        assert_eq!(column("q:int8", "q"), [-1, 5], "{path}");
        assert_eq!(column("q:float64", "q"), [-1.0, 5.0], "{path}");
        assert_eq!(column("q:int64:2", "q"), [json!([-1, 0]), json!([5, 0])], "{path}");
        assert_eq!(column("l:int16:4", "l"), [json!([1, 2, 300, 0]), Value::Null], "{path}");
        // Without a number, all values are returned.
        assert_eq!(column("l:int64", "l"), [json!([1, 2, 300]), Value::Null], "{path}");
        assert_eq!(column("l:int64:1", "l"), [json!(1), Value::Null], "{path}");
        for wrong in ["q:uint64", "d:float32", "t:float32", "q:text", "l:uint8:3", "l:sparse-int64"] {
            let done = home.run(&["sample", path, "features", "a", "b", "--features", wrong]).exits(2);
            assert!(done.err.contains("--features"), "{path} {wrong}: {}", done.err);
        }
    }
}

/// An empty text and an empty list are values.
#[test]
fn what_is_empty_is_not_missing() {
    let home = Home::new();
    let csv = [
        HEAD,
        &node("a", "", &json!({"e": "", "l": []})),
        &edge("a", 0, "b", &json!({"e": ""})),
        &node("b", "", &json!({"e": "x", "l": [1.5]})),
        &edge("b", 1, "c", &json!({})),
        &node("c", "", &json!({})),
    ];
    home.write("f.csv", csv.concat());
    let nodes = rows(&home, &["f.csv", "features", "a", "b", "c", "--features", "e,l"]);
    let wanted = [json!({"node": "a", "e": "", "l": []}), json!({"node": "b", "e": "x", "l": [1.5]})];
    assert_eq!(nodes.as_array().unwrap()[..2], wanted);
    assert_eq!(nodes[2], json!({"node": "c", "e": null, "l": null}));
    let edges =
        rows(&home, &["f.csv", "features", "--edge", "a", "b", "r", "--edge", "b", "c", "r", "--features", "e"]);
    assert_eq!((&edges[0]["e"], &edges[1]["e"]), (&json!(""), &Value::Null));
    // A type describes a feature, but does not create it.
    home.write("g.linear", "-1 1 0 1 float32 1 2.5\n-1 2 0 1\n");
    home.run(&["convert", "g.linear", "binary", "--to", "deepgnn", "--lossy"]).exits(0);
    for path in ["g.linear", "binary"] {
        let found = rows(&home, &[path, "features", "1", "2", "--features", "0:float32"]);
        assert_eq!(found, json!([{"node": 1, "0": [2.5]}, {"node": 2, "0": null}]), "{path}");
    }
}

/// The target of an edge is a node, in a binary as in its text; negative keys are keys.
#[test]
fn ends_of_edges_are_nodes() {
    let home = Home::new();
    home.write("g.linear", "-1 1 0 1 1 9 0 1\n-1 2 0 1\n");
    home.run(&["convert", "g.linear", "binary", "--to", "deepgnn"]).exits(0);
    for path in ["g.linear", "binary"] {
        assert_eq!(rows(&home, &[path, "neighbors", "9"]), json!([]), "{path}");
        assert_eq!(rows(&home, &[path, "walk", "9"]), json!([{"node": 9, "walk": []}]), "{path}");
        home.run(&["sample", path, "neighbors", "8"]).exits(3);
    }
    let csv = [HEAD, &node("-1", "", &json!({})), &edge("-1", 0, "-2", &json!({"w": 7})), &node("-2", "", &json!({}))];
    home.write("f.csv", csv.concat());
    let found = rows(&home, &["f.csv", "features", "--edge", "-1", "-2", "r", "--features", "w"]);
    assert_eq!((&found[0]["source"], &found[0]["w"]), (&json!("-1"), &json!(7)));
}

/// All formats draw in the same way; what a binary cannot do in this way is rejected.
#[test]
fn a_node_of_several_statements_has_one_weight() {
    let home = Home::new();
    home.write("a.edgelist", "5,-1,0,1\n7,-1,0,4\n7,-1,0,3\n9,-1,0,3\n");
    home.run(&["convert", "a.edgelist", "binary", "--to", "deepgnn"]).exits(0);
    let drawn = rows(&home, &["a.edgelist", "nodes", "--count", "2000"]);
    let sevens = drawn.as_array().unwrap().iter().filter(|row| row["node"] == 7).count();
    assert!(sevens.abs_diff(1000) < 120, "{sevens}");
    let refused = home.run(&["sample", "binary", "nodes"]).exits(3);
    assert!(refused.err.contains("node 7 has several statements"), "{}", refused.err);
    home.run(&["sample", "binary", "nodes", "--generator", "deepgnn"]).exits(0);
    home.run(&["sample", "binary", "nodes", "--strategy", "uniform"]).exits(0);
    // As the hint suggests.
    home.run(&["convert", "binary", "once", "--to", "deepgnn"]).exits(0);
    let drawn = rows(&home, &["once", "nodes", "--count", "2000"]);
    let sevens = drawn.as_array().unwrap().iter().filter(|row| row["node"] == 7).count();
    assert!(sevens.abs_diff(1000) < 120, "{sevens}");
}

/// A removal time of 0 is the time of the node, as in the published converter.
#[test]
fn an_edge_that_is_removed_at_0_lives_as_its_node() {
    let home = Home::new();
    let line = |removed: &str| {
        format!(
            "{{\"node_id\":1,\"node_type\":0,\"node_weight\":1,\"created_at\":1{removed},\"edge\":[{{\"src_id\":1,\"dst_id\":2,\"edge_type\":0,\"weight\":1,\"created_at\":5,\"removed_at\":0}}]}}\n{{\"node_id\":2,\"node_type\":0,\"node_weight\":1,\"created_at\":1,\"edge\":[]}}\n"
        )
    };
    for (removed, count) in [("", 1), (",\"removed_at\":20", 1), (",\"removed_at\":8", 0)] {
        home.write("t.json", line(removed));
        home.run(&["convert", "t.json", "binary", "--to", "deepgnn", "--watermark", "30", "--replace"]).exits(0);
        for path in ["t.json", "binary"] {
            let found = rows(&home, &[path, "neighbors", "1", "--strategy", "all", "--timestamp", "10"]);
            assert_eq!(found.as_array().unwrap().len(), count, "{path} {removed}");
        }
        assert_eq!(home.run(&["diff", "t.json", "binary"]).code, 0);
    }
    home.write("t.edgelist", "1,-1,0,1,1,-1\n1,0,2,1,5,0\n2,-1,0,1,1,-1\n");
    let question = ["t.edgelist", "neighbors", "1", "--strategy", "all", "--timestamp", "10", "--temporal"];
    assert_eq!(rows(&home, &question).as_array().unwrap().len(), 1);
}

/// A type without a number means all numbers of a feature, whatever else the graph has under its id, in every format.
#[test]
fn a_type_without_a_number_cuts_nothing() {
    let home = Home::new();
    let line = |feature: &str| {
        let edge = |of: &str| format!("{{\"src_id\":1,\"dst_id\":0,\"edge_type\":0,\"weight\":1,{of}}}");
        let first = "\"float_feature\":{\"0\":[1.5,2,3]}";
        let node = |id: u8, of: &str, edges: &str| {
            format!("{{\"node_id\":{id},\"node_type\":0,\"node_weight\":1,{of},\"edge\":[{edges}]}}\n")
        };
        node(0, first, "") + &node(1, feature, &edge(first))
    };
    home.write("one.json", line("\"float_feature\":{\"0\":[4,5]}"));
    home.write("two.json", line("\"int64_feature\":{\"0\":[4,5]}"));
    for (text, key) in [("one", "0"), ("two", "0:float32")] {
        let file = format!("{text}.json");
        for to in ["deepgnn", "graphar", "nock"] {
            home.run(&["convert", &file, &format!("{text}.{to}"), "--to", to]).exits(0);
        }
        for path in [file.clone(), format!("{text}.deepgnn"), format!("{text}.graphar"), format!("{text}.nock")] {
            let found = rows(&home, &[&path, "features", "0", "--features", "0:float32"]);
            assert_eq!(found[0][key], json!([1.5, 2.0, 3.0]), "{path}: {found}");
            let found = rows(&home, &[&path, "features", "--edge", "1", "0", "0", "--features", "0:float32"]);
            assert_eq!(found[0]["0"], json!([1.5, 2.0, 3.0]), "{path}: {found}");
        }
    }
    // The same in a binary without a sidecar.
    let bare = ["one.deepgnn", "features", "0", "--sidecar", "ignore", "--features", "0:float32"];
    assert_eq!(rows(&home, &bare)[0]["0"], json!([1.5, 2.0, 3.0]));
}

/// Bytes of values at times are not numbers, in a binary as in its source.
#[test]
fn values_at_times_are_no_numbers() {
    let home = Home::new();
    let values = "[{\"created_at\":1,\"values\":[1,2]},{\"created_at\":5,\"values\":[3]}]";
    let line = format!(
        "{{\"node_id\":0,\"node_type\":0,\"node_weight\":1,\"float_feature\":{{\"0\":{values}}},\"edge\":[]}}\n"
    );
    home.write("t.json", line);
    home.run(&["convert", "t.json", "t.bin", "--to", "deepgnn", "--watermark", "9"]).exits(0);
    home.run(&["convert", "t.json", "t.gar", "--to", "graphar"]).exits(0);
    for path in ["t.json", "t.gar", "t.bin"] {
        for features in ["0", "0:float32", "0:float32:2", "0:text"] {
            let done = home.run(&["sample", path, "features", "0", "--features", features]).exits(2);
            assert!(done.err.contains("--features 0:float32-at-times"), "{path} {features}: {}", done.err);
        }
        let found = rows(&home, &[path, "features", "0", "--features", "0:float32-at-times"]);
        assert!(found.to_string().contains("\"0200000001"), "{path}: {found}");
    }
    // With bytes only, the type must be stated.
    home.run(&["sample", "t.bin", "features", "0", "--sidecar", "ignore", "--features", "0:raw"]).exits(0);
}
