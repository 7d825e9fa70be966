//! Patterns as users type them: `ex:alice ?p _`, `<urn:s> a "text"@en`; several patterns can share variables.

use isomorph_error::{Error, Result};
use isomorph_graphlake::{GraphNode, Graphs, InGraph, JoinPattern, Node, Pattern, Question, TripleId};
use isomorph_model::faces::{Object, Quad};
use isomorph_model::term::ntriples;

use super::Prefixes;
use super::term::{Part, Word, words};
use super::triple::text;

/// A pattern: subject, predicate, object and graph.
#[derive(Debug, Clone)]
pub struct QuadPattern {
    /// The text that was typed.
    text: String,
    parts: Vec<Part>,
    /// Whether it matches the default graph.
    default: bool,
}

/// Patterns that are matched together, and the names of their variables.
#[derive(Debug, Clone, Default)]
pub struct Query {
    /// The patterns, in the order of the input.
    pub patterns: Vec<QuadPattern>,
    /// The named variables, in order of appearance.
    pub variables: Vec<String>,
}

impl Query {
    /// Parses the patterns of a command line: three or four terms each. All terms can be one argument, or each pattern,
    /// or each term. A full stop also ends a pattern. `graph` is the graph of patterns without one.
    ///
    /// # Errors
    /// If a pattern has fewer or more terms, or an invalid term.
    pub fn parse(arguments: &[String], graph: Option<&str>, prefixes: &Prefixes) -> Result<Self> {
        let mut patterns: Vec<Vec<Word>> = vec![Vec::new()];
        let whole = arguments.first().map(|first| words(first)).transpose()?.is_some_and(|words| words.len() >= 3);
        for argument in arguments {
            for word in words(argument)? {
                match patterns.last_mut() {
                    Some(last) if word.text != "." => last.push(word),
                    _ => patterns.push(Vec::new()),
                }
            }
            if whole {
                patterns.push(Vec::new());
            }
        }
        if patterns.len() > 1 {
            patterns.retain(|words| !words.is_empty());
        }
        let patterns =
            patterns.into_iter().map(|words| QuadPattern::of(words, graph, prefixes)).collect::<Result<Vec<_>>>()?;
        let mut variables: Vec<String> = Vec::new();
        for part in patterns.iter().flat_map(|asked| &asked.parts) {
            if let Part::Free(Some(name)) = part
                && !variables.contains(name)
            {
                variables.push(name.clone());
            }
        }
        Ok(Query { patterns, variables })
    }

    /// Whether no variable occurs twice.
    pub fn is_free(&self) -> bool {
        let named = |part: &&Part| matches!(part, Part::Free(Some(_)));
        self.patterns.iter().flat_map(|asked| &asked.parts).filter(named).count() == self.variables.len()
    }

    /// The patterns with numbered variables, and the number of variables: the named ones come first.
    pub fn joined(&self) -> (Vec<JoinPattern<'_>>, usize) {
        let mut count = self.variables.len();
        let mut number = |name: &Option<String>| match name {
            Some(name) => self.variables.iter().position(|own| own == name).unwrap_or_default(),
            None => {
                count += 1;
                count - 1
            }
        };
        let joined = self.patterns.iter().map(|asked| {
            let mut node = |at: usize| match asked.parts.get(at) {
                Some(Part::Free(name)) => Node::Variable(number(name)),
                Some(part) => Node::Term(part.term()),
                None => Node::Variable(number(&None)),
            };
            let nodes = [node(0), node(1), node(2)];
            let graph = match asked.parts.get(3) {
                _ if asked.default => GraphNode::Default,
                Some(Part::Resource(name)) => GraphNode::Named(name),
                Some(Part::Free(name @ Some(_))) => GraphNode::Variable(number(name)),
                _ => GraphNode::Any,
            };
            JoinPattern { nodes, graph }
        });
        (joined.collect(), count)
    }
}

