//! Random quads in stores with a history and in texts, and random patterns: the result equals that of a naive evaluation.
//!
//! `MATCH_CASES` runs more than 240 cases, `MATCH_SEED` generates other quads and patterns.
#![allow(clippy::unwrap_used, clippy::panic, clippy::expect_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Cursor;

use isomorph_convert::matching::{Matches, Prefixes, Query, Searched};
use isomorph_convert::{LakeStream, LakeText, Silent, change_lake};
use isomorph_graphlake::{At, CompactMode, GraphLake, Lake, OpenOptions, TripleId, WriteOptions};
use isomorph_model::faces::{Object, Triples};
use isomorph_model::term::{Part, ntriples, parts};
use isomorph_rdf::{RdfText, ReadOptions, Statements, Syntax, Text};
use isomorph_storage::{Budget, Location, Resources, Scratch};

/// Questions for one store.
const OF_STORE: u64 = 40;

const SUBJECTS: [&str; 5] = ["<urn:a>", "<urn:b>", "<urn:c>", "_:x", "_:y"];
const PREDICATES: [&str; 3] = ["<urn:p>", "<urn:q>", "<urn:a>"];
const OBJECTS: [&str; 15] = [
    "<urn:a>",
    "<urn:b>",
    "<urn:c>",
    "_:x",
    "_:y",
    "\"urn:a\"",
    "\"x\"",
    "\"x\"@en",
    "\"x\"@en-gb",
    "\"x\"@ar--rtl",
    "\"x\"@ar--ltr",
    "\"1\"^^<http://www.w3.org/2001/XMLSchema#integer>",
    "<<( <urn:a> <urn:p> \"x\"@en )>>",
    "<<( _:x <urn:p> <urn:b> )>>",
    "<<( <urn:a> <urn:q> <<( _:x <urn:p> <urn:b> )>> )>>",
];
const GRAPHS: [&str; 4] = ["", "<urn:g>", "<urn:a>", "_:x"];
const NAMES: [&str; 4] = ["?x", "?y", "?z", "?g"];

/// Numbers that are the same in every run (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % limit as u64) as usize
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// Subject, predicate, object and graph as in N-Quads; the default graph is an empty text.
type Texts = [String; 4];
type Set = BTreeSet<Texts>;

fn quad(numbers: &mut Numbers) -> Texts {
    // Some graphs, predicates and objects are more frequent than others, so that patterns join.
    let graph = if numbers.below(2) == 0 { "" } else { numbers.of(&GRAPHS) };
    let object = if numbers.below(3) == 0 { numbers.of(&OBJECTS[..3]) } else { numbers.of(&OBJECTS) };
    [numbers.of(&SUBJECTS), numbers.of(&PREDICATES), object, graph].map(str::to_owned)
}

fn line(quad: &Texts) -> String {
    let words: Vec<&str> = quad.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    format!("{} .\n", words.join(" "))
}

/// A store, and the quads of each of its versions.
fn store(path: &std::path::Path, numbers: &mut Numbers) -> Vec<(i64, Set)> {
    let lake = Lake::create(&Location::from_path(path), &OpenOptions::default(), &WriteOptions::default()).unwrap();
    let (mut set, mut versions) = (Set::new(), Vec::new());
    for round in 0..4 {
        let inserted: Set = (0..if round == 0 { 30 } else { numbers.below(12) }).map(|_| quad(numbers)).collect();
        let mut deleted: Set = (0..numbers.below(4)).map(|_| quad(numbers)).collect();
        deleted.extend(set.iter().filter(|_| numbers.below(5) == 0).cloned().collect::<Vec<_>>());
        let stream = |of: &Set| {
            let lines: String = of.iter().map(line).collect();
            [LakeText::Stream(LakeStream::new("lines", Box::new(Cursor::new(lines))))]
        };
        let changes =
            change_lake(&lake, &stream(&deleted), &stream(&inserted), None, &Budget::of_this_machine()).unwrap();
        set.retain(|quad| !deleted.contains(quad));
        set.extend(inserted);
        versions.extend(changes.commit.map(|commit| (commit.version, set.clone())));
        if numbers.below(3) == 0 {
            let mode = if numbers.below(2) == 0 { CompactMode::Full } else { CompactMode::Tiers };
            let compacted = lake.compact(mode, &|_| Ok(())).unwrap();
            versions.extend(compacted.commit.map(|commit| (commit.version, set.clone())));
        }
    }
    versions
}

/// Three words, or four with a graph.
fn pattern(numbers: &mut Numbers) -> Vec<String> {
    let mut words = Vec::new();
    for (at, all) in [&SUBJECTS[..], &PREDICATES, &OBJECTS].into_iter().enumerate() {
        words.push(match numbers.below(if at == 1 { 3 } else { 6 }) {
            0 => numbers.of(all),
            1 => "_",
            _ => numbers.of(&NAMES[..3]),
        });
    }
    match numbers.below(6) {
        0 => words.push("default"),
        1 => words.push(numbers.of(&GRAPHS[1..])),
        2 => words.push(numbers.of(&NAMES)),
        3 => words.push("_"),
        _ => {}
    }
    words.into_iter().map(str::to_owned).collect()
}

