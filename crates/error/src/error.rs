//! The error type of the workspace.

use std::fmt;

use crate::{Place, Rule};

/// The result type of the workspace.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The category of a failure, which determines the exit code of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The request is invalid: an unknown type, or options that cannot be combined.
    Usage,
    /// The input violates its format.
    Malformed,
    /// The input is an unfinished write, or some of its files are missing.
    Incomplete,
    /// The input is valid, but this is not implemented.
    Unsupported,
    /// A limit (memory, file size, depth, ratio) would be exceeded.
    TooLarge,
    /// The target format cannot store something, and a sidecar is not possible or not allowed.
    WouldLose,
    /// The sidecar does not match the data any more.
    StaleSidecar,
    /// The file, directory or object does not exist.
    NotFound,
    /// The destination already exists.
    AlreadyExists,
    /// The operating system or the object store reported an error.
    Io,
    /// The destination has no space left.
    NoSpace,
    /// The input changed while it was read, or another writer was first.
    Conflict,
    /// An earlier sync failed; this handle writes nothing more.
    Poisoned,
    /// The user interrupted the program.
    Cancelled,
}

impl Kind {
    /// Returns the name in JSON documents. Names stay what they are for ever: programs compare them.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Usage => "usage",
            Kind::Malformed => "malformed",
            Kind::Incomplete => "incomplete",
            Kind::Unsupported => "unsupported",
            Kind::TooLarge => "too-large",
            Kind::WouldLose => "would-lose",
            // What a sidecar was called when this name was published.
            Kind::StaleSidecar => "stale-carry",
            Kind::NotFound => "not-found",
            Kind::AlreadyExists => "already-exists",
            Kind::Io => "io",
            Kind::NoSpace => "no-space",
            Kind::Conflict => "conflict",
            Kind::Poisoned => "poisoned",
            Kind::Cancelled => "cancelled",
        }
    }

    /// Returns the exit code of the command line: 2 usage, 3 bad input, 4 would lose data, 5 environment.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Usage | Kind::AlreadyExists => 2,
            Kind::Malformed | Kind::Incomplete | Kind::Unsupported | Kind::TooLarge | Kind::NotFound => 3,
            Kind::WouldLose | Kind::StaleSidecar => 4,
            Kind::Io | Kind::NoSpace | Kind::Conflict | Kind::Poisoned | Kind::Cancelled => 5,
        }
    }
}

/// What went wrong, where, which rule was broken, and what to try.
///
/// The contents are boxed, so that `Result<T>` stays small on hot paths.
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
    /// Creates an error with a one-line `message`: lower case, no full stop, no location (see [`Error::at`]).
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

    /// Creates an error for input that breaks `rule`.
    pub fn broken(rule: &'static Rule, message: impl Into<String>) -> Self {
        Error::new(Kind::Malformed, message).rule(rule)
    }

    /// Creates an error for input that violates its format where no [`Rule`] exists.
    pub fn malformed(message: impl Into<String>) -> Self {
        Error::new(Kind::Malformed, message)
    }

    /// Creates an error for an invalid request.
    pub fn usage(message: impl Into<String>) -> Self {
        Error::new(Kind::Usage, message)
    }

    /// Creates an error for valid input that is not supported.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Error::new(Kind::Unsupported, message)
    }

    /// Sets the location. Parts that are already set are kept, because the innermost caller knows best.
    pub fn at(mut self, place: impl Into<Place>) -> Self {
        self.0.place.fill(place.into());
        self
    }

    /// Sets the broken rule.
    pub fn rule(mut self, rule: &'static Rule) -> Self {
        self.0.rule = Some(rule);
        self
    }

    /// Adds a hint: a command, a flag or a short phrase.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.tries.push(hint.into());
        self
    }

    /// Sets the underlying error.
    pub fn caused_by(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Replaces the kind.
    pub fn of_kind(mut self, kind: Kind) -> Self {
        self.0.kind = kind;
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// Returns the message without rule and location.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns where it happened, as far as known.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    /// Returns the broken rule, if there is one.
    pub fn broken_rule(&self) -> Option<&'static Rule> {
        self.0.rule
    }

    /// Returns what to try, most useful first: the error's own hints, then the rule's remedy.
    pub fn hints(&self) -> impl Iterator<Item = &str> {
        self.0
            .tries
            .iter()
            .map(String::as_str)
            .chain(self.0.rule.map(|rule| rule.remedy).filter(|remedy| !remedy.is_empty()))
    }
}

/// Writes one line: rule id, message, location.
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

/// Writes everything known on several lines, including the causes.
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

/// Unwraps an error of this type that went through [`std::io`], so that a file written as a stream keeps its location in the error.
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
        if kind == Kind::NoSpace { own.hint("free some space, or choose a destination on another disk") } else { own }
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
