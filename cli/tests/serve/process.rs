//! A server as a process.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use isomorph_server::load::{ClientTls, Endpoint, Load, Recording};
use serde_json::Value;

/// The command.
pub fn isomorph(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isomorph")).args(words).stdin(Stdio::null()).output().unwrap()
}

/// Runs the command, which must end with a code, and returns what it printed on standard error.
pub fn fails(words: &[&str], code: i32) -> String {
    let done = isomorph(words);
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.code(), Some(code), "{words:?}: {text}");
    text
}

/// A file or directory of the fixtures of DeepGNN.
pub fn fixture(name: &str) -> PathBuf {
    isomorph_fixtures::fixture(format!("deepgnn/{name}"))
}

/// A file of the certificates of tests.
pub fn certificate(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    root.join("crates/server/tests/certificates").join(name).display().to_string()
}

/// A port that is free now.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A running server. It is killed when this is dropped.
pub struct Served {
    child: Child,
    /// What it printed when it was ready.
    pub document: Value,
}

impl Served {
    /// Starts a server with metrics, and waits until it is ready.
    pub fn of(paths: &[&Path], address: &str, more: &[&str]) -> Served {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isomorph"));
        command.args(["serve", "deepgnn"]).args(paths).args(["--address", address, "--json"]);
        command.args(["--metrics", "127.0.0.1:0"]).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        let mut lines = BufReader::new(child.stdout.as_mut().unwrap());
        lines.read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut text = String::new();
            child.stderr.as_mut().unwrap().read_to_string(&mut text).unwrap();
            panic!("{text}");
        }
        Served { child, document: serde_json::from_str(&line).unwrap() }
    }

    /// Where it answers.
    pub fn address(&self) -> &str {
        self.document["address"].as_str().unwrap()
    }

    /// The body of a response of the metrics' address, with the status before it.
    pub fn get(&self, path: &str) -> (u16, String) {
        let address: SocketAddr = self.document["metrics"].as_str().unwrap().parse().unwrap();
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let status = text.split(' ').nth(1).unwrap().parse().unwrap();
        (status, text.split_once("\r\n\r\n").unwrap().1.to_owned())
    }

    /// The number of requests that were answered with success.
    pub fn answered(&self) -> u64 {
        let text = self.get("/metrics").1;
        let lines = text.lines().filter(|line| line.starts_with("isomorph_requests_total") && line.contains("\"OK\""));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    }

    /// Waits until more than `count` requests were answered.
    pub fn wait_for(&self, count: u64) {
        while self.answered() <= count {
            std::thread::yield_now();
        }
    }

    /// Sends SIGTERM.
    pub fn terminate(&self) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    }

    /// Waits for its end. Returns whether it succeeded, and what it printed on standard error.
    pub fn ended(mut self) -> (bool, String) {
        let mut text = String::new();
        self.child.stderr.as_mut().unwrap().read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap().success(), text)
    }

    /// Ends it at once, as `kill -9` does.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The recorded requests of a published server.
pub fn recording(name: &str) -> Recording {
    Recording::parse(&std::fs::read(fixture(&format!("grpc/{name}.json"))).unwrap()).unwrap()
}

/// So many requests, from so many clients.
pub fn load(address: &str, recording: Option<Recording>, connections: usize, requests: u64) -> Load {
    let endpoint = Endpoint::parse(address, &ClientTls::default(), None).unwrap();
    let duration = std::time::Duration::from_secs(120);
    Load { endpoint, recording, connections, duration, requests: Some(requests) }
}

/// Copies the files of a directory for which `wanted` is true.
pub fn copy(from: &Path, to: &Path, wanted: impl Fn(&str) -> bool) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_file() && wanted(&name) {
            std::fs::copy(entry.path(), to.join(&name)).unwrap();
        }
    }
}

/// The files below a directory with their bytes.
pub fn content(directory: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(content(&entry.path()));
        } else {
            found.push((entry.path(), std::fs::read(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}
