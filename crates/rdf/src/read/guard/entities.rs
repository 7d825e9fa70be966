//! Entities of a document type, and the references to them (XML 1.0, sections 4.1 to 4.5).

use std::borrow::Cow;
use std::collections::HashMap;

use isomorph_error::Error;

use super::DEPTH;
use super::wellformed::{character, is_name};
use super::xml::{malformed, too_much};

/// Maximum length of the text of an entity, and of all entities together, in bytes; maximum number of entities.
const ENTITY: usize = 64 << 10;
const ALL: usize = 1 << 20;
const ENTITIES: usize = 1_000;

/// Maximum length of the name of an entity, in bytes.
pub(super) const NAME: usize = 256;

/// The general entities that a text declares, all references in them resolved.
#[derive(Default)]
pub(in crate::read) struct Entities {
    resolved: HashMap<String, Resolved>,
    length: usize,
}

/// An entity, or the reason why a text cannot refer to it.
type Resolved = Result<Entity, &'static str>;

#[derive(Clone)]
struct Entity {
    /// What a reference in the content stands for.
    text: String,
    /// What a reference in the value of an attribute stands for: blanks in place of other white space (section 3.3.3).
    value: String,
    /// How deep entities refer to each other in it.
    depth: usize,
}

/// The declared replacement texts; `None` for entities outside of the text.
type Declared<'t> = HashMap<&'t str, Option<String>>;

impl Entities {
    /// The entities of a document type, which is given from `<` to `>`.
    ///
    /// # Errors
    /// If it is malformed, refers to parameter entities, changes attributes, or exceeds a limit.
    pub(in crate::read) fn of(document_type: &str) -> Result<Self, Error> {
        let document_type = document_type.replace("\r\n", "\n").replace('\r', "\n");
        let mut declared = Declared::new();
        let mut rest = subset(&document_type)?;
        loop {
            rest = rest.trim_start_matches(is_blank);
            let (word, behind) = rest.split_at(rest.find(|c: char| is_blank(c) || c == '>').unwrap_or(rest.len()));
            if rest.is_empty() {
                break;
            } else if let Some(comment) = rest.strip_prefix("<!--") {
                rest = comment.split_once("-->").ok_or_else(unknown)?.1;
            } else if let Some(instruction) = rest.strip_prefix("<?") {
                rest = instruction.split_once("?>").ok_or_else(unknown)?.1;
            } else if rest.starts_with('%') {
                return Err(malformed("a reference to a parameter entity, which is not supported"));
            } else {
                let (declaration, next) = declaration(behind).ok_or_else(unknown)?;
                match word {
                    "<!ENTITY" => declare(declaration, &mut declared)?,
                    "<!ATTLIST" if changes_attributes(declaration) => {
                        return Err(malformed(
                            "an ATTLIST declaration with a default value or another type than CDATA, which is not \
                             supported: write the attributes in the elements",
                        ));
                    }
                    "<!ATTLIST" | "<!ELEMENT" | "<!NOTATION" => {}
                    _ => return Err(unknown()),
                }
                rest = next;
            }
        }
        let mut entities = Entities::default();
        for name in declared.keys() {
            entities.resolve(name, &declared, 0)?;
        }
        Ok(entities)
    }

    /// The length of what a reference to an entity stands for; 0 for a predefined one, which is shorter than the
    /// reference.
    ///
    /// # Errors
    /// The reason why there can be no such reference.
    pub(super) fn length(&self, name: &str) -> Result<usize, String> {
        match self.resolved.get(name) {
            Some(Ok(entity)) => Ok(entity.text.len()),
            Some(Err(reason)) => Err(format!("&{name}; {reason}")),
            None if predefined(name).is_some() => Ok(0),
            None => Err(format!("&{name}; is not declared")),
        }
    }

