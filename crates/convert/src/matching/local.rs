//! The part of a prefixed name after the prefix, as in Turtle (`PN_LOCAL`): characters that end or separate names there
//! must be escaped with a backslash here too.

/// Characters that can be escaped with a backslash (`PN_LOCAL_ESC`).
const ESCAPED: &str = "_~.-!$&'()*+,;=/?#@%";

/// Resolves the escapes of a name.
///
/// # Errors
/// Returns the reason if the name is invalid.
pub(super) fn unescaped(name: &str) -> Result<String, String> {
    let mut out = String::with_capacity(name.len());
    let mut rest = name.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => match rest.next().filter(|c| ESCAPED.contains(*c)) {
                Some(c) => out.push(c),
                None => return Err(format!("a backslash can only escape one of {ESCAPED}")),
            },
            '%' => {
                let digits: String = rest.by_ref().take(2).collect();
                if digits.len() != 2 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                    return Err("% must be followed by two hexadecimal digits".to_owned());
                }
                out.push('%');
                out.push_str(&digits);
            }
            '-' | '.' if out.is_empty() => return Err(format!("at the beginning, {c} must be written \\{c}")),
            '.' if rest.as_str().is_empty() => return Err("at the end, . must be written \\.".to_owned()),
            c if is_of_name(c) => out.push(c),
            c if ESCAPED.contains(c) => return Err(format!("{c} must be written \\{c}, or the IRI in angle brackets")),
            c => return Err(format!("{c} is not allowed")),
        }
    }
    Ok(out)
}

/// Whether a character can be in a name without an escape: `PN_CHARS`, the colon and the full stop.
fn is_of_name(c: char) -> bool {
    match c {
        '_' | '-' | ':' | '.' => true,
        c if c.is_ascii() => c.is_ascii_alphanumeric(),
        '\u{b7}' | '\u{c0}'..='\u{d6}' | '\u{d8}'..='\u{f6}' | '\u{f8}'..='\u{37d}' | '\u{37f}'..='\u{1fff}' => true,
        '\u{200c}'..='\u{200d}' | '\u{203f}'..='\u{2040}' | '\u{2070}'..='\u{218f}' => true,
        '\u{2c00}'..='\u{2fef}' | '\u{3001}'..='\u{d7ff}' | '\u{f900}'..='\u{fdcf}' => true,
        '\u{fdf0}'..='\u{fffd}' | '\u{10000}'..='\u{effff}' => true,
        _ => false,
    }
}
