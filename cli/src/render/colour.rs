//! Colour: three marks, and only on a terminal.

use std::io::IsTerminal;

/// What a colour says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Sound, equal, done.
    Sound,
    /// Readable, but worth a look.
    Warning,
    /// Wrong.
    Error,
}

/// Whether marks are coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Palette {
    /// Plain text.
    #[default]
    Plain,
    /// The sixteen colours that every terminal has.
    Ansi,
}

impl Palette {
    /// Colour for a stream, unless it is no terminal or the environment says no (`NO_COLOR`, `TERM=dumb`).
    pub fn of(stream: &impl IsTerminal) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if stream.is_terminal() && !refused && !dumb { Palette::Ansi } else { Palette::Plain }
    }

    /// `text` with its mark.
    pub fn paint(self, text: &str, mark: Option<Mark>) -> String {
        match (self, mark) {
            (Palette::Plain, _) | (_, None) => text.to_owned(),
            (Palette::Ansi, Some(mark)) => {
                let code = match mark {
                    Mark::Sound => 32,
                    Mark::Warning => 33,
                    Mark::Error => 31,
                };
                format!("\x1b[{code}m{text}\x1b[0m")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_marks_are_coloured() {
        assert_eq!(Palette::Ansi.paint("error", Some(Mark::Error)), "\x1b[31merror\x1b[0m");
        assert_eq!(Palette::Ansi.paint("plain", None), "plain");
        assert_eq!(Palette::Plain.paint("error", Some(Mark::Error)), "error");
    }
}
