//! JSON lines: one object per line, read with a declared schema.

mod read;
mod record;
mod value;
mod write;

pub(crate) use read::JsonFile;
pub(crate) use write::JsonWriter;
