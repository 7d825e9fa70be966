//! Questions: against a naive oracle, over all formats, and what is refused.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod answers;
mod casts;
mod clauses;
mod correlated;
mod decimals;
mod direct;
mod end_groups;
mod existing;
mod extracts;
mod formats;
mod forms;
mod graph_table;
mod instants;
mod integer_means;
mod intervals;
mod joins;
mod membership_values;
mod memberships;
mod moments;
mod named;
mod narrowing;
mod one_value;
mod orders;
mod own_names;
mod parameter_lists;
mod parameters;
mod random;
mod refused;
mod rows;
mod statistics;
mod support;
mod using;
mod zeros;
mod zoned;