    /// What a reference in the content stands for, if the name is declared.
    pub(in crate::read) fn text(&self, name: &str) -> Option<&str> {
        self.resolved.get(name)?.as_ref().ok().map(|entity| entity.text.as_str())
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.resolved.get(name)?.as_ref().ok().map(|entity| entity.value.as_str())
    }

    fn resolve(&mut self, name: &str, declared: &Declared<'_>, depth: usize) -> Result<(), Error> {
        if self.resolved.contains_key(name) {
            return Ok(());
        }
        if depth > DEPTH {
            return Err(too_deep());
        }
        // Until it is known.
        self.resolved.insert(name.to_owned(), Err("refers to itself"));
        let resolved = match declared.get(name) {
            None => Err("refers to an entity that is not declared"),
            Some(None) => Err("is in another file, which is not read"),
            Some(Some(replacement)) => self.replaced(replacement, declared, depth)?,
        };
        if let Ok(entity) = &resolved {
            self.length += entity.text.len();
            if entity.depth > DEPTH {
                return Err(too_deep());
            }
        }
        if self.length > ALL {
            return Err(too_much(format!("entities that stand for more than {ALL} bytes together")));
        }
        self.resolved.insert(name.to_owned(), resolved);
        Ok(())
    }

    /// A replacement text with its references resolved.
    fn replaced(&mut self, replacement: &str, declared: &Declared<'_>, depth: usize) -> Result<Resolved, Error> {
        if replacement.contains('<') {
            return Ok(Err("contains markup: only entities of text are supported"));
        }
        let mut parts = replacement.split('&');
        let first = parts.next().unwrap_or_default();
        let mut entity = Entity { text: first.to_owned(), value: first.replace(is_blank, " "), depth: 0 };
        for part in parts {
            let Some((name, behind)) = part.split_once(';') else {
                return Ok(Err("contains & without a reference"));
            };
            match predefined(name).or_else(|| character(name.strip_prefix('#')?)) {
                Some(c) => {
                    entity.text.push(c);
                    entity.value.push(c);
                }
                None => {
                    self.resolve(name, declared, depth + 1)?;
                    match self.resolved.get(name) {
                        Some(Ok(other)) => {
                            entity.text.push_str(&other.text);
                            entity.value.push_str(&other.value);
                            entity.depth = entity.depth.max(other.depth + 1);
                        }
                        Some(Err(reason)) => return Ok(Err(reason)),
                        None => return Ok(Err("contains & without a reference")),
                    }
                }
            }
            entity.text.push_str(behind);
            entity.value.extend(behind.chars().map(|c| if is_blank(c) { ' ' } else { c }));
            if entity.text.len() > ENTITY {
                return Err(too_much(format!("an entity that stands for more than {ENTITY} bytes")));
            }
        }
        Ok(Ok(entity))
    }
}

/// The internal subset of a document type: what stands between brackets (production 28).
fn subset(document_type: &str) -> Result<&str, Error> {
    let mut quote = None;
    if !document_type.starts_with("<!DOCTYPE") {
        return Err(unknown());
    }
    for (at, c) in document_type.char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => {
                let behind = document_type.get(at + 1..).unwrap_or_default();
                let end = behind.rfind(']').ok_or_else(unknown)?;
                let (subset, after) = behind.split_at(end);
                let is_end = after.get(1..).is_some_and(|after| after.trim_matches(is_blank) == ">");
                return if is_end { Ok(subset) } else { Err(unknown()) };
            }
            (None, _) => {}
        }
    }
    Ok("")
}

fn too_deep() -> Error {
    too_much(format!("entities refer to each other more than {DEPTH} deep"))
}

fn unknown() -> Error {
    malformed("the document type is not well-formed")
}

/// Divides a text after the `>` that is not in quotes.
fn declaration(text: &str) -> Option<(&str, &str)> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '>') => return Some((text.get(..at)?, text.get(at + 1..)?)),
            (None, '<') => return None,
            (None, _) => {}
        }
    }
    None
}

