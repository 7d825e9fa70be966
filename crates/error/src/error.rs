//! The error type of the workspace.

use std::fmt;

use crate::{Place, Rule};

/// The result of everything that can fail here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What sort of failure this is; the exit code of the command line follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The request makes no sense: an unknown type, an option that does not fit.
    Usage,
    /// The input is not what its format says it must be.
    Malformed,
    /// The input is half of a write that never finished, or files of it are missing.
    Incomplete,
    /// The input is sound, but this is not implemented.
    Unsupported,
    /// A budget (memory, file size, depth, ratio) would be exceeded.
    TooLarge,
    /// The target cannot say something and no carry is possible or allowed.
    WouldLose,
    /// What travels beside the data no longer fits the data.
    StaleCarry,
    /// There is nothing at that place.
    NotFound,
    /// There is something at that place already.
    AlreadyExists,
    /// The operating system or the object store refused.
    Io,
    /// No space is left at the destination.
    NoSpace,
    /// The source changed while it was read, or another writer was first.
    Conflict,
    /// An earlier sync failed; nothing more is written through this handle.
    Poisoned,
    /// The user interrupted.
    Cancelled,
}

impl Kind {
    /// The exit code of the command line: 2 usage, 3 bad input, 4 would lose data, 5 environment.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Usage | Kind::AlreadyExists => 2,
            Kind::Malformed | Kind::Incomplete | Kind::Unsupported | Kind::TooLarge | Kind::NotFound => 3,
            Kind::WouldLose | Kind::StaleCarry => 4,
            Kind::Io | Kind::NoSpace | Kind::Conflict | Kind::Poisoned | Kind::Cancelled => 5,
        }
    }
}

/// What went wrong, where, against which rule, and what to try.
///
/// Boxed inside, so that `Result<T>` stays small on hot paths.
pub struct Error(Box<Inner>);

struct Inner {
    kind: Kind,
    message: String,
    place: Place,
    rule: Option<&'static Rule>,
    tries: Vec<String>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of `kind` with a one-line `message`: lower case, no full stop, no place (see [`Error::at`]).
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            kind,
            message: message.into(),
            place: Place::default(),
            rule: None,
            tries: Vec::new(),
            source: None,
        }))
    }

    /// Input that breaks `rule`.
    pub fn broken(rule: &'static Rule, message: impl Into<String>) -> Self {
        Error::new(Kind::Malformed, message).rule(rule)
    }

    /// Input that its format forbids, where no rule of ours has an id.
    pub fn malformed(message: impl Into<String>) -> Self {
        Error::new(Kind::Malformed, message)
    }

    /// A request that makes no sense.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::new(Kind::Usage, message)
    }

    /// Something sound that is not implemented.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Error::new(Kind::Unsupported, message)
    }

    /// Names the place. Parts that are already known are kept: the innermost caller knows best.
    pub fn at(mut self, place: impl Into<Place>) -> Self {
        self.0.place.fill(place.into());
        self
    }

    /// Names the broken rule.
    pub fn rule(mut self, rule: &'static Rule) -> Self {
        self.0.rule = Some(rule);
        self
    }

    /// Adds one thing to try, as a command, a flag or a short phrase.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.tries.push(hint.into());
        self
    }

    /// Keeps the underlying error.
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Changes the kind.
    pub fn of_kind(mut self, kind: Kind) -> Self {
        self.0.kind = kind;
        self
    }

    /// The kind, to match on.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The message alone.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where it happened, as far as known.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// The broken rule, if one is named.
    pub fn broken_rule(&self) -> Option<&'static Rule> {
        self.0.rule
    }

    /// What to try, most useful first: the error's own hints, then the rule's.
    pub fn hints(&self) -> impl Iterator<Item = &str> {
        self.0
            .tries
            .iter()
            .map(String::as_str)
            .chain(self.0.rule.map(|rule| rule.remedy).filter(|remedy| !remedy.is_empty()))
    }
}

/// One line: rule id, message, place.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(rule) = self.0.rule {
            write!(f, "{}: ", rule.id)?;
        }
        f.write_str(&self.0.message)?;
        if !self.0.place.is_empty() {
            write!(f, " ({})", self.0.place)?;
        }
        Ok(())
    }
}

/// Many lines: everything known, causes included.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)?;
        for hint in self.hints() {
            write!(f, "\n  try {hint}")?;
        }
        let mut cause = std::error::Error::source(self);
        while let Some(error) = cause {
            write!(f, "\n  because {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// An error of ours that went through [`std::io`] is itself again: a file that is written to as a stream can say which one it is.
impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind as Io;
        let error = match error.downcast::<Error>() {
            Ok(own) => return own,
            Err(error) => error,
        };
        let kind = match error.kind() {
            Io::NotFound => Kind::NotFound,
            Io::AlreadyExists => Kind::AlreadyExists,
            Io::StorageFull | Io::QuotaExceeded => Kind::NoSpace,
            Io::UnexpectedEof | Io::InvalidData => Kind::Malformed,
            Io::OutOfMemory => Kind::TooLarge,
            _ => Kind::Io,
        };
        let message = error.to_string();
        let own = Error::new(kind, message).caused_by(error);
        if kind == Kind::NoSpace { own.hint("make room there, or name a place on another disk") } else { own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Severity;

    static RULE: Rule = Rule {
        id: "GAR-OFFSET-END",
        severity: Severity::Error,
        says: "the last offset of a part equals its edge count",
        remedy: "isomorph validate PATH",
    };

    #[test]
    fn the_innermost_place_wins() {
        let error = Error::broken(&RULE, "ends at 3").at(Place::file("a/chunk0").row(7)).at(Place::file("outer"));
        assert_eq!(error.to_string(), "GAR-OFFSET-END: ends at 3 (a/chunk0, row 7)");
        assert_eq!(error.kind().exit_code(), 3);
    }

    #[test]
    fn what_a_stream_said_is_kept() {
        let full = || std::io::Error::from(std::io::ErrorKind::StorageFull);
        let own = Error::from(full()).at(Place::file("chunk0")).hint("elsewhere");
        let through = Error::from(std::io::Error::new(std::io::ErrorKind::StorageFull, own)).at(Place::file("outer"));
        assert_eq!((through.kind(), through.place()), (Kind::NoSpace, &Place::file("chunk0")));
        assert_eq!(through.hints().count(), 2);
        assert_eq!(Error::from(full()).hints().count(), 1);
    }

    #[test]
    fn own_hints_come_before_the_rules_remedy() {
        let error = Error::broken(&RULE, "x").hint("--adjacency ordered_by_dest");
        assert_eq!(error.hints().collect::<Vec<_>>(), ["--adjacency ordered_by_dest", "isomorph validate PATH"]);
    }
}
