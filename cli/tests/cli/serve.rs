//! `serve` in a build without the server; `crates/server` and `interop` test the server.

use crate::support::Home;

#[test]
fn a_command_without_the_server_names_the_one_that_has_it() {
    let home = Home::with_people();
    let words = ["serve", "deepgnn", "people.csv"];
    if cfg!(feature = "serve") {
        let done = home.run(&[&words[..], &["--address", "0.0.0.0:0"]].concat()).exits(2);
        assert!(done.err.contains("--insecure"), "{}", done.err);
        let done = home.run(&[&words[..], &["--generator", "deepgnn"]].concat()).exits(2);
        assert!(done.err.contains("--to deepgnn"), "{}", done.err);
        return;
    }
    for words in [&words[..], &["bench", "serve", "127.0.0.1:1"]] {
        let done = home.run(words).exits(3);
        assert!(done.err.contains("built without the server"), "{}", done.err);
        assert!(done.err.contains("cargo install --path cli"), "{}", done.err);
    }
}
