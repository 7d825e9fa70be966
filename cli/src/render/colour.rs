//! Colour: three marks, only on terminals.

use std::io::IsTerminal;
use std::sync::OnceLock;

use clap::ColorChoice;

/// The value of `--color`; `auto` until it is set.
static CHOICE: OnceLock<ColorChoice> = OnceLock::new();

/// Sets the value of `--color`. Only the first call has an effect.
pub fn choose(choice: ColorChoice) {
    let _ = CHOICE.set(choice);
}

/// The meaning of a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// Valid, equal, done.
    Sound,
    /// Readable, with a problem.
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
    /// Returns the palette of a stream: the value of `--color`, or, if that is `auto`, colour on a terminal, unless the
    /// environment forbids it (`NO_COLOR`, `TERM=dumb`).
    pub fn of(stream: &impl IsTerminal) -> Self {
        match CHOICE.get() {
            Some(ColorChoice::Always) => return Palette::Ansi,
            Some(ColorChoice::Never) => return Palette::Plain,
            Some(ColorChoice::Auto) | None => {}
        }
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        if stream.is_terminal() && !refused && !dumb { Palette::Ansi } else { Palette::Plain }
    }

    /// Returns `text` in the colour of its mark.
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
