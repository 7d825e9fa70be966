//! The public suites that tests read: their sources, and the download.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::process::Workspace;
use crate::report::{Outcome, StepResult};

/// The server of archives of commits, unless `ISOMORPH_DATA_FROM` names a mirror.
const FROM: &str = "https://codeload.github.com";

/// Folders of a suite that no test reads: reports of implementations on the suite.
const REPORTS: &str = "reports";

/// A suite: folders of public repositories, each at one commit.
struct Suite {
    name: &'static str,
    parts: &'static [Part],
    /// The number of files that are checked.
    files: usize,
    /// The checksum of the output of `sha256sum` for these files, sorted by path.
    sha256: &'static str,
}

/// Folders of one commit.
struct Part {
    repository: &'static str,
    commit: &'static str,
    folders: &'static [Folder],
}

/// A folder of a repository.
struct Folder {
    from: &'static str,
    /// Its path in the suite.
    to: &'static str,
    /// The endings of the files that tests read, and that are checked. Empty: all files.
    endings: &'static [&'static str],
}

/// A folder that has the same path in the suite.
const fn folder(path: &'static str, endings: &'static [&'static str]) -> Folder {
    Folder { from: path, to: path, endings }
}

const SUITES: &[Suite] = &[
    Suite {
        name: "graphar-testing",
        parts: &[Part {
            repository: "apache/incubator-graphar-testing",
            commit: "8286724cd898047de833f0304dbddd2831afdf9f",
            folders: &[
                // The rest of this folder links to the data of the other folders.
                folder("java/ldbc_sample", &["yml"]),
                folder("ldbc", &[]),
                folder("ldbc_sample", &[]),
                folder("modern_graph", &[]),
                folder("nebula", &[]),
                folder("neo4j", &[]),
            ],
        }],
        files: 755,
        sha256: "20761b266474a5ac9ec566d34e51f1b7589e3a162163821fba10411b0b77540e",
    },
    Suite {
        name: "graphalytics",
        parts: &[Part {
            repository: "ldbc/ldbc_graphalytics",
            commit: "7b8bde76cf7aab5e90b25ecd4b38829e2f98b292",
            folders: &[Folder {
                from: "graphalytics-validation/src/main/resources/validation-graphs",
                to: "validation-graphs",
                endings: &[],
            }],
        }],
        files: 46,
        sha256: "ab901d4625b72111b5cdaf179db23ed8bc839d0489d2492425ff6ddfcc981e12",
    },
    Suite {
        name: "parquet-bad",
        parts: &[
            Part {
                repository: "apache/arrow-testing",
                commit: "9cfebfef8982fb8612e0a2c59059752bd32321a3",
                folders: &[
                    Folder { from: "data/parquet/encoding-fuzzing", to: "encoding-fuzzing", endings: &[] },
                    Folder { from: "data/parquet/fuzzing", to: "fuzzing", endings: &[] },
                ],
            },
            Part {
                repository: "apache/parquet-testing",
                commit: "1a2a75127be06fc0123f03ebd36c966f7beda27d",
                folders: &[folder("bad_data", &[])],
            },
        ],
        files: 152,
        sha256: "86df26e38e5115ade3bb63c32fa22902e14592e291683214bdbdd139a3abc7fe",
    },
    Suite {
        name: "opencypher-tck",
        parts: &[Part {
            repository: "opencypher/openCypher",
            commit: "677cbafabb8c3c5eed458fd3b1ec0daec8d67d23",
            folders: &[
                Folder { from: "tck/features", to: "features", endings: &["feature"] },
                Folder { from: "tck/graphs", to: "graphs", endings: &["cypher"] },
            ],
        }],
        files: 222,
        sha256: "babc3bc71938495797cf9e2388020b91a8a27b8b76716faafc1af1f493c02dac",
    },
    Suite {
        name: "rdf-tests",
        parts: &[Part {
            repository: "w3c/rdf-tests",
            commit: "ad541a5f0479f0798608c4801369d97b8e08b36f",
            folders: &[
                folder("rdf", &["nq", "nt", "rdf", "trig", "ttl"]),
                folder("sparql", &["csv", "nq", "nt", "rdf", "rq", "ru", "srj", "srx", "trig", "tsv", "ttl"]),
            ],
        }],
        files: 4420,
        sha256: "b02b1a9b54095476bf21d6b633de4a9ba5838c83a39fdf0d9687973fc975984b",
    },
];

/// Downloads every suite that is not on this machine, and checks all of them.
pub(crate) fn run(workspace: &Workspace) -> StepResult {
    let (mut wrong, mut missing) = (Vec::new(), Vec::new());
    for suite in SUITES {
        let there = find(workspace, suite.name);
        let shown = there.as_deref().map(|path| path.display().to_string());
        match there.map_or_else(|| suite.download(workspace), |path| suite.check(&path).map_err(Failure::Wrong)) {
            Ok(()) => println!("   {}: {} files, checksum correct{}", suite.name, suite.files, at(shown.as_deref())),
            Err(Failure::Wrong(why)) => wrong.push(format!("{}{}: {why}", suite.name, at(shown.as_deref()))),
            Err(Failure::Unreachable(why)) => missing.push(format!("{} could not be downloaded ({why})", suite.name)),
        }
    }
    match (wrong.is_empty(), missing.is_empty()) {
        (false, _) => Err([wrong, missing].concat().join("\n       ")),
        (true, false) => Ok(Outcome::Skipped(missing.join("; "))),
        (true, true) => Ok(Outcome::Done),
    }
}

fn at(path: Option<&str>) -> String {
    path.map_or_else(String::new, |path| format!(", in {path}"))
}

/// The folder of a suite, if it is on this machine. Tests search the same folders: see `fixtures/src/lib.rs`.
pub(crate) fn find(workspace: &Workspace, suite: &str) -> Option<PathBuf> {
    let named = std::env::var_os("ISOMORPH_DATA").map(PathBuf::from);
    let folders = [workspace.root.join("../shared/data"), workspace.target.join("data")];
    named.into_iter().chain(folders).map(|folder| folder.join(suite)).find(|path| path.is_dir())
}

/// Why a suite is not ready.
#[derive(Debug)]
enum Failure {
    /// It cannot be downloaded here.
    Unreachable(String),
    /// It is not as expected, or this program failed.
    Wrong(String),
}

impl Suite {
    /// Downloads the suite into `target/data`. If this fails, nothing is left there.
    fn download(&self, workspace: &Workspace) -> Result<(), Failure> {
        let from = std::env::var("ISOMORPH_DATA_FROM").unwrap_or_else(|_| FROM.into());
        self.download_from(workspace, &from)
    }

    fn download_from(&self, workspace: &Workspace, from: &str) -> Result<(), Failure> {
        let data = workspace.target.join("data");
        let (work, ready) = (data.join(format!(".{}", self.name)), data.join(format!(".{}.ready", self.name)));
        for folder in [&work, &ready] {
            remove(folder).map_err(Failure::Wrong)?;
            fs::create_dir_all(folder).map_err(|error| Failure::Wrong(said(folder, &error)))?;
        }
        let done = self.assemble(workspace, from, &work, &ready);
        let done = done.and_then(|()| self.check(&ready).map_err(Failure::Wrong));
        let place = data.join(self.name);
        let done = done.and_then(|()| fs::rename(&ready, &place).map_err(|error| Failure::Wrong(said(&place, &error))));
        for folder in [&work, &ready] {
            remove(folder).map_err(Failure::Wrong)?;
        }
        done
    }

    /// Downloads and unpacks the archives below `work`, and moves the folders of the suite to `ready`.
    fn assemble(&self, workspace: &Workspace, from: &str, work: &Path, ready: &Path) -> Result<(), Failure> {
        for part in self.parts {
            let archive = work.join("archive.tar.gz");
            let address = format!("{from}/{}/tar.gz/{}", part.repository, part.commit);
            let quiet = ["--fail", "--location", "--silent", "--show-error", "--connect-timeout", "10", "--output"];
            let curl = workspace.program("curl", &quiet).args([&archive]).args([&address]);
            curl.output().map_err(|error| {
                // The last line is from curl itself; before it is the command line.
                let own = error.rsplit_once("curl: ").map_or(error.as_str(), |(_, own)| own);
                Failure::Unreachable(format!("{address}: {own}"))
            })?;
            let unpacked = work.join(part.commit);
            fs::create_dir_all(&unpacked).map_err(|error| Failure::Wrong(said(&unpacked, &error)))?;
            // The archive of a commit has one folder, which is named after the commit.
            let tar = workspace.program("tar", &["-x", "-z", "--strip-components", "1", "-f"]);
            tar.args([&archive]).args(["-C".as_ref(), unpacked.as_os_str()]).output().map_err(Failure::Wrong)?;
            for folder in part.folders {
                let to = ready.join(folder.to);
                let parent = to.parent().unwrap_or(ready);
                let moved = fs::create_dir_all(parent).and_then(|()| fs::rename(unpacked.join(folder.from), &to));
                moved.map_err(|error| Failure::Wrong(said(&to, &error)))?;
            }
        }
        Ok(())
    }

    /// Compares the files of the suite in `folder` with its checksum.
    fn check(&self, folder: &Path) -> Result<(), String> {
        let mut files = Vec::new();
        for part in self.parts.iter().flat_map(|part| part.folders) {
            list(&folder.join(part.to), part.to, part.endings, &mut files)?;
        }
        files.sort();
        let mut all = Sha256::new();
        for name in &files {
            let path = folder.join(name);
            let bytes = fs::read(&path).map_err(|error| said(&path, &error))?;
            all.update(format!("{}  {name}\n", hex(&Sha256::digest(&bytes))));
        }
        let found = hex(&all.finalize());
        if (files.len(), found.as_str()) == (self.files, self.sha256) {
            return Ok(());
        }
        Err(format!(
            "{} files with the checksum {found}, expected {} with {}; remove the folder and run `cargo xtask data`",
            files.len(),
            self.files,
            self.sha256
        ))
    }
}

/// Adds the files below `folder` whose names have one of `endings`, with `/` in their names on every system. Links are
/// not followed: a checkout without links has files instead.
fn list(folder: &Path, name: &str, endings: &[&str], found: &mut Vec<String>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| said(folder, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| said(folder, &error))?;
        let kind = entry.file_type().map_err(|error| said(folder, &error))?;
        let own = entry.file_name().into_string().map_err(|name| format!("{}: not a name", name.display()))?;
        let path = format!("{name}/{own}");
        if kind.is_dir() && own != REPORTS {
            list(&entry.path(), &path, endings, found)?;
        } else if kind.is_file() {
            let ending = own.rsplit_once('.').map(|(_, ending)| ending);
            if endings.is_empty() || ending.is_some_and(|ending| endings.contains(&ending)) {
                found.push(path);
            }
        }
    }
    Ok(())
}

