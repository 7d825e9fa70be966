//! Every graph of the fixtures as tables: all rows exist and have the declared types, and filters return the same as a
//! check of each row.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use isomorph_convert::{OpenOptions, Opened, SidecarUse};
use isomorph_dataset::{Dataset, KIND, ROLE, Role, TableKind};
use isomorph_error::Kind;
use isomorph_fixtures::fixture;
use isomorph_model::{Batch, Comparison, Literal, Predicate, Request, Source, Tables, Way};
use isomorph_storage::{Location, Resources};

type Row = BTreeMap<String, Option<String>>;

/// The graphs with golden sidecars, read with and without these.
fn graphs() -> Vec<(String, Arc<dyn Source>)> {
    let folder = fixture("sidecars");
    let expected = std::fs::read(folder.join("expected.json")).unwrap();
    let expected: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&expected).unwrap();
    let mut graphs = Vec::new();
    for path in expected.keys() {
        let place = Location::from_path(&folder.join(path));
        for sidecar in [SidecarUse::Auto, SidecarUse::Ignore] {
            let options = OpenOptions { sidecar, unsound: true, ..OpenOptions::default() };
            let opened = Opened::open(&place, &options).unwrap_or_else(|error| panic!("{path}: {error}"));
            graphs.push((format!("{path}, {sidecar:?}"), opened.graph));
        }
    }
    graphs
}

/// Graphs that the published libraries wrote, and one in small chunks of every format.
fn others() -> Vec<(String, Arc<dyn Source>)> {
    let mut graphs = Vec::new();
    let mut add = |path: &std::path::Path| {
        let options = OpenOptions { unsound: true, ..OpenOptions::default() };
        if let Ok(opened) = Opened::open(&Location::from_path(path), &options) {
            graphs.push((path.display().to_string(), opened.graph));
        }
    };
    for folder in ["nock", "annnet", "deepgnn", "graphlake"] {
        for entry in std::fs::read_dir(fixture(folder)).unwrap() {
            let path = entry.unwrap().path();
            add(&path);
            let inner = std::fs::read_dir(&path).into_iter().flatten().map(|entry| entry.unwrap().path());
            inner.for_each(|path| add(&path));
        }
    }
    assert!(graphs.len() > 40, "{} graphs", graphs.len());
    graphs
}

