//! Processes of a cluster, and questions to them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_isomorph"))
}

/// The repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Runs the command.
pub fn isomorph(words: &[&str]) -> Output {
    command().args(words).current_dir(root()).stdin(Stdio::null()).output().unwrap()
}

/// A process that says where it listens, and is killed when this is dropped.
pub struct Running {
    child: Child,
    pub address: String,
}

impl Running {
    fn start(words: &[&str], environment: &[(&str, String)]) -> Running {
        let mut command = command();
        command.envs(environment.iter().cloned());
        command.arg("cluster").args(words).arg("--json").stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut printed = serde_json::Deserializer::from_reader(child.stdout.as_mut().unwrap()).into_iter();
        let document: Value = printed.next().unwrap_or_else(|| panic!("{words:?} printed nothing")).unwrap();
        let running = Running { child, address: document["address"].as_str().unwrap().to_owned() };
        running.wait();
        running
    }

    /// Waits until it accepts connections.
    fn wait(&self) {
        let address: SocketAddr = self.address.parse().unwrap();
        while TcpStream::connect(address).is_err() {
            std::thread::yield_now();
        }
    }

    /// Ends it at once, as `kill -9` does.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end, and returns whether it did so well.
    pub fn ends(mut self) -> bool {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn scheduler() -> Running {
    Running::start(&["scheduler", "--bind", "127.0.0.1:0", "--threads", "2"], &[])
}

/// An executor of `scheduler` that keeps what it makes below `home`, and opens what is below `allow`.
pub fn executor(scheduler: &Running, home: &Path, allow: &[&Path]) -> Running {
    let allow: Vec<String> = allow.iter().map(|path| path.display().to_string()).collect();
    executor_of(scheduler, home, &allow, &[])
}

/// The same with places that may be URLs, and environment variables.
pub fn executor_of(scheduler: &Running, home: &Path, allow: &[String], environment: &[(&str, String)]) -> Running {
    let own = ["executor", "--scheduler", &scheduler.address, "--threads", "2", "--memory", "512MiB", "--temp-dir"];
    let home = home.display().to_string();
    let allow = allow.iter().flat_map(|path| ["--allow", path]);
    Running::start(&own.into_iter().chain([home.as_str()]).chain(allow).collect::<Vec<_>>(), environment)
}

/// A cluster of two executors.
pub struct Machines {
    // They end before their scheduler does.
    pub executors: Vec<Running>,
    pub scheduler: Running,
    pub homes: Vec<tempfile::TempDir>,
}

impl Machines {
    /// Whose executors open the graphs of the repository.
    pub fn start() -> Machines {
        Machines::start_with(&[&root()])
    }

    /// Whose executors open what is below `allow`.
    pub fn start_with(allow: &[&Path]) -> Machines {
        let scheduler = scheduler();
        let homes: Vec<_> = (0..2).map(|_| tempfile::tempdir().unwrap()).collect();
        let executors = homes.iter().map(|home| executor(&scheduler, home.path(), allow)).collect();
        Machines { executors, scheduler, homes }
    }

    /// What the cluster answers.
    pub fn asked(&self, paths: &[&str], question: &str) -> Output {
        asked(&self.scheduler, paths, question)
    }

    /// What the cluster answers in another language.
    pub fn asked_in(&self, language: &str, path: &str, question: &str) -> Output {
        asking_in(language, &self.scheduler.address, &[path], question).output().unwrap()
    }
}

/// What the cluster of a scheduler answers.
pub fn asked(scheduler: &Running, paths: &[&str], question: &str) -> Output {
    asking(&scheduler.address, paths, question).output().unwrap()
}

/// A client that asks the scheduler at an address.
pub fn asking(scheduler: &str, paths: &[&str], question: &str) -> Command {
    asking_in("sql", scheduler, paths, question)
}

/// The same in another language.
pub fn asking_in(language: &str, scheduler: &str, paths: &[&str], question: &str) -> Command {
    let more = [question, "--format", "csv", "--partitions", "5", "--cluster", scheduler];
    let mut command = command();
    command.arg(language).args(paths).args(more).current_dir(root()).stdin(Stdio::null());
    command
}

/// Passes on what one client and a scheduler say, and keeps what the client says. When the client connects, its plan is made, and `connected` is called.
pub fn between(
    scheduler: &Running,
    connected: impl FnOnce() + Send + 'static,
) -> (String, std::thread::JoinHandle<Vec<u8>>) {
    let (listener, address) = (TcpListener::bind("127.0.0.1:0").unwrap(), scheduler.address.clone());
    let own = listener.local_addr().unwrap().to_string();
    let passing = std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        connected();
        let mut server = TcpStream::connect(address).unwrap();
        let (mut from, mut to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
        let back = std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        let (mut said, mut buffer) = (Vec::new(), [0; 1 << 16]);
        while let Ok(size @ 1..) = client.read(&mut buffer) {
            said.extend(&buffer[..size]);
            server.write_all(&buffer[..size]).unwrap();
        }
        server.shutdown(std::net::Shutdown::Both).unwrap();
        let _ = back.join();
        said
    });
    (own, passing)
}

/// What one process answers.
pub fn alone(paths: &[&str], question: &str) -> Output {
    alone_in("sql", paths, question)
}

/// The same in another language.
pub fn alone_in(language: &str, paths: &[&str], question: &str) -> Output {
    isomorph(&[&[language], paths, &[question, "--format", "csv"]].concat())
}

/// The rows of an answer in an order of their own, with twelve digits of floats: their sums depend on the order of rows.
pub fn rows(answer: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&answer.stdout);
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let cell = |cell: &str| match cell.parse::<f64>() {
        Ok(float) if cell.contains(['.', 'e', 'E']) => format!("{float:.11e}"),
        _ => cell.to_owned(),
    };
    let row = |line: &str| line.split(',').map(cell).collect::<Vec<_>>().join(",");
    let mut rows: Vec<String> = text.lines().map(row).collect();
    if let Some(rest) = rows.get_mut(1..) {
        rest.sort();
    }
    rows
}

/// What an answer says is wrong.
pub fn error(answer: &Output) -> String {
    String::from_utf8_lossy(&answer.stderr).into_owned()
}
