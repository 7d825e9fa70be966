//! Every graph of the fixtures as tables: all rows exist and have the declared types, and filters return the same as a
//! check of each row.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Field};
use common::{graphs, others};
use isomorph_convert::{OpenOptions, Opened, Silent};
use isomorph_dataset::{Dataset, KIND, ROLE, Role, Selected, Selection, TableKind};
use isomorph_error::Kind;
use isomorph_model::{Batch, Comparison, DynamicFilter, Literal, Predicate, Request, Source, Tables, Way};
use isomorph_storage::{Location, Resources};

type Row = BTreeMap<String, Option<String>>;

/// Rows as texts. Labels have no order, and are sorted.
fn rows(batches: &[RecordBatch]) -> Vec<Row> {
    let cells = |field: &Field, column: &ArrayRef| -> Vec<Option<String>> {
        // Zones have no names here.
        let column = match column.data_type() {
            DataType::Timestamp(_, Some(_)) => arrow_cast::cast(column, &DataType::Int64).unwrap(),
            _ => Arc::clone(column),
        };
        let formatter = ArrayFormatter::try_new(&column, &FormatOptions::default()).unwrap();
        let is_labels = field.metadata().get(ROLE).is_some_and(|role| role == Role::Labels.word());
        let cell = |row: usize| {
            let text = formatter.value(row).to_string();
            if !is_labels {
                return text;
            }
            let mut words: Vec<&str> = text.trim_matches(['[', ']']).split(", ").collect();
            words.sort_unstable();
            words.join(", ")
        };
        (0..column.len()).map(|row| (!column.is_null(row)).then(|| cell(row))).collect()
    };
    let mut rows = Vec::new();
    for batch in batches {
        let schema = batch.schema();
        let columns: Vec<_> =
            schema.fields().iter().zip(batch.columns()).map(|(field, column)| cells(field, column)).collect();
        let names = || schema.fields().iter().map(|field| field.name().clone());
        rows.extend(
            (0..batch.num_rows())
                .map(|row| names().zip(&columns).map(|(name, cells)| (name, cells[row].clone())).collect::<Row>()),
        );
    }
    rows
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

#[test]
fn every_table_of_every_graph_can_be_read_and_filtered() {
    let (mut tables, mut compared) = (0, 0);
    for (name, source) in graphs() {
        let dataset = Dataset::new(Arc::clone(&source), Resources::of_this_machine().unwrap());
        for table in dataset.tables() {
            let shown = format!("{name}: {}", table.name());
            let scan = || dataset.scan(table.name()).unwrap();
            let whole: Result<Vec<RecordBatch>, _> = scan().batches().unwrap().collect();
            let whole = rows(&whole.unwrap_or_else(|error| panic!("{shown}: {error}")));
            assert_eq!(whole.len(), number_of_rows(source.as_ref(), table.kind()), "{shown}");
            assert!(table.rows().is_none_or(|rows| rows == whole.len() as u64), "{shown}: {:?} rows", table.rows());
            let first = table.schema().field(0).name();
            let alone: Result<Vec<RecordBatch>, _> = scan().columns([first.clone()]).batches().unwrap().collect();
            let alone: Vec<Option<String>> = rows(&alone.unwrap()).iter().map(|row| row[first].clone()).collect();
            assert_eq!(alone, whole.iter().map(|row| row[first].clone()).collect::<Vec<_>>(), "{shown}: {first}");
            let small: Result<Vec<RecordBatch>, _> = scan().batch_rows(2).batches().unwrap().collect();
            let small: Vec<usize> = small.unwrap().iter().map(RecordBatch::num_rows).collect();
            assert!(small.iter().all(|rows| *rows <= 2) && small.iter().sum::<usize>() == whole.len(), "{shown}");
            tables += 1;
            for field in table.schema().fields() {
                let column = field.name();
                let Some(value) = whole.iter().rev().find_map(|row| row[column].clone()) else { continue };
                let filter = Predicate::equal(column.clone(), Literal::Text(value.clone()));
                let found = scan().filter(filter).batches().and_then(Iterator::collect::<Result<Vec<_>, _>>);
                match found {
                    Ok(_) if is_bytes(field.data_type()) => {}
                    Ok(found) => {
                        let same = |row: &&Row| equals(field.data_type(), row[column].as_ref(), &value);
                        let expected: Vec<Row> = whole.iter().filter(same).cloned().collect();
                        assert_eq!(rows(&found), expected, "{shown}: {column} = {value:?}");
                        compared += 1;
                    }
                    Err(error) => {
                        let has_reason = field.data_type().is_nested() || field.metadata().contains_key(KIND);
                        let is_told = matches!(error.kind(), Kind::Usage | Kind::Unsupported);
                        assert!(has_reason && is_told, "{shown}: {column}: {error}");
                    }
                }
            }
            let first: Result<Vec<RecordBatch>, _> = scan().limit(3).batches().unwrap().collect();
            assert_eq!(rows(&first.unwrap()), whole[..whole.len().min(3)], "{shown}");
        }
    }
    assert!(tables > 300 && compared > 700, "{tables} tables, {compared} columns compared");
}

#[test]
fn what_is_no_bag_is_null_in_batches_of_any_size() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("n.csv");
    let mut text = "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props\n".to_owned();
    for node in 0..20 {
        let props = if node == 17 { "{\"\"x\"\":1}" } else { "" };
        text += &format!("\"n{node:02}\",-1,\"\",\"\",1.0,-1,false,\"\",\"{props}\"\n");
    }
    std::fs::write(&path, text).unwrap();
    let opened = Opened::open(&Location::from_path(&path), &OpenOptions::default()).unwrap();
    let dataset = Dataset::new(opened.graph, Resources::of_this_machine().unwrap());
    for batch_rows in [1, 3, 20] {
        for (filter, expected) in [("properties is null", 19), ("properties is not null", 1)] {
            let filter = isomorph_dataset::parse_predicate(filter).unwrap();
            let scan = dataset.scan("node").unwrap().batch_rows(batch_rows).filter(filter.clone());
            let found: usize = scan.batches().unwrap().map(|batch| batch.unwrap().num_rows()).sum();
            assert_eq!(found, expected, "{batch_rows} {filter:?}");
        }
    }
}

