#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod capability;
mod counts;
mod description;
pub mod extend;
pub mod hints;
pub mod info;
pub mod layout;
pub mod lookup;
mod open;
mod read;
pub mod rules;
mod source;
mod statistics;
mod table;
mod validate;
pub mod write;
mod yml;

pub use capability::CAPABILITY;
pub use open::{GraphAr, OpenOptions, detect};
pub use write::{GraphArWriter, WriteOptions};
