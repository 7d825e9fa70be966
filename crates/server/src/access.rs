//! Who may connect: tokens and certificates in files, which are read again when they change.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use blake3::Hash;
use http::HeaderMap;
use http::header::AUTHORIZATION;
use isomorph_error::{Error, Kind, Result};
use rustls::ServerConfig;
use tonic::Status;

use crate::tls;

/// Maximum bytes of a file with tokens, certificates or a key.
const MOST: u64 = 1 << 20;

/// Minimum length of a token. 16 random letters and digits cannot be guessed over a network.
const SHORTEST: usize = 16;

/// The scheme of the header, as in RFC 6750.
const BEARER: &str = "bearer";

/// Where tokens, certificates and keys are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// A file with one token on each line; blank lines and lines that begin with `#` are skipped. A request must state one of the tokens
    /// as `authorization: Bearer TOKEN`. `None`: requests need no token.
    pub tokens: Option<PathBuf>,
    /// Certificates and keys for TLS. `None`: connections are not encrypted.
    pub tls: Option<TlsFiles>,
}

/// PEM files for TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of the server, followed by intermediate ones.
    pub certificates: PathBuf,
    /// Its private key: PKCS #8, PKCS #1 or SEC 1.
    pub key: PathBuf,
    /// The authorities whose certificates a client must present (mutual TLS). `None`: clients need no certificate.
    pub client_authorities: Option<PathBuf>,
}

impl Access {
    /// Returns whether only clients with a token or a certificate are answered.
    pub fn authenticates(&self) -> bool {
        self.tokens.is_some() || self.tls.as_ref().is_some_and(|tls| tls.client_authorities.is_some())
    }

    /// Returns whether connections are encrypted.
    pub fn encrypts(&self) -> bool {
        self.tls.is_some()
    }
}

/// Checks connections and requests. Its files may be replaced while the server runs: [`Gate::refresh`].
pub struct Gate {
    access: Access,
    open: RwLock<Open>,
    /// The hash of the files that were read last, whether they were valid or not.
    seen: Mutex<Hash>,
}

/// The content of the files.
struct Open {
    tokens: Option<Vec<Hash>>,
    tls: Option<Arc<ServerConfig>>,
}

/// The bytes of the files.
struct Files {
    tokens: Option<Vec<u8>>,
    tls: Option<TlsBytes>,
}

struct TlsBytes {
    certificates: Vec<u8>,
    key: Vec<u8>,
    authorities: Option<Vec<u8>>,
}

impl Gate {
    /// Reads the files.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read, has no token, certificate or key, or if key and certificate do not belong together.
    pub fn open(access: Access) -> Result<Gate> {
        let files = Files::read(&access)?;
        let (open, seen) = (RwLock::new(files.open(&access)?), Mutex::new(files.hash()));
        Ok(Gate { access, open, seen })
    }

    /// Reads the files again, and uses them from now on if they changed. Returns whether they did; connections that exist are kept.
    ///
    /// # Errors
    /// Returns the errors of [`Gate::open`], once for each content: the previous content stays in use.
    pub fn refresh(&self) -> Result<bool> {
        let files = Files::read(&self.access);
        // A file that is missing is news once, too.
        let hash = files.as_ref().map_or_else(|error| blake3::hash(error.to_string().as_bytes()), Files::hash);
        {
            let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
            if *seen == hash {
                return Ok(false);
            }
            *seen = hash;
        }
        let open = files?.open(&self.access)?;
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = open;
        Ok(true)
    }

    /// Returns where the files are.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Returns the current configuration of TLS.
    pub(crate) fn tls(&self) -> Option<Arc<ServerConfig>> {
        self.open.read().unwrap_or_else(PoisonError::into_inner).tls.clone()
    }

    /// Checks the token of a request.
    ///
    /// # Errors
    /// Returns `UNAUTHENTICATED` if a token is needed, and the request has none or another one.
    pub(crate) fn check(&self, headers: &HeaderMap) -> std::result::Result<(), Status> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let Some(tokens) = &open.tokens else { return Ok(()) };
        let Some(given) = headers.get(AUTHORIZATION).and_then(|value| bearer(value.as_bytes())) else {
            return Err(Status::unauthenticated("this server needs a token: send authorization: Bearer TOKEN"));
        };
        // Hashes are compared in constant time (`blake3::Hash`), each with every token: the time does not tell which bytes are right.
        let given = blake3::hash(given);
        let known = tokens.iter().fold(false, |known, token| known | (*token == given));
        if known { Ok(()) } else { Err(Status::unauthenticated("this server does not know this token")) }
    }
}

/// Returns the token of a header.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, rest) = value.split_at_checked(BEARER.len())?;
    let token = rest.strip_prefix(b" ")?.trim_ascii();
    scheme.eq_ignore_ascii_case(BEARER.as_bytes()).then_some(token)
}

impl Files {
    fn read(access: &Access) -> Result<Files> {
        let tokens = access.tokens.as_deref().map(read).transpose()?;
        let of = |tls: &TlsFiles| {
            let authorities = tls.client_authorities.as_deref().map(read).transpose()?;
            Ok::<_, Error>(TlsBytes { certificates: read(&tls.certificates)?, key: read(&tls.key)?, authorities })
        };
        Ok(Files { tokens, tls: access.tls.as_ref().map(of).transpose()? })
    }

