//! Runs the binary, and inspects its output.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A small NOCK file: three people, of whom two know each other.
pub const PEOPLE: &str = r#""src_name","edge_id","rel_name","dst_name","truth","shadow","is_rdf","labels","props"
"ada",-1,"","",1.0,-1,False,"Person,Writer","{""born"": 1815}"
"ada",0,"knows","charles",1.0,-1,False,"","{""since"": 1833}"
"ada",1,"admires","mary",0.5,-1,False,"",""
"charles",-1,"","",1.0,-1,False,"Person","{""born"": 1791, ""died"": 1871}"
"charles",0,"knows","ada",1.0,-1,False,"","{""since"": 1833}"
"mary",-1,"","",1.0,-1,False,"Person","{""born"": 1780}"
"#;

/// The result of a run of the binary.
#[derive(Debug)]
pub struct Done {
    /// Exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Done {
    /// Returns the result if the run ended with `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{}\n{}", self.out, self.err);
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }

    /// Returns the error as JSON.
    #[track_caller]
    pub fn error(&self) -> Value {
        serde_json::from_str(&self.err).unwrap_or_else(|error| panic!("{error}: {}", self.err))
    }

    /// Returns standard output without what differs between runs or versions: times, sizes, digests.
    pub fn screen(&self) -> String {
        still(&self.out)
    }
}

/// Replaces times, rates and sizes with `#`, groups of a digest with `xxxx`.
pub fn still(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let shown = words.iter().enumerate().map(|(at, word)| {
            let unit = words.get(at + 1).map_or("", |next| next.trim_end_matches([')', ',']));
            let moves = matches!(unit, "s" | "min" | "bytes" | "KB" | "MB" | "/s" | "k/s");
            let number = word.trim_start_matches('(');
            let is_digest = word.len() == 4 && word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            match () {
                () if moves && number.starts_with(|first: char| first.is_ascii_digit()) => word.replace(number, "#"),
                () if is_digest => "xxxx".to_owned(),
                () => (*word).to_owned(),
            }
        });
        // A fast run has a rate in thousands.
        shown.collect::<Vec<_>>().join(" ").replace("# k/s", "# /s") + "\n"
    });
    lines.collect()
}

/// Compares a screen with the one stored under `name`, or stores it if `UPDATE_SCREENS` is set.
#[track_caller]
pub fn assert_screen(name: &str, screen: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/screens").join(name).with_extension("txt");
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        fs::write(&path, screen).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(screen, kept, "{} (UPDATE_SCREENS=1 keeps the new one)", path.display());
}

/// A temporary directory for one test.
pub struct Home(TempDir);

impl Home {
    /// Creates an empty directory.
    pub fn new() -> Self {
        Home(tempfile::tempdir().unwrap())
    }

    /// Creates a directory with `people.csv`.
    pub fn with_people() -> Self {
        let home = Home::new();
        home.write("people.csv", PEOPLE);
        home
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns a path inside it.
    pub fn at(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file inside it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.at(name), content).unwrap();
    }

    /// Returns the sorted names of its entries.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Returns the command with these arguments, to be run in this directory.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_isomorph"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null()).env_remove("NO_COLOR");
        command
    }

    /// Runs the binary in this directory.
    pub fn run(&self, arguments: &[&str]) -> Done {
        done(&self.command(arguments).output().unwrap())
    }

    /// Runs the binary in this directory, with this on its standard input.
    pub fn feed(&self, arguments: &[&str], input: &[u8]) -> Done {
        let mut command = self.command(arguments);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // A command that rejects its arguments does not read to the end.
        let _ = child.stdin.take().unwrap().write_all(input);
        done(&child.wait_with_output().unwrap())
    }
}

fn done(output: &Output) -> Done {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Done { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
}

/// Returns the root of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns a path in GraphAr's public sample graphs.
pub fn sample(path: &str) -> Option<String> {
    isomorph_fixtures::public_data(&format!("graphar-testing/{path}")).map(text)
}

/// Returns a path in the fixtures.
pub fn fixture(path: &str) -> String {
    text(isomorph_fixtures::fixture(path))
}

/// Returns the path of the example graph.
pub fn social() -> String {
    text(workspace().join("examples/social"))
}

fn text(path: PathBuf) -> String {
    path.to_str().unwrap().to_owned()
}
