//! What is known of tables without reading them: exact is only what reading every row gives, also of stores whose metadata is wrong.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int32Array, RecordBatch, StringArray, UInt64Array,
};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use common::{graphs, others};
use isomorph_convert::{
    ConvertOptions, Format, LakeEdit, OpenOptions, Opened, Plan, SidecarUse, Silent, TypedOptions, convert, edit_lake,
};
use isomorph_dataset::{Dataset, TableKind, TableStatistics};
use isomorph_graphlake::Lake;
use isomorph_storage::{Budget, Location, Resources};
use isomorph_tables::{Encoding, TableWriter, WriteOptions};

/// How much was exact, by what, and how many numbers of rows were estimates.
#[derive(Default)]
struct Tally {
    /// Of a table that cannot be read, nothing may be exact; else its values may be what is broken.
    is_strict: bool,
    exact: BTreeMap<&'static str, usize>,
    near: usize,
}

impl Tally {
    fn strict() -> Self {
        Tally { is_strict: true, ..Tally::default() }
    }

    /// Compares what is said of each table, before and after it is read, with what reading it gives.
    fn check(&mut self, name: &str, dataset: &Dataset) {
        for table in dataset.tables() {
            let shown = format!("{name}: {}", table.name());
            let before = dataset.statistics(table.name());
            let scan = dataset.scan(table.name()).unwrap().batches();
            match scan.and_then(|batches| batches.collect::<Result<Vec<RecordBatch>, _>>()) {
                Ok(all) => {
                    for said in [before.unwrap(), dataset.statistics(table.name()).unwrap()] {
                        self.compare(&shown, &said, &all);
                    }
                }
                Err(_) if !self.is_strict => {}
                Err(error) => {
                    let is_exact = before.as_ref().is_ok_and(|said| said.rows.exact().is_some());
                    assert!(!is_exact, "{shown}: {before:?}, but {error}");
                }
            }
        }
    }

    fn compare(&mut self, shown: &str, said: &TableStatistics, all: &[RecordBatch]) {
        let rows: usize = all.iter().map(RecordBatch::num_rows).sum();
        self.near += usize::from(said.rows.exact().is_none() && said.rows.value().is_some());
        if let Some(stated) = said.rows.exact() {
            assert_eq!(*stated, rows as u64, "{shown}");
            *self.exact.entry("rows").or_default() += 1;
        }
        let Some(schema) = all.first().map(RecordBatch::schema) else { return };
        for (at, column) in said.columns.iter().enumerate() {
            let shown = format!("{shown}: {}", schema.field(at).name());
            let arrays: Vec<&dyn Array> = all.iter().map(|batch| batch.column(at).as_ref()).collect();
            let cells = arrow_select::concat::concat(&arrays).unwrap();
            if let Some(nulls) = column.nulls.exact() {
                let found = cells.logical_nulls().map_or(0, |nulls| nulls.null_count());
                assert_eq!(*nulls, found as u64, "{shown}");
                *self.exact.entry("nulls").or_default() += 1;
            }
            let (least, greatest) = isomorph_model::predicate::extremes(&cells).unzip();
            for (said, found) in [(&column.least, least), (&column.greatest, greatest)] {
                if let Some(said) = said.exact() {
                    assert_eq!(*said, found, "{shown}");
                    *self.exact.entry("bounds").or_default() += 1;
                }
            }
            if let Some(distinct) = column.distinct.exact() {
                let formatter = ArrayFormatter::try_new(&cells, &FormatOptions::default()).unwrap();
                let texts = (0..cells.len()).filter(|row| cells.is_valid(*row));
                let texts: BTreeSet<String> = texts.map(|row| formatter.value(row).to_string()).collect();
                assert_eq!(*distinct, texts.len() as u64, "{shown}");
                *self.exact.entry("distinct").or_default() += 1;
            }
        }
    }
}

fn resources() -> Resources {
    Resources::of_this_machine().unwrap()
}

