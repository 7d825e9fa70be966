//! Finds the ends of tokens of Turtle and TriG, valid or not.

/// The kind of a token, as far as it matters for the ends of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// White space and comments.
    Space,
    /// Names, numbers, keywords, languages.
    Word,
    Iri,
    /// A string on one line.
    Short,
    /// A string between triple quotation marks.
    Long,
    /// An opening bracket.
    Open(u8),
    Close,
    Dot,
    /// Braces of a graph.
    Begin,
    End,
    Sign,
    /// An IRI without a valid end.
    Astray,
    /// A string without an end.
    Endless,
}

/// The token at the start of some bytes, and its length; `None` if more bytes may change that, which is impossible if
/// the text has `ended`.
pub(super) fn token(bytes: &[u8], ended: bool) -> Option<(usize, Token)> {
    let second = bytes.get(1).copied();
    if second.is_none() && !ended {
        return None;
    }
    Some(match (bytes.first()?, second) {
        (b' ' | b'\t' | b'\r' | b'\n', _) => {
            let end = bytes.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
            (end.unwrap_or(bytes.len()), Token::Space)
        }
        (b'#', _) => match memchr::memchr2(b'\n', b'\r', bytes) {
            Some(end) => (end, Token::Space),
            None if ended => (bytes.len(), Token::Space),
            None => return None,
        },
        // The bracket of a triple term is a separate token.
        (b'<', Some(b'<')) => (2, Token::Sign),
        (b'<', _) => return iri(bytes, ended),
        (b'"' | b'\'', _) => return string(bytes, ended),
        (b'.', Some(b'0'..=b'9')) => return word(bytes, ended),
        (b'.', _) => (1, Token::Dot),
        (b'(', _) => (1, Token::Open(b'(')),
        (b'[', _) => (1, Token::Open(b'[')),
        (b'{', Some(b'|')) => (2, Token::Open(b'|')),
        (b'|', Some(b'}')) => (2, Token::Close),
        (b')' | b']', _) => (1, Token::Close),
        (b'{', _) => (1, Token::Begin),
        (b'}', _) => (1, Token::End),
        (b'@' | b'\\', _) => return word(bytes, ended),
        (first, _) if is_of_word(*first) => return word(bytes, ended),
        _ => (1, Token::Sign),
    })
}

/// Whether words can have this byte.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b':' | b'%') || byte >= 0x80
}

fn word(bytes: &[u8], ended: bool) -> Option<(usize, Token)> {
    let mut at = 1;
    if bytes.first() == Some(&b'\\') {
        at = 0;
    }
    loop {
        match (bytes.get(at), bytes.get(at + 1)) {
            (None, _) if !ended => return None,
            (Some(b'\\'), None) if !ended => return None,
            // An escaped character that can be in a name.
            (Some(b'\\'), Some(next)) if next.is_ascii_graphic() && *next != b'"' => at += 2,
            (Some(b'\\'), _) => at += 1,
            (Some(b'.'), _) => at += 1,
            (Some(byte), _) if is_of_word(*byte) => at += 1,
            _ => break,
        }
    }
    // Words do not end with full stops, unless they are escaped.
    while at > 1 && bytes.get(at - 1) == Some(&b'.') && bytes.get(at - 2) != Some(&b'\\') {
        at -= 1;
    }
    Some((at, Token::Word))
}

fn iri(bytes: &[u8], ended: bool) -> Option<(usize, Token)> {
    let stop = |byte: &u8| *byte <= b' ' || matches!(byte, b'>' | b'<' | b'"');
    let Some(end) = bytes.iter().skip(1).position(stop).map(|at| at + 1) else {
        return ended.then_some((1, Token::Astray));
    };
    if bytes.get(end) == Some(&b'>') {
        return Some((end + 1, Token::Iri));
    }
    let rest = bytes.get(end..)?;
    let line = match memchr::memchr2(b'\n', b'\r', rest) {
        Some(length) => rest.get(..length)?,
        None if ended => rest,
        None => return None,
    };
    // An IRI with blanks in it, and nothing that looks like the end of something else.
    let close = memchr::memchr3(b'>', b'<', b'"', line).filter(|at| line.get(*at) == Some(&b'>'));
    Some(match close {
        Some(at) if memchr::memchr3(b'\'', b'#', b'{', line.get(..at)?).is_none() => (end + at + 1, Token::Iri),
        _ => (1, Token::Astray),
    })
}

fn string(bytes: &[u8], ended: bool) -> Option<(usize, Token)> {
    let quote = *bytes.first()?;
    let is_long = match bytes.get(..3) {
        Some(first) => first.iter().all(|byte| *byte == quote),
        None if ended => false,
        None => return None,
    };
    let mut at = if is_long { 3 } else { 1 };
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        let next = match is_long {
            true => memchr::memchr2(quote, b'\\', rest).map(|next| at + next),
            false => rest
                .iter()
                .position(|byte| *byte == quote || matches!(byte, b'\\' | b'\n' | b'\r'))
                .map(|next| at + next),
        };
        let Some(next) = next else { return ended.then_some((1, Token::Endless)) };
        match (bytes.get(next), bytes.get(next + 1)) {
            (Some(b'\\'), None) if !ended => return None,
            // A line ends, whatever comes before it.
            (Some(b'\\'), Some(b'\n' | b'\r')) => at = next + 1,
            (Some(b'\\'), _) => at = next + 2,
            (Some(b'\n' | b'\r'), _) => return Some((1, Token::Endless)),
            _ if !is_long => return Some((next + 1, Token::Short)),
            _ => match bytes.get(next..next + 3) {
                Some(end) if end.iter().all(|byte| *byte == quote) => return Some((next + 3, Token::Long)),
                None if !ended => return None,
                _ => at = next + 1,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn tokens_end_where_they_end() {
        let cases: &[(&str, usize, Token)] = &[
            ("ex:a.b. ", 6, Token::Word),
            ("ex:a\\.\n", 6, Token::Word),
            ("1.5.\n", 3, Token::Word),
            (".5 .", 2, Token::Word),
            (". 5", 1, Token::Dot),
            ("@en--ltr.", 8, Token::Word),
            ("<a>.", 3, Token::Iri),
            ("<<<a>", 2, Token::Sign),
            ("<a . b> .", 7, Token::Iri),
            ("<a .\n<b>", 1, Token::Astray),
            ("<a . <b>", 1, Token::Astray),
            ("\"\" .", 2, Token::Short),
            ("'a\\'.' .", 6, Token::Short),
            ("'a\n'", 1, Token::Endless),
            ("\"\"\"a\"\" \\\"\"\" b\"\"\"\"", 16, Token::Long),
            ("'''a''", 1, Token::Endless),
            ("# it's\n.", 6, Token::Space),
            ("{|", 2, Token::Open(b'|')),
            ("{ |", 1, Token::Begin),
        ];
        for (text, length, expected) in cases {
            assert_eq!(token(text.as_bytes(), true), Some((*length, *expected)), "{text}");
            // With fewer bytes the result is the same, or not yet known.
            for end in 0..text.len() {
                let found = token(&text.as_bytes()[..end], false);
                let is_space = *expected == Token::Space;
                assert!(found.is_none_or(|found| found == (*length, *expected) || is_space), "{text} {end} {found:?}");
            }
        }
    }
}
