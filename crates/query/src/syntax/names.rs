//! Names that match exactly, or else as the only one that differs in upper and lower case.

/// What a name matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Match<T> {
    /// Nothing.
    None,
    /// One.
    One(T),
    /// Several that differ in upper and lower case, or have one name.
    Several(Vec<T>),
}

/// Finds `wanted` among names: those of exactly this spelling; if there is none and the name was not quoted, those that differ in case.
pub(crate) fn find<T>(wanted: &str, is_quoted: bool, names: impl Fn() -> Vec<(String, T)>) -> Match<T> {
    let exact = names().into_iter().filter(|(name, _)| name == wanted);
    let found = one(exact.map(|(_, item)| item).collect());
    if is_quoted || !matches!(found, Match::None) {
        return found;
    }
    let wanted = wanted.to_lowercase();
    one(names().into_iter().filter(|(name, _)| name.to_lowercase() == wanted).map(|(_, item)| item).collect())
}

fn one<T>(mut found: Vec<T>) -> Match<T> {
    match (found.len(), found.pop()) {
        (1, Some(only)) => Match::One(only),
        (_, None) => Match::None,
        (_, Some(last)) => {
            found.push(last);
            Match::Several(found)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exact_name_comes_first() {
        let names = || ["Person", "person", "City", "ÄRA"].map(|name| (name.to_owned(), name)).to_vec();
        assert_eq!(find("person", false, names), Match::One("person"));
        assert_eq!(find("PERSON", false, names), Match::Several(vec!["Person", "person"]));
        assert_eq!(find("city", false, names), Match::One("City"));
        assert_eq!(find("city", true, names), Match::None);
        assert_eq!(find("ära", false, names), Match::One("ÄRA"));
        assert_eq!(find("town", false, names), Match::None);
    }
}
