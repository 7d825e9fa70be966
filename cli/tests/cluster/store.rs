//! An object store as a thread: what reading needs of the protocol of S3, over the files of a directory.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A bucket with the files of a directory.
pub struct Store {
    address: String,
    is_over: Arc<AtomicBool>,
}

impl Store {
    /// Serves the files of `directory` as the objects of `bucket`.
    pub fn of(directory: &Path, bucket: &str) -> Store {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let is_over = Arc::new(AtomicBool::new(false));
        let (ended, root, bucket) = (Arc::clone(&is_over), directory.to_owned(), format!("/{bucket}"));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ended.load(Ordering::Relaxed) {
                    break;
                }
                let (root, bucket) = (root.clone(), bucket.clone());
                // A client that is gone is no fault of the store.
                std::thread::spawn(move || stream.and_then(|stream| serve(&stream, &root, &bucket)));
            }
        });
        Store { address, is_over }
    }

    /// What points a process to it.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("AWS_ACCESS_KEY_ID", "tester".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "not-a-secret".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            ("AWS_ENDPOINT_URL", format!("http://{}", self.address)),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
        ]
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // The thread that waits for a client sees it.
        let _ = TcpStream::connect(&self.address);
    }
}

/// Answers requests until the client leaves.
fn serve(stream: &TcpStream, root: &Path, bucket: &str) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    while let Some(request) = lines.next().transpose()? {
        let mut range = None;
        for header in lines.by_ref() {
            let header = header?;
            let Some((name, value)) = header.split_once(':') else { break };
            if name.eq_ignore_ascii_case("range") {
                range = value.trim().strip_prefix("bytes=").map(str::to_owned);
            }
        }
        let mut words = request.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let name = decoded(path.strip_prefix(bucket).unwrap_or_default()).trim_start_matches('/').to_owned();
        let (status, headers, body) = match name.as_str() {
            "" => ("200 OK", String::new(), listing(root, query).into_bytes()),
            name => object(&root.join(name), range.as_deref()),
        };
        let mut stream = stream;
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}\r\n", body.len())?;
        if method != "HEAD" {
            stream.write_all(&body)?;
        }
    }
    Ok(())
}

/// An object, or a range of it.
fn object(path: &Path, range: Option<&str>) -> (&'static str, String, Vec<u8>) {
    let Ok(all) = fs::read(path) else {
        return ("404 Not Found", String::new(), b"<Error><Code>NoSuchKey</Code></Error>".to_vec());
    };
    let size = all.len();
    let facts = format!("ETag: \"{size}\"\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n");
    let Some((from, to)) = range.and_then(|range| range.split_once('-')) else { return ("200 OK", facts, all) };
    let (from, to) = match (from.parse::<usize>(), to.parse::<usize>()) {
        (Ok(from), Ok(to)) => (from, (to + 1).min(size)),
        (Ok(from), Err(_)) => (from, size),
        (Err(_), Ok(last)) => (size.saturating_sub(last), size),
        _ => (0, size),
    };
    let facts = format!("{facts}Content-Range: bytes {from}-{}/{size}\r\n", to.saturating_sub(1));
    ("206 Partial Content", facts, all.get(from..to).unwrap_or_default().to_vec())
}

/// The objects whose names begin as the query says; with a delimiter, what follows it is left out.
fn listing(root: &Path, query: &str) -> String {
    let value = |name: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.into_iter().find(|(own, _)| *own == name).map(|(_, value)| decoded(value)).unwrap_or_default()
    };
    let (prefix, delimiter) = (value("prefix"), value("delimiter"));
    let mut files = Vec::new();
    collect(root, root, &mut files);
    files.sort();
    let (mut body, mut common) = (String::new(), BTreeSet::new());
    for (name, size) in files.iter().filter(|(name, _)| name.starts_with(&prefix)) {
        match name[prefix.len()..].split_once(&delimiter).filter(|_| !delimiter.is_empty()) {
            Some((first, _)) => {
                common.insert(format!("{prefix}{first}{delimiter}"));
            }
            None => body.push_str(&format!(
                "<Contents><Key>{name}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>\"{size}\"</ETag><Size>{size}</Size></Contents>"
            )),
        }
    }
    for prefix in common {
        body.push_str(&format!("<CommonPrefixes><Prefix>{prefix}</Prefix></CommonPrefixes>"));
    }
    format!("<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated>{body}</ListBucketResult>")
}

fn collect(root: &Path, directory: &Path, files: &mut Vec<(String, u64)>) {
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        let path: PathBuf = entry.path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            files.push((name, entry.metadata().unwrap().len()));
        }
    }
}

/// A text without the escapes of URLs.
fn decoded(text: &str) -> String {
    let (bytes, mut plain, mut at) = (text.as_bytes(), Vec::new(), 0);
    while let Some(byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match hex.filter(|_| *byte == b'%') {
            Some(code) => {
                plain.push(code);
                at += 3;
            }
            None => {
                plain.push(*byte);
                at += 1;
            }
        }
    }
    String::from_utf8(plain).unwrap()
}
