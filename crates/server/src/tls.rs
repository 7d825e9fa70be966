//! TLS: configurations from PEM files.

use std::path::Path;
use std::sync::Arc;

use isomorph_error::{Error, Result};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::access::TlsFiles;

/// The protocol that a connection is for, as clients and servers name it (RFC 7301).
const HTTP2: &[u8] = b"h2";

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Creates the configuration of a server from the content of its files.
pub(crate) fn server(
    paths: &TlsFiles,
    certificates: &[u8],
    key: &[u8],
    authorities: Option<&[u8]>,
) -> Result<Arc<ServerConfig>> {
    let chain = chain(certificates, &paths.certificates)?;
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|error| wrong(&paths.key, "this file has no private key in PEM").caused_by(error))?;
    let builder = ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| wrong(&paths.certificates, "TLS cannot be set up").caused_by(error))?;
    let builder = match (authorities, &paths.client_authorities) {
        (Some(bytes), Some(path)) => {
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(bytes, path)?), provider());
            let verifier = verifier.build().map_err(|error| wrong(path, "cannot verify clients").caused_by(error))?;
            builder.with_client_cert_verifier(verifier)
        }
        _ => builder.with_no_client_auth(),
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|error| {
        wrong(&paths.key, &format!("the key does not belong to the certificate, or cannot be used: {error}"))
    })?;
    config.alpn_protocols = vec![HTTP2.to_vec()];
    Ok(Arc::new(config))
}

/// Creates the configuration of a client that trusts these authorities, with its own certificate and key if it has one.
pub(crate) fn client(authorities: &Path, identity: Option<(&Path, &Path)>) -> Result<Arc<ClientConfig>> {
    let roots = roots(&crate::access::read(authorities)?, authorities)?;
    let builder = ClientConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let builder = builder.map_err(|error| wrong(authorities, "TLS cannot be set up").caused_by(error))?;
    let builder = builder.with_root_certificates(roots);
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some((certificates, path)) => {
            let key = PrivateKeyDer::from_pem_slice(&crate::access::read(path)?)
                .map_err(|error| wrong(path, "this file has no private key in PEM").caused_by(error))?;
            let chain = chain(&crate::access::read(certificates)?, certificates)?;
            builder.with_client_auth_cert(chain, key).map_err(|error| {
                wrong(path, &format!("the key does not belong to the certificate, or cannot be used: {error}"))
            })?
        }
    };
    config.alpn_protocols = vec![HTTP2.to_vec()];
    Ok(Arc::new(config))
}

fn chain(bytes: &[u8], path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let chain = CertificateDer::pem_slice_iter(bytes).collect::<std::result::Result<Vec<_>, _>>();
    let chain = chain.map_err(|error| wrong(path, "a certificate is damaged").caused_by(error))?;
    if chain.is_empty() { Err(wrong(path, "this file has no certificate in PEM")) } else { Ok(chain) }
}

fn roots(bytes: &[u8], path: &Path) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in chain(bytes, path)? {
        let added = roots.add(certificate);
        added.map_err(|error| wrong(path, "a certificate cannot be trusted as an authority").caused_by(error))?;
    }
    Ok(roots)
}

fn wrong(path: &Path, message: &str) -> Error {
    Error::malformed(message).at(path.display().to_string())
}
