//! Arguments that make no sense: the text that clap makes of them, or with `--json` the same as a document.

use std::ffi::OsString;
use std::io::{ErrorKind, Write};
use std::process::ExitCode;

use isomorph::{Error, Kind};

use crate::args::Flags;
use crate::console::Console;

/// Prints help, the version, or what is wrong with the arguments.
pub fn report(error: &clap::Error, line: &[OsString]) -> ExitCode {
    let mut arguments = line.iter().skip(1).take_while(|argument| *argument != "--");
    if error.use_stderr() && arguments.any(|argument| argument == "--json") {
        let error = of_text(&error.render().to_string());
        Console { json: true, verbose: false, aside: false }.fail(&error, &Flags::any(), None, None);
        return ExitCode::from(error.kind().exit_code());
    }
    if let Err(failed) = error.print().and_then(|()| std::io::stdout().flush()) {
        // Who has read enough of it is no failure, and of standard error there is nobody left to tell.
        if !error.use_stderr() && failed.kind() != ErrorKind::BrokenPipe {
            let what = Error::new(Kind::Io, format!("standard output cannot be written: {failed}"));
            Console { json: false, verbose: false, aside: false }.fail(&what, &Flags::any(), None, None);
            return ExitCode::from(what.kind().exit_code());
        }
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

/// The first paragraph is what is wrong; tips and the usage are what to try.
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
