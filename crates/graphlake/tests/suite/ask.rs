//! Batches of bindings give the same solutions as asking for each row separately; and estimates hold.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use arrow_array::StringArray;
use common::open;
use isomorph_graphlake::{
    Bindings, Found, GraphLake, GraphNode, Graphs, Join, JoinPattern, Lake, Node, OpenOptions, Order, Pattern, Place,
    Question, Solutions, Terms, WriteOptions,
};
use isomorph_model::faces::{Object, Quad};
use isomorph_model::{Batch, Ends, Request, Source, Tables};
use isomorph_storage::{Budget, Location};

/// A generator with a seed: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % end
    }
}

/// An owned term: text, datatype, language.
type Term = (String, Option<(String, Option<String>)>);

/// Subject, predicate, object, graph; the empty text is the default graph.
type Own = [Term; 4];

fn own(object: &Object<'_>) -> Term {
    match object {
        Object::Term(text) => ((*text).to_owned(), None),
        Object::Literal { lexical, datatype, language, .. } => {
            ((*lexical).to_owned(), Some(((*datatype).to_owned(), language.map(str::to_owned))))
        }
    }
}

fn resource(text: &str) -> Term {
    own(&Object::Term(text))
}

fn object(term: &Term) -> Object<'_> {
    match &term.1 {
        None => Object::Term(&term.0),
        Some((datatype, language)) => {
            Object::Literal { lexical: &term.0, datatype, language: language.as_deref(), direction: None }
        }
    }
}

fn all(lake: &GraphLake) -> BTreeSet<Own> {
    let mut found = BTreeSet::new();
    lake.quads(Order::Subject, &mut |quad| {
        let terms = [resource(quad.subject), resource(quad.predicate), own(&quad.object)];
        let [subject, predicate, object] = terms;
        found.insert([subject, predicate, object, resource(quad.graph.unwrap_or_default())]);
        Ok(())
    })
    .unwrap();
    found
}

fn draw(random: &mut Random, subjects: usize) -> Own {
    let subject = format!("http://example.org/n{}", random.below(subjects));
    let predicate = format!("urn:p{}", random.below(3));
    let value = random.below(subjects);
    let object = match random.below(4) {
        0 => own(&Object::plain(&format!("http://example.org/n{value}"), isomorph_model::xsd::STRING)),
        1 => own(&Object::Literal {
            lexical: &format!("{}", value % 7),
            datatype: "http://www.w3.org/1999/02/22-rdf-syntax-ns#langString",
            language: Some("en"),
            direction: None,
        }),
        _ => resource(&format!("http://example.org/n{value}")),
    };
    [resource(&subject), resource(&predicate), object, resource(["", "urn:g"][random.below(2)])]
}

fn quad(own: &Own) -> Quad<'_> {
    let graph = Some(own[3].0.as_str()).filter(|graph| !graph.is_empty());
    Quad { subject: &own[0].0, predicate: &own[1].0, object: object(&own[2]), graph }
}

/// A store with a bulk load and some transactions on top of it.
fn store(path: &Path, random: &mut Random, size: usize) {
    let subjects = (size / 3).max(4);
    let options = WriteOptions { file_bytes: 40 << 10, ..WriteOptions::default() };
    let loaded: Vec<Own> = (0..size).map(|_| draw(random, subjects)).collect();
    common::write(path, &options, |writer| loaded.iter().try_for_each(|own| writer.push(&quad(own)))).unwrap();
    let lake = Lake::open(&Location::from_path(path), &OpenOptions::default(), &options).unwrap();
    for _ in 0..random.below(4) {
        let mut transaction = lake.begin().unwrap();
        for _ in 0..size / 10 {
            let deleted = &loaded[random.below(loaded.len())];
            transaction.delete(&quad(deleted)).unwrap();
            transaction.insert(&quad(&draw(random, subjects))).unwrap();
        }
        transaction.commit().unwrap();
    }
}

