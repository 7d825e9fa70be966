//! Random graphs and commands against a naive oracle: `cli/tests/oracle`.

use crate::process::{LEAN, Workspace};
use crate::report::{Outcome, StepResult};

/// Default number of graphs.
const GRAPHS: &str = "10000";

/// Runs the oracle on the given number of graphs, starting with the given one.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> StepResult {
    let mut numbers = arguments.iter().map(String::as_str);
    let (graphs, first) = (numbers.next().unwrap_or(GRAPHS), numbers.next().unwrap_or("0"));
    if numbers.next().is_some() || [graphs, first].iter().any(|number| number.parse::<u64>().is_err()) {
        return Err("expected `cargo xtask oracle [NUMBER OF GRAPHS [FIRST]]`".into());
    }
    let test = ["test", "--package", "isomorph-cli", LEAN, "--test", "oracle", "--", "--nocapture"];
    workspace.cargo(&test).env("ORACLE_CASES", graphs).env("ORACLE_FIRST", first).run()?;
    Ok(Outcome::Done)
}
