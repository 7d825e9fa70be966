//! RDF terms as keys, each with one canonical text.
//!
//! An IRI stands for itself. A blank node is `_:` and its label. A triple term is `<<( s p o )>>` with its parts in N-Triples
//! syntax. No IRI starts like one of the last two, so the kinds never collide (`docs/model.md`, Keys).

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

/// Returns the kind of a canonical text.
pub fn kind(text: &str) -> TermKind {
    if text.starts_with("_:") {
        TermKind::Blank
    } else if text.starts_with("<<(") {
        TermKind::Triple
    } else {
        TermKind::Iri
    }
}

/// Returns the canonical text of a blank node.
pub fn blank(label: &str) -> String {
    format!("_:{label}")
}

/// Returns the canonical text of a triple term; the parts are N-Triples terms, with IRIs in angle brackets.
pub fn triple(subject: &str, predicate: &str, object: &str) -> String {
    format!("<<( {subject} {predicate} {object} )>>")
}

/// Appends the canonical text of a triple term whose parts are canonical texts.
pub fn push_triple(out: &mut String, subject: &str, predicate: &str, object: &str) {
    out.push_str("<<( ");
    for part in [subject, predicate, object] {
        push_ntriples(out, part);
        out.push(' ');
    }
    out.push_str(")>>");
}

/// Returns a term in N-Triples syntax.
pub fn ntriples(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    push_ntriples(&mut out, text);
    out
}

fn push_ntriples(out: &mut String, text: &str) {
    match kind(text) {
        TermKind::Iri => {
            out.push('<');
            out.push_str(text);
            out.push('>');
        }
        TermKind::Blank | TermKind::Triple => out.push_str(text),
    }
}

/// The object of a triple term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// An IRI, a blank node or a triple term, as canonical text.
    Term(String),
    /// A literal: lexical form, datatype, language, base direction.
    Literal(String, Option<String>, Option<String>, Option<String>),
}

/// Returns subject, predicate and object of a triple term, or `None` if `text` is not one.
pub fn parts(text: &str) -> Option<(String, String, Part)> {
    let inside = text.strip_prefix("<<(")?;
    let (subject, rest) = resource(inside.trim_start())?;
    let (predicate, rest) = resource(rest.trim_start())?;
    let (object, rest) = match rest.trim_start() {
        literal if literal.starts_with('"') => self::literal(literal)?,
        term => resource(term).map(|(term, rest)| (Part::Term(term), rest))?,
    };
    let is_iri = kind(&predicate) == TermKind::Iri;
    (is_iri && rest.trim_start() == ")>>").then_some((subject, predicate, object))
}

/// Returns subject, predicate and object of a triple term in canonical form if all are IRIs or blank nodes, as canonical
/// texts within it. Returns `None` for anything else; use [`parts`] for other triple terms.
pub fn resources(text: &str) -> Option<[&str; 3]> {
    fn next(text: &str) -> Option<(&str, &str)> {
        if let Some(iri) = text.strip_prefix('<') {
            let end = memchr::memchr(b'>', iri.as_bytes())?;
            let (iri, rest) = iri.split_at_checked(end)?;
            return if iri.starts_with('<') { None } else { Some((iri, rest.strip_prefix("> ")?)) };
        }
        let (label, rest) = text.split_once(' ')?;
        (label.len() > 2 && label.starts_with("_:") && !label.contains(['\t', ')'])).then_some((label, rest))
    }
    let (subject, rest) = next(text.strip_prefix("<<( ")?)?;
    let (predicate, rest) = next(rest)?;
    let (object, rest) = next(rest)?;
    (rest == ")>>" && kind(predicate) == TermKind::Iri).then_some([subject, predicate, object])
}

/// Returns the canonical text of the term at the start of an N-Triples text, and the rest.
fn resource(text: &str) -> Option<(String, &str)> {
    if text.starts_with("<<(") {
        // A nested term ends where as many terms are closed as were opened. Neither delimiter occurs in IRIs, and literals
        // are skipped.
        let (mut at, mut open) = (0, 0usize);
        loop {
            let rest = text.get(at..)?;
            if rest.starts_with("<<(") {
                (at, open) = (at + 3, open + 1);
            } else if rest.starts_with(")>>") {
                (at, open) = (at + 3, open.checked_sub(1)?);
                if open == 0 {
                    return Some((text.get(..at)?.to_owned(), text.get(at..)?));
                }
            } else if rest.starts_with('"') {
                at += quoted(rest)?;
            } else {
                at += rest.chars().next()?.len_utf8();
            }
        }
    }
    if let Some(iri) = text.strip_prefix('<') {
        let (iri, rest) = iri.split_once('>')?;
        return Some((iri.to_owned(), rest));
    }
    let end = text.find([' ', '\t', ')']).unwrap_or(text.len());
    let (label, rest) = text.split_at(end);
    (label.len() > 2 && label.starts_with("_:")).then(|| (label.to_owned(), rest))
}

