//! The publish protocol on a healthy disk.

use std::io::Write;
use std::path::Path;

use isomorph_error::Kind;
use isomorph_storage::{Blob, Mode, PATH_ESCAPE, Redo, Root, Staging};

use crate::{fill, place};

fn listed(path: &Path) -> Vec<String> {
    Root::open(&place(path)).unwrap().list("").unwrap().into_iter().map(|entry| entry.name).collect()
}

#[test]
fn a_directory_appears_whole_and_in_one_step() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph");
    let staging = Staging::directory(&place(&path), Mode::CreateNew).unwrap();
    assert_eq!(fill(staging.create("vertex/person/chunk0").unwrap(), b"rows").size, 4);
    fill(staging.create("graph.yml").unwrap(), b"name: graph");
    assert!(!path.exists());
    let published = staging.commit(&["graph.yml"]).unwrap();
    assert_eq!((published.files, published.bytes), (2, 15));
    assert_eq!(listed(home.path()), ["graph/graph.yml", "graph/vertex/person/chunk0"]);
}

#[test]
fn a_directory_may_have_empty_ones_in_it() {
    let home = tempfile::tempdir().unwrap();
    let target = place(&home.path().join("graph"));
    let staging = Staging::directory(&target, Mode::CreateNew).unwrap();
    staging.create_directory("a/b").unwrap();
    staging.create_directory("a/b").unwrap();
    staging.create("a/c/file").unwrap().finish().unwrap();
    assert!(staging.create_directory("../b").is_err() && staging.create_directory("/b").is_err());
    staging.commit(&[]).unwrap();
    assert!(home.path().join("graph/a/b").is_dir() && home.path().join("graph/a/c/file").is_file());
    let file = Staging::file(&place(&home.path().join("file")), Mode::CreateNew).unwrap();
    assert_eq!(file.create_directory("a").err().unwrap().kind(), Kind::Usage);
}

#[test]
fn what_is_finished_can_be_read_before_it_is_published() {
    let home = tempfile::tempdir().unwrap();
    let staging = Staging::directory(&place(&home.path().join("graph")), Mode::CreateNew).unwrap();
    let digest = fill(staging.create("v/0").unwrap(), b"rows");
    let unfinished = staging.create("v/1").unwrap();
    fill(staging.companion().create("carry.json").unwrap(), b"{}");
    assert_eq!(staging.finished(), [("v/0".to_owned(), digest)]);
    let preview = Root::open(&staging.preview().unwrap()).unwrap();
    assert_eq!(&preview.read("v/0", 4).unwrap()[..], b"rows");
    drop(unfinished);

    let staging = Staging::file(&place(&home.path().join("g.csv")), Mode::CreateNew).unwrap();
    fill(staging.create("").unwrap(), b"a,b");
    assert_eq!(&Blob::open(&staging.preview().unwrap()).unwrap().read_all(3).unwrap()[..], b"a,b");
}

#[test]
fn many_threads_write_one_directory() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph");
    let staging = Staging::directory(&place(&path), Mode::CreateNew).unwrap();
    std::thread::scope(|scope| {
        for part in 0..4 {
            let staging = &staging;
            scope.spawn(move || {
                for chunk in 0..50 {
                    fill(staging.create(&format!("part{part}/chunk{chunk}")).unwrap(), &[part; 1000]);
                }
            });
        }
    });
    assert_eq!(staging.commit(&[]).unwrap().files, 200);
    let root = Root::open(&place(&path)).unwrap();
    assert_eq!(root.list("").unwrap().len(), 200);
    assert_eq!(root.read("part3/chunk49", 1000).unwrap(), [3; 1000][..]);
}

#[test]
fn a_dropped_staging_leaves_nothing() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph.parquet");
    let staging = Staging::file(&place(&path), Mode::CreateNew).unwrap();
    staging.create("graph.parquet").unwrap().write_all(b"half").unwrap();
    fill(staging.companion().create("carry.json").unwrap(), b"{}");
    drop(staging);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[test]
