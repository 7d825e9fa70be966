//! A line that is edited on a terminal: cursor, history, completion.

use std::io::{self, Read, Write};

use isomorph::Result;

use super::names::common;
use crate::render::width;

/// Lines that are kept.
const HISTORY: usize = 1000;

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    /// A line.
    Line(String),
    /// Ctrl-C.
    Dropped,
    /// Ctrl-D on an empty line, or the end of the input.
    End,
}

/// Reads lines, and remembers them until the process ends.
#[derive(Debug, Default)]
pub struct Editor {
    history: Vec<String>,
}

/// A key.
#[derive(Debug, PartialEq, Eq)]
enum Key {
    Letter(char),
    Enter,
    Tab,
    Backspace,
    Delete,
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    /// Ctrl with a letter.
    Control(u8),
    Unknown,
}

impl Editor {
    pub fn new() -> Self {
        Editor::default()
    }

    /// Reads a line.
    ///
    /// # Errors
    /// If the terminal cannot be read or written.
    pub fn line(&mut self, prompt: &str, complete: &mut dyn FnMut(&str) -> Vec<String>) -> Result<Input> {
        let Some(raw) = raw::Raw::new() else { return plain(prompt) };
        let (mut input, mut out) = (io::stdin().lock(), io::stdout());
        let typed = self.edit(prompt, complete, &mut input, &mut out);
        drop(raw);
        out.write_all(b"\r\n")?;
        out.flush()?;
        let typed = typed?;
        if let Input::Line(line) = &typed
            && !line.trim().is_empty()
            && self.history.last() != Some(line)
        {
            self.history.push(line.clone());
            if self.history.len() > HISTORY {
                self.history.remove(0);
            }
        }
        Ok(typed)
    }

    /// Keys from `input`, with what they come to on `out`.
    fn edit(
        &self,
        prompt: &str,
        complete: &mut dyn FnMut(&str) -> Vec<String>,
        input: &mut dyn Read,
        out: &mut dyn Write,
    ) -> Result<Input> {
        // Letters before the cursor, and behind it in reverse.
        let (mut before, mut behind) = (String::new(), Vec::<char>::new());
        let mut place = self.history.len();
        let mut kept = String::new();
        loop {
            draw(out, prompt, &before, &behind)?;
            let Some(key) = key(input)? else {
                return Ok(if before.is_empty() && behind.is_empty() {
                    Input::End
                } else {
                    Input::Line(whole(&before, &behind))
                });
            };
            match key {
                Key::Letter(letter) => before.push(letter),
                Key::Enter => {
                    before = whole(&before, &behind);
                    behind.clear();
                    draw(out, prompt, &before, &behind)?;
                    return Ok(Input::Line(before));
                }
                Key::Backspace | Key::Control(b'H') => drop(before.pop()),
                Key::Delete => drop(behind.pop()),
                Key::Control(b'D') if before.is_empty() && behind.is_empty() => return Ok(Input::End),
                Key::Control(b'D') => drop(behind.pop()),
                Key::Control(b'C') => return Ok(Input::Dropped),
                Key::Left | Key::Control(b'B') => behind.extend(before.pop()),
                Key::Right | Key::Control(b'F') => before.extend(behind.pop()),
                Key::Home | Key::Control(b'A') => {
                    while let Some(letter) = before.pop() {
                        behind.push(letter);
                    }
                }
                Key::End | Key::Control(b'E') => {
                    before = whole(&before, &behind);
                    behind.clear();
                }
                Key::Control(b'K') => behind.clear(),
                Key::Control(b'U') => before.clear(),
                Key::Control(b'W') => {
                    before.truncate(before.trim_end().len());
                    before.truncate(before.rfind(char::is_whitespace).map_or(0, |at| at + 1));
                }
                Key::Control(b'L') => out.write_all(b"\x1b[H\x1b[2J")?,
                Key::Up | Key::Down | Key::Control(b'P' | b'N') => {
                    let back = matches!(key, Key::Up | Key::Control(b'P'));
                    let next = if back {
                        place.checked_sub(1)
                    } else {
                        Some(place + 1).filter(|at| *at <= self.history.len())
                    };
                    let Some(next) = next else { continue };
                    if place == self.history.len() {
                        kept = whole(&before, &behind);
                    }
                    place = next;
                    before = self.history.get(place).unwrap_or(&kept).clone();
                    behind.clear();
                }
                Key::Tab => {
                    let start = before.rfind(|letter: char| !(letter.is_alphanumeric() || "_.".contains(letter)));
                    let start = start.map_or(0, |at| {
                        at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
                    });
                    let word = before.get(start..).unwrap_or_default().to_owned();
                    // After a point, the name of a column; at the start of a line, a command.
                    let own = word
                        .rsplit_once('.')
                        .filter(|(table, _)| !table.is_empty())
                        .map_or(word.as_str(), |(_, column)| column);
                    let names = complete(own);
                    let same = common(&names);
                    if same.len() > own.len() || names.len() == 1 {
                        before.truncate(before.len() - own.len());
                        before.push_str(&same);
                    } else if names.len() > 1 {
                        let shown: Vec<&str> = names.iter().take(50).map(String::as_str).collect();
                        write!(out, "\r\n{}\r\n", shown.join("   "))?;
                    }
                }
                Key::Control(_) | Key::Unknown => {}
            }
        }
    }
}

