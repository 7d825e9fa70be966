//! `sample`: nodes, edges, neighbours, walks, features.

use serde_json::{Value, json};

use crate::support::{Home, assert_screen, fixture, social};

const KARATE: &str = "deepgnn/karate/bin_linear_p3";

fn column(document: &Value, name: &str) -> Vec<Value> {
    document["rows"].as_array().unwrap().iter().map(|row| row[name].clone()).collect()
}

#[test]
fn a_binary_is_sampled_where_it_lies() {
    let binary = fixture(KARATE);
    let home = Home::new();
    let done = home.run(&["sample", &binary, "neighbors", "0", "5", "--count", "3", "--seed", "7"]).exits(0);
    assert_screen("sample_neighbors", &done.out);
    let done = home.run(&["sample", &binary, "walk", "0", "33", "--length", "4"]).exits(0);
    assert_screen("sample_walk", &done.out);
    let done =
        home.run(&["sample", &binary, "features", "1", "2", "--features", "0:float32:2,1:int64,2:text"]).exits(0);
    assert_screen("sample_features", &done.out);
    // Copies of the files, or other numbers of threads, give the same result.
    for more in [&["--copy"][..], &["--threads", "1"]] {
        let again = home.run(&[&["sample", &binary, "walk", "0", "33", "--length", "4"][..], more].concat()).exits(0);
        assert_eq!(again.out, home.run(&["sample", &binary, "walk", "0", "33", "--length", "4"]).out);
    }
}

#[test]
fn a_seed_gives_what_it_gives_in_the_published_engine() {
    let binary = fixture(KARATE);
    let expected = fixture("deepgnn/karate/bin_linear_p3.expected.json");
    let expected: Value = serde_json::from_slice(&std::fs::read(expected).unwrap()).unwrap();
    let asked = &expected["seeded"]["seed_42"];
    let arguments = ["--count", "12", "--seed", "42", "--generator", "deepgnn", "--json"];
    let home = Home::new();
    let nodes = home.run(&[&["sample", &binary, "nodes"][..], &arguments].concat()).exits(0).json();
    assert_eq!(Value::from(column(&nodes, "node")), asked["node_sampler_weighted_12"][0]);
    let edges = home.run(&[&["sample", &binary, "edges"][..], &arguments].concat()).exits(0).json();
    assert_eq!(Value::from(column(&edges, "source")), asked["edge_sampler_weighted_12"][0]);
    assert_eq!(Value::from(column(&edges, "target")), asked["edge_sampler_weighted_12"][1]);
}

#[test]
fn any_other_graph_is_read_first() {
    let home = Home::with_people();
    let all = home.run(&["sample", "people.csv", "neighbors", "ada", "--strategy", "all", "--json"]).exits(0).json();
    assert_eq!(column(&all, "neighbor"), ["charles", "mary"]);
    assert_eq!(column(&all, "type"), ["knows", "admires"]);
    let knows = ["sample", "people.csv", "neighbors", "ada", "--types", "knows", "--count", "4", "--json"];
    assert_eq!(column(&home.run(&knows).exits(0).json(), "neighbor"), ["charles"; 4]);
    let nodes = ["sample", "people.csv", "nodes", "--strategy", "without-replacement", "--json"];
    let mut nodes = column(&home.run(&nodes).exits(0).json(), "node");
    nodes.sort_by_key(Value::to_string);
    assert_eq!(nodes, ["ada", "charles", "mary"]);
    let done = home.run(&["sample", "people.csv", "neighbors", "eve"]).exits(3);
    assert!(done.err.contains("there is no node \"eve\""), "{}", done.err);
    let social = social();
    let walk = ["sample", &social, "walk", "1000", "--type", "person", "--length", "3", "--json"];
    let walk = home.run(&walk).exits(0).json();
    assert!(!walk["rows"][0]["walk"].as_array().unwrap().is_empty(), "{walk}");
}

#[test]
fn a_text_and_its_binary_give_the_same_samples() {
    let text = fixture("deepgnn/karate/graph.tsv");
    let binary = fixture(KARATE);
    let home = Home::new();
    for question in [
        &["neighbors", "0", "1", "2", "--count", "5"][..],
        &["neighbors", "0", "33", "--strategy", "without-replacement", "--count", "4"],
        &["neighbors", "3", "--strategy", "top"],
        &["neighbors", "3", "--strategy", "pagerank"],
        &["walk", "0", "16", "-q", "0.5"],
    ] {
        let ask = |path: &str| home.run(&[&["sample", path][..], question, &["--json"]].concat()).exits(0).json();
        assert_eq!(ask(&text)["rows"], ask(&binary)["rows"], "{question:?}");
    }
}

