//! Unique names for unfinished files, which show whether their writer is still running.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

use crate::platform;

/// The writer of an unfinished file, as encoded in its name: `<machine><boot>-<process>-<random>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Maker {
    machine: String,
    boot: String,
}

/// Returns a unique part of a name.
pub(crate) fn fresh() -> String {
    let (machine, boot) = here();
    let random = RandomState::new().build_hasher().finish();
    format!("{machine}{boot}-{}-{random:016x}", std::process::id())
}

impl Maker {
    /// Parses a part of a name that [`fresh`] created, possibly on another machine.
    pub(crate) fn parse(part: &str) -> Option<Self> {
        let mut fields = part.split('-');
        let (place, process, random) = (fields.next()?, fields.next()?, fields.next()?);
        let hex = |text: &str, length| text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let sound = fields.next().is_none() && hex(place, 12) && hex(random, 16) && process.parse::<u32>().is_ok();
        let (machine, boot) = place.split_at_checked(6)?;
        sound.then(|| Maker { machine: machine.to_owned(), boot: boot.to_owned() })
    }

    /// Whether it was created on this machine.
    pub(crate) fn is_ours(&self) -> bool {
        self.machine == here().0
    }

    /// Whether it was created on this machine before its last start.
    pub(crate) fn is_before_boot(&self) -> bool {
        self.is_ours() && !platform::boot_name().is_empty() && self.boot != here().1
    }
}

/// Six hexadecimal digits each for this machine and for its current run.
fn here() -> &'static (String, String) {
    static HERE: OnceLock<(String, String)> = OnceLock::new();
    HERE.get_or_init(|| {
        let short = |text: String| blake3::hash(text.as_bytes()).to_hex()[..6].to_owned();
        (short(platform::machine_name()), short(platform::boot_name()))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_fresh_name_is_read_back_as_ours() {
        let (one, other) = (fresh(), fresh());
        assert_ne!(one, other);
        let maker = Maker::parse(&one).unwrap();
        assert!(maker.is_ours() && !maker.is_before_boot());
    }

    #[test]
    fn foreign_names_are_not_taken_for_ours() {
        for part in ["", "swp", "000000000000-1", "00000000000-1-0000000000000000", "000000000000-x-0000000000000000"] {
            assert_eq!(Maker::parse(part), None, "{part}");
        }
        assert!(!Maker::parse("000000000000-1-0000000000000000").unwrap().is_ours());
    }
}
