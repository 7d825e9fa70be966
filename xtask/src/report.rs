//! Steps, their outcomes, and the table at the end.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use crate::skips::Skips;

/// The outcome of a step that did not fail.
pub(crate) enum Outcome {
    /// It ran and its check passes.
    Done,
    /// It ran, its check passes, and there is something to add.
    Noted(String),
    /// It could not run here; why, and how to make it run.
    Skipped(String),
}

impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Outcome::Done
    }
}

/// The result of a step: an outcome, or a description of the problem.
pub(crate) type StepResult = Result<Outcome, String>;

struct Line {
    name: String,
    result: StepResult,
    took: Duration,
}

/// The steps that ran so far. After a failed step the next one still runs: one run reports all problems.
pub(crate) struct Report {
    lines: Vec<Line>,
    /// The tests that were skipped, once tests were run at all.
    skips: Option<Skips>,
}

impl Report {
    /// A report without steps.
    pub(crate) fn new() -> Self {
        Report { lines: Vec::new(), skips: None }
    }

    /// Runs one step under a heading and records its outcome.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> StepResult) {
        println!("\n── {name}");
        let start = Instant::now();
        let result = work();
        match &result {
            Ok(Outcome::Done | Outcome::Noted(_)) => {}
            Ok(Outcome::Skipped(why)) => println!("SKIPPED {name}: {why}"),
            Err(message) => eprintln!("error: {message}"),
        }
        self.lines.push(Line { name: name.to_owned(), result, took: start.elapsed() });
    }

    /// Adds skipped tests to those that the last line counts.
    pub(crate) fn add_skips(&mut self, skips: Skips) {
        self.skips.get_or_insert_default().add(skips);
    }

    /// Prints the table and returns whether all steps passed.
    pub(crate) fn finish(self) -> ExitCode {
        println!("\n── summary");
        for line in &self.lines {
            println!("{}", line.describe());
        }
        if let Some(skips) = &self.skips {
            println!("{}", skips.describe());
        }
        if self.lines.iter().any(|line| line.result.is_err()) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

impl Line {
    fn describe(&self) -> String {
        let (word, note) = match &self.result {
            Ok(Outcome::Done) => ("ok", ""),
            Ok(Outcome::Noted(note)) => ("ok", note.as_str()),
            Ok(Outcome::Skipped(why)) => ("SKIPPED", why.as_str()),
            Err(message) => ("FAILED", message.lines().next().unwrap_or_default()),
        };
        format!("{word:<8} {:<22} {:>7.1} s  {note}", self.name, self.took.as_secs_f64()).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_does_not_stop_the_next_and_is_not_forgotten() {
        let mut report = Report::new();
        let mut ran = 0;
        report.step("first", || Err("broken".into()));
        report.step("second", || {
            ran += 1;
            Ok(Outcome::Done)
        });
        report.step("third", || Ok(Outcome::Skipped("no tool".into())));
        assert_eq!(ran, 1);
        assert!(report.lines[0].describe().starts_with("FAILED   first"));
        assert!(report.lines[2].describe().ends_with("no tool"));
        assert_eq!(format!("{:?}", report.finish()), format!("{:?}", ExitCode::FAILURE));
    }

    #[test]
    fn skipping_alone_is_no_failure() {
        let mut report = Report::new();
        report.step("only", || Ok(Outcome::Skipped("no tool".into())));
        assert_eq!(format!("{:?}", report.finish()), format!("{:?}", ExitCode::SUCCESS));
    }
}
