//! Terms as users type them: `<urn:s>`, `ex:name`, `"text"@en`, `42`, `<<( s p o )>>`. In the end, the N-Quads parser
//! reads every term, so that a term that no text can contain is refused here instead of matching nothing.

use isomorph_error::{Error, Result};
use isomorph_graphlake::TripleId;
use isomorph_model::faces::{Object, RDF_TYPE};
use isomorph_model::ntriples::push_object;
use isomorph_rdf::{ReadOptions, Syntax, read};

use super::Prefixes;
use super::local;

/// Characters that are not allowed in IRIs, besides blanks and control characters.
const NOT_IN_IRIS: &str = "<>\"{}|^`\\";

/// A term as it was typed, and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    pub text: String,
    /// Its column in the pattern, from 1.
    pub column: usize,
}

/// One position of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// A variable; the same value wherever the name occurs.
    Free(Option<String>),
    /// An IRI, a blank node or a triple term.
    Resource(String),
    /// A literal.
    Literal {
        /// Its text.
        lexical: String,
        /// The IRI of the datatype; empty for plain text.
        datatype: String,
        /// In lower case.
        language: Option<String>,
        /// `ltr` or `rtl`.
        direction: Option<String>,
    },
}

impl Part {
    /// The term, unless it is a variable.
    pub fn term(&self) -> Object<'_> {
        match self {
            Part::Free(_) => Object::Term(""),
            Part::Resource(text) => Object::Term(text),
            Part::Literal { lexical, datatype, language, direction } => {
                Object::Literal { lexical, datatype, language: language.as_deref(), direction: direction.as_deref() }
            }
        }
    }

    fn of(object: &Object<'_>) -> Self {
        match *object {
            Object::Term(text) => Part::Resource(text.to_owned()),
            Object::Literal { lexical, datatype, language, direction } => Part::Literal {
                lexical: lexical.to_owned(),
                datatype: if language.is_some() { String::new() } else { datatype.to_owned() },
                language: language.map(str::to_ascii_lowercase),
                direction: direction.map(str::to_owned),
            },
        }
    }
}

impl Word {
    /// A word outside a pattern.
    pub fn alone(text: &str) -> Self {
        Word { text: text.to_owned(), column: 1 }
    }

    /// Parses the word.
    ///
    /// # Errors
    /// If it is not a term; the error states the column, and an example of a valid term.
    pub fn part(&self, prefixes: &Prefixes) -> Result<Part> {
        if self.text == "_" {
            return Ok(Part::Free(None));
        }
        if let Some(name) = self.text.strip_prefix('?') {
            if name.chars().all(|c| c.is_alphanumeric() || c == '_') {
                return Ok(Part::Free(Some(name.to_owned()).filter(|name| !name.is_empty())));
            }
            return Err(self.refused("a variable", "names can only contain letters, digits and _", "?name"));
        }
        let line = format!("<urn:s> <urn:p> {} .\n", self.ntriples(prefixes)?);
        let mut found = Vec::new();
        let read = read(&mut line.as_bytes(), Syntax::NQuads, &ReadOptions::default(), &mut |quad| {
            found.push((Part::of(&quad.object), quad.graph.is_some()));
            Ok(())
        });
        match (read, found.pop()) {
            (Ok(_), Some((part, false))) if found.is_empty() => Ok(part),
            _ if self.text.starts_with("<<") => Err(self.no_triple("its terms do not form a triple")),
            _ if self.text.starts_with('"') => Err(self.no_literal("a datatype, language or escape is wrong")),
            _ if self.text.starts_with("_:") => Err(self.no_blank_node()),
            _ => Err(self.no_iri("RDF does not allow it")),
        }
    }

