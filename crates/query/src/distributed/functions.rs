//! Functions of ours in plans that travel: those that the registry of [`session_state`] does not have by name.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::{SessionState, SessionStateBuilder};
use datafusion::logical_expr::ScalarUDF;
use datafusion::prelude::SessionConfig;

use crate::functions::{aggregates, array_any, bounded, length_parts, operations};
use crate::rewrite::{one_row, times};

/// The text of a function that is made for a question, and is in no registry.
pub fn function_to_text(function: &ScalarUDF) -> Option<String> {
    operations::made_to_text(function)
}

/// The function of such a text.
pub fn function_of_text(text: &str) -> Option<Arc<ScalarUDF>> {
    operations::made_of_text(text)
}

/// A session with the functions of questions: the engine's, those of ours that stand in their place, and those of ours that plans use. Functions whose
/// results may be of any size make at most so many bytes.
///
/// # Errors
/// If a function cannot be registered.
pub fn session_state(config: SessionConfig, most: usize) -> Result<SessionState> {
    let mut state = SessionStateBuilder::new().with_config(config).with_default_features().build();
    register(&mut state, most)?;
    Ok(state)
}

fn register(state: &mut SessionState, most: usize) -> Result<()> {
    aggregates::register(state)?;
    bounded::register(state, most)?;
    length_parts::register(state)?;
    let own = operations::all().into_iter().chain(array_any::all()).chain([one_row::function(), times::function()]);
    for function in own {
        state.register_udf(function)?;
    }
    Ok(())
}
