//! `cluster`: the processes that answer queries together.

use std::net::SocketAddr;

use isomorph::Result;
use isomorph_cluster::{Executor, ExecutorOptions, Reach, Scheduler, listening};
use serde::Serialize;

use super::Answer;
use crate::args::cluster::{ClusterCommand, ExecutorArgs, SchedulerArgs};
use crate::console::Console;
use crate::interrupt::Interrupt;

/// See `docs/cli-json.md`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    role: &'a str,
    address: String,
    scheduler: Option<&'a str>,
    threads: usize,
}

/// Runs until it is told to stop.
///
/// # Errors
/// Whatever keeps it from doing so.
pub fn run(command: &ClusterCommand, console: &Console) -> Result<Answer> {
    match command {
        ClusterCommand::Scheduler(args) => scheduler(args, console),
        ClusterCommand::Executor(args) => executor(args, console),
    }
}

fn reach(insecure: bool) -> Reach {
    if insecure { Reach::Network } else { Reach::Loopback }
}

fn scheduler(args: &SchedulerArgs, console: &Console) -> Result<Answer> {
    let address = listening(&args.bind, reach(args.insecure))?;
    let resources = args.resources.resources()?;
    let interrupt = Interrupt::listen()?;
    let scheduler = Scheduler::new(address, resources.threads);
    show("scheduler", address, None, resources.threads, console)?;
    scheduler.run(|| interrupt.check())?;
    Ok(Answer::Yes)
}

fn executor(args: &ExecutorArgs, console: &Console) -> Result<Answer> {
    let address = listening(&args.bind, reach(args.insecure))?;
    let resources = args.resources.resources()?;
    let threads = resources.threads;
    let options = ExecutorOptions {
        scheduler: args.scheduler.clone(),
        address,
        name: args.advertise.clone(),
        allow: args.allow.clone(),
        resources,
    };
    let executor = Executor::new(options)?;
    show("executor", address, Some(&args.scheduler), threads, console)?;
    executor.run()?;
    Ok(Answer::Yes)
}

fn show(role: &str, address: SocketAddr, scheduler: Option<&str>, threads: usize, console: &Console) -> Result<()> {
    if console.json {
        let document = Document { role, address: address.to_string(), scheduler, threads };
        return console.document(&document);
    }
    let mut screen = console.screen();
    screen.line(role, &address.to_string());
    if let Some(scheduler) = scheduler {
        screen.line("scheduler", scheduler);
    }
    screen.line("threads", &threads.to_string());
    console.show(&screen)
}
