//! The destinations of `convert`, and that its output opens by name.

use std::fs;

use crate::support::Home;

const EMPTY: &str = "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n";

/// Output opens without a flag, whatever its name.
#[test]
fn what_was_written_opens_by_its_name() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "g", "--to", "graphar", "--lossy"]).exits(0);
    home.write("empty.csv", EMPTY);
    let results: [&[&str]; 9] = [
        &["g", "x:y.parq"],
        &["g", "new\nline.parq"],
        &["g", "a.json", "--to", "deepgnn"],
        &["g", "a.ttl", "--to-syntax", "nt"],
        &["g", "a.trig", "--to-syntax", "ttl"],
        &["g", "d", "--to", "deepgnn", "--text", "json", "--partitions", "2"],
        &["g", "e", "--to", "deepgnn", "--text", "edgelist", "--partitions", "2"],
        &["empty.csv", "e.json", "--to", "deepgnn"],
        &["g", "own"],
    ];
    for arguments in results {
        home.run(&[&["convert"], arguments].concat()).exits(0);
        let done = home.run(&["diff", arguments[0], arguments[1]]);
        assert_eq!(done.code, 0, "{arguments:?}: {}{}", done.out, done.err);
    }
    // A file of another origin with such a name.
    fs::copy(home.at("people.csv"), home.at("a:b.csv")).unwrap();
    home.run(&["digest", "a:b.csv"]).exits(0);
}

/// A name that contradicts the format is rejected, with a hint that works.
#[test]
fn a_name_that_says_something_else_is_refused_with_one_that_works() {
    let home = Home::with_people();
    let refused: [(&[&str], &str); 6] = [
        (&["q.json", "--to", "deepgnn", "--text", "linear"], "q.json.linear"),
        (&["q.tsv", "--to", "deepgnn", "--text", "json"], "q.tsv.json"),
        (&["text", "--to", "deepgnn", "--text", "json"], "text.json"),
        (&["q.ttl", "--to-syntax", "jsonld"], "q.ttl.jsonld"),
        (&["q.nt", "--to-syntax", "ttl"], "q.nt.ttl"),
        (&["rdf", "--to-syntax", "ttl"], "rdf.ttl"),
    ];
    for (arguments, name) in refused {
        for plan in [&["--plan"][..], &[]] {
            let done = home.run(&[&["convert", "people.csv"], arguments, plan].concat()).exits(2);
            assert!(done.err.contains(&format!("try    {name}\n")), "{arguments:?}: {}", done.err);
        }
        assert!(!home.at(arguments[0]).exists());
        let named = [&["convert", "people.csv", name], &arguments[1..]].concat();
        home.run(&named).exits(0);
        home.run(&["diff", "people.csv", name]).exits(0);
    }
}

/// A link to a file is followed, including the file's sidecar.
#[cfg(unix)]
#[test]
fn a_link_to_a_file_has_its_sidecar() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "k.ttl"]).exits(0);
    fs::create_dir(home.at("links")).unwrap();
    std::os::unix::fs::symlink("../k.ttl", home.at("links/l.ttl")).unwrap();
    home.run(&["diff", "people.csv", "links/l.ttl"]).exits(0);
    home.run(&["carry", "show", "links/l.ttl"]).exits(0);
    let done = home.run(&["convert", "people.csv", "links/l.ttl", "--replace"]).exits(0);
    assert!(done.out.contains("/k.ttl.isomorph/"), "{}", done.out);
    home.run(&["diff", "people.csv", "links/l.ttl"]).exits(0);
    home.run(&["carry", "drop", "links/l.ttl"]).exits(0);
    assert!(!home.at("k.ttl.isomorph").exists());
    // A sidecar next to the link is used if the file has none.
    home.run(&["convert", "people.csv", "a.ttl"]).exits(0);
    fs::rename(home.at("a.ttl"), home.at("stored")).unwrap();
    std::os::unix::fs::symlink("stored", home.at("a.ttl")).unwrap();
    home.run(&["diff", "people.csv", "a.ttl"]).exits(0);
}

