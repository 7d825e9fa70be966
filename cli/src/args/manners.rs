//! Rules that all help texts follow.

use clap::{ArgAction, Command, CommandFactory};

use super::Cli;

/// The verbs that the help of a command may begin with.
const VERBS: &[&str] = &[
    "Add", "Bind", "Change", "Check", "Compare", "Compact", "Convert", "Copy", "Create", "Delete", "Draw", "Drop",
    "Explain", "Find", "Give", "Insert", "List", "Load", "Make", "Measure", "Merge", "Open", "Print", "Query", "Read",
    "Remove", "Rename", "Serve", "Show",
];

/// Returns all commands with their full names, without those that clap adds.
fn commands() -> Vec<(String, Command)> {
    fn below(name: &str, command: &Command, found: &mut Vec<(String, Command)>) {
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            let name = format!("{name} {}", inner.get_name());
            below(&name, inner, found);
            found.push((name, inner.clone()));
        }
    }
    let mut command = Cli::command();
    command.build();
    let mut found = Vec::new();
    below("isomorph", &command, &mut found);
    found.push(("isomorph".into(), command));
    found
}

#[test]
fn a_command_is_told_in_ten_words_that_begin_with_a_verb() {
    let commands = commands();
    assert!(commands.len() > 30, "{} commands", commands.len());
    let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
    let wrong = commands.iter().map(|(name, command)| (name, about(command))).filter(|(_, about)| {
        let words: Vec<&str> = about.split_whitespace().collect();
        words.len() > 10 || !words.first().is_some_and(|verb| VERBS.contains(&verb.trim_end_matches(',')))
    });
    assert_eq!(wrong.collect::<Vec<_>>(), []);
}

#[test]
fn every_flag_with_a_value_ends_with_its_default() {
    let mut wrong = Vec::new();
    for (name, command) in commands() {
        for argument in command.get_arguments() {
            let takes_a_value = matches!(argument.get_action(), ArgAction::Set | ArgAction::Append);
            let shown = !argument.get_default_values().is_empty() && !argument.is_hide_default_value_set();
            let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
            let told = help.contains(" [default: ") && help.ends_with(']');
            let fine = argument.is_positional() || argument.is_required_set() || !takes_a_value || (shown ^ told);
            if !fine {
                wrong.push(format!("{name} --{}: {help}", argument.get_id()));
            }
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// Arguments of one id would be one argument: a flag would give the value of a positional argument a second time.
#[test]
fn every_argument_of_a_command_has_an_id_of_its_own() {
    let mut twice = Vec::new();
    for (name, command) in commands() {
        let mut ids: Vec<&str> = command.get_arguments().map(|argument| argument.get_id().as_str()).collect();
        ids.sort_unstable();
        twice.extend(ids.windows(2).filter_map(|pair| match pair {
            [one, other] if one == other => Some(format!("{name} {one}")),
            _ => None,
        }));
    }
    assert_eq!(twice, [""; 0]);
}
