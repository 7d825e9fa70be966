//! `diff` of a graph and a copy that lacks elements.

use super::dumped;
use crate::case::Case;
use crate::truth::Truth;

/// Removes lines from a text, and compares `diff` with `dump`.
pub fn all(case: &mut Case, truth: &Truth) {
    let path = case.made.path.clone();
    if !matches!(case.made.format, "rdf" | "deepgnn" | "nock") {
        return;
    }
    let text = std::fs::read_to_string(case.home().join(&path)).expect("the text that was made");
    // A node line that an edge needs is kept: the comparison is of two valid graphs.
    let keep = |line: &str| line.starts_with("\"src_name\"") || line.contains(",-1,\"\",") || line.starts_with("-1 ");
    let kept: String =
        text.lines().filter(|line| keep(line) || !case.dice.chance(30)).map(|line| format!("{line}\n")).collect();
    let other = format!("less.{}", path.rsplit('.').next().expect("an ending"));
    std::fs::write(case.home().join(&other), kept).expect("a file");
    let Some(less) = dumped(case, "diff", &other) else { return };
    let (mut missing, mut rest) = (0, less.lines.as_slice());
    for line in &truth.lines {
        match rest.split_first() {
            Some((first, others)) if first == line => rest = others,
            _ => missing += 1,
        }
    }
    let done = case.run(&["diff", &path, &other, "--json"]);
    let shown = done.json();
    let right = if missing == 0 && rest.is_empty() { Some(0) } else { Some(1) };
    case.compare("diff", done.code == right, || format!("{path} {other}: {:?} {}", done.code, done.err));
    if rest.is_empty() {
        let said = &shown["differing"];
        case.compare("diff", *said == missing, || format!("{path} {other}: {said} differing, {missing} missing"));
    }
}
