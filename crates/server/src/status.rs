//! The statuses of requests that are not answered.

use isomorph_error::{Error, Kind};
use tonic::{Code, Status};

/// Converts an error of the graph to a gRPC status: message, place and hints.
pub(crate) fn status(error: &Error) -> Status {
    let code = match error.kind() {
        Kind::Usage | Kind::AlreadyExists => Code::InvalidArgument,
        Kind::TooLarge | Kind::NoSpace => Code::ResourceExhausted,
        Kind::Unsupported => Code::Unimplemented,
        Kind::NotFound => Code::NotFound,
        Kind::Malformed | Kind::Incomplete | Kind::StaleSidecar | Kind::WouldLose => Code::DataLoss,
        Kind::Cancelled => Code::Cancelled,
        Kind::Conflict => Code::Aborted,
        _ => Code::Unavailable,
    };
    let mut text = error.to_string();
    for hint in error.hints() {
        text.push_str("; ");
        text.push_str(hint);
    }
    Status::new(code, text)
}

/// Returns the status for an invalid request.
pub(crate) fn invalid(message: impl Into<String>) -> Status {
    Status::invalid_argument(message)
}

/// Returns the status for a request beyond a limit.
pub(crate) fn too_much(what: &str, asked: impl std::fmt::Display, limit: impl std::fmt::Display) -> Status {
    Status::resource_exhausted(format!("{asked} {what} in one request; the limit of this server is {limit}"))
}
