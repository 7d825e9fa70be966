//! Pipes, colours, terminals.

use std::io::Read;
use std::process::Stdio;

use crate::support::{Home, PEOPLE};

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
