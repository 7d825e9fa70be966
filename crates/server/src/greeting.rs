//! The first bytes of a connection: those of HTTP/2, or an answer that a person can read.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What a client of HTTP/2 begins with (RFC 9113, section 3.4).
pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The beginning of a TLS handshake (RFC 8446, section 5.1): the type of the record, and the first byte of its version.
const HANDSHAKE: &[u8] = &[0x16, 0x03];

/// Bytes of a request in HTTP/1 that are read and thrown away: as long as some are unread, the system discards the answer when the
/// connection is closed.
const LEFT: usize = 1 << 16;

/// How long a client has to take the answer.
const TAKES: Duration = Duration::from_secs(1);

/// What a client begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Greeting {
    Http2,
    Http1,
    Tls,
    /// Anything else.
    Unknown,
    /// The connection ended.
    Nothing,
}

impl Greeting {
    /// Returns what is wrong, in a sentence.
    pub fn problem(self) -> &'static str {
        match self {
            Greeting::Http1 => "the client speaks HTTP/1, but gRPC needs HTTP/2",
            Greeting::Tls => "the client begins with TLS, but this server was started without --tls-cert",
            _ => "the client does not speak HTTP/2",
        }
    }
}

/// Reads the first bytes of a connection, at most [`PREFACE`].
///
/// # Errors
/// Returns an error if the connection fails.
pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Greeting> {
    let mut bytes = [0; PREFACE.len()];
    let mut length = 0;
    while length < bytes.len() {
        let read = some(stream, &mut bytes[length..]).await?;
        length += read;
        let so_far = &bytes[..length];
        if read == 0 || !PREFACE.starts_with(so_far) {
            return Ok(of(so_far));
        }
    }
    Ok(Greeting::Http2)
}

/// What bytes are that HTTP/2 does not begin with.
fn of(bytes: &[u8]) -> Greeting {
    let method = bytes.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    match bytes {
        [] => Greeting::Nothing,
        [first] if HANDSHAKE.starts_with(&[*first]) => Greeting::Tls,
        _ if bytes.starts_with(HANDSHAKE) => Greeting::Tls,
        // Hardly anything but a damaged HTTP/2.
        _ if bytes.starts_with(b"PRI") => Greeting::Unknown,
        // A method, and a path or an authority; what comes later may not be here yet.
        _ if method > 0 && bytes.get(method).is_none_or(|byte| *byte == b' ') => Greeting::Http1,
        _ => Greeting::Unknown,
    }
}

/// Answers a request in HTTP/1. `next` is the protocol to use, by its name in `Upgrade` (RFC 9110, section 15.5.22).
pub(crate) async fn refuse(stream: &mut (impl AsyncRead + AsyncWrite + Unpin), next: &str) {
    let text = "This is a gRPC server: it needs HTTP/2. Metrics and health are on the address of --metrics.\n";
    let answer = format!(
        "HTTP/1.1 426 Upgrade Required\r\nUpgrade: {next}\r\nConnection: Upgrade, close\r\n\
         Content-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    );
    let answering = async {
        let mut rest = answer.as_bytes();
        while !rest.is_empty() {
            match poll_fn(|context| Pin::new(&mut *stream).poll_write(context, rest)).await {
                Ok(written) if written > 0 => rest = &rest[written..],
                _ => return,
            }
        }
        let _ = poll_fn(|context| Pin::new(&mut *stream).poll_shutdown(context)).await;
        let (mut bytes, mut left) = ([0; 4096], LEFT);
        while left > 0 {
            match some(stream, &mut bytes).await {
                Ok(read) if read > 0 => left = left.saturating_sub(read),
                _ => return,
            }
        }
    };
    let _ = tokio::time::timeout(TAKES, answering).await;
}

/// Reads some bytes; none at the end.
async fn some(stream: &mut (impl AsyncRead + Unpin), bytes: &mut [u8]) -> io::Result<usize> {
    let mut buffer = ReadBuf::new(bytes);
    poll_fn(|context| Pin::new(&mut *stream).poll_read(context, &mut buffer)).await?;
    Ok(buffer.filled().len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn greetings_are_told_apart() {
        let with_text = b"GET / HTTP/1.1\r\nHost: a\r\n";
        for length in 1..with_text.len() {
            assert_eq!(of(&with_text[..length]), Greeting::Http1, "{length}");
        }
        for (bytes, expected) in [
            (&b"POST /snark.GraphEngine"[..], Greeting::Http1),
            (b"PRI * HTTP/1", Greeting::Unknown),
            (b"\x16\x03\x01\x02\x00", Greeting::Tls),
            (b"\x16", Greeting::Tls),
            (b"\x16\x02", Greeting::Unknown),
            (b"get / HTTP/1.1", Greeting::Unknown),
            (b"GETTING-ON", Greeting::Unknown),
            (b"\xff\xff", Greeting::Unknown),
            (b"", Greeting::Nothing),
        ] {
            assert_eq!(of(bytes), expected, "{bytes:?}");
        }
    }
}
