//! A gRPC client that sends any bytes.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use h2::client::SendRequest;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue, TE};
use isomorph_error::{Error, Kind, Result};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

use crate::tls;

/// Flow-control windows in bytes: of one reply and of one connection. They bound what is buffered of replies.
const WINDOWS: (u32, u32) = (4 << 20, 16 << 20);

/// The smallest windows: the default of HTTP/2.
const LEAST: u32 = 65_535;

/// Bytes that all connections of a measurement may buffer together.
const TOGETHER: u32 = 1 << 30;

/// Bytes before a message: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// Where a server is, and how to connect to it.
#[derive(Clone)]
pub struct Endpoint {
    host: String,
    port: u16,
    tls: Option<Arc<ClientConfig>>,
    token: Option<HeaderValue>,
}

/// Files for TLS of a client.
#[derive(Debug, Clone, Default)]
pub struct ClientTls {
    /// PEM: the authorities that the server's certificate must come from.
    pub authorities: Option<PathBuf>,
    /// PEM: the client's own certificate and its key, for servers that require one.
    pub identity: Option<(PathBuf, PathBuf)>,
}

impl Endpoint {
    /// Parses `http://HOST:PORT`, `https://HOST:PORT` or `HOST:PORT`, which is not encrypted.
    ///
    /// # Errors
    /// Returns an error if the text is none of these, if `https` is used without authorities, or if the files of TLS are not valid.
    pub fn parse(url: &str, files: &ClientTls, token: Option<&str>) -> Result<Endpoint> {
        let wrong = |why: &str| {
            Error::usage(format!("{url:?} is not the address of a server: {why}")).hint("http://127.0.0.1:50051")
        };
        let (encrypted, rest) = match url.split_once("://") {
            Some(("http", rest)) => (false, rest),
            Some(("https", rest)) => (true, rest),
            Some(_) => return Err(wrong("it must begin with http:// or https://")),
            None => (false, url),
        };
        let rest = rest.trim_end_matches('/');
        let (host, port) = rest.rsplit_once(':').ok_or_else(|| wrong("it must end with a port"))?;
        let port = port.parse().map_err(|_| wrong("it must end with a port"))?;
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        if host.is_empty() || host.contains(['/', '@', '?', '#']) {
            return Err(wrong("expected a host and a port"));
        }
        let identity = files.identity.as_ref().map(|(certificate, key)| (certificate.as_path(), key.as_path()));
        let tls = match (encrypted, &files.authorities) {
            (false, _) => None,
            (true, Some(authorities)) => Some(tls::client(authorities, identity)?),
            (true, None) => {
                let message = "https needs the authorities that the server's certificate comes from";
                return Err(Error::usage(message).hint("--tls-ca FILE    their certificates in PEM"));
            }
        };
        let token = token.map(|token| {
            let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| {
                Error::usage("the token has characters that a header cannot have; expected letters and digits")
            })?;
            value.set_sensitive(true);
            Ok::<_, Error>(value)
        });
        Ok(Endpoint { host: host.to_owned(), port, tls, token: token.transpose()? })
    }

    /// Returns the authority in requests: host and port.
    fn authority(&self) -> String {
        let (host, port) = (&self.host, self.port);
        if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") }
    }
}

/// A connection to a server.
pub struct Client {
    send: SendRequest<Bytes>,
    base: String,
    token: Option<HeaderValue>,
    driver: JoinHandle<()>,
}

/// The reply to a call.
#[derive(Debug)]
pub struct Answered {
    /// The number of the gRPC status, 0 for success.
    pub status: u16,
    /// The message of the status.
    pub text: String,
    /// The message of the reply; empty if there is none.
    pub body: Bytes,
}

impl Client {
    /// Connects, on the current runtime.
    ///
    /// # Errors
    /// Returns an error if the server cannot be reached, or if it does not speak TLS or HTTP/2.
    pub async fn connect(endpoint: &Endpoint) -> Result<Client> {
        Client::within(endpoint, WINDOWS).await
    }

    /// Connects as one of several clients, whose buffers have a limit together.
    ///
    /// # Errors
    /// As [`Client::connect`].
    pub(super) async fn one_of(clients: usize, endpoint: &Endpoint) -> Result<Client> {
        let share = TOGETHER / u32::try_from(clients.max(1)).unwrap_or(u32::MAX);
        let window = |most: u32| share.clamp(LEAST, most);
        Client::within(endpoint, (window(WINDOWS.0), window(WINDOWS.1))).await
    }

