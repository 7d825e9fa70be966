//! `sample`: weights and times, however a graph stores them.

use serde_json::{Value, json};

use crate::support::{Home, fixture};

fn column(document: &Value, name: &str) -> Vec<Value> {
    document["rows"].as_array().unwrap().iter().map(|row| row[name].clone()).collect()
}

/// Creates a GraphAr graph of CSV: four vertices, and for each edge type edges from the first to the others with
/// `values` of a property.
fn star(home: &Home, edges: &[(&str, &str, &str, [&str; 3])]) {
    let write = |name: &str, content: &[u8]| {
        std::fs::create_dir_all(home.at(name).parent().unwrap()).unwrap();
        home.write(name, content);
    };
    let count = |count: i64| count.to_le_bytes();
    write("g/vertex/p/vertex_count", &count(4));
    write("g/vertex/p/g/chunk0", b"id\n0\n1\n2\n3\n");
    write(
        "g/p.vertex.yml",
        b"type: p\nchunk_size: 10\nprefix: vertex/p/\nproperty_groups:\n  - prefix: g/\n    file_type: csv\n    properties:\n      - name: id\n        data_type: int64\n        is_primary: true\n        is_nullable: false\nversion: gar/v1\n",
    );
    let mut graph = "name: g\nvertices:\n  - p.vertex.yml\nedges:\n".to_owned();
    for (name, property, data_type, values) in edges {
        let of = |rest: &str| format!("g/edge/{name}/o/{rest}");
        write(&of("vertex_count"), &count(4));
        write(&of("edge_count0"), &count(3));
        write(&of("adj_list/part0/chunk0"), b"_graphArSrcIndex,_graphArDstIndex\n0,1\n0,2\n0,3\n");
        let offsets = std::iter::once("_graphArOffset\n0\n").chain([3; 10].iter().map(|_| "3\n")).collect::<String>();
        write(&of("offset/chunk0"), offsets.as_bytes());
        write(&of("w/part0/chunk0"), format!("{property}\n{}\n", values.join("\n")).as_bytes());
        let yml = format!(
            "src_type: p\nedge_type: {name}\ndst_type: p\nchunk_size: 100\nsrc_chunk_size: 10\ndst_chunk_size: 10\ndirected: true\nprefix: edge/{name}/\nadj_lists:\n  - ordered: true\n    aligned_by: src\n    prefix: o/\n    file_type: csv\nproperty_groups:\n  - prefix: w/\n    file_type: csv\n    properties:\n      - name: {property}\n        data_type: {data_type}\n        is_primary: false\n        is_nullable: true\nversion: gar/v1\n"
        );
        write(&format!("g/{name}.edge.yml"), yml.as_bytes());
        graph.push_str(&format!("  - {name}.edge.yml\n"));
    }
    graph.push_str("version: gar/v1\n");
    write("g/g.graph.yml", graph.as_bytes());
}

#[test]
fn times_of_several_units_are_moments() {
    let home = Home::new();
    star(
        &home,
        &[
            ("k", "created_at", "timestamp", ["2024-01-01 00:00:00", "2020-01-01 00:00:00", "2021-01-01 00:00:00"]),
            ("l", "created_at", "date", ["2022-06-01", "2019-01-01", "2025-01-01"]),
        ],
    );
    let last = home.run(&["sample", "g", "neighbors", "0", "--strategy", "last", "--count", "3", "--json"]).exits(0);
    let last = last.json();
    assert_eq!(column(&last, "type"), ["l", "k", "l"]);
    assert_eq!(column(&last, "created_at"), ["2025-01-01T00:00:00", "2024-01-01T00:00:00", "2022-06-01T00:00:00"]);
    let at =
        |time: &str| home.run(&["sample", "g", "neighbors", "0", "--strategy", "all", "--timestamp", time, "--json"]);
    for (time, count) in
        [("2022-01-01", 3), ("2024-01-01T01:00:00+02:00", 4), ("2024-01-01T00:00:00Z", 5), ("1999-12-31", 0)]
    {
        assert_eq!(at(time).exits(0).json()["rows"].as_array().unwrap().len(), count, "{time}");
    }
    let refused = at("1640995200000").exits(2);
    assert!(refused.err.contains("several units") && refused.err.contains("T12:00:00Z"), "{}", refused.err);
    assert!(at("yesterday").exits(2).err.contains("\\\"yesterday\\\" is not a time"));
}

