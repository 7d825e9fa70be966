//! Locations: local paths, and objects behind URLs.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use isomorph_error::{Error, Result, nearest};

use crate::disk::{Disk, DiskHandle};
use crate::objects::ObjectClient;
use crate::{Blob, sandbox};

/// The kind of a [`Location`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// A path in the local file system.
    Local,
    /// Amazon S3, or a server with the same protocol.
    S3,
    /// Google Cloud Storage. Untested.
    Gcs,
    /// Azure Blob Storage.
    Azure,
    /// Hadoop's file system. Read-only. Untested against a server.
    Hdfs,
    /// A web server without encryption. Read-only.
    Http,
    /// A web server. Read-only.
    Https,
    /// Bytes from a stream, such as standard input. Read-only.
    Stream,
}

impl Scheme {
    /// The text before `://`.
    pub fn prefix(self) -> &'static str {
        match self {
            Scheme::Local => "file",
            Scheme::S3 => "s3",
            Scheme::Gcs => "gs",
            Scheme::Azure => "az",
            Scheme::Hdfs => "hdfs",
            Scheme::Http => "http",
            Scheme::Https => "https",
            Scheme::Stream => "stream",
        }
    }

    /// Whether it can be written to.
    pub fn is_writable(self) -> bool {
        !matches!(self, Scheme::Hdfs | Scheme::Http | Scheme::Https | Scheme::Stream)
    }

    /// Whether a location can be listed. On a web server, only files with known names can be opened, and a stream is a single
    /// file.
    pub fn has_listing(self) -> bool {
        !matches!(self, Scheme::Http | Scheme::Https | Scheme::Stream)
    }
}

/// The location of a file, an object, a directory or a prefix, which may or may not exist.
///
/// Written as a local path, `file:///path`, `s3://bucket/key`, `gs://bucket/key`, `az://container/key`,
/// `hdfs://namenode:port/path`, `hdfs://nameservice/path`, `http://host/path` or `https://host/path`. The keys of object
/// stores are taken as written; web addresses and file URLs are percent-decoded.
///
/// ```
/// use isomorph_storage::Location;
/// let graph = Location::parse("s3://lake/graphs/social")?;
/// assert_eq!(graph.join("social.graph.yml")?.to_string(), "s3://lake/graphs/social/social.graph.yml");
/// assert!(graph.join("../secrets").is_err());
/// # Ok::<(), isomorph_error::Error>(())
/// ```
#[derive(Clone)]
pub struct Location(Inner);

#[derive(Clone)]
enum Inner {
    Local { path: PathBuf, name: String, disk: DiskHandle },
    Remote { scheme: Scheme, authority: String, key: String, client: Option<Arc<dyn ObjectClient>> },
    Stream { blob: Blob },
}

