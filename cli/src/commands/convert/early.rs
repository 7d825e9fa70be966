//! The first line of a plan, shown before a survey begins.

use std::sync::atomic::{AtomicBool, Ordering};

use isomorph::Result;
use isomorph::convert::Progress;

use crate::console::Console;

/// Progress that prints a line when the first survey begins.
pub struct Early<'a> {
    progress: &'a dyn Progress,
    console: &'a Console,
    heading: String,
    shown: AtomicBool,
}

impl<'a> Early<'a> {
    /// Prints `heading` before a survey, and reports all progress to `progress`.
    pub fn new(progress: &'a dyn Progress, console: &'a Console, heading: String) -> Self {
        Early { progress, console, heading, shown: AtomicBool::new(false) }
    }

    /// Returns whether the line was printed.
    pub fn shown(&self) -> bool {
        self.shown.load(Ordering::Relaxed)
    }
}

impl Progress for Early<'_> {
    fn begin(&self, stage: &str, total: Option<u64>) {
        if stage == "survey" && !self.console.json && !self.shown.swap(true, Ordering::Relaxed) {
            let mut screen = self.console.screen();
            screen.line("plan", &format!("{}, after a survey", self.heading));
            // If standard output is closed, the next write reports it.
            let _ = self.console.show(&screen);
        }
        self.progress.begin(stage, total);
    }

    fn advance(&self, rows: u64) -> Result<()> {
        self.progress.advance(rows)
    }

    fn end(&self) {
        self.progress.end();
    }
}