/// A source that reads everything, whatever is requested.
struct Whole(Arc<dyn Source>);

impl Source for Whole {
    fn graph(&self) -> &isomorph_model::Graph {
        self.0.graph()
    }

    fn scan(&self, request: &Request) -> isomorph_error::Result<Vec<Box<dyn isomorph_model::Part + '_>>> {
        self.0.scan(&request.whole())
    }
}

/// A condition that some row passes: values of its own cells, compared, negated and joined; and sets of values of `all` rows.
fn condition(state: &mut u64, row: &Row, all: &[Row], depth: u32) -> Predicate {
    let mut random = |below: usize| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize % below.max(1)
    };
    match random(if depth == 0 { 4 } else { 7 }) {
        4 => Predicate::And(vec![condition(state, row, all, depth - 1), condition(state, row, all, depth - 1)]),
        5 => Predicate::Or(vec![condition(state, row, all, depth - 1), condition(state, row, all, depth - 1)]),
        6 => Predicate::Not(Box::new(condition(state, row, all, depth - 1))),
        3 => {
            let (column, _) = row.iter().nth(random(row.len())).unwrap();
            let cells = (0..4).filter_map(|_| all[random(all.len())][column].clone());
            Predicate::Or(cells.map(|cell| Predicate::equal(column, Literal::Text(cell))).collect())
        }
        kind => {
            let (column, cell) = row.iter().nth(random(row.len())).unwrap();
            let comparisons = [Comparison::Equal, Comparison::NotEqual, Comparison::Less, Comparison::GreaterOrEqual];
            match cell {
                Some(cell) if kind < 2 => {
                    Predicate::compare(column, comparisons[random(4)], Literal::Text(cell.clone()))
                }
                Some(_) => Predicate::IsNotNull(column.clone()),
                None => Predicate::IsNull(column.clone()),
            }
        }
    }
}

/// Compares scans with random columns and filters with those of a graph of which everything is read.
fn compare_with_whole(name: &str, source: &Arc<dyn Source>, state: &mut u64) -> usize {
    let resources = || Resources::of_this_machine().unwrap();
    let dataset = Dataset::new(Arc::clone(source), resources());
    let whole = Dataset::new(Arc::new(Whole(Arc::clone(source))), resources());
    let mut compared = 0;
    for table in dataset.tables() {
        let is_narrowed = matches!(table.kind(), TableKind::Nodes(_) | TableKind::Edges(_));
        let all: Result<Vec<RecordBatch>, _> = whole.scan(table.name()).unwrap().batches().unwrap().collect();
        let all = rows(&all.unwrap());
        let Some(last) = all.last().filter(|_| is_narrowed) else { continue };
        for turn in 0..24 {
            let row = &all[(turn * 7) % all.len()];
            let filter = condition(state, if turn % 2 == 0 { row } else { last }, &all, 2);
            let columns: Vec<&String> = row.keys().skip(turn % 3).step_by(1 + turn % 2).collect();
            let read = |dataset: &Dataset| {
                let scan = dataset.scan(table.name()).unwrap().columns(columns.iter().map(|name| name.as_str()));
                scan.filter(filter.clone()).batches()?.collect::<Result<Vec<_>, _>>().map(|found| rows(&found))
            };
            match (read(&dataset), read(&whole)) {
                (Ok(found), Ok(expected)) => {
                    assert_eq!(found, expected, "{name}: {}: {filter:?}", table.name());
                    compared += 1;
                }
                (Err(left), Err(right)) => assert_eq!(left.kind(), right.kind(), "{name}: {left} {right}"),
                (left, right) => panic!("{name}: {}: {filter:?}: {left:?} {right:?}", table.name()),
            }
        }
    }
    compared
}

