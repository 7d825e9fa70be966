//! How long a request may take.

use std::time::Duration;

use http::HeaderMap;
use tonic::Status;

use crate::status::invalid;

/// The header with a client's own deadline.
const HEADER: &str = "grpc-timeout";

/// Maximum number of digits, by the protocol.
const DIGITS: usize = 8;

/// Returns how long a request may take: `limit`, or less if its client asks for less (`Timeout` in gRPC's protocol over HTTP/2).
///
/// # Errors
/// Returns `INVALID_ARGUMENT` if the client's deadline is not valid.
pub(crate) fn of(headers: &HeaderMap, limit: Duration) -> Result<Duration, Status> {
    let Some(value) = headers.get(HEADER) else { return Ok(limit) };
    let wrong = || invalid(format!("{HEADER} must be 1 to {DIGITS} digits and one of H, M, S, m, u and n"));
    let (digits, unit) =
        value.to_str().ok().and_then(|text| text.split_at_checked(text.len().checked_sub(1)?)).ok_or_else(wrong)?;
    if digits.is_empty() || digits.len() > DIGITS || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let asked = match unit {
        "H" => Duration::from_secs(number * 3600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return Err(wrong()),
    };
    Ok(asked.min(limit))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_earlier_deadline_counts() {
        let limit = Duration::from_secs(30);
        let told = |value: &str| {
            of(&HeaderMap::from_iter([(http::HeaderName::from_static(HEADER), value.parse().unwrap())]), limit)
        };
        for (value, millis) in
            [("1S", 1000), ("250m", 250), ("99999999H", 30_000), ("2M", 30_000), ("5000u", 5), ("0n", 0)]
        {
            assert_eq!(told(value).unwrap(), Duration::from_millis(millis), "{value}");
        }
        for value in ["", "S", "1", "-1S", "1s", "123456789S", "1 S", "ü"] {
            assert_eq!(told(value).unwrap_err().code(), tonic::Code::InvalidArgument, "{value}");
        }
        assert_eq!(of(&HeaderMap::new(), limit).unwrap(), limit);
    }
}
