//! Short texts: locations, sizes, names of types.

use isomorph::Location;
use isomorph::model::type_name::{parse_type, type_name};
use isomorph::storage::check_relative;

// The command does not export this.
#[path = "../../cli/src/args/size.rs"]
mod size;

fn texts(all: &[&str]) -> Vec<Vec<u8>> {
    all.iter().map(|text| text.as_bytes().to_vec()).collect()
}

pub(crate) const PLACES: &[&str] = &[
    "file://", "s3://", "gs://", "az://", "http://", "https://", "..", "./", "/", "//", "%2e%2e", "@", "?", ":", "C:",
];

pub(crate) fn location_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "graphs/social",
        "/a/b.parq",
        "file:///a/b%20c",
        "s3://lake/graphs/social",
        "gs://b/k",
        "az://c/k/",
        "https://host:8080/a%20b/c.parq",
        "http://[::1]/x",
        "C:\\x\\y",
        "../up",
        "s3a://b",
    ])
}

/// A location is parsed back from its displayed form; nothing leads out of a location.
pub(crate) fn check_location(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if check_relative(text).is_ok() {
        assert!(!text.is_empty() && !text.starts_with('/') && !text.contains('\\'), "{text:?}");
        assert!(text.split('/').all(|part| !matches!(part, "" | "." | "..")), "{text:?}");
    }
    let Ok(place) = Location::parse(text) else { return };
    let shown = place.to_string();
    // A web address is displayed decoded, for people, and so is a path that is not UTF-8.
    if !shown.starts_with("http") && place.as_path().is_none_or(|path| path.to_str().is_some()) {
        let again = Location::parse(&shown).unwrap_or_else(|error| panic!("{text:?} is shown as {shown:?}: {error}"));
        assert_eq!(again, place, "{text:?} is shown as {shown:?}");
    }
    if let Ok(inner) = place.join("x/y") {
        assert_eq!(inner.file_name(), "y");
        assert_eq!(inner.parent().and_then(|parent| parent.parent()), Some(place.clone()), "{text:?}");
    }
    assert!(place.join("../x").is_err() && place.join("/x").is_err());
}

pub(crate) const UNITS: &[&str] = &["KiB", "MiB", "GiB", "TiB", "kb", "MB", "GB", "TB", "b", "1e", "nan", "inf", "."];

pub(crate) fn size_seeds() -> Vec<Vec<u8>> {
    texts(&["512MiB", "2GiB", "1.5 g", "33554432", "1e9b", "999 TB", "0x10"])
}

/// A size equals the same size spelled in bytes.
pub(crate) fn check_size(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(bytes) = size::parse(text) {
        assert!((16 << 20..1_000_000_000_000_000_000).contains(&bytes), "{text:?} is {bytes}");
        assert_eq!(size::parse(&format!("{bytes}")).ok(), Some(bytes), "{text:?}");
        assert_eq!(size::parse(&format!(" {bytes} B ")).ok(), Some(bytes), "{text:?}");
    }
}

pub(crate) const TYPES: &[&str] = &[
    "list<",
    "large_list<",
    "struct<",
    ">",
    ">(3)",
    "timestamp[us, ",
    "UTC]",
    "time[ms]",
    "decimal(38, 2)",
    "bytes(4)",
    "a: ",
    ", ",
    "int64",
    "string",
];

pub(crate) fn type_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "bool",
        "int64",
        "uint8",
        "large_string",
        "date[ms]",
        "time[us]",
        "timestamp[ms]",
        "timestamp[us, UTC]",
        "duration[ns]",
        "decimal(38, 2)",
        "decimal256(76, -3)",
        "list<float>",
        "list<list<int32>>(3)",
        "bytes(16)",
        "struct<a: int32, b: list<string>, c: struct<d: bool>>",
        "large_list<struct<>>",
        "half",
    ])
}

/// A type that a name denotes is displayed by a name that denotes the same type.
pub(crate) fn check_type(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(ty) = parse_type(text) else { return };
    let name = type_name(&ty);
    let again = parse_type(&name).unwrap_or_else(|error| panic!("{text:?} is named {name:?}: {error}"));
    assert_eq!(again, ty, "{text:?} is named {name:?}");
}
