//! What an object store's refusal means in our words.

use isomorph_error::{Error, Kind, Place};
use object_store::Error as StoreError;

/// The error for a request about `name`.
pub(crate) fn failed(error: StoreError, name: &str) -> Error {
    let explained = explained(error);
    if name.is_empty() { explained } else { explained.at(Place::file(name)) }
}

/// The error for a request whose place a caller names.
pub(crate) fn explained(error: StoreError) -> Error {
    let plain = |kind, message: &str| Error::new(kind, message);
    let told = match &error {
        StoreError::NotFound { .. } => plain(Kind::NotFound, "there is no such object"),
        StoreError::AlreadyExists { .. } => plain(Kind::AlreadyExists, "there is something at that place already"),
        StoreError::Precondition { .. } => plain(Kind::Conflict, "the object changed while it was read or written")
            .hint("run again when nobody writes it"),
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => {
            plain(Kind::Unsupported, "the store cannot do this")
        }
        StoreError::PermissionDenied { .. } => plain(Kind::Io, "the store refused access")
            .hint("check that the credentials may read, write and list this place"),
        StoreError::Unauthenticated { .. } => plain(Kind::Io, "the store does not know these credentials").hint(
            "set the environment variables of the store, for example AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        ),
        StoreError::InvalidPath { .. } => plain(Kind::Usage, "the store cannot have an object of this name"),
        _ => plain(Kind::Io, "the request to the store failed"),
    };
    told.caused_by(error)
}