fn create_new_refuses_what_exists() {
    let home = tempfile::tempdir().unwrap();
    let (file, directory, empty) = (home.path().join("file"), home.path().join("directory"), home.path().join("empty"));
    std::fs::write(&file, b"old").unwrap();
    std::fs::create_dir_all(directory.join("below")).unwrap();
    std::fs::create_dir(&empty).unwrap();
    let kind = |staging: Result<Staging, isomorph_error::Error>| staging.unwrap_err().kind();
    for path in [&file, &directory, &empty] {
        assert_eq!(kind(Staging::file(&place(path), Mode::CreateNew)), Kind::AlreadyExists);
    }
    for path in [&file, &directory] {
        assert_eq!(kind(Staging::directory(&place(path), Mode::CreateNew)), Kind::AlreadyExists);
    }
    assert_eq!(kind(Staging::file(&place(&directory), Mode::Replace)), Kind::AlreadyExists);
    assert_eq!(kind(Staging::directory(&place(&file), Mode::Replace)), Kind::AlreadyExists);

    let staging = Staging::directory(&place(&empty), Mode::CreateNew).unwrap();
    fill(staging.create("x").unwrap(), b"x");
    staging.commit(&[]).unwrap();
    assert_eq!(listed(&empty), ["x"]);
}

#[test]
fn of_two_new_writers_the_second_fails_and_harms_nothing() {
    let home = tempfile::tempdir().unwrap();
    let begin = |name: &str, text: &[u8]| {
        let staging = Staging::directory(&place(&home.path().join("graph")), Mode::CreateNew).unwrap();
        fill(staging.create(name).unwrap(), text);
        fill(staging.companion().create("carry.json").unwrap(), text);
        staging
    };
    let (first, second) = (begin("one", b"first"), begin("two", b"second"));
    first.commit(&[]).unwrap();
    assert_eq!(second.commit(&[]).unwrap_err().kind(), Kind::AlreadyExists);
    assert_eq!(listed(home.path()), ["graph.isomorph/carry.json", "graph/one"]);
    assert_eq!(std::fs::read(home.path().join("graph.isomorph/carry.json")).unwrap(), b"first");
}

#[test]
fn replacing_replaces_everything() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("graph");
    for (name, text) in [("one", b"1"), ("two", b"2")] {
        let staging = Staging::directory(&place(&path), Mode::Replace).unwrap();
        fill(staging.create(name).unwrap(), text);
        staging.commit(&[name]).unwrap();
        assert_eq!(listed(home.path()), [format!("graph/{name}")]);
    }
}

#[test]
fn a_companion_comes_and_goes_with_its_file() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("g.parquet");
    let write = |text: &[u8], sidecar: Option<&[u8]>| {
        let staging = Staging::file(&place(&path), Mode::Replace).unwrap();
        fill(staging.create("").unwrap(), text);
        sidecar.map(|sidecar| fill(staging.companion().create("carry.json").unwrap(), sidecar));
        staging.commit(&[]).unwrap();
        (Blob::open(&place(&path)).unwrap().read_all(10).unwrap(), listed(home.path()))
    };
    assert_eq!(write(b"1", None), (b"1"[..].into(), vec!["g.parquet".to_owned()]));
    let both = vec!["g.parquet".to_owned(), "g.parquet.isomorph/carry.json".to_owned()];
    assert_eq!(write(b"2", Some(b"a")), (b"2"[..].into(), both.clone()));
    assert_eq!(write(b"3", Some(b"b")), (b"3"[..].into(), both));
    assert_eq!(std::fs::read(home.path().join("g.parquet.isomorph/carry.json")).unwrap(), b"b");
    assert_eq!(write(b"4", None), (b"4"[..].into(), vec!["g.parquet".to_owned()]));
}

