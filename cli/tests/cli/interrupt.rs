//! An interrupted conversion leaves nothing behind.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::Home;

/// Creates a graph that takes a moment to convert.
fn large() -> Home {
    let mut text = String::from(crate::support::PEOPLE.lines().next().unwrap());
    for number in 0..60_000 {
        let _ = write!(text, "\n\"n{number}\",-1,\"\",\"\",1.0,-1,False,\"\",\"{{\"\"x\"\": {number}}}\"");
        let other = (number * 7919) % 60_000;
        let _ = write!(text, "\n\"n{number}\",0,\"r\",\"n{other}\",1.0,-1,False,\"\",\"\"");
    }
    let home = Home::new();
    home.write("large.csv", text + "\n");
    home
}

/// Starts a conversion, waits until it writes, and interrupts it. Returns the exit code and standard error.
fn interrupted(home: &Home, signal: &str) -> (i32, String) {
    let mut command = home.command(&["convert", "large.csv", "result", "--to", "graphar"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while home.names().len() < 2 && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    let _ = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn nothing_is_left_of_what_was_interrupted() {
    let home = large();
    for signal in ["-INT", "-TERM", "-INT"] {
        let (code, err) = interrupted(&home, signal);
        match code {
            // The signal came before the handler was installed, or in the last step: then the conversion is complete.
            0 => {
                home.run(&["diff", "large.csv", "result"]).exits(0);
                std::fs::remove_dir_all(home.at("result")).unwrap();
            }
            5 => {
                assert!(err.starts_with("interrupted: "), "{err}");
                assert_eq!(err.lines().count(), 1, "{err}");
            }
            other => panic!("{other}: {err}"),
        }
        assert_eq!(home.names(), ["large.csv"]);
    }
    home.run(&["convert", "large.csv", "result", "--to", "graphar"]).exits(0);
}

#[test]
fn a_pipe_that_says_nothing_keeps_nobody() {
    let home = Home::new();
    for signal in ["-INT", "-TERM"] {
        let mut command = home.command(&["lake", "load", "lake", "-"]);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(b"<urn:a> <urn:b> <urn:c> .\n").unwrap();
        while home.names().is_empty() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(5) && err.starts_with("interrupted: "), "{signal}: {err}");
        assert_eq!(home.names(), Vec::<String>::new());
        drop(pipe);
    }
}
