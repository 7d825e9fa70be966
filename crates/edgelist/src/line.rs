//! Lines, and splitting them into fields.

use std::borrow::Cow;

/// The separator of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// Any number of blanks and tabs.
    Blanks,
    /// One tab; a field may contain blanks, or be empty.
    Tab,
    /// One tab below a header; a field may be quoted.
    QuotedTab,
    /// One comma; a field may be quoted.
    Comma,
    /// One semicolon; the same.
    Semicolon,
    /// One bar; the same.
    Bar,
}

impl Separator {
    pub fn words(self) -> &'static str {
        match self {
            Separator::Blanks => "fields separated by blanks",
            Separator::Tab | Separator::QuotedTab => "fields separated by tabs",
            Separator::Comma => "fields separated by commas",
            Separator::Semicolon => "fields separated by semicolons",
            Separator::Bar => "fields separated by bars",
        }
    }

    /// Returns the character between fields that may be quoted, in tables of any program.
    pub fn mark(self) -> Option<char> {
        match self {
            Separator::Comma => Some(','),
            Separator::Semicolon => Some(';'),
            Separator::Bar => Some('|'),
            Separator::Blanks | Separator::Tab | Separator::QuotedTab => None,
        }
    }
}

/// Returns a line with content, without its line end; `None` for an empty line and, if `has_comments`, for a comment.
pub(crate) fn content(line: &str, has_comments: bool) -> Option<&str> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let begin = line.trim_start_matches([' ', '\t']);
    if begin.is_empty() || has_comments && begin.starts_with(['#', '%']) { None } else { Some(line) }
}

/// Removes a trailing comment, which NetworkX cuts at `#`. Quoted text in a dictionary is kept; before a dictionary,
/// there are comments only if blanks are the separator.
pub(crate) fn without_comment(line: &str, between_blanks: bool) -> &str {
    if memchr::memchr(b'#', line.as_bytes()).is_none() {
        return line;
    }
    let (mut quote, mut in_dictionary, mut before, mut is_escaped) = (None, false, b' ', false);
    for (at, byte) in line.bytes().enumerate() {
        match quote {
            Some(_) if std::mem::take(&mut is_escaped) => {}
            Some(_) if byte == b'\\' => is_escaped = true,
            Some(open) if open == byte => quote = None,
            Some(_) => {}
            None if byte == b'{' => in_dictionary = true,
            None if in_dictionary && matches!(byte, b'\'' | b'"') => quote = Some(byte),
            None if byte == b'#' && (in_dictionary || between_blanks && matches!(before, b' ' | b'\t')) => {
                return line.get(..at).unwrap_or(line);
            }
            None => {}
        }
        before = byte;
    }
    line
}

/// Splits a line into fields, in `out`. Returns false if quotation marks do not enclose a whole field.
pub(crate) fn split<'a>(line: &'a str, separator: Separator, out: &mut Vec<Cow<'a, str>>) -> bool {
    out.clear();
    match separator {
        Separator::Blanks => out.extend(line.split([' ', '\t']).filter(|field| !field.is_empty()).map(Cow::Borrowed)),
        Separator::Tab => out.extend(line.split('\t').map(Cow::Borrowed)),
        Separator::QuotedTab => out.extend(line.split('\t').map(unquoted)),
        Separator::Comma => return quotable(line, ',', out),
        Separator::Semicolon => return quotable(line, ';', out),
        Separator::Bar => return quotable(line, '|', out),
    }
    true
}

/// A field without the quotation marks that enclose it; any other field as it is.
pub(crate) fn unquoted(field: &str) -> Cow<'_, str> {
    match field.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inner) if !inner.replace("\"\"", "").contains('"') => Cow::Owned(inner.replace("\"\"", "\"")),
        _ => Cow::Borrowed(field),
    }
}

fn quotable<'a>(mut rest: &'a str, mark: char, out: &mut Vec<Cow<'a, str>>) -> bool {
    loop {
        let Some(quoted) = rest.strip_prefix('"') else {
            let end = rest.find(mark);
            let field = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            if trimmed(field).starts_with('"') {
                return false;
            }
            out.push(Cow::Borrowed(field));
            match end {
                Some(end) => rest = rest.get(end + 1..).unwrap_or_default(),
                None => return true,
            }
            continue;
        };
        let (mut field, mut left) = (Cow::Borrowed(""), quoted);
        loop {
            let Some(end) = left.find('"') else { return false };
            let piece = left.get(..end).unwrap_or_default();
            if field.is_empty() {
                field = Cow::Borrowed(piece)
            } else {
                field.to_mut().push_str(piece)
            }
            left = left.get(end + 1..).unwrap_or_default();
            match left.strip_prefix('"') {
                Some(more) => {
                    field.to_mut().push('"');
                    left = more;
                }
                None => break,
            }
        }
        out.push(if field.is_empty() { Cow::Owned(String::new()) } else { field });
        match left.strip_prefix(mark) {
            Some(more) => rest = more,
            None => return left.is_empty(),
        }
    }
}

/// Removes the blanks around a field.
pub(crate) fn trimmed(field: &str) -> &str {
    field.trim_matches([' ', '\t'])
}

