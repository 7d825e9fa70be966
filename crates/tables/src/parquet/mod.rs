//! Parquet: read behind checks of our own, written with page indexes and without surprises.
//!
//! The layers, each of which trusts the one below it and nothing else:
//!
//! ```text
//! thrift ─ footer ─ columns ─ file          what the file says of itself, checked when it is opened
//! thrift ─ page_header ─ page_check ┐
//! chunk_bytes ─ codec ──────────────┴ pages  one page after the other, checked before anything is reserved for it
//! pages ─ row_group ─ group_reader ─ scan    the published decoder, fenced and watched
//! index_check                                page indexes and statistics against what the scan meets, when asked for
//! pages ─ page_cache ─ fixed_page, text_page ─ point      single rows, by the page index
//! ```

mod bounds;
mod chunk_bytes;
mod codec;
mod columns;
mod delta;
mod embedded;
mod embedded_types;
mod file;
mod fixed_page;
mod footer;
mod group_reader;
mod hybrid;
mod index_check;
mod page_cache;
mod page_check;
mod page_header;
mod page_index;
mod page_rows;
mod pages;
mod point;
mod prune;
mod row_group;
mod scan;
mod statistics;
mod text_page;
mod thrift;
mod watch;
mod write;

pub(crate) use columns::positions;
pub(crate) use file::ParquetFile;
pub use page_cache::PageCache;
pub(crate) use point::read_rows;
pub(crate) use scan::{Scan, row_numbers, with_row_numbers};
pub(crate) use write::ParquetWriter;
