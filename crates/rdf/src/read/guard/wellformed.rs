//! Requirements of XML for characters, tags and the declaration that the parser does not check.

/// Maximum length in bytes of an instruction that can be a declaration.
pub(in crate::read) const DECLARATION: usize = 1 << 10;

/// Decodes UTF-8 to characters, and checks that XML allows them (XML 1.0, production 2).
#[derive(Default)]
pub(super) struct Characters {
    code: u32,
    /// The smallest code that needs this many bytes, and the number of bytes that are still missing.
    least: u32,
    left: u8,
    /// Whether only the characters of US-ASCII are allowed, because the text states that encoding.
    pub(super) ascii: bool,
}

impl Characters {
    /// The character that ends with this byte; the error is the reason.
    pub(super) fn step(&mut self, byte: u8) -> Result<Option<char>, &'static str> {
        const NOT_UTF8: &str = "the text is not UTF-8";
        if self.ascii && !byte.is_ascii() {
            return Err("a character that is not US-ASCII, the encoding that the text states");
        }
        if self.left == 0 {
            (self.code, self.least, self.left) = match byte {
                0..=0x7f => (u32::from(byte), 0, 0),
                0xc2..=0xdf => (u32::from(byte & 0x1f), 0x80, 1),
                0xe0..=0xef => (u32::from(byte & 0x0f), 0x800, 2),
                0xf0..=0xf4 => (u32::from(byte & 0x07), 0x1_0000, 3),
                _ => return Err(NOT_UTF8),
            };
        } else if byte & 0xc0 == 0x80 {
            self.code = self.code << 6 | u32::from(byte & 0x3f);
            self.left -= 1;
        } else {
            return Err(NOT_UTF8);
        }
        if self.left > 0 {
            return Ok(None);
        }
        let character = char::from_u32(self.code).filter(|_| self.code >= self.least).ok_or(NOT_UTF8)?;
        if is_character(character) { Ok(Some(character)) } else { Err("a character that XML does not allow") }
    }
}

/// Whether XML allows a character (production 2).
pub(super) fn is_character(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

/// The character that a reference names by its number (production 66): digits, or `x` and hexadecimal digits.
pub(super) fn character(number: &str) -> Option<char> {
    // The number parser of the standard library accepts a leading sign, which XML does not.
    if number.contains('+') {
        return None;
    }
    let code = match number.strip_prefix('x') {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => number.parse(),
    };
    code.ok().and_then(char::from_u32).filter(|c| is_character(*c))
}

/// Whether a name is valid, and without a colon.
pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(begins_name) && name.chars().all(is_of_name)
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Production 4, without colons: these end prefixes.
fn begins_name(c: char) -> bool {
    matches!(c, 'A'..='Z' | '_' | 'a'..='z'
        | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{2ff}' | '\u{370}'..='\u{37d}'
        | '\u{37f}'..='\u{1fff}' | '\u{200c}'..='\u{200d}' | '\u{2070}'..='\u{218f}' | '\u{2c00}'..='\u{2fef}'
        | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' | '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}')
}

/// Production 4a.
fn is_of_name(c: char) -> bool {
    let more = matches!(c, '-' | '.' | '0'..='9' | '\u{b7}' | '\u{300}'..='\u{36f}' | '\u{203f}'..='\u{2040}');
    more || begins_name(c)
}

/// The position of the next character within a tag (productions 40 to 44).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum InTag {
    #[default]
    Begin,
    Name(Prefix),
    /// After a blank: an attribute can start, or the tag ends.
    Gap,
    Attribute(Prefix),
    /// After a blank that follows the name of an attribute.
    Named,
    Equals,
    Value(char),
    /// After a value.
    Valued,
    Slash,
}

/// Whether a name has a prefix (Namespaces in XML, production 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefix {
    /// Only letters so far.
    Open,
    /// A colon was last.
    Ended,
    /// There are letters after the colon.
    Named,
}

impl Prefix {
    /// The state after one more character of a name; `None` if it is not allowed.
    fn step(self, c: char) -> Option<Self> {
        match (self, c) {
            (Prefix::Open, ':') => Some(Prefix::Ended),
            (_, ':') => None,
            (Prefix::Ended, c) => begins_name(c).then_some(Prefix::Named),
            (same, c) => is_of_name(c).then_some(same),
        }
    }
}