    fn hash(&self) -> Hash {
        let mut hasher = blake3::Hasher::new();
        let tls = self.tls.as_ref();
        let (certificates, key) = (tls.map(|tls| &tls.certificates), tls.map(|tls| &tls.key));
        let authorities = tls.and_then(|tls| tls.authorities.as_ref());
        for file in [self.tokens.as_ref(), certificates, key, authorities] {
            hasher.update(&file.map_or(u64::MAX, |bytes| bytes.len() as u64).to_le_bytes());
            hasher.update(file.map_or(&[], Vec::as_slice));
        }
        hasher.finalize()
    }

    fn open(&self, access: &Access) -> Result<Open> {
        let tokens = match (&self.tokens, &access.tokens) {
            (Some(bytes), Some(path)) => Some(tokens(bytes, path)?),
            _ => None,
        };
        let tls = match (&self.tls, &access.tls) {
            (Some(bytes), Some(paths)) => {
                Some(tls::server(paths, &bytes.certificates, &bytes.key, bytes.authorities.as_deref())?)
            }
            _ => None,
        };
        Ok(Open { tokens, tls })
    }
}

/// Reads a small file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    let place = || path.display().to_string();
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| Error::from(error).at(place()))?;
    file.take(MOST + 1).read_to_end(&mut bytes).map_err(|error| Error::from(error).at(place()))?;
    if bytes.len() as u64 > MOST {
        let message = format!("the file has more than {MOST} bytes, too many for tokens, certificates or a key");
        return Err(Error::new(Kind::TooLarge, message).at(place()));
    }
    Ok(bytes)
}

/// Returns the hashes of the tokens in a file. No message has any part of a token.
fn tokens(bytes: &[u8], path: &Path) -> Result<Vec<Hash>> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        let token = line.trim_ascii();
        if token.is_empty() || token.starts_with(b"#") {
            continue;
        }
        let wrong = |why: String| Error::malformed(format!("line {number}: {why}")).at(path.display().to_string());
        if token.len() < SHORTEST {
            return Err(wrong(format!("a token has at least {SHORTEST} characters"))
                .hint("openssl rand -hex 32    prints a token that cannot be guessed"));
        }
        if !token.iter().all(u8::is_ascii_graphic) {
            return Err(wrong("a token has letters, digits and punctuation of ASCII, and no spaces".to_owned()));
        }
        found.push(blake3::hash(token));
    }
    if found.is_empty() {
        return Err(Error::malformed("the file has no token; expected one on each line").at(path.display().to_string()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn headers(value: &str) -> HeaderMap {
        HeaderMap::from_iter([(AUTHORIZATION, value.parse().unwrap())])
    }

    fn gate(content: &str) -> Result<(Gate, tempfile::NamedTempFile)> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        let access = Access { tokens: Some(file.path().to_owned()), tls: None };
        Gate::open(access).map(|gate| (gate, file))
    }

    #[test]
    fn only_known_tokens_pass() {
        let (gate, _file) = gate(&format!("# old\n{TOKEN}\r\n\n  second-token-here  \n")).unwrap();
        for good in [format!("Bearer {TOKEN}"), format!("bearer {TOKEN}"), "BEARER second-token-here ".to_owned()] {
            assert!(gate.check(&headers(&good)).is_ok(), "{good}");
        }
        for bad in ["", "Bearer", "Bearer ", TOKEN, "Basic 0123456789abcdef", "Bearer 0123456789abcde", "Bearer # old"]
        {
            let status = gate.check(&headers(bad)).unwrap_err();
            assert_eq!(status.code(), tonic::Code::Unauthenticated, "{bad}");
            assert!(!status.message().contains("0123"), "{status:?}");
        }
        assert!(gate.check(&HeaderMap::new()).is_err());
    }

    #[test]
    fn tokens_that_can_be_guessed_are_refused_and_never_shown() {
        for (content, words) in [
            ("", "has no token"),
            ("# nothing\n\n", "has no token"),
            ("secret", "line 1: a token has at least 16"),
            ("0123456789abcdef\nwith spaces in between", "line 2: a token has letters"),
        ] {
            let Err(error) = gate(content) else { panic!("{content}") };
            let text = error.to_string();
            assert!(text.contains(words), "{text}");
            assert!(!text.contains("secret") && !text.contains("0123") && !text.contains("spaces in"), "{text}");
        }
    }

    #[test]
    fn a_changed_file_is_used_and_a_broken_one_is_not() {
        let (gate, file) = gate(TOKEN).unwrap();
        assert!(!gate.refresh().unwrap());
        std::fs::write(file.path(), "fedcba9876543210").unwrap();
        assert!(gate.refresh().unwrap());
        assert!(gate.check(&headers(&format!("Bearer {TOKEN}"))).is_err());
        assert!(gate.check(&headers("Bearer fedcba9876543210")).is_ok());
        for broken in ["short", ""] {
            std::fs::write(file.path(), broken).unwrap();
            assert!(gate.refresh().is_err());
            // Once is enough.
            assert!(!gate.refresh().unwrap());
            assert!(gate.check(&headers("Bearer fedcba9876543210")).is_ok());
        }
        std::fs::remove_file(file.path()).unwrap();
        assert!(gate.refresh().is_err());
        assert!(!gate.refresh().unwrap());
    }
}