impl Location {
    /// Parses a location as users write it.
    ///
    /// # Errors
    /// [`Kind::Usage`](isomorph_error::Kind::Usage) for an empty text, an unknown scheme, a URL without bucket
    /// or host, and for a URL with a user name, a password, a query or a fragment.
    pub fn parse(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::usage("location must not be empty").hint("name a file, a directory or a URL"));
        }
        if text.contains('\0') {
            return Err(Error::usage("location must not contain a NUL character"));
        }
        let Some((scheme, rest)) = split_scheme(text) else {
            return Ok(Location::from_path(Path::new(text)));
        };
        match scheme.to_ascii_lowercase().as_str() {
            "file" => local_from_url(text),
            "s3" | "s3a" => remote(Scheme::S3, text, rest),
            "gs" => remote(Scheme::Gcs, text, rest),
            "az" => remote(Scheme::Azure, text, rest),
            "hdfs" => remote(Scheme::Hdfs, text, rest),
            "http" => web(Scheme::Http, text),
            "https" => web(Scheme::Https, text),
            other => Err(Error::usage(format!("`{other}://` is not a supported URL scheme"))
                .hint("a local path, file://, s3://, gs://, az://, hdfs://, http:// or https://")),
        }
    }

    /// Creates a location from a local path, absolute or relative to the working directory.
    pub fn from_path(path: &Path) -> Self {
        Location::local(path, DiskHandle::REAL)
    }

    /// Creates the location of bytes that were read from a stream, under the name of `blob`: a single file.
    pub fn of_stream(blob: Blob) -> Self {
        Location(Inner::Stream { blob })
    }

    /// Returns the bytes of a stream.
    pub(crate) fn stream(&self) -> Option<&Blob> {
        match &self.0 {
            Inner::Stream { blob } => Some(blob),
            Inner::Local { .. } | Inner::Remote { .. } => None,
        }
    }

    fn local(path: &Path, disk: DiskHandle) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        Location(Inner::Local { path: path.to_owned(), name, disk })
    }

    /// Writes to this location through `disk`, for tests that inject faults. Reads still use the real file system.
    pub fn on_disk(self, disk: Arc<dyn Disk>) -> Self {
        match self.0 {
            Inner::Local { path, .. } => Location::local(&path, DiskHandle::of(disk)),
            other @ (Inner::Remote { .. } | Inner::Stream { .. }) => Location(other),
        }
    }

    /// Uses a client that the caller configured instead of the one that the environment describes.
    pub fn on_store(self, client: Arc<dyn ObjectClient>) -> Self {
        match self.0 {
            Inner::Remote { scheme, authority, key, .. } => {
                Location(Inner::Remote { scheme, authority, key, client: Some(client) })
            }
            other @ (Inner::Local { .. } | Inner::Stream { .. }) => Location(other),
        }
    }

    /// Returns the location `relative` below this one.
    ///
    /// # Errors
    /// Same as [`check_relative`](crate::check_relative): `relative` must stay below this location. Streams have nothing
    /// below them.
    pub fn join(&self, relative: &str) -> Result<Self> {
        sandbox::check(relative)?;
        Ok(match &self.0 {
            Inner::Local { path, disk, .. } => Location::local(&path.join(relative), disk.clone()),
            Inner::Remote { key, .. } if key.is_empty() => self.with_key(relative.to_owned()),
            Inner::Remote { key, .. } => self.with_key(format!("{key}/{relative}")),
            Inner::Stream { blob } => return Err(not_a_directory(blob)),
        })
    }

    /// Returns the location next to this one whose name has `suffix` appended.
    pub(crate) fn with_suffix(&self, suffix: &str) -> Self {
        match &self.0 {
            Inner::Local { path, disk, .. } => {
                let mut name = path.file_name().unwrap_or_default().to_owned();
                name.push(suffix);
                Location::local(&path.with_file_name(name), disk.clone())
            }
            Inner::Remote { key, .. } => self.with_key(format!("{key}{suffix}")),
            Inner::Stream { .. } => self.clone(),
        }
    }

    /// Returns the location of this file's companion: the directory next to it whose name has
    /// [`COMPANION_SUFFIX`](crate::COMPANION_SUFFIX) appended, whatever characters the name contains.
    pub fn companion(&self) -> Self {
        self.with_suffix(crate::COMPANION_SUFFIX)
    }

    /// Returns the location that contains this one; `None` for a root, a bucket or a host.
    pub fn parent(&self) -> Option<Self> {
        match &self.0 {
            Inner::Local { path, disk, .. } => {
                let parent = path.parent()?;
                let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
                Some(Location::local(parent, disk.clone()))
            }
            Inner::Remote { key, .. } if key.is_empty() => None,
            Inner::Stream { .. } => None,
            Inner::Remote { key, .. } => {
                Some(self.with_key(key.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned()))
            }
        }
    }

    /// Returns the target if this is a local link to a file: output is written to the target, and its companion next to the
    /// target. `None` if this is not a link, or its target is not a file.
    pub fn link_target(&self) -> Option<Self> {
        let path = self.as_path().filter(|path| path.is_symlink() && path.is_file())?;
        Some(Location::from_path(&std::fs::canonicalize(path).ok()?))
    }

    /// Returns `, did you mean examples/social?`, to be appended to a message that this local path does not exist: its first
    /// component that does not exist is replaced by a similar name that does. Empty if no name is similar, or if
    /// directories cannot be listed.
    pub fn did_you_mean(&self) -> String {
        let found = self.as_path().and_then(nearest_path);
        found.map_or_else(String::new, |near| format!(", did you mean {}?", near.display()))
    }

    fn with_key(&self, new: String) -> Self {
        let mut changed = self.clone();
        if let Inner::Remote { key, .. } = &mut changed.0 {
            *key = new;
        }
        changed
    }

    /// Returns the last component of the name, or an empty string for a root, a bucket, a host, `.` and `..`.
    pub fn file_name(&self) -> &str {
        match &self.0 {
            Inner::Local { name, .. } => name,
            Inner::Remote { key, .. } => key.rsplit('/').next().unwrap_or_default(),
            Inner::Stream { blob } => blob.name(),
        }
    }

    /// Returns the local path, if this location is local.
    pub fn as_path(&self) -> Option<&Path> {
        match &self.0 {
            Inner::Local { path, .. } => Some(path),
            Inner::Remote { .. } | Inner::Stream { .. } => None,
        }
    }

    /// Whether this location is in the local file system.
    pub fn is_local(&self) -> bool {
        self.scheme() == Scheme::Local
    }

    /// Returns the kind of this location.
    pub fn scheme(&self) -> Scheme {
        match &self.0 {
            Inner::Local { .. } => Scheme::Local,
            Inner::Remote { scheme, .. } => *scheme,
            Inner::Stream { .. } => Scheme::Stream,
        }
    }

    /// Returns the bucket, container, name service, or host with port; empty for a local path.
    pub fn authority(&self) -> &str {
        match &self.0 {
            Inner::Local { .. } | Inner::Stream { .. } => "",
            Inner::Remote { authority, .. } => authority,
        }
    }

    /// Returns the key in the bucket, without leading or trailing slashes; empty for a local path.
    pub fn key(&self) -> &str {
        match &self.0 {
            Inner::Local { .. } => "",
            Inner::Remote { key, .. } => key,
            Inner::Stream { blob } => blob.name(),
        }
    }

    pub(crate) fn disk(&self) -> Arc<dyn Disk> {
        match &self.0 {
            Inner::Local { disk, .. } => disk.get(),
            Inner::Remote { .. } | Inner::Stream { .. } => DiskHandle::REAL.get(),
        }
    }

    pub(crate) fn client(&self) -> Option<&Arc<dyn ObjectClient>> {
        match &self.0 {
            Inner::Local { .. } | Inner::Stream { .. } => None,
            Inner::Remote { client, .. } => client.as_ref(),
        }
    }

    /// The parts by which two locations are compared; not the disk or client that a caller set.
    fn identity(&self) -> (Scheme, Option<&Path>, &str, &str) {
        (self.scheme(), self.as_path(), self.authority(), self.key())
    }
}