#[test]
fn arrow_is_written_once() {
    let binary = fixture(KARATE);
    let home = Home::new();
    let ask = ["sample", &binary, "nodes", "--count", "4", "--arrow", "nodes.arrow", "--json"];
    let document = home.run(&ask).exits(0).json();
    assert_eq!((&document["rows"], &document["wrote"]), (&json!(4), &json!("nodes.arrow")));
    let file = std::fs::read(home.at("nodes.arrow")).unwrap();
    assert!(file.starts_with(b"ARROW1") && file.ends_with(b"ARROW1"));
    home.run(&ask).exits(2);
}

/// Arrow files have the same content as the screen and JSON, for every subcommand.
#[test]
fn arrow_has_what_json_has() {
    let home = Home::new();
    let lines = "\
        {\"node_id\": 1, \"node_type\": 0, \"node_weight\": 2, \"float_feature\": {\"0\": [0.5, 2]}, \"sparse_int64_feature\": {\"1\": {\"coordinates\": [[0, 3], [1, 4]], \"values\": [7, 8]}}, \"edge\": [{\"src_id\": 1, \"dst_id\": 2, \"edge_type\": 0, \"weight\": 1, \"binary_feature\": {\"1\": \"first\"}}]}\n\
        {\"node_id\": 2, \"node_type\": 0, \"node_weight\": 1, \"binary_feature\": {\"2\": \"two\"}, \"edge\": [{\"src_id\": 2, \"dst_id\": 1, \"edge_type\": 0, \"weight\": 1, \"int16_feature\": {\"0\": [3, 4, 5]}}]}\n";
    std::fs::write(home.at("graph.json"), lines).unwrap();
    for (number, question) in [
        &["nodes", "--count", "5"][..],
        &["edges", "--count", "5"],
        &["neighbors", "1", "2", "--count", "3"],
        &["neighbors", "1", "--strategy", "pagerank"],
        &["neighbors", "2", "--strategy", "all"],
        &["walk", "1", "2"],
        &["features", "1", "2", "--features", "0,1,2"],
        &["features", "--edge", "1", "2", "0", "--edge", "2", "1", "0", "--features", "0,1"],
    ]
    .into_iter()
    .enumerate()
    {
        let (file, asked) = (format!("{number}.arrow"), [&["sample", "graph.json"][..], question].concat());
        let shown = home.run(&[&asked[..], &["--json"]].concat()).exits(0).json();
        let wrote = home.run(&[&asked[..], &["--arrow", &file, "--json"]].concat()).exits(0).json();
        let reader =
            arrow_ipc::reader::FileReader::try_new(std::fs::File::open(home.at(&file)).unwrap(), None).unwrap();
        let batches: Vec<_> = reader.map(Result::unwrap).collect();
        let [batch] = batches.as_slice() else { panic!("{} batches", batches.len()) };
        assert_eq!(Value::from(batch.num_rows()), wrote["rows"], "{question:?}");
        assert_eq!(shown["rows"].as_array().unwrap().len(), batch.num_rows());
        let mut cells = 0;
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let options = arrow_cast::display::FormatOptions::default().with_null("null");
            let text = arrow_cast::display::ArrayFormatter::try_new(column.as_ref(), &options).unwrap();
            for row in 0..batch.num_rows() {
                // Arrow's text has no quotes, and JSON writes whole floats with a point: compare the meaning.
                let plain = |text: String| text.replace(['"', ' '], "").replace(".0", "");
                let wanted = plain(shown["rows"][row][field.name()].to_string());
                assert_eq!(plain(text.value(row).to_string()), wanted, "{question:?} {}", field.name());
                cells += 1;
            }
        }
        assert!(cells >= 2, "{question:?}");
    }
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let binary = fixture(KARATE);
    let home = Home::new();
    for (question, says) in [
        (&["neighbors", "zero"][..], "is not a node id"),
        (&["nodes", "--types", "person"], "there is no type"),
        (&["nodes", "--types", "9"], "there is no type \"9\""),
        (&["edges", "--types", "0,9"], "there is no type \"9\""),
        (&["neighbors", "0", "--types=-1"], "there is no type \"-1\""),
        (&["walk", "0", "-p", "0"], "must be above 0"),
        (&["features", "0", "--features", "0:float32:2:1"], "is not a feature"),
        (&["nodes", "--generator", "dice"], "is not a generator"),
    ] {
        let done = home.run(&[&["sample", &binary][..], question].concat()).exits(2);
        assert!(done.err.contains(says), "{question:?}: {}", done.err);
    }
    home.run(&["sample", "nothing", "nodes"]).exits(3);
}

