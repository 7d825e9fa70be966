//! Turtle and TriG.

use isomorph_model::faces::{Object, Quad, RDF_TYPE};
use isomorph_model::term::{self, TermKind};
use isomorph_model::{ntriples, xsd};

use super::prefixes::Prefixes;

/// Writes statements; what a statement shares with the one before is written only once.
pub(super) struct TurtleWriter {
    prefixes: Prefixes,
    /// Subject, predicate and graph of the previous statement.
    before: Option<(String, String, Option<String>)>,
}

impl TurtleWriter {
    pub(super) fn begin(out: &mut String, prefixes: Prefixes, base: Option<&str>) -> Self {
        if let Some(base) = base {
            out.push_str("@base ");
            ntriples::push_term(out, base);
            out.push_str(" .\n");
        }
        for (name, namespace) in prefixes.all() {
            out.push_str("@prefix ");
            out.push_str(name);
            out.push_str(": ");
            ntriples::push_term(out, namespace);
            out.push_str(" .\n");
        }
        if !out.is_empty() {
            out.push('\n');
        }
        TurtleWriter { prefixes, before: None }
    }

    pub(super) fn push(&mut self, out: &mut String, quad: &Quad<'_>) {
        let mut before = self.before.take();
        let same_graph = before.as_ref().is_some_and(|(_, _, graph)| graph.as_deref() == quad.graph);
        let same_subject = same_graph && before.as_ref().is_some_and(|(subject, _, _)| subject == quad.subject);
        let same_predicate =
            same_subject && before.as_ref().is_some_and(|(_, predicate, _)| predicate == quad.predicate);
        let indent = if quad.graph.is_some() { "    " } else { "" };
        if !same_subject {
            end(out, before.as_ref().map(|(_, _, graph)| graph.as_deref()), same_graph);
            if let Some(graph) = quad.graph.filter(|_| !same_graph) {
                self.term(out, graph);
                out.push_str(" {\n");
            }
            out.push_str(indent);
            self.term(out, quad.subject);
            out.push(' ');
        } else if same_predicate {
            out.push_str(" , ");
        } else {
            out.push_str(" ;\n    ");
            out.push_str(indent);
        }
        if !same_predicate {
            match quad.predicate {
                RDF_TYPE => out.push('a'),
                predicate => self.term(out, predicate),
            }
            out.push(' ');
        }
        self.object(out, &quad.object);
        // The strings are reused if they have changed.
        let (subject, predicate, graph) = before.get_or_insert_default();
        if !same_subject {
            subject.clear();
            subject.push_str(quad.subject);
        }
        if !same_predicate {
            predicate.clear();
            predicate.push_str(quad.predicate);
        }
        if !same_graph {
            *graph = quad.graph.map(str::to_owned);
        }
        self.before = before;
    }

    pub(super) fn finish(self, out: &mut String) {
        end(out, self.before.as_ref().map(|(_, _, graph)| graph.as_deref()), false);
    }

    fn term(&self, out: &mut String, text: &str) {
        let short = if term::kind(text) == TermKind::Iri { self.prefixes.shorten(text) } else { None };
        match short {
            Some((prefix, local)) => {
                out.push_str(prefix);
                out.push(':');
                out.push_str(local);
            }
            None => ntriples::push_term(out, text),
        }
    }

    fn object(&self, out: &mut String, object: &Object<'_>) {
        match object {
            Object::Term(text) => self.term(out, text),
            Object::Literal { lexical, datatype: xsd::BOOLEAN, .. } if matches!(*lexical, "true" | "false") => {
                out.push_str(lexical);
            }
            Object::Literal { lexical, datatype: xsd::INTEGER, .. } if is_integer(lexical) => out.push_str(lexical),
            Object::Literal { lexical, datatype, language: None, .. } if !matches!(*datatype, "" | xsd::STRING) => {
                ntriples::push_object(out, &Object::plain(lexical, xsd::STRING));
                out.push_str("^^");
                self.term(out, datatype);
            }
            literal => ntriples::push_object(out, literal),
        }
    }
}

/// Ends the previous statement, and its graph if another one starts.
fn end(out: &mut String, graph: Option<Option<&str>>, same_graph: bool) {
    match graph {
        None => {}
        Some(Some(_)) if !same_graph => out.push_str(" .\n}\n"),
        Some(_) => out.push_str(" .\n"),
    }
}

/// Whether a number can be written without quotes: its lexical form is preserved.
fn is_integer(lexical: &str) -> bool {
    let digits = lexical.strip_prefix(['+', '-']).unwrap_or(lexical);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