/// One row of the solutions, with the row of the bindings.
fn row(found: &Found, at: usize) -> (u32, [Option<Term>; 4]) {
    let columns = [&found.subjects, &found.predicates, &found.objects, &found.graphs];
    (found.rows[at], columns.map(|column| column.get(at).map(|term| own(&term))))
}

fn rows_of(solutions: &mut Solutions<Arc<GraphLake>>) -> Vec<(u32, [Option<Term>; 4])> {
    let mut rows = Vec::new();
    while let Some(found) = solutions.next_batch().unwrap() {
        rows.extend((0..found.rows.len()).map(|at| row(&found, at)));
    }
    rows
}

/// One position of a question: a variable, a term, or the column with that number.
fn place<'a>(how: usize, term: &'a Term, column: usize) -> Place<'a> {
    match how {
        0 => Place::Any,
        1 => Place::Term(object(term)),
        _ => Place::Column(column),
    }
}

/// Every combination of known positions, columns and variables, compared with a pass over everything.
fn check(lake: &Arc<GraphLake>, random: &mut Random, many: usize) {
    let all = all(lake);
    let list: Vec<&Own> = all.iter().collect();
    for how in 0..81 {
        let hows = [how % 3, how / 3 % 3, how / 9 % 3, how / 27];
        let known = list[random.below(list.len())].clone();
        // Rows that match, rows that match in part, unknown terms, and all of them again.
        let rows: Vec<Own> = (0..many)
            .map(|at| {
                let mut own = list[random.below(list.len())].clone();
                match at % 5 {
                    0 => own[random.below(4)] = resource("urn:strange"),
                    1 => own[2] = list[random.below(list.len())][2].clone(),
                    2 => own[0] = own[2].clone(),
                    3 => own.clone_from(&known),
                    _ => {}
                }
                own
            })
            .collect();
        let columns = (0..4).map(|at| {
            let mut terms = Terms::default();
            rows.iter().for_each(|own| terms.push(&object(&own[at])).unwrap());
            terms
        });
        let bindings = Arc::new(Bindings::new(columns.collect()).unwrap());
        let question = Question {
            subject: place(hows[0], &known[0], 0),
            predicate: place(hows[1], &known[1], 1),
            object: place(hows[2], &known[2], 2),
            graph: match hows[3] {
                0 => Graphs::Any,
                1 if known[3].0.is_empty() => Graphs::Default,
                1 => Graphs::Named(&known[3].0),
                _ => Graphs::Column(3),
            },
        };
        let bound = |row: &Own, at: usize| match hows[at] {
            0 => None,
            1 => Some(known[at].clone()),
            _ => Some(row[at].clone()),
        };
        let mut expected = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            let wanted: Vec<Option<Term>> = (0..4).map(|at| bound(row, at)).collect();
            for own in &all {
                if (0..4).all(|at| wanted[at].as_ref().is_none_or(|wanted| *wanted == own[at])) {
                    let asked = [0, 1, 2, 3].map(|at| Some(own[at].clone()).filter(|_| hows[at] == 0));
                    expected.push((number as u32, asked));
                }
            }
        }
        expected.sort();
        let make = || Solutions::new(Arc::clone(lake), &question, Arc::clone(&bindings)).unwrap();
        let found = rows_of(&mut make());
        let mut sorted = found.clone();
        sorted.sort();
        assert_eq!(sorted.len(), expected.len(), "{question:?}");
        assert!(sorted == expected, "{question:?}");
        // In parts, and on threads, the results are the same in the same order.
        let parts = make().divide(5).unwrap();
        assert!(parts.len() <= 5);
        let in_parts: Vec<_> = parts.into_iter().flat_map(|mut part| rows_of(&mut part)).collect();
        assert!(in_parts == found, "{question:?}");
        let mut on_threads = Vec::new();
        lake.ask(&question, Arc::clone(&bindings), 3, &mut |batch| {
            on_threads.extend((0..batch.rows.len()).map(|at| row(&batch, at)));
            Ok(())
        })
        .unwrap();
        assert!(on_threads == found, "{question:?}");
        assert_eq!(lake.ask_count(&question, Arc::clone(&bindings), 3).unwrap(), found.len() as u64, "{question:?}");
        // Estimates: the question itself, once if no position is a column, otherwise for every row.
        let estimate = lake.estimate(&question);
        assert!(estimate.low as f64 <= estimate.rows && estimate.rows <= estimate.high as f64, "{estimate:?}");
        for number in 0..rows.len() as u32 {
            let count = expected.iter().filter(|(row, _)| *row == number).count() as u64;
            let what = format!("{count} of {estimate:?} for {question:?}");
            if hows.iter().all(|how| *how != 2) {
                assert!((estimate.low..=estimate.high).contains(&count), "{what}");
            } else {
                assert!(count <= estimate.high, "{what}");
            }
        }
    }
}

