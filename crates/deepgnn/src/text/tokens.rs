//! Words of a line, separated by what Python considers whitespace.

/// The words of a line.
#[derive(Debug, Clone)]
pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// Returns whether Python considers an ASCII byte whitespace; it includes four separators that C does not.
fn is_space(byte: u8) -> bool {
    byte == b' ' || matches!(byte, 0x09..=0x0d | 0x1c..=0x1f)
}

impl<'a> Tokens<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Tokens { bytes, at: 0 }
    }

    /// Returns where the next word begins; the end of the line if there is none.
    pub fn place(&mut self) -> usize {
        loop {
            match self.bytes.get(self.at) {
                Some(byte) if is_space(*byte) => self.at += 1,
                Some(byte) if *byte >= 0x80 => match wide_space(&self.bytes[self.at..]) {
                    Some(width) => self.at += width,
                    None => return self.at,
                },
                _ => return self.at,
            }
        }
    }

    /// Returns the next word without consuming it.
    pub fn peek(&mut self) -> Option<&'a [u8]> {
        self.clone_next().0
    }

    /// Returns the next word.
    pub fn next(&mut self) -> Option<&'a [u8]> {
        let (word, at) = self.clone_next();
        self.at = at;
        word
    }

    fn clone_next(&mut self) -> (Option<&'a [u8]>, usize) {
        let start = self.place();
        let mut end = start;
        while let Some(byte) = self.bytes.get(end) {
            if is_space(*byte) || *byte >= 0x80 && wide_space(&self.bytes[end..]).is_some() {
                break;
            }
            end += 1;
        }
        (self.bytes.get(start..end).filter(|word| !word.is_empty()), end)
    }
}

/// Returns the width of a non-ASCII whitespace character at the beginning of `bytes`.
fn wide_space(bytes: &[u8]) -> Option<usize> {
    let width = match bytes.first()? {
        0xc2 => 2,
        0xe1..=0xe3 => 3,
        _ => return None,
    };
    let text = std::str::from_utf8(bytes.get(..width)?).ok()?;
    text.chars().next().filter(|c| c.is_whitespace()).map(|_| width)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::Tokens;

    #[test]
    fn words_are_divided_by_every_space_of_python() {
        let line = " \u{a0}-1\t7\u{2003}x\u{e9}\u{1f}\u{3000}end\r";
        let mut tokens = Tokens::new(line.as_bytes());
        assert_eq!(tokens.peek(), Some(&b"-1"[..]));
        let mut words = Vec::new();
        while let Some(word) = tokens.next() {
            words.push(std::str::from_utf8(word).unwrap());
        }
        assert_eq!(words, ["-1", "7", "x\u{e9}", "end"]);
        assert_eq!(tokens.place(), line.len());
    }
}
