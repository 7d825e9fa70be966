//! Tables as a graph: mapping files, what is told of conventions, and the name of a destination.

use crate::support::{Home, fixture, social};

#[test]
fn what_a_convention_says_is_a_mapping_file() {
    let home = Home::new();
    let plain = fixture("inout/plain");
    let mapping = home.run(&["import", "init", &plain]).exits(0).out;
    assert!(mapping.starts_with("-- tables: by the convention of two tables, nodes and edges\n"), "{mapping}");
    for words in [
        "CREATE EXTERNAL TABLE nodes (\n  id BIGINT,\n  name VARCHAR,\n  born DATE\n)\nSTORED AS CSV LOCATION 'nodes.csv';",
        "nodes KEY (id)\n    LABEL \"node\" PROPERTIES ARE ALL COLUMNS",
        "SOURCE KEY (src) REFERENCES nodes (id)\n    DESTINATION KEY (dst) REFERENCES nodes (id)",
    ] {
        assert!(mapping.contains(words), "{words}\n{mapping}");
    }
    assert_eq!(home.run(&["import", "init", &plain, "--json"]).exits(0).json()["mapping"], mapping.as_str());
    home.run(&["import", "init", "."]).exits(3);
    // The file may be edited and lie elsewhere, if that is allowed.
    home.write("graph.pgq", mapping.replace("'nodes.csv'", &format!("'{plain}/nodes.csv'")));
    std::fs::copy(format!("{plain}/edges.csv"), home.at("edges.csv")).unwrap();
    let error = home.run(&["info", "graph.pgq", "--json"]).exits(3).error();
    assert_eq!(error["error"]["rule"], "FLAT-MAPPING");
    assert_eq!(
        error["error"]["try"][0].as_str().map(|hint| hint.starts_with("--allow-outside")),
        Some(true),
        "{error}"
    );
    let content = |done: crate::support::Done| done.exits(0).json()["content"].clone();
    let here = content(home.run(&["digest", "graph.pgq", "--allow-outside", "--json"]));
    assert_eq!(here, content(home.run(&["digest", &plain, "--json"])));
    home.run(&["info", "edges.csv", "--allow-outside"]).exits(2);
}

#[test]
fn a_graph_goes_into_tables_and_comes_back() {
    let home = Home::new();
    let social = social();
    for format in ["parquet", "csv", "arrow", "jsonl"] {
        let plan = home.run(&["convert", &social, format, "--to", format, "--plan"]).exits(0).out;
        assert!(plan.starts_with("plan     GraphAr → "), "{plan}");
        home.run(&["convert", &social, format, "--to", format]).exits(0);
        home.run(&["diff", &social, format, "--exact"]).exits(0);
        home.run(&["validate", format]).exits(0);
        let names = home.run(&["info", &format!("{format}/graph.pgq")]).exits(0).out;
        assert!(names.contains("by the mapping file graph.pgq"), "{names}");
        // The same again, in place of what is there.
        home.run(&["convert", &social, format, "--to", format, "--replace"]).exits(0);
    }
    let city = |graph: &str| {
        let done = home.run(&["neighbors", graph, "Lisbon", "--type", "city", "--in", "--json"]);
        done.exits(0).json()["neighbors"].clone()
    };
    assert_eq!(city("csv"), city("parquet"));
}

#[test]
fn a_file_is_nock_and_the_plan_names_the_tables() {
    let home = Home::with_people();
    let plan = home.run(&["convert", "people.csv", "other.csv", "--plan"]).exits(0).out;
    assert!(plan.contains("or --to csv") && plan.contains("a directory with a file for each type"), "{plan}");
    // As for the text of DeepGNN that is called like NetworkX's.
    home.write("edges.edges", "a b\nb c\n");
    let plan = home.run(&["convert", "edges.edges", "other.edgelist", "--plan"]).exits(0).out;
    assert!(plan.contains("EdgeList text") && plan.contains("or --to edgelist"), "{plan}");
    let plan = home.run(&["convert", "edges.edges", "other.edgelist", "--plan", "--to", "edgelist"]).exits(0).out;
    assert!(!plan.contains("or --to"), "{plan}");
    let plan = home.run(&["convert", "people.csv", "other.parq", "--plan"]).exits(0).out;
    assert!(!plan.contains("or --to"), "{plan}");
    let asked = home.run(&["convert", "people.csv", "other.csv", "--to", "nock", "--plan"]).exits(0).out;
    assert!(!asked.contains("or --to"), "{asked}");
}

