//! Graphs of the zoo as tables: against their batches, and filters against a scan of everything.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use isomorph_dataset::{Dataset, KIND, Role, TableKind, parse_predicate};
use isomorph_error::Kind;
use isomorph_model::{Batch, Key, MemoryGraph, Request, Source, Tables};
use isomorph_model::{Comparison, Literal, Predicate};
use isomorph_storage::Resources;
use isomorph_zoo::{Build, Nodes, bundled_graphs, five, int64, multilayer, property_graphs};

fn graphs() -> Vec<(String, MemoryGraph)> {
    let five = five().into_iter().map(|(name, graph)| (name.to_owned(), graph));
    let typed = property_graphs().into_iter().map(|(name, graph)| (name.to_owned(), graph));
    let bundled = bundled_graphs().into_iter().map(|(name, graph)| (name.to_owned(), graph));
    let layered = (0..20).map(|seed| (format!("multilayer {seed}"), multilayer(seed)));
    five.chain(typed).chain(bundled).chain(layered).collect()
}

fn dataset(graph: MemoryGraph) -> Dataset {
    Dataset::new(Arc::new(graph), Resources::of_this_machine().unwrap())
}

/// The cells of a column as text, nothing where it is null.
fn cells(column: &ArrayRef) -> Vec<Option<String>> {
    let formatter = ArrayFormatter::try_new(column, &FormatOptions::default()).unwrap();
    (0..column.len()).map(|row| (!column.is_null(row)).then(|| formatter.value(row).to_string())).collect()
}

/// Rows as texts, by name of column.
fn rows(batches: &[RecordBatch]) -> Vec<BTreeMap<String, Option<String>>> {
    let mut rows = Vec::new();
    for batch in batches {
        let schema = batch.schema();
        let columns: Vec<(String, Vec<Option<String>>)> = schema
            .fields()
            .iter()
            .zip(batch.columns())
            .map(|(field, column)| (field.name().clone(), cells(column)))
            .collect();
        for row in 0..batch.num_rows() {
            rows.push(columns.iter().map(|(name, cells)| (name.clone(), cells[row].clone())).collect());
        }
    }
    rows
}

fn all(dataset: &Dataset, table: &str) -> Vec<RecordBatch> {
    dataset.scan(table).unwrap().batches().unwrap().map(Result::unwrap).collect()
}

fn number_of_rows(source: &dyn Source, kind: TableKind) -> usize {
    let batches = source.scan(&Request::of(Tables::All)).unwrap().into_iter().flatten().map(Result::unwrap);
    let of = |batch: &Batch| match (kind, batch) {
        (TableKind::Nodes(ty), Batch::Nodes(batch)) => ty == batch.ty,
        (TableKind::Edges(ty), Batch::Edges(batch)) => ty == batch.ty,
        (TableKind::Hyperedges(ty), Batch::Hyperedges(batch)) => ty == batch.ty,
        (TableKind::Members(ty), Batch::Members(batch)) => ty == batch.ty,
        (TableKind::Values(table), Batch::Values(batch)) => table == batch.table,
        (TableKind::Groups(kind), Batch::Groups(batch)) => kind == batch.kind,
        (TableKind::Memberships { kind, table }, Batch::Memberships(batch)) => {
            (kind, table) == (batch.kind, batch.table)
        }
        _ => false,
    };
    batches.filter(of).map(|batch| batch.rows()).sum()
}

#[test]
fn every_row_of_every_table_is_there() {
    let (mut tables, mut ends) = (0, 0);
    for (name, graph) in graphs() {
        let dataset = dataset(graph);
        for table in dataset.tables() {
            let found: Vec<RecordBatch> = all(&dataset, table.name());
            let sum: usize = found.iter().map(RecordBatch::num_rows).sum();
            assert_eq!(sum, number_of_rows(dataset.source().as_ref(), table.kind()), "{name}: {}", table.name());
            assert!(found.iter().all(|batch| batch.schema() == *table.schema()), "{name}: {}", table.name());
            tables += 1;
            // Ends are keys of nodes.
            let TableKind::Edges(ty) = table.kind() else { continue };
            let graph = dataset.source().graph();
            for (end, role) in [(graph.edges[ty].source, "@source"), (graph.edges[ty].target, "@target")] {
                let node = dataset.tables().iter().find(|table| table.kind() == TableKind::Nodes(end)).unwrap();
                if graph.nodes[end].implied {
                    continue;
                }
                let key = if node.roles().contains(&Role::Key) { "@key" } else { "@row" };
                let keys = dataset.scan(node.name()).unwrap().columns([key]).batches().unwrap();
                let keys: Vec<Option<String>> = keys.flat_map(|batch| cells(batch.unwrap().column(0))).collect();
                let named = dataset.scan(table.name()).unwrap().columns([role]).batches().unwrap();
                for end in named.flat_map(|batch| cells(batch.unwrap().column(0))) {
                    assert!(keys.contains(&end), "{name}: {} ends in {end:?}", table.name());
                    ends += 1;
                }
            }
        }
    }
    assert!(tables > 150 && ends > 500, "{tables} tables, {ends} ends");
}

