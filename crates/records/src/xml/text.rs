//! Characters and entities of XML, and the escapes of text.

use isomorph_error::{Error, Kind, Result};

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

/// Returns the first character that XML does not allow.
pub(crate) fn first_foreign(text: &str) -> Option<char> {
    // U+FFFE and U+FFFF begin with the byte 0xEF.
    let may_be = |byte: u8| byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r') || byte == 0xef;
    match text.bytes().any(may_be) {
        true => text.chars().find(|character| is_foreign(*character)),
        false => None,
    }
}

/// Checks that XML can represent a text.
///
/// # Errors
/// Returns [`Kind::WouldLose`] if the text contains a character that XML 1.0 does not allow.
pub fn check_text(text: &str) -> Result<()> {
    match first_foreign(text) {
        None => Ok(()),
        Some(character) => {
            let code = u32::from(character);
            let short: String = text.chars().take(40).collect();
            Err(Error::new(Kind::WouldLose, format!("XML does not allow the character U+{code:04X} in {short:?}"))
                .hint("remove such characters from the data")
                .hint("--to parquet|jsonl|nodelink    write a format that has them"))
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
