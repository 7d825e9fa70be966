//! One graph, asked in each language.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use isomorph::convert::{Format, Silent};
use isomorph::dataset::Cancel;
use isomorph::formats::graphlake::{self, GraphLake};
use isomorph::formats::rdf::{ReadOptions, Text};
use isomorph::model::Graph as Description;
use isomorph::storage::Resources;
use isomorph::{Graph, Location};
use isomorph_cypher::{Options, Query, TableGraph};
use isomorph_query::{Engine, Parameters};
use isomorph_sparql::{self as sparql, Question, QuestionOptions, TripleIndex};

use super::Answer;
use super::cell::{of_batch, of_term, of_value};

/// A graph that is asked.
pub struct Asked {
    graph: Arc<Graph>,
    /// Types and keys, as SQL and Cypher see them.
    description: Description,
    engine: Engine,
    resources: Resources,
    location: Location,
    format: Option<Format>,
}

impl Asked {
    pub fn new(place: &Path, format: Option<Format>) -> Self {
        let resources = Resources { threads: 2, ..Resources::of_this_machine().unwrap() };
        let text = place.display().to_string();
        let graph = Arc::new(isomorph::open(&text).unwrap_or_else(|error| panic!("{text}: {error:?}")));
        let description = graph.dataset().unwrap().source().graph().clone();
        let mut engine = Engine::new(resources.clone()).unwrap();
        engine.add_graph("graph", Arc::clone(&graph)).unwrap();
        Asked { graph, description, engine, resources, location: Location::from_path(place), format }
    }

    /// The sorted rows of an answer.
    pub fn answer(&self, language: &str, text: &str) -> Answer {
        let mut rows = match language {
            "sql" => self.sql(text),
            "cypher" => self.cypher(text),
            _ => self.sparql(text),
        };
        rows.sort();
        rows
    }

    fn sql(&self, text: &str) -> Answer {
        let answer = self.engine.query(text, &Parameters::new()).unwrap_or_else(|error| panic!("{text}: {error:?}"));
        answer.flat_map(|batch| of_batch(&batch.unwrap_or_else(|error| panic!("{text}: {error:?}")))).collect()
    }

    fn cypher(&self, text: &str) -> Answer {
        let options = Options::new(self.resources.budget.clone());
        let tables = TableGraph::new(self.graph.dataset().unwrap(), &options.budget, Cancel::new()).unwrap();
        let query = Query::parse(text, &BTreeMap::new()).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
        let rows = query.run(&tables, &options).unwrap();
        rows.map(|row| row.unwrap_or_else(|fault| panic!("{text}: {fault:?}")).iter().map(of_value).collect()).collect()
    }

    fn sparql(&self, text: &str) -> Answer {
        let prefix = |name: &str, iri: &str| (name.to_owned(), iri.to_owned());
        let mut prefixes = vec![
            prefix("g", "urn:x-isomorph:"),
            prefix("m", "urn:x-isomorph:model#"),
            prefix("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
            prefix("xsd", "http://www.w3.org/2001/XMLSchema#"),
        ];
        prefixes
            .extend(self.description.nodes.iter().map(|ty| prefix(&ty.name, &format!("urn:x-isomorph:{}/", ty.name))));
        let question = Question::parse(text, &QuestionOptions { prefixes, ..QuestionOptions::default() })
            .unwrap_or_else(|error| panic!("{text}: {error:?}"));
        let index = self.triples(&question);
        let solutions = |answer: sparql::Answer<'_>| {
            let sparql::Answer::Solutions(solutions) = answer else { panic!("{text}: not SELECT") };
            solutions
                .map(|solution| {
                    let solution = solution?;
                    Ok(solution.values().iter().map(|term| of_term(term.as_ref(), &self.description)).collect())
                })
                .collect()
        };
        question.run(&index, None, solutions).unwrap_or_else(|error| panic!("{text}: {error:?}"))
    }

    /// What the question can read, as the command loads it.
    fn triples(&self, question: &Question) -> TripleIndex {
        let wanted = question.wanted();
        if self.format == Some(Format::RDF) {
            let text = Text::open(&self.location, None).unwrap();
            return sparql::load_text(&text, &ReadOptions::default(), wanted, &self.resources, &Silent).unwrap().0;
        }
        if self.format == Some(Format::GRAPHLAKE) {
            let lake = GraphLake::open(&self.location, &graphlake::OpenOptions::default()).unwrap();
            return sparql::load_triples(&lake, &Arc::new(wanted), &self.resources, &Silent).unwrap();
        }
        sparql::load(self.graph.opened(), None, wanted, &self.resources, &Silent).unwrap()
    }
}
