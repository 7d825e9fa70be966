//! A value that is read when it is first needed.

use std::sync::{Mutex, OnceLock, PoisonError};

use isomorph_error::Result;

/// A value that one thread reads when it is first needed; the others wait for it. After an error, the next thread tries
/// again.
pub(crate) struct ReadOnce<T> {
    value: OnceLock<T>,
    reading: Mutex<()>,
}

impl<T> ReadOnce<T> {
    /// The value. `read` must not need it.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn get(&self, read: impl FnOnce() -> Result<T>) -> Result<&T> {
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let _alone = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = self.value.get() {
            return Ok(value);
        }
        let value = read()?;
        Ok(self.value.get_or_init(|| value))
    }

    /// The value, if it was read.
    #[cfg(test)]
    pub fn known(&self) -> Option<&T> {
        self.value.get()
    }
}

impl<T> Default for ReadOnce<T> {
    fn default() -> Self {
        ReadOnce { value: OnceLock::new(), reading: Mutex::default() }
    }
}

impl<T> From<T> for ReadOnce<T> {
    fn from(value: T) -> Self {
        ReadOnce { value: OnceLock::from(value), reading: Mutex::default() }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use isomorph_error::Error;

    use super::*;

    #[test]
    fn a_value_is_read_once_and_again_after_an_error() {
        let value = ReadOnce::default();
        assert!(value.get(|| Err(Error::usage("not yet"))).is_err());
        assert_eq!((*value.get(|| Ok(1)).unwrap(), *value.get(|| Ok(2)).unwrap()), (1, 1));
    }
}
