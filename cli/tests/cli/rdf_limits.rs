//! Limits of RDF: names below a base, compressed texts, losses.

use crate::support::Home;

/// A base may end in `#`, which an IRI has only once: names that contain it get another base.
#[test]
fn a_base_with_a_number_sign_makes_valid_names() {
    let home = Home::new();
    home.write(
        "a.csv",
        "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n\
         \"a\",-1,\"\",\"\",1.0,-1,False,\"node\",\"{\"\"truth\"\":\"\"certain\"\"}\"\n\
         \"a\",0,\"k\",\"b\",1.0,-1,False,\"\",\"\"\n\"b\",-1,\"\",\"\",1.0,-1,False,\"k\",\"\"\n",
    );
    for name in ["a.ttl", "a.nt", "a.rdf", "a.jsonld", "a.lake"] {
        home.run(&["convert", "a.csv", name, "--base", "http://b/x#"]).exits(0);
        home.run(&["validate", name]).exits(0);
        home.run(&["diff", "a.csv", name]).exits(0);
        let dump = home.run(&["dump", name, "--sidecar", "ignore"]).exits(0).out;
        assert!(dump.contains("http://b/x#label!node") && !dump.contains("x#label#"), "{name}: {dump}");
    }
}

/// A damaged compressed text is bad input.
#[test]
fn a_damaged_packed_text_is_bad_input() {
    let home = Home::with_people();
    for name in ["z.nt.gz", "z.nt.zst", "z.ttl.gz", "z.json.gz"] {
        let to: &[&str] = if name == "z.json.gz" { &["--to", "deepgnn"] } else { &[] };
        home.run(&[&["convert", "people.csv", name, "--lossy"], to].concat()).exits(0);
        let mut bytes = std::fs::read(home.at(name)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 64;
        home.write(name, &bytes);
        home.run(&["digest", name]).exits(3);
        home.run(&["dump", name]).exits(3);
    }
}

/// What RDF cannot express is reported as lost, or rejected with a place and a remedy that works.
#[test]
fn rich_rdf_says_what_it_loses() {
    let home = Home::new();
    let rows = |props: &str| {
        format!(
            "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n\
             \"http://e.org/a\",-1,\"\",\"\",1.0,-1,True,\"\",\"{props}\"\n\
             \"http://e.org/lonely\",-1,\"\",\"\",1.0,-1,True,\"\",\"\"\n"
        )
    };
    home.write("y.csv", rows("{\"\"http://e.org/p\"\":[1,1]}"));
    home.run(&["convert", "y.csv", "y.nt", "--rdf-mode", "rich"]).exits(4);
    let done = home.run(&["convert", "y.csv", "y.nt", "--rdf-mode", "rich", "--lossy"]).exits(0);
    assert!(done.out.contains("1 of 2 nodes"), "{}", done.out);
    let document = home.run(&["convert", "y.csv", "z.nt", "--rdf-mode", "rich", "--lossy", "--json"]).exits(0).json();
    let lost = document["certificate"]["lost"].to_string();
    assert!(lost.contains("1 of 2 nodes") && lost.contains("other values"), "{lost}");
    for props in
        ["{\"\"http://e.org/p\"\":null}", "{\"\"http://e.org/p\"\":{\"\"a\"\":1}}", "{\"\"http://e.org/p\"\":[[1]]}"]
    {
        home.write("n.csv", rows(props));
        let done = home.run(&["convert", "n.csv", "n.nt", "--rdf-mode", "rich"]);
        assert!(done.err.contains("http://e.org/a.http://e.org/p") && !done.err.contains("--sidecar"), "{}", done.err);
        assert_ne!(done.code, 0);
        home.run(&["convert", "n.csv", "n.nt"]).exits(0);
        std::fs::remove_file(home.at("n.nt")).unwrap();
        std::fs::remove_dir_all(home.at("n.nt.isomorph")).unwrap();
    }
}
