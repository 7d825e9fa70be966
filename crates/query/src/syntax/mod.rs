//! What a question says: its text as a statement, with the names and spellings that the engine knows.

pub(crate) mod casts;
pub(crate) mod dialect;
pub(crate) mod function_clauses;
pub(crate) mod labels;
pub(crate) mod like_escapes;
pub(crate) mod limits;
pub(crate) mod merged;
pub(crate) mod named_windows;
pub(crate) mod names;
pub(crate) mod parameter_lists;
pub(crate) mod repeated_names;
pub(crate) mod resolve;
pub(crate) mod row_values;
pub(crate) mod similar;
pub(crate) mod spelling;
pub(crate) mod stars;
pub(crate) mod statement;
pub(crate) mod subqueries;
pub(crate) mod table_columns;
pub(crate) mod vocabulary;
