//! Lines, and the fields that they are divided into.

use std::borrow::Cow;

/// What stands between fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Separator {
    /// Any number of blanks and tabs.
    Blanks,
    /// One tab; a field may have blanks, or be empty.
    Tab,
    /// One comma; a field may stand in quotation marks.
    Comma,
}

impl Separator {
    pub fn words(self) -> &'static str {
        match self {
            Separator::Blanks => "fields between blanks",
            Separator::Tab => "fields between tabs",
            Separator::Comma => "fields between commas",
        }
    }
}

/// A line that says something, without its end; nothing for an empty one and for a comment.
pub(crate) fn content(line: &str) -> Option<&str> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let begin = line.trim_start_matches([' ', '\t']);
    if begin.is_empty() || begin.starts_with(['#', '%']) { None } else { Some(line) }
}

/// Divides a line into fields, in `out`.
pub(crate) fn split<'a>(line: &'a str, separator: Separator, out: &mut Vec<Cow<'a, str>>) {
    out.clear();
    match separator {
        Separator::Blanks => out.extend(line.split([' ', '\t']).filter(|field| !field.is_empty()).map(Cow::Borrowed)),
        Separator::Tab => out.extend(line.split('\t').map(|field| Cow::Borrowed(field.trim_matches(' ')))),
        Separator::Comma => commas(line, out),
    }
}

fn commas<'a>(mut rest: &'a str, out: &mut Vec<Cow<'a, str>>) {
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let Some(quoted) = rest.strip_prefix('"') else {
            let end = rest.find(',');
            out.push(Cow::Borrowed(
                rest.get(..end.unwrap_or(rest.len())).unwrap_or_default().trim_end_matches([' ', '\t']),
            ));
            match end {
                Some(end) => rest = rest.get(end + 1..).unwrap_or_default(),
                None => return,
            }
            continue;
        };
        let (mut field, mut left) = (Cow::Borrowed(""), quoted);
        loop {
            let end = left.find('"').unwrap_or(left.len());
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
        out.push(field);
        match left.find(',') {
            Some(end) => rest = left.get(end + 1..).unwrap_or_default(),
            None => return,
        }
    }
}

/// The ends of a line with a dictionary, and the dictionary, which begins at the byte that is named.
pub(crate) fn with_dictionary(line: &str, separator: Separator) -> Option<(&str, &str, usize)> {
    let open = line.find('{').filter(|_| line.trim_end().ends_with('}'))?;
    let before = line.get(..open)?;
    let mut ends = match separator {
        Separator::Tab => before.split('\t').map(|field| field.trim_matches(' ')).collect::<Vec<_>>(),
        _ => before.split([' ', '\t']).collect(),
    };
    ends.retain(|field| !field.is_empty());
    match ends.as_slice() {
        [source, target] => Some((source, target, open)),
        _ => None,
    }
}

/// An integer in canonical form: no sign but a minus, no zeros in front, nothing beyond 64 bits.
pub(crate) fn integer(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text).as_bytes();
    let is_canonical = match digits {
        [b'0'] => text.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if is_canonical { text.parse().ok() } else { None }
}

/// A float; a number with zeros in front is a code, not a number.
pub(crate) fn float(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text).as_bytes();
    match digits {
        [b'0', b'0'..=b'9', ..] => None,
        [b'0'..=b'9' | b'.', ..] => {
            // An integer beyond 64 bits would lose its last digits.
            let is_long = digits.len() > 15 && digits.iter().all(u8::is_ascii_digit);
            if is_long { None } else { text.parse().ok() }
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
        split(line, separator, &mut out);
        out
    }

    #[test]
    fn fields_of_lines() {
        assert_eq!(fields(" 1  2\t3 ", Separator::Blanks), ["1", "2", "3"]);
        assert_eq!(fields("a b\t c\t\t", Separator::Tab), ["a b", "c", "", ""]);
        assert_eq!(fields("a, \"b \"\"x\"\", y\" ,,c", Separator::Comma), ["a", "b \"x\", y", "", "c"]);
        assert_eq!(fields("", Separator::Comma), [""]);
        assert_eq!(fields("\"\"", Separator::Comma), [""]);
        assert_eq!(fields("\"a", Separator::Comma), ["a"]);
        assert_eq!(with_dictionary("a  b {'x': 1}", Separator::Blanks), Some(("a", "b", 5)));
        assert_eq!(with_dictionary("a {'x': 1}", Separator::Blanks), None);
    }

    #[test]
    fn numbers_of_fields() {
        let integers = ["0", "-0", "01", "+1", "-7", "9223372036854775807", "9223372036854775808", ""].map(integer);
        assert_eq!(integers, [Some(0), None, None, None, Some(-7), Some(i64::MAX), None, None]);
        let floats = ["0", "0.5", ".5", "0012", "1e3", "-0.0", "12345678901234567890", "abc", "1x"].map(float);
        assert_eq!(floats, [Some(0.0), Some(0.5), Some(0.5), None, Some(1000.0), Some(-0.0), None, None, None]);
    }
}
