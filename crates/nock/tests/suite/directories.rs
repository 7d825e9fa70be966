//! When a directory of files is one dataset, and when it is not.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::path::Path;

use common::open;
use common::rows::{Row, edge, file, node};
use isomorph_error::Result;
use isomorph_nock::{Nock, OpenOptions, detect, rules};
use isomorph_storage::Location;

/// A directory of these files.
fn directory(files: &[(&str, &[Row])]) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for (name, rows) in files {
        std::fs::write(home.path().join(name), file(rows)).unwrap();
    }
    home
}

fn opened(home: &Path) -> Result<Nock> {
    open(home, &OpenOptions::default())
}

fn is_detected(home: &Path) -> bool {
    detect(&Location::from_path(home)).unwrap().is_some()
}

/// Checks that the directory is refused as a dataset, and that the error names its files.
#[track_caller]
fn refused(home: &Path, files: &[&str]) {
    assert!(!is_detected(home));
    let error = opened(home).err().expect("the directory was read as one graph");
    assert_eq!(error.broken_rule(), Some(&rules::PART_DATASET), "{error}");
    let hints: Vec<&str> = error.hints().collect();
    for file in files {
        assert!(hints.iter().any(|hint| hint.contains(file)), "{file}: {hints:?}");
    }
}

#[track_caller]
fn one_graph(home: &Path, nodes: u64) {
    assert!(is_detected(home));
    assert_eq!(opened(home).unwrap().settle().unwrap().nodes, nodes);
}

#[test]
fn unrelated_files_are_not_one_graph() {
    let home = directory(&[("people.parq", &[node("ann")]), ("social.parq", &[node("bob")])]);
    refused(home.path(), &["people.parq", "social.parq"]);
}

#[test]
fn files_that_share_names_but_no_shadows_are_not_one_graph() {
    let home = directory(&[
        ("people.parq", &[node("ann"), edge("ann", 0, "knows", "bob"), node("bob")]),
        ("social.parq", &[node("ann"), node("bob")]),
    ]);
    refused(home.path(), &["people.parq", "social.parq"]);
}

#[test]
fn files_whose_shadows_resolve_are_one_graph() {
    let left = [node("ann"), edge("ann", 0, "knows", "bob"), node("bob").shadow(0)];
    let home = directory(&[("left.parq", &left), ("right.parq", &[node("bob")])]);
    one_graph(home.path(), 2);
    // A third file that is not connected to the others.
    std::fs::write(home.path().join("tea.parq"), file(&[node("tea")])).unwrap();
    refused(home.path(), &["left.parq", "right.parq", "tea.parq"]);
}

#[test]
fn shadows_that_resolve_nowhere_tie_nothing() {
    let home = directory(&[("left.parq", &[node("ann"), node("bob").shadow(0)]), ("right.parq", &[node("tea")])]);
    refused(home.path(), &["left.parq", "right.parq"]);
}

#[test]
fn names_of_partitions_say_that_files_are_one_graph() {
    for names in [
        ["part_0.parq", "part_1.parq"],
        ["part.0.parquet", "part.10.parquet"],
        ["part-00000-8f1c-c000.snappy.parquet", "part-00001-8f1c-c000.snappy.parquet"],
    ] {
        let home = directory(&[(names[0], &[node("ann")]), (names[1], &[node("bob")])]);
        one_graph(home.path(), 2);
    }
    let home = directory(&[("part_0.parq", &[node("ann")]), ("partners.parq", &[node("bob")])]);
    let nock = opened(home.path()).unwrap();
    let mut found = isomorph_error::Findings::keeping(3);
    isomorph_model::Source::validate(&nock, &mut found).unwrap();
    assert_eq!(found.count(&rules::PART_OTHER), 1);
    let home = directory(&[("party.parq", &[node("ann")]), ("partners.parq", &[node("bob")])]);
    refused(home.path(), &["party.parq", "partners.parq"]);
}

#[test]
fn a_single_file_needs_no_name() {
    let home = directory(&[("people.parq", &[node("ann"), node("bob")])]);
    one_graph(home.path(), 2);
}