    async fn within(endpoint: &Endpoint, windows: (u32, u32)) -> Result<Client> {
        let lost = |error: &dyn std::fmt::Display| {
            Error::new(Kind::Io, format!("cannot connect to {}: {error}", endpoint.authority()))
        };
        let stream = TcpStream::connect((endpoint.host.as_str(), endpoint.port)).await.map_err(|error| lost(&error))?;
        let _ = stream.set_nodelay(true);
        let Some(config) = &endpoint.tls else { return Client::over(stream, endpoint, "http", windows).await };
        let name = ServerName::try_from(endpoint.host.clone()).map_err(|error| lost(&error))?;
        let stream =
            TlsConnector::from(Arc::clone(config)).connect(name, stream).await.map_err(|error| lost(&error))?;
        Client::over(stream, endpoint, "https", windows).await
    }

    async fn over<S>(stream: S, endpoint: &Endpoint, scheme: &str, windows: (u32, u32)) -> Result<Client>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let mut builder = h2::client::Builder::new();
        builder.initial_window_size(windows.0).initial_connection_window_size(windows.1).enable_push(false);
        let (send, connection) = builder.handshake(stream).await.map_err(broken)?;
        let driver = tokio::spawn(async move {
            // Calls report what ends the connection.
            let _ = connection.await;
        });
        let base = format!("{scheme}://{}", endpoint.authority());
        Ok(Client { send, base, token: endpoint.token.clone(), driver })
    }

    /// Calls with bytes that are framed already: see [`framed`].
    ///
    /// # Errors
    /// Returns an error if the connection ends before the status, or if the reply is not gRPC's.
    pub async fn call(&self, path: &str, bytes: Bytes, headers: &[(&'static str, &str)]) -> Result<Answered> {
        let mut received = BytesMut::new();
        let status = self.exchange(path, bytes, headers, |data| received.extend_from_slice(data)).await?;
        let body = received.freeze();
        let body = if body.len() < PREFIX { Bytes::new() } else { body.slice(PREFIX..) };
        let number = u16::try_from(status.code() as i32).unwrap_or(u16::MAX);
        Ok(Answered { status: number, text: status.message().to_owned(), body })
    }

    /// Calls, and throws the reply away. Returns the status, and the bytes of the reply's message.
    ///
    /// # Errors
    /// As [`Client::call`].
    pub(super) async fn measure(&self, path: &str, bytes: Bytes) -> Result<(tonic::Code, u64)> {
        let mut received = 0;
        let status = self.exchange(path, bytes, &[], |data| received += data.len() as u64).await?;
        Ok((status.code(), received.saturating_sub(PREFIX as u64)))
    }

    /// Calls, and passes the bytes of the reply to `take`. Returns its status.
    async fn exchange(
        &self,
        path: &str,
        bytes: Bytes,
        headers: &[(&'static str, &str)],
        mut take: impl FnMut(&[u8]),
    ) -> Result<tonic::Status> {
        let mut request = http::Request::post(format!("{}{path}", self.base))
            .header(CONTENT_TYPE, "application/grpc")
            .header(TE, "trailers");
        if let Some(token) = &self.token {
            request = request.header(AUTHORIZATION, token);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(()).map_err(|error| Error::usage(error.to_string()))?;
        let mut ready = self.send.clone().ready().await.map_err(broken)?;
        let (response, mut stream) = ready.send_request(request, false).map_err(broken)?;
        // A request that is refused early is reset: the response has the reason.
        let _ = stream.send_data(bytes, true);
        let response = response.await.map_err(broken)?;
        let (parts, mut body) = response.into_parts();
        while let Some(data) = body.data().await {
            let data = data.map_err(broken)?;
            body.flow_control().release_capacity(data.len()).map_err(broken)?;
            take(&data);
        }
        let trailers = body.trailers().await.map_err(broken)?.unwrap_or_default();
        // A refusal has its status in the headers, a reply after it.
        let status = [&parts.headers, &trailers].into_iter().find_map(tonic::Status::from_header_map);
        status.ok_or_else(|| Error::malformed("the reply has no gRPC status"))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

fn broken(error: h2::Error) -> Error {
    Error::new(Kind::Io, format!("the connection ended: {error}")).caused_by(error)
}

/// Returns a message as gRPC sends it: not compressed, its length, the message.
pub fn framed(message: &[u8]) -> Bytes {
    let mut bytes = BytesMut::with_capacity(PREFIX + message.len());
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    bytes.extend_from_slice(message);
    bytes.freeze()
}
