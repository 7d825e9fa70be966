//! NOCK: errors name the file and the row.

use crate::support::Home;

const HEADER: &str = "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n";

/// Creates a directory of two partitions; the second one has these lines after a valid one.
fn partitions(lines: &str) -> Home {
    let home = Home::new();
    std::fs::create_dir(home.at("graph")).unwrap();
    let node = |name: &str| format!("\"{name}\",-1,\"\",\"\",1.0,-1,False,\"\",\"\"\n");
    home.write("graph/part_0.csv", format!("{HEADER}{}", node("a")));
    home.write("graph/part_1.csv", format!("{HEADER}{}{lines}", node("b")));
    home
}

/// Checks that every command names file, row and rule.
fn named(home: &Home, rule: &str) {
    for command in ["dump", "digest"] {
        let done = home.run(&[command, "graph"]).exits(3);
        for words in [rule, "part_1.csv, row 1"] {
            assert!(done.err.contains(words), "{command}: {words}: {}", done.err);
        }
    }
    home.run(&["convert", "graph", "other.parq"]).exits(3);
}

#[test]
fn half_of_a_character_in_props() {
    named(&partitions("\"c\",-1,\"\",\"\",1.0,-1,False,\"\",\"{\"\"a\"\":\"\"\\ud800\"\"}\"\n"), "NOCK-PROPS-JSON");
}

#[test]
fn an_edge_row_without_a_destination() {
    let home = partitions("\"b\",0,\"r\",\"\",1.0,-1,False,\"\",\"\"\n");
    named(&home, "NOCK-NAME-EMPTY");
    let done = home.run(&["neighbors", "graph", "b"]).exits(3);
    assert!(done.err.contains("part_1.csv"), "{}", done.err);
}

#[test]
fn props_behind_a_byte_order_mark() {
    let home = partitions("\"c\",-1,\"\",\"\",1.0,-1,False,\"\",\"\u{feff}{\"\"a\"\":1}\"\n");
    named(&home, "NOCK-PROPS-JSON");
    // No flag is suggested that would not help.
    let done = home.run(&["dump", "graph"]).exits(3);
    assert!(done.err.contains("byte order mark") && !done.err.contains("--lenient"), "{}", done.err);
}