type Env = BTreeMap<String, String>;

/// The values of a pattern's variables in a quad, added to the known ones; `None` if it does not match.
fn bound(words: &[String], quad: &Texts, known: &Env) -> Option<Env> {
    let mut env = known.clone();
    for (at, word) in words.iter().enumerate() {
        let text = &quad[at];
        match word.as_str() {
            "_" => {}
            "default" => text.is_empty().then_some(())?,
            name if name.starts_with('?') => {
                // A variable as the graph matches named graphs.
                if text.is_empty() {
                    return None;
                }
                if *env.entry(name.to_owned()).or_insert_with(|| text.clone()) != *text {
                    return None;
                }
            }
            _ => (word == text).then_some(())?,
        }
    }
    Some(env)
}

/// All solutions, each with the quads of the patterns.
fn naive<'s>(patterns: &[Vec<String>], set: &'s Set) -> Vec<(Env, Vec<&'s Texts>)> {
    let mut all: Vec<(Env, Vec<&Texts>)> = vec![(Env::new(), Vec::new())];
    for words in patterns {
        let mut next = Vec::new();
        for (env, quads) in &all {
            for quad in set {
                if let Some(env) = bound(words, quad, env) {
                    next.push((env, quads.iter().copied().chain([quad]).collect()));
                }
            }
        }
        all = next;
    }
    all
}

/// The id of a triple of texts: quoted triples are hashed by their ids.
fn id_of([subject, predicate, object, _]: &Texts) -> String {
    let resource = |text: &str| text.trim_start_matches('<').trim_end_matches('>').to_owned();
    if !object.starts_with("<<(") {
        let query = Query::parse(&[format!("_ _ {object}")], None, &Prefixes::new(&BTreeMap::new())).unwrap();
        let object = query.patterns[0].pattern().object.unwrap();
        return TripleId::of(&resource(subject), &resource(predicate), &object).to_string();
    }
    let (inner, of, part) = parts(object).unwrap();
    let text = match part {
        Part::Term(text) => ntriples(&text),
        Part::Literal(..) => {
            let begin = object.find('"').unwrap();
            object[begin..].trim_end_matches(" )>>").to_owned()
        }
    };
    let inner = id_of(&[ntriples(&inner), ntriples(&of), text, String::new()]);
    let object = format!("urn:triple:sha256:{inner}");
    TripleId::of(&resource(subject), &resource(predicate), &Object::Term(&object)).to_string()
}

/// The number of occurrences of each.
fn bag<T: Ord>(all: impl IntoIterator<Item = T>) -> BTreeMap<T, usize> {
    let mut bag = BTreeMap::new();
    all.into_iter().for_each(|one| *bag.entry(one).or_default() += 1);
    bag
}

/// Whether `some` are `all`, or as many of them as the limit allows.
fn is_first<T: Ord + Clone>(some: &[T], all: &[T], limit: usize) -> bool {
    let (some_bag, all_bag) = (bag(some.iter().cloned()), bag(all.iter().cloned()));
    let within = some_bag.iter().all(|(one, times)| all_bag.get(one).is_some_and(|all| times <= all));
    within && some.len() == all.len().min(limit)
}

