//! Transactions: sequences of operations compared with a set in memory, read in every way.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use crate::common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use isomorph_error::Findings;
use isomorph_graphlake::{
    Committed, CompactMode, GraphLake, Lake, OpenOptions, Order, Pattern, QUOTED_GRAPH, Tolerance, Transaction,
    VacuumOptions, What, WriteOptions, push_quad,
};
use isomorph_model::Source;
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::{Budget, Location};

/// Numbers that are the same in every run (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % limit
    }
}

/// Subject, predicate and object of a quad of a small domain, in which operations collide.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Triple(String, String, u64);

/// Objects with numbers from here on are triple terms.
const QUOTED: u64 = 1 << 40;

fn with_quad<T>(triple: &Triple, graph: Option<&str>, then: impl FnOnce(&Quad<'_>) -> T) -> T {
    let Triple(subject, predicate, number) = triple;
    let text = format!("http://example.org/o{number}");
    let quoted = format!("<<( <{text}> <urn:says> \"it\"@en )>>");
    let object = match number % 3 {
        0 if *number < QUOTED => Object::Term(&text),
        1 if *number < QUOTED => Object::Literal { lexical: &text, datatype: "", language: None, direction: None },
        _ if *number < QUOTED => {
            Object::Literal { lexical: &text, datatype: "", language: Some("en"), direction: None }
        }
        _ => Object::Term(&quoted),
    };
    then(&Quad { subject, predicate, object, graph })
}

fn line(triple: &Triple, graph: Option<&str>) -> String {
    let mut line = String::new();
    with_quad(triple, graph, |quad| push_quad(&mut line, quad));
    line
}

const GRAPHS: [Option<&str>; 4] = [None, Some("urn:g:1"), Some("urn:g:2"), Some("_:g3")];

type Model = BTreeMap<Option<&'static str>, BTreeSet<Triple>>;

fn random(numbers: &mut Numbers) -> Triple {
    let subject = format!("http://example.org/s{}", numbers.below(5));
    Triple(
        subject,
        format!("http://example.org/p{}", numbers.below(2)),
        [0, 1, 2, 3, 4, 5, QUOTED, QUOTED + 1][numbers.below(8) as usize],
    )
}

/// One operation on the store and on the model.
fn operate(numbers: &mut Numbers, transaction: &mut Transaction<'_>, model: &mut Model) -> String {
    let graph = GRAPHS[numbers.below(4) as usize];
    match numbers.below(24) {
        0 => {
            transaction.drop_graph(graph).unwrap();
            model.remove(&graph);
            format!("drop {graph:?}")
        }
        1 => {
            transaction.clear_graph(graph).unwrap();
            model.insert(graph, BTreeSet::new());
            format!("clear {graph:?}")
        }
        2 => {
            transaction.create_graph(graph).unwrap();
            model.entry(graph).or_default();
            format!("create {graph:?}")
        }
        number @ 3..=5 => {
            let to = GRAPHS[numbers.below(4) as usize];
            let Some(triples) = model.get(&graph).cloned() else {
                return "nothing to copy".to_owned();
            };
            if number == 5 {
                transaction.move_graph(graph, to).unwrap();
                model.remove(&graph);
            } else {
                transaction.copy_graph(graph, to).unwrap();
            }
            model.insert(to, triples);
            format!("{} {graph:?} to {to:?}", if number == 5 { "move" } else { "copy" })
        }
        6..=13 => {
            let triple = random(numbers);
            with_quad(&triple, graph, |quad| transaction.delete(quad)).unwrap();
            if let Some(triples) = model.get_mut(&graph) {
                triples.remove(&triple);
            }
            format!("delete {} {graph:?}", line(&triple, graph))
        }
        _ => {
            let triple = random(numbers);
            with_quad(&triple, graph, |quad| transaction.insert(quad)).unwrap();
            let text = format!("insert {} {graph:?}", line(&triple, graph));
            model.entry(graph).or_default().insert(triple);
            text
        }
    }
}

/// Inserts many in bulk, on two threads; if `mixed`, including some that exist already.
fn load(numbers: &mut Numbers, lake: &Lake, model: &mut Model, mixed: bool) -> Option<Committed> {
    let mut transaction = lake.begin().unwrap();
    let mut bulk = transaction.bulk().unwrap();
    let mut fillers = bulk.fillers(2).unwrap();
    for _ in 0..numbers.below(20) {
        let (triple, graph) = (random(numbers), GRAPHS[numbers.below(4) as usize]);
        let filler = &mut fillers[numbers.below(2) as usize];
        with_quad(&triple, graph, |quad| filler.push(quad)).unwrap();
        if mixed && numbers.below(4) == 0 {
            with_quad(&triple, graph, |quad| transaction.insert(quad)).unwrap();
        }
        model.entry(graph).or_default().insert(triple);
    }
    bulk.absorb(fillers).unwrap();
    transaction.insert_bulk(bulk, &|_| Ok(())).unwrap();
    transaction.commit().unwrap()
}

fn lines(model: &Model) -> String {
    let all = model.iter().flat_map(|(graph, triples)| triples.iter().map(|triple| line(triple, *graph)));
    let mut all: Vec<String> = all.collect();
    all.sort();
    all.into_iter().map(|line| line + "\n").collect()
}

/// The store as every kind of reader sees it.
fn assert_reads(path: &Path, model: &Model, what: &str) {
    let expected = lines(model);
    for (naive, tolerance) in [(false, Tolerance::Strict), (true, Tolerance::Strict), (false, Tolerance::Lenient)] {
        let options = OpenOptions { naive, tolerance, ..OpenOptions::default() };
        let lake = common::open(path, &options).unwrap();
        for order in [Order::Subject, Order::Object] {
            let found = common::statements(&lake, order).unwrap();
            let (found, wanted): (BTreeSet<&str>, BTreeSet<&str>) =
                (found.lines().collect(), expected.lines().collect());
            let (more, less) = (found.difference(&wanted), wanted.difference(&found));
            let differ: Vec<_> = more.map(|line| ("more", line)).chain(less.map(|line| ("less", line))).collect();
            assert!(differ.is_empty(), "{differ:#?} naive {naive}, {order:?}, after {what}");
        }
        let named: BTreeSet<&str> = lake.named_graphs().filter(|name| *name != QUOTED_GRAPH).collect();
        let wanted: BTreeSet<&str> = model.keys().filter_map(|graph| *graph).collect();
        // A default graph without triples counts as missing.
        assert_eq!(named, wanted, "after {what}");
    }
    let mut findings = Findings::keeping(3);
    common::open(path, &OpenOptions::default()).unwrap().validate(&mut findings).unwrap();
    let broken: Vec<_> = findings.by_rule().flat_map(|(_, kept)| kept).map(|one| (one.rule.id, &one.message)).collect();
    assert!(broken.is_empty(), "{broken:?} after {what}");
}

/// The log states the number of triples, or a greater one where it says "at most"; so does the description.
fn assert_counts(path: &Path, model: &Model, what: &str) -> bool {
    let place = Location::from_path(path);
    let lake = Lake::open(&place, &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let Some(last) = lake.log(1).unwrap().pop() else { return true };
    let all = model.values().map(|triples| triples.len() as u64).sum::<u64>();
    assert!(if last.exact { last.triples == all } else { last.triples >= all }, "{last:?}, and {all} after {what}");
    let graph = common::open(path, &OpenOptions::default()).unwrap();
    let values = graph.graph().values.iter().map(|table| table.rows.unwrap()).sum::<u64>();
    assert_eq!(graph.graph().edges[0].rows.unwrap() + values, all, "after {what}");
    last.exact
}

#[test]
fn random_operations_give_what_a_set_gives() {
    for seed in 0..30 {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lake");
        let writing =
            WriteOptions { file_bytes: if seed % 2 == 0 { 200 } else { 64 << 20 }, ..WriteOptions::default() };
        let lake = Lake::create(&Location::from_path(&path), &OpenOptions::default(), &writing).unwrap();
        let (mut numbers, mut model) = (Numbers(seed), Model::new());
        // Triples that are inserted in two ways at once are not counted before the next compaction.
        let mixed = seed % 3 == 0;
        let mut history = vec![(0, lines(&model))];
        for round in 0..8 {
            let mut transaction = lake.begin().unwrap();
            let mut done = Vec::new();
            for _ in 0..=numbers.below(12) {
                done.push(operate(&mut numbers, &mut transaction, &mut model));
            }
            if let Some(committed) = transaction.commit().unwrap() {
                history.push((committed.version, lines(&model)));
            }
            if numbers.below(3) == 0
                && let Some(committed) = load(&mut numbers, &lake, &mut model, mixed)
            {
                history.push((committed.version, lines(&model)));
                done.push("load".to_owned());
            }
            let what = if numbers.below(3) == 0 {
                let mode = if numbers.below(2) == 0 { CompactMode::Full } else { CompactMode::Tiers };
                if let Some(commit) = lake.compact(mode, &|_| Ok(())).unwrap().commit {
                    history.push((commit.version, lines(&model)));
                }
                format!("{mode:?}")
            } else {
                String::new()
            };
            done.push(what);
            let what = format!("seed {seed}, round {round}:\n{}", done.join("\n"));
            assert_reads(&path, &model, &what);
            let compacted = done.last().is_some_and(|what| what == "Full");
            assert!(assert_counts(&path, &model, &what) || mixed && !compacted, "nobody counted, after {what}");
        }
        // Every state can still be read.
        let versions: Vec<i64> = history.iter().map(|(version, _)| *version).collect();
        assert!(versions.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{versions:?}");
        for (version, expected) in &history[1..] {
            let options = OpenOptions { at: isomorph_graphlake::At::Version(*version), ..OpenOptions::default() };
            let lake: GraphLake = common::open(&path, &options).unwrap();
            assert_eq!(&common::statements(&lake, Order::Subject).unwrap(), expected);
        }
    }
}

#[test]
fn many_small_files_become_few_and_old_snapshots_go() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let commit = |number: u64, delete: bool| {
        let mut transaction = lake.begin().unwrap();
        let triple = Triple(format!("http://example.org/s{number}"), "http://example.org/p".to_owned(), number);
        with_quad(&triple, None, |quad| if delete { transaction.delete(quad) } else { transaction.insert(quad) })
            .unwrap();
        transaction.commit().unwrap().unwrap()
    };
    for number in 0..9 {
        assert_eq!(lake.compact(CompactMode::Tiers, &|_| Ok(())).unwrap().commit, None, "{number}");
        let done = commit(number, false);
        assert_eq!((done.version, done.inserted, done.deleted, done.files), (number as i64 + 1, 1, 0, 2));
    }
    let done = lake.compact(CompactMode::Tiers, &|_| Ok(())).unwrap();
    assert_eq!((done.merged, done.predicates), (18, 1));
    // The file has the version that it was computed from, and triples that are deleted afterwards are deleted.
    assert_eq!(done.commit.unwrap().version, 10);
    let deleted = commit(3, true);
    assert_eq!((deleted.version, deleted.deleted, deleted.files), (11, 1, 2));
    let before = common::lines(&common::open(&path, &OpenOptions::default()).unwrap(), Order::Subject).unwrap();
    assert_eq!(before.lines().count(), 8);
    let full = lake.compact(CompactMode::Full, &|_| Ok(())).unwrap();
    assert_eq!((full.forgotten, full.merged), (1, 4));
    assert_eq!(lake.compact(CompactMode::Full, &|_| Ok(())).unwrap().commit, None);

    let log = lake.log(3).unwrap();
    assert_eq!(log.iter().map(|event| event.version).collect::<Vec<_>>(), [10, 11, 12]);
    let changes: Vec<_> = log.iter().map(|event| (event.changes[0].what, event.changes[0].deleted)).collect();
    assert_eq!(changes, [(What::Compacted, 0), (What::Changed, 1), (What::Compacted, 0)]);
    assert_eq!((log[2].triples, log[2].exact, log[2].records, log[2].deletions, log[2].files), (8, true, 8, 0, 2));
    assert_eq!((log[1].triples, log[1].exact, log[1].records, log[1].deletions, log[1].files), (8, true, 9, 1, 4));

    // Files of interrupted writers stay for a day.
    std::fs::write(path.join("graphs/orphan.bin"), "x").unwrap();
    let mut options = VacuumOptions { keep_last: 2, ..VacuumOptions::default() };
    let said = lake.vacuum(&options).unwrap();
    assert_eq!((said.snapshots.len(), said.files.len()), (10, 10), "{said:?}");
    assert_eq!(lake.log(100).unwrap().len(), 12, "a dry run removes nothing");
    options.dry_run = false;
    options.grace = std::time::Duration::ZERO;
    let done = lake.vacuum(&options).unwrap();
    assert!(!path.join("graphs/orphan.bin").exists());
    // 18 files of single triples, the orphan, and the snapshots.
    assert_eq!((done.snapshots.len(), done.files.len(), done.young), (10, 10 + 18 + 1, 0), "{done:?}");
    for version in [11, 12] {
        let options = OpenOptions { at: isomorph_graphlake::At::Version(version), ..OpenOptions::default() };
        let found = common::lines(&common::open(&path, &options).unwrap(), Order::Object).unwrap();
        assert_eq!(found, before);
    }
    let options = OpenOptions { at: isomorph_graphlake::At::Version(10), ..OpenOptions::default() };
    assert!(common::open(&path, &options).is_err());
    assert_eq!(commit(3, false).version, 13);
}

#[test]
fn readers_stay_on_their_snapshot() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let triple = |number| Triple("http://example.org/s".to_owned(), "http://example.org/p".to_owned(), number);
    let mut first = lake.begin().unwrap();
    with_quad(&triple(1), None, |quad| first.insert(quad)).unwrap();
    first.commit().unwrap();
    let reader = common::open(&path, &OpenOptions::default()).unwrap();
    let (mut reads, mut blind) = (lake.begin().unwrap(), lake.begin().unwrap());
    let mut seen = 0;
    let pattern = Pattern { predicate: Some("http://example.org/p"), ..Pattern::default() };
    reads
        .matching(&pattern, &mut |_| {
            seen += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, 1);
    let mut elsewhere = lake.begin().unwrap();
    elsewhere.matching(&Pattern { predicate: Some("http://example.org/other"), ..pattern }, &mut |_| Ok(())).unwrap();
    for (transaction, number) in [(&mut reads, 2), (&mut blind, 3), (&mut elsewhere, 4)] {
        with_quad(&triple(number), None, |quad| transaction.insert(quad)).unwrap();
    }
    assert_eq!(blind.commit().unwrap().unwrap().version, 2);
    assert_eq!(reads.commit().unwrap_err().kind(), isomorph_error::Kind::Conflict);
    // What it has read has not changed.
    let done = elsewhere.commit().unwrap().unwrap();
    assert_eq!((done.version, done.lost), (3, 1));
    lake.compact(CompactMode::Full, &|_| Ok(())).unwrap();
    assert_eq!(common::lines(&reader, Order::Subject).unwrap().lines().count(), 1);
    // Without changes there is no commit.
    let mut nothing = lake.begin().unwrap();
    with_quad(&triple(9), None, |quad| nothing.delete(quad)).unwrap();
    assert_eq!(nothing.commit().unwrap(), None);
    // The files of a refused transaction are removed.
    let files = |path: &Path| walk(path).len();
    let before = files(&path);
    let mut dropped = lake.begin().unwrap();
    with_quad(&triple(9), None, |quad| dropped.insert(quad)).unwrap();
    drop(dropped);
    assert_eq!(files(&path), before);
}

fn walk(path: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}

#[test]
fn a_transaction_larger_than_memory_is_written_in_parts() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let budget = Budget::new(4 << 20);
    let writing = WriteOptions { budget: budget.clone(), ..WriteOptions::default() };
    let opening = OpenOptions { budget, ..OpenOptions::default() };
    let lake = Lake::create(&Location::from_path(&path), &opening, &writing).unwrap();
    let triple = |number: u64| {
        let predicate = format!("http://example.org/p{}", number % 3);
        Triple(format!("http://example.org/s{}", number % 7919), predicate, number)
    };
    let change = |numbers: std::ops::Range<u64>, delete: bool| {
        let mut transaction = lake.begin().unwrap();
        for number in numbers {
            with_quad(&triple(number), None, |quad| match delete {
                true => transaction.delete(quad),
                false => transaction.insert(quad),
            })
            .unwrap();
        }
        transaction.commit().unwrap().unwrap()
    };
    let mut refused = lake.begin().unwrap();
    for number in 0..20_000 {
        with_quad(&triple(number), None, |quad| refused.insert(quad)).unwrap();
    }
    let late = with_quad(&triple(0), None, |quad| refused.delete(quad)).unwrap_err();
    assert_eq!(late.kind(), isomorph_error::Kind::TooLarge);
    drop(refused);
    assert!(walk(&path).len() == 1, "what was written for it is gone");

    assert_eq!(change(0..100, false).inserted, 100);
    assert_eq!(change(20..60, true).deleted, 40);
    // Some of them are inserted again, in files that were written early.
    let done = change(0..20_000, false);
    assert!(done.files > 12, "{done:?}");
    let strict = common::lines(&common::open(&path, &opening).unwrap(), Order::Subject).unwrap();
    let naive = OpenOptions { naive: true, ..opening.clone() };
    assert_eq!(common::lines(&common::open(&path, &naive).unwrap(), Order::Subject).unwrap(), strict);
    assert_eq!(strict.lines().count(), 20_000);
}

#[test]
fn whether_a_graph_is_there_holds_until_the_commit() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let triple = Triple("http://example.org/s".to_owned(), "http://example.org/p".to_owned(), 0);
    let graph = Some("urn:g");
    let mut first = lake.begin().unwrap();
    with_quad(&triple, None, |quad| first.insert(quad)).unwrap();
    first.commit().unwrap();
    let (mut asks, mut asks_another) = (lake.begin().unwrap(), lake.begin().unwrap());
    assert!(!asks.has_graph(graph).unwrap() && asks.has_graph(None).unwrap());
    assert!(!asks_another.has_graph(Some("urn:other")).unwrap());
    let mut writes = lake.begin().unwrap();
    with_quad(&triple, graph, |quad| writes.insert(quad)).unwrap();
    writes.commit().unwrap();
    for transaction in [&mut asks, &mut asks_another] {
        transaction.copy_graph(None, Some("urn:copy")).unwrap();
    }
    assert_eq!(asks.commit().unwrap_err().kind(), isomorph_error::Kind::Conflict);
    assert_eq!(asks_another.commit().unwrap().unwrap().version, 3);
    assert!(lake.begin().unwrap().has_graph(graph).unwrap());
}

