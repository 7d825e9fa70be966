//! Stores, with the library's store in memory, and servers that do not answer.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod objects;
mod schemes;

use std::io::Write;
use std::sync::Arc;

use isomorph_storage::{FileDigest, Location, StagedFile};
use object_store::memory::InMemory;

/// Writes and finishes a staged file.
fn fill(mut file: StagedFile, bytes: &[u8]) -> FileDigest {
    file.write_all(bytes).unwrap();
    file.finish().unwrap()
}

/// A location in a store in memory.
fn on(text: &str, store: Arc<InMemory>) -> Location {
    Location::parse(text).unwrap().on_store(isomorph_network::client(store))
}