#[test]
fn days_are_times_and_texts_are_none() {
    let home = Home::new();
    star(&home, &[("k", "created_at", "date", ["1970-01-02", "1970-01-04", "1970-01-03"])]);
    let last = ["sample", "g", "neighbors", "0", "--strategy", "last", "--count", "1"];
    let json = home.run(&[&last[..], &["--json"]].concat()).exits(0).json();
    assert_eq!(
        json["rows"],
        json!([{"node": 0, "neighbor": 2, "weight": 1.0, "type": "k", "created_at": "1970-01-04"}])
    );
    // With a single unit, a number is in that unit.
    for (time, count) in [("1", 1), ("1970-01-03T23:00:00", 2), ("3", 3)] {
        let at = ["sample", "g", "neighbors", "0", "--strategy", "all", "--timestamp", time, "--json"];
        assert_eq!(home.run(&at).exits(0).json()["rows"].as_array().unwrap().len(), count, "{time}");
    }
    // A copy as a binary has no times.
    home.run(&["convert", "g", "binary", "--to", "deepgnn"]).exits(0);
    let refused = home.run(&["sample", "binary", "neighbors", "0", "--strategy", "last"]).exits(2);
    assert!(refused.err.contains("edges of this graph have no times"), "{}", refused.err);
    let home = Home::new();
    star(&home, &[("k", "created_at", "string", ["2020-01-01", "2022-01-01", "2021-01-01"])]);
    for question in [&last[..], &["sample", "g", "neighbors", "0", "--timestamp", "2020-01-01"]] {
        let refused = home.run(question).exits(2);
        assert!(refused.err.contains("edges of type k: created_at is string"), "{}", refused.err);
    }
    home.run(&["sample", "g", "features", "--edge", "0", "1", "k", "--features", "created_at"]).exits(0);
}

#[test]
fn weights_are_shown_as_they_are() {
    let home = Home::new();
    let top = ["sample", "g", "neighbors", "0", "--strategy", "top", "--count", "2", "--json"];
    star(&home, &[("k", "weight", "int64", ["1700000001", "1700000030", "1700000050"])]);
    let found = home.run(&top).exits(0).json();
    assert_eq!(column(&found, "neighbor"), [3, 2]);
    assert_eq!(column(&found, "weight"), [1_700_000_050.0, 1_700_000_030.0]);
    let home = Home::new();
    star(&home, &[("k", "weight", "double", ["1e200", "1e300", "0.1"])]);
    let found = home.run(&["sample", "g", "neighbors", "0", "--strategy", "all", "--json"]).exits(0).json();
    assert_eq!(column(&found, "weight"), [1e200, 1e300, 0.1]);
    let refused = home.run(&["sample", "g", "neighbors", "0", "--strategy", "all", "--generator", "deepgnn"]).exits(3);
    assert!(refused.err.contains("--generator stable"), "{}", refused.err);
    let home = Home::new();
    star(&home, &[("k", "weight", "string", ["light", "5", "heavy"])]);
    let refused = home.run(&["sample", "g", "neighbors", "0"]).exits(3);
    assert!(refused.err.contains("the weight of an edge of type k is string"), "{}", refused.err);
    let found = home.run(&["sample", "g", "neighbors", "0", "--strategy", "all", "--json"]).exits(0).json();
    assert_eq!(column(&found, "weight"), [Value::Null, Value::Null, Value::Null]);
}

