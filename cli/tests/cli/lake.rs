//! `lake`: stores of GraphLake that are changed where they lie.

use crate::support::{Home, assert_screen, fixture};

#[test]
fn a_store_is_made_and_looked_at() {
    let home = Home::new();
    let made = home.run(&["lake", "init", "people.lake"]).exits(0);
    assert_eq!(made.out, "wrote    people.lake, a store without snapshots\n");
    home.run(&["lake", "init", "people.lake"]).exits(2);
    let log = home.run(&["lake", "log", "people.lake"]).exits(0);
    assert_eq!(log.out, "nothing  the store has no snapshots yet\n");
    home.run(&["validate", "people.lake"]).exits(0);
    home.run(&["lake", "log", "nowhere"]).exits(3);
    std::fs::create_dir(home.at("empty")).unwrap();
    let none = home.run(&["lake", "compact", "empty"]).exits(3);
    assert!(none.err.contains("isomorph lake init empty"), "{}", none.err);
}

#[test]
fn the_history_of_a_store_is_told_merged_and_shortened() {
    let Some(history) = fixture("graphlake/history") else { return };
    let home = Home::new();
    copy(history.as_ref(), &home.at("h.lake"));
    let log = home.run(&["lake", "log", "h.lake"]).exits(0);
    assert_screen("lake_log", &log.screen());
    let all = home.run(&["lake", "log", "h.lake", "--limit", "2", "--json"]).exits(0).json();
    assert_eq!((all[0]["version"].as_i64(), all.as_array().unwrap().len()), (Some(12), 2));
    let merged = home.run(&["lake", "compact", "h.lake", "--full", "--epoch", "1800000000"]).exits(0);
    assert_screen("lake_compact", &merged.screen());
    home.run(&["diff", "h.lake@12", "h.lake@13"]).exits(0);
    assert_eq!(home.run(&["lake", "compact", "h.lake", "--full"]).exits(0).out, "nothing  there is nothing to be merged\n");
    home.run(&["validate", "h.lake", "--strict"]).exits(0);
    let would = home.run(&["lake", "vacuum", "h.lake", "--keep-last", "3"]).exits(0);
    assert!(would.out.contains("remove 10 snapshots and 10 files"), "{}", would.out);
    home.run(&["info", "h.lake@1"]).exits(0);
    let removed = home.run(&["lake", "vacuum", "h.lake", "--keep-last", "3", "--grace", "0s", "--apply", "--json"]).exits(0);
    assert_eq!(removed.json()["snapshots"].as_array().unwrap().len(), 10);
    home.run(&["info", "h.lake@10"]).exits(3);
    home.run(&["diff", "h.lake@12", "h.lake"]).exits(0);
    home.run(&["validate", "h.lake"]).exits(0);
    home.run(&["lake", "vacuum", "h.lake", "--keep-for", "soon"]).exits(2);
}

fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}
