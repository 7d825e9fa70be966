//! The inputs of the conversions.

use std::fmt::Write;
use std::path::Path;

use crate::support::{Home, PEOPLE};

/// Creates the input that a scenario names.
pub fn make(home: &Home, name: &str) {
    match name {
        "people.csv" => home.write(name, PEOPLE),
        "other.csv" => home.write(name, PEOPLE.replace("mary", "augusta")),
        "large.csv" => home.write(name, large(50_000)),
        "large.nq" => home.write(name, lines(120_000)),
        "small.nq" => home.write(name, lines(10_000)),
        "large.ttl" => home.write(name, format!("@prefix e: <http://example.org/> .\n{}", turtle(40_000))),
        "social" => directory(home, name, PEOPLE),
        "other" => directory(home, name, &PEOPLE.replace("mary", "augusta")),
        _ => panic!("no graph is called {name}"),
    }
}

/// Creates a GraphAr graph with labels, several types and small chunks, as other software would write it: without a
/// sidecar.
fn directory(home: &Home, name: &str, nock: &str) {
    home.write("source.csv", nock);
    let arguments =
        ["convert", "source.csv", name, "--to", "graphar", "--vertex-chunk", "2", "--edge-chunk", "2", "--lossy"];
    home.run(&arguments).exits(0);
    std::fs::remove_file(home.at("source.csv")).unwrap();
}

/// Returns a NOCK file of `nodes` nodes and as many edges.
fn large(nodes: u64) -> String {
    let mut text = String::from(PEOPLE.lines().next().unwrap());
    for number in 0..nodes {
        let _ = write!(text, "\n\"n{number}\",-1,\"\",\"\",1.0,-1,False,\"\",\"{{\"\"x\"\": {number}}}\"");
        let other = (number * 7919) % nodes;
        let _ = write!(text, "\n\"n{number}\",0,\"r\",\"n{other}\",1.0,-1,False,\"\",\"\"");
    }
    text + "\n"
}

/// Returns so many quads that each thread needs several runs if memory is short.
fn lines(quads: u64) -> String {
    let quad = |n: u64| match n % 3 {
        0 => format!("<urn:n:{}> <http://example.org/name> \"thing {n}\"@en .\n", n % 9_000),
        1 => format!("<urn:n:{}> <http://example.org/near> <urn:n:{}> <urn:graph:{}> .\n", n % 7_000, n % 997, n % 3),
        _ => format!("<urn:o:{n}> <http://example.org/p{}> \"{}\"^^<urn:type:{}> .\n", n % 5, n % 1_000, n % 4),
    };
    (0..quads).map(quad).collect()
}

fn turtle(subjects: u64) -> String {
    (0..subjects).map(|n| format!("e:s{n} e:name \"n{n}\" , \"m{n}\" ; e:of e:s{} .\n", n * 7 % subjects)).collect()
}

/// Returns whether a name belongs to an input, which scenarios do not compare.
pub fn is_source(path: &Path) -> bool {
    let sources =
        ["people.csv", "other.csv", "large.csv", "large.nq", "small.nq", "large.ttl", "social", "other", "tmp"];
    sources.iter().any(|name| path == Path::new(name))
}
