//! A lake in which another writer has put triples into several files.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{dumped, same_lines, validate};
use crate::case::Case;
use crate::truth::Truth;

/// The lake that the case was converted to, and where it is changed.
const LAKE: &str = "to.lake";
const REPEATED: &str = "repeated.lake";

/// Lists some files of the lake a second time, under other names, by subject, by object or both; every answer is that of the lake as it was.
pub fn all(case: &mut Case, truth: &Truth) {
    if case.made.format != "rdf" || !case.home().join(LAKE).exists() {
        return;
    }
    copy(&case.home().join(LAKE), &case.home().join(REPEATED));
    let again = list_again(case);
    if !again {
        return;
    }
    if let Some(found) = dumped(case, "repeats", REPEATED) {
        same_lines(case, "repeats", &format!("dump of {REPEATED}"), &found.lines, &truth.lines);
    }
    validate(case, REPEATED);
    let equal = case.run(&["diff", LAKE, REPEATED, "--json"]);
    let said = equal.code == Some(0) && equal.json()["equal"] == true;
    case.compare("repeats", said, || format!("diff {LAKE} {REPEATED}: {:?} {}{}", equal.code, equal.out, equal.err));
    for pattern in ["? ? ?", "?a ?p ?b", "<urn:a> ? ?", "? <urn:p> ?", "? ? <urn:a>", "? ? \"a\""] {
        let counted = [LAKE, REPEATED].map(|lake| case.run(&["match", lake, pattern, "--count", "--json"]).json());
        let [expected, found] = counted.map(|document| document["count"].clone());
        case.compare("repeats", expected == found && found.is_u64(), || format!("{pattern}: {expected}, {found}"));
        let lines = [LAKE, REPEATED].map(|lake| case.run(&["match", lake, pattern, "--nquads"]).out);
        case.compare("repeats", lines[0] == lines[1], || format!("{pattern}: {lines:?}"));
    }
}

/// Whether something was listed.
fn list_again(case: &mut Case) -> bool {
    let home = case.home().join(REPEATED);
    let name = home.join("snapshots/snapshot1.json");
    let mut snapshot: Value = serde_json::from_slice(&fs::read(&name).expect("a snapshot")).expect("JSON");
    let mut any = false;
    for graph in snapshot["graphs"].as_object_mut().expect("graphs").values_mut() {
        for list in ["so_data_files", "os_data_files"] {
            let files = graph[list].as_array_mut().expect("files");
            for mut file in files.clone() {
                if !case.dice.chance(40) {
                    continue;
                }
                let path = file["path"].as_str().expect("a path").to_owned();
                let other = path.replace(".bin", ".again.bin");
                fs::copy(home.join(&path), home.join(&other)).expect("a file");
                (file["id"], file["path"]) = (json!(format!("again {other}")), json!(other));
                files.push(file);
                any = true;
            }
        }
    }
    fs::write(name, snapshot.to_string()).expect("a file");
    any
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).expect("a file")),
        }
    }
}
