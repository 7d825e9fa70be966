use isomorph_error::Kind;
use isomorph_storage::{Blob, Location, Mode, Root, Scheme, Staging};

#[test]
fn places_are_read_as_users_write_them() {
    let table = [
        ("graph", Scheme::Local, "", "", "graph", "graph"),
        ("/data/graph/", Scheme::Local, "", "", "graph", "/data/graph/"),
        ("./a b/c%20d", Scheme::Local, "", "", "c%20d", "./a b/c%20d"),
        ("C:\\graphs", Scheme::Local, "", "", "C:\\graphs", "C:\\graphs"),
        (".", Scheme::Local, "", "", "", "."),
        ("..", Scheme::Local, "", "", "", ".."),
        ("file:///data/a%20b", Scheme::Local, "", "", "a b", "/data/a b"),
        ("FILE://localhost/data", Scheme::Local, "", "", "data", "/data"),
        ("s3://lake/a/b/", Scheme::S3, "lake", "a/b", "b", "s3://lake/a/b"),
        ("s3a://lake/a%20b", Scheme::S3, "lake", "a%20b", "a%20b", "s3://lake/a%20b"),
        ("s3://lake", Scheme::S3, "lake", "", "", "s3://lake"),
        ("gs://lake/a", Scheme::Gcs, "lake", "a", "a", "gs://lake/a"),
        ("az://box/a", Scheme::Azure, "box", "a", "a", "az://box/a"),
        (
            "https://example.org/a%20b/c.csv",
            Scheme::Https,
            "example.org",
            "a b/c.csv",
            "c.csv",
            "https://example.org/a b/c.csv",
        ),
        ("http://localhost:8080/x", Scheme::Http, "localhost:8080", "x", "x", "http://localhost:8080/x"),
    ];
    for (text, scheme, authority, key, name, shown) in table {
        let place = Location::parse(text).unwrap();
        assert_eq!(
            (place.scheme(), place.authority(), place.key(), place.file_name(), place.to_string().as_str()),
            (scheme, authority, key, name, shown),
            "{text}"
        );
        assert_eq!(place.is_local(), place.as_path().is_some(), "{text}");
    }
}

#[test]
fn what_is_no_place_is_refused() {
    let bad = [
        "",
        "a\0b",
        "ftp://host/x",
        "hdfs:///x",
        "s3://",
        "s3:///key",
        "s3://user:secret@lake/x",
        "s3://lake/a/../b",
        "s3://lake/a//b",
        "https://user:secret@example.org/x",
        "https://example.org/x?signature=1",
        "https://example.org/x#part",
        "https://example.org/%2e%2e/x%00",
        "file://elsewhere/x",
        "file:///a/b%00c",
    ];
    for text in bad {
        let error = Location::parse(text).map(|place| place.to_string()).unwrap_err();
        assert!(matches!(error.kind(), Kind::Usage | Kind::Malformed), "{text}: {error:?}");
        assert!(!format!("{error:?}").contains("secret"), "{text}: a password is repeated");
    }
}

#[test]
fn places_are_joined_and_climbed() {
    for (text, parent) in [
        ("s3://lake/a/b", Some("s3://lake/a")),
        ("s3://lake/a", Some("s3://lake")),
        ("s3://lake", None),
        ("/data/a", Some("/data")),
        ("/", None),
        ("a", Some(".")),
    ] {
        let place = Location::parse(text).unwrap();
        assert_eq!(place.parent().map(|place| place.to_string()).as_deref(), parent, "{text}");
    }
    let join = |text: &str, name| Location::parse(text).unwrap().join(name).map(|place| place.to_string());
    assert_eq!(join("s3://lake", "x/y").unwrap(), "s3://lake/x/y");
    assert_eq!(join("s3://lake/a", "x").unwrap(), "s3://lake/a/x");
    assert_eq!(join("a", "x/y").unwrap(), "a/x/y");
    assert!(join("a", "../x").is_err() && join("s3://lake/a", "../x").is_err() && join("a", "/x").is_err());
}

#[test]
fn equal_places_are_equal_whatever_they_were_parsed_from() {
    let same = |one, other| Location::parse(one).unwrap() == Location::parse(other).unwrap();
    assert!(same("s3a://lake/a/", "s3://lake/a") && same("file:///a/b", "/a/b"));
    assert!(!same("s3://lake/a", "gs://lake/a") && !same("s3://lake/a", "s3://lake/b"));
}

#[test]
fn a_program_without_clients_names_the_command_that_has_them() {
    let place = Location::parse("s3://lake/a").unwrap();
    for error in [Root::open(&place).unwrap_err(), Blob::open(&place).unwrap_err()] {
        assert_eq!(error.kind(), Kind::Unsupported);
        assert!(error.hints().any(|hint| hint.starts_with("cargo install --path cli   ")));
    }
}

#[test]
fn a_place_in_hadoop_is_a_name_node_and_a_path() {
    let place = Location::parse("hdfs://node:8020/graphs/social/").unwrap();
    assert_eq!(
        (place.authority(), place.key(), place.to_string().as_str()),
        ("node:8020", "graphs/social", "hdfs://node:8020/graphs/social")
    );
    assert!(place.scheme().has_listing() && !place.scheme().is_writable());
    let error = Location::parse("hdfs:///graphs").unwrap_err();
    assert!(error.to_string().contains("no name node"), "{error}");
    assert!(Location::parse("hdfs://user@node/graphs").is_err() && Location::parse("hdfs://node/a/../b").is_err());
    let error = Staging::directory(&place, Mode::CreateNew).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.to_string().contains("read-only"), "{error}");
}

#[test]
fn a_program_without_hadoop_names_the_command_that_has_it() {
    let place = Location::parse("hdfs://node:8020/a").unwrap();
    for error in [Root::open(&place).unwrap_err(), Blob::open(&place).unwrap_err()] {
        assert_eq!(error.kind(), Kind::Unsupported);
        assert!(error.hints().any(|hint| hint.contains("--features hdfs")));
    }
}

#[test]
fn a_mistyped_path_is_told_the_near_one() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(home.path().join("examples/social")).unwrap();
    std::fs::write(home.path().join("people.ttl"), "").unwrap();
    let near = |name: &str| Location::from_path(&home.path().join(name)).did_you_mean();
    let expected = |name: &str| format!(", did you mean {}?", home.path().join(name).display());
    assert_eq!(near("poeple.ttl"), expected("people.ttl"));
    assert_eq!(near("examples/socail"), expected("examples/social"));
    assert_eq!(near("exmaples/social"), expected("examples/social"));
    for nothing in ["exmaples/dogs", "zebra", "people.ttl/x"] {
        assert_eq!(near(nothing), "", "{nothing}");
    }
    assert_eq!(Location::parse("s3://bucket/x").unwrap().did_you_mean(), "");
    let error = isomorph_storage::Blob::open(&Location::from_path(&home.path().join("people.tll"))).unwrap_err();
    assert!(error.message().contains("did you mean"), "{error}");
}
