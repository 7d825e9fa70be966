//! Where a process of a cluster listens.

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

use isomorph::{Error, Result};

/// Who may reach a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// This machine alone.
    Loopback,
    /// Other machines too. What they say is neither encrypted nor authenticated.
    Network,
}

/// The address to listen at; for port 0 one that is free now.
///
/// # Errors
/// [`isomorph::Kind::Usage`] for what is no address, and for one that other machines reach where only this one may.
pub fn listening(text: &str, reach: Reach) -> Result<SocketAddr> {
    let example = "--bind 127.0.0.1:50050    this machine alone";
    let wrong = |why: &str| Error::usage(format!("{text:?} is not an address to listen at{why}")).hint(example);
    let mut found = text.to_socket_addrs().map_err(|error| wrong(&format!(": {error}")))?;
    let address = found.next().ok_or_else(|| wrong(""))?;
    if !address.ip().is_loopback() && reach == Reach::Loopback {
        return Err(Error::usage(format!(
            "{address} is reached by other machines, and a cluster neither encrypts nor asks who they are"
        ))
        .hint(example)
        .hint("--insecure    on a network where everybody may read the graphs and use the machines"));
    }
    if address.port() != 0 {
        return Ok(address);
    }
    let free = TcpListener::bind(address).and_then(|listener| listener.local_addr());
    free.map_err(|error| Error::from(error).at(text.to_owned()))
}

/// The parts of `HOST:PORT` or `http://HOST:PORT`.
///
/// # Errors
/// [`isomorph::Kind::Usage`] for another text.
pub(crate) fn host_and_port(text: &str) -> Result<(String, u16)> {
    let plain = text.strip_prefix("http://").unwrap_or(text).trim_end_matches('/');
    let parts = plain.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse().ok()?)));
    let is_host =
        |host: &str| !host.is_empty() && !host.contains(['/', '@', '?', '#']) && !host.contains(char::is_whitespace);
    match parts {
        Some((host, port)) if is_host(host) => Ok((host.to_owned(), port)),
        _ => Err(Error::usage(format!("{text:?} is no scheduler"))
            .hint("127.0.0.1:50050    the address of isomorph cluster scheduler")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn other_machines_are_kept_out_unless_asked_for() {
        assert!(listening("127.0.0.1:0", Reach::Loopback).unwrap().port() > 0);
        let error = listening("0.0.0.0:50050", Reach::Loopback).unwrap_err();
        assert!(error.message().contains("other machines"), "{error}");
        assert_eq!(listening("0.0.0.0:50050", Reach::Network).unwrap().port(), 50050);
        assert!(listening("here", Reach::Network).is_err());
    }

    #[test]
    fn a_scheduler_has_a_host_and_a_port() {
        assert_eq!(host_and_port("http://a.b:50050/").unwrap(), ("a.b".to_owned(), 50050));
        assert_eq!(host_and_port("[::1]:7").unwrap(), ("[::1]".to_owned(), 7));
        for text in ["", "a", ":7", "a:b", "a:70000", "http://user@a:7", "a/b:7", "https://a:7"] {
            assert!(host_and_port(text).is_err(), "{text}");
        }
    }
}