#[test]
fn batches_find_what_each_row_would() {
    for seed in 0..4 {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lake");
        let mut random = Random(seed);
        store(&path, &mut random, 300);
        for naive in [false, true] {
            let options = OpenOptions { naive, ..OpenOptions::default() };
            check(&Arc::new(open(&path, &options).unwrap()), &mut random, 20);
        }
    }
}

#[test]
fn batches_are_merged_with_files_that_have_indexes() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let mut random = Random(11);
    // One file of each predicate and order, large enough for an index, and changes on top of it.
    let options = WriteOptions::default();
    let drawn: Vec<Own> = (0..12_000).map(|_| draw(&mut random, 3_000)).collect();
    common::write(&path, &options, |writer| drawn.iter().try_for_each(|own| writer.push(&quad(own)))).unwrap();
    let lake = Lake::open(&Location::from_path(&path), &OpenOptions::default(), &options).unwrap();
    let mut transaction = lake.begin().unwrap();
    for own in drawn.iter().step_by(7) {
        transaction.delete(&quad(own)).unwrap();
    }
    transaction.commit().unwrap();
    let lake = Arc::new(open(&path, &OpenOptions::default()).unwrap());
    assert!(lake.snapshot().graphs.iter().flat_map(|graph| &graph.subject_files).any(|file| file.size > 64 << 10));
    for many in [1, 12] {
        check(&lake, &mut random, many);
    }
}

#[test]
fn many_bindings_read_each_block_once() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let node = |number: usize| format!("http://example.org/{number:06}");
    common::write(&path, &WriteOptions::default(), |writer| {
        (0..60_000).try_for_each(|number| {
            let (subject, object) = (node(number), node(number * 7 % 60_000));
            writer.push(&Quad { subject: &subject, predicate: "urn:p", object: Object::Term(&object), graph: None })
        })
    })
    .unwrap();
    let lake = Arc::new(open(&path, &OpenOptions { survey_up_to: 0, ..OpenOptions::default() }).unwrap());
    let size = lake.snapshot().graphs[0].subject_files[0].size;
    assert!(size > 1 << 20, "{size}");
    let question =
        Question { subject: Place::Column(0), predicate: Place::Term(Object::Term("urn:p")), ..Question::default() };
    let ask = |numbers: &mut dyn Iterator<Item = usize>| {
        let mut terms = Terms::default();
        numbers.for_each(|number| terms.push_resource(&node(number)).unwrap());
        let bindings = Arc::new(Bindings::new(vec![terms]).unwrap());
        let before = lake.bytes_read();
        let mut solutions = Solutions::new(Arc::clone(&lake), &question, bindings).unwrap();
        let found = rows_of(&mut solutions);
        (found, lake.bytes_read() - before)
    };
    // The index is read first.
    ask(&mut std::iter::once(5));
    let (found, bytes) = ask(&mut std::iter::once(5));
    assert!(found.len() == 1 && bytes <= 16 << 10, "{bytes}");
    // Some, in any order and each twice: a block or two for each.
    let (found, bytes) = ask(&mut (0..40).rev().chain(0..40).map(|number| number * 1_499));
    assert!(found.len() == 80 && bytes <= 40 * (16 << 10), "{bytes}");
    // Most of them: the file, once, except records that two reads share.
    let (found, bytes) = ask(&mut (0..60_000).rev());
    assert_eq!(found.len(), 60_000);
    assert!(bytes <= size + size / 100, "{bytes} of {size}");
    assert!(found.iter().enumerate().all(|(at, (row, _))| *row as usize == 59_999 - at), "by subject");
    // As many as would be most of the file, but all in a tenth of it: that tenth.
    let (found, bytes) = ask(&mut (30_000..36_000));
    assert!(found.len() == 6_000 && bytes <= size / 10 + (16 << 10), "{bytes} of {size}");
    // Rows are counted without any column, in the same files.
    let mut terms = Terms::default();
    (0..70_000).step_by(7).for_each(|number| terms.push_resource(&node(number)).unwrap());
    let bindings = Arc::new(Bindings::new(vec![terms]).unwrap());
    for threads in [1, 3] {
        assert_eq!(lake.ask_count(&question, Arc::clone(&bindings), threads).unwrap(), 60_000u64.div_ceil(7));
        assert_eq!(lake.ask_count(&Question::default(), Arc::new(Bindings::unit()), threads).unwrap(), 60_000);
    }
}