/// Returns source and target of a line with a dictionary, and the byte at which the dictionary begins.
pub(crate) fn with_dictionary(line: &str, separator: Separator) -> Option<(&str, &str, usize)> {
    let open = line.find('{').filter(|_| line.trim_end().ends_with('}'))?;
    let before = line.get(..open)?;
    let divided_by = |mark: char| {
        let before = before.trim_end_matches(' ');
        before.strip_suffix(mark).unwrap_or(before).split(mark).collect::<Vec<_>>()
    };
    let ends = match separator {
        Separator::Tab | Separator::QuotedTab => divided_by('\t'),
        _ if separator.mark().is_some() && before.contains('"') => return None,
        Separator::Comma => divided_by(','),
        Separator::Semicolon => divided_by(';'),
        Separator::Bar => divided_by('|'),
        Separator::Blanks => before.split([' ', '\t']).filter(|field| !field.is_empty()).collect(),
    };
    match ends.as_slice() {
        [source, target] if !source.is_empty() && !target.is_empty() => Some((source, target, open)),
        _ => None,
    }
}

/// Parses an integer in canonical form: no sign but a minus, no leading zeros, at most 64 bits.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let is_canonical = match digits {
        [b'0'] => text.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if is_canonical { text.parse().ok() } else { None }
}

/// Returns whether a double represents this integer exactly.
pub(crate) fn is_exact(magnitude: u128) -> bool {
    magnitude == 0 || u128::BITS - magnitude.leading_zeros() - magnitude.trailing_zeros() <= f64::MANTISSA_DIGITS
}

/// The text of a field; `None` for an empty one that is not quoted.
#[expect(clippy::ptr_arg, reason = "`split` owns the empty text of a quoted field, and borrows that of any other")]
pub(crate) fn cell<'f>(field: &'f Cow<'_, str>) -> Option<&'f str> {
    if matches!(field, Cow::Borrowed("")) { None } else { Some(field) }
}

/// Parses a float that loses no digit and is in range; a number with leading zeros is a code, not a number.
pub(crate) fn float(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).as_bytes();
    match digits {
        [b'0', b'0'..=b'9', ..] => None,
        [b'0'..=b'9' | b'.', ..] => {
            let mantissa = digits.split(|byte| matches!(byte, b'e' | b'E')).next().unwrap_or_default();
            let is_whole = mantissa.len() == digits.len() && !mantissa.contains(&b'.');
            // Zeros at either end are not significant, except at the end of an integer, which is written out.
            let (mut count, mut zeros) = (0, 0);
            for digit in mantissa.iter().filter(|byte| byte.is_ascii_digit()) {
                zeros = if *digit == b'0' && count > 0 && !is_whole { zeros + 1 } else { 0 };
                count += usize::from(count > 0 || *digit != b'0');
            }
            let most = if is_whole { 15 } else { 17 };
            let is_kept = |value: &f64| value.is_finite() && (*value != 0.0 || count == 0) && count - zeros <= most;
            text.parse().ok().filter(is_kept)
        }
        _ => match text {
            "nan" | "NaN" => Some(f64::NAN),
            "inf" | "Infinity" => Some(f64::INFINITY),
            "-inf" | "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(line: &str, separator: Separator) -> Vec<Cow<'_, str>> {
        let mut out = Vec::new();
        assert!(split(line, separator, &mut out), "{line}");
        out
    }

    #[test]
    fn fields_of_lines() {
        assert_eq!(fields(" 1  2\t3 ", Separator::Blanks), ["1", "2", "3"]);
        assert_eq!(fields("a b\t c\t\t", Separator::Tab), ["a b", " c", "", ""]);
        assert_eq!(fields("a,\"b \"\"x\"\", y\",, c", Separator::Comma), ["a", "b \"x\", y", "", " c"]);
        assert_eq!(fields("", Separator::Comma), [""]);
        assert_eq!(fields("\"\"", Separator::Comma), [""]);
        assert_eq!(fields("\"a\"\t\"b \"\"c\"\"\"\t\"d\t\"\"", Separator::QuotedTab), ["a", "b \"c\"", "\"d", ""]);
        for line in ["\"a", "\"a\"b,c", "\"a\" ,b", "a, \"b\""] {
            assert!(!split(line, Separator::Comma, &mut Vec::new()), "{line}");
        }
        assert_eq!(with_dictionary("a,b,{'x': 1}", Separator::Comma), Some(("a", "b", 4)));
        assert_eq!(with_dictionary("a  b {'x': 1}", Separator::Blanks), Some(("a", "b", 5)));
        assert_eq!(with_dictionary("a {'x': 1}", Separator::Blanks), None);
    }

    #[test]
    fn comments_behind_lines() {
        let cut = |line| without_comment(line, true);
        assert_eq!(["a b # x", "a b#c", "a b {'k': '#\\'#'} # y"].map(cut), ["a b ", "a b#c", "a b {'k': '#\\'#'} "]);
    }

    #[test]
    fn numbers_of_fields() {
        let integers = ["0", "-0", "01", "+1", "-7", "9223372036854775807", "9223372036854775808", ""].map(integer);
        assert_eq!(integers, [Some(0), None, None, None, Some(-7), Some(i64::MAX), None, None]);
        let floats = ["0", "0.5", ".5", "0012", "1e3", "-0.0", "9007199254740993", "abc", "1x"].map(float);
        assert_eq!(floats, [Some(0.0), Some(0.5), Some(0.5), None, Some(1000.0), Some(-0.0), None, None, None]);
        // What a double would round, or print in another way, stays text.
        let kept = ["1234567890123456", "18446744073709551616", "12345678901234567890.12", "0.1234567890123456789"];
        assert_eq!(kept.map(float), [None; 4]);
        assert_eq!(["1e400", "1e-400", "-1e999"].map(float), [None; 3]);
        let floats = ["0e-400", "0.50000000000000000000", "12345678901234567e3"].map(float);
        assert_eq!(floats, [Some(0.0), Some(0.5), Some(12345678901234567e3)]);
    }
}
