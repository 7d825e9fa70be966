//! conv
pub mod mapping;
pub mod parallel;
pub mod progress;
pub mod survey;
