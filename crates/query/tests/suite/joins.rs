//! Joins that are answered by a search, against the same questions to an engine without it, over tables in memory.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};
use isomorph::storage::{Budget, Resources};
use isomorph::{Kind, Location};
use isomorph_query::{Engine, Parameters};

use crate::support::{engine_of, error, plan, resources, rows, social, sorted, texts};

const SEARCH: &str = "way=search over lists of neighbours";

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

/// Tables with equal rows, loops and nulls: integers that lie close together, others that do not, and texts.
fn files(home: &Path, dice: &mut Dice) -> Engine {
    let mut engine = Engine::new(resources()).unwrap();
    let ends: [&[&str]; 3] = [
        &["1", "2", "3", "4", "5", "6", ""],
        &["-9223372036854775808", "0", "7", "4", "9223372036854775807", ""],
        &["a", "b", "ä", "\"\"", "zz", "B", ""],
    ];
    for (name, ends) in ["e", "g", "t"].into_iter().zip(ends) {
        let mut text = String::from("s,t,w\n");
        for row in 0..30 {
            let (source, target) = (dice.of(ends), dice.of(ends));
            let ends = if name == "t" && row == 0 { "a,b".to_owned() } else { format!("{source},{target}") };
            writeln!(text, "{ends},{}", dice.roll(5)).unwrap();
        }
        let path = home.join(format!("{name}.csv"));
        std::fs::write(&path, text).unwrap();
        engine.add_file(name, &Location::from_path(&path)).unwrap();
    }
    engine
}

/// A join of two to four tables whose columns have one type.
fn question(dice: &mut Dice) -> String {
    let texts = dice.roll(3) == 0;
    let table = |dice: &mut Dice| if texts { "t" } else { dice.of(&["e", "e", "g"]) };
    let end = |dice: &mut Dice, tables: usize| {
        format!("{}.{}", ["a", "b", "c", "d"][dice.roll(tables)], dice.of(&["s", "t"]))
    };
    let count = 2 + dice.roll(3);
    let mut from = format!("{} a", table(dice));
    for at in 1..count {
        let own = ["a", "b", "c", "d"][at];
        let kind = if dice.roll(12) == 0 { "left join" } else { "join" };
        let (mine, other) = (format!("{own}.{}", dice.of(&["s", "t"])), end(dice, at));
        write!(from, " {kind} {} {own} on {other} = {mine}", table(dice)).unwrap();
        if dice.roll(3) == 0 {
            write!(from, " and {} {} {own}.{}", end(dice, at), dice.of(&["=", "<", "<>", ">="]), dice.of(&["s", "t"]))
                .unwrap();
        }
    }
    let mut conditions = Vec::new();
    for _ in 0..dice.roll(3) {
        conditions.push(match dice.roll(6) {
            0 => format!("{} is not null", end(dice, count)),
            1 => format!("{} is null", end(dice, count)),
            2 => format!("a.w {} {}", dice.of(&["<", ">="]), dice.roll(5)),
            3 => format!("a.w = {}.w", ["b", "c", "d"][dice.roll(count - 1)]),
            _ => format!("{} {} {}", end(dice, count), dice.of(&["<", "<=", ">", ">=", "=", "<>"]), end(dice, count)),
        });
    }
    let condition = match conditions.as_slice() {
        [] => String::new(),
        all => format!(" where {}", all.join(dice.of(&[" and ", " and ", " or "]))),
    };
    let (one, other) = (end(dice, count), end(dice, count));
    let (shown, groups) = match dice.roll(9) {
        0 | 1 => ("count(*)".to_owned(), ""),
        2 => (format!("count({one}), count(*)"), ""),
        3 => (format!("{one}, count(*)"), " group by 1"),
        4 => (format!("{one} as x, {other} as y, count(*)"), " group by 1, 2"),
        5 => (format!("{one}, count(distinct {other}), min({other}), max({other})"), " group by 1"),
        6 => (format!("distinct {one} as x, {other} as y"), ""),
        7 => (format!("{one} as x, count(*)"), " group by 1 having count(*) > 3"),
        _ => (format!("{one} as x, {other} as y"), ""),
    };
    format!("select {shown} from {from}{condition}{groups}")
}

/// The tables of an engine in memory.
fn in_memory(engine: &Engine, names: &[&str]) -> SessionContext {
    let mut config = SessionConfig::new().with_target_partitions(2);
    config.options_mut().sql_parser.map_string_types_to_utf8view = false;
    let context = SessionContext::new_with_config(config);
    for name in names {
        let answer = engine.query(&format!("select * from {name}"), &Parameters::new()).unwrap();
        let schema = Arc::clone(answer.schema());
        let batches: Vec<RecordBatch> = answer.map(Result::unwrap).collect();
        context.register_table(*name, Arc::new(MemTable::try_new(schema, vec![batches]).unwrap())).unwrap();
    }
    context
}

