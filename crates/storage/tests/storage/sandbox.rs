use isomorph_error::Kind;
use isomorph_storage::{PATH_ESCAPE, Root, check_relative};

use crate::place;

#[test]
fn names_that_leave_their_directory_are_refused() {
    let long_path = "a/".repeat(512) + "a";
    let long_name = "a".repeat(256);
    let bad = [
        "",
        "/etc/passwd",
        "//server/share",
        "..",
        "../x",
        "a/../../x",
        "a/..",
        ".",
        "./x",
        "a//b",
        "a/",
        "a\\..\\b",
        "\\\\server\\share",
        "C:",
        "c:/x",
        "a\0b",
        "a\nb",
        "%2e%2e/x",
        "a/%2E%2E/b",
        "a%2fb",
        "a%5Cb",
        "a%00",
        &long_path,
        &long_name,
    ];
    for name in bad {
        let error = check_relative(name).unwrap_err();
        assert_eq!(error.broken_rule(), Some(&PATH_ESCAPE), "{name:?}");
    }
}

#[test]
fn ordinary_names_are_accepted() {
    let long = "a/".repeat(511) + "ab";
    let good =
        ["a", "a/b", "...", "..a", "a..", ".hidden", "part-0.parquet", "größe", "a b", "100%", "ab:c", "a%20b", &long];
    for name in good {
        check_relative(name).unwrap_or_else(|error| panic!("{name:?}: {error:?}"));
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_the_root_only() {
    use std::os::unix::fs::symlink;
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("root");
    std::fs::create_dir_all(root.join("dir")).unwrap();
    std::fs::write(root.join("dir/inside"), "inside").unwrap();
    std::fs::write(home.path().join("secret"), "secret").unwrap();
    symlink("dir/inside", root.join("good")).unwrap();
    symlink("dir", root.join("good-dir")).unwrap();
    symlink("../secret", root.join("up")).unwrap();
    symlink(home.path().join("secret"), root.join("absolute")).unwrap();
    symlink("..", root.join("up-dir")).unwrap();
    symlink("loop", root.join("loop")).unwrap();
    symlink("/proc/self/cwd", root.join("magic")).unwrap();

    let root = Root::open(&place(&root)).unwrap();
    assert_eq!(&root.read("good", 10).unwrap()[..], b"inside");
    assert_eq!(&root.read("good-dir/inside", 10).unwrap()[..], b"inside");
    for name in ["up", "absolute", "up-dir/secret"] {
        let error = root.file(name).unwrap_err();
        assert_eq!(error.broken_rule(), Some(&PATH_ESCAPE), "{name}: {error:?}");
    }
    for name in ["loop", "magic/Cargo.toml"] {
        assert!(root.file(name).is_err(), "{name}");
    }
    let names: Vec<String> = root.list("").unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, ["dir/inside", "good"], "links to directories and out of the root are not listed");
}

#[cfg(unix)]
#[test]
fn links_are_followed_below_the_directory_that_is_named() {
    use std::os::unix::fs::symlink;
    let home = tempfile::tempdir().unwrap();
    let (all, root) = (home.path().join("all"), home.path().join("all/graphs/one"));
    std::fs::create_dir_all(&root).unwrap();
    std::fs::create_dir_all(all.join("data")).unwrap();
    std::fs::write(all.join("data/file"), "data").unwrap();
    std::fs::write(home.path().join("secret"), "secret").unwrap();
    symlink("../../data", root.join("data")).unwrap();
    symlink("../../../secret", root.join("up")).unwrap();
    symlink(all.join("data"), root.join("absolute")).unwrap();

    let within = |bounds: &std::path::Path| Root::open_within(&place(&root), Some(&place(bounds)));
    let opened = within(&all).unwrap();
    assert_eq!(&opened.read("data/file", 10).unwrap()[..], b"data");
    assert_eq!(opened.list("data").unwrap().len(), 1);
    assert_eq!(opened.list("").unwrap(), [], "links to directories are not listed");
    assert!(opened.file("absolute/file").is_err() || cfg!(not(target_os = "linux")));
    let error = opened.file("up").unwrap_err();
    assert_eq!(error.broken_rule(), Some(&PATH_ESCAPE));
    assert!(error.message().contains("up is a link to ../../../secret"), "{error}");
    // By default, and below a directory that is too small, no link is followed.
    for opened in [Root::open(&place(&root)), within(&root)] {
        let error = opened.unwrap().file("data/file").unwrap_err();
        assert!(error.message().contains("data is a link to ../../data"), "{error}");
    }
    assert_eq!(within(&all.join("data")).unwrap_err().kind(), Kind::Usage);
}

#[cfg(unix)]
#[test]
fn pipes_and_devices_are_not_files() {
    let home = tempfile::tempdir().unwrap();
    let pipe = home.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    if made.is_ok_and(|status| status.success()) {
        // Opening it for reading would wait for ever.
        let root = Root::open(&place(home.path())).unwrap();
        assert_eq!(root.file("pipe").unwrap_err().kind(), Kind::Malformed);
        assert_eq!(isomorph_storage::Blob::open(&place(&pipe)).unwrap_err().kind(), Kind::Usage);
        assert_eq!(root.list("").unwrap(), []);
    } else {
        isomorph_fixtures::without_program("mkfifo");
    }
    let device = place(std::path::Path::new("/dev/null"));
    assert_eq!(isomorph_storage::Blob::open(&device).unwrap_err().kind(), Kind::Usage);
}
