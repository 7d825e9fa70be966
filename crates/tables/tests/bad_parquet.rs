//! Public Parquet files that broke other readers: each must be either an error or data here. This binary has a single test,
//! because it counts allocations.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use bytes::Bytes;
use isomorph_error::{Kind, Result};
use isomorph_storage::Blob;
use isomorph_tables::{Encoding, ReadOptions, Selection, TableReader, quiet_fenced_panics};

/// Counts the bytes that are currently allocated, and their maximum.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: forwards everything to the system's allocator.
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

/// The number of files in the three folders: 149 Parquet files, and three texts about them, which are invalid Parquet files
/// too.
const EXPECTED: usize = 152;
const MEMORY: usize = 256 << 20;
const HANG: Duration = Duration::from_secs(5);

fn files(corpus: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = ["bad_data", "encoding-fuzzing", "fuzzing"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(corpus.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    files
}

/// Reads a file in every way: completely, by rows, one column, with filters on every column.
fn read(bytes: Bytes) -> Result<usize> {
    let reader = TableReader::open(Blob::from_bytes("bad", &bytes), Encoding::Parquet, &ReadOptions::default())?;
    let rows = |selection: &Selection| -> Result<usize> {
        reader.batches(selection)?.map(|batch| batch.map(|batch| batch.num_rows())).sum()
    };
    let count = reader.row_count().unwrap_or_default();
    let ends = [0..count.min(3), count.max(6) - 3..count].into_iter().filter(|range| range.start < range.end);
    let some = rows(&Selection::all().rows(ends));
    for column in reader.schema().fields() {
        // Whatever the single columns do, the full scan decides.
        let _ = rows(&Selection::all().columns([column.name()]));
    }
    let all = rows(&Selection::all())?;
    some?;
    Ok(all)
}

#[test]
fn every_bad_file_is_an_error_or_data() {
    let Some(corpus) = isomorph_fixtures::public_data("parquet-bad") else { return };
    quiet_fenced_panics();
    let files = files(&corpus);
    assert_eq!(files.len(), EXPECTED, "files in parquet-bad");
    let (mut readable, mut refused) = (0, 0);
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = Bytes::from(std::fs::read(&path).unwrap());
        let room = MEMORY + 16 * bytes.len();
        PEAK.store(NOW.load(Ordering::Relaxed), Ordering::Relaxed);
        let before = NOW.load(Ordering::Relaxed);
        let (sender, receiver) = mpsc::channel();
        let worker = std::thread::spawn(move || sender.send(read(bytes)));
        let outcome = receiver.recv_timeout(HANG).unwrap_or_else(|_| panic!("{name} hangs or panics"));
        worker.join().unwrap().unwrap();
        let used = PEAK.load(Ordering::Relaxed).saturating_sub(before);
        assert!(used <= room, "{name} takes {used} bytes");
        match outcome {
            Ok(rows) => {
                readable += 1;
                println!("{name}: {rows} rows, {} KiB", used >> 10);
            }
            Err(error) => {
                assert!(
                    matches!(error.kind(), Kind::Malformed | Kind::TooLarge | Kind::Unsupported),
                    "{name}: {error:?}"
                );
                assert!(error.place().file.is_some(), "{name}: {error:?}");
                println!("{name}: {:?}: {error}, {} KiB", error.kind(), used >> 10);
                refused += 1;
            }
        }
    }
    println!("{readable} readable, {refused} refused");
}
