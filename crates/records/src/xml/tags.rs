//! Checks of tags, references and characters, and the escapes of text.

use isomorph_error::{Error, Kind, Result};
use quick_xml::events::{BytesRef, BytesStart};
use quick_xml::name::{NamespaceResolver, ResolveResult};

/// Returns whether XML 1.0 does not allow a character (section 2.2).
pub fn is_foreign(character: char) -> bool {
    matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

/// Returns the character of a predefined XML entity.
pub fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => None,
    }
}

/// Checks that XML can represent a text.
///
/// # Errors
/// Returns [`Kind::WouldLose`] if the text contains a character that XML 1.0 does not allow.
pub fn check_text(text: &str) -> Result<()> {
    match text.chars().find(|character| is_foreign(*character)) {
        None => Ok(()),
        Some(character) => {
            let code = u32::from(character);
            Err(Error::new(Kind::WouldLose, format!("XML does not allow the character U+{code:04X} in {text:?}")))
        }
    }
}

/// Appends text; in attributes, blanks other than spaces are escaped, because readers replace them with spaces.
///
/// # Errors
/// As [`check_text`].
pub fn push_escaped(out: &mut String, text: &str, in_attribute: bool) -> Result<()> {
    let is_plain = |byte: u8| {
        !matches!(byte, b'&' | b'<' | b'>' | b'"') && (byte >= b' ' || byte == b'\n' && !in_attribute) && byte != 0xef
    };
    if text.bytes().all(is_plain) {
        out.push_str(text);
        return Ok(());
    }
    check_text(text)?;
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#13;"),
            '\n' if in_attribute => out.push_str("&#10;"),
            '\t' if in_attribute => out.push_str("&#9;"),
            _ => out.push(character),
        }
    }
    Ok(())
}

/// Checks that a reference is to an XML character or a predefined entity.
///
/// # Errors
/// Returns a message about the reference.
pub fn check_reference(name: &BytesRef<'_>) -> std::result::Result<(), String> {
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
pub fn check_tag(tag: &BytesStart<'_>, namespaces: &NamespaceResolver) -> std::result::Result<(), String> {
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
