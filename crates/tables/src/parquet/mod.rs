//! Parquet, read after independent checks and written with page indexes.
//!
//! The layers, each of which relies only on those before it:
//!
//! ```text
//! thrift ─ footer ─ columns ─ file          the metadata of the file, checked when it is opened
//! thrift ─ page_header ─ page_check ┐
//! chunk_bytes ─ codec ──────────────┴ pages  page after page, checked before memory is reserved for it
//! pages ─ row_group ─ group_reader ─ scan    the published decoder, with panics and memory under control
//! index_check                                page indexes and statistics compared with the data, on request
//! pages ─ page_cache ─ fixed_page, text_page ─ point      single rows, through the page index
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
