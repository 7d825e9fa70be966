//! Expected results of the W3C, and comparison.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use isomorph::Location;
use isomorph::formats::rdf::{ReadOptions, Text};
use isomorph::model::faces::Quad as ModelQuad;
use isomorph_sparql::ResultsFormat;
use isomorph_sparql::oxrdf::dataset::CanonicalizationAlgorithm;
use isomorph_sparql::oxrdf::{BlankNode, Dataset, GraphName, Literal, NamedNode, Quad, Term, Triple};
use sparesults::{QueryResultsParser, SliceQueryResultsParserOutput};

use crate::common::{Answered, QuadText};

const RS: &str = "http://www.w3.org/2001/sw/DataAccess/tests/result-set#";
const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";

/// The format of a file of solutions; `None` for RDF.
pub fn format_of(path: &Path) -> Option<ResultsFormat> {
    match path.extension()?.to_str()? {
        "srx" => Some(ResultsFormat::Xml),
        "srj" => Some(ResultsFormat::Json),
        "csv" => Some(ResultsFormat::Csv),
        "tsv" => Some(ResultsFormat::Tsv),
        _ => None,
    }
}

/// A quad of the model as one of Oxigraph.
pub fn quad(quad: &ModelQuad<'_>) -> Quad {
    let mut line = String::new();
    isomorph::model::ntriples::push_quad(&mut line, quad);
    line.trim().trim_end_matches('.').trim().parse::<QuadText>().unwrap_or_else(|error| panic!("{line}: {error}")).0
}

/// The quads of an RDF text.
pub fn quads(path: &Path, base: &str) -> isomorph::Result<Vec<Quad>> {
    let mut quads = Vec::new();
    let options = ReadOptions { base: Some(base.to_owned()), ..ReadOptions::default() };
    Text::open(&Location::from_path(path), None)?.read(&options, &mut |one| {
        quads.push(quad(&one));
        Ok(())
    })?;
    Ok(quads)
}

/// Reads a result.
pub fn read(path: &Path, base: &str) -> Result<Answered, String> {
    let Some(format) = format_of(path) else {
        let quads = quads(path, base).map_err(|error| error.to_string())?;
        return Ok(of_graph(&quads).unwrap_or_else(|| Answered::Graph(quads.into_iter().map(Triple::from).collect())));
    };
    parse(&std::fs::read(path).map_err(|error| error.to_string())?, format)
}

/// Parses a text of solutions.
pub fn parse(text: &[u8], format: ResultsFormat) -> Result<Answered, String> {
    let parsed = QueryResultsParser::from_format(format).for_slice(text).map_err(|error| error.to_string())?;
    match parsed {
        SliceQueryResultsParserOutput::Boolean(answer) => Ok(Answered::Boolean(answer)),
        SliceQueryResultsParserOutput::Solutions(solutions) => {
            let names = solutions.variables().iter().map(|name| name.as_str().to_owned()).collect();
            let rows = solutions.map(|row| row.map(|row| row.values().to_vec()).map_err(|error| error.to_string()));
            Ok(Answered::Solutions(names, rows.collect::<Result<_, _>>()?))
        }
    }
}

/// Solutions that are written as a graph, with the vocabulary of result sets.
fn of_graph(quads: &[Quad]) -> Option<Answered> {
    let objects = |subject: &Term, name: &str| -> Vec<Term> {
        let of = |quad: &&Quad| {
            Term::from(quad.subject.clone()) == *subject && quad.predicate.as_str() == format!("{RS}{name}")
        };
        quads.iter().filter(of).map(|quad| quad.object.clone()).collect()
    };
    let set = quads.iter().find(|quad| {
        quad.predicate.as_str() == TYPE
            && matches!(&quad.object, Term::NamedNode(class) if class.as_str() == format!("{RS}ResultSet"))
    })?;
    let set = Term::from(set.subject.clone());
    if let Some(Term::Literal(answer)) = objects(&set, "boolean").first() {
        return Some(Answered::Boolean(answer.value() == "true"));
    }
    let text = |term: &Term| if let Term::Literal(text) = term { text.value().to_owned() } else { String::new() };
    let names: Vec<String> = objects(&set, "resultVariable").iter().map(text).collect();
    let mut rows = Vec::new();
    for solution in objects(&set, "solution") {
        let mut row = vec![None; names.len()];
        for binding in objects(&solution, "binding") {
            let name = objects(&binding, "variable").first().map(text)?;
            row[names.iter().position(|known| *known == name)?] = objects(&binding, "value").into_iter().next();
        }
        let index = objects(&solution, "index").first().map(text).and_then(|text| text.parse::<u64>().ok());
        rows.push((index, row));
    }
    rows.sort_by_key(|(index, _)| *index);
    Some(Answered::Solutions(names, rows.into_iter().map(|(_, row)| row).collect()))
}