impl InTag {
    /// The position after a character; the error is the reason.
    pub(super) fn step(self, c: char, closing: bool) -> Result<Self, &'static str> {
        const NAME: &str = "a character that is not allowed in a name here";
        match (self, c) {
            (InTag::Begin, c) if begins_name(c) => Ok(InTag::Name(Prefix::Open)),
            (InTag::Begin, _) => Err("< does not start a tag; write &lt;"),
            (InTag::Name(Prefix::Ended) | InTag::Attribute(Prefix::Ended), c) if !begins_name(c) => Err(NAME),
            (InTag::Name(_) | InTag::Gap | InTag::Valued, c) if is_blank(c) => Ok(InTag::Gap),
            (InTag::Name(_) | InTag::Gap | InTag::Valued | InTag::Slash, '>') => Ok(InTag::Begin),
            (InTag::Name(_) | InTag::Gap | InTag::Valued, '/') if !closing => Ok(InTag::Slash),
            (InTag::Name(prefix), c) => prefix.step(c).map(InTag::Name).ok_or(NAME),
            (InTag::Gap, c) if begins_name(c) && !closing => Ok(InTag::Attribute(Prefix::Open)),
            (InTag::Gap, _) => Err(NAME),
            (InTag::Valued, _) => Err("no blank between two attributes"),
            (InTag::Slash, _) => Err("/ must be followed by >"),
            (InTag::Attribute(_) | InTag::Named, c) if is_blank(c) => Ok(InTag::Named),
            (InTag::Attribute(_) | InTag::Named, '=') => Ok(InTag::Equals),
            (InTag::Attribute(prefix), c) => {
                prefix.step(c).map(InTag::Attribute).ok_or("an attribute without a value, or with an invalid name")
            }
            (InTag::Named, _) => Err("an attribute without a value"),
            (InTag::Equals, c) if is_blank(c) => Ok(InTag::Equals),
            (InTag::Equals, quote @ ('"' | '\'')) => Ok(InTag::Value(quote)),
            (InTag::Equals, _) => Err("a value without quotes"),
            (InTag::Value(quote), c) if c == quote => Ok(InTag::Valued),
            (InTag::Value(_), '<') => Err("< in a value; write &lt;"),
            (value @ InTag::Value(_), _) => Ok(value),
        }
    }
}

/// The error in the text between `<?` and `?>`, if there is one (productions 16, 17 and 23).
pub(super) fn mistake_of_instruction(content: &[u8], first: bool) -> Option<&'static str> {
    let end = content.iter().position(u8::is_ascii_whitespace).unwrap_or(content.len());
    let (name, rest) = content.split_at(end);
    if !name.eq_ignore_ascii_case(b"xml") {
        let sound = std::str::from_utf8(name).is_ok_and(is_name);
        return (!sound).then_some("an instruction without a name");
    }
    if !first {
        return Some("an XML declaration that is not at the beginning");
    }
    let sound = name == b"xml" && content.len() <= DECLARATION && is_declaration(rest);
    (!sound).then_some("an invalid XML declaration; a valid one is <?xml version=\"1.0\" encoding=\"UTF-8\"?>")
}

/// The encoding that a declaration states: the text between `<?` and `?>`, which is valid.
pub(in crate::read) fn encoding(content: &[u8]) -> Option<&[u8]> {
    let mut rest = content.strip_prefix(b"xml")?;
    attribute(&mut rest, b"version")?;
    attribute(&mut rest, b"encoding")
}

/// Whether an encoding is US-ASCII, by one of the names that are registered for it.
pub(in crate::read) fn is_ascii(encoding: &[u8]) -> bool {
    const NAMES: [&[u8]; 5] = [b"us-ascii", b"ascii", b"ansi_x3.4-1968", b"iso646-us", b"us"];
    NAMES.iter().any(|name| encoding.eq_ignore_ascii_case(name))
}

