//! Apache GraphAr.

pub mod info;
pub mod layout;
pub mod rules;
mod yml;
