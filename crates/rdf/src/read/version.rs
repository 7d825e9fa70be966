//! `VERSION "1.2"` in N-Triples and N-Quads: a line of RDF 1.2 that states nothing. The parsers do not support it
//! there, so they get as many blanks in its place as it has bytes: the positions after it are unchanged.

use std::io::{self, Read};

/// Maximum length of such a line in bytes: a longer line goes to the parser.
const LONGEST: usize = 256;

/// Bytes that are read at a time.
const CHUNK: usize = 16 << 10;

/// A line-based text without version lines.
pub(super) struct Unversioned<R> {
    inner: R,
    /// The beginning of a line that may be one.
    line: Option<Vec<u8>>,
    ready: Vec<u8>,
    from: usize,
    buffer: Vec<u8>,
}

impl<R: Read> Unversioned<R> {
    pub(super) fn new(inner: R) -> Self {
        Unversioned { inner, line: Some(Vec::new()), ready: Vec::new(), from: 0, buffer: vec![0; CHUNK] }
    }

    /// Reads on until there is something for the parser, or the text ends.
    fn fill(&mut self) -> io::Result<()> {
        self.ready.clear();
        self.from = 0;
        while self.ready.is_empty() {
            let read = self.inner.read(&mut self.buffer)?;
            let buffer = std::mem::take(&mut self.buffer);
            self.pass(buffer.get(..read).unwrap_or_default());
            self.buffer = buffer;
            if read == 0 {
                self.end_line();
                break;
            }
        }
        Ok(())
    }

    fn pass(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some(byte) = rest.first() {
            let Some(line) = &mut self.line else {
                let end = memchr::memchr(b'\n', rest).map(|end| end + 1);
                let (through, behind) = rest.split_at(end.unwrap_or(rest.len()));
                self.ready.extend_from_slice(through);
                self.line = end.map(|_| Vec::new());
                rest = behind;
                continue;
            };
            if *byte == b'\n' {
                self.end_line();
                continue;
            }
            line.push(*byte);
            rest = rest.get(1..).unwrap_or_default();
            let first = line.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
            if line.len() >= LONGEST || first.is_some_and(|first| *first != b'V') {
                self.ready.append(line);
                self.line = None;
            }
        }
    }

    /// Processes the end of a line that may be a version line; the line end itself is kept.
    fn end_line(&mut self) {
        let Some(mut line) = self.line.take() else { return };
        if is_version(&line) {
            line.fill(b' ');
        }
        self.ready.append(&mut line);
    }
}

/// Whether a line is the directive: the word, a string without escapes, and optionally a comment.
fn is_version(line: &[u8]) -> bool {
    let Some(rest) = std::str::from_utf8(line).ok().and_then(|line| trimmed(line).strip_prefix("VERSION")) else {
        return false;
    };
    let string = trimmed(rest).strip_prefix('"').and_then(|rest| rest.split_once('"'));
    string.is_some_and(|(version, behind)| {
        let behind = trimmed(behind.trim_end_matches('\r'));
        !version.contains('\\') && (behind.is_empty() || behind.starts_with('#'))
    })
}

fn trimmed(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}

impl<R: Read> Read for Unversioned<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.from == self.ready.len() {
            self.fill()?;
        }
        let rest = self.ready.get(self.from..).unwrap_or_default();
        let length = rest.len().min(out.len());
        if let (Some(to), Some(from)) = (out.get_mut(..length), rest.get(..length)) {
            to.copy_from_slice(from);
        }
        self.from += length;
        Ok(length)
    }
}
