//! Suggestions for mistyped names.

/// Names longer than this many characters are not compared.
const LONGEST: usize = 64;

/// The maximum number of names to compare, so that a hostile file with many names costs no more than this.
const MOST: usize = 10_000;

/// Returns the name in `known` that is nearest to `name`, if it is near enough: it differs only in case, or by at most one wrong,
/// missing, additional or transposed letter per three letters. If several are equally near, the first is returned.
///
/// ```
/// use isomorph_error::nearest;
/// assert_eq!(nearest("persn", ["city", "person"]), Some("person"));
/// assert_eq!(nearest("dog", ["city", "person"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted: Vec<char> = name.to_lowercase().chars().take(LONGEST + 1).collect();
    if wanted.len() > LONGEST {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for other in known.into_iter().take(MOST).filter(|other| *other != name) {
        let own: Vec<char> = other.to_lowercase().chars().take(LONGEST + 1).collect();
        let most = (wanted.len().max(own.len()) / 3).max(1);
        if own.len() > LONGEST || own.len().abs_diff(wanted.len()) > most {
            continue;
        }
        let steps = distance(&wanted, &own);
        if steps <= most && steps < own.len() && best.is_none_or(|(least, _)| steps < least) {
            best = Some((steps, other));
        }
    }
    best.map(|(_, other)| other)
}

/// Returns `, did you mean person?`, to be appended to a message about an unknown `name`, or an empty string if no name in `known` is near.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!(", did you mean {near}?"))
}

/// The number of letters to change, add, remove or transpose to get from one text to the other.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut row = vec![at + 1];
        let mut left = at + 1;
        for (column, wanted) in other.iter().enumerate() {
            let (up, diagonal) = (last.get(column + 1).copied(), last.get(column).copied());
            let (up, diagonal) = (up.unwrap_or(usize::MAX - 1), diagonal.unwrap_or(usize::MAX - 1));
            let mut steps = (left + 1).min(up + 1).min(diagonal + usize::from(letter != wanted));
            let exchanged =
                at > 0 && column > 0 && one.get(at - 1) == Some(wanted) && other.get(column - 1) == Some(letter);
            if let Some(two) = before.get(column.wrapping_sub(1)).filter(|_| exchanged) {
                steps = steps.min(two + 1);
            }
            row.push(steps);
            left = steps;
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        let steps =
            |one: &str, other: &str| distance(&one.chars().collect::<Vec<_>>(), &other.chars().collect::<Vec<_>>());
        for (one, other, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("person", "person", 0),
            ("persn", "person", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("konws", "knows", 1),
        ] {
            assert_eq!(steps(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn near_names_are_suggested_and_others_are_not() {
        let types = ["person", "city", "post", "knows", "livesIn"];
        for (name, near) in [
            ("persn", Some("person")),
            ("Person", Some("person")),
            ("konws", Some("knows")),
            ("lives_in", Some("livesIn")),
            ("pots", Some("post")),
            ("dog", None),
            ("cat", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(name, types), near, "{name}");
        }
        assert_eq!(nearest("id", ["ID", "if"]), Some("ID"));
        assert_eq!(nearest("a", ["b"]), None);
        let long = "x".repeat(1 << 20);
        assert_eq!(nearest(&long, [long.as_str()]), None);
        assert_eq!(did_you_mean("persn", types), ", did you mean person?");
        assert_eq!(did_you_mean("dog", types), "");
    }
}