#[test]
fn wrong_tables_are_refused_with_their_lines() {
    let home = Home::new();
    std::fs::create_dir(home.at("in")).unwrap();
    home.write("in/nodes.csv", "id,name\n1,a\n2,b\n");
    home.write("in/edges.csv", "source,target\n1,2\n2,7\n");
    let error = home.run(&["convert", "in", "out.parq", "--json"]).exits(3).error();
    assert_eq!(error["error"]["rule"], "FLAT-END");
    assert_eq!(
        error["error"]["place"],
        serde_json::json!({ "file": "edges.csv", "row": 1, "line": 3, "field": "target" })
    );
    let found = home.run(&["validate", "in", "--json"]).exits(1).json();
    assert_eq!(found["findings"][0]["rule"], "FLAT-END", "{found}");
}

/// Rows that are set aside are listed for parts and unions of graphs as well, and a list of an output that was replaced goes.
#[test]
fn rows_that_are_set_aside_are_listed() {
    let home = Home::new();
    let write = |folder: &str, nodes: &str, edges: &str| {
        std::fs::create_dir_all(home.path().join(folder)).unwrap();
        std::fs::write(home.path().join(folder).join("nodes.csv"), nodes).unwrap();
        std::fs::write(home.path().join(folder).join("edges.csv"), edges).unwrap();
    };
    let listed = |name: &str| {
        let text = std::fs::read_to_string(home.path().join(name)).unwrap_or_default();
        text.lines().count()
    };
    write("a", "id,n\n1,a\n1,b\n3,c\n", "source,target\n1,3\n9,1\n1,7\n");
    write("b", "id,n\n5,a\n5,b\n", "source,target\n5,5\n");
    home.run(&["convert", "a", "x.json", "--to", "jgf", "--lenient"]).exits(0);
    home.run(&["convert", "a", "y.json", "--to", "jgf", "--lenient", "--where", "node: id > 0"]).exits(0);
    home.run(&["convert", "a", "b", "z.json", "--to", "jgf", "--lenient", "--union"]).exits(0);
    let names = ["x.json.set-aside.jsonl", "y.json.set-aside.jsonl", "z.json.set-aside.jsonl"];
    assert_eq!(names.map(listed), [3, 3, 4]);
    write("a", "id,n\n1,a\n3,c\n", "source,target\n1,3\n");
    home.run(&["convert", "a", "x.json", "--to", "jgf", "--lenient", "--replace"]).exits(0);
    assert!(!home.path().join("x.json.set-aside.jsonl").exists());
}

/// A look-up does not find one of two nodes that a count counts: whatever is read, a repeated key ends it, or is set aside everywhere.
#[test]
fn every_command_agrees_about_a_repeated_key() {
    let home = Home::new();
    std::fs::create_dir(home.at("in")).unwrap();
    home.write("in/nodes.csv", "id,name\n1,a\n2,b\n1,c\n,d\n");
    home.write("in/edges.csv", "source,target\n1,2\n");
    let commands: [&[&str]; 6] = [
        &["cypher", "in", "match (n) return count(n)"],
        &["cypher", "in", "match (n) where n.id = 1 return n.name"],
        &["neighbors", "in", "1"],
        &["digest", "in"],
        &["dump", "in"],
        &["convert", "in", "out.parq"],
    ];
    for command in commands {
        let error = home.run(&[command, &["--json"]].concat()).exits(3).error();
        assert_eq!(error["error"]["rule"], "FLAT-KEY", "{command:?}");
        assert_eq!(error["error"]["place"]["file"], "nodes.csv", "{command:?}");
    }
    let info = home.run(&["info", "in", "--json"]).exits(0).json();
    assert!(info.to_string().contains("FLAT-KEY"), "{info}");
    let count = home.run(&["cypher", "in", "match (n) return count(n)", "--lenient"]).exits(0).out;
    assert!(count.lines().any(|line| line.trim() == "2"), "{count}");
    let name = home.run(&["cypher", "in", "match (n) where n.id = 1 return n.name", "--lenient"]).exits(0).out;
    assert!(name.lines().any(|line| line.trim() == "a") && !name.lines().any(|line| line.trim() == "c"), "{name}");
}

