//! One type for a place: a local path, or an object behind a URL.

use std::fmt;
use std::path::{Path, PathBuf};

use isomorph_error::{Error, Result};

use crate::sandbox;

/// Which kind of place a [`Location`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// A path of the local file system.
    Local,
    /// Amazon S3, or a server that speaks its protocol.
    S3,
    /// Google Cloud Storage. Untested.
    Gcs,
    /// Azure Blob Storage.
    Azure,
    /// A web server without encryption. Read only.
    Http,
    /// A web server. Read only.
    Https,
}

impl Scheme {
    /// The text before `://`.
    pub fn prefix(self) -> &'static str {
        match self {
            Scheme::Local => "file",
            Scheme::S3 => "s3",
            Scheme::Gcs => "gs",
            Scheme::Azure => "az",
            Scheme::Http => "http",
            Scheme::Https => "https",
        }
    }

    /// Whether something can be written there.
    pub fn is_writable(self) -> bool {
        !matches!(self, Scheme::Http | Scheme::Https)
    }
}

/// A file, an object, a directory or a prefix: where it is, not whether it exists.
///
/// Written as a local path, `file:///path`, `s3://bucket/key`, `gs://bucket/key`, `az://container/key`,
/// `http://host/path` or `https://host/path`. Keys of object stores are taken as written, without percent decoding.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Location(Inner);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Inner {
    Local { path: PathBuf, name: String },
    Remote { scheme: Scheme, authority: String, key: String },
}

impl Location {
    /// Reads a place as a user writes it.
    ///
    /// # Errors
    /// [`Kind::Usage`](isomorph_error::Kind::Usage) for an empty text, a scheme that is not known, a URL without bucket
    /// or host, and for a URL that carries a user name, a password, a query or a fragment.
    pub fn parse(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::usage("a place cannot be empty").hint("name a file, a directory or a URL"));
        }
        if text.contains('\0') {
            return Err(Error::usage("a place cannot contain a NUL character"));
        }
        let Some((scheme, rest)) = split_scheme(text) else {
            return Ok(Location::from_path(Path::new(text)));
        };
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "file" => return local_from_url(text),
            "s3" | "s3a" => Scheme::S3,
            "gs" => Scheme::Gcs,
            "az" | "abfs" | "abfss" if !rest.contains('@') => Scheme::Azure,
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            other => {
                return Err(Error::usage(format!("`{other}://` is not a kind of place that can be opened"))
                    .hint("a local path, file://, s3://, gs://, az://, http:// or https://"));
            }
        };
        let (authority, key) = rest.split_once('/').unwrap_or((rest, ""));
        if authority.is_empty() {
            return Err(Error::usage(format!("`{text}` names no bucket or host")));
        }
        if authority.contains('@') {
            return Err(Error::usage("user names and passwords are not taken from a URL")
                .hint("set the environment variables of the store, for example AWS_ACCESS_KEY_ID"));
        }
        if matches!(scheme, Scheme::Http | Scheme::Https) && key.contains(['?', '#']) {
            return Err(Error::unsupported("a web address with a query or a fragment cannot be opened")
                .hint("download the file first"));
        }
        let key = key.trim_end_matches('/');
        if !key.is_empty() {
            sandbox::check(key)?;
        }
        Ok(Location(Inner::Remote { scheme, authority: authority.to_owned(), key: key.to_owned() }))
    }

    /// The place of a local path, absolute or relative to the working directory.
    pub fn from_path(path: &Path) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Location(Inner::Local { path: path.to_owned(), name })
    }

    /// The place at `relative` below this one.
    ///
    /// # Errors
    /// As [`sandbox::check`](crate::check_relative): `relative` may not leave this place.
    pub fn join(&self, relative: &str) -> Result<Self> {
        sandbox::check(relative)?;
        Ok(match &self.0 {
            Inner::Local { path, .. } => Location::from_path(&path.join(relative)),
            Inner::Remote { scheme, authority, key } => {
                let key = if key.is_empty() { relative.to_owned() } else { format!("{key}/{relative}") };
                Location(Inner::Remote { scheme: *scheme, authority: authority.clone(), key })
            }
        })
    }

    /// The place that holds this one; nothing above a root, a bucket or a host.
    pub fn parent(&self) -> Option<Self> {
        match &self.0 {
            Inner::Local { path, .. } => {
                let parent = path.parent()?;
                let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
                Some(Location::from_path(parent))
            }
            Inner::Remote { key, .. } if key.is_empty() => None,
            Inner::Remote { scheme, authority, key } => {
                let key = key.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
                Some(Location(Inner::Remote { scheme: *scheme, authority: authority.clone(), key }))
            }
        }
    }

    /// The last part of the name, or an empty text for a root, a bucket, a host, `.` and `..`.
    pub fn file_name(&self) -> &str {
        match &self.0 {
            Inner::Local { name, .. } => name,
            Inner::Remote { key, .. } => key.rsplit('/').next().unwrap_or_default(),
        }
    }

    /// The local path, if this place is local.
    pub fn as_path(&self) -> Option<&Path> {
        match &self.0 {
            Inner::Local { path, .. } => Some(path),
            Inner::Remote { .. } => None,
        }
    }

    /// Whether this place is on the local file system.
    pub fn is_local(&self) -> bool {
        self.scheme() == Scheme::Local
    }

    /// Which kind of place this is.
    pub fn scheme(&self) -> Scheme {
        match &self.0 {
            Inner::Local { .. } => Scheme::Local,
            Inner::Remote { scheme, .. } => *scheme,
        }
    }

    /// Bucket, container or host with port; empty for a local place.
    pub fn authority(&self) -> &str {
        match &self.0 {
            Inner::Local { .. } => "",
            Inner::Remote { authority, .. } => authority,
        }
    }

    /// Key within the bucket, without slashes at either end; empty for a local place.
    pub fn key(&self) -> &str {
        match &self.0 {
            Inner::Local { .. } => "",
            Inner::Remote { key, .. } => key,
        }
    }
}

/// Scheme and rest, when `text` is a URL. One letter before the colon is a Windows drive, not a scheme.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once("://")?;
    let is_scheme = scheme.len() > 1
        && scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    is_scheme.then_some((scheme, rest))
}

fn local_from_url(text: &str) -> Result<Location> {
    let refused = || Error::usage(format!("`{text}` is not the URL of a local file")).hint("file:///absolute/path");
    let url = url::Url::parse(text).map_err(|error| refused().caused_by(error))?;
    let path = url.to_file_path().map_err(|()| refused())?;
    Ok(Location::from_path(&path))
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Local { path, .. } => path.display().fmt(f),
            Inner::Remote { scheme, authority, key } if key.is_empty() => {
                write!(f, "{}://{authority}", scheme.prefix())
            }
            Inner::Remote { scheme, authority, key } => write!(f, "{}://{authority}/{key}", scheme.prefix()),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}
