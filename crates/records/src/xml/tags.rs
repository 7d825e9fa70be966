//! Checks of tags and references, and where attributes are.

use std::ops::Range;

use quick_xml::events::{BytesRef, BytesStart};
use quick_xml::name::{NamespaceResolver, QName, ResolveResult};

use super::text::{entity, first_foreign, is_foreign};

/// An attribute of a tag: where its name and its value are.
#[derive(Debug, Clone)]
pub struct Attribute {
    name: Range<usize>,
    value: Range<usize>,
    /// Whether the value is written as it is: ASCII without references and without blanks other than spaces.
    is_plain: bool,
}

impl Attribute {
    /// Returns the name, with its prefix.
    pub(crate) fn name<'t>(&self, tag: &'t [u8]) -> &'t [u8] {
        tag.get(self.name.clone()).unwrap_or_default()
    }

    /// Appends the value.
    ///
    /// # Errors
    /// Returns a message about the value.
    pub(crate) fn push_value(&self, tag: &[u8], out: &mut String) -> Result<(), String> {
        let value = tag.get(self.value.clone()).unwrap_or_default();
        if self.is_plain {
            out.push_str(std::str::from_utf8(value).map_err(|error| error.to_string())?);
            return Ok(());
        }
        let blanks = value.iter().any(|byte| matches!(byte, b'\t' | b'\n' | b'\r')).then(|| blanks_as_spaces(value));
        let value = std::str::from_utf8(blanks.as_deref().unwrap_or(value)).map_err(|error| error.to_string())?;
        out.push_str(&quick_xml::escape::unescape(value).map_err(|error| error.to_string())?);
        Ok(())
    }
}

/// Returns the value of an attribute with all blanks replaced by spaces (XML 1.0, section 3.3.3).
fn blanks_as_spaces(value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len());
    for (at, byte) in value.iter().enumerate() {
        match byte {
            b'\n' if at > 0 && value[at - 1] == b'\r' => {}
            b'\t' | b'\n' | b'\r' => out.push(b' '),
            _ => out.push(*byte),
        }
    }
    out
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

/// Finds the attributes of a tag, and checks what the parser accepts: invalid names, attributes that are repeated or not separated, `<`
/// in attributes, undeclared prefixes, characters that XML does not allow.
///
/// # Errors
/// Returns a message about the tag.
pub fn check_tag(
    tag: &BytesStart<'_>,
    namespaces: &NamespaceResolver,
    attributes: &mut Vec<Attribute>,
) -> Result<(), String> {
    find_attributes(tag, attributes)?;
    check_prefixes(tag, namespaces, attributes)
}

/// What the names in a tag need.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Names {
    /// Whether a name has a prefix.
    pub has_prefixes: bool,
    /// Whether an attribute declares a namespace.
    pub declares: bool,
}

/// Finds the attributes of a tag, and checks what the parser accepts: invalid names, attributes that are repeated or not separated, `<`
/// in attributes, characters that XML does not allow.
///
/// # Errors
/// Returns a message about the tag.
pub(crate) fn find_attributes(tag: &BytesStart<'_>, attributes: &mut Vec<Attribute>) -> Result<Names, String> {
    attributes.clear();
    let shown = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let name = tag.name().into_inner();
    let bytes: &[u8] = tag;
    if !is_name(name) {
        return Err(format!("{:?} is not an element name", shown(name)));
    }
    let mut names = Names { has_prefixes: name.contains(&b':'), declares: false };
    let skip = |mut at: usize| {
        while bytes.get(at).is_some_and(|byte| is_blank(*byte)) {
            at += 1;
        }
        at
    };
    let mut end = name.len();
    loop {
        let start = skip(end);
        if start >= bytes.len() {
            break;
        }
        if start == end {
            return Err("there is no space between two attributes".to_owned());
        }
        let rest = bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| has(*byte, ENDS_KEY)).unwrap_or(rest.len());
        let key = rest.get(..length).unwrap_or_default();
        let malformed = || format!("the attribute {:?} is not well-formed", shown(key));
        let equals = skip(start + length);
        let opening = skip(equals + 1);
        let quote = match (bytes.get(equals), bytes.get(opening)) {
            (Some(b'='), Some(quote @ (b'"' | b'\''))) if is_name(key) => *quote,
            _ => return Err(malformed()),
        };
        names.has_prefixes |= key.contains(&b':');
        names.declares |= key.starts_with(b"xmlns");
        let (mut closing, mut common) = (opening + 1, PLAIN);
        loop {
            match bytes.get(closing) {
                None => return Err(malformed()),
                Some(byte) if *byte == quote => break,
                Some(byte) => common &= class(*byte),
            }
            closing += 1;
        }
        let is_plain = common != 0;
        end = closing + 1;
        let own = Attribute { name: start..start + length, value: opening + 1..closing, is_plain };
        if !is_plain {
            let value = bytes.get(own.value.clone()).unwrap_or_default();
            check_value(value).map_err(|what| what.unwrap_or_else(malformed))?;
        }
        attributes.push(own);
    }
    match repeated(bytes, attributes) {
        Some(twice) => Err(format!("the attribute {} occurs twice", shown(twice))),
        None => Ok(names),
    }
}