#[test]
fn features_are_what_the_graph_says() {
    let home = Home::new();
    let lines = "\
        {\"node_id\": 1, \"node_type\": 0, \"node_weight\": 2, \"float_feature\": {\"0\": [0.5, 2]}, \"sparse_int64_feature\": {\"1\": {\"coordinates\": [[0, 3], [1, 4]], \"values\": [7, 8]}}, \"edge\": [{\"src_id\": 1, \"dst_id\": 2, \"edge_type\": 0, \"weight\": 1, \"binary_feature\": {\"1\": \"first\"}}]}\n\
        {\"node_id\": 2, \"node_type\": 0, \"node_weight\": 1, \"binary_feature\": {\"2\": \"two\"}, \"edge\": [{\"src_id\": 2, \"dst_id\": 1, \"edge_type\": 0, \"weight\": 1, \"int16_feature\": {\"0\": [3, 4, 5]}}]}\n";
    std::fs::write(home.at("graph.json"), lines).unwrap();
    home.run(&["convert", "graph.json", "binary", "--to", "deepgnn"]).exits(0);
    for path in ["graph.json", "binary"] {
        let nodes = home.run(&["sample", path, "features", "1", "2", "--features", "0,1,2", "--json"]).exits(0).json();
        assert_eq!(column(&nodes, "0"), [json!([0.5, 2.0]), Value::Null], "{path}");
        let sparse = json!({"coordinates": [[0, 3], [1, 4]], "values": [7, 8]});
        assert_eq!(column(&nodes, "1"), [sparse, Value::Null], "{path}");
        assert_eq!(column(&nodes, "2"), [Value::Null, json!("two")], "{path}");
        let edges = [
            "sample",
            path,
            "features",
            "--edge",
            "1",
            "2",
            "0",
            "--edge",
            "2",
            "1",
            "0",
            "--features",
            "0,1",
            "--json",
        ];
        let edges = home.run(&edges).exits(0).json();
        assert_eq!(column(&edges, "source"), [1, 2], "{path}");
        assert_eq!(column(&edges, "0"), [Value::Null, json!([3, 4, 5])], "{path}");
        assert_eq!(column(&edges, "1"), [json!("first"), Value::Null], "{path}");
        let table = home.run(&["sample", path, "features", "1", "--features", "1,0:float32:3"]).exits(0).out;
        assert!(table.contains("[0.5, 2.0, 0.0]") && table.contains("values: [7, 8]"), "{table}");
    }
    // Without its sidecar, a binary has no types.
    let raw = ["sample", "binary", "features", "1", "--features", "0,1:sparse-int64", "--sidecar", "ignore", "--json"];
    let raw = home.run(&raw).exits(0).json();
    assert_eq!(column(&raw, "0"), ["0000003f00000040"]);
    assert_eq!(column(&raw, "1"), [json!({"coordinates": [[0, 3], [1, 4]], "values": [7, 8]})]);
    home.run(&["sample", "binary", "features", "--features", "0"]).exits(2);
    home.run(&["sample", "binary", "features", "1", "--edge", "1", "2", "0", "--features", "0"]).exits(2);
}

#[test]
fn hyperedges_are_taken_as_asked() {
    let home = Home::new();
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/graphs/layers.annnet");
    let ask = |how: &[&str]| {
        home.run(&[&["sample", path, "neighbors", "--strategy", "all", "--json"], how, &["--", "-1"]].concat())
    };
    let refused = ask(&[]).exits(3);
    assert!(refused.err.contains("hyperedges of type") && refused.err.contains("--hyperedges"), "{}", refused.err);
    let of = |how: &str| {
        let mut found = column(&ask(&["--hyperedges", how]).exits(0).json(), "neighbor");
        found.sort_by_key(Value::to_string);
        found
    };
    assert_eq!(of("skip"), ["é"]);
    assert_eq!(of("expand"), ["", "id 3", "é"]);
}

