//! Patterns of `like`.

/// A pattern: texts between `%`, each with `_` for any one character.
#[derive(Debug, Clone)]
pub(super) struct Pattern(Vec<char>);

impl Pattern {
    pub(super) fn new(pattern: &str) -> Self {
        Pattern(pattern.chars().collect())
    }

    /// Whether all of `text` is like it. Where a piece fits at several places the first is taken, and only the last `%` is ever gone
    /// back to: the time is at most the product of both lengths.
    pub(super) fn matches(&self, text: &str) -> bool {
        let (mut left, mut at) = (text.chars(), 0);
        // Behind the last `%`, and the text from where it may begin.
        let mut again: Option<(usize, std::str::Chars<'_>)> = None;
        loop {
            let mut rest = left.clone();
            match (self.0.get(at), rest.next()) {
                (Some('%'), _) => {
                    at += 1;
                    again = Some((at, left.clone()));
                }
                (Some(wanted), Some(letter)) if *wanted == '_' || *wanted == letter => {
                    at += 1;
                    left = rest;
                }
                (None, None) => return true,
                _ => match &mut again {
                    Some((behind, from)) => {
                        if from.next().is_none() {
                            return false;
                        }
                        at = *behind;
                        left = from.clone();
                    }
                    None => return false,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, word by word.
    fn naive(pattern: &[char], text: &[char]) -> bool {
        match pattern {
            [] => text.is_empty(),
            ['%', rest @ ..] => (0..=text.len()).any(|at| naive(rest, &text[at..])),
            [wanted, rest @ ..] => {
                text.first().is_some_and(|letter| *wanted == '_' || wanted == letter) && naive(rest, &text[1..])
            }
        }
    }

    #[test]
    fn patterns_are_their_definition() {
        let letters = ['a', 'é', '%', '_'];
        let words = |length: u32| {
            (0..4usize.pow(length))
                .map(move |word| (0..length).map(|at| letters[word >> (2 * at) & 3]).collect::<Vec<_>>())
        };
        let mut found = 0;
        for pattern in (0..5).flat_map(words) {
            for text in (0..5).flat_map(words) {
                let expected = naive(&pattern, &text);
                let (shown, text) = (pattern.iter().collect::<String>(), text.iter().collect::<String>());
                assert_eq!(Pattern::new(&shown).matches(&text), expected, "{shown:?} {text:?}");
                found += usize::from(expected);
            }
        }
        assert!(found > 10_000, "{found}");
    }
}
