//! JSON-LD, expanded: a list of node objects, and of graphs with such lists.

use std::collections::HashSet;

use isomorph_error::{Error, Kind, Place, Result};
use isomorph_model::faces::{Object, Quad, RDF_TYPE};
use isomorph_model::json::push_string;
use isomorph_model::term::{self, TermKind};
use isomorph_model::xsd;

use crate::read::LONGEST_STRING;

/// Maximum number of predicates in one node object: a node with more has several, so that memory is bounded.
const MEMBERS: usize = 1_000;

/// Writes node objects. If a predicate occurs again later, another object of the same node is started.
pub(super) struct JsonLdWriter {
    /// Subject, member and graph of the statement before.
    before: Option<(String, String, Option<String>)>,
    members: HashSet<String>,
}

impl JsonLdWriter {
    pub(super) fn begin(out: &mut String) -> Self {
        out.push_str("[\n");
        JsonLdWriter { before: None, members: HashSet::new() }
    }

    pub(super) fn push(&mut self, out: &mut String, quad: &Quad<'_>) -> Result<()> {
        if matches!(quad.object, Object::Term(text) if term::kind(text) == TermKind::Triple) {
            return Err(unsaid("JSON-LD has no triple terms"));
        }
        // Values of `@type` are names; a type that is a literal is written like any other predicate.
        let member = match quad.object {
            Object::Term(_) if quad.predicate == RDF_TYPE => "@type",
            _ => quad.predicate,
        };
        let before = self.before.as_ref();
        let same_graph = before.is_some_and(|(_, _, graph)| graph.as_deref() == quad.graph);
        let same_member =
            same_graph && before.is_some_and(|(subject, before, _)| subject == quad.subject && before == member);
        let same_subject = same_graph
            && before.is_some_and(|(subject, _, _)| subject == quad.subject)
            && (same_member || self.members.len() < MEMBERS && !self.members.contains(member));
        if same_member {
            out.push_str(", ");
        } else {
            if same_subject {
                out.push_str("],\n  ");
            } else {
                if let Some((_, _, graph)) = before {
                    out.push_str(match (graph, same_graph) {
                        (_, true) => "]},\n",
                        (None, false) => "]},\n",
                        (Some(_), false) => "]}\n]},\n",
                    });
                }
                if let Some(graph) = quad.graph.filter(|_| !same_graph) {
                    out.push_str("{\"@id\": ");
                    push_string(out, graph);
                    out.push_str(", \"@graph\": [\n");
                }
                out.push_str("{\"@id\": ");
                push_string(out, quad.subject);
                out.push_str(", ");
                self.members.clear();
            }
            push_string(out, member);
            out.push_str(": [");
            self.members.insert(member.to_owned());
        }
        object(out, quad)?;
        if !same_member {
            self.before = Some((quad.subject.to_owned(), member.to_owned(), quad.graph.map(str::to_owned)));
        }
        Ok(())
    }

    pub(super) fn finish(self, out: &mut String) {
        match self.before {
            None => {}
            Some((_, _, None)) => out.push_str("]}\n"),
            Some((_, _, Some(_))) => out.push_str("]}\n]}\n"),
        }
        out.push_str("]\n");
    }
}

fn object(out: &mut String, quad: &Quad<'_>) -> Result<()> {
    match quad.object {
        Object::Term(text) if quad.predicate == RDF_TYPE => push_string(out, text),
        Object::Term(text) => {
            out.push_str("{\"@id\": ");
            push_string(out, text);
            out.push('}');
        }
        Object::Literal { lexical, datatype, language, direction } => {
            out.push_str("{\"@value\": ");
            let before = out.len();
            push_string(out, lexical);
            // Two of them are quotation marks.
            if out.len() - before > LONGEST_STRING + 2 {
                return Err(unsaid(format!(
                    "a literal of more than {LONGEST_STRING} bytes, which cannot be read in JSON-LD"
                )));
            }
            let mut member = |name: &str, text: &str| {
                out.push_str(name);
                push_string(out, text);
            };
            match (language, direction) {
                (Some(language), direction) => {
                    member(", \"@language\": ", language);
                    if let Some(direction) = direction {
                        member(", \"@direction\": ", direction);
                    }
                }
                (None, _) if matches!(datatype, "" | xsd::STRING) => {}
                (None, _) => member(", \"@type\": ", datatype),
            }
            out.push('}');
        }
    }
    Ok(())
}

fn unsaid(message: impl Into<String>) -> Error {
    Error::new(Kind::WouldLose, message)
        .at(Place::field("object"))
        .hint("use another syntax: .nq, .trig, .ttl, .nt or .rdf")
}