/// An unknown node is an error in every format and every subcommand that names it.
#[test]
fn an_unknown_node_is_an_error_in_every_format() {
    let home = Home::new();
    std::fs::write(home.at("graph.tsv"), "1\t0\t1\tf:1\t2,0,1|9,0,1\n2\t0\t2\tf:2\t1,0,1\n").unwrap();
    for format in ["deepgnn", "nock", "annnet", "graphar"] {
        home.run(&["convert", "graph.tsv", &format!("in.{format}"), "--to", format]).exits(0);
    }
    for path in ["graph.tsv", "in.deepgnn", "in.nock", "in.annnet", "in.graphar"] {
        for question in [
            &["neighbors", "7"][..],
            &["neighbors", "1", "7", "--strategy", "all"],
            &["neighbors", "7", "--strategy", "pagerank"],
            &["walk", "7"],
            &["features", "7", "--features", "0"],
            &["features", "--edge", "7", "1", "0", "--features", "0"],
        ] {
            let done = home.run(&[&["sample", path][..], question].concat()).exits(3);
            assert!(done.err.contains("there is no node 7"), "{path} {question:?}: {}", done.err);
        }
        let known = home.run(&["sample", path, "neighbors", "1", "--strategy", "all", "--json"]).exits(0).json();
        assert_eq!((column(&known, "node"), column(&known, "neighbor")), (vec![json!(1); 2], vec![json!(2), json!(9)]));
        let walk = home.run(&["sample", path, "walk", "2", "--length", "1", "--json"]).exits(0).json();
        assert_eq!((column(&walk, "node"), column(&walk, "walk")), (vec![json!(2)], vec![json!([1])]), "{path}");
    }
    for wrong in ["-5", "18446744073709551616"] {
        home.run(&["sample", "in.deepgnn", "neighbors", "--", wrong]).exits(3);
    }
}

/// A binary whose sidecar states keys and types is queried by these, not by its ids.
#[test]
fn a_binary_beside_a_sidecar_is_asked_by_its_keys_and_types() {
    let home = Home::new();
    let social = social();
    home.run(&["convert", &social, "binary", "--to", "deepgnn"]).exits(0);
    let all = |path: &str| {
        let asked = ["sample", path, "neighbors", "1007", "--type", "person", "--strategy", "all", "--json"];
        let shown = home.run(&asked).exits(0).json();
        let mut neighbors: Vec<String> = column(&shown, "neighbor").iter().map(ToString::to_string).collect();
        neighbors.sort();
        neighbors
    };
    assert!(!all(&social).is_empty());
    assert_eq!(all(&social), all("binary"));
    let post = ["sample", "binary", "neighbors", "1", "--type", "post", "--strategy", "all"];
    home.run(&post).exits(3);
    let cities = |path: &str| {
        let drawn = home.run(&["sample", path, "nodes", "--type", "city", "--count", "7", "--json"]).exits(0).json();
        column(&drawn, "node")
    };
    assert!(cities("binary").iter().all(|city| city.is_string()));
}

/// Ids of a binary are unsigned; where its sidecar says that keys are signed, they are asked and shown as such.
#[test]
fn negative_keys_of_a_binary_are_negative() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("tables")).unwrap();
    std::fs::write(home.path().join("tables/nodes.csv"), "id\n-5\n3\n1\n").unwrap();
    std::fs::write(home.path().join("tables/edges.csv"), "source,target\n-5,3\n3,1\n1,-5\n").unwrap();
    home.run(&["convert", "tables", "binary", "--to", "deepgnn"]).exits(0);
    for (node, neighbor) in [("1", -5), ("-5", 3)] {
        for path in ["tables", "binary"] {
            let shown = home.run(&["sample", path, "neighbors", "--count", "1", "--json", "--", node]).exits(0).json();
            assert_eq!(column(&shown, "neighbor"), [json!(neighbor)], "{path} {node}");
        }
    }
    home.run(&["sample", "binary", "neighbors", "--count", "1", "--", "18446744073709551611"]).exits(3);
}

