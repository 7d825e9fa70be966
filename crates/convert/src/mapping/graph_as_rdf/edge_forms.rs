//! How properties of edges are written for readers without triple terms, which RDF has since 1.2 only.
//!
//! A reifier, `_:e… rdf:reifies <<( s p o )>>`, and its triples become one of these:
//!
//! | form | written |
//! |---|---|
//! | [`EdgeProperties::Reification`] | `_:e… a rdf:Statement ; rdf:subject s ; rdf:predicate p ; rdf:object o` |
//! | [`EdgeProperties::Singleton`] | `s p#e… o . p#e… rdf:singletonPropertyOf p` |
//! | [`EdgeProperties::NamedGraph`] | `s p o` in the graph `edge#e…` |
//! | [`EdgeProperties::Drop`] | nothing |
//!
//! The triples about the edge are about `_:e…`, `p#e…` or the graph. The triple of the edge is in the default graph in every form.
//! The second is by Nguyen, Bodenreider and Sheth, "Don't like RDF reification?" (WWW 2014).

use std::fmt;

use isomorph_error::Result;
use isomorph_model::faces::{DIRECTED, Object, POSITION, Quad, QuadSink, RDF_REIFIES, RDF_TYPE};
use isomorph_model::term;
use isomorph_storage::Budget;
use serde::{Deserialize, Serialize};

use super::Lifting;
use super::statements::{AsStatements, FromStatements};
use super::{InVocabulary, Vocabulary};
use crate::mapping::quad_pass::{QuadPass, passed};

/// How RDF 1.1 states properties of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeProperties {
    /// An `rdf:Statement` for each edge, with the vocabulary of RDF 1.0.
    #[default]
    Reification,
    /// A predicate of its own for each edge.
    Singleton,
    /// A named graph for each edge.
    NamedGraph,
    /// They are dropped.
    Drop,
}

impl EdgeProperties {
    /// All forms.
    pub const ALL: [EdgeProperties; 4] =
        [EdgeProperties::Reification, EdgeProperties::Singleton, EdgeProperties::NamedGraph, EdgeProperties::Drop];

    /// The word in flags.
    pub fn word(self) -> &'static str {
        match self {
            EdgeProperties::Reification => "reification",
            EdgeProperties::Singleton => "singleton",
            EdgeProperties::NamedGraph => "named-graph",
            EdgeProperties::Drop => "drop",
        }
    }

    /// What a plan says of it.
    pub(crate) fn described(self) -> &'static str {
        match self {
            EdgeProperties::Reification => "statements (rdf:subject, rdf:predicate, rdf:object)",
            EdgeProperties::Singleton => "a predicate for each edge (rdf:singletonPropertyOf)",
            EdgeProperties::NamedGraph => "a named graph for each edge",
            EdgeProperties::Drop => "nothing: properties and directions of edges are dropped",
        }
    }
}

impl fmt::Display for EdgeProperties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The predicate between a predicate of one edge and the one that it stands for.
const SINGLETON_OF: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#singletonPropertyOf";

/// Reifiers that are named by a hash have `_:e` and this number of digits of base 62.
const DIGITS: usize = 22;

/// The separators before a hash: the second one if the IRI has a `#` already.
const MARKS: [char; 2] = ['#', '!'];

/// The name of graphs of edges, below the base.
const EDGE: &str = "edge";

/// Appends `#e…`, the name of a reifier as the end of an IRI.
fn push_mark(iri: &mut String, reifier: &str) {
    iri.push(if iri.contains('#') { '!' } else { '#' });
    iri.push_str(reifier.strip_prefix("_:").unwrap_or(reifier));
}

/// The IRI and the reifier, without `_:`, that [`push_mark`] made an IRI of.
fn split_mark(iri: &str) -> Option<(&str, &str)> {
    let at = iri.len().checked_sub(DIGITS + 2)?;
    let (rest, end) = iri.split_at_checked(at)?;
    let name = end.strip_prefix(MARKS)?;
    let digits = name.strip_prefix('e')?;
    let is_name = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_name.then_some((rest, name))
}

/// Whether a subject is a reifier: nodes of a lifted graph are IRIs.
fn is_reifier(subject: &str) -> bool {
    subject.starts_with("_:")
}

/// Puts the form of `record` in front of `sink`. If `helpers` is false, positions of nodes and missing directions are not written.
///
/// # Errors
/// If the record has a vocabulary whose IRIs begin like others.
pub fn in_form<'a>(sink: Box<dyn QuadSink + 'a>, record: &Lifting, helpers: bool) -> Result<Box<dyn QuadSink + 'a>> {
    let mut form = match record.edge_form() {
        None => sink,
        Some(EdgeProperties::Reification) => passed(AsStatements, sink),
        Some(form) => passed(AsForm { form, base: record.base.clone(), current: None }, sink),
    };
    if !helpers {
        form = passed(WithoutHelpers { label: format!("{}label", record.base), waiting: None }, form);
    }
    if let Some(vocabulary) = record.vocabulary()? {
        form = passed(InVocabulary::new(vocabulary), form);
    }
    let ordered = record.edge_properties.is_some() || !helpers || record.iri_map.is_some();
    Ok(if ordered { passed(ReifiersFirst::default(), form) } else { form })
}

