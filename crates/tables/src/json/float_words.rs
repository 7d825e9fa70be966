//! The words `NaN`, `Infinity` and `-Infinity`, which Python and pandas write as numbers although JSON has none.

use memchr::memmem;

/// The words, without the sign, and numbers of the same length.
const WORDS: [(&str, &str); 2] = [("NaN", "0.0"), ("Infinity", "0.000000")];

/// The same line with a number of the same length in place of each such word, so that a parser of JSON reads it and finds all values where they
/// are; `None` if there is none.
pub fn without_float_words(line: &str) -> Option<String> {
    let bytes = line.as_bytes();
    let may_have = WORDS.iter().any(|(word, _)| memmem::find(bytes, word.as_bytes()).is_some());
    if !may_have {
        return None;
    }
    let (mut out, mut at, mut is_quoted) = (String::with_capacity(line.len()), 0, false);
    let mut has_words = false;
    while let Some(byte) = bytes.get(at) {
        let next = match byte {
            b'\\' if is_quoted => 2,
            b'"' => {
                is_quoted = !is_quoted;
                1
            }
            b'N' | b'I' if !is_quoted => match word(line, at) {
                Some((word, number)) => {
                    out.push_str(number);
                    has_words = true;
                    at += word.len();
                    continue;
                }
                None => 1,
            },
            _ => 1,
        };
        // A character of several bytes is copied with its first one.
        let mut end = (at + next).min(bytes.len());
        while !line.is_char_boundary(end) {
            end += 1;
        }
        out.push_str(line.get(at..end).unwrap_or_default());
        at = end;
    }
    has_words.then_some(out)
}

/// The word at a position, if it is a value of its own there.
fn word(line: &str, at: usize) -> Option<&'static (&'static str, &'static str)> {
    let (before, rest) = line.split_at_checked(at)?;
    let found = WORDS.iter().find(|(word, _)| rest.starts_with(word))?;
    let before = match found.0 {
        "Infinity" => before.strip_suffix('-').unwrap_or(before),
        _ => before,
    };
    let is_apart = |byte: Option<&u8>| byte.is_none_or(|byte| b" \t\r\n,:[]{}".contains(byte));
    (is_apart(before.as_bytes().last()) && is_apart(rest.as_bytes().get(found.0.len()))).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_numbers_of_the_same_length() {
        for (line, expected) in [
            ("NaN", Some("0.0")),
            ("{\"a\":NaN,\"b\": -Infinity }", Some("{\"a\":0.0,\"b\": -0.000000 }")),
            ("[Infinity,\"NaN é\\\" NaN\",NaN]", Some("[0.000000,\"NaN é\\\" NaN\",0.0]")),
            ("{\"NaN\": \"Infinity\"}", None),
            ("{\"a\": 1}", None),
            ("[1NaN]", None),
            ("[NaN1]", None),
            ("[-NaN]", None),
            ("[--Infinity]", None),
            ("[NaN.5]", None),
            ("[nan, inf]", None),
        ] {
            let found = without_float_words(line);
            assert_eq!(found.as_deref(), expected, "{line}");
            assert!(found.is_none_or(|found| found.len() == line.len()));
        }
    }
}
