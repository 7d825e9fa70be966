//! Access to members of objects and items of arrays without parsing them into a tree.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use isomorph_error::Result;
use xxhash_rust::xxh3::xxh3_64;

use super::scan::Scanner;

/// Reads the top-level members of JSON objects without parsing them into a tree.
///
/// Keep one reader per column: it contains the scratch space, so that reading a row does not allocate.
#[derive(Debug, Default)]
pub struct Members {
    members: Vec<Member>,
    hashes: Vec<u64>,
}

#[derive(Debug)]
struct Member {
    hash: u64,
    /// The position of the name, or the name itself if it contains escapes.
    name: Result<Range<usize>, String>,
    value: Range<usize>,
}

impl Member {
    fn name<'a>(&'a self, object: &'a str) -> &'a str {
        match &self.name {
            Ok(range) => object.get(range.clone()).unwrap_or_default(),
            Err(unescaped) => unescaped,
        }
    }
}

impl Members {
    /// Calls `each` with the name and the value's text of every member of `object`, in order. If a name is repeated, the
    /// last value counts, at the position of the first, as in the published readers. The empty text and `null` are
    /// treated as the empty object.
    ///
    /// # Errors
    /// Returns an error if `object` is not a JSON object, or `each` returns an error.
    pub fn read<'a>(&mut self, object: &'a str, mut each: impl FnMut(&str, &'a str) -> Result<()>) -> Result<()> {
        if object.is_empty() || object == "null" {
            return Ok(());
        }
        self.collect(object)?;
        self.hashes.clear();
        self.hashes.extend(self.members.iter().map(|member| member.hash));
        if !has_repeats(&mut self.hashes) {
            return self.members.iter().try_for_each(|member| {
                each(member.name(object), object.get(member.value.clone()).unwrap_or_default())
            });
        }
        let mut last: HashMap<&str, Range<usize>> =
            self.members.iter().map(|member| (member.name(object), member.value.clone())).collect();
        for name in self.members.iter().map(|member| member.name(object)) {
            if let Some(value) = last.remove(name) {
                each(name, object.get(value).unwrap_or_default())?;
            }
        }
        Ok(())
    }

    fn collect(&mut self, object: &str) -> Result<()> {
        self.members.clear();
        let mut scanner = Scanner::new(object);
        scanner.expect(b'{')?;
        let mut more = !scanner.take(b'}');
        while more {
            scanner.peek();
            let start = scanner.at() + 1;
            let name = scanner.name()?;
            let text = name.text()?;
            let hash = xxh3_64(text.as_bytes());
            let name = match text {
                Cow::Borrowed(text) => Ok(start..start + text.len()),
                Cow::Owned(text) => Err(text),
            };
            scanner.peek();
            let start = scanner.at();
            let value = scanner.value()?;
            self.members.push(Member { hash, name, value: start..start + value.len() });
            more = scanner.take(b',');
            if !more {
                scanner.expect(b'}')?;
            }
        }
        scanner.end()
    }
}

/// Whether a hash occurs twice. Longer lists are sorted, so that an object of a million members stays cheap.
pub(crate) fn has_repeats(hashes: &mut [u64]) -> bool {
    if hashes.len() <= 8 {
        return hashes.iter().enumerate().any(|(at, hash)| hashes.iter().take(at).any(|earlier| earlier == hash));
    }
    hashes.sort_unstable();
    !hashes.is_sorted_by(|left, right| left < right)
}

/// Calls `each` with the text of every item of a JSON array.
///
/// # Errors
/// Returns an error if `array` is not a JSON array, or `each` returns an error.
pub fn items<'a>(array: &'a str, mut each: impl FnMut(&'a str) -> Result<()>) -> Result<()> {
    let mut scanner = Scanner::new(array);
    scanner.expect(b'[')?;
    let mut more = !scanner.take(b']');
    while more {
        each(scanner.value()?)?;
        more = scanner.take(b',');
        if !more {
            scanner.expect(b']')?;
        }
    }
    scanner.end()
}