#[test]
fn what_a_format_leaves_out_nobody_misses() {
    let (mut compared, mut state) = (0, 7);
    for (name, source) in graphs() {
        compared += compare_with_whole(&name, &source, &mut state);
    }
    assert!(compared > 1000, "{compared}");
}

#[test]
fn what_a_format_leaves_out_nobody_misses_in_a_selection() {
    let (mut compared, mut state) = (0, 17);
    for (at, (name, source)) in graphs().into_iter().enumerate() {
        let resources = Resources::of_this_machine().unwrap();
        let sample = Some(isomorph_dataset::Sample { rows: 5, seed: 3 });
        let selections = [
            Selection { limit: Some(4), ..Selection::default() },
            Selection { sample, keep_dangling: true, ..Selection::default() },
            Selection { sample, ..Selection::default() },
        ];
        // One for each graph, of which there are several alike; some cannot be selected from.
        let selection = &selections[at % selections.len()];
        let Ok(selected) = Selected::new(Arc::clone(&source), selection, &resources, &Silent) else { continue };
        let selected: Arc<dyn Source> = Arc::new(selected);
        compared += compare_with_whole(&format!("{name}, {selection:?}"), &selected, &mut state);
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn edges_of_annnet_are_found_by_an_index_of_their_keys() {
    let at = isomorph_fixtures::fixture("annnet/everything_flat/graph.annnet.d");
    let opened = Opened::open(&Location::from_path(&at), &OpenOptions::default()).unwrap();
    let dataset = Dataset::new(opened.graph, Resources::of_this_machine().unwrap());
    let table = dataset.tables().iter().find(|table| matches!(table.kind(), TableKind::Edges(_))).unwrap().name();
    let all: Vec<RecordBatch> = dataset.scan(table).unwrap().batches().unwrap().map(Result::unwrap).collect();
    let all = rows(&all);
    let key =
        dataset.table(table).unwrap().schema().field(dataset.table(table).unwrap().column("@key").unwrap()).name();
    let before = dataset.look_up_cost(table, "@key").unwrap();
    assert!(before.way == Way::Index && before.rows >= Some(all.len() as u64), "{before:?}");
    for row in &all {
        let asked: ArrayRef =
            Arc::new(arrow_array::StringArray::from(vec![row[key].clone(), Some("nothing".to_owned())]));
        let found = dataset.scan(table).unwrap().look_up("@key", asked).batches().unwrap();
        let mut found = rows(&found.map(Result::unwrap).collect::<Vec<_>>());
        assert_eq!(found[0].remove("question").as_ref(), Some(&Some("0".to_owned())));
        assert_eq!(found, std::slice::from_ref(row));
    }
    assert_eq!(dataset.look_up_cost(table, "@key").unwrap(), isomorph_model::Cost::INDEX);
}

#[test]
fn narrowing_a_filter_during_a_scan_loses_no_row_that_passes() {
    let (mut compared, mut left_out, mut state) = (0, 0, 13);
    for (name, source) in graphs() {
        let resources = || Resources::of_this_machine().unwrap();
        let dataset = Dataset::new(Arc::clone(&source), resources());
        let whole = Dataset::new(Arc::new(Whole(Arc::clone(&source))), resources());
        for table in dataset.tables() {
            let all: Result<Vec<RecordBatch>, _> = whole.scan(table.name()).unwrap().batches().unwrap().collect();
            let all = sorted(&all.unwrap());
            for turn in 0..all.len().min(8) {
                let row = &all[turn * 5 % all.len()];
                let first = condition(&mut state, row, &all, 1);
                let both = Predicate::And(vec![first.clone(), condition(&mut state, row, &all, 1)]);
                let Ok(passing) = whole.scan(table.name()).unwrap().filter(both.clone()).batches() else { continue };
                let passing = passing.collect::<Result<Vec<_>, _>>().unwrap();
                let filter = DynamicFilter::new(row.keys().cloned());
                let scan = dataset.scan(table.name()).unwrap().dynamic_filter(&filter);
                let mut found = Vec::new();
                for (part, partition) in scan.partitions().unwrap().into_iter().enumerate() {
                    filter.narrow(if part == 0 { first.clone() } else { both.clone() }).unwrap();
                    found.extend(partition.map(Result::unwrap));
                }
                let (found, passing) = (sorted(&found), sorted(&passing));
                let count = |of: &[Row], row: &Row| of.iter().filter(|other| *other == row).count();
                for row in &all {
                    let (found, passing, all) = (count(&found, row), count(&passing, row), count(&all, row));
                    assert!(passing <= found && found <= all, "{name}: {}: {both:?}: {row:?}", table.name());
                }
                left_out += all.len() - found.len();
                compared += 1;
            }
        }
    }
    assert!(compared > 500 && left_out > 100, "{compared} scans, {left_out} rows left out");
}

/// Rows as texts, sorted: edges that are found by an end are in the order of that end.
fn sorted(batches: &[RecordBatch]) -> Vec<Row> {
    let mut rows = rows(batches);
    rows.sort();
    rows
}

/// Keys of one column: some of its values, some duplicates, some missing ones, nulls; unchanged, and as texts and
/// integers with the same spelling.
fn keys(state: &mut u64, column: &[Option<String>], data_type: &DataType) -> Vec<ArrayRef> {
    let mut random = |below: usize| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize % below.max(1)
    };
    let mut keys: Vec<Option<String>> = Vec::new();
    for _ in 0..random(40) {
        let own = column.get(random(column.len())).cloned().flatten();
        match random(8) {
            0 => keys.push(None),
            1 => keys.push(Some(format!("{}{}", own.unwrap_or_default(), random(3)))),
            2 => keys.push(Some(random(1000).to_string())),
            3 => keys.push(Some(format!("0{}", own.unwrap_or_default()))),
            4 => keys.extend([own.clone(), own]),
            _ => keys.push(own),
        }
    }
    let texts: ArrayRef = Arc::new(arrow_array::StringArray::from(keys));
    let cast = |to: &DataType| arrow_cast::cast(&texts, to).ok();
    let own = cast(data_type);
    [Some(Arc::clone(&texts)), own, cast(&DataType::Int64), cast(&DataType::UInt64)].into_iter().flatten().collect()
}

#[test]
fn look_ups_find_what_a_pass_finds() {
    let (mut state, mut answers, mut by_way) = (11, 0, BTreeMap::<Way, usize>::new());
    for (name, source) in graphs().into_iter().chain(others()) {
        let resources = || Resources::of_this_machine().unwrap();
        let dataset = Dataset::new(Arc::clone(&source), resources());
        let whole = Dataset::new(Arc::new(Whole(Arc::clone(&source))), resources());
        for table in dataset.tables() {
            let all: Result<Vec<RecordBatch>, _> = whole.scan(table.name()).unwrap().batches().unwrap().collect();
            let Ok(all) = all else { continue };
            let all = rows(&all);
            for field in table.schema().fields().iter().filter(|field| !field.data_type().is_nested()) {
                let column = field.name();
                let cells: Vec<Option<String>> = all.iter().map(|row| row[column].clone()).collect();
                for (turn, keys) in keys(&mut state, &cells, field.data_type()).into_iter().enumerate() {
                    let ends = [column.as_str(), table.schema().field(0).name()];
                    let columns = ends.iter().copied().take(if ends[0] == ends[1] { 1 } else { 1 + turn % 2 });
                    let read = |dataset: &Dataset| {
                        let scan = dataset.scan(table.name()).unwrap().look_up(column, Arc::clone(&keys));
                        let scan = if turn < 2 { scan } else { scan.columns(columns.clone()) };
                        scan.batches()?.collect::<Result<Vec<_>, _>>().map(|found| sorted(&found))
                    };
                    match (read(&dataset), read(&whole)) {
                        (Ok(found), Ok(expected)) => {
                            assert_eq!(found, expected, "{name}: {}: {column} {keys:?}", table.name());
                            answers += expected.len();
                            let cost = dataset.look_up_cost(table.name(), column).unwrap();
                            *by_way.entry(cost.way).or_default() += expected.len();
                        }
                        (Err(left), Err(right)) => assert_eq!(left.kind(), right.kind(), "{name}: {left} {right}"),
                        (left, right) => panic!("{name}: {}: {column}: {left:?} {right:?}", table.name()),
                    }
                }
            }
        }
    }
    assert!(answers > 3000 && by_way.values().all(|answers| *answers > 100), "{answers} answers, {by_way:?}");
    assert_eq!(by_way.len(), 3, "{by_way:?}");
}