/// Records the declaration of an entity. The first one of a name is binding (section 4.2).
fn declare<'t>(declaration: &'t str, declared: &mut Declared<'t>) -> Result<(), Error> {
    let words = declaration.strip_prefix(is_blank).ok_or_else(unknown)?.trim_start_matches(is_blank);
    let (words, is_parameter) = match words.strip_prefix('%') {
        Some(words) => (words.strip_prefix(is_blank).ok_or_else(unknown)?.trim_start_matches(is_blank), true),
        None => (words, false),
    };
    let (name, value) = words.split_once(is_blank).ok_or_else(unknown)?;
    let value = value.trim_matches(is_blank);
    if !is_name(name) {
        return Err(malformed("an entity without a valid name"));
    }
    let replacement = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let inside = value.get(1..).and_then(|rest| rest.strip_suffix(quote));
            let inside = inside.filter(|inside| !inside.contains(quote));
            Some(replacement(inside.ok_or_else(unknown)?)?)
        }
        _ if value.starts_with("SYSTEM") || value.starts_with("PUBLIC") => None,
        _ => return Err(malformed(format!("the value of the entity {name} is not in quotes"))),
    };
    // The predefined ones may be declared, but only as what they are (section 4.6).
    if !is_parameter && predefined(name).is_none() {
        declared.entry(name).or_insert(replacement);
    }
    if declared.len() > ENTITIES || name.len() > NAME {
        return Err(too_much(format!("more than {ENTITIES} entities, or one with a name of more than {NAME} bytes")));
    }
    Ok(())
}

/// The replacement text for the value of an entity: references to characters are replaced, others stay (section 4.5).
fn replacement(value: &str) -> Result<String, Error> {
    if value.contains('%') {
        return Err(malformed("% in the value of an entity; write &#37;"));
    }
    let mut parts = value.split('&');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, behind) = part
            .split_once(';')
            .filter(|(name, _)| name.starts_with('#') || is_name(name))
            .ok_or_else(|| malformed("& does not start a reference in the value of an entity; write &#38;#38;"))?;
        match name.strip_prefix('#') {
            Some(number) => out.push(
                character(number).ok_or_else(|| malformed(format!("&{name}; is not a character that XML allows")))?,
            ),
            None => out.extend(["&", name, ";"]),
        }
        out.push_str(behind);
    }
    Ok(out)
}

/// Whether an ATTLIST declaration gives attributes that are not in the text, or changes the values of others: it has a
/// default value, or a type that ignores blanks (sections 3.3.2 and 3.3.3).
fn changes_attributes(declaration: &str) -> bool {
    let mut words = declaration.split(is_blank).filter(|word| !word.is_empty()).skip(1);
    while words.next().is_some() {
        let unchanged = words.next() == Some("CDATA") && matches!(words.next(), Some("#IMPLIED" | "#REQUIRED"));
        if !unchanged {
            return true;
        }
    }
    false
}

fn predefined(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "amp" => '&',
        "quot" => '"',
        "apos" => '\'',
        _ => return None,
    })
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// A text between tags with its references resolved; `None` if one of them stands for nothing.
pub(in crate::read) fn resolved(text: &str, entities: &Entities) -> Option<String> {
    with_references(text, |name| entities.text(name))
}

/// The value of an attribute of type CDATA (section 3.3.3); `None` if a reference in it stands for nothing.
pub(in crate::read) fn normalised<'t>(value: &'t str, entities: &Entities) -> Option<Cow<'t, str>> {
    if memchr::memchr3(b'&', b'\n', b'\t', value.as_bytes()).is_none() && !value.contains('\r') {
        return Some(Cow::Borrowed(value));
    }
    let value = value.replace("\r\n", " ").replace(['\t', '\n', '\r'], " ");
    with_references(&value, |name| entities.value(name)).map(Cow::Owned)
}