fn rows(batches: &[RecordBatch]) -> Vec<Row> {
    let cells = |column: &ArrayRef| -> Vec<Option<String>> {
        // The comparison ignores the names of zones.
        let column = match column.data_type() {
            DataType::Timestamp(_, Some(_)) => arrow_cast::cast(column, &DataType::Int64).unwrap(),
            _ => Arc::clone(column),
        };
        let formatter = ArrayFormatter::try_new(&column, &FormatOptions::default()).unwrap();
        (0..column.len()).map(|row| (!column.is_null(row)).then(|| formatter.value(row).to_string())).collect()
    };
    let mut rows = Vec::new();
    for batch in batches {
        let (schema, columns) = (batch.schema(), batch.columns().iter().map(cells).collect::<Vec<_>>());
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

/// A condition that some row passes: values of its own cells, compared, negated and joined.
fn condition(state: &mut u64, row: &Row, depth: u32) -> Predicate {
    let mut random = |below: usize| {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize % below.max(1)
    };
    match random(if depth == 0 { 3 } else { 6 }) {
        3 => Predicate::And(vec![condition(state, row, depth - 1), condition(state, row, depth - 1)]),
        4 => Predicate::Or(vec![condition(state, row, depth - 1), condition(state, row, depth - 1)]),
        5 => Predicate::Not(Box::new(condition(state, row, depth - 1))),
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

#[test]
fn what_a_format_leaves_out_nobody_misses() {
    let (mut compared, mut state) = (0, 7);
    for (name, source) in graphs() {
        let resources = || Resources::of_this_machine().unwrap();
        let dataset = Dataset::new(Arc::clone(&source), resources());
        let whole = Dataset::new(Arc::new(Whole(Arc::clone(&source))), resources());
        for table in dataset.tables() {
            let is_narrowed = matches!(table.kind(), TableKind::Nodes(_) | TableKind::Edges(_));
            let all: Result<Vec<RecordBatch>, _> = whole.scan(table.name()).unwrap().batches().unwrap().collect();
            let all = rows(&all.unwrap());
            let Some(last) = all.last().filter(|_| is_narrowed) else { continue };
            for turn in 0..24 {
                let row = &all[(turn * 7) % all.len()];
                let filter = condition(&mut state, if turn % 2 == 0 { row } else { last }, 2);
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
    }
    assert!(compared > 1000, "{compared}");
}

/// Rows as texts, sorted: edges that are found by an end are in the order of that end.
fn sorted(batches: &[RecordBatch]) -> Vec<Row> {
    let mut rows = rows(batches);
    let schema = batches.first().map(RecordBatch::schema);
    let fields = schema.iter().flat_map(|schema| schema.fields());
    // Labels have no order.
    for labels in fields.filter(|field| field.metadata().get(ROLE).is_some_and(|role| role == Role::Labels.word())) {
        for cell in rows.iter_mut().filter_map(|row| row.get_mut(labels.name())?.as_mut()) {
            let mut words: Vec<String> = cell.trim_matches(['[', ']']).split(", ").map(str::to_owned).collect();
            words.sort();
            *cell = words.join(", ");
        }
    }
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

#[test]
fn exact_statistics_are_what_a_scan_gives() {
    let (mut exact, mut near) = (BTreeMap::<&str, usize>::new(), 0);
    for (name, source) in graphs().into_iter().chain(others()) {
        let dataset = Dataset::new(Arc::clone(&source), Resources::of_this_machine().unwrap());
        for table in dataset.tables() {
            let shown = format!("{name}: {}", table.name());
            let said = dataset.statistics(table.name()).unwrap();
            let all: Result<Vec<RecordBatch>, _> = dataset.scan(table.name()).unwrap().batches().unwrap().collect();
            let Ok(all) = all else { continue };
            // What was learnt while reading may add statistics.
            for said in [said, dataset.statistics(table.name()).unwrap()] {
                let rows: usize = all.iter().map(RecordBatch::num_rows).sum();
                near += usize::from(said.rows.exact().is_none() && said.rows.value().is_some());
                if let Some(stated) = said.rows.exact() {
                    assert_eq!(*stated, rows as u64, "{shown}");
                    *exact.entry("rows").or_default() += 1;
                }
                for (at, column) in said.columns.iter().enumerate() {
                    let shown = format!("{shown}: {}", table.schema().field(at).name());
                    let arrays: Vec<&dyn Array> = all.iter().map(|batch| batch.column(at).as_ref()).collect();
                    let cells = match arrays.is_empty() {
                        true => arrow_array::new_empty_array(table.schema().field(at).data_type()),
                        false => arrow_select::concat::concat(&arrays).unwrap(),
                    };
                    if let Some(nulls) = column.nulls.exact() {
                        assert_eq!(
                            *nulls,
                            cells.logical_nulls().map_or(0, |nulls| nulls.null_count()) as u64,
                            "{shown}"
                        );
                        *exact.entry("nulls").or_default() += 1;
                    }
                    let (least, greatest) = isomorph_model::predicate::extremes(&cells).unzip();
                    for (said, found) in [(&column.least, least), (&column.greatest, greatest)] {
                        if let Some(said) = said.exact() {
                            assert_eq!(*said, found, "{shown}");
                            *exact.entry("bounds").or_default() += 1;
                        }
                    }
                    if let Some(distinct) = column.distinct.exact() {
                        let formatter = ArrayFormatter::try_new(&cells, &FormatOptions::default()).unwrap();
                        let texts = (0..cells.len()).filter(|row| cells.is_valid(*row));
                        let texts: std::collections::BTreeSet<String> =
                            texts.map(|row| formatter.value(row).to_string()).collect();
                        assert_eq!(*distinct, texts.len() as u64, "{shown}");
                        *exact.entry("distinct").or_default() += 1;
                    }
                }
            }
        }
    }
    assert!(exact.len() == 4 && exact.values().all(|count| *count > 10) && near > 10, "{exact:?}, {near} estimates");
}