/// A file of edges is a graph for every command, and a table for SQL.
#[test]
fn a_file_of_edges_is_a_graph() {
    let home = Home::new();
    home.write("knows.jsonl", "{\"source\":3,\"target\":1,\"since\":\"2020-01-02\"}\n{\"source\":1,\"target\":2}\n");
    let info = home.run(&["info", "knows.jsonl"]).exits(0).out;
    for words in
        ["one table of edges, whose ends are the nodes", "edges from source to target, by the names of columns"]
    {
        assert!(info.contains(words), "{info}");
    }
    home.run(&["validate", "knows.jsonl"]).exits(0);
    assert!(home.run(&["neighbors", "knows.jsonl", "3"]).exits(0).out.contains('1'));
    let plan = home.run(&["convert", "knows.jsonl", "out", "--to", "graphar", "--plan"]).exits(0).out;
    assert!(plan.contains("the different values of source and target"), "{plan}");
    home.run(&["convert", "knows.jsonl", "out", "--to", "graphar"]).exits(0);
    home.run(&["diff", "knows.jsonl", "out", "--exact"]).exits(0);
    home.run(&["info", "knows.jsonl", "--from", "jsonl"]).exits(0);
    let count = |query: &str| home.run(&["sql", "knows.jsonl", query, "--json"]).exits(0).out;
    assert!(count("select count(*) as n from knows").contains('2'));
    assert!(count("select count(*) as n from node").contains('3'));
    assert!(count("select count(*) as n from edge").contains('2'));
    // With a name it is the table that it was.
    assert!(
        home.run(&["sql", "k=knows.jsonl", "select count(*) from k where since is null"]).exits(0).out.contains('1')
    );
    let mapping = home.run(&["import", "init", "knows.jsonl"]).exits(0).out;
    home.write("graph.pgq", &mapping);
    home.run(&["diff", "knows.jsonl", "graph.pgq", "--exact"]).exits(0);
    // An end is missing: the graph is refused, the table is not.
    home.write("holes.jsonl", "{\"source\":1,\"target\":2}\n{\"source\":1}\n");
    let error = home.run(&["digest", "holes.jsonl", "--json"]).exits(3).error();
    assert_eq!((&error["error"]["rule"], &error["error"]["place"]["line"]), (&"FLAT-END".into(), &2.into()), "{error}");
    assert!(home.run(&["info", "holes.jsonl", "--json"]).exits(0).out.contains("FLAT-END"));
    assert!(home.run(&["sql", "holes.jsonl", "select count(*) from holes"]).exits(0).out.contains('2'));
    let validated = home.run(&["validate", "holes.jsonl", "--json"]).exits(1).json();
    assert_eq!(validated["findings"][0]["rule"], "FLAT-END", "{validated}");
    // Nothing tells: the columns are named, and what to do.
    home.write("days.jsonl", "{\"day\":1,\"value\":2}\n");
    let error = home.run(&["info", "days.jsonl", "--json"]).exits(3).error();
    assert!(error["error"]["message"].as_str().is_some_and(|message| message.ends_with("day, value")), "{error}");
    assert!(error["error"]["try"].to_string().contains("isomorph import init days.jsonl"), "{error}");
}

/// One value among many of another type is told, with its place.
#[test]
fn an_odd_value_is_named() {
    let home = Home::new();
    std::fs::create_dir(home.at("in")).unwrap();
    let rows = |odd: &str| (0..20).map(|at| if at == 17 { odd.to_owned() } else { at.to_string() }).collect::<Vec<_>>();
    let of = |odd: &str| {
        rows(odd).iter().enumerate().fold("id,age\n".to_owned(), |all, (id, age)| format!("{all}{id},{age}\n"))
    };
    home.write("in/edges.csv", "source,target\n1,2\n");
    home.write("in/nodes.csv", of("n/a"));
    let info = home.run(&["info", "in"]).exits(0).out;
    assert!(info.contains("age is text because of \"n/a\": every other value is an integer"), "{info}");
    let found = home.run(&["validate", "in", "--json"]).exits(0).json();
    assert_eq!(found["findings"][0]["rule"], "FLAT-ODD-CELL", "{found}");
    let place = &found["findings"][0]["places"][0];
    let told = ["file", "row", "line", "field"].map(|name| place[name].clone());
    assert_eq!(serde_json::json!(told), serde_json::json!(["nodes.csv", 17, 19, "age"]), "{found}");
    home.write("in/nodes.csv", of("17"));
    assert!(!home.run(&["info", "in"]).exits(0).out.contains("because of"));
    // In JSON lines the column is JSON.
    std::fs::remove_file(home.at("in/nodes.csv")).unwrap();
    let lines = rows("\"n/a\"")
        .iter()
        .enumerate()
        .fold(String::new(), |all, (id, age)| format!("{all}{{\"id\":{id},\"age\":{age}}}\n"));
    home.write("in/nodes.jsonl", lines);
    let info = home.run(&["info", "in"]).exits(0).out;
    assert!(info.contains("age is JSON because of \"n/a\": every other value is an integer"), "{info}");
}