impl QuadPattern {
    fn of(mut words: Vec<Word>, graph: Option<&str>, prefixes: &Prefixes) -> Result<Self> {
        if words.len() == 3 {
            words.extend(graph.map(Word::alone));
        }
        let text = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let default = words.len() == 4 && words.last().is_some_and(|word| word.text == "default");
        if default {
            words.pop();
        }
        if !matches!(words.len(), 3 | 4) {
            return Err(Error::usage(format!(
                "a pattern must have three terms, or four with a graph, found {}",
                words.len()
            ))
            .hint("isomorph match PATH '?s rdf:type ?o'"));
        }
        let parts = words.iter().map(|word| word.part(prefixes)).collect::<Result<Vec<_>>>()?;
        let places = [
            ("subject", "an IRI or a blank node"),
            ("predicate", "an IRI"),
            ("object", ""),
            ("graph", "an IRI or a blank node"),
        ];
        for ((word, part), (place, can)) in words.iter().zip(&parts).zip(places) {
            let fits = match part {
                Part::Literal { .. } => place == "object",
                Part::Resource(text) if text.starts_with("<<(") => matches!(place, "subject" | "object"),
                Part::Resource(text) if text.starts_with("_:") => place != "predicate",
                Part::Resource(_) | Part::Free(_) => true,
            };
            if !fits {
                let what = if matches!(part, Part::Literal { .. }) { "the literal is" } else { "it is" };
                let because = format!("{what} in the place of the {place}");
                return Err(word.refused(
                    can,
                    &because,
                    "isomorph match PATH '<http://example.org/s> a \"o\" <http://example.org/g>'",
                ));
            }
        }
        Ok(QuadPattern { text, parts, default })
    }

    /// The quad, if it has no variables.
    pub fn quad(&self) -> Option<Quad<'_>> {
        let pattern = self.pattern();
        let graph = match pattern.graph {
            InGraph::Named(name) => Some(name),
            InGraph::Default => None,
            InGraph::Any if self.parts.len() == 3 => None,
            InGraph::Any => return None,
        };
        Some(Quad { subject: pattern.subject?, predicate: pattern.predicate?, object: pattern.object?, graph })
    }

    /// The pattern as it was typed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it names quoted triples by their ids, or has one as the subject, which a store represents by its id.
    pub(super) fn has_ids(&self) -> bool {
        self.parts.iter().enumerate().any(is_id)
    }

    /// The same with a variable of its own for each id of a quoted triple: it matches more.
    pub(super) fn without_ids(&self) -> Self {
        let parts = self.parts.iter().enumerate();
        let parts = parts.map(|part| if is_id(part) { Part::Free(None) } else { part.1.clone() }).collect();
        QuadPattern { text: self.text.clone(), parts, default: self.default }
    }

    /// Replaces triple terms by the terms that a store uses for them.
    ///
    /// # Errors
    /// Returns the errors of `stored`.
    pub fn store(&mut self, stored: impl Fn(&str) -> Result<Option<String>>) -> Result<()> {
        for part in &mut self.parts {
            if let Part::Resource(term) = part
                && let Some(own) = stored(term)?
            {
                *term = own;
            }
        }
        Ok(())
    }

    /// The pattern in the form of the store.
    pub fn pattern(&self) -> Pattern<'_> {
        let resource = |at: usize| match self.parts.get(at) {
            Some(Part::Resource(text)) => Some(text.as_str()),
            _ => None,
        };
        let object = self.parts.get(2).filter(|part| !matches!(part, Part::Free(_))).map(Part::term);
        let graph = match resource(3) {
            _ if self.default => InGraph::Default,
            Some(name) => InGraph::Named(name),
            None => InGraph::Any,
        };
        Pattern { subject: resource(0), predicate: resource(1), object, graph }
    }

    /// The same as a question: a variable as graph matches named graphs, as in SPARQL's `GRAPH ?g` and in joins.
    pub fn question(&self) -> Question<'_> {
        let question = Question::from(&self.pattern());
        if self.wants_named_graph() { Question { graph: Graphs::AnyNamed, ..question } } else { question }
    }

    /// The value of a variable in a matching quad, as in N-Triples; `None` if the variable is not in the pattern, or
    /// for the default graph.
    pub(super) fn value(&self, name: &str, quad: &Quad<'_>) -> Option<String> {
        let is_it = |part: &Part| matches!(part, Part::Free(Some(own)) if own == name);
        match self.parts.iter().position(is_it)? {
            0 => Some(ntriples(quad.subject)),
            1 => Some(ntriples(quad.predicate)),
            2 => Some(text(&quad.object)),
            _ => quad.graph.map(ntriples),
        }
    }

    fn wants_named_graph(&self) -> bool {
        matches!(self.parts.get(3), Some(Part::Free(Some(_))))
    }

    /// Whether a quad matches the pattern.
    pub fn fits(&self, quad: &Quad<'_>) -> bool {
        let resource = |at: usize, text: Option<&str>| match self.parts.get(at) {
            Some(Part::Resource(wanted)) => text == Some(wanted),
            _ => true,
        };
        let object = match self.parts.get(2) {
            Some(Part::Free(_)) | None => true,
            Some(part) => same(&part.term(), &quad.object),
        };
        let graph = if self.default { quad.graph.is_none() } else { resource(3, quad.graph) };
        resource(0, Some(quad.subject)) && resource(1, Some(quad.predicate)) && object && graph && self.agrees(quad)
    }

    /// Whether places with the same variable have the same value in a quad, and a variable as graph has a named graph.
    pub fn agrees(&self, quad: &Quad<'_>) -> bool {
        if quad.graph.is_none() && self.wants_named_graph() {
            return false;
        }
        let object = match quad.object {
            Object::Term(term) => Some(term),
            // Literals occur only as objects.
            Object::Literal { .. } => None,
        };
        let texts = [Some(quad.subject), Some(quad.predicate), object, quad.graph];
        let named = |at: usize| match self.parts.get(at) {
            Some(Part::Free(Some(name))) => Some(name),
            _ => None,
        };
        (0..4).all(|one| {
            let same = |other: usize| {
                let shared = named(one).is_some() && named(one) == named(other);
                !shared || (texts[one].is_some() && texts[one] == texts[other])
            };
            (one + 1..4).all(same)
        })
    }
}

