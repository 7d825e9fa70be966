//! Zeros with a sign, NaN and infinities in filters, over all formats: what statistics leave out must not pass. The oracle looks at each value.

use std::cmp::Ordering;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use isomorph::convert::{ConvertOptions, Format, Silent};
use isomorph::model::Comparison;
use isomorph::{Graph, Location, Predicate};

use crate::support::{engine_of, rows};

const NAN: f64 = f64::NAN;

/// Columns whose bounds are a zero of one sign, or say nothing of NaN.
const COLUMNS: [[Option<f64>; 3]; 12] = [
    [Some(-0.0), Some(-0.0), Some(-0.0)],
    [Some(0.0), Some(0.0), Some(0.0)],
    [Some(-0.0), Some(0.0), Some(1.0)],
    [Some(NAN), Some(NAN), Some(NAN)],
    [Some(NAN), Some(-0.0), None],
    [Some(0.0), Some(NAN), Some(-1.0)],
    [Some(-1.0), Some(-0.0), Some(-0.0)],
    [Some(1.0), Some(NAN), Some(NAN)],
    [None, Some(-0.0), None],
    [Some(f64::NEG_INFINITY), Some(0.0), Some(f64::INFINITY)],
    [Some(0.0), Some(1.0), None],
    [Some(-0.0), Some(-0.0), Some(NAN)],
];

const FORMATS: [(&str, Format); 15] = [
    ("graphar", Format::GRAPHAR),
    ("z.parq", Format::NOCK),
    ("z.annnet", Format::ANNNET),
    ("deepgnn", Format::DEEPGNN),
    ("z.lake", Format::GRAPHLAKE),
    ("z.ttl", Format::RDF),
    ("parquet", Format::PARQUET),
    ("arrow", Format::ARROW),
    ("csv", Format::CSV),
    ("jsonl", Format::JSON_LINES),
    ("z.graphml", Format::GRAPHML),
    ("z.json", Format::NODELINK),
    ("z.gexf", Format::GEXF),
    ("neo4j", Format::NEO4J),
    ("z.cypher", Format::CYPHER),
];

