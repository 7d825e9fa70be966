//! Pipes, colours, terminals.

use std::io::Read;
use std::process::Stdio;

use crate::support::{Done, Home, PEOPLE};

#[test]
fn who_has_read_enough_causes_no_error() {
    let home = Home::new();
    let mut many = PEOPLE.lines().next().unwrap().to_owned() + "\n";
    for number in 0..20_000 {
        many.push_str(&format!("\"node number {number}\",-1,\"\",\"\",1.0,-1,False,\"\",\"\"\n"));
    }
    home.write("many.csv", many);
    let mut child = home.command(&["dump", "many.csv"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 16];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert_eq!(&first, b"{\"node\":\"node\",\"");
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn a_pipe_gets_no_colour_and_no_bars() {
    let home = Home::with_people();
    for arguments in [&["info", "people.csv"][..], &["convert", "people.csv", "p", "--to", "graphar"], &["info", "x"]] {
        let done = home.run(arguments);
        assert!(!done.out.contains('\x1b') && !done.err.contains('\x1b'), "{done:?}");
        assert!(!done.err.contains('━'));
    }
}

#[test]
fn what_comes_out_of_a_file_does_not_move_the_cursor() {
    let home = Home::new();
    home.write("evil.csv", PEOPLE.replace("mary", "ma\u{1b}[2Jry").replace("admires", "ad\u{1b}]0;x\u{7}mires"));
    for arguments in [&["info", "evil.csv"][..], &["digest", "evil.csv"], &["diff", "evil.csv", "evil.csv"]] {
        let done = home.run(arguments).exits(0);
        assert!(!done.out.contains('\x1b'), "{}", done.out);
    }
    home.write("people.csv", PEOPLE);
    let done = home.run(&["diff", "evil.csv", "people.csv"]).exits(1);
    assert!(done.out.contains("u{1b}") && !done.out.contains('\x1b'), "{}", done.out);
}

/// Runs the binary on a terminal of the program `script`; without that program, prints a line and returns nothing.
#[cfg(target_os = "linux")]
fn on_terminal(home: &Home, arguments: &[&str], environment: &[(&str, &str)]) -> Option<Done> {
    let words = [&[env!("CARGO_BIN_EXE_isomorph")], arguments].concat().join(" ");
    let mut command = std::process::Command::new("script");
    command.args(["--quiet", "--return", "--command", &format!("stty rows 24 cols 80; {words}"), "/dev/null"]);
    command.current_dir(home.path()).stdin(Stdio::null()).env_remove("NO_COLOR").env("TERM", "xterm");
    command.envs(environment.iter().copied());
    let Ok(output) = command.output() else {
        isomorph_fixtures::without_program("script");
        return None;
    };
    let out = String::from_utf8(output.stdout).unwrap();
    Some(Done { code: output.status.code().unwrap(), out, err: String::new() })
}

#[test]
#[cfg(target_os = "linux")]
fn a_terminal_gets_marks_and_lines_that_fit() {
    let home = Home::with_people();
    let Some(done) = on_terminal(&home, &["info", "people.csv"], &[]) else { return };
    assert!(done.out.contains("\x1b[32mchecks\x1b[0m"), "{:?}", done.out);
    let Some(plain) = on_terminal(&home, &["info", "people.csv"], &[("NO_COLOR", "1")]) else { return };
    assert!(!plain.out.contains('\x1b'), "{:?}", plain.out);
    assert!(plain.out.lines().all(|line| line.chars().count() <= 80), "{}", plain.out);
    assert!(plain.out.contains('…'), "{}", plain.out);
    let Some(never) = on_terminal(&home, &["info", "people.csv", "--color", "never"], &[]) else { return };
    assert!(!never.out.contains('\x1b'), "{:?}", never.out);
}

/// A plan is read before it is executed: it is never cut, not even on a narrow terminal.
#[test]
#[cfg(target_os = "linux")]
fn a_plan_is_whole_on_a_terminal() {
    let home = Home::with_people();
    let plan = ["convert", "people.csv", "people", "--to", "graphar", "--plan"];
    let Some(done) = on_terminal(&home, &plan, &[("NO_COLOR", "1")]) else { return };
    assert!(done.out.lines().all(|line| line.trim_end().chars().count() <= 80), "{}", done.out);
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
    let piped = home.run(&plan).exits(0).out;
    assert!(words(&done.out).contains("sort of 3 edges in 2 orders") && !done.out.contains('…'), "{}", done.out);
    let mut left: Vec<String> = words(&piped).split(' ').map(str::to_owned).collect();
    let mut right: Vec<String> = words(&done.out).split(' ').map(str::to_owned).collect();
    left.sort();
    right.sort();
    assert_eq!(left, right, "{}", done.out);
}
