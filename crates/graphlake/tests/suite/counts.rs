//! The number of triples of a predicate or of a graph is known without reading, and the memory of look-ups is counted.
#![allow(clippy::unwrap_used)]

use crate::common;

use std::path::Path;
use std::sync::Arc;

use common::open;
use isomorph_error::Kind;
use isomorph_graphlake::{
    Bindings, CompactMode, GraphLake, Graphs, Lake, OpenOptions, Order, Place, Question, Solutions, Terms, WriteOptions,
};
use isomorph_model::Source;
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::{Budget, Location};

/// A generator with a seed: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }
}

const GRAPHS: [Option<&str>; 3] = [None, Some("urn:g"), Some("urn:h")];
const PREDICATES: [&str; 3] = ["urn:p", "urn:q", "urn:r"];

fn predicate(name: &str) -> Place<'_> {
    Place::Term(Object::Term(name))
}

/// All questions whose answers are whole predicates of graphs.
fn questions() -> Vec<Question<'static>> {
    let graphs = [Graphs::Any, Graphs::AnyNamed, Graphs::Default, Graphs::Named("urn:g"), Graphs::Named("urn:none")];
    let predicates = [Place::Any, predicate("urn:p"), predicate("urn:q"), predicate("urn:none")];
    let all = graphs.into_iter().flat_map(|graph| predicates.map(|predicate| (graph, predicate)));
    all.map(|(graph, predicate)| Question { graph, predicate, ..Question::default() }).collect()
}

/// The number of quads that answer a question, by reading everything.
fn read(lake: &GraphLake, question: &Question<'_>) -> u64 {
    let mut count = 0;
    lake.quads(Order::Subject, &mut |quad| {
        let graph = match question.graph {
            Graphs::AnyNamed => quad.graph.is_some(),
            Graphs::Default => quad.graph.is_none(),
            Graphs::Named(name) => quad.graph == Some(name),
            _ => true,
        };
        count += u64::from(graph && [Place::Any, predicate(quad.predicate)].contains(&question.predicate));
        Ok(())
    })
    .unwrap();
    count
}

fn opened(path: &Path) -> GraphLake {
    open(path, &OpenOptions { survey_up_to: 0, ..OpenOptions::default() }).unwrap()
}

fn change(lake: &Lake, random: &mut Random) {
    let mut transaction = lake.begin().unwrap();
    for _ in 0..random.below(60) {
        let (subject, value) = (format!("urn:s{}", random.below(30)), format!("urn:o{}", random.below(5)));
        let object = if random.below(2) == 0 { Object::Term(&value) } else { Object::plain(&value, "urn:d") };
        let (predicate, graph) = (PREDICATES[random.below(3)], GRAPHS[random.below(3)]);
        let quad = Quad { subject: &subject, predicate, object, graph };
        if random.below(3) == 0 { transaction.delete(&quad) } else { transaction.insert(&quad) }.unwrap();
    }
    transaction.commit().unwrap();
}

#[test]
fn whole_predicates_and_graphs_are_counted_without_reading() {
    for seed in 0..4 {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lake");
        let mut random = Random(seed);
        let lake =
            Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
        for step in 0..10 {
            change(&lake, &mut random);
            if random.below(5) == 0 {
                lake.compact(CompactMode::Tiers, &|_| Ok(())).unwrap();
            }
            let found = opened(&path);
            for question in questions() {
                let expected = read(&opened(&path), &question);
                let before = found.reads();
                let estimate = found.estimate(&question);
                let what = format!("{question:?} after {step} of {seed}: {estimate:?}");
                assert_eq!(
                    (estimate.low, estimate.rows, estimate.high),
                    (expected, expected as f64, expected),
                    "{what}"
                );
                let rows = found.ask_count(&question, Arc::new(Bindings::unit()), 2).unwrap();
                assert_eq!((rows, found.reads() - before), (expected, 0), "{what}");
                // For each row of bindings of which no column is used.
                let mut column = Terms::default();
                (0..3).for_each(|_| column.push_resource("urn:x").unwrap());
                let three = Arc::new(Bindings::new(vec![column]).unwrap());
                assert_eq!(found.ask_count(&question, three, 1).unwrap(), 3 * expected, "{what}");
            }
            // The answers for a subject are not more than there are.
            let of = |number: usize| format!("urn:s{number}");
            for name in PREDICATES {
                let all = Question { predicate: predicate(name), ..Question::default() };
                let most = read(&found, &all);
                let one = of(random.below(30));
                let estimate = found.estimate(&Question { subject: Place::Term(Object::Term(&one)), ..all });
                assert!(estimate.high <= most && estimate.rows <= estimate.high as f64, "{estimate:?} of {most}");
            }
        }
    }
}