fn whole(before: &str, behind: &[char]) -> String {
    before.chars().chain(behind.iter().rev().copied()).collect()
}

/// Draws the line anew, with the cursor at its place.
fn draw(out: &mut dyn Write, prompt: &str, before: &str, behind: &[char]) -> Result<()> {
    let rest: String = behind.iter().rev().collect();
    write!(out, "\r\x1b[K{prompt}{before}{rest}")?;
    let back = width(&rest);
    if back > 0 {
        write!(out, "\x1b[{back}D")?;
    }
    out.flush()?;
    Ok(())
}

/// The next key; `None` at the end.
fn key(input: &mut dyn Read) -> Result<Option<Key>> {
    let Some(first) = byte(input)? else { return Ok(None) };
    Ok(Some(match first {
        b'\r' | b'\n' => Key::Enter,
        b'\t' => Key::Tab,
        0x7f => Key::Backspace,
        0x1b => match byte(input)? {
            Some(b'[') => sequence(input)?,
            Some(b'O') => named(byte(input)?),
            _ => Key::Unknown,
        },
        1..=26 => Key::Control(first + b'@'),
        0..=31 => Key::Unknown,
        _ => letter(first, input)?.map_or(Key::Unknown, Key::Letter),
    }))
}

/// What follows `ESC [`: numbers, then a letter or `~`.
fn sequence(input: &mut dyn Read) -> Result<Key> {
    let mut number = Vec::new();
    loop {
        match byte(input)? {
            Some(digit @ (b'0'..=b'9' | b';')) if number.len() < 16 => number.push(digit),
            Some(b'~') => {
                return Ok(match number.as_slice() {
                    b"1" | b"7" => Key::Home,
                    b"4" | b"8" => Key::End,
                    b"3" => Key::Delete,
                    _ => Key::Unknown,
                });
            }
            last => return Ok(named(last)),
        }
    }
}

fn named(letter: Option<u8>) -> Key {
    match letter {
        Some(b'A') => Key::Up,
        Some(b'B') => Key::Down,
        Some(b'C') => Key::Right,
        Some(b'D') => Key::Left,
        Some(b'H') => Key::Home,
        Some(b'F') => Key::End,
        _ => Key::Unknown,
    }
}

/// A letter of several bytes.
fn letter(first: u8, input: &mut dyn Read) -> Result<Option<char>> {
    let length = match first {
        0..0x80 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => return Ok(None),
    };
    let mut bytes = vec![first];
    while bytes.len() < length {
        let Some(next) = byte(input)? else { return Ok(None) };
        bytes.push(next);
    }
    Ok(std::str::from_utf8(&bytes).ok().and_then(|text| text.chars().next()))
}

