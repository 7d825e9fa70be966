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
    let told = |kind, message: &str| Error::new(kind, message);
    // The library tells apart what is missing only for objects.
    let said = error.to_string();
    if said.contains("<Code>NoSuchBucket</Code>") || said.contains("<Code>ContainerNotFound</Code>") {
        return told(Kind::NotFound, "there is no such bucket or container")
            .hint("check its name; buckets and containers are made with the tools of the store, not by isomorph");
    }
    match &error {
        StoreError::NotFound { .. } => return told(Kind::NotFound, "there is no such object"),
        StoreError::AlreadyExists { .. } => {
            return told(Kind::AlreadyExists, "there is something at that place already");
        }
        StoreError::Precondition { .. } => {
            return told(Kind::Conflict, "the object changed while it was read or written")
                .hint("run again when nobody writes it");
        }
        StoreError::NotSupported { .. } | StoreError::NotImplemented { .. } => {
            told(Kind::Unsupported, "the store cannot do this")
                .hint("if it is a web server that does not answer range requests: download the file and open the copy")
        }
        StoreError::PermissionDenied { .. } => told(Kind::Io, "the store refused access")
            .hint("check that the credentials may read, write and list this place"),
        StoreError::Unauthenticated { .. } => told(Kind::Io, "the store does not know these credentials").hint(
            "set the environment variables of the store, for example AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        ),
        StoreError::InvalidPath { .. } => told(Kind::Usage, "the store cannot have an object of this name"),
        _ => told(Kind::Io, "the request to the store failed"),
    }
    // The text holds the texts of its own causes already.
    .caused_by(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_that_is_missing_is_told_from_an_object() {
        let generic = |text: &str| StoreError::Generic { store: "test", source: text.to_owned().into() };
        for (said, message) in [
            ("404: <Error><Code>NoSuchBucket</Code></Error>", "there is no such bucket or container"),
            ("404: <Error><Code>ContainerNotFound</Code></Error>", "there is no such bucket or container"),
            ("500: <Error><Code>InternalError</Code></Error>", "the request to the store failed"),
        ] {
            let error = failed(generic(said), "store.json");
            let missing = message.contains("bucket");
            assert_eq!((error.message(), error.kind() == Kind::NotFound), (message, missing), "{said}");
            assert!(
                !format!("{error:?}").contains("ContainerNotFound"),
                "no raw answer where we know better: {error:?}"
            );
        }
    }
}
