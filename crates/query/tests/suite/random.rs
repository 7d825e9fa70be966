//! Random questions, against the same engine over tables in memory, which knows no filter, statistics or look-up of ours.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use isomorph::Location;
use isomorph::convert::{ConvertOptions, Format, Silent};
use isomorph_query::{Engine, Parameters};

use crate::support::{engine_of, texts};

/// A small generator: the same questions each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % sides as u64).unwrap()
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.roll(all.len())]
    }
}

const NUMBERS: [&str; 9] = ["-3", "-1", "0", "1", "2", "5", "7", "40", "9223372036854775807"];
const FLOATS: [&str; 10] =
    ["-0.0", "0.0", "1.5", "-2.25", "'NaN'::double", "'inf'::double", "'-inf'::double", "3", "1e300", "0.1"];
const TEXTS: [&str; 9] = ["'a'", "''", "'b%'", "'Ä'", "'A'", "'é\u{301}'", "'a_b'", "'\\x'", "'zz'"];
const DATES: [&str; 4] = ["date '1970-01-01'", "date '2001-02-03'", "date '1899-12-31'", "date '2050-01-01'"];
const TIMES: [&str; 3] =
    ["timestamp '2001-02-03 04:05:06'", "timestamp '1969-12-31 23:59:59.5'", "timestamp '2050-01-01'"];