#[test]
fn what_is_loaded_in_bulk_and_deleted_at_once_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let triple = Triple("http://example.org/s".to_owned(), "http://example.org/p".to_owned(), 0);
    let mut transaction = lake.begin().unwrap();
    with_quad(&triple, None, |quad| transaction.insert(quad)).unwrap();
    transaction.commit().unwrap().unwrap();
    let mut transaction = lake.begin().unwrap();
    with_quad(&triple, None, |quad| transaction.delete(quad)).unwrap();
    let mut bulk = transaction.bulk().unwrap();
    with_quad(&triple, None, |quad| bulk.push(quad)).unwrap();
    let refused = transaction.insert_bulk(bulk, &|_| Ok(())).unwrap_err();
    assert_eq!(refused.kind(), isomorph_error::Kind::Usage);
    // A transaction that excludes others is refused if another writer committed.
    let mut alone = lake.begin().unwrap();
    alone.alone();
    with_quad(&Triple("urn:x".to_owned(), "urn:y".to_owned(), 1), None, |quad| alone.insert(quad)).unwrap();
    transaction.commit().unwrap().unwrap();
    assert_eq!(alone.commit().unwrap_err().kind(), isomorph_error::Kind::Conflict);
}

#[test]
fn what_is_said_of_what_lives_is_checked_and_not_needed() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("lake");
    let lake = Lake::create(&Location::from_path(&path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let triple = |number| Triple("http://example.org/s".to_owned(), "http://example.org/p".to_owned(), number);
    let commit = |numbers: &[u64], delete: bool| {
        let mut transaction = lake.begin().unwrap();
        for number in numbers {
            with_quad(&triple(*number), None, |quad| match delete {
                true => transaction.delete(quad),
                false => transaction.insert(quad),
            })
            .unwrap();
        }
        transaction.commit().unwrap().unwrap()
    };
    let done = commit(&[0, 1, 2, 3], false);
    assert_eq!((done.inserted, done.again), (4, Some(0)));
    let done = commit(&[3, 4], false);
    assert_eq!((done.inserted, done.again), (2, Some(1)));
    let done = commit(&[1, 9], true);
    assert_eq!((done.deleted, done.missing), (1, 1));
    let snapshot = path.join("snapshots/snapshot3.json");
    let sound = std::fs::read_to_string(&snapshot).unwrap();
    let count = "\"living_count\":4,\"living_literal_count\":2";
    assert!(sound.contains(count), "{sound}");
    let broken = || {
        let mut findings = Findings::keeping(3);
        common::open(&path, &OpenOptions::default()).unwrap().validate(&mut findings).unwrap();
        findings.by_rule().flat_map(|(_, kept)| kept).map(|one| one.rule.id).collect::<Vec<_>>()
    };
    let last = || lake.log(1).unwrap().pop().map(|event| (event.triples, event.exact)).unwrap();
    let lines = || common::lines(&common::open(&path, &OpenOptions::default()).unwrap(), Order::Object).unwrap();
    let (all, most) = (lines(), u64::MAX);
    assert_eq!((broken(), last()), (vec![], (4, true)));
    for lie in [
        "\"living_count\":7,\"living_literal_count\":2".to_owned(),
        "\"living_count\":4,\"living_literal_count\":0".to_owned(),
        format!("\"living_count\":{most},\"living_literal_count\":{most}"),
    ] {
        std::fs::write(&snapshot, sound.replace(count, &lie)).unwrap();
        assert_eq!(broken(), ["GRAPHLAKE-COUNT"], "{lie}");
        assert_eq!(lines(), all, "nothing is read by it: {lie}");
    }
    // Numbers that are out of range, or were computed from other files, are ignored.
    let of = sound.find("\"living_of\":\"xxh64:").unwrap() + 19;
    let others = sound.replace(&sound[of..of + 16], "0000000000000000");
    for foreign in [others, sound.replace(count, "\"living_count\":-4,\"living_literal_count\":\"2\"")] {
        std::fs::write(&snapshot, foreign).unwrap();
        assert_eq!((broken(), last()), (vec![], (4, true)), "it is counted where it is asked for");
        let options = OpenOptions { survey_up_to: 0, ..OpenOptions::default() };
        let place = Location::from_path(&path);
        let hasty = Lake::open(&place, &options, &WriteOptions::default()).unwrap();
        let event = hasty.log(1).unwrap().pop().unwrap();
        assert_eq!((event.triples, event.exact, event.records), (6, false, 6), "at most");
    }
    // A commit on top of it does not know them either; merging all files counts the triples.
    commit(&[5], false);
    let text = || std::fs::read_to_string(path.join("snapshots/snapshot4.json")).unwrap();
    assert!(!text().contains("living_count"), "{}", text());
    lake.compact(CompactMode::Full, &|_| Ok(())).unwrap().commit.unwrap();
    let merged = std::fs::read_to_string(path.join("snapshots/snapshot5.json")).unwrap();
    assert!(merged.contains("\"living_count\":5,\"living_literal_count\":3"), "{merged}");
    assert_eq!((broken(), last()), (vec![], (5, true)));
}