#[test]
fn steps_are_bounded_and_may_be_dropped() {
    fn is_send<T: Send + 'static>(_: &T) {}
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    common::write(&path, &WriteOptions::default(), |writer| {
        (0..200_000u32).try_for_each(|number| {
            let subject = format!("urn:{number:06}");
            writer.push(&Quad { subject: &subject, predicate: "urn:p", object: Object::plain("x", ""), graph: None })
        })
    })
    .unwrap();
    let budget = Budget::new(64 << 20);
    let options = OpenOptions { survey_up_to: 0, budget: budget.clone(), ..OpenOptions::default() };
    let lake = Arc::new(open(&path, &options).unwrap());
    // All triples with an object that none has, but every file may have: steps without solutions.
    let question = Question { object: Place::Column(0), ..Question::default() };
    let mut literal = Terms::default();
    literal.push(&Object::plain("x", "urn:other")).unwrap();
    let bindings = Arc::new(Bindings::new(vec![literal]).unwrap());
    let mut solutions = Solutions::new(Arc::clone(&lake), &question, bindings).unwrap();
    is_send(&solutions);
    assert_eq!(rows_of(&mut solutions), []);
    // All triples: batches of a bounded size; and memory is returned when the solutions are dropped before the end.
    let held = budget.used();
    let mut solutions = Solutions::new(Arc::clone(&lake), &Question::default(), Arc::new(Bindings::unit())).unwrap();
    let before = lake.bytes_read();
    let found = solutions.next_batch().unwrap().unwrap();
    assert!((1..=4096).contains(&found.rows.len()));
    assert!(lake.bytes_read() - before <= 1 << 20);
    assert!(budget.used() > held);
    drop(solutions);
    assert_eq!(budget.used(), held);
    let wrong = Question { subject: Place::Column(0), ..Question::default() };
    assert!(Solutions::new(Arc::clone(&lake), &wrong, Arc::new(Bindings::unit())).is_err());
}