/// Returns the length of the quoted text at the start, including both quotes.
fn quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(at + 1),
            _ => {}
        }
    }
    None
}

fn literal(text: &str) -> Option<(Part, &str)> {
    let (lexical, rest) = text.split_at_checked(quoted(text)?)?;
    let lexical = unescaped(lexical.get(1..lexical.len() - 1)?)?;
    if let Some(datatype) = rest.strip_prefix("^^") {
        let (datatype, rest) = resource(datatype)?;
        return Some((Part::Literal(lexical, Some(datatype), None, None), rest));
    }
    let Some(language) = rest.strip_prefix('@') else { return Some((Part::Literal(lexical, None, None, None), rest)) };
    let end = language.find([' ', '\t', ')']).unwrap_or(language.len());
    let (language, rest) = language.split_at(end);
    let (language, direction) = match language.split_once("--") {
        Some((language, direction)) => (language, Some(direction.to_owned())),
        None => (language, None),
    };
    Some((Part::Literal(lexical, None, Some(language.to_owned()), direction), rest))
}

/// Returns an N-Triples text without its escapes.
fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        out.push_str(before);
        let sign = escape.chars().next()?;
        let digits = match sign {
            'u' => 4,
            'U' => 8,
            _ => 0,
        };
        let end = 1 + digits;
        out.push(match sign {
            't' => '\t',
            'b' => '\u{8}',
            'n' => '\n',
            'r' => '\r',
            'f' => '\u{c}',
            '"' | '\'' | '\\' => sign,
            'u' | 'U' => {
                let digits = escape.get(1..end).filter(|digits| !digits.starts_with('+'))?;
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            _ => return None,
        });
        rest = escape.get(end..)?;
    }
    out.push_str(rest);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_have_no_sign() {
        assert_eq!(unescaped("\\u00E9\\U000000E9").as_deref(), Some("\u{e9}\u{e9}"));
        assert_eq!([unescaped("\\u+0E9"), unescaped("\\U+00000E9")], [None, None]);
    }

    #[test]
    fn kinds_never_collide() {
        assert_eq!(kind("http://example.org/a"), TermKind::Iri);
        assert_eq!(kind(&blank("b0")), TermKind::Blank);
        let quoted = triple(&ntriples("urn:s"), &ntriples("urn:p"), &ntriples("_:o"));
        assert_eq!(quoted, "<<( <urn:s> <urn:p> _:o )>>");
        let mut pushed = String::from("of ");
        push_triple(&mut pushed, "urn:s", "urn:p", "_:o");
        assert_eq!(pushed, format!("of {quoted}"));
        assert_eq!(kind(&quoted), TermKind::Triple);
    }

    #[test]
    fn triple_terms_are_taken_apart() {
        let plain = |lexical: &str| Part::Literal(lexical.to_owned(), None, None, None);
        let some = |text: &str| Some(text.to_owned());
        let inner = r#"<<( _:b <urn:q> "a\")>> <<( \u00e9"@fr--ltr )>>"#;
        for (text, object) in [
            ("<urn:o>", Part::Term("urn:o".to_owned())),
            ("_:o", Part::Term("_:o".to_owned())),
            (inner, Part::Term(inner.to_owned())),
            (r#""""#, plain("")),
            (r#""\t\b\n\r\f\"\\\U0001F600é)""#, plain("\t\u{8}\n\r\u{c}\"\\😀é)")),
            (r#""5"^^<urn:d>"#, Part::Literal("5".to_owned(), some("urn:d"), None, None)),
            (r#""x"@ar--rtl"#, Part::Literal("x".to_owned(), None, some("ar"), some("rtl"))),
        ] {
            let term = triple("<urn:s>", "<urn:p>", text);
            let found = parts(&term);
            let plain = match &object {
                Part::Term(object) if !object.starts_with("<<(") => Some(["urn:s", "urn:p", object]),
                _ => None,
            };
            assert_eq!(resources(&term), plain, "{text}");
            assert_eq!(found, Some(("urn:s".to_owned(), "urn:p".to_owned(), object)), "{text}");
        }
        assert_eq!(
            parts(inner).map(|(subject, _, object)| (subject, object)),
            Some(("_:b".to_owned(), Part::Literal("a\")>> <<( é".to_owned(), None, some("fr"), some("ltr"))))
        );
        for bad in [
            "",
            "<<( )>>",
            "<<( <a> <b> )>>",
            "<<( <a> _:b <c> )>>",
            "<<( <a> <b> <c>",
            "<<( <a> <b> \"c )>>",
            "<<( <<( <a>",
        ] {
            assert_eq!((parts(bad), resources(bad)), (None, None), "{bad}");
        }
    }
}
