//! `validate`: lists all broken rules.

use isomorph::Result;
use isomorph::convert::{Opened, Registry, SidecarUse, sidecar};
use isomorph::error::{Findings, RuleFindings, Severity};
use serde::Serialize;

use super::Answer;
use crate::args::ValidateArgs;
use crate::console::Console;
use crate::progress::timed;
use crate::render::{Mark, bytes, of};
use crate::report;

/// Places kept per rule: the first few of a million broken rows are enough.
const KEPT: usize = 20;

/// Places kept per rule with --verbose.
const KEPT_VERBOSE: usize = 100_000;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    path: &'a str,
    format: &'static str,
    sound: bool,
    rules: usize,
    findings: Vec<RuleFindings<'a>>,
    /// Versions of a store whose data was not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread_versions: Option<Vec<i64>>,
}

/// Validates a graph; the answer is whether it is valid.
///
/// # Errors
/// Any error of reading, writing or printing.
pub fn run(args: &ValidateArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    let resources = args.resources.resources()?;
    let (location, mut options) = args.open.place(&args.path, formats, &resources)?;
    // The rules are those of the format: the data is validated without its sidecar, which is validated separately.
    options.unsound = true;
    options = match args.open.sidecar {
        SidecarUse::Ignore => options,
        _ => sidecar::told(&location, options),
    };
    let mut thorough = options.clone();
    let opened = match options.from.filter(|format| format.finds_wrong_rows(&mut thorough)) {
        // Data that is too wrong to be opened so is opened as usual, and validation tells why.
        Some(_) => Opened::open(&location, &thorough).or_else(|_| Opened::open(&location, &options))?,
        None => Opened::open(&location, &options)?,
    };
    let mut findings = Findings::keeping(if console.verbose { KEPT_VERBOSE } else { KEPT });
    timed("reading", || opened.native.validate(&mut findings))?;
    if args.open.sidecar != SidecarUse::Ignore {
        opened.validate_sidecar(&mut findings)?;
    }
    let sound = findings.worst() < Some(Severity::Error);
    let rules = opened.format.traits().rules.len();
    let unread = opened.format.unread_versions(&opened)?;

    let mut screen = console.screen();
    report::findings(&mut screen, &findings, Severity::Note, console.verbose);
    let about = opened.native.about();
    let size = format!("{}, {}", of(about.files, "file"), bytes(about.bytes));
    let outcome = match report::summary(&findings) {
        none if none.is_empty() => format!("all {rules} rules of {} hold · {size}", opened.format),
        some => format!("{some} · {size} · `isomorph explain ID` explains a rule"),
    };
    let (word, mark) = if sound { ("sound", Mark::Sound) } else { ("unsound", Mark::Error) };
    screen.marked(word, Some(mark), &outcome);
    if let Some([first, rest @ ..]) = unread.as_deref() {
        let versions = match rest.last() {
            None => format!("version {first}"),
            Some(last) => format!("{} versions, {first} to {last}", rest.len() + 1),
        };
        let text = format!("the data of {versions}: isomorph validate {}@{first}", opened.location);
        screen.line("unread", &text);
    }
    console.show(&screen)?;
    let findings = findings.documents();
    console.document(&Document {
        path: &args.path,
        format: opened.format.id(),
        sound,
        rules,
        findings,
        unread_versions: unread,
    })?;
    Ok(Answer::yes_if(sound))
}
