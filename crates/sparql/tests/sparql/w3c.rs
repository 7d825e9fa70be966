//! The W3C suites of SPARQL 1.0, 1.1 and 1.2, on our own path: file, reader, index, evaluator, writer.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use isomorph::Location;
use isomorph::formats::rdf::{ReadOptions, Text};
use isomorph::model::faces::{Object, Quad as ModelQuad};
use isomorph::storage::Budget;
use isomorph_sparql::oxrdf::Quad;
use isomorph_sparql::{
    Answer, Builder, Question, QuestionOptions, ResultsFormat, TripleIndex, Update, Wanted, write_boolean,
    write_solutions,
};

use crate::common::{Answered, ask};
use crate::manifest::{Case, Files, HOME, cases, file};
use crate::results;

/// The suites, and the share of cases that must pass, in thousandths. The list of failures is exact; this is the least that is promised.
const SUITES: [(&str, &str, usize); 3] = [
    ("SPARQL 1.0", "sparql/sparql10/manifest.ttl", 980),
    ("SPARQL 1.1", "sparql/sparql11/manifest-all.ttl", 979),
    ("SPARQL 1.2", "sparql/sparql12/manifest.ttl", 980),
];

/// What a case tests.
fn area(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "PositiveSyntaxTest"
        | "PositiveSyntaxTest11"
        | "PositiveUpdateSyntaxTest"
        | "PositiveUpdateSyntaxTest11"
        | "NegativeSyntaxTest"
        | "NegativeSyntaxTest11"
        | "NegativeUpdateSyntaxTest"
        | "NegativeUpdateSyntaxTest11" => "syntax",
        "QueryEvaluationTest" => "query evaluation",
        "CSVResultFormatTest" => "result formats",
        "UpdateEvaluationTest" => "update evaluation",
        // Protocols of servers.
        _ => return None,
    })
}

/// Folders about something that is not here.
const ELSEWHERE: [&str; 2] = ["sparql11/entailment", "sparql11/service"];

#[test]
fn suites_pass_except_for_the_published_list() {
    let Some(home) = isomorph_fixtures::public_data("rdf-tests") else { return };
    if !home.join("sparql").exists() {
        isomorph_fixtures::skipped("rdf-tests has no folder sparql on this machine: run `cargo xtask data`");
        return;
    }
    let mut table = String::from("| suite | cases | passed | not |\n|---|---|---|---|\n");
    let mut wrong = Vec::new();
    let mut few = Vec::new();
    for (suite, manifest, least) in SUITES {
        let mut all = Vec::new();
        cases(&home, &format!("{HOME}{manifest}"), &mut all);
        let mut areas: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let mut sum = (0, 0);
        for case in &all {
            let Some(area) = area(&case.kind) else { continue };
            if ELSEWHERE.iter().any(|folder| case.name.starts_with(&format!("{folder} "))) {
                continue;
            }
            let passed = match run(&home, case) {
                Ok(()) => 1,
                Err(why) => {
                    let why = why.lines().next().unwrap_or_default().chars().take(200).collect::<String>();
                    wrong.push((case.name.clone(), why));
                    0
                }
            };
            let area = areas.entry(area).or_default();
            *area = (area.0 + 1, area.1 + passed);
            sum = (sum.0 + 1, sum.1 + passed);
        }
        for (area, (count, passed)) in &areas {
            table.push_str(&format!("| {suite}, {area} | {count} | {passed} | {} |\n", count - passed));
        }
        if sum.1 * 1000 < sum.0 * least {
            few.push(format!("{suite}: {} of {}", sum.1, sum.0));
        }
    }
    println!("{table}");
    for (name, why) in &wrong {
        println!("{name} — {why}");
    }
    assert_eq!(few, [""; 0]);
    let page =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/conformance.md")).unwrap();
    let part = |name: &str| {
        let rest = page.split_once(&format!("<!-- {name} -->\n")).unwrap_or_else(|| panic!("{name}")).1;
        rest.split_once(&format!("<!-- /{name} -->")).unwrap().0.to_owned()
    };
    assert_eq!(part("sparql results"), table, "docs/conformance.md has another table");
    let listed = part("sparql failures");
    let listed: Vec<&str> =
        listed.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next()).skip(1).collect();
    let mut names: Vec<&str> = wrong.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, listed, "docs/conformance.md lists other failures");
}

fn run(home: &Path, case: &Case) -> Result<(), String> {
    let text = std::fs::read_to_string(file(home, &case.query)).map_err(|error| error.to_string())?;
    let options = QuestionOptions { base: Some(case.query.clone()), ..QuestionOptions::default() };
    let is_update = case.kind.contains("Update");
    let parsed = match is_update {
        true => Update::parse(&text, &options).map(|_| ()),
        false => Question::parse(&text, &options).map(|_| ()),
    };
    if case.kind.starts_with("Positive") {
        return match parsed {
            // SERVICE and LOAD are refused after they were parsed.
            Err(error) if error.kind() == isomorph::Kind::Unsupported => Ok(()),
            parsed => parsed.map_err(|error| error.to_string()),
        };
    }
    if case.kind.starts_with("Negative") {
        return if parsed.is_err() { Ok(()) } else { Err("accepted".to_owned()) };
    }
    parsed.map_err(|error| error.to_string())?;
    if is_update { updated(home, case, &text, &options) } else { queried(home, case, &text, &options) }
}

