//! `diff`, `digest`, `dump`.

use serde_json::Value;

use crate::support::{Home, PEOPLE, assert_screen, sample};

#[test]
fn equal_graphs_are_equal_in_one_line() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "people.parq"]).exits(0);
    let done = home.run(&["diff", "people.csv", "people.parq"]).exits(0);
    assert_eq!(done.out.lines().count(), 1);
    assert!(done.out.starts_with("equal in content"), "{}", done.out);
}

#[test]
fn a_difference_is_named() {
    let home = Home::with_people();
    let edited = PEOPLE.replace("1791", "1792").replace("\"ada\",1,\"admires\",\"mary\",0.5,-1,False,\"\",\"\"\n", "");
    home.write("edited.csv", edited);
    let done = home.run(&["diff", "people.csv", "edited.csv"]).exits(1);
    assert_screen("diff", &done.out);
    let document = home.run(&["diff", "people.csv", "edited.csv", "--json"]).exits(1).json();
    assert_eq!(document["equal"], false);
    assert_eq!(document["differing"], 2);
    let kinds: Vec<&Value> = document["elements"].as_array().unwrap().iter().map(|element| &element["kind"]).collect();
    assert_eq!(kinds, ["node", "edge"]);
}

#[test]
fn the_number_of_named_elements_is_bounded() {
    let home = Home::with_people();
    home.write("edited.csv", PEOPLE.replace("1791", "1792").replace("1815", "1816").replace("1780", "1781"));
    let done = home.run(&["diff", "people.csv", "edited.csv", "--limit", "1"]).exits(1);
    let ended = "the search ended at 1 element; omit --limit to count all\n";
    assert!(done.out.ends_with(ended), "{}", done.out);
    let json =
        |limit: &str| home.run(&["diff", "people.csv", "edited.csv", "--limit", limit, "--json"]).exits(1).json();
    let first = json("1");
    assert_eq!((&first["ended"], &first["differing"]), (&true.into(), &1.into()), "{first}");
    assert_eq!(first["elements"].as_array().unwrap().len(), 1);
    assert!(first["lines"].as_array().unwrap().iter().any(|line| line["only_left"].is_null()), "{first}");
    // If there are no more differences, the numbers are exact.
    let whole = home.run(&["diff", "people.csv", "edited.csv", "--json"]).exits(1).json();
    assert_eq!((json("3"), json("100")), (whole.clone(), whole));
}

#[test]
fn encodings_have_one_digest() {
    let home = Home::new();
    let mut digests = Vec::new();
    for path in ["parquet/ldbc_sample.graph.yml", "orc/ldbc_sample.graph.yml", "csv/ldbc_sample.graph.yml"] {
        let Some(graph) = sample(&format!("ldbc_sample/{path}")) else { return };
        digests.push(home.run(&["digest", &graph, "--json"]).exits(0).json()["content"].clone());
    }
    assert!(digests[0].is_string());
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:?}");
}

#[test]
fn digests_come_with_their_parts() {
    let home = Home::with_people();
    let done = home.run(&["digest", "people.csv"]).exits(0);
    assert_screen("digest", &done.screen());
    let document = home.run(&["digest", "people.csv", "--json"]).exits(0).json();
    for word in ["content", "order", "schema"] {
        assert_eq!(document[word].as_str().unwrap().len(), 32);
    }
    let lines = document["lines"].as_array().unwrap();
    let born = lines.iter().find(|line| line["property"] == "born").unwrap();
    assert_eq!((born["kind"].as_str(), born["count"].as_u64()), (Some("nodes"), Some(3)));
}

#[test]
fn every_element_is_a_line_of_json() {
    let home = Home::with_people();
    let done = home.run(&["dump", "people.csv"]).exits(0);
    assert_screen("dump", &done.out);
    home.run(&["convert", "people.csv", "people", "--to", "graphar"]).exits(0);
    let through = home.run(&["dump", "people"]).exits(0);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&done.out), sorted(&through.out));
}

