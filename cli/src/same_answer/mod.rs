//! The questions of `docs/questions.md`, asked in SQL, openCypher and SPARQL of the same graphs in seven formats: all answers are
//! equal, as multisets of rows.
//!
//! These are tests of the library because it is the one that has all three languages; a test program of its own would link the query
//! engine once more.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod cell;
mod languages;
mod page;

use std::path::{Path, PathBuf};

use isomorph::Location;
use isomorph::convert::{ConvertOptions, Format, Silent};

use self::cell::Cell;
use self::languages::Asked;
use self::page::{LANGUAGES, Question};

/// Rows, sorted.
type Answer = Vec<Vec<Cell>>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn questions() -> Vec<Question> {
    page::read(&std::fs::read_to_string(root().join("docs/questions.md")).unwrap())
}

/// Asks everything that the page asks of a graph, in every format, and compares with the first answer.
fn compare(graph: &str, least: usize) {
    let questions: Vec<Question> = questions().into_iter().filter(|question| question.graph == graph).collect();
    assert!(questions.len() >= least, "{graph}: only {} questions", questions.len());
    let own = root().join(graph);
    let expected: Vec<Answer> = {
        let asked = Asked::new(&own, None);
        questions.iter().map(|question| asked.answer("sql", question.text("sql"))).collect()
    };
    for (question, rows) in questions.iter().zip(&expected) {
        assert!(!rows.is_empty(), "{}: no rows, so nothing is compared", question.title);
    }
    let home = tempfile::tempdir().unwrap();
    let formats = [
        ("graphar", Format::GRAPHAR),
        ("graph.parq", Format::NOCK),
        ("graph.annnet", Format::ANNNET),
        ("deepgnn", Format::DEEPGNN),
        ("graph.lake", Format::GRAPHLAKE),
        ("graph.ttl", Format::RDF),
        ("parquet", Format::PARQUET),
    ];
    let places: Vec<(String, PathBuf, Option<Format>)> = std::iter::once((graph.to_owned(), own.clone(), None))
        .chain(formats.map(|(name, format)| {
            let place = home.path().join(name);
            let options = ConvertOptions { to: Some(format), ..ConvertOptions::default() };
            let source = isomorph::open(&own.display().to_string()).unwrap();
            source.convert_with(&Location::from_path(&place), &options, &Silent).unwrap();
            (name.to_owned(), place, Some(format))
        }))
        .collect();
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let check = |places: &[(String, PathBuf, Option<Format>)]| -> Vec<String> {
            let mut wrong = Vec::new();
            for (name, place, format) in places {
                let asked = Asked::new(place, *format);
                for (question, expected) in questions.iter().zip(&expected) {
                    for language in LANGUAGES {
                        let found = asked.answer(language, question.text(language));
                        if found != *expected {
                            let [found, expected] = [&found, expected].map(shown);
                            wrong.push(format!(
                                "{}\n  {name}, {language}: {found}\n  expected {expected}",
                                question.title
                            ));
                        }
                    }
                }
            }
            wrong
        };
        let (first, second) = places.split_at(places.len() / 2);
        let other = scope.spawn(move || check(second));
        let mut wrong = check(first);
        wrong.extend(other.join().unwrap());
        wrong
    });
    assert!(wrong.is_empty(), "{} wrong answers\n{}", wrong.len(), wrong.join("\n"));
}

fn shown(rows: &Answer) -> String {
    let mut text = format!("{} rows: {:?}", rows.len(), rows.iter().take(12).collect::<Vec<_>>());
    text.truncate(text.char_indices().nth(700).map_or(text.len(), |(at, _)| at));
    text
}

#[test]
fn the_social_graph_gives_one_answer_in_three_languages_and_all_formats() {
    compare("examples/social", 40);
}

#[test]
fn the_town_gives_one_answer_in_three_languages_and_all_formats() {
    compare("examples/town", 20);
}

#[test]
fn the_page_asks_sixty_questions_in_each_language() {
    let questions = questions();
    assert_eq!(questions.len(), 60);
    for (at, question) in questions.iter().enumerate() {
        assert!(question.title.starts_with(&format!("{}. ", at + 1)), "{}", question.title);
        for language in LANGUAGES {
            assert!(!question.text(language).trim().is_empty(), "{}: {language}", question.title);
        }
    }
}
