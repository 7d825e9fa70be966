//! Running a command and killing it at a moment that is an input of the test.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Kills of a scenario with a small graph.
pub const KILLS: usize = 21;

/// When to kill.
#[derive(Debug, Clone, Copy)]
pub enum Moment {
    /// So long after the start.
    After(Duration),
    /// So long after something appeared that is in the making, as its name tells.
    Making(Duration),
    /// So long after something else lay under any other name, or a record appeared: while it is published.
    Publishing(Duration),
}

/// Runs `command` and kills it at `moment`. Whether it was still alive then.
pub fn killed(command: &mut Command, home: &Path, moment: Moment) -> bool {
    let before = names(home);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    let (seen, delay) = match moment {
        Moment::After(delay) => (Some(begun), delay),
        Moment::Making(delay) => (first(&mut child, home, &before, is_made), delay),
        Moment::Publishing(delay) => (first(&mut child, home, &before, is_published), delay),
    };
    let Some(seen) = seen else { return false };
    loop {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        let left = (seen + delay).saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        std::thread::park_timeout(left.min(Duration::from_millis(5)));
    }
    child.kill().unwrap();
    // Whoever ended by itself between the look and the signal was not killed.
    child.wait().unwrap().code().is_none()
}

fn is_made(name: &str) -> bool {
    name.starts_with('.') || name.starts_with("redo-")
}

fn is_published(name: &str) -> bool {
    !is_made(name) || name.ends_with(".redo")
}

/// The time at which a new name that `counts` was seen; nothing when the command ended without.
fn first(child: &mut Child, home: &Path, before: &[(String, u64)], counts: fn(&str) -> bool) -> Option<Instant> {
    loop {
        if names(home).iter().any(|found| counts(&found.0) && !before.contains(found)) {
            return Some(Instant::now());
        }
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::yield_now();
    }
}

/// Names, and what lies under each. What is gone before it was looked at counts as not there.
fn names(home: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(home).unwrap().map(Result::unwrap);
    let named =
        |entry: std::fs::DirEntry| Some((entry.file_name().into_string().unwrap(), entry.metadata().ok()?.ino()));
    entries.filter_map(named).collect()
}

/// The moment of run number `number`: a third anywhere in an undisturbed run, a third after something was in the making, a
/// third while it is published.
pub fn moment(number: usize, whole: Duration, random: &mut Random) -> Moment {
    match number % 3 {
        0 => Moment::After(random.within(whole)),
        1 => Moment::Making(random.within(whole / 2)),
        _ => Moment::Publishing(random.within(Duration::from_millis(2))),
    }
}

/// Numbers that follow from a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// The next number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }

    /// A duration below `end`.
    pub fn within(&mut self, end: Duration) -> Duration {
        Duration::from_micros(self.below(end.as_micros() as u64))
    }
}

/// A number from the environment.
pub fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
