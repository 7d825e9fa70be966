//! The tests of this crate, in one program: it takes less time to link than one for each file.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod byte_order_mark;
mod cut_anywhere;
mod fast;
mod lenient;
mod lenient_turtle;
mod long_tokens;
mod mended;
mod rdf_bad_input;
mod rdf_round_trip;
mod rdf_source;
mod stream;
mod xml_literals;
mod xml_processor;
