//! An object that is written in parts, several of them at the same time.

use std::collections::VecDeque;

use bytes::Bytes;
use isomorph_error::Error;
use isomorph_storage::objects::{Answer, Failure, ObjectUpload, Reason};
use object_store::{MultipartUpload, PutPayload};

use crate::failure::failure;
use crate::runtime::{Task, run, start};

/// The number of parts of one object that are sent at the same time.
const UNDER_WAY: usize = 4;

#[derive(Debug)]
pub(crate) struct Upload {
    /// `None` after the end.
    parts: Option<Box<dyn MultipartUpload>>,
    under_way: VecDeque<Task<()>>,
}

impl Upload {
    pub(crate) fn new(parts: Box<dyn MultipartUpload>) -> Self {
        Upload { parts: Some(parts), under_way: VecDeque::new() }
    }
}

impl ObjectUpload for Upload {
    fn part(&mut self, content: Bytes) -> Answer<()> {
        let parts = self.parts.as_mut().ok_or_else(ended)?;
        self.under_way.push_back(start(parts.put_part(PutPayload::from(content))));
        match self.under_way.len() > UNDER_WAY {
            true => self.under_way.pop_front().map_or(Ok(()), Task::wait).map_err(failure),
            false => Ok(()),
        }
    }

    fn settle(&mut self) -> Answer<()> {
        while let Some(task) = self.under_way.pop_front() {
            task.wait().map_err(failure)?;
        }
        Ok(())
    }

    fn complete(&mut self) -> Answer<()> {
        self.settle()?;
        let mut parts = self.parts.take().ok_or_else(ended)?;
        run(async move { parts.complete().await }).map(drop).map_err(failure)
    }

    fn abort(&mut self) -> Answer<()> {
        let Some(mut parts) = self.parts.take() else { return Ok(()) };
        run(async move { parts.abort().await }).map_err(failure)
    }
}

/// The failure of a call after the end.
fn ended() -> Failure {
    Failure { reason: Reason::Other, error: Error::usage("the upload has already ended") }
}
