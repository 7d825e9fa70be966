//! Records that are kept until all are known: in memory or, beyond it, in a temporary file.

use std::borrow::Cow;
use std::io::{Seek, SeekFrom, Write};

use isomorph_error::{Error, Result};
use isomorph_storage::{Budget, Reservation, Scratch, ScratchFile};

/// Where pages are stored that do not fit into memory.
#[derive(Debug, Clone)]
pub(super) struct Room {
    pub budget: Budget,
    pub scratch: Option<Scratch>,
}

/// Pages of bytes, appended in order and read in any order.
#[derive(Debug)]
pub(super) struct Pages {
    room: Room,
    held: Option<Reservation>,
    file: Option<ScratchFile>,
    pages: Vec<Page>,
}

#[derive(Debug)]
enum Page {
    Here(Vec<u8>),
    /// Offset and length in the file.
    There(u64, usize),
}

impl Pages {
    pub fn new(room: &Room) -> Pages {
        Pages { room: room.clone(), held: None, file: None, pages: Vec::new() }
    }

    /// Returns the number of pages.
    pub fn len(&self) -> usize {
        self.pages.len()
    }

    /// Appends a page.
    ///
    /// # Errors
    /// Returns an error if neither memory nor the temporary file has enough room.
    pub fn push(&mut self, bytes: Vec<u8>) -> Result<()> {
        if self.file.is_none() {
            let size = bytes.len() as u64;
            let fits = match &mut self.held {
                Some(held) => held.try_grow(size),
                None => {
                    self.held = self.room.budget.try_reserve(size);
                    self.held.is_some()
                }
            };
            if fits {
                self.pages.push(Page::Here(bytes));
                return Ok(());
            }
            let scratch = self.room.scratch.clone().map_or_else(|| Scratch::new(None), Ok)?;
            self.file = Some(scratch.create()?);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let offset = file.size();
        file.seek(SeekFrom::Start(offset)).and_then(|_| file.write_all(&bytes)).map_err(Error::from)?;
        self.pages.push(Page::There(offset, bytes.len()));
        Ok(())
    }

    /// Returns a page.
    ///
    /// # Errors
    /// Returns an error if it cannot be read.
    pub fn get(&self, page: usize) -> Result<Cow<'_, [u8]>> {
        match (self.pages.get(page), &self.file) {
            (Some(Page::Here(bytes)), _) => Ok(Cow::Borrowed(bytes)),
            (Some(Page::There(offset, length)), Some(file)) => {
                let mut bytes = vec![0; *length];
                file.read_exact_at(&mut bytes, *offset)?;
                Ok(Cow::Owned(bytes))
            }
            _ => Err(Error::usage("there is no such page")),
        }
    }
}
