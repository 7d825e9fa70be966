//! Usage errors: printed as clap's text, or as a document with `--json`.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use isomorph::{Error, Kind};

use crate::args::Flags;
use crate::console::Console;

/// Prints help, the version, or a usage error.
pub fn report(error: &clap::Error, line: &[OsString]) -> ExitCode {
    let mut arguments = line.iter().skip(1).take_while(|argument| *argument != "--");
    if error.use_stderr() && arguments.any(|argument| argument == "--json") {
        let error = of_text(&error.render().to_string());
        Console { json: true, verbose: false, aside: false }.fail(&error, &Flags::any(), None, None);
        return ExitCode::from(error.kind().exit_code());
    }
    if let Err(failed) = error.print().and_then(|()| std::io::stdout().flush()) {
        // A reader that closed standard output is not an error, and errors of standard error cannot be reported.
        if !error.use_stderr() && failed.kind() != ErrorKind::BrokenPipe {
            let what = Error::new(Kind::Io, format!("standard output cannot be written: {failed}"));
            Console { json: false, verbose: false, aside: false }.fail(&what, &Flags::any(), None, None);
            return ExitCode::from(what.kind().exit_code());
        }
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// Converts clap's text: the first paragraph is the message; tips and the usage are hints.
fn of_text(text: &str) -> Error {
    let mut paragraphs = text.split("\n\n").map(|paragraph| {
        let words: Vec<&str> = paragraph.split_whitespace().collect();
        words.join(" ")
    });
    let message = paragraphs.next().unwrap_or_default();
    let error = Error::usage(message.strip_prefix("error: ").unwrap_or(&message));
    paragraphs.fold(error, |error, paragraph| match paragraph.split_once(": ") {
        Some(("tip" | "Usage", rest)) => error.hint(rest),
        _ => error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_error_is_taken_apart() {
        let error = of_text(
            "error: unexpected argument '--frob' found\n\n  tip: a similar argument exists: '--from'\n\n\
            Usage: isomorph info <PATH>\n\nFor more information, try '--help'.\n",
        );
        assert_eq!(error.message(), "unexpected argument '--frob' found");
        assert_eq!(error.hints().collect::<Vec<_>>(), ["a similar argument exists: '--from'", "isomorph info <PATH>"]);
        let error = of_text("error: the following required arguments were not provided:\n  <DESTINATION>\n");
        assert_eq!(error.message(), "the following required arguments were not provided: <DESTINATION>");
    }
}
