//! The tests of this crate, in one program: linking one takes less time than linking 13.

mod checked;
mod common;
mod directories;
mod generated_texts;
mod hostile;
mod malformed;
mod narrow;
mod narrowed_deepgnn;
mod probes;
mod read_deepgnn;
mod same_bytes;
mod united;
mod written;
