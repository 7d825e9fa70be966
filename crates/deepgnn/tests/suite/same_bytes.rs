//! Building from texts gives the same bytes as the published converter.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use common::{built, compare, fixtures};
use isomorph_deepgnn::{BuildOptions, Dispatch, OpenOptions};
use isomorph_storage::{Budget, Location};

/// Builds `text` of a fixture and compares the directory with `directory` of it.
fn same(text: &str, directory: &str, open: OpenOptions, options: &BuildOptions) {
    let root = fixtures();
    let home = tempfile::tempdir().unwrap();
    let out = home.path().join("out");
    built(&root.join(text), &out, &open, options).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    compare(&out, &root.join(directory), text);
}

fn partitions(partitions: u32) -> BuildOptions {
    BuildOptions { partitions, ..BuildOptions::default() }
}

/// As the published converter reads it.
fn compat() -> OpenOptions {
    OpenOptions { compat: true, ..OpenOptions::default() }
}

/// With a file of defaults next to the text, under another name.
fn with_defaults(name: &str) -> OpenOptions {
    let place = Location::from_path(&fixtures().join(name));
    OpenOptions { defaults: Some(place), ..OpenOptions::default() }
}

#[test]
fn the_karate_club_in_four_formats() {
    for format in ["linear", "edgelist", "json", "tsv"] {
        let text = format!("karate/graph.{format}");
        for open in [OpenOptions::default(), compat()] {
            same(&text, &format!("karate/bin_{format}_p1"), open.clone(), &partitions(1));
            same(&text, &format!("karate/bin_{format}_p3"), open, &partitions(3));
        }
    }
}

#[test]
fn lines_are_dispatched_by_id_when_asked() {
    let options = BuildOptions { dispatch: Dispatch::Id, ..partitions(3) };
    same("karate/graph.linear", "karate/bin_linear_mod3", OpenOptions::default(), &options);
    // A node and its edges stay together, although each has its own line.
    same("karate/graph.edgelist", "karate/bin_linear_mod3", OpenOptions::default(), &options);
}

#[test]
fn tables_for_sampling_are_left_out_when_asked() {
    let options = BuildOptions { node_samplers: false, edge_samplers: false, ..BuildOptions::default() };
    same("karate/graph.linear", "karate/bin_linear_noalias", OpenOptions::default(), &options);
}

#[test]
fn tables_for_sampling_are_the_same_without_memory() {
    let options = BuildOptions { budget: Budget::new(0), ..partitions(1) };
    same("karate/graph.linear", "karate/bin_linear_p1", OpenOptions::default(), &options);
}

#[test]
fn types_and_all_kinds_of_features() {
    for format in ["linear", "edgelist", "json"] {
        for count in [1, 3] {
            let text = format!("hetero/graph.{format}");
            same(&text, &format!("hetero/bin_{format}_p{count}"), OpenOptions::default(), &partitions(count));
        }
    }
}

#[test]
fn defaults_that_are_partly_none() {
    let defaults = with_defaults("hetero/defaults.meta.json");
    same("hetero/defaults.linear", "hetero/bin_defaults", defaults, &partitions(1));
}

#[test]
fn the_examples_of_the_specification() {
    same("seed_linear/graph_fixed.linear", "seed_linear/bin_fixed", OpenOptions::default(), &partitions(1));
    let fixed = with_defaults("seed_linear/meta_fixed3.json");
    same("seed_linear/graph_meta_fixed.linear", "seed_linear/bin_meta_fixed", fixed, &partitions(1));
    same("seed_json/graph_fixed.json", "seed_json/bin_fixed", compat(), &partitions(1));
    same("seed_json/graph_oneline.json", "seed_json/bin_oneline_np1", compat(), &partitions(1));
    same("seed_tsv/graph_i64.tsv", "seed_tsv/bin_i64", compat(), &partitions(1));
    for open in [OpenOptions::default(), compat()] {
        same("seed_tsv/graph_fixed.tsv", "seed_tsv/bin_fixed", open, &partitions(1));
    }
}
