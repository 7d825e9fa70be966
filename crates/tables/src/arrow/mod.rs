//! Arrow IPC files, with the record batches as parts. Compressed files are refused: their buffers claim sizes that the library
//! allocates unseen.

mod read;
mod write;

pub(crate) use read::ArrowFile;
pub(crate) use write::ArrowWriter;