/// A comparison, how SQL writes it, and which orders pass.
type Compared = (Comparison, &'static str, fn(Ordering) -> bool);

const COMPARISONS: [Compared; 6] = [
    (Comparison::Equal, "=", Ordering::is_eq),
    (Comparison::NotEqual, "<>", Ordering::is_ne),
    (Comparison::Less, "<", Ordering::is_lt),
    (Comparison::LessOrEqual, "<=", Ordering::is_le),
    (Comparison::Greater, ">", Ordering::is_gt),
    (Comparison::GreaterOrEqual, ">=", Ordering::is_ge),
];

const LITERALS: [(f64, &str); 5] =
    [(0.0, "0.0"), (-0.0, "-0.0"), (1.0, "1.0"), (-1.0, "-1.0"), (NAN, "cast('nan' as double)")];

/// The graph, as text.
fn graph(home: &std::path::Path) -> Graph {
    let names: Vec<String> = (0..COLUMNS.len()).map(|at| format!("c{at}")).collect();
    let mut text = format!("id,{}\n", names.join(","));
    for row in 0..3 {
        let cells = COLUMNS.iter().map(|cells| cells[row].map(|value| format!("{value:?}")).unwrap_or_default());
        text.push_str(&format!("{},{}\n", row + 1, cells.collect::<Vec<_>>().join(",")));
    }
    std::fs::create_dir(home).unwrap();
    std::fs::write(home.join("n.csv"), text).unwrap();
    std::fs::write(home.join("e.csv"), "source,target\n1,2\n2,3\n").unwrap();
    let columns: Vec<String> = names.iter().map(|name| format!("{name} DOUBLE")).collect();
    let mapping = format!(
        "CREATE EXTERNAL TABLE n (id BIGINT NOT NULL, {}) STORED AS CSV LOCATION 'n.csv';
        CREATE EXTERNAL TABLE e (\"source\" BIGINT NOT NULL, target BIGINT NOT NULL) STORED AS CSV LOCATION 'e.csv';
        CREATE PROPERTY GRAPH g VERTEX TABLES (n KEY (id)) EDGE TABLES (e SOURCE KEY (\"source\") REFERENCES
            n (id) DESTINATION KEY (target) REFERENCES n (id));",
        columns.join(", ")
    );
    std::fs::write(home.join("graph.pgq"), mapping).unwrap();
    isomorph::open(&home.display().to_string()).unwrap()
}

/// The order of SQL: zeros are equal, NaN is the greatest.
fn total(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}

/// The ids and values of a column.
fn values(graph: &Graph, column: &str) -> Vec<(i64, Option<f64>)> {
    let dataset = graph.dataset().unwrap();
    let mut all = Vec::new();
    for batch in dataset.scan("n").unwrap().columns(["@key", column]).batches().unwrap() {
        let batch = batch.unwrap();
        let keys = arrow_cast::cast(batch.column(0), &arrow_schema::DataType::Int64).unwrap();
        let cells = arrow_cast::cast(batch.column(1), &arrow_schema::DataType::Float64).unwrap();
        let (keys, cells) = (keys.as_primitive::<Int64Type>(), cells.as_primitive::<Float64Type>());
        all.extend(keys.iter().flatten().zip(cells));
    }
    all
}

#[test]
fn filters_of_floats_pass_what_a_look_at_each_value_finds() {
    let home = tempfile::tempdir().unwrap();
    let (mut asked, mut signs, mut turn) = (0, 0, 0);
    let source = graph(&home.path().join("source"));
    for (name, format) in FORMATS {
        let place = home.path().join(name);
        let options = ConvertOptions { to: Some(format), ..ConvertOptions::default() };
        source
            .convert_with(&Location::from_path(&place), &options, &Silent)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let place = place.display().to_string();
        let (graph, engine) = (isomorph::open(&place).unwrap(), engine_of(&place));
        let dataset = graph.dataset().unwrap();
        let key = dataset.table("n").unwrap().schema().field(0).name().clone();
        for column in 0..COLUMNS.len() {
            let column = format!("c{column}");
            let values = values(&graph, &column);
            assert_eq!(values.len(), 3, "{name}");
            signs += values
                .iter()
                .filter(|(_, value)| value.is_some_and(|value| value == 0.0 && value.is_sign_negative()))
                .count();
            for (comparison, sign, holds) in COMPARISONS {
                for (literal, text) in LITERALS {
                    for negated in [false, true] {
                        let expected = |order: &dyn Fn(f64) -> bool| -> Vec<i64> {
                            let passes = |value: Option<f64>| value.is_some_and(|value| order(value) != negated);
                            let mut ids: Vec<i64> =
                                values.iter().filter(|(_, value)| passes(*value)).map(|(id, _)| *id).collect();
                            ids.sort_unstable();
                            ids
                        };
                        let not = if negated { "not " } else { "" };
                        let question =
                            format!("select \"{key}\" from n where {not}({column} {sign} {text}) order by 1");
                        let by_sql = expected(&|value| holds(total(value, literal)));
                        let by_sql: Vec<String> = by_sql.iter().map(ToString::to_string).collect();
                        // Of these, which take longer, some.
                        turn += 1;
                        if turn % 29 == 0 {
                            assert_eq!(rows(&engine, &question).unwrap(), by_sql, "{name}: {question}");
                        }
                        if literal.is_nan() {
                            continue;
                        }
                        // Of NaN only != is true.
                        let by_filter = expected(&|value| match value.partial_cmp(&literal) {
                            Some(order) => holds(order),
                            None => comparison == Comparison::NotEqual,
                        });
                        let mut filter = Predicate::compare(&column, comparison, literal);
                        if negated {
                            filter = Predicate::Not(Box::new(filter));
                        }
                        let mut found = Vec::new();
                        for batch in
                            dataset.scan("n").unwrap().columns(["@key"]).filter(filter.clone()).batches().unwrap()
                        {
                            let keys =
                                arrow_cast::cast(batch.unwrap().column(0), &arrow_schema::DataType::Int64).unwrap();
                            found.extend(keys.as_primitive::<Int64Type>().iter().flatten());
                        }
                        found.sort_unstable();
                        assert_eq!(found, by_filter, "{name}: {filter:?}");
                        asked += 1;
                    }
                }
            }
        }
    }
    assert!(asked > 5000 && signs > 100, "{asked} filters, {signs} zeros with a sign");
}