fn queried(home: &Path, case: &Case, text: &str, options: &QuestionOptions) -> Result<(), String> {
    let question = Question::parse(text, options).map_err(|error| error.to_string())?;
    let result = case.result.as_deref().ok_or("no result")?;
    let path = file(home, result);
    if results::format_of(&path) == Some(ResultsFormat::Csv) {
        // CSV has no types, so the text is compared.
        let graph = load(home, &case.data, question.wanted(), &[]).map_err(|error| error.to_string())?;
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        let found = in_format(&question, &graph, ResultsFormat::Csv)?;
        let found = results::csv_lines(&String::from_utf8_lossy(&found));
        return if found == results::csv_lines(&text) { Ok(()) } else { Err(format!("found {found:?}")) };
    }
    let expected = results::read(&path, result)?;
    let mut answers = Vec::new();
    // What the query can read must be enough.
    for wanted in [Wanted::all(), question.wanted()] {
        let graph = load(home, &case.data, wanted, &question.from_graphs()).map_err(|error| error.to_string())?;
        let answer = ask(&question, &graph).map_err(|error| error.to_string())?;
        let answer = match results::format_of(&path) {
            // Our writer, too, is tested.
            Some(format) => written(&question, &graph, format)?,
            None => answer,
        };
        answers.push(answer);
    }
    if answers.iter().all(|answer| results::same(answer, &expected, case.lax)) {
        return Ok(());
    }
    let (found, wanted) =
        (answers.first().map(crate::common::texts).unwrap_or_default(), crate::common::texts(&expected));
    let only = |these: &[String], those: &[String]| {
        these.iter().filter(|row| !those.contains(row)).take(2).cloned().collect::<Vec<_>>().join("; ")
    };
    Err(format!(
        "{} for {} rows, found {} rather than {}",
        found.len(),
        wanted.len(),
        only(&found, &wanted),
        only(&wanted, &found)
    ))
}

/// The answer, written in a format and read again.
fn written(question: &Question, graph: &TripleIndex, format: ResultsFormat) -> Result<Answered, String> {
    results::parse(&in_format(question, graph, format)?, format)
}

fn in_format(question: &Question, graph: &TripleIndex, format: ResultsFormat) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let wrote = question.run(graph, None, |answer| match answer {
        Answer::Solutions(solutions) => write_solutions(solutions, format, &mut out).map(|_| ()),
        Answer::Boolean(answer) => write_boolean(answer, format, &mut out),
        Answer::Graph(_) => Err(isomorph::Error::usage("a graph is not written in this format")),
    });
    wrote.map_err(|error| error.to_string())?;
    Ok(out)
}

fn updated(home: &Path, case: &Case, text: &str, options: &QuestionOptions) -> Result<(), String> {
    let update = Update::parse(text, options).map_err(|error| error.to_string())?;
    let graph = load(home, &case.data, Wanted::all(), &[]).map_err(|error| error.to_string())?;
    let (graph, _) = update.apply(graph, &Budget::new(1 << 30), None).map_err(|error| error.to_string())?;
    let found = quads(&graph);
    let expected = load(home, &case.after, Wanted::all(), &[]).map_err(|error| error.to_string())?;
    if results::same_quads(found.clone(), quads(&expected)) {
        return Ok(());
    }
    Err(format!("found {found:?}"))
}

/// All quads of a graph, by queries.
pub fn quads(graph: &TripleIndex) -> Vec<Quad> {
    let query = "SELECT ?s ?p ?o ?g WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }";
    let question = Question::parse(query, &QuestionOptions::default()).unwrap();
    let Answered::Solutions(_, rows) = ask(&question, graph).unwrap() else { panic!("no solutions") };
    rows.into_iter()
        .map(|row| {
            let [s, p, o, g] = <[_; 4]>::try_from(row).unwrap();
            let triple = isomorph_sparql::oxrdf::Triple::from_terms(s.unwrap(), p.unwrap(), o.unwrap()).unwrap();
            let graph = match g {
                None => isomorph_sparql::oxrdf::GraphName::DefaultGraph,
                Some(isomorph_sparql::oxrdf::Term::NamedNode(name)) => name.into(),
                Some(isomorph_sparql::oxrdf::Term::BlankNode(name)) => name.into(),
                Some(other) => panic!("{other}"),
            };
            triple.in_graph(graph)
        })
        .collect()
}

/// Loads the files of a case, and those that FROM names.
fn load(home: &Path, files: &Files, wanted: Wanted, from: &[String]) -> isomorph::Result<TripleIndex> {
    let mut builder = Builder::new(&Arc::new(wanted), &Budget::new(1 << 30))?;
    let mut number = 0;
    let mut named = files.named.clone();
    for name in from {
        if name.starts_with(HOME) && file(home, name).exists() && !named.iter().any(|(known, _)| known == name) {
            named.push((name.clone(), name.clone()));
        }
    }
    let default = files.default.iter().map(|file| (None, file.clone()));
    for (graph, iri) in default.chain(named.into_iter().map(|(name, file)| (Some(name), file))) {
        number += 1;
        if let Some(graph) = &graph {
            builder.graph(graph)?;
        }
        let options = ReadOptions { base: Some(iri.clone()), ..ReadOptions::default() };
        Text::open(&Location::from_path(&file(home, &iri)), None)?.read(&options, &mut |quad| {
            // Labels of different files are different nodes.
            let term = |text: &str| match text.strip_prefix("_:") {
                Some(label) => format!("_:f{number}x{label}"),
                None => text.replace("_:", &format!("_:f{number}x")),
            };
            let term = |text: &str| {
                if text.starts_with("_:") || text.starts_with("<<(") { term(text) } else { text.to_owned() }
            };
            let (subject, object) =
                (term(quad.subject), if let Object::Term(text) = quad.object { Some(term(text)) } else { None });
            let object = object.as_deref().map_or(quad.object, Object::Term);
            builder.quad(&ModelQuad { subject: &subject, object, graph: quad.graph.or(graph.as_deref()), ..quad })
        })?;
    }
    builder.finish()
}
