//! NOCK files: read in every mode, and converted with a certificate.

use std::path::Path;

use bytes::Bytes;
use isomorph::convert::{ConvertOptions, Digested, Format, OpenOptions, Opened, Plan, Silent, convert, digest};
use isomorph::error::{Findings, Severity};
use isomorph::formats::graphar::info::{AdjListType, FileType};
use isomorph::formats::nock::{Nock, OpenOptions as NockOptions, Tolerance};
use isomorph::model::Source;
use isomorph::storage::Blob;
use isomorph::tables::quiet_fenced_panics;
use isomorph::{Error, Kind, Location};

use crate::graph::seed_csv;
use crate::home::{home, resources};

pub(crate) const WORDS: &[&str] = &[
    "\"src_name\",",
    "\"edge_id\",",
    ",-1,",
    ",0,",
    "\"knows\"",
    ",True,",
    ",False,",
    ",1.0,",
    "\"{\"\"a\"\": 1}\"",
    "\"{\"\"a\"\": \"\"1\"\"}\"",
    "\"\"",
    "\"A,B\"",
    "\n",
    "NaN",
    "\"ada\"",
    "\"{\"\"__directed\"\": false}\"",
    "[1, 2]",
];

pub(crate) fn csv_seeds() -> Vec<Vec<u8>> {
    let spec = "src_name,edge_id,rel_name,dst_name,truth,shadow,is_rdf,labels,props,extra\n\
                a,-1,,,1,-1,false,\"Tea, Hot\",,x\na,0,r,b,0.25,-1,true,,\"{\"\"w\"\": [1, {\"\"x\"\": null}]}\",\nb,-1,,,1,2,false,,,\n";
    let choices = 0u8..6;
    let mut seeds: Vec<Vec<u8>> = choices.map(|choice| [&[choice][..], seed_csv().as_bytes()].concat()).collect();
    seeds.push([&[0][..], spec.as_bytes()].concat());
    seeds
}

pub(crate) fn parquet_seeds() -> Vec<Vec<u8>> {
    let home = home();
    let source = home.path().join("seed.csv");
    std::fs::write(&source, seed_csv()).expect("a file");
    let mut seeds = Vec::new();
    for (number, change) in [(0, false), (1, true)] {
        let mut options = ConvertOptions { to: Some(Format::NOCK), ..ConvertOptions::default() };
        options.write.get_mut::<isomorph::formats::nock::CreateOptions>().nested_edges = change;
        options.write.get_mut::<isomorph::formats::nock::CreateOptions>().props_map = change;
        options.write.get_mut::<isomorph::formats::nock::CreateOptions>().compression =
            isomorph::tables::Compression::None;
        let made = home.path().join(format!("{number}.parq"));
        converted(&source, &made, &options, home.path()).expect("a sound file");
        seeds.push([vec![number], std::fs::read(&made).expect("a file")].concat());
    }
    seeds
}

/// The file name for an input that is a Parquet file.
const PARQUET: &str = "input.parq";

pub(crate) fn check_csv(data: &[u8]) {
    check(data, "input.csv");
}

pub(crate) fn check_parquet(data: &[u8]) {
    check(data, PARQUET);
}

fn check(data: &[u8], name: &str) {
    quiet_fenced_panics();
    let Some((choice, bytes)) = data.split_first() else { return };
    check_split(bytes, name);
    check_converted(*choice, bytes, name);
}