/// The hints of errors work.
#[cfg(unix)]
#[test]
fn hints_about_destinations_work() {
    let home = Home::with_people();
    let done = home.run(&["convert", "people.csv", "new.ttl/"]).exits(2);
    assert!(done.err.contains("try    new.ttl\n") && !done.err.contains("--replace"), "{}", done.err);
    home.run(&["convert", "people.csv", "new.ttl"]).exits(0);
    std::os::unix::fs::symlink("nowhere", home.at("dangling.ttl")).unwrap();
    for more in [&[][..], &["--replace"]] {
        let done = home.run(&[&["convert", "people.csv", "dangling.ttl"], more].concat()).exits(2);
        assert!(done.err.contains("rm dangling.ttl") && !done.err.contains("--replace"), "{}", done.err);
    }
    // A directory where a file is expected is never replaced.
    fs::create_dir(home.at("d.ttl")).unwrap();
    let done = home.run(&["convert", "people.csv", "d.ttl"]).exits(2);
    assert!(!done.err.contains("--replace"), "{}", done.err);
}

/// A directory that is not a graph is not replaced: its contents are unknown.
#[test]
fn a_directory_that_is_no_graph_is_not_replaced() {
    let home = Home::with_people();
    fs::create_dir(home.at("home")).unwrap();
    home.write("home/thesis.txt", "precious");
    fs::create_dir(home.at("mixed")).unwrap();
    home.write("mixed/thesis.txt", "precious");
    fs::copy(home.at("people.csv"), home.at("mixed/people.csv")).unwrap();
    for name in ["home", "mixed"] {
        for plan in [&["--plan"][..], &[]] {
            let replace = ["convert", "people.csv", name, "--to", "graphar", "--replace"];
            let done = home.run(&[&replace, plan].concat()).exits(2);
            assert!(done.err.contains("would be removed"), "{}", done.err);
        }
        assert!(home.at(&format!("{name}/thesis.txt")).exists());
    }
    // Graphs are replaced, with or without a sidecar, and empty directories.
    fs::create_dir(home.at("empty")).unwrap();
    for name in ["empty", "g.gar", "g.lake", "g.deepgnn", "annnet"] {
        let to = if name == "annnet" { "annnet" } else { "graphar" };
        if name != "empty" {
            let first = ["convert", "people.csv", name, "--lossy"];
            let format = if name == "annnet" { &["--to", "annnet"][..] } else { &[] };
            home.run(&[&first, format].concat()).exits(0);
        }
        for _ in 0..2 {
            home.run(&["convert", "people.csv", name, "--to", to, "--replace"]).exits(0);
        }
    }
    home.run(&["convert", "people.csv", "parts", "--to", "nock", "--partitions", "2", "--lossy"]).exits(0);
    home.run(&["convert", "people.csv", "parts", "--to", "graphar", "--replace"]).exits(0);
}

/// A plan fails where the conversion fails.
#[test]
fn a_plan_refuses_what_the_conversion_refuses() {
    let home = Home::with_people();
    let refused: [&[&str]; 8] = [
        &["q.parq", "--sort"],
        &["q.csv", "--nested-edges"],
        &["q.csv", "--compression", "zstd"],
        &["q.ttl", "--compression", "gzip"],
        &["q.ttl", "--file-type", "orc"],
        &["q.lake", "--file-type", "csv"],
        &["q.json", "--to", "deepgnn", "--compression", "zstd"],
        &["q.tsv", "--file-type", "csv"],
    ];
    for arguments in refused {
        for plan in [&["--plan"][..], &[]] {
            home.run(&[&["convert", "people.csv"], arguments, plan].concat()).exits(2);
        }
    }
}