#[test]
fn columns_are_those_that_are_asked_for() {
    for (name, graph) in graphs() {
        let dataset = dataset(graph);
        for table in dataset.tables() {
            let whole = rows(&all(&dataset, table.name()));
            for (at, field) in table.schema().fields().iter().enumerate() {
                let scan = dataset.scan(table.name()).unwrap().columns([field.name()]);
                assert_eq!(*scan.schema().unwrap(), table.schema().project(&[at]).unwrap());
                let one: Vec<_> = scan.batches().unwrap().map(Result::unwrap).collect();
                let expected: Vec<_> = whole.iter().map(|row| row[field.name()].clone()).collect();
                let found: Vec<_> = rows(&one).into_iter().map(|row| row[field.name()].clone()).collect();
                assert_eq!(found, expected, "{name}: {} of {}", field.name(), table.name());
            }
            // No column at all: rows are counted.
            let none = dataset.scan(table.name()).unwrap().columns::<&str>([]).batches().unwrap();
            assert_eq!(none.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), whole.len(), "{name}");
        }
    }
}

/// A filter that compares a column with one of its own values passes the rows that a look at each finds.
#[test]
fn filters_pass_what_a_look_at_each_row_finds() {
    let (mut compared, mut refused) = (0, 0);
    for (name, graph) in graphs() {
        let dataset = dataset(graph);
        for table in dataset.tables() {
            let whole = rows(&all(&dataset, table.name()));
            for field in table.schema().fields() {
                let column = field.name();
                let null = filtered(&dataset, table.name(), Predicate::IsNull(column.clone())).unwrap();
                let expected: Vec<_> = whole.iter().filter(|row| row[column].is_none()).cloned().collect();
                assert_eq!(null, expected, "{name}: {column} of {} is null", table.name());
                let Some(value) = whole.iter().rev().find_map(|row| row[column].clone()) else { continue };
                let equal = Predicate::equal(column.clone(), Literal::Text(value.clone()));
                match filtered(&dataset, table.name(), equal) {
                    Ok(_) if is_bytes(field.data_type()) => {}
                    Ok(found) => {
                        let same = |row: &&BTreeMap<String, Option<String>>| {
                            equals(field.data_type(), row[column].as_ref(), &value)
                        };
                        let expected: Vec<_> = whole.iter().filter(same).cloned().collect();
                        assert_eq!(found, expected, "{name}: {column} of {} = {value:?}", table.name());
                        compared += 1;
                    }
                    Err(error) => {
                        let is_list = field.data_type().is_nested();
                        assert!(is_list || field.metadata().contains_key(KIND), "{name}: {column}: {error}");
                        assert!(matches!(error.kind(), Kind::Usage | Kind::Unsupported), "{error}");
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(compared > 300 && refused > 20, "{compared} compared, {refused} refused");
}

/// Whether a filter `= value` passes a cell: floats compare by IEEE 754.
fn equals(data_type: &DataType, cell: Option<&String>, value: &str) -> bool {
    match data_type.is_floating() {
        true => cell.is_some_and(|cell| cell.parse::<f64>().unwrap() == value.parse::<f64>().unwrap()),
        false => cell.is_some_and(|cell| cell == value),
    }
}

/// Bytes are shown as digits, and compared with text.
fn is_bytes(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => values.is_binary(),
        other => other.is_binary(),
    }
}

fn filtered(
    dataset: &Dataset,
    table: &str,
    filter: Predicate,
) -> isomorph_error::Result<Vec<BTreeMap<String, Option<String>>>> {
    let batches: isomorph_error::Result<Vec<RecordBatch>> = dataset.scan(table)?.filter(filter).batches()?.collect();
    Ok(rows(&batches?))
}

#[test]
fn labels_and_columns_that_are_not_given_filter() {
    let (mut found, mut without) = (0, 0);
    for (name, graph) in graphs() {
        let dataset = dataset(graph);
        for table in dataset.tables().iter().filter(|table| table.roles().contains(&Role::Labels)) {
            let scan = || dataset.scan(table.name()).unwrap();
            let labels = |batch: isomorph_error::Result<RecordBatch>| -> Vec<Vec<String>> {
                let lists = batch.unwrap().column(0).as_list::<i32>().clone();
                let names = |row| lists.value(row).as_string::<i32>().iter().flatten().map(str::to_owned).collect();
                let all: Vec<Vec<String>> = (0..lists.len()).map(names).collect();
                assert!((0..lists.len()).all(|row| lists.is_null(row) == all[row].is_empty()), "{name}");
                all
            };
            let count = |filter: Predicate| -> usize {
                let batches = scan().columns::<&str>([]).filter(filter).batches().unwrap();
                batches.map(|batch| batch.unwrap().num_rows()).sum()
            };
            let whole: Vec<_> = scan().columns(["@labels"]).batches().unwrap().flat_map(labels).collect();
            let known: BTreeSet<&String> = whole.iter().flatten().collect();
            for label in known.into_iter().chain([&"nobody has it".to_owned()]) {
                let has = Predicate::Has { column: "@labels".into(), literal: label.as_str().into() };
                let expected = whole.iter().filter(|row| row.contains(label)).count();
                assert_eq!(count(has.clone()), expected, "{name}: {label}");
                // A node without labels does not have the label either: that is known.
                assert_eq!(count(Predicate::Not(Box::new(has))), whole.len() - expected, "{name}: not {label}");
                found += expected;
            }
            let bare = whole.iter().filter(|row| row.is_empty()).count();
            assert_eq!(count(Predicate::IsNull("@labels".into())), bare, "{name}");
            assert_eq!(count(Predicate::IsNotNull("@labels".into())), whole.len() - bare, "{name}");
            without += bare;
        }
    }
    assert!(found > 5 && without > 5, "{found} labels, {without} nodes without");
}

#[test]
fn a_limit_holds_for_all_partitions_together() {
    for (name, graph) in graphs() {
        let dataset = dataset(graph);
        for table in dataset.tables() {
            let whole = rows(&all(&dataset, table.name()));
            for limit in [0, 1, 2, 5, 1000] {
                let scan = dataset.scan(table.name()).unwrap().limit(limit);
                let first: Vec<_> = scan.batches().unwrap().map(Result::unwrap).collect();
                let expected = &whole[..whole.len().min(usize::try_from(limit).unwrap())];
                assert_eq!(rows(&first), expected, "{name}: {}", table.name());
                let workers: Vec<_> = scan
                    .partitions()
                    .unwrap()
                    .into_iter()
                    .map(|part| std::thread::spawn(|| part.map(|batch| batch.unwrap().num_rows()).sum::<usize>()))
                    .collect();
                let sum: usize = workers.into_iter().map(|worker| worker.join().unwrap()).sum();
                assert_eq!(sum, expected.len(), "{name}: {}", table.name());
            }
        }
    }
}

#[test]
fn partitions_outlive_their_dataset() {
    let (_, graph) = five().into_iter().next().unwrap();
    let dataset = dataset(graph);
    let table = dataset.tables()[0].name().to_owned();
    let expected = rows(&all(&dataset, &table));
    let partitions = dataset.scan(&table).unwrap().partitions().unwrap();
    drop(dataset);
    let found: Vec<_> = partitions.into_iter().flatten().map(Result::unwrap).collect();
    assert_eq!(rows(&found), expected);
}

#[test]
fn what_is_not_there_is_named() {
    let (_, graph) = five().into_iter().next().unwrap();
    let dataset = dataset(graph);
    let table = dataset.tables()[0].clone();
    let hints = |error: isomorph_error::Error| error.hints().collect::<String>();
    assert!(hints(dataset.scan("nothing like it").unwrap_err()).contains(table.name()));
    let scan = || dataset.scan(table.name()).unwrap();
    let first = table.schema().field(0).name();
    assert!(hints(scan().columns(["nothing"]).schema().unwrap_err()).contains(first));
    assert!(scan().columns(["@nothing"]).schema().is_err());
    assert!(scan().columns([first, first]).schema().unwrap_err().message().contains("twice"));
    let filter = Predicate::compare("nothing", Comparison::Less, 5i64);
    assert_eq!(scan().filter(filter).partitions().unwrap_err().kind(), Kind::Usage);
}

/// The first values of a column are asked for, some twice, with nulls and values that are nowhere between them.
#[test]
fn look_ups_answer_every_question() {
    let (mut answers, mut refused) = (0, 0);
    for (name, graph) in graphs() {
        let dataset = dataset(graph);
        for table in dataset.tables() {
            let whole = rows(&all(&dataset, table.name()));
            for field in table.schema().fields().iter().filter(|field| !field.data_type().is_nested()) {
                let column = field.name();
                let mut texts: Vec<Option<String>> = whole.iter().take(40).map(|row| row[column].clone()).collect();
                texts.extend([None, texts.first().cloned().flatten()]);
                let asked: ArrayRef = Arc::new(StringArray::from(texts.clone()));
                let Ok(asked) = arrow_cast::cast(&asked, field.data_type()) else { continue };
                let scan = dataset.scan(table.name()).unwrap().look_up(column, asked);
                let schema = scan.schema().unwrap();
                let found: isomorph_error::Result<Vec<RecordBatch>> =
                    scan.batches().and_then(|batches| batches.collect());
                let Ok(found) = found else {
                    let is_key = field.data_type().is_integer() || *field.data_type() == DataType::Utf8;
                    assert!(!is_key || field.metadata().contains_key(KIND), "{name}: {column}");
                    refused += 1;
                    continue;
                };
                let is_json = field.metadata().get(KIND).is_some_and(|kind| matches!(kind.as_str(), "json" | "bag"));
                assert!(!is_json, "{name}: {column} holds texts of JSON, which are no values");
                let mut expected = Vec::new();
                for row in whole.iter().filter(|row| row[column].is_some()) {
                    for (question, text) in texts.iter().enumerate().filter(|(_, text)| **text == row[column]) {
                        assert!(text.is_some());
                        let mut answer = row.clone();
                        answer.insert(schema.field(0).name().clone(), Some(question.to_string()));
                        expected.push(answer);
                    }
                }
                assert_eq!(rows(&found), expected, "{name}: {column} of {}", table.name());
                answers += expected.len();
            }
        }
    }
    assert!(answers > 1000 && refused > 10, "{answers} answers, {refused} refused");
}

#[test]
fn a_property_that_is_called_like_a_role_is_the_property() {
    let mut build = Build::default();
    let nodes = Nodes::with_key("n", Key::int64().named("id"), int64(vec![1, 2])).column("@key", int64(vec![8, 9]));
    build.nodes(nodes.column("@labels", int64(vec![5, 5])).labels(&[&["A"], &[]]));
    let dataset = dataset(build.finish());
    let read = |scan: isomorph_dataset::Scan<'_>| -> isomorph_error::Result<Vec<Option<String>>> {
        let batches = scan.batches()?.collect::<isomorph_error::Result<Vec<_>>>()?;
        Ok(batches.iter().flat_map(|batch| cells(batch.column(0))).collect())
    };
    let scan = || dataset.scan("n").unwrap();
    let texts = |values: &[&str]| values.iter().map(|value| Some((*value).to_owned())).collect::<Vec<_>>();
    assert_eq!(read(scan().columns(["@key"])).unwrap(), texts(&["8", "9"]));
    assert_eq!(read(scan().columns(["id", "@key"])).unwrap(), texts(&["1", "2"]));
    let filter = |text: &str| scan().columns(["id"]).filter(parse_predicate(text).unwrap());
    assert_eq!(read(filter("@key = 9")).unwrap(), texts(&["2"]));
    assert_eq!(read(filter("id = 1 and `@labels` = 5")).unwrap(), texts(&["1"]));
    let asked: ArrayRef = int64(vec![9]);
    assert_eq!(read(scan().columns(["id"]).look_up("@key", asked)).unwrap(), texts(&["0"]));
    // `has label` calls the labels as the property is called.
    assert_eq!(read(filter("has label A")).unwrap_err().kind(), Kind::Unsupported);
    assert_eq!(read(filter("labels has \"A\"")).unwrap(), texts(&["1"]));
}
