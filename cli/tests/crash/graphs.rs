//! What is converted.

use std::fmt::Write;
use std::path::Path;

use crate::support::{Home, PEOPLE};

/// Makes the source that a scenario names.
pub fn make(home: &Home, name: &str) {
    match name {
        "people.csv" => home.write(name, PEOPLE),
        "other.csv" => home.write(name, PEOPLE.replace("mary", "augusta")),
        "large.csv" => home.write(name, large(50_000)),
        "social" => directory(home, name, PEOPLE),
        "other" => directory(home, name, &PEOPLE.replace("mary", "augusta")),
        _ => panic!("no graph is called {name}"),
    }
}

/// A GraphAr graph with labels, several types and small chunks, as others would have written it: without a carry.
fn directory(home: &Home, name: &str, nock: &str) {
    home.write("source.csv", nock);
    let arguments =
        ["convert", "source.csv", name, "--to", "graphar", "--vertex-chunk", "2", "--edge-chunk", "2", "--lossy"];
    home.run(&arguments).exits(0);
    std::fs::remove_file(home.at("source.csv")).unwrap();
}

/// A NOCK file of `nodes` nodes and as many edges.
fn large(nodes: u64) -> String {
    let mut text = String::from(PEOPLE.lines().next().unwrap());
    for number in 0..nodes {
        let _ = write!(text, "\n\"n{number}\",-1,\"\",\"\",1.0,-1,False,\"\",\"{{\"\"x\"\": {number}}}\"");
        let other = (number * 7919) % nodes;
        let _ = write!(text, "\n\"n{number}\",0,\"r\",\"n{other}\",1.0,-1,False,\"\",\"\"");
    }
    text + "\n"
}

/// Whether anything of the names of a source is left out of what a scenario looks at.
pub fn is_source(path: &Path) -> bool {
    ["people.csv", "other.csv", "large.csv", "social", "other", "tmp"].iter().any(|name| path == Path::new(name))
}
