//! Arrow IPC files, with the record batches as parts. Buffers may be compressed; what they claim is bounded before they are read.

mod compressed;
mod read;
mod write;

pub(crate) use read::ArrowFile;
pub(crate) use write::ArrowWriter;
