//! A conversion that is killed repeatedly.

use std::fs;
use std::process::Command;
use std::time::Instant;

use crate::graphs;
use crate::kill::{KILLS, Random, killed, moment, setting};
use crate::support::Home;
use crate::tree::{self, Tree};

/// A conversion, and the previous content of its destination.
pub struct Scenario {
    name: &'static str,
    source: &'static str,
    destination: &'static str,
    options: Vec<&'static str>,
    old: Option<Vec<&'static str>>,
    kills: usize,
}

/// Number of kills by stage.
#[derive(Debug, Default)]
struct Fallen {
    /// Nothing had been written.
    before: usize,
    /// Temporary files had been written.
    making: usize,
    /// Publishing had begun or was recorded, but was not complete.
    publishing: usize,
    /// All work was done, but the process had not ended.
    after: usize,
}

impl Fallen {
    fn in_the_middle(&self) -> bool {
        self.making + self.publishing > 0
    }
}

impl Scenario {
    /// Converts `source` to `destination`, which does not exist.
    pub fn new(name: &'static str, source: &'static str, destination: &'static str, options: &[&'static str]) -> Self {
        Scenario { name, source, destination, options: options.to_vec(), old: None, kills: KILLS }
    }

    /// Replaces the output of another conversion, with these arguments.
    pub fn replacing(mut self, old: &[&'static str]) -> Self {
        self.old = Some(old.to_vec());
        self
    }

    /// Sets the number of kills.
    pub fn kills(mut self, kills: usize) -> Self {
        self.kills = kills;
        self
    }

    /// Kills the conversion, and checks the destination.
    pub fn run(&self) {
        let home = Home::new();
        fs::create_dir(home.at("tmp")).unwrap();
        graphs::make(&home, self.source);
        let old = self.old_state(&home);
        let begun = Instant::now();
        assert!(self.command(&home).status().unwrap().success());
        let mut whole = begun.elapsed();
        let new = tree::read(home.path(), graphs::is_source);
        home.run(&["validate", self.destination]).exits(0);
        let seed = setting("CRASH_SEED").unwrap_or(1) ^ self.name.len() as u64;
        let kills = setting("CRASH_KILLS").map_or(self.kills, |kills| kills as usize);
        let mut random = Random(seed);
        let mut fallen = Fallen::default();
        let (mut done, mut tried) = (0, 0);
        // A kill soon after the start, or after the check of the destination, finds nothing written: if all kills do,
        // that proves nothing.
        while done < kills || !fallen.in_the_middle() {
            assert!(tried < 5 * kills + 50, "{}: kills come too late or too early: {fallen:?}", self.name);
            tried += 1;
            self.reset(&home, &old);
            let moment = moment(tried, whole, &mut random);
            let begun = Instant::now();
            if !killed(&mut self.command(&home), home.path(), moment) {
                // The machine was busier when the first run was measured.
                whole = whole.min(begun.elapsed());
                continue;
            }
            done += 1;
            let what = format!("{}, seed {seed}, kill {done}, {moment:?}", self.name);
            self.check_state(&home, &old, &new, &mut fallen, &what);
            self.check_next_run(&home, &new, &what);
        }
        println!("{}: seed {seed}, {whole:?} undisturbed, {done} kills of {tried} runs: {fallen:?}", self.name);
    }

    fn arguments(&self) -> Vec<&'static str> {
        let mut arguments = vec!["convert", self.source, self.destination];
        arguments.extend(&self.options);
        if self.old.is_some() {
            arguments.push("--replace");
        }
        arguments
    }

    fn command(&self, home: &Home) -> Command {
        let mut command = home.command(&self.arguments());
        command.env("TMPDIR", home.at("tmp")).stdout(std::process::Stdio::null());
        command
    }

    /// Creates the old state, and returns its files.
    fn old_state(&self, home: &Home) -> Tree {
        let Some(arguments) = &self.old else { return Tree::new() };
        graphs::make(home, arguments[0]);
        home.run(&[&["convert"], arguments.as_slice()].concat()).exits(0);
        tree::read(home.path(), graphs::is_source)
    }

    fn reset(&self, home: &Home, old: &Tree) {
        tree::clear(home.path(), graphs::is_source);
        tree::write(home.path(), old);
    }

    /// Checks for the old state or the new one, and counts the stage of the kill.
    fn check_state(&self, home: &Home, old: &Tree, new: &Tree, fallen: &mut Fallen, what: &str) {
        assert_eq!(fs::read_dir(home.at("tmp")).unwrap().count(), 0, "{what}: temporary files with names");
        let found = tree::read(home.path(), graphs::is_source);
        let making = !tree::in_the_making(&found).is_empty();
        let recorded = tree::in_the_making(&found).iter().any(|name| name.ends_with(".redo"));
        let state = tree::published(&found);
        let is_new = state == *new;
        // The sidecar is published first, and means nothing before the file exists.
        let nothing = old.is_empty()
            && !state
                .keys()
                .any(|name| name == self.destination || name.starts_with(&format!("{}/", self.destination)));
        let is_old = state == *old || nothing;
        match (is_new, making) {
            _ if recorded => fallen.publishing += 1,
            (true, true) => fallen.publishing += 1,
            (true, false) => fallen.after += 1,
            (false, true) if state != *old => fallen.publishing += 1,
            (false, true) => fallen.making += 1,
            (false, false) => fallen.before += 1,
        }
        assert!(recorded || is_new || is_old, "{what}: a mix: {}", tree::difference(&state, new));
        // A reader finds the old state or the new one; a recorded change is completed first.
        let read = home.run(&["digest", self.destination, "--json"]);
        let state = tree::published(&tree::read(home.path(), graphs::is_source));
        if state == *new || state == *old && !old.is_empty() {
            assert_eq!(read.code, 0, "{what}: {}", read.err);
        } else {
            assert!(nothing, "{what}: a mix after opening: {}", tree::difference(&state, new));
            assert_eq!(read.code, 3, "{what}: {}", read.out);
        }
        let found = tree::read(home.path(), graphs::is_source);
        assert!(!found.keys().any(|name| name.ends_with(".redo")), "{what}: the record is still there");
    }

    /// Checks that the same command succeeds and removes what the killed one left.
    fn check_next_run(&self, home: &Home, new: &Tree, what: &str) {
        let next = self.command(home).output().unwrap();
        let published = tree::published(&tree::read(home.path(), graphs::is_source));
        if self.old.is_none() && next.status.code() == Some(2) {
            // The output was already published: a second run finds it.
            assert!(String::from_utf8_lossy(&next.stderr).contains("already"), "{what}: {next:?}");
        } else {
            assert!(next.status.success(), "{what}: {next:?}");
        }
        assert!(published == *new, "{what}: the next run made something else: {}", tree::difference(&published, new));
        let found = tree::read(home.path(), graphs::is_source);
        assert_eq!(tree::in_the_making(&found), Vec::<&str>::new(), "{what}: left behind");
        assert_eq!(fs::read_dir(home.at("tmp")).unwrap().count(), 0, "{what}: temporary files");
    }
}