/// If the name has no extension, the input's format is written; no internal path is shown for standard output.
#[test]
fn a_name_without_an_ending_takes_the_sources_format() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "people.gar", "--lossy"]).exits(0);
    home.run(&["convert", "people.gar", "again"]).exits(0);
    assert_eq!(home.run(&["info", "again", "--json"]).exits(0).json()["format"], "graphar");
    let done = home.run(&["convert", "people.gar", "again.what"]).exits(2);
    assert!(done.err.contains("--to graphar"), "{}", done.err);
    let done = home.run(&["convert", "people.csv", "-", "--to", "rdf"]).exits(2);
    assert!(done.err.contains("--to-syntax") && !done.err.contains("result"), "{}", done.err);
}

/// A destination inside or around the input is rejected for every format, and no hint names the input.
#[test]
fn a_destination_inside_the_source_or_around_it_is_refused() {
    let home = Home::with_people();
    let sources: [&[&str]; 5] = [
        &["g", "--to", "graphar"],
        &["p", "--to", "nock", "--partitions", "2"],
        &["a", "--to", "annnet"],
        &["d", "--to", "deepgnn"],
        &["l.lake"],
    ];
    for arguments in sources {
        let place = arguments[0];
        home.run(&[&["convert", "people.csv"], arguments].concat()).exits(0);
        let before = home.run(&["digest", place]).exits(0).out;
        let names = fs::read_dir(home.at(place)).unwrap().map(|entry| entry.unwrap().file_name());
        let inside: Vec<String> = names.map(|name| format!("{place}/{}", name.to_str().unwrap())).collect();
        for destination in inside.into_iter().chain([".".to_owned(), format!("{place}/..")]) {
            for more in [&["--to", "nock", "--replace"][..], &["--to", "graphar", "--replace"], &["--to", "graphar"]] {
                let done = home.run(&[&["convert", place, &destination], more].concat()).exits(2);
                assert!(!done.err.contains("rm -r") && !done.err.contains("try    --replace"), "{}", done.err);
            }
        }
        assert_eq!(home.run(&["digest", place]).exits(0).out, before);
    }
    // A file inside the destination; a file next to an information file is not part of the graph.
    home.run(&["convert", "p/part_0.parq", "p", "--replace"]).exits(2);
    let mut names = fs::read_dir(home.at("g")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let graph = format!("g/{}", names.find(|name| name.ends_with(".graph.yml")).unwrap());
    home.run(&["convert", &graph, &graph, "--to", "nock", "--replace"]).exits(2);
    for _ in 0..2 {
        home.run(&["convert", &graph, "g/out.csv", "--replace", "--sidecar", "ignore"]).exits(0);
    }
    home.run(&["convert", "people.csv", "people.csv", "--replace"]).exits(0);
}

/// A name that opens something else is rejected, with a hint that works.
#[test]
fn names_of_information_files_and_of_packed_texts_are_refused() {
    let home = Home::with_people();
    let refused: [(&[&str], &str); 8] = [
        (&["y.graph.yml", "--to", "nock"], "y.graph.parq"),
        (&["y.yml", "--to-syntax", "nt"], "y.nt"),
        (&["z.graph.yml", "--to", "graphar"], "z.graph.gar"),
        (&["z.yml", "--to", "annnet"], "z"),
        (&["z.yaml", "--to", "deepgnn"], "z.deepgnn"),
        (&["z.yml", "--to", "graphlake"], "z.lake"),
        (&["x.json.gz", "--to-syntax", "rdf"], "x.json.gz.rdf"),
        (&["x.json.zst", "--to-syntax", "nt"], "x.json.zst.nt"),
    ];
    for (arguments, name) in refused {
        let done = home.run(&[&["convert", "people.csv"], arguments].concat()).exits(2);
        assert!(done.err.contains(&format!("try    {name}\n")), "{arguments:?}: {}", done.err);
        home.run(&[&["convert", "people.csv", name], &arguments[1..]].concat()).exits(0);
        home.run(&["diff", "people.csv", name]).exits(0);
    }
}