#[test]
fn a_weight_in_props_is_one_in_every_copy() {
    let home = Home::new();
    let mut csv =
        "\"src_name\",\"edge_id\",\"rel_name\",\"dst_name\",\"truth\",\"shadow\",\"is_rdf\",\"labels\",\"props\"\n"
            .to_owned();
    csv.push_str("\"a\",-1,\"\",\"\",1.0,-1,False,\"\",\"\"\n");
    for (at, weight) in ["1.5", "0.0", "30.5"].iter().enumerate() {
        csv.push_str(&format!("\"a\",{at},\"r\",\"n{at}\",1.0,-1,False,\"\",\"{{\"\"weight\"\": {weight}}}\"\n"));
    }
    for at in 0..3 {
        csv.push_str(&format!("\"n{at}\",-1,\"\",\"\",1.0,-1,False,\"\",\"\"\n"));
    }
    home.write("a.csv", csv);
    for format in ["annnet", "graphar", "graphlake", "rdf"] {
        let name = if format == "rdf" { "in.ttl".to_owned() } else { format!("in.{format}") };
        home.run(&["convert", "a.csv", &name, "--to", format]).exits(0);
    }
    for path in ["a.csv", "in.annnet", "in.graphar", "in.graphlake", "in.ttl"] {
        let all = home.run(&["sample", path, "neighbors", "a", "--strategy", "all", "--json"]).exits(0).json();
        let mut found: Vec<(Value, Value)> = column(&all, "neighbor").into_iter().zip(column(&all, "weight")).collect();
        found.sort_by_key(|(neighbor, _)| neighbor.to_string());
        let wanted = [("n0", 1.5), ("n1", 0.0), ("n2", 30.5)].map(|(name, weight)| (json!(name), json!(weight)));
        assert_eq!(found, wanted, "{path}");
        let drawn = home.run(&["sample", path, "neighbors", "a", "--count", "40", "--json"]).exits(0).json();
        assert!(!column(&drawn, "neighbor").contains(&json!("n1")), "{path}: {drawn}");
    }
    let wrong = std::fs::read_to_string(home.at("a.csv")).unwrap().replace("30.5", "\"\"hi\"\"");
    home.write("b.csv", wrong);
    let refused = home.run(&["sample", "b.csv", "neighbors", "a"]).exits(3);
    assert!(refused.err.contains("the weight of an edge of type r is the text \"hi\""), "{}", refused.err);
    home.run(&["sample", "b.csv", "nodes"]).exits(0);
    let all = home.run(&["sample", "b.csv", "neighbors", "a", "--strategy", "all", "--json"]).exits(0).json();
    assert_eq!(column(&all, "weight"), [json!(1.5), json!(0.0), Value::Null]);
}

#[test]
fn a_weight_below_0_is_refused_in_a_text_and_in_its_binary() {
    let home = Home::new();
    home.write("n.edgelist", "1,-1,0,-1\n1,0,2,-2\n1,0,3,1\n1,0,4,5\n2,-1,0,3\n");
    let converted = home.run(&["convert", "n.edgelist", "binary", "--to", "deepgnn"]);
    for path in ["n.edgelist", "binary"] {
        if path == "binary" && converted.code != 0 {
            continue;
        }
        for question in [&["nodes"][..], &["edges"], &["neighbors", "1"], &["walk", "1"]] {
            let refused = home.run(&[&["sample", path][..], question].concat()).exits(3);
            assert!(refused.err.contains("below 0") || refused.err.contains("negative"), "{}", refused.err);
            assert!(refused.err.contains("--strategy uniform") || question[0] == "walk", "{}", refused.err);
            let mends = refused.err.contains("write the graph") || refused.err.contains("correct them in the text");
            assert!(mends, "{}", refused.err);
        }
        home.run(&["sample", path, "nodes", "--strategy", "uniform"]).exits(0);
        home.run(&["sample", path, "neighbors", "1", "--strategy", "without-replacement"]).exits(0);
    }
}

/// A node that is stated twice is one node.
#[test]
fn a_repeated_node_is_drawn_once() {
    let home = Home::new();
    let node = |id: u8, weight: u8| {
        format!("{{\"node_id\": {id}, \"node_type\": 1, \"node_weight\": {weight}, \"edge\": []}}\n")
    };
    home.write("rep.jsonl", [node(5, 1), node(6, 1), node(5, 8)].concat());
    home.run(&["convert", "rep.jsonl", "binary", "--to", "deepgnn"]).exits(0);
    for path in ["rep.jsonl", "binary"] {
        let drawn = home.run(&["sample", path, "nodes", "--strategy", "without-replacement", "--json"]).exits(0).json();
        let mut nodes = column(&drawn, "node");
        nodes.sort_by_key(Value::to_string);
        assert_eq!(nodes, [5, 6], "{path}");
        let even = ["sample", path, "nodes", "--strategy", "uniform", "--count", "2000", "--json"];
        let fives = column(&home.run(&even).exits(0).json(), "node").iter().filter(|node| **node == 5).count();
        assert!(fives.abs_diff(1000) < 120, "{path}: {fives}");
    }
}