fn with_references<'e>(text: &str, of: impl Fn(&str) -> Option<&'e str>) -> Option<String> {
    let mut parts = text.split('&');
    let mut out = parts.next()?.to_owned();
    for part in parts {
        let (name, behind) = part.split_once(';')?;
        match predefined(name).or_else(|| character(name.strip_prefix('#')?)) {
            Some(c) => out.push(c),
            None => out.push_str(of(name)?),
        }
        out.push_str(behind);
    }
    Some(out)
}

/// Finds the end of a document type.
pub(in crate::read) struct Extent {
    /// The number of open `<`, and what stands verbatim.
    open: usize,
    verbatim: Verbatim,
    /// The last bytes, newest last.
    last: [u8; 4],
}

/// The parts of a document type without tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verbatim {
    Nothing,
    Quoted(u8),
    Comment,
    Instruction,
}

impl Default for Extent {
    /// After the first `<`.
    fn default() -> Self {
        Extent { open: 1, verbatim: Verbatim::Nothing, last: [0; 4] }
    }
}

impl Extent {
    /// Whether this byte is the last.
    pub(in crate::read) fn step(&mut self, byte: u8) -> bool {
        self.last.rotate_left(1);
        self.last[3] = byte;
        let is_end_of = |what: &[u8]| self.last.ends_with(what);
        match (self.verbatim, byte) {
            (Verbatim::Quoted(quote), _) if quote == byte => self.verbatim = Verbatim::Nothing,
            (Verbatim::Comment, b'>') if is_end_of(b"-->") => {
                (self.open, self.verbatim) = (self.open - 1, Verbatim::Nothing);
            }
            (Verbatim::Instruction, b'>') if is_end_of(b"?>") => {
                (self.open, self.verbatim) = (self.open - 1, Verbatim::Nothing);
            }
            (Verbatim::Nothing, b'\'' | b'"') => self.verbatim = Verbatim::Quoted(byte),
            (Verbatim::Nothing, b'<') => self.open += 1,
            (Verbatim::Nothing, b'-') if is_end_of(b"<!--") => self.verbatim = Verbatim::Comment,
            (Verbatim::Nothing, b'?') if is_end_of(b"<?") => self.verbatim = Verbatim::Instruction,
            (Verbatim::Nothing, b'>') => self.open -= 1,
            _ => {}
        }
        self.open == 0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::rules::{LIMIT, SYNTAX};

    fn both(declarations: &str, reference: &str) -> Option<(String, String)> {
        let entities = Entities::of(&format!("<!DOCTYPE r [{declarations}]>")).unwrap();
        Some((resolved(reference, &entities)?, normalised(reference, &entities)?.into_owned()))
    }

    #[test]
    fn references_stand_for_what_the_specification_says() {
        // Appendix D, and the differences between values and texts of section 3.3.3.
        for (declarations, reference, text, value) in [
            ("<!ENTITY a \"x\"><!ENTITY a \"y\">", "&a;", "x", "x"),
            ("<!ENTITY a 'x>\"y'>", "-&a;-", "-x>\"y-", "-x>\"y-"),
            ("<!ENTITY b \"&a;b\"><!ENTITY a \"http://a/\">", "&b;", "http://a/b", "http://a/b"),
            ("<!ENTITY q \"&#38;lt;b\">", "&q;", "<b", "<b"),
            ("<!ENTITY q \"&#38;#65;\">", "&q;", "A", "A"),
            ("<!ENTITY q \"&#38;#38;\">", "&q;", "&", "&"),
            ("<!ENTITY lt \"&#38;#60;\">", "&lt;", "<", "<"),
            ("<!ENTITY f \" &#38;amp; &#13;\">", "&f;", " & \r", " &  "),
            ("<!ENTITY f \"&#38;#13;\">", "&f;", "\r", "\r"),
            ("<!ENTITY e \"a&#10;b\">", "&e;\n", "a\nb\n", "a b "),
            ("<!ENTITY e \"a\nb\r\nc\rd\">", "&e;", "a\nb\nc\nd", "a b c d"),
            ("<!ENTITY % a \"y\"><!ENTITY a \"x\">", "&a;", "x", "x"),
            ("<!-- <!ENTITY a 'y'> --><?p <!ENTITY a 'y'> ?><!ENTITY a 'x'>", "&a;", "x", "x"),
            ("<!ELEMENT r ANY> <!ATTLIST r a CDATA #IMPLIED b CDATA #REQUIRED>\n<!ENTITY a 'x'>", "&a;", "x", "x"),
            ("", "&#233;&#xE9;&apos;", "éé'", "éé'"),
        ] {
            let expected = Some((text.to_owned(), value.to_owned()));
            assert_eq!(both(declarations, reference), expected, "{declarations}");
        }
    }

    #[test]
    fn what_has_no_text_cannot_be_referred_to() {
        for (declarations, word) in [
            ("<!ENTITY a \"&b;\"><!ENTITY b \"&a;\">", "itself"),
            ("<!ENTITY a \"&b;\">", "not declared"),
            ("<!ENTITY a \"<b/>\">", "markup"),
            ("<!ENTITY a \"&#60;b>\">", "markup"),
            ("<!ENTITY a \"&#38;\">", "without a reference"),
            ("<!ENTITY a SYSTEM \"other.xml\">", "another file"),
        ] {
            let entities = Entities::of(&format!("<!DOCTYPE r [{declarations}]>")).unwrap();
            assert!(entities.length("a").is_err_and(|reason| reason.contains(word)), "{declarations}");
            assert_eq!(resolved("&a;", &entities), None);
        }
    }

    #[test]
    fn what_would_be_read_otherwise_is_refused() {
        for (declarations, word) in [
            ("<!ATTLIST r a CDATA 'd'>", "ATTLIST"),
            ("<!ATTLIST r a CDATA #FIXED 'd'>", "ATTLIST"),
            ("<!ATTLIST r a ID #IMPLIED>", "ATTLIST"),
            ("<!ATTLIST r a (x|y) 'x'>", "ATTLIST"),
            ("<!ENTITY % p \"\">%p;", "parameter"),
            ("<!ENTITY a \"%p;\">", "&#37;"),
            ("<!ENTITY a b>", "quotes"),
            ("<!ENTITY a \"&#0;\">", "allows"),
            ("<!ENTITY a \"b & c\">", "reference"),
            ("<!ENTITY 1 \"a\">", "name"),
            ("<!WHAT a>", "well-formed"),
            ("text", "well-formed"),
        ] {
            let error = Entities::of(&format!("<!DOCTYPE r [{declarations}]>")).err().unwrap();
            assert_eq!(error.broken_rule(), Some(&SYNTAX));
            assert!(error.message().contains(word), "{declarations}: {error}");
        }
        let none = Entities::of("<!DOCTYPE r SYSTEM \"[%p;]\">").unwrap();
        assert_eq!(resolved("&a;", &none), None);
        // Empty entities cost nothing, however often they are referred to.
        let empty: String =
            (1..99).map(|n| format!("<!ENTITY e{n} '{}'>", format!("&e{};", n - 1).repeat(10))).collect();
        assert_eq!(both(&format!("{empty}<!ENTITY e0 ''>"), "&e98;"), Some((String::new(), String::new())));
        let deep: String = (1..200).map(|n| format!("<!ENTITY e{n} '&e{};'>", n - 1)).collect();
        let long = format!("<!ENTITY a '{}'>", "x".repeat(60_000));
        let many: String = (0..20).map(|n| format!("<!ENTITY b{n} '&a;'>")).collect();
        for declarations in [format!("{deep}<!ENTITY e0 ''>"), format!("{long}{many}")] {
            let error = Entities::of(&format!("<!DOCTYPE r [{declarations}]>")).err();
            assert_eq!(error.unwrap().broken_rule(), Some(&LIMIT));
        }
    }
}
