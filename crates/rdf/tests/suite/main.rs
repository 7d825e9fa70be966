//! The tests of this crate, in one program: linking one takes less time than linking 12.

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
