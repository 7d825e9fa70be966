//! Usage errors, and output that scripts rely on.

use crate::support::Home;

#[test]
fn nonsense_is_a_usage_error() {
    let home = Home::with_people();
    for arguments in [
        &["--frobnicate"][..],
        &[],
        &["convert", "people.csv"],
        &["info", "people.csv", "--from", "sgml"],
        &["info", "people.csv", "--sidecar", "maybe"],
        &["convert", "people.csv", "x.parq", "--memory", "lots"],
        &["convert", "people.csv", "x.parq", "--memory", "1KiB"],
        &["convert", "people.csv", "x.parq", "--threads", "0"],
        &["convert", "people.csv", "x.parq", "--compression", "zip"],
        &["info", "people.csv", "--strict", "--lenient"],
        &["neighbors", "people.csv"],
        &["neighbors", "people.csv", "ada", "--row", "1"],
        &["explain", "NO-SUCH-RULE"],
        &["man", "nothing"],
        &["convert", "people.csv", "some.where"],
        &["convert", "people.csv", "x.parq", "--vertex-chunk", "5"],
        &["convert", "people.csv", "x", "--to", "graphar", "--sort"],
        &["convert", "people.csv", "x.parq", "--types", "person"],
        &["info", "people.csv", "--adjacency", "ordered_by_source"],
    ] {
        let done = home.run(arguments).exits(2);
        assert!(done.err.starts_with("error: ") || done.err.contains("Usage:"), "{arguments:?}: {}", done.err);
        assert_eq!(done.out, "", "{arguments:?}");
    }
    assert_eq!(home.names(), ["people.csv"]);
}

/// A build without the object stores names the command that has them; `cargo xtask readme` checks that on such a build. A build
/// with them asks the server.
#[test]
fn urls_are_opened_by_a_build_with_object_stores() {
    let home = Home::new();
    if !cfg!(feature = "cloud") {
        let done = home.run(&["info", "s3://bucket/graph"]).exits(3);
        assert!(
            done.err.contains("\n  try    cargo install --path cli   build the command with object stores\n"),
            "{}",
            done.err
        );
        return;
    }
    let done = home.run(&["info", &format!("http://{}/a.graphml", empty_server())]).exits(3);
    assert!(done.err.starts_with("error: no such file or directory"), "{}", done.err);
}

/// The address of a web server that has nothing, until the process ends.
fn empty_server() -> std::net::SocketAddr {
    use std::io::{BufRead, BufReader, Write};
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut client in server.incoming().map_while(Result::ok) {
            // A request ends with an empty line.
            let lines = BufReader::new(client.try_clone().unwrap()).lines();
            lines.map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
            client.write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
        }
    });
    address
}

#[test]
fn nonsense_is_a_document_for_scripts() {
    let home = Home::with_people();
    for (arguments, message) in [
        (&["--json", "--frobnicate"][..], "unexpected argument '--frobnicate' found"),
        (&["info", "people.csv", "--sidecar", "maybe", "--json"], "invalid value 'maybe' for '--sidecar <USE>'"),
        (&["convert", "people.csv", "--json"], "the following required arguments were not provided: <DESTINATION>"),
        (&["info", "people.csv", "--json", "--key", "row"], ""),
    ] {
        let done = home.run(arguments).exits(2);
        assert_eq!(done.out, "", "{arguments:?}");
        let document = done.error();
        let error = &document["error"];
        assert_eq!((&error["kind"], &error["exit_code"]), (&"usage".into(), &2.into()), "{arguments:?}: {document}");
        assert!(error["message"].as_str().unwrap().starts_with(message), "{arguments:?}: {document}");
    }
    // After `--`, it is the name of a file.
    let done = home.run(&["info", "--frobnicate", "--", "--json"]).exits(2);
    assert!(done.err.starts_with("error: "), "{}", done.err);
    // Help that was requested is not an error.
    assert!(home.run(&["info", "--help", "--json"]).exits(0).out.contains("Usage"));
}