#[test]
fn large_files_are_read_in_parts() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let long = "x".repeat(2_000);
    common::write(&path, &WriteOptions::default(), |writer| {
        (0..12_000u32).try_for_each(|number| {
            let (subject, text) = (format!("urn:{:05}", number / 3), format!("{number} {long}"));
            writer.push(&Quad { subject: &subject, predicate: "urn:p", object: Object::plain(&text, ""), graph: None })
        })
    })
    .unwrap();
    let lake = open(&path, &OpenOptions::default()).unwrap();
    assert_eq!(lake.snapshot().graphs[0].subject_files.len(), 1);
    let mut parts = lake.scan(&Request::of(Tables::All)).unwrap();
    assert!(parts.len() > 2, "{}", parts.len());
    let (mut rows, mut before) = (Vec::new(), String::new());
    for part in &mut parts {
        let mut here = 0;
        part.read(&mut |batch| {
            let Batch::Values(values) = batch else { panic!("literals") };
            let Ends::Keys(owners) = values.owner else { panic!("resources") };
            let owners: &StringArray = owners.as_any().downcast_ref().unwrap();
            for owner in owners.iter().flatten() {
                assert!(before.as_str() <= owner, "{before} before {owner}");
                owner.clone_into(&mut before);
                here += 1;
            }
            Ok(())
        })
        .unwrap();
        rows.push(here);
    }
    // The last part is that of graphs without triples.
    let (none, some) = rows.split_last().unwrap();
    assert!(*none == 0 && some.iter().all(|rows| *rows > 1_000), "{rows:?}");
    assert_eq!(rows.iter().sum::<usize>(), 12_000);
    // Look-ups are divided as well, and what is made from their results is in order.
    let unit = || Arc::new(Bindings::unit());
    assert!(Solutions::new(&lake, &Question::default(), unit()).unwrap().divide(8).unwrap().len() > 2);
    let texts = |threads: usize| {
        let mut texts = Vec::new();
        let make = |found: Found, give: &mut dyn FnMut(String) -> isomorph_error::Result<()>| {
            (0..found.rows.len()).try_for_each(|row| give(found.objects.text(row)[..5].to_owned()))
        };
        let mut take = |text| {
            texts.push(text);
            Ok(())
        };
        lake.ask_as(&Question::default(), unit(), threads, make, &mut take).unwrap();
        texts
    };
    let one = texts(1);
    assert_eq!(one.len(), 12_000);
    for threads in [2, 5] {
        assert!(texts(threads) == one, "{threads}");
        let odd = |quad: &Quad<'_>| quad.subject.ends_with(['1', '3', '5', '7', '9']);
        assert_eq!(lake.matching_count(threads, &Pattern::default(), odd).unwrap(), 6_000);
    }
    // An error on either side ends it.
    let stop = || isomorph_error::Error::usage("enough");
    for threads in [1, 3] {
        let failed = lake.ask_as(&Question::default(), unit(), threads, |_, _| Err(stop()), &mut |(): ()| Ok(()));
        assert_eq!(failed.unwrap_err().message(), "enough");
        let failed = lake.ask(&Question::default(), unit(), threads, &mut |_| Err(stop()));
        assert_eq!(failed.unwrap_err().message(), "enough");
    }
    // Waiting results stay within the budget, and their memory is returned; cached data is known from the first
    // question on.
    let budget = Budget::new(16 << 20);
    let little = open(&path, &OpenOptions { budget: budget.clone(), ..OpenOptions::default() }).unwrap();
    let ask = || {
        let mut count = 0;
        let mut take = |found: Found| {
            count += found.rows.len();
            Ok(())
        };
        little.ask(&Question::default(), unit(), 2, &mut take).unwrap();
        (count, budget.used())
    };
    let (count, kept) = ask();
    assert_eq!(ask(), (count, kept));
    assert!(count == 12_000 && kept < 1 << 20, "{count} {kept}");
}

