//! Prints errors and findings, as text and as JSON.

use isomorph::error::{Findings, Place, Severity};
use isomorph::{Error, Kind};
use serde::Serialize;

use crate::args::Flags;
use crate::render::{Mark, Screen, of, width};

/// Adds an error: message, place, rule, hints, and the `last` line about the outcome. `path` replaces `PATH` in
/// remedies. Hints with flags that are not in `flags` are omitted.
pub fn error(screen: &mut Screen, error: &Error, flags: &Flags, path: Option<&str>, last: Option<&str>) {
    if error.kind() == Kind::Cancelled {
        screen.plain(error.message(), None);
        return;
    }
    let id = error.broken_rule().map(|rule| format!(" {}", rule.id)).unwrap_or_default();
    screen.headline("error", Mark::Error, &format!("{id}: {}", error.message()));
    if !error.place().is_empty() {
        let label = if error.place().file.is_some() { "file" } else { "at" };
        screen.detail(label, &error.place().to_string());
    }
    if let Some(rule) = error.broken_rule() {
        screen.detail("rule", rule.says);
    }
    if let Some(cause) = cause(error) {
        screen.detail("why", &cause);
    }
    let mut hints: Vec<(String, String)> = hints(error, flags).map(|hint| hint_parts(hint, path)).collect();
    if let (true, Some(rule)) = (hints.is_empty(), error.broken_rule()) {
        hints.push((format!("isomorph explain {}", rule.id), String::new()));
    }
    hints.dedup();
    let column = hints.iter().filter(|(_, why)| !why.is_empty()).map(|(what, _)| width(what)).max().unwrap_or_default();
    for (at, (what, why)) in hints.iter().enumerate() {
        let room = column.saturating_sub(width(what));
        screen.detail(if at == 0 { "try" } else { "" }, format!("{what}{:room$}   {why}", "").trim_end());
    }
    if let Some(last) = last {
        screen.plain(last, None);
    }
}

/// Returns the hints that the command supports.
fn hints<'a>(error: &'a Error, flags: &Flags) -> impl Iterator<Item = &'a str> {
    error.hints().filter(|hint| flags.fit(hint))
}

/// Returns the message of the system, a store or a library, if it adds to the error's own.
fn cause(error: &Error) -> Option<String> {
    let innermost = std::iter::successors(std::error::Error::source(error), |cause| cause.source()).last()?;
    let text = innermost.to_string();
    let told = error.message().contains(&text) || matches!(error.kind(), Kind::NotFound | Kind::Cancelled);
    (!told && !text.is_empty()).then_some(text)
}

/// Splits a hint into a command and its explanation, which are separated by several spaces.
fn hint_parts(hint: &str, path: Option<&str>) -> (String, String) {
    let (what, why) = hint.split_once("   ").unwrap_or((hint, ""));
    let what: Vec<String> = what
        .split(' ')
        .map(|word| match path {
            Some(path) if word == "PATH" => quoted(path),
            _ => word.to_owned(),
        })
        .collect();
    (what.join(" "), why.trim_start().to_owned())
}

/// Quotes a path for a shell.
pub fn quoted(path: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-:=@%+,~".contains(letter);
    if !path.is_empty() && path.chars().all(is_plain) {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

/// Returns the mark of a severity.
pub fn mark(severity: Severity) -> Option<Mark> {
    match severity {
        Severity::Note => None,
        Severity::Warning => Some(Mark::Warning),
        Severity::Error => Some(Mark::Error),
    }
}

/// Returns the word of a severity.
pub fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Note => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// Adds findings of at least this severity, worst first: counted by rule with the first place, or one by one.
pub fn findings(screen: &mut Screen, findings: &Findings, least: Severity, each: bool) {
    let groups = findings.by_severity(least);
    let ids =
        groups.iter().map(|(_, kept)| kept.first().map_or(0, |first| width(first.rule.id))).max().unwrap_or_default();
    for (count, kept) in groups {
        let shown = if each { kept.len() } else { 1 };
        for finding in kept.iter().take(shown) {
            let rule = finding.rule;
            let text = format!("{:ids$}   {}", rule.id, finding.message);
            screen.whole(word(rule.severity), mark(rule.severity), &text);
            let place = finding.place.to_string();
            let more = count.saturating_sub(shown as u64);
            let where_else = match (more, place.is_empty()) {
                (0, true) => continue,
                (0, false) => place,
                (_, true) => format!("and {}", of(more, "more time")),
                (_, false) => format!("{place}, and {}", of(more, "more place")),
            };
            screen.whole("", None, &format!("{:ids$}   {where_else}", ""));
        }
    }
}

/// Returns `2 errors, 1 warning`; empty without errors and warnings.
pub fn summary(findings: &Findings) -> String {
    let counts = [Severity::Error, Severity::Warning, Severity::Note].map(|severity| {
        let rules =
            findings.by_rule().filter(|(_, kept)| kept.first().is_some_and(|first| first.rule.severity == severity));
        (rules.map(|(count, _)| count).sum::<u64>(), word(severity))
    });
    let texts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| of(*count, word));
    texts.collect::<Vec<_>>().join(", ")
}

/// An error as JSON.
#[derive(Debug, Serialize)]
pub struct ErrorDocument<'a> {
    error: ErrorBody<'a>,
}

