#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod check;
mod chunk;
mod columns;
pub mod json;
mod kinds;
mod reader;
mod slots;
mod source;
mod stored;
mod survey;
pub mod values;
mod write;
pub mod xml;

pub use reader::{Head, Item, Labels, OpenOptions, Reader, RecordRules, Syntax};
pub use slots::{Endpoint, Id, Record, Role, Slot, Slots, Tag};
pub use source::{EDGE, NODE, RecordGraph};
pub use write::{Cell, Cells, EdgeRow, Form, KeyCell, RecordWriter, WriteOptions};