/// A draw that the engine cannot repeat is rejected, not drawn by another generator under its name.
#[test]
fn the_engine_is_asked_for_what_it_repeats() {
    let home = Home::new();
    let binary = fixture("deepgnn/karate/bin_linear_p3");
    for question in [
        &["nodes", "--strategy", "uniform"][..],
        &["nodes", "--strategy", "without-replacement"],
        &["edges", "--strategy", "uniform"],
        &["edges", "--strategy", "without-replacement"],
        &["neighbors", "0", "--strategy", "top"],
        &["neighbors", "0", "--strategy", "last"],
        &["neighbors", "0", "--strategy", "uniform", "--timestamp", "3"],
        &["neighbors", "0", "--timestamp", "3"],
    ] {
        let done = home.run(&[&["sample", &binary][..], question, &["--generator", "deepgnn"]].concat()).exits(2);
        assert!(done.err.contains("--generator stable"), "{question:?}: {}", done.err);
    }
    let text = fixture("deepgnn/karate/graph.tsv");
    home.run(&["convert", &text, "copy", "--to", "graphar"]).exits(0);
    for question in [
        &["nodes"][..],
        &["edges"],
        &["walk", "0"],
        &["neighbors", "0"],
        &["neighbors", "0", "--strategy", "uniform"],
        &["neighbors", "0", "--strategy", "without-replacement"],
    ] {
        home.run(&[&["sample", &binary][..], question, &["--generator", "deepgnn"]].concat()).exits(0);
        // The engine draws from binaries: other formats have neither its tables nor its order.
        for path in [text.as_str(), "copy"] {
            let done = home.run(&[&["sample", path][..], question, &["--generator", "deepgnn"]].concat()).exits(2);
            assert!(done.err.contains(" NEW --to deepgnn"), "{question:?}: {}", done.err);
        }
    }
    for question in [&["neighbors", "0", "--strategy", "all"][..], &["neighbors", "0", "--strategy", "pagerank"]] {
        home.run(&[&["sample", &text][..], question, &["--generator", "deepgnn"]].concat()).exits(0);
    }
}

/// Weights are printed as their columns state them, whatever the other weights are: the shortest text of a 32-bit
/// number differs from that of a 64-bit number.
#[test]
fn weights_that_32_bits_hold_are_shown_with_64_where_the_column_has_them() {
    for (data_type, values, wanted) in [
        ("int64", ["123456792", "50331648", "1099511627776"], [123_456_792.0, 50_331_648.0, 1_099_511_627_776.0]),
        (
            "double",
            ["0.10000000149011612", "0.5", "9.313225746154785e-10"],
            [0.10000000149011612, 0.5, 9.313225746154785e-10],
        ),
        ("float", ["0.1", "0.5", "3"], [0.1, 0.5, 3.0]),
    ] {
        let home = Home::new();
        star(&home, &[("k", "weight", data_type, values)]);
        for how in [&["all"][..], &["without-replacement", "--count", "5"]] {
            let ask = [&["sample", "g", "neighbors", "0", "--json", "--strategy"][..], how].concat();
            assert_eq!(column(&home.run(&ask).exits(0).json(), "weight"), wanted, "{data_type}");
        }
    }
}

/// A binary stores 0 for an edge without a time; a DeepGNN text with 0 means the same.
#[test]
fn an_edge_without_a_time_is_shown_without_one() {
    let home = Home::new();
    let edge = |target: u8, created: u8| {
        format!(
            "{{\"src_id\":1,\"dst_id\":{target},\"edge_type\":0,\"weight\":1,\"created_at\":{created},\"removed_at\":-1}}"
        )
    };
    let edges = [edge(2, 0), edge(3, 5)].join(",");
    home.write("t.json", format!("{{\"node_id\":1,\"node_type\":0,\"node_weight\":1,\"edge\":[{edges}]}}\n"));
    home.run(&["convert", "t.json", "b", "--to", "deepgnn", "--watermark", "9"]).exits(0);
    for path in ["t.json", "b"] {
        let last = home.run(&["sample", path, "neighbors", "1", "--strategy", "last", "--json"]).exits(0).json();
        assert_eq!(column(&last, "created_at"), [json!(5), Value::Null], "{path}");
    }
}
