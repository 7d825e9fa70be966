//! RDF terms as keys: one canonical text for each.
//!
//! An IRI is itself. A blank node is `_:` and its label. A triple term is `<<( s p o )>>` with its parts in N-Triples
//! syntax. No IRI starts like either of the last two, so the kinds never collide (`docs/model.md`, Keys).

/// The kind of an RDF term that can be a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TermKind {
    /// An IRI.
    Iri,
    /// A blank node.
    Blank,
    /// A quoted triple.
    Triple,
}

/// The kind of a canonical term text.
pub fn kind(text: &str) -> TermKind {
    if text.starts_with("_:") {
        TermKind::Blank
    } else if text.starts_with("<<(") {
        TermKind::Triple
    } else {
        TermKind::Iri
    }
}

/// The canonical text of a blank node.
pub fn blank(label: &str) -> String {
    format!("_:{label}")
}

/// The canonical text of a triple term; the parts are N-Triples terms, IRIs in angle brackets.
pub fn triple(subject: &str, predicate: &str, object: &str) -> String {
    format!("<<( {subject} {predicate} {object} )>>")
}

/// A term in N-Triples syntax.
pub fn ntriples(text: &str) -> String {
    match kind(text) {
        TermKind::Iri => format!("<{text}>"),
        TermKind::Blank | TermKind::Triple => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_never_collide() {
        assert_eq!(kind("http://example.org/a"), TermKind::Iri);
        assert_eq!(kind(&blank("b0")), TermKind::Blank);
        let quoted = triple(&ntriples("urn:s"), &ntriples("urn:p"), &ntriples("_:o"));
        assert_eq!(quoted, "<<( <urn:s> <urn:p> _:o )>>");
        assert_eq!(kind(&quoted), TermKind::Triple);
    }
}
