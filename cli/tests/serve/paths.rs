//! What is served: one directory, several, and their errors.

use crate::process::{Served, copy, fails, fixture, load, recording};

#[test]
fn partitions_in_several_directories_are_one_graph() {
    let home = tempfile::tempdir().unwrap();
    let whole = fixture("hetero/bin_linear_p3");
    let (left, right) = (home.path().join("left"), home.path().join("right"));
    let of = |name: &str, numbers: &[&str]| {
        let partition =
            |number: &&str| name.contains(&format!("_{number}_0.")) || name.ends_with(&format!("_{number}.alias"));
        name == "meta.json" || numbers.iter().any(partition)
    };
    copy(&whole, &left, |name| of(name, &["0"]));
    copy(&whole, &right, |name| of(name, &["1", "2"]));
    let one = |paths: &[&std::path::Path], more: &[&str]| {
        let server = Served::of(paths, "127.0.0.1:0", more);
        isomorph_server::load::run(&load(server.address(), Some(recording("hetero_p3_server1and2")), 1, 60)).unwrap()
    };
    // The recording is of the partitions 1 and 2: the metadata is in another directory, and both answer alike.
    let expected = one(&[&whole], &["--partitions", "1,2"]);
    // The other partition need not be there.
    for paths in [&[left.as_path(), &right][..], &[&right]] {
        let found = one(paths, &["--partitions", "1,2"]);
        assert_eq!((found.bytes, &found.refused), (expected.bytes, &expected.refused), "{paths:?}");
    }
    let server = Served::of(&[&left, &right], "127.0.0.1:0", &[]);
    assert_eq!((&server.document["nodes"], &server.document["partitions"]), (&6.into(), &serde_json::json!([0, 1, 2])));
}

#[test]
fn directories_that_are_not_one_graph_are_refused() {
    let path = |name: &str| fixture(name).display().to_string();
    let (left, right) = (path("hetero/bin_linear_p3"), path("karate/bin_linear_p3"));
    let text = fails(&["serve", "deepgnn", &left, &right, "--address", "127.0.0.1:0"], 2);
    assert!(text.contains("these are two graphs"), "{text}");
    let text = fails(&["serve", "deepgnn", &left, &left, "--address", "127.0.0.1:0"], 2);
    assert!(text.contains("partition 0 is also in"), "{text}");
}

#[test]
fn a_kept_graph_is_read_again_only_if_it_changed() {
    let home = tempfile::tempdir().unwrap();
    let (graph, cache) = (home.path().join("graph.json"), home.path().join("cache"));
    std::fs::copy(fixture("karate/graph.json"), &graph).unwrap();
    let cached = ["--cache", cache.to_str().unwrap()];
    // What the server says of the graph, and the bytes of its replies to requests that depend on nothing else.
    let told = |more: &[&str]| {
        let server = Served::of(&[&graph], "127.0.0.1:0", more);
        let measured = isomorph_server::load::run(&load(server.address(), None, 1, 96)).unwrap();
        assert!(measured.is_clean(), "{measured:?}");
        let mut document = server.document.clone();
        for changing in ["address", "metrics"] {
            document.as_object_mut().unwrap().remove(changing);
        }
        (document, measured.bytes)
    };
    let kept = || crate::process::content(&cache);
    let expected = told(&[]);
    assert_eq!(told(&cached), expected);
    let first = kept();
    assert!(first.len() > 9);
    assert_eq!(told(&cached), expected);
    assert_eq!(kept(), first);
    // One byte in the middle, with the same size and the same time.
    let time = std::fs::metadata(&graph).unwrap().modified().unwrap();
    let text = std::fs::read_to_string(&graph).unwrap();
    std::fs::write(&graph, text.replacen("\"weight\": 2.911", "\"weight\": 3.911", 1)).unwrap();
    std::fs::File::options().write(true).open(&graph).unwrap().set_modified(time).unwrap();
    assert_eq!(told(&cached).0, told(&[]).0);
    let second = kept();
    assert_ne!(second, first);
    let names =
        |content: &[(std::path::PathBuf, Vec<u8>)]| content.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    // The new one replaced the old one.
    assert_eq!(names(&second), names(&first));
}