/// Passes on the triples about an edge after the one that says which edge that is; they come before it.
#[derive(Default)]
struct ReifiersFirst {
    waiting: Vec<Waiting>,
}

/// A triple about an edge: subject, predicate, object, graph.
struct Waiting {
    subject: String,
    predicate: String,
    object: std::result::Result<String, [Option<String>; 4]>,
    graph: Option<String>,
}

impl Waiting {
    fn new(quad: &Quad<'_>) -> Self {
        let owned = |text: &str| Some(text.to_owned());
        Waiting {
            subject: quad.subject.to_owned(),
            predicate: quad.predicate.to_owned(),
            object: match quad.object {
                Object::Term(term) => Ok(term.to_owned()),
                Object::Literal { lexical, datatype, language, direction } => {
                    Err([owned(lexical), owned(datatype), language.and_then(owned), direction.and_then(owned)])
                }
            },
            graph: quad.graph.and_then(owned),
        }
    }

    fn quad(&self) -> Quad<'_> {
        let object = match &self.object {
            Ok(term) => Object::Term(term),
            Err([lexical, datatype, language, direction]) => Object::Literal {
                lexical: lexical.as_deref().unwrap_or_default(),
                datatype: datatype.as_deref().unwrap_or_default(),
                language: language.as_deref(),
                direction: direction.as_deref(),
            },
        };
        Quad { subject: &self.subject, predicate: &self.predicate, object, graph: self.graph.as_deref() }
    }
}

impl QuadPass for ReifiersFirst {
    fn quad(&mut self, quad: &Quad<'_>, inner: &mut dyn QuadSink) -> Result<()> {
        if !is_reifier(quad.subject) {
            self.end(inner)?;
            return inner.quad(quad);
        }
        if self.waiting.last().is_some_and(|last| last.subject != quad.subject) {
            self.end(inner)?;
        }
        if quad.predicate != RDF_REIFIES {
            self.waiting.push(Waiting::new(quad));
            return Ok(());
        }
        inner.quad(quad)?;
        self.end(inner)
    }

    fn end(&mut self, inner: &mut dyn QuadSink) -> Result<()> {
        std::mem::take(&mut self.waiting).iter().try_for_each(|waiting| inner.quad(&waiting.quad()))
    }
}

/// Writes predicates or graphs of edges instead of reifiers, or nothing.
struct AsForm {
    form: EdgeProperties,
    base: String,
    /// The reifier of the current edge, which comes before its properties, and the IRI that stands for it.
    current: Option<(String, String)>,
}

impl QuadPass for AsForm {
    fn quad(&mut self, quad: &Quad<'_>, inner: &mut dyn QuadSink) -> Result<()> {
        let subject = quad.subject;
        if !is_reifier(subject) {
            return inner.quad(quad);
        }
        if self.form == EdgeProperties::Drop {
            return Ok(());
        }
        let parts = match quad.object {
            Object::Term(object) if quad.predicate == RDF_REIFIES => term::resources(object),
            _ => None,
        };
        let Some([from, predicate, to]) = parts else {
            let current = self.current.as_ref().filter(|(of, _)| of == subject);
            return inner.quad(&Quad { subject: current.map_or(subject, |(_, iri)| iri), ..*quad });
        };
        let mut iri = match self.form {
            EdgeProperties::Singleton => predicate.to_owned(),
            _ => format!("{}{EDGE}", self.base),
        };
        push_mark(&mut iri, subject);
        let (_, iri) = self.current.insert((subject.to_owned(), iri));
        let object = Object::Term(to);
        if self.form == EdgeProperties::NamedGraph {
            return inner.quad(&Quad { subject: from, predicate, object, graph: Some(iri) });
        }
        inner.quad(&Quad { subject: from, predicate: iri, object, graph: None })?;
        inner.quad(&Quad { subject: iri, predicate: SINGLETON_OF, object: Object::Term(predicate), graph: None })
    }
}

/// Leaves out triples that only isomorph reads: positions of nodes, directions of edges, labels with the name of a type, and reifiers
/// without properties.
struct WithoutHelpers {
    /// How IRIs of labels begin that have the name of a node type, before a mark.
    label: String,
    /// A reifier and its triple term, until a property follows.
    waiting: Option<(String, String)>,
}

