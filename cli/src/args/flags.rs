//! Which flags a command has: what is told to be tried must be there.

use std::collections::BTreeSet;

use clap::{ArgMatches, Command, CommandFactory};

use super::Cli;

/// The flags of the command that runs.
#[derive(Debug)]
pub struct Flags(Command);

impl Flags {
    /// Those of the command that a command line names.
    pub fn of(line: &ArgMatches) -> Self {
        let mut command = Cli::command();
        command.build();
        let mut line = line;
        while let Some((name, inner)) = line.subcommand() {
            let Some(found) = command.find_subcommand(name).cloned() else { break };
            (command, line) = (found, inner);
        }
        Flags(command)
    }

    /// Those of all commands, where it is not known which one was meant.
    pub fn any() -> Self {
        let mut command = Cli::command();
        command.build();
        Flags(command)
    }

    /// Whether this command can do what a hint says. Libraries do not know who calls them: a hint that names flags
    /// is of use where these exist. One that spells out another command, of ours or of Cargo, stands for itself.
    pub fn fit(&self, hint: &str) -> bool {
        hint.starts_with("isomorph ") || hint.starts_with("cargo ") || missing(hint, &self.0).is_empty()
    }
}

/// The flags of a command and of those below it.
fn flags(command: &Command) -> BTreeSet<String> {
    let own = command.get_arguments().flat_map(|argument| {
        let aliases = argument.get_all_aliases().unwrap_or_default().into_iter().map(str::to_owned);
        argument.get_long().map(str::to_owned).into_iter().chain(aliases)
    });
    own.chain(command.get_subcommands().flat_map(flags)).collect()
}

/// The flags that a text names and that do not exist: of the command that it names, or of any below `all`.
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
    }
}
