//! `import init`: the command that hints advise writes a mapping file that is read, in the place where it is advised.
#![allow(clippy::unwrap_used, clippy::panic)]

use isomorph_flat::mapping_of;
use isomorph_storage::Location;

use super::flat_alone::refused;
use super::flat_tables::{columns, counts, digests, directory, open};

const TABLES: [(&str, &str); 3] =
    [("user.csv", "id,name\n1,a\n2,b\n"), ("post.csv", "id,title\n1,x\n"), ("likes.csv", "source,target\n1,1\n2,1\n")];

#[test]
fn a_mapping_file_without_a_statement_is_written_anew() {
    for begun in ["", "\n", "-- tables\n/* nothing */\n", "\u{feff}"] {
        let home = directory(&[("nodes.csv", "id,name\n1,a\n2,b\n"), ("edges.csv", "source,target\n1,2\n")]);
        let whole = open(home.path());
        let expected = (columns(whole.graph.graph()), digests(&whole).unwrap());
        let mapping = home.path().join("graph.pgq");
        std::fs::write(&mapping, begun).unwrap();
        // It says nothing, which only a person that writes it knows to be meant.
        assert_eq!(refused(home.path()).broken_rule().map(|rule| rule.id), Some("FLAT-MAPPING"));
        let text = mapping_of(&Location::from_path(home.path())).unwrap();
        std::fs::write(&mapping, text).unwrap();
        let read = open(home.path());
        assert_eq!((columns(read.graph.graph()), digests(&read).unwrap()), expected, "{begun:?}");
    }
    // One with a statement is what the directory is.
    let home = directory(&[("nodes.csv", "id\n1\n"), ("edges.csv", "source,target\n1,1\n"), ("graph.pgq", "CREATE x")]);
    assert!(mapping_of(&Location::from_path(home.path())).is_err());
}

#[test]
fn what_a_draft_guesses_is_to_be_checked() {
    let home = directory(&TABLES);
    let error = refused(home.path());
    let place = home.path().display();
    let command = format!("isomorph import init {place} > {place}/graph.pgq  ");
    assert!(error.hints().any(|hint| hint.starts_with(&command)), "{error:?}");
    let text = mapping_of(&Location::from_path(home.path())).unwrap();
    let guessed = text.lines().find(|line| line.starts_with("-- likes.csv")).unwrap();
    assert!(guessed.ends_with("to be checked"), "{text}");
    assert!(!text.lines().any(|line| line.starts_with("-- user.csv") && line.contains("checked")), "{text}");
    std::fs::write(home.path().join("graph.pgq"), text).unwrap();
    assert_eq!(counts(open(home.path()).graph.graph()).0, [1, 2]);
    // The name of a file that is two tables is no guess.
    for (name, expected) in [("user_user", "user user_user user: "), ("user_post", "user user_post post: ")] {
        let file = format!("{name}.csv");
        let rows = format!("source,target\n{},1\n", if name == "user_user" { 2 } else { 1 });
        let home = directory(&[TABLES[0], TABLES[1], (&file, &rows)]);
        assert_eq!(columns(open(home.path()).graph.graph())[2], expected);
        assert!(!mapping_of(&Location::from_path(home.path())).unwrap().contains("checked"));
    }
    // It does not advise itself.
    let home = directory(&[("a.jsonl", "{\"x\":1}\n")]);
    for place in [home.path().to_owned(), home.path().join("a.jsonl")] {
        let error = mapping_of(&Location::from_path(&place)).unwrap_err();
        assert!(error.hints().all(|hint| !hint.contains("import init")), "{error:?}");
    }
}
