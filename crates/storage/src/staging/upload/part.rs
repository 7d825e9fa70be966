//! The upload of one file to an object store.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use isomorph_error::{Error, Kind, Place, Result};
use object_store::path::Path as Key;
use object_store::{MultipartUpload, ObjectStoreExt, PutPayload};

use super::{Ready, Shared};
use crate::remote::{Task, explained, failed, run, start};

/// Size of a part, bytes. Some stores require all parts but the last to have the same size.
const PART: usize = 8 << 20;
/// The number of parts of one file that are uploaded at the same time.
const UNDER_WAY: usize = 4;
/// The maximum number of parts in S3.
const PARTS: usize = 10_000;

/// A file that is being written: held in memory while it fits into one part, then uploaded in parts.
#[derive(Debug)]
pub(in crate::staging) struct Upload {
    shared: Arc<Shared>,
    key: Key,
    name: String,
    buffer: BytesMut,
    parts: Option<Box<dyn MultipartUpload>>,
    sent: usize,
    under_way: VecDeque<Task<()>>,
}

impl Upload {
    pub(super) fn new(shared: Arc<Shared>, key: Key, name: &str) -> Self {
        let (buffer, under_way) = (BytesMut::new(), VecDeque::new());
        Upload { shared, key, name: name.to_owned(), buffer, parts: None, sent: 0, under_way }
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
        while let Some(task) = self.under_way.pop_front() {
            task.wait().map_err(|error| failed(error, &self.name))?;
        }
        match self.parts.take() {
            Some(parts) => self.shared.finished(&self.name, Ready::Parts(self.key.clone(), parts), size),
            None => Ok(()),
        }
    }

    fn send(&mut self) -> Result<()> {
        if self.sent == PARTS {
            return Err(Error::new(Kind::TooLarge, "an object must not be larger than 80 GB")
                .at(Place::file(self.name.clone()))
                .hint("write several partitions"));
        }
        let part: Bytes = mem::take(&mut self.buffer).freeze();
        if self.parts.is_none() {
            let (store, key) = (Arc::clone(&self.shared.main.store), self.key.clone());
            self.parts = Some(run(async move { store.put_multipart(&key).await }).map_err(explained)?);
        }
        let Some(parts) = &mut self.parts else { return Ok(()) };
        self.under_way.push_back(start(parts.put_part(PutPayload::from(part))));
        self.sent += 1;
        match self.under_way.pop_front_if(|_| self.sent > UNDER_WAY) {
            Some(task) => task.wait().map_err(|error| failed(error, &self.name)),
            None => Ok(()),
        }
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if let Some(mut parts) = self.parts.take() {
            // If this fails, the store's own rules for unfinished uploads remove them.
            let _ = run(async move { parts.abort().await });
        }
    }
}