#[test]
fn colour_is_as_it_is_asked_for() {
    let home = Home::with_people();
    let marked =
        |arguments: &[&str]| home.run(&[&["info", "people.csv"], arguments].concat()).exits(0).out.contains("\x1b[32m");
    assert!(marked(&["--color", "always"]));
    assert!(!marked(&["--color", "never"]) && !marked(&["--color", "auto"]) && !marked(&[]), "a pipe");
    home.run(&["info", "people.csv", "--color", "sometimes"]).exits(2);
}

#[test]
fn an_argument_for_another_format_says_so() {
    let home = Home::with_people();
    let done = home.run(&["info", "people.csv", "--key", "row"]).exits(2);
    assert_eq!(done.err, "error: --key applies to GraphAr; this graph's format is NOCK\n  file   people.csv\n");
}

#[test]
fn errors_have_a_json_form() {
    let home = Home::new();
    let done = home.run(&["info", "nowhere.parq", "--json"]).exits(3);
    assert_eq!(done.out, "");
    let document = done.error();
    let error = &document["error"];
    assert_eq!(error["kind"], "not-found");
    assert_eq!(error["exit_code"], 3);
    assert_eq!(error["place"]["file"], "nowhere.parq");
    assert!(error["message"].is_string() && error["rule"].is_null() && error["try"].is_array());
}

#[test]
fn places_that_are_not_there_are_bad_input() {
    let home = Home::new();
    for command in ["info", "validate", "digest", "dump"] {
        let done = home.run(&[command, "nowhere.parq"]).exits(3);
        assert!(done.err.starts_with("error: "), "{}", done.err);
        assert!(done.err.contains("nowhere.parq"), "{}", done.err);
    }
    home.run(&["convert", "nowhere.parq", "x.parq"]).exits(3);
    assert!(home.names().is_empty());
}

#[test]
fn a_destination_in_a_place_that_is_not_there_is_an_error() {
    let home = Home::with_people();
    let done = home.run(&["convert", "people.csv", "no/such/place.parq"]).exits(3);
    assert!(done.err.ends_with("no output was written\n"), "{}", done.err);
    assert_eq!(home.names(), ["people.csv"]);
}

#[test]
fn mistyped_names_are_told_the_near_ones() {
    let home = Home::with_people();
    let social = crate::support::social();
    let cases: &[(&[&str], &str)] = &[
        (&["neighbors", &social, "7", "--type", "persn"], "no node type persn, did you mean person?"),
        (&["neighbors", &social, "1007", "--type", "person", "--edge", "konws"], "did you mean knows?"),
        (&["dump", &social, "--types", "cty"], "did you mean city?"),
        (&["dump", &social, "--columns", "person.frstName"], "did you mean firstName?"),
        (&["dump", &social, "--where", "persn: id < 3"], "did you mean person?"),
        (&["dump", &social, "--where", "person: gendr = \"x\""], "did you mean gender?"),
        (&["sample", &social, "nodes", "--count", "3", "--types", "pots"], "did you mean post?"),
        (&["info", "peopel.csv"], "did you mean people.csv?"),
        (&["diff", "people.csv", "peopel.csv"], "did you mean people.csv?"),
        (&["validate", "peopel.csv", "--from", "nock"], "did you mean people.csv?"),
    ];
    for (args, expected) in cases {
        let done = home.run(args);
        assert!(done.code == 2 || done.code == 3, "{args:?}: {done:?}");
        assert!(done.err.contains(expected), "{args:?}: {}", done.err);
    }
    let done = home.run(&["neighbors", &social, "7", "--type", "dog"]).exits(2);
    assert!(!done.err.contains("did you mean"), "{}", done.err);
}

/// Help that cannot be written is an error.
#[test]
#[cfg(target_os = "linux")]
fn help_that_cannot_be_written_is_a_failure() {
    for arguments in [&["help", "convert"][..], &["--version"], &["--help"]] {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let status = Home::new().command(arguments).stdout(full).status().unwrap();
        assert_eq!(status.code(), Some(5), "{arguments:?}");
    }
}