/// Checks that the prefixes in a tag are declared.
///
/// # Errors
/// Returns a message about the first that is not.
pub(crate) fn check_prefixes(
    tag: &BytesStart<'_>,
    namespaces: &NamespaceResolver,
    attributes: &[Attribute],
) -> Result<(), String> {
    let attributes = attributes.iter().map(|own| own.name(tag)).filter(|name| name.contains(&b':'));
    let attributes = attributes.map(|name| namespaces.resolve_attribute(QName(name)).0);
    let unknown =
        std::iter::once(namespaces.resolve_element(tag.name()).0).chain(attributes).find_map(|found| match found {
            ResolveResult::Unknown(prefix) => Some(prefix),
            _ => None,
        });
    match unknown {
        Some(prefix) => Err(format!("the prefix {} is not declared", String::from_utf8_lossy(&prefix))),
        None => Ok(()),
    }
}

/// Checks the value of an attribute; the error is a message if there is more to say than that it is not well-formed.
fn check_value(value: &[u8]) -> Result<(), Option<String>> {
    if value.contains(&b'<') {
        return Err(None);
    }
    let text = std::str::from_utf8(value).map_err(|error| Some(error.to_string()))?;
    let text = quick_xml::escape::unescape(text).map_err(|error| Some(error.to_string()))?;
    match first_foreign(&text) {
        Some(_) => Err(Some("an attribute has a character that XML does not allow".to_owned())),
        None => Ok(()),
    }
}

/// Returns a name that two attributes have.
fn repeated<'t>(tag: &'t [u8], attributes: &[Attribute]) -> Option<&'t [u8]> {
    if attributes.len() <= 8 {
        let mut all = attributes.iter().enumerate();
        let twice = all.find(|(at, own)| attributes.iter().take(*at).any(|other| other.name(tag) == own.name(tag)));
        return twice.map(|(_, own)| own.name(tag));
    }
    let mut names: Vec<&[u8]> = attributes.iter().map(|own| own.name(tag)).collect();
    names.sort_unstable();
    names.windows(2).find(|two| two[0] == two[1]).map(|two| two[0])
}

/// What a byte can be: a blank, the end of the name of an attribute, the beginning of a name, a part of a name, a part of a value that is
/// written as it is. Every byte of a tag is looked at, so this is a table.
const BLANK: u8 = 1;
const ENDS_KEY: u8 = 2;
const BEGINS_NAME: u8 = 4;
const OF_NAME: u8 = 8;
const PLAIN: u8 = 16;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0u8;
    loop {
        let is_blank = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        // Of names only ASCII characters are checked.
        let begins = byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80;
        let is_within = begins || byte.is_ascii_digit() || matches!(byte, b':' | b'-' | b'.');
        let is_plain = matches!(byte, b' '..=b'~') && !matches!(byte, b'&' | b'<');
        let ends_key = is_blank || byte == b'=';
        classes[byte as usize] = if is_blank { BLANK } else { 0 }
            | if ends_key { ENDS_KEY } else { 0 }
            | if begins { BEGINS_NAME } else { 0 }
            | if is_within { OF_NAME } else { 0 }
            | if is_plain { PLAIN } else { 0 };
        if byte == u8::MAX {
            break;
        }
        byte += 1;
    }
    classes
};

#[inline]
fn class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

#[inline]
fn has(byte: u8, wanted: u8) -> bool {
    class(byte) & wanted != 0
}

fn is_blank(byte: u8) -> bool {
    has(byte, BLANK)
}

/// Returns whether bytes are a name; only ASCII characters are checked.
fn is_name(name: &[u8]) -> bool {
    name.first().is_some_and(|byte| has(*byte, BEGINS_NAME)) && name.iter().all(|byte| has(*byte, OF_NAME))
}