#[test]
fn a_file_with_a_sidecar_is_a_graph_of_its_own() {
    for names in [["part_0.parq", "part_1.parq"], ["left.parq", "right.parq"]] {
        let left = [node("ann"), edge("ann", 0, "knows", "bob"), node("bob").shadow(1)];
        let home = directory(&[(names[0], &left), (names[1], &[node("bob")])]);
        one_graph(home.path(), 2);
        std::fs::create_dir(home.path().join(format!("{}.isomorph", names[1]))).unwrap();
        refused(home.path(), &names);
    }
    let home = directory(&[("people.parq", &[node("ann")])]);
    std::fs::create_dir(home.path().join("people.parq.isomorph")).unwrap();
    refused(home.path(), &["people.parq"]);
}

#[test]
fn two_files_of_one_number_are_told_so() {
    let home = directory(&[("part_0.parq", &[node("ann")]), ("part_00.parq", &[node("bob")])]);
    assert!(is_detected(home.path()), "it is a dataset, and a broken one");
    let error = opened(home.path()).err().expect("two files claim number 0");
    assert_eq!(error.broken_rule(), Some(&rules::PART_ID));
    assert!(error.message().contains("part_0.parq") && error.message().contains("part_00.parq"), "{error}");
}

#[test]
fn a_text_beside_a_table_says_the_same() {
    let text = |name: &str| {
        format!(
            "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n\
             \"{name}\",-1,\"\",\"\",1.0,-1,False,\"\",\"\"\n"
        )
    };
    let home = directory(&[("part_0.parq", &[node("ann")])]);
    for (name, count) in [("ann", 0), ("bob", 1)] {
        std::fs::write(home.path().join("part_0.csv"), text(name)).unwrap();
        let nock = opened(home.path()).unwrap();
        // Opening compares nothing, and reports which of them is read.
        let noticed = isomorph_model::Source::about(&nock).findings;
        let kept: Vec<_> = noticed.by_rule().flat_map(|(_, kept)| kept).collect();
        let both = kept.iter().find(|finding| finding.rule == &rules::PART_BOTH).expect("both are there");
        assert_eq!(both.place.file.as_deref(), Some("part_0.csv"), "{name}");
        assert!(both.message.starts_with("part_0.parq is read"), "{name}: {}", both.message);
        assert_eq!(noticed.count(&rules::PART_TWIN), 0, "{name}");
        let mut found = isomorph_error::Findings::keeping(3);
        isomorph_model::Source::validate(&nock, &mut found).unwrap();
        assert_eq!((found.count(&rules::PART_TWIN), found.count(&rules::PART_BOTH)), (count, 1), "{name}");
    }
}

#[test]
fn a_text_beside_a_table_says_the_same_in_further_columns() {
    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use std::sync::Arc;

    let list = || {
        let mut lists = ListBuilder::new(StringBuilder::new());
        lists.append_value([Some("a, b")]);
        Arc::new(lists.finish()) as ArrayRef
    };
    let text = || Arc::new(StringArray::from(vec!["p"])) as ArrayRef;
    let number = |number: Option<i64>| Arc::new(Int64Array::from(vec![number])) as ArrayRef;
    let x = ",x";
    for (column, head, cells, count) in [
        (text(), x, ",\"p\"", 0),
        (text(), x, ",\"q\"", 1),
        (text(), "", "", 1),
        (text(), ",y", ",\"p\"", 1),
        (text(), ",x,y", ",\"p\",\"z\"", 1),
        (number(Some(1)), x, ",1", 0),
        (number(Some(1)), x, ",5", 1),
        (number(Some(1)), x, ",null", 1),
        (number(None), x, ",null", 0),
        (number(None), x, ",\"\"", 0),
        (list(), x, r#","[""a, b""]""#, 0),
        (list(), x, r#","[""a"",""b""]""#, 1),
    ] {
        let (schema, columns, _) = common::rows::batch(&[node("ann")]).into_parts();
        let names = schema.fields().iter().map(|field| field.name().as_str());
        let all = names.zip(columns).chain([("x", column)]).map(|(name, column)| (name, column, true));
        let table = common::rows::parquet(&RecordBatch::try_from_iter_with_nullable(all).unwrap(), 1);
        let home = directory(&[]);
        std::fs::write(home.path().join("part_0.parq"), table).unwrap();
        let text = format!(
            "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props{head}\n\
             \"ann\",-1,\"\",\"\",1.0,-1,False,\"\",\"\"{cells}\n"
        );
        std::fs::write(home.path().join("part_0.csv"), text).unwrap();
        let mut found = isomorph_error::Findings::keeping(3);
        isomorph_model::Source::validate(&opened(home.path()).unwrap(), &mut found).unwrap();
        assert_eq!(found.count(&rules::PART_TWIN), count, "{head} {cells}");
    }
}
