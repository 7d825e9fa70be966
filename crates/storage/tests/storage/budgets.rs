use std::io::{Read, Seek, SeekFrom, Write};

use isomorph_error::Kind;
use isomorph_storage::{Budget, Scratch};

#[test]
fn a_budget_is_never_exceeded() {
    let budget = Budget::new(100);
    let mut first = budget.reserve(60).unwrap();
    assert!(budget.try_reserve(41).is_none());
    let second = budget.try_reserve(40).unwrap();
    assert_eq!((budget.used(), budget.available(), second.bytes()), (100, 0, 40));
    let error = first.grow(1).unwrap_err();
    assert_eq!(error.kind(), Kind::TooLarge);
    assert!(error.hints().any(|hint| hint.contains("--memory")));
    drop(second);
    assert!(first.try_grow(10) && !first.try_grow(u64::MAX));
    first.shrink(1000);
    assert_eq!((first.bytes(), budget.used(), budget.peak()), (0, 0, 100));
    drop(first);
    assert_eq!(budget.used(), 0);
}

#[test]
fn threads_share_a_budget() {
    let budget = Budget::new(10);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..1000 {
                    let held = budget.try_reserve(3);
                    assert!(budget.used() <= 10);
                    drop(held);
                }
            });
        }
    });
    assert_eq!(budget.used(), 0);
    assert!(budget.peak() <= 9);
}

#[test]
fn the_default_is_a_part_of_the_memory() {
    let limit = Budget::default().limit();
    assert!((16 << 20..1 << 50).contains(&limit), "{limit}");
}

#[test]
fn temporary_files_have_no_name_and_are_counted() {
    let home = tempfile::tempdir().unwrap();
    let scratch = Scratch::new(Some(home.path())).unwrap();
    let mut one = scratch.create().unwrap();
    one.write_all(b"0123456789").unwrap();
    let mut other = scratch.create().unwrap();
    other.write_all(b"abc").unwrap();
    assert_eq!((scratch.used(), one.size()), (13, 10));
    one.seek(SeekFrom::Start(2)).unwrap();
    one.write_all(b"__").unwrap();
    assert_eq!(scratch.used(), 13, "written over");
    let mut rest = String::new();
    one.read_to_string(&mut rest).unwrap();
    let mut start = [0; 5];
    one.read_exact_at(&mut start, 0).unwrap();
    assert_eq!((rest.as_str(), &start), ("456789", b"01__4"));
    assert_eq!(&one.read_at(8..10).unwrap()[..], b"89");
    assert_eq!(one.read_at(8..11).unwrap_err().kind(), Kind::Usage);
    assert_eq!(one.read_exact_at(&mut start, 6).unwrap_err().kind(), Kind::Io);
    let blob = other.blob().unwrap();
    drop((one, other));
    assert_eq!((scratch.used(), scratch.peak()), (0, 13));
    assert_eq!(&blob.read_all(3).unwrap()[..], b"abc");
    #[cfg(unix)]
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0);
    assert_eq!(Scratch::new(Some(&home.path().join("none"))).unwrap_err().kind(), Kind::NotFound);
}

#[test]
fn a_part_of_a_temporary_file_is_given_back() {
    let scratch = Scratch::new(None).unwrap();
    let mut file = scratch.create().unwrap();
    let bytes: Vec<u8> = (0..50_000u32).map(|n| (n % 251) as u8).collect();
    file.write_all(&bytes).unwrap();
    assert_eq!(file.release(5_000..8_000).unwrap(), 5_000, "no whole unit");
    assert_eq!(scratch.used(), 50_000);
    assert_eq!(file.release(5_000..30_000).unwrap(), 28_672);
    assert_eq!(file.release(28_672..49_000).unwrap(), 45_056);
    // The bytes around it and the length of the file are unchanged.
    assert_eq!(&file.read_at(0..8_192).unwrap()[..], &bytes[..8_192]);
    assert_eq!(&file.read_at(45_056..50_000).unwrap()[..], &bytes[45_056..]);
    if cfg!(target_os = "linux") {
        assert_eq!(scratch.used(), 50_000 - (45_056 - 8_192));
    }
    drop(file);
    assert_eq!((scratch.used(), scratch.peak()), (0, 50_000));
}
