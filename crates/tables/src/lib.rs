//! Tables as Arrow batches: reading and writing Parquet, ORC, Arrow IPC, CSV and JSON lines; sheets of workbooks; sorting and look-ups that spill to disk.

#![cfg_attr(not(test), deny(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss))]

mod arrow;
pub mod by_table;
mod catch_panic;
mod convert;
mod csv;
pub mod distinct;
mod encoding;
mod json;
pub mod lookup;
mod options;
mod orc;
mod packed;
mod parquet;
mod reader;
mod row_order;
pub mod rules;
mod selection;
mod sheet;
pub mod sort;
mod text;
mod write_options;
mod writer;

pub use catch_panic::{fenced, quiet_fenced_panics};
pub use csv::{CsvDialect, CsvIndex, NullWord, Quoting, separator_line, survey_csv};
pub use encoding::Encoding;
pub use json::without_float_words;
pub use options::{Limits, ReadOptions, TextType};
pub use packed::{PackedFile, PackedWriter, Packing};
pub use parquet::PageCache;
pub use reader::{Batches, TableReader};
pub use selection::{BATCH_ROWS, Selection};
pub use sheet::{SHEET_COLUMNS, SHEET_ROWS, SHEET_STYLES, SHEET_TEXT, SheetWriter, check_sheet_text};
pub use text::{OddText, TypeGuess, whole_number};
pub use write_options::{ColumnEncoding, Compression, PAGE_ROWS, ROW_GROUP_ROWS, WriteOptions};
pub use writer::{TableWriter, WriteStats};
