//! Formats of times of PostgreSQL and Oracle, as strftime writes them.

/// Their patterns, longer ones first, and those of strftime.
const PATTERNS: [(&str, &str); 38] = [
    ("FMMonth", "%B"),
    ("FMDay", "%A"),
    ("FMHH24", "%-H"),
    ("FMHH12", "%-I"),
    ("FMHH", "%-I"),
    ("FMMM", "%-m"),
    ("FMDD", "%-d"),
    ("YYYY", "%Y"),
    ("IYYY", "%G"),
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("Month", "%B"),
    ("MONTH", "%B"),
    ("month", "%B"),
    ("A.M.", "%p"),
    ("P.M.", "%p"),
    ("DDD", "%j"),
    ("Day", "%A"),
    ("DAY", "%A"),
    ("day", "%A"),
    ("Mon", "%b"),
    ("MON", "%b"),
    ("mon", "%b"),
    ("YY", "%y"),
    ("MM", "%m"),
    ("DD", "%d"),
    ("HH", "%I"),
    ("MI", "%M"),
    ("SS", "%S"),
    ("MS", "%3f"),
    ("US", "%6f"),
    ("Dy", "%a"),
    ("DY", "%a"),
    ("dy", "%a"),
    ("IW", "%V"),
    ("ID", "%u"),
    ("AM", "%p"),
    ("PM", "%p"),
];

/// The format of strftime for one that has such patterns, with letters of either case; nothing if it has a word that is none.
pub(crate) fn strftime_of(format: &str) -> Option<String> {
    let mut found = String::new();
    let mut rest = format;
    while let Some(first) = rest.chars().next() {
        let exact = PATTERNS.iter().find(|(pattern, _)| rest.starts_with(pattern));
        let pattern = exact.or_else(|| {
            let is_same =
                |pattern: &str| rest.get(..pattern.len()).is_some_and(|front| front.eq_ignore_ascii_case(pattern));
            PATTERNS.iter().find(|(pattern, _)| is_same(pattern))
        });
        if let Some((pattern, own)) = pattern {
            found.push_str(own);
            rest = rest.get(pattern.len()..)?;
        } else if let Some((text, after)) = rest.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
            // A text in double quotes is itself.
            found.push_str(text);
            rest = after;
        } else if first.is_alphanumeric() {
            // Dates have `T` before the time.
            if first != 'T' || !found.ends_with("%d") {
                return None;
            }
            found.push(first);
            rest = rest.get(first.len_utf8()..)?;
        } else {
            found.push(first);
            rest = rest.get(first.len_utf8()..)?;
        }
    }
    found.contains('%').then(|| found.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::strftime_of;

    #[test]
    fn patterns_become_those_of_strftime() {
        for (format, expected) in [
            ("YYYY-MM-DD", Some("%Y-%m-%d")),
            ("yyyy-mm-dd hh24:mi:ss", Some("%Y-%m-%d %H:%M:%S")),
            ("YYYY-MM-DDTHH24:MI:SS.MS", Some("%Y-%m-%dT%H:%M:%S.%3f")),
            ("FMDD. Month YYYY", Some("%-d. %B %Y")),
            ("\"on\" Dy DD Mon YY, HH12:MI AM", Some("on %a %d %b %y, %I:%M %p")),
            ("999", None),
            ("hello", None),
            ("-", None),
        ] {
            assert_eq!(strftime_of(format).as_deref(), expected, "{format}");
        }
    }
}