#[test]
fn what_is_said_of_other_files_or_fits_none_is_read() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let quad = |subject, predicate| Quad { subject, predicate, object: Object::Term("urn:o"), graph: None };
    for subjects in [["urn:a", "urn:b"], ["urn:b", "urn:c"]] {
        let mut transaction = lake.begin().unwrap();
        for predicate in ["urn:p", "urn:q"] {
            subjects.iter().for_each(|subject| transaction.insert(&quad(subject, predicate)).unwrap());
        }
        transaction.commit().unwrap();
    }
    let asked = |name: Option<&'static str>| {
        let found = opened(&path);
        let question = Question { predicate: name.map_or(Place::Any, predicate), ..Question::default() };
        let (estimate, before) = (found.estimate(&question), found.reads());
        let rows = found.ask_count(&question, Arc::new(Bindings::unit()), 1).unwrap();
        (rows, estimate.low, estimate.high, found.reads() > before)
    };
    assert_eq!(asked(None), (6, 6, 6, false));
    let file = path.join("snapshots/snapshot2.json");
    let sound = std::fs::read_to_string(&file).unwrap();
    let with = |new: &str| {
        let old = "\"living_count\":3,";
        assert!(sound.contains(old), "{sound}");
        std::fs::write(&file, sound.replacen(old, new, 1)).unwrap();
    };
    // For one of the two predicates nothing is known any more: it is read, the other is not.
    for lie in ["", "\"living_count\":5,", "\"living_count\":1,", "\"living_count\":18446744073709551615,"] {
        with(lie);
        assert_eq!(asked(None), (6, 5, 7, true), "{lie}");
        let mut each = [asked(Some("urn:p")), asked(Some("urn:q"))];
        each.sort_unstable();
        assert_eq!(each, [(3, 2, 4, true), (3, 3, 3, false)], "{lie}");
    }
    // Reading that follows the specification literally, so that deletions stay, counts what it reads.
    std::fs::write(&file, &sound).unwrap();
    let naive = open(&path, &OpenOptions { naive: true, survey_up_to: 0, ..OpenOptions::default() }).unwrap();
    assert!(!naive.estimate(&Question::default()).is_exact());
    assert_eq!(naive.ask_count(&Question::default(), Arc::new(Bindings::unit()), 2).unwrap(), 6);
}

#[test]
fn rows_of_bindings_are_counted_in_the_budget() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    common::write(&path, &WriteOptions::default(), |writer| {
        PREDICATES.iter().try_for_each(|predicate| {
            writer.push(&Quad { subject: "urn:s", predicate, object: Object::Term("urn:o"), graph: None })
        })
    })
    .unwrap();
    // Most rows have the same term, whose text is stored once: the memory is for lists of rows.
    const ROWS: u64 = 300_000;
    let bindings = |text: &dyn Fn(u64) -> String| {
        let mut column = Terms::default();
        (0..ROWS).for_each(|row| column.push_resource(&text(row)).unwrap());
        Arc::new(Bindings::new(vec![column]).unwrap())
    };
    let (same, apart) = (bindings(&|_| "urn:s".to_owned()), bindings(&|row| format!("urn:{row:06}")));
    let of = Question { predicate: predicate("urn:p"), ..Question::default() };
    let by_subject = Question { subject: Place::Column(0), ..of };
    let by_predicate = Question { predicate: Place::Column(0), ..Question::default() };
    let need = |question: &Question<'_>, bindings: &Arc<Bindings>| {
        let budget = Budget::new(256 << 20);
        let options = OpenOptions { survey_up_to: 0, budget: budget.clone(), ..OpenOptions::default() };
        let lake = open(&path, &options).unwrap();
        let (before, columns) = (budget.used(), bindings.columns()[0].memory());
        let solutions = Solutions::new(&lake, question, Arc::clone(bindings)).unwrap();
        let held = budget.used() - before - columns;
        drop(solutions);
        assert_eq!(budget.used(), before);
        let most = budget.peak() - before - columns;
        // With less memory there is an error that says so, and nothing stays reserved.
        let short = Budget::new(before + columns + most - 1);
        let options = OpenOptions { budget: short.clone(), ..options };
        let lake = open(&path, &options).unwrap();
        let before = short.used();
        let error = Solutions::new(&lake, question, Arc::clone(bindings)).err().unwrap();
        let hints: Vec<&str> = error.hints().collect();
        assert_eq!((error.kind(), hints), (Kind::TooLarge, vec!["raise --memory", "use smaller batches of bindings"]));
        assert_eq!(short.used(), before);
        (held / ROWS, most / ROWS)
    };
    assert_eq!(need(&by_subject, &same), (4, 32), "one key");
    assert_eq!(need(&by_subject, &apart), (24, 32), "as many keys as rows");
    assert_eq!(need(&of, &same), (4, 32), "no key");
    let (held, most) = need(&by_predicate, &apart);
    assert!((100..1000).contains(&held) && most < 2 * held, "as many predicates as rows: {held}, {most}");
}

#[test]
fn a_text_that_memory_has_no_room_for_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let text = "x".repeat(4 << 20);
    let object = Object::Literal { lexical: &text, datatype: "", language: None, direction: None };
    common::write(&path, &WriteOptions::default(), |writer| {
        writer.push(&Quad { subject: "urn:s", predicate: "urn:p", object: Object::Term("urn:o"), graph: None })?;
        writer.push(&Quad { subject: "urn:s", predicate: "urn:p", object, graph: None })
    })
    .unwrap();
    for (memory, enough) in [(8 << 20, false), (32 << 20, true)] {
        let budget = Budget::new(memory);
        let options = OpenOptions { survey_up_to: 0, budget: budget.clone(), ..OpenOptions::default() };
        let lake = open(&path, &options).unwrap();
        let before = budget.used();
        let mut count = 0;
        let read = lake.quads(Order::Object, &mut |_| {
            count += 1;
            Ok(())
        });
        let checked = lake.validate(&mut isomorph_error::Findings::keeping(1));
        assert_eq!(budget.used(), before);
        if enough {
            assert_eq!((read.is_ok(), count, checked.is_ok()), (true, 2, true));
            assert!(budget.peak() >= 3 * text.len() as u64, "{}", budget.peak());
            continue;
        }
        for error in [read.unwrap_err(), checked.unwrap_err()] {
            assert_eq!((error.kind(), error.place().file.is_some()), (Kind::TooLarge, true), "{error:?}");
            assert_eq!(error.hints().collect::<Vec<_>>(), ["raise --memory"]);
        }
    }
}