/// Matches the patterns in every way, and compares the results.
fn ask<'g>(
    searched: &dyn Fn() -> Searched<'g>,
    set: &Set,
    patterns: &[Vec<String>],
    limit: usize,
    resources: &'g Resources,
) -> usize {
    let texts: Vec<String> = patterns.iter().map(|words| words.join(" ")).collect();
    let prefixes = Prefixes::new(&BTreeMap::new());
    let query = Query::parse(&texts, None, &prefixes).unwrap();
    let limited = Matches::new(searched(), query.clone(), resources, &Silent);
    let with_ids = Matches::new(searched(), query, resources, &Silent).with_ids(true);
    let solutions = naive(patterns, set);
    let total = solutions.len();
    if patterns.len() == 1 {
        let all: Vec<(Texts, String)> =
            solutions.iter().map(|(_, quads)| (quads[0].clone(), id_of(quads[0]))).collect();
        let found = with_ids.triples(limit as u64).unwrap();
        let more = found.more;
        let found: Vec<(Texts, String)> = found
            .triples
            .into_iter()
            .map(|one| ([one.subject, one.predicate, one.object, one.graph.unwrap_or_default()], one.id.unwrap()))
            .collect();
        assert!(is_first(&found, &all, limit), "{texts:?} {limit}: {found:#?} of {all:#?}");
        assert!(more.is_none_or(|more| more as usize == total - found.len()), "{texts:?}: {more:?} more");
        assert!(more.is_some() || found.len() == limit, "{texts:?}");
        assert_eq!(limited.count().unwrap() as usize, total, "{texts:?}");
        let mut out = Vec::new();
        with_ids.lines(None, &mut out).unwrap();
        let printed = String::from_utf8(out).unwrap();
        let expected = all.iter().map(|(quad, id)| format!("{} # {id}", line(quad).trim_end()));
        assert_eq!(bag(printed.lines().map(str::to_owned)), bag(expected), "{texts:?}");
        // Every triple in the result is found by its id.
        for (quad, id) in found.iter().take(2) {
            let (found, _) = limited.by_ids(&[id.parse().unwrap()]).unwrap();
            let graphs = found.iter().map(|one| one.graph.clone().unwrap_or_default());
            let expected = set.iter().filter(|other| other[..3] == quad[..3]).map(|other| other[3].clone());
            assert_eq!(bag(graphs), bag(expected), "{quad:?} {id}");
        }
        return total;
    }
    assert_eq!(limited.plan().unwrap().len(), patterns.len());
    let row = |env: &Env| -> Vec<String> {
        limited.query().variables.iter().map(|name| env[&format!("?{name}")].clone()).collect()
    };
    let all: Vec<(Vec<String>, Vec<String>)> =
        solutions.iter().map(|(env, quads)| (row(env), quads.iter().map(|quad| id_of(quad)).collect())).collect();
    let found = with_ids.solutions(limit as u64).unwrap();
    let rows: Vec<_> = found.rows.into_iter().zip(found.ids).collect();
    assert!(is_first(&rows, &all, limit), "{texts:?} {limit}: {rows:#?} of {all:#?}");
    assert!(!found.all || rows.len() == total, "{texts:?}");
    assert!(found.all || rows.len() == limit, "{texts:?}");
    assert_eq!(limited.solutions(limit as u64).unwrap().rows.len(), total.min(limit), "{texts:?}");
    assert_eq!(limited.count().unwrap() as usize, total, "{texts:?}");
    total
}

#[test]
fn patterns_and_joins_find_what_a_naive_evaluation_finds() {
    let setting = |name: &str, otherwise: u64| std::env::var(name).map_or(otherwise, |text| text.parse().unwrap());
    let (cases, seed) = (setting("MATCH_CASES", 240), setting("MATCH_SEED", 0));
    let (mut answered, mut asked) = (0, 0);
    let scratch = tempfile::tempdir().unwrap();
    let with_threads = |threads| {
        let scratch = Scratch::new(Some(scratch.path())).unwrap();
        Resources { threads, budget: Budget::of_this_machine(), scratch }
    };
    let resources = [1, 2].map(with_threads);
    for number in 0..cases.div_ceil(OF_STORE) {
        let mut numbers = Numbers(seed.wrapping_mul(1 << 32).wrapping_add(number));
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("lake");
        let versions = store(&path, &mut numbers);
        let open = |version| {
            let options = OpenOptions { at: At::Version(version), survey_up_to: 0, ..OpenOptions::default() };
            GraphLake::open(&Location::from_path(&path), &options).unwrap()
        };
        let lakes: Vec<GraphLake> = versions.iter().map(|(version, _)| open(*version)).collect();
        for _ in 0..OF_STORE {
            let at = numbers.below(lakes.len());
            let patterns: Vec<Vec<String>> = (0..1 + numbers.below(5) / 2).map(|_| pattern(&mut numbers)).collect();
            let limit = 1 + numbers.of(&[0, 1, 2, 7, 5000]);
            let resources = &resources[numbers.below(2)];
            let (lake, set) = (&lakes[at], &versions[at].1);
            let count = ask(&|| Searched::Store(lake), set, &patterns, limit, resources);
            answered += usize::from(count > 0);
            asked += 1;
            if asked % 4 > 0 {
                continue;
            }
            // The same in a text, with each statement once or several times, and the duplicates known or not.
            let text = home.path().join("text.nq");
            let repeated = |quad: &Texts| line(quad).repeat(1 + quad[2].len() % 2);
            std::fs::write(&text, set.iter().rev().map(repeated).collect::<String>()).unwrap();
            let text = Location::from_path(&text);
            let statements = Statements::new(Text::open(&text, Some(Syntax::NQuads)).unwrap(), ReadOptions::default());
            let known = RdfText::open(&text, &isomorph_rdf::OpenOptions::default()).unwrap();
            for triples in [&statements as &dyn Triples, &known] {
                assert_eq!(ask(&|| Searched::Read(Box::new(triples)), set, &patterns, limit, resources), count);
            }
        }
    }
    // Copies of texts are removed.
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    assert!(answered * 3 > asked, "{answered} of {asked} questions have answers");
}
