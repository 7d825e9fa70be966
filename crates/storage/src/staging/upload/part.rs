//! The upload of one file to an object store.

use std::io;
use std::mem;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use isomorph_error::{Error, Kind, Place, Result};

use super::{Ready, Shared};
use crate::objects::ObjectUpload;
use crate::remote::failed;

/// Size of a part, bytes. Some stores require all parts but the last to have the same size.
const PART: usize = 8 << 20;
/// The maximum number of parts in S3.
const PARTS: usize = 10_000;

/// A file that is being written: held in memory while it fits into one part, then uploaded in parts.
#[derive(Debug)]
pub(in crate::staging) struct Upload {
    shared: Arc<Shared>,
    key: String,
    name: String,
    buffer: BytesMut,
    parts: Option<Box<dyn ObjectUpload>>,
    sent: usize,
}

impl Upload {
    pub(super) fn new(shared: Arc<Shared>, key: String, name: &str) -> Self {
        Upload { shared, key, name: name.to_owned(), buffer: BytesMut::new(), parts: None, sent: 0 }
    }

    pub(in crate::staging) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PART - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..taken]);
        if self.buffer.len() == PART {
            self.send().map_err(io::Error::other)?;
        }
        Ok(taken)
    }

    pub(in crate::staging) fn finish(mut self, size: u64) -> Result<()> {
        if self.parts.is_none() {
            let held = Ready::Held(self.key.clone(), mem::take(&mut self.buffer).freeze());
            return self.shared.finished(&self.name, held, size);
        }
        if !self.buffer.is_empty() {
            self.send()?;
        }
        let Some(mut parts) = self.parts.take() else { return Ok(()) };
        match parts.settle() {
            Ok(()) => self.shared.finished(&self.name, Ready::Parts(self.key.clone(), parts), size),
            Err(failure) => {
                // Dropping this discards the parts.
                self.parts = Some(parts);
                Err(failed(failure, &self.name))
            }
        }
    }

    fn send(&mut self) -> Result<()> {
        if self.sent == PARTS {
            return Err(Error::new(Kind::TooLarge, "an object must not be larger than 80 GB")
                .at(Place::file(self.name.clone()))
                .hint("write several partitions"));
        }
        let part: Bytes = mem::take(&mut self.buffer).freeze();
        let parts = match &mut self.parts {
            Some(parts) => parts,
            none => none.insert(self.shared.main.client.upload(&self.key).map_err(|failure| failure.error)?),
        };
        self.sent += 1;
        parts.part(part).map_err(|failure| failed(failure, &self.name))
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(mut parts) = self.parts.take() {
            // If this fails, the store's own rules for unfinished uploads remove them.
            let _ = parts.abort();
        }
    }
}