#[test]
fn random_joins_have_the_answers_of_tables_in_memory() {
    let number =
        |name: &str, otherwise: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (questions, seed) = (number("ISOMORPH_QUESTIONS", 120), number("ISOMORPH_SEED", 3));
    let mut dice = Dice(seed);
    let home = tempfile::tempdir().unwrap();
    let engine = files(home.path(), &mut dice);
    let context = in_memory(&engine, &["e", "g", "t"]);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let (mut searched, mut several) = (0, 0);
    for _ in 0..questions {
        let text = question(&mut dice);
        let own = sorted(&engine, &text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let theirs = runtime.block_on(async { context.sql(&text).await?.collect().await });
        let mut theirs = texts(&theirs.unwrap_or_else(|error| panic!("{text}: {error}")));
        theirs.sort();
        assert_eq!(own, theirs, "{text}");
        searched += u64::from(plan(&engine, &text).contains(SEARCH));
        several += u64::from(own.len() > 1);
    }
    assert!(searched * 4 > questions, "only {searched} of {questions} questions were searched");
    assert!(several * 4 > questions, "only {several} of {questions} questions have several rows");
}

#[test]
fn triangles_of_a_graph_are_searched() {
    let engine = engine_of(&social());
    let triangle = "from knows a join knows b on a._target = b._source join knows c on b._target = c._target and
        c._source = a._source";
    let context = in_memory(&engine, &["knows"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    for text in [
        format!("select count(*) {triangle}"),
        format!("select count(*) {triangle} where a._source < b._source and b._source < c._target"),
        format!("select a._source, count(*) {triangle} group by a._source"),
        format!("select a._source as x, b._source as y, c._target as z {triangle} where a._source <> b._target"),
        "select count(*) from knows a, knows b, knows c where a._target = b._source and b._target = c._target and
            c._source = a._source"
            .to_owned(),
        // Undirected edges are joined as they are stored, as SQL has it.
        "select count(*) from knows a join knows b on a._source = b._source and a._target < b._target".to_owned(),
        "with k as (select _source as x, _target as y from knows) select count(*) from k a join k b on a.y = b.x"
            .to_owned(),
    ] {
        assert!(plan(&engine, &text).contains(SEARCH), "{text}:\n{}", plan(&engine, &text));
        let theirs = runtime.block_on(async { context.sql(&text).await?.collect().await });
        let mut theirs = texts(&theirs.unwrap());
        theirs.sort();
        let own = sorted(&engine, &text).unwrap();
        assert_eq!(own, theirs, "{text}");
        assert_ne!(own, ["0"], "{text}");
    }
}

#[test]
fn what_is_better_joined_otherwise_is_not_searched() {
    let engine = engine_of(&social());
    for text in [
        // Rows without partner.
        "select count(*) from knows a left join knows b on a._target = b._source",
        "select count(*) from knows a full join knows b on a._target = b._source",
        "select count(*) from knows a where exists (select 1 from knows b where a._target = b._source)",
        // A few edges, which a look-up finds.
        "select count(*) from knows a join knows b on a._target = b._source where a._source = 1007",
        // A condition that only the engine tests.
        "select count(*) from knows a join knows b on a._target = b._source where a._source % 2 = 0",
        // Not connected.
        "select count(*) from knows a join knows b on a._source < b._source",
        // Three columns of a table.
        "select a.since, b._target from knows a join knows b on a._target = b._source join knows c on c._source = a._source",
    ] {
        assert!(!plan(&engine, text).contains(SEARCH), "{text}");
    }
    // An answer without rows is the engine's.
    assert_eq!(
        rows(&engine, "select count(*) from knows a join knows b on a._target = b._source where a._target < b._source")
            .unwrap(),
        ["0"]
    );
}

#[test]
fn edges_that_do_not_fit_into_memory_are_sorted() {
    let home = tempfile::tempdir().unwrap();
    let mut text = String::from("s,t\n");
    for row in 0..40_000_u64 {
        writeln!(text, "{},{}", row % 20_000, (row * 7 + 1) % 20_000).unwrap();
    }
    let path = home.path().join("e.csv");
    std::fs::write(&path, text).unwrap();
    let of_memory = |bytes: u64| {
        let mut engine = Engine::new(Resources { budget: Budget::new(bytes), ..resources() }).unwrap();
        engine.add_file("e", &Location::from_path(&path)).unwrap();
        engine
    };
    let question = "select count(*) from e a join e b on a.t = b.s join e c on b.t = c.s and c.t = a.s";
    let enough = of_memory(1 << 30);
    assert!(plan(&enough, question).contains(SEARCH));
    // Too little for lists, and enough for sorting.
    let little = of_memory(30 << 15);
    match rows(&little, question) {
        Ok(answer) => assert_eq!(answer, rows(&enough, question).unwrap()),
        Err(error) => assert_eq!(error.kind(), Kind::TooLarge, "{error}"),
    }
    let less = of_memory(1 << 12);
    assert_eq!(error(&less, question).kind(), Kind::TooLarge);
}