impl QuadPass for WithoutHelpers {
    fn quad(&mut self, quad: &Quad<'_>, inner: &mut dyn QuadSink) -> Result<()> {
        let is_label = |object: &str| {
            quad.predicate == RDF_TYPE
                && object.strip_prefix(self.label.as_str()).is_some_and(|end| end.starts_with(MARKS))
        };
        if quad.predicate == POSITION || quad.predicate == DIRECTED {
            return Ok(());
        }
        // Whoever reads classes only cannot tell a label from a type of the same name.
        if matches!(quad.object, Object::Term(object) if is_label(object)) {
            return Ok(());
        }
        match quad.object {
            Object::Term(object) if is_reifier(quad.subject) && quad.predicate == RDF_REIFIES => {
                self.waiting = Some((quad.subject.to_owned(), object.to_owned()));
                return Ok(());
            }
            _ if is_reifier(quad.subject) => {
                if let Some((subject, triple)) = self.waiting.take().filter(|(subject, _)| subject == quad.subject) {
                    inner.quad(&Quad {
                        subject: &subject,
                        predicate: RDF_REIFIES,
                        object: Object::Term(&triple),
                        graph: quad.graph,
                    })?;
                }
            }
            _ => self.waiting = None,
        }
        inner.quad(quad)
    }
}

/// Reads what was written as a lifted graph: a form as reifiers of triple terms, IRIs of a vocabulary as those below the base.
pub(super) struct FromForm {
    reading: Reading,
    vocabulary: Option<Vocabulary>,
}

/// Reads a form.
enum Reading {
    /// Nothing is changed.
    Terms,
    Statements(FromStatements),
    Singleton,
    NamedGraph,
}

impl FromForm {
    /// The reader for the form of `record`; what it holds counts in `budget`.
    ///
    /// # Errors
    /// If nothing of the budget is left.
    pub fn of(record: &Lifting, budget: &Budget) -> Result<FromForm> {
        let reading = match record.edge_form() {
            None | Some(EdgeProperties::Drop) => Reading::Terms,
            Some(EdgeProperties::Reification) => Reading::Statements(FromStatements::new(budget)?),
            Some(EdgeProperties::Singleton) => Reading::Singleton,
            Some(EdgeProperties::NamedGraph) => Reading::NamedGraph,
        };
        Ok(FromForm { reading, vocabulary: record.vocabulary()? })
    }

    /// Takes a quad and passes on the result.
    ///
    /// # Errors
    /// Returns the errors of `take`; also if what is held does not fit into memory.
    pub fn take(&mut self, quad: Quad<'_>, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        match &self.vocabulary {
            Some(vocabulary) => self.reading.take(quad, &mut |quad| vocabulary.back(quad, take)),
            None => self.reading.take(quad, take),
        }
    }

    /// Finishes after the last quad.
    ///
    /// # Errors
    /// If a statement is incomplete.
    pub fn finish(self) -> Result<()> {
        match self.reading {
            Reading::Statements(statements) => statements.finish(),
            _ => Ok(()),
        }
    }
}