/// Writes a graph with awkward values.
fn write(home: &Path, dice: &mut Dice) {
    let cell = |dice: &mut Dice, all: &[&str]| if dice.roll(5) == 0 { "" } else { dice.of(all) }.to_owned();
    let mut people = String::from("id,name,n,score,ok,born,seen\n");
    for id in 0..300 {
        let name = match dice.roll(9) {
            0 => String::new(),
            at => format!("\"{}\"", ["a", "", "b%", "Ä", "A", "é\u{301}", "a_b", "\\x"][at - 1]),
        };
        let number = cell(dice, &["-3", "-1", "0", "1", "2", "5", "7", "9223372036854775807"]);
        let score = cell(dice, &["-0.0", "0.0", "1.5", "-2.25", "NaN", "inf", "-inf", "3.0", "0.1"]);
        let ok = cell(dice, &["true", "false"]);
        let born = cell(dice, &["1970-01-01", "2001-02-03", "1899-12-31", "2001-02-04"]);
        let seen = cell(dice, &["2001-02-03T04:05:06", "1969-12-31T23:59:59.5", "2001-02-03T04:05:06.001"]);
        writeln!(people, "{id},{name},{number},{score},{ok},{born},{seen}").unwrap();
    }
    let mut edges = String::from("source,target,weight,kind\n");
    for _ in 0..3000 {
        let (source, target) = (dice.roll(300), dice.roll(40) * dice.roll(7));
        let weight = cell(dice, &["-0.0", "0.0", "1.5", "NaN", "2.5"]);
        let kind = cell(dice, &["x", "y", "z"]);
        writeln!(edges, "{source},{target},{weight},{kind}").unwrap();
    }
    std::fs::write(home.join("person.csv"), people).unwrap();
    std::fs::write(home.join("knows.csv"), edges).unwrap();
    let mapping = "CREATE EXTERNAL TABLE person (id BIGINT NOT NULL, name VARCHAR, n BIGINT, score DOUBLE, ok BOOLEAN, born DATE, seen TIMESTAMP(3))
            STORED AS CSV LOCATION 'person.csv';
        CREATE EXTERNAL TABLE knows (\"source\" BIGINT NOT NULL, target BIGINT NOT NULL, weight DOUBLE, kind VARCHAR)
            STORED AS CSV LOCATION 'knows.csv';
        CREATE PROPERTY GRAPH g VERTEX TABLES (person KEY (id)) EDGE TABLES (knows SOURCE KEY (\"source\") REFERENCES
            person (id) DESTINATION KEY (target) REFERENCES person (id));";
    std::fs::write(home.join("graph.pgq"), mapping).unwrap();
}

/// A condition on one row of person (`p`) or knows (`k`).
fn condition(dice: &mut Dice, table: char, depth: usize) -> String {
    if depth > 0 && dice.roll(3) == 0 {
        let [one, other] = [0, 1].map(|_| condition(dice, table, depth - 1));
        return match dice.roll(3) {
            0 => format!("({one} and {other})"),
            1 => format!("({one} or {other})"),
            _ => format!("not ({one})"),
        };
    }
    let (column, values): (&str, &[&str]) = match (table, dice.roll(6)) {
        ('p', 0) => ("id", &["7", "0", "299", "300", "-1", "150", "151"]),
        ('p', 1) => ("n", &NUMBERS),
        ('p', 2) => ("score", &FLOATS),
        ('p', 3) => ("name", &TEXTS),
        ('p', 4) => ("born", &DATES),
        ('p', _) => ("seen", &TIMES),
        (_, 0 | 1) => ("_source", &["7", "0", "299", "300", "-1", "150", "151"]),
        (_, 2 | 3) => ("_target", &["7", "0", "1", "2", "6", "12", "35"]),
        (_, 4) => ("weight", &FLOATS),
        (_, _) => ("kind", &["'x'", "'y'", "'Z'", "'z'"]),
    };
    let column = format!("{table}.{column}");
    let value = dice.of(values);
    let is_text = column.ends_with("name") || column.ends_with("kind");
    match dice.roll(9) {
        0 => format!("{column} is null"),
        1 => format!("{column} is not null"),
        2 => {
            let list: Vec<&str> = (0..=dice.roll(3)).map(|_| dice.of(values)).collect();
            format!("{column} {}in ({})", dice.of(&["", "not "]), list.join(", "))
        }
        3 => format!("{column} {}between {value} and {}", dice.of(&["", "not "]), dice.of(values)),
        4 if is_text => format!(
            "{column} {}like {}",
            dice.of(&["", "not "]),
            dice.of(&["'a%'", "'%b%'", "'_'", "'%'", "''", "'a\\_b'"])
        ),
        5 if table == 'p' => dice.of(&["p.ok", "not p.ok", "p.ok = true", "p.ok <> false", "p.ok is null"]).to_owned(),
        _ => format!("{column} {} {value}", dice.of(&["=", "<>", "<", "<=", ">", ">=", "="])),
    }
}

/// A question, whose rows have no order.
fn question(dice: &mut Dice) -> String {
    let person = condition(dice, 'p', 2);
    let knows = condition(dice, 'k', 2);
    match dice.roll(13) {
        12 => format!(
            "select p.id, k._source from person p {} join knows k on k._source = p.id and {knows} where {person}",
            dice.of(&["full", "left", "right"])
        ),
        0 => format!("select * from person p where {person}"),
        1 => format!("select count(*), count(p.n), min(p.n), max(p.born), min(p.name), max(p.score) from person p where {person}"),
        2 => "select count(*), min(id), max(id), count(n), min(born), max(seen), min(score) from person".to_owned(),
        3 => format!("select p.name, p.ok, count(*), sum(p.id) from person p where {person} group by p.name, p.ok"),
        4 => format!("select k._source, k._target, k.weight from knows k where {knows}"),
        5 => format!("select p.id, k._target, k.kind from person p join knows k on k._source = p.id where {person} and {knows}"),
        6 => format!(
            "select p.id, q.id, k.weight from person p join knows k on k._source = p.id join person q on q.id = k._target
                where {person} and {knows}"
        ),
        7 => format!("select a._source, b._target from knows a join knows k on a._target = k._source join knows b on
                b._source = k._target where a._source = {} and {knows}", dice.roll(300)),
        8 => format!(
            "select p.id, count(k._target) from person p left join knows k on k._target = p.id and {knows} where {person}
                group by p.id"
        ),
        9 => format!("select p.id from person p where {} (select 1 from knows k where k._source = p.id and {knows}) and {person}",
            dice.of(&["exists", "not exists"])),
        10 => format!("select p.id from person p where {person} {} select k._target from knows k where {knows}",
            dice.of(&["union", "union all", "intersect", "except"])),
        _ => format!(
            "select p.score, p.id from person p where {person} order by {} desc nulls last, p.id limit {}",
            // The oracle puts `-0.0` before `0.0`.
            dice.of(&["p.score + 0.0", "p.n", "p.seen"]),
            1 + dice.roll(20)
        ),
    }
}

/// The tables of an engine in memory.
async fn oracle(engine: &Engine) -> SessionContext {
    let mut config = SessionConfig::new().with_target_partitions(2);
    config.options_mut().optimizer.enable_dynamic_filter_pushdown = false;
    config.options_mut().sql_parser.map_string_types_to_utf8view = false;
    let context = SessionContext::new_with_config(config);
    for name in ["person", "knows"] {
        let answer = engine.query(&format!("select * from {name}"), &Parameters::new()).unwrap();
        let schema = Arc::clone(answer.schema());
        let batches: Vec<RecordBatch> = answer.map(Result::unwrap).collect();
        let table = MemTable::try_new(schema, vec![batches]).unwrap();
        context.register_table(name, Arc::new(table)).unwrap();
    }
    context
}

fn compare(place: &str, questions: usize, dice: &mut Dice) {
    let engine = engine_of(place);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    // The engine blocks: it is asked outside of the runtime of the oracle.
    let context = std::thread::scope(|scope| scope.spawn(|| futures_lite(oracle(&engine))).join().unwrap());
    let mut found = 0;
    for _ in 0..questions {
        let text = question(dice);
        let own =
            engine.query(&text, &Parameters::new()).and_then(|answer| answer.collect::<isomorph::Result<Vec<_>>>());
        let theirs = runtime.block_on(async { context.sql(&text).await?.collect().await });
        match (own, theirs) {
            (Ok(own), Ok(theirs)) => {
                let (mut own, mut theirs) = (texts(&own), texts(&theirs));
                if !text.contains("order by") {
                    own.sort();
                    theirs.sort();
                }
                assert_eq!(own, theirs, "{place}: {text}");
                found += usize::from(own.len() > 1);
            }
            (Err(_), Err(_)) => {}
            (own, theirs) => {
                panic!("{place}: {text}\n{:?}\n{:?}", own.map(|rows| rows.len()), theirs.map(|rows| rows.len()))
            }
        }
    }
    assert!(found * 4 > questions, "only {found} of {questions} questions have several rows");
}

/// Runs a future that never waits for anything.
fn futures_lite<T>(future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(done) => done,
        std::task::Poll::Pending => panic!("it waits"),
    }
}

/// The optimizer writes this filter in another way after the table has accepted it.
#[test]
fn a_filter_may_change_after_it_was_accepted() {
    let home = tempfile::tempdir().unwrap();
    write(home.path(), &mut Dice(1));
    let engine = engine_of(&home.path().display().to_string());
    let count = |question: &str| {
        let batches: Vec<RecordBatch> =
            engine.query(question, &Parameters::new()).unwrap().map(Result::unwrap).collect();
        texts(&batches)
    };
    let joined = "select count(*) from person p full join knows k on k._source = p.id and k._source not in (7, 0)
        where p.id is not null";
    let known =
        "select count(*) + (select count(*) from person p where p.id in (0, 7) or p.id not in (select _source from
        knows)) from knows k join person p on p.id = k._source where k._source <> 7 and k._source <> 0";
    assert_eq!(count(joined), count(known));
}

