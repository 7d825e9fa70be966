//! Every target over its committed corpus, and over changes of it: the same ones each time.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use isomorph_fuzz::{Mutator, TARGETS, target};

/// Counts the bytes that are allocated now, and the most there were.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: passes everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(now, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most that one input may take, bytes: what is promised for files that cannot be trusted.
const MEMORY: usize = 256 << 20;

/// One input at a time: what it takes is counted for the whole process.
static ALONE: Mutex<()> = Mutex::new(());

/// Inputs made for a target, unless `FUZZ_CASES` says how many.
fn cases(usual: usize) -> usize {
    std::env::var("FUZZ_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// What began with this seed is made again with it: `FUZZ_SEED`.
fn seed() -> u64 {
    std::env::var("FUZZ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name);
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
}

/// Runs a target; the input that it fails for is kept and named.
fn run(check: fn(&[u8]), name: &str, input: &[u8], what: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz").join(name);
    let kept = folder.join(what);
    let keep = || {
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(&kept, input).unwrap();
    };
    // A stack that overflows or a kill leaves nobody to keep the input afterwards.
    let each = std::env::var_os("FUZZ_KEEP_EACH").is_some();
    if each {
        keep();
    }
    let (done, taken) = {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let before = NOW.load(Ordering::Relaxed);
        PEAK.store(before, Ordering::Relaxed);
        let done = std::panic::catch_unwind(|| check(input));
        (done, PEAK.load(Ordering::Relaxed).saturating_sub(before))
    };
    if each && done.is_ok() {
        std::fs::remove_file(&kept).unwrap();
    }
    if done.is_err() || taken > MEMORY {
        keep();
        panic!("{name} fails for {what} ({taken} bytes were allocated), kept as {}", kept.display());
    }
}

fn check(name: &str, usual: usize) {
    let target = target(name).unwrap();
    let seeds = (target.seeds)();
    for (number, input) in seeds.iter().enumerate() {
        run(target.check, name, input, &format!("seed-{number}"));
    }
    let mut corpus = corpus(name);
    for (number, input) in corpus.iter().enumerate() {
        run(target.check, name, input, &format!("corpus-{number}"));
    }
    corpus.extend(seeds);
    let mut mutator = Mutator::new(seed(), &corpus, target.words);
    let cases = cases(usual);
    for number in 0..cases {
        let input = mutator.input();
        run(target.check, name, &input, &format!("change-{}-{number}", seed()));
    }
    println!("{name}: {} kept inputs, {cases} changes of them", corpus.len());
}

macro_rules! targets {
    ($($(#[$only:meta])? $name:ident $cases:literal)*) => {
        $($(#[$only])? #[test] fn $name() { check(stringify!($name), $cases); })*

        #[test]
        fn every_target_is_tested_and_has_a_corpus() {
            let tested = [$($(#[$only])? stringify!($name)),*];
            let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(tested.as_slice(), names);
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
            let mut folders: Vec<_> = std::fs::read_dir(folder).unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
            folders.sort();
            // A target of a feature that this build does not have.
            folders.retain(|name| cfg!(feature = "serve") || name != "serve");
            assert_eq!(folders, names);
        }
    };
}

targets! {
    annnet_archive 150
    annnet_checksum 1000
    annnet_json 300
    annnet_members 300
    annnet_table 300
    annnet_zarr 300
    apoc 300
    csv 3000
    cypher_script 300
    deepgnn_beside 300
    deepgnn_binary 300
    deepgnn_text 500
    edge_list 400
    filter 20000
    gexf 300
    gml 300
    graphar_chunk 300
    graphar_count 300
    graphar_offset 300
    graphar_yml 5000
    graphlake_json 300
    graphlake_records 300
    graphml 400
    json 20000
    json_lines 3000
    location 20000
    nock_csv 300
    nock_parquet 300
    node_link 300
    notation 200
    orc 2000
    parquet 1500
    psl_atoms 300
    rdf 500
    rdf_lines 5000
    redo 500
    sampling 400
    #[cfg(feature = "serve")] serve 20000
    sidecar 300
    size 20000
    type_name 20000
    workbook 100
    workbook_content 200
    workbook_sheet 200
}