fn dataset(at: &Path) -> Dataset {
    let options = OpenOptions { sidecar: SidecarUse::Ignore, unsound: true, ..OpenOptions::default() };
    let opened = Opened::open(&Location::from_path(at), &options).unwrap_or_else(|error| panic!("{error}"));
    Dataset::new(opened.graph, resources())
}

/// Converts by the name of the destination; without an ending it is GraphAr.
fn converted(from: &Path, to: &Path) {
    let opened = Opened::open(&Location::from_path(from), &OpenOptions::default()).unwrap();
    let format = to.extension().is_none().then_some(Format::GRAPHAR);
    let (to, options) = (Location::from_path(to), ConvertOptions { to: format, ..ConvertOptions::default() });
    let plan = Plan::new(&opened, &to, &options, &resources(), &Silent).unwrap();
    convert(&opened, &plan, &to, &options, &resources(), &Silent).unwrap();
}

/// Copies a directory.
fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap().is_dir() {
            true => copied(&entry.path(), &to.join(entry.file_name())),
            false => drop(std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

fn social() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/social")
}

#[test]
fn exact_statistics_are_what_a_scan_gives() {
    let mut tally = Tally::default();
    for (name, source) in graphs().into_iter().chain(others()) {
        tally.check(&name, &Dataset::new(Arc::clone(&source), resources()));
    }
    let Tally { exact, near, .. } = tally;
    assert!(exact.len() == 4 && exact.values().all(|count| *count > 10) && near > 10, "{exact:?}, {near} estimates");
}

/// A store of a hundred people, each of whom knows the next, with some triples deleted, some inserted twice, and one deleted and inserted again.
fn changed_lake(home: &Path) -> std::path::PathBuf {
    let at = home.join("people.lake");
    let quad = |from: usize, to: usize| format!("<http://e/{from}> <http://e/knows> <http://e/{to}> .\n");
    let name = |of: usize| format!("<http://e/{of}> <http://e/name> \"{of}\" .\n");
    let text = home.join("people.nt");
    std::fs::write(&text, (0..100).map(|of| quad(of, of + 1) + &name(of)).collect::<String>()).unwrap();
    converted(&text, &at);
    let edits = [
        (LakeEdit::Delete, (0..30).map(|of| quad(of, of + 1)).collect::<String>() + &name(7)),
        (LakeEdit::Insert, (20..40).map(|of| quad(of, of + 1)).collect()),
        (LakeEdit::Insert, (90..110).map(|of| quad(of, of + 2)).collect()),
    ];
    for (edit, statements) in edits {
        let (location, open) = (Location::from_path(&at), isomorph_graphlake::OpenOptions::default());
        let lake = Lake::open(&location, &open, &isomorph_graphlake::WriteOptions::default()).unwrap();
        edit_lake(&lake, edit, statements.as_bytes(), &Budget::new(1 << 26)).unwrap();
    }
    at
}

#[test]
fn copies_and_deletions_in_a_store_are_not_counted_as_rows() {
    let home = tempfile::tempdir().unwrap();
    let at = changed_lake(home.path());
    let (mut tally, dataset) = (Tally::strict(), dataset(&at));
    tally.check("changed", &dataset);
    assert!(tally.exact.is_empty() && tally.near > 0, "{:?}, {} estimates", tally.exact, tally.near);
    let rows = |table: &str| -> usize {
        dataset.scan(table).unwrap().batches().unwrap().map(|batch| batch.unwrap().num_rows()).sum()
    };
    let edges = dataset.tables().iter().find(|table| table.name().contains("_to_")).unwrap().name();
    assert_eq!(rows(edges), 100 - 30 + 10 + 20);
}

#[test]
fn the_rows_of_types_that_a_survey_finds_are_exact() {
    let home = tempfile::tempdir().unwrap();
    let mut all: Vec<_> = ["social.parq", "social.lake", "social.nq"].map(|name| home.path().join(name)).into();
    all.iter().for_each(|at| converted(&social(), at));
    all.push(changed_lake(home.path()));
    let repeated = home.path().join("repeated.nt");
    let lines = |of: usize| {
        format!("<http://e/{of}> <http://e/knows> <http://e/1> .\n<http://e/{of}> <http://e/n> \"{of}\" .\n")
    };
    std::fs::write(&repeated, (0..9).map(|of| lines(of % 4)).collect::<String>()).unwrap();
    all.push(repeated);
    all.push(isomorph_fixtures::fixture("deepgnn/hetero/bin_json_p1"));
    for at in all {
        let options = OpenOptions { sidecar: SidecarUse::Ignore, unsound: true, ..OpenOptions::default() };
        let opened = Opened::open(&Location::from_path(&at), &options).unwrap();
        let typed = opened.typed(&TypedOptions::default(), &resources(), &Silent).unwrap();
        let (mut tally, dataset) = (Tally::strict(), Dataset::new(typed, resources()));
        tally.check(&at.display().to_string(), &dataset);
        let is_counted = |kind: TableKind| matches!(kind, TableKind::Nodes(_) | TableKind::Edges(_));
        let tables = dataset.tables().iter().filter(|table| is_counted(table.kind())).count();
        // Each table is asked before and after it is read.
        assert_eq!(tally.exact.get("rows"), Some(&(2 * tables)), "{}", at.display());
    }
}

#[test]
fn nothing_is_exact_in_a_store_with_broken_metadata() {
    let home = tempfile::tempdir().unwrap();
    let at = changed_lake(home.path());
    let snapshots = || std::fs::read_dir(at.join("snapshots")).unwrap().map(|entry| entry.unwrap().path());
    let whole: Vec<_> = snapshots().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect();
    // V10: the order of a file; V15: its version; V19: the IRI of a predicate; and the number of its rows.
    let edits: [(&str, &str, &str); 4] = [
        ("V10", r#""is_inverse":false"#, r#""is_inverse":true"#),
        ("V15", r#""snapshot_version":1"#, r#""snapshot_version":99"#),
        ("V19", r#""http://e/knows""#, r#""knows""#),
        ("rows", r#""triple_count":"#, r#""triple_count":7"#),
    ];
    for (rule, from, to) in edits {
        let mut changed = 0;
        for (path, text) in &whole {
            let compact: String = text.replace("\": ", "\":");
            changed += compact.matches(from).count();
            std::fs::write(path, compact.replace(from, to)).unwrap();
        }
        assert!(changed > 0, "{rule}: {}", whole[0].1);
        let options = OpenOptions { unsound: true, ..OpenOptions::default() };
        if let Ok(opened) = Opened::open(&Location::from_path(&at), &options) {
            let mut tally = Tally::strict();
            tally.check(rule, &Dataset::new(opened.graph, resources()));
            assert!(tally.exact.is_empty(), "{rule}: {:?}", tally.exact);
        }
    }
}

#[test]
fn counts_that_files_do_not_confirm_are_no_exact_rows() {
    for (name, change) in [("more", 1i64), ("fewer", -1), ("none", -500)] {
        for file in [
            "vertex/person/vertex_count",
            "edge/person_knows_person/ordered_by_source/vertex_count",
            "edge/person_knows_person/ordered_by_source/edge_count0",
        ] {
            let home = tempfile::tempdir().unwrap();
            let at = home.path().join("social");
            converted(&social(), &at);
            let path = at.join(file);
            let count = i64::from_le_bytes(std::fs::read(&path).unwrap().try_into().unwrap());
            std::fs::write(&path, (count + change).max(0).to_le_bytes()).unwrap();
            let options = OpenOptions { sidecar: SidecarUse::Ignore, unsound: true, ..OpenOptions::default() };
            let Ok(opened) = Opened::open(&Location::from_path(&at), &options) else { continue };
            Tally::strict().check(&format!("{file}, {name}"), &Dataset::new(opened.graph, resources()));
        }
    }
}

#[test]
fn an_annnet_manifest_with_wrong_counts_is_not_believed() {
    let home = tempfile::tempdir().unwrap();
    let at = home.path().join("graph.annnet.d");
    copied(&isomorph_fixtures::fixture("annnet/plain_directed/graph.annnet.d"), &at);
    let path = at.join("manifest.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    let counts = manifest["counts"].as_object_mut().unwrap_or_else(|| panic!("{text}"));
    assert!(!counts.is_empty());
    counts.values_mut().for_each(|count| *count = (count.as_u64().unwrap_or_default() + 3).into());
    std::fs::write(&path, manifest.to_string()).unwrap();
    let mut tally = Tally::strict();
    tally.check("annnet", &dataset(&at));
    assert!(tally.exact.get("rows").is_some_and(|tables| *tables > 0), "{:?}", tally.exact);
}

/// A file of NOCK with numbers that are none, zeros of both signs, and texts that differ behind the part that footers keep.
fn edges_of_values(path: &Path) {
    const ROWS: usize = 60;
    let texts =
        |of: &dyn Fn(usize) -> String| -> ArrayRef { Arc::new(StringArray::from_iter_values((0..ROWS).map(of))) };
    let numbers = || -> ArrayRef { Arc::new(Int32Array::from(vec![-1; ROWS])) };
    let floats = [f64::NAN, -0.0, 0.0, 1.5, -2.5, f64::INFINITY];
    let floats: Vec<Option<f64>> = (0..ROWS).map(|row| (row % 7 > 0).then(|| floats[row % 6])).collect();
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("src_name", texts(&|row| format!("n{row:02}")), true),
        ("edge_id", numbers(), true),
        ("rel_name", texts(&|_| String::new()), true),
        ("dst_name", texts(&|_| String::new()), true),
        ("truth", Arc::new(Float32Array::from(vec![1.0; ROWS])) as ArrayRef, true),
        ("shadow", numbers(), true),
        ("is_rdf", Arc::new(BooleanArray::from(vec![false; ROWS])) as ArrayRef, true),
        ("labels", texts(&|_| String::new()), true),
        ("props", texts(&|_| String::new()), true),
        ("float", Arc::new(Float64Array::from(floats)) as ArrayRef, true),
        ("long", texts(&|row| format!("{}{row}", "é".repeat(500))), true),
        ("short", texts(&|row| format!("t{}", row % 4)), true),
        ("big", Arc::new(UInt64Array::from_iter_values((0..ROWS as u64).map(|row| u64::MAX - row))) as ArrayRef, true),
    ])
    .unwrap();
    let options = WriteOptions { row_group_rows: 20, ..WriteOptions::default() };
    let mut writer = TableWriter::create(Vec::new(), Encoding::Parquet, batch.schema_ref(), &options).unwrap();
    writer.write(&batch).unwrap();
    std::fs::write(path, writer.finish().unwrap().0).unwrap();
}

#[test]
fn cut_bounds_and_numbers_that_are_none_are_not_exact() {
    let home = tempfile::tempdir().unwrap();
    let (nock, graphar) = (home.path().join("n.parq"), home.path().join("g"));
    edges_of_values(&nock);
    converted(&nock, &graphar);
    for at in [&nock, &graphar] {
        let (mut tally, dataset) = (Tally::strict(), dataset(at));
        tally.check(&at.display().to_string(), &dataset);
        assert!(tally.exact.get("rows").is_some_and(|tables| *tables > 0), "{:?}", tally.exact);
        let table = dataset.table("node").unwrap();
        let said = dataset.statistics("node").unwrap();
        for name in ["float", "long"] {
            let column = &said.columns[table.column(name).unwrap()];
            assert!(column.least.exact().is_none() && column.greatest.exact().is_none(), "{name}: {column:?}");
        }
    }
}
