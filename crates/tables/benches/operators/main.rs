//! Rates, memory and temporary space of the spilling sort and the look-ups.
//!
//! `cargo bench -p isomorph-tables --bench operators -- WORK [COUNT [MEMORY_MIB]]`, with COUNT in thousands and WORK
//! * `sort`: edges without columns,
//! * `sort-column`: with one f64,
//! * `both-ways`: sorted by source and by target side by side,
//! * `integers`, `texts`: keys of nodes, and twice as many ends of edges looked up,
//! * `bulk`: the same with texts, on purpose beyond the memory, then sorted both ways.
//!
//! Every answer is checked.

mod lookup;
mod sort;

use std::error::Error;
use std::time::Instant;

use isomorph_storage::{Budget, Scratch};

type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// The number of rows that are created and pushed at a time.
const BATCH: u64 = 1 << 16;

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |at: usize, default| arguments.get(at).map_or(Ok(default), |text| text.parse::<u64>());
    let count = number(1, 1_000)? * 1_000;
    let budget = Budget::new(number(2, 4_096)? << 20);
    let scratch = Scratch::new(None)?;
    let started = Instant::now();
    match arguments.first().map_or("both-ways", String::as_str) {
        "sort" => sort::sort(count, false, 1, &budget, &scratch)?,
        "sort-column" => sort::sort(count, true, 1, &budget, &scratch)?,
        "both-ways" => sort::sort(count, true, 2, &budget, &scratch)?,
        "integers" => lookup::in_memory(count, lookup::integers, &budget, &scratch)?,
        "texts" => lookup::in_memory(count, lookup::texts, &budget, &scratch)?,
        "bulk" => lookup::bulk(count, &budget, &scratch)?,
        other => return Err(format!("no such work: {other}").into()),
    }
    println!("all in all        {:8.3} s", started.elapsed().as_secs_f64());
    println!("budget, peak      {:8.1} MiB", mib(budget.peak()));
    let each = scratch.peak() as f64 / count as f64;
    println!("temporary, peak   {:8.1} MiB, {each:.1} bytes a row", mib(scratch.peak()));
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        let resident = |line: &&str| line.starts_with("VmHWM") || line.starts_with("Rss");
        status.lines().filter(resident).for_each(|line| println!("{line}"));
    }
    Ok(())
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / (1 << 20) as f64
}

/// Returns a pseudo-random number below `limit` that depends on `n`.
fn scrambled(n: u64, limit: u64) -> u64 {
    ((u128::from(mixed(n)) * u128::from(limit)) >> 64) as u64
}

/// Returns a pseudo-random number that is different for every `n`.
fn mixed(n: u64) -> u64 {
    let mut x = n.wrapping_add(0x9E37_79B9_7F4A_7C15).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x ^= x >> 31;
    x = x.wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 29)
}