/// The graph is the same in whatever way it is read.
fn check_split(bytes: &[u8], name: &str) {
    let home = home();
    let bytes: Bytes = bytes.to_vec().into();
    let read = |options: NockOptions| -> Result<Digested, Error> {
        let nock = Nock::open_blob(Blob::from_bytes(name, &bytes), &options)?;
        digest(&nock, &resources(home.path()), &Silent)
    };
    let whole = read(NockOptions::default());
    if let Err(error) = &whole {
        assert_bad_input(error);
    }
    // Smaller batches, and names settled late.
    let late = read(NockOptions::default().piece_rows(1).settle_up_to(0));
    if let Err(error) = &late {
        assert_bad_input(error);
    }
    // A reader may encounter less of the damage of a Parquet file than validation does, and each way of reading
    // encounters a different part. A file that is not damaged below its rows can be read in every way or in none, with
    // equal results.
    let sound = validated(&bytes, name);
    assert!(whole.is_ok() || sound != Some(true), "found sound: {whole:?}");
    if sound.is_none() && name == PARQUET {
        return;
    }
    assert_eq!(whole.is_ok(), late.is_ok(), "{whole:?} {late:?}");
    if let (Ok(whole), Ok(late)) = (&whole, &late) {
        assert_eq!((whole.digests.content, whole.digests.order), (late.digests.content, late.digests.order));
    }
    // What normal mode refuses, strict mode refuses.
    let strict = read(NockOptions::default().tolerance(Tolerance::Strict));
    assert!(whole.is_ok() || strict.is_err(), "{whole:?}");
    if let Err(error) = read(NockOptions::default().tolerance(Tolerance::Lenient)) {
        assert_bad_input(&error);
        assert!(whole.is_err(), "only lenient reading fails: {error:?}");
    }
}

/// Whether validation finds no errors; `None` if the file is damaged below its rows.
fn validated(bytes: &Bytes, name: &str) -> Option<bool> {
    let mut findings = Findings::keeping(1);
    let nock = Nock::open_blob(Blob::from_bytes(name, bytes), &NockOptions::default());
    match nock.and_then(|nock| nock.validate(&mut findings)) {
        Ok(()) => Some(findings.worst() < Some(Severity::Error)),
        Err(error) => {
            assert_bad_input(&error);
            None
        }
    }
}

/// A conversion ends with a certificate, or reports what is wrong with its input.
fn check_converted(choice: u8, bytes: &[u8], name: &str) {
    let home = home();
    let source = home.path().join(name);
    std::fs::write(&source, bytes).expect("a file");
    let (options, made) = target(choice);
    let made = home.path().join(made);
    match converted(&source, &made, &options, home.path()) {
        Ok(()) => {}
        Err(error) => {
            assert_bad_input(&error);
            assert!(!made.exists());
        }
    }
}

/// The destination of a conversion; the first byte of an input selects it.
fn target(choice: u8) -> (ConvertOptions, &'static str) {
    let mut options = ConvertOptions::default();
    let (to, made) = match choice % 6 {
        0 => (Format::GRAPHAR, "made"),
        1 => (Format::NOCK, "made.parq"),
        2 => (Format::NOCK, "made.csv"),
        3 => {
            options.write.get_mut::<isomorph::formats::graphar::WriteOptions>().file_type = Some(FileType::Csv);
            options.write.get_mut::<isomorph::formats::graphar::WriteOptions>().vertex_chunk = Some(2);
            options.write.get_mut::<isomorph::formats::graphar::WriteOptions>().edge_chunk = Some(2);
            (Format::GRAPHAR, "made")
        }
        4 => {
            options.write.get_mut::<isomorph::formats::graphar::WriteOptions>().file_type = Some(FileType::Json);
            options.write.get_mut::<isomorph::formats::graphar::WriteOptions>().adjacency =
                Some(vec![AdjListType::UnorderedByDest]);
            (Format::GRAPHAR, "made")
        }
        _ => {
            options.write.get_mut::<isomorph::formats::nock::CreateOptions>().nested_edges = true;
            options.write.get_mut::<isomorph::formats::nock::CreateOptions>().props_map = true;
            (Format::NOCK, "made.parq")
        }
    };
    options.to = Some(to);
    (options, made)
}

fn converted(source: &Path, made: &Path, options: &ConvertOptions, home: &Path) -> Result<(), Error> {
    let resources = resources(home);
    let open = OpenOptions { from: Some(Format::NOCK), ..OpenOptions::default() };
    let opened = Opened::open(&Location::from_path(source), &open)?;
    let destination = Location::from_path(made);
    let plan = Plan::new(&opened, &destination, options, &resources, &Silent)?;
    convert(&opened, &plan, &destination, options, &resources, &Silent).map(|_| ())
}

/// Invalid input, or something that the target cannot store; but never a result that differs from the input.
fn assert_bad_input(error: &Error) {
    let refused = error.kind() == Kind::WouldLose && !error.message().contains("differs from the input");
    let bad = matches!(error.kind(), Kind::Malformed | Kind::TooLarge | Kind::Unsupported | Kind::Incomplete);
    assert!(bad || refused, "{error:?}");
}