fn remove(folder: &Path) -> Result<(), String> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(said(folder, &error)),
        _ => Ok(()),
    }
}

fn said(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]
    use super::*;

    const SMALL: Suite = Suite {
        name: "small",
        parts: &[Part {
            repository: "owner/small",
            commit: "c0ffee",
            folders: &[Folder { from: "deep/texts", to: "texts", endings: &["txt"] }],
        }],
        files: 2,
        // (cd target/data/small && find texts -name '*.txt' | LC_ALL=C sort | xargs sha256sum | sha256sum)
        sha256: "45454a8417b74e2e1730631129317f89dc39509154ffe2423cbc39d728ba42c1",
    };

    /// A workspace that contains only a mirror, and the URL of the mirror.
    fn workspace(name: &str, second: &str) -> (Workspace, String) {
        let root = std::env::temp_dir().join(format!("isomorph-xtask-{name}-{}", std::process::id()));
        remove(&root).unwrap();
        let texts = root.join("small-c0ffee/deep/texts");
        fs::create_dir_all(texts.join("more/reports")).unwrap();
        for (file, text) in
            [("one.txt", "one\n"), ("more/two.txt", second), ("more/reports/x.txt", "x"), ("read.me", "-")]
        {
            fs::write(texts.join(file), text).unwrap();
        }
        let mirror = root.join("mirror/owner/small/tar.gz");
        fs::create_dir_all(&mirror).unwrap();
        let workspace = Workspace { target: root.join("target"), root };
        let pack = ["-c", "-z", "-f", "mirror/owner/small/tar.gz/c0ffee", "small-c0ffee"];
        workspace.program("tar", &pack).output().unwrap();
        let address = format!("file://{}", workspace.root.join("mirror").display());
        (workspace, address)
    }

    #[test]
    fn a_suite_is_downloaded_whole_or_not_at_all() {
        let (here, address) = workspace("right", "two\n");
        SMALL.download_from(&here, &address).unwrap();
        let place = here.target.join("data/small");
        assert_eq!(find(&here, "small"), Some(place.clone()));
        assert_eq!(fs::read_to_string(place.join("texts/more/two.txt")).unwrap(), "two\n");
        assert_eq!(fs::read_dir(here.target.join("data")).unwrap().count(), 1);
        // A file that was changed afterwards is detected, too.
        fs::write(place.join("texts/one.txt"), "another\n").unwrap();
        assert!(SMALL.check(&place).unwrap_err().contains("2 files with the checksum"));
        remove(&here.root).unwrap();
    }

    #[test]
    fn other_files_than_expected_are_refused() {
        let (here, address) = workspace("wrong", "three\n");
        let Failure::Wrong(why) = SMALL.download_from(&here, &address).unwrap_err() else { panic!("not refused") };
        assert!(why.contains(SMALL.sha256), "{why}");
        assert_eq!(find(&here, "small"), None);
        remove(&here.root).unwrap();
    }

    #[test]
    fn an_address_that_does_not_answer_is_no_fault_of_the_suite() {
        let (here, address) = workspace("away", "two\n");
        let done = SMALL.download_from(&here, &format!("{address}/elsewhere"));
        assert!(matches!(done, Err(Failure::Unreachable(_))), "{done:?}");
        assert_eq!(find(&here, "small"), None);
        remove(&here.root).unwrap();
    }
}
