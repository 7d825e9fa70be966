//! Loads that are killed and resumed: the store equals, file by file, that of an undisturbed load.

use std::fs;
use std::process::Command;
use std::time::Instant;

use crate::graphs;
use crate::kill::{Random, killed, moment, setting};
use crate::support::Home;
use crate::tree;

/// Number of kills of each load.
const KILLS: usize = 20;

/// Loads of these files, killed repeatedly before each is done.
struct Load {
    name: &'static str,
    texts: &'static [&'static str],
    /// Whether the store already exists.
    there: bool,
}

impl Load {
    fn run(&self) {
        let home = Home::new();
        fs::create_dir(home.at("tmp")).unwrap();
        self.texts.iter().for_each(|text| graphs::make(&home, text));
        self.reset(&home);
        let begun = Instant::now();
        assert!(self.command(&home, false).output().unwrap().status.success());
        let mut whole = begun.elapsed();
        let wanted = self.state(&home);
        let kills = setting("CRASH_KILLS").map_or(KILLS, |kills| kills as usize);
        let seed = setting("CRASH_SEED").unwrap_or(1) ^ self.name.len() as u64;
        let mut random = Random(seed);
        let (mut done, mut tried, mut rounds, mut helped) = (0, 0, 0, 0);
        while done < kills || helped == 0 {
            self.reset(&home);
            rounds += 1;
            let mut ended = false;
            for _ in 0..=random.below(4) {
                tried += 1;
                assert!(tried < 5 * kills + 50, "{}: kills come too late or too early", self.name);
                // If the store already exists, no name appears when it is published.
                let number = if self.there && tried % 3 == 2 { 0 } else { tried };
                let moment = moment(number, whole, &mut random);
                let begun = Instant::now();
                ended = !killed(&mut self.command(&home, true), home.path(), moment);
                if ended {
                    // The machine was busier when the first run was measured.
                    whole = whole.min(begun.elapsed());
                }
                done += usize::from(!ended);
                assert_eq!(fs::read_dir(home.at("tmp")).unwrap().count(), 0, "temporary files with names");
                if self.is_done(&home) {
                    break;
                }
            }
            if !self.is_done(&home) {
                ended = true;
                let end = self.command(&home, true).output().unwrap();
                assert!(end.status.success(), "{}, seed {seed}, round {rounds}: {end:?}", self.name);
                let told = String::from_utf8(end.stdout).unwrap();
                helped += usize::from(told.contains("found"));
            }
            if helped == 0 {
                // The machine is busier than when the first run was measured: the load had done nothing when it was
                // killed.
                whole = whole * 5 / 4;
            }
            let state = self.state(&home);
            let differ = tree::difference(&state, &wanted);
            assert!(state == wanted, "{}, seed {seed}, round {rounds}: {differ}", self.name);
            // A load that was killed after it was done leaves files that the next load removes.
            let left = tree::read(home.path(), graphs::is_source);
            let left = tree::in_the_making(&left);
            assert!(left.is_empty() || !ended, "{}, seed {seed}: left behind: {left:?}", self.name);
            home.run(&["validate", "out"]).exits(0);
        }
        println!(
            "{}: seed {seed}, {whole:?} undisturbed, {done} kills, {helped} of {rounds} ends found something",
            self.name
        );
    }

    fn command(&self, home: &Home, resume: bool) -> Command {
        let mut arguments = vec!["lake", "load", "out"];
        arguments.extend(self.texts);
        // Several runs per thread.
        arguments.extend(["--memory", "32MiB", "--epoch", "1800000000"]);
        if resume {
            arguments.push("--resume");
        }
        let mut command = home.command(&arguments);
        command.env("TMPDIR", home.at("tmp"));
        command
    }

    /// Restores the state before the load.
    fn reset(&self, home: &Home) {
        tree::clear(home.path(), graphs::is_source);
        if self.there {
            home.write("first.nt", "<urn:first> <urn:p> \"here\" .\n");
            home.run(&["lake", "load", "out", "first.nt", "--epoch", "1700000000"]).exits(0);
            fs::remove_file(home.at("first.nt")).unwrap();
        }
    }

    /// Returns whether the load was published and has removed its temporary files.
    fn is_done(&self, home: &Home) -> bool {
        let snapshot = if self.there { "out/snapshots/snapshot2.json" } else { "out/snapshots/snapshot1.json" };
        home.at(snapshot).exists() && !home.at(".out.load").exists()
    }

    /// Returns the content of the store: its files, or, if their names are random, its quads and versions.
    fn state(&self, home: &Home) -> tree::Tree {
        if !self.there {
            return tree::published(&tree::read(home.path(), graphs::is_source));
        }
        let mut dumped: Vec<String> = home.run(&["dump", "out"]).exits(0).out.lines().map(str::to_owned).collect();
        dumped.sort();
        let versions = home.run(&["lake", "log", "out", "--json"]).exits(0).json().as_array().unwrap().len();
        [
            ("quads".to_owned(), dumped.join("\n").into_bytes()),
            ("versions".to_owned(), versions.to_string().into_bytes()),
        ]
        .into()
    }
}

#[test]
fn a_load_of_lines() {
    Load { name: "a load of lines", texts: &["large.nq"], there: false }.run();
}

#[test]
fn a_load_of_several_texts() {
    Load { name: "a load of several texts", texts: &["large.ttl", "small.nq"], there: false }.run();
}

#[test]
fn a_load_into_a_store() {
    Load { name: "a load into a store", texts: &["large.nq"], there: true }.run();
}
