//! Files that are not what their names say: a clear error, and nothing is published.

use std::fs;
use std::path::Path;

use crate::support::{Home, PEOPLE, sample};

/// Converts invalid input, and checks that the error has all details.
#[track_caller]
fn refused(home: &Home, source: &str, says: &str) {
    let before = home.names();
    let done = home.run(&["convert", source, "result.parq"]).exits(3);
    assert!(done.err.starts_with("error"), "{}", done.err);
    assert!(done.err.contains(says), "{says}: {}", done.err);
    assert!(done.err.contains("\n  file   "), "{}", done.err);
    assert!(done.err.ends_with("no output was written\n"), "{}", done.err);
    assert!(!done.err.contains("panicked"), "{}", done.err);
    assert_eq!(done.err.matches("error").count(), 1, "{}", done.err);
    assert_eq!(home.names(), before);
}

#[test]
fn a_truncated_parquet_file() {
    let home = Home::with_people();
    home.run(&["convert", "people.csv", "people.parq"]).exits(0);
    let bytes = fs::read(home.at("people.parq")).unwrap();
    for (name, bytes) in
        [("short.parq", &bytes[..bytes.len() - 20]), ("empty.parquet", b""), ("none.parq", b"none at all")]
    {
        home.write(name, bytes);
        refused(&home, name, name);
        refused(&home, name, "PARQUET-FOOTER");
    }
}

#[test]
fn props_that_are_no_object() {
    let home = Home::new();
    home.write("list.csv", PEOPLE.replace("{\"\"born\"\": 1815}", "[1815]"));
    refused(&home, "list.csv", "NOCK-");
}

#[test]
fn bytes_that_are_no_text() {
    let home = Home::new();
    home.write(
        "bytes.csv",
        PEOPLE
            .replace("mary", "m?ry")
            .into_bytes()
            .iter()
            .map(|&byte| if byte == b'?' { 0xff } else { byte })
            .collect::<Vec<u8>>(),
    );
    refused(&home, "bytes.csv", "bytes.csv");
}

#[test]
fn a_damaged_chunk_of_a_graphar_graph() {
    let Some(graph) = sample("ldbc_sample/parquet/ldbc_sample.graph.yml") else { return };
    let home = Home::new();
    let from = Path::new(&graph).parent().unwrap();
    copy(from, &home.at("graph"));
    let chunk = home.at("graph/vertex/person/id/chunk3");
    let mut bytes = fs::read(&chunk).unwrap();
    let middle = bytes.len() - 6;
    bytes[middle] ^= 0x40;
    fs::write(&chunk, bytes).unwrap();
    refused(&home, "graph/ldbc_sample.graph.yml", "vertex/person/id/chunk3");
    fs::remove_file(&chunk).unwrap();
    refused(&home, "graph/ldbc_sample.graph.yml", "vertex/person/id/chunk3");
}

#[test]
fn a_manifest_that_leads_elsewhere() {
    let Some(graph) = sample("modern_graph/modern_graph.graph.yml") else { return };
    let home = Home::new();
    copy(Path::new(&graph).parent().unwrap(), &home.at("graph"));
    let manifest = home.at("graph/modern_graph.graph.yml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text.replace("person.vertex.yml", "../../person.vertex.yml")).unwrap();
    refused(&home, "graph/modern_graph.graph.yml", "PATH");
}

/// Copies a directory recursively.
pub fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(name)),
            false => drop(fs::copy(entry.path(), to.join(name)).unwrap()),
        }
    }
}
