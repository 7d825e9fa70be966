//! Static types: what is known of an expression before any row is read, for the errors that openCypher wants at compile time.

/// A static type. `Any` is not known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ty {
    Any,
    Null,
    Bool,
    Int,
    Float,
    Text,
    List(Box<Ty>),
    Map,
    Node,
    Relationship,
    Path,
    Temporal,
}

impl Ty {
    pub(crate) fn list(of: Ty) -> Ty {
        Ty::List(Box::new(of))
    }

    /// Whether the type is known, and is neither null nor one of those for which `fits` is true.
    pub(crate) fn is_wrong(&self, fits: impl Fn(&Ty) -> bool) -> bool {
        !matches!(self, Ty::Any | Ty::Null) && !fits(self)
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Ty::Int | Ty::Float)
    }

    /// The type of the items of a list.
    pub(crate) fn item(&self) -> Ty {
        match self {
            Ty::List(of) => (**of).clone(),
            _ => Ty::Any,
        }
    }

    /// The type that covers both.
    pub(crate) fn or(self, other: &Ty) -> Ty {
        match (self, other) {
            (one, other) if one == *other => one,
            (Ty::Null, other) => other.clone(),
            (one, Ty::Null) => one,
            _ => Ty::Any,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Ty::Any => "any value",
            Ty::Null => "null",
            Ty::Bool => "a Boolean",
            Ty::Int => "an integer",
            Ty::Float => "a float",
            Ty::Text => "a string",
            Ty::List(_) => "a list",
            Ty::Map => "a map",
            Ty::Node => "a node",
            Ty::Relationship => "a relationship",
            Ty::Path => "a path",
            Ty::Temporal => "a temporal value",
        }
    }
}
