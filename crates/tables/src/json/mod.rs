//! JSON lines: one object per line, read with a declared schema.

mod float_words;
mod read;
mod record;
mod value;
mod write;

pub use float_words::without_float_words;
pub(crate) use read::JsonFile;
pub(crate) use write::JsonWriter;