    /// The same in N-Triples, as for [`Word::part`].
    fn ntriples(&self, prefixes: &Prefixes) -> Result<String> {
        let word = self.text.as_str();
        if word.starts_with("<<") {
            return self.triple(prefixes);
        }
        if word.starts_with('"') {
            return self.literal(prefixes);
        }
        if word.starts_with("_:") {
            let label = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '·');
            let sound = word.chars().skip(2).all(label) && word.len() > 2;
            return if sound { Ok(word.to_owned()) } else { Err(self.no_blank_node()) };
        }
        if let Some(datatype) = datatype_of(word) {
            return Ok(format!("\"{word}\"^^<http://www.w3.org/2001/XMLSchema#{datatype}>"));
        }
        self.iri(word, prefixes)
    }

    /// An IRI in angle brackets, from an IRI, a prefixed name, or the id of a triple.
    fn iri(&self, word: &str, prefixes: &Prefixes) -> Result<String> {
        if word == "a" {
            return Ok(format!("<{RDF_TYPE}>"));
        }
        if let Some(rest) = word.strip_prefix('<') {
            let Some(iri) = rest.strip_suffix('>') else {
                return Err(self.no_iri("it must end with >"));
            };
            return self.sound(iri);
        }
        // Digits alone are the id of a triple, and are not valid elsewhere (R32).
        if let Some(id) = Some(word).filter(|word| !word.contains(':')).and_then(|word| word.parse::<TripleId>().ok()) {
            return Ok(format!("<{}>", id.iri()));
        }
        // A prefixed name never has slashes directly after the colon.
        let bare = word.split_once("://").is_some() || word.starts_with("urn:");
        if bare && word.ends_with([',', ';']) {
            return Err(self.no_iri("without brackets it must not end with , or ;"));
        }
        match prefixes.known(word) {
            Some((namespace, name)) if !bare => match local::unescaped(name) {
                Ok(name) => self.sound(&format!("{namespace}{name}")),
                Err(because) => Err(self.refused("a name with a prefix", &because, "<http://example.org/name>")),
            },
            _ if bare => self.sound(word),
            _ => Err(self
                .refused("a term", "terms are <IRI>, prefix:name, _:label, \"literal\", ?name or _", "")
                .hint(match word.split_once(':') {
                    Some((prefix, _)) => format!("--ns {prefix}=http://…"),
                    None => format!("<http://example.org/name>    an IRI; or the literal {}", quoted(word)),
                })),
        }
    }

    /// The IRI in angle brackets, if it is an absolute IRI.
    fn sound(&self, iri: &str) -> Result<String> {
        // An escape counts as one character.
        let escapes = |text: &str| text.starts_with("\\u") || text.starts_with("\\U");
        let wrong = |(at, c): &(usize, char)| {
            let escape = *c == '\\' && iri.get(*at..).is_some_and(escapes);
            (*c <= ' ' || NOT_IN_IRIS.contains(*c)) && !escape
        };
        if let Some((_, c)) = iri.char_indices().find(wrong) {
            let c = if c == ' ' { "a space".to_owned() } else { format!("{c:?}").replace('\'', "") };
            return Err(self.no_iri(&format!("{c} is not allowed")));
        }
        let scheme = iri.split_once(':').map(|(scheme, _)| scheme);
        let of_scheme = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        if !scheme.is_some_and(|scheme| {
            scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(of_scheme)
        }) {
            return Err(self.no_iri("it is not absolute: it does not start with a scheme such as http:"));
        }
        Ok(format!("<{iri}>"))
    }

    fn literal(&self, prefixes: &Prefixes) -> Result<String> {
        let mut escaped = false;
        let end = self.text.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        let (lexical, behind) = end
            .and_then(|(end, _)| Some((self.text.get(1..end)?, self.text.get(end + 1..)?)))
            .ok_or_else(|| self.no_literal("it does not end"))?;
        // Some shells pass line ends on unchanged.
        let lexical = lexical.replace('\n', "\\n").replace('\r', "\\r");
        let behind = match behind.strip_prefix("^^") {
            Some(name) if name.starts_with("_:") || name.starts_with("<<") || name == "a" => {
                return Err(self.no_literal("its datatype is not an IRI"));
            }
            Some(name) => format!("^^{}", self.iri(name, prefixes)?),
            None if behind.is_empty() => String::new(),
            None if behind.starts_with('@') => self.language(behind)?,
            None => return Err(self.no_literal("only @language or ^^datatype may follow it")),
        };
        Ok(format!("\"{lexical}\"{behind}"))
    }

    /// A language, with or without a direction.
    fn language(&self, behind: &str) -> Result<String> {
        let tag = behind.strip_prefix('@').unwrap_or_default();
        let (language, direction) = tag.split_once("--").map_or((tag, None), |(tag, way)| (tag, Some(way)));
        if !isomorph_graphlake::is_language(language) {
            return Err(self.no_literal("its language is not a tag such as en or de-AT"));
        }
        if !matches!(direction, None | Some("ltr" | "rtl")) {
            return Err(self.no_literal("its direction is neither ltr nor rtl"));
        }
        Ok(behind.to_owned())
    }

    fn triple(&self, prefixes: &Prefixes) -> Result<String> {
        let inside = self.text.strip_prefix("<<(").and_then(|text| text.strip_suffix(")>>"));
        let Some(inside) = inside else { return Err(self.no_triple("it must begin with <<( and end with )>>")) };
        let before = self.column + 3;
        let words = words(inside)?;
        if words.len() != 3 {
            return Err(self.no_triple("it must have three terms"));
        }
        let mut text = "<<( ".to_owned();
        for word in words {
            let word = Word { column: word.column + before - 1, ..word };
            let part = word.part(prefixes)?;
            if matches!(part, Part::Free(_)) {
                return Err(word.refused(
                    "a term of a quoted triple",
                    "a quoted triple has no variables",
                    "<http://example.org/name>",
                ));
            }
            push_object(&mut text, &part.term());
            text.push(' ');
        }
        Ok(text + ")>>")
    }

    /// The error for a word that is not `what`, for the reason `because`.
    pub fn refused(&self, what: &str, because: &str, example: &str) -> Error {
        let error = Error::usage(format!("{} in column {} is not {what}: {because}", self.text, self.column));
        if example.is_empty() { error } else { error.hint(example) }
    }

    fn no_iri(&self, because: &str) -> Error {
        self.refused("an IRI", because, "<http://example.org/name>    an IRI, in angle brackets")
    }

    fn no_literal(&self, because: &str) -> Error {
        self.refused("a literal", because, "\"text\", \"text\"@en, \"42\"^^xsd:integer    literals")
    }

    fn no_blank_node(&self) -> Error {
        self.refused("a blank node", "labels can only contain letters, digits, _, - and .", "_:label1    a blank node")
    }

    fn no_triple(&self, because: &str) -> Error {
        let example = "<<( <http://example.org/s> <http://example.org/p> \"o\" )>>    a quoted triple";
        self.refused("a quoted triple", because, example)
    }
}

