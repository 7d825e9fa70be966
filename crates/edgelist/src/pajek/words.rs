//! The words of a line: separated by blanks, or between quotation marks.

/// A word, and whether it is between quotation marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<'a> {
    pub text: &'a str,
    pub is_quoted: bool,
}

/// Splits a line into words; `None` if a quotation mark is not closed.
pub(super) fn words<'a>(line: &'a str, out: &mut Vec<Word<'a>>) -> Option<()> {
    out.clear();
    let mut rest = line;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        if rest.is_empty() {
            return Some(());
        }
        if let Some(inner) = rest.strip_prefix('"') {
            let end = inner.find('"')?;
            out.push(Word { text: inner.get(..end)?, is_quoted: true });
            rest = inner.get(end + 1..)?;
        } else {
            let end = rest.find([' ', '\t']).unwrap_or(rest.len());
            out.push(Word { text: rest.get(..end)?, is_quoted: false });
            rest = rest.get(end..)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words_keep_their_blanks() {
        let mut out = Vec::new();
        assert_eq!(words("1 \"a b\"  0.5\t\"\" x", &mut out), Some(()));
        let texts: Vec<(&str, bool)> = out.iter().map(|word| (word.text, word.is_quoted)).collect();
        assert_eq!(texts, [("1", false), ("a b", true), ("0.5", false), ("", true), ("x", false)]);
        assert_eq!(words("1 \"a", &mut out), None);
    }
}
