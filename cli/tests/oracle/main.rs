//! Compares random commands on random graphs with a naive oracle over `dump`.
//!
//! A case is a random graph in a random format. Every answer of the built command is compared with what a few lines of
//! naive code compute from the lines of `dump`, and `dump` with the source of the graph. Cases are numbered: equal
//! numbers give equal graphs and requests.
//!
//! `ORACLE_CASES=10000 ORACLE_FIRST=0 cargo test -p isomorph-cli --test oracle -- --nocapture` runs more; `cargo xtask
//! oracle 10000` does so with the optimised build.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod case;
mod checks;
mod graphs;
mod quads;
mod run;
mod truth;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use case::Case;

/// Number of compared answers, by command.
pub type Counts = BTreeMap<&'static str, u64>;

/// Number of cases in an ordinary test run.
const CASES: u64 = 300;

/// Number of wrong answers after which the run stops.
const SHOWN: usize = 20;

#[test]
fn answers_agree_with_the_oracle() {
    let number = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().expect(name));
    let (first, cases) = (number("ORACLE_FIRST", 0), number("ORACLE_CASES", CASES));
    let next = AtomicU64::new(first);
    let (counts, wrong) = (Mutex::new(Counts::new()), Mutex::new(Vec::new()));
    let work = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        if at >= first + cases || wrong.lock().unwrap().len() >= SHOWN {
            return;
        }
        let mut case = Case::new(at);
        checks::all(&mut case);
        for (command, count) in case.counts {
            *counts.lock().unwrap().entry(command).or_default() += count;
        }
        wrong.lock().unwrap().extend(case.wrong.into_iter().map(|what| format!("case {at}: {what}")));
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            // Generated strategies need more stack than test threads have.
            std::thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, work).expect("a thread");
        }
    });
    let mut table = format!("| compared, {cases} graphs | answers |\n|---|---|\n");
    for (command, count) in counts.into_inner().unwrap() {
        writeln!(table, "| {command} | {count} |").unwrap();
    }
    println!("{table}");
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} wrong answers\n{}", wrong.len(), wrong.join("\n\n"));
}