/// Returns the error for a stream where a directory is required.
pub(crate) fn not_a_directory(stream: &Blob) -> Error {
    Error::usage("expected a directory, found a stream").at(stream.place())
}

/// Splits a URL into scheme and rest. One letter before the colon is a Windows drive, not a scheme.
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
    // A percent-encoded NUL passed the check of the text.
    let path = url.to_file_path().ok().filter(|path| !path.as_os_str().as_encoded_bytes().contains(&0));
    let path = path.ok_or_else(refused)?;
    Ok(Location::from_path(&path))
}

fn remote(scheme: Scheme, text: &str, rest: &str) -> Result<Location> {
    let (authority, key) = rest.split_once('/').unwrap_or((rest, ""));
    if authority.is_empty() {
        return Err(match scheme {
            Scheme::Hdfs => Error::usage(format!("`{text}` has no name node")).hint("hdfs://namenode:port/path"),
            _ => Error::usage(format!("`{text}` has no bucket")),
        });
    }
    if authority.contains('@') {
        return Err(credentials_in_url());
    }
    let key = key.trim_end_matches('/').to_owned();
    if !key.is_empty() {
        sandbox::check(&key)?;
    }
    Ok(Location(Inner::Remote { scheme, authority: authority.to_owned(), key, client: None }))
}

fn web(scheme: Scheme, text: &str) -> Result<Location> {
    let refused = || Error::usage(format!("`{text}` is not a valid web address"));
    let url = url::Url::parse(text).map_err(|error| refused().caused_by(error))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(credentials_in_url());
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(Error::usage("web addresses with a query or a fragment are not supported")
            .hint("download the file and open the copy"));
    }
    let host = url.host_str().ok_or_else(refused)?;
    let authority = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let key = percent_decoded(url.path().trim_matches('/')).ok_or_else(refused)?;
    if !key.is_empty() {
        sandbox::check(&key)?;
    }
    Ok(Location(Inner::Remote { scheme, authority, key, client: None }))
}

fn credentials_in_url() -> Error {
    Error::usage("user names and passwords in a URL are not supported")
        .hint("set the environment variables of the store, for example AWS_ACCESS_KEY_ID")
}

fn percent_decoded(text: &str) -> Option<String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' { digit(rest.next()?)? * 16 + digit(rest.next()?)? } else { byte });
    }
    String::from_utf8(bytes).ok()
}

impl PartialEq for Location {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Location {}

impl Hash for Location {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

/// The number of directory entries that are compared for a suggestion.
const NEAR_ENTRIES: usize = 10_000;

/// Returns an existing path that differs from `path` in one mistyped name.
fn nearest_path(path: &Path) -> Option<PathBuf> {
    let mut behind = PathBuf::new();
    let mut wanted = path;
    loop {
        let name = wanted.file_name()?;
        let parent = wanted.parent()?;
        let listed = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        if listed.is_dir() {
            // Suggestions are optional: without a listing there is none.
            let entries = std::fs::read_dir(listed).ok()?.take(NEAR_ENTRIES);
            let mut names: Vec<String> =
                entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
            names.sort_unstable();
            let near = parent.join(nearest(name.to_str()?, names.iter().map(String::as_str))?);
            let found = if behind.as_os_str().is_empty() { near } else { near.join(&behind) };
            return found.exists().then_some(found);
        }
        behind = if behind.as_os_str().is_empty() { PathBuf::from(name) } else { Path::new(name).join(behind) };
        wanted = parent;
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Inner::Local { path, .. } => path.display().fmt(f),
            Inner::Remote { scheme, authority, key, .. } if key.is_empty() => {
                write!(f, "{}://{authority}", scheme.prefix())
            }
            Inner::Remote { scheme, authority, key, .. } => write!(f, "{}://{authority}/{key}", scheme.prefix()),
            Inner::Stream { blob } => f.write_str(blob.name()),
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}