#[derive(Debug, Serialize)]
struct ErrorBody<'a> {
    kind: &'static str,
    exit_code: u8,
    message: &'a str,
    rule: Option<&'static str>,
    says: Option<&'static str>,
    place: &'a Place,
    why: Option<String>,
    #[serde(rename = "try")]
    hints: Vec<&'a str>,
}

impl<'a> ErrorDocument<'a> {
    /// Creates the document of an error.
    pub fn new(error: &'a Error, flags: &Flags) -> Self {
        ErrorDocument {
            error: ErrorBody {
                kind: error.kind().name(),
                exit_code: error.kind().exit_code(),
                message: error.message(),
                rule: error.broken_rule().map(|rule| rule.id),
                says: error.broken_rule().map(|rule| rule.says),
                place: error.place(),
                why: cause(error),
                hints: hints(error, flags).collect(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;
    use crate::render::Palette;
    use isomorph::error::Rule;

    static RULE: Rule = Rule {
        id: "GAR-OFFSET-END",
        severity: Severity::Error,
        says: "the last offset of a part equals its edge count",
        remedy: "isomorph validate PATH        every finding",
    };

    #[test]
    fn an_error_says_where_why_and_what_to_try() {
        let failure = Error::broken(&RULE, "the offsets of part 2 end at 1,311, but edge_count2 says 1,312")
            .at(Place::file("offset/chunk2").row(100))
            .hint("--adjacency ordered_by_dest    read the other copy of these edges");
        let mut screen = Screen::new(Palette::Plain, Some(24));
        let line = |words: &[&str]| Flags::of(&Cli::command().get_matches_from(words));
        let flags = line(&["isomorph", "neighbors", "a", "b"]);
        error(&mut screen, &failure, &flags, Some("my graph.yml"), Some("no output was written"));
        assert_eq!(
            screen.as_str(),
            "\
error GAR-OFFSET-END: the offsets of part 2 end at 1,311, but edge_count2 says 1,312
  file   offset/chunk2, row 100
  rule   the last offset of a part equals its edge count
  try    --adjacency ordered_by_dest        read the other copy of these edges
         isomorph validate 'my graph.yml'   every finding
no output was written
"
        );
        // A command without the flag does not get the hint.
        let init = line(&["isomorph", "lake", "init", "a"]);
        assert_eq!(hints(&failure, &init).collect::<Vec<_>>(), [RULE.remedy]);
    }

    #[test]
    fn findings_are_counted_by_rule_with_the_first_place() {
        let mut found = Findings::keeping(5);
        found.push(&RULE, "ends at 3", Place::file("chunk0"));
        found.push(&RULE, "ends at 4", Place::file("chunk1"));
        let show = |each| {
            let mut screen = Screen::new(Palette::Plain, None);
            findings(&mut screen, &found, Severity::Warning, each);
            screen.as_str().to_owned()
        };
        let first = "error    GAR-OFFSET-END   ends at 3\n                          chunk0";
        assert_eq!(show(false), format!("{first}, and 1 more place\n"));
        assert_eq!(
            show(true),
            format!("{first}\nerror    GAR-OFFSET-END   ends at 4\n                          chunk1\n")
        );
        assert_eq!(summary(&found), "2 errors");
    }
}
