//! The flags of a command: a hint must not name a flag that the command does not have.

use std::collections::BTreeSet;

use clap::{ArgMatches, Command, CommandFactory};

use super::Cli;

/// The flags of the running command.
#[derive(Debug)]
pub struct Flags {
    command: Command,
    /// Whether the command is lenient already.
    is_lenient: bool,
}

impl Flags {
    /// Returns the flags of the command that a command line names.
    pub fn of(line: &ArgMatches) -> Self {
        let mut command = Cli::command();
        command.build();
        let mut line = line;
        while let Some((name, inner)) = line.subcommand() {
            let Some(found) = command.find_subcommand(name).cloned() else { break };
            (command, line) = (found, inner);
        }
        let is_lenient = matches!(line.try_get_one::<bool>("lenient"), Ok(Some(true)));
        Flags { command, is_lenient }
    }

    /// Returns the flags of all commands, for a command line that could not be parsed.
    pub fn any() -> Self {
        let mut command = Cli::command();
        command.build();
        Flags { command, is_lenient: false }
    }

    /// Returns whether this command supports what a hint suggests. Libraries do not know which command calls them, so a
    /// hint that names flags is shown only if the command has them. A hint that spells out another command, of isomorph
    /// or Cargo, is always shown. One to be lenient does not help where that was given.
    pub fn fit(&self, hint: &str) -> bool {
        let is_spent = self.is_lenient && hint.strip_prefix("use ").unwrap_or(hint).starts_with("--lenient");
        let is_whole = hint.starts_with("isomorph ") || hint.starts_with("cargo ");
        is_whole || !is_spent && missing(hint, &self.command).is_empty()
    }
}

/// Returns the flags of a command and of its subcommands.
fn flags(command: &Command) -> BTreeSet<String> {
    let own = command.get_arguments().flat_map(|argument| {
        let aliases = argument.get_all_aliases().unwrap_or_default().into_iter().map(str::to_owned);
        argument.get_long().map(str::to_owned).into_iter().chain(aliases)
    });
    own.chain(command.get_subcommands().flat_map(flags)).collect()
}

/// Returns the flags that a text names and that do not exist: in the command that it names, or else in any below `all`.
pub(super) fn missing(text: &str, all: &Command) -> Vec<String> {
    let mut words = text.split(' ').filter(|word| !word.is_empty());
    let mut of = all;
    if words.next() == Some("isomorph") {
        while let Some(command) = words.next().and_then(|name| of.find_subcommand(name)) {
            of = command;
        }
    }
    let known = flags(of);
    let named = text.split([' ', '=', '|', ',', ':', ';']).filter_map(|word| word.strip_prefix("--"));
    named.filter(|flag| !flag.is_empty() && !known.contains(*flag)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_hint_fits_where_its_flags_are() {
        let flags = |line: &[&str]| Flags::of(&Cli::command().try_get_matches_from(line).unwrap());
        let (init, convert) = (flags(&["isomorph", "lake", "init", "a"]), flags(&["isomorph", "convert", "a", "b"]));
        for (hint, by_init, by_convert) in [
            ("choose another destination", true, true),
            ("--replace    replace what is there", false, true),
            ("isomorph dump PATH --replace", true, true),
            ("--json", true, true),
            ("cargo install --path cli    build it", true, true),
        ] {
            assert_eq!((init.fit(hint), convert.fit(hint)), (by_init, by_convert), "{hint}");
        }
        let lenient = flags(&["isomorph", "stats", "a", "--lenient"]);
        let strict = flags(&["isomorph", "stats", "a"]);
        for hint in ["--lenient    continue anyway", "use --lenient to skip invalid statements"] {
            assert_eq!((lenient.fit(hint), strict.fit(hint)), (false, true), "{hint}");
        }
        assert!(lenient.fit("open it without --sidecar and --lenient"));
    }
}