#[test]
fn mistakes_of_a_writer_are_told() {
    let home = tempfile::tempdir().unwrap();
    let begin = || Staging::directory(&place(&home.path().join("graph")), Mode::CreateNew).unwrap();
    let staging = begin();
    assert_eq!(staging.create("../x").unwrap_err().broken_rule(), Some(&PATH_ESCAPE));
    fill(staging.create("x").unwrap(), b"x");
    assert_eq!(staging.create("x").unwrap_err().kind(), Kind::AlreadyExists);
    assert_eq!(staging.commit(&["graph.yml"]).unwrap_err().kind(), Kind::Usage);

    let staging = begin();
    drop(staging.create("x").unwrap());
    assert_eq!(staging.commit(&[]).unwrap_err().kind(), Kind::Usage, "a file that was never finished");

    let file = Staging::file(&place(&home.path().join("x")), Mode::CreateNew).unwrap();
    assert_eq!(file.create("other").unwrap_err().kind(), Kind::Usage);
    assert_eq!(file.commit(&[]).unwrap_err().kind(), Kind::Usage, "nothing was written");

    let nowhere = Staging::file(&place(&home.path().join("none/x")), Mode::CreateNew).unwrap_err();
    assert_eq!(nowhere.kind(), Kind::NotFound);
    assert!(nowhere.hints().any(|hint| hint.starts_with("mkdir")));
    assert_eq!(Staging::file(&place(Path::new("..")), Mode::Replace).unwrap_err().kind(), Kind::Usage);
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_link_is_written_through() {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("elsewhere")).unwrap();
    std::fs::write(home.path().join("elsewhere/real"), "old").unwrap();
    let link = home.path().join("link");
    std::os::unix::fs::symlink("elsewhere/real", &link).unwrap();
    assert_eq!(Staging::file(&place(&link), Mode::CreateNew).unwrap_err().kind(), Kind::AlreadyExists);
    let staging = Staging::file(&place(&link), Mode::Replace).unwrap();
    fill(staging.create("link").unwrap(), b"new");
    staging.commit(&[]).unwrap();
    assert!(link.is_symlink());
    assert_eq!(std::fs::read(home.path().join("elsewhere/real")).unwrap(), b"new");
}

#[test]
fn several_files_of_a_dataset_change_together() {
    let home = tempfile::tempdir().unwrap();
    for (name, text) in [("graph.yml", "old"), ("v/0", "rows"), ("gone/0", "old")] {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let root = Root::open(&place(home.path())).unwrap();
    let redo = Redo::begin(&root).unwrap();
    fill(redo.create("v/age/0").unwrap(), b"1");
    fill(redo.create("graph.yml").unwrap(), b"new");
    redo.remove("gone").unwrap();
    redo.remove("never/was").unwrap();
    assert_eq!(listed(home.path()).iter().filter(|name| !name.starts_with("_isomorph")).count(), 3);
    redo.commit(&["graph.yml"]).unwrap();
    assert_eq!(listed(home.path()), ["graph.yml", "v/0", "v/age/0"]);
    assert_eq!(&root.read("graph.yml", 10).unwrap()[..], b"new");
    assert!(!Redo::recover(&root).unwrap());

    for name in ["_isomorph", "_isomorph/redo.json", "_isomorph/redo-1/x", "../x"] {
        let redo = Redo::begin(&root).unwrap();
        assert!(redo.create(name).is_err() && redo.remove(name).is_err(), "{name}");
    }
    let redo = Redo::begin(&root).unwrap();
    fill(redo.create("v/1").unwrap(), b"x");
    redo.remove("v").unwrap();
    assert_eq!(redo.commit(&[]).unwrap_err().kind(), Kind::Usage);
    assert_eq!(listed(home.path()), ["graph.yml", "v/0", "v/age/0"]);
}

#[test]
fn a_record_that_reaches_outside_is_not_followed() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("root");
    std::fs::create_dir_all(root.join("_isomorph")).unwrap();
    std::fs::write(home.path().join("precious"), "precious").unwrap();
    let steps = [
        r#"[{"remove":{"path":"../precious"}}]"#,
        r#"[{"remove":{"path":"/etc/passwd"}}]"#,
        r#"[{"remove":{"path":"_isomorph/redo.json"}}]"#,
        r#"[{"replace":{"with":"../precious","to":"x"}}]"#,
        r#"[{"replace":{"with":"_isomorph/carry.json","to":"x"}}]"#,
    ];
    for steps in steps {
        let check = blake3::hash(steps.as_bytes()).to_hex();
        let record = format!(r#"{{"isomorph_redo":1,"steps":{steps},"check":"{check}"}}"#);
        std::fs::write(root.join("_isomorph/redo.json"), record).unwrap();
        let error = Root::open(&place(&root)).unwrap_err();
        assert_eq!(error.broken_rule(), Some(&PATH_ESCAPE), "{steps}: {error:?}");
    }
    for damaged in ["", "{}", "[]", r#"{"isomorph_redo":1,"steps":[],"check":"00"}"#] {
        std::fs::write(root.join("_isomorph/redo.json"), damaged).unwrap();
        assert_eq!(Root::open(&place(&root)).unwrap_err().kind(), Kind::Malformed, "{damaged}");
    }
    std::fs::remove_file(root.join("_isomorph/redo.json")).unwrap();
    assert_eq!(std::fs::read(home.path().join("precious")).unwrap(), b"precious");
}
