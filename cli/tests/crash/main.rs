//! Kills conversions: afterwards the destination is in the old state or in the new one, never a mix, and the next run
//! is not affected.
//!
//! Each test kills its conversion [`kill::KILLS`] times, at moments that follow from a seed. `CRASH_SEED` and
//! `CRASH_KILLS` change both.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

#[path = "../cli/support.rs"]
#[allow(dead_code)]
mod support;

mod extend;
mod graphs;
mod kill;
mod load;
mod scenario;
mod tree;

use scenario::Scenario;

#[test]
fn a_new_file() {
    Scenario::new("a new file", "social", "out.parq", &[]).run();
}

#[test]
fn a_new_file_without_a_sidecar() {
    Scenario::new("a new file without a sidecar", "people.csv", "out.parq", &["--lossy"]).run();
}

#[test]
fn a_new_text_file() {
    Scenario::new("a new text file", "social", "out.csv", &[]).run();
}

#[test]
fn a_new_directory() {
    Scenario::new("a new directory", "people.csv", "out", &["--to", "graphar"]).run();
}

#[test]
fn a_new_directory_of_partitions() {
    Scenario::new("a new directory of partitions", "social", "out", &["--to", "nock", "--partitions", "3", "--lossy"])
        .run();
}

#[test]
fn a_new_directory_of_text() {
    Scenario::new("a new directory of text", "social", "out", &["--to", "graphar", "--file-type", "csv"]).run();
}

#[test]
fn a_file_that_replaces_a_file() {
    Scenario::new("a file that replaces a file", "people.csv", "out.parq", &["--lossy"])
        .replacing(&["other.csv", "out.parq", "--lossy"])
        .run();
}

#[test]
fn a_file_with_a_carry_that_replaces_another() {
    Scenario::new("a file with a sidecar that replaces another", "social", "out.parq", &[])
        .replacing(&["other", "out.parq"])
        .run();
}

#[test]
fn a_file_that_replaces_one_with_a_sidecar() {
    Scenario::new("a file that replaces one with a sidecar", "people.csv", "out.parq", &[])
        .replacing(&["other", "out.parq"])
        .run();
}

#[test]
fn a_directory_that_replaces_a_directory() {
    Scenario::new("a directory that replaces a directory", "people.csv", "out", &["--to", "graphar"])
        .replacing(&["other.csv", "out", "--to", "graphar"])
        .run();
}

#[test]
fn a_large_new_file() {
    Scenario::new("a large new file", "large.csv", "out.parq", &[]).kills(3).run();
}

#[test]
fn a_large_directory_that_replaces_a_directory() {
    Scenario::new("a large directory that replaces a directory", "large.csv", "out", &["--to", "graphar"])
        .replacing(&["other.csv", "out", "--to", "graphar"])
        .kills(3)
        .run();
}
