//! Formats output for people: text, numbers, tables, marks. Nothing here writes to a stream.

mod colour;
mod number;
mod table;
mod text;

pub use colour::{Mark, Palette, choose as colour};
pub use number::{about, bytes, count, duration, memory, of, rate, thousands};
pub use table::{Cell, Column, Table};
pub use text::{STAGE, Screen, cut, width};