#[test]
fn estimates_are_exact_where_files_tell() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    // Small files, so that there are many, and texts that continue from one to the next.
    let options = WriteOptions { file_bytes: 4 << 10, ..WriteOptions::default() };
    let mut random = Random(3);
    let drawn: BTreeSet<Own> = (0..3_000).map(|_| draw(&mut random, 100)).collect();
    common::write(&path, &options, |writer| drawn.iter().try_for_each(|own| writer.push(&quad(own)))).unwrap();
    let lake = open(&path, &OpenOptions::default()).unwrap();
    assert!(lake.snapshot().graphs[0].subject_files.len() > 10);
    for number in 0..3 {
        let predicate = format!("urn:p{number}");
        let place = Place::Term(Object::Term(&predicate));
        for (graph, name) in [(Graphs::Default, ""), (Graphs::Named("urn:g"), "urn:g")] {
            let count = drawn.iter().filter(|own| own[1].0 == predicate && own[3].0 == name).count() as u64;
            let estimate = lake.estimate(&Question { predicate: place, graph, ..Question::default() });
            assert!(estimate.is_exact() && estimate.high == count && count > 100, "{count}: {estimate:?}");
        }
    }
    assert_eq!(lake.estimate(&Question::default()).low, drawn.len() as u64);
    // The files do not show how many triples match a variable in two positions.
    for (places, graph) in
        [([0, 1, 0], GraphNode::Any), ([0, 0, 1], GraphNode::Any), ([0, 1, 2], GraphNode::Variable(0))]
    {
        let pattern = JoinPattern { nodes: places.map(Node::Variable), graph };
        let step = Join::new(&lake, &[pattern], 3).unwrap().plan()[0].estimate;
        assert_eq!(step.low, 0, "{places:?} {graph:?}");
    }
    // A missing term is known to be missing; for an existing one, the number is approximate.
    let of = |subject| Question { subject: Place::Term(Object::Term(subject)), ..Question::default() };
    assert_eq!(lake.estimate(&of("urn:strange")).high, 0);
    let subjects: BTreeSet<&str> = drawn.iter().map(|own| own[0].0.as_str()).collect();
    let sum: f64 = subjects.iter().map(|subject| lake.estimate(&of(subject)).rows).sum();
    let (sum, all) = (sum / drawn.len() as f64, 0.5..2.0);
    assert!(all.contains(&sum), "the estimates of all subjects are {sum} of what there is");
    // For subjects with unrelated objects, about as many triples exist as are expected.
    let p0 = |own: &&Own| own[1].0 == "urn:p0" && own[3].0.is_empty();
    let some: Vec<&Own> = drawn.iter().filter(p0).collect();
    fn pair<'a>(one: &'a Own, other: &'a Own) -> Question<'a> {
        Question {
            subject: Place::Term(Object::Term(&one[0].0)),
            predicate: Place::Term(Object::Term("urn:p0")),
            object: Place::Term(object(&other[2])),
            graph: Graphs::Default,
        }
    }
    let (mut expected, mut there) = (0.0, 0);
    for one in &some {
        for other in &some {
            expected += lake.estimate(&pair(one, other)).rows;
            let own = [one[0].clone(), one[1].clone(), other[2].clone(), one[3].clone()];
            there += u32::from(drawn.contains(&own));
        }
    }
    let sum = expected / f64::from(there);
    assert!((0.3..3.0).contains(&sum), "{expected} expected, {there} there");
    // What the files by object exclude does not exist, whatever the subject is.
    let nowhere = Question { object: Place::Term(Object::Term("urn:strange")), ..pair(some[0], some[0]) };
    assert_eq!(lake.estimate(&nowhere).high, 0);
    let both = Question { subject: Place::Column(0), object: Place::Column(1), ..pair(some[0], some[0]) };
    assert!(lake.estimate(&both).rows < 0.1, "{:?}", lake.estimate(&both));
    let each = lake.estimate(&Question { subject: Place::Column(0), ..Question::default() }).rows;
    let average = drawn.len() as f64 / subjects.len() as f64;
    assert!((0.3..3.0).contains(&(each / average)), "{each} of {average}");
}

