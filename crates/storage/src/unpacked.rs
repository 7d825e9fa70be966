//! Readers of compressed data.

use std::io::{self, Read};

use isomorph_error::Error;

/// Reads decompressed data. Errors of the decoder mean bad input; errors of the system do not.
#[derive(Debug)]
pub struct Unpacked<R> {
    decoder: R,
    format: &'static str,
}

impl<R: Read> Unpacked<R> {
    /// Wraps `decoder`; `format` is the name of the format for error messages.
    pub fn new(decoder: R, format: &'static str) -> Self {
        Unpacked { decoder, format }
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| {
            let of_machine = error.raw_os_error().is_some()
                || matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::OutOfMemory)
                || error.get_ref().is_some_and(|inner| inner.is::<Error>());
            if of_machine {
                return error;
            }
            io::Error::other(Error::malformed(format!("the {} data is damaged: {error}", self.format)))
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use isomorph_error::Kind;

    use super::*;

    struct Failing(fn() -> io::Error);

    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err((self.0)())
        }
    }

    #[test]
    fn what_a_decoder_refuses_is_bad_input() {
        let kind = |error: fn() -> io::Error| {
            let error = Unpacked::new(Failing(error), "gzip").read(&mut [0]).unwrap_err();
            Error::from(error).kind()
        };
        assert_eq!(kind(|| io::ErrorKind::InvalidInput.into()), Kind::Malformed);
        assert_eq!(kind(|| io::Error::other("corrupt")), Kind::Malformed);
        assert_eq!(kind(|| io::Error::from_raw_os_error(5)), Kind::Io);
        assert_eq!(kind(|| io::Error::other(Error::usage("no"))), Kind::Usage);
    }
}