/// Whether a part of a pattern is the id of a quoted triple, or stands for one.
fn is_id((at, part): (usize, &Part)) -> bool {
    match part {
        Part::Resource(term) if term.starts_with("<<(") => at == 0,
        Part::Resource(term) => term.parse::<TripleId>().is_ok(),
        Part::Free(_) | Part::Literal { .. } => false,
    }
}

/// Whether two terms are equal: the datatype of plain text can be omitted, and the case of languages is ignored.
fn same(one: &Object<'_>, other: &Object<'_>) -> bool {
    let plain = |datatype: &str| datatype.is_empty() || datatype == "http://www.w3.org/2001/XMLSchema#string";
    match (one, other) {
        (Object::Term(one), Object::Term(other)) => one == other,
        (
            Object::Literal { lexical, datatype, language, direction },
            Object::Literal { lexical: other, datatype: of_other, language: spoken, direction: towards },
        ) => {
            let languages = match (language, spoken) {
                (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
                (None, None) => datatype == of_other || plain(datatype) && plain(of_other),
                _ => false,
            };
            lexical == other && languages && direction == towards
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use isomorph_model::faces::RDF_TYPE;

    use super::*;

    fn query(arguments: &[&str]) -> Result<Query> {
        let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
        Query::parse(&arguments, None, &Prefixes::new(&[("ex".to_owned(), "http://example.org/".to_owned())].into()))
    }

    fn parse(text: &str) -> Result<QuadPattern> {
        let mut query = query(&[text])?;
        assert_eq!(query.patterns.len(), 1);
        Ok(query.patterns.remove(0))
    }

    #[test]
    fn patterns_are_told_apart_and_share_variables() {
        for arguments in [
            ["?x a ex:Person", "?x ex:knows ?y"].as_slice(),
            &["?x a ex:Person . ?x ex:knows ?y ."],
            &["?x a ex:Person .", "?x ex:knows ?y ."],
            &["?x", "a", "ex:Person", ".", "?x", "ex:knows", "?y"],
        ] {
            let query = query(arguments).unwrap();
            assert_eq!(
                (query.patterns.len(), query.variables.as_slice()),
                (2, ["x", "y"].map(str::to_owned).as_slice())
            );
            let (joined, variables) = query.joined();
            assert_eq!((joined[1].nodes[0], joined[1].nodes[2], variables), (Node::Variable(0), Node::Variable(1), 2));
        }
        let one = query(&["_", "<urn:p>", "?", "?g"]).unwrap();
        let (joined, variables) = one.joined();
        assert_eq!((variables, joined[0].nodes[2], joined[0].graph), (3, Node::Variable(2), GraphNode::Variable(0)));
        let term = "<<( <urn:s> <urn:p> \"a )>> b\" )>>";
        let asked = parse(&format!("?r rdf:reifies {term}")).unwrap();
        assert_eq!(asked.pattern().object, Some(Object::Term(term)));
        assert!(query(&["?x a ex:Person", "?x ex:knows"]).is_err());
    }

    #[test]
    fn terms_are_read_in_every_spelling() {
        let asked = parse("ex:alice  a <urn:a-b> .").unwrap();
        let pattern = asked.pattern();
        assert_eq!((pattern.subject, pattern.predicate), (Some("http://example.org/alice"), Some(RDF_TYPE)));
        assert_eq!(pattern.object, Some(Object::Term("urn:a-b")));
        let asked = parse("_:b ?p \"a \\\"b\\\" \\u00e9\"@EN http://example.org/g").unwrap();
        let pattern = asked.pattern();
        assert_eq!((pattern.subject, pattern.predicate), (Some("_:b"), None));
        let text = "a \"b\" é";
        let literal = Object::Literal { lexical: text, datatype: "", language: Some("en"), direction: None };
        assert_eq!((pattern.object, pattern.graph), (Some(literal), InGraph::Named("http://example.org/g")));
        let asked = parse("_ _ \"1\"^^xsd:integer default").unwrap();
        assert_eq!(asked.pattern().graph, InGraph::Default);
        assert_eq!(asked.pattern().object, Some(Object::plain("1", "http://www.w3.org/2001/XMLSchema#integer")));
    }

    #[test]
    fn numbers_need_no_quotes() {
        for (word, datatype) in [
            ("31", "integer"),
            ("-07", "integer"),
            ("3.50", "decimal"),
            (".5", "decimal"),
            ("1e6", "double"),
            ("-1.E+6", "double"),
            ("false", "boolean"),
        ] {
            let datatype = format!("http://www.w3.org/2001/XMLSchema#{datatype}");
            assert_eq!(parse(&format!("_ _ {word}")).unwrap().pattern().object, Some(Object::plain(word, &datatype)));
        }
        for word in ["3.", "e6", "1e", "--1", "+", ".", "1x", ".e5", "True"] {
            assert!(parse(&format!("_ _ {word}")).is_err(), "{word}");
        }
        assert!(parse("31 _ _").is_err());
    }

    #[test]
    fn what_is_no_pattern_is_refused() {
        for text in [
            "",
            "_ _",
            "_ _ _ _ _",
            "\"s\" _ _",
            "_ \"p\" _",
            "no:prefix _ _",
            "alice _ _",
            "_ _ \"open",
            "<urn:s _ _",
            "<<( <urn:s> _ _",
            "_ _ \"x\"y",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn equal_names_want_equal_terms() {
        let asked = parse("?x _ ?x").unwrap();
        let quad = |object| Quad { subject: "urn:s", predicate: "urn:p", object, graph: None };
        assert!(asked.agrees(&quad(Object::Term("urn:s"))));
        assert!(!asked.agrees(&quad(Object::Term("urn:o"))));
        assert!(!asked.agrees(&quad(Object::plain("urn:s", ""))));
        assert!(parse("?x ?y ?z").unwrap().agrees(&quad(Object::Term("urn:o"))));
        assert!(parse("_ _ _ _").unwrap().agrees(&quad(Object::Term("urn:o"))));
        assert!(!parse("_ _ _ ?g").unwrap().agrees(&quad(Object::Term("urn:o"))));
        assert!(parse("_ _ _ ?g").unwrap().agrees(&Quad { graph: Some("urn:g"), ..quad(Object::Term("urn:o")) }));
    }
}
