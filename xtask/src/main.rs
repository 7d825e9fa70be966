//! Tasks of the workspace, run as `cargo xtask NAME`.
//!
//! Everything that CI does is one of these tasks, so that a developer runs exactly the same. The crate depends on no
//! other crate of the workspace: it has to start within seconds on a fresh clone.

mod advisories;
mod bench;
mod check;
mod cluster;
mod cross;
mod data;
mod directions;
mod features;
mod fuzz;
mod interop;
mod layers;
mod licences;
mod metadata;
mod oracle;
mod process;
mod python;
mod readme;
mod report;
mod scratch;
mod skips;
mod spdx;
mod test;
mod train;

use std::process::ExitCode;

use process::Workspace;
use report::Report;

const HELP: &str = "\
cargo xtask check        checks that must pass before tests are worth running: format, directions, features, licences, clippy, docs
cargo xtask test         all tests: Rust, documentation examples, and interop with the published libraries
cargo xtask ci           check, test, readme: everything that must pass before a change is merged
cargo xtask data         download the public suites that tests read, and check them
cargo xtask interop …    only the tests against the published libraries; further arguments go to pytest
cargo xtask python …     only the tests of the Python package, from a wheel of this build; further arguments go to pytest
cargo xtask train …      tests of the loaders for PyTorch Geometric and an example of training, in an environment of gigabytes; arguments go to pytest
cargo xtask wheel        make the Python wheel for release, and test it
cargo xtask bench …      measure against the published libraries; further arguments go to benches/run.py
cargo xtask fuzz …       fuzz one target or all: [TARGET|all [SECONDS]]
cargo xtask cluster      lints and tests of queries on several machines: a build of its own, not part of ci
cargo xtask oracle …     random graphs and commands against a naive oracle: [NUMBER OF GRAPHS [FIRST]], 10000 from 0 by default
cargo xtask directions   check that dependencies between our crates point down only
cargo xtask features     check that every build requests the same features of dependencies, so that none is compiled twice
cargo xtask licences     check licences and known advisories of every dependency
cargo xtask readme       check that the first command of the README prints what the README shows
cargo xtask example      write examples/social again
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (task, rest) = match arguments.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("help", [].as_slice()),
    };
    if matches!(task, "help" | "--help" | "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if !rest.is_empty() && !matches!(task, "interop" | "python" | "train" | "bench" | "fuzz" | "oracle") {
        eprintln!("error: `cargo xtask {task}` takes no arguments");
        return ExitCode::from(2);
    }
    let workspace = match Workspace::find() {
        Ok(workspace) => workspace,
        Err(message) => {
            eprintln!("error: {message}");
            return ExitCode::from(2);
        }
    };
    let mut report = Report::new();
    match task {
        "check" => check::run(&workspace, &mut report),
        "test" => test::run(&workspace, &mut report),
        "interop" => interop::run(&workspace, rest, &mut report),
        "python" => python::run(&workspace, rest, &mut report),
        "train" => train::run(&workspace, rest, &mut report),
        "wheel" => python::release(&workspace, &mut report),
        "bench" => bench::run(&workspace, rest, &mut report),
        "fuzz" => match fuzz::Request::parse(rest).and_then(|request| Ok((request.targets(&workspace)?, request))) {
            Ok((targets, request)) => {
                for target in targets {
                    report.step(&target, || fuzz::run(&workspace, &request, &target).map(Into::into));
                }
            }
            Err(message) => {
                eprintln!("error: {message}");
                return ExitCode::from(2);
            }
        },
        "cluster" => cluster::run(&workspace, &mut report),
        "oracle" => report.step("oracle", || oracle::run(&workspace, rest)),
        "data" => report.step("data", || data::run(&workspace)),
        "directions" => report.step("directions", || directions::run(&workspace)),
        "features" => report.step("features", || features::run(&workspace)),
        "licences" => {
            report.step("licences", || licences::run(&workspace));
            report.step("advisories", || advisories::run(&workspace));
        }
        "readme" => report.step("readme", || readme::run(&workspace)),
        "example" => report.step("example", || {
            workspace.cargo(&["run", "--quiet", "--package", "isomorph-examples"]).run().map(Into::into)
        }),
        "ci" => {
            check::run(&workspace, &mut report);
            test::run(&workspace, &mut report);
            report.step("readme", || readme::run(&workspace));
        }
        _ => {
            eprintln!("error: no such task: `{task}`\n\n{HELP}");
            return ExitCode::from(2);
        }
    }
    report.finish()
}