fn byte(input: &mut dyn Read) -> Result<Option<u8>> {
    let mut one = [0];
    loop {
        match input.read(&mut one) {
            Ok(0) => return Ok(None),
            Ok(_) => return Ok(one.first().copied()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// A line without editing, where the terminal has no other mode.
fn plain(prompt: &str) -> Result<Input> {
    let mut out = io::stdout();
    out.write_all(prompt.as_bytes())?;
    out.flush()?;
    let mut line = String::new();
    Ok(if io::stdin().read_line(&mut line)? == 0 { Input::End } else { Input::Line(line) })
}

/// The mode of a terminal in which each key is read.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod raw {
    #![allow(unsafe_code)]

    /// Sets the mode, and sets it back when it is dropped.
    pub struct Raw(libc::termios);

    impl Raw {
        pub fn new() -> Option<Raw> {
            let mut before = std::mem::MaybeUninit::<libc::termios>::uninit();
            // SAFETY: the call writes a whole `termios` to the pointer if it returns 0, and only then is it read.
            let before = unsafe {
                if libc::tcgetattr(libc::STDIN_FILENO, before.as_mut_ptr()) != 0 {
                    return None;
                }
                before.assume_init()
            };
            let mut mode = before;
            // Output stays as it is: line ends of other writers are right.
            mode.c_lflag &= !(libc::ICANON | libc::ECHO | libc::ISIG | libc::IEXTEN);
            mode.c_iflag &= !(libc::IXON | libc::ICRNL);
            if let (Some(least), true) = (mode.c_cc.get_mut(libc::VMIN), true) {
                *least = 1;
            }
            if let Some(time) = mode.c_cc.get_mut(libc::VTIME) {
                *time = 0;
            }
            // SAFETY: `mode` is a whole `termios` that lives until the call returns.
            let done = unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSADRAIN, &raw const mode) };
            (done == 0).then_some(Raw(before))
        }
    }

    impl Drop for Raw {
        fn drop(&mut self) {
            // SAFETY: as above. If the terminal is gone, there is nothing to set back.
            unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSADRAIN, &raw const self.0) };
        }
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod raw {
    /// Other systems edit lines themselves.
    pub struct Raw;

    impl Raw {
        pub fn new() -> Option<Raw> {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn typed(history: &[&str], keys: &[u8]) -> Input {
        let editor = Editor { history: history.iter().map(|line| (*line).to_owned()).collect() };
        let names = |word: &str| -> Vec<String> {
            ["person", "person_knows", "für"]
                .iter()
                .filter(|name| name.starts_with(word))
                .map(|name| (*name).to_owned())
                .collect()
        };
        editor.edit("> ", &mut { names }, &mut &*keys, &mut Vec::new()).unwrap()
    }

    #[test]
    fn keys_edit_the_line() {
        let line = |history: &[&str], keys: &[u8]| match typed(history, keys) {
            Input::Line(line) => line,
            other => format!("{other:?}"),
        };
        assert_eq!(line(&[], b"select 1\r"), "select 1");
        assert_eq!(line(&[], "fü\x1b[D\x1b[Dx\x1b[C\x7f\r".as_bytes()), "xü");
        assert_eq!(line(&[], b"bc\x01a\x05d\r"), "abcd");
        assert_eq!(line(&[], b"one two\x17three\r"), "one three");
        assert_eq!(line(&[], b"abc\x1b[D\x1b[D\x0b\r"), "a");
        assert_eq!(line(&["one", "two"], b"\x1b[A\x1b[A\r"), "one");
        assert_eq!(line(&["one", "two"], b"new\x1b[A\x1b[B!\r"), "new!");
        assert_eq!(line(&[], b"from per\t\r"), "from person");
        assert_eq!(line(&[], b"from f\t x\r"), "from für x");
        assert_eq!(line(&[], b"p.per\t_k\t\r"), "p.person_knows");
        assert_eq!(line(&[], b"abc"), "abc");
        assert_eq!(
            (typed(&[], b"abc\x03"), typed(&[], b"\x04"), typed(&[], b"")),
            (Input::Dropped, Input::End, Input::End)
        );
        // What is no key does nothing.
        assert_eq!(line(&[], b"a\x1b[99~\x1b[1;5Zb\x00\xff\r"), "ab");
    }
}