#[test]
fn patterns_are_joined_by_their_variables() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let mut random = Random(5);
    store(&path, &mut random, 400);
    let lake = Arc::new(open(&path, &OpenOptions::default()).unwrap());
    let all = all(&lake);
    let (p0, p1) = (Object::Term("urn:p0"), Object::Term("urn:p1"));
    let (x, y, z, g) = (Node::Variable(0), Node::Variable(1), Node::Variable(2), GraphNode::Variable(3));
    let graph = |own: &Own| own[3].0.clone();
    // A path of two, in one named graph; a star; the same variable twice.
    let path_of_two = [
        JoinPattern { nodes: [x, Node::Term(p0), y], graph: g },
        JoinPattern { nodes: [y, Node::Term(p1), z], graph: g },
    ];
    let star = [
        JoinPattern { nodes: [x, Node::Term(p0), y], graph: GraphNode::Default },
        JoinPattern { nodes: [x, Node::Term(p1), z], graph: GraphNode::Named("urn:g") },
    ];
    let loops = [JoinPattern { nodes: [x, y, x], graph: GraphNode::Any }];
    let apart = [
        JoinPattern { nodes: [x, Node::Term(p0), x], graph: GraphNode::Any },
        JoinPattern { nodes: [y, Node::Term(p1), y], graph: GraphNode::Any },
    ];
    let expect = |one: &dyn Fn(&Own, &Own) -> Option<Vec<Term>>| {
        let mut rows: Vec<Vec<Term>> = all.iter().flat_map(|a| all.iter().filter_map(move |b| one(a, b))).collect();
        rows.sort();
        rows
    };
    let solve = |patterns: &[JoinPattern<'_>], variables: usize| {
        let mut join = Join::new(Arc::clone(&lake), patterns, variables).unwrap();
        assert_eq!(join.plan().len(), patterns.len());
        let mut rows = Vec::new();
        while let Some(batch) = join.next_batch().unwrap() {
            for row in 0..batch.rows() {
                let term = |variable| own(&batch.columns()[join.column(variable).unwrap()].get(row).unwrap());
                rows.push((0..variables).map(term).collect::<Vec<_>>());
            }
        }
        // On threads the same, in the same order.
        let join = Join::new(Arc::clone(&lake), patterns, variables).unwrap();
        let columns: Vec<usize> = (0..variables).map(|variable| join.column(variable).unwrap()).collect();
        let mut on_threads = Vec::new();
        join.each(3, &mut |batch| {
            for row in 0..batch.rows() {
                let term = |column: &usize| own(&batch.columns()[*column].get(row).unwrap());
                on_threads.push(columns.iter().map(term).collect::<Vec<_>>());
            }
            Ok(())
        })
        .unwrap();
        assert!(on_threads == rows);
        for threads in [1, 3] {
            let join = Join::new(Arc::clone(&lake), patterns, variables).unwrap();
            assert_eq!(join.count(threads).unwrap(), rows.len() as u64);
        }
        rows.sort();
        rows
    };
    let (is0, is1) = (|own: &Own| own[1].0 == "urn:p0", |own: &Own| own[1].0 == "urn:p1");
    let expected = expect(&|a, b| {
        let fits = is0(a) && is1(b) && a[2] == b[0] && graph(a) == "urn:g" && a[3] == b[3];
        fits.then(|| vec![a[0].clone(), a[2].clone(), b[2].clone(), a[3].clone()])
    });
    assert!(!expected.is_empty() && solve(&path_of_two, 4) == expected);
    let expected = expect(&|a, b| {
        let fits = is0(a) && is1(b) && a[0] == b[0] && graph(a).is_empty() && graph(b) == "urn:g";
        fits.then(|| vec![a[0].clone(), a[2].clone(), b[2].clone()])
    });
    assert!(!expected.is_empty() && solve(&star, 3) == expected);
    let mut expected: Vec<Vec<Term>> =
        all.iter().filter(|own| own[0] == own[2]).map(|own| vec![own[0].clone(), own[1].clone()]).collect();
    expected.sort();
    assert!(solve(&loops, 2) == expected);
    let expected =
        expect(&|a, b| (is0(a) && is1(b) && a[0] == a[2] && b[0] == b[2]).then(|| vec![a[0].clone(), b[0].clone()]));
    assert!(solve(&apart, 2) == expected);
    assert!(Join::new(Arc::clone(&lake), &[], 0).is_err());
    assert!(Join::new(Arc::clone(&lake), &loops, 1).is_err());
}
