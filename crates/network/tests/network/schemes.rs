//! Which URLs this build opens.

use isomorph_error::{Error, Kind};
use isomorph_storage::{Blob, Location, Root, SharedRoot};

/// Connects without sending a request.
fn connect(text: &str) -> Option<Error> {
    let place = Location::parse(text).unwrap();
    match place.scheme().is_writable() {
        true => SharedRoot::open(&place).err(),
        false => Root::open(&place).err(),
    }
}

#[test]
fn clients_are_installed_once_or_more_often() {
    isomorph_network::install();
    isomorph_network::install();
    for text in ["s3://lake/a", "http://127.0.0.1:1/a", "https://127.0.0.1:1/a"] {
        let refused = connect(text);
        if cfg!(feature = "cloud") {
            assert!(refused.is_none(), "{text}: {refused:?}");
        } else {
            let error = refused.unwrap();
            assert_eq!(error.kind(), Kind::Unsupported, "{text}: {error:?}");
            assert!(error.hints().any(|hint| hint.starts_with("cargo install --path cli   ")), "{text}: {error:?}");
        }
    }
}

#[test]
fn a_name_node_that_does_not_answer_is_an_error_of_this_build_or_of_the_network() {
    isomorph_network::install();
    // Nothing listens on this port, which was released a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let place = Location::parse(&format!("hdfs://127.0.0.1:{port}/a")).unwrap();
    let error = Blob::open(&place).unwrap_err();
    let expected = if cfg!(feature = "hdfs") { Kind::Io } else { Kind::Unsupported };
    assert_eq!(error.kind(), expected, "{error:?}");
}
