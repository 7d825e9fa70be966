//! `lake load` from standard input.

use crate::support::Home;

const TURTLE: &str = "@prefix : <urn:x:> .\n:ann :knows _:bob ; :name \"Ann\"@en .\n";
const LINES: &str = "<urn:x:ann> <urn:x:knows> _:bob .\n<urn:x:ann> <urn:x:name> \"Ann\"@en .\n";

#[test]
fn standard_input_is_a_text_of_any_syntax_packed_or_not() {
    let home = Home::new();
    home.write("people.ttl", TURTLE);
    home.run(&["lake", "load", "file", "people.ttl"]).exits(0);
    for syntax in ["nt", "nq", "trig", "rdf", "jsonld"] {
        home.run(&["convert", "people.ttl", &format!("people.{syntax}")]).exits(0);
    }
    for name in ["people.nt.gz", "people.ttl.zst", "people.rdf.gz"] {
        home.run(&["convert", "people.ttl", name]).exits(0);
    }
    for name in home.names().iter().filter(|name| name.starts_with("people.")) {
        let text = std::fs::read(home.at(name)).unwrap();
        let lake = format!("{name}.lake");
        let loaded = home.feed(&["lake", "load", &lake, "-"], &text).exits(0);
        assert!(loaded.out.contains("loaded   2 quads from 1 file"), "{name}: {}", loaded.out);
        home.run(&["diff", "file", &lake]).exits(0);
    }
    // A byte order mark is not part of a text, and does not affect detection.
    for name in home.names().iter().filter(|name| name.starts_with("people.") && !name.ends_with(".lake")) {
        if name.ends_with(".gz") || name.ends_with(".zst") {
            continue;
        }
        let text = [&b"\xef\xbb\xbf"[..], &std::fs::read(home.at(name)).unwrap()].concat();
        home.write(&format!("marked.{name}"), &text);
        for (lake, source, input) in [("piped", "-", text.as_slice()), ("loaded", &format!("marked.{name}"), b"")] {
            let lake = format!("{lake}.{name}.lake");
            let loaded = home.feed(&["lake", "load", &lake, source], input).exits(0);
            assert!(loaded.out.contains("2 quads"), "{name}: {}", loaded.out);
            home.run(&["diff", "file", &lake]).exits(0);
        }
    }
    // If the beginning is ambiguous, --syntax decides, whatever detection would choose.
    let turtle = home.feed(&["lake", "load", "told", "-", "--syntax", "ttl"], LINES.as_bytes()).exits(0);
    assert!(turtle.out.contains("2 quads"), "{}", turtle.out);
    home.run(&["diff", "file", "told"]).exits(0);
}

#[test]
fn standard_input_is_one_text_among_others() {
    let home = Home::new();
    home.write("other.nt", LINES);
    let words = ["lake", "load", "lake", "other.nt", "-", "--graph", "urn:g", "--blank-map", "map.tsv", "--json"];
    let loaded = home.feed(&words, LINES.as_bytes()).exits(0).json();
    assert_eq!((loaded["quads"].as_u64(), loaded["triples"].as_u64()), (Some(4), Some(3)));
    let import = loaded["blank_prefix"].as_str().unwrap();
    let map = std::fs::read_to_string(home.at("map.tsv")).unwrap();
    let line = |text, name| format!("_:bob\t_:{import}{text}_bob\t{name}\n");
    assert_eq!(map, line(1, "other.nt") + &line(2, "standard input"));
}

#[test]
fn standard_input_that_cannot_be_read_changes_nothing() {
    let home = Home::new();
    let broken = home.feed(&["lake", "load", "lake", "-"], b"<urn:a> <urn:b> <urn:c> .\n<urn:a> <urn:b>\n").exits(3);
    assert!(broken.err.contains("standard input") && broken.err.contains("line 2"), "{}", broken.err);
    let unknown = home.feed(&["lake", "load", "lake", "-"], b"").exits(3);
    assert!(unknown.err.contains("--syntax"), "{}", unknown.err);
    let twice = home.feed(&["lake", "load", "lake", "-", "-"], b"").exits(2);
    assert!(twice.err.contains("once"), "{}", twice.err);
    let resumed = home.feed(&["lake", "load", "lake", "-", "--resume"], LINES.as_bytes()).exits(2);
    assert!(resumed.err.contains("without --resume"), "{}", resumed.err);
    assert_eq!(home.names(), Vec::<String>::new());
    // A path names the file in a directory.
    home.write("-", LINES);
    home.run(&["lake", "load", "lake", "./-", "--syntax", "nt"]).exits(0);
}