fn quoted(word: &str) -> String {
    let mut text = String::new();
    push_object(&mut text, &Object::plain(word, ""));
    text
}

/// Splits a text at blanks outside IRIs, literals and triple terms.
///
/// # Errors
/// If an IRI, a literal or a triple term does not end.
pub(super) fn words(text: &str) -> Result<Vec<Word>> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let mut end = None;
        let (mut quoted, mut bracketed, mut escaped, mut depth) = (false, false, false, 0usize);
        let mut skip = 0;
        for (at, c) in rest.char_indices() {
            if at < skip {
                continue;
            }
            match c {
                _ if escaped => escaped = false,
                '\\' if quoted => escaped = true,
                '"' if !bracketed => quoted = !quoted,
                '<' if !quoted && !bracketed && rest[at..].starts_with("<<(") => (depth, skip) = (depth + 1, at + 3),
                ')' if !quoted && !bracketed && depth > 0 && rest[at..].starts_with(")>>") => {
                    (depth, skip) = (depth - 1, at + 3);
                }
                '<' if !quoted => bracketed = true,
                '>' if !quoted => bracketed = false,
                c if c.is_whitespace() && !quoted && !bracketed && depth == 0 => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let column = text.chars().count() - rest.chars().count() + 1;
        if end.is_none() && (quoted || bracketed || depth > 0) {
            let wanted = if quoted {
                "\""
            } else if bracketed {
                ">"
            } else {
                ")>>"
            };
            return Err(Error::usage(format!("{rest} in column {column} does not end: {wanted} is missing"))
                .hint("<http://example.org/name>, \"text\"    quoted as a whole for the shell"));
        }
        let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
        // A full stop directly after a term ends the pattern, as in texts; to include one in a prefixed name, write a
        // backslash before it.
        let ends = word.starts_with(['<', '"']) || word.contains(':') && !word.ends_with("\\.");
        let (word, stop) = match word.strip_suffix('.').filter(|_| ends) {
            Some(word) => (word, Some(Word { text: ".".to_owned(), column: column + word.chars().count() })),
            None => (word, None),
        };
        words.push(Word { text: word.to_owned(), column });
        words.extend(stop);
        rest = behind.trim_start();
    }
    Ok(words)
}

/// The datatype of a number or truth value without quotes, as in Turtle.
fn datatype_of(word: &str) -> Option<&'static str> {
    if matches!(word, "true" | "false") {
        return Some("boolean");
    }
    let number = word.strip_prefix(['+', '-']).unwrap_or(word);
    let (digits, exponent) =
        number.split_once(['e', 'E']).map_or((number, None), |(digits, rest)| (digits, Some(rest)));
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, rest)| (whole, Some(rest)));
    let all = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let some = |text: &str| !text.is_empty() && all(text);
    if !all(whole) || !fraction.is_none_or(all) {
        return None;
    }
    match (fraction, exponent) {
        (_, Some(exponent)) => {
            let sound = some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
            (sound && (some(whole) || fraction.is_some_and(some))).then_some("double")
        }
        (Some(fraction), None) => some(fraction).then_some("decimal"),
        (None, None) => some(whole).then_some("integer"),
    }
}