#[test]
fn random_questions_have_the_answers_of_tables_in_memory() {
    let number =
        |name: &str, otherwise: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (questions, seed) = (number("ISOMORPH_QUESTIONS", 40), number("ISOMORPH_SEED", 7));
    let questions = usize::try_from(questions).unwrap();
    let mut dice = Dice(seed);
    let home = tempfile::tempdir().unwrap();
    let flat = home.path().join("flat");
    std::fs::create_dir(&flat).unwrap();
    write(&flat, &mut dice);
    compare(&flat.display().to_string(), questions, &mut dice);
    for (name, format) in [
        ("graphar", Format::GRAPHAR),
        ("nock.parq", Format::NOCK),
        ("deepgnn", Format::DEEPGNN),
        ("some.annnet", Format::ANNNET),
    ] {
        let place = home.path().join(name);
        let graph = isomorph::open(&flat.display().to_string()).unwrap();
        let mut options = ConvertOptions { to: Some(format), ..ConvertOptions::default() };
        // Several chunks, so that there is something to leave out.
        options.write.get_mut::<isomorph::formats::graphar::WriteOptions>().vertex_chunk = Some(64);
        graph.convert_with(&Location::from_path(&place), &options, &Silent).unwrap();
        compare(&place.display().to_string(), questions, &mut dice);
    }
}
