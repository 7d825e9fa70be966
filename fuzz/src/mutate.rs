//! Deterministic small changes of inputs.

/// Pseudo-random numbers from a seed (SplitMix64).
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.number() % end as u64) as usize }
    }
}

/// Texts that often break parsers.
const AWKWARD: &[&str] = &[
    "0",
    "-1",
    "1",
    "127",
    "255",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e999",
    "-0",
    "0.1",
    "NaN",
    "Infinity",
    "null",
    "true",
    "\"",
    "\"\"",
    "'",
    "\n",
    "\r\n",
    "\t",
    ",",
    ":",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    "(",
    ")",
    "..",
    "/",
    "\\",
    "\u{0}",
    "\u{feff}",
    "\u{e9}",
    "\u{1f600}",
    "\\u0000",
    "\\ud800",
    "#",
    "&a",
    "*a",
    "%2e",
    " ",
];

/// Maximum size of an input, in bytes.
const LONGEST: usize = 1 << 16;

/// Makes inputs from others.
pub struct Mutator<'a> {
    random: Random,
    corpus: &'a [Vec<u8>],
    words: &'a [&'a str],
}

impl<'a> Mutator<'a> {
    /// Mutates the inputs of `corpus`, with `words` as material.
    pub fn new(seed: u64, corpus: &'a [Vec<u8>], words: &'a [&'a str]) -> Self {
        Mutator { random: Random::new(seed), corpus, words }
    }

    /// The next input: one of the corpus with one to eight changes.
    pub fn input(&mut self) -> Vec<u8> {
        let mut input = self.some_input().to_vec();
        // Small numbers of changes are the most frequent.
        for _ in 0..1usize << self.random.below(4) {
            self.change(&mut input);
        }
        input.truncate(LONGEST);
        input
    }

    fn some_input(&mut self) -> &'a [u8] {
        let at = self.random.below(self.corpus.len());
        self.corpus.get(at).map_or(&[], Vec::as_slice)
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.random.below(input.len());
        let end = at + self.random.below((input.len() - at).min(64) + 1);
        match self.random.below(10) {
            0 | 1 if !input.is_empty() => input[at] ^= 1 << self.random.below(8),
            2 if !input.is_empty() => {
                const BYTES: [u8; 8] = [0, 1, 0x7f, 0x80, 0xff, 0xfe, b'"', b'\n'];
                input[at] = BYTES[self.random.below(BYTES.len())];
            }
            3 => {
                input.drain(at..end);
            }
            4 => {
                let piece = input[at..end].to_vec();
                let to = self.random.below(input.len() + 1);
                input.splice(to..to, piece);
            }
            5 => {
                let word = AWKWARD[self.random.below(AWKWARD.len())];
                let end = if self.random.below(2) == 0 { at } else { end };
                input.splice(at..end, word.bytes());
            }
            6 if !self.words.is_empty() => {
                let word = self.words[self.random.below(self.words.len())];
                let end = if self.random.below(2) == 0 { at } else { end };
                input.splice(at..end, word.bytes());
            }
            7 => {
                let other = self.some_input();
                let from = self.random.below(other.len());
                let to = from + self.random.below((other.len() - from).min(256) + 1);
                input.splice(at..end, other[from..to].iter().copied());
            }
            8 => self.decimal(input, at),
            _ => self.width(input, at),
        }
    }

    /// Replaces the decimal number around `at`.
    fn decimal(&mut self, input: &mut Vec<u8>, at: usize) {
        let Some(first) = input[at..].iter().position(u8::is_ascii_digit).map(|skip| at + skip) else {
            return input.truncate(at);
        };
        let length = input[first..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let word = AWKWARD[self.random.below(17)];
        input.splice(first..first + length, word.bytes());
    }

    /// Replaces two, four or eight bytes by a number at the limit of its width, in either byte order.
    fn width(&mut self, input: &mut [u8], at: usize) {
        let width = 2usize << self.random.below(3);
        let value = match self.random.below(5) {
            0 => 0,
            1 => u64::MAX,
            2 => u64::MAX >> (64 - 8 * width + 1),
            3 => 1 << (8 * width - 1),
            _ => self.random.number() % 1024,
        };
        let Some(bytes) = input.get_mut(at..at + width) else { return };
        let little = value.to_le_bytes();
        bytes.copy_from_slice(&little[..width]);
        if self.random.below(2) == 0 {
            bytes.reverse();
        }
    }
}