/// Dates and times are printed as such, not as bytes; keys keep their type; an invalid weight is an error.
#[test]
fn values_and_keys_keep_their_types() {
    let home = Home::new();
    let social = social();
    let birthday = ["sample", &social, "features", "1000", "--type", "person", "--features", "birthday", "--json"];
    let shown = column(&home.run(&birthday).exits(0).json(), "birthday");
    let text = shown[0].as_str().unwrap_or_else(|| panic!("{shown:?}"));
    assert!(text.len() >= 10 && text.as_bytes()[4] == b'-' && text.as_bytes()[7] == b'-', "{text}");
    let table = ["sample", &social, "features", "1000", "--type", "person", "--features", "birthday"];
    assert!(home.run(&table).exits(0).out.contains(text));
    // Several node types, all with integer keys.
    let nodes = home.run(&["sample", &social, "neighbors", "1000", "--type", "person", "--json"]).exits(0).json();
    assert!(column(&nodes, "node").iter().all(|node| node == 1000), "{nodes}");
    assert!(column(&nodes, "neighbor").iter().all(Value::is_number), "{nodes}");
    // Nodes of two types can have the same key: the type tells them apart.
    let types = ["person", "city", "post"];
    let named = |ty: &Value| ty.as_str().is_some_and(|ty| types.contains(&ty));
    assert!(column(&nodes, "node_type").iter().all(|ty| ty == "person"), "{nodes}");
    assert!(column(&nodes, "neighbor_type").iter().all(named), "{nodes}");
    let edges = home.run(&["sample", &social, "edges", "--json"]).exits(0).json();
    assert!(column(&edges, "source_type").iter().chain(&column(&edges, "target_type")).all(named), "{edges}");
    let walk = home.run(&["sample", &social, "walk", "1000", "--type", "person", "--json"]).exits(0).json();
    assert!(column(&walk, "walk")[0].as_array().unwrap().iter().all(Value::is_number), "{walk}");
    assert!(column(&walk, "walk_types")[0].as_array().unwrap().iter().all(named), "{walk}");
}

/// A flag is applied, or rejected with a reason, never ignored.
#[test]
fn no_flag_is_passed_over() {
    let home = Home::with_people();
    let (social, binary) = (social(), fixture(KARATE));
    for ty in ["person", "city"] {
        let nodes = home.run(&["sample", &social, "nodes", "--type", ty, "--count", "30", "--json"]).exits(0).json();
        assert_eq!(column(&nodes, "type"), vec![json!(ty); 30]);
    }
    // A type is a node type, whatever types its rows have.
    home.run(&["sample", &binary, "nodes", "--type", "node"]).exits(0);
    home.run(&["sample", &binary, "neighbors", "0", "--type", "node"]).exits(0);
    for (path, question, says) in [
        (social.as_str(), &["nodes", "--type", "persn"][..], "there is no node type \"persn\""),
        (&social, &["nodes", "--type", "person", "--types", "person"], "--type and --types"),
        (&social, &["edges", "--type", "person"], "--type selects node types"),
        (&social, &["neighbors", "1000", "--type", "persn"], "there is no node type \"persn\""),
        (&binary, &["nodes", "--type", "person"], "there is no node type \"person\""),
        (&binary, &["neighbors", "0", "--type", "person"], "there is no node type \"person\""),
        (&binary, &["features", "0", "--type", "person", "--features", "0"], "there is no node type \"person\""),
        ("people.csv", &["walk", "ada", "--type", "person"], "there is no node type \"person\""),
        (&binary, &["neighbors", "0", "--strategy", "all", "--count", "3"], "--strategy all lists every neighbour"),
        (&binary, &["neighbors", "0", "--timestamp", "3"], "have no times"),
        (&binary, &["walk", "0", "--timestamp", "3"], "have no times"),
    ] {
        let done = home.run(&[&["sample", path][..], question].concat()).exits(2);
        assert!(done.err.contains(says), "{path} {question:?}: {}", done.err);
    }
}

/// A number that is not a type is rejected like an unknown name; a type without elements is valid.
#[test]
fn a_type_is_one_of_the_graph() {
    let home = Home::new();
    home.write("u.edgelist", "0,-1,0,1\n1,-1,2,1\n0,2,1,1\n");
    home.run(&["convert", "u.edgelist", "u.bin", "--to", "deepgnn"]).exits(0);
    home.run(&["convert", "u.edgelist", "u.gar", "--to", "graphar"]).exits(0);
    let social = social();
    for path in ["u.edgelist", "u.bin", "u.gar"] {
        for question in [&["nodes"][..], &["edges"], &["neighbors", "0"], &["walk", "0"]] {
            let ask = |types: &str| home.run(&[&["sample", path][..], question, &["--types", types]].concat());
            ask("1").exits(0);
            ask("2").exits(0);
            for wrong in ["3", "9", "foo"] {
                let done = ask(wrong).exits(2);
                assert!(done.err.contains("from 0 to 2") || done.err.contains("0, 1, 2"), "{path}: {}", done.err);
            }
        }
    }
    home.run(&["sample", &social, "nodes", "--types", "0"]).exits(0);
    home.run(&["sample", &social, "nodes", "--types", "99"]).exits(2);
}
