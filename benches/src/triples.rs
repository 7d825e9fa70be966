//! Triples of a GraphLake store: generated as N-Triples, and looked up.

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::time::{Duration, Instant};

use isomorph_error::{Error, Result};
use isomorph_graphlake::{GraphLake, OpenOptions, Pattern, TripleId};
use isomorph_model::faces::{Object, Quad};
use isomorph_storage::Location;
use serde_json::{Value, json};

use crate::draw::Draw;
use crate::measure::{failed, median};

/// Number of triples of one subject, which are consecutive, as in published texts.
pub(crate) const OF_SUBJECT: u64 = 8;

const WORDS: [&str; 32] = [
    "amber", "bridge", "cedar", "delta", "ember", "forest", "garden", "harbour", "island", "juniper", "kettle",
    "lantern", "meadow", "north", "orchard", "pepper", "quarry", "river", "silver", "timber", "under", "valley",
    "winter", "yellow", "zenith", "of", "the", "and", "in", "with", "old", "new",
];

/// Returns the IRI of a generated resource.
pub(crate) fn resource(number: u64) -> String {
    format!("http://example.org/resource/r{number}")
}

/// Returns the IRI of a predicate.
pub(crate) fn predicate(number: u64) -> String {
    format!("http://example.org/ontology/p{number}")
}

/// Generates `triples` triples of `predicates` predicates, a few of them repeated, and writes them to a file. Of six
/// predicates, two have resources as objects (some far more often than others), one has classes, one plain texts of 37
/// bytes on average, one texts with a language, and one integers and days.
pub(crate) fn make(triples: u64, predicates: u64, path: &str) -> Result<Value> {
    let mut out = BufWriter::with_capacity(1 << 20, std::fs::File::create(path).map_err(failed)?);
    let (mut draw, mut line, mut bytes) = (Draw::new(7), String::new(), 0);
    let subjects = triples.div_ceil(OF_SUBJECT);
    let (mut literals, mut of_literals) = (0u64, 0u64);
    for at in 0..triples {
        line.clear();
        // Unordered: the position times an odd number, reduced.
        let subject = (at / OF_SUBJECT).wrapping_mul(0x9e37_79b1) % subjects;
        let predicate = draw.below(predicates);
        write!(line, "<http://example.org/resource/r{subject}> <http://example.org/ontology/p{predicate}> ")
            .map_err(failed)?;
        let start = line.len();
        match predicate % 6 {
            0 => write!(line, "<http://example.org/ontology/Class{}>", draw.skewed(60)),
            1 | 2 => write!(line, "<http://example.org/resource/r{}>", draw.skewed(subjects)),
            3 => {
                line.push('"');
                (0..4 + draw.below(5)).for_each(|_| word(&mut line, &mut draw));
                write!(line, "{}\"", draw.below(1_000))
            }
            4 => {
                line.push('"');
                (0..1 + draw.below(3)).for_each(|_| word(&mut line, &mut draw));
                write!(line, "{}\"@{}", draw.below(100_000), ["en", "de", "pl"][draw.below(3) as usize])
            }
            _ if draw.below(2) == 0 => {
                write!(line, "\"{}\"^^<http://www.w3.org/2001/XMLSchema#integer>", draw.skewed(100_000))
            }
            _ => {
                let (year, month, day) = (1950 + draw.below(75), 1 + draw.below(12), 1 + draw.below(28));
                write!(line, "\"{year}-{month:02}-{day:02}\"^^<http://www.w3.org/2001/XMLSchema#date>")
            }
        }
        .map_err(failed)?;
        if let Some(lexical) = line.get(start + 1..).filter(|_| predicate % 6 > 2) {
            literals += 1;
            of_literals += lexical.find('"').unwrap_or_default() as u64;
        }
        line.push_str(" .\n");
        bytes += line.len() as u64;
        out.write_all(line.as_bytes()).map_err(failed)?;
    }
    out.flush().map_err(failed)?;
    let average = of_literals as f64 / literals.max(1) as f64;
    Ok(json!({ "triples": triples, "bytes": bytes, "literals": literals, "bytes_of_a_literal": average }))
}

fn word(line: &mut String, draw: &mut Draw) {
    line.push_str(WORDS[draw.below(WORDS.len() as u64) as usize]);
    line.push(' ');
}

/// A triple of the store that is looked up in four ways.
struct Key {
    subject: String,
    /// A subject that has no triples.
    missing: String,
    predicate: String,
    /// The text of a resource; all parts of a literal.
    object: Owned,
}

enum Owned {
    Term(String),
    Literal(String, String, Option<String>),
}

impl Owned {
    fn of(object: &Object<'_>) -> Owned {
        match object {
            Object::Term(term) => Owned::Term((*term).to_owned()),
            Object::Literal { lexical, datatype, language, .. } => {
                Owned::Literal((*lexical).to_owned(), (*datatype).to_owned(), language.map(str::to_owned))
            }
        }
    }