#[test]
fn without_a_carry_graphs_are_compared_as_a_format_holds_them() {
    let social = crate::support::social();
    let home = Home::new();
    home.run(&["convert", &social, "social.parq"]).exits(0);
    home.run(&["diff", &social, "social.parq"]).exits(0);
    home.run(&["carry", "drop", "social.parq"]).exits(0);
    home.run(&["diff", &social, "social.parq"]).exits(1);
    home.run(&["diff", &social, "social.parq", "--as", "nock"]).exits(0);
}

#[test]
fn nodes_can_be_identified_by_their_position() {
    let social = crate::support::social();
    let home = Home::with_people();
    home.run(&["convert", &social, "g", "--to", "graphar"]).exits(0);
    home.run(&["diff", &social, "g", "--key", "row"]).exits(0);
    home.run(&["diff", "people.csv", "people.csv", "--key", "row"]).exits(2);
}

#[test]
fn keys_of_elements_that_differ_keep_their_type() {
    let home = Home::new();
    let lines = |weight: u32| format!("-1 7 0 {weight}\n-1 9 0 1\n");
    home.write("one.linear", lines(1));
    home.write("two.linear", lines(2));
    let document = home.run(&["diff", "one.linear", "two.linear", "--json"]).exits(1).json();
    assert_eq!(document["elements"][0]["key"], 7, "{document}");
    home.write("people.csv", PEOPLE);
    home.write("edited.csv", PEOPLE.replace("\"ada\",1,\"admires\",\"mary\",0.5,-1,False,\"\",\"\"\n", ""));
    let document = home.run(&["diff", "people.csv", "edited.csv", "--json"]).exits(1).json();
    assert_eq!(document["elements"][0]["key"], serde_json::json!(["ada", "mary"]));
}

#[test]
fn members_of_a_bag_that_are_called_like_columns_are_told_apart() {
    let home = Home::new();
    let header = PEOPLE.lines().next().unwrap();
    let write = |name: &str, truth: &str, props: &str| {
        let props = props.replace('"', "\"\"");
        home.write(name, format!("{header}\n\"a\",-1,\"\",\"\",{truth},-1,False,\"\",\"{props}\"\n"));
    };
    write("a.csv", "1.0", "{\"truth\":\"certain\",\"is_rdf\":7,\"x\":1}");
    write("b.csv", "1.0", "{\"truth\":\"doubtful\",\"is_rdf\":7,\"x\":1}");
    write("c.csv", "0.5", "{\"truth\":\"certain\",\"is_rdf\":7,\"x\":1}");
    assert_eq!(
        home.run(&["dump", "a.csv"]).exits(0).out,
        concat!(
            "{\"node\":\"node\",\"key\":\"a\",\"properties\":{\"is_rdf\":false,\"truth\":1.0,\"x\":1},",
            "\"bag\":{\"is_rdf\":7,\"truth\":\"certain\"}}\n"
        )
    );
    for (other, says) in
        [("b.csv", "node a   bag.truth   \"certain\" │ \"doubtful\""), ("c.csv", "node a   truth   1.0 │ 0.5")]
    {
        let shown = home.run(&["diff", "a.csv", other]).exits(1).out;
        assert!(shown.contains(says), "{shown}");
        let document = home.run(&["diff", "a.csv", other, "--json"]).exits(1).json();
        let line =
            |side: &str| -> Value { serde_json::from_str(document["elements"][0][side].as_str().unwrap()).unwrap() };
        assert_ne!(line("left"), line("right"));
    }
}

#[test]
fn literals_of_other_predicates_and_graphs_are_other_statements() {
    let home = Home::new();
    home.write("a.nq", "<urn:a> <urn:p> \"1\" .\n");
    for (other, differing) in [
        ("<urn:a> <urn:q> \"2\" <urn:g> .", 2),
        ("<urn:a> <urn:q> \"1\" .", 2),
        ("<urn:a> <urn:p> \"1\" <urn:g> .", 2),
        ("<urn:a> <urn:p> \"2\" .", 1),
    ] {
        home.write("b.nq", format!("{other}\n"));
        let document = home.run(&["diff", "a.nq", "b.nq", "--json"]).exits(1).json();
        assert_eq!(document["differing"], differing, "{other}: {document}");
        assert_eq!(document["elements"].as_array().unwrap().len(), differing, "{other}");
    }
}