/// Whether two answers are the same, except for labels of blank nodes, and the order of solutions. What functions
/// compute is compared by value: `1.0` and `1` of one datatype. If `lax`, equal solutions count once.
pub fn same(left: &Answered, right: &Answered, lax: bool) -> bool {
    if let (Answered::Boolean(left), Answered::Boolean(right)) = (left, right) {
        return left == right;
    }
    if std::mem::discriminant(left) != std::mem::discriminant(right) {
        return false;
    }
    let (left, right) = match lax {
        true => (once(left), once(right)),
        false => (left.clone(), right.clone()),
    };
    equal(&left, &right) || equal(&by_value(&left), &by_value(&right))
}

fn equal(left: &Answered, right: &Answered) -> bool {
    let (lines, others) = (crate::common::texts(left), crate::common::texts(right));
    // Answers without blank nodes need no canonical labels.
    lines == others
        || lines.iter().any(|text| text.contains("_:")) && canonical(as_quads(left)) == canonical(as_quads(right))
}

fn once(answer: &Answered) -> Answered {
    let Answered::Solutions(names, rows) = answer else { return answer.clone() };
    let mut kept: Vec<Vec<Option<Term>>> = Vec::new();
    for row in rows {
        if !kept.contains(row) {
            kept.push(row.clone());
        }
    }
    Answered::Solutions(names.clone(), kept)
}

/// The answer with literals of numbers and dates in canonical spelling.
fn by_value(answer: &Answered) -> Answered {
    let value = |term: &Term| Term::from(spareval::ExpressionTerm::from(term.clone()));
    match answer {
        Answered::Boolean(_) => answer.clone(),
        Answered::Graph(triples) => Answered::Graph(
            triples.iter().map(|triple| Triple { object: value(&triple.object), ..triple.clone() }).collect(),
        ),
        Answered::Solutions(names, rows) => Answered::Solutions(
            names.clone(),
            rows.iter().map(|row| row.iter().map(|cell| cell.as_ref().map(value)).collect()).collect(),
        ),
    }
}

/// The lines of solutions in CSV, in order, with one name for all blank nodes.
pub fn csv_lines(text: &str) -> Vec<String> {
    let blank = |cell: &str| if cell.starts_with("_:") { "_:".to_owned() } else { cell.to_owned() };
    let lines =
        text.lines().map(|line| line.trim_end_matches('\r').split(',').map(blank).collect::<Vec<_>>().join(","));
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

/// Whether two datasets are the same, except for labels of blank nodes.
pub fn same_quads(left: Vec<Quad>, right: Vec<Quad>) -> bool {
    canonical(left) == canonical(right)
}

fn canonical(quads: Vec<Quad>) -> Dataset {
    let mut dataset: Dataset = quads.into_iter().collect();
    dataset.canonicalize(CanonicalizationAlgorithm::Unstable);
    dataset
}

/// An answer as quads. Solutions are a multiset: equal ones are counted.
fn as_quads(answer: &Answered) -> Vec<Quad> {
    let named = |name: &str| NamedNode::new_unchecked(format!("{RS}{name}"));
    match answer {
        Answered::Boolean(_) => Vec::new(),
        Answered::Graph(triples) => {
            triples.iter().map(|triple| triple.clone().in_graph(GraphName::DefaultGraph)).collect()
        }
        Answered::Solutions(names, rows) => {
            let mut counts: HashMap<BTreeMap<&String, &Term>, u64> = HashMap::new();
            for row in rows {
                let bound = names.iter().zip(row).filter_map(|(name, value)| Some((name, value.as_ref()?)));
                *counts.entry(bound.collect()).or_default() += 1;
            }
            let mut quads = Vec::new();
            for (bound, count) in counts {
                let row = BlankNode::default();
                let count = Literal::from(count);
                quads.push(Quad::new(row.clone(), named("count"), count, GraphName::DefaultGraph));
                for (name, value) in bound {
                    let predicate = named(&format!("value/{name}"));
                    quads.push(Quad::new(row.clone(), predicate, value.clone(), GraphName::DefaultGraph));
                }
            }
            quads
        }
    }
}