/// Whether this states the version, followed by the encoding and `standalone` if they are present.
fn is_declaration(mut rest: &[u8]) -> bool {
    let Some(version) = attribute(&mut rest, b"version") else { return false };
    let numbers = version.strip_prefix(b"1.").unwrap_or_default();
    let encoding = attribute(&mut rest, b"encoding");
    let alone = attribute(&mut rest, b"standalone");
    let is_name = |name: &[u8]| {
        let of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        name.first().is_some_and(u8::is_ascii_alphabetic) && name.iter().all(of_name)
    };
    !numbers.is_empty()
        && numbers.iter().all(u8::is_ascii_digit)
        && encoding.is_none_or(is_name)
        && alone.is_none_or(|alone| matches!(alone, b"yes" | b"no"))
        && rest.trim_ascii().is_empty()
}

/// Removes a blank, a name and its value from the beginning, if they are there.
fn attribute<'t>(rest: &mut &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let text = rest.trim_ascii_start();
    let value = text.strip_prefix(name)?.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let (quote, value) = value.split_first().filter(|(quote, _)| matches!(quote, b'"' | b'\''))?;
    let end = value.iter().position(|byte| byte == quote)?;
    if text.len() == rest.len() {
        return None;
    }
    *rest = value.get(end + 1..).unwrap_or_default();
    value.get(..end)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn characters_are_those_of_the_standard_library() {
        // Every decodable character is accepted, unless XML does not allow it; each code, and invalid bytes.
        let taken = |bytes: &[u8]| {
            let mut characters = Characters::default();
            let found: Result<Vec<_>, _> = bytes.iter().map(|byte| characters.step(*byte)).collect();
            found.ok().filter(|_| characters.left == 0).map(|found| found.into_iter().flatten().collect::<String>())
        };
        for code in (0..0x3000).chain((0x3000..0x11_0000).step_by(61)).chain([0xd7ff, 0xe000, 0xfffd, 0xfffe, 0xffff]) {
            let Some(c) = char::from_u32(code) else { continue };
            let text = c.to_string();
            assert_eq!(taken(text.as_bytes()).is_some(), is_character(c), "{code:x}");
            assert!(taken(text.as_bytes()).is_none_or(|found| found == text));
        }
        for first in 0x80..=0xff {
            for second in [0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0] {
                for bytes in [&[first, second][..], &[first, second, 0x80], &[first, second, 0x80, 0x80]] {
                    let sound = std::str::from_utf8(bytes).is_ok_and(|text| text.chars().all(is_character));
                    assert_eq!(taken(bytes).is_some(), sound, "{bytes:x?}");
                }
            }
        }
    }

    #[test]
    fn tags_have_a_form() {
        let sound = |tag: &str, closing| {
            let mut at = InTag::default();
            tag.chars().all(|c| at.step(c, closing).inspect(|next| at = *next).is_ok()) && at == InTag::Begin
        };
        for tag in ["a>", "a:b-c.d />", "a x:y='1'>", "é x='1'\ty = \"2>'\">", "a x=''/>"] {
            assert!(sound(tag, false), "{tag}");
        }
        for tag in [">", " a>", "1>", "a;b>", "a x>", "a x=1>", "a x='1'y='2'>", "a / >", "a x='<'>", "a ='1'>", "×>"]
        {
            assert!(!sound(tag, false), "{tag}");
        }
        assert!(sound("a >", true) && !sound("a x='1'>", true) && !sound("a/>", true));
    }

    #[test]
    fn declarations_have_a_form() {
        let sound = |content: &str, first| mistake_of_instruction(content.as_bytes(), first).is_none();
        for content in [
            "xml version='1.0'",
            "xml version = \"1.1\" encoding='utf-8' standalone=\"no\" ",
            "xml\nversion='1.0'\tstandalone='yes'",
        ] {
            assert!(sound(content, true) && !sound(content, false), "{content}");
        }
        for content in [
            "xml",
            "XML version='1.0'",
            "xml version='2.0'",
            "xml version='1.'",
            "xml version='1.0",
            "xml encoding='utf-8' version='1.0'",
            "xml version='1.0'encoding='utf-8'",
            "xml version='1.0' encoding='8'",
            "xml version='1.0' standalone='maybe'",
            "xml version='1.0' more='no'",
            "",
            " a",
            "1",
            "xml;version='1.0'",
            "a:b",
        ] {
            assert!(!sound(content, true), "{content}");
        }
        assert!(sound("xml-stylesheet href='a'", false) && sound("p", false));
    }
}