    fn as_object(&self) -> Object<'_> {
        match self {
            Owned::Term(term) => Object::Term(term),
            Owned::Literal(lexical, datatype, language) => {
                Object::Literal { lexical, datatype, language: language.as_deref(), direction: None }
            }
        }
    }
}

/// Looks up `lookups` triples of a store, drawn by subject from `triples` triples: by subject and predicate, by object
/// and predicate, by subject alone, by object alone and by id; and subjects that do not exist. Caches are warm: each
/// look-up was done before.
pub(crate) fn look_ups(path: &str, triples: u64, lookups: usize) -> Result<Value> {
    let lake = GraphLake::open(&Location::parse(path)?, &OpenOptions::default())?;
    let subjects = triples.div_ceil(OF_SUBJECT);
    let (mut draw, mut keys) = (Draw::new(11), Vec::with_capacity(lookups));
    while keys.len() < lookups {
        let subject = resource(draw.below(subjects));
        let (mut found, wanted) = (Vec::new(), Pattern { subject: Some(&subject), ..Pattern::default() });
        lake.matching(&wanted, &mut |quad| {
            found.push((quad.predicate.to_owned(), Owned::of(&quad.object)));
            Ok(())
        })?;
        if found.is_empty() {
            continue;
        }
        let (predicate, object) = found.swap_remove(draw.below(found.len() as u64) as usize);
        // Between existing subjects, so that no bounds exclude it.
        let missing = format!("{subject}-");
        keys.push(Key { subject, missing, predicate, object });
    }
    let pattern = |key: &Key, what: What, take: &mut dyn FnMut(Quad<'_>) -> Result<()>| -> Result<()> {
        let (subject, predicate) = (Some(key.subject.as_str()), Some(key.predicate.as_str()));
        match what {
            What::SubjectPredicate => lake.matching(&Pattern { subject, predicate, ..Pattern::default() }, take),
            What::ObjectPredicate => {
                let object = Some(key.object.as_object());
                lake.matching(&Pattern { object, predicate, ..Pattern::default() }, take)
            }
            What::Subject => lake.matching(&Pattern { subject, ..Pattern::default() }, take),
            What::Object => {
                lake.matching(&Pattern { object: Some(key.object.as_object()), ..Pattern::default() }, take)
            }
            What::NoSubjectPredicate => {
                let subject = Some(key.missing.as_str());
                lake.matching(&Pattern { subject, predicate, ..Pattern::default() }, take)
            }
            What::NoSubject => lake.matching(&Pattern { subject: Some(&key.missing), ..Pattern::default() }, take),
            What::Id => lake.by_id(&TripleId::of(&key.subject, &key.predicate, &key.object.as_object()), take),
        }
    };
    let mut answer = serde_json::Map::new();
    for what in What::ALL {
        let mut times = Vec::with_capacity(keys.len());
        let mut found = 0u64;
        // A look-up with many results is another kind of work: the first thousand suffice.
        for round in 0..2 {
            for key in &keys {
                let mut here = 0u64;
                let started = Instant::now();
                let done = pattern(key, what, &mut |_| {
                    here += 1;
                    if here < MOST { Ok(()) } else { Err(enough()) }
                });
                times.extend((round == 1).then(|| started.elapsed()));
                done.or_else(|error| if here == MOST { Ok(()) } else { Err(error) })?;
                found += if round == 1 { here } else { 0 };
            }
        }
        let p50 = median(&mut times);
        let p99 = times.get(times.len() * 99 / 100).copied().unwrap_or(Duration::ZERO);
        answer.insert(
            what.word().to_owned(),
            json!({ "p50": p50.as_secs_f64(), "p99": p99.as_secs_f64(), "found": found }),
        );
    }
    let first = keys.iter().map(|key| json!([key.subject, key.predicate])).collect::<Vec<_>>();
    answer.insert("keys".to_owned(), first.into());
    Ok(answer.into())
}

/// Number of results after which a look-up ends.
const MOST: u64 = 1_000;

fn enough() -> Error {
    Error::usage("enough results")
}

#[derive(Clone, Copy)]
enum What {
    SubjectPredicate,
    ObjectPredicate,
    Subject,
    Object,
    NoSubjectPredicate,
    NoSubject,
    Id,
}

impl What {
    const ALL: [What; 7] = [
        What::SubjectPredicate,
        What::ObjectPredicate,
        What::Subject,
        What::Object,
        What::NoSubjectPredicate,
        What::NoSubject,
        What::Id,
    ];

    fn word(self) -> &'static str {
        match self {
            What::SubjectPredicate => "subject_predicate",
            What::ObjectPredicate => "object_predicate",
            What::Subject => "subject",
            What::Object => "object",
            What::NoSubjectPredicate => "no_subject_predicate",
            What::NoSubject => "no_subject",
            What::Id => "id",
        }
    }
}
