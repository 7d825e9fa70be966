//! XML inside data, which yEd writes: checks whether a text is such XML.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use quick_xml::NsReader;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::name::{NamespaceResolver, ResolveResult};

use crate::capability::is_foreign;
use crate::parse::{DEPTH, entity};

/// The prefixes that files with yEd's XML declare, and their namespaces.
pub(crate) const DECLARED: &[(&str, &str)] = &[
    ("java", "http://www.yworks.com/xml/yfiles-common/1.0/java"),
    ("sys", "http://www.yworks.com/xml/yfiles-common/markup/primitives/2.0"),
    ("x", "http://www.yworks.com/xml/yfiles-common/markup/2.0"),
    ("y", "http://www.yworks.com/xml/graphml"),
    ("yed", "http://www.yworks.com/xml/yed/3"),
];

/// Returns the attributes that declare them.
pub(crate) fn declarations() -> String {
    let mut out = String::new();
    for (prefix, uri) in DECLARED {
        let _ = write!(out, " xmlns:{prefix}=\"{uri}\"");
    }
    out
}

/// Declares inherited prefixes in elements; each entry is a position, a prefix and its namespace. Unused prefixes are
/// omitted.
pub(crate) fn declare(text: &mut String, inherited: &[(usize, String, String)]) {
    let all: BTreeSet<&str> = inherited.iter().map(|(_, prefix, _)| prefix.as_str()).collect();
    let used: BTreeSet<&str> = all.into_iter().filter(|prefix| text.contains(&format!("{prefix}:"))).collect();
    if used.is_empty() {
        return;
    }
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for (at, prefix, uri) in inherited.iter().filter(|(_, prefix, _)| used.contains(prefix.as_str())) {
        out.push_str(&text[done..*at]);
        let _ = write!(out, " xmlns:{prefix}=\"{uri}\"");
        done = *at;
    }
    out.push_str(&text[done..]);
    *text = out;
}

/// Returns whether a text consists of elements that can be written to data as they are and are read back as the same
/// text. Other text must be escaped.
pub(crate) fn is_fragment(text: &str) -> bool {
    let begins = text.starts_with('<') && text.ends_with('>');
    begins && !text.contains('\r') && !text.contains(is_foreign) && rebuilt(text).is_some_and(|again| again == text)
}

/// Returns the elements of a text as they are read back; `None` if the text is not well-formed.
fn rebuilt(text: &str) -> Option<String> {
    let whole = format!("<data{}>{text}</data>", declarations());
    let mut reader = NsReader::from_str(&whole);
    reader.config_mut().check_end_names = true;
    let (mut out, mut depth) = (String::new(), 0usize);
    let mut push = |parts: [&str; 3]| parts.iter().for_each(|part| out.push_str(part));
    let text_of = |bytes: &[u8]| std::str::from_utf8(bytes).ok().map(str::to_owned);
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) => {
                check_tag(&tag, reader.resolver()).ok()?;
                if depth > 0 {
                    push(["<", &text_of(&tag)?, ">"]);
                }
                depth += 1;
                if depth >= DEPTH {
                    return None;
                }
            }
            Event::Empty(tag) => {
                check_tag(&tag, reader.resolver()).ok()?;
                push(["<", &text_of(&tag)?, "/>"]);
            }
            Event::End(_) if depth == 1 => break,
            Event::End(tag) => {
                depth -= 1;
                push(["</", &text_of(&tag)?, ">"]);
            }
            Event::Text(text) => {
                let text = text_of(&text)?;
                if text.contains("]]>") {
                    return None;
                }
                push(["", &text, ""]);
            }
            // Outside of elements, a CDATA section is text.
            Event::CData(text) if depth > 1 => push(["<![CDATA[", &text_of(&text)?, "]]>"]),
            Event::GeneralRef(name) => {
                check_reference(&name).ok()?;
                push(["&", &text_of(&name)?, ";"]);
            }
            _ => return None,
        }
    }
    matches!(reader.read_event(), Ok(Event::Eof)).then_some(out)
}

/// Checks that a reference is to an XML character or a predefined entity.
///
/// # Errors
/// Returns a message about the reference.
pub(crate) fn check_reference(name: &BytesRef<'_>) -> Result<(), String> {
    let character = name.resolve_char_ref().map_err(|error| error.to_string())?;
    let word = name.decode().map_err(|error| error.to_string())?;
    match character.or_else(|| entity(&word)) {
        Some(character) if !is_foreign(character) => Ok(()),
        _ => Err(format!("the entity &{word}; is not one of XML's")),
    }
}

/// Checks what the parser accepts: invalid names, attributes that are repeated or not separated, `<` in attributes,
/// undeclared prefixes.
///
/// # Errors
/// Returns a message about the tag.
pub(crate) fn check_tag(tag: &BytesStart<'_>, namespaces: &NamespaceResolver) -> Result<(), String> {
    let shown = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let name = tag.name();
    if !is_name(name.into_inner()) {
        return Err(format!("{:?} is not an element name", shown(name.into_inner())));
    }
    if let ResolveResult::Unknown(prefix) = namespaces.resolve_element(name).0 {
        return Err(format!("the prefix {} is not declared", shown(&prefix)));
    }
    let mut names = Vec::new();
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let key = attribute.key;
        if !is_name(key.into_inner()) || attribute.value.contains(&b'<') {
            return Err(format!("the attribute {:?} is not well-formed", shown(key.into_inner())));
        }
        if let ResolveResult::Unknown(prefix) = namespaces.resolve_attribute(key).0 {
            return Err(format!("the prefix {} is not declared", shown(&prefix)));
        }
        let value = attribute.unescape_value().map_err(|error| error.to_string())?;
        if value.contains(is_foreign) {
            return Err(format!("the attribute {:?} has a character that XML does not allow", shown(key.into_inner())));
        }
        names.push(key.into_inner());
    }
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|two| two[0] == two[1]) {
        return Err(format!("the attribute {} occurs twice", shown(twice[0])));
    }
    // The quotation mark that opened the attribute.
    let mut open = None;
    let mut bytes = tag.iter().peekable();
    while let Some(byte) = bytes.next() {
        match open {
            None if matches!(byte, b'"' | b'\'') => open = Some(byte),
            Some(mark) if byte == mark => {
                open = None;
                if bytes.peek().is_some_and(|next| !next.is_ascii_whitespace()) {
                    return Err("there is no space between two attributes".to_owned());
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns whether bytes are a name; only ASCII characters are checked.
fn is_name(name: &[u8]) -> bool {
    let begins = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80;
    let is_within = |byte: &u8| begins(*byte) || byte.is_ascii_digit() || matches!(byte, b':' | b'-' | b'.');
    name.first().is_some_and(|byte| begins(*byte)) && name.iter().all(is_within)
}
