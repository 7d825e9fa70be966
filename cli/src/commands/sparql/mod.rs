//! `sparql`: queries over graphs of any format.

#[cfg(feature = "query")]
mod answer;
#[cfg(feature = "query")]
mod asked;
#[cfg(feature = "query")]
mod update;

#[cfg(feature = "query")]
pub use answer::answer;
#[cfg(feature = "query")]
pub use asked::Loaded;
use isomorph::Result;
use isomorph::convert::Registry;

use super::Answer;
use crate::args::{LakeUpdateArgs, SparqlArgs};
use crate::console::Console;

/// Of another command: cargo's.
#[cfg(not(feature = "query"))]
const BUILD: &str = "cargo install --path cli    build the command with the query engine";

#[cfg(not(feature = "query"))]
fn not_built() -> isomorph::Error {
    isomorph::Error::unsupported("this command was built without the query engine").hint(BUILD)
}

/// Evaluates a query, and prints the answer.
///
/// # Errors
/// Any error of reading, evaluating or printing.
pub fn run(args: &SparqlArgs, formats: &Registry, console: &Console) -> Result<Answer> {
    #[cfg(feature = "query")]
    return answer(args, formats, console, &mut super::session::Session::default());
    #[cfg(not(feature = "query"))]
    {
        let _ = (args, formats, console);
        Err(not_built())
    }
}

/// Evaluates an update of a store.
///
/// # Errors
/// Any error of reading, evaluating, writing or printing.
pub fn update(args: &LakeUpdateArgs, console: &Console) -> Result<Answer> {
    #[cfg(feature = "query")]
    return update::run(args, console);
    #[cfg(not(feature = "query"))]
    {
        let _ = (args, console);
        Err(not_built())
    }
}
