//! Converts errors of object stores.

use isomorph_error::{Error, Kind};
use isomorph_storage::objects::{Failure, Reason};
use object_store::Error as StoreError;

/// Returns the failure of a request.
pub(crate) fn failure(error: StoreError) -> Failure {
    let reason = match &error {
        StoreError::NotFound { .. } => Reason::NotFound,
        StoreError::AlreadyExists { .. } => Reason::AlreadyExists,
        StoreError::Precondition { .. } => Reason::Changed,
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => Reason::NotSupported,
        _ => Reason::Other,
    };
    Failure { reason, error: explained(error) }
}

/// Returns the error for a request; the caller adds the location.
pub(crate) fn explained(error: StoreError) -> Error {
    let told = |kind, message: &str| Error::new(kind, message);
    // The library has a `NotFound` error for objects only.
    let said = error.to_string();
    if said.contains("<Code>NoSuchBucket</Code>") || said.contains("<Code>ContainerNotFound</Code>") {
        return told(Kind::NotFound, "no such bucket or container")
            .hint("check its name; isomorph does not create buckets and containers; use the tools of the store");
    }
    match &error {
        StoreError::NotFound { .. } => return told(Kind::NotFound, "no such object"),
        StoreError::AlreadyExists { .. } => return Failure::already_exists().error,
        StoreError::Precondition { .. } => return Failure::changed().error,
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => {
            told(Kind::Unsupported, "the store does not support this request")
                .hint("if it is a web server that does not answer range requests: download the file and open the copy")
        }
        StoreError::PermissionDenied { .. } => told(Kind::Io, "the store refused access")
            .hint("check that the credentials may read, write and list this location"),
        StoreError::Unauthenticated { .. } => told(Kind::Io, "the store rejected the credentials").hint(
            "set the environment variables of the store, for example AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        ),
        StoreError::InvalidPath { .. } => told(Kind::Usage, "the store does not allow an object of this name"),
        _ => told(Kind::Io, "the request to the store failed"),
    }
    // The text already contains the causes.
    .caused_by(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_missing_is_told_from_an_object() {
        let generic = |text: &str| StoreError::Generic { store: "test", source: text.to_owned().into() };
        for (said, message) in [
            ("404: <Error><Code>NoSuchBucket</Code></Error>", "no such bucket or container"),
            ("404: <Error><Code>ContainerNotFound</Code></Error>", "no such bucket or container"),
            ("500: <Error><Code>InternalError</Code></Error>", "the request to the store failed"),
        ] {
            let Failure { reason, error } = failure(generic(said));
            let missing = message.contains("bucket");
            assert_eq!((error.message(), error.kind() == Kind::NotFound), (message, missing), "{said}");
            // A request for a whole object does not take a missing bucket for a missing object.
            assert_eq!(reason, Reason::Other, "{said}");
            assert!(
                !format!("{error:?}").contains("ContainerNotFound"),
                "a known failure must not contain the raw answer: {error:?}"
            );
        }
    }

    #[test]
    fn failures_that_callers_handle_have_a_reason() {
        let (path, source) = (|| "a".to_owned(), || "why".into());
        for (error, reason, kind) in [
            (StoreError::NotFound { path: path(), source: source() }, Reason::NotFound, Kind::NotFound),
            (StoreError::AlreadyExists { path: path(), source: source() }, Reason::AlreadyExists, Kind::AlreadyExists),
            (StoreError::Precondition { path: path(), source: source() }, Reason::Changed, Kind::Conflict),
            (StoreError::NotSupported { source: source() }, Reason::NotSupported, Kind::Unsupported),
            (StoreError::PermissionDenied { path: path(), source: source() }, Reason::Other, Kind::Io),
        ] {
            let failure = failure(error);
            assert_eq!((failure.reason, failure.error.kind()), (reason, kind));
        }
    }
}
