//! JSON documents have exactly the fields in `docs/cli-json.md`.

use std::fs;

use serde_json::Value;

use crate::support::{Home, workspace};

/// Returns the sorted names of the members of an object.
fn members(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

#[track_caller]
fn assert_members(value: &Value, expected: &str) {
    let mut expected: Vec<&str> = expected.split(' ').collect();
    expected.sort_unstable();
    assert_eq!(members(value), expected);
    let text = fs::read_to_string(workspace().join("docs/cli-json.md")).unwrap();
    for name in expected {
        let stands = |open: char, close: char| text.contains(&format!("{open}{name}{close}"));
        let named = stands('`', '`') || stands('"', '"') || stands('{', '}') || stands('{', ',');
        assert!(named || stands(' ', ',') || stands(' ', '}'), "{name} is not documented");
    }
}

#[test]
fn documents_have_the_documented_fields() {
    let home = Home::with_people();
    home.write("other.csv", crate::support::PEOPLE.replace("1791", "1792"));
    let json = |arguments: &[&str]| home.run(&[arguments, &["--json"]].concat()).json();

    let info = json(&["info", "people.csv"]);
    let members =
        "path format encoding version name files bytes layout nodes edges hyperedges values groups documents findings";
    assert_members(&info, &format!("{members} dangling carry stored"));
    assert_members(&info["nodes"][0], "type count key labels properties");
    assert_members(&info["nodes"][0]["key"], "kind name type");
    assert_members(&info["nodes"][0]["properties"][0], "name type kind nullable cardinality");
    assert_members(&info["edges"][0], "source relation target count relations direction key stored properties");
    assert_members(&info["edges"][0]["relations"][0], "relation count");
    home.write("a.nq", "<urn:a> <urn:p> \"1\" .\n");
    assert_members(&json(&["info", "a.nq"])["values"][0], "of property count qualifiers");

    let convert = json(&["convert", "people.csv", "people", "--to", "graphar"]);
    assert_members(&convert, "destination plan certificate findings dangling");
    assert_members(&convert["plan"], "from to passes sorts cost lines carried losses");
    assert_members(&convert["plan"]["cost"], "source_bytes sorted_edges orders memory temporary_bytes");
    assert_members(&convert["plan"]["lines"][0], "subject becomes");
    assert_members(
        &convert["certificate"],
        "from to digest source result nodes edges triples carried lost files bytes seconds equal",
    );
    assert_members(&convert["certificate"]["source"], "content order schema");

    assert_members(&json(&["validate", "people.csv"]), "path format sound rules findings");

    let diff = json(&["diff", "people.csv", "other.csv"]);
    assert_members(&diff, "left right equal order_equal schema_equal lines elements differing");
    assert_members(&diff["lines"][0], "kind type property left right equal only_left only_right");
    assert_members(&diff["elements"][0], "kind type identity key left right");

    let digest = json(&["digest", "people.csv"]);
    assert_members(&digest, "path digest content order schema lines dangling");
    assert_members(&digest["lines"][0], "kind type property count sum");

    let stats = json(&["stats", "people.csv"]);
    assert_members(
        &stats,
        "path nodes edges node_types edge_types degree out_degree in_degree isolated loops parallel reciprocity dangling components hyperedges \
         repeated_keys tables",
    );
    assert_members(&stats["node_types"][0], "name nodes isolated");
    assert_members(
        &stats["edge_types"][0],
        "source relation target edges directed undirected loops parallel reciprocity dangling dangling_example",
    );
    assert_members(&stats["degree"], "min median p99 max mean histogram");
    assert_members(&stats["degree"]["histogram"][0], "from to count");
    assert_members(&stats["components"], "count largest histogram");
    assert_members(&stats["tables"][0], "table rows columns");
    assert_members(&stats["tables"][0]["columns"][0], "name type nulls distinct");
    assert_members(&stats["tables"][0]["columns"][0]["distinct"], "values exact");
    assert_members(&json(&["paths", "people.csv", "ada", "charles"])[0], "path step type key relation direction");
    assert_members(&json(&["rank", "people.csv"])[0], "type key rank");
    assert_members(&json(&["components", "people.csv"])[0], "component nodes first_type first_key");
    assert_members(&json(&["components", "people.csv", "--each"])[0], "type key component");
    let neighbors = json(&["neighbors", "people.csv", "ada"]);
    assert_members(&neighbors, "path node neighbors more hyperedges more_hyperedges");
    assert_members(&neighbors["node"], "type key");
    assert_members(&neighbors["neighbors"][0], "direction relation type key directed properties");
    home.write("bag.csv", crate::support::PEOPLE.replace("{\"\"since", "{\"\"truth\"\": 1, \"\"since"));
    let neighbors = json(&["neighbors", "bag.csv", "ada"]);
    assert_members(&neighbors["neighbors"][0], "direction relation type key directed properties bag");

    let sidecar = json(&["carry", "show", "people"]);
    assert_members(&sidecar, "path of format written_by stale compared differences digests files");
    assert_members(&sidecar["files"][0], "name size tail blake3");
    assert_members(&json(&["info", "people"])["carry"], "of stale differences");
    assert_members(&json(&["carry", "rebind", "people"]), "path files");
    assert_members(&json(&["carry", "drop", "people"]), "path removed");

    assert_members(&json(&["explain", "CARRY-STALE"])[0], "id about severity says remedy");
    assert_members(&json(&["formats"])[0], "id name read write shape names rules");
}

#[test]
fn findings_have_the_documented_fields() {
    let home = Home::new();
    home.write("twice.csv", crate::support::PEOPLE.to_owned() + "\"mary\",-1,\"\",\"\",1.0,-1,False,\"\",\"\"\n");
    let findings = home.run(&["validate", "twice.csv", "--json"]).json()["findings"].clone();
    let finding = findings.as_array().unwrap().first().expect("a repeated node is worth a finding").clone();
    assert_members(&finding, "rule severity says count places");
    assert!(finding["places"][0]["message"].is_string() && finding["places"][0]["file"].is_string());
}
