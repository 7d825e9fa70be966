//! Runs a command and kills it at a chosen moment.

use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Number of kills of a scenario with a small graph.
pub const KILLS: usize = 21;

/// When to kill.
#[derive(Debug, Clone, Copy)]
pub enum Moment {
    /// At this time after the start.
    After(Duration),
    /// At this time after the first temporary file appeared, as its name tells.
    Making(Duration),
    /// At this time after a file with another name changed, or a record appeared: during publishing.
    Publishing(Duration),
}

/// Runs `command` and kills it at `moment`. Returns whether it was still running.
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
    // A command that ended between the check and the signal was not killed.
    child.wait().unwrap().code().is_none()
}

fn is_made(name: &str) -> bool {
    name.starts_with('.') || name.starts_with("redo-")
}

fn is_published(name: &str) -> bool {
    !is_made(name) || name.ends_with(".redo")
}

/// Returns the time at which a new name for which `counts` is true was seen; `None` if the command ended without one.
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

/// Returns names and the identity of each file. A file that is removed during the check counts as missing.
fn names(home: &Path) -> Vec<(String, u64)> {
    let entries = std::fs::read_dir(home).unwrap().map(Result::unwrap);
    let named =
        |entry: std::fs::DirEntry| Some((entry.file_name().into_string().unwrap(), entry.metadata().ok()?.ino()));
    entries.filter_map(named).collect()
}

/// Returns the moment for run number `number`: one third anywhere in an undisturbed run, one third after the first
/// temporary file, one third during publishing.
pub fn moment(number: usize, whole: Duration, random: &mut Random) -> Moment {
    match number % 3 {
        0 => Moment::After(random.within(whole)),
        1 => Moment::Making(random.within(whole / 2)),
        _ => Moment::Publishing(random.within(Duration::from_millis(2))),
    }
}

/// Numbers from a seed (SplitMix64).
pub struct Random(pub u64);

impl Random {
    /// Returns the next number below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end.max(1)
    }

    /// Returns a duration below `end`.
    pub fn within(&mut self, end: Duration) -> Duration {
        Duration::from_micros(self.below(end.as_micros() as u64))
    }
}

/// Returns a number from the environment.
pub fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}