impl Reading {
    fn take(&mut self, quad: Quad<'_>, take: &mut dyn FnMut(Quad<'_>) -> Result<()>) -> Result<()> {
        let (name, predicate) = match self {
            Reading::Terms => return take(quad),
            Reading::Statements(statements) => return statements.take(quad, take),
            Reading::Singleton if quad.predicate == SINGLETON_OF => return Ok(()),
            Reading::Singleton => match split_mark(quad.predicate) {
                Some((predicate, name)) => (Some(name), predicate),
                None => (None, quad.predicate),
            },
            Reading::NamedGraph => (quad.graph.and_then(split_mark).map(|(_, name)| name), quad.predicate),
        };
        if let (Some(name), Object::Term(object)) = (name, quad.object) {
            let mut triple = String::new();
            term::push_triple(&mut triple, quad.subject, predicate, object);
            let reifier = format!("_:{name}");
            let object = Object::Term(&triple);
            return take(Quad { subject: &reifier, predicate: RDF_REIFIES, object, graph: None });
        }
        match split_mark(quad.subject) {
            Some((_, name)) => take(Quad { subject: &format!("_:{name}"), ..quad }),
            None => take(quad),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::{Arc, Mutex};

    use isomorph_model::Written;

    use super::*;

    const REIFIER_A: &str = "_:e0123456789abcdefghijKL";

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<String>>>);

    impl QuadSink for Kept {
        fn graph(&mut self, _name: &str) -> Result<()> {
            Ok(())
        }

        fn quad(&mut self, quad: &Quad<'_>) -> Result<()> {
            self.0.lock().unwrap().push(text(quad));
            Ok(())
        }

        fn finish(self: Box<Self>, _advance: &dyn Fn(u64) -> Result<()>) -> Result<Written> {
            Ok(Written::default())
        }
    }

    fn text(quad: &Quad<'_>) -> String {
        let object = match quad.object {
            Object::Term(term) => term,
            Object::Literal { lexical, .. } => lexical,
        };
        let graph = quad.graph.map(|graph| format!(" | {graph}")).unwrap_or_default();
        format!("{} {} {object}{graph}", quad.subject, quad.predicate)
    }

    #[test]
    fn an_edge_with_properties_has_every_form_and_comes_back() {
        let budget = Budget::new(1 << 20);
        let triple = "<<( <urn:b:p/1> <urn:b:knows> <urn:b:p/2> )>>";
        let quads = [
            ("urn:b:p/1", "urn:b:knows", Object::Term("urn:b:p/2")),
            // In the order in which they come.
            (REIFIER_A, DIRECTED, Object::plain("false", "urn:t")),
            (REIFIER_A, "urn:b:since", Object::plain("2010", "urn:t")),
            (REIFIER_A, RDF_REIFIES, Object::Term(triple)),
        ];
        for form in EdgeProperties::ALL {
            let graph = isomorph_model::Graph::default();
            let mut record = Lifting::of(&graph, Some("urn:b:")).unwrap();
            record.write_as(form);
            let kept = Kept::default();
            let mut sink = in_form(Box::new(kept.clone()), &record, true).unwrap();
            for (subject, predicate, object) in quads {
                sink.quad(&Quad { subject, predicate, object, graph: None }).unwrap();
            }
            sink.finish(&|_| Ok(())).unwrap();
            let written = kept.0.lock().unwrap().clone();
            assert!(written.iter().all(|line| !line.contains("<<(")), "{form}: {written:?}");
            let blank = written.iter().any(|line| line.starts_with("_:"));
            assert_eq!(blank, form == EdgeProperties::Reification, "{form}: {written:?}");
            if form == EdgeProperties::Drop {
                assert_eq!(written.len(), 1, "{written:?}");
                continue;
            }
            let mut back = FromForm::of(&record, &budget).unwrap();
            let mut found = Vec::new();
            for line in &written {
                let (line, graph) = line.split_once(" | ").map_or((line.as_str(), None), |(line, g)| (line, Some(g)));
                let mut words = line.splitn(3, ' ');
                let [subject, predicate, object] = [(); 3].map(|()| words.next().unwrap());
                let object = match object.contains(':') {
                    true => Object::Term(object),
                    false => Object::plain(object, "urn:t"),
                };
                back.take(Quad { subject, predicate, object, graph }, &mut |quad| {
                    found.push(text(&quad));
                    Ok(())
                })
                .unwrap();
            }
            back.finish().unwrap();
            let mut expected: Vec<String> = quads
                .map(|(subject, predicate, object)| text(&Quad { subject, predicate, object, graph: None }))
                .into();
            expected.sort();
            found.sort();
            assert_eq!(found, expected, "{form}");
        }
    }

    #[test]
    fn only_names_of_reifiers_are_marks() {
        assert_eq!(split_mark("urn:p#e0123456789abcdefghijKL"), Some(("urn:p", "e0123456789abcdefghijKL")));
        assert_eq!(split_mark("urn:x#p!e0123456789abcdefghijKL"), Some(("urn:x#p", "e0123456789abcdefghijKL")));
        for other in ["urn:p", "urn:p#e1", "urn:p/e0123456789abcdefghijKL", "urn:p#f0123456789abcdefghijKL", ""] {
            assert_eq!(split_mark(other), None, "{other}");
        }
    }

    #[test]
    fn helpers_are_left_out_with_what_only_they_need() {
        let record = {
            let mut record = Lifting::of(&isomorph_model::Graph::default(), None).unwrap();
            record.write_as(EdgeProperties::Reification);
            record
        };
        let kept = Kept::default();
        let mut sink = in_form(Box::new(kept.clone()), &record, false).unwrap();
        let triple = "<<( <urn:s> <urn:p> <urn:o> )>>";
        let other = "_:e0123456789abcdefghijKM";
        for (subject, predicate, object) in [
            ("urn:s", POSITION, Object::plain("0", "urn:t")),
            ("urn:s", "urn:p", Object::Term("urn:o")),
            (REIFIER_A, DIRECTED, Object::plain("false", "urn:t")),
            (REIFIER_A, RDF_REIFIES, Object::Term(triple)),
            (other, DIRECTED, Object::plain("false", "urn:t")),
            (other, "urn:since", Object::plain("1", "urn:t")),
            (other, RDF_REIFIES, Object::Term(triple)),
        ] {
            sink.quad(&Quad { subject, predicate, object, graph: None }).unwrap();
        }
        let written = kept.0.lock().unwrap().clone();
        assert_eq!(written.len(), 6, "{written:?}");
        assert!(written.iter().all(|line| !line.contains(REIFIER_A) && !line.contains("model#")), "{written:?}");
    }
}
